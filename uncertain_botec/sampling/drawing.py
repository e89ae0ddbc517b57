"""The same draws of many scenarios that differ in numbers only, for outputs that no integration makes smooth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uncertain_botec.planning import Plan, evaluate
from uncertain_botec.sampling.engine import beliefs_of, check_possible, devices_of, numbers_of
from uncertain_botec.sampling.kernel import Arrays, Beliefs, drawn_inputs
from uncertain_botec.sampling.luck import KernelLuck
from uncertain_botec.sampling.points import PointSet, point_set
from uncertain_botec.scenario import Scenario
from uncertain_botec.tallies import LEVELS, Estimate, Floats, Share, quantiles_and_errors

# Draws of all scenarios together that one call of the kernel makes: their arrays are to stay in a processor's cache.
_TOGETHER = 1 << 17


def drawn_many(
    scenarios: Sequence[Scenario],
    outputs: Sequence[Collection[str]],
    draws: int,
    *,
    seed: int = 0,
    device: str = "auto",
) -> list[dict[str, Estimate]]:
    """Estimates from so many draws of each scenario, which all share their points and their luck.

    Args:
        scenarios: what to draw from. Those with the same formulas and families share what is compiled.
        outputs: of each, which to look at.
        draws: of each scenario, at least.
        seed: of the randomisations.
        device: as of `stream`.

    Returns:
        For each scenario the estimates of its outputs.

    Raises:
        SamplingError: draws that cannot be used.
    """
    found: list[dict[str, Estimate]] = [{} for _ in scenarios]
    points = point_set("lattice", draws, seed)
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, (one, names) in enumerate(zip(scenarios, outputs, strict=True)):
        if names:
            groups[_kind(one, names)].append(place)
    for places in groups.values():
        alike = [scenarios[place] for place in places]
        for place, rows in zip(places, _drawn(alike, tuple(outputs[places[0]]), points, device), strict=True):
            check_possible(rows, scenarios[place])
            marks = scenarios[place].limits.values()
            found[place] = {
                name: _estimate(values, [one.value for one in marks if one.output == name])
                for name, values in rows.items()
            }
    return found


def _kind(scenario: Scenario, outputs: Collection[str]) -> Hashable:
    """What scenarios that share a kernel have in common."""
    leaves, structure = jax.tree.flatten(numbers_of(scenario, np.dtype(np.float64)))
    names = scenario.dependence.names if scenario.dependence else ()
    return scenario.plan, structure, tuple(np.shape(leaf) for leaf in leaves), names, tuple(outputs)


def _drawn(
    scenarios: Sequence[Scenario], kept: tuple[str, ...], points: PointSet, device: str
) -> list[dict[str, Floats]]:
    """Arrays of shape (replicates, points) of scenarios of one kind, block by block."""
    first, dtype = scenarios[0], np.dtype(np.float64)
    common = beliefs_of(first, points, dtype)
    room = max(1, _TOGETHER // points.draws) if len(scenarios) > 1 else 1
    found = []
    for start in range(0, len(scenarios), room):
        block = scenarios[start : start + room]
        told = [numbers_of(one, dtype) for one in (*block, *[block[-1]] * (room - len(block)))]
        forms, known, factor = jax.tree.map(lambda *leaves: np.stack(leaves), *told)
        with jax.enable_x64(True), jax.default_device(devices_of(device)[0]):
            results = _kernel(
                common._replace(forms=forms, known=known, factor=factor),
                count=points.size,
                plan=first.plan,
                kept=kept,
                correlated=first.dependence.names if first.dependence else (),
            )
            results = jax.device_get(results)
        found += [{name: array[place] for name, array in results.items()} for place in range(len(block))]
    return found


@partial(jax.jit, static_argnames=("count", "plan", "kept", "correlated"))
def _kernel(beliefs: Beliefs, *, count: int, plan: Plan, kept: tuple[str, ...], correlated: tuple[str, ...]) -> Arrays:
    """Draws with the scenario as the first axis; points and luck are common."""

    def one(beliefs: Beliefs) -> Arrays:
        index = jnp.arange(count, dtype=jnp.uint32)
        _, inputs = drawn_inputs(beliefs, index, correlated, jnp.float64)
        results = evaluate(plan, {**beliefs.known, **inputs}, KernelLuck(beliefs.keys, index, jnp.float64))
        shape = (len(beliefs.keys), count)
        return {name: jnp.broadcast_to(results[name], shape) for name in kept}

    axes: Any = (None, 0, 0, 0, None)
    made: Arrays = jax.vmap(one, in_axes=(Beliefs(*axes),))(beliefs)
    return made


def _estimate(values: Floats, marks: Sequence[float]) -> Estimate:
    """Quantiles and shares of draws, with errors from their replicates."""
    levels = list(LEVELS.values())
    rows = np.sort(values, axis=1)
    shares: Mapping[float, Share] = {
        mark: Share((rows <= mark).mean(axis=1), (rows < mark).mean(axis=1), rows.size) for mark in marks
    }
    return Estimate(*quantiles_and_errors(rows, np.sort(rows, axis=None), levels), shares)
