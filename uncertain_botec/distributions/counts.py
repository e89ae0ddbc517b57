"""Whole-number families: Poisson and negative binomial.

Their cumulative probabilities P(K < a) at a = 1, 2, ... are restrictions of functions smooth in a > 0.
`count_extension` is the continuous distribution with that cumulative probability; the count is its value rounded up,
less one, so that a table of the extension serves any mean, however large, and needs no entry per atom.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc

from uncertain_botec.distributions.base import Distribution, Floats, Support
from uncertain_botec.distributions.inverse import SMALLEST, invert
from uncertain_botec.distributions.level import Level
from uncertain_botec.distributions.tailed import gamma_tails


class Count(Distribution):
    """A distribution on 0, 1, 2, ..."""

    closed_form: ClassVar[bool] = False

    @property
    def discrete(self) -> bool:
        return True

    @property
    def support(self) -> Support:
        return (0.0, math.inf)

    @abstractmethod
    def tails(self, a: Floats) -> tuple[Floats, Floats]:
        """P(K < a) and P(K >= a), continued to real a > 0."""

    @property
    @abstractmethod
    def rarity_scale(self) -> float:
        """b of Bernstein's bound: K exceeds mean + sqrt(2 sd^2 t) + b t with probability exp(-t) at most."""

    def cdf(self, x: ArrayLike) -> Floats:
        return self.count_extension().cdf(np.floor(x) + 1.0)

    def sf(self, x: ArrayLike) -> Floats:
        return self.count_extension().sf(np.floor(x) + 1.0)

    def quantile(self, level: Level) -> Any:
        return whole(self.count_extension().quantile(level))

    def count_extension(self) -> CountExtension:
        return CountExtension(self)


@dataclass(frozen=True)
class CountExtension(Distribution):
    """The continuous distribution on (0, inf) whose value, rounded up and less one, is a count."""

    count: Count
    family: ClassVar[str] = "count extension"
    closed_form: ClassVar[bool] = False

    @property
    def support(self) -> Support:
        return (0.0, math.inf)

    def cdf(self, x: ArrayLike) -> Floats:
        return np.where(np.asarray(x) > 0.0, self.count.tails(np.maximum(x, SMALLEST))[0], 0.0)

    def sf(self, x: ArrayLike) -> Floats:
        return np.where(np.asarray(x) > 0.0, self.count.tails(np.maximum(x, SMALLEST))[1], 1.0)

    def quantile(self, level: Level) -> Any:
        mean, sd = self.count.mean(), self.count.sd()
        t = 0.5 * np.asarray(level.z) ** 2 + 6.0
        spread = np.sqrt(2.0 * t) * sd
        low, high = mean - spread, mean + spread + self.count.rarity_scale * t + 2.0
        # Below a = 1e-30 lies less than Phi(-8.3), and all of it is a count of 0.
        return invert(self, level.z, np.maximum(low, 1e-30), high, log=bool(np.any(low < 1.0)))

    def to_numpyro(self) -> Any:
        return self.count.to_numpyro()


@dataclass(frozen=True)
class Poisson(Count):
    """P(K < a) = Q(a, rate), the regularised upper incomplete gamma function."""

    rate: float
    family: ClassVar[str] = "poisson"

    def tails(self, a: Floats) -> tuple[Floats, Floats]:
        at_least, below = gamma_tails(a, self.rate)
        return below, at_least

    @property
    def rarity_scale(self) -> float:
        return 1.0

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

    P(K < a) = I_p(shape, a) with p = shape / (shape + rate).
    """

    rate: float
    shape: float
    family: ClassVar[str] = "negative-binomial"

    def tails(self, a: Floats) -> tuple[Floats, Floats]:
        p, q = self.shape / (self.shape + self.rate), self.rate / (self.shape + self.rate)
        if p < 0.5:  # The smaller of p and q = 1 - p is the one known to full relative precision.
            return betainc(self.shape, a, p), betaincc(self.shape, a, p)
        return betaincc(a, self.shape, q), betainc(a, self.shape, q)

    @property
    def rarity_scale(self) -> float:
        return 1.0 + self.rate / self.shape

    def mean(self) -> float:
        return self.rate

    def sd(self) -> float:
        return math.sqrt(self.rate + self.rate**2 / self.shape)

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        return dist.NegativeBinomial2(self.rate, self.shape)


def whole(a: Any) -> Any:
    """The count that a value of its extension stands for."""
    xp = a.__array_namespace__()
    return xp.maximum(xp.ceil(a) - 1.0, 0.0)
