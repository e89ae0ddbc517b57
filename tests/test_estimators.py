"""Plans: which formulas run, what they ask for, and how outputs scale."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uncertain_botec.choices import resolved
from uncertain_botec.estimators import ESTIMATORS
from uncertain_botec.formulas import compute, duration
from uncertain_botec.planning import evaluate

HOUR, DAY = 3600.0, 86400.0
TRAINING = ESTIMATORS["training"]
BASE = {
    "parameters": 7e10,
    "tokens": 2e12,
    "accelerators": 2048.0,
    "peak_flop_per_s": 312e12,
    "mfu": 0.4,
    "failure_overhead": 0.1,
    "price_per_accelerator_hour": 2.2 / HOUR,
    "on_demand_share": 1.0,
}
FAILURES = {
    "node_failure_rate": 6.5e-3 / DAY,
    "accelerators_per_node": 8.0,
    "restart_time": 600.0,
    "checkpoint_write_time": 60.0,
}
positive = st.floats(1e-3, 1e3)


def values_of(inputs: dict[str, float], **choices: str) -> dict[str, Any]:
    """Everything that the training estimator makes of some inputs."""
    plan = TRAINING.plan(inputs, resolved(choices))
    assert plan.missing == ()
    return evaluate(plan, {name: inputs[name] for name in plan.inputs})


def missing(inputs: dict[str, float], **choices: str) -> set[str]:
    """What must be stated besides."""
    return {*TRAINING.plan(inputs, resolved(choices)).missing}


def without(*names: str) -> dict[str, float]:
    """The simple inputs, less some."""
    return {name: value for name, value in BASE.items() if name not in names}


def test_all_accelerators_count_in_utilisation() -> None:
    """An MFU from 16 accelerators' tokens over one's peak is sixteen times too high: 2.84 % is right, not 45.5 %."""
    flop = compute.training_flop(7e10, 1.64e7)
    mfu = flop / (16 * 312e12 * 13.5 * HOUR)
    assert mfu == pytest.approx(0.0284, abs=5e-5)
    assert duration.stepping_time(flop, 16, 312e12, mfu) == pytest.approx(13.5 * HOUR, rel=1e-12)


def test_seed_headline() -> None:
    """1.7 million GPU-hours are about 194 years on one GPU and about a week on 10,000."""
    hours = 1.7e6
    assert hours / 8766 == pytest.approx(194, abs=0.5)
    assert hours / 10_000 / 24 == pytest.approx(7.1, abs=0.05)
    assert pytest.approx(196, abs=0.5) == 1720320 / 8766
    assert pytest.approx(7.2, abs=0.05) == 1720320 / 10_000 / 24


def test_llama_2_70b_utilisation() -> None:
    """Llama 2 70B: 8.28e23 FLOP in 1,720,320 A100-hours is a whole-run MFU of 0.428, which gives the hours back."""
    flop = compute.training_flop(68976648192, 2e12)
    assert flop == pytest.approx(8.28e23, rel=1e-3)
    mfu = flop / (312e12 * 1720320 * HOUR)
    assert mfu == pytest.approx(0.428, abs=5e-4)
    time = duration.training_time(duration.stepping_time(flop, 2048, 312e12, mfu), 0.0)
    assert duration.accelerator_hours(2048, time) / HOUR == pytest.approx(1720320, rel=1e-12)


@given(positive)
def test_homogeneity(factor: float) -> None:
    """Twice the tokens, twice the FLOP, time, hours and cost; twice the accelerators, half the time, the same cost."""
    base, more = values_of(BASE), values_of(BASE | {"tokens": 2e12 * factor})
    for output in TRAINING.required:
        assert more[output] / base[output] == pytest.approx(factor, rel=1e-12)
    wider = values_of(BASE | {"accelerators": 2048 * factor})
    assert wider["training_time"] * factor == pytest.approx(base["training_time"], rel=1e-12)
    assert wider["cost"] == pytest.approx(base["cost"], rel=1e-12)


@pytest.mark.parametrize("supplied", TRAINING.required)
def test_a_supplied_output_is_not_computed(supplied: str) -> None:
    """A formula whose output is stated as an input is skipped, and what follows uses the stated value."""
    values = values_of(BASE | {supplied: 12345.0})
    assert values[supplied] == 12345.0
    assert supplied in TRAINING.plan(BASE | {supplied: 1.0}, resolved({})).outputs
    if supplied == "accelerator_hours":
        assert values["cost"] == pytest.approx(12345.0 * 2.2 / HOUR, rel=1e-12)


def test_simple_inputs_are_all_that_is_asked_for() -> None:
    """What must be stated is what the simple formulas take and none of them gives."""
    assert missing({"on_demand_share": 1.0}) == BASE.keys() - {"on_demand_share"}
    assert missing(without("parameters", "tokens") | {"training_flop": 1e23}) == set()


@pytest.mark.parametrize("name", sorted(BASE.keys() - {"on_demand_share"}))
def test_each_missing_input_is_named(name: str) -> None:
    """Of the simple inputs, the one that is left out is the one that is asked for."""
    assert missing(without(name)) == {name}


def test_tokens_from_a_compute_budget() -> None:
    """A stated compute budget and size give the tokens; and without a size nothing is asked for."""
    plan = TRAINING.plan(without("tokens") | {"training_flop": 6e23}, resolved({}))
    assert plan.missing == ()
    assert values_of(without("tokens") | {"training_flop": 6e23})["tokens"] == pytest.approx(6e23 / 6 / 7e10)
    assert "tokens" in plan.outputs


@pytest.mark.parametrize("name", sorted(FAILURES.keys() - {"node_failure_rate"}))
def test_failure_inputs_replace_the_overhead(name: str) -> None:
    """With a failure rate the overhead is computed, and what that needs is asked for by name."""
    inputs = without("failure_overhead") | FAILURES
    values = values_of(inputs)
    assert 0 < values["failure_overhead"] < 0.2
    assert values["goodput"] == pytest.approx(1 / (1 + values["failure_overhead"]), rel=1e-12)
    lacking = {key: value for key, value in inputs.items() if key != name}
    assert missing(lacking) == {name}


def test_a_stated_overhead_wins_over_failure_inputs() -> None:
    """Who states the overhead is not asked for restart times, and the time is the stated one."""
    inputs = BASE | {"node_failure_rate": 6.5e-3 / DAY, "accelerators_per_node": 8.0}
    assert missing(inputs) == set()
    values = values_of(inputs)
    assert values["training_time"] == values_of(BASE)["training_time"]
    assert values["cluster_mtbf"] == pytest.approx(DAY / (256 * 6.5e-3), rel=1e-12)


def test_a_run_that_never_finishes() -> None:
    """A checkpoint longer than the time between failures: time and cost are infinite, and free hours are free."""
    slow = without("failure_overhead") | FAILURES | {"checkpoint_write_time": 1e6}
    values = values_of(slow)
    assert values["training_time"] == values["accelerator_hours"] == values["cost"] == math.inf
    assert values["goodput"] == 0
    assert values_of(slow | {"price_per_accelerator_hour": 0.0})["cost"] == 0


def test_limits_of_a_run() -> None:
    """One accelerator, a free price, no overhead: plain arithmetic, nothing undefined."""
    values = values_of(BASE | {"accelerators": 1.0, "failure_overhead": 0.0, "price_per_accelerator_hour": 0.0})
    assert values["training_time"] == pytest.approx(6 * 7e10 * 2e12 / (312e12 * 0.4), rel=1e-12)
    assert values["cost"] == 0
    small = without("failure_overhead") | FAILURES | {"accelerators": 1.0}
    assert values_of(small)["cluster_mtbf"] == pytest.approx(8 * DAY / 6.5e-3, rel=1e-12)


def test_conventions_need_an_architecture() -> None:
    """Every convention but the rule of thumb asks for what an architecture states."""
    assert missing(BASE, flop_convention="palm") == {"attention_width", "attended_tokens"}
    assert missing(BASE, flop_convention="exact") == {"matmul_parameters", "attention_width", "attended_tokens"}


def test_shares_that_are_stated_ask_for_their_price() -> None:
    """Half on spot asks for the spot price; the rest stays on demand."""
    inputs = {name: value for name, value in BASE.items() if name != "on_demand_share"} | {"spot_share": 0.5}
    assert missing(inputs, purchase="mixed") == {"spot_price_per_accelerator_hour"}
    values = values_of(inputs | {"spot_price_per_accelerator_hour": 1.1 / HOUR}, purchase="mixed")
    assert values["cost"] == pytest.approx(values["accelerator_hours"] * (1.1 + 0.55) / HOUR, rel=1e-12)
    assert values["rental_cost"] + values["spot_cost"] == pytest.approx(values["cost"], rel=1e-15)


def test_lines_of_the_bill_are_shown_when_there_are_several() -> None:
    """One line is the cost itself; two are itemised."""
    assert "rental_cost" not in TRAINING.plan(BASE, resolved({})).outputs
    more = BASE | {"egress_bytes": 1e14, "egress_price": 9e-11}
    assert {"rental_cost", "egress_cost"} <= {*TRAINING.plan(more, resolved({})).outputs}


def test_reaching_names_the_supplied_inputs_behind_an_output() -> None:
    """Cost comes from everything, compute from the model and its tokens."""
    plan = TRAINING.plan(BASE, resolved({}))
    assert plan.reaching("training_flop") == {"parameters", "tokens"}
    assert plan.reaching("cost") == BASE.keys()
