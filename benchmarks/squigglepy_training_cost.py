"""The five-lognormal training cost as a squigglepy script: `python squigglepy_training_cost.py 1e7`."""

from __future__ import annotations

import sys

import numpy as np
import squigglepy as sq
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def draw(n: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Accelerator-hours, cost in USD and days, n draws each."""
    sq.set_seed(seed)
    parameters = sq.sample(sq.lognorm(norm_mean=np.log(70e9), norm_sd=0.02), n)
    tokens = sq.sample(sq.lognorm(norm_mean=np.log(2e12), norm_sd=0.1), n)
    peak = sq.sample(sq.lognorm(norm_mean=np.log(312e12), norm_sd=0.05), n)
    mfu = sq.sample(sq.lognorm(norm_mean=np.log(0.4), norm_sd=0.12), n)
    price = sq.sample(sq.lognorm(norm_mean=np.log(2.2), norm_sd=0.25), n)
    hours = 6 * parameters * tokens / (peak * mfu) / 3600
    return hours, hours * price, hours / 2048 / 24


def quantiles(outputs: tuple[Floats, ...]) -> Floats:
    """P10, P50 and P90, one row per output."""
    return np.array([np.quantile(output, [0.1, 0.5, 0.9]) for output in outputs])


if __name__ == "__main__":
    print(quantiles(draw(int(float(sys.argv[1])), seed=0)))
