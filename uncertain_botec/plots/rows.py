"""Rows of horizontal bars with a name before and a text behind each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncertain_botec.plots.axes import Span, inches_of, placed, show_span, text_width, widest
from uncertain_botec.plots.figure import LIGHT, Figure, rendered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MOST_ROWS = 14
"""How many rows a figure has at most."""

PITCH = 0.27
"""From row to row, in inches."""

WIDTH = 6.5
"""Of a figure, in inches."""


@dataclass(frozen=True)
class Row:
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


def bars(name: str, title: str, alt: str, rows: Sequence[Row], label: str, *, other: str | None = None) -> Figure:
    """Horizontal bars with whiskers, the first on top."""
    ends = [value for row in rows for value in (0.0, row.value, row.high, row.other or 0.0)]
    finite = [value for value in ends if math.isfinite(value)]
    span = Span(0.0, max(finite) or 1.0, log=False)
    top = 0.3 if other else 0.12

    def draw(canvas: Canvas) -> None:
        from matplotlib.lines import Line2D

        axes = placed(canvas, widest(row.name for row in rows) + 0.25, 0.5, 0.15, top)
        rows_of(axes, [row.name for row in rows])
        wide = with_room(axes, span, 0.0, _text_beyond(axes, rows, span))
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

    return rendered(name, title, alt, draw, (WIDTH, 0.5 + top + 0.1 + PITCH * max(len(rows), 1)))


def _bar(axes: Axes, span: Span, place: int, row: Row, most: float) -> None:
    """One row; what is infinite ends where the largest of the others does."""
    colour = LIGHT["muted" if row.whole else "blue"]
    low, value, high = (min(part, most) for part in (row.low, row.value, row.high))
    axes.barh(place, value, 0.62, facecolor=colour, alpha=0.75, linewidth=0, gid=f"bar-{place}")
    if high > low:
        axes.plot([low, high], [place, place], color=LIGHT["ink"], linewidth=1.2, gid=f"whisker-{place}")
        for end, given in ((low, row.low), (high, row.high)):
            sign = "|" if math.isfinite(given) else ">"
            axes.plot([end], [place], sign, color=LIGHT["ink"], markersize=6, markeredgewidth=1.2)
    if row.other is not None:
        axes.plot([row.other], [place], "D", markerfacecolor="none", markeredgecolor=LIGHT["vermilion"], markersize=5)
    end = max(value, high)
    if row.other is not None:
        # The text stands beyond the mark where it would lie over it.
        unit = (span.high - span.low) / inches_of(axes)[0]
        end = max(end, row.other) if row.other < end + unit * (text_width(row.text) + 0.2) else end
    axes.annotate(row.text, (end, place), (6, 0), textcoords="offset points", ha="left", va="center_baseline")


def _text_beyond(axes: Axes, rows: Iterable[Row], span: Span) -> float:
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


def with_room(axes: Axes, span: Span, left: float, right: float) -> Span:
    """The span and so many inches more at its ends."""
    inches = inches_of(axes)[0]
    unit = (span.high - span.low) / max(inches - left - right, 0.5)
    return Span(span.low - left * unit, span.high + right * unit, log=False)


def rows_of(axes: Axes, names: Sequence[str]) -> None:
    """Give axes a row for each name, the first on top."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=LIGHT["grid"], linewidth=0.6)


def empty(name: str, title: str, why: str) -> Figure:
    """A figure of what cannot be drawn."""

    def draw(canvas: Canvas) -> None:
        canvas.text(0.5, 0.5, why, ha="center", va="center")

    return rendered(name, title, f"{title}: {why}", draw, (WIDTH, 0.6))
