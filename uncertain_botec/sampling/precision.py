"""Whether float32 is good enough: the first draws of a run in both precisions, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from uncertain_botec.errors import SamplingError
from uncertain_botec.sampling.engine import Job, beliefs_of
from uncertain_botec.tallies import Floats

AGREEMENT = 1e-5
"""How far quantiles from P1 to P99 in float32 may be from those in float64, relative to these."""

_LEVELS = np.arange(1, 100) / 100


def in_float64(job: Job) -> Job:
    """The same job in float64."""
    double = np.dtype(np.float64)
    return (
        job if job.dtype == double else replace(job, dtype=double, beliefs=beliefs_of(job.scenario, job.points, double))
    )


def check_agreement(path: str, single: Mapping[str, Floats], double: Mapping[str, Floats]) -> None:
    """Refuse float32 where it is not what it is said to be.

    Args:
        path: of the scenario.
        single: draws in float32, by output.
        double: the same in float64.

    Raises:
        SamplingError: some quantile from P1 to P99 differs by more than `AGREEMENT`.
    """
    for name, values in single.items():
        ours, theirs = (np.sort(one, axis=None).astype(np.float64) for one in (values, double[name]))
        places = (len(ours) * _LEVELS).astype(np.int64)
        # Where an output jumps, a draw more or less on one side of the jump is no disagreement.
        low, high = (theirs[np.clip(places + shift, 0, len(ours) - 1)] for shift in (-2, 2))
        slack = AGREEMENT * np.abs(theirs[places])
        off = ~((ours[places] >= low - slack) & (ours[places] <= high + slack))
        if off.any():
            worst = int(np.argmax(np.where(off, np.abs(ours[places] - theirs[places]), 0)))
            here, there = ours[places[worst]], theirs[places[worst]]
            raise SamplingError(
                f"{path}: P{worst + 1} of {name} is {here:.8g} in float32 and {there:.8g} in float64, which differ by "
                f"more than {AGREEMENT:g}; use --precision float64"
            )
