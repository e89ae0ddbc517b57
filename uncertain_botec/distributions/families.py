"""The registry of families: what each may be stated by, and how its member is found.

To add one: a `Distribution`, a constructor here, its entry in `_FAMILIES`, and a row in the table of test cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from scipy.special import ndtri, stdtrit

from uncertain_botec.distributions.base import Distribution
from uncertain_botec.distributions.bounded import Beta, LogUniform, Pert, Triangular, Uniform
from uncertain_botec.distributions.counts import NegativeBinomial, Poisson
from uncertain_botec.distributions.jqpd import JqpdBounded, JqpdHalfBounded
from uncertain_botec.distributions.normal import Fixed, LogitNormal, LogNormal, Normal
from uncertain_botec.distributions.solving import (
    beta_through,
    gamma_shape,
    mode_by_mode,
    mode_by_quantiles,
    negative_binomial_through,
    poisson_rate,
    standard_quantile,
)
from uncertain_botec.distributions.tailed import Gamma, StudentT
from uncertain_botec.distributions.weighted import Empirical, choice, mixture
from uncertain_botec.errors import ElicitationError

Points = tuple[tuple[float, float], ...]
"""Stated quantiles: pairs of level and value, by level."""

Ends = tuple[float, float]
Parameters = Mapping[str, Any]

_LEVELS = (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99)
_QUANTILE_LEVELS = {f"p{level}": level / 100 for level in _LEVELS} | {"median": 0.5}
QUANTILES = tuple(_QUANTILE_LEVELS)


def quantile_level(key: str) -> float | None:
    """The level of a key such as `p10` or `median`; None for any other key."""
    return _QUANTILE_LEVELS.get(key)


@dataclass(frozen=True)
class Family:
    """One family of distributions.

    Attributes:
        name: what a prior file calls it.
        summary: one line for people.
        example: an input in TOML.
        spellings: the sets of keys that state a member, in words.
        construct: from parameters, quantiles and support to the member.
        value_keys: keys that carry the input's unit.
        number_keys: keys without a unit.
        list_keys: keys with a list of values (of numbers for `weights` and `odds`).
        component_keys: keys with a list of inputs.
        text_keys: keys with a text.
        support: the ends of the support unless stated.
    """

    name: str
    summary: str
    example: str
    spellings: tuple[str, ...]
    construct: Callable[[Parameters, Points, Ends], Distribution]
    value_keys: tuple[str, ...] = ()
    number_keys: tuple[str, ...] = ()
    list_keys: tuple[str, ...] = ()
    component_keys: tuple[str, ...] = ()
    text_keys: tuple[str, ...] = ()
    support: Ends = (-math.inf, math.inf)


def _refuse(name: str, parameters: Parameters, points: Points) -> ElicitationError:
    """What is stated is none of the family's spellings."""
    keys = [*parameters, *(f"p{100 * level:g}" for level, _ in points)]
    got = ", ".join(keys) if keys else "nothing"
    expected = " or ".join(FAMILIES[name].spellings)
    return ElicitationError(f"these keys do not state the family {name}", got=got, expected=expected)


def _positive(parameters: Parameters, *keys: str) -> None:
    for key in keys:
        if not parameters[key] > 0:
            raise ElicitationError(
                f"{key} is not positive", key=key, got=f"{parameters[key]:g}", expected="more than zero"
            )


def _above_zero(family: str, stated: Sequence[tuple[str, float]]) -> None:
    """Values of a family on (0, inf); zero is no quantile of it, however small the others are."""
    for key, value in stated:
        if not value > 0:
            raise ElicitationError(
                f"a {family} has no value at or below zero",
                key=key,
                got=f"{key} = {value:g}",
                expected="a value above zero",
                fix="state a small positive quantile, or choose a family that reaches zero: gamma, "
                "jqpd with support = [0, inf], or normal with truncate = [0, inf]",
            )


def _named(points: Points) -> list[tuple[str, float]]:
    return [(f"p{100 * level:g}", value) for level, value in points]


def _line(points: Points, score: Callable[[float], float], of: Callable[[float], float]) -> tuple[float, float]:
    """Location and scale of the line through the outer two quantiles: of(x) = location + scale score(level)."""
    (first, low), (last, high) = points[0], points[-1]
    scale = (of(high) - of(low)) / (score(last) - score(first))
    return of(low) - scale * score(first), scale


def _identity(x: float) -> float:
    return x


def _score(level: float) -> float:
    return float(ndtri(level))


def _with_mean(parameters: Parameters, points: Points) -> Points:
    """Of a symmetric family the mean is the quantile at 0.5."""
    return tuple(sorted((*points, (0.5, parameters["mean"])))) if "mean" in parameters else points


def _fixed(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    if set(parameters) != {"value"}:
        raise _refuse("fixed", parameters, points)
    return Fixed(float(parameters["value"]))


def _normal(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    centred = _with_mean(parameters, points)
    match sorted(parameters.keys() - {"mean"}), len(centred):
        case ["sd"], 1 if centred[0][0] == 0.5:
            _positive(parameters, "sd")
            return Normal(centred[0][1], parameters["sd"])
        case [], count if count >= 2:
            return Normal(*_line(centred, _score, _identity))
    raise _refuse("normal", parameters, points)


def _lognormal(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    _above_zero("lognormal", [*_named(points), *((key, parameters[key]) for key in ("mean",) if key in parameters)])
    match sorted(parameters), len(points):
        case ["sigma"], 1 if points[0][0] == 0.5:
            _positive(parameters, "sigma")
            return LogNormal(points[0][1], parameters["sigma"])
        case ["mean", "sd"], 0:
            # Both in the value's own unit: mean^2 exp(s^2) = mean^2 + sd^2, median = mean exp(-s^2 / 2).
            _positive(parameters, "sd")
            square = math.log1p((parameters["sd"] / parameters["mean"]) ** 2)
            return LogNormal(parameters["mean"] * math.exp(-0.5 * square), math.sqrt(square))
        case ["mean", "sigma"], 0:
            _positive(parameters, "sigma")
            return LogNormal(parameters["mean"] * math.exp(-0.5 * parameters["sigma"] ** 2), parameters["sigma"])
        case [], count if count >= 2:
            location, sigma = _line(points, _score, math.log)
            return LogNormal(math.exp(location), sigma)
    raise _refuse("lognormal", parameters, points)


def _logit_normal(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    low, high = ends
    if math.isinf(high - low):
        raise ElicitationError(
            "a logit-normal has two ends", key="support", got=f"[{low:g}, {high:g}]", expected="finite ends"
        )

    def logit(x: float) -> float:
        return math.log(x - low) - math.log(high - x)

    match sorted(parameters), len(points):
        case ["sigma"], 1 if points[0][0] == 0.5:
            _positive(parameters, "sigma")
            return LogitNormal(logit(points[0][1]), parameters["sigma"], low, high)
        case ["mu", "sigma"], 0:
            _positive(parameters, "sigma")
            return LogitNormal(parameters["mu"], parameters["sigma"], low, high)
        case [], count if count >= 2:
            return LogitNormal(*_line(points, _score, logit), low, high)
    raise _refuse("logit-normal", parameters, points)


def _with_ends(parameters: Parameters, points: Points) -> Points:
    """`low` and `high` are the quantiles at 0 and 1."""
    low = ((0.0, parameters["low"]),) if "low" in parameters else ()
    high = ((1.0, parameters["high"]),) if "high" in parameters else ()
    return (*low, *points, *high)


def _uniform(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    stated = _with_ends(parameters, points)
    if len(stated) < 2:
        raise _refuse("uniform", parameters, points)
    low, width = _line(stated, _identity, _identity)
    # Stated ends are kept to the last digit.
    return Uniform(parameters.get("low", low), parameters.get("high", low + width))


def _loguniform(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    stated = _with_ends(parameters, points)
    _above_zero(
        "loguniform", [*((key, parameters[key]) for key in ("low", "high") if key in parameters), *_named(points)]
    )
    if len(stated) < 2:
        raise _refuse("loguniform", parameters, points)
    low, width = _line(stated, _identity, math.log)
    return LogUniform(parameters.get("low", math.exp(low)), parameters.get("high", math.exp(low + width)))


def _three_point(
    name: str, kind: type[Triangular] | type[Pert], parameters: Parameters, points: Points
) -> Distribution:
    """Triangular and PERT: a standard shape on [0, 1] with its mode at c, moved and scaled."""
    stated = _with_ends(parameters, points)
    mode = parameters.get("mode")
    if mode is not None and {"low", "high"} <= parameters.keys():
        low, high = parameters["low"], parameters["high"]
        if not low <= mode <= high:
            got = f"low = {low:g}, mode = {mode:g}, high = {high:g}"
            raise ElicitationError(
                "the mode is not between low and high", key="mode", got=got, expected="low <= mode <= high"
            )
        return kind(low, mode, high)
    if (mode is None and len(stated) < 3) or (mode is not None and len(stated) != 2):
        raise _refuse(name, parameters, points)
    (first, x1), (last, x3) = stated[0], stated[-1]
    c = mode_by_quantiles(name, kind, stated) if mode is None else mode_by_mode(name, kind, stated, mode)
    q1, q3 = (standard_quantile(kind, c, level) for level in (first, last))
    width = (x3 - x1) / (q3 - q1)
    low = x1 - width * q1
    low, high = parameters.get("low", low), parameters.get("high", low + width)
    return kind(low, mode if mode is not None else min(max(low + c * (high - low), low), high), high)


def _triangular(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    return _three_point("triangular", Triangular, parameters, points)


def _pert(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    return _three_point("pert", Pert, parameters, points)


def _beta(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    low, high = ends
    if math.isinf(high - low):
        raise ElicitationError("a beta has two ends", key="support", got=f"[{low:g}, {high:g}]", expected="finite ends")
    match sorted(parameters), len(points):
        case ["alpha", "beta"], 0:
            _positive(parameters, "alpha", "beta")
            return Beta(parameters["alpha"], parameters["beta"], low, high)
        case ["mean", "sd"], 0:
            mean, sd = (parameters["mean"] - low) / (high - low), parameters["sd"] / (high - low)
            if not 0 < mean < 1 or not 0 < sd**2 < mean * (1 - mean):
                raise ElicitationError(
                    "no beta has this mean and standard deviation",
                    key="sd",
                    got=f"mean = {parameters['mean']:g}, sd = {parameters['sd']:g} on [{low:g}, {high:g}]",
                    expected="a mean inside the support and sd^2 < (mean - low) (high - mean)",
                )
            total = mean * (1 - mean) / sd**2 - 1
            return Beta(mean * total, (1 - mean) * total, low, high)
        case [], count if count >= 2:
            return Beta(*beta_through(points[0], points[-1], low, high), low, high)
    raise _refuse("beta", parameters, points)


def _gamma(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    low, high = ends
    if not math.isinf(high) or math.isinf(low):
        raise ElicitationError(
            "a gamma reaches up to inf", key="support", got=f"[{low:g}, {high:g}]", expected="[low, inf]"
        )
    match sorted(parameters), len(points):
        case ["scale", "shape"], 0:
            _positive(parameters, "shape", "scale")
            return Gamma(parameters["shape"], parameters["scale"], low)
        case ["mean", "sd"], 0:
            mean = parameters["mean"] - low
            _positive({"mean": mean, "sd": parameters["sd"]}, "mean", "sd")
            return Gamma((mean / parameters["sd"]) ** 2, parameters["sd"] ** 2 / mean, low)
        case [], count if count >= 2:
            shape, scale = gamma_shape(points[0], points[-1], low)
            return Gamma(shape, scale, low)
    raise _refuse("gamma", parameters, points)


def _student_t(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    if "df" not in parameters:
        raise _refuse("student-t", parameters, points)
    _positive(parameters, "df")
    df = parameters["df"]
    if "mean" in parameters and df <= 1:
        raise ElicitationError(
            "Student's t has no mean unless df is above 1", key="mean", got=f"df = {df:g}", expected="median"
        )
    centred = _with_mean(parameters, points)
    match sorted(parameters.keys() - {"mean", "df"}), len(centred):
        case ["scale"], 1 if centred[0][0] == 0.5:
            _positive(parameters, "scale")
            return StudentT(df, centred[0][1], parameters["scale"])
        case [], count if count >= 2:
            return StudentT(df, *_line(centred, lambda level: _t_score(df, level), _identity))
    raise _refuse("student-t", parameters, points)


def _t_score(df: float, level: float) -> float:
    return 0.0 if level == 0.5 else float(stdtrit(df, level))


def _jqpd(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    levels = [level for level, _ in points]
    if parameters or len(points) != 3 or levels[1] != 0.5 or not math.isclose(levels[0] + levels[2], 1.0):
        raise _refuse("jqpd", parameters, points)
    low, high = ends
    if math.isinf(low) and math.isinf(high):
        raise ElicitationError(
            "a jqpd states its support", key="support", got="none", expected="support = [0, 1], or one end of it inf"
        )
    first, middle, last = (value for _, value in points)
    kind = JqpdHalfBounded if math.isinf(low) or math.isinf(high) else JqpdBounded
    return kind.of(levels[0], (first, middle, last), low, high)


def _poisson(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    match sorted(parameters), len(points):
        case ["mean"], 0:
            _positive(parameters, "mean")
            return Poisson(parameters["mean"])
        case [], 1:
            return Poisson(poisson_rate(*points[0]))
    raise _refuse("poisson", parameters, points)


def _negative_binomial(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    match sorted(parameters), len(points):
        case ["dispersion", "mean"], 0:
            _positive(parameters, "mean", "dispersion")
            return NegativeBinomial(parameters["mean"], 1.0 / parameters["dispersion"])
        case ["mean", "sd"], 0:
            _positive(parameters, "mean", "sd")
            mean, excess = parameters["mean"], parameters["sd"] ** 2 - parameters["mean"]
            if excess <= 0:
                got = f"mean = {mean:g}, sd = {parameters['sd']:g}"
                raise ElicitationError(
                    "a negative binomial spreads more than a Poisson",
                    key="sd",
                    got=got,
                    expected=f"sd above {math.sqrt(mean):g}",
                )
            return NegativeBinomial(mean, mean**2 / excess)
        case [], 2:
            return NegativeBinomial(*negative_binomial_through(*points))
    raise _refuse("negative-binomial", parameters, points)


def _shares(parameters: Parameters, count: int) -> tuple[float, ...]:
    """Weights that sum to one, or odds made to."""
    given = [key for key in ("weights", "odds") if key in parameters]
    if len(given) != 1:
        got = "both" if given else "neither"
        raise ElicitationError(
            "the alternatives have no probabilities", got=got, expected="weights that sum to one, or odds"
        )
    (key,) = given
    shares = tuple(float(share) for share in parameters[key])
    total = math.fsum(shares)
    if len(shares) != count or not all(0 <= share < math.inf for share in shares) or not total > 0:
        raise ElicitationError(
            f"{key} do not fit the alternatives",
            key=key,
            got=f"{list(shares)}",
            expected=f"{count} numbers, none negative",
        )
    if key == "weights" and abs(total - 1) > 1e-9:
        raise ElicitationError(
            "weights do not sum to one",
            key=key,
            got=f"{list(shares)}, which sum to {total:g}",
            expected="weights that sum to one",
            fix=f"odds = {list(shares)} if proportions are meant",
        )
    return tuple(share / total for share in shares)


def _choice(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    values = parameters.get("values", ())
    if not values:
        raise _refuse("choice", parameters, points)
    return choice(values, _shares(parameters, len(values)))


def _mixture(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    components = parameters.get("components", ())
    if not components:
        raise _refuse("mixture", parameters, points)
    kinds = {component.family for component in components if component.discrete}
    if not kinds <= {"fixed", "choice"} and any(component.count_extension() is None for component in components):
        raise ElicitationError(
            "a mixture of counts and continuous values is neither",
            key="components",
            got=", ".join(component.family for component in components),
            expected="counts (and whole values) only, or continuous families (and fixed values) only",
        )
    return mixture(components, _shares(parameters, len(components)))


def _empirical(parameters: Parameters, points: Points, ends: Ends) -> Distribution:
    values = sorted(float(value) for value in parameters.get("values", ()))
    if not values:
        raise _refuse("empirical", parameters, points)
    return Fixed(values[0]) if values[0] == values[-1] else Empirical(tuple(values))


_TWO = "two quantiles"
_FAMILIES = (
    Family(
        "fixed", "a value that is known exactly", '{ value = 2048, source = "plan" }', ("value",), _fixed, ("value",)
    ),
    Family(
        "normal",
        "symmetric, on the whole line",
        '{ family = "normal", mean = 0.4, sd = 0.03, truncate = [0, 1] }',
        ("mean (or median) and sd", _TWO),
        _normal,
        ("mean", "sd", *QUANTILES),
    ),
    Family(
        "lognormal",
        "products of many factors: positive, skewed to the right",
        '{ family = "lognormal", p10 = "1.9 USD/hour", p90 = "2.9 USD/hour" }',
        (
            _TWO,
            "median and sigma (standard deviation of the logarithm)",
            "mean and sd (of the value itself)",
            "mean and sigma",
        ),
        _lognormal,
        ("mean", "sd", *QUANTILES),
        ("sigma",),
    ),
    Family(
        "logit-normal",
        "a fraction: normal on the logit scale",
        '{ family = "logit-normal", p10 = 0.36, p90 = 0.48 }',
        (_TWO, "median and sigma", "mu and sigma (of the logit)"),
        _logit_normal,
        QUANTILES,
        ("mu", "sigma"),
        ("support",),
        support=(0.0, 1.0),
    ),
    Family(
        "uniform",
        "equally likely between two ends",
        '{ family = "uniform", low = "30 day", high = "45 day" }',
        ("low and high", _TWO),
        _uniform,
        ("low", "high", *QUANTILES),
    ),
    Family(
        "loguniform",
        "equally likely orders of magnitude between two ends",
        '{ family = "loguniform", low = "1e12 token", high = "1e13 token" }',
        ("low and high", _TWO),
        _loguniform,
        ("low", "high", *QUANTILES),
    ),
    Family(
        "triangular",
        "straight sides up to a mode",
        '{ family = "triangular", low = 0.3, mode = 0.4, high = 0.5 }',
        ("low, mode and high", "three quantiles", "two quantiles and the mode"),
        _triangular,
        ("low", "mode", "high", *QUANTILES),
    ),
    Family(
        "pert",
        "smooth three-point estimate: a beta of shape 4, mean (low + 4 mode + high) / 6",
        '{ family = "pert", low = "20 day", mode = "25 day", high = "60 day" }',
        ("low, mode and high", "three quantiles", "two quantiles and the mode"),
        _pert,
        ("low", "mode", "high", *QUANTILES),
    ),
    Family(
        "beta",
        "between two ends, by default a fraction",
        '{ family = "beta", p10 = 0.36, p90 = 0.48 }',
        ("alpha and beta", "mean and sd", _TWO),
        _beta,
        ("mean", "sd", *QUANTILES),
        ("alpha", "beta"),
        ("support",),
        support=(0.0, 1.0),
    ),
    Family(
        "gamma",
        "positive, reaches zero, lighter tail than lognormal",
        '{ family = "gamma", mean = "10 %", sd = "6 %" }',
        ("shape and scale", "mean and sd", _TWO),
        _gamma,
        ("mean", "sd", "scale", *QUANTILES),
        ("shape",),
        ("support",),
        support=(0.0, math.inf),
    ),
    Family(
        "student-t",
        "symmetric with heavy tails",
        '{ family = "student-t", df = 4, p10 = 0.35, p90 = 0.45, truncate = [0, 1] }',
        ("df, mean (or median) and scale", "df and two quantiles"),
        _student_t,
        ("mean", "scale", *QUANTILES),
        ("df",),
    ),
    Family(
        "jqpd",
        "any P10, P50 and P90 on a stated support, honoured exactly",
        '{ family = "jqpd", p10 = 0.36, p50 = 0.43, p90 = 0.48, support = [0, 1] }',
        ("p50, two quantiles at the same distance from it such as p10 and p90, and support",),
        _jqpd,
        QUANTILES,
        (),
        ("support",),
    ),
    Family(
        "poisson",
        "a count of independent events",
        '{ family = "poisson", mean = 12 }',
        ("mean", "one quantile"),
        _poisson,
        ("mean", *QUANTILES),
    ),
    Family(
        "negative-binomial",
        "a count of events whose rate is itself uncertain",
        '{ family = "negative-binomial", mean = 12, sd = 6 }',
        ("mean and sd", "mean and dispersion (variance = mean + dispersion mean^2)", _TWO),
        _negative_binomial,
        ("mean", "sd", *QUANTILES),
        ("dispersion",),
    ),
    Family(
        "choice",
        "one of several values",
        '{ family = "choice", values = [1024, 2048], weights = [0.3, 0.7] }',
        ("values and weights", "values and odds"),
        _choice,
        (),
        (),
        ("values", "weights", "odds"),
    ),
    Family(
        "mixture",
        "one of several beliefs",
        '{ family = "mixture", components = [{ family = "normal", mean = 0.4, sd = 0.02 }, 0.3], odds = [9, 1] }',
        ("components and weights", "components and odds"),
        _mixture,
        (),
        (),
        ("weights", "odds"),
        ("components",),
    ),
    Family(
        "empirical",
        "measured values, joined by straight lines",
        '{ family = "empirical", file = "mfu.csv", column = "mfu" }',
        ("file and column, and unit where the column has one", "values"),
        _empirical,
        (),
        (),
        ("values",),
        (),
        ("file", "column", "unit"),
    ),
)

FAMILIES: Mapping[str, Family] = MappingProxyType({family.name: family for family in _FAMILIES})
