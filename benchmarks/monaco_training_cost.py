"""The five-lognormal training cost in monaco, a call for each draw: `python monaco_training_cost.py 1e4`."""

from __future__ import annotations

import sys
from typing import Any

import monaco
import numpy as np
from numpy.typing import NDArray
from scipy.stats import lognorm

Floats = NDArray[np.float64]

INPUTS = {"n": (70e9, 0.02), "d": (2e12, 0.1), "peak": (312e12, 0.05), "mfu": (0.4, 0.12), "price": (2.2, 0.25)}
OUTPUTS = ("hours", "cost", "days")


def _before(case: Any) -> tuple[float, ...]:
    return tuple(case.invals[name].val for name in INPUTS)


def _run(parameters: float, tokens: float, peak: float, mfu: float, price: float) -> tuple[float, float, float]:
    hours = 6 * parameters * tokens / (peak * mfu) / 3600
    return hours, hours * price, hours / 2048 / 24


def _after(case: Any, *values: float) -> None:
    for name, value in zip(OUTPUTS, values, strict=True):
        case.addOutVal(name, value)


def draw(n: int, seed: int) -> tuple[Floats, ...]:
    """Accelerator-hours, cost in USD and days, n draws each."""
    simulation = monaco.Sim(
        name="training cost",
        ndraws=n,
        fcns={"preprocess": _before, "run": _run, "postprocess": _after},
        samplemethod="random",
        seed=seed,
        singlethreaded=True,
        verbose=False,
        savecasedata=False,
        savesimdata=False,
    )
    for name, (median, sigma) in INPUTS.items():
        simulation.addInVar(name=name, dist=lognorm, distkwargs={"s": sigma, "scale": median})
    simulation.runSim()
    return tuple(np.array(simulation.outvars[name].nums) for name in OUTPUTS)


def quantiles(outputs: tuple[Floats, ...]) -> Floats:
    """P10, P50 and P90, one row per output."""
    return np.array([np.quantile(output, [0.1, 0.5, 0.9]) for output in outputs])


if __name__ == "__main__":
    print(quantiles(draw(int(float(sys.argv[1])), seed=0)))
