"""A point's cumulative probability in two coordinates, for quantile functions that run in numpy and in JAX alike."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

Z90, Z95 = 1.2815515655446004, 1.6448536269514722
"""The normal scores of P90 and P95, Phi^-1(0.9) and Phi^-1(0.95)."""

HALF_ULP = 2.0**-53
"""The distance to 1 of the largest float64 below it: `level_of_u` keeps its points this far inside (0, 1)."""


class Level(NamedTuple):
    """A cumulative probability `u` in (0, 1) and its normal score `z = Phi^-1(u)`, arrays of one namespace.

    A quantile function reads whichever it needs; inside a jitted kernel the compiler drops the other. `z` keeps
    its precision in both tails, `u` only in the lower one.
    """

    u: Any
    z: Any


def level_of_u(u: ArrayLike) -> Level:
    """The level of cumulative probabilities, 0 and 1 moved inside the open interval by 2^-53."""
    inside = np.clip(np.asarray(u, dtype=np.float64), HALF_ULP, 1.0 - HALF_ULP)
    return Level(inside, ndtri(inside))


def level_of_z(z: ArrayLike) -> Level:
    """The level of normal scores."""
    score = np.asarray(z, dtype=np.float64)
    return Level(ndtr(score), score)


def level_of_tails(cdf: NDArray[np.float64], sf: NDArray[np.float64]) -> Level:
    """The level of probabilities known from both sides, accurate in both tails."""
    return Level(cdf, score_of_tails(cdf, sf))


def score_of_tails(cdf: NDArray[np.float64], sf: NDArray[np.float64]) -> NDArray[np.float64]:
    """The normal score, kept finite: float64 holds no normal tail beyond |z| = 37.7."""
    return np.asarray(open_score(np.maximum(cdf, 1e-310), np.maximum(sf, 1e-310)))


def open_score(below: Any, above: Any) -> Any:
    """The normal score of probabilities known from both sides, in their namespace, read off the smaller.

    -inf and inf where that is 0; the derivative of JAX's ndtri is finite there.
    """
    xp = below.__array_namespace__()
    # Not a minimum, whose derivative at a tie is the mean of those of both sides.
    lower = below < above
    score = special(xp).ndtri(xp.where(lower, below, above))
    return xp.where(lower, score, -score)


def safe_log(x: Any) -> Any:
    """log x, and -inf where x is not positive; there the derivative is 0."""
    xp = x.__array_namespace__()
    positive = x > 0
    return xp.where(positive, xp.log(xp.where(positive, x, 1.0)), -xp.inf)


def held(x: Any) -> Any:
    """x, which JAX then takes for a constant when it differentiates."""
    xp = x.__array_namespace__()
    return x if xp is np else import_module(xp.__name__.removesuffix("numpy") + "lax").stop_gradient(x)


def ascending_cell(values: Any, x: Any) -> Any:
    """How many of the ascending values are at most x.

    A bisection without a branch, for inside a kernel on a CPU `searchsorted` takes four times as long.
    """
    xp = x.__array_namespace__()
    count = values.shape[0]
    step = 1 << count.bit_length()
    padded = xp.concat((values, xp.full(step - count, xp.inf, dtype=values.dtype)))
    found = xp.zeros(x.shape, dtype=np.int32)
    while step := step // 2:
        found = xp.where(x >= padded[found + (step - 1)], found + step, found)
    return xp.minimum(found, count)


def special(xp: Any) -> Any:
    """The special functions that go with an array namespace: `scipy.special` or `jax.scipy.special`."""
    return import_module(xp.__name__.removesuffix("numpy") + "scipy.special")
