"""Bars: what a run costs, item by item, and what moves an output or is worth knowing, input by input."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncertain_botec.plots.axes import (
    Reading,
    Span,
    inches_of,
    placed,
    reading_of,
    show_span,
    span_of,
    text_width,
    widest,
)
from uncertain_botec.plots.figure import LIGHT, Figure, elided, rendered
from uncertain_botec.presentation import title_of
from uncertain_botec.sensitivity.indices import UNRESOLVED, Index
from uncertain_botec.sensitivity.result import InputSensitivity, Sensitivity
from uncertain_botec.sensitivity.tornado import Tail
from uncertain_botec.summaries import OutputSummary
from uncertain_botec.units import digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MOST_ROWS = 14
_PITCH = 0.27
_WIDTH = 6.5
_TOTAL = "cost"
# The last digit of an item in a bill that is read in units of a readable size.
_FINEST = 1e-3
# What is worth a smaller part of what is decided about is rounding.
_WORTHLESS = 1e-9


@dataclass(frozen=True)
class _Row:
    """A bar from nothing to a value, with what is likely around it.

    Attributes:
        name: beside the bar.
        value, low, high: where it ends, and the whisker's ends.
        text: the numbers, after the whisker.
        other: a second value that is marked, or None.
        whole: whether it is what the other rows make up together.
    """

    name: str
    value: float
    low: float
    high: float
    text: str
    other: float | None = None
    whole: bool = False


def bill(items: Mapping[str, OutputSummary]) -> Figure:
    """What each item of a bill costs, largest first: P50 with P10 and P90.

    Args:
        items: summaries of outputs in one unit, by name; `cost` among them is the whole and stands last.
    """
    total = items.get(_TOTAL)
    parts = sorted(((name, one) for name, one in items.items() if name != _TOTAL), key=lambda item: -item[1].p50)
    shown = [*parts[: _MOST_ROWS - 1], *([(_TOTAL, total)] if total else [])]
    reading = reading_of(_TOTAL, [total.p50, total.p10] if total else [one.p50 for _, one in shown])
    rows = []
    for name, one in shown:
        p10, p50, p90 = (_item(getattr(one, key), one.mcse[key], reading) for key in ("p10", "p50", "p90"))
        text = p50 if p10 == p90 else f"{p50}  ({p10} - {p90})"
        title = "Total" if name == _TOTAL else title_of(name)
        low, middle, high = (value / reading.scale for value in (one.p10, one.p50, one.p90))
        rows.append(_Row(title, middle, low, high, text, whole=name == _TOTAL))
    said = ", ".join(f"{row.name} {row.text}" for row in rows)
    rest = len(parts) - len(shown) + (total is not None)
    more = f" {rest} smaller items are not shown." if rest > 0 else ""
    alt = f"{reading.label}, P50 with P10 and P90 in brackets: {said}.{more}"
    return _bars("bill", "The bill, item by item", alt, rows, f"{reading.label}: P50, and P10 to P90")


def _item(value: float, error: float, reading: Reading) -> str:
    """An item to no more digits than the others have that it is added to."""
    if not math.isfinite(value) or not value:
        return reading.number(value)
    text = digits(value / reading.scale, max(error / reading.scale, _FINEST), 3)
    return text if float(text.replace(",", "")) else f"<{_FINEST:g}"


def shares(sensitivity: Sensitivity) -> Figure:
    """How much of the variance each input is behind: Shapley effects, and what knowing the input would take away."""
    moving, idle = _parted(sensitivity)
    known = [one for one in moving if one.shapley is not None] if sensitivity.resolved else []
    rows = [_share(one) for one in [*known, *idle][:_MOST_ROWS]]
    name = title_of(sensitivity.output).lower()
    kind = {"log": f"log {name}", "rank": f"the rank of {name}"}.get(sensitivity.scale, name)
    title = f"Shares of the variance of {kind}"
    if not known:
        why = "Nothing uncertain moves it." if not moving else "The draws do not tell the shares."
        return _empty(f"shares-{sensitivity.output}", title, why)
    said = ", ".join(f"{row.name} {row.text}" for row in rows)
    level = f"{100 * sensitivity.level:g}"
    alt = f"{title}, Shapley effect with its {level} % interval: {said}."
    label = f"Share of variance (%), with its {level} % interval"
    return _bars(f"shares-{sensitivity.output}", title, alt, rows, label, other="share explained by itself")


def _share(one: InputSensitivity) -> _Row:
    name = elided(one.input)
    if one.shapley is None:
        return _Row(name, 0.0, 0.0, 0.0, "0")
    value, low, high = (
        100 * min(max(part, 0.0), 1.0) for part in (one.shapley.value, one.shapley.low, one.shapley.high)
    )
    text = f"{digits(value, max(100 * one.shapley.error, 0.05), 3)} %" if one.shapley.error or value else "0"
    first = (
        None if one.first_order is None or not one.shapley.error else 100 * min(max(one.first_order.value, 0.0), 1.0)
    )
    return _Row(name, value, low, high, text, other=first)


def value_of_information(sensitivity: Sensitivity) -> Figure:
    """What it is worth to know each input, or set of inputs, before deciding."""
    worth, name = sensitivity.information, f"information-{sensitivity.output}"
    title = "What it is worth to know before deciding"
    if worth is None:
        return _empty(name, title, "There is no decision to inform.")
    stakes = max(abs(one.value) for one in worth.alternatives.values())
    if worth.perfect.value <= _WORTHLESS * stakes:
        return _empty(name, title, "Nothing is worth knowing: the decision is clear.")
    reading = reading_of(_TOTAL, [worth.perfect.value])
    few = [*list(worth.inputs.items())[: _MOST_ROWS - len(worth.sets) - 1], *worth.sets.items()]
    rows = [_worth(elided(key, 40), one, reading) for key, one in few]
    rows.append(_worth("everything", worth.perfect, reading, whole=True))
    said = ", ".join(f"{row.name} {row.text}" for row in rows)
    rest = len(worth.inputs) + len(worth.sets) + 1 - len(rows)
    more = f" {rest} more inputs are worth less." if rest > 0 else ""
    alt = f"Worth of knowing before deciding {worth.decision}, in {reading.unit}: {said}.{more}"
    level = f"{100 * sensitivity.level:g}"
    return _bars(name, title, alt, rows, f"Worth of knowing ({reading.unit}), with its {level} % interval")


def _worth(name: str, one: Index, reading: Reading, *, whole: bool = False) -> _Row:
    value, low, high = (max(part, 0.0) / reading.scale for part in (one.value, one.low, one.high))
    return _Row(name, value, low, high, reading.number(max(one.value, 0.0), one.error), whole=whole)


def _parted(sensitivity: Sensitivity) -> tuple[list[InputSensitivity], list[InputSensitivity]]:
    """What moves the output, and the uncertain inputs that do not."""
    moving = [one for one in sensitivity.inputs if one.influence in ("uncertain", "chance")]
    return moving, [one for one in sensitivity.inputs if one.influence == "none"]


# --- a tornado --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Swing:
    """Where an output goes with an input that is low, and where with one that is high."""

    name: str
    low: float
    high: float
    texts: tuple[str, str]
    idle: bool

    def width(self, middle: float) -> float:
        return max(self.low, self.high, middle) - min(self.low, self.high, middle)


def tornado(sensitivity: Sensitivity) -> Figure:
    """The output where each input is in its lowest and its highest tenth, the widest first.

    Uncertain inputs without influence have bars of no length. Means are shown, medians where a mean is not resolved.
    """
    moving, idle = _parted(sensitivity)
    tails = {one.input: (one.low, one.high) for one in [*moving, *idle] if one.low is not None and one.high is not None}
    name, title = f"tornado-{sensitivity.output}", f"What moves {title_of(sensitivity.output).lower()}"
    if not tails:
        return _empty(name, title, "Nothing uncertain moves it.")
    every = [tail for both in tails.values() for tail in both if tail is not None]
    centre = "mean" if all(_resolved(tail) for tail in (*every, sensitivity.overall)) else "median"
    reading = reading_of(sensitivity.output, [getattr(sensitivity.overall, centre), sensitivity.overall.median])
    middle = getattr(sensitivity.overall, centre) / reading.scale

    def swing(key: str, low: Tail, high: Tail) -> _Swing:
        ends = [(getattr(tail, centre), getattr(tail, f"{centre}_error")) for tail in (low, high)]
        at_low, at_high = (value / reading.scale for value, _ in ends)
        first, second = (reading.number(*end) for end in ends)
        return _Swing(elided(key), at_low, at_high, (first, second), key in without)

    without = {one.input for one in idle}
    swings = [swing(key, low, high) for key, (low, high) in tails.items() if low is not None and high is not None]
    swings.sort(key=lambda one: (one.idle, -one.width(middle)))
    shown, rest = swings[:_MOST_ROWS], len(swings) - _MOST_ROWS
    said = ", ".join(f"{one.name} {one.texts[0]} and {one.texts[1]}" for one in shown if not one.idle)
    more = f" {rest} more move it less." if rest > 0 else ""
    around = reading.amount(getattr(sensitivity.overall, centre), getattr(sensitivity.overall, f"{centre}_error"))
    quantity = f"{centre.capitalize()} {title_of(sensitivity.output).lower()}"
    alt = f"{quantity} is {around} overall; in the lowest and highest tenth of {said}.{more}"
    if without:
        alt += f" Without influence: {', '.join(sorted(without))}."
    ends = [value for one in shown for value in (one.low, one.high)]
    span = span_of([*ends, middle], log=False, pad=0.02)
    height = 0.85 + 1.25 * _PITCH * len(shown)

    def draw(canvas: Canvas) -> None:
        sides = widest(text for one in shown for text in (*one.texts, *([_IDLE] if one.idle else []))) + 0.12
        axes = placed(canvas, widest(one.name for one in shown) + 0.3, 0.5, 0.2, 0.3)
        _rows_of(axes, [one.name for one in shown])
        wide = _with_room(axes, span, sides, sides)
        show_span(axes, "x", wide, f"{centre.capitalize()} {reading.label[0].lower()}{reading.label[1:]}")
        for place, one in enumerate(shown):
            _swung(axes, wide, place, one, middle)
        if math.isfinite(middle):
            axes.axvline(middle, color=LIGHT["ink"], linewidth=1.0, gid="middle")
        _key(canvas, axes)

    return rendered(name, title, alt, draw, (_WIDTH, height))


def _resolved(tail: Tail) -> bool:
    return math.isfinite(tail.mean) and tail.mean_error <= UNRESOLVED * abs(tail.mean)


_HOLLOW = 0.25
_IDLE = "no influence"


def _swung(axes: Axes, span: Span, place: int, one: _Swing, middle: float) -> None:
    """Two bars from the middle: hollow to where a low input leads, full to where a high one does."""
    if one.idle:
        axes.annotate(_IDLE, (middle, place), (4, 0), textcoords="offset points", va="center_baseline")
        return
    ends = [min(max(value, span.low), span.high) for value in (one.low, one.high)]
    start = min(max(middle, span.low), span.high)
    same = (ends[0] - start) * (ends[1] - start) > 0
    # One above the other where they would lie over each other.
    height, offsets = (0.38, (-0.2, 0.2)) if same else (0.7, (0.0, 0.0))
    for side, (end, offset, text) in enumerate(zip(ends, offsets, one.texts, strict=True)):
        full = side == 1
        axes.barh(
            place + offset,
            end - start,
            height,
            start,
            facecolor=(*_rgb("blue" if full else "orange"), 1.0 if full else _HOLLOW),
            edgecolor=LIGHT["blue" if full else "orange"],
            linewidth=1.2,
            gid=f"{'high' if full else 'low'}-{place}",
        )
        rightwards = end > start or (end == start and full == (ends[0] <= ends[1]))
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
        Patch(facecolor=(*_rgb("orange"), _HOLLOW), edgecolor=LIGHT["orange"], linewidth=1.2),
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


# --- rows of bars -----------------------------------------------------------------------------------------------------


def _bars(name: str, title: str, alt: str, rows: Sequence[_Row], label: str, *, other: str | None = None) -> Figure:
    """Horizontal bars with whiskers, the first on top."""
    ends = [value for row in rows for value in (0.0, row.value, row.high, row.other or 0.0)]
    finite = [value for value in ends if math.isfinite(value)]
    span = Span(0.0, max(finite) or 1.0, log=False)
    top = 0.3 if other else 0.12

    def draw(canvas: Canvas) -> None:
        from matplotlib.lines import Line2D

        axes = placed(canvas, widest(row.name for row in rows) + 0.25, 0.5, 0.15, top)
        _rows_of(axes, [row.name for row in rows])
        wide = _with_room(axes, span, 0.0, _text_beyond(axes, rows, span))
        show_span(axes, "x", wide, label)
        for place, row in enumerate(rows):
            _bar(axes, wide, place, row, span.high)
        if any(row.whole for row in rows) and len(rows) > 1:
            axes.axhline(len(rows) - 1.5, color=LIGHT["muted"], linewidth=0.8)
        if other:
            handle = Line2D(
                [], [], marker="D", linestyle="none", markerfacecolor="none", markeredgecolor=LIGHT["vermilion"]
            )
            left = axes.get_position().x0
            canvas.legend(
                [handle], [other], loc="upper left", bbox_to_anchor=(left, 1.0), frameon=False, borderaxespad=0.2
            )

    return rendered(name, title, alt, draw, (_WIDTH, 0.5 + top + 0.1 + _PITCH * max(len(rows), 1)))


def _bar(axes: Axes, span: Span, place: int, row: _Row, most: float) -> None:
    """One row; what is infinite ends where the largest of the others does."""
    colour = LIGHT["muted" if row.whole else "blue"]
    low, value, high = (min(part, most) for part in (row.low, row.value, row.high))
    axes.barh(place, value, 0.62, facecolor=colour, alpha=0.75, linewidth=0, gid=f"bar-{place}")
    if high > low:
        axes.plot([low, high], [place, place], color=LIGHT["ink"], linewidth=1.2, gid=f"whisker-{place}")
        axes.plot([low, high], [place, place], "|", color=LIGHT["ink"], markersize=6, markeredgewidth=1.2)
    if row.other is not None:
        axes.plot([row.other], [place], "D", markerfacecolor="none", markeredgecolor=LIGHT["vermilion"], markersize=5)
    end = max(value, high)
    if row.other is not None:
        # The text stands beyond the mark where it would lie over it.
        unit = (span.high - span.low) / inches_of(axes)[0]
        end = max(end, row.other) if row.other < end + unit * (text_width(row.text) + 0.2) else end
    axes.annotate(row.text, (end, place), (6, 0), textcoords="offset points", ha="left", va="center_baseline")


def _text_beyond(axes: Axes, rows: Iterable[_Row], span: Span) -> float:
    """How much room the texts need beyond the span's end, in inches, those of short bars having some of their own."""
    inches = inches_of(axes)[0]
    needed = 0.0
    for row in rows:
        end = min(max(row.value, row.high, row.other or 0.0), span.high)
        width = text_width(row.text) + 0.15
        # The bar ends at a part of what is left beside the room.
        part = end / span.high
        needed = max(needed, inches - (inches - width) / part if part > 0.05 else 0.0)
    return max(needed, 0.1)


def _with_room(axes: Axes, span: Span, left: float, right: float) -> Span:
    """The span and so many inches more at its ends."""
    inches = inches_of(axes)[0]
    unit = (span.high - span.low) / max(inches - left - right, 0.5)
    return Span(span.low - left * unit, span.high + right * unit, log=False)


def _rows_of(axes: Axes, names: Sequence[str]) -> None:
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=LIGHT["grid"], linewidth=0.6)


def _empty(name: str, title: str, why: str) -> Figure:
    """A figure of what cannot be drawn."""

    def draw(canvas: Canvas) -> None:
        canvas.text(0.5, 0.5, why, ha="center", va="center")

    return rendered(name, title, f"{title}: {why}", draw, (_WIDTH, 0.6))
