"""How large a cluster: one scenario over numbers of accelerators, and the smallest that fits and is in time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from uncertain_botec.distributions import level_of_u
from uncertain_botec.draws import Draws
from uncertain_botec.errors import UsageError
from uncertain_botec.scenario import Scenario
from uncertain_botec.summaries import LimitSummary, OutputSummary, limit_summary, output_summary, without_infinity
from uncertain_botec.tallies import tallies_of

DEFAULT_DRAWS = 1 << 17
CONFIDENCE = 0.9

# The ladder goes from an eighth of the stated accelerators to eight times as many, and upward from there in search of a
# deadline until this many doublings show that more accelerators do not help.
_STEPS = range(-3, 4)
_MOST_DOUBLINGS = 20
_MOST_ACCELERATORS = 1 << 40
# Where no size keeps the deadline, the one that comes nearest is found to this part of it: the chance is flat there.
_NEAR = 1 / 64


@dataclass(frozen=True)
class Size:
    """One number of accelerators.

    Attributes:
        accelerators: how many.
        outputs: `training_time` and `cost`.
        limits: `deadline`, `budget` and `memory`, those there are.
        finishes: the probability that the run finishes at all.
    """

    accelerators: int
    outputs: Mapping[str, OutputSummary]
    limits: Mapping[str, LimitSummary]
    finishes: float

    def keeps(self, limit: str, confidence: float) -> bool:
        """Whether a limit is kept with at least this probability; one that is not stated always is."""
        return limit not in self.limits or self.limits[limit].probability >= confidence


@dataclass(frozen=True)
class Sizing:
    """A scenario over cluster sizes.

    Attributes:
        scenario: as loaded, with its own number of accelerators.
        confidence: the probability with which limits are to be kept.
        granularity: sizes are multiples of this many accelerators.
        sizes: in ascending order.
        fits: the smallest size whose memory suffices at that confidence, or None.
        in_time: the smallest size that keeps the deadline at that confidence, or None.
        smallest: the smallest that does both of what is asked, each at that confidence, or None.
        notes: what the reader should know, such as why there is no smallest size.
    """

    scenario: Scenario
    confidence: float
    granularity: int
    sizes: tuple[Size, ...]
    fits: int | None
    in_time: int | None
    smallest: int | None
    notes: tuple[str, ...]

    @property
    def unmet(self) -> tuple[str, ...]:
        """The stated requirements that no size meets."""
        asked = (("memory", self.fits), ("deadline", self.in_time))
        stated = {name for one in self.sizes for name in one.limits}
        alone = tuple(name for name, size in asked if name in stated and size is None)
        apart = stated & {"memory", "deadline"} and self.smallest is None
        return alone or (("memory and deadline at once",) if apart else ())

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/size/1`; numbers are unrounded, infinite ones null."""
        return {
            "schema": "uncertain-botec/size/1",
            "scenario": {"title": self.scenario.title, "path": self.scenario.path, "sha256": self.scenario.sha256},
            "choices": dict(self.scenario.choices),
            "confidence": self.confidence,
            "granularity": self.granularity,
            "sizes": [without_infinity(asdict(one)) for one in self.sizes],
            "smallest_that_fits": self.fits,
            "smallest_in_time": self.in_time,
            "smallest": self.smallest,
            "unmet": list(self.unmet),
            "notes": list(self.notes),
        }


def size(
    scenario: Scenario,
    sizes: Sequence[int] | None = None,
    *,
    confidence: float = CONFIDENCE,
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
    **options: Any,
) -> Sizing:
    """Forecast a scenario over numbers of accelerators, with the same draws of everything else.

    Args:
        scenario: whose estimator takes `accelerators`; what it states of them is replaced.
        sizes: numbers of accelerators; by default a ladder around the median of the stated ones.
        confidence: the probability with which memory and deadline are to be kept.
        draws: at least how many for each size.
        seed: of the randomisations.
        options: further options of `sample`.

    Returns:
        The sizes and the smallest ones that meet what is asked.

    Raises:
        UsageError: the scenario takes no accelerators, or an option cannot be used.
        SamplingError: draws that cannot be used.
    """
    from uncertain_botec.sampling.engine import sample

    if "accelerators" not in scenario.inputs:
        raise UsageError(f"{scenario.path}: the answer does not depend on accelerators, so there is nothing to size")
    if not 0 < confidence < 1:
        raise UsageError(f"a confidence of {confidence:g} is not between 0 and 1")
    if sizes is not None and not all(1 <= one <= _MOST_ACCELERATORS and one == int(one) for one in sizes):
        raise UsageError("sizes are whole numbers of accelerators, from 1")
    granularity = granularity_of(scenario)
    notes = [] if scenario.inputs["accelerators"].known else ["accelerators are uncertain in the file; here each size"]
    wanted = sorted(set(map(int, sizes))) if sizes else _ladder(scenario, granularity)
    left_out = [one for one in wanted if one < granularity]
    if left_out:
        notes.append(f"{_listed(left_out)} accelerators hold no replica of this layout, which takes {granularity:,}")
    usable = [one for one in wanted if one >= granularity]
    if not usable:
        raise UsageError(f"every size is below {granularity:,} accelerators, which one replica of this layout takes")
    found: dict[int, Size] = {}

    def draw(number: int) -> Draws:
        return sample(scenario.but(accelerators=number), draws, seed=seed, **options)

    def at(number: int) -> Size:
        # The draws themselves are let go: those of a search would fill any memory.
        if number not in found:
            found[number] = _summarized(number, draw(number))
        return found[number]

    first = draw(usable[0])
    found[usable[0]] = _summarized(usable[0], first)
    fits, why = _fits(first, confidence, granularity)
    del first
    notes += [why] if why else []
    in_time: int | None = None
    if "deadline" in at(usable[0]).limits:
        in_time, why = _in_time(_starts(granularity, usable, granularity), at, confidence, granularity)
        notes += [f"no size keeps the deadline; {why}"] if why else []
    else:
        notes.append("no deadline is stated")
    asked = [one for one, name in ((fits, "memory"), (in_time, "deadline")) if name in at(usable[0]).limits]
    smallest = max(one for one in asked if one is not None) if asked and None not in asked else None
    # A size beyond the smallest in time may be late again, for failures grow with it.
    if smallest is not None and not at(smallest).keeps("deadline", confidence):
        smallest, why = _in_time(_starts(smallest, usable, granularity), at, confidence, granularity)
        notes += [f"no size that fits keeps the deadline; {why}"] if why else []
    # What was found by search stands among the rest.
    shown = {*usable, *(one for one in (fits, in_time, smallest) if one is not None)}
    return Sizing(
        scenario, confidence, granularity, tuple(map(at, sorted(shown))), fits, in_time, smallest, tuple(notes)
    )


def _largest(scenario: Scenario, name: str) -> float:
    """The largest that an input may be, and 1 where it is not stated or has no bound."""
    one = scenario.inputs.get(name)
    high = 1.0 if one is None else one.distribution.support[1]
    return high if math.isfinite(high) else 1.0


def granularity_of(scenario: Scenario) -> int:
    """Accelerators that one replica of the layout takes; without a layout, those of a node."""
    if "data_parallel" in scenario.plan.outputs:
        group = max(_largest(scenario, "tensor_parallel"), _largest(scenario, "expert_parallel"))
        return max(1, math.ceil(group * _largest(scenario, "pipeline_parallel")))
    return max(1, math.ceil(_largest(scenario, "accelerators_per_node")))


def _ladder(scenario: Scenario, granularity: int) -> list[int]:
    """Powers of two around the stated number, as multiples of the granularity, without duplicates."""
    median = float(scenario.inputs["accelerators"].distribution.quantile(level_of_u(np.array([0.5])))[0])
    steps = (max(1, round(median * 2.0**step / granularity)) * granularity for step in _STEPS)
    return sorted({min(one, _MOST_ACCELERATORS) for one in steps})


def _summarized(number: int, drawn: Draws) -> Size:
    reported = ("training_time", "cost")
    tallies = tallies_of(drawn, reported)
    outputs: dict[str, OutputSummary] = {n: output_summary(tallies, n) for n in reported if n in drawn.outputs}
    limits = {
        name: limit_summary(tallies, marker)
        for name, marker in drawn.scenario.limits.items()
        if marker.output in drawn.values
    }
    endless = outputs["training_time"].endless if "training_time" in outputs else 0.0
    return Size(number, outputs, limits, 1 - endless)


def _fits(drawn: Draws, confidence: float, granularity: int) -> tuple[int | None, str]:
    """The smallest size that fits, which the draws of any size tell, or why there is none."""
    if "minimum_accelerators" not in drawn.values:
        return None, "memory is not looked at: state optimizer, micro_batch, tensor_parallel, pipeline_parallel, ..."
    needed = np.sort(drawn["minimum_accelerators"], axis=None)
    # Compared as a part of the draws, which is how the probability of a limit is: their product with it may round up.
    parts = np.arange(1, needed.size + 1) / needed.size
    number = float(needed[np.searchsorted(parts, confidence)])
    if number > _MOST_ACCELERATORS:
        return None, "no number of accelerators makes this layout fit: shard more, split more, or recompute activations"
    return math.ceil(number / granularity) * granularity, ""


def _starts(least: int, sizes: Iterable[int], granularity: int) -> list[int]:
    """Where a search looks first: the least size that is allowed, and the multiples at or next above the others."""
    multiples = {-(-one // granularity) * granularity for one in sizes}
    return sorted({least, *(one for one in multiples if one > least)})


def _in_time(
    starts: Sequence[int], at: Callable[[int], Size], confidence: float, granularity: int
) -> tuple[int | None, str]:
    """The smallest size from the first start on that keeps the deadline, or what comes nearest.

    It is exact where the chance of keeping the deadline rises with the size and then, where failures outgrow the
    speed-up, falls again.
    """
    tried: dict[int, Size] = {}
    for one in _upward(starts, at):
        tried[one.accelerators] = one
        if one.keeps("deadline", confidence):
            break
    else:
        tried |= _around_the_best(tried, at, confidence, granularity)
    numbers = sorted(tried)
    meeting = [place for place, one in enumerate(numbers) if tried[one].keeps("deadline", confidence)]
    if not meeting:
        best = max(tried.values(), key=_nearness)
        chance = 100 * best.limits["deadline"].probability
        return None, f"about {best.accelerators:,} accelerators come nearest, with {chance:.3g} %"
    low, high = numbers[max(meeting[0] - 1, 0)], numbers[meeting[0]]
    while high - low > granularity:
        middle = _between(low, high, granularity)
        low, high = (low, middle) if at(middle).keeps("deadline", confidence) else (middle, high)
    return high, ""


def _upward(starts: Sequence[int], at: Callable[[int], Size]) -> Iterator[Size]:
    """The starts, and then the last doubled again and again, until that only makes it worse."""
    best = 0.0
    for number in starts:
        one = at(number)
        yield one
        best = max(best, one.limits["deadline"].probability)
    number = starts[-1]
    for _ in range(_MOST_DOUBLINGS):
        number *= 2
        if number > _MOST_ACCELERATORS:
            return
        one = at(number)
        yield one
        chance = one.limits["deadline"].probability
        if chance < best or one.finishes == 0:
            return
        best = chance


def _around_the_best(
    tried: Mapping[int, Size], at: Callable[[int], Size], confidence: float, granularity: int
) -> dict[int, Size]:
    """Sizes ever closer around the one that comes nearest to the deadline, until one keeps it."""
    seen = dict(tried)
    numbers = sorted(tried)
    while True:
        place = numbers.index(max(numbers, key=lambda one: _nearness(seen[one])))
        best, numbers = numbers[place], numbers[max(place - 1, 0) : place + 2]
        narrow = numbers[-1] - numbers[0] <= max(2 * granularity, best * _NEAR)
        if narrow or seen[best].keeps("deadline", confidence):
            return seen
        numbers = sorted({*numbers, *(_between(low, high, granularity) for low, high in pairwise(numbers))})
        seen |= {one: at(one) for one in numbers}


def _nearness(one: Size) -> tuple[float, float]:
    """How near a size comes to the deadline: its chance, and among equal ones how soon the quick tenth of runs is."""
    return one.limits["deadline"].probability, -one.outputs["training_time"].p10


def _between(low: int, high: int, granularity: int) -> int:
    """A multiple of the granularity near the middle of two others."""
    return (low + high) // 2 // granularity * granularity


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"{one:,}" for one in numbers)
