"""The scaling law against published optima and a numerical search for them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from uncertain_botec.formulas import scaling

# A, B, alpha, beta.
PRINTED = (406.4, 410.7, 0.34, 0.28)
REFIT = (482.01, 2085.43, 0.3478, 0.3658)
BUDGET = 5.88e23

constants = st.tuples(st.floats(100, 3000), st.floats(100, 3000), st.floats(0.2, 0.6), st.floats(0.2, 0.6))
budgets = st.floats(18, 27).map(lambda power: 10.0**power)


def test_refit_at_the_budget_of_chinchilla() -> None:
    """The refit (arXiv 2404.10102) at 5.88e23 FLOP: 7.302e10 parameters, 1.342e12 tokens, 18.4 each, a loss of 1.97."""
    parameters, tokens = scaling.optimal_parameters(BUDGET, *REFIT), scaling.optimal_tokens(BUDGET, *REFIT)
    assert parameters == pytest.approx(7.302e10, abs=5e6)
    assert tokens == pytest.approx(1.342e12, abs=5e8)
    assert scaling.tokens_per_parameter(tokens, parameters) == pytest.approx(18.4, abs=0.05)
    assert scaling.loss(parameters, tokens, 1.8172, *REFIT) == pytest.approx(1.974, abs=5e-4)


def test_printed_constants_ask_for_far_more_tokens() -> None:
    """The constants as first printed (arXiv 2203.15556) give 92.8 tokens per parameter at the same budget."""
    tokens, parameters = scaling.optimal_tokens(BUDGET, *PRINTED), scaling.optimal_parameters(BUDGET, *PRINTED)
    assert scaling.tokens_per_parameter(tokens, parameters) == pytest.approx(92.8, abs=0.05)


@given(budgets, constants)
def test_the_optimum_spends_the_budget(budget: float, law: tuple[float, float, float, float]) -> None:
    """6 N D is the budget, though N and D are computed apart."""
    spent = 6 * scaling.optimal_parameters(budget, *law) * scaling.optimal_tokens(budget, *law)
    assert spent == pytest.approx(budget, rel=1e-10)


@given(budgets, constants)
def test_the_optimum_against_a_numerical_search(budget: float, law: tuple[float, float, float, float]) -> None:
    """Searching along 6 N D = C for the least loss ends where the closed form says, as finely as a search can."""
    a, b, alpha, beta = law
    best = math.log(scaling.optimal_parameters(budget, *law))

    def reducible(log_n: float) -> float:
        return a * math.exp(-alpha * log_n) + b * math.exp(-beta * (math.log(budget / 6) - log_n))

    found = minimize_scalar(reducible, bounds=(best - 9, best + 7), method="bounded", options={"xatol": 1e-9})
    assert found.x == pytest.approx(best, abs=1e-6)
    tokens = scaling.optimal_tokens(budget, *law)
    assert math.log(budget / 6) - found.x == pytest.approx(math.log(tokens), abs=1e-6)
    least = scaling.loss(math.exp(best), tokens, 1.5, *law)
    assert least == pytest.approx(1.5 + found.fun, rel=1e-12)
