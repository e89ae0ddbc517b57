"""Families on a bounded interval: uniform, loguniform, triangular, beta and PERT."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betaincinv, ndtr

from uncertain_botec.distributions.base import Distribution, Floats, Support, TailScored
from uncertain_botec.distributions.level import Level, special


class Bounded(Distribution):
    """A distribution on [low, high]."""

    low: float
    high: float

    @property
    def support(self) -> Support:
        return (self.low, self.high)

    def inside(self, x: Any) -> Any:
        """x moved into the support, where the formulas hold and outside of which probabilities are constant."""
        return x.__array_namespace__().clip(x, self.low, self.high)


@dataclass(frozen=True)
class Uniform(Bounded, TailScored):
    """x = low + (high - low) u."""

    low: float
    high: float
    family: ClassVar[str] = "uniform"

    def tails(self, x: Any) -> tuple[Any, Any]:
        width, inside = self.high - self.low, self.inside(x)
        return (inside - self.low) / width, (self.high - inside) / width

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
class LogUniform(Bounded, TailScored):
    """ln x is uniform: x = low (high / low)^u."""

    low: float
    high: float
    family: ClassVar[str] = "loguniform"

    def _logs(self, like: Any) -> tuple[Any, Any]:
        """ln low and ln high; their difference holds where the ratio of the ends overflows."""
        xp = like.__array_namespace__()
        return xp.log(xp.asarray(self.low, dtype=like.dtype)), xp.log(xp.asarray(self.high, dtype=like.dtype))

    def tails(self, x: Any) -> tuple[Any, Any]:
        xp = x.__array_namespace__()
        inside, (log_low, log_high) = self.inside(x), self._logs(x)
        near_low = inside < xp.exp(0.5 * (log_low + log_high))
        # The smaller of ln x - ln low and ln high - ln x: close to an end a difference of logarithms would cancel.
        excess, base = xp.where(near_low, inside - self.low, self.high - inside), xp.where(near_low, self.low, inside)
        share = xp.log1p(excess / base) / (log_high - log_low)
        return xp.where(near_low, share, 1.0 - share), xp.where(near_low, 1.0 - share, share)

    def quantile(self, level: Level) -> Any:
        xp = level.u.__array_namespace__()
        log_low, log_high = self._logs(level.u)
        return xp.clip(xp.exp(log_low + level.u * (log_high - log_low)), self.low, self.high)

    def mean(self) -> float:
        return (self.high - self.low) / (math.log(self.high) - math.log(self.low))

    def sd(self) -> float:
        second = 0.5 * (self.high - self.low) * (self.high + self.low) / (math.log(self.high) - math.log(self.low))
        return math.sqrt(max(0.0, second - self.mean() ** 2))

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        return dist.LogUniform(self.low, self.high)


@dataclass(frozen=True)
class Triangular(Bounded, TailScored):
    """The triangular density on [low, high] with its peak at `mode`, which may be an end.

    With w = high - low: x = low + sqrt(u w (mode - low)) below the mode, and above it
    x = high - sqrt((1 - u) w (high - mode)), where 1 - u = Phi(-z) keeps its relative precision.
    """

    low: float
    mode: float
    high: float
    family: ClassVar[str] = "triangular"

    def tails(self, x: Any) -> tuple[Any, Any]:
        xp = x.__array_namespace__()
        inside, width = self.inside(x), self.high - self.low
        left, right = self.mode - self.low, self.high - self.mode
        rising = inside < self.mode
        # On the leg that x is on: the mass between x and the end, and the rest, which is a sum of positive terms.
        distance = xp.where(rising, inside - self.low, self.high - inside)
        to_mode = xp.where(rising, self.mode - inside, inside - self.mode)
        leg, other = xp.where(rising, left, right), xp.where(rising, right, left)
        # A leg of length 0 holds its end only, and no mass.
        leg = xp.where(leg > 0, leg, 1.0)
        outer = distance**2 / (width * leg)
        inner = (other + to_mode * (1.0 + distance / leg)) / width
        return xp.where(rising, outer, inner), xp.where(rising, inner, outer)

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
        width, inside = self.high - self.low, self.inside(np.asarray(x, dtype=np.float64))
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
