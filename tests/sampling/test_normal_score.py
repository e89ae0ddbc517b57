"""The normal score against SciPy's, over every u that can be drawn."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

from uncertain_botec.sampling.normal_score import normal_score

Floats = NDArray[np.floating[Any]]


def scores(u: Floats) -> Floats:
    """The kernel's function of a host's array, in its precision."""
    with jax.enable_x64(True):
        return np.asarray(jax.jit(normal_score)(u))


def levels() -> Floats:
    """A million u in (0, 1/2), half of them evenly spread, half of them by their logarithm down to 2^-53."""
    rng = np.random.default_rng(1)
    edges = [2.0**-53, 2.0**-52, 1e-15, 0.02425, 0.25, 0.5 - 2.0**-53, np.nextafter(0.5, 0)]
    tail = np.exp2(-53 * rng.random(1 << 19))
    return np.concatenate([edges, rng.uniform(2.0**-53, 0.5, 1 << 19), tail[tail < 0.5]])


def from_above(below: Floats) -> Floats:
    """1 - u as float64 has it, where the spacing leaves a u below 1."""
    return 1 - below[below >= 2.0**-53]


def test_float64_agrees_with_scipy() -> None:
    """The relative error stays below 5e-15 from 2^-53 to 1 - 2^-53, dense in the middle and in both tails."""
    for u in (levels(), from_above(levels())):
        exact = ndtri(u)
        middle = exact == 0
        assert np.all(scores(u)[middle] == 0)
        assert np.max(np.abs(scores(u)[~middle] / exact[~middle] - 1)) < 5e-15


def test_float32_agrees_with_float64() -> None:
    """At every float32 u that can be drawn, 2^-24 (2 k + 1), it is float64's within 1e-6 of it: eight roundings."""
    u = ((np.arange(1 << 23) + 0.5) * 2.0**-23).astype(np.float32)[::7]
    exact = ndtri(u.astype(np.float64))
    single = scores(u)
    assert single.dtype == np.float32
    assert np.max(np.abs(single / exact - 1)) < 8 * np.finfo(np.float32).eps


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_odd(dtype: str) -> None:
    """The score of 1 - u is the opposite of that of u to the last bit, wherever 1 - u is exact, and 0 at 1/2."""
    bits = 52 if dtype == "float64" else 23
    steps = np.random.default_rng(2).integers(1, 1 << (bits - 1), 1 << 18)
    u = np.append(steps, [1, 2, 3, (1 << (bits - 1)) - 1]).astype(np.float64) * 2.0**-bits
    one, other = (scores(side.astype(dtype)) for side in (u, 1 - u))
    assert one.tobytes() == (-other).tobytes()
    assert np.all(one < 0)
    assert scores(np.array([0.5], dtype))[0] == 0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_it_rises(dtype: str) -> None:
    """Over a grid far coarser than rounding, in the middle and towards each end, every step goes up."""
    below = np.concatenate(
        [np.exp2(np.linspace(-53 if dtype == "float64" else -24, -2, 20_000)), np.arange(0.26, 0.5, 1e-5)]
    )
    found = scores(np.concatenate([below, [0.5], 1 - below[::-1][: np.sum(below > 1e-3)]]).astype(dtype))
    assert np.all(np.diff(found) > 0)


@pytest.mark.parametrize(("dtype", "bits", "near"), [("float64", 53, 5e-15), ("float32", 24, 1e-6)])
def test_the_ends_of_what_is_drawn(dtype: str, bits: int, near: float) -> None:
    """The least and the greatest u that are drawn have SciPy's scores too, 8.21 and 5.29 deviations out."""
    ends = np.array([2.0**-bits, 1 - 2.0**-bits], dtype)
    np.testing.assert_allclose(scores(ends), ndtri(ends.astype(np.float64)), rtol=near)
