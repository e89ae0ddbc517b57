"""Goal seeking: the value of an input or a limit at which a requirement is just met, on the same draws throughout.

Common random numbers make the measure a function of the input that hardly jumps, so that halving a bracket finds where
it crosses the threshold. Whether it rises or falls, or turns, is not assumed: probes over the whole range tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from uncertain_botec.decisions.figures import shown
from uncertain_botec.decisions.objective import Objective, Within, read_within
from uncertain_botec.decisions.solution import Probe, Solution
from uncertain_botec.errors import SamplingError, UsageError
from uncertain_botec.risk.requirements import Requirement, read_requirements
from uncertain_botec.scenario import Scenario
from uncertain_botec.units import to_base
from uncertain_botec.vocabulary import LIMITS

DEFAULT_DRAWS = 1 << 16

# Without a range, probes double and halve the stated value so many times.
_DOUBLINGS = 10
_MOST_DRAWS = 1 << 22
# A bracket this narrow, in the logarithm, is a point.
_NARROW = 1e-9
# Where no value meets the requirement, the nearest is found to this part of it: the measure is flat there.
_NEAR = 1 / 64
# The slope is taken over a change of so many standard errors, at most this far to each side in the logarithm.
_CHANGE, _FARTHEST = 20.0, 0.2
# Digits of a value that is exact.
_DIGITS = 6
# A change of so many standard errors is none that chance makes.
_CLEAR = 3.0


def solve(
    scenario: Scenario,
    name: str,
    requirement: str | Requirement,
    *,
    within: Within | None = None,
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
) -> Solution:
    """Find the value of an input, or of the budget or the deadline, that a requirement takes.

    Args:
        scenario: from `load_scenario`.
        name: of an input that is positive, such as "accelerators", or "budget" or "deadline"; an uncertain input is
            replaced by values that are known.
        requirement: such as "P(training_time <= 30 day) >= 0.9", or "P(budget) >= 0.8".
        within: the range to look in, such as "256:8192" or ("20 %", "60 %"), numbers in base units; by default from a
            thousandth of the stated value to a thousand times it, as far as values can exist.
        draws: at least how many behind each value.
        seed: of the randomisations.

    Returns:
        The solution, in printed units.

    Raises:
        UsageError: a name, range or requirement that cannot be used.
        SamplingError: draws that cannot be used anywhere in the range.
    """
    if not 1 <= draws <= _MOST_DRAWS:
        raise UsageError(f"solving takes from 1 to {_MOST_DRAWS:,} draws, not {draws:,}")
    objective = Objective(scenario, name, read_requirements([requirement])[0], draws, seed)
    probes, left_out = _probed(
        objective, _ladder(objective, None if within is None else read_within(within, objective))
    )
    if not any(map(objective.met, probes)):
        probes = _around_the_best(objective, probes)
    found = _found(objective, probes)
    return _told(objective, probes, found, seed, left_out)


@dataclass(frozen=True)
class _Found:
    """Where the requirement is met, in base units; the fields are as of `Solution`."""

    side: str
    value: float | None = None
    until: float | None = None
    several: bool = False


# --- the range --------------------------------------------------------------------------------------------------------


def _ladder(objective: Objective, within: tuple[float, float] | None) -> list[float]:
    """The values to try first, evenly spread in the logarithm."""
    least, most = objective.ends
    if within is None:
        start = min(max(objective.start, least), most)
        steps = [start * 2.0**step for step in range(-_DOUBLINGS, _DOUBLINGS + 1)]
        low, high = max(steps[0], least), min(steps[-1], most)
        steps = [low, *(one for one in steps if low < one < high), high]
    else:
        low, high = max(within[0], least), min(within[1], most)
        if low >= high:
            raise UsageError(f"no {objective.name} lies within that range: it is {objective.quantity.limits}")
        count = 2 * _DOUBLINGS
        steps = [low, *(low * (high / low) ** (place / count) for place in range(1, count)), high]
    grain = objective.granularity
    if grain:
        # A range holds the multiples inside of it.
        first, last = math.ceil(low / grain) * grain, math.floor(high / grain) * grain
        steps = [float(min(max(round(one / grain) * grain, first), last)) for one in steps if first <= last]
    if not steps:
        raise UsageError(f"no multiple of {grain:,} lies within that range")
    return sorted({*steps})


def _probed(objective: Objective, ladder: Sequence[float]) -> tuple[list[float], int]:
    """The values at which there are draws, and how many have none."""
    usable, last = [], None
    for one in ladder:
        try:
            objective(one)
        except SamplingError as error:
            last = error
        else:
            usable.append(one)
    if last is not None and not usable:
        raise last
    return usable, len(ladder) - len(usable)


def _around_the_best(objective: Objective, probes: Sequence[float]) -> list[float]:
    """The probes, and others ever closer around the one that comes nearest, until one meets the requirement."""
    seen = {*probes}
    near = [*probes]
    while True:
        place = max(range(len(near)), key=lambda one: objective.better(near[one]))
        best, near = near[place], near[max(place - 1, 0) : place + 2]
        narrow = near[-1] - near[0] <= max(2 * objective.granularity, _NEAR * best)
        flat = len({objective(one).value for one in near}) == 1
        if narrow or flat or objective.met(best):
            return sorted(seen)
        near = sorted({*near, *(_middle(objective, low, high) for low, high in pairwise(near))})
        seen |= {*near}


def _best(objective: Objective, probes: Sequence[float]) -> float:
    """The value that comes nearest to the requirement; of equal ones the nearest to where one starts from."""
    start = objective.start
    return max(probes, key=lambda one: (objective.better(one), -abs(math.log(one / start))))


def _middle(objective: Objective, low: float, high: float) -> float:
    """A value that may be, near the geometric middle of two others."""
    middle = math.sqrt(low * high)
    grain = objective.granularity
    if not grain:
        return middle
    return min(max(round(middle / grain) * grain, low + grain), high - grain) if high - low > grain else low


# --- the boundary -----------------------------------------------------------------------------------------------------


def _found(objective: Objective, probes: Sequence[float]) -> _Found:
    """The values that meet the requirement: those around the probes that do, and nearest to where one starts from."""
    met = [objective.met(one) for one in probes]
    if not any(met):
        return _Found("none")
    if all(met):
        return _Found("any")
    regions = [*_runs(met)]
    start = objective.start
    first, last = min(
        regions, key=lambda ends: max(math.log(probes[ends[0]] / start), math.log(start / probes[ends[1]]), 0.0)
    )
    below = _boundary(objective, probes[first - 1], probes[first]) if first > 0 else None
    above = _boundary(objective, probes[last + 1], probes[last]) if last < len(probes) - 1 else None
    several = len(regions) > 1
    return _Found("most", above, None, several) if below is None else _Found("least", below, above, several)


def _runs(met: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The first and last place of each stretch of probes that meet the requirement."""
    first = None
    for place, one in enumerate((*met, False)):
        if one and first is None:
            first = place
        elif not one and first is not None:
            yield first, place - 1
            first = None


def _boundary(objective: Objective, unmet: float, met: float) -> float:
    """The value nearest to `unmet` that meets the requirement, by halving what lies between."""
    while abs(math.log(met / unmet)) > _NARROW and abs(met - unmet) > objective.granularity:
        middle = _middle(objective, *sorted((unmet, met)))
        if middle in (unmet, met):
            break
        if objective.met(middle):
            met = middle
        else:
            unmet = middle
    return met


def _error(objective: Objective, value: float) -> float:
    """The standard error of a boundary: that of the measure there over its slope in the logarithm of the value."""
    at = objective(value)
    if at.error == 0:
        return 0.0
    if not math.isfinite(at.error):
        return math.inf
    low, high = objective.ends
    reach = max(1e-3, objective.granularity / value)
    while True:
        left, right = (min(max(value * math.exp(side * reach), low), high) for side in (-1, 1))
        try:
            change = abs(objective(right).value - objective(left).value)
        except SamplingError:
            return math.inf
        if not math.isfinite(change):
            return math.inf
        if change >= _CHANGE * at.error or reach >= _FARTHEST:
            break
        reach *= 2
    return value * at.error * math.log(right / left) / change if change else math.inf


# --- what is told -----------------------------------------------------------------------------------------------------


def _told(objective: Objective, probes: Sequence[float], found: _Found, seed: int, left_out: int) -> Solution:
    unit = objective.quantity.unit
    error, rounded, best = None, None, None
    if found.value is not None:
        error = _error(objective, found.value)
        rounded = _rounded(objective, found.value, error, upward=found.side == "least")
    elif found.side == "none":
        best = _best(objective, probes)
    decisive = rounded if rounded is not None else best

    def printed(value: float | None) -> float | None:
        return None if value is None else shown(value, unit)

    monotone = _monotone(objective, probes)
    measured_in = objective.requirement.quantity.unit
    return Solution(
        scenario=objective.scenario,
        name=objective.name,
        unit=unit,
        requirement=str(objective.requirement),
        side=found.side,
        value=printed(found.value),
        error=printed(error),
        rounded=printed(rounded),
        until=printed(found.until),
        monotone=monotone,
        stated=printed(objective.stated),
        low=shown(probes[0], unit),
        high=shown(probes[-1], unit),
        granularity=objective.granularity,
        verdict=None if decisive is None else objective.verdict(decisive),
        best=printed(best),
        probes=tuple(
            Probe(shown(one, unit), shown(objective(one).value, measured_in), objective.met(one)) for one in probes
        ),
        notes=tuple(_notes(objective, probes, found, monotone, left_out)),
        draws=objective.draws_at(probes[0]).provenance.draws,
        seed=seed,
    )


def _rounded(objective: Objective, value: float, error: float, *, upward: bool) -> float:
    """A value with the digits that its error allows, rounded so that it still meets the requirement."""
    unit = objective.quantity.unit
    if objective.granularity:
        return value
    exact = shown(value, unit)
    grain = 10.0 ** (math.floor(math.log10(abs(exact))) - _DIGITS + 1)
    if 0 < error < math.inf:
        grain = max(grain, 10.0 ** math.floor(math.log10(shown(error, unit))))
    places = -round(math.log10(grain))
    steps = math.ceil(exact / grain - 1e-9) if upward else math.floor(exact / grain + 1e-9)
    low, high = objective.ends
    for further in (0, 1, 2):
        candidate = float(to_base(round((steps + (further if upward else -further)) * grain, max(places, 0)), unit))
        if low <= candidate <= high and candidate > 0 and objective.met(candidate):
            return candidate
    return value


def _monotone(objective: Objective, probes: Sequence[float]) -> bool:
    """Whether the measure never turns back by more than chance makes it."""
    rises, falls = False, False
    for low, high in pairwise(map(objective, probes)):
        if low.value == high.value:
            continue
        change = high.value - low.value
        error = _CLEAR * max(low.error, high.error) if math.isfinite(max(low.error, high.error)) else 0.0
        rises |= change > error
        falls |= -change > error
    return not (rises and falls)


def _notes(
    objective: Objective, probes: Sequence[float], found: _Found, monotone: bool, left_out: int
) -> Iterator[str]:
    name = objective.name
    if name not in LIMITS and not objective.scenario.inputs[name].known:
        yield f"{name} is uncertain in the run; here each value is known exactly"
    values = {objective(one).value for one in probes}
    if len(values) == 1:
        yield f"{objective.requirement.measure} is the same at every {name} that was tried"
    if not monotone:
        yield f"{objective.requirement.measure} turns back within the range: it neither rises nor falls throughout"
    if found.several:
        yield f"other values of {name}, apart from these, meet it too: see the probes"
    if left_out:
        yield f"{left_out} values at the ends of the range give no draws that can be"
    if found.side == "none":
        best = _best(objective, probes)
        if best in (probes[0], probes[-1]) and len(values) > 1 and best not in objective.ends:
            yield "the best value is at the end of the range that was looked in: --within looks farther"
