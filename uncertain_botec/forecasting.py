"""A forecast: smooth quantiles where they are to be had, draws for everything else, and the summary of both."""

from __future__ import annotations

from uncertain_botec.sampling.streaming import ACCURACY, MOST_DRAWS, Goal, stream
from uncertain_botec.scenario import Scenario
from uncertain_botec.summaries import Summary, summarize

WRITTEN = 1 << 20
"""Draws that are kept when they are to be written."""


def forecast(
    scenario: Scenario,
    *,
    accuracy: float | None = None,
    draws: int | None = None,
    smooth: bool = True,
    seed: int = 0,
    sampler: str = "lattice",
    precision: str = "float64",
    device: str = "auto",
) -> Summary:
    """Forecast a scenario to an accuracy, 0.1 % unless told otherwise.

    Args:
        scenario: from `load_scenario`.
        accuracy: the relative standard error that every reported quantile is to have.
        draws: at least how many; with an accuracy, after how many to give up on it.
        smooth: whether quantiles may be smooth: one input integrated out analytically where that is possible.
        seed: of the randomisations. The same seed and settings give the same numbers, on any number of devices.
        sampler: "lattice", "sobol" or "monte-carlo".
        precision: "float64" or "float32", of the arithmetic of draws.
        device: "auto" (the accelerator if there is one), "cpu" or "gpu".

    Returns:
        The summary, in printed units.

    Raises:
        UsageError: an option that cannot be used.
        SamplingError: an input or output that is not finite, or zero where it cannot be.
    """
    return summarize(
        stream(
            scenario,
            goal_of(accuracy, draws),
            smooth=smooth,
            seed=seed,
            sampler=sampler,
            precision=precision,
            device=device,
        )
    )


def goal_of(accuracy: float | None, draws: int | None) -> Goal:
    """What is asked for: an accuracy, a number of draws, or the accuracy but no more draws than that."""
    if draws is None:
        return Goal(MOST_DRAWS, ACCURACY if accuracy is None else accuracy)
    return Goal(draws, accuracy)
