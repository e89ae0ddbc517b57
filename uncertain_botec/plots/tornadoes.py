"""Tornadoes: where an output goes with each input, the widest swing on top."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncertain_botec.plots.axes import placed, reading_of, show_span, span_of, widest
from uncertain_botec.plots.bars import parted
from uncertain_botec.plots.figure import LIGHT, Figure, elided, rendered
from uncertain_botec.plots.rows import MOST_ROWS, PITCH, WIDTH, empty, rows_of, with_room
from uncertain_botec.presentation import title_of
from uncertain_botec.sensitivity.indices import UNRESOLVED
from uncertain_botec.sensitivity.result import Sensitivity
from uncertain_botec.sensitivity.tornado import Tail

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_HOLLOW = 0.25
# How far infinite ends reach, as a multiple of the farthest finite one.
_BEYOND = 1.15
_IDLE = "no influence"


@dataclass(frozen=True)
class _Swing:
    """Where an output goes with an input that is low, and where with one that is high.

    Attributes:
        name: of the input.
        low, high: the output, for the axis, in whose unit it is.
        texts: the same in words.
        idle: whether the input has no influence.
    """

    name: str
    low: float
    high: float
    texts: tuple[str, str]
    idle: bool


def tornado(sensitivity: Sensitivity) -> Figure:
    """The output where each input is in its lowest and its highest tenth, the widest first.

    Uncertain inputs without influence have bars of no length. Means are shown, medians where a mean is not resolved.
    """
    moving, idle = parted(sensitivity)
    tails = {one.input: (one.low, one.high) for one in [*moving, *idle] if one.low is not None and one.high is not None}
    name, title = f"tornado-{sensitivity.output}", f"What moves {title_of(sensitivity.output).lower()}"
    every = [sensitivity.overall, *(tail for both in tails.values() for tail in both)]
    centre = "mean" if all(map(_resolved, every)) else "median"
    values = [getattr(tail, centre) for tail in every]
    if not tails or not any(map(math.isfinite, values)):
        return empty(name, title, "No run finishes." if tails else "Nothing uncertain moves it.")
    reading = reading_of(sensitivity.output, values)
    without = {one.input for one in idle}
    middle, *ends = _finite([value / reading.scale for value in values])
    swings = []
    for place, (key, both) in enumerate(tails.items()):
        texts = [reading.number(getattr(tail, centre), getattr(tail, f"{centre}_error")) for tail in both]
        low, high = ends[2 * place : 2 * place + 2]
        swings.append(_Swing(elided(key), low, high, (texts[0], texts[1]), key in without))
    swings.sort(key=lambda one: (one.idle, min(one.low, one.high, middle) - max(one.low, one.high, middle)))
    shown, rest = swings[:MOST_ROWS], len(swings) - MOST_ROWS
    around = reading.amount(values[0], getattr(sensitivity.overall, f"{centre}_error"))
    said = ", ".join(f"{one.name} {one.texts[0]} and {one.texts[1]}" for one in shown if not one.idle)
    quantity = f"{centre.capitalize()} {reading.label[0].lower()}{reading.label[1:]}"
    alt = f"{centre.capitalize()} {title_of(sensitivity.output).lower()} is {around} overall"
    alt += f"; in the lowest and highest tenth of {said}." if said else "."
    alt += f" {rest} more move it less." if rest > 0 else ""
    alt += f" Without influence: {', '.join(sorted(without))}." if without else ""
    span = span_of([middle, *ends], log=False, pad=0.02)

    def draw(canvas: Canvas) -> None:
        sides = widest(text for one in shown for text in ((_IDLE,) if one.idle else one.texts)) + 0.12
        axes = placed(canvas, widest(one.name for one in shown) + 0.3, 0.5, 0.2, 0.3)
        rows_of(axes, [one.name for one in shown])
        show_span(axes, "x", with_room(axes, span, sides, sides), quantity)
        for place, one in enumerate(shown):
            _swung(axes, place, one, middle)
        axes.axvline(middle, color=LIGHT["ink"], linewidth=1.0, gid="middle")
        _key(canvas, axes)

    return rendered(name, title, alt, draw, (WIDTH, 0.85 + 1.25 * PITCH * len(shown)))


def _finite(values: Sequence[float]) -> list[float]:
    """Values for an axis, infinite ones a little farther from the first than any other."""
    finite = [value for value in values if math.isfinite(value)]
    origin = values[0] if math.isfinite(values[0]) else max(finite)
    reach = _BEYOND * max(abs(value - origin) for value in finite) or abs(origin) or 1.0
    return [value if math.isfinite(value) else origin + reach for value in values]


def _resolved(tail: Tail) -> bool:
    return math.isfinite(tail.mean) and tail.mean_error <= UNRESOLVED * abs(tail.mean)


def _swung(axes: Axes, place: int, one: _Swing, middle: float) -> None:
    """Two bars from the middle: hollow to where a low input leads, full to where a high one does."""
    if one.idle:
        axes.annotate(_IDLE, (middle, place), (4, 0), textcoords="offset points", va="center_baseline")
        return
    same = (one.low - middle) * (one.high - middle) > 0
    # One above the other where they would lie over each other.
    height, offsets = (0.38, (-0.2, 0.2)) if same else (0.7, (0.0, 0.0))
    for side, (end, offset, text) in enumerate(zip((one.low, one.high), offsets, one.texts, strict=True)):
        full = side == 1
        axes.barh(
            place + offset,
            end - middle,
            height,
            middle,
            facecolor=(*_rgb("blue" if full else "vermilion"), 1.0 if full else _HOLLOW),
            edgecolor=LIGHT["blue" if full else "vermilion"],
            linewidth=1.2,
            gid=f"{'high' if full else 'low'}-{place}",
        )
        rightwards = end > middle or (end == middle and full == (one.low <= one.high))
        axes.annotate(
            text,
            (end, place + offset),
            (4 if rightwards else -4, 0),
            textcoords="offset points",
            ha="left" if rightwards else "right",
            va="center_baseline",
        )


def _rgb(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(LIGHT[colour])


def _key(canvas: Canvas, axes: Axes) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=(*_rgb("vermilion"), _HOLLOW), edgecolor=LIGHT["vermilion"], linewidth=1.2),
        Patch(facecolor=LIGHT["blue"], edgecolor=LIGHT["blue"]),
    ]
    left = axes.get_position().x0
    canvas.legend(
        handles,
        ["input in its lowest tenth", "in its highest tenth"],
        loc="upper left",
        bbox_to_anchor=(left, 1.0),
        ncols=2,
        frameon=False,
        borderaxespad=0.2,
    )
