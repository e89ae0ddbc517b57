"""What is believed of one input: its density, from differences of its distribution function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from uncertain_botec.distributions import Distribution
from uncertain_botec.distributions.level import level_of_u
from uncertain_botec.plots.axes import Reading, Span, inches_of, placed, reading_of, show_span, span_of, text_width
from uncertain_botec.plots.figure import LIGHT, Figure, rendered
from uncertain_botec.scenario import Input
from uncertain_botec.units import is_count, to_base, to_display
from uncertain_botec.vocabulary import QUANTITIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Floats = npt.NDArray[np.float64]

_SIZE = (3.2, 1.65)
# What is left free on either side, in inches.
_SIDE = 0.2
_CELLS = 192
# The axis shows all but this part of the belief at either end.
_BEYOND = 2e-3
# Counts with more values than this between the ends are shown in groups.
_MOST_STEMS = 40

_WHOLE = 1e6

# By ratios goes what reaches so many times as far up as down.
_SKEWED = 2.0

_LEVELS = {"P10": 0.1, "P50": 0.5, "P90": 0.9}


def prior(scenario_input: Input) -> Figure:
    """The belief about one input: a density, stems where single values have probability, a line where it is known.

    Args:
        scenario_input: of a scenario.
    """
    name, belief = scenario_input.name, scenario_input.distribution
    unit = QUANTITIES[name].unit
    shown = to_display(_quantiles(belief, [_BEYOND, *_LEVELS.values(), 1 - _BEYOND]), unit)
    _, p10, p50, p90, _ = shown.tolist()
    reading = _reading(name, p50)
    title = f"{name}: {belief.family}"
    if scenario_input.known:
        return _known(name, title, p50, reading)
    factor = to_base(reading.scale, unit)
    span = _span(belief, (shown / reading.scale).tolist(), factor)
    points, masses = _stems(belief, span, factor)
    edges, heights = density(belief, span, factor)
    ticks = [value / reading.scale for value in (p10, p50, p90)]
    said = ", ".join(f"{level} {reading.number(value)}" for level, value in zip(_LEVELS, (p10, p50, p90), strict=True))
    alt = f"{name}, {belief.family}: {said} {reading.unit}".rstrip() + "."
    if points.size:
        largest = int(np.argmax(masses))
        value = reading.number(points[largest] * reading.scale)
        alt += f" The likeliest single value is {value}, with probability {100 * masses[largest]:.3g} %."

    def draw(canvas: Canvas) -> None:
        axes = placed(canvas, _SIDE, 0.64, _SIDE, 0.25)
        _frame(axes, span, reading, name)
        if edges.size:
            x, y = _outline(edges, heights / heights.max(), steps=belief.discrete)
            axes.fill(x, y, color=LIGHT["blue"], alpha=0.35, linewidth=0, gid="density")
            axes.plot(x, y, color=LIGHT["blue"], linewidth=1.2)
        if points.size:
            axes.vlines(points, 0, masses / masses.max(), color=LIGHT["blue"], linewidth=2, gid="stems")
            axes.plot(points, masses / masses.max(), "o", color=LIGHT["blue"], markersize=3)
        axes.set_ylim(0, 1.12)
        _ticks(axes, span, ticks)

    return rendered(f"prior-{name}", title, alt, draw, _SIZE)


def _reading(name: str, typical: float) -> Reading:
    """As that of an output, but called by its name as it is stated, or by its unit where there is no room for both."""
    # A count is shown whole: nearly as many is not what was stated.
    whole = QUANTITIES[name].whole or is_count(QUANTITIES[name].unit)
    reading = reading_of(name, [1.0 if whole and typical == round(typical) and typical < _WHOLE else typical])
    unit = reading.unit.removesuffix(name).strip()
    label = f"{name} ({unit})" if unit else name
    return replace(reading, label=label if text_width(label) < _SIZE[0] - 0.1 else unit)


def _frame(axes: Axes, span: Span, reading: Reading, name: str) -> None:
    """An axis for values alone; its label is in two lines where it is long."""
    show_span(axes, "x", span, reading.label, most=5)
    for value, text in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        # A long number at the edge reaches inwards.
        before, half = span.part(float(value)) * inches_of(axes)[0], text_width(text.get_text()) / 2
        beyond = before + half > inches_of(axes)[0] + _SIDE
        text.set_horizontalalignment("left" if before + _SIDE < half else "right" if beyond else "center")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    if name not in reading.label:
        height = inches_of(axes)[1]
        axes.text(0.5, -0.27 / height, name, transform=axes.transAxes, ha="center", va="top")
        axes.xaxis.set_label_coords(0.5, -0.43 / height)


def _quantiles(belief: Distribution, levels: Sequence[float]) -> Floats:
    return np.asarray(belief.quantile(level_of_u(np.array(levels))), np.float64)


def _known(name: str, title: str, value: float, reading: Reading) -> Figure:
    span = span_of([value / reading.scale], least=0.5)

    def draw(canvas: Canvas) -> None:
        axes = placed(canvas, _SIDE, 0.64, _SIDE, 0.25)
        _frame(axes, span, reading, name)
        axes.axvline(value / reading.scale, color=LIGHT["blue"], linewidth=2, gid="known")
        axes.text(0.5, 1.05, reading.number(value), transform=axes.transAxes, ha="center")

    return rendered(f"prior-{name}", title, f"{name} is known exactly: {reading.amount(value)}.", draw, _SIZE)


def _span(belief: Distribution, quantiles: Sequence[float], factor: float) -> Span:
    """What shows nearly all of a belief, and the ends of its support that are near."""
    low, p10, p50, p90, high = quantiles
    first, last = (end / factor for end in belief.support)
    # What reaches as far down as up is more readable by differences, however near to nothing it comes.
    span = span_of([low, high], log=None if p90 - p50 > _SKEWED * (p50 - p10) else False, pad=0.08)
    ends = [end for end in (first, last) if math.isfinite(end) and not span.log and span.holds(end)]
    return span_of([low, high, *ends], log=span.log, pad=0.08)


def density(belief: Distribution, span: Span, factor: float = 1.0) -> tuple[Floats, Floats]:
    """Probability over length of cells between edges, single values with probability of their own left out.

    Lengths are those on the axis: of logarithms where it goes by ratios, so that areas are probabilities.

    Args:
        belief: of the input, in base units.
        span: of the axis.
        factor: what the axis's values are multiplied by to be in base units.

    Returns:
        Edges, which lie within the support, and heights; nothing where single values have all probability.
    """
    support = [end / factor for end in belief.support]
    first, last = max(span.low, support[0]), min(span.high, support[1])
    atoms = belief.atoms()
    if (belief.discrete and (atoms or _few(span, factor))) or last <= first:
        return np.empty(0), np.empty(0)
    parts = np.linspace(span.part(first) if first > 0 or not span.log else 0.0, span.part(last), _CELLS + 1)
    edges = np.array([span.at(part) for part in parts])
    edges[0], edges[-1] = first, last
    if belief.discrete:
        # A group of counts ends between two of them.
        edges = (np.unique(np.floor(edges * factor)) + 0.5) / factor
    below, above = belief.cdf(edges * factor), belief.sf(edges * factor)
    # Each difference is taken in the tail that keeps its digits.
    masses = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    for point, mass in atoms:
        place = int(np.searchsorted(edges, point / factor, side="left")) - 1
        if 0 <= place < len(masses):
            masses[place] -= mass
    lengths = np.diff(np.log(edges)) if span.log else np.diff(edges)
    return edges, np.maximum(masses, 0.0) / lengths


def _outline(edges: Floats, heights: Floats, *, steps: bool) -> tuple[Floats, Floats]:
    """Up at the first edge, over the middles of the cells or their tops, and down at the last."""
    if steps:
        x, y = np.repeat(edges, 2), np.repeat(heights, 2)
        return x, np.concatenate([[0.0], y, [0.0]])
    x = np.concatenate([edges[[0, 0]], (edges[1:] + edges[:-1]) / 2, edges[[-1, -1]]])
    return x, np.concatenate([[0.0], heights[:1], heights, heights[-1:], [0.0]])


def _few(span: Span, factor: float) -> bool:
    """Whether counts in a span are few enough for a stem each."""
    return (span.high - span.low) * factor <= _MOST_STEMS


def _stems(belief: Distribution, span: Span, factor: float) -> tuple[Floats, Floats]:
    """The single values with probability that the axis shows, in its unit."""
    if belief.atoms():
        points, masses = np.array(belief.atoms()).T
    elif belief.discrete and _few(span, factor):
        first = max(math.ceil(span.low * factor), int(belief.support[0]))
        points = np.arange(first, math.floor(span.high * factor) + 1, dtype=np.float64)
        masses = np.diff(belief.cdf(np.concatenate([[first - 1], points])))
    else:
        return np.empty(0), np.empty(0)
    inside = (points / factor >= span.low) & (points / factor <= span.high)
    return points[inside] / factor, masses[inside]


def _ticks(axes: Axes, span: Span, values: Sequence[float]) -> None:
    """P10, P50 and P90 above the axes."""
    axes.plot(values, [1.1] * 3, "v", color=LIGHT["ink"], markersize=4, clip_on=False, gid="quantiles")
    before = -math.inf
    for level, value in zip(_LEVELS, values, strict=True):
        part = span.part(value)
        if part - before < 0.11:
            continue
        axes.annotate(level, (value, 1.1), (0, 4), textcoords="offset points", ha="center", annotation_clip=False)
        before = part
