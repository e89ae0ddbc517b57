"""Numbers in the sentences of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable

from uncertain_botec.plots.axes import percent, reading_of
from uncertain_botec.presentation import number, probability, title_of
from uncertain_botec.risk.measures import Chance
from uncertain_botec.units import digits
from uncertain_botec.vocabulary import QUANTITIES

# What a sentence says of a number; the tables have what more is known.
_DIGITS = 3

__all__ = ["capital", "chance", "in_all", "name_of", "part", "percent", "said", "spread_out", "unit_of"]


def said(name: str, value: float, error: float = 0.0) -> str:
    """A printed value of a quantity with its unit, to three digits or to those that its error allows; four if exact."""
    reading = reading_of(name, [value])
    if not math.isfinite(value):
        return "no end"
    scale = reading.scale
    text = number(value / scale, error / scale, _DIGITS) if error else reading.number(value)
    times = "× " if reading.unit.startswith("10^") else ""
    return f"{text} {times}{reading.unit}".rstrip()


def chance(one: Chance) -> str:
    """A probability to three digits, or the bound that the draws allow."""
    if one.error and 0 < one.value < 1:
        # The error is worth a digit where it is nearly certain.
        return f"{digits(100 * one.value, 100 * one.error, _DIGITS if one.value < 0.99 else 5)} %"
    return probability(one.value, one.error, one.low, one.high).removesuffix(" (known exactly)")


def part(level: float) -> str:
    """A level that was asked for, in percent."""
    return f"{100 * level:.6g} %"


def name_of(output: str) -> str:
    """What to call an output within a sentence."""
    title = title_of(output)
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def capital(text: str) -> str:
    """A text with a capital where it begins, unless that is a name, which is written as it is stated."""
    return text if "_" in text.partition(" ")[0] else f"{text[:1].upper()}{text[1:]}"


def unit_of(name: str) -> str:
    """The printed unit of an input, or nothing where it says nothing."""
    unit = QUANTITIES[name].unit
    return "" if unit in ("fraction", "count") else unit


def in_all(items: Iterable[str]) -> str:
    """Several things as one enumeration."""
    *some, last = items
    return f"{', '.join(some)} and {last}" if some else last


def spread_out(number: int, most: int) -> list[int]:
    """The places of a few, or of so many among more, the first and the last with them."""
    if number <= most:
        return [*range(number)]
    return [round(step * (number - 1) / (most - 1)) for step in range(most)]
