"""What a comparison says: the table, the curves of all runs, their differences, and how each keeps its limits."""

from __future__ import annotations

import math

import numpy as np

from uncertain_botec import plots
from uncertain_botec.comparison_table import HEADINGS, rows, statements
from uncertain_botec.presentation import title_of
from uncertain_botec.report.blocks import Block, Pairs, Paragraph, Picture, Section, Table
from uncertain_botec.report.compare_inputs import limit_of
from uncertain_botec.report.compared import Compared
from uncertain_botec.report.words import chance, part, said
from uncertain_botec.risk.review import CONFIDENCE
from uncertain_botec.vocabulary import COST, LIMITS, TIME

_FIGURES = 2

# What the text says of inputs, which another section says of all of them.
_ELSEWHERE = ("The same quantity", "Moved together", "Correlated otherwise", "Differs", "Note")


def results(context: Compared) -> Section:
    """Quantiles of every run and of every difference, and who is lower."""
    names = {f"{letter}: {label}": context.named(label) for label, letter in context.letters.items()}
    cells = tuple((names.get(first, first), *rest) for first, *rest in rows(context.comparison))
    table = Table("Every run, and every difference", ("Run", *HEADINGS[1:]), "lrrrrrr", cells)
    reading = (
        "P90 is the amount that nine draws in ten stay at or below, P50 the median. A difference is one draw by draw; "
        "its P90 is not the difference of theirs. Lowest is the chance that no other run is lower, which equal ones "
        "share. The error is the largest Monte Carlo standard error in the row, as a part of its quantile, or for a "
        "difference of the larger P50 of the two."
    )
    pairs = tuple(one for one in statements(context.comparison) if one[0] not in _ELSEWHERE)
    return Section("results", "Results", (Paragraph(reading), table, Pairs(pairs)))


def _drawn_outputs(context: Compared) -> list[str]:
    """The outputs that there are curves of."""
    uncertain = [
        name
        for name in context.comparison.outputs
        if not all(one.certain(name) for one in context.comparison.scenarios.values())
    ]
    return uncertain[:_FIGURES]


def curves(context: Compared) -> Section | None:
    """All runs in one picture for cost, and one for time."""
    runs = [(f"{letter}: {label}", context.draws[label]) for label, letter in context.letters.items()]
    pictures = [
        Picture(
            plots.s_curves(runs, name), f"{title_of(name)} of each run: the chance of staying at or below an amount."
        )
        for name in _drawn_outputs(context)
    ]
    if not pictures:
        return None
    reading = (
        "Each curve shows, for every amount along the bottom, how likely it is that a run stays at or below it. A run "
        "whose curve lies to the left of another throughout is the better one at every confidence; where two cross, it "
        "depends on how sure one wants to be."
    )
    return Section("curves", "The runs side by side", (Paragraph(reading), *pictures))


def differences(context: Compared) -> Section | None:
    """By how much the other runs exceed the first, draw by draw."""
    first, *others = context.comparison.scenarios
    letters, pictures = context.letters, []
    for name in _drawn_outputs(context):
        gaps = []
        for label in others:
            gap = context.gap(name, label, first)
            with np.errstate(invalid="ignore"):
                apart = context.draws[label][name] - context.draws[first][name]
            # Two runs that never finish are no different.
            apart = np.nan_to_num(apart, nan=0.0, posinf=math.inf, neginf=-math.inf)
            if gap.ties < 1:
                what = f"{letters[label]} - {letters[first]}"
                gaps.append((f"{what}: {letters[label]} is lower with a chance of {chance(gap.lower)}", apart))
        if gaps:
            caption = f"{title_of(name)} of the other runs less that of {letters[first]}, draw by draw."
            pictures.append(Picture(plots.gap_curves(gaps, name, letters[first]), caption))
    if not pictures:
        return None
    reading = (
        "What the runs have in common cancels out of their difference, which may be surer than the curves above make "
        f"believe. Left of zero a run is lower than {letters[first]}, to the right of it higher; where "
        "the curve meets the line at zero is the chance of being lower."
    )
    return Section("differences", "The difference", (Paragraph(reading), *pictures))


def limits(context: Compared) -> Section:
    """How each run keeps its own budget and deadline, and what it takes to be surer."""
    sure = part(CONFIDENCE)
    blocks: list[Block] = []
    stated = [name for name in (*LIMITS, "memory") if any(name in some for some in context.limits.values())]
    if stated:
        columns = ["Run"]
        for name in stated:
            columns += ["fits its memory"] if name == "memory" else [name, "kept with"]
        both = any(one.both for one in context.reviews.values())
        cells = tuple(_limits(context, label, stated, both=both) for label in context.limits)
        columns += ["both kept with"] if both else []
        align = "l" + "r" * (len(columns) - 1)
        caption = "The limits that each run states, and the chance of keeping them"
        blocks.append(Table(caption, (*columns,), align, cells))
    else:
        blocks.append(Paragraph("No run states a budget or a deadline."))
    blocks.append(_sure(context, sure))
    return Section("limits", "Budgets and deadlines", tuple(blocks))


def _limits(context: Compared, label: str, stated: list[str], *, both: bool) -> tuple[str, ...]:
    scenario, some = context.comparison.scenarios[label], context.limits[label]
    cells = [context.named(label)]
    for name in stated:
        if name != "memory":
            cells.append(limit_of(scenario, name) if name in some else "")
        cells.append(chance(some[name]) if name in some else "")
    joint = context.reviews[label].both
    if both:
        cells.append("" if joint is None else chance(joint))
    return tuple(cells)


def _sure(context: Compared, sure: str) -> Table:
    """What to plan for, each output alone and cost and time together."""
    reviews = context.reviews.values()
    names = [name for name in context.comparison.outputs if all(name in one.outputs for one in reviews)]
    pairs = {label: one.pair for label, one in context.reviews.items()}
    columns = ["Run", *(f"{title_of(name)} alone" for name in names)]
    columns += ["both: cost", "and time"] if any(pairs.values()) else []
    cells = []
    for label, review in context.reviews.items():
        row = [context.named(label)]
        for name in names:
            level = next(one for one in review.outputs[name].confidence if one.level == CONFIDENCE)
            row.append(said(name, level.value, level.error))
        pair = pairs[label]
        if pair is not None:
            budget, deadline = zip((COST, TIME), (pair.budget, pair.deadline), strict=True)
            row += [said(name, one.value, one.error) for name, one in (budget, deadline)]
        cells.append(tuple(row + [""] * (len(columns) - len(row))))
    caption = f"What to plan for to be {sure} sure: of each alone, and of both in the same run"
    return Table(caption, (*columns,), "l" + "r" * (len(columns) - 1), tuple(cells))
