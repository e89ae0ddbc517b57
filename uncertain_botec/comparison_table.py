"""How a comparison is shown: the runs and their differences side by side, and below them who is cheaper and sooner."""

from __future__ import annotations

import math
from collections.abc import Iterator
from string import ascii_uppercase
from typing import TYPE_CHECKING

from uncertain_botec.decisions.axes import label_of
from uncertain_botec.decisions.comparison import Comparison, Curve, Difference, OutputComparison
from uncertain_botec.presentation import (
    amount,
    html_page,
    number,
    page,
    percent,
    plain_text,
    probability,
    row_title,
    sectioned_table,
)
from uncertain_botec.risk.measures import Chance, Figure
from uncertain_botec.scenario import Scenario
from uncertain_botec.units import readable_scale
from uncertain_botec.vocabulary import COST, QUANTITIES, TIME

if TYPE_CHECKING:
    from rich.console import Group

HEADINGS = ("", "P10", "P50", "P90", "mean", "lowest", "error")

_READING = (
    "P90: a 90 % chance of being at or below. B - A: draw by draw, so that its P90 is not the difference of theirs. "
    "Lowest: the chance that no other run is lower; ties are shared evenly, so that identical runs have 50 % each. "
    "Error: the largest Monte Carlo standard error of a quantile in the row, as a part of that quantile, or for "
    "B - A of the larger P50 of the two."
)
# More are nothing to read; JSON has them all.
_MOST_DIFFERING = 6

_WORDS = {COST: "cheaper", TIME: "sooner"}


def renderable(comparison: Comparison) -> Group:
    """The comparison for a rich console."""
    return page(_title(comparison), sectioned_table(HEADINGS, rows(comparison)), statements(comparison), _READING)


def as_text(comparison: Comparison, width: int = 100) -> str:
    """The comparison as plain text."""
    return plain_text(renderable(comparison), width)


def as_html(comparison: Comparison) -> str:
    """The comparison as an HTML fragment for notebooks."""
    return html_page(_title(comparison), HEADINGS, rows(comparison), statements(comparison), _READING)


def _title(comparison: Comparison) -> str:
    return f"{len(comparison.scenarios)} runs compared on common random numbers"


def letters_of(comparison: Comparison) -> dict[str, str]:
    """What each run is called for short, by label."""
    return dict(zip(comparison.scenarios, ascii_uppercase, strict=False))


def rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    """The table's rows: an output's title alone, then one row for each run and each difference."""
    letters = letters_of(comparison)
    for name, one in comparison.outputs.items():
        finite = [curve.p50.value for curve in one.curves.values() if math.isfinite(curve.p50.value)]
        # Runs of all sizes are read beside the largest.
        scale, unit = readable_scale(max(finite, key=abs, default=1.0), one.unit)
        yield (row_title(name, unit),)
        for label, curve in one.curves.items():
            yield f"{letters[label]}: {label}", *_cells(curve, scale), _part(curve.best), _error(curve, one)
        for gap in one.differences:
            yield f"{letters[gap.second]} - {letters[gap.first]}", *_cells(gap, scale), "", _error(gap, one)


def _cells(one: Curve | Difference, scale: float) -> Iterator[str]:
    for figure in (one.p10, one.p50, one.p90, one.mean):
        yield _number(figure, scale)


def _number(figure: Figure, scale: float) -> str:
    value, error = figure.value / scale, figure.error / scale
    if value == 0:
        return "0"
    if math.isnan(value):
        return "n/a"
    if math.isinf(value):
        return "-∞" if value < 0 else "∞"
    if not math.isfinite(error):
        return number(value, 0, 2)
    # What is within its own error is nothing that is known.
    return "0" if abs(value) < error else number(value, error)


def _part(chance: Chance) -> str:
    value = 100 * chance.value
    if chance.error == 0 or 0.1 <= value <= 99.9:
        return f"{value:.1f} %" if value % 1 else f"{value:g} %"
    return "<0.1 %" if value < 50 else ">99.9 %"


def _error(one: Curve | Difference, output: OutputComparison) -> str:
    """The largest error of a row, each as a part of its value or, for a difference, of the larger median of its runs.

    A difference may be next to nothing, of which no error is a part.
    """
    figures = [figure for figure in (one.p10, one.p50, one.p90) if math.isfinite(figure.value)]
    if all(figure.error == 0 for figure in figures):
        return "exact"
    if isinstance(one, Difference):
        medians = [abs(output.curves[label].p50.value) for label in (one.first, one.second)]
        whole = max((value for value in medians if math.isfinite(value)), default=0.0)
        parts = [(figure.error, whole) for figure in figures]
    else:
        parts = [(figure.error, abs(figure.value)) for figure in figures]
    largest = max(error / value if value else math.inf for error, value in parts if error)
    return percent(largest) if math.isfinite(largest) else "not known"


def statements(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """What the comparison says below its table, as pairs of a subject and a statement."""
    letters = letters_of(comparison)
    for name, one in comparison.outputs.items():
        what = name.replace("_", " ")
        word = _WORDS.get(name, f"lower in {what}")
        for gap in one.differences:
            subject = f"{letters[gap.first]} {word} than {letters[gap.second]}"
            yield subject, f"with probability {_chance(gap)}; {dominance_in_words(gap, letters, what)}"
    yield "Ties", "count half, so that a run is cheaper than an identical one with probability 50 %"
    if comparison.same:
        yield "The same quantity", f"{', '.join(comparison.same)}: stated alike, and equal in every draw"
    if comparison.together:
        yield (
            "Moved together",
            f"{', '.join(comparison.together)}: stated differently, and at the same percentile in every draw",
        )
    if comparison.apart:
        yield "Correlated otherwise", f"{', '.join(comparison.apart)}: move together only in part"
    for name, values in list(comparison.differing.items())[:_MOST_DIFFERING]:
        each = zip(comparison.scenarios.items(), values, strict=True)
        told = (f"{letters[label]} {_value(name, one, scenario)}" for (label, scenario), one in each)
        yield "Differs", f"{name}: {', '.join(told)}"
    if (rest := len(comparison.differing) - _MOST_DIFFERING) > 0:
        yield "Differs", f"{rest} more known inputs or choices"
    for note in comparison.notes:
        yield "Note", note


def _value(name: str, value: float | str | None, scenario: Scenario) -> str:
    """What one run knows."""
    if isinstance(value, str):
        return value
    if value is None:
        return "uncertain" if name in scenario.uncertain else "none"
    unit = QUANTITIES[name].unit
    return label_of(value) if unit in ("fraction", "count", name) else amount(value, unit)


def _chance(gap: Difference) -> str:
    if gap.ties == 1:
        return "50 %"
    return probability(gap.lower.value, gap.lower.error, gap.lower.low, gap.lower.high)


def dominance_in_words(gap: Difference, letters: dict[str, str], what: str) -> str:
    """Who dominates whom in words."""
    found = gap.dominance
    if gap.ties == 1:
        return "equal in every draw"
    if found.draw_by_draw:
        other = gap.second if found.draw_by_draw == gap.first else gap.first
        strictly = "lower" if gap.ties == 0 else "never higher"
        return f"{letters[found.draw_by_draw]} is {strictly} than {letters[other]} in every draw"
    close = "" if found.decided else "; too close to call at this number of draws"
    if found.stochastic:
        return f"{letters[found.stochastic]} has the lower {what} at every percentile from P1 to P99{close}"
    if not found.crossings:
        return f"the percentiles of {what} are the same{close}"
    places = ", ".join(f"P{place}" for place in found.crossings[:3])
    more = f" and {len(found.crossings) - 3} more" if len(found.crossings) > 3 else ""
    return f"neither dominates: the curves of {what} cross at {places}{more}{close}"
