"""Point masses and the families whose normal score is affine in x, ln x or logit x."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from uncertain_botec.distributions.base import Distribution, Floats, NormalScored, Support
from uncertain_botec.distributions.bounded import Uniform
from uncertain_botec.distributions.level import Level, safe_log


@dataclass(frozen=True)
class Fixed(Distribution):
    """A point mass: a value known exactly."""

    value: float
    family: ClassVar[str] = "fixed"

    @property
    def discrete(self) -> bool:
        return True

    @property
    def support(self) -> Support:
        return (self.value, self.value)

    def cdf(self, x: ArrayLike) -> Floats:
        return np.where(np.asarray(x) >= self.value, 1.0, 0.0)

    def sf(self, x: ArrayLike) -> Floats:
        return np.where(np.asarray(x) >= self.value, 0.0, 1.0)

    def quantile(self, level: Level) -> Any:
        return level.u.__array_namespace__().full_like(level.u, self.value)

    def mean(self) -> float:
        return self.value

    def sd(self) -> float:
        return 0.0

    def atoms(self) -> tuple[tuple[float, float], ...]:
        return ((self.value, 1.0),)

    def count_extension(self) -> Distribution | None:
        whole = self.value >= 0 and self.value == math.floor(self.value)
        return Uniform(self.value, self.value + 1.0) if whole else None

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        return dist.Delta(self.value)


@dataclass(frozen=True)
class Normal(NormalScored):
    """x = loc + scale z."""

    loc: float
    scale: float
    family: ClassVar[str] = "normal"

    @property
    def support(self) -> Support:
        return (-math.inf, math.inf)

    def score(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def quantile(self, level: Level) -> Any:
        return self.loc + self.scale * level.z

    def mean(self) -> float:
        return self.loc

    def sd(self) -> float:
        return self.scale

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        return dist.Normal(self.loc, self.scale)


@dataclass(frozen=True)
class LogNormal(NormalScored):
    """ln x = ln median + sigma z: `sigma` is the standard deviation of ln x, `median` is in x's own unit."""

    median: float
    sigma: float
    family: ClassVar[str] = "lognormal"

    @property
    def support(self) -> Support:
        return (0.0, math.inf)

    def score(self, x: Any) -> Any:
        xp = x.__array_namespace__()
        return (safe_log(x) - xp.log(xp.asarray(self.median, dtype=x.dtype))) / self.sigma

    def quantile(self, level: Level) -> Any:
        xp = level.z.__array_namespace__()
        return self.median * xp.exp(self.sigma * level.z)

    def mean(self) -> float:
        return self.median * math.exp(0.5 * self.sigma**2)

    def sd(self) -> float:
        return self.mean() * math.sqrt(math.expm1(self.sigma**2))

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        return dist.LogNormal(math.log(self.median), self.sigma)


@dataclass(frozen=True)
class LogitNormal(NormalScored):
    """logit((x - low) / (high - low)) = mu + sigma z."""

    mu: float
    sigma: float
    low: float = 0.0
    high: float = 1.0
    family: ClassVar[str] = "logit-normal"

    @property
    def support(self) -> Support:
        return (self.low, self.high)

    def score(self, x: Any) -> Any:
        # The two logarithms are infinite with opposite signs, so that the difference is never nan.
        return (safe_log(x - self.low) - safe_log(self.high - x) - self.mu) / self.sigma

    def quantile(self, level: Level) -> Any:
        xp = level.z.__array_namespace__()
        logit = self.mu + self.sigma * level.z
        fraction = xp.exp(-xp.logaddexp(xp.zeros_like(logit), -logit))
        return xp.clip(self.low + (self.high - self.low) * fraction, self.low, self.high)

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist
        from numpyro.distributions import transforms

        scaled = transforms.AffineTransform(self.low, self.high - self.low, domain=dist.constraints.unit_interval)
        return dist.TransformedDistribution(dist.Normal(self.mu, self.sigma), [transforms.SigmoidTransform(), scaled])
