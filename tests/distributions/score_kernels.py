"""The score of a sampling form and its derivatives in numpy and in jitted kernels, for the tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from distribution_cases import CASES

import uncertain_botec.sampling.engine  # noqa: F401 - registers the sampling forms as pytrees

LENGTH = 2001
SMOOTH = tuple(case for case in CASES if case.distribution.smooth)

over_smooth = pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case.name)
over_tables = pytest.mark.parametrize(
    "case", [case for case in SMOOTH if not case.distribution.closed_form], ids=lambda case: case.name
)
over_routes = pytest.mark.parametrize("route", ["numpy", "jax"])


@jax.jit
def value(form: Any, x: jax.Array) -> jax.Array:
    """The score."""
    return form.score(x)  # type: ignore[no-any-return]


@jax.jit
def slope(form: Any, x: jax.Array) -> jax.Array:
    """Its forward derivative."""
    return jax.jvp(form.score, (x,), (jnp.ones_like(x),))[1]  # type: ignore[no-any-return]


@jax.jit
def slope_backwards(form: Any, x: jax.Array) -> jax.Array:
    """Its backward derivative."""
    return jax.vjp(form.score, x)[1](jnp.ones_like(x))[0]  # type: ignore[no-any-return]


def run(kernel: Callable[[Any, jax.Array], jax.Array], form: Any, x: np.ndarray, dtype: type) -> np.ndarray:
    """A jitted kernel, all parameters traced and in the kernel's precision.

    Values are padded to one length, so that the tests of a form share its compiled kernel.
    """
    padded = np.full(LENGTH, x[0], dtype)
    padded[: len(x)] = x
    with jax.enable_x64(True):
        leaves = jax.tree.map(lambda leaf: np.asarray(leaf, dtype), form)
        result = kernel(leaves, jnp.asarray(padded, dtype))
        assert result.dtype == dtype
        return np.asarray(result)[: len(x)]


def score_of(route: str, form: Any, x: np.ndarray, dtype: type = np.float64) -> np.ndarray:
    """The score by one of the routes, numpy or jax."""
    return np.asarray(form.score(x)) if route == "numpy" else run(value, form, x, dtype)


def derivative_of(form: Any, x: np.ndarray, dtype: type = np.float64) -> np.ndarray:
    """JAX's forward derivative of the score."""
    return run(slope, form, x, dtype)


def density(z: np.ndarray) -> np.ndarray:
    """The normal density."""
    return np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
