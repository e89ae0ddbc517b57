"""What a study says where little is uncertain, or nothing that matters to the decision."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from uncertain_botec import Scenario, analyse_sensitivity, review_risk
from uncertain_botec.sensitivity.first_order import first_order

INPUTS = {
    "training_flop": '{ family = "lognormal", p10 = "8e23 FLOP", p90 = "1.1e24 FLOP" }',
    "accelerators": "2048",
    "peak_flop_per_s": '"312e12 FLOP/second"',
    "mfu": "0.4",
    "failure_overhead": "0.1",
    "price_per_accelerator_hour": '{ family = "lognormal", p10 = "1.5 USD/hour", p90 = "2.9 USD/hour" }',
}
KNOWN = {"training_flop": '"9e23 FLOP"', "price_per_accelerator_hour": '"2.2 USD/hour"'}
TWO = '{ family = "choice", values = ["2 USD/hour", "4 USD/hour"], weights = [0.9, 0.1] }'
FEW = 1 << 12

Make = Callable[..., Scenario]


@pytest.fixture
def make(load_inputs: Callable[..., Scenario]) -> Make:
    """A maker of scenarios: these inputs, some of them replaced."""

    def made(changes: dict[str, str] | None = None) -> Scenario:
        return load_inputs({**INPUTS, **(changes or {})})

    return made


def test_the_headline_is_that_of_the_review_and_of_the_decision(make: Make) -> None:
    """Mean and median are within their errors those of many more draws, and the mean is what going costs."""
    study = analyse_sensitivity(make(), budget="6 MUSD")
    reviewed = review_risk(make()).outputs["cost"].confidence[0]
    assert abs(study.overall.median - reviewed.value) < 4 * math.hypot(study.overall.median_error, reviewed.error)
    assert study.overall.mean_error < 1e-3 * study.overall.mean
    assert study.information is not None
    go = study.information.alternatives["go"]
    cost = 6e6 - go.value
    assert abs(study.overall.mean - cost) < 4 * math.hypot(study.overall.mean_error, go.error)
    assert " ± " in next(line for line in str(study).splitlines() if line.startswith("Cost (million USD): mean"))


def test_nothing_uncertain_is_worth_nothing(make: Make) -> None:
    """Exactly: neither a rounding error nor how to read a tornado that is not there."""
    study = analyse_sensitivity(make(KNOWN), budget="6 MUSD", draws=FEW)
    assert study.information is not None
    assert (study.information.perfect.value, study.information.perfect.error) == (0, 0)
    assert "Tenths:" not in str(study)
    assert "e-1" not in str(study)


def test_a_budget_that_no_cost_comes_near(make: Make) -> None:
    """A trillion is a trillion, and to know anything beforehand is worth nothing."""
    study = analyse_sensitivity(make(), budget="1e12 USD", draws=FEW)
    assert study.information is not None
    assert study.information.perfect.error == 0
    assert "1.000 trillion USD" in str(study)


def test_a_budget_of_nearly_nothing(make: Make) -> None:
    """No input alone may well be worth more than all of them may be."""
    study = analyse_sensitivity(make(), budget="1 USD", draws=FEW)
    assert study.information is not None
    worth = study.information
    assert max(one.high for one in worth.inputs.values()) <= worth.perfect.high
    assert "0  30" not in str(study)
    (line,) = (line for line in str(study).splitlines() if "everything" in line and "Worth" not in line and "<" in line)
    assert line.split()[0] == "everything"


def test_a_name_that_comes_twice_counts_once(make: Make) -> None:
    """--sets mfu,mfu is the set of the one."""
    study = analyse_sensitivity(make(), budget="6 MUSD", sets=[["training_flop", "training_flop"]], draws=FEW)
    assert study.information is not None
    assert [*study.information.sets] == ["training_flop"]


def test_the_one_input_of_few_values_is_everything(make: Make) -> None:
    """To know the price of 2 or 4 USD is to know the cost: by itself it takes all the variance away, exactly."""
    study = analyse_sensitivity(make({**KNOWN, "price_per_accelerator_hour": TWO}), draws=FEW)
    index = study["price_per_accelerator_hour"].first_order
    assert index is not None
    assert (index.value, index.low, index.high) == (1, 1, 1)
    assert "99.9" not in str(study)


def test_first_order_of_few_values_is_not_biased() -> None:
    """Of x in {0, 1} and noise: S = 0.25 / (0.25 + 0.01), whatever lies between the two values."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, (16, 64)).astype(float)
    index = first_order(x, x + 0.1 * rng.standard_normal(x.shape), 0.9)
    assert abs(index.value - 0.25 / 0.26) < 3 * index.error
