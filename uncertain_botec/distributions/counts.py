"""Whole-number families: Poisson and negative binomial.

Their cumulative probabilities are restrictions to whole k of functions smooth in k. `count_extension` is the
continuous distribution on (-1, inf) with that cumulative probability; the count is its value rounded up, so that
a table of the extension serves any mean, however large, and needs no entry per atom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from uncertain_botec.distributions.base import Distribution, Floats, Support
from uncertain_botec.distributions.inverse import invert
from uncertain_botec.distributions.level import Level
from uncertain_botec.distributions.tailed import gamma_tails


class Count(Distribution):
    """A distribution on 0, 1, 2, ... given by its tails at any real k > -1."""

    closed_form: ClassVar[bool] = False

    @property
    def discrete(self) -> bool:
        return True

    @property
    def support(self) -> Support:
        return (0.0, math.inf)

    def tails(self, k: Floats) -> tuple[Floats, Floats]:
        """P(K <= k) and P(K > k), continued to real k."""
        raise NotImplementedError

    def tail_bound(self, z: Floats) -> Floats:
        """A k beyond the quantile at z > 0: mean + sqrt(2 v t) + b t with exp(-t) below Phi(-z) (Bernstein)."""
        raise NotImplementedError

    def cdf(self, x: ArrayLike) -> Floats:
        return self.count_extension().cdf(np.floor(x))

    def sf(self, x: ArrayLike) -> Floats:
        return self.count_extension().sf(np.floor(x))

    def quantile(self, level: Level) -> Floats:
        return np.maximum(np.ceil(self.count_extension().quantile(level)), 0.0)

    def count_extension(self) -> CountExtension:
        return CountExtension(self)


@dataclass(frozen=True)
class CountExtension(Distribution):
    """The continuous distribution on (-1, inf) that rounds up to a count."""

    count: Count
    family: ClassVar[str] = "count extension"
    closed_form: ClassVar[bool] = False

    @property
    def support(self) -> Support:
        return (-1.0, math.inf)

    def cdf(self, x: ArrayLike) -> Floats:
        return np.where(np.asarray(x) > -1.0, self.count.tails(self._inside(x))[0], 0.0)

    def sf(self, x: ArrayLike) -> Floats:
        return np.where(np.asarray(x) > -1.0, self.count.tails(self._inside(x))[1], 1.0)

    @staticmethod
    def _inside(x: ArrayLike) -> Floats:
        return np.maximum(np.asarray(x, dtype=np.float64), math.nextafter(-1.0, 0.0))

    def quantile(self, level: Level) -> Floats:
        return invert(self, level.z, -1.0, self.count.tail_bound(np.asarray(level.z)))

    def to_numpyro(self) -> Any:
        return self.count.to_numpyro()


@dataclass(frozen=True)
class Poisson(Count):
    """P(K <= k) = Q(k + 1, rate), the regularised upper incomplete gamma function."""

    rate: float
    family: ClassVar[str] = "poisson"

    def tails(self, k: Floats) -> tuple[Floats, Floats]:
        above, at_most = gamma_tails(k + 1.0, self.rate)
        return at_most, above

    def tail_bound(self, z: Floats) -> Floats:
        return _bernstein(z, self.rate, self.rate, 1.0)

    def mean(self) -> float:
        return self.rate

    def sd(self) -> float:
        return math.sqrt(self.rate)

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        return dist.Poisson(self.rate)


@dataclass(frozen=True)
class NegativeBinomial(Count):
    """A Poisson whose rate follows a gamma of mean `rate` and shape `shape`: sd^2 = rate + rate^2 / shape.

    P(K <= k) = I_p(shape, k + 1) with p = shape / (shape + rate).
    """

    rate: float
    shape: float
    family: ClassVar[str] = "negative-binomial"

    def tails(self, k: Floats) -> tuple[Floats, Floats]:
        total = self.shape + self.rate
        return (
            betainc(self.shape, k + 1.0, self.shape / total),
            betainc(k + 1.0, self.shape, self.rate / total),
        )

    def tail_bound(self, z: Floats) -> Floats:
        return _bernstein(z, self.rate, self.sd() ** 2, 1.0 + self.rate / self.shape)

    def mean(self) -> float:
        return self.rate

    def sd(self) -> float:
        return math.sqrt(self.rate + self.rate**2 / self.shape)

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        return dist.NegativeBinomial2(self.rate, self.shape)


def _bernstein(z: Floats, mean: float, variance: float, scale: float) -> Floats:
    t = 0.5 * np.maximum(z, 0.0) ** 2 + 6.0
    return mean + np.sqrt(2.0 * variance * t) + scale * t + 1.0
