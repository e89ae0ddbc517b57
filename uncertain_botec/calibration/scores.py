"""How good forecasts were: coverage, interval score, continuous ranked probability score (CRPS), sharpness.

Interval score and CRPS are proper (Gneiting and Raftery 2007, J. American Statistical Association 102, 359-378,
equations 43 and 20): nobody does better by them than by saying what they believe. Both are of ln hours, so that a
forecast that is a tenth too high counts alike for every run, and both are better when lower.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from uncertain_botec.calibration.forecasters import Forecast

Floats = npt.NDArray[np.float64]

COVERED = (0.5, 0.8, 0.9)
"""Probabilities of central intervals."""

ALPHA = 0.2
"""Of the interval score: that of P10 to P90."""

BINS = 10
"""Of the histogram of percentiles."""

# Of the integral over levels that the CRPS is: its error is about a ten-thousandth of it.
_LEVELS = (np.arange(1000) + 0.5) / 1000


@dataclass(frozen=True)
class Mean:
    """A mean over runs with its standard error, as if runs were independent."""

    value: float
    error: float


@dataclass(frozen=True)
class Share:
    """A part of all runs with its exact 95 % interval (Clopper and Pearson 1934)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Judged:
    """One forecast and what came.

    Attributes:
        p10, p50, p90: of y.
        percentile: P(Y <= y), uniform over runs where forecasts are right.
        interval_score: of P10 to P90.
        crps: of y.
    """

    p10: float
    p50: float
    p90: float
    percentile: float
    interval_score: float
    crps: float


def judge(forecast: Forecast, y: float) -> Judged:
    """A forecast of y against the y that came."""
    from scoringrules import crps_quantile, interval_score

    p10, p50, p90 = map(float, forecast.quantile(np.array([ALPHA / 2, 0.5, 1 - ALPHA / 2])))
    return Judged(
        p10=p10,
        p50=p50,
        p90=p90,
        percentile=forecast.cdf(y),
        interval_score=float(interval_score(y, p10, p90, ALPHA, backend="numpy")),
        # 2 int QS_p dp over levels p is the CRPS, of which this is the mean at the levels times 2.
        crps=float(crps_quantile(y, forecast.quantile(_LEVELS), _LEVELS, backend="numpy")),
    )


@dataclass(frozen=True)
class Scores:
    """One forecaster over all runs.

    Attributes:
        coverage: the part of runs within the central interval, by its probability.
        interval_score: of P10 to P90, at alpha 0.2.
        crps: of ln hours.
        width_factor: the median over runs of P90 over P10; how sharp forecasts are, right or wrong.
        histogram: how many runs' percentiles lie in each tenth.
        against: by `interval_score` and `crps`, how much lower the reference class is than this, run by run; nothing
            for the reference class itself.
    """

    coverage: Mapping[float, Share]
    interval_score: Mean
    crps: Mean
    width_factor: Mean
    histogram: tuple[int, ...]
    against: Mapping[str, Mean] = field(default_factory=dict)


def score(judged: Sequence[Judged], reference: Sequence[Judged] | None = None) -> Scores:
    """What the forecasts of all runs come to, and how the reference class did on the same runs."""
    percentiles = np.array([one.percentile for one in judged])
    pairs = list(zip(judged, reference, strict=True)) if reference is not None else []
    against = {
        name: mean([getattr(one, name) - getattr(other, name) for one, other in pairs])
        for name in ("interval_score", "crps")
        if pairs
    }
    return Scores(
        # Percentiles are in the middle where twice their distance from it is at most the probability.
        coverage={part: share(int((np.abs(2 * percentiles - 1) <= part).sum()), len(judged)) for part in COVERED},
        interval_score=mean([one.interval_score for one in judged]),
        crps=mean([one.crps for one in judged]),
        width_factor=_median([math.exp(one.p90 - one.p10) for one in judged]),
        histogram=tuple(map(int, np.histogram(percentiles, BINS, (0.0, 1.0))[0])),
        against=against,
    )


def mean(values: Sequence[float]) -> Mean:
    """The mean of independent values; its error is not known of one."""
    several = len(values) > 1
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if several else math.nan
    return Mean(float(np.mean(values)), error)


def share(hits: int, of: int) -> Share:
    """A part of all, with its exact 95 % interval."""
    from scipy.stats import binomtest

    found = binomtest(hits, of).proportion_ci(0.95, method="exact")
    return Share(hits / of, float(found.low), float(found.high))


def by_chance(n: int) -> tuple[int, int]:
    """How many of n percentiles lie in one of the tenths where forecasts are right: from and to, with at least 95 %.

    The number is binomial with probability 1 / BINS, as if runs were independent.
    """
    from scipy.stats import binom

    low, high = binom.ppf((0.025, 0.975), n, 1 / BINS)
    return int(low), int(high)


def _median(values: Sequence[float]) -> Mean:
    """The median, with half the span of the order statistics one standard error of their number around it."""
    half = 0.5 / math.sqrt(len(values))
    low, middle, high = np.quantile(values, [max(0.5 - half, 0.0), 0.5, min(0.5 + half, 1.0)])
    return Mean(float(middle), float(high - low) / 2)
