"""Cost against time: where the draws lie, which keep budget and deadline, and what is kept together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from uncertain_botec.draws import Draws, evenly
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
from uncertain_botec.plots.figure import BACKED, LIGHT, Figure, rendered
from uncertain_botec.presentation import amount
from uncertain_botec.risk import measures
from uncertain_botec.risk.measures import Chance, Isocurve, Pair
from uncertain_botec.units import digits
from uncertain_botec.vocabulary import COST, QUANTITIES, TIME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Floats = npt.NDArray[np.float64]

# The smallest areas that hold so much of the draws, and how strongly each is filled.
_REGIONS = ((0.5, 0.75), (0.8, 0.45), (0.95, 0.2))

# A curve through this many draws is within a pixel of that through all.
_CURVED = 1 << 15

# Whether budget and deadline are kept, and what to call that.
_OUTCOMES = {
    (True, True): "both kept",
    (False, True): "over budget only",
    (True, False): "late only",
    (False, False): "over budget and late",
}


@dataclass(frozen=True)
class _Side:
    """One of the two outputs, in its printed unit.

    Attributes:
        draws: of shape (replicates, size).
        median: of them.
        reading: how it is read.
        limit: the budget or the deadline.
        marks: values to be shown besides the draws.
    """

    draws: Floats
    median: float
    reading: Reading
    limit: float | None
    marks: tuple[float, ...]

    @cached_property
    def span(self) -> Span:
        """What shows nearly all draws, and marks that are not far off, with room for words beyond them."""
        finite = self.draws[np.isfinite(self.draws)] / self.reading.scale
        marks = [mark / self.reading.scale for mark in self.marks]
        if not finite.size:
            return span_of(marks)
        low, high = np.quantile(finite, (0.002, 0.998)).tolist()
        near = [mark for mark in marks if low > 0 and low / 3 <= mark <= high * 3]
        beyond = [mark * (mark / end) ** 0.15 for mark in near for end in (low, high)]
        return span_of([low, high, *beyond], log=low > 0, pad=0.06)


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
    money, days = (np.asarray(draws[name], np.float64) for name in (COST, TIME))
    pair = None
    if not all(draws.scenario.certain(name) for name in (COST, TIME)):
        pair = measures.balanced_pair(money, days, confidence)
        made = draws.provenance
        some = evenly(made.sampler, made.size, _CURVED // made.replicates)
        isocurve = isocurve or measures.isocurve(money[:, some], days[:, some], confidence)
    if pair is not None and math.isinf(max(pair.budget.value, pair.deadline.value)):
        pair = None
    cost = _side("cost", money, budget, None if pair is None else pair.budget.value)
    time = _side("training_time", days, deadline, None if pair is None else pair.deadline.value)
    kept = dict(_outcomes(draws, cost, time))
    endless = float(np.mean(np.isinf(cost.draws) | np.isinf(time.draws)))
    said = " ".join(_said(cost, time, kept, pair, endless))

    def draw(canvas: Canvas) -> None:
        late = "" if deadline is None else f"deadline {_stated('training_time', deadline)}"
        axes = placed(canvas, 0.8, 0.5, max(text_width(late) + 0.15, 0.25), 0.6)
        show_span(axes, "x", cost.span, cost.reading.label)
        show_span(axes, "y", time.span, time.reading.label)
        _density(axes, cost, time)
        if isocurve is not None:
            _curve(axes, cost, time, isocurve)
        if pair is not None:
            _pair(axes, cost, time, pair)
        if budget is not None:
            text = f"budget {_stated('cost', budget)}"
            flag(axes, cost.span, budget / cost.reading.scale, text, dash="--")
        if deadline is not None:
            _deadline(axes, time.span, deadline / time.reading.scale, late)
        if kept:
            _corners(axes, time, kept)
        _legend(canvas, None if isocurve is None else isocurve.level)

    return rendered("joint", "Cost and training time together", said, draw, (6.5, 4.8))


def _side(name: str, values: Floats, limit: float | None, paired: float | None) -> _Side:
    median = measures.quantiles_at(values, (0.5,))[0].value
    marks = tuple(one for one in (limit, paired) if one is not None)
    return _Side(values, median, reading_of(name, (median, float(values.min()), *marks)), limit, marks)


def _stated(name: str, value: float) -> str:
    return amount(value, QUANTITIES[name].unit)


def _outcomes(draws: Draws, cost: _Side, time: _Side) -> Iterator[tuple[tuple[bool, bool], Chance]]:
    """The chance of each way to keep or miss two limits."""
    if cost.limit is None or time.limit is None:
        return
    within, early = cost.draws <= cost.limit, time.draws <= time.limit
    exact = all(draws.scenario.certain(name) for name in (COST, TIME))
    for key in _OUTCOMES:
        yield key, measures.chance((within == key[0]) & (early == key[1]), exact=exact)


def _said(
    cost: _Side, time: _Side, kept: dict[tuple[bool, bool], Chance], pair: Pair | None, endless: float
) -> Iterator[str]:
    yield f"Medians: {cost.reading.amount(cost.median)} and {time.reading.amount(time.median)}."
    if kept and cost.limit is not None and time.limit is not None:
        yield f"Budget {_stated('cost', cost.limit)} and deadline {_stated('training_time', time.limit)}:"
        yield ", ".join(f"{name} {chance_text(kept[key])}" for key, name in _OUTCOMES.items()) + "."
    if pair is not None:
        money = cost.reading.amount(pair.budget.value, pair.budget.error)
        days = time.reading.amount(pair.deadline.value, pair.deadline.error)
        place = digits(pair.percentile.value, 0, 3)
        # Where single values have probability, more are kept than was asked, and only the one is at the percentile.
        more = pair.kept.low > pair.level
        share = f"{chance_text(pair.kept)}" if more else f"{100 * pair.level:g} %"
        which = "the one less often kept" if more else "each"
        yield f"{share} keep both {money} and {days}, {which} at percentile {place} of its own."
    if endless:
        yield f"{percent(endless)} of the draws never finish and are not shown."


# --- where the draws lie ----------------------------------------------------------------------------------------------


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


def _density(axes: Axes, cost: _Side, time: _Side) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    finite = np.isfinite(cost.draws) & np.isfinite(time.draws)
    if not finite.any():
        axes.text(0.5, 0.7, "no run finishes", transform=axes.transAxes, ha="center")
        return
    if np.ptp(cost.draws) == np.ptp(time.draws) == 0:
        x, y = (one.draws.flat[0] / one.reading.scale for one in (cost, time))
        axes.plot([x], [y], "o", color=LIGHT["blue"], markersize=7, gid="known")
        return
    # Cells that hold some draws each, so that their edges are not decided by luck.
    cells = int(np.clip(round(finite.sum() ** (1 / 3)), 8, 64))
    x_edges, y_edges = (np.array([one.span.at(part) for part in np.linspace(0, 1, cells + 1)]) for one in (cost, time))
    found = regions(cost.draws[finite] / cost.reading.scale, time.draws[finite] / time.reading.scale, x_edges, y_edges)
    for place, (part, strength) in enumerate(_REGIONS):
        boxes = list(_boxes(found == place, x_edges, y_edges))
        if not boxes:
            continue
        codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * len(boxes)
        corners = np.concatenate([[(a, c), (b, c), (b, d), (a, d), (a, c)] for a, b, c, d in boxes])
        gid = f"density-{100 * part:g}"
        axes.add_patch(PathPatch(Path(corners, codes), facecolor=LIGHT["blue"], alpha=strength, linewidth=0, gid=gid))


def _boxes(
    inside: npt.NDArray[np.bool_], x_edges: Floats, y_edges: Floats
) -> Iterator[tuple[float, float, float, float]]:
    """Cells side by side as one box: left, right, bottom, top."""
    for place, column in enumerate(inside):
        ends = np.flatnonzero(np.diff(np.concatenate([[False], column, [False]]).astype(int)))
        for first, last in ends.reshape(-1, 2).tolist():
            yield float(x_edges[place]), float(x_edges[place + 1]), float(y_edges[first]), float(y_edges[last])


# --- what is kept -----------------------------------------------------------------------------------------------------


def _curve(axes: Axes, cost: _Side, time: _Side, curve: Isocurve) -> None:
    budgets, deadlines = curve.budgets / cost.reading.scale, curve.deadlines / time.reading.scale
    shown = np.isfinite(budgets) & np.isfinite(deadlines)
    budgets, deadlines = budgets[shown], deadlines[shown]
    if not budgets.size:
        return
    # Up from the least budget and on with the least deadline: more of either alone keeps no more.
    budgets = np.concatenate([budgets[:1], budgets, [max(cost.span.high, budgets[-1])]])
    deadlines = np.concatenate([[max(time.span.high, deadlines[0])], deadlines, deadlines[-1:]])
    axes.plot(budgets, deadlines, color=LIGHT["vermilion"], linewidth=1.8, gid="isocurve")


def _pair(axes: Axes, cost: _Side, time: _Side, pair: Pair) -> None:
    budget, deadline = pair.budget.value / cost.reading.scale, pair.deadline.value / time.reading.scale
    if not (cost.span.holds(budget) and time.span.holds(deadline)):
        return
    (point,) = axes.plot([budget], [deadline], "D", color=LIGHT["vermilion"], markersize=6, gid="pair")
    point.set_markeredgecolor(LIGHT["paper"])
    money = cost.reading.number(pair.budget.value, pair.budget.error)
    days = time.reading.number(pair.deadline.value, pair.deadline.error)
    right = cost.span.part(budget) < 0.65
    axes.annotate(
        f"{100 * pair.level:g} %: {money} and {days}",
        (budget, deadline),
        (8 if right else -8, 5 if right else -8),
        textcoords="offset points",
        ha="left" if right else "right",
        va="bottom" if right else "top",
        bbox=dict(BACKED),
    )


def _deadline(axes: Axes, span: Span, value: float, text: str) -> None:
    """A level line with its text beyond the end."""
    part = min(max(span.part(value), 0.0), 1.0)
    if span.holds(value):
        axes.axhline(value, color=LIGHT["ink"], linestyle="--", linewidth=1.2, gid="deadline")
    else:
        text = f"{text} {'↑' if part == 1 else '↓'}"
    axes.text(1.01, part, text, transform=axes.transAxes, va="center")


def _corners(axes: Axes, time: _Side, kept: dict[tuple[bool, bool], Chance]) -> None:
    """The chance of each outcome in its part of the picture, off the diagonal on which most draws lie."""
    height = inches_of(axes)[1]
    gap, line = 0.06 / height, 0.16 / height
    deadline = min(time.span.part((time.limit or 0.0) / time.reading.scale), 1.0)
    # What keeps both ends where the draws begin: there is room above them, below the line of the deadline.
    within = deadline - gap if deadline > 6 * line else gap + 2 * line
    tops = {
        (True, True): within,
        (False, True): gap + 2 * line,
        (True, False): 1 - gap,
        (False, False): 1 - gap,
    }
    for key, top in tops.items():
        across, side = (0.015, "left") if key[0] else (0.985, "right")
        # One text a line, for a reader's font may be narrower than that which places them.
        for place, text in enumerate((_OUTCOMES[key], chance_text(kept[key]))):
            axes.text(across, top - place * line, text, transform=axes.transAxes, ha=side, va="top")


def _legend(canvas: Canvas, level: float | None) -> None:
    from matplotlib.artist import Artist
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Artist] = [Patch(facecolor=LIGHT["blue"], alpha=strength, linewidth=0) for _, strength in _REGIONS]
    labels = [f"{100 * part:g} % of draws" for part, _ in _REGIONS]
    if level is not None:
        handles.append(Line2D([], [], color=LIGHT["vermilion"], linewidth=1.8))
        labels.append(f"both kept in {100 * level:g} %")
    canvas.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=(0.115, 1.0),
        ncols=len(handles),
        frameon=False,
        columnspacing=1.4,
        handlelength=1.6,
    )
