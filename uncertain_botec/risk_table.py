"""How a risk review is shown: a table of confidence levels for each output, and below it the limits in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from uncertain_botec.presentation import (
    amount,
    html_page,
    in_words,
    number,
    page,
    percent,
    plain_text,
    probability,
    row_title,
    sectioned_table,
    title_of,
)
from uncertain_botec.risk.measures import Chance, Figure, Pair
from uncertain_botec.risk.review import WORST_CREDIBLE, Confidence, LimitRisk, OutputRisk, RiskReview
from uncertain_botec.risk.verdicts import Verdict
from uncertain_botec.units import digits, readable_scale
from uncertain_botec.vocabulary import COST, QUANTITIES, TIME

if TYPE_CHECKING:
    from rich.console import Group

HEADINGS = ("", "at or below", "contingency", "of estimate", "error")

_READING = (
    "P90: a 90 % chance of being at or below. Point estimate: every input at its median. Contingency: from there to "
    "the quantile. Error: Monte Carlo standard error."
)


def renderable(review: RiskReview) -> Group:
    """The review for a rich console."""
    table = sectioned_table(HEADINGS, rows(review))
    return page(review.scenario.title, table, statements(review), _READING)


def as_text(review: RiskReview, width: int = 100) -> str:
    """The review as plain text."""
    return plain_text(renderable(review), width)


def as_html(review: RiskReview) -> str:
    """The review as an HTML fragment for notebooks."""
    return html_page(review.scenario.title, HEADINGS, rows(review), statements(review), _READING)


def rows(review: RiskReview) -> Iterator[tuple[str, ...]]:
    """The table's rows: an output's title alone, then one row for each confidence level and measure."""
    for name, one in review.outputs.items():
        finite = [value for level in one.confidence if math.isfinite(value := level.value)]
        scale, unit = readable_scale(finite[0] if finite else 1.0, one.unit)
        yield (row_title(name, unit),)
        if one.exact:
            yield ("Known", number(one.point_estimate / scale, 0), "", "", "exact")
        else:
            yield from _cells(one, review.confidence, scale)


def _cells(one: OutputRisk, asked: float, scale: float) -> Iterator[tuple[str, ...]]:
    yield f"Point estimate, at P{_place(one.percentile)}", number(one.point_estimate / scale, 0), "", "", ""
    levels = {level.level: level for level in one.confidence}
    worst = one.worst_credible
    levels.setdefault(WORST_CREDIBLE, Confidence(WORST_CREDIBLE, worst.value, worst.error, None, None))
    for level, it in sorted(levels.items()):
        label = f"P{_percents(level)}" + (", asked for" if level == asked else "")
        label += ", worst credible" if level == WORST_CREDIBLE else ""
        shown, error = _shown(Figure(it.value, it.error), scale), it.error / scale
        more = "" if it.contingency is None else _contingency(it.contingency / scale, it.value / scale, error)
        part = "" if it.part is None else _part(it.part, it.error / abs(one.point_estimate))
        yield label, shown, more, part, _error(it.value, it.error)
    label = f"CVaR{_percents(asked)}, mean of the worst {_percents(1 - asked)} %"
    yield label, _shown(one.cvar, scale), "", "", _error(one.cvar.value, one.cvar.error)


def _percents(level: float) -> str:
    return f"{100 * level:.9g}"


def _place(figure: Figure) -> str:
    """A percentile: to two decimals, or two digits of what is left to 0 or 100, as far as its error allows."""
    left = min(figure.value, 100 - figure.value)
    finest = max(1 - math.floor(math.log10(left)), 2) if left > 0 else 2
    text = digits(figure.value, max(figure.error, 10.0**-finest), 12)
    return text.rstrip("0").removesuffix(".") if "." in text else text


def _shown(figure: Figure, scale: float) -> str:
    return "?" if math.isnan(figure.value) else number(figure.value / scale, figure.error / scale)


def _contingency(more: float, value: float, error: float) -> str:
    """To three digits, and to no more decimals than the quantile is printed with."""
    if not math.isfinite(more):
        return number(more, 0)
    grain = 10.0 ** (math.floor(math.log10(abs(value))) - 3) if value else 0.0
    text = "0" if abs(more) <= grain / 2 else number(more, max(error, grain) if math.isfinite(error) else grain, 3)
    return f"+{text}" if more > 0 and text != "0" else text


def _part(part: float, error: float) -> str:
    """In percent, to one decimal or what its error allows."""
    if not math.isfinite(part):
        return "∞"
    decimals = min(1, -math.floor(math.log10(100 * error))) if 0 < error < math.inf else 1
    # Adding zero turns -0.0 into 0.0.
    return f"{round(100 * part, decimals) + 0.0:+,.{max(decimals, 0)}f} %"


def _error(value: float, error: float) -> str:
    """The relative standard error of a figure."""
    if error == 0:
        return "exact"
    return percent(error / abs(value)) if math.isfinite(error) and value else "not known"


def statements(review: RiskReview) -> Iterator[tuple[str, str]]:
    """What the review says below its table, as pairs of a subject and a statement."""
    for one in review.outputs.values():
        if one.limit is not None:
            yield f"{one.limit.name.capitalize()} {amount(one.limit.value, one.unit)}", _limit(one.limit, one.unit)
    if review.both is not None:
        yield "Budget and deadline", f"both met with probability {_chance(review.both)}"
    if review.pair is not None:
        yield f"Joint {_percents(review.pair.level)} %", _pair(review, review.pair)
    for verdict in review.verdicts:
        yield "Met" if verdict.met else "NOT MET", f"{verdict.text}: {outcome(verdict)}"
    yield from in_words(review.scenario.choices_in_force)
    for note in review.notes:
        yield "Note", note


def _chance(one: Chance) -> str:
    return probability(one.value, one.error, one.low, one.high)


def _limit(one: LimitRisk, unit: str) -> str:
    met = f"met with probability {_chance(one.chance)}"
    if one.mean_overrun is None:
        return met if one.chance.error == 0 else f"{met}; no draw overruns it"
    expected, mean = one.expected_overrun, one.mean_overrun
    return f"{met}; expected overrun {_with_error(expected, unit)}, and {_with_error(mean, unit)} where it is overrun"


def _pair(review: RiskReview, pair: Pair) -> str:
    cost, time = (QUANTITIES[name].unit for name in (COST, TIME))
    if math.isinf(pair.budget.value) or math.isinf(pair.deadline.value):
        return f"no budget and deadline are kept together with {_percents(pair.level)} %: too many runs never finish"
    # Where single values have probability both may be kept more often, and one of them more often than the other.
    more = pair.kept.low > pair.level
    kept = _chance(pair.kept) if more else f"{_percents(pair.level)} %"
    uncertain = [title_of(name).lower() for name in (COST, TIME) if not review.outputs[name].exact]
    who = "each" if len(uncertain) > 1 else f"the {uncertain[0]}"
    least = " or above" if more and len(uncertain) > 1 else ""
    return (
        f"{_with_error(pair.budget, cost)} and {_with_error(pair.deadline, time)} are kept together with "
        f"{kept}: {who} at P{_place(pair.percentile)} of its own{least}"
    )


def outcome(verdict: Verdict) -> str:
    """What a requirement's measure comes to, and whether the draws decide it."""
    if verdict.text.startswith("P("):
        said = _chance(Chance(verdict.value, verdict.error, verdict.low, verdict.high))
    else:
        said = _with_error(Figure(verdict.value, verdict.error), verdict.unit)
    return said if verdict.decided else f"{said}; too close to call at this number of draws"


def _with_error(figure: Figure, unit: str) -> str:
    """A figure with its standard error and unit."""
    if math.isnan(figure.value):
        return "not known from so few draws"
    if math.isinf(figure.value):
        return f"∞ {unit}"
    scale, name = readable_scale(figure.value, unit)
    value, error = figure.value / scale, figure.error / scale
    if error == 0:
        return f"{number(value, 0)} {name}"
    if not math.isfinite(error):
        return f"{number(value, 0, 2)} {name} (error not known)"
    return f"{number(value, error)} ± {digits(error, 0, 1)} {name}"
