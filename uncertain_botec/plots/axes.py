"""Axes with plain numbers on them: spans, ticks, scales and labels that the figures share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from uncertain_botec.plots.figure import FONT, LIGHT, TEXT
from uncertain_botec.presentation import number, probability, row_title
from uncertain_botec.risk.measures import Chance
from uncertain_botec.units import digits, readable_scale
from uncertain_botec.vocabulary import QUANTITIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

# Above this ratio of its ends a span of positive numbers is shown by ratios.
_WIDE = 12.0
# Below this ratio round numbers of one step are more readable than 1, 2, 5.
_NARROW = 4.0

_NEARLY_ONE = 0.995

# Whole numbers below this are written whole.
_WHOLE = 1e6

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Span:
    """What an axis shows.

    Attributes:
        low, high: its ends.
        log: whether equal distances are equal ratios.
    """

    low: float
    high: float
    log: bool

    def part(self, value: float) -> float:
        """Where a value lies, 0 at the low end and 1 at the high one."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low) if value > 0 else -math.inf
        return (value - self.low) / (self.high - self.low)

    def at(self, part: float) -> float:
        """The value that lies there."""
        if self.log:
            return float(self.low * (self.high / self.low) ** part)
        return self.low + part * (self.high - self.low)

    def holds(self, value: float) -> bool:
        """Whether a value is shown."""
        return self.low <= value <= self.high


def span_of(values: Iterable[float], *, log: bool | None = None, pad: float = 0.05, least: float = 0.02) -> Span:
    """The span that shows some finite values, with room at both ends.

    Args:
        values: to be shown; infinite ones are not.
        log: whether it goes by ratios; by default where values are positive and far apart.
        pad: room at either end, as a part of the whole.
        least: how wide it is at least, as a part of the values' size.
    """
    shown = [float(value) for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(shown), max(shown)
    if log is None:
        log = low > 0 and high / low > _WIDE
    if log and low > 0:
        more = max(pad * math.log(high / low), least)
        return Span(low * math.exp(-more), high * math.exp(more), log=True)
    more = max(pad * (high - low), least * max(abs(low), abs(high))) or 1.0
    # What cannot be negative has no axis that is.
    return Span(max(low - more, 0.0) if low >= 0 else low - more, high + more, log=False)


def ticks_of(span: Span, most: int = 7) -> list[float]:
    """Round numbers in a span, about so many at most."""
    if not span.log or span.high / span.low < _NARROW:
        return _even(span.low, span.high, most)
    decades = range(math.floor(math.log10(span.low)), math.ceil(math.log10(span.high)) + 1)
    for steps in ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
        found = [step * 10.0**power for power in decades for step in steps if span.holds(step * 10.0**power)]
        if len(found) <= most:
            break
    return found[:: math.ceil(len(found) / most)]


def _even(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 12 - math.floor(math.log10(step))) for place in range(first, last + 1)]


def plain(value: float) -> str:
    """A tick's number as people write it."""
    if value and not 1e-4 <= abs(value) < 1e6:
        power = math.floor(math.log10(abs(value)) + 1e-12)
        factor = value / 10.0**power
        times = "" if math.isclose(factor, 1) else f"{factor:g} × "
        return f"{times}10{str(power).translate(_SUPERSCRIPTS)}".replace("-", "−")
    return f"{value:,.10g}".replace("-", "−")


def show_span(axes: Axes, which: str, span: Span, label: str, most: int = 7, at: Sequence[float] = ()) -> None:
    """Give an axis ("x" or "y") its ends, its ticks and its label; ticks at some values where they have room."""
    axis: Any = getattr(axes, f"{which}axis")
    getattr(axes, f"set_{which}scale")("log" if span.log else "linear")
    getattr(axes, f"set_{which}lim")(span.low, span.high)
    found = at if _have_room(at, span, inches_of(axes), which) else ticks_of(span, most)
    axis.set_ticks(found, [plain(value) for value in found])
    axis.set_ticks([], minor=True)
    # Turned text is placed by its middle only where it is turned about its anchor.
    axis.set_label_text(label, rotation_mode="anchor" if which == "y" else "default")


def _have_room(values: Sequence[float], span: Span, inches: tuple[float, float], which: str) -> bool:
    """Whether the numbers of some values can be read side by side along an axis."""
    length, sizes = (
        (inches[0], [text_width(plain(value)) + 0.15 for value in values])
        if which == "x"
        else (inches[1], [0.2] * len(values))
    )
    places = [span.part(value) * length for value in values]
    return bool(places) and all(
        (one + other) / 2 <= after - before
        for (before, after), (one, other) in zip(pairwise(places), pairwise(sizes), strict=True)
    )


def placed(canvas: Canvas, left: float, bottom: float, right: float, top: float) -> Axes:
    """Axes with so many inches around them."""
    width, height = canvas.get_size_inches()
    axes: Axes = canvas.add_axes(
        (left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height)
    )
    axes.set_axisbelow(True)
    return axes


@cache
def text_width(text: str) -> float:
    """How wide a text is, in inches."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(family=[FONT])))
    font.set_size(TEXT, 72)
    font.set_text(text)
    return float(font.get_width_height()[0]) / 64 / 72


def widest(texts: Iterable[str]) -> float:
    """The width of the widest text, in inches."""
    return max(map(text_width, texts), default=0.0)


def flag(
    axes: Axes, span: Span, value: float, text: str, *, row: int = 0, colour: str = "ink", dash: str = "-"
) -> None:
    """An upright line at a value, with a text above the axes that stays over them; at the edge where it is beyond."""
    part = min(max(span.part(value), 0.0), 1.0)
    if span.holds(value):
        axes.axvline(value, color=LIGHT[colour], linestyle=dash, linewidth=1.2, gid=f"flag-{row}")
    else:
        text = f"{text} →" if part == 1 else f"← {text}"
    width, height = inches_of(axes)
    half = text_width(text) / 2
    centre = min(max(part * width, half), width - half) if 2 * half < width else width / 2
    axes.text(
        centre / width,
        1 + (0.05 + 0.17 * row) / height,
        text,
        transform=axes.transAxes,
        ha="center",
        va="bottom",
        # A line may be paler than words.
        color=LIGHT["muted" if colour == "muted" else "ink"],
    )


def inches_of(axes: Axes) -> tuple[float, float]:
    """The width and height of axes, in inches."""
    canvas: Any = axes.figure
    box, (width, height) = axes.get_position(), canvas.get_size_inches()
    return float(box.width * width), float(box.height * height)


# --- numbers in words -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """How values of one quantity are read.

    Attributes:
        label: the quantity with its unit, for an axis.
        scale: what printed values are divided by.
        unit: what they are then.
    """

    label: str
    scale: float
    unit: str

    def amount(self, value: float, error: float = 0.0) -> str:
        """A printed value with its unit, in a sentence."""
        if math.isinf(value):
            return "infinite"
        times = "× " if self.unit.startswith("10^") else ""
        return f"{self.number(value, error)} {times}{self.unit}".rstrip()

    def number(self, value: float, error: float = 0.0) -> str:
        """A printed value without its unit, to four digits or to those that its error allows."""
        if error or not math.isfinite(value):
            return number(value / self.scale, error / self.scale)
        shown = value / self.scale
        return f"{shown:,.0f}" if shown == round(shown) and abs(shown) < _WHOLE else f"{shown:,.4g}"


def reading_of(name: str, candidates: Sequence[float]) -> Reading:
    """How to read a quantity of which the first finite candidate is typical."""
    unit = QUANTITIES[name].unit
    typical = next((value for value in candidates if math.isfinite(value)), 0.0)
    scale, scaled = readable_scale(typical, unit)
    return Reading(row_title(name, scaled), scale, "" if scaled in ("fraction", "count") else scaled)


def percent(part: float) -> str:
    """A part of all draws."""
    return f"{digits(100 * part, 0, 3)} %"


def chance_text(one: Chance) -> str:
    """A probability without its error, to three digits unless it is nearly one."""
    if one.error and 0 < one.value < _NEARLY_ONE:
        return f"{digits(100 * one.value, 100 * one.error, 3)} %"
    return probability(one.value, one.error, one.low, one.high).split(" ±")[0].removesuffix(" (known exactly)")
