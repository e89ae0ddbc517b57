"""From what a person states (quantiles, or parameters by name) to the one distribution that honours it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from uncertain_botec.distributions.base import Distribution
from uncertain_botec.distributions.constructors import Points
from uncertain_botec.distributions.families import FAMILIES, Family, quantile_level
from uncertain_botec.distributions.normal import Fixed
from uncertain_botec.distributions.truncated import Truncated
from uncertain_botec.errors import ElicitationError

# How far the cumulative probability at a stated quantile may be from its level.
TOLERANCE = 1e-9

_ALWAYS_ALLOWED = frozenset({"family", "truncate", "source", "as_of", "note"})


def elicit(family: str, stated: Mapping[str, Any]) -> Distribution:
    """The member of a family that honours what is stated.

    Args:
        family: a name in `FAMILIES`.
        stated: values by key, in base units: `p10`, `median`, `mean`, `sd`, `low`, `support`, `truncate`, ...

    Returns:
        A distribution whose cumulative probability at every stated quantile is its level to 1e-9; a point mass when all
        that is stated is one value.

    Raises:
        ElicitationError: no member of the family honours it; the family is never switched.
    """
    rules = _rules(family)
    keys = {key: value for key, value in stated.items() if value is not None and key not in _ALWAYS_ALLOWED}
    _check_known(rules, keys)
    _check_finite(rules, keys)
    points = _points(keys)
    ends = _ends(rules, keys, points)
    if point := _point_mass(rules, keys, points):
        distribution: Distribution = point
    else:
        _check_order(family, keys, points)
        parameters = {key: value for key, value in keys.items() if quantile_level(key) is None and key != "support"}
        member = rules.construct(parameters, points, ends)
        if member is None:
            got = ", ".join(key for key in keys if key != "support") or "nothing"
            message = f"these keys do not state a {family}"
            raise ElicitationError(message, got=got, expected=" or ".join(rules.spellings))
        distribution = member
        _check_honoured(family, distribution, points)
    return _truncated(family, distribution, stated.get("truncate"))


def _rules(family: str) -> Family:
    if family in FAMILIES:
        return FAMILIES[family]
    close = get_close_matches(family, FAMILIES, n=1)
    raise ElicitationError(
        f"there is no family {family}",
        key="family",
        got=f'"{family}"',
        expected=", ".join(FAMILIES),
        fix=f'did you mean "{close[0]}"?' if close else None,
    )


def _check_known(rules: Family, keys: Mapping[str, Any]) -> None:
    known = {*rules.value_keys, *rules.number_keys, *rules.list_keys, *rules.component_keys, *rules.text_keys}
    for key in keys:
        if key not in known:
            raise ElicitationError(
                f"the family {rules.name} has no `{key}`",
                key=key,
                got=f"`{key}`",
                expected=" or ".join(rules.spellings),
            )


def _check_finite(rules: Family, keys: Mapping[str, Any]) -> None:
    for key in (*rules.value_keys, *rules.number_keys):
        if key in keys and not math.isfinite(keys[key]):
            _refuse_infinite(key, keys[key])
    for value in keys.get("values", ()):
        if not math.isfinite(value):
            _refuse_infinite("values", value)


def _refuse_infinite(key: str, value: float) -> NoReturn:
    raise ElicitationError(f"{key} is not finite", key=key, got=f"{value}", expected="finite numbers")


def _points(keys: Mapping[str, Any]) -> Points:
    """The stated quantiles as pairs of level and value, by level."""
    if "median" in keys and "p50" in keys:
        raise ElicitationError("median and p50 are the same quantile", key="p50", got="both", expected="one of them")
    levels = {key: quantile_level(key) for key in keys}
    return tuple(sorted((level, float(keys[key])) for key, level in levels.items() if level is not None))


def _ends(rules: Family, keys: Mapping[str, Any], points: Points) -> tuple[float, float]:
    """The support's ends: stated, or the family's own."""
    low, high = keys.get("support", rules.support)
    if not low < high:
        raise ElicitationError("the support is empty", key="support", got=f"[{low:g}, {high:g}]", expected="low < high")
    bounded = "support" in rules.list_keys
    for level, value in points if bounded else ():
        if not low < value < high:
            name = f"p{100 * level:g}"
            raise ElicitationError(
                f"{name} does not lie inside the support",
                key=name if name in keys else "median",
                got=f"{name} = {value:g}, support = [{low:g}, {high:g}]",
                expected=f"a value between {low:g} and {high:g}",
                fix="widen `support`, or state a quantile inside it",
            )
    return low, high


def _point_mass(rules: Family, keys: Mapping[str, Any], points: Points) -> Fixed | None:
    """The one value that everything stated amounts to, if it does."""
    # A count that is known is no count: whole-number families have no member without spread.
    if rules.whole:
        return None
    spreads = [key for key in ("sd", "sigma", "scale") if keys.get(key) == 0]
    centres = [key for key in ("mean", "median", "p50") if key in keys]
    ends = [key for key in ("low", "mode", "high") if key in keys]
    values = {value for _, value in points} | {float(keys[key]) for key in ends}
    stated = len(points) + len(ends) + ("support" in keys)
    if spreads and keys.keys() - {"support", "df"} == {*spreads, *centres} and len(centres) == 1:
        value = float(keys[centres[0]])
    elif len(values) == 1 and stated == len(keys) and len(points) + len(ends) >= 2:
        (value,) = values
    else:
        return None
    low, high = keys.get("support", rules.support)
    if not low < value < high:
        expected = f"a value between {low:g} and {high:g}"
        raise ElicitationError(f"a {rules.name} cannot be {value:g}", got=f"{value:g}", expected=expected)
    return Fixed(value)


def _check_order(family: str, keys: Mapping[str, Any], points: Points) -> None:
    low, high = ([(end, float(keys[end]))] if end in keys else [] for end in ("low", "high"))
    named = [*low, *((f"p{100 * level:g}", value) for level, value in points), *high]
    for (lower, below), (upper, above) in pairwise(named):
        if below >= above:
            swap = f"{lower} = {above:g}, {upper} = {below:g}" if below > above else None
            if swap and family == "normal":
                swap += f", or mean = {below:g}, sd = {above:g} if that is meant"
            raise ElicitationError(
                f"{lower} is {'above' if below > above else 'equal to'} {upper}",
                key=lower,
                got=f"{lower} = {below:g}, {upper} = {above:g}",
                expected=f"{lower} < {upper}; all equal is a value that is known exactly",
                fix=swap,
            )


def _check_honoured(family: str, distribution: Distribution, points: Points) -> None:
    for level, value in points:
        reached = float(distribution.cdf(np.float64(value)))
        if abs(reached - level) > TOLERANCE:
            stated = ", ".join(f"p{100 * at:g} = {x:g}" for at, x in points)
            raise ElicitationError(
                f"no {family} has these quantiles: through the outer ones, {value:g} is its P{100 * reached:.3g}",
                key="",
                got=stated,
                expected="two quantiles, or three that this family can honour",
                fix="family jqpd honours any P10, P50 and P90 on a stated support",
            )


def _truncated(family: str, distribution: Distribution, bounds: Sequence[float] | None) -> Distribution:
    if bounds is None:
        return distribution
    low, high = bounds
    got = f"[{low:g}, {high:g}]"
    if math.isnan(low) or math.isnan(high) or not low < high:
        raise ElicitationError("the truncation is empty", key="truncate", got=got, expected="low < high")
    if isinstance(distribution, Fixed):
        left = low <= distribution.value <= high
    elif distribution.discrete:
        raise ElicitationError(
            f"{family} has separate values", key="truncate", got=got, expected="only continuous families are truncated"
        )
    else:
        left = Truncated(distribution, low, high).mass > 0
    if not left:
        expected = "bounds that the distribution reaches"
        raise ElicitationError("the truncation leaves no probability", key="truncate", got=got, expected=expected)
    truncated = Truncated(distribution, low, high)
    return truncated if truncated.mass_cut > 0 else distribution
