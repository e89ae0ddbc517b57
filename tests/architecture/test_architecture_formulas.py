"""The formulas of architecture: their equations, published examples, units, and the means that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uncertain_botec.architecture.shape import SHAPE
from uncertain_botec.formulas import architecture
from uncertain_botec.formulas.base import Formula
from uncertain_botec.units import registry
from uncertain_botec.vocabulary import QUANTITIES

FORMULAS = {name: value for name, value in vars(architecture).items() if isinstance(value, Formula)}
NAMES = dict(QUANTITIES) | dict(SHAPE)

by_name = pytest.mark.parametrize("name", sorted(FORMULAS))


def _values(formula: Formula) -> dict[str, int]:
    return {key: 3 + 2 * position for position, key in enumerate(formula.inputs)}


@by_name
def test_equation_is_what_the_function_computes(name: str) -> None:
    """The equation shown to people, evaluated as an expression, gives what the function gives."""
    formula = FORMULAS[name]
    shown = eval(formula.equation, {"__builtins__": {}}, _values(formula))  # noqa: S307 - our own constant expressions
    assert formula(**_values(formula)) == shown


@by_name
def test_formulas_are_documented(name: str) -> None:
    """Every formula says what it computes, in which units, with a worked example and a source, in known quantities."""
    formula = FORMULAS[name]
    text = formula.function.__doc__ or ""
    assert all(part in text for part in ("Args:", "Returns:", "Example:"))
    assert all(f"{key}: " in text for key in formula.inputs)
    assert formula.source
    assert {formula.name, *formula.inputs} <= NAMES.keys()


def test_every_name_is_used() -> None:
    """No size is in the vocabulary of shapes for nothing."""
    assert {name for one in FORMULAS.values() for name in (one.name, *one.inputs)} >= SHAPE.keys()


@pytest.mark.parametrize("quantity", SHAPE.values(), ids=list(SHAPE))
def test_examples_can_exist(quantity: Any) -> None:
    """An example lies within the limits of its quantity."""
    assert quantity.admits(float(quantity.example.strip('"').split()[0]))


@by_name
def test_arrays_go_through(name: str) -> None:
    """An array gives, element by element, what its numbers give."""
    formula = FORMULAS[name]
    rows = [{key: value + shift for key, value in _values(formula).items()} for shift in (0, 1, 4)]
    arrays = {key: np.array([row[key] for row in rows], dtype=np.float64) for key in formula.inputs}
    assert formula(**arrays).tolist() == pytest.approx([formula(**row) for row in rows], rel=1e-15)


@by_name
def test_units(name: str) -> None:
    """Counts have no unit, so a formula's constant gives its result the unit that the vocabulary says."""
    formula, units = FORMULAS[name], registry()
    if formula.law_of_numbers:
        assert name == "causal_attended_tokens"
        return
    result = units.Quantity(1, formula.constant) * formula(
        **{key: units.Quantity(value, NAMES[key].unit) for key, value in _values(formula).items()}
    )
    assert result.check(units.Quantity(1, NAMES[formula.name].unit).dimensionality)
    assert result.magnitude == formula(**_values(formula))


@pytest.mark.parametrize(
    ("name", "inputs", "published"),
    [
        ("attention_parameters", (8192, 64, 8, 128), 150994944),
        ("mla_parameters", (7168, 128, 1536, 512, 128, 64, 128), 187105280),
        ("mla_parameters_of_full_rank_queries", (2048, 16, 512, 128, 64, 128), 13762560),
        ("mlp_parameters", (4096, 11008, 3), 135266304),
        ("expert_parameters", (32, 8, 4096, 14336, 3), 45097156608),
        ("router_parameters", (4096, 8), 32768),
        ("output_head_parameters", (8192, 128256), 1050673152),
        ("attention_width", (118, 48, 256), 1449984),
        ("mla_attention_width", (61, 128, 128, 64, 128), 1249280),
        ("kv_width", (80, 8, 128), 163840),
        ("mla_kv_width", (61, 512, 64), 35136),
        ("causal_attended_tokens", (8192, 4096), 3072.25),
        ("causal_attended_tokens", (8192, 8192), 4096.5),
    ],
)
def test_examples(name: str, inputs: tuple[int, ...], published: float) -> None:
    """The worked examples come out exactly, and stand in the documentation."""
    formula = FORMULAS[name]
    assert formula(*inputs) == published
    assert str(published) in (formula.function.__doc__ or "")


def test_key_value_cache_in_bytes() -> None:
    """DeepSeek-V3 keeps 70.272 kB for one token in bf16, Llama 3.1 405B 516.096 kB (arXiv 2505.09343, table 1)."""
    assert 2 * FORMULAS["mla_kv_width"](61, 512, 64) == 70272
    assert 2 * FORMULAS["kv_width"](126, 8, 128) == 516096


def test_queries_of_full_rank() -> None:
    """Latent attention of r_q = 6, h = 16, n = 3, d_q = 6 has r_q (h + n d_q) weights of queries, else h n d_q."""
    latent, full = FORMULAS["mla_parameters"], FORMULAS["mla_parameters_of_full_rank_queries"]
    assert latent(16, 3, 6, 5, 4, 2, 7) - full(16, 3, 5, 4, 2, 7) == 6 * (16 + 3 * 6) - 16 * 3 * 6


@given(st.integers(1, 60), st.integers(1, 60))
def test_causal_mean_is_a_mean(length: int, window: int) -> None:
    """The mean over tokens of how many each attends to, counted one by one."""
    window = min(window, length)
    counted = sum(min(position, window) for position in range(1, length + 1)) / length
    assert FORMULAS["causal_attended_tokens"](length, window) == pytest.approx(counted, rel=1e-14)
