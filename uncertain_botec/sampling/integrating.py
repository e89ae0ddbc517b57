"""Smooth quantiles of the outputs of one scenario, from points that were drawn anyway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uncertain_botec.distributions import level_of_u
from uncertain_botec.draws import evenly
from uncertain_botec.sampling.smooth import SOLVED, Law, Smooth, smooth
from uncertain_botec.sampling.smoothing import STRAIGHT, Line, given, lines, without_luck
from uncertain_botec.scenario import Scenario
from uncertain_botec.tallies import LEVELS, Estimate, Floats, Share, rounding, standard_error

# Points of each replicate to try first; where they do not reach the accuracy, all there are.
_FIRST = 1 << 11

# The levels of an input whose values each line is drawn through.
_ENDS = (0.1, 0.9)


def smooth_outputs(
    scenario: Scenario,
    inputs: Mapping[str, Floats],
    sampler: str,
    accuracy: float | None,
    marks: Mapping[str, Sequence[float]],
) -> dict[str, Estimate]:
    """The outputs of a scenario that can be smoothed to an accuracy; the others are left to draws.

    In NumPy: to compile this for one scenario takes longer than to do it.

    Args:
        scenario: what is drawn from.
        inputs: its uncertain inputs, of shape (replicates, points) and in float64.
        sampler: whose points they are.
        accuracy: the relative standard error that every quantile is to have, or None for as good as these points are.
        marks: values that outputs are held against, by output; there is an entry for every output that is looked at.
    """
    wanted = tuple(line for line in lines(scenario) if line.output in marks)
    size = next(iter(inputs.values())).shape[1] if inputs else 0
    done: dict[str, Estimate] = {}
    for number in dict.fromkeys((size if accuracy is None else _FIRST, size)):
        if wanted:
            some = evenly(sampler, size, number)
            found = _smoothed(scenario, wanted, {name: x[:, some] for name, x in inputs.items()}, marks)
            done |= {name: one for name, one in found.items() if accuracy is None or one.accurate(accuracy)}
            wanted = tuple(line for line in wanted if line.output in found and line.output not in done)
    return done


def _smoothed(
    scenario: Scenario, wanted: Sequence[Line], inputs: Mapping[str, Floats], marks: Mapping[str, Sequence[float]]
) -> dict[str, Estimate]:
    """Those outputs that are straight lines at every point."""
    laws = laws_of(scenario, wanted)
    forms: dict[str, Any] = {
        other: scenario.inputs[other].distribution.sampling_form() for law in laws.values() for other in law.weights
    }
    with np.errstate(all="ignore"):
        scores = {name: form.score(inputs[name]) for name, form in forms.items()}
        found = smooth(
            without_luck(scenario.plan),
            scenario.known,
            inputs,
            scores,
            laws,
            wanted,
            np.array([*LEVELS.values()]),
            {line.output: np.array(marks[line.output], np.float64) for line in wanted},
            _loop,
        )
    return checked(scenario, wanted, found, marks, next(iter(inputs.values())).size)


def _loop(going: Any, step: Any, state: Any) -> Any:
    while going(state):
        state = step(state)
    return state


def checked(
    scenario: Scenario,
    wanted: Sequence[Line],
    found: Mapping[str, Smooth],
    marks: Mapping[str, Sequence[float]],
    points: int,
) -> dict[str, Estimate]:
    """The estimates in base units, without outputs that are no straight line somewhere, or whose F has no slope."""
    estimates = {}
    jumping = {name for name in scenario.uncertain if scenario.inputs[name].distribution.jumps}
    for line in wanted:
        one = found[line.output]
        if one.bend <= STRAIGHT and np.prod(one.slopes) > 0 and np.all(one.density > 0):
            # Evenly spread points either side of a jump are a whole number, however smooth all else is.
            rounded = points if jumping - {line.input} else 0
            least = rounding(len(one.levels_each[0]), points) if rounded else 0.0
            errors = np.maximum(standard_error(one.levels_each, axis=1), least) / one.density
            # Points may be so even that all replicates agree, and the solution is still no better than it is.
            errors = np.maximum(errors, SOLVED * np.abs(one.quantiles))
            each = zip(marks[line.output], one.marks_each, strict=True)
            shares = {mark: Share(parts, parts, None, rounded) for mark, parts in each}
            estimates[line.output] = Estimate(one.quantiles, errors, shares, line.input)
    return estimates


def laws_of(scenario: Scenario, wanted: Sequence[Line]) -> dict[str, Law]:
    """What is told of each input that is integrated out."""
    laws = {}
    for name in dict.fromkeys(line.input for line in wanted):
        distribution, one = scenario.inputs[name].distribution, given(scenario.dependence, name)
        ends = np.asarray(distribution.quantile(level_of_u(np.array(_ENDS))))
        laws[name] = Law(distribution.sampling_form(), ends, dict(one.weights), one.spread)
    return laws
