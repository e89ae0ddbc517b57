"""Forecasters of y, the log of a run's accelerator-hours over those at 40 % of the 16-bit peak."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from uncertain_botec.distributions.level import Z95
from uncertain_botec.reference.posterior import Predictive

Floats = npt.NDArray[np.float64]

REFERENCE_CLASS = "reference_class"

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        REFERENCE_CLASS: "the regression on published runs that botec calibrate learns",
        "constant_lognormal": "hours at 40 % of the peak, times a lognormal of the other runs' mean and spread",
        "fixed_mfu": "40 % of the peak, half to double with 90 %",
        "published_mfu": "MFU while stepping as published, and 8 % of overhead",
    }
)
"""The forecasters in order, each with what it does."""

# Epoch AI's guide to estimating training compute takes 40 % "give or take a factor of 2". That this is an interval of
# 90 %, of half to double, and that it is lognormal, is our reading.
_FACTOR = 2.0

# The logit of published MFUs while stepping, and the time that runs take beyond their steps.
_LOGIT_CENTRE, _LOGIT_SCALE, _OVERHEAD = -0.403, 0.517, 0.08

# Of the reference class: where its distribution function is worked out, in normal scores of its middle.
_POINTS, _REACH = 257, 12.0


class Forecast(Protocol):
    """A distribution of y."""

    def cdf(self, y: float) -> float:
        """P(Y <= y)."""
        ...

    def quantile(self, levels: Any) -> Any:
        """The y of each level in (0, 1)."""
        ...


@dataclass(frozen=True)
class StudentT:
    """y ~ t(nu, mu, sigma); the normal distribution where nu is infinite."""

    mu: float
    sigma: float
    nu: float = math.inf

    def cdf(self, y: float) -> float:
        from scipy.special import ndtr, stdtr

        z = (y - self.mu) / self.sigma
        return float(ndtr(z) if math.isinf(self.nu) else stdtr(self.nu, z))

    def quantile(self, levels: Any) -> Any:
        from scipy.special import ndtri, stdtrit

        z = ndtri(levels) if math.isinf(self.nu) else stdtrit(self.nu, levels)
        return self.mu + self.sigma * z


@dataclass(frozen=True)
class SteppingMfu:
    """y = ln(0.4 (1 + f) / u) for an MFU u while stepping with logit u ~ N(m, s), and a fixed overhead f."""

    m: float
    s: float
    f: float

    def cdf(self, y: float) -> float:
        from scipy.special import logit, ndtr

        u = 0.4 * (1 + self.f) * math.exp(-y)
        return float(ndtr((self.m - logit(u)) / self.s)) if u < 1 else 0.0

    def quantile(self, levels: Any) -> Any:
        from scipy.special import log_expit, ndtri

        return math.log(0.4 * (1 + self.f)) - log_expit(self.m - self.s * ndtri(levels))


class Mixture:
    """The predictive of a reference class, whose quantiles at any number of levels cost no more than those at one.

    The distribution function is exact. Quantiles are those of a smooth curve through its normal scores, and lie within
    1e-4 of it from P0.1 to P99.9.
    """

    def __init__(self, predictive: Predictive) -> None:
        from scipy.interpolate import PchipInterpolator
        from scipy.special import ndtri

        self._predictive = predictive
        middle, spread = float(np.median(predictive.mu)), float(np.median(predictive.sigma) + predictive.mu.std())
        # Denser in the middle, where the curve is asked for.
        y = middle + spread * np.sinh(np.linspace(-1, 1, _POINTS) * math.asinh(_REACH))
        score = ndtri(predictive.cdf(y))
        rising = np.isfinite(score) & (np.diff(score, prepend=-math.inf) > 1e-9)
        self._curve = PchipInterpolator(score[rising], y[rising])

    def cdf(self, y: float) -> float:
        return float(self._predictive.cdf(y))

    def quantile(self, levels: Any) -> Any:
        from scipy.special import ndtri

        return self._curve(ndtri(levels))


def others(learnt_from: Floats) -> dict[str, Forecast]:
    """What the forecasters besides the reference class say of one further run.

    Args:
        learnt_from: y of the runs that may be known, of which `constant_lognormal` makes the predictive of a normal
            sample with unknown mean and variance: Student t with n - 1 degrees of freedom.
    """
    n = len(learnt_from)
    spread = float(learnt_from.std(ddof=1)) * math.sqrt(1 + 1 / n)
    return {
        "constant_lognormal": StudentT(float(learnt_from.mean()), spread, n - 1),
        "fixed_mfu": StudentT(0.0, math.log(_FACTOR) / Z95),
        "published_mfu": SteppingMfu(_LOGIT_CENTRE, _LOGIT_SCALE, _OVERHEAD),
    }
