"""Search the generators of the shipped lattice and write them: `python tools/lattice_table.py` (8 minutes on one core).

A rank-1 lattice of n = 2**m points puts point i of column k at i g_k / n modulo 1. Any handful of columns may be used
together, at any size. Dual to some columns are the integer vectors h with sum h_k g_k = 0 modulo n; a short one means
an error. Cost models are dominated by their one- and two-dimensional parts, so every pair is judged by itself, by its
Zaremba index (Zaremba 1966; Niederreiter 1992, chapter 5)

    rho(j, k; n) = min over dual h != 0 of max(1, |h_j|) max(1, |h_k|).

With a = g_k / g_j modulo n this is the minimum of q |a q - p n| over the convergents p/q of a/n, since a fraction with
q |a q - p n| < n/2 is always a convergent (Legendre) and of two neighbouring convergents one has that property.

Quantiles of several inputs need more than pairs. Of the candidates with the best pairs, that one is taken which adds
least to the mean squared error of integrands whose Fourier coefficients are the product of c_k / |h_k| over at most
ORDER columns (the P_2 of Korobov, with weights c_k**2 that favour the earlier columns).
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

COLUMNS = 256
LEVELS = range(8, 29)  # log2 of the sizes at which pairs count
TOP = 20  # log2 of the largest size at which higher orders count
ORDER = 5
CANDIDATES = 1 << 12  # for each column
BATCH = 1 << 9
SEED = 20080902
TABLE = Path(__file__).parents[1] / "uncertain_botec" / "sampling" / "tables" / "lattice.txt"
HEADER = """Generators of the rank-1 lattices with 2**m points, one a line, in the order of the columns.
Written by tools/lattice_table.py, which says how they were found: one column after the other, each from {candidates}
random odd 32-bit numbers, by pairs for m = {low} .. {high} and by up to {order} columns together for
m = {low} .. {top}. Smallest rho ln(n) / n of any pair among the first 8, 16, 32, 64, 128, 256: {merits}."""


def zaremba_index(a: NDArray[np.uint32], level: int) -> NDArray[np.float64]:
    """The rho of the two-dimensional lattices (1, a) with n = 2**level points, for odd a; level is at most 28."""
    n = float(1 << level)  # integers below 2**53, in float64 because that divides fastest
    rest = (a & np.uint32((1 << level) - 1)).astype(np.float64)
    older, older_q, q = np.full_like(rest, n), np.zeros_like(rest), np.ones_like(rest)
    index = np.full_like(rest, n)
    while (q < n).any():  # a lane that is through has q >= n, which can no longer lower its index
        np.minimum(index, q * rest, out=index, where=rest > 0)
        quotient = np.floor(older / np.maximum(rest, 1))
        older, rest = rest, older - quotient * rest
        older_q, q = q, older_q + quotient * q
    return index


def per_index(level: int) -> float:
    """ln(n) / n."""
    return math.log(2) * level / float(1 << level)


def pair_merits(earlier: NDArray[np.uint32], later: NDArray[np.uint32], level: int) -> NDArray[np.float64]:
    """The merit rho ln(n) / n of every pair earlier[j], later[k], shape (j, k); the median of random pairs is 0.56."""
    inverse = np.array([pow(int(g), -1, 1 << 32) for g in earlier], dtype=np.uint32)
    return zaremba_index(inverse[:, None] * later, level) * per_index(level)


def best_pairs(earlier: NDArray[np.uint32], candidates: NDArray[np.uint32], count: int) -> NDArray[np.uint32]:
    """The `count` candidates whose worst pairs with the earlier columns, over all levels, are the least bad."""
    kept, kept_merits = candidates[:0], np.empty(0)
    for batch in np.split(candidates, range(BATCH, len(candidates), BATCH)):
        bar = kept_merits[-1] if len(kept) == count else -1.0
        merits = np.full(len(batch), np.inf)
        for first in range(0, len(earlier), 8):
            for level in LEVELS:
                pairs = pair_merits(earlier[first : first + 8], batch, level)
                if len(earlier) < 1 << (level - 3):  # then there is room for columns that are not each other's copy
                    pairs[pairs < 1.5 * per_index(level)] = 0  # rho = 1: equal or opposite columns
                merits = np.minimum(merits, pairs.min(axis=0))
                batch, merits = batch[merits > bar], merits[merits > bar]
        kept, kept_merits = np.append(kept, batch), np.append(kept_merits, merits)
        best = np.argsort(-kept_merits, kind="stable")[:count]
        kept, kept_merits = kept[best], kept_merits[best]
    return kept


def kernel(generator: int) -> NDArray[np.float64]:
    """omega(x) = sum over h != 0 of exp(2 pi i h x) / h**2 at points 0 .. n/2 of one column of the largest lattice.

    The other points mirror these: omega(1 - x) = omega(x) = 2 pi**2 (x**2 - x + 1/6).
    """
    n = 1 << TOP
    x = (np.arange(n // 2 + 1, dtype=np.uint32) * np.uint32(generator) & np.uint32(n - 1)) / n
    return np.asarray(2 * math.pi**2 * ((x - 0.5) ** 2 - 1 / 12))


def means_by_level(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of mirrored values over each lattice of 2**m points inside the largest one, for m = 8 .. TOP.

    The lattice of size 2**m is every 2**(TOP - m)-th point of the largest; each keeps the points of the one before.
    """
    strata = np.array([values[step : -1 : 2 * step].sum() for step in (1 << v for v in range(TOP - 1))])
    inside = 2 * np.cumsum(strata[::-1])[LEVELS[0] - 2 :] + values[0] + values[-1]
    return np.asarray(inside / 2.0 ** np.arange(LEVELS[0], TOP + 1))


def search() -> NDArray[np.uint32]:
    """All generators; the index (generator 1) counts among the pairs, so that runs of indices are spread evenly too."""
    rng = np.random.default_rng(SEED)
    chosen = np.ones(1, dtype=np.uint32)
    points = (1 << TOP) // 2 + 1
    orders = [np.ones(points)] + [np.zeros(points) for _ in range(ORDER - 1)]  # elementary symmetric in the columns
    for column in range(COLUMNS):
        candidates = rng.integers(0, 1 << 32, CANDIDATES, dtype=np.uint32) | np.uint32(1)
        finalists = best_pairs(chosen, candidates, 64 + 8 * CANDIDATES // 4 // (8 + column))
        earlier = np.sum(orders, axis=0)
        added = np.array([means_by_level(kernel(int(g)) * earlier) for g in finalists])
        best = finalists[(added / added.mean(axis=0)).max(axis=1).argmin()]
        weighted = 0.1 / (1 + column / 16) * kernel(int(best))
        for order in range(ORDER - 1, 0, -1):
            orders[order] += weighted * orders[order - 1]
        chosen = np.append(chosen, best)
    return chosen[1:]


def worst_merit(generators: NDArray[np.uint32], level: int) -> float:
    """The smallest merit of any pair of the columns at one level."""
    merits = pair_merits(generators, generators, level)
    return float(merits[np.triu_indices(len(generators), 1)].min())


def main() -> None:
    """Search and write the table."""
    generators = search()
    merits = [min(worst_merit(generators[:count], level) for level in LEVELS) for count in (8, 16, 32, 64, 128, 256)]
    listed = ", ".join(f"{merit:.2g}" for merit in merits)
    header = HEADER.format(candidates=CANDIDATES, low=LEVELS[0], high=LEVELS[-1], order=ORDER, top=TOP, merits=listed)
    np.savetxt(TABLE, generators, fmt="%d", header=header)


if __name__ == "__main__":
    main()
