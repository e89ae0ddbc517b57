"""Families on a bounded interval: uniform, loguniform, triangular, beta and PERT."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betaincinv, ndtr

from uncertain_botec.distributions.base import Distribution, Floats, Support
from uncertain_botec.distributions.level import Level, special


class Bounded(Distribution):
    """A distribution on [low, high]."""

    low: float
    high: float

    @property
    def support(self) -> Support:
        return (self.low, self.high)

    def inside(self, x: ArrayLike) -> Floats:
        """x moved into the support, where the formulas hold and outside of which probabilities are constant."""
        return np.clip(np.asarray(x, dtype=np.float64), self.low, self.high)


@dataclass(frozen=True)
class Uniform(Bounded):
    """x = low + (high - low) u."""

    low: float
    high: float
    family: ClassVar[str] = "uniform"

    def cdf(self, x: ArrayLike) -> Floats:
        return (self.inside(x) - self.low) / (self.high - self.low)

    def sf(self, x: ArrayLike) -> Floats:
        return (self.high - self.inside(x)) / (self.high - self.low)

    def quantile(self, level: Level) -> Any:
        xp = level.u.__array_namespace__()
        return xp.clip(self.low + (self.high - self.low) * level.u, self.low, self.high)

    def mean(self) -> float:
        return 0.5 * (self.low + self.high)

    def sd(self) -> float:
        return (self.high - self.low) / math.sqrt(12.0)

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        return dist.Uniform(self.low, self.high)


@dataclass(frozen=True)
class LogUniform(Bounded):
    """ln x is uniform: x = low (high / low)^u."""

    low: float
    high: float
    family: ClassVar[str] = "loguniform"

    def cdf(self, x: ArrayLike) -> Floats:
        return np.asarray((np.log(self.inside(x)) - math.log(self.low)) / (math.log(self.high) - math.log(self.low)))

    def sf(self, x: ArrayLike) -> Floats:
        return np.asarray((math.log(self.high) - np.log(self.inside(x))) / (math.log(self.high) - math.log(self.low)))

    def quantile(self, level: Level) -> Any:
        xp = level.u.__array_namespace__()
        # A difference of logarithms: the ratio itself overflows for ranges that float64 holds.
        logs = xp.log(xp.asarray(self.low, dtype=level.u.dtype)), xp.log(xp.asarray(self.high, dtype=level.u.dtype))
        return xp.clip(xp.exp(logs[0] + level.u * (logs[1] - logs[0])), self.low, self.high)

    def mean(self) -> float:
        return (self.high - self.low) / (math.log(self.high) - math.log(self.low))

    def sd(self) -> float:
        second = 0.5 * (self.high - self.low) * (self.high + self.low) / (math.log(self.high) - math.log(self.low))
        return math.sqrt(max(0.0, second - self.mean() ** 2))

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        return dist.LogUniform(self.low, self.high)


@dataclass(frozen=True)
class Triangular(Bounded):
    """The triangular density on [low, high] with its peak at `mode`, which may be an end.

    With w = high - low: x = low + sqrt(u w (mode - low)) below the mode, and above it
    x = high - sqrt((1 - u) w (high - mode)), where 1 - u = Phi(-z) keeps its relative precision.
    """

    low: float
    mode: float
    high: float
    family: ClassVar[str] = "triangular"

    def cdf(self, x: ArrayLike) -> Floats:
        return self._tail(self.inside(x) - self.low, self.mode - self.low)

    def sf(self, x: ArrayLike) -> Floats:
        return self._tail(self.high - self.inside(x), self.high - self.mode)

    def _tail(self, distance: Floats, leg: float) -> Floats:
        """The mass within `distance` of an end that lies `leg` from the mode."""
        width = self.high - self.low
        rising = distance**2 / (width * leg) if leg > 0 else np.zeros_like(distance)
        falling = 1.0 - (width - distance) ** 2 / (width * (width - leg)) if leg < width else np.ones_like(distance)
        return np.where(distance < leg, rising, falling)

    def quantile(self, level: Level) -> Any:
        xp = level.u.__array_namespace__()
        width = self.high - self.low
        above = special(xp).ndtr(-level.z)
        rising = self.low + xp.sqrt(level.u * width * (self.mode - self.low))
        falling = self.high - xp.sqrt(above * width * (self.high - self.mode))
        return xp.clip(xp.where(level.u * width < self.mode - self.low, rising, falling), self.low, self.high)

    def mean(self) -> float:
        return (self.low + self.mode + self.high) / 3.0

    def sd(self) -> float:
        left, right = self.mode - self.low, self.high - self.mode
        return math.sqrt((left * left + left * right + right * right) / 18.0)

    def to_numpyro(self) -> Any:
        from uncertain_botec.distributions.numpyro_forms import elicited

        return elicited(self)

    def log_density(self, x: Any) -> Any:
        """ln f(x) inside the support: f rises in a straight line to 2 / (high - low) at the mode and falls likewise."""
        xp = x.__array_namespace__()
        left, right = self.mode - self.low, self.high - self.mode
        # A leg of length 0 has no points, only a formula that must not divide by it.
        height = xp.where(x < self.mode, (x - self.low) / (left or 1.0), (self.high - x) / (right or 1.0))
        return xp.log(height) + math.log(2.0 / (left + right))


@dataclass(frozen=True)
class Beta(Bounded):
    """(x - low) / (high - low) follows Beta(alpha, beta)."""

    alpha: float
    beta: float
    low: float = 0.0
    high: float = 1.0
    family: ClassVar[str] = "beta"
    closed_form: ClassVar[bool] = False

    def cdf(self, x: ArrayLike) -> Floats:
        return self._tails(x)[0]

    def sf(self, x: ArrayLike) -> Floats:
        return self._tails(x)[1]

    def _tails(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """Both tails, from the distance to the nearer end, which keeps its relative precision."""
        width, inside = self.high - self.low, self.inside(x)
        below, above = (inside - self.low) / width, (self.high - inside) / width
        return (
            np.where(below < 0.5, betainc(self.alpha, self.beta, below), betaincc(self.beta, self.alpha, above)),
            np.where(below < 0.5, betaincc(self.alpha, self.beta, below), betainc(self.beta, self.alpha, above)),
        )

    def quantile(self, level: Level) -> Any:
        width = self.high - self.low
        from_low = self.low + width * betaincinv(self.alpha, self.beta, level.u)
        from_high = self.high - width * betaincinv(self.beta, self.alpha, ndtr(-level.z))
        return np.clip(np.where(level.z < 0, from_low, from_high), self.low, self.high)

    def mean(self) -> float:
        share = self.alpha / (self.alpha + self.beta)
        return self.low + (self.high - self.low) * share

    def sd(self) -> float:
        total = self.alpha + self.beta
        return (self.high - self.low) * math.sqrt(self.alpha / total * self.beta / total / (total + 1.0))

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist
        from numpyro.distributions import transforms

        scaled = transforms.AffineTransform(self.low, self.high - self.low, domain=dist.constraints.unit_interval)
        return dist.TransformedDistribution(dist.Beta(self.alpha, self.beta), scaled)


@dataclass(frozen=True)
class Pert(Bounded):
    """The textbook PERT: a beta on [low, high] with its peak at `mode`.

    alpha = 1 + shape (mode - low) / (high - low), beta = 1 + shape (high - mode) / (high - low), so that the mean
    is (low + shape mode + high) / (shape + 2). (Malcolm et al. 1959 with shape 4; the variant that fixes the
    standard deviation at a sixth of the range is another distribution.)
    """

    low: float
    mode: float
    high: float
    shape: float = 4.0
    family: ClassVar[str] = "pert"
    closed_form: ClassVar[bool] = False

    @property
    def as_beta(self) -> Beta:
        """The same distribution by its beta parameters."""
        width = self.high - self.low
        left, right = (self.mode - self.low) / width, (self.high - self.mode) / width
        return Beta(1.0 + self.shape * left, 1.0 + self.shape * right, self.low, self.high)

    def cdf(self, x: ArrayLike) -> Floats:
        return self.as_beta.cdf(x)

    def sf(self, x: ArrayLike) -> Floats:
        return self.as_beta.sf(x)

    def quantile(self, level: Level) -> Any:
        return self.as_beta.quantile(level)

    def mean(self) -> float:
        return (self.low + self.shape * self.mode + self.high) / (self.shape + 2.0)

    def sd(self) -> float:
        return self.as_beta.sd()

    def to_numpyro(self) -> Any:
        return self.as_beta.to_numpyro()
