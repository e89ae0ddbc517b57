"""Thousands of scenarios that differ in numbers only: one compiled kernel over blocks of them, on common points.

Common points are common random numbers: what differs between two scenarios of a batch is the scenarios, not the draws.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uncertain_botec.planning import Plan
from uncertain_botec.sampling.engine import beliefs_of, certain_values, devices_of, numbers_of
from uncertain_botec.sampling.integrating import checked, laws_of
from uncertain_botec.sampling.kernel import Beliefs, drawn_inputs
from uncertain_botec.sampling.points import PointSet, point_set
from uncertain_botec.sampling.smooth import Smooth, smooth
from uncertain_botec.sampling.smoothing import Line, lines, without_luck
from uncertain_botec.sampling.streaming import ACCURACY, Goal, stream
from uncertain_botec.scenario import Scenario
from uncertain_botec.tallies import LEVELS, Estimate, Share

# Points of each scenario to try one after the other, and the least relative standard error that can be hoped for of so
# many; scenarios that none of them serves are left to draws.
_SIZES = {1 << 12: 3e-4, 1 << 14: 3e-5, 1 << 16: 0.0}

# Scenarios that one call of the kernel takes at most: few enough that its arrays stay in a processor's own cache.
_BLOCK = 16


def estimate_many(
    scenarios: Sequence[Scenario],
    outputs: Collection[str],
    *,
    accuracy: float = ACCURACY,
    points: int | None = None,
    seed: int = 0,
    sampler: str = "sobol",
    device: str = "auto",
    draw: bool = True,
) -> list[dict[str, Estimate]]:
    """The quantiles of some outputs of many scenarios, each to an accuracy, and what lies within their limits.

    Args:
        scenarios: what to draw from. Those with the same formulas and families share what is compiled.
        outputs: which to look at.
        accuracy: the relative standard error that every quantile is to have.
        points: of each scenario, at least, where outputs can be smooth; then accuracy is for the other outputs alone.
        seed: of the randomisations, which all scenarios share.
        sampler: as of `stream`. Scrambled Sobol points are as accurate here as any, and their replicates nearly
            normal, so that errors are what they say from a few thousand points on.
        device: as of `stream`.
        draw: whether outputs that cannot be smooth are drawn, scenario by scenario; without it they are left out.

    Returns:
        For each scenario the estimates of those outputs that it has; exact ones where they are known.
    """
    found: list[dict[str, Estimate]] = [_exact(one, outputs) for one in scenarios]
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, one in enumerate(scenarios):
        groups[_kind(one, outputs)].append(place)
    sizes = [size for size, least in _SIZES.items() if accuracy >= least] if points is None else [points]
    sets = [point_set(sampler, size, seed) for size in sizes]
    enough = accuracy if points is None else math.inf
    for places in groups.values():
        alike = [scenarios[place] for place in places]
        for place, estimates in zip(places, _accurate(alike, outputs, enough, sets, device), strict=True):
            found[place] |= estimates
    for one, estimates in zip(scenarios, found, strict=True):
        rest = {name for name in outputs if name in one.plan.outputs and name not in estimates}
        if rest and draw:
            goal = Goal(accuracy=accuracy, outputs=rest)
            drawn = stream(one, goal, seed=seed, sampler=sampler, device=device)
            shares = {
                name: {marker.value: drawn.limits[marker.name] for marker in _markers(one, name)} for name in rest
            }
            estimates |= {
                name: Estimate(tally.quantiles, tally.errors, shares[name], tally.smoothed)
                for name, tally in drawn.outputs.items()
            }
    return found


def _markers(scenario: Scenario, output: str) -> list[Any]:
    return [marker for marker in scenario.limits.values() if marker.output == output]


def _marks(scenario: Scenario, output: str) -> tuple[float, ...]:
    return tuple(marker.value for marker in _markers(scenario, output))


def _kind(scenario: Scenario, outputs: Collection[str]) -> Hashable:
    """What scenarios that share a kernel have in common."""
    forms = {name: scenario.inputs[name].distribution.sampling_form() for name in scenario.uncertain}
    leaves, structure = jax.tree.flatten((forms, scenario.known))
    return (
        scenario.plan,
        structure,
        tuple(np.shape(leaf) for leaf in leaves),
        scenario.dependence and scenario.dependence.names,
        tuple(len(_marks(scenario, name)) for name in outputs),
    )


def _accurate(
    scenarios: Sequence[Scenario], outputs: Collection[str], accuracy: float, sets: Sequence[PointSet], device: str
) -> list[dict[str, Estimate]]:
    """Those smooth estimates of scenarios of one kind that are accurate, from the first points that make them so."""
    found: list[dict[str, Estimate]] = [{} for _ in scenarios]
    wanted = tuple(line for line in lines(scenarios[0]) if line.output in outputs)
    places = [*range(len(scenarios))] if wanted else []
    for points in sets:
        if not places:
            break
        smoothed = _smooth([scenarios[place] for place in places], wanted, points, device)
        lacking = []
        for place, estimates in zip(places, smoothed, strict=True):
            found[place] = {name: one for name, one in estimates.items() if one.accurate(accuracy)}
            if len(found[place]) < len(estimates):
                lacking.append(place)
        places = lacking
    return found


def _smooth(
    scenarios: Sequence[Scenario], wanted: tuple[Line, ...], points: PointSet, device: str
) -> list[dict[str, Estimate]]:
    """The smooth estimates of scenarios of one kind, block by block."""
    first, dtype = scenarios[0], np.dtype(np.float64)
    common = beliefs_of(first, points, dtype)
    # Two sizes and no more: each is compiled anew.
    room = _BLOCK if len(scenarios) > 1 else 1
    found = []
    for start in range(0, len(scenarios), room):
        block = scenarios[start : start + room]
        filled = [*block, *[block[-1]] * (room - len(block))]
        told = [
            (
                numbers_of(one, dtype),
                laws_of(one, wanted),
                {line.output: np.array(_marks(one, line.output), dtype) for line in wanted},
            )
            for one in filled
        ]
        numbers, laws, marks = jax.tree.map(lambda *leaves: np.stack(leaves), *told)
        with jax.enable_x64(True), jax.default_device(devices_of(device)[0]):
            results = _kernel(
                common._replace(forms=numbers[0], known=numbers[1], factor=numbers[2]),
                laws,
                marks,
                np.array([*LEVELS.values()]),
                count=points.size,
                plan=without_luck(first.plan),
                wanted=wanted,
                correlated=first.dependence.names if first.dependence else (),
            )
            results = jax.device_get(results)
        for place, one in enumerate(block):
            mine = {name: Smooth(*(leaf[place] for leaf in result)) for name, result in results.items()}
            marked = {line.output: _marks(one, line.output) for line in wanted}
            found.append(checked(one, wanted, mine, marked, points.draws))
    return found


@partial(jax.jit, static_argnames=("count", "plan", "wanted", "correlated"))
def _kernel(
    beliefs: Beliefs,
    laws: Mapping[str, Any],
    marks: Mapping[str, Any],
    levels: Any,
    *,
    count: int,
    plan: Plan,
    wanted: tuple[Line, ...],
    correlated: tuple[str, ...],
) -> dict[str, Smooth]:
    """Smooth estimates with the scenario as the first axis of everything; the points are common."""

    def one(beliefs: Beliefs, laws: Mapping[str, Any], marks: Mapping[str, Any]) -> dict[str, Smooth]:
        index = jnp.arange(count, dtype=jnp.uint32)
        scores, inputs = drawn_inputs(beliefs, index, correlated, jnp.float64)
        return smooth(plan, beliefs.known, inputs, scores, laws, wanted, levels, marks, jax.lax.while_loop)

    axes: Any = (None, 0, 0, 0, None)
    return jax.vmap(one, in_axes=(Beliefs(*axes), 0, 0))(beliefs, laws, marks)


def _exact(scenario: Scenario, outputs: Collection[str]) -> dict[str, Estimate]:
    """The outputs that are known exactly."""
    certain = [name for name in outputs if name in scenario.plan.outputs and scenario.certain(name)]
    known = certain_values(scenario) if certain else {}
    exact = {}
    for name in certain:
        value = float(known[name])
        shares = {
            mark: Share(np.array([float(value <= mark)]), np.array([float(value < mark)]), None)
            for mark in _marks(scenario, name)
        }
        exact[name] = Estimate(np.full(len(LEVELS), value), np.zeros(len(LEVELS)), shares)
    return exact
