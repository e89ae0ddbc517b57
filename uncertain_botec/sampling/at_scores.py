"""Outputs of a scenario at given normal scores of its inputs, for those who choose the points themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uncertain_botec.distributions import Level, level_of_z
from uncertain_botec.planning import Plan, evaluate
from uncertain_botec.sampling.engine import certain_values, check_possible, devices_of, numbers_of
from uncertain_botec.sampling.kernel import Arrays
from uncertain_botec.sampling.luck import KernelLuck
from uncertain_botec.sampling.normal_score import normal_score
from uncertain_botec.sampling.points import PointSet, Words, uniforms
from uncertain_botec.scenario import Scenario
from uncertain_botec.tallies import Floats

# Points that one call of the kernel evaluates: few enough for a processor's own cache, and always as many, because
# another number would be compiled anew.
_BLOCK = 1 << 16


def outputs_at(
    scenario: Scenario,
    scores: Mapping[str, Floats],
    outputs: Sequence[str],
    *,
    luck: Words | None = None,
    points: int = 1,
    device: str = "auto",
) -> dict[str, Floats]:
    """The outputs where the inputs have these normal scores.

    Args:
        scenario: whose formulas to evaluate.
        scores: z = Phi^-1(F(x)) of uncertain inputs, already as correlated as they are to be, of shape (rows, points)
            or a shape that broadcasts to it. Inputs that are left out have their medians.
        outputs: names to give; those of inputs give the inputs' values.
        luck: the key of each row's luck, of shape (rows, 2), where an output has randomness of its own. Rows with the
            same key have the same luck, point by point.
        points: at least how many in a row, for scores that broadcast.
        device: "auto" (the accelerator if there is one), "cpu" or "gpu".

    Returns:
        Arrays of shape (rows, points), in base units.

    Raises:
        SamplingError: a value that cannot be.
    """
    shape = np.broadcast_shapes(*(np.shape(one) for one in scores.values()), (1 if luck is None else len(luck), points))
    drawn = {name: np.broadcast_to(one, shape) for name, one in scores.items()}
    exact = certain_values(scenario)
    kept = tuple(name for name in outputs if name not in exact)
    found = {name: np.broadcast_to(exact[name], shape) for name in outputs if name in exact}
    if kept:
        random = any(scenario.plan.random(name) for name in kept)
        if random and luck is None:
            raise ValueError("simulated failures need luck")
        found |= _evaluated(scenario, drawn, shape, kept, luck if random else None, device)
    check_possible(found, scenario)
    return {name: found[name] for name in outputs}


def _evaluated(
    scenario: Scenario,
    scores: Mapping[str, Floats],
    shape: tuple[int, ...],
    kept: tuple[str, ...],
    luck: Words | None,
    device: str,
) -> dict[str, Floats]:
    forms, known, _ = numbers_of(scenario, np.dtype(np.float64))
    half = level_of_z(np.zeros(1))
    medians = {
        name: scenario.inputs[name].distribution.quantile(half)[0] for name in scenario.uncertain if name not in scores
    }
    # Luck goes by rows; without it points are points, whatever their rows, and one compiled kernel takes them all.
    columns = shape[1] if luck is not None else 1
    rows = max(1, _BLOCK // columns)
    flat = {name: one.reshape(-1, columns) for name, one in scores.items()}
    total = shape[0] if luck is not None else shape[0] * shape[1]
    keys = np.zeros((total, 2), np.uint32) if luck is None else luck
    parts = []
    for start in range(0, total, rows):
        block = {name: _filled(one[start : start + rows], rows) for name, one in flat.items()}
        with jax.enable_x64(True), jax.default_device(devices_of(device)[0]):
            results = _kernel(
                {name: forms[name] for name in block},
                {**known, **medians},
                block,
                _filled(keys[start : start + rows], rows) if luck is not None else None,
                plan=scenario.plan,
                kept=kept,
                shape=(rows, columns),
            )
            parts.append(jax.device_get(results))
    return {name: np.concatenate([part[name] for part in parts])[:total].reshape(shape) for name in kept}


def _filled(rows: Any, number: int) -> Any:
    """The rows, and the last again and again until there are so many."""
    if len(rows) == number:
        return rows
    return np.concatenate([rows, np.broadcast_to(rows[-1:], (number - len(rows), *rows.shape[1:]))])


@partial(jax.jit, static_argnames=("plan", "kept", "shape"))
def _kernel(
    forms: Mapping[str, Any],
    known: Mapping[str, Any],
    scores: Mapping[str, jax.Array],
    keys: jax.Array | None,
    *,
    plan: Plan,
    kept: tuple[str, ...],
    shape: tuple[int, int],
) -> Arrays:
    """Scores through quantile functions and formulas."""
    inputs = {name: forms[name].quantile(Level(jax.scipy.special.ndtr(z), z)) for name, z in scores.items()}
    luck = None if keys is None else KernelLuck(keys, jnp.arange(shape[1], dtype=jnp.uint32), jnp.float64)
    results = evaluate(plan, {**known, **inputs}, luck)
    return {name: jnp.broadcast_to(results[name], shape) for name in kept}


def scores_of(points: PointSet, names: Mapping[str, int], start: int, count: int) -> dict[str, Floats]:
    """Independent normal scores, of shape (replicates, count), at consecutive counters of a point set.

    Args:
        points: Sobol points or independent ones.
        names: of the streams, each with its column of the point set.
        start: the first counter.
        count: how many.
    """
    if not names:
        return {}
    streams = [points.streams(name, column) for name, column in names.items()]
    stacked = type(streams[0])(*(np.stack(leaves) for leaves in zip(*streams, strict=True)))
    with jax.enable_x64(True), jax.default_device(devices_of("cpu")[0]):
        scores = np.asarray(_scores(stacked, np.uint32(start), count=count))
    return dict(zip(names, scores, strict=True))


@partial(jax.jit, static_argnames=("count",))
def _scores(streams: Any, start: Any, *, count: int) -> jax.Array:
    """Of shape (names, replicates, count)."""
    index = start + jnp.arange(count, dtype=jnp.uint32)
    return jax.vmap(jax.vmap(lambda stream: normal_score(uniforms(stream, index, jnp.float64))))(streams)
