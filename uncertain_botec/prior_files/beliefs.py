"""From one stated input to a distribution in base units, or to the faults that stand in the way."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from uncertain_botec.distributions import FAMILIES, Distribution, elicit
from uncertain_botec.errors import ElicitationError, Fault
from uncertain_botec.quantities import Quantity
from uncertain_botec.units import UnitError, is_count, parse_quantity, to_base, unit_of

# Probability that a prior may leave outside what can exist. No run of draws this program makes would meet it.
_NEGLIGIBLE = 1e-9

# A truncation that takes more than this was probably not meant as a trim of the tails.
_LARGE_CUT = 0.05

_SPREAD_KEYS = frozenset({"sd", "scale"})
_BOUND_KEYS = frozenset({"support", "truncate"})
_END_KEYS = frozenset({"low", "high"})


@dataclass(frozen=True)
class Place:
    """Where something was stated: the file as the user knows it, the path inside it, and the file on disk."""

    where: str
    path: str
    file: Path

    def at(self, *keys: str) -> Place:
        """The place of a key below this one."""
        return Place(self.where, ".".join((self.path, *keys)), self.file)


@dataclass(frozen=True)
class Belief:
    """A distribution, and the statement that gives it again wherever it is loaded from."""

    distribution: Distribution
    stated: Any


def value_of(stated: float | str, quantity: Quantity, place: Place, faults: list[Fault], *, key: str = "") -> float | None:
    """A stated value in base units, or None after adding its fault.

    Args:
        stated: a number, or a text with a unit.
        quantity: what it is a value of.
        place: where it stands.
        faults: the list to add to.
        key: the role it plays (`sd` is not held to the limits of the quantity, `low` may lie on an excluded end).
    """

    def fault(message: str, expected: str, fix: str | None = None) -> None:
        faults.append(Fault(message, place.where, place.path, repr(stated), expected, fix))

    free_of_unit = key in _BOUND_KEYS and (stated == 0 or (isinstance(stated, float) and math.isinf(stated)))
    try:
        if isinstance(stated, str):
            value = parse_quantity(stated, quantity.unit)
        elif is_count(quantity.unit) or free_of_unit:
            value = float(stated)
        else:
            raise UnitError("the unit is missing", f'write "{stated:g} {_shortest_unit(quantity)}" if that is what is meant')
    except (UnitError, OverflowError) as error:
        fault(str(error), f"{quantity.meaning}, such as {quantity.example}", getattr(error, "fix", None))
        return None
    if math.isnan(value) or (math.isinf(value) and key not in _BOUND_KEYS):
        fault(f"{quantity.name} is not a finite number", f"a finite number, such as {quantity.example}")
        return None
    inside = quantity.admits(value) or (key in _END_KEYS and value in (quantity.low, quantity.high))
    if key in _SPREAD_KEYS | _BOUND_KEYS or inside:
        return value
    fix = None
    if quantity.high == 1.0 and 1.0 < value <= 100.0:
        fix = f'write "{value:g} %" or {value / 100:g} if percent are meant'
    fault(f"{quantity.name} cannot be {value / unit_of(quantity.unit)[0]:g}", f"{quantity.limits}: {quantity.meaning}", fix)
    return None


def _shortest_unit(quantity: Quantity) -> str:
    """The unit of the quantity's own example, which is how people write it."""
    return quantity.example.strip('"').partition(" ")[2] or quantity.unit


def believe(
    spec: Any, quantity: Quantity, place: Place, faults: list[Fault], warnings: list[str], notes: list[str]
) -> Belief | None:
    """The distribution that an input of checked shape states, or None after adding its faults."""
    before = len(faults)
    spec, stated = _inlined(spec, quantity, place, faults)
    distribution = _distribution(stated, quantity, place, faults) if len(faults) == before else None
    if distribution is None:
        return None
    cut = getattr(distribution, "mass_cut", 0.0)
    if cut:
        message = f"{place.where}: {place.path}: truncation cuts off {cut:.2%} of the probability"
        (warnings if cut > _LARGE_CUT else notes).append(message)
    faults += _impossible(distribution, quantity, place)
    if len(faults) > before:
        return None
    if quantity.usual_high < math.inf and float(distribution.sf(np.float64(quantity.usual_high))) > _LARGE_CUT:
        high = quantity.usual_high
        warnings.append(f"{place.where}: {place.path}: more than a 5 % chance above {high:g} is unusual: {quantity.meaning}")
    return Belief(distribution, spec)


def _distribution(spec: Any, quantity: Quantity, place: Place, faults: list[Fault]) -> Distribution | None:
    """Units, then elicitation."""
    before = len(faults)
    if not isinstance(spec, Mapping):
        value = value_of(spec, quantity, place, faults)
        return None if value is None else elicit("fixed", {"value": value})
    name = spec.get("family", "fixed")
    family = FAMILIES[name]
    stated: dict[str, Any] = {}
    for key, raw in spec.items():
        at = place.at(key)
        if key in family.value_keys:
            stated[key] = value_of(raw, quantity, at, faults, key=key)
        elif key in family.number_keys:
            stated[key] = value_of(raw, _NUMBER, at, faults)
        elif key in family.list_keys:
            kind = _NUMBER if key in ("weights", "odds") else quantity
            items = [value_of(item, kind, Place(at.where, f"{at.path}[{i}]", at.file), faults, key=key) for i, item in enumerate(raw)]
            stated[key] = tuple(items)
        elif key in family.component_keys:
            parts = [_distribution(item, quantity, Place(at.where, f"{at.path}[{i}]", at.file), faults) for i, item in enumerate(raw)]
            stated[key] = tuple(parts)
    if len(faults) > before:
        return None
    try:
        return elicit(name, stated)
    except ElicitationError as error:
        at = place.at(error.key) if error.key else place
        faults.append(Fault(str(error), at.where, at.path, error.got, error.expected, error.fix))
        return None


_NUMBER = Quantity("this", "fraction", "a plain number", "0.5", low=-math.inf, open="")


def _impossible(distribution: Distribution, quantity: Quantity, place: Place) -> list[Fault]:
    """A fault where more than a negligible part of the belief lies outside what can exist."""
    below, above = 0.0, 0.0
    if quantity.low > -math.inf:
        low = quantity.low if quantity.open in ("low", "both") else math.nextafter(quantity.low, -math.inf)
        below = float(distribution.cdf(np.float64(low)))
    if quantity.high < math.inf:
        above = float(distribution.sf(np.float64(quantity.high)))
    if max(below, above) <= _NEGLIGIBLE:
        return []
    outside, end = max((below, f"below {quantity.low:g}"), (above, f"above {quantity.high:g}"))
    bounds = f"[{quantity.low:g}, {quantity.high:g}]"
    family = "logit-normal" if quantity.high < math.inf else "lognormal"
    return [
        Fault(
            f"{outside:.2g} of the probability lies {end}, where {quantity.name} cannot be",
            place.where,
            place.path,
            f"family {distribution.family}",
            f"{quantity.limits}: {quantity.meaning}",
            f"add truncate = {bounds}, or use {family}, or jqpd with support = {bounds}",
        )
    ]


def _inlined(spec: Any, quantity: Quantity, place: Place, faults: list[Fault]) -> tuple[Any, Any]:
    """An input whose column of a CSV file has been read into `values`, so that the statement stands by itself."""
    if not isinstance(spec, Mapping) or "file" not in spec:
        return spec, spec
    rest = {key: value for key, value in spec.items() if key not in ("file", "column", "unit")}
    column, unit = spec.get("column"), spec.get("unit")
    path = (place.file.parent / str(spec["file"])).resolve()

    def fault(message: str, key: str, got: str | None, expected: str | None = None) -> None:
        at = place.at(key)
        faults.append(Fault(message, at.where, at.path, got, expected))

    if not path.is_relative_to(place.file.parent.resolve()) or not path.is_file():
        fault("there is no such file in the prior file's folder", "file", repr(spec["file"]), "a CSV file beside the prior file")
        return spec, spec
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        fault(f"cannot be read as CSV: {error}", "file", repr(spec["file"]))
        return spec, spec
    names = list(rows[0]) if rows else []
    if column not in names:
        fault("there is no such column", "column", repr(column), f"one of {', '.join(names)}")
        return spec, spec
    values: list[float] = []
    for number, row in enumerate(rows, start=2):
        try:
            values.append(float(row[column]) * (unit_of(unit)[0] / unit_of(quantity.unit)[0] if unit else 1.0))
        except (TypeError, ValueError) as error:
            fault(f"row {number} of {spec['file']} is not a number: {error}", "column", repr(row[column]))
            return spec, spec
    numbers: list[Any] = values if is_count(quantity.unit) else [f"{value!r} {quantity.unit}" for value in values]
    return rest | {"values": numbers}, rest | {"values": numbers}
