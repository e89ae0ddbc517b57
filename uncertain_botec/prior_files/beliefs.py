"""From one stated input to a distribution in base units, or to the faults that stand in the way."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uncertain_botec.distributions import FAMILIES, Distribution, elicit
from uncertain_botec.errors import ElicitationError, Fault
from uncertain_botec.prior_files.columns import inlined
from uncertain_botec.prior_files.places import Place
from uncertain_botec.prior_files.schema import toml
from uncertain_botec.quantities import Quantity
from uncertain_botec.units import UnitError, is_count, parse_quantity, unit_of

# Probability that a prior may leave outside what can exist. No run of draws this program makes would meet it.
_NEGLIGIBLE = 1e-9

# A truncation that takes more than this was probably not meant as a trim of the tails.
_LARGE_CUT = 0.05

# Families whose values can all be whole numbers.
_WHOLE = ("fixed", "choice", "poisson", "negative-binomial")

_SPREAD_KEYS = frozenset({"sd", "scale"})
_BOUND_KEYS = frozenset({"support", "truncate"})
_END_KEYS = frozenset({"low", "high"})


@dataclass(frozen=True)
class Belief:
    """A distribution, and the statement that gives it again wherever it is loaded from."""

    distribution: Distribution
    stated: Any


def value_of(
    stated: float | str, quantity: Quantity, place: Place, faults: list[Fault], *, key: str = ""
) -> float | None:
    """A stated value in base units, or None after adding its fault.

    Args:
        stated: a number, or a text with a unit.
        quantity: what it is a value of.
        place: where it stands.
        faults: the list to add to.
        key: the role it plays (`sd` is not held to the limits of the quantity, `low` may lie on an excluded end).
    """

    def fault(message: str, expected: str, fix: str | None = None) -> None:
        faults.append(Fault(message, place.where, place.path, toml(stated), expected, fix))

    expected = f"{quantity.meaning}, such as {quantity.example}"
    free_of_unit = key in _BOUND_KEYS and (stated == 0 or (isinstance(stated, float) and math.isinf(stated)))
    try:
        if isinstance(stated, str):
            value = parse_quantity(stated, quantity.unit)
        elif is_count(quantity.unit) or free_of_unit:
            value = float(stated)
        else:
            likely = _with_likely_unit(stated, quantity)
            fault("the unit is missing", expected, f'write "{likely}" if that is what is meant')
            return None
    except UnitError as error:
        fix = error.fix or _decimal_point(stated) or f"write it like {quantity.example}"
        fault(str(error), expected, fix)
        return None
    except OverflowError:
        fault("this number is too large", expected, f"write it like {quantity.example}")
        return None
    if math.isnan(value) or (math.isinf(value) and key not in _BOUND_KEYS):
        fix = f"write it like {quantity.example}; only `support` and `truncate` may reach inf"
        fault(f"{quantity.name} is not a finite number", f"a finite number, such as {quantity.example}", fix)
        return None
    inside = quantity.admits(value) or (key in _END_KEYS and value in (quantity.low, quantity.high))
    if key in _SPREAD_KEYS | _BOUND_KEYS or inside:
        return value
    fix = f"state a value that is {quantity.limits}"
    # Hardly anybody means 1.5 %: a fraction a little above one was divided by the wrong thing.
    if quantity.high == 1.0 and quantity.unit == "fraction" and 2.0 <= value <= 100.0:
        fix = f'write "{value:g} %" or {value / 100:g} if percent are meant'
    elif quantity.high == 1.0 and quantity.unit == "fraction" and value > 1.0:
        fix = "one is all of it: check what was divided by what, such as dense FLOP by a dense peak"
    fault(
        f"{quantity.name} cannot be {value / unit_of(quantity.unit)[0]:g}",
        f"{quantity.limits}: {quantity.meaning}",
        fix,
    )
    return None


def _with_likely_unit(number: float, quantity: Quantity) -> str:
    """A number with the unit people write or the plain unit, whichever brings it nearer to the quantity's example."""
    example = quantity.example.strip('"')
    usual = parse_quantity(example, quantity.unit)
    written = example.partition(" ")[2]
    plain = re.sub(r"^[kMGTPE](?=FLOP)", "", written)

    def distance(unit: str) -> float:
        value = parse_quantity(f"1 {unit}", quantity.unit) * number
        return abs(math.log(value / usual)) if value > 0 else 0.0

    return f"{number:g} {min((written, plain), key=distance)}"


def _decimal_point(stated: float | str) -> str | None:
    """What to write for a text with a decimal comma."""
    match = re.match(r"\s*([+-]?\d+),(\d.*)", str(stated), re.DOTALL)
    return f'write "{match[1]}.{match[2]}": a decimal comma is a point here' if match else None


def believe(
    spec: Any, quantity: Quantity, place: Place, faults: list[Fault], warnings: list[str], notes: list[str]
) -> Belief | None:
    """The distribution that an input of checked shape states, or None after adding its faults."""
    before = len(faults)
    if quantity.whole and isinstance(spec, Mapping) and spec.get("family", "fixed") not in _WHOLE:
        message, expected = f"{quantity.name} takes whole numbers alone", f"one of {', '.join(_WHOLE)}"
        fix = f'{quantity.name} = {{ family = "choice", values = [...] }}'
        faults.append(Fault(message, place.where, place.path, toml(spec), expected, fix))
        return None
    stated = inlined(spec, quantity, place, faults)
    cuts: list[tuple[Place, float]] = []
    distribution = _distribution(stated, quantity, place, faults, cuts) if len(faults) == before else None
    if distribution is None:
        return None
    try:
        # What cannot be drawn from is a fault of the file, to be told before the run.
        distribution.sampling_form()
    except ElicitationError as error:
        faults.append(Fault(str(error), place.where, place.path, error.got, error.expected, error.fix))
        return None
    for at, cut in cuts:
        message = f"{at.where}: {at.path}: truncation cuts off {100 * cut:.2g} % of the probability"
        (warnings if cut > _LARGE_CUT else notes).append(message)
    faults += _impossible(distribution, quantity, place)
    if len(faults) > before:
        return None
    if quantity.usual_high < math.inf and float(distribution.sf(np.float64(quantity.usual_high))) > _LARGE_CUT:
        high = quantity.usual_high
        warnings.append(
            f"{place.where}: {place.path}: more than a 5 % chance above {high:g} is unusual: {quantity.meaning}"
        )
    return Belief(distribution, stated)


def _distribution(
    spec: Any, quantity: Quantity, place: Place, faults: list[Fault], cuts: list[tuple[Place, float]]
) -> Distribution | None:
    """Units, then elicitation; what truncations remove is added to `cuts`."""
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
        elif key in (*family.list_keys, "truncate"):
            kind = _NUMBER if key in ("weights", "odds") else quantity
            items = [value_of(item, kind, at.item(i), faults, key=key) for i, item in enumerate(raw)]
            stated[key] = tuple(items)
        elif key in family.component_keys:
            parts = [_distribution(item, quantity, at.item(i), faults, cuts) for i, item in enumerate(raw)]
            stated[key] = tuple(parts)
    if len(faults) > before:
        return None
    try:
        distribution = elicit(name, stated)
    except ElicitationError as error:
        at = place.at(error.key) if error.key else place
        fix = error.fix or f"such as {family.example}"
        faults.append(Fault(str(error), at.where, at.path, error.got, error.expected, fix))
        return None
    if distribution.mass_cut > 0:
        cuts.append((place, distribution.mass_cut))
    return distribution


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
    low_end = f"{'at or below' if quantity.open in ('low', 'both') else 'below'} {quantity.low:g}"
    outside, end = max((below, low_end), (above, f"above {quantity.high:g}"))
    bounds = f"[{quantity.low:g}, {quantity.high:g}]"
    family = "logit-normal" if quantity.high < math.inf else "lognormal"
    return [
        Fault(
            f"{outside:.2g} of the probability lies {end}, where {quantity.name} cannot be",
            place.where,
            place.path,
            f"family {distribution.family}",
            f"{quantity.limits}: {quantity.meaning}",
            "use a family of values that can be, such as choice or a continuous one"
            if distribution.discrete
            else f"add truncate = {bounds}, or use {family}, or jqpd with support = {bounds}",
        )
    ]
