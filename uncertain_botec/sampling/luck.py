"""The randomness of simulations inside the kernel: counter-based, so that no draw depends on chunks or devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uncertain_botec.sampling.normal_score import normal_score
from uncertain_botec.sampling.points import MonteCarloStream, Words, luck_stream

# Events drawn one by one; what follows them is left to whoever folds.
EVENTS = 32


def luck_keys(seed: int, replicates: int) -> Words:
    """The key of each replicate's luck, of shape (replicates, 2); none is that of an input."""
    return np.stack([np.asarray(luck_stream(seed, replicate).key) for replicate in range(replicates)])


@dataclass(frozen=True)
class KernelLuck:
    """Exponential and normal numbers for the draws at `index`, from each replicate's Threefry key and the event."""

    keys: Any
    index: jax.Array
    dtype: Any

    def fold(self, step: Callable[[Any, jax.Array], Any], state: Any) -> Any:
        """Apply the step until nothing more happens in any draw, at most `EVENTS` times."""
        shape = (len(self.keys), len(self.index))
        state = tuple(jnp.broadcast_to(jnp.asarray(leaf), shape) for leaf in state)
        state = (state[0], *(leaf.astype(self.dtype) for leaf in state[1:]))

        def going(carry: tuple[jax.Array, Any]) -> jax.Array:
            return (carry[0] < EVENTS) & ~jnp.all(carry[1][0])

        def event(carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
            number, before = carry
            after = step(before, -jnp.log(self._uniform(number)))
            return number + np.uint32(1), tuple(
                jnp.broadcast_to(leaf, shape).astype(old.dtype) for leaf, old in zip(after, before, strict=True)
            )

        return jax.lax.while_loop(going, event, (jnp.uint32(0), state))[1]

    def normal(self) -> jax.Array:
        """One standard normal number per draw."""
        return normal_score(self._uniform(jnp.uint32(EVENTS)))

    def _uniform(self, number: jax.Array) -> jax.Array:
        # A key of its own for every event: the first word of the key is free to be moved by its number.
        def at(key: jax.Array) -> jax.Array:
            return MonteCarloStream(jnp.stack([key[0] ^ number, key[1]])).at(self.index, self.dtype)

        return jax.vmap(at)(jnp.asarray(self.keys))
