"""A point's cumulative probability in two coordinates, for quantile functions that run in numpy and in JAX alike."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

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
    """The normal score, read off the smaller tail; finite, for float64 holds no normal tail beyond |z| = 37.7."""
    score = ndtri(np.maximum(np.minimum(cdf, sf), 1e-310))
    return np.asarray(np.where(cdf <= sf, score, -score))


def special(xp: Any) -> Any:
    """The special functions that go with an array namespace: `scipy.special` or `jax.scipy.special`."""
    return import_module(xp.__name__.removesuffix("numpy") + "scipy.special")
