"""The quantile equations without a closed form: bracketed roots, so that a solution is found if there is one."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import betainc, betaincinv, gammaincc, gammainccinv, gammaincinv

from uncertain_botec.distributions.bounded import Pert, Triangular
from uncertain_botec.errors import ElicitationError

Point = tuple[float, float]
"""A stated quantile: its level and its value."""

# How far from zero an equation may be at the end of its bracket to be solved there, by rounding.
_EQUAL = 1e-10


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """The root in a bracket, to the resolution of float64."""
    from scipy.optimize import brentq  # a third of this package's import time, and closed forms need none of it

    at_low, at_high = function(low), function(high)
    if abs(at_low) <= _EQUAL or abs(at_high) <= _EQUAL:
        return low if abs(at_low) <= abs(at_high) else high
    if at_low * at_high > 0:
        raise ElicitationError(
            "no member of the family reaches these quantiles",
            expected="values neither next to each other nor many orders of magnitude apart",
            fix="family normal honours quantiles close together, lognormal those far apart",
        )
    return float(brentq(function, low, high, xtol=1e-300, rtol=8.9e-16, maxiter=500))


def _crossing(function: Callable[[float], float]) -> tuple[float, float] | None:
    """A bracket in [0, 1]; levels on one side of the median make a function of the mode that rises and falls."""
    places = [step / 64 for step in range(65)]
    values = [function(place) for place in places]
    for left, right, before, after in zip(places, places[1:], values, values[1:], strict=False):
        if before * after <= 0 or min(abs(before), abs(after)) <= _EQUAL:
            return left, right
    return None


def standard_quantile(kind: type[Triangular] | type[Pert], mode: float, level: float) -> float:
    """The quantile of the shape on [0, 1] with its mode at `mode`."""
    if level in (0.0, 1.0):
        return level
    if kind is Triangular:
        return math.sqrt(level * mode) if level < mode else 1 - math.sqrt((1 - level) * (1 - mode))
    return float(betaincinv(1 + 4 * mode, 5 - 4 * mode, level))


def mode_by_quantiles(name: str, kind: type[Triangular] | type[Pert], points: tuple[Point, ...]) -> float:
    """Where in [0, 1] the mode lies, from how an inner quantile divides the distance between the outer two."""
    (first, x1), (middle, x2), (last, x3) = points[0], points[len(points) // 2], points[-1]
    wanted = (x2 - x1) / (x3 - x1)

    def excess(mode: float) -> float:
        q1, q2, q3 = (standard_quantile(kind, mode, level) for level in (first, middle, last))
        return (q2 - q1) / (q3 - q1) - wanted

    bracket = _crossing(excess)
    if bracket is None:
        least, most = (x1 + (excess(mode) + wanted) * (x3 - x1) for mode in (0.0, 1.0))
        raise ElicitationError(
            f"no {name} is as skewed as these quantiles",
            got=", ".join(f"p{100 * level:g} = {x:g}" for level, x in points),
            expected=f"a middle value between {least:g} and {most:g}",
            fix="family jqpd honours any P10, P50 and P90 on a stated support",
        )
    return _root(excess, *bracket)


def mode_by_mode(name: str, kind: type[Triangular] | type[Pert], points: tuple[Point, ...], mode: float) -> float:
    """Where in [0, 1] the mode lies, from where it stands between the two stated quantiles."""
    (first, x1), (last, x3) = points[0], points[-1]
    wanted = (mode - x1) / (x3 - x1)

    def excess(c: float) -> float:
        q1, q3 = standard_quantile(kind, c, first), standard_quantile(kind, c, last)
        return (c - q1) / (q3 - q1) - wanted

    bracket = _crossing(excess)
    if bracket is None:
        raise ElicitationError(
            f"no {name} has its mode so far from these quantiles",
            key="mode",
            got=f"mode = {mode:g}, quantiles {x1:g} and {x3:g}",
            expected="a mode nearer to the stated quantiles",
            fix="family jqpd honours any P10, P50 and P90 on a stated support",
        )
    return _root(excess, *bracket)


def gamma_shape(lower: Point, upper: Point, low: float) -> tuple[float, float]:
    """Shape and scale of the gamma through two quantiles: their ratio falls with the shape alone."""
    (p, x), (q, y) = (lower[0], lower[1] - low), (upper[0], upper[1] - low)
    wanted = math.log(y) - math.log(x)

    def log_quantile(shape: float, level: float) -> float:
        value = float(gammaincinv(shape, level)) if level < 0.5 else float(gammainccinv(shape, 1 - level))
        # Below the smallest float64: x^a / (a Gamma(a)) = level, to all digits there.
        return math.log(value) if value > 1e-290 else (math.log(level) + math.lgamma(shape + 1)) / shape

    def excess(log_shape: float) -> float:
        shape = math.exp(log_shape)
        return log_quantile(shape, q) - log_quantile(shape, p) - wanted

    # For a large shape the ratio is 1 + (z_q - z_p) / sqrt(shape), for a small one (q / p)^(1 / shape).
    shape = math.exp(_root(excess, math.log(1e-4), math.log(1e13)))
    # Scaling by the more precise of the two, the one that does not underflow.
    return shape, math.exp(math.log(y) - log_quantile(shape, q))


def beta_through(lower: Point, upper: Point, low: float, high: float) -> tuple[float, float]:
    """Alpha and beta through two quantiles: for every concentration one mean fits the lower, and the upper decides."""
    (p, x), (q, y) = ((level, (value - low) / (high - low)) for level, value in (lower, upper))

    def alpha_beta(log_total: float) -> tuple[float, float]:
        total = math.exp(log_total)

        def excess(logit: float) -> float:
            mean = 1 / (1 + math.exp(-logit))
            return p - float(betainc(mean * total, total / (1 + math.exp(logit)), x))

        logit = _root(excess, -40.0 - abs(log_total), 40.0 + abs(log_total))
        return total / (1 + math.exp(-logit)), total / (1 + math.exp(logit))

    def excess(log_total: float) -> float:
        return float(betainc(*alpha_beta(log_total), y)) - q

    return alpha_beta(_root(excess, math.log(1e-3), math.log(1e13)))


def poisson_rate(level: float, value: float) -> float:
    """The rate with P(K <= value) = level, from P(K <= k) = Q(k + 1, rate)."""
    _whole(value)
    return float(gammainccinv(math.floor(value) + 1, level))


def negative_binomial_through(lower: Point, upper: Point) -> tuple[float, float]:
    """Rate and shape through two quantiles: for every shape one rate fits the lower, and then the upper decides."""
    (p, x), (q, y) = lower, upper
    _whole(x)
    _whole(y)

    def rate(log_shape: float) -> float:
        shape = math.exp(log_shape)

        def excess(log_rate: float) -> float:
            # P(K <= k) = I_r(shape, k + 1) with r = shape / (shape + rate), which falls with the rate.
            return p - float(betainc(shape, math.floor(x) + 1, 1 / (1 + math.exp(log_rate - log_shape))))

        return math.exp(_root(excess, -700.0, 700.0))

    def excess(log_shape: float) -> float:
        shape = math.exp(log_shape)
        return float(betainc(shape, math.floor(y) + 1, 1 / (1 + rate(log_shape) / shape))) - q

    # A small shape reaches the level p at a rate near p^(-1 / shape), which has to stay a float64.
    ends = math.log(-math.log(p) / 600), math.log(1e9)
    if excess(ends[0]) > 0:
        raise ElicitationError(
            "these quantiles are too far apart for a negative binomial",
            got=f"p{100 * p:g} = {x:g}, p{100 * q:g} = {y:g}",
            expected="levels further apart, or values closer together",
        )
    if excess(ends[1]) < 0:
        limit = poisson_rate(p, x)
        raise ElicitationError(
            "a negative binomial spreads more than a Poisson, and these quantiles are closer together",
            got=f"p{100 * p:g} = {x:g}, p{100 * q:g} = {y:g}",
            expected=f"quantiles further apart; a Poisson with p{100 * p:g} = {x:g} has P(K <= {y:g}) = "
            f"{float(gammaincc(math.floor(y) + 1, limit)):.3g}",
        )
    log_shape = _root(excess, *ends)
    return rate(log_shape), math.exp(log_shape)


def _whole(value: float) -> None:
    if value < 0 or value != math.floor(value):
        raise ElicitationError("a count is a whole number", got=f"{value:g}", expected="0, 1, 2, ...")
