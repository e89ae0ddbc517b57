"""How inputs move together: from stated correlations to the latent matrix of a Gaussian copula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

# Eigenvalues this far below zero are rounding, not contradiction: perfect correlation (1.0) gives an exact zero.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Dependence:
    """A Gaussian copula over named inputs.

    Attributes:
        names: the inputs, sorted, so that the order of a file does not change anybody's draws.
        latent: the correlation matrix of their normal scores, row by row.
    """

    names: tuple[str, ...]
    latent: tuple[tuple[float, ...], ...]

    def without(self, name: str) -> Dependence | None:
        """The copula of the other inputs; None where it would be empty."""
        kept = [row for row, one in enumerate(self.names) if one != name]
        latent = tuple(tuple(self.latent[row][column] for column in kept) for row in kept)
        return Dependence(tuple(self.names[row] for row in kept), latent) if kept else None

    def root(self) -> Matrix:
        """The lower triangular L with L Lᵀ = latent; an input that another determines has a zero on the diagonal."""
        matrix = np.array(self.latent)
        root = np.zeros_like(matrix)
        for row in range(len(matrix)):
            for column in range(row + 1):
                rest = matrix[row, column] - root[row, :column] @ root[column, :column]
                if row == column:
                    root[row, row] = np.sqrt(rest) if rest > _ROUNDING else 0.0
                elif root[column, column] > 0:
                    root[row, column] = rest / root[column, column]
        return root


def latent_of_spearman(spearman: Matrix) -> Matrix:
    """Latent correlation of a Gaussian copula from a rank correlation, r = 2 sin(π ρ / 6).

    Exact for continuous marginals (Kruskal 1958, JASA 53, 814-861, section 8).
    """
    return 2 * np.sin(np.pi / 6 * spearman)


def smallest_eigenvalue(matrix: Matrix) -> float:
    """The eigenvalue that decides whether a symmetric matrix can be a correlation matrix (none below zero)."""
    return float(np.linalg.eigvalsh(matrix)[0])


def can_be(matrix: Matrix) -> bool:
    """Whether a symmetric matrix with a unit diagonal is a correlation matrix."""
    return smallest_eigenvalue(matrix) >= -_ROUNDING


def nearest(matrix: Matrix, iterations: int = 1000) -> Matrix:
    """The nearest correlation matrix in the Frobenius norm.

    Alternating projections on the positive semidefinite matrices and the unit diagonal, with Dykstra's correction
    (Higham 2002, IMA J. Numer. Anal. 22, 329-343, algorithm 3.3).
    """
    unit = matrix.copy()
    correction = np.zeros_like(matrix)
    for _ in range(iterations):
        shifted = unit - correction
        values, vectors = np.linalg.eigh(shifted)
        definite = (vectors * np.maximum(values, 0)) @ vectors.T
        correction = definite - shifted
        before, unit = unit, definite.copy()
        np.fill_diagonal(unit, 1.0)
        if np.abs(unit - before).max() < 1e-14:
            break
    # The limit lies on the boundary; a last step inside makes it survive rounding, and the diagonal stays one.
    lift = max(0.0, -smallest_eigenvalue(unit))
    result: Matrix = (unit + lift * np.eye(len(unit))) / (1 + lift)
    return result


def matrix_of(names: tuple[str, ...], pairs: Mapping[frozenset[str], float]) -> Matrix:
    """The symmetric matrix of pairwise correlations; a pair that is not stated is uncorrelated."""
    matrix = np.eye(len(names))
    for row, first in enumerate(names):
        for column, second in enumerate(names[:row]):
            matrix[row, column] = matrix[column, row] = pairs.get(frozenset((first, second)), 0.0)
    return matrix
