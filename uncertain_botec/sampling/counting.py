"""What one chunk of draws adds to what is known of an output: sums, counts, and the few draws that matter singly.

On a CPU NumPy reads the codes, which is faster there than XLA's reductions. On an accelerator everything is counted
where it was drawn, so that only the few draws inside the brackets leave it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from uncertain_botec.tallies import Counts, Floats, finite_sums

# Part of a chunk that may lie inside brackets before an accelerator hands all of it over: brackets hold far less,
# unless draws repeat one value.
_ROOM = 1 / 32


class Counted(NamedTuple):
    """Draws of one output that were counted; arrays that add up over chunks and processes, or are strung together.

    Attributes:
        sums: of the finite draws of each replicate.
        finite: how many these are.
        lowest: the smallest draw of all; nan where one is undefined.
        shares: draws at or below each mark, and below it, of shape (marks, 2, replicates).
        below: draws below each bracket, of shape (replicates, brackets).
        inside: the draws inside the brackets.
        where: replicate times brackets plus bracket, for each of them.
    """

    sums: Floats
    finite: Counts
    lowest: float
    shares: Counts
    below: Counts
    inside: Floats
    where: npt.NDArray[np.int32]


def counted(values: jax.Array, codes: jax.Array | None, brackets: int, marks: Sequence[float]) -> Counted:
    """Count one chunk.

    Args:
        values: draws, of shape (replicates, size).
        codes: for each of them how many thresholds it has come to: odd inside a bracket, even between brackets.
        brackets: how many there are.
        marks: values that draws are held against.
    """
    on_host = next(iter(values.devices())).platform == "cpu"
    return (count_on_host if on_host else count_on_device)(values, codes, brackets, marks)


def count_on_host(values: Any, codes: Any, brackets: int, marks: Sequence[float]) -> Counted:
    """The chunk counted by NumPy."""
    values = np.asarray(values)
    replicates, size = values.shape
    sums, finite = finite_sums(values)
    shares = [[(values <= mark).sum(axis=1), (values < mark).sum(axis=1)] for mark in marks]
    below = np.zeros((replicates, brackets), np.int64)
    places = where = np.zeros(0, np.int64)
    if brackets:
        codes = np.asarray(codes)
        for bracket in range(brackets):
            below[:, bracket] = _true_in_rows(codes <= 2 * bracket)
        places = np.flatnonzero((codes & 1).view(bool))
        where = (places // size) * brackets + (codes.ravel()[places] >> 1)
    return Counted(
        sums,
        finite,
        float(values.min()),
        np.array(shares, np.int64).reshape(len(marks), 2, replicates),
        below,
        values.ravel()[places],
        where.astype(np.int32),
    )


def _true_in_rows(rows: npt.NDArray[np.bool_]) -> Counts:
    """How many are true in each row: eight bytes at a time, in sums that no byte runs over in."""
    whole = rows.shape[1] // 1024 * 1024
    words = rows[:, :whole].reshape(len(rows), -1, 1024).view(np.uint64)
    counts = words.sum(axis=2).view(np.uint8).reshape(len(rows), -1).sum(axis=1, dtype=np.int64)
    return np.asarray(counts + rows[:, whole:].sum(axis=1))


def count_on_device(values: Any, codes: Any, brackets: int, marks: Sequence[float]) -> Counted:
    """The chunk counted on the device that drew it."""
    with jax.enable_x64(True):
        room = max(1, int(values.size * _ROOM)) if brackets else 0
        reduced = _reduced(values, codes, np.array(marks, values.dtype), brackets=brackets, room=room)
        sums, finite, lowest, shares, below, number, inside, where = jax.device_get(reduced)
    if number > room:
        return count_on_host(values, codes, brackets, marks)
    return Counted(sums, finite, float(lowest), shares, below, inside[:number], where[:number])


@partial(jax.jit, static_argnames=("brackets", "room"))
def _reduced(
    values: jax.Array, codes: jax.Array | None, marks: jax.Array, *, brackets: int, room: int
) -> tuple[jax.Array, ...]:
    finite = jnp.isfinite(values)
    sums = jnp.sum(jnp.where(finite, values, 0), axis=1, dtype=jnp.float64)
    numbers = partial(jnp.sum, axis=1, dtype=jnp.int64)
    shares = [jnp.stack([numbers(values <= mark), numbers(values < mark)]) for mark in marks]
    below = [numbers(codes <= 2 * bracket) for bracket in range(brackets)] if codes is not None else []
    number, places, where = jnp.zeros((), jnp.int32), jnp.zeros(0, jnp.int32), jnp.zeros(0, jnp.int32)
    if codes is not None and brackets:
        # The k-th draw inside is where the running count first comes to k: a search for each, not a scatter of all.
        running = jnp.cumsum((codes & 1).ravel(), dtype=jnp.int32)
        number = running[-1]
        places = jnp.minimum(jnp.searchsorted(running, jnp.arange(1, room + 1, dtype=jnp.int32)), values.size - 1)
        where = ((places // values.shape[1]) * brackets + (codes.ravel()[places] >> 1)).astype(jnp.int32)
    return (
        sums,
        numbers(finite),
        # XLA's minimum on a CPU loses what is undefined.
        jnp.where(jnp.isnan(values).any(), jnp.nan, jnp.min(values)),
        jnp.stack(shares) if shares else jnp.zeros((0, 2, len(values)), jnp.int64),
        jnp.stack(below, axis=1) if below else jnp.zeros((len(values), 0), jnp.int64),
        number,
        values.ravel()[places],
        where,
    )
