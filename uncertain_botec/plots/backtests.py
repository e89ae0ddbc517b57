"""Figures of a backtest: how often intervals held, where runs fell in their forecasts, and every run beside its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from uncertain_botec.plots.axes import Span, flag, inches_of, placed, show_span, span_of, ticks_of, widest
from uncertain_botec.plots.figure import BACKED, LIGHT, Figure, elided, rendered
from uncertain_botec.plots.rows import PITCH, WIDTH, rows_of
from uncertain_botec.units import digits

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MOST_RUNS = 20
"""How many runs one picture shows: more names could not be read on paper."""

# As it should be, and not so: told apart by shape and by colour.
_SIGNS = (("blue", "o"), ("vermilion", "D"))

# Inches from run to run, and between panels.
_CLOSER = 0.24
_GAP = 0.3


@dataclass(frozen=True)
class Within:
    """A value with its bounds, which may be unknown.

    Attributes:
        value: in the unit of its axis.
        low, high: not finite where they are unknown.
    """

    value: float
    low: float
    high: float

    @property
    def bounded(self) -> bool:
        """Whether the bounds are known."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def excludes(self, expected: float) -> bool:
        """Whether the bounds are known, and a value lies outside of them."""
        return self.bounded and not self.low <= expected <= self.high


def coverage(held: Mapping[str, Mapping[float, Within]]) -> Figure:
    """How many of all runs central intervals held, beside how many they should hold.

    Args:
        held: in percent, by forecaster and by the percent that the interval should hold.
    """
    levels = list(next(iter(held.values())))
    panels = [
        _Panel(f"{level:g} % interval", level, Span(0.0, 105.0, log=False), [one[level] for one in held.values()])
        for level in levels
    ]
    said = [
        ", ".join(f"{one.value:.0f} % in {level:g} % ({one.low:.0f} - {one.high:.0f})" for level, one in each.items())
        for each in held.values()
    ]
    return _panels(
        "coverage",
        "How often intervals held",
        f"Runs within central intervals, with exact 95 % bounds in brackets. {_listed(held, said)}",
        list(held),
        panels,
        "Runs within the interval (%), with exact 95 % bounds",
        ("the bounds hold what is meant", "they do not"),
    )


def score_gaps(gaps: Mapping[str, Mapping[str, Within]], bounds: str) -> Figure:
    """How much worse than the reference class other forecasters score.

    Args:
        gaps: by forecaster, and by the name of the score.
        bounds: what the bounds are, such as "± 2 standard errors".
    """
    panels = []
    for score in next(iter(gaps.values())):
        each = [one[score] for one in gaps.values()]
        ends = [0.0, *(end for one in each for end in (one.value, one.low, one.high) if math.isfinite(end))]
        room = 0.06 * (max(ends) - min(ends)) or 1.0
        panels.append(_Panel(score, 0.0, Span(min(ends) - room, max(ends) + room, log=False), each))
    said = [
        ", ".join(f"{score} {one.value:+.3g} ({_end(one.low)} to {_end(one.high)})" for score, one in each.items())
        for each in gaps.values()
    ]
    return _panels(
        "score-gaps",
        "How much worse simpler forecasts score",
        f"Scores above those of the reference class, lower being better, {bounds} in brackets. {_listed(gaps, said)}",
        list(gaps),
        panels,
        f"Above the reference class, {bounds} (right of 0: worse)",
        ("chance may explain it", "it does not"),
    )


def percentiles(counts: Sequence[int], low: int, high: int) -> Figure:
    """How many runs fell into each tenth of their forecasts, in the band that chance leaves where forecasts are right.

    Args:
        counts: by tenth.
        low: the lower end of the band.
        high: the upper end.
    """
    number = sum(counts)
    outside = [place for place, count in enumerate(counts) if not low <= count <= high]
    tenths = [f"{10 * place} - {10 * (place + 1)} %" for place in range(len(counts))]
    alt = (
        f"Of {number} runs {', '.join(f'{count} at {tenth}' for count, tenth in zip(counts, tenths, strict=True))} of "
        f"their forecasts. Chance leaves {low} to {high} in each tenth; outside of that: "
        f"{', '.join(tenths[place] for place in outside) or 'none'}."
    )

    def draw(canvas: Canvas) -> None:
        axes = placed(canvas, 0.65, 0.5, 0.2, 0.3)
        show_span(axes, "x", Span(0.0, 100.0, log=False), "Percentile of the actual hours in the forecast (%)", 10)
        tall = Span(0.0, 1.15 * max(*counts, high, 1), log=False)
        show_span(axes, "y", tall, "Runs", at=[tick for tick in ticks_of(tall) if tick == round(tick)])
        axes.axhspan(low, high, facecolor=LIGHT["grid"], edgecolor=LIGHT["muted"], linewidth=0.8, gid="band")
        for place, count in enumerate(counts):
            colour = LIGHT["vermilion" if place in outside else "blue"]
            width, left = 100 / len(counts), 100 * place / len(counts)
            axes.bar(left + width / 2, count, 0.86 * width, facecolor=colour, linewidth=0, gid=f"tenth-{place}")
            axes.annotate(
                str(count),
                (left + width / 2, count),
                (0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                bbox=dict(BACKED),
            )
        for end in (low, high):
            line = axes.axhline(end, color=LIGHT["ink"], linestyle="--", linewidth=1.0, gid=f"chance-{end}")
        _key(canvas, [line], [f"chance leaves {low} to {high} in each tenth"])

    return rendered("percentiles", "Where runs fell in their forecasts", alt, draw, (WIDTH, 3.0))


# --- run by run -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """A run beside its forecast.

    Attributes:
        name: of the run.
        over: what it took as a multiple of P50 of the forecast, and of P90 and P10.
        text: at the end of the row.
    """

    name: str
    over: Within
    text: str


def intervals(runs: Sequence[Told]) -> tuple[Figure, ...]:
    """Every run over its P10, P50 and P90, in as many figures of one axis as names can be read in.

    Args:
        runs: from top to bottom.
    """
    span = span_of([1.0, *(end for run in runs for end in (run.over.low, run.over.high))], log=True, pad=0.03)
    left = widest(elided(run.name) for run in runs) + 0.25
    number = math.ceil(len(runs) / MOST_RUNS)
    ends = [round(len(runs) * place / number) for place in range(number + 1)]
    return tuple(
        _intervals(runs[first:last], span, left, f"{place} of {number}" if number > 1 else "")
        for place, (first, last) in enumerate(pairwise(ends), 1)
    )


def _intervals(runs: Sequence[Told], span: Span, left: float, part: str) -> Figure:
    names = [elided(run.name) for run in runs]
    multiples = [f"{one} {digits(run.over.value, 0, 3)}" for one, run in zip(names, runs, strict=True)]
    missed = [one for one, run in zip(multiples, runs, strict=True) if run.over.excludes(1.0)]
    alt = (
        f"Actual hours as multiples of the median forecast, of {len(runs)} runs by percentile, from {multiples[0]} to "
        f"{multiples[-1]}. Outside P10 to P90: {', '.join(missed) or 'none'}."
    )

    label = "Actual hours over P90, P50 and P10 of the forecast (left of 1: it took less)"
    heading = "percentile"

    def draw(canvas: Canvas) -> None:
        right = widest([heading, *(run.text for run in runs)]) + 0.2
        axes = placed(canvas, left, 0.5, right, 0.5)
        beside = 0.08 / inches_of(axes)[0]
        rows_of(axes, names)
        show_span(axes, "x", span, "")
        flag(axes, span, 1.0, "as foretold", colour="muted", dash="-")
        for place, run in enumerate(runs):
            _row(axes, place, run.over, 1.0, str(place))
            # Beyond the axes, at the height of the row.
            axes.text(1 + beside, place, run.text, transform=axes.get_yaxis_transform(), va="center_baseline")
        axes.text(1 + beside, -0.7, heading, transform=axes.get_yaxis_transform(), va="bottom", color=LIGHT["muted"])
        _below(canvas, label)
        _key(canvas, _signs(), ["within P10 to P90", "outside"])

    title = "Every run over its forecast" + (f", {part}" if part else "")
    return rendered(f"intervals {part}", title, alt, draw, (WIDTH, 1.0 + _CLOSER * max(len(runs), 2)))


# --- parts ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Panel:
    """One of several axes side by side that share their rows.

    Attributes:
        title: above it.
        expected: where a line is drawn.
        span: of its axis.
        rows: from top to bottom.
    """

    title: str
    expected: float
    span: Span
    rows: Sequence[Within]


def _panels(
    name: str, title: str, alt: str, names: Sequence[str], panels: Sequence[_Panel], label: str, keys: Sequence[str]
) -> Figure:
    """Values with their bounds, rows by name, in panels side by side."""
    top, bottom = 0.55, 0.55

    def draw(canvas: Canvas) -> None:
        left, right = widest(names) + 0.25, 0.15
        wide = (WIDTH - left - right - _GAP * (len(panels) - 1)) / len(panels)
        for place, panel in enumerate(panels):
            start = left + place * (wide + _GAP)
            axes = placed(canvas, start, bottom, WIDTH - start - wide, top)
            rows_of(axes, names if not place else [""] * len(names))
            show_span(axes, "x", panel.span, "", 4)
            flag(axes, panel.span, panel.expected, panel.title, colour="muted")
            for row, one in enumerate(panel.rows):
                _row(axes, row, one, panel.expected, f"{place}-{row}")
        _below(canvas, label)
        _key(canvas, _signs(), keys)

    return rendered(name, title, alt, draw, (WIDTH, top + bottom + PITCH * max(len(names), 2)))


def _row(axes: Axes, row: int, one: Within, expected: float, name: str) -> None:
    """A value with its bounds, marked where they do not hold what is expected."""
    colour, sign = _SIGNS[one.excludes(expected)]
    if one.bounded:
        axes.plot([one.low, one.high], [row] * 2, color=LIGHT[colour], linewidth=2.0, gid=f"bounds-{name}")
    axes.plot([one.value], [row], sign, color=LIGHT[colour], markersize=5, gid=f"value-{name}")


def _below(canvas: Canvas, label: str) -> None:
    """What axes show, in the middle of the picture: beside long names there would be no room for it."""
    canvas.text(0.5, 0.08 / canvas.get_figheight(), label, ha="center", va="bottom")


def _signs() -> list[Artist]:
    """What stands in a key for what is as it should be, and for what is not."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], color=LIGHT[colour], marker=sign, markersize=5, linewidth=2.0) for colour, sign in _SIGNS]


def _key(canvas: Canvas, handles: Sequence[Artist], names: Sequence[str]) -> None:
    """Above the axes, in the middle of the picture too."""
    canvas.legend(handles, names, loc="upper center", ncols=len(names), frameon=False, borderaxespad=0.2)


def _end(value: float) -> str:
    return f"{value:+.3g}" if math.isfinite(value) else "unknown"


def _listed(names: Iterable[str], said: Iterable[str]) -> str:
    return " ".join(f"{name}: {one}." for name, one in zip(names, said, strict=True))
