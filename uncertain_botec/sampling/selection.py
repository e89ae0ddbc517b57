"""Exact quantiles of more draws than memory holds: bracket them on a pilot, then count outside and keep what is inside.

A bracket is an interval of values that surely holds a quantile. Of every later draw it only matters whether it lies
below, inside or above, and only those inside are kept; as draws come in, the brackets shrink. The result is the order
statistic itself, whatever the size and order of the chunks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from uncertain_botec.sampling.counting import Counted
from uncertain_botec.tallies import Counts, Floats, around, between, hazen, quantile_errors

# Half the width of a bracket, in standard deviations of one replicate's rank: a normal deviate passes it once in 10^15.
WIDTH = 8.0

# Draws that wait to be sorted in before they are: enough to make sorting worth its while, few enough to be no burden.
_WAITING = 1 << 18


class BracketMissedError(Exception):
    """A quantile lies outside its bracket; the draws have to be counted again with wider ones."""


class _Inside(NamedTuple):
    """Draws inside brackets in ascending order of cell and value, each pair once: a value may come millions of times.

    A cell is one bracket of one replicate, numbered replicate times brackets plus bracket.
    """

    cells: npt.NDArray[np.int32]
    values: Floats
    counts: Counts

    @classmethod
    def of(cls, cells: npt.NDArray[np.int32], values: Floats, counts: Counts) -> _Inside:
        """Draws in any order."""
        # Two sorts, of which the second counts digits: faster than one by two keys.
        order = np.argsort(values)
        order = order[np.argsort(cells[order].astype(np.uint16), kind="stable")]
        cells, values, counts = cells[order], values[order], counts[order]
        first = np.ones(len(order), bool)
        first[1:] = (cells[1:] != cells[:-1]) | (values[1:] != values[:-1])
        if first.all():
            return cls(cells, values, counts)
        places = np.flatnonzero(first)
        return cls(cells[places], values[places], np.add.reduceat(counts, places))

    def at(self, cells: npt.NDArray[np.int64], places: Counts) -> Floats:
        """For each cell the draw that has so many before it in there; nan where there is none."""
        up_to = np.append(0, np.cumsum(self.counts))
        starts, ends = (up_to[np.searchsorted(self.cells, cells, side)] for side in ("left", "right"))
        found = (places >= 0) & (starts + places < ends)
        index = np.searchsorted(up_to[1:], starts + np.where(found, places, 0), "right")
        values = np.append(self.values, np.nan).astype(np.float64)
        return np.where(found, values[np.where(found, index, -1)], np.nan)

    def pooled(self, brackets: int) -> _Inside:
        """The same over all replicates: a cell for each bracket."""
        return _Inside.of(self.cells % np.int32(brackets), self.values, self.counts)


class Selector:
    """Quantiles of one output over replicates, fed chunk by chunk.

    Args:
        levels: probabilities, ascending.
        pilot: the first draws of every replicate, of shape (replicates, size); they are counted.
        width: see `WIDTH`.
    """

    def __init__(self, levels: Sequence[float], pilot: Floats, width: float = WIDTH) -> None:
        self._levels = np.array(levels)
        self._width = width
        self._dtype = pilot.dtype
        rows = np.sort(pilot, axis=1)
        every = np.sort(rows, axis=None)
        ends = []
        for rank in hazen(every.size, self._levels)[0]:
            sides = [[np.searchsorted(row, every[rank], side) for row in rows] for side in ("left", "right")]
            reach = self._reach(sides, rows.shape[1])
            low = every[rank - reach] if rank >= reach else -math.inf
            high = every[rank + reach + 1] if rank + reach + 1 < every.size else math.inf
            ends.append((float(low), float(high)))
        self._brackets = _joined(ends)
        lows, highs = np.array(self._brackets).T
        self._below = np.stack([np.searchsorted(row, lows) for row in rows])
        counts = np.stack([np.searchsorted(row, highs, "right") for row in rows]) - self._below
        cells = np.repeat(np.arange(counts.size, dtype=np.int32), counts.ravel())
        starts = np.cumsum(counts) - counts.ravel()
        places = np.arange(len(cells)) + (self._below.ravel() - starts)[cells]
        values = rows[cells // self.brackets, places]
        self._inside = _Inside.of(cells, values, np.ones(len(cells), np.int64))
        self._new, self._new_below = self._nothing(), np.zeros_like(self._below)
        self._waiting: list[tuple[npt.NDArray[np.int32], Floats]] = []

    @property
    def brackets(self) -> int:
        """How many brackets there are; levels that lie close together share one."""
        return len(self._brackets)

    def thresholds(self) -> tuple[Floats, Floats]:
        """The lower and the upper ends of the brackets, as many as levels: nothing reaches those that fill up."""
        ends = [*self._brackets, *[(math.nan, math.inf)] * (len(self._levels) - self.brackets)]
        lows, highs = np.array(ends, self._dtype).T
        return lows, highs

    def add(self, chunk: Counted) -> None:
        """Count one chunk, which was drawn with the present thresholds; `absorb` makes it part of the quantiles."""
        self._new_below += chunk.below
        self._waiting.append((chunk.where, chunk.inside))
        if sum(len(inside) for _, inside in self._waiting) > _WAITING:
            self._sort_in()

    def take(self) -> list[npt.NDArray[Any]]:
        """What was added since this was last asked, as arrays for every process to absorb."""
        self._sort_in()
        taken = [self._new_below, *self._new]
        self._new, self._new_below = self._nothing(), np.zeros_like(self._below)
        return taken

    def absorb(self, taken: Sequence[npt.NDArray[Any]]) -> None:
        """Make what some process has added part of the quantiles."""
        below, *inside = taken
        self._below += below
        self._inside = self._joint(self._inside, *inside)

    def shrink(self, size: int) -> None:
        """Narrow the brackets to what the draws so far allow.

        Args:
            size: draws of each replicate so far.
        """
        pooled, below = self._inside.pooled(self.brackets), self._below.sum(axis=0)
        ranks, _ = hazen(size * len(self._below), self._levels)
        wanted: dict[int, tuple[float, float]] = {}
        for rank in ranks:
            centres = pooled.at(np.arange(self.brackets), rank - below)
            centre = float(_whichever(centres[None])[0])
            bracket = int(np.flatnonzero(centres == centre)[0])
            here, values = self._inside.cells % self.brackets == bracket, self._inside.values
            sides = [self._below[:, bracket] + self._each(here & some) for some in (values < centre, values <= centre)]
            reach = self._reach(sides, size)
            places = rank - below[bracket] + np.array([-reach, reach + 1])
            ends = pooled.at(np.full(2, bracket), places)
            low, high = np.where(np.isnan(ends), self._brackets[bracket], ends)
            others = wanted.get(bracket, (math.inf, -math.inf))
            wanted[bracket] = (min(low, others[0]), max(high, others[1]))
        self._brackets = [wanted.get(bracket, ends) for bracket, ends in enumerate(self._brackets)]
        lows, highs = np.array(self._brackets)[self._inside.cells % self.brackets].T
        under = self._inside.values < lows
        self._below += (
            np.bincount(self._inside.cells[under], self._inside.counts[under], self._below.size)
            .astype(np.int64)
            .reshape(self._below.shape)
        )
        kept = ~under & (self._inside.values <= highs)
        self._inside = _Inside(*(column[kept] for column in self._inside))

    def quantiles(self, size: int) -> tuple[Floats, Floats]:
        """The quantiles over all replicates, and those of each.

        Args:
            size: draws of each replicate.

        Returns:
            Arrays of shape (levels,) and (replicates, levels), at Hazen's positions.

        Raises:
            BracketMissedError: a quantile lies outside its bracket.
        """
        return self._pooled(size), between(*self._around(self._inside, self._below, size))

    def estimates(self, size: int) -> tuple[Floats, Floats]:
        """The quantiles over all replicates, and their standard errors; arguments and faults as of `quantiles`."""
        left, right, _ = self._around(self._inside, self._below, size)
        return self._pooled(size), quantile_errors(left, right, size, self._levels)

    def _pooled(self, size: int) -> Floats:
        """The quantiles over all replicates."""
        replicates = len(self._below)
        inside, below = self._inside.pooled(self.brackets), self._below.sum(axis=0)[None]
        return np.asarray(between(*self._around(inside, below, size * replicates, replicates))[0])

    def _around(self, inside: _Inside, below: Counts, total: int, replicates: int = 1) -> tuple[Floats, Floats, Floats]:
        """As `around`, of shape (rows of `below`, levels)."""
        cells = np.arange(below.size).reshape(below.shape)

        def at(places: Counts) -> Floats:
            return _whichever(inside.at(cells[..., None], places - below[..., None]))

        return around(at, total, self._levels, replicates)

    def _each(self, some: npt.NDArray[np.bool_]) -> Counts:
        """How many of some draws inside brackets each replicate has."""
        cells, counts = self._inside.cells[some], self._inside.counts[some]
        return np.bincount(cells // self.brackets, counts, len(self._below)).astype(np.int64)

    def _reach(self, sides: Any, size: int) -> int:
        """Half the width of a bracket in pooled ranks, from how the replicates' ranks of one value differ.

        Args:
            sides: how many draws of each replicate are below the value, and at or below it. At the greatest value the
                latter are all draws, in whatever part of them it begins; at the least the former are none.
            size: draws of each replicate.
        """
        ranks: Floats = np.array(sides) / size
        replicates = int(ranks.shape[1])
        # One replicate does not tell; ranks of independent draws deviate by sqrt(p (1 - p) / size), half of it at most.
        alone = 0.5 / math.sqrt(size)
        deviation = float(np.std(ranks, axis=1, ddof=1).max()) if replicates > 1 else alone
        return math.ceil((self._width * deviation + 2 * self._width / size) * size * replicates)

    def _sort_in(self) -> None:
        if self._waiting:
            cells = np.concatenate([cells for cells, _ in self._waiting])
            values = np.concatenate([values for _, values in self._waiting])
            self._new = self._joint(self._new, cells, values, np.ones(len(cells), np.int64))
            self._waiting = []

    def _nothing(self) -> _Inside:
        return _Inside(np.empty(0, np.int32), np.empty(0, self._dtype), np.empty(0, np.int64))

    @staticmethod
    def _joint(inside: _Inside, cells: npt.NDArray[np.int32], values: Floats, counts: Counts) -> _Inside:
        return _Inside.of(
            np.concatenate([inside.cells, cells]),
            np.concatenate([inside.values, values]),
            np.concatenate([inside.counts, counts]),
        )


def _whichever(draws: Floats) -> Floats:
    """The draw that one of the brackets, along the second axis, has at a rank."""
    if np.isnan(draws).all(axis=1).any():
        raise BracketMissedError
    return np.asarray(np.nanmax(draws, axis=1))


def _joined(ends: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Brackets that overlap made one."""
    joined = [ends[0]]
    for low, high in ends[1:]:
        if low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return joined
