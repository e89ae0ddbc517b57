"""Measures of risk from draws of shape (replicates, size), in base units, each with its standard error.

Standard errors come from the spread over replicates. A draw may be infinite, a run that never finishes, and so may then
be what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.summaries import error_and_bounds
from uncertain_botec.tallies import Share, quantiles, quantiles_and_errors, standard_error

Floats = npt.NDArray[np.floating[Any]]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Figure:
    """A number and its standard error, which is 0 where it is exact and infinite where the draws do not tell it."""

    value: float
    error: float


NOT_KNOWN = Figure(math.nan, math.inf)
"""What too few draws tell."""

FEW = 32
"""What is decided by fewer draws than these is biased, and so is its error."""


@dataclass(frozen=True)
class Chance:
    """A probability.

    Attributes:
        value: the part of the draws.
        error: its standard error; zero only where the outcome is known exactly.
        low, high: a 95 % interval, which is a one-sided bound where no draws count or all do.
    """

    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True)
class Pair:
    """A budget and a deadline that are kept together with a probability, each at the same percentile of its own.

    Attributes:
        level: the probability of keeping both that was asked for.
        kept: the probability of keeping both, which is more where single values have probability.
        percentile: from 0 to 100, of the one of them that is kept less often; it is that of both where no single value
            has probability.
        budget, deadline: the quantiles there.
    """

    level: float
    kept: Chance
    percentile: Figure
    budget: Figure
    deadline: Figure


@dataclass(frozen=True)
class Isocurve:
    """Budgets and deadlines that are kept together with one probability, from the least budget to the largest.

    Attributes:
        level: the probability of keeping both.
        budgets: in ascending order.
        deadlines: the one that goes with each, in descending order.
        errors: standard errors of the deadlines.
    """

    level: float
    budgets: Floats
    deadlines: Floats
    errors: Floats


def chance(event: Bools, *, exact: bool = False) -> Chance:
    """P(E), the part of the draws in which an event takes place.

    Args:
        event: whether it does, for each draw.
        exact: whether the event depends on nothing uncertain, so that every draw is the same.

    Returns:
        The probability. An event that no draw shows, or every draw, has a bound in place of an error of zero.
    """
    if exact:
        certain = float(event.flat[0])
        return Chance(certain, 0.0, certain, certain)
    parts = event.mean(axis=1)
    value = float(parts.mean())
    return Chance(value, *error_and_bounds(Share(parts, parts, event.size), value))


def quantiles_at(values: Floats, levels: Sequence[float]) -> tuple[Figure, ...]:
    """Q(p), the least value that is not exceeded with probability p, at each of some levels."""
    rows = np.sort(values, axis=1)
    pooled, errors = quantiles_and_errors(rows, np.sort(rows, axis=None), list(levels))
    return tuple(map(Figure, pooled.tolist(), errors.tolist()))


def enough(draws: int, level: float) -> bool:
    """Whether so many draws tell the quantile at a level: on both sides of it there are not too few."""
    return draws * min(level, 1 - level) >= FEW


def percentile(values: Floats, value: float, *, exact: bool = False) -> Figure:
    """100 (P(X < x) + P(X = x) / 2), the percentile at which a value lies; ties count half."""
    parts = ((values < value).mean(axis=1) + (values <= value).mean(axis=1)) / 2
    middle = float(parts.mean())
    error = 0.0 if exact else error_and_bounds(Share(parts, parts, values.size), middle)[0]
    return Figure(100 * middle, 100 * error)


def mean(values: Floats) -> Figure:
    """E[X], infinite where a draw is."""
    if values.min() == values.max():
        # A constant's sum would round.
        return Figure(float(values.flat[0]), 0.0)
    each = values.mean(axis=1, dtype=np.float64)
    return Figure(float(each.mean()), float(standard_error(each)))


def expected_overrun(values: Floats, limit: float, *, exact: bool = False) -> Figure:
    """E[(X - b)+], what is spent over a limit on average, draws within the limit counting as nothing.

    Where no draw overruns, the draws do not tell how far from nothing it is: the error is infinite.
    """
    if exact:
        return Figure(max(float(values.flat[0]) - limit, 0.0), 0.0)
    each = np.maximum(np.asarray(values, np.float64) - limit, 0).mean(axis=1)
    value = float(each.mean())
    return Figure(value, float(standard_error(each)) if value else math.inf)


def mean_overrun(values: Floats, limit: float, *, exact: bool = False) -> Figure | None:
    """E[X - b | X > b], what is spent over a limit on average where it is overrun; None where no draw does."""
    over = values > limit
    counts = over.sum(axis=1)
    total = int(counts.sum())
    if not total:
        return None
    if exact:
        return Figure(float(values.flat[0]) - limit, 0.0)
    sums = np.maximum(np.asarray(values, np.float64) - limit, 0).sum(axis=1)
    value = float(sums.sum() / total)
    if np.count_nonzero(counts) < 2:
        return Figure(value, math.inf)
    beyond = values[over]
    if beyond.min() == beyond.max():
        # Of one value alone the sums would round.
        return Figure(float(beyond[0]) - limit, 0.0)
    # A ratio of sums errs, to first order, as its numerator does less the ratio times its denominator.
    residuals = sums - value * counts if math.isfinite(value) else sums
    return Figure(value, float(standard_error(residuals)) * len(counts) / total)


def cvar(values: Floats, level: float) -> Figure:
    """min over c of c + E[(X - c)+] / (1 - a), the mean of the worst part 1 - a of the outcomes.

    Right also where single values have probability, of which only a part may belong to the worst (Rockafellar and
    Uryasev 2002, J. Banking & Finance 26, 1443-1471). Never below the quantile at that level.

    Args:
        values: the draws, large being bad.
        level: a, between 0 and 1.

    Returns:
        The conditional value at risk.

    Example:
        0, 1, 2, 3 and 4 equally likely have 3.8 at 75 %: all of the 4 and a quarter of the 3.
    """
    rows = np.sort(np.asarray(values, np.float64), axis=1)
    pooled = _tail_mean(np.sort(rows, axis=None), level)
    return Figure(float(pooled), float(standard_error(_tail_mean(rows, level))))


def _tail_mean(ordered: Floats, level: float) -> Floats:
    """CVaR of draws that are sorted along the last axis; the least quantile at the level is where the minimum is."""
    size = ordered.shape[-1]
    first = min(max(math.ceil(size * level) - 1, 0), size - 1)
    corner, tail = ordered[..., first : first + 1], ordered[..., first:]
    with np.errstate(invalid="ignore"):
        above = np.where(tail == corner, 0, tail - corner)
    return np.asarray(corner[..., 0] + above.sum(axis=-1) / (size * (1 - level)))


def balanced_pair(cost: Floats, time: Floats, level: float) -> Pair:
    """The least q with P(X <= Q_X(q), Y <= Q_Y(q)) >= p, and the budget Q_X(q) and deadline Q_Y(q) there.

    A draw is within both quantiles if the larger of its two ranks is at most q, so q is the quantile at p of that.

    Args:
        cost: draws of the one.
        time: draws of the other, side by side with those.
        level: p, the joint confidence level.

    Returns:
        The pair. A confidence of p in each alone would be less than p in both.
    """
    rows = len(cost)
    pooled = _balanced(cost.reshape(-1), time.reshape(-1), level, rows)
    each = np.array([_balanced(*both, level) for both in zip(cost, time, strict=True)])
    share, budget, deadline = map(Figure, pooled, standard_error(each, axis=0).tolist())
    kept = chance((cost <= budget.value) & (time <= deadline.value))
    return Pair(level, kept, Figure(100 * share.value, 100 * share.error), budget, deadline)


def _balanced(cost: Floats, time: Floats, level: float, replicates: int = 1) -> tuple[float, float, float]:
    """The part of the draws that keep the one less often kept, the budget and the deadline."""
    ordered = [np.sort(one) for one in (cost, time)]
    # Of equal draws each has the lowest rank: a quantile that reaches one of them reaches all.
    below = [np.searchsorted(some, one) for some, one in zip(ordered, (cost, time), strict=True)]
    ranks = np.sort(np.maximum(*below)).astype(np.float64)
    reached = math.ceil(float(quantiles(ranks, [level], replicates)[0]))
    budget, deadline = (float(some[reached]) for some in ordered)
    kept = min(int(np.searchsorted(some, some[reached], "right")) for some in ordered)
    return kept / cost.size, budget, deadline


def isocurve(cost: Floats, time: Floats, level: float, points: int = 33) -> Isocurve:
    """The pairs (b, d) with P(X <= b, Y <= d) = p, for budgets b spread evenly in probability from Q_X(p) on.

    Args:
        cost: draws of the one.
        time: draws of the other, side by side with those.
        level: p, the joint confidence level.
        points: how many pairs.

    Returns:
        The curve; a budget near Q_X(p) needs a deadline that nearly no draw exceeds, and the other way round.
    """
    shares = level + (1 - level) * (np.arange(points) + 0.5) / points
    budgets = quantiles(np.sort(cost, axis=None), shares.tolist())
    pooled = _deadlines(cost.reshape(-1), time.reshape(-1), level, budgets)
    each = np.array([_deadlines(*rows, level, budgets) for rows in zip(cost, time, strict=True)])
    return Isocurve(level, budgets, pooled, standard_error(each, axis=0))


def _deadlines(cost: Floats, time: Floats, level: float, budgets: Floats) -> Floats:
    """The deadline that is kept together with each budget at a level."""
    order = np.argsort(cost)
    counts = np.searchsorted(cost[order], budgets, "right")
    ordered = time[order]
    found = [
        quantiles(np.sort(ordered[:count]), [min(1.0, level * cost.size / count)])[0] if count else math.inf
        for count in counts
    ]
    return np.array(found)
