"""The five-lognormal training cost in OpenTURNS: `python openturns_training_cost.py 1e6`."""

from __future__ import annotations

import sys

import numpy as np
import openturns as ot
from numpy.typing import NDArray

Floats = NDArray[np.float64]

HOURS = "6 * n * d / (peak * mfu) / 3600"
INPUTS = {"n": (70e9, 0.02), "d": (2e12, 0.1), "peak": (312e12, 0.05), "mfu": (0.4, 0.12), "price": (2.2, 0.25)}


def draw(n: int, seed: int) -> ot.Sample:
    """Accelerator-hours, cost in USD and days, n draws each."""
    ot.RandomGenerator.SetSeed(seed)
    inputs = ot.JointDistribution([ot.LogNormal(np.log(median), sigma) for median, sigma in INPUTS.values()])
    model = ot.SymbolicFunction([*INPUTS], [HOURS, f"{HOURS} * price", f"{HOURS} / 2048 / 24"])
    return model(inputs.getSample(n))


def quantiles(outputs: ot.Sample) -> Floats:
    """P10, P50 and P90, one row per output."""
    return np.array([list(outputs.computeQuantilePerComponent(level)) for level in (0.1, 0.5, 0.9)]).T


if __name__ == "__main__":
    print(quantiles(draw(int(float(sys.argv[1])), seed=0)))
