"""Outputs at given scores: what the engine draws, and what the formulas give at the medians."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri

from uncertain_botec import Scenario, load_scenario, sample
from uncertain_botec.explain import explain
from uncertain_botec.sampling.at_scores import outputs_at
from uncertain_botec.sampling.luck import luck_keys

BASE = {
    "parameters": "7e9",
    "tokens": '"2e12 token"',
    "accelerators": "256",
    "peak_flop_per_s": '"312 TFLOP/s"',
    "mfu": '{ family = "logit-normal", p10 = 0.3, p90 = 0.5 }',
    "failure_overhead": '{ family = "uniform", low = 0.05, high = 0.2 }',
    "price_per_accelerator_hour": '{ family = "lognormal", median = "2 USD/hour", sigma = 0.3 }',
}
SIMULATED = {
    "node_failure_rate": '"0.3 failure/node-day"',
    "accelerators_per_node": "8",
    "restart_time": '"20 minute"',
    "checkpoint_write_time": '"2 minute"',
    "failure_overhead": None,
}


@pytest.mark.parametrize("run", ["llama-2-70b", "frontier-2027", "llama-3.1-405b"])
def test_the_engine_s_draws(run: str) -> None:
    """At the scores of drawn inputs, found by their distribution functions, stand the drawn outputs."""
    scenario = load_scenario(run)
    drawn = sample(scenario, 1 << 10, seed=3)
    smooth = [name for name in scenario.drivers("cost") if scenario.inputs[name].distribution.smooth]
    scores = {name: ndtri(scenario.inputs[name].distribution.cdf(drawn.values[name])) for name in smooth}
    for name in {*scenario.drivers("cost")} - {*smooth}:
        # Anywhere inside the step of its value: an input with few values has many scores for each.
        law = scenario.inputs[name].distribution
        x = drawn.values[name]
        scores[name] = ndtri((law.cdf(x) + 1 - law.sf(np.nextafter(x, -np.inf))) / 2)
    found = outputs_at(scenario, scores, ("cost", *smooth))
    np.testing.assert_allclose(found["cost"], drawn.values["cost"], rtol=1e-6)
    for name in smooth:
        np.testing.assert_allclose(found[name], drawn.values[name], rtol=1e-6)


def test_what_is_left_out_has_its_median() -> None:
    """Without any scores an output is its point estimate, and scores of 0 say the same."""
    scenario = load_scenario("llama-2-70b")
    point = next(step.output.value for step in explain(scenario).steps if step.output.name == "cost")
    assert outputs_at(scenario, {}, ("cost",))["cost"] == pytest.approx(np.array([[point]]), rel=1e-9)
    zeros = {name: np.zeros((2, 3)) for name in scenario.drivers("cost")}
    assert outputs_at(scenario, zeros, ("cost",))["cost"] == pytest.approx(np.full((2, 3), point), rel=1e-9)


def test_what_is_known_exactly() -> None:
    """An output or input that is known has its value everywhere."""
    found = outputs_at(load_scenario("toy-network-2-3-1"), {}, ("forward_flop", "weights"), points=4)
    np.testing.assert_array_equal(found["forward_flop"], np.full((1, 4), 18.0))
    np.testing.assert_array_equal(found["weights"], np.full((1, 4), 9.0))


def test_more_than_a_block(load_inputs: Callable[..., Scenario]) -> None:
    """Points that the kernel takes in several goes are the same as each by itself."""
    scenario = load_inputs(BASE)
    z = np.random.default_rng(1).standard_normal((3, 50_000))
    found = outputs_at(scenario, {"mfu": z}, ("cost",))["cost"]
    assert found.shape == z.shape
    for row, column in ((0, 0), (1, 25_000), (2, 49_999)):
        alone = outputs_at(scenario, {"mfu": z[row : row + 1, column : column + 1]}, ("cost",))["cost"]
        assert alone[0, 0] == found[row, column]


def test_luck_goes_by_rows(load_inputs: Callable[..., Scenario]) -> None:
    """Rows with the same key have the same luck point by point, others have not, however many rows there are."""
    scenario = load_inputs(BASE, SIMULATED, 'failures = "simulated"')
    keys = luck_keys(5, 3)[[0, 1, 0, 2]]
    time = outputs_at(scenario, {"mfu": np.zeros((4, 64))}, ("training_time",), luck=keys)["training_time"]
    np.testing.assert_array_equal(time[0], time[2])
    assert np.all(time[0] != time[1])
    many = outputs_at(scenario, {"mfu": np.zeros((4000, 64))}, ("training_time",), luck=np.tile(keys, (1000, 1)))
    np.testing.assert_array_equal(many["training_time"], np.tile(time, (1000, 1)))
    assert len(np.unique(time[0])) == 64


def test_simulated_runs_need_luck(load_inputs: Callable[..., Scenario]) -> None:
    """Without luck a simulated run is refused, while outputs that no failure moves are given."""
    scenario = load_inputs(BASE, SIMULATED, 'failures = "simulated"')
    with pytest.raises(ValueError, match="luck"):
        outputs_at(scenario, {}, ("training_time",))
    assert outputs_at(scenario, {}, ("training_flop",))["training_flop"] == 6 * 7e9 * 2e12


def test_luck_without_uncertain_inputs(tmp_path: Path, load_inputs: Callable[..., Scenario]) -> None:
    """Where every input is known, luck alone makes as many different runs as there are points."""
    known: Mapping[str, str | None] = {**SIMULATED, "mfu": "0.4", "price_per_accelerator_hour": '"2 USD/hour"'}
    scenario = load_inputs(BASE, known, 'failures = "simulated"')
    found = outputs_at(scenario, {}, ("training_time",), luck=luck_keys(1, 2), points=100)["training_time"]
    assert len(np.unique(found)) == 200
