"""A run over a grid of choices on common points: P50 and P90 everywhere, the cheapest in time, and the Pareto front."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from uncertain_botec.decisions.axes import Axis, read_axes
from uncertain_botec.decisions.estimating import estimated, missed
from uncertain_botec.decisions.figures import (
    CONFIDENCE,
    DecisionError,
    chance_of,
    decided_by,
    percent_of,
    spread_of,
)
from uncertain_botec.decisions.surface import Point, Sweep, told
from uncertain_botec.errors import Fault, UsageError
from uncertain_botec.library import did_you_mean
from uncertain_botec.risk.measures import Chance
from uncertain_botec.risk.requirements import written
from uncertain_botec.scenario import Scenario
from uncertain_botec.sizing import granularity_of
from uncertain_botec.vocabulary import COST, QUANTITIES, TIME

if TYPE_CHECKING:
    from uncertain_botec.tallies import Estimate

ACCURACY = 5e-3
"""The relative standard error of a quantile that is enough to choose by."""

# P90s that differ by less than this, relative to themselves, are the same number solved for or rounded otherwise.
_SAME = 1e-6

_LIMITED = {"deadline": TIME, "budget": COST, "memory": "memory_utilisation"}


def sweep(
    run: str | Path | Scenario,
    over: Iterable[str | Axis] | Mapping[str, Sequence[float | str]],
    *,
    settings: Sequence[str] = (),
    confidence: float = CONFIDENCE,
    accuracy: float = ACCURACY,
    seed: int = 0,
    device: str = "auto",
) -> Sweep:
    """Evaluate a run at every point of a grid, all on the same points.

    Args:
        run: a prior file, the name of a shipped run, or a scenario; a scenario has only inputs to vary.
        over: what to vary, such as "accelerators=256:8192:x2" and "prices=neocloud-2026,hyperscaler-2026", or values
            by name.
        settings: as of `load_scenario`, for a run that is loaded.
        confidence: the probability with which deadline and memory are to be kept.
        accuracy: the relative standard error that quantiles are to have where they can be smooth.
        seed: of the randomisations.
        device: "auto" (the accelerator if there is one), "cpu" or "gpu".

    Returns:
        The sweep, in printed units.

    Raises:
        UsageError: what cannot be varied, or an option that cannot be used.
        PriorFileError: a run that cannot be loaded at a point.
        SamplingError: draws that cannot be used.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"a confidence of {confidence:g} is not between 0 and 1")
    axes, scenarios = grid(run, over, settings)
    outputs = [_wanted(one) for one in scenarios]
    estimates = estimated(scenarios, outputs, accuracy, seed, device)
    bare = [
        _point(tuple(axis.printed(place) for axis, place in zip(axes, places, strict=True)), one, found, confidence)
        for places, one, found in zip(_places(axes), scenarios, estimates, strict=True)
    ]
    front = _front(bare)
    efficient = {*front}
    points = tuple(
        Point(one.at, one.outputs, one.limits, one.keeps, place in efficient) for place, one in enumerate(bare)
    )
    return Sweep(
        scenarios[0],
        axes,
        confidence,
        points,
        _cheapest(points),
        front,
        (*_notes(axes, scenarios, points, confidence), *missed(estimates, decided_by(scenarios[0]), accuracy)),
        seed,
    )


def _places(axes: Sequence[Axis]) -> Iterator[tuple[int, ...]]:
    """The place of every point's value on each axis."""
    return itertools.product(*(range(len(axis.values)) for axis in axes))


def _wanted(scenario: Scenario) -> tuple[str, ...]:
    memory = _LIMITED["memory"]
    chosen = decided_by(scenario)
    return (*chosen, memory) if memory in scenario.plan.outputs and memory not in chosen else chosen


# --- scenarios --------------------------------------------------------------------------------------------------------


class _Runs:
    """A run that is loaded with further settings and files, each of them once."""

    def __init__(self, run: str | Path | Scenario, settings: tuple[str, ...]) -> None:
        self.run, self.settings = run, settings
        if isinstance(run, Scenario) and settings:
            raise UsageError("settings are for a run that is loaded, not for a scenario")
        self.made: dict[tuple[tuple[str, ...], tuple[str, ...]], Scenario] = {}

    @property
    def loaded(self) -> bool:
        """Whether there is a file to load again."""
        return not isinstance(self.run, Scenario)

    def load(self, settings: tuple[str, ...] = (), files: tuple[str, ...] = ()) -> Scenario:
        """The scenario with these settings and files besides."""
        if isinstance(self.run, Scenario):
            return self.run
        # What reads prior files loads pydantic.
        from uncertain_botec.prior_files.loading import load_scenario

        if (settings, files) not in self.made:
            self.made[settings, files] = load_scenario(self.run, (*self.settings, *settings), including=files)
        return self.made[settings, files]


def grid(
    run: str | Path | Scenario,
    over: Iterable[str | Axis] | Mapping[str, Sequence[float | str]],
    settings: Sequence[str] = (),
) -> tuple[tuple[Axis, ...], list[Scenario]]:
    """What is varied, and a scenario for every point; arguments and errors are those of `sweep`.

    Numbers are put into a loaded scenario, which takes no time, except those from which more follows.
    """
    runs = _Runs(run, tuple(settings))
    base = runs.load()
    axes = read_axes(over, base.plan.inputs)
    # Before any is loaded as a setting, whose faults would be those of the file.
    asked = {COST, TIME} & {*base.plan.outputs} - {*base.inputs}
    if faults := [_is_output(axis) for axis in axes if axis.name in asked]:
        raise DecisionError(faults)
    if not runs.loaded and (words := [axis for axis in axes if axis.kind != "input"]):
        raise DecisionError([_needs_file(axis) for axis in words])
    followed = {axis.name for axis in axes if axis.kind == "input" and _has_followers(runs, base, axes, axis)}
    numbers = [axis.kind == "input" and axis.name not in followed for axis in axes]
    found = []
    for places in _places(axes):
        at = [(axis, axis.values[place], plain) for axis, place, plain in zip(axes, places, numbers, strict=True)]
        told = tuple(_setting(axis, value) for axis, value, plain in at if not plain and axis.kind != "file")
        files = tuple(value for axis, value, _ in at if axis.kind == "file")
        one = runs.load(told, files)
        found.append(one.but(**{axis.name: value for axis, value, plain in at if plain}))
    _check_files(axes, found)
    _check_influence([axis for axis in axes if axis.name not in followed], found)
    return axes, found


def _needs_file(axis: Axis) -> Fault:
    expected, fix = "inputs of the scenario", "give the run's name or its file in place of the scenario"
    return Fault(f"{axis.name} is read from a file", "--over", axis.name, "a scenario", expected, fix)


def _is_output(axis: Axis) -> Fault:
    message = f"{axis.name} is an output, which follows from inputs"
    return Fault(message, "--over", axis.name, axis.name, "an input", "vary what it follows from: `botec explain`")


def _setting(axis: Axis, value: float | str) -> str:
    if axis.kind == "choice":
        return f"{axis.name}={value}"
    return f"inputs.{axis.name}={written(float(value), QUANTITIES[axis.name])}"


def _has_followers(runs: _Runs, base: Scenario, axes: Sequence[Axis], axis: Axis) -> bool:
    """Whether a file that states another value of an input means something else by other inputs, too.

    It may do so under some choices alone.
    """
    if not runs.loaded:
        return False
    words = [[_setting(one, word) for word in one.values] for one in axes if one.kind == "choice"]
    files = tuple(one.values[0] for one in axes if one.kind == "file")
    for choices in itertools.product(*words):
        before = runs.load(choices, files)
        for value in {axis.values[0], axis.values[-1]}:
            loaded = runs.load((*choices, _setting(axis, value)), files)
            if _but(loaded, axis) != _but(before.but(**{axis.name: value}), axis):
                return True
    return False


def _but(scenario: Scenario, axis: Axis) -> tuple[object, ...]:
    """What a scenario says besides an axis."""
    others = {name: one.distribution for name, one in scenario.inputs.items() if name != axis.name}
    return others, scenario.plan, scenario.dependence


def _check_files(axes: Sequence[Axis], scenarios: Sequence[Scenario]) -> None:
    """Refuse files that state nothing which any point takes."""
    faults = []
    for number, axis in enumerate(axes):
        if axis.kind != "file":
            continue
        for place, file in enumerate(axis.values):
            some = [one for at, one in zip(_places(axes), scenarios, strict=True) if at[number] == place]
            origins = {taken.origin for one in some for taken in one.inputs.values()}
            if not any(origin.endswith(file.removesuffix(".toml") + ".toml") for origin in origins):
                message = f"{file} states nothing that this run takes"
                expected = "a file about the run's accelerator, and none of whose statements the run makes itself"
                faults.append(Fault(message, "--over", axis.name, axis.labels[place], expected))
    if faults:
        raise DecisionError(faults)


def _check_influence(axes: Sequence[Axis], scenarios: Sequence[Scenario]) -> None:
    """Refuse axes along which nothing can change."""
    faults = []
    # Points that differ in numbers alone share a plan, and are asked once.
    kinds = {(one.plan, tuple(one.choices_in_force)): one for one in scenarios}.values()
    taken = sorted({name for one in kinds for name in _reaching(one)})
    for axis in axes:
        if axis.kind == "input" and axis.name not in taken:
            message = f"{axis.name} moves neither {' nor '.join(decided_by(scenarios[0]))} here"
            expected = f"one of {', '.join(taken)}"
            fix = did_you_mean(axis.name, taken)
            faults.append(Fault(message, "--over", axis.name, axis.name, expected, fix))
        elif axis.name in scenarios[0].choices and not any(axis.name in one.choices_in_force for one in kinds):
            others = dict.fromkeys(name for one in kinds for name in one.choices_in_force)
            expected = f"one of {', '.join(others)}" if others else "an input, for no choice bears on this run"
            message = f"{axis.name} bears on nothing that is reported here"
            faults.append(Fault(message, "--over", axis.name, axis.name, expected))
    if faults:
        raise DecisionError(faults)


def _reaching(scenario: Scenario) -> set[str]:
    """The inputs that move what a point is chosen by."""
    return {name for output in _wanted(scenario) for name in scenario.plan.reaching(output)}


# --- points ----------------------------------------------------------------------------------------------------------


def _point(
    at: tuple[float | str, ...], scenario: Scenario, estimates: Mapping[str, Estimate], confidence: float
) -> Point:
    outputs = {name: spread_of(name, estimates[name]) for name in decided_by(scenario)}
    limits = {
        name: chance_of(estimates[output].shares[scenario.limits[name].value])
        for name, output in _LIMITED.items()
        if name in scenario.limits and output in estimates
    }
    keeps = all(limits[name].value >= confidence for name in ("deadline", "memory") if name in limits)
    return Point(at, outputs, limits, keeps and not _holds_no_replica(scenario), efficient=False)


def _holds_no_replica(scenario: Scenario) -> bool:
    number = scenario.known.get("accelerators")
    return number is not None and "data_parallel" in scenario.plan.outputs and number < granularity_of(scenario)


def _p90(point: Point, name: str) -> float:
    return point.outputs[name].p90 if name in point.outputs else math.inf


def _cheapest(points: Sequence[Point]) -> int | None:
    """The least P90 of cost among the points that keep what is asked; among equal ones the fastest."""
    keeping = [place for place, one in enumerate(points) if one.keeps and math.isfinite(_p90(one, COST))]
    least = min((_p90(points[place], COST) for place in keeping), default=math.inf) * (1 + _SAME)
    equal = [place for place in keeping if _p90(points[place], COST) <= least]
    return min(equal, key=lambda place: _p90(points[place], TIME), default=None)


def _front(points: Sequence[Point]) -> tuple[int, ...]:
    """The points that no other beats in P90 of both cost and time, from the cheapest on; of equal ones the first."""
    both = [(_p90(one, COST), _p90(one, TIME), place) for place, one in enumerate(points)]
    found: list[tuple[float, float, int]] = []
    for cost, time, place in sorted(one for one in both if math.isfinite(one[0] + one[1])):
        if found and time >= found[-1][1] * (1 - _SAME):
            continue
        # As cheap as the one before, and faster.
        if found and cost <= found[-1][0] * (1 + _SAME):
            found.pop()
        found.append((cost, time, place))
    return tuple(place for _, _, place in found)


def _notes(
    axes: Sequence[Axis], scenarios: Sequence[Scenario], points: Sequence[Point], confidence: float
) -> Iterator[str]:
    limits = {name for one in points for name in one.limits}
    if all(COST not in one.outputs for one in points):
        yield "no cost is computed here, so none is the cheapest"
    if "deadline" not in limits:
        yield "no deadline is stated"
    if not any(one.keeps for one in points) and "deadline" in limits:
        chances = [one.limits.get("deadline", Chance(0.0, 0.0, 0.0, 0.0)) for one in points]
        nearest = max(range(len(points)), key=lambda place: chances[place].value)
        place = told(axes, points[nearest])
        yield (
            f"no point keeps what is asked with {100 * confidence:g} %; {place} comes nearest to the deadline, "
            f"with {percent_of(chances[nearest])}"
        )
    small = sum(map(_holds_no_replica, scenarios))
    if small:
        yield f"{small:,} points have too few accelerators for one replica of the layout"
    endless = sum(math.isinf(_p90(one, TIME)) for one in points if TIME in one.outputs)
    if endless:
        yield f"P90 of the time is infinite at {endless:,} points: runs that never finish"
