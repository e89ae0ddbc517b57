"""How each family's member is found from what is stated; None where that is none of the family's spellings.

Every constructor takes the stated parameters, the stated quantiles by level, and the ends of the support. Keys are
known, values finite and quantiles in order before it is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

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

Points: TypeAlias = tuple[tuple[float, float], ...]
"""Stated quantiles: pairs of level and value, by level."""

Ends: TypeAlias = tuple[float, float]
Parameters: TypeAlias = Mapping[str, Any]


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


def of_fixed(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """A value that is known."""
    if set(parameters) != {"value"}:
        return None
    return Fixed(float(parameters["value"]))


def of_normal(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """loc and scale, or the line through two quantiles: x = loc + scale z."""
    centred = _with_mean(parameters, points)
    match sorted(parameters.keys() - {"mean"}), len(centred):
        case ["sd"], 1 if centred[0][0] == 0.5:
            _positive(parameters, "sd")
            return Normal(centred[0][1], parameters["sd"])
        case [], count if count >= 2:
            return Normal(*_line(centred, _score, _identity))
    return None


def of_lognormal(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """ln x = ln median + sigma z, from quantiles, from sigma, or from the mean and standard deviation of x itself."""
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
    return None


def of_logit_normal(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """logit of the fraction = mu + sigma z."""
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
    return None


def _with_ends(parameters: Parameters, points: Points) -> Points:
    """`low` and `high` are the quantiles at 0 and 1."""
    low = ((0.0, parameters["low"]),) if "low" in parameters else ()
    high = ((1.0, parameters["high"]),) if "high" in parameters else ()
    return (*low, *points, *high)


def of_uniform(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """The line through two quantiles, of which `low` and `high` are those at 0 and 1."""
    stated = _with_ends(parameters, points)
    if len(stated) < 2:
        return None
    low, width = _line(stated, _identity, _identity)
    # Stated ends are kept to the last digit.
    return Uniform(parameters.get("low", low), parameters.get("high", low + width))


def of_loguniform(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """As a uniform of ln x."""
    stated = _with_ends(parameters, points)
    _above_zero(
        "loguniform", [*((key, parameters[key]) for key in ("low", "high") if key in parameters), *_named(points)]
    )
    if len(stated) < 2:
        return None
    low, width = _line(stated, _identity, math.log)
    return LogUniform(parameters.get("low", math.exp(low)), parameters.get("high", math.exp(low + width)))


def _three_point(
    name: str, kind: type[Triangular] | type[Pert], parameters: Parameters, points: Points
) -> Distribution | None:
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
        return None
    (first, x1), (last, x3) = stated[0], stated[-1]
    c = mode_by_quantiles(name, kind, stated) if mode is None else mode_by_mode(name, kind, stated, mode)
    q1, q3 = (standard_quantile(kind, c, level) for level in (first, last))
    width = (x3 - x1) / (q3 - q1)
    low = x1 - width * q1
    low, high = parameters.get("low", low), parameters.get("high", low + width)
    return kind(low, mode if mode is not None else min(max(low + c * (high - low), low), high), high)


def of_triangular(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """low, mode and high, or three quantiles, or two and the mode."""
    return _three_point("triangular", Triangular, parameters, points)


def of_pert(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """As the triangular, with a beta of shape 4."""
    return _three_point("pert", Pert, parameters, points)


def of_beta(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """alpha and beta; mean and sd by alpha + beta = mean (1 - mean) / sd^2 - 1 on [0, 1]; or two quantiles."""
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
    return None


def of_gamma(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """shape and scale; mean and sd by shape = (mean / sd)^2; or two quantiles."""
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
    return None


def of_student_t(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """df with location and scale, or with two quantiles."""
    if "df" not in parameters:
        return None
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
    return None


def _t_score(df: float, level: float) -> float:
    return 0.0 if level == 0.5 else float(stdtrit(df, level))


def of_jqpd(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """Three quantiles at a, 50 and 100 - a percent."""
    levels = [level for level, _ in points]
    if parameters or len(points) != 3 or levels[1] != 0.5 or not math.isclose(levels[0] + levels[2], 1.0):
        return None
    low, high = ends
    if math.isinf(low) and math.isinf(high):
        raise ElicitationError(
            "a jqpd states its support", key="support", got="none", expected="support = [0, 1], or one end of it inf"
        )
    first, middle, last = (value for _, value in points)
    kind = JqpdHalfBounded if math.isinf(low) or math.isinf(high) else JqpdBounded
    return kind.of(levels[0], (first, middle, last), low, high)


def of_poisson(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """The rate, or one quantile."""
    match sorted(parameters), len(points):
        case ["mean"], 0:
            _positive(parameters, "mean")
            return Poisson(parameters["mean"])
        case [], 1:
            return Poisson(poisson_rate(*points[0]))
    return None


def of_negative_binomial(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """mean with sd^2 = mean + dispersion mean^2, or two quantiles."""
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
    return None


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


def of_choice(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """Values with their probabilities."""
    values = parameters.get("values", ())
    if not values:
        return None
    return choice(values, _shares(parameters, len(values)))


def of_mixture(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """Components with their probabilities."""
    components = parameters.get("components", ())
    if not components:
        return None
    kinds = {component.family for component in components if component.discrete}
    if not kinds <= {"fixed", "choice"} and any(component.count_extension() is None for component in components):
        raise ElicitationError(
            "a mixture of counts and continuous values is neither",
            key="components",
            got=", ".join(component.family for component in components),
            expected="counts (and whole values) only, or continuous families (and fixed values) only",
        )
    return mixture(components, _shares(parameters, len(components)))


def of_empirical(parameters: Parameters, points: Points, ends: Ends) -> Distribution | None:
    """Measured values."""
    values = sorted(float(value) for value in parameters.get("values", ()))
    if not values:
        return None
    return Fixed(values[0]) if values[0] == values[-1] else Empirical(tuple(values))
