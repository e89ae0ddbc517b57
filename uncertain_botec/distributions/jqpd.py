"""Johnson quantile-parameterised distributions: any P_a, P_50, P_(100-a) honoured exactly on a (half-)bounded support.

Source: Hadlock and Bickel, "Johnson Quantile-Parameterized Distributions", Decision Analysis 14(1), 2017, J-QPD-B and
J-QPD-S. With c = Phi^-1(1 - a), and L, B, H the stated values after the map that opens the support (probit of the
fraction for J-QPD-B, logarithm of the distance to the bound for J-QPD-S):

    n = sign(L + H - 2 B),   m = min(B - L, H - B),   r = (H - L) / (2 m) >= 1.

The paper treats n = 0 apart, for lambda is infinite there. Here delta has a floor of 1e-8 instead: the formulas of
n = 1 are then linear in z to rounding, which is the n = 0 case, and no branch remains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy.special import ndtri

from uncertain_botec.distributions.base import NormalScored, Support
from uncertain_botec.distributions.level import Level, open_score, safe_log, special

DELTA_FLOOR = 1e-8


@dataclass(frozen=True)
class JqpdBounded(NormalScored):
    """J-QPD-B: x = low + (high - low) Phi(xi + lam sinh(delta (z + shift)))."""

    xi: float
    lam: float
    delta: float
    shift: float
    low: float
    high: float
    family: ClassVar[str] = "jqpd"

    @classmethod
    def of(cls, level: float, values: tuple[float, float, float], low: float, high: float) -> JqpdBounded:
        """The member with quantiles `values` at `level`, 0.5 and 1 - `level`."""
        # Distances to both ends, so that a value close to the upper one keeps its precision.
        below, middle, above = (_probit((v - low) / (high - low), (high - v) / (high - low)) for v in values)
        c = -float(ndtri(level))
        sign, _, excess = _shape(below, middle, above)
        delta = max(_arccosh1p(excess) / c, DELTA_FLOOR)
        lam = (above - below) / math.sinh(2.0 * delta * c)
        return cls(below if sign > 0 else above, lam, delta, sign * c, low, high)

    @property
    def support(self) -> Support:
        return (self.low, self.high)

    def score(self, x: Any) -> Any:
        xp = x.__array_namespace__()
        width, inside = self.high - self.low, xp.clip(x, self.low, self.high)
        probit = open_score((inside - self.low) / width, (self.high - inside) / width)
        return xp.asinh((probit - self.xi) / self.lam) / self.delta - self.shift

    def quantile(self, level: Level) -> Any:
        xp = level.z.__array_namespace__()
        probit = self.xi + self.lam * xp.sinh(self.delta * (level.z + self.shift))
        return xp.clip(self.low + (self.high - self.low) * special(xp).ndtr(probit), self.low, self.high)

    def to_numpyro(self) -> Any:
        from uncertain_botec.distributions.numpyro_forms import elicited

        return elicited(self)

    def log_density(self, x: Any) -> Any:
        """ln f(x) = ln phi(z) + ln dz/dx inside the support."""
        xp = x.__array_namespace__()
        width = self.high - self.low
        probit = special(xp).ndtri((x - self.low) / width)
        s = (probit - self.xi) / self.lam
        z = xp.asinh(s) / self.delta - self.shift
        # ln phi(z) - ln phi(probit): the normalisations cancel.
        log_ratio = 0.5 * (probit**2 - z**2)
        return log_ratio - 0.5 * xp.log1p(s * s) - math.log(self.delta * self.lam * width)


@dataclass(frozen=True)
class JqpdHalfBounded(NormalScored):
    """J-QPD-S: x = bound + side exp(log_theta + lam sinh(arcsinh(delta side z) + shift)).

    `side` is 1 on [bound, inf), as in the paper, and -1 for the mirror image on (-inf, bound].
    """

    log_theta: float
    lam: float
    delta: float
    shift: float
    bound: float
    side: float
    family: ClassVar[str] = "jqpd"

    @classmethod
    def of(cls, level: float, values: tuple[float, float, float], low: float, high: float) -> JqpdHalfBounded:
        """The member with quantiles `values` at `level`, 0.5 and 1 - `level`; one of `low` and `high` is infinite."""
        bound, side = (low, 1.0) if math.isinf(high) else (high, -1.0)
        below, middle, above = (math.log(abs(v - bound)) for v in values[:: int(side)])
        c = -float(ndtri(level))
        sign, smaller, excess = _shape(below, middle, above)
        # sinh(arccosh(1 + e)) = sqrt(e (e + 2))
        delta = max(math.sqrt(excess * (excess + 2.0)) / c, DELTA_FLOOR)
        shift = math.copysign(math.asinh(c * delta), sign)
        return cls(below if sign > 0 else above, smaller / (delta * c), delta, shift, bound, side)

    @property
    def support(self) -> Support:
        return (self.bound, math.inf) if self.side > 0 else (-math.inf, self.bound)

    def score(self, x: Any) -> Any:
        xp = x.__array_namespace__()
        log_distance = safe_log(self.side * (x - self.bound))
        finite = xp.isfinite(log_distance)
        # Taken where it is finite only: the derivative of sinh at inf is infinite, and 0 times that is nan.
        angle = xp.asinh((xp.where(finite, log_distance, self.log_theta) - self.log_theta) / self.lam) - self.shift
        return self.side * xp.where(finite, xp.sinh(angle) / self.delta, log_distance)

    def quantile(self, level: Level) -> Any:
        xp = level.z.__array_namespace__()
        angle = xp.asinh(self.delta * self.side * level.z) + self.shift
        return self.bound + self.side * xp.exp(self.log_theta + self.lam * xp.sinh(angle))

    def to_numpyro(self) -> Any:
        from uncertain_botec.distributions.numpyro_forms import elicited

        return elicited(self)

    def log_density(self, x: Any) -> Any:
        """ln f(x) = ln phi(z) + ln |dz/dx| inside the support."""
        xp = x.__array_namespace__()
        distance = self.side * (x - self.bound)
        s = (xp.log(distance) - self.log_theta) / self.lam
        angle = xp.asinh(s) - self.shift
        z = xp.sinh(angle) / self.delta
        log_slope = xp.log(xp.cosh(angle)) - 0.5 * xp.log1p(s * s) - xp.log(distance)
        return -0.5 * z**2 + log_slope - math.log(self.delta * self.lam * math.sqrt(2.0 * math.pi))


def _shape(below: float, middle: float, above: float) -> tuple[float, float, float]:
    """n (1 for a tie), m and r - 1 = |L + H - 2 B| / (2 m), of which the last keeps its precision near symmetry."""
    left, right = middle - below, above - middle
    smaller = min(left, right)
    return math.copysign(1.0, right - left), smaller, abs(right - left) / (2.0 * smaller)


def _arccosh1p(excess: float) -> float:
    """arccosh(1 + e), to full relative precision for small e."""
    return math.log1p(excess + math.sqrt(excess * (excess + 2.0)))


def _probit(below: float, above: float) -> float:
    return float(ndtri(below)) if below < 0.5 else -float(ndtri(above))
