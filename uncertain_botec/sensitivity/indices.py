"""Numbers with their errors and intervals, from independent replicates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from uncertain_botec.tallies import Floats, standard_error

REPLICATES = 16
"""Independent randomisations, from whose spread every error is."""

UNRESOLVED = 0.1
"""A variance or mean whose relative standard error is above this is decided by a handful of draws."""


@dataclass(frozen=True)
class Index:
    """An estimate.

    Attributes:
        value: as estimated; noise may take it a little below 0 or above 1 where the truth lies there.
        error: its standard error.
        low, high: an interval at the level that was asked for, value ± t error with Student's t.
    """

    value: float
    error: float
    low: float
    high: float


ZERO = Index(0.0, 0.0, 0.0, 0.0)


def student(level: float, replicates: int) -> float:
    """The half-width of a two-sided interval in standard errors, from so many replicates."""
    from scipy.special import stdtrit

    return float(stdtrit(replicates - 1, (1 + level) / 2))


def index_of(each: Floats, level: float, least: float = 0.0) -> Index:
    """The mean of replicates' estimates, with at least this error."""
    return _index(float(np.mean(each)), max(float(standard_error(each)), least), level, len(each))


def ratio_of(parts: Floats, wholes: Floats, level: float) -> Index:
    """The ratio of two means over replicates, with the error of a ratio to first order (the delta method)."""
    whole = float(np.mean(wholes))
    value = float(np.mean(parts)) / whole
    return _index(value, float(standard_error(parts - value * wholes)) / abs(whole), level, len(parts))


def _index(value: float, error: float, level: float, replicates: int) -> Index:
    half = student(level, replicates) * error
    return Index(value, error, value - half, value + half)


def resolved(each: Floats) -> bool:
    """Whether replicates agree on a mean to within `UNRESOLVED`."""
    mean = float(np.mean(each))
    return math.isfinite(mean) and float(standard_error(each)) <= UNRESOLVED * abs(mean)
