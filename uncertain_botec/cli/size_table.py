"""How cluster sizes are drawn in a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.console import Group

from uncertain_botec.presentation import amount, in_words, number, page, plain_table
from uncertain_botec.sizing import Size, Sizing
from uncertain_botec.summaries import LimitSummary
from uncertain_botec.units import readable_scale

_LIMITS = {"deadline": "in\ntime", "budget": "in\nbudget", "memory": "\nfits"}
# Sizes are compared down a column; a fourth digit would only be in the way.
_DIGITS = 3
_READING = (
    "P90: a 90 % chance of being at or below. Every size is forecast with the same draws of everything else. "
    "*: fits and is in time, as far as each is asked, at the confidence."
)


def size_table(sizing: Sizing) -> Group:
    """A row for each size, and below it the smallest ones and what else there is to know."""
    table = plain_table()
    limits = [name for name in _LIMITS if name in sizing.sizes[0].limits]
    scale, money = _money(sizing)
    # Two lines, so that eighty columns hold all of them.
    headings = ["\naccelerators", "days\nP10", "\nP50", "\nP90"]
    headings += [f"{money.replace(' ', chr(10))} P50", "\nP90"] if money else []
    for heading in (*headings, *(_LIMITS[name] for name in limits), ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in sizing.sizes:
        table.add_row(*_cells(one, limits, scale, sizing.confidence))
    return page(sizing.scenario.title, table, _findings(sizing), _READING)


def _money(sizing: Sizing) -> tuple[float, str]:
    """One scale for all costs, so that they compare down the column."""
    costs = [one.outputs["cost"].p50 for one in sizing.sizes if "cost" in one.outputs]
    finite = [cost for cost in costs if math.isfinite(cost)]
    if not costs:
        return 1.0, ""
    scale, unit = readable_scale(min(finite, default=1.0), "USD")
    return scale, unit


def _cells(one: Size, limits: list[str], scale: float, confidence: float) -> Iterator[str]:
    yield f"{one.accelerators:,}"
    time = one.outputs["training_time"]
    for key in ("p10", "p50", "p90"):
        yield number(getattr(time, key), time.mcse[key], _DIGITS)
    if "cost" in one.outputs:
        cost = one.outputs["cost"]
        for key in ("p50", "p90"):
            yield number(getattr(cost, key) / scale, cost.mcse[key] / scale, _DIGITS)
    for name in limits:
        yield _chance(one.limits[name])
    asked = [name for name in ("memory", "deadline") if name in limits]
    yield "*" if asked and all(one.keeps(name, confidence) for name in asked) else ""


def _chance(limit: LimitSummary) -> str:
    """A probability in percent, never rounded up to certainty."""
    percent = 100 * limit.probability
    if limit.mcse == 0:
        return f"{percent:g} %"
    if percent < 0.1:
        return "<0.1 %"
    return ">99.9 %" if percent > 99.9 else f"{percent:.1f} %"


def _findings(sizing: Sizing) -> Iterator[tuple[str, str]]:
    confidence = f"at {100 * sizing.confidence:g} %"
    stated = sizing.sizes[0].limits
    for name, size, what in (
        ("memory", sizing.fits, "Smallest that fits"),
        ("deadline", sizing.in_time, "Smallest in time"),
    ):
        if name in stated:
            yield what, "none" if size is None else f"{size:,} accelerators, {confidence}"
    if {"memory", "deadline"} <= stated.keys():
        yield "Smallest of both", "none" if sizing.smallest is None else f"{sizing.smallest:,} accelerators"
    if sizing.granularity > 1:
        yield "Granularity", f"multiples of {sizing.granularity:,} accelerators"
    for name in ("deadline", "budget"):
        if name in stated:
            yield name.capitalize(), amount(stated[name].value, stated[name].unit)
    in_force = sizing.scenario.choices_in_force
    yield from in_words({name: in_force[name] for name in ("flop_convention",) if name in in_force})
    for note in sizing.notes:
        yield "Note", note
