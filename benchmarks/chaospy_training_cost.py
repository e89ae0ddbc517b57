"""The five-lognormal training cost in chaospy: `python chaospy_training_cost.py 1e6`."""

from __future__ import annotations

import sys

import chaospy
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

INPUTS = ((70e9, 0.02), (2e12, 0.1), (312e12, 0.05), (0.4, 0.12), (2.2, 0.25))


def draw(n: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Accelerator-hours, cost in USD and days, n draws each."""
    joint = chaospy.J(*(chaospy.LogNormal(np.log(median), sigma) for median, sigma in INPUTS))
    parameters, tokens, peak, mfu, price = joint.sample(n, seed=seed)
    hours = 6 * parameters * tokens / (peak * mfu) / 3600
    return hours, hours * price, hours / 2048 / 24


def quantiles(outputs: tuple[Floats, ...]) -> Floats:
    """P10, P50 and P90, one row per output."""
    return np.array([np.quantile(output, [0.1, 0.5, 0.9]) for output in outputs])


if __name__ == "__main__":
    print(quantiles(draw(int(float(sys.argv[1])), seed=0)))
