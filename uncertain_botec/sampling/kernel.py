"""The kernel: from counters to values, one 1-D array per name, fused into one loop over draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding

from uncertain_botec.distributions import PYTREE_CLASSES, Level
from uncertain_botec.planning import Plan, evaluate
from uncertain_botec.sampling.luck import KernelLuck
from uncertain_botec.sampling.normal_score import normal_score
from uncertain_botec.sampling.points import Stream, uniforms

Arrays = dict[str, jax.Array]

for _class in PYTREE_CLASSES:
    jax.tree_util.register_dataclass(_class, [*_class.data_fields], [*_class.meta_fields])


class Beliefs(NamedTuple):
    """What a kernel is told of a scenario, as arrays: scenarios that differ in numbers only share what is compiled.

    Attributes:
        streams: the points of each uncertain input, all replicates as one.
        forms: its quantile function.
        known: the values of the other inputs.
        factor: the lower triangular factor of the copula.
        keys: of each replicate's luck.
    """

    streams: Mapping[str, Stream]
    forms: Mapping[str, Any]
    known: Mapping[str, Any]
    factor: Any
    keys: Any


@partial(jax.jit, static_argnames=("count", "plan", "kept", "correlated", "dtype", "sharding"))
def kernel(
    beliefs: Beliefs,
    counters: jax.Array,
    thresholds: Mapping[str, Any],
    *,
    count: int,
    plan: Plan,
    kept: tuple[str, ...],
    correlated: tuple[str, ...],
    dtype: Any,
    sharding: NamedSharding | None,
) -> tuple[Arrays, Arrays]:
    """One array of shape (replicates, count) per name from `count` counters, fused into one loop over draws.

    Counters are `counters[0] + i counters[1]`. With thresholds for an output come the codes that select its quantiles.
    Arrays are never stacked: that made XLA's code for CPUs ten times slower.
    """
    index = counters[0] + counters[1] * jnp.arange(count, dtype=jnp.uint32)
    if sharding is not None:
        index = jax.lax.with_sharding_constraint(index, sharding)
    _, inputs = drawn_inputs(beliefs, index, correlated, dtype)
    results = evaluate(plan, {**beliefs.known, **inputs}, KernelLuck(beliefs.keys, index, dtype))
    codes = {name: _codes(results[name], *thresholds[name]) for name in thresholds}
    return {name: results[name] for name in kept}, codes


def drawn_inputs(beliefs: Beliefs, index: jax.Array, correlated: tuple[str, ...], dtype: Any) -> tuple[Arrays, Arrays]:
    """The normal scores and the values of the uncertain inputs at some counters, of shape (replicates, counters)."""
    return inputs_at(beliefs, levels_at(beliefs.streams, index, dtype), correlated)


def levels_at(streams: Mapping[str, Stream], index: jax.Array, dtype: Any) -> dict[str, Level]:
    """The points of each stream at some counters, as levels."""
    over_replicates: Callable[[Stream], jax.Array] = jax.vmap(lambda stream: uniforms(stream, index, dtype))
    points = {name: over_replicates(stream) for name, stream in streams.items()}
    return {name: Level(u, normal_score(u)) for name, u in points.items()}


def inputs_at(beliefs: Beliefs, levels: Mapping[str, Level], correlated: tuple[str, ...]) -> tuple[Arrays, Arrays]:
    """The normal scores and the values of the uncertain inputs at independent levels."""
    levels = {**levels, **_correlate(levels, correlated, beliefs.factor)}
    inputs = {name: form.quantile(levels[name]) for name, form in beliefs.forms.items()}
    return {name: level.z for name, level in levels.items()}, inputs


def _codes(values: jax.Array, lows: jax.Array, highs: jax.Array) -> jax.Array:
    """For each draw how many thresholds it has come to: odd inside a bracket, even between brackets."""
    # Added up as wide as float32, which makes one loop of it all; a byte is all that is kept.
    codes = jnp.zeros(values.shape, jnp.int32)
    for bracket in range(len(lows)):
        codes += (values >= lows[bracket]).astype(jnp.int32) + (values > highs[bracket]).astype(jnp.int32)
    return codes.astype(jnp.uint8)


def _correlate(levels: Mapping[str, Level], names: tuple[str, ...], factor: jax.Array) -> dict[str, Level]:
    """Normal scores z = L z', with the copula's lower triangular factor L applied term by term."""
    scores = [levels[name].z for name in names]
    mixed = {
        name: sum(factor[row, column] * scores[column] for column in range(row + 1)) for row, name in enumerate(names)
    }
    return {name: Level(jax.scipy.special.ndtr(z), z) for name, z in mixed.items()}
