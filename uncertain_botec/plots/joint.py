"""Cost against time: where the draws lie, which keep budget and deadline, and what is kept together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from uncertain_botec.draws import Draws, evenly
from uncertain_botec.plots.axes import (
    Reading,
    Span,
    chance_text,
    flag,
    placed,
    reading_of,
    show_span,
    span_of,
    text_width,
)
from uncertain_botec.plots.figure import LIGHT, Figure, rendered
from uncertain_botec.presentation import amount
from uncertain_botec.risk import measures
from uncertain_botec.risk.measures import Chance, Isocurve, Pair
from uncertain_botec.units import digits
from uncertain_botec.vocabulary import LIMITS, QUANTITIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Floats = npt.NDArray[np.float64]

# The smallest areas that hold so much of the draws, and how strongly each is filled.
_REGIONS = ((0.5, 0.75), (0.8, 0.45), (0.95, 0.2))

# A curve through this many draws is within a pixel of that through all.
_CURVED = 1 << 15

_QUADRANTS = {
    (True, True): ("both kept", (0.0, 0.0)),
    (False, True): ("over budget only", (1.0, 0.0)),
    (True, False): ("late only", (0.0, 1.0)),
    (False, False): ("over budget and late", (1.0, 1.0)),
}


def joint(
    draws: Draws,
    *,
    budget: float | None = None,
    deadline: float | None = None,
    confidence: float = 0.8,
    isocurve: Isocurve | None = None,
) -> Figure:
    """Cost against training time, with the budgets and deadlines that are kept together with one probability.

    Args:
        draws: of a scenario that has both.
        budget: the limit of the cost, in printed units.
        deadline: that of the time.
        confidence: the joint confidence level of the curve and of the pair on it.
        isocurve: the curve in printed units, of another level perhaps; computed here by default.
    """
    names = tuple(LIMITS.values())
    cost, time = (np.asarray(draws[name], np.float64) for name in names)
    middles = [measures.quantiles_at(one, (0.5, 0.1))[0].value for one in (cost, time)]
    readings = [
        reading_of(name, (middle, float(one.min())))
        for name, middle, one in zip(names, middles, (cost, time), strict=True)
    ]
    certain = all(draws.scenario.certain(name) for name in names)
    pair = None if certain else measures.balanced_pair(cost, time, confidence)
    if isocurve is None and not certain:
        made = draws.provenance
        some = evenly(made.sampler, made.size, _CURVED // made.replicates)
        isocurve = measures.isocurve(cost[:, some], time[:, some], confidence)
    kept = dict(_quadrants(draws, cost, time, budget, deadline))
    finite = np.isfinite(cost) & np.isfinite(time)
    points = [
        one[finite].astype(np.float64) / reading.scale for one, reading in zip((cost, time), readings, strict=True)
    ]
    limits = [
        None if one is None else one / reading.scale for one, reading in zip((budget, deadline), readings, strict=True)
    ]
    spans = [_span(one, limit) for one, limit in zip(points, limits, strict=True)]
    said = list(_said(readings, middles, kept, budget, deadline, pair, 1 - float(finite.mean())))

    def draw(canvas: Canvas) -> None:
        late = 0.0 if deadline is None else text_width(f"deadline {readings[1].number(deadline)}")
        axes = placed(canvas, 0.7, 0.5, max(late + 0.15, 0.25), 0.6)
        x, y = spans
        show_span(axes, "x", x, readings[0].label)
        show_span(axes, "y", y, readings[1].label)
        _density(axes, points[0], points[1], x, y)
        if isocurve is not None:
            _curve(axes, x, y, isocurve, readings)
        if pair is not None:
            _pair(axes, x, y, pair, readings)
        if budget is not None:
            flag(axes, x, budget / readings[0].scale, f"budget {readings[0].number(budget)}", dash="--")
        if deadline is not None:
            _deadline(axes, y, deadline / readings[1].scale, f"deadline {readings[1].number(deadline)}")
        for key, chance in kept.items():
            _quadrant(axes, *_QUADRANTS[key], chance, alone=len(kept) < len(_QUADRANTS))
        _legend(canvas, confidence if isocurve is None else isocurve.level, curved=isocurve is not None)

    return rendered("joint", "Cost and training time together", " ".join(said), draw, (6.5, 4.8))


def _quadrants(
    draws: Draws, cost: Floats, time: Floats, budget: float | None, deadline: float | None
) -> Iterator[tuple[tuple[bool, bool], Chance]]:
    """The chance of each way to keep or miss two limits."""
    if budget is None or deadline is None:
        return
    within, early = cost <= budget, time <= deadline
    exact = all(draws.scenario.certain(name) for name in LIMITS.values())
    for key in _QUADRANTS:
        yield key, measures.chance((within == key[0]) & (early == key[1]), exact=exact)


def _span(values: Floats, limit: float | None) -> Span:
    """What shows nearly all draws, and the limit where it is not far off."""
    if not values.size:
        return span_of([] if limit is None else [limit])
    low, high = np.quantile(values, (0.001, 0.999)).tolist()
    near = [limit] if limit is not None and low / 3 <= limit <= high * 3 else []
    return span_of([low, high, *near], pad=0.06)


def _said(
    readings: list[Reading],
    middles: list[float],
    kept: dict[tuple[bool, bool], Chance],
    budget: float | None,
    deadline: float | None,
    pair: Pair | None,
    endless: float,
) -> Iterator[str]:
    cost, time = readings
    yield f"Medians: {cost.amount(middles[0])} and {time.amount(middles[1])}."
    if kept and budget is not None and deadline is not None:
        units = [QUANTITIES[name].unit for name in LIMITS.values()]
        yield f"Of a budget of {amount(budget, units[0])} and a deadline of {amount(deadline, units[1])}:"
        yield ", ".join(f"{name} {chance_text(kept[key])}" for key, (name, _) in _QUADRANTS.items()) + "."
    if pair is not None:
        money = cost.amount(pair.budget.value, pair.budget.error)
        days = time.amount(pair.deadline.value, pair.deadline.error)
        place = digits(pair.percentile.value, 0, 3)
        yield f"{100 * pair.level:g} % keep both {money} and {days}, each at percentile {place} of its own."
    if endless:
        yield f"{digits(100 * endless, 0, 3)} % of the draws never finish and are not shown."


# --- parts ------------------------------------------------------------------------------------------------------------


def regions(x: Floats, y: Floats, x_edges: Floats, y_edges: Floats) -> npt.NDArray[np.intp]:
    """Which of the smallest areas each cell belongs to, the innermost being 0; cells in none have their number.

    Cells are taken by the number of draws in them, the fullest first, until an area holds its part of all draws.
    """
    counts, _, _ = np.histogram2d(x, y, [x_edges, y_edges])
    order = np.argsort(-counts, axis=None, kind="stable")
    before = np.cumsum(counts.flat[order]) - counts.flat[order]
    found = np.empty(counts.size, np.intp)
    found[order] = np.searchsorted([part * x.size for part, _ in _REGIONS], before, side="right")
    found[counts.reshape(-1) == 0] = len(_REGIONS)
    return found.reshape(counts.shape)


def _density(axes: Axes, x: Floats, y: Floats, x_span: Span, y_span: Span) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if not x.size:
        axes.text(0.5, 0.5, "no run finishes", transform=axes.transAxes, ha="center")
        return
    # Cells that hold some draws each, so that their edges are not decided by luck.
    cells = int(np.clip(round(x.size ** (1 / 3)), 8, 56))
    edges = [np.array([span.at(part) for part in np.linspace(0, 1, cells + 1)]) for span in (x_span, y_span)]
    found = regions(x, y, *edges)
    for place, (part, strength) in enumerate(_REGIONS):
        boxes = list(_boxes(found == place, *edges))
        if not boxes:
            continue
        codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * len(boxes)
        path = Path(np.concatenate([[(a, c), (b, c), (b, d), (a, d), (a, c)] for a, b, c, d in boxes]), codes)
        axes.add_patch(
            PathPatch(path, facecolor=LIGHT["blue"], alpha=strength, linewidth=0, gid=f"density-{100 * part:g}")
        )


def _boxes(
    inside: npt.NDArray[np.bool_], x_edges: Floats, y_edges: Floats
) -> Iterator[tuple[float, float, float, float]]:
    """Cells side by side as one box: left, right, bottom, top."""
    for place, column in enumerate(inside):
        ends = np.flatnonzero(np.diff(np.concatenate([[False], column, [False]]).astype(int)))
        for first, last in ends.reshape(-1, 2).tolist():
            yield float(x_edges[place]), float(x_edges[place + 1]), float(y_edges[first]), float(y_edges[last])


def _curve(axes: Axes, x: Span, y: Span, curve: Isocurve, readings: list[Reading]) -> None:
    budgets, deadlines = curve.budgets / readings[0].scale, curve.deadlines / readings[1].scale
    shown = np.isfinite(budgets) & np.isfinite(deadlines)
    budgets, deadlines = budgets[shown], deadlines[shown]
    if not budgets.size:
        return
    # Up from the least budget and on with the least deadline: more of either alone keeps no more.
    budgets = np.concatenate([budgets[:1], budgets, [max(x.high, budgets[-1])]])
    deadlines = np.concatenate([[max(y.high, deadlines[0])], deadlines, deadlines[-1:]])
    axes.plot(budgets, deadlines, color=LIGHT["vermilion"], linewidth=1.8, gid="isocurve")


def _pair(axes: Axes, x: Span, y: Span, pair: Pair, readings: list[Reading]) -> None:
    budget, deadline = (
        one.value / reading.scale for one, reading in zip((pair.budget, pair.deadline), readings, strict=True)
    )
    if not (math.isfinite(budget) and math.isfinite(deadline) and x.holds(budget) and y.holds(deadline)):
        return
    axes.plot(
        [budget], [deadline], "D", color=LIGHT["vermilion"], markersize=6, markeredgecolor=LIGHT["paper"], gid="pair"
    )
    numbers = " and ".join(
        reading.number(one.value, one.error)
        for one, reading in zip((pair.budget, pair.deadline), readings, strict=True)
    )
    right = x.part(budget) < 0.6
    axes.annotate(
        f"{100 * pair.level:g} %: {numbers}",
        (budget, deadline),
        (8 if right else -8, 5 if right else -8),
        textcoords="offset points",
        ha="left" if right else "right",
        va="bottom" if right else "top",
    )


def _deadline(axes: Axes, span: Span, value: float, text: str) -> None:
    """A level line with its text beyond the end."""
    part = min(max(span.part(value), 0.0), 1.0)
    if span.holds(value):
        axes.axhline(value, color=LIGHT["ink"], linestyle="--", linewidth=1.2, gid="deadline")
    else:
        text = f"{text} {'↑' if part == 1 else '↓'}"
    axes.text(1.01, part, text, transform=axes.transAxes, va="center")


def _quadrant(axes: Axes, name: str, corner: tuple[float, float], chance: Chance, *, alone: bool) -> None:
    right, top = corner
    axes.text(
        0.98 if right else 0.02,
        0.97 if top else 0.03,
        f"{name}\n{chance_text(chance)}",
        transform=axes.transAxes,
        ha="right" if right else "left",
        va="top" if top else "bottom",
        linespacing=1.25,
    )


def _legend(canvas: Canvas, level: float, *, curved: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = [
        Patch(facecolor=LIGHT["blue"], alpha=strength, linewidth=0) for _, strength in _REGIONS
    ]
    labels = [f"{100 * part:g} % of draws" for part, _ in _REGIONS]
    if curved:
        handles.append(Line2D([], [], color=LIGHT["vermilion"], linewidth=1.8))
        labels.append(f"both kept in {100 * level:g} %")
    canvas.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=(0.1, 1.0),
        ncols=len(handles),
        frameon=False,
        columnspacing=1.4,
        handlelength=1.6,
    )
