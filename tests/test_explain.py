"""The whiteboard: steps in order, each the formula's own value at the medians, with where its inputs are from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from equations import MATHEMATICS, tolerance

from uncertain_botec import Scenario, load_scenario
from uncertain_botec.explain import Explanation, explain
from uncertain_botec.library import shipped
from uncertain_botec.units import to_base
from uncertain_botec.vocabulary import QUANTITIES

SCENARIO = """
title     = "Whiteboard"
estimator = "training"

[inputs]
parameters                 = "70e9 parameter"
tokens                     = { family = "lognormal", p10 = "1e12 token", p90 = "4e12 token", source = "a paper" }
accelerators               = { value = 1000, source = "plan" }
peak_flop_per_s            = "300 TFLOP/s"
mfu                        = { family = "uniform", low = 0.3, high = 0.5 }
failure_overhead           = { family = "jqpd", p10 = "5 %", p50 = "10 %", p90 = "30 %", support = [0, inf] }
price_per_accelerator_hour = { family = "normal", mean = "2 USD/hour", sd = "0.1 USD/hour" }
"""


def load(folder: Path, text: str) -> Scenario:
    """The scenario that a text states."""
    file = folder / "scenario.toml"
    file.write_text(text, "utf-8")
    return load_scenario(file)


def values_of(explanation: Explanation) -> dict[str, float]:
    """The outputs by name, in printed units."""
    return {step.output.name: step.output.value for step in explanation.steps}


def test_values_at_the_medians(tmp_path: Path) -> None:
    """Medians 2e12 tokens, MFU 0.4, overhead 10 % and 2 USD: 8.4e23 FLOP, 89.1 days, 2.1e6 hours, 4.3e6 USD."""
    explanation = explain(load(tmp_path, SCENARIO))
    flop = 6 * 70e9 * 2e12
    days = flop / (1000 * 300e12 * 0.4) * 1.1 / 86400
    expected = {"training_flop": flop, "stepping_time": days / 1.1, "training_time": days}
    expected |= {"accelerator_hours": days * 24e3, "rental_cost": days * 48e3, "cost": days * 48e3}
    assert values_of(explanation) == pytest.approx(expected, rel=1e-9)
    assert list(values_of(explanation)) == list(expected)
    assert explanation.skipped == ()


@pytest.mark.parametrize("name", shipped("runs"))
def test_equations_give_the_values(name: str) -> None:
    """Each equation, evaluated on the inputs shown beside it, is the value shown; no input is unexplained."""
    shown: set[str] = set()
    for step in explain(load_scenario(name)).steps:
        base = {term.name: to_base(term.value, term.unit) for term in step.inputs}
        # What is optional and not stated counts as zero where its name is left in an equation.
        names = dict.fromkeys(re.findall(r"[a-z_]{3,}", step.equation), 0.0) | MATHEMATICS | base
        given = to_base(step.output.value, step.output.unit)
        names |= {step.output.name: given}
        value = eval(step.equation, {"__builtins__": {}}, names)  # noqa: S307 - the package's own equations
        assert given == pytest.approx(value, rel=tolerance(step.output.name, step.equation))
        assert step.summary
        assert step.source
        for term in step.inputs:
            assert term.belief or term.name in shown, f"{term.name} is used before it is computed"
        shown.add(step.output.name)


def test_terms_say_where_they_are_from(tmp_path: Path) -> None:
    """An input has its family (or that it is known) and its source; what a formula computed has neither."""
    steps = explain(load(tmp_path, SCENARIO)).steps
    terms = {term.name: term for step in steps for term in (*step.inputs, step.output)}
    assert (terms["tokens"].belief, terms["tokens"].source) == ("lognormal", "a paper")
    assert (terms["accelerators"].belief, terms["accelerators"].source) == ("known", "plan")
    assert (terms["mfu"].belief, terms["mfu"].source) == ("uniform", "not stated")
    assert (terms["cost"].belief, terms["cost"].source) == ("", "")
    assert (terms["training_time"].unit, terms["cost"].unit) == ("days", "USD")
    assert all(term.meaning == QUANTITIES[name].meaning for name, term in terms.items())


def test_a_stated_output_skips_its_formula(tmp_path: Path) -> None:
    """What the scenario states itself is used as stated, and its formula is named as skipped."""
    text = SCENARIO.replace('parameters                 = "70e9 parameter"', 'training_flop = "1e24 FLOP"')
    explanation = explain(
        load(tmp_path, "\n".join(line for line in text.splitlines() if not line.startswith("tokens")))
    )
    assert explanation.skipped == ("training_flop",)
    assert "training_flop" not in values_of(explanation)
    days = 1e24 / (1000 * 300e12 * 0.4) * 1.1 / 86400
    assert values_of(explanation)["training_time"] == pytest.approx(days, rel=1e-9)


@pytest.mark.parametrize(
    ("stated", "median"),
    [
        ('{ family = "poisson", mean = 40 }', 40.0),
        ('{ family = "choice", values = [10, 20, 40], weights = [0.2, 0.2, 0.6] }', 40.0),
        ('{ family = "gamma", shape = 1, scale = 40 }', 40 * np.log(2)),
    ],
)
def test_medians_of_other_families(stated: str, median: float, tmp_path: Path) -> None:
    """Counts, alternatives and families without a closed-form quantile have their own median."""
    text = SCENARIO.replace('{ value = 1000, source = "plan" }', stated)
    steps = explain(load(tmp_path, text)).steps
    (term,) = (term for step in steps[1:2] for term in step.inputs if term.name == "accelerators")
    assert term.value == pytest.approx(median, rel=1e-9)


def test_json_form() -> None:
    """The JSON form survives JSON strictly and names its schema."""
    document = explain(load_scenario("gpt-3")).to_dict()
    again = json.loads(json.dumps(document, allow_nan=False))
    assert again["schema"] == "uncertain-botec/explain/1"
    assert [step["output"]["name"] for step in again["steps"]][-1] == "cost"
    assert again["steps"][0]["inputs"][0]["name"] == "parameters"
