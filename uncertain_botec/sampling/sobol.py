"""Sobol points in base 2 and their nested uniform (Owen) scrambling by a hash, on 32-bit words.

Joe and Kuo, SIAM J. Sci. Comput. 30, 2635-2654 (2008), for the direction numbers; Owen, J. Complexity 14, 466-489
(1998), for the scrambling; Burley, J. Comput. Graph. Tech. 9(4), 1-20 (2020), for scrambling by a hash.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

Bits = TypeVar("Bits", jax.Array, NDArray[np.uint32])
KEYS = 6  # random words that one scrambling takes


def reverse_bits(x: Bits) -> Bits:
    """Each 32-bit word with its bits in the opposite order."""
    for width, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        x = ((x >> np.uint32(width)) & np.uint32(mask)) | ((x & np.uint32(mask)) << np.uint32(width))
    return (x >> np.uint32(16)) | (x << np.uint32(16))


@cache
def joe_kuo_table() -> tuple[tuple[int, ...], ...]:
    """For each dimension its primitive polynomial, highest power in the highest bit, and initial numbers m_1 .. m_s."""
    text = (files("uncertain_botec.sampling") / "tables" / "sobol.txt").read_text(encoding="utf-8")
    return tuple(tuple(map(int, line.split())) for line in text.splitlines() if not line.startswith("#"))


@cache
def direction_numbers(dimension: int) -> NDArray[np.uint32]:
    """The 32 direction numbers of a dimension, v_k = m_k / 2**k with the binary point before the highest bit.

    For the polynomial x^s + a_1 x^(s-1) + ... + a_s, with a_s = 1 (Joe and Kuo, equation 2):
    m_k = 2 a_1 m_(k-1) xor 4 a_2 m_(k-2) xor ... xor 2^s a_s m_(k-s) xor m_(k-s).
    """
    polynomial, *m = joe_kuo_table()[dimension]
    degree = len(m)
    if not degree:  # the first dimension, van der Corput's
        m = [1] * 32
    for k in range(len(m), 32):
        terms = [m[k - j] << j for j in range(1, degree + 1) if polynomial >> (degree - j) & 1]
        m.append(int(np.bitwise_xor.reduce([m[k - degree], *terms])))
    return np.array([m_k << (31 - k) for k, m_k in enumerate(m)], dtype=np.uint32)


@cache
def reversed_directions(dimension: int) -> NDArray[np.uint32]:
    """The direction numbers of a dimension with their bits reversed, as points take them."""
    return reverse_bits(direction_numbers(dimension))


def random_direction_numbers(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Direction numbers of a random upper triangular generator matrix, from 32 random words.

    Any such dimension is a (0, 1)-sequence by itself, like Sobol's own; its pairs with others are merely typical.
    """
    lowest = np.uint32(1) << np.arange(31, -1, -1, dtype=np.uint32)
    return np.asarray((words & ~(lowest - np.uint32(1))) | lowest)


def scrambled_sobol(index: jax.Array, reversed_directions: NDArray[np.uint32], keys: NDArray[np.uint32]) -> jax.Array:
    """Owen-scrambled Sobol words: the leading log2(n) direction numbers, bits reversed, and six random keys.

    With its bits reversed, a point's leading digits are the low bits, and nested scrambling means that bit k is flipped
    depending on the bits below it. Adding, multiplying by an odd number and x ^ (even number) x are all of that kind.
    Over random keys, two rounds of the three give any two points the joint law that Owen's scrambling gives them.
    """
    x = jnp.zeros_like(index)
    for bit in range(len(reversed_directions)):
        x ^= (jnp.uint32(0) - (index >> jnp.uint32(bit) & jnp.uint32(1))) & reversed_directions[bit]
    for first in range(0, KEYS, 3):
        x = (x + keys[first]) * (keys[first + 1] | np.uint32(1))
        x ^= x * (keys[first + 2] & np.uint32(0xFFFFFFFE))
    return reverse_bits(x)
