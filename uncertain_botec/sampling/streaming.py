"""Any number of draws in bounded memory: counted chunk by chunk, with exact quantiles selected on the way."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import jax
import numpy as np

from uncertain_botec.draws import Draws
from uncertain_botec.errors import UsageError
from uncertain_botec.sampling.counting import count_on_host, counted
from uncertain_botec.sampling.engine import Job, check_possible, prepare
from uncertain_botec.sampling.integrating import smooth_outputs
from uncertain_botec.sampling.points import point_set
from uncertain_botec.sampling.precision import check_agreement, in_float64
from uncertain_botec.sampling.processes import ALONE, Team
from uncertain_botec.sampling.selection import WIDTH, BracketMissedError, Selector
from uncertain_botec.scenario import Scenario
from uncertain_botec.tallies import LEVELS, Counts, Estimate, Floats, Share, Tallies, Tally, mean_of, standard_error
from uncertain_botec.vocabulary import QUANTITIES

ACCURACY = 1e-3
"""The relative standard error that every quantile has unless the caller says otherwise."""

MOST_DRAWS = 1 << 24
"""Draws after which a search for accuracy ends unless the caller says otherwise."""

KEPT = 1 << 18
"""Draws that are kept with all their inputs: plenty for intervals of highest density and rank correlations."""

# Draws of the first stage, from which the first brackets are taken.
_FIRST = 1 << 17

# Draws from which on a kernel that leaves the inputs out is worth the time to compile it.
_LONG = 1 << 20

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Goal:
    """When to stop.

    Attributes:
        draws: at least how many, unless they are accurate before.
        accuracy: the relative standard error that every reported quantile is to have, or None to draw them all.
        keep: draws to keep at most, with all their inputs.
        outputs: those that are looked at, or None for all.
    """

    draws: int = MOST_DRAWS
    accuracy: float | None = ACCURACY
    keep: int = KEPT
    outputs: Collection[str] | None = None


def stream(
    scenario: Scenario,
    goal: Goal,
    *,
    seed: int = 0,
    sampler: str = "lattice",
    precision: str = "float64",
    device: str = "auto",
    chunk: int | None = None,
    smooth: bool = True,
    team: Team = ALONE,
    progress: Progress | None = None,
) -> Tallies:
    """Draw and count, keeping only what quantiles, intervals and rank correlations need.

    The points double from stage to stage; after each of them they are a point set of the sampler's kind. Interrupted by
    Ctrl-C it ends after the chunk it is at, with what was drawn until then.

    Args:
        scenario: what to draw from.
        goal: how many draws, or how accurate.
        seed: of the randomisations.
        sampler: "lattice", "sobol" or "monte-carlo".
        precision: "float64" or "float32", of the arithmetic in the kernel.
        device: "auto", "cpu" or "gpu".
        chunk: draws evaluated at a time; changes memory and speed, not results beyond rounding.
        smooth: whether quantiles may be smooth, so that draws need not tell them.
        team: the processes that share the work.
        progress: called after every chunk with the draws so far and those that are planned.

    Returns:
        The tallies of all draws. Standard deviations are those of the draws that were kept.

    Raises:
        UsageError: an option that cannot be used.
        SamplingError: draws that cannot be used.
    """
    started = time.perf_counter()
    if goal.accuracy is not None and not 0 < goal.accuracy < 1:
        raise UsageError(f"an accuracy of {goal.accuracy:g} is not between 0 and 1")
    replicates = point_set(sampler, goal.draws, seed).replicates
    # Doubling ends at a power of two, also for independent points.
    size = 1 << max(1, (-(-goal.draws // replicates) - 1).bit_length())
    job = prepare(
        scenario, size * replicates, seed=seed, sampler=sampler, precision=precision, device=device, chunk=chunk
    )
    ready = time.perf_counter()
    width = WIDTH
    while True:
        run = _Run(job, goal, smooth, team, width, progress or (lambda _drawn, _planned: None))
        try:
            partial = run.to_the_end()
            estimates = run.estimates()
            break
        except BracketMissedError:
            # Ranks need not be normal where points are few and the output jumps: look again, less sure of oneself.
            width *= 4
    seconds = {"prepare": ready - started, "draw": time.perf_counter() - ready}
    made = replace(job, points=replace(job.points, size=run.size)).provenance(seconds)
    return Tallies(
        Draws(scenario, run.sample(), replace(made, size=run.kept)),
        {name: run.tally(name, estimates[name]) for name in run.names},
        limits={
            name: estimates[one.output].shares[one.value]
            for name, one in scenario.limits.items()
            if one.output in estimates
        },
        observed={
            name: estimates[name].shares[one.value] for name, one in scenario.observed.items() if name in estimates
        },
        provenance=made,
        accuracy=goal.accuracy,
        partial=partial,
    )


class _Run:
    """The stages of one run, and what has been counted so far."""

    def __init__(self, job: Job, goal: Goal, smooth: bool, team: Team, width: float, progress: Progress) -> None:
        self._job, self._goal, self._team, self._progress = job, goal, team, progress
        scenario, replicates = job.scenario, job.points.replicates
        drawn = (name for name in scenario.plan.outputs if not scenario.certain(name))
        self.names = tuple(name for name in drawn if goal.outputs is None or name in goal.outputs)
        markers = (*scenario.limits.values(), *scenario.observed.values())
        self._marks = {
            name: tuple(dict.fromkeys(one.value for one in markers if one.output == name)) for name in self.names
        }
        self._keep = max(_FIRST, goal.keep) // replicates
        self.size = self._first = min(_FIRST // replicates, job.points.size)
        start, stride = job.points.counters(0, 0, self.size)
        self._nothing = np.full((2, len(LEVELS)), [[np.nan], [np.inf]], job.dtype)
        arrays, _ = job.chunk(start, stride, self.size, dict.fromkeys(self.names, self._nothing))
        first = {name: np.asarray(arrays[name]) for name in job.kept}
        check_possible({**job.certain, **first}, scenario)
        self._columns = {name: [array] for name, array in first.items()}
        pilot, exact = {name: first[name] for name in self.names}, first
        self._smooth: Mapping[str, Estimate] = {}
        if job.dtype != np.float64:
            again, _ = in_float64(job).chunk(start, stride, self.size)
            exact = {name: np.asarray(array) for name, array in again.items()}
            check_agreement(scenario.path, pilot, exact)
        if smooth:
            inputs = {name: exact[name] for name in scenario.uncertain}
            self._smooth = smooth_outputs(scenario, inputs, job.points.sampler, goal.accuracy, self._marks)
        levels = tuple(LEVELS.values())
        # Where a number of draws is asked for, they may come to be more accurate.
        settled = () if goal.accuracy is None else self._smooth
        self._selectors = {name: Selector(levels, pilot[name], width) for name in self.names if name not in settled}
        self._sums: dict[str, Floats] = {}
        self._shares: dict[str, Counts] = {}
        for name in self.names:
            one = count_on_host(pilot[name], None, 0, self._marks[name])
            self._sums[name], self._shares[name] = np.stack([one.sums, one.finite]), one.shares
        progress(self.size * replicates, job.points.draws)

    @property
    def kept(self) -> int:
        """Draws of each replicate that are kept."""
        return min(self.size, self._keep)

    def to_the_end(self) -> bool:
        """Stage after stage until all is drawn, all is accurate, or somebody interrupts; whether the last is why."""
        with _interruptible() as interrupted:
            while self.size < self._job.points.size and not self._accurate():
                if self._stage(interrupted):
                    return self.size < self._job.points.size
                for selector in self._selectors.values():
                    selector.shrink(self.size)
        return False

    def sample(self) -> dict[str, Floats]:
        """The draws that are kept, by name."""
        shape = (self._job.points.replicates, self.kept)
        constants = {name: np.broadcast_to(value, shape) for name, value in self._job.certain.items()}
        kept = {name: np.concatenate(parts, axis=1)[:, : self.kept] for name, parts in self._columns.items()}
        return {**constants, **kept}

    def estimates(self) -> dict[str, Estimate]:
        """The quantiles of each output: smooth ones, unless those of draws are clearly more accurate.

        Smooth quantiles have far less variance for the same draws, but draws may be many more. To take whichever says
        it errs less would prefer errors that came out too small by luck, hence the factor of 2.
        """
        found = dict(self._smooth)
        for name, selector in self._selectors.items():
            counted = {
                mark: Share(at_or_below / self.size, below / self.size, self.size * self._job.points.replicates)
                for mark, (at_or_below, below) in zip(self._marks[name], self._shares[name], strict=True)
            }
            drawn = Estimate(*selector.estimates(self.size), counted)
            if name not in found or not math.isfinite(found[name].worst) or found[name].worst > 2 * drawn.worst:
                found[name] = drawn
        return found

    def tally(self, name: str, estimate: Estimate) -> Tally:
        """What is known of one output."""
        sums, finite = self._sums[name]
        values = np.concatenate(self._columns[name], axis=1)
        values = values[np.isfinite(values)]
        sd = float(np.std(values, dtype=np.float64)) if values.size else math.inf
        endless = 1 - float(finite.sum()) / (self.size * len(finite))
        return Tally(
            estimate.quantiles,
            estimate.errors,
            float(mean_of(sums.sum(), finite.sum())),
            float(standard_error(mean_of(sums, finite))),
            sd,
            endless,
            estimate.smoothed,
        )

    def _accurate(self) -> bool:
        """Whether every quantile has the relative standard error that was asked for."""
        if self._goal.accuracy is None:
            return False
        drawn = (Estimate(*selector.estimates(self.size), {}) for selector in self._selectors.values())
        return all(one.accurate(self._goal.accuracy) for one in drawn)

    def _stage(self, interrupted: Callable[[], bool]) -> bool:
        """As many draws again as there are; whether it was interrupted."""
        keeping = self.size < self._keep
        # What is kept every process draws for itself.
        team = ALONE if keeping else self._team
        # Two sizes and no more: each is compiled anew.
        count = self._job.count if self.size >= self._job.count else min(self._first, self._job.count)
        chunks = range(team.rank, self.size // count, team.size)
        thresholds = dict.fromkeys(self.names, self._nothing)
        thresholds |= {name: np.stack(one.thresholds()) for name, one in self._selectors.items()}
        drawn = self.size * self._job.points.replicates
        planned = self._job.points.draws if self._goal.accuracy is None else 2 * drawn

        def draw(number: int) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
            start, stride = self._job.points.counters(self.size, number, count)
            return self._job.chunk(start, stride, count, thresholds, self._job.kept if drawn < _LONG else self.names)

        done = 0
        sums = {name: np.zeros_like(one) for name, one in self._sums.items()}
        shares = {name: np.zeros_like(one) for name, one in self._shares.items()}
        ahead = draw(chunks[0]) if chunks else None
        for turn in range(len(chunks)):
            if interrupted() or ahead is None:
                break
            team.check()
            # The kernel draws the next chunk while this one is counted.
            (arrays, codes), ahead = ahead, draw(chunks[turn + 1]) if turn + 1 < len(chunks) else None
            self._count(arrays, codes, sums, shares)
            for name in self._job.kept if keeping else ():
                self._columns[name].append(np.asarray(arrays[name]))
            done += 1
            drawn += count * team.size * self._job.points.replicates
            self._progress(drawn, planned)
        parts = [np.array([done, interrupted()]), *sums.values(), *shares.values()]
        for selector in self._selectors.values():
            parts += selector.take()
        stop = False
        for state, *rest in team.gather(parts):
            self.size += int(state[0]) * count
            stop = stop or bool(state[1])
            self._sums = {name: one + rest.pop(0) for name, one in self._sums.items()}
            self._shares = {name: one + rest.pop(0) for name, one in self._shares.items()}
            for selector in self._selectors.values():
                selector.absorb([rest.pop(0) for _ in range(4)])
        return stop

    def _count(
        self,
        arrays: Mapping[str, jax.Array],
        codes: Mapping[str, jax.Array],
        sums: dict[str, Floats],
        shares: dict[str, Counts],
    ) -> None:
        """One chunk."""
        for name in self.names:
            brackets = self._selectors[name].brackets if name in self._selectors else 0
            one = counted(arrays[name], codes.get(name), brackets, self._marks[name])
            sums[name] += (one.sums, one.finite)
            shares[name] += one.shares
            if name in self._selectors:
                self._selectors[name].add(one)
            endless = one.finite.sum() < arrays[name].size and not self._job.scenario.plan.endless(name)
            if endless or not one.lowest > QUANTITIES[name].low:
                check_possible({name: np.asarray(arrays[name])}, self._job.scenario)


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Within the block Ctrl-C is remembered instead of raised; a second one is raised."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    asked = False
    before = signal.getsignal(signal.SIGINT)

    def remember(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
