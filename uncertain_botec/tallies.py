"""What is known of outputs, whether their draws are all at hand or were counted as they came."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.draws import Draws, Provenance
from uncertain_botec.scenario import Scenario

Floats = npt.NDArray[np.floating[Any]]
Counts = npt.NDArray[np.int64]

LEVELS = {"p10": 0.1, "p50": 0.5, "p90": 0.9}
"""The quantiles that are reported."""


@dataclass(frozen=True)
class Tally:
    """One output, in base units.

    Attributes:
        quantiles: at `LEVELS`, over all draws.
        errors: their standard errors.
        mean, mean_error, sd: of the finite draws; infinite where there is none.
        endless: the part of the draws that is infinite.
        smoothed: the input that was integrated out of the quantiles, or "" where they are order statistics of draws.
    """

    quantiles: Floats
    errors: Floats
    mean: float
    mean_error: float
    sd: float
    endless: float
    smoothed: str = ""


@dataclass(frozen=True)
class Share:
    """How much of an output lies at or below a value, in each replicate.

    Attributes:
        at_or_below, below: parts of 1, of shape (replicates,).
        draws: that were counted, or None where an input was integrated out, so that they are not.
        rounded: points over which an input with jumps is spread where another is integrated out; 0 where none is.
    """

    at_or_below: Floats
    below: Floats
    draws: int | None
    rounded: int = 0

    @property
    def rounding(self) -> float:
        """The least standard error of the mean part, however well the replicates agree."""
        points = self.rounded if self.draws is None else self.draws
        return rounding(len(self.at_or_below), points) if points else 0.0


@dataclass(frozen=True)
class Estimate:
    """What is asked of one output alone, in base units.

    Attributes:
        quantiles: at `LEVELS`.
        errors: their standard errors.
        shares: how much of it lies at or below each of the values that it is held against.
        smoothed: as of a tally.
    """

    quantiles: Floats
    errors: Floats
    shares: Mapping[float, Share]
    smoothed: str = ""

    @property
    def worst(self) -> float:
        """The largest relative standard error of any quantile."""
        return float(np.max(relative_errors(self.quantiles, self.errors)))

    def accurate(self, accuracy: float) -> bool:
        """Whether every quantile has this relative standard error; not one that is infinite in some replicates only."""
        return self.worst <= accuracy


@dataclass(frozen=True)
class Tallies:
    """Everything that a summary is made of.

    Attributes:
        sample: all draws, or as many of them as intervals of highest density and rank correlations need.
        outputs: by name; those that are known exactly have none.
        limits: by limit, for those whose output has a tally.
        observed: by output, likewise.
        provenance: of all draws, not only of those in the sample.
        accuracy: the relative standard error that was asked of every quantile, or None.
        partial: whether it was interrupted, so that there are fewer draws than were asked for.
    """

    sample: Draws
    outputs: Mapping[str, Tally]
    limits: Mapping[str, Share]
    observed: Mapping[str, Share]
    provenance: Provenance
    accuracy: float | None = None
    partial: bool = False

    @property
    def scenario(self) -> Scenario:
        """What was drawn from."""
        return self.sample.scenario


def tallies_of(draws: Draws, outputs: Collection[str] | None = None) -> Tallies:
    """The tallies of draws that are all at hand, of all outputs or of some."""
    scenario = draws.scenario
    drawn = {name for name in draws.outputs if not scenario.certain(name)}

    def share(output: str, value: float) -> Share:
        rows = draws.values[output]
        return Share((rows <= value).mean(axis=1), (rows < value).mean(axis=1), rows.size)

    return Tallies(
        draws,
        {name: _tally(draws.values[name]) for name in draws.outputs if name in drawn and name in (outputs or drawn)},
        {name: share(one.output, one.value) for name, one in scenario.limits.items() if one.output in drawn},
        {name: share(name, one.value) for name, one in scenario.observed.items() if name in drawn},
        draws.provenance,
    )


def _tally(values: Floats) -> Tally:
    levels = list(LEVELS.values())
    # Sorted once for everything: pooled for the estimates, by replicate for their errors.
    rows = np.sort(values, axis=1)
    flat = np.sort(rows, axis=None)
    finite = flat[: np.searchsorted(flat, math.inf)]
    mean, sd = math.inf, math.inf
    if finite.size:
        # A constant's sum would round: its mean is the value itself.
        constant = finite[0] == finite[-1]
        mean, sd = (
            (float(finite[0]), 0.0)
            if constant
            else (float(finite.mean(dtype=np.float64)), float(finite.std(dtype=np.float64)))
        )
    return Tally(
        *quantiles_and_errors(rows, flat, levels),
        mean,
        float(standard_error(mean_of(*finite_sums(rows)))),
        sd,
        endless=1 - finite.size / flat.size if finite.size < flat.size else 0.0,
    )


def quantiles(ordered: Floats, levels: list[float], replicates: int = 1) -> Floats:
    """Quantiles of draws that are sorted along the last axis, which becomes one entry per level.

    The quantile at level p lies at position n p + 1/2 (Hazen), which is unbiased in probability for points spread
    evenly over (0, 1); beside a value that many draws share it is one of the draws, see `around`.

    Args:
        ordered: the draws.
        levels: probabilities.
        replicates: how many, of one size, the draws are pooled from.
    """
    return between(*_around(ordered, levels, replicates))


def quantiles_and_errors(rows: Floats, flat: Floats, levels: list[float]) -> tuple[Floats, Floats]:
    """Quantiles of draws that are sorted by replicate and over all, and their standard errors."""
    left, right, _ = _around(rows, levels)
    return quantiles(flat, levels, len(rows)), quantile_errors(left, right, rows.shape[1], np.array(levels))


def _around(ordered: Floats, levels: list[float], replicates: int = 1) -> tuple[Floats, Floats, Floats]:
    """As `around`, of draws at hand."""

    def at(places: Counts) -> Floats:
        return ordered[..., places].astype(np.float64)

    return around(at, ordered.shape[-1], np.asarray(levels), replicates)


def around(
    at: Callable[[Counts], Floats], total: int, levels: Floats, replicates: int = 1
) -> tuple[Floats, Floats, Floats]:
    """The draws on both sides of quantiles, and the part of the way from one to the other.

    Beside an atom, a value that many draws share, nothing lies between it and the next draw: the quantile is
    inf{y: F(y) >= p}. Where F is p itself at the atom, as people like to state it, each replicate of n evenly spread
    points counts n p at or below, rounded down or up, and so n p rounded down is enough.

    Args:
        at: the sorted draws at places from 0.
        total: of all draws.
        levels: probabilities.
        replicates: how many they are pooled from.
    """
    ranks, parts = hazen(total, levels)
    left, right = at(ranks), at(np.minimum(ranks + 1, total - 1))
    least = replicates * np.floor(total // replicates * levels).astype(np.int64) - 1
    # By mere rounding a few draws may be equal too.
    many = 2 * replicates
    low = at(np.maximum(least, 0))
    below = (least >= many) & (low == at(np.maximum(least - many, 0)))
    above = (ranks + 1 + many < total) & (right == at(np.minimum(ranks + 1 + many, total - 1)))
    # Between a run that ends and one that never does, the draws do not tell which: that counts as endless.
    edge = (least >= 0) & (low < right) & (right < math.inf) & (below | above)
    return np.where(edge, low, left), np.where(edge, low, right), parts


def hazen(total: int, levels: Floats) -> tuple[Counts, Floats]:
    """The places of quantiles among so many sorted draws: whole ones from 0, and the part of the way to the next."""
    positions = np.clip(total * levels - 0.5, 0, total - 1)
    ranks = positions.astype(np.int64)
    return ranks, positions - ranks


def between(left: Floats, right: Floats, part: Floats) -> Floats:
    """The value so far of the way from one draw to the next; two infinite ones have no difference."""
    with np.errstate(invalid="ignore"):
        return np.where((left == right) | (part == 0), left, left + part * (right - left))


def rounding(replicates: int, points: int, fraction: Any = 0.0) -> Any:
    """The least standard error of a probability, however well the replicates agree.

    Of R replicates of n points each, evenly spread along one input, each counts n F rounded down or up, up with the
    probability f that is the fraction of n F: a standard error of sqrt(f (1 - f) / R) / n, of which replicates that all
    round alike see nothing. The same is true of n q for an input whose quantile function jumps at q. With f (1 - f)
    taken as 1/12 where it is less, errors of 16 replicates are as large as is said on average over f, and 1.12 times
    as large for the worst f.

    Args:
        replicates: R.
        points: of all of them, R n.
        fraction: f, where it is known.
    """
    return np.sqrt(np.maximum(fraction * (1 - fraction), 1 / 12) * replicates) / points


def quantile_errors(left: Floats, right: Floats, size: int, levels: Floats) -> Floats:
    """Standard errors of quantiles over all replicates: the spread of the replicates' own, or more.

    Of an output of one input, whose points are evenly spread, n p are below the quantile at level p, rounded down or
    up. Positions between two draws hide the rounding of a replicate's own.

    Args:
        left: the draw before each replicate's quantile, of shape (replicates, levels).
        right: the draw after it.
        size: draws of each replicate, n.
        levels: probabilities, p.
    """
    _, parts = hazen(size, levels)
    error = standard_error(between(left, right, parts), axis=0)
    least = rounding(len(left), size * len(left), np.modf(size * levels)[0])
    with np.errstate(invalid="ignore"):
        # From one draw to the next it is 1/n in probability. Two infinite ones have no difference.
        draw = np.where(left == right, 0.0, right - left).mean(axis=0)
        return np.asarray(np.maximum(error, least * size * draw))


def standard_error(each: Floats, axis: int = -1) -> Any:
    """Standard error of the mean of independent replicates' estimates."""
    replicates = each.shape[axis]
    if replicates < 2:
        return np.full(np.mean(each, axis=axis).shape, np.nan)
    with np.errstate(invalid="ignore"):
        error = np.std(each, axis=axis, ddof=1) / math.sqrt(replicates)
    # Replicates that are all infinite agree; some that are and some that are not tell nothing.
    agree = np.max(each, axis=axis) == np.min(each, axis=axis)
    return np.where(agree, 0.0, np.where(np.isnan(error), np.inf, error))


def relative_errors(values: Floats, errors: Floats) -> Floats:
    """Standard errors relative to what they are of: 0 where exact, infinite for 0 that is not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(errors == 0, 0.0, errors / np.abs(values))


def finite_sums(rows: Floats) -> tuple[Floats, Counts]:
    """The sum of each row's finite values, and how many they are."""
    with np.errstate(invalid="ignore"):
        sums = rows.sum(axis=1, dtype=np.float64)
    if np.isfinite(sums).all():
        return sums, np.full(len(rows), rows.shape[1])
    finite = np.isfinite(rows)
    return np.where(finite, rows, 0).sum(axis=1, dtype=np.float64), finite.sum(axis=1)


def mean_of(sums: Any, finite: Any) -> Any:
    """The mean of finite values from their sum and number; infinite where there are none."""
    return np.where(finite > 0, sums / np.maximum(finite, 1), math.inf)
