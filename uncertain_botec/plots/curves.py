"""S-curves: the chance that an output is at or below each value, of one scenario or of several."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from uncertain_botec.draws import Draws
from uncertain_botec.plots.axes import (
    Reading,
    Span,
    chance_text,
    flag,
    inches_of,
    percent,
    placed,
    reading_of,
    show_span,
    span_of,
    text_width,
)
from uncertain_botec.plots.figure import BACKED, LIGHT, Figure, elided, rendered
from uncertain_botec.presentation import amount, title_of
from uncertain_botec.risk import measures
from uncertain_botec.tallies import quantiles
from uncertain_botec.vocabulary import LIMITS, QUANTITIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

Floats = npt.NDArray[np.float64]

_MARKED = (0.5, 0.8, 0.9)
# Levels closer than this to the one asked for would be written over it.
_CLOSE = 0.06

# Inches from a point to its text, and from a line to a text beside it.
_BESIDE, _CLEAR = 0.1, 0.05

# Dense where the curve bends.
_LEVELS = ndtr(np.linspace(-3.5, 3.5, 281))

_LINES = (
    ("blue", "-"),
    ("vermilion", "--"),
    ("green", "-."),
    ("purple", (0, (1, 1.2))),
    ("orange", (0, (6, 1, 1, 1, 1, 1))),
    ("sky", (0, (3, 1))),
    ("ink", "-"),
    ("muted", "--"),
)
MOST_CURVES = len(_LINES)
"""How many scenarios one picture tells apart."""


def curve(values: Floats, levels: Sequence[float] = ()) -> tuple[Floats, Floats]:
    """The empirical distribution function as a line: ascending values and the probability of being at or below each.

    Args:
        values: draws, of which some may be infinite; the line ends below 1 then.
        levels: probabilities that it has points at, besides those it always has.

    Returns:
        Quantiles by Hazen's order statistics, and their levels; nothing where no draw is finite.
    """
    replicates = len(values) if np.ndim(values) > 1 else 1
    ordered = np.sort(np.asarray(values, np.float64), axis=None)
    finite = int(np.searchsorted(ordered, math.inf))
    if not finite:
        return np.empty(0), np.empty(0)
    wanted = np.unique(np.concatenate([_LEVELS, np.asarray(levels, np.float64)]))
    wanted = wanted[(wanted > 0.5 / ordered.size) & (wanted < (finite - 0.5) / ordered.size)]
    between = quantiles(ordered, wanted.tolist(), replicates) if wanted.size else np.empty(0)
    x = np.concatenate([ordered[[0, 0]], between, ordered[[finite - 1, finite - 1]]])
    top = finite / ordered.size
    return x, np.concatenate([[0.0, 0.5 / ordered.size], wanted, [top - 0.5 / ordered.size, top]])


def s_curve(
    draws: Draws,
    output: str,
    *,
    limit: float | None = None,
    confidence: float | None = None,
    point: float | None = None,
) -> Figure:
    """The chance that an output is at or below each value.

    Args:
        draws: of the scenario.
        output: its name.
        limit: the budget or deadline, in the printed unit.
        confidence: a level to mark besides P50, P80 and P90, between 0 and 1.
        point: a point estimate to mark, in the printed unit.
    """
    values = draws[output]
    levels = sorted({*(p for p in _MARKED if confidence is None or abs(p - confidence) > _CLOSE), confidence or 0.5})
    first, *marks = measures.quantiles_at(values, (0.1, *levels))
    marked = list(zip(levels, marks, strict=True))
    reading = reading_of(output, (marks[0].value, first.value, float(values.min()), limit or 0.0))
    endless = float(np.isinf(values).mean())
    kept = None if limit is None else measures.chance(values <= limit, exact=draws.scenario.certain(output))
    kind = next((name for name, limited in LIMITS.items() if limited == output), "limit")
    unit = QUANTITIES[output].unit
    said = list(_said(output, reading, [(0.1, first), *marked], endless))
    if kept is not None and limit is not None:
        said.append(f"The {kind}, {amount(limit, unit)}, is kept with probability {chance_text(kept)}.")
    if point is not None:
        said.append(f"The point estimate is {reading.amount(point)}.")
    x, p = curve(np.asarray(values, np.float64), levels)
    x = x / reading.scale
    extra = [value / reading.scale for value in (limit, point) if value is not None]
    span = _span([x], [p], extra)

    def draw(canvas: Canvas) -> None:
        axes = placed(canvas, 0.65, 0.5, 0.25, 0.15 + 0.18 * ((limit is not None) + (point is not None)))
        _frame(axes, span, reading.label)
        _line(axes, span, x, p, LIGHT["blue"], "-", "curve")
        _endless(axes, endless)
        for reached in _together(marked):
            level, one = reached[0]
            levels = " - ".join(f"P{100 * end:g}" for end in dict.fromkeys((level, reached[-1][0])))
            text = f"{levels}  {reading.number(one.value, one.error)}"
            _mark(axes, span, one.value / reading.scale, level, text, extra)
        row = 0
        if limit is not None and kept is not None:
            text = f"{kind} {amount(limit, unit)}: {chance_text(kept)} chance of keeping it"
            flag(axes, span, limit / reading.scale, text, row=row, colour="vermilion")
            row += 1
        if point is not None:
            text = f"point estimate {reading.number(point)}"
            flag(axes, span, point / reading.scale, text, row=row, colour="muted", dash=":")

    return rendered(f"s-curve-{output}", f"{title_of(output)}: chance of being at or below", " ".join(said), draw)


def s_curves(runs: Sequence[tuple[str, Draws]], output: str) -> Figure:
    """The S-curves of one output of several scenarios, of which no more than `MOST_CURVES` are told apart.

    Args:
        runs: a label and the draws of each.
        output: which they all have.
    """
    left_out = len(runs) - MOST_CURVES
    runs = list(runs)[:MOST_CURVES]
    middles = [measures.quantiles_at(one[output], (0.1, 0.5, 0.9)) for _, one in runs]
    reading = reading_of(output, [figures[1].value for figures in middles] + [figures[0].value for figures in middles])
    lines = [curve(np.asarray(one[output], np.float64), (0.1, 0.5, 0.9)) for _, one in runs]
    xs, ps = [x / reading.scale for x, _ in lines], [p for _, p in lines]
    span = _span(xs, ps, [])
    names = [elided(label, 40) for label, _ in runs]
    said = [
        f"{title_of(output)} of {name}: "
        + ", ".join(
            f"P{level} {reading.amount(one.value, one.error)}" for level, one in zip((10, 50, 90), three, strict=True)
        )
        + "."
        for name, three in zip(names, middles, strict=True)
    ]

    if left_out > 0:
        said.append(f"{left_out} more are not shown.")

    def draw(canvas: Canvas) -> None:
        axes = placed(canvas, 0.65, 0.5, 0.25, 0.15 + 0.18 * len(names))
        _frame(axes, span, reading.label)
        handles = []
        for place, (x, p) in enumerate(zip(xs, ps, strict=True)):
            colour, dash = _LINES[place]
            handles.append(_line(axes, span, x, p, LIGHT[colour], dash, f"curve-{place}"))
        _legend(canvas, handles, names)

    height = 3.3 + 0.18 * len(names)
    title = f"{title_of(output)} of {len(names)} scenarios: chance of being at or below"
    return rendered(f"s-curves-{output}", title, " ".join(said), draw, (6.5, height))


def gap_curves(gaps: Sequence[tuple[str, Floats]], output: str, first: str) -> Figure:
    """The S-curves of what other runs have more of an output than a first one, draw by draw, with zero marked.

    Args:
        gaps: a label and the differences of each, in the printed unit; at most `MOST_CURVES`.
        output: of which they are.
        first: what to call the run that was taken off.
    """
    middles = [measures.quantiles_at(gap, (0.1, 0.5, 0.9)) for _, gap in gaps]
    reading = reading_of(output, [abs(one.value) for three in middles for one in (three[1], *three) if one.value])
    lines = [_signed_curve(gap) for _, gap in gaps]
    xs, ps = [x / reading.scale for x, _ in lines], [p for _, p in lines]
    shown = _span(xs, ps, [])
    span = span_of([shown.low, shown.high, 0.0], log=False, pad=0.0)
    names = [elided(label, 64) for label, _ in gaps]
    first = elided(first, 40)
    title = f"{title_of(output)} less that of {first}: chance of being at or below"
    said = [
        f"{name}: "
        + ", ".join(
            f"P{level} {reading.amount(one.value, one.error)}" for level, one in zip((10, 50, 90), three, strict=True)
        )
        + "."
        for name, three in zip(names, middles, strict=True)
    ]

    def draw(canvas: Canvas) -> None:
        axes = placed(canvas, 0.65, 0.5, 0.25, 0.35 + 0.18 * len(names))
        _frame(axes, span, f"{reading.label}, less that of {first}")
        flag(axes, span, 0.0, "no difference", colour="muted", dash=":")
        handles = []
        for place, (x, p) in enumerate(zip(xs, ps, strict=True)):
            colour, dash = _LINES[place]
            handles.append(_line(axes, span, x, p, LIGHT[colour], dash, f"gap-{place}"))
        _legend(canvas, handles, names)

    return rendered(f"gaps-{output}", title, " ".join(said), draw, (6.5, 3.5 + 0.18 * len(names)))


def _signed_curve(values: Floats) -> tuple[Floats, Floats]:
    """As `curve`, of values of which some may be infinite in either direction."""
    below = np.isneginf(values)
    # Replicates are of one size only where nothing is left out.
    x, p = curve(values[~below] if below.any() else values)
    return x, below.mean() + (1 - below.mean()) * p


# --- parts ------------------------------------------------------------------------------------------------------------


def _said(
    output: str, reading: Reading, marked: Sequence[tuple[float, measures.Figure]], endless: float
) -> Iterator[str]:
    """The quantiles in a sentence, and how many draws never end."""
    first = marked[0][1]
    if not first.error and all(one == first for _, one in marked):
        yield f"{title_of(output)} is {reading.amount(first.value)} in every draw."
        return
    parts = (f"P{100 * level:g} {reading.amount(one.value, one.error)}" for level, one in marked)
    yield f"{title_of(output)}: {', '.join(parts)} (the chance of being at or below, in percent)."
    if endless:
        yield f"In {percent(endless)} of the draws it is infinite: the run never finishes."


def _span(xs: Sequence[Floats], ps: Sequence[Floats], extra: Sequence[float]) -> Span:
    """What shows nearly all of every curve, and the values to be marked that are not far off."""
    inner = [float(value) for x, p in zip(xs, ps, strict=True) for value in x[(p > 0.002) & (p < 0.996)]]
    if not inner:
        return span_of(extra)
    low, high = min(inner), max(inner)
    return span_of([low, high, *(value for value in extra if low / 10 <= value <= high * 10)])


def _frame(axes: Axes, span: Span, label: str) -> None:
    show_span(axes, "x", span, label)
    show_span(axes, "y", Span(0.0, 1.0, log=False), "Chance of being at or below (%)")
    ticks = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    axes.set_yticks(ticks, [f"{100 * tick:.0f}" for tick in ticks])
    axes.set_ylim(0.0, 1.02)
    axes.grid(axis="y", color=LIGHT["grid"], linewidth=0.6)


def _line(axes: Axes, span: Span, x: Floats, p: Floats, colour: str, dash: object, gid: str) -> Line2D:
    """The curve, from end to end of the axis."""
    if x.size:
        x, p = np.concatenate([[min(span.low, x[0])], x, [max(span.high, x[-1])]]), np.concatenate([[0.0], p, p[-1:]])
    (line,) = axes.plot(x, p, color=colour, linestyle=dash, linewidth=1.8, gid=gid)
    return line


def _together(marked: Sequence[tuple[float, measures.Figure]]) -> list[list[tuple[float, measures.Figure]]]:
    """Finite quantiles, those that are equal in one list."""
    finite = [one for one in marked if math.isfinite(one[1].value)]
    return [list(equal) for _, equal in groupby(finite, key=lambda one: one[1].value)]


def _mark(axes: Axes, span: Span, value: float, level: float, text: str, lines: Sequence[float]) -> None:
    """A point of the curve with its level and its value, as near to it as neither a line nor an edge is in the way."""
    axes.plot([value], [level], "o", color=LIGHT["blue"], markersize=4.5, gid=f"p{100 * level:g}".replace(".", "-"))
    inches, part = inches_of(axes)[0], span.part(value)
    gaps = [(span.part(line) - part) * inches for line in lines if span.holds(line)]
    shift = _shift(text_width(text), part * inches, (1 - part) * inches, gaps)
    right = shift > 0
    axes.annotate(
        text,
        (value, level),
        (72 * shift, -3 if right else 3),
        textcoords="offset points",
        ha="left" if right else "right",
        va="top" if right else "bottom",
        bbox=dict(BACKED),
    )


def _shift(wide: float, left: float, right: float, gaps: Sequence[float]) -> float:
    """How many inches to the right of a point its text begins or, where negative, to the left of it ends.

    Args:
        wide: the text.
        left: room on that side of the point.
        right: likewise.
        gaps: how far to the right of it upright lines are.
    """
    # An S-curve leaves the lower right and the upper left of each of its points free, beyond a line too.
    places = []
    for sign, room in ((1, right), (-1, left)):
        ahead = [sign * gap for gap in gaps]
        for start in (_BESIDE, *(gap + _CLEAR for gap in ahead if gap + _CLEAR > _BESIDE)):
            crossed = any(start - _CLEAR / 2 < gap < start + wide + _CLEAR / 2 for gap in ahead)
            if start + wide <= room and not crossed:
                places.append(sign * start)
    return min(places, key=abs, default=_BESIDE if right > left else -_BESIDE)


def _endless(axes: Axes, endless: float) -> None:
    """The height that the curve never exceeds, and why."""
    if not endless:
        return
    top = 1 - endless
    axes.axhline(top, color=LIGHT["muted"], linestyle=":", linewidth=1.0, gid="endless")
    text = f"{percent(endless)} never finish" if top else "no run finishes"
    above = top < 0.93
    axes.text(
        0.01,
        top + (0.01 if above else -0.01),
        text,
        transform=axes.get_yaxis_transform(),
        va="bottom" if above else "top",
    )


def _legend(canvas: Canvas, handles: Sequence[Line2D], names: Sequence[str]) -> None:
    """One line for each curve, above the axes."""
    canvas.legend(
        handles, names, loc="upper left", bbox_to_anchor=(0.09, 1.0), frameon=False, handlelength=3.2, labelspacing=0.25
    )
