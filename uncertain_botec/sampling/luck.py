"""The randomness of simulations inside the kernel: counter-based, so that no draw depends on chunks or devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uncertain_botec.sampling.points import MonteCarloStream, Words, luck_stream

# Events drawn one by one; what follows them is left to whoever folds.
EVENTS = 32


def luck_key(seed: int, replicate: int) -> Words | jax.Array:
    """The key of one replicate's luck; it differs from every input's."""
    return luck_stream(seed, replicate).key


@dataclass(frozen=True)
class KernelLuck:
    """Exponential and normal numbers for the draws at `index`, from a Threefry key and the event's number."""

    key: Any
    index: jax.Array
    dtype: Any

    def fold(self, step: Callable[[Any, jax.Array], Any], state: Any) -> Any:
        """Apply the step until nothing more happens in any draw, at most `EVENTS` times."""
        shape = self.index.shape
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
        u = self._uniform(jnp.uint32(EVENTS))
        return jnp.sqrt(jnp.asarray(2.0, self.dtype)) * jax.lax.erf_inv(2 * u - 1)

    def _uniform(self, number: jax.Array) -> jax.Array:
        # A key of its own for every event: the first word of the key is free to be moved by its number.
        key = jnp.asarray(self.key)
        return MonteCarloStream(jnp.stack([key[0] ^ number, key[1]])).at(self.index, self.dtype)
