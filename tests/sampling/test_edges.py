"""Streams at the edges: quantiles where infinity begins, brackets that miss, and estimates of which either would do."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from uncertain_botec import Scenario, sample
from uncertain_botec.sampling import streaming
from uncertain_botec.sampling.points import SAMPLERS
from uncertain_botec.sampling.streaming import KEPT, Goal, stream
from uncertain_botec.tallies import Tally, tallies_of

Make = Callable[..., Scenario]

FIRST = 1 << 17  # draws of the first stage
DRAWS = 1 << 19
TIME = ("training_time",)

# A checkpoint takes longer to write than 64 nodes run without a failure, so that a run never ends, from this rate on.
NEVER = 86400 / (64 * 120)
SIGMAS = (0.5, 0.3)  # of the logarithms of the rate and of the time to write
INPUTS = {
    "parameters": "7e9",
    "tokens": '{ family = "lognormal", median = "2e12 token", sigma = 0.2 }',
    "accelerators": "512",
    "peak_flop_per_s": '"312 TFLOP/s"',
    "mfu": '{ family = "lognormal", median = 0.4, sigma = 0.1 }',
    "accelerators_per_node": "8",
    "restart_time": '"20 minute"',
    "checkpoint_write_time": f'{{ family = "lognormal", median = "2 minute", sigma = {SIGMAS[1]} }}',
    "price_per_accelerator_hour": '"2 USD/hour"',
}
PRICES = [f"{usd} USD/hour" for usd in range(40, 61)]
# Many prices close together: little of the cost is left to what can be integrated out.
BARELY_SMOOTH = {
    "checkpoint_write_time": None,
    "accelerators_per_node": None,
    "restart_time": None,
    "failure_overhead": "0",
    "mfu": "0.4",
    "tokens": '{ family = "lognormal", median = "2e12 token", sigma = 0.05 }',
    "price_per_accelerator_hour": f'{{ family = "choice", values = {PRICES}, odds = {[1] * len(PRICES)} }}',
}


def endless(load_inputs: Make, share: float) -> Scenario:
    """A run that never ends with some probability."""
    median = NEVER * math.exp(norm.ppf(share) * math.hypot(*SIGMAS))
    rate = f'{{ family = "lognormal", median = "{median} failure/node-day", sigma = {SIGMAS[0]} }}'
    return load_inputs(INPUTS, {"node_failure_rate": rate})


@pytest.fixture
def widths(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The widths of brackets with which streams were begun."""
    told: list[float] = []

    class Run(streaming._Run):
        def __init__(self, job: Any, goal: Any, smooth: Any, team: Any, width: float, progress: Any) -> None:
            told.append(width)
            super().__init__(job, goal, smooth, team, width, progress)

    monkeypatch.setattr(streaming, "_Run", Run)
    return told


def assert_same(one: Tally, other: Tally) -> None:
    """Fail unless quantiles are equal to the last bit, and their errors but for rounding."""
    assert np.array_equal(one.quantiles, other.quantiles)
    np.testing.assert_allclose(one.errors, other.errors, rtol=1e-9)


# --- where infinity begins --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_brackets_hold_where_infinity_begins(
    sampler: str, share: float, load_inputs: Make, widths: list[float]
) -> None:
    """Where as many runs never end as lie above a quantile, it is counted at the first go, and as sorting says."""
    scenario = endless(load_inputs, share)
    streamed = stream(scenario, Goal(DRAWS, None, outputs=TIME), smooth=False, sampler=sampler).outputs
    assert streamed["training_time"].endless == pytest.approx(share, abs=0.01)
    drawn = tallies_of(sample(scenario, DRAWS, sampler=sampler), TIME).outputs
    assert_same(streamed["training_time"], drawn["training_time"])
    assert widths == [streaming.WIDTH]


def test_infinite_for_some_replicates_is_not_accurate(load_inputs: Make) -> None:
    """A median that is infinite over all, but finite in some replicates, is drawn on for, and its error infinite."""
    count = partial(stream, endless(load_inputs, 0.503), smooth=False, sampler="monte-carlo")
    first = count(Goal(FIRST, None, outputs=TIME)).outputs["training_time"]
    assert (first.quantiles[1], first.errors[1]) == (math.inf, math.inf)
    assert count(Goal(DRAWS, 0.5, outputs=TIME)).provenance.draws > FIRST


def test_infinite_for_all_replicates_is_exact(load_inputs: Make) -> None:
    """A P90 that no replicate doubts to be infinite needs no further draws."""
    tallies = stream(endless(load_inputs, 0.3), Goal(DRAWS, 0.01, outputs=TIME), smooth=False)
    one = tallies.outputs["training_time"]
    assert (one.quantiles[2], one.errors[2], tallies.provenance.draws) == (math.inf, 0.0, FIRST)


# --- brackets that miss -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", ["lattice", "monte-carlo"])
def test_missed_brackets_are_widened(
    sampler: str, load_inputs: Make, widths: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With brackets far too narrow everything is counted again with wider ones, and the same comes out."""
    count = partial(stream, endless(load_inputs, 0.2), Goal(DRAWS, None, outputs=TIME), smooth=False, sampler=sampler)
    usual = count().outputs["training_time"]
    monkeypatch.setattr(streaming, "WIDTH", 0.01)
    assert_same(count().outputs["training_time"], usual)
    assert widths[1:3] == [0.01, 0.04]


# --- what is kept -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draws", [1000, FIRST + 1, KEPT - 1, KEPT + 1])
def test_as_many_draws_are_kept_as_asked_for(draws: int, load_inputs: Make) -> None:
    """Whatever their number, with all their inputs, as long as it is no more than are ever kept."""
    scenario = load_inputs(INPUTS, BARELY_SMOOTH)
    assert len(stream(scenario, Goal(draws, None, outputs=("cost",)), smooth=False).sample) >= min(draws, KEPT)


# --- smooth or drawn --------------------------------------------------------------------------------------------------


def test_noise_does_not_choose_between_smooth_and_drawn(load_inputs: Make) -> None:
    """Of the same draws smooth quantiles are taken also where those of draws happen to claim a smaller error."""
    scenario = load_inputs(INPUTS, BARELY_SMOOTH)
    lucky = 0
    for seed in range(8):
        smooth, drawn = (
            stream(scenario, Goal(1 << 10, None, outputs=("cost",)), smooth=one, seed=seed, sampler="monte-carlo")
            for one in (True, False)
        )
        one, other = smooth.outputs["cost"], drawn.outputs["cost"]
        lucky += bool(np.max(other.errors / other.quantiles) < np.max(one.errors / one.quantiles))
        assert one.smoothed
    assert lucky > 0


def test_many_draws_outdo_smooth_quantiles_of_few(load_inputs: Make) -> None:
    """Quantiles of draws are taken where they are clearly more accurate than what the first draws could smooth."""
    scenario = load_inputs(INPUTS, BARELY_SMOOTH)
    few, many = (
        stream(scenario, Goal(draws, None, outputs=("cost",)), sampler="monte-carlo").outputs["cost"]
        for draws in (FIRST, 1 << 22)
    )
    assert (few.smoothed, many.smoothed) == ("tokens", "")
    assert np.max(many.errors / many.quantiles) < 0.5 * np.max(few.errors / few.quantiles)
