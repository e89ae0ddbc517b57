"""Quantiles of outputs that take single values with probability: the least of these values that is enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from uncertain_botec import Scenario, forecast, sample, summarize
from uncertain_botec.decisions.comparing import compare_scenarios
from uncertain_botec.sampling.drawing import drawn_many
from uncertain_botec.tallies import quantiles, quantiles_and_errors

# 6,000 accelerator-hours cost 12 thousand USD at the one price, 24 at the other.
INPUTS = {
    "training_flop": '"5.184e21 FLOP"',
    "accelerators": "100",
    "peak_flop_per_s": '"300 TFLOP/s"',
    "mfu": "0.8",
    "failure_overhead": "0",
}
PRICE = '{{ family = "choice", values = ["2 USD/hour", "4 USD/hour"], weights = [{}, {}] }}'
LOW, HIGH = 12e3, 24e3

Make = Callable[[float], Scenario]


@pytest.fixture
def make(load_inputs: Callable[..., Scenario]) -> Make:
    """A maker of runs that have the lower price with some probability."""

    def made(low: float) -> Scenario:
        return load_inputs({**INPUTS, "price_per_accelerator_hour": PRICE.format(low, round(1 - low, 9))})

    return made


@pytest.mark.parametrize("sampler", ["lattice", "sobol"])
@pytest.mark.parametrize(("low", "p50", "p90"), [(0.9, LOW, LOW), (0.5, LOW, HIGH), (0.8999, LOW, HIGH)])
def test_where_the_level_is_the_chance_itself(make: Make, low: float, p50: float, p90: float, sampler: str) -> None:
    """A price that is 2 USD with 90 % is 2 USD at P90, exactly, and with 89.99 % it is 4 USD."""
    for seed in range(8):
        cost = summarize(sample(make(low), 1 << 18, seed=seed, sampler=sampler)).outputs["cost"]
        assert (cost.p50, cost.p90) == pytest.approx((p50, p90), rel=1e-12)
        assert cost.mcse["p50"] == cost.mcse["p90"] == 0


def test_streams_and_batches_say_the_same(make: Make) -> None:
    """A forecast, which counts draws as they come and stops as soon as it knows, and the draws of a sweep."""
    found = forecast(make(0.9))
    assert found.outputs["cost"].p90 == pytest.approx(LOW)
    assert found.accuracy.met
    (one,) = drawn_many([make(0.9)], [("cost",)], 1 << 14)
    assert one["cost"].quantiles == pytest.approx([LOW] * 3)
    assert np.all(one["cost"].errors == 0)


def test_differences_of_runs(make: Make, load_inputs: Callable[..., Scenario]) -> None:
    """B - A is -9 or 3 thousand USD, and so is each of its quantiles."""
    fixed = load_inputs({**INPUTS, "price_per_accelerator_hour": '"2.5 USD/hour"'})
    (more,) = compare_scenarios([make(0.9), fixed], draws=1 << 14).outputs["cost"].differences
    assert (more.p10.value, more.p50.value) == pytest.approx((-9e3, 3e3))
    assert more.p10.error == 0


@pytest.mark.parametrize("seed", range(20))
def test_where_only_chance_decides(seed: int) -> None:
    """Independent draws of 1 (90 %) or 2: P90 is one of both, and if it is the wrong one there is an error."""
    rows = np.sort(1.0 + (np.random.default_rng(seed).random((16, 256)) >= 0.9), axis=1)
    (p90,), (error,) = quantiles_and_errors(rows, np.sort(rows, axis=None), [0.9])
    assert p90 == 1 or (p90 == 2 and error > 0.05)


def test_few_equal_draws_are_no_atom() -> None:
    """Two draws that are equal by rounding leave a quantile between draws where it was."""
    ordered = np.arange(64.0)
    assert quantiles(ordered, [0.5])[0] == 31.5
    ordered[30] = 31
    assert quantiles(ordered, [0.5])[0] == 31.5
