"""What was asked, and what came out: the table, the curves, cost and time together, the bill, the contingency."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from uncertain_botec import plots
from uncertain_botec.presentation import HEADINGS, amount, findings, in_words, rows
from uncertain_botec.report.blocks import Block, Pairs, Paragraph, Picture, Points, Section, Table, foreign
from uncertain_botec.report.context import Context
from uncertain_botec.report.words import capital, chance, in_all, name_of, part, percent
from uncertain_botec.risk_table import HEADINGS as RISK_HEADINGS
from uncertain_botec.risk_table import rows as risk_rows
from uncertain_botec.risk_table import statements
from uncertain_botec.vocabulary import COST, LIMITS, TIME

_DATE = re.compile(r"\d{4}(-\d\d){0,2}")

# What a bill is easily without, and what stays unsaid where it is not on it.
_FORGOTTEN = ("experiments_cost", "staff_cost", "idle_cost", "storage_cost", "egress_cost")


def asked(context: Context) -> Section:
    """What the report is about."""
    scenario, review = context.scenario, context.review
    pairs = [
        ("Run", foreign(scenario.title)),
        ("Prior file", foreign(scenario.path or "made by a program")),
        ("Estimator", f"`{scenario.estimator}`: {scenario.model.summary}"),
    ]
    limits = [(one.limit, one.unit) for one in review.outputs.values() if one.limit is not None]
    pairs += [(limit.name.capitalize(), amount(limit.value, unit)) for limit, unit in limits]
    pairs += [("Confidence", f"{part(review.confidence)}, the chance of staying within what is planned for")]
    pairs += in_words(scenario.choices_in_force)
    if dates := _dates(context):
        pairs.append(("Inputs known as of", dates))
    blocks: list[Block] = [Pairs(tuple(pairs))]
    if notes := [*filter(_missing, review.notes), *scenario.warnings, *scenario.notes]:
        blocks.append(Points(tuple(foreign(f"{capital(note)}.") for note in notes)))
    return Section("asked", "What was asked", tuple(blocks))


def _dates(context: Context) -> str:
    """From the oldest to the newest date of an input, as far as dates are stated."""
    stated = (one.about("as_of") or "" for one in context.scenario.inputs.values())
    dates = sorted(date for date in stated if _DATE.fullmatch(date))
    return " to ".join(dict.fromkeys([dates[0], dates[-1]])) if dates else ""


def _missing(note: str) -> bool:
    """Whether a note of the review is about what was not asked."""
    return note.startswith("no ") or "is not computed here" in note


def results(context: Context) -> Section:
    """Every output, and how the limits and the outcomes that were observed fare."""
    summary = context.summary
    table = Table("All results", ("Output", *HEADINGS[1:]), "lrrrrrr", tuple(rows(summary)))
    # What other sections say is left to them.
    elsewhere = (*dict(in_words(context.scenario.choices_in_force)), *(f"{name.capitalize()} " for name in LIMITS))
    pairs = tuple(one for one in findings(summary) if not one[0].startswith((*elsewhere, "Drivers of ")))
    reading = (
        "P90 is the amount that nine runs in ten stay at or below, P50 the median. HDI is the shortest interval that "
        "holds 80 % of the draws. The error is the largest Monte Carlo standard error in the row."
    )
    return Section("results", "Results", (Paragraph(reading), table, *([Pairs(pairs)] if pairs else [])))


def curves(context: Context) -> Section | None:
    """The chance of being at or below each cost and each time."""
    review = context.review
    pictures = []
    for name in [one for one in review.outputs if not review.outputs[one].exact][:2]:
        one = review.outputs[name]
        figure = plots.s_curve(
            context.draws,
            name,
            limit=None if one.limit is None else one.limit.value,
            confidence=review.confidence,
            point=one.point_estimate,
        )
        pictures.append(Picture(figure, f"{figure.title} each amount{_kept(context, name)}."))
    if not pictures:
        return None
    reading = (
        "Each curve shows, for every amount along the bottom, how likely it is that the run stays at or below it: at "
        "P90 nine runs in ten would. The steeper the curve, the surer the forecast. The point estimate, with every "
        "input at its median, is marked for comparison."
    )
    return Section("curves", "Chance of each amount", (Paragraph(reading), *pictures))


def _kept(context: Context, name: str) -> str:
    """How likely the limit of an output is kept, and how many runs never come to an amount."""
    limit, endless = context.review.outputs[name].limit, context.summary.outputs[name].endless
    kept = f"; the {limit.name} is kept with a probability of {chance(limit.chance)}" if limit is not None else ""
    return f"{kept}; {percent(endless)} of the runs never finish" if endless else kept


def together(context: Context) -> Section | None:
    """Cost and time as they come together, and what is kept jointly."""
    review = context.review
    if not context.both or all(one.exact for one in review.outputs.values()):
        return None
    cost, time = (review.outputs[name].limit for name in (COST, TIME))
    figure = plots.joint(
        context.draws,
        budget=None if cost is None else cost.value,
        deadline=None if time is None else time.value,
        confidence=review.confidence,
    )
    sure = part(review.confidence)
    reading = (
        f"A budget and a deadline that are each kept with a probability of {sure} are kept together with less, for a "
        "run may break either."
    )
    if review.pair is not None and math.isfinite(review.pair.budget.value + review.pair.deadline.value):
        reading += (
            f" Every pair on the curve is kept together with {sure}; at the diamond budget and deadline are equally "
            "safe, each by itself."
        )
    picture = Picture(figure, f"{figure.title}, with the chance of each outcome.")
    return Section("together", "Cost and time together", (Paragraph(reading), picture))


def bill(context: Context) -> Section | None:
    """What the cost is made of."""
    scenario, outputs = context.scenario, context.summary.outputs
    if "cost" not in outputs:
        return None
    items = [name for section in scenario.plan.sections if section.title == "Bill" for name in section.outputs]
    absent = [name_of(name) for name in _FORGOTTEN if name not in items and name in scenario.model.outputs]
    without = f"Not on the bill: {in_all(absent)}. A prior file can add them." if absent else ""
    if not items:
        made = next((step for step in reversed(context.explanation.steps) if step.output.name.endswith("_cost")), None)
        text = f"The bill has one item: {made.output.meaning}. {without}" if made else f"The cost is stated. {without}"
        return Section("bill", "The bill", (Paragraph(text.strip()),))
    figure = plots.bill({name: outputs[name] for name in (*items, "cost")})
    blocks: list[Block] = [
        Paragraph(
            "Items add up run by run. Their medians do not add up to the median of the whole, nor do their P90s: not "
            f"everything is dear at once. {without}".strip()
        ),
        Picture(figure, f"{figure.title}: median, and from P10 to P90."),
    ]
    return Section("bill", "The bill", tuple(blocks))


def contingency(context: Context) -> Section | None:
    """What it takes to be surer, and what happens beyond."""
    review = context.review
    if all(one.exact for one in review.outputs.values()) and not review.verdicts:
        return None
    reading = (
        "The point estimate takes every input at its median. Contingency is what has to be added to it to be as sure "
        "as each row says: the confidence in the first column is the chance of needing no more. CVaR is the mean of "
        "the worst outcomes, P99 the worst that is still credible."
    )
    table = Table("Contingency by confidence", ("Confidence", *RISK_HEADINGS[1:]), "lrrrr", tuple(risk_rows(review)))
    choices = dict(in_words(context.scenario.choices_in_force))
    pairs = tuple(_said(context, choices))
    return Section("contingency", "Contingency", (Paragraph(reading), table, *([Pairs(pairs)] if pairs else [])))


def _said(context: Context, choices: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What the review says, less what stands elsewhere."""
    for subject, statement in statements(context.review):
        if subject not in choices and not (subject == "Note" and _missing(statement)):
            yield subject, statement
