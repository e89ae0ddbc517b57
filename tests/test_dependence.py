"""Correlation matrices: conversion, definiteness, the nearest one, the factor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uncertain_botec.dependence import Dependence, can_be, latent_of_spearman, nearest, smallest_eigenvalue


def test_spearman_of_a_normal_copula() -> None:
    """Spearman 0.7 needs a latent correlation of 0.7167, and the ends stay ends."""
    assert latent_of_spearman(np.array([0.7, 1.0, -1.0, 0.0])) == pytest.approx([0.7167, 1.0, -1.0, 0.0], abs=5e-5)


def _random_correlation(seed: int, size: int) -> np.ndarray:
    factor = np.random.default_rng(seed).normal(size=(size, size + 1))
    covariance = factor @ factor.T
    scale = np.sqrt(np.diag(covariance))
    return covariance / np.outer(scale, scale)


@given(st.integers(0, 2**32), st.integers(2, 12))
def test_factor_gives_the_matrix_back(seed: int, size: int) -> None:
    """L is lower triangular and L Lᵀ is the latent matrix."""
    matrix = _random_correlation(seed, size)
    root = Dependence(tuple(map(str, range(size))), tuple(map(tuple, matrix.tolist()))).root()
    assert np.array_equal(root, np.tril(root))
    assert root @ root.T == pytest.approx(matrix, abs=1e-9)


def test_perfect_correlation_has_a_factor() -> None:
    """A singular matrix (two inputs that move as one) is a correlation matrix and has a factor."""
    matrix = np.array([[1.0, 1.0, -0.5], [1.0, 1.0, -0.5], [-0.5, -0.5, 1.0]])
    assert can_be(matrix)
    root = Dependence(("a", "b", "c"), tuple(map(tuple, matrix.tolist()))).root()
    assert root @ root.T == pytest.approx(matrix, abs=1e-12)


def test_nearest_of_a_published_example() -> None:
    """Higham 2002, section 1: the nearest correlation matrix to the tridiagonal one of ones, to four digits."""
    near = nearest(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]))
    assert near == pytest.approx(np.array([[1, 0.7607, 0.1573], [0.7607, 1, 0.7607], [0.1573, 0.7607, 1]]), abs=5e-5)


@given(st.integers(0, 2**32), st.integers(3, 8))
def test_nearest_is_a_correlation_matrix_and_no_further_than_shrinking(seed: int, size: int) -> None:
    """Any symmetric matrix with a unit diagonal is repaired, and no further than by shrinking it to identity."""
    random = np.random.default_rng(seed)
    matrix = np.tril(random.uniform(-1, 1, (size, size)), -1)
    matrix = matrix + matrix.T + np.eye(size)
    near = nearest(matrix)
    assert can_be(near)
    assert np.array_equal(np.diag(near), np.ones(size))
    lowest = smallest_eigenvalue(matrix)
    if lowest < 0:
        shrunk = np.eye(size) + (matrix - np.eye(size)) / (1 - lowest)
        assert np.linalg.norm(near - matrix) <= np.linalg.norm(shrunk - matrix) + 1e-9
    else:
        assert near == pytest.approx(matrix, abs=1e-9)
