"""What a run costs, item by item; what shares an output's variance and what is worth knowing, input by input."""

from __future__ import annotations

import math
from collections.abc import Mapping

from uncertain_botec.plots.axes import Reading, reading_of
from uncertain_botec.plots.figure import Figure, elided
from uncertain_botec.plots.rows import MOST_ROWS, Row, bars, empty
from uncertain_botec.presentation import title_of
from uncertain_botec.sensitivity.indices import Index
from uncertain_botec.sensitivity.result import InputSensitivity, Sensitivity
from uncertain_botec.summaries import OutputSummary
from uncertain_botec.units import digits

_TOTAL = "cost"
# The last digit of an item in a bill that is read in units of a readable size.
_FINEST = 1e-3
# What is worth a smaller part of what is decided about is rounding.
_WORTHLESS = 1e-9


def bill(items: Mapping[str, OutputSummary]) -> Figure:
    """What each item of a bill costs, largest first: P50 with P10 and P90.

    Args:
        items: summaries of outputs in one unit, by name; `cost` among them is the whole and stands last.
    """
    total = items.get(_TOTAL)
    parts = sorted(((name, one) for name, one in items.items() if name != _TOTAL), key=lambda item: -item[1].p50)
    shown = [*parts[: MOST_ROWS - 1], *([(_TOTAL, total)] if total else [])]
    reading = reading_of(_TOTAL, [total.p50, total.p10] if total else [one.p50 for _, one in shown])
    rows = []
    for name, one in shown:
        p10, p50, p90 = (_item(getattr(one, key), one.mcse[key], reading) for key in ("p10", "p50", "p90"))
        text = p50 if p10 == p90 else f"{p50}  ({p10} - {p90})"
        title = "Total" if name == _TOTAL else title_of(name)
        low, middle, high = (value / reading.scale for value in (one.p10, one.p50, one.p90))
        rows.append(Row(title, middle, low, high, text, whole=name == _TOTAL))
    said = ", ".join(f"{row.name} {row.text}" for row in rows)
    rest = len(parts) - len(shown) + (total is not None)
    more = f" {rest} smaller items are not shown." if rest > 0 else ""
    alt = f"{reading.label}, P50 with P10 and P90 in brackets: {said}.{more}"
    return bars("bill", "The bill, item by item", alt, rows, f"{reading.label}: P50, and P10 to P90")


def _item(value: float, error: float, reading: Reading) -> str:
    """An item to no more digits than the others have that it is added to."""
    if not math.isfinite(value) or not value:
        return reading.number(value)
    if value / reading.scale < _FINEST / 2:
        return f"<{_FINEST:g}"
    return digits(value / reading.scale, max(error / reading.scale, _FINEST), 3)


def shares(sensitivity: Sensitivity) -> Figure:
    """How much of the variance each input is behind: Shapley effects, and what knowing the input would take away."""
    moving, idle = parted(sensitivity)
    known = [one for one in moving if one.shapley is not None] if sensitivity.resolved else []
    rows = [_share(one) for one in [*known, *idle][:MOST_ROWS]]
    name = title_of(sensitivity.output).lower()
    kind = {"log": f"log {name}", "rank": f"the rank of {name}"}.get(sensitivity.scale, name)
    title = f"Shares of the variance of {kind}"
    if not known:
        why = "Nothing uncertain moves it." if not moving else "The draws do not tell the shares."
        return empty(f"shares-{sensitivity.output}", title, why)
    said = ", ".join(f"{row.name} {row.text}" for row in rows)
    level = f"{100 * sensitivity.level:g}"
    alt = f"{title}, Shapley effect with its {level} % interval: {said}."
    label = f"Share of variance (%), with its {level} % interval"
    return bars(f"shares-{sensitivity.output}", title, alt, rows, label, other="share explained by itself")


def _share(one: InputSensitivity) -> Row:
    name = elided(one.input)
    if one.shapley is None:
        return Row(name, 0.0, 0.0, 0.0, "0")
    value, low, high = (
        100 * min(max(part, 0.0), 1.0) for part in (one.shapley.value, one.shapley.low, one.shapley.high)
    )
    text = f"{digits(value, max(100 * one.shapley.error, 0.05), 3)} %" if one.shapley.error or value else "0"
    first = (
        None if one.first_order is None or not one.shapley.error else 100 * min(max(one.first_order.value, 0.0), 1.0)
    )
    return Row(name, value, low, high, text, other=first)


def value_of_information(sensitivity: Sensitivity) -> Figure:
    """What it is worth to know each input, or set of inputs, before deciding."""
    worth, name = sensitivity.information, f"information-{sensitivity.output}"
    title = "What it is worth to know before deciding"
    if worth is None:
        return empty(name, title, "There is no decision to inform.")
    stakes = max(abs(one.value) for one in worth.alternatives.values())
    if worth.perfect.value <= _WORTHLESS * stakes:
        return empty(name, title, "Nothing is worth knowing: the decision is clear.")
    reading = reading_of(_TOTAL, [worth.perfect.value])
    few = [*list(worth.inputs.items())[: MOST_ROWS - len(worth.sets) - 1], *worth.sets.items()]
    rows = [_worth(elided(key, 40), one, reading) for key, one in few]
    rows.append(_worth("everything", worth.perfect, reading, whole=True))
    said = ", ".join(f"{row.name} {row.text}" for row in rows)
    rest = len(worth.inputs) + len(worth.sets) + 1 - len(rows)
    more = f" {rest} more inputs are worth less." if rest > 0 else ""
    alt = f"Worth of knowing before deciding {worth.decision}, in {reading.unit}: {said}.{more}"
    level = f"{100 * sensitivity.level:g}"
    return bars(name, title, alt, rows, f"Worth of knowing ({reading.unit}), with its {level} % interval")


def _worth(name: str, one: Index, reading: Reading, *, whole: bool = False) -> Row:
    value, low, high = (max(part, 0.0) / reading.scale for part in (one.value, one.low, one.high))
    return Row(name, value, low, high, reading.number(max(one.value, 0.0), one.error), whole=whole)


def parted(sensitivity: Sensitivity) -> tuple[list[InputSensitivity], list[InputSensitivity]]:
    """What moves the output, and the uncertain inputs that do not."""
    moving = [one for one in sensitivity.inputs if one.influence in ("uncertain", "chance")]
    return moving, [one for one in sensitivity.inputs if one.influence == "none"]
