"""Studies of scenarios: what moves the cost of a run, what does not, and what is said where there is nothing to say."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from uncertain_botec import Scenario, Sensitivity, analyse_sensitivity, load_scenario
from uncertain_botec.errors import UsageError
from uncertain_botec.sensitivity.models import CHANCE

Load = Callable[..., Scenario]

LOGNORMAL = '{{ family = "lognormal", median = {}, sigma = {} }}'
BASE = {
    "parameters": LOGNORMAL.format('"7e9 parameter"', 0.2),
    "tokens": LOGNORMAL.format('"2e12 token"', 0.1),
    "accelerators": "256",
    "peak_flop_per_s": '"312 TFLOP/s"',
    "mfu": "0.4",
    "failure_overhead": '"10 %"',
    "price_per_accelerator_hour": LOGNORMAL.format('"2 USD/hour"', 0.3),
}
BUDGET = '[limits]\nbudget = "450e3 USD"\n'
SIMULATED = {
    "node_failure_rate": '"0.5 failure/node-day"',
    "accelerators_per_node": "8",
    "restart_time": '"20 minute"',
    "checkpoint_write_time": '"2 minute"',
    "failure_overhead": None,
}
FEW = 1 << 12

NUMBER = {"type": "number"}
TEXT = {"type": "string"}
NULLABLE = {"type": ["number", "null"]}


def table(**properties: Any) -> dict[str, Any]:
    """The JSON Schema of an object that has these keys and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """That, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


INDEX = table(value=NULLABLE, error=NULLABLE, low=NULLABLE, high=NULLABLE)
CENTRE = {"mean": NULLABLE, "mean_error": NULLABLE, "median": NULLABLE, "median_error": NULLABLE}
TAIL = table(threshold=NUMBER, mass=NUMBER, **CENTRE)
INDICES = {"type": "object", "additionalProperties": INDEX}
SCHEMA = table(
    schema={"const": "uncertain-botec/sensitivity/1"},
    scenario=table(title=TEXT, path=TEXT, sha256=TEXT),
    choices={"type": "object"},
    output=TEXT,
    unit=TEXT,
    level=NUMBER,
    scale={"enum": ["log", "rank", "linear"]},
    resolved={"type": "boolean"},
    overall=table(**CENTRE),
    at_medians=NULLABLE,
    inputs={
        "type": "array",
        "items": table(
            input=TEXT,
            influence={"enum": ["uncertain", "chance", "none", "known"]},
            unit=TEXT,
            low=nullable(TAIL),
            high=nullable(TAIL),
            swing=nullable(table(at_p10=NULLABLE, at_p90=NULLABLE)),
            first_order=nullable(INDEX),
            shapley=nullable(INDEX),
        ),
    },
    information=nullable(
        table(decision=TEXT, alternatives=INDICES, best=TEXT, perfect=INDEX, inputs=INDICES, sets=INDICES)
    ),
    draws={"type": "integer"},
    walks={"type": "integer"},
    seed={"type": "integer"},
    notes={"type": "array", "items": TEXT},
)


def document(study: Sensitivity) -> dict[str, Any]:
    """The study as strict JSON, which has the documented form."""
    made: dict[str, Any] = json.loads(json.dumps(study.to_dict(), allow_nan=False))
    jsonschema.validate(made, SCHEMA)
    return made


def test_a_product_of_lognormals(load_inputs: Load) -> None:
    """The logarithm of the cost is a sum, so that shares are those of the variances, alone and together."""
    study = analyse_sensitivity(load_inputs(BASE, rest=BUDGET), sets=[("tokens", "parameters")])
    truth = {"price_per_accelerator_hour": 9 / 14, "parameters": 4 / 14, "tokens": 1 / 14}
    assert [one.input for one in study.inputs[:3]] == list(truth)
    for name, part in truth.items():
        one = study[name]
        assert one.shapley is not None
        assert one.first_order is not None
        assert abs(one.shapley.value - part) < 4 * one.shapley.error < 0.02
        assert abs(one.first_order.value - part) < 4 * one.first_order.error < 0.03
    assert study.scale == "log"
    worth = study.information
    assert worth is not None
    assert list(worth.inputs) == list(truth)
    both = worth.sets["tokens + parameters"]
    assert worth.inputs["parameters"].value <= both.value <= worth.perfect.value
    # At the ends of the tornado the price alone moves the cost by exp(± 0.3 z).
    swing = study["price_per_accelerator_hour"].swing
    assert swing is not None
    assert swing.at_p90 / study.at_medians == pytest.approx(math.exp(0.3 * 1.2815515655446004), rel=1e-9)
    document(study)


def test_without_influence(load_inputs: Load) -> None:
    """What is known and what the output is not computed from is zero, with a bar of no length and no NaN anywhere."""
    told = {"pue": '{ family = "uniform", low = 1.1, high = 1.4 }', "power_ratio": "0.8"}
    told |= {"thermal_design_power": '"700 watt/accelerator"'}
    study = analyse_sensitivity(load_inputs(BASE, told), draws=FEW)
    kinds = {one.input: one.influence for one in study.inputs}
    assert kinds["pue"] == "none"
    assert kinds["mfu"] == "known"
    for name in ("pue", "mfu"):
        one = study[name]
        assert one.shapley is not None
        assert one.first_order is not None
        assert one.shapley.value == one.shapley.error == one.first_order.value == 0
        assert one.low is not None
        assert one.high is not None
        assert one.low.mean == one.high.mean == study.overall.mean
        assert one.swing is not None
        assert one.swing.at_p10 == one.swing.at_p90 == study.at_medians
    assert one.low.threshold == 0.4
    assert "nan" not in json.dumps(document(study)).lower()
    assert "No influence" in str(study)


def test_everything_known(load_inputs: Load) -> None:
    """Without uncertainty there is no variance: indices are null, and are shown as not applicable."""
    known = {"parameters": "7e9", "tokens": '"2e12 token"', "price_per_accelerator_hour": '"2 USD/hour"'}
    study = analyse_sensitivity(load_inputs(BASE, known, BUDGET), draws=FEW)
    assert all(one.shapley is None and one.first_order is None for one in study.inputs)
    assert study.overall.mean == study.at_medians
    assert "n/a (zero variance)" in str(study)
    assert study.information is not None
    assert study.information.perfect.value == 0
    document(study)


def test_sorting_data_changes_nothing(load_inputs: Load, tmp_path: Path) -> None:
    """An empirical input says the same whatever the order of its file."""
    values = np.random.default_rng(1).lognormal(0.7, 0.3, 200)
    found = []
    for rows in (values, np.sort(values)):
        (tmp_path / "prices.csv").write_text("price\n" + "\n".join(map(str, rows)), "utf-8")
        price = '{ family = "empirical", file = "prices.csv", column = "price", unit = "USD/hour" }'
        scenario = load_inputs(BASE, {"price_per_accelerator_hour": price}, BUDGET)
        found.append(document(analyse_sensitivity(scenario, draws=FEW)))
    for one in found:
        one["scenario"].pop("sha256")
    assert found[0] == found[1]


def test_correlated_inputs(load_inputs: Load) -> None:
    """Shares of correlated inputs make the whole, also where one of two is the other; each then has half."""
    rows = '[[correlations]]\nbetween = ["parameters", "tokens"]\nspearman = 1.0\n'
    study = analyse_sensitivity(load_inputs(BASE, rest=rows), draws=1 << 14)
    shares = {one.input: one.shapley for one in study.inputs if one.influence == "uncertain"}
    assert math.fsum(one.value for one in shares.values() if one) == pytest.approx(1, abs=1e-12)
    for name in ("parameters", "tokens"):
        share = shares[name]
        assert share is not None
        # The logarithms' standard deviations add: (0.2 + 0.1)^2 beside 0.3^2 of the price.
        assert abs(share.value - 0.25) < 4 * share.error


def test_moving_along(load_inputs: Load) -> None:
    """An input that only moves with one of the output's is named; it can be worth knowing all the same."""
    told = {"pue": '{ family = "uniform", low = 1.1, high = 1.4 }', "power_ratio": "0.8"}
    told |= {"thermal_design_power": '"700 watt/accelerator"'}
    rows = '[[correlations]]\nbetween = ["parameters", "pue"]\nspearman = 0.9\n'
    study = analyse_sensitivity(load_inputs(BASE, told, BUDGET + rows), draws=1 << 14)
    assert any("not computed from pue" in note for note in study.notes)
    assert study["pue"].influence == "none"
    assert study.information is not None
    assert study.information.inputs["pue"].low > 0


def test_chance(load_inputs: Load) -> None:
    """The luck of simulated failures stands among the inputs, and alone where all else is known."""
    scenario = load_inputs(BASE, SIMULATED, 'failures = "simulated"')
    study = analyse_sensitivity(scenario, "training_time", draws=FEW)
    chance = study[CHANCE]
    assert (chance.influence, chance.low, chance.swing) == ("chance", None, None)
    assert chance.shapley is not None
    assert chance.shapley.value > 0
    known = {"parameters": "7e9", "tokens": '"2e12 token"', "price_per_accelerator_hour": '"2 USD/hour"'}
    alone = analyse_sensitivity(load_inputs(BASE, SIMULATED | known, 'failures = "simulated"'), draws=FEW)
    share = alone[CHANCE].shapley
    assert share is not None
    assert share.value == pytest.approx(1, abs=1e-12)
    document(alone)


def test_runs_that_may_never_finish(load_inputs: Load) -> None:
    """Where some draws are infinite, ranks are shared out, medians shown, and the decision is to stop."""
    rate = {"node_failure_rate": '{ family = "lognormal", p10 = "1 failure/node-day", p90 = "60 failure/node-day" }'}
    study = analyse_sensitivity(load_inputs(BASE, SIMULATED | rate, BUDGET), draws=FEW)
    assert study.scale == "rank"
    assert math.isinf(study.overall.mean)
    share = study["node_failure_rate"].shapley
    assert share is not None
    assert share.value > 0.5
    assert study.information is not None
    assert study.information.best == "stop"
    assert study.information.perfect.value > 0
    made = document(study)
    assert made["overall"]["mean"] is None
    assert "nan" not in str(study).lower()
    assert "go, worth -∞ USD" in str(study)
    linear = analyse_sensitivity(load_inputs(BASE, SIMULATED | rate), scale="linear", draws=FEW)
    assert not linear.resolved
    assert any("infinite" in note for note in linear.notes)
    assert "zero variance" not in str(linear)


def test_heavy_tails(load_inputs: Load) -> None:
    """A variance that rare extremes decide is not printed; that of the logarithm is."""
    scenario = load_inputs(BASE, {"tokens": LOGNORMAL.format('"2e12 token"', 3)})
    assert analyse_sensitivity(scenario, draws=FEW).resolved
    linear = analyse_sensitivity(scenario, scale="linear", draws=FEW)
    assert not linear.resolved
    assert "?" in str(linear)
    assert any("rare extreme" in note for note in linear.notes)


def test_without_a_decision(load_inputs: Load) -> None:
    """Without a budget there is nothing to decide, which is said; one that is given makes a decision."""
    scenario = load_inputs(BASE)
    study = analyse_sensitivity(scenario, draws=FEW)
    assert study.information is None
    assert "no budget" in study.notes[0]
    for budget in ("450e3 USD", 450e3):
        told = analyse_sensitivity(scenario, budget=budget, draws=FEW)
        assert told.information is not None
        assert told.information.alternatives.keys() == {"go", "stop"}


def test_which_of_two(load_inputs: Load) -> None:
    """Against another scenario the decision is which, and the inputs of each that differ have its name."""
    one = load_inputs(BASE)
    other = load_inputs(BASE, {"price_per_accelerator_hour": LOGNORMAL.format('"2.1 USD/hour"', 0.1)})
    study = analyse_sensitivity(one, against=[other], late_cost="1e3 USD/day", draws=FEW, sets=[["tokens"]])
    assert study.information is not None
    assert study.information.alternatives.keys() == {"scenario #1", "scenario #2"}
    assert "price_per_accelerator_hour (scenario #2)" in study.information.inputs
    # Both runs take the same tokens: to know them changes the cost of both and not which is cheaper by much.
    assert study.information.inputs["tokens"].value < study.information.perfect.value / 10


@pytest.mark.parametrize("run", ["llama-2-70b", "frontier-2027", "chinchilla-70b-budget", "toy-network-2-3-1"])
def test_shipped_runs(run: str) -> None:
    """Studies of shipped runs have the documented form, and shares to about a hundredth."""
    study = analyse_sensitivity(load_scenario(run), draws=1 << 14)
    document(study)
    for one in study.inputs:
        assert one.shapley is None or one.shapley.error < 0.01
    for width in (80, 140):
        from uncertain_botec.sensitivity_table import as_text

        assert max(map(len, as_text(study, width).splitlines())) <= width


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"output": "costs"}, "did you mean `cost`"),
        ({"scale": "cubic"}, "log, rank, linear"),
        ({"level": 1.0}, "between 0 and 1"),
        ({"draws": 0}, "from 1 to"),
        ({"draws": 1 << 30}, "from 1 to"),
        ({"budget": "5 apples"}, "budget '5 apples'"),
        ({"budget": -1.0}, "more than 0"),
        ({"late_cost": "5 USD"}, "USD/day"),
        ({"sets": [["mfuu"]]}, "did you mean `mfu`"),
        ({"sets": [[]]}, "at least one"),
    ],
)
def test_options_that_cannot_be_used(load_inputs: Load, options: dict[str, Any], said: str) -> None:
    """A wrong option is refused with what would be right."""
    with pytest.raises(UsageError) as error:
        analyse_sensitivity(load_inputs(BASE, rest=BUDGET), **options)
    assert said in str(error.value)


def test_decisions_that_cannot_be_made(load_inputs: Load) -> None:
    """A decision by a cost that is not there, a set without a decision, and a budget among several are refused."""
    network = load_scenario("toy-network-2-3-1")
    with pytest.raises(UsageError, match="no cost"):
        analyse_sensitivity(network, budget=1e6)
    with pytest.raises(UsageError, match="state a budget"):
        analyse_sensitivity(load_inputs(BASE), sets=[["mfu"]])
    with pytest.raises(UsageError, match="a budget is for one scenario"):
        analyse_sensitivity(load_inputs(BASE), budget=1e6, against=[load_inputs(BASE)])
    with pytest.raises(UsageError, match="no cost"):
        analyse_sensitivity(load_inputs(BASE), against=[network])
