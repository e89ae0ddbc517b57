"""The five-lognormal training cost in numba, on every core: `python numba_training_cost.py 1e7`."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCK = 1 << 16


@numba.njit(parallel=True, fastmath=True)
def _fill(seed: int, hours: Floats, cost: Floats, days: Floats) -> None:
    n = len(hours)
    blocks = (n + BLOCK - 1) // BLOCK
    for block in numba.prange(blocks):
        np.random.seed(seed * 100_003 + block)  # noqa: NPY002 - numba's generator, one for each thread
        for i in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
            parameters = 70e9 * math.exp(0.02 * np.random.standard_normal())  # noqa: NPY002
            tokens = 2e12 * math.exp(0.1 * np.random.standard_normal())  # noqa: NPY002
            peak = 312e12 * math.exp(0.05 * np.random.standard_normal())  # noqa: NPY002
            mfu = 0.4 * math.exp(0.12 * np.random.standard_normal())  # noqa: NPY002
            price = 2.2 * math.exp(0.25 * np.random.standard_normal())  # noqa: NPY002
            hours[i] = 6 * parameters * tokens / (peak * mfu) / 3600
            cost[i] = hours[i] * price
            days[i] = hours[i] / 2048 / 24


def draw(n: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Accelerator-hours, cost in USD and days, n draws each."""
    hours, cost, days = np.empty(n), np.empty(n), np.empty(n)
    _fill(seed, hours, cost, days)
    return hours, cost, days


def quantiles(outputs: tuple[Floats, ...]) -> Floats:
    """P10, P50 and P90, one row per output; the outputs side by side, for NumPy selects without the interpreter."""
    with ThreadPoolExecutor(len(outputs)) as pool:
        return np.array(list(pool.map(lambda one: np.quantile(one, [0.1, 0.5, 0.9], overwrite_input=True), outputs)))


if __name__ == "__main__":
    print(quantiles(draw(int(float(sys.argv[1])), seed=0)))
