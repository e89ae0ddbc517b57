"""Formulas against published values, their own equations, and the scaling they must have."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uncertain_botec.estimators import ESTIMATORS, evaluate
from uncertain_botec.formulas.compute import training_flop
from uncertain_botec.formulas.cost import cost
from uncertain_botec.formulas.duration import accelerator_hours, training_time
from uncertain_botec.quantities import QUANTITIES

HOUR = 3600.0
FORMULAS = {formula.name: formula for estimator in ESTIMATORS.values() for formula in estimator.formulas}


def test_gpt3_compute() -> None:
    """GPT-3: 174.6e9 parameters, 300e9 tokens, 3.14e23 FLOP (arXiv 2005.14165, table D.1)."""
    assert training_flop(174.6e9, 300e9) == pytest.approx(3.14e23, rel=2e-3)


def test_deepseek_v3_cost_and_days() -> None:
    """DeepSeek-V3: 2.788e6 hours at 2 USD are 5.576e6 USD; 2.664e6 hours on 2,048 accelerators are 54.2 days."""
    assert cost(2.788e6 * HOUR, 2 / HOUR) == pytest.approx(5.576e6, rel=1e-12)
    assert accelerator_hours(2048, 54.2 * 86400) / HOUR == pytest.approx(2.664e6, rel=1e-3)


def test_all_accelerators_count_in_utilisation() -> None:
    """An MFU from 16 accelerators' tokens over one's peak is sixteen times too high: 2.84 % is right, not 45.5 %."""
    mfu = 6 * 7e10 * 1.64e7 / (16 * 312e12 * 13.5 * HOUR)
    assert mfu == pytest.approx(0.0284, abs=5e-5)
    assert training_time(training_flop(7e10, 1.64e7), 16, 312e12, mfu, 0.0) == pytest.approx(13.5 * HOUR, rel=1e-12)


def test_seed_headline() -> None:
    """1.7 million GPU-hours are about 194 years on one GPU and about a week on 10,000."""
    hours = 1.7e6
    assert hours / 8766 == pytest.approx(194, abs=0.5)
    assert hours / 10_000 / 24 == pytest.approx(7.1, abs=0.05)


def test_llama_2_70b_utilisation() -> None:
    """Llama 2 70B: 8.28e23 FLOP in 1,720,320 A100-hours is a whole-run MFU of 0.428, which gives the hours back."""
    flop = training_flop(68976648192, 2e12)
    assert flop == pytest.approx(8.28e23, rel=1e-3)
    mfu = flop / (312e12 * 1720320 * HOUR)
    assert mfu == pytest.approx(0.428, abs=5e-4)
    time = training_time(flop, 2048, 312e12, mfu, 0.0)
    assert accelerator_hours(2048, time) / HOUR == pytest.approx(1720320, rel=1e-12)


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_equation_is_what_the_function_computes(name: str) -> None:
    """The equation shown to people, evaluated as an expression, gives what the function gives."""
    formula = FORMULAS[name]
    values = {key: 1.5 + 0.37 * position for position, key in enumerate(formula.inputs)}
    shown = eval(formula.equation, {"__builtins__": {}}, values)  # noqa: S307 - our own constant expressions
    assert formula(**values) == pytest.approx(shown, rel=1e-14)


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_formulas_are_documented(name: str) -> None:
    """Every formula says what it computes, in which units, with a worked example and a source, in known quantities."""
    formula = FORMULAS[name]
    text = formula.function.__doc__ or ""
    assert all(part in text for part in ("Args:", "Returns:", "Example:"))
    assert formula.source
    assert {formula.name, *formula.inputs} <= QUANTITIES.keys()


positive = st.floats(1e-3, 1e3)
TRAINING = ESTIMATORS["training"]


def _inputs(**changes: float) -> dict[str, float]:
    inputs = {"parameters": 7e10, "tokens": 2e12, "accelerators": 2048.0, "peak_flop_per_s": 312e12, "mfu": 0.4}
    return inputs | {"failure_overhead": 0.1, "price_per_accelerator_hour": 2.2 / HOUR} | changes


@given(positive)
def test_homogeneity(factor: float) -> None:
    """Twice the tokens, twice the FLOP, time, hours and cost; twice the accelerators, half the time, the same cost."""
    base, more = evaluate(TRAINING, _inputs()), evaluate(TRAINING, _inputs(tokens=2e12 * factor))
    for output in TRAINING.outputs:
        assert more[output] / base[output] == pytest.approx(factor, rel=1e-12)
    wider = evaluate(TRAINING, _inputs(accelerators=2048 * factor))
    assert wider["training_time"] * factor == pytest.approx(base["training_time"], rel=1e-12)
    assert wider["cost"] == pytest.approx(base["cost"], rel=1e-12)


@pytest.mark.parametrize("supplied", TRAINING.outputs)
def test_a_supplied_output_is_not_computed(supplied: str) -> None:
    """A formula whose output is stated as an input is skipped, and what follows uses the stated value."""
    values = evaluate(TRAINING, _inputs(**{supplied: 12345.0}))
    assert values[supplied] == 12345.0
    if supplied == "accelerator_hours":
        assert values["cost"] == pytest.approx(12345.0 * 2.2 / HOUR, rel=1e-12)


def test_needs_are_what_is_not_computed() -> None:
    """What must be stated is what the remaining formulas take and none of them gives."""
    assert set(TRAINING.needs(frozenset())) == _inputs().keys()
    assert "tokens" not in TRAINING.needs(frozenset({"training_flop"}))
    assert not math.isnan(evaluate(TRAINING, _inputs(failure_overhead=0.0))["cost"])
