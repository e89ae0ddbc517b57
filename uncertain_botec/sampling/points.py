"""Points in the unit cube, one stream for each input: shifted lattices, scrambled Sobol points, or plain Monte Carlo.

A point set has R independent randomisations (replicates) of n points each, so that the spread over replicates measures
the error. An input's stream depends on the seed, the input's name and the replicate alone, a point on its stream and
index alone: draws never change with other inputs, chunk sizes, devices or processes.

    points = point_set("lattice", draws=1_000_000, seed=1)
    stream = points.stream("mfu", column=3, replicate=0)      # on the host
    u = uniforms(stream, index, jnp.float32)                  # under jit; uint32 counters in [0, points.size)

The rank-1 lattice puts point i of column k at (i g_k / n + shift) modulo 1 (Cranley and Patterson, SIAM J. Numer.
Anal. 13, 904-914, 1976; L'Ecuyer and Lemieux, Management Science 46, 1214-1235, 2000).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.resources import files
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from numpy.typing import NDArray

from uncertain_botec.errors import UsageError
from uncertain_botec.sampling.sobol import (
    KEYS,
    joe_kuo_table,
    random_direction_numbers,
    reverse_bits,
    reversed_directions,
    scrambled_sobol,
)

SAMPLERS = ("lattice", "sobol", "monte-carlo")
MAX_SIZE = 1 << 28  # points of one replicate; the lattice's generators were chosen for sizes up to this
Words: TypeAlias = NDArray[np.uint32]  # and a jax.Array of uint32 once traced


def _midpoints(words: jax.Array, bits: int, dtype: DTypeLike) -> jax.Array:
    """The middle of the cell of width 2**-bits that holds words / 2**32."""
    return ((words >> np.uint32(32 - bits)).astype(dtype) + 0.5) * 2.0**-bits


def _fixed_point(upper: jax.Array, lower: jax.Array, dtype: DTypeLike) -> jax.Array:
    """(2**20 upper + lower) / 2**52, for 32 upper and 20 lower bits."""
    return upper.astype(dtype) * 2.0**-32 + lower.astype(dtype) * 2.0**-52


class LatticeStream(NamedTuple):
    """A shifted lattice: its generator times 2**32 / n, and an odd 52-bit shift as its upper 32 and lower 20 bits."""

    step: Words
    shift: Words

    def at(self, index: jax.Array, dtype: DTypeLike) -> jax.Array:
        """Point i g / n + shift modulo 1; in float64 exactly, an odd multiple of 2**-52 as the shift is."""
        fraction = index * self.step  # wraps: i g / n modulo 1 in units of 2**-32
        if dtype == jnp.float32:
            return _midpoints(fraction + self.shift[0], 23, dtype)
        shift = jnp.asarray(self.shift)
        u = _fixed_point(fraction, jnp.uint32(0), dtype) + _fixed_point(shift[0], shift[1], dtype)
        return u - jnp.floor(u)


class SobolStream(NamedTuple):
    """A scrambled Sobol column: log2(n) direction numbers, bits reversed, and the keys of the scrambling."""

    directions: Words
    keys: Words

    def at(self, index: jax.Array, dtype: DTypeLike) -> jax.Array:
        """The middle of the scrambled point's cell, of 32 bits in float64."""
        words = scrambled_sobol(index, self.directions, self.keys)
        return _midpoints(words, 23 if dtype == jnp.float32 else 32, dtype)


def _threefry(key: jax.Array, index: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Threefry-2x32 with 20 rounds of the counters (0, index): the two words of `jax.random.fold_in(key, index)`.

    Salmon, Moraes, Dror and Shaw, SC'11 (2011). Unrolled, because JAX's own is a loop on a CPU, which XLA neither
    fuses with its surroundings nor vectorises.
    """
    keys = (key[0], key[1], key[0] ^ key[1] ^ np.uint32(0x1BD11BDA))
    left, right = jnp.full_like(index, keys[0]), index + keys[1]
    for group in range(5):
        for turn in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            left += right
            right = (right << np.uint32(turn) | right >> np.uint32(32 - turn)) ^ left
        left += keys[(group + 1) % 3]
        right += keys[(group + 2) % 3] + np.uint32(group + 1)
    return left, right


class MonteCarloStream(NamedTuple):
    """A stream of independent points: the two words of a Threefry key."""

    key: Words | jax.Array

    def at(self, index: jax.Array, dtype: DTypeLike) -> jax.Array:
        """The key folded with the index gives 64 bits; 52 of them plus one half make a float64."""
        upper, lower = _threefry(jnp.asarray(self.key), index)
        if dtype == jnp.float32:
            return _midpoints(upper, 23, dtype)
        return _fixed_point(upper, lower >> np.uint32(12), dtype) + 2.0**-53


Stream: TypeAlias = LatticeStream | SobolStream | MonteCarloStream


@cache
def lattice_generators() -> NDArray[np.uint32]:
    """The shipped generator of each column, odd."""
    with (files("uncertain_botec.sampling") / "tables" / "lattice.txt").open(encoding="utf-8") as table:
        return np.loadtxt(table, dtype=np.uint32)


@dataclass(frozen=True)
class PointSet:
    """How the draws are laid out: `replicates` randomisations of `size` points each."""

    sampler: str
    seed: int
    replicates: int
    size: int

    @property
    def draws(self) -> int:
        """Points in all."""
        return self.replicates * self.size

    def streams(self, name: str, column: int) -> Stream:
        """The streams of all replicates as one, with the replicate as the first axis of every leaf."""
        each = [self.stream(name, column, replicate) for replicate in range(self.replicates)]
        return type(each[0])(*(np.stack(leaves) for leaves in zip(*each, strict=True)))

    def counters(self, done: int, number: int, count: int) -> tuple[int, int]:
        """Where the next points start, and their stride, when points double from stage to stage.

        A stage adds as many points as there are already, so that after each of them the points are a point set of the
        same kind: lattices nest by strides, Sobol and independent points by prefixes.

        Args:
            done: points of a replicate before this stage, 0 or a power of two.
            number: of the chunk within the stage.
            count: points of a chunk.
        """
        if self.sampler != "lattice":
            return done + number * count, 1
        if done == 0:
            return 0, self.size // count
        step = self.size // (2 * done)
        return step * (2 * number + 1), 2 * step * (done // count)

    def stream(self, name: str, column: int, replicate: int) -> Stream:
        """The randomisation of one input in one replicate.

        `column` is the place of a known name in the vocabulary and chooses its lattice generator or Sobol dimension.
        Any other name (column -1, or past the tables) gets a random one, which pairs less evenly with others.
        """
        words = _random_words(self.seed, name, replicate)
        level = self.size.bit_length() - 1
        if self.sampler == "lattice":
            known = 0 <= column < len(lattice_generators())
            generator = lattice_generators()[column] if known else words[2] | np.uint32(1)
            shift = np.array([words[0], words[1] >> np.uint32(12) | np.uint32(1)])
            return LatticeStream(np.asarray(generator << np.uint32(32 - level)), shift)
        if self.sampler == "sobol":
            known = 0 <= column < len(joe_kuo_table())
            directions = reversed_directions(column) if known else reverse_bits(random_direction_numbers(words[KEYS:]))
            return SobolStream(directions[:level], words[:KEYS])
        return MonteCarloStream(words[:2])


# Sweeps and searches ask for the same streams again and again, of point sets of several sizes.
@lru_cache(maxsize=1 << 12)
def _random_words(seed: int, name: str, replicate: int) -> Words:
    """What the randomisation of one input in one replicate is made of."""
    digest = np.frombuffer(blake2b(name.encode(), digest_size=16).digest(), dtype="<u4")
    seeds = np.random.SeedSequence(seed, spawn_key=(*map(int, digest), replicate))
    words = np.asarray(seeds.generate_state(KEYS + 32), dtype=np.uint32)
    words.flags.writeable = False
    return words


@lru_cache(maxsize=1 << 10)
def luck_stream(seed: int, replicate: int) -> MonteCarloStream:
    """The stream of one replicate's luck, which no input's name leads to."""
    seeds = np.random.SeedSequence(seed, spawn_key=(replicate,))
    return MonteCarloStream(np.asarray(seeds.generate_state(2), dtype=np.uint32))


def point_set(sampler: str, draws: int, seed: int, replicates: int = 16) -> PointSet:
    """The point set with at least `draws` points; lattices and Sobol points have a power of two of them each."""
    if sampler not in SAMPLERS:
        raise UsageError(f"unknown sampler {sampler!r}; choose one of {', '.join(SAMPLERS)}")
    if seed < 0:
        raise UsageError(f"the seed must be 0 or more, got {seed}")
    if replicates < 1:
        raise UsageError(f"the number of replicates must be 1 or more, got {replicates}")
    if not 1 <= draws <= replicates * MAX_SIZE:
        most = replicates * MAX_SIZE
        raise UsageError(f"the number of draws must be from 1 to {most} with {replicates} replicates, got {draws}")
    size = -(-draws // replicates)
    if sampler != "monte-carlo":
        size = max(2, 1 << (size - 1).bit_length())
    return PointSet(sampler, seed, replicates, size)


def uniforms(stream: Stream, index: jax.Array, dtype: DTypeLike) -> jax.Array:
    """The stream's points at the counters `index` (uint32, below the point set's size), strictly between 0 and 1.

    float64 needs `jax.enable_x64(True)`. float32 takes the upper 23 of the same bits plus one half, which is never 1.
    """
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise ValueError("float64 points need 64-bit JAX: call within jax.enable_x64(True)")
    return stream.at(index, dtype)
