"""Search the generators of the shipped lattice and write them: `python tools/lattice_table.py` (about four minutes on one core).

A rank-1 lattice of n = 2**m points puts point i of column k at i g_k / n modulo 1. Any handful of columns may be used
together, and cost models are dominated by their one- and two-dimensional parts, so what counts is every pair of columns at
every size. Dual to the pair (j, k) are the integer vectors (h1, h2) with h1 g_j + h2 g_k = 0 modulo n; the pair is the worse
the shorter the shortest of them, measured by the Zaremba index

    rho(j, k; n) = min over dual h != 0 of max(1, |h1|) max(1, |h2|)        (Zaremba 1966; Niederreiter 1992, section 5.1)

With a = g_k / g_j modulo n that is the minimum of q |q a - p n| over the convergents p/q of a/n, since a fraction with
q |q a - p n| < n/2 is always a convergent (Legendre) and of two neighbouring convergents one has that property.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

COLUMNS = 256
LEVELS = range(8, 29)  # log2 of the sizes that count
CANDIDATES = 1 << 12  # for each column
BATCH = 1 << 9
SEED = 20080902
TABLE = Path(__file__).parents[1] / "uncertain_botec" / "sampling" / "tables" / "lattice.txt"
HEADER = """Generators of the rank-1 lattices with 2**m points, one a line, in the order of the columns.
Written by tools/lattice_table.py, which says how they were found: greedily, each the best of {candidates} random odd
32-bit numbers by its worst pair with the earlier columns and with the index itself, over m = {low} .. {high}.
Smallest rho ln(n) / n of any pair among the first 8, 16, 32, 64, 128, 256: {merits}."""


def zaremba_index(a: NDArray[np.uint32], level: int) -> NDArray[np.float64]:
    """rho of the two-dimensional lattices (1, a) with n = 2**level points, for odd a; level is at most 28."""
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
    return math.log(2) * level / 2**level


def pair_merits(earlier: NDArray[np.uint32], later: NDArray[np.uint32], level: int) -> NDArray[np.float64]:
    """rho ln(n) / n for every earlier[j] and later[k], shape (j, k); the median of random pairs is 0.56."""
    inverse = np.array([pow(int(g), -1, 1 << 32) for g in earlier], dtype=np.uint32)
    return zaremba_index(inverse[:, None] * later, level) * per_index(level)


def best_candidate(earlier: NDArray[np.uint32], candidates: NDArray[np.uint32]) -> int:
    """The candidate whose worst pair with the earlier columns, over all levels, is the least bad."""
    best, best_merit = candidates[0], -1.0
    for batch in np.split(candidates, range(BATCH, len(candidates), BATCH)):
        merit = np.full(len(batch), np.inf)
        for first in range(0, len(earlier), 8):
            for level in LEVELS:
                pairs = pair_merits(earlier[first : first + 8], batch, level)
                if len(earlier) < 1 << (level - 3):  # then there is room for columns that are not each other's copy
                    pairs[pairs < 1.5 * per_index(level)] = 0  # rho = 1: equal or opposite columns
                merit = np.minimum(merit, pairs.min(axis=0))
                batch, merit = batch[merit > best_merit], merit[merit > best_merit]
        if len(batch):
            best, best_merit = batch[merit.argmax()], merit.max()
    return int(best)


def search() -> NDArray[np.uint32]:
    """All generators; the index (generator 1) counts as an earlier column, so that runs of indices are spread evenly too."""
    rng = np.random.default_rng(SEED)
    chosen = np.ones(1, dtype=np.uint32)
    for _ in range(COLUMNS):
        candidates = rng.integers(0, 1 << 32, CANDIDATES, dtype=np.uint32) | np.uint32(1)
        chosen = np.append(chosen, np.uint32(best_candidate(chosen, candidates)))
    return chosen[1:]


def worst_merit(generators: NDArray[np.uint32], level: int) -> float:
    """The smallest merit of any pair of the columns at one level."""
    merits = pair_merits(generators, generators, level)
    return float(merits[np.triu_indices(len(generators), 1)].min())


def main() -> None:
    generators = search()
    merits = [min(worst_merit(generators[:count], level) for level in LEVELS) for count in (8, 16, 32, 64, 128, 256)]
    header = HEADER.format(
        candidates=CANDIDATES, low=LEVELS[0], high=LEVELS[-1], merits=", ".join(f"{merit:.2g}" for merit in merits)
    )
    np.savetxt(TABLE, generators, fmt="%d", header=header)


if __name__ == "__main__":
    main()
