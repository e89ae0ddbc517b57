"""The five-lognormal training cost as a NumPy script: `python numpy_training_cost.py 1e7`."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def draw(n: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Accelerator-hours, cost in USD and days, n draws each."""
    rng = np.random.default_rng(seed)
    parameters = rng.lognormal(np.log(70e9), 0.02, n)
    tokens = rng.lognormal(np.log(2e12), 0.1, n)
    peak = rng.lognormal(np.log(312e12), 0.05, n)
    mfu = rng.lognormal(np.log(0.4), 0.12, n)
    price = rng.lognormal(np.log(2.2), 0.25, n)
    hours = 6 * parameters * tokens / (peak * mfu) / 3600
    return hours, hours * price, hours / 2048 / 24


def quantiles(outputs: tuple[Floats, ...]) -> Floats:
    """P10, P50 and P90, one row per output."""
    return np.array([np.quantile(output, [0.1, 0.5, 0.9]) for output in outputs])


if __name__ == "__main__":
    print(quantiles(draw(int(float(sys.argv[1])), seed=0)))
