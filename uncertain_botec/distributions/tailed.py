"""Families with an exponential or a power tail: gamma and Student's t."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import (
    betainc,
    betaincinv,
    betaln,
    erf,
    erfc,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    ndtr,
    stdtr,
    stdtrit,
)

from uncertain_botec.distributions.base import Distribution, Floats, Support
from uncertain_botec.distributions.inverse import invert
from uncertain_botec.distributions.level import Level

LARGE_SHAPE = 1e6
CENTRE = 0.5
FAR = 1e100
"""From here on the tail of Student's t is a power to rounding; from 1e154 on, where squares overflow, scipy's is 0."""


def gamma_tails(shape: ArrayLike, x: ArrayLike) -> tuple[Floats, Floats]:
    """The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P.

    From a = 1e6, where the series of `scipy.special.gammainc` stops short beyond 4.5 standard deviations, Temme's
    uniform expansion with one term (DLMF 8.12.3-8.12.8): with mu = (x - a) / a and eta = sign(mu)
    sqrt(2 (mu - log1p(mu))),

        Q = Phi(-eta sqrt(a)) + R,   R = exp(-a eta^2 / 2) / sqrt(2 pi a) (1 / mu - 1 / eta) + O(a^-3/2 / 1000).
    """
    a, x = np.broadcast_arrays(np.asarray(shape, dtype=np.float64), np.asarray(x, dtype=np.float64))
    large = a > LARGE_SHAPE
    small_a = np.where(large, 1.0, a)
    small_x = np.where(large, 1.0, x)
    lower, upper = gammainc(small_a, small_x), gammaincc(small_a, small_x)
    if np.any(large):
        big_a, big_x = np.where(large, a, 1.0), np.where(large, np.minimum(x, 1e300), 1.0)
        mu = (big_x - big_a) / big_a
        eta = np.sign(mu) * np.sqrt(2.0 * _log_gap(mu))
        near = np.abs(mu) < 1e-4
        # 1 / mu - 1 / eta = -1/3 + mu / 36 - ... cancels near mu = 0.
        bracket = np.where(
            near, -1.0 / 3.0 + eta / 12.0, 1.0 / np.where(near, 1.0, mu) - 1.0 / np.where(near, 1.0, eta)
        )
        remainder = np.exp(-0.5 * big_a * eta**2) / np.sqrt(2.0 * np.pi * big_a) * bracket
        score = eta * np.sqrt(big_a)
        lower = np.where(large, np.maximum(ndtr(score) - remainder, 0.0), lower)
        upper = np.where(large, np.maximum(ndtr(-score) + remainder, 0.0), upper)
    return lower, upper


def _log_gap(mu: Floats) -> Floats:
    """mu - log1p(mu), by the series of 2 artanh(s) with s = mu / (2 + mu) where the difference cancels."""
    s = mu / (2.0 + mu)
    square = s * s
    series = s * (mu - 2.0 * square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0 + square / 9.0))))
    with np.errstate(divide="ignore"):
        return np.where(np.abs(mu) < 0.05, series, mu - np.log1p(mu))


@dataclass(frozen=True)
class Gamma(Distribution):
    """(x - low) / scale follows the gamma distribution of `shape`."""

    shape: float
    scale: float
    low: float = 0.0
    family: ClassVar[str] = "gamma"
    closed_form: ClassVar[bool] = False

    @property
    def support(self) -> Support:
        return (self.low, math.inf)

    def _standard(self, x: ArrayLike) -> Floats:
        return np.maximum(np.asarray(x, dtype=np.float64) - self.low, 0.0) / self.scale

    def cdf(self, x: ArrayLike) -> Floats:
        return gamma_tails(self.shape, self._standard(x))[0]

    def sf(self, x: ArrayLike) -> Floats:
        return gamma_tails(self.shape, self._standard(x))[1]

    def quantile(self, level: Level) -> Any:
        if self.shape > LARGE_SHAPE:
            # Wilson and Hilferty's cube is within 0.01 standard deviations here at any |z| < 40.
            cubed = self.shape * (1.0 - 1.0 / (9.0 * self.shape) + level.z / (3.0 * math.sqrt(self.shape))) ** 3
            margin = 0.1 * math.sqrt(self.shape)
            standard = invert(Gamma(self.shape, 1.0), level.z, cubed - margin, cubed + margin)
        else:
            standard = np.where(level.z < 0, gammaincinv(self.shape, level.u), gammainccinv(self.shape, ndtr(-level.z)))
            # P(a, x) = x^a / Gamma(a + 1) to rounding for tiny x, where gammaincinv loses its way.
            tiny = np.exp(np.minimum((np.log(level.u) + gammaln(self.shape + 1.0)) / self.shape, 0.0))
            standard = np.where(tiny < 1e-100, tiny, standard)
        return self.low + self.scale * standard

    def mean(self) -> float:
        return self.low + self.shape * self.scale

    def sd(self) -> float:
        return math.sqrt(self.shape) * self.scale

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist
        from numpyro.distributions import transforms

        gamma = dist.Gamma(self.shape, 1.0 / self.scale)
        shift = transforms.AffineTransform(self.low, 1.0, domain=dist.constraints.positive)
        return gamma if self.low == 0 else dist.TransformedDistribution(gamma, shift)


@dataclass(frozen=True)
class StudentT(Distribution):
    """(x - loc) / scale follows Student's t with `df` degrees of freedom; `scale` is not the standard deviation."""

    df: float
    loc: float
    scale: float
    family: ClassVar[str] = "student-t"
    closed_form: ClassVar[bool] = False

    @property
    def support(self) -> Support:
        return (-math.inf, math.inf)

    @property
    def _log_factor(self) -> float:
        """ln c of the far tail P(T > t) = c t^-df, from I_w(a, 1/2) = w^a / (a B(a, 1/2)) for small w = df / t^2."""
        a = 0.5 * self.df
        return a * math.log(self.df) - math.log(2.0 * a) - float(betaln(a, 0.5))

    def _tail(self, t: Floats) -> Floats:
        """P(T > t); near 0 from P(|T| < t) = I_w(1/2, df / 2) with w = t^2 / (df + t^2), where stdtr loses 1e-9."""
        distance = np.abs(t)
        square = np.minimum(distance, CENTRE) ** 2
        centre = 0.5 - 0.5 * np.copysign(betainc(0.5, 0.5 * self.df, square / (self.df + square)), t)
        far = np.exp(self._log_factor - self.df * np.log(np.maximum(distance, FAR)))
        far = np.where(t > 0.0, far, 1.0 - far)
        near = stdtr(self.df, -np.clip(t, -FAR, FAR))
        return np.asarray(np.where(distance < CENTRE, centre, np.where(distance < FAR, near, far)))

    def cdf(self, x: ArrayLike) -> Floats:
        return self._tail((self.loc - np.asarray(x, dtype=np.float64)) / self.scale)

    def sf(self, x: ArrayLike) -> Floats:
        return self._tail((np.asarray(x, dtype=np.float64) - self.loc) / self.scale)

    def quantile(self, level: Level) -> Any:
        distance = np.abs(level.z)
        beyond, inner = ndtr(-distance), np.minimum(distance, CENTRE) / math.sqrt(2.0)
        with np.errstate(over="ignore", divide="ignore"):
            far = np.exp((self._log_factor - np.log(beyond)) / self.df)
            # t^2 = df w / (1 - w), with w from P(|T| < t) and 1 - w from P(|T| > t).
            w, rest = betaincinv(0.5, 0.5 * self.df, erf(inner)), betaincinv(0.5 * self.df, 0.5, erfc(inner))
            centre = np.sqrt(self.df * w / rest)
            near = np.where(distance < CENTRE, centre, -stdtrit(self.df, np.minimum(beyond, ndtr(-CENTRE))))
            return np.asarray(self.loc + self.scale * np.copysign(np.where(far < FAR, near, far), level.z))

    def mean(self) -> float:
        return self.loc if self.df > 1 else math.nan

    def sd(self) -> float:
        if self.df > 2:
            return self.scale * math.sqrt(self.df / (self.df - 2.0))
        return math.inf if self.df > 1 else math.nan

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        return dist.StudentT(self.df, self.loc, self.scale)
