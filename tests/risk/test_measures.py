"""Measures of risk against closed forms, brute force and what must hold of any draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import lognorm

from uncertain_botec.risk.measures import (
    balanced_pair,
    chance,
    cvar,
    expected_overrun,
    isocurve,
    mean,
    mean_overrun,
    percentile,
    quantiles_at,
)

REPLICATES = 16
Floats = NDArray[np.floating[Any]]

LEVELS = st.floats(0.01, 0.99)
ANY_DRAWS = arrays(np.float64, (4, 25), elements=st.integers(-3, 6) | st.floats(-5, 5))


def evenly(count: int = 1 << 16) -> Floats:
    """The midpoints of equal cells of (0, 1), dealt to the replicates in turn."""
    return ((np.arange(count) + 0.5) / count).reshape(-1, REPLICATES).T


def dealt(values: Floats) -> Floats:
    """Every replicate holds these draws."""
    return np.tile(np.asarray(values, np.float64), (REPLICATES, 1))


# --- quantiles and percentiles ----------------------------------------------------------------------------------------


def test_quantiles_of_exact_draws() -> None:
    """Quantiles of evenly spread draws are their levels."""
    found = quantiles_at(evenly(), (0.5, 0.8, 0.99))
    assert [one.value for one in found] == pytest.approx([0.5, 0.8, 0.99], abs=1e-12)


def test_percentiles_count_ties_half() -> None:
    """Of 0, 1, 1 and 2 the value 1 lies at 50, half of its own weight being below it; what is beyond all, at an end."""
    values = dealt(np.array([0, 1, 1, 2]))
    assert [percentile(values, x).value for x in (-1, 0, 1, 1.5, 2, 3)] == [0, 12.5, 50, 75, 87.5, 100]
    assert percentile(values, -1).error > 0
    assert percentile(dealt(np.ones(4)), 1, exact=True).error == 0


@pytest.mark.parametrize("level", [0.05, 0.5, 0.9, 0.99])
def test_the_percentile_of_a_quantile_is_its_level(level: float) -> None:
    """Quantile and percentile are inverse to one another, to one draw."""
    values = np.random.default_rng(4).lognormal(size=(REPLICATES, 500))
    (quantile,) = quantiles_at(values, [level])
    assert percentile(values, quantile.value).value == pytest.approx(100 * level, abs=100 / values.size)


# --- chances ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [64, 1 << 14])
def test_never_nothing_plus_or_minus_nothing(count: int) -> None:
    """Events that no draw or every draw shows have an error and a bound of about 3 over the number of draws."""
    never, always = (chance(np.full((REPLICATES, count), some)) for some in (False, True))
    assert (never.value, never.low) == (0, 0)
    assert never.high == pytest.approx(3 / (REPLICATES * count), rel=0.2)
    assert never.error > 0
    assert (always.value, always.high, always.low) == (1, 1, 1 - never.high)


def test_what_is_known_is_certain() -> None:
    """An event that depends on nothing uncertain has no error."""
    one = chance(np.full((REPLICATES, 4), True), exact=True)
    assert (one.value, one.error, one.low, one.high) == (1, 0, 1, 1)


@given(ANY_DRAWS, ANY_DRAWS, st.floats(-3, 6), st.floats(-3, 6))
def test_both_is_no_likelier_than_either(cost: Floats, time: Floats, budget: float, deadline: float) -> None:
    """P(A and B) <= min(P(A), P(B)), and at least P(A) + P(B) - 1."""
    kept, in_time = cost <= budget, time <= deadline
    both, first, second = (chance(event).value for event in (kept & in_time, kept, in_time))
    assert first + second - 1 - 1e-12 <= both <= min(first, second)


# --- overruns ---------------------------------------------------------------------------------------------------------


def test_overruns_of_an_exponential() -> None:
    """It forgets: beyond b the mean overrun is 1 whatever b, and the expected one exp(-b)."""
    values = -np.log1p(-evenly(1 << 18))
    for limit in (0.0, 1.0, 3.0):
        more = mean_overrun(values, limit)
        assert more is not None
        assert more.value == pytest.approx(1, abs=2e-3)
        assert expected_overrun(values, limit).value == pytest.approx(math.exp(-limit), rel=2e-3)


def test_the_error_of_a_mean_overrun() -> None:
    """Over many sets of independent draws the mean overrun scatters as its standard errors say."""
    rng = np.random.default_rng(7)
    found = [mean_overrun(rng.exponential(size=(REPLICATES, 64)), 1.5) for _ in range(400)]
    z = [(one.value - 1) / one.error for one in found if one is not None]
    assert len(z) == 400
    # Student's t with 15 degrees of freedom has the deviation sqrt(15 / 13); 400 of them tell it to 4 %.
    assert np.std(z) == pytest.approx(math.sqrt(15 / 13), rel=0.16)


def test_no_overrun() -> None:
    """Where no draw overruns there is no mean overrun, and how far the expected one is from nothing is not known."""
    values = evenly(1 << 10)
    assert mean_overrun(values, 2) is None
    assert (expected_overrun(values, 2).value, expected_overrun(values, 2).error) == (0, math.inf)
    assert expected_overrun(values, 2, exact=True).error == 0


def test_a_single_overrun_tells_no_error() -> None:
    """One draw over the limit, or several of one replicate, do not scatter, which is no certainty."""
    values = np.zeros((REPLICATES, 8))
    values[3, :2] = 5, 7
    one = mean_overrun(values, 1)
    assert one is not None
    assert (one.value, one.error) == (5, math.inf)


# --- conditional value at risk ----------------------------------------------------------------------------------------


def test_cvar_of_five_values() -> None:
    """At 75 % of 0, 1, 2, 3, 4 the worst quarter is the 4 (a fifth) and a quarter of the 3: 3.8."""
    assert cvar(dealt(np.arange(5)), 0.75).value == pytest.approx(3.8, rel=1e-15)


def test_cvar_of_an_atom() -> None:
    """0 with 90 % and 100 with 10 %: at 50 % a fifth of the worst half is the 100, at 95 % all of the worst part."""
    values = dealt(np.repeat([0, 100], [9, 1]))
    assert [cvar(values, level).value for level in (0.5, 0.9, 0.95)] == pytest.approx([20, 100, 100], rel=1e-12)


@settings(max_examples=200)
@given(ANY_DRAWS, LEVELS)
def test_cvar_is_the_least_of_all_corners(values: Floats, level: float) -> None:
    """c + E[(X - c)+] / (1 - a) is piecewise linear in c, so its minimum is at one of the draws."""
    flat = values.reshape(-1)
    corners = [c + np.maximum(flat - c, 0).mean() / (1 - level) for c in np.unique(flat)]
    assert cvar(values, level).value == pytest.approx(min(corners), rel=1e-9, abs=1e-9)


@settings(max_examples=200)
@given(ANY_DRAWS, LEVELS)
def test_cvar_is_no_less_than_the_quantile(values: Floats, level: float) -> None:
    """The mean of the worst is at or beyond where they begin, at or above the mean, and at most the greatest."""
    tail = cvar(values, level).value
    assert tail >= quantiles_at(values, [level])[0].value - 1e-12
    assert mean(values).value - 1e-12 <= tail <= values.max() + 1e-12


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_cvar_of_a_lognormal(level: float) -> None:
    """exp(s^2 / 2) Phi(s - z) / (1 - a) for a median of 1, on evenly spread draws."""
    law = lognorm(0.4)
    values = law.ppf(evenly(1 << 18))
    exact = math.exp(0.08) * float(lognorm(0.4, scale=math.exp(0.16)).sf(law.ppf(level))) / (1 - level)
    assert cvar(values, level).value == pytest.approx(exact, rel=1e-3)


# --- endless draws ----------------------------------------------------------------------------------------------------


def test_endless_draws_are_infinite_and_never_undefined() -> None:
    """One draw in ten is infinite: so are the mean, the overruns and what lies in the tail, but not the median."""
    values = evenly(1600).copy()
    values[:, -10:] = math.inf
    assert mean(values).value == cvar(values, 0.8).value == cvar(values, 0.99).value == math.inf
    assert expected_overrun(values, 0.5).value == math.inf
    over = mean_overrun(values, 0.5)
    assert over is not None
    assert over.value == math.inf
    median, ninety_five = quantiles_at(values, (0.5, 0.95))
    assert math.isfinite(median.value)
    assert (ninety_five.value, ninety_five.error) == (math.inf, 0)
    pair = balanced_pair(values, values, 0.95)
    assert pair.budget.value == pair.deadline.value == math.inf
    everything = np.full((REPLICATES, 4), math.inf)
    assert (cvar(everything, 0.8).value, cvar(everything, 0.8).error) == (math.inf, 0)
    for one in (mean(values), cvar(values, 0.8), expected_overrun(values, 0.5), over, pair.percentile, pair.budget):
        assert not math.isnan(one.value)
        assert not math.isnan(one.error)


def test_constants_are_exact() -> None:
    """Draws that are all one value have it for every quantile, mean and tail, without rounding and without error."""
    values = np.full((REPLICATES, 1000), 0.1)
    for one in (mean(values), cvar(values, 0.8), *quantiles_at(values, (0.5, 0.99))):
        assert (one.value, one.error) == (0.1, 0)


# --- order, and sums --------------------------------------------------------------------------------------------------


@given(st.integers(0, 1000))
def test_the_order_of_draws_does_not_matter(seed: int) -> None:
    """Draws shuffled within their replicates, cost and time alike, give the same figures."""
    rng = np.random.default_rng(seed)
    cost, time = np.exp(rng.normal(size=(2, REPLICATES, 40)))
    order = np.argsort(rng.random((REPLICATES, 40)), axis=1)
    one, other = (
        (
            *(
                figure.value
                for figure in (cvar(c, 0.8), mean(c), expected_overrun(c, 1.0), *quantiles_at(c, (0.5, 0.9)))
            ),
            *(figure.error for figure in (cvar(c, 0.8), expected_overrun(c, 1.0), *quantiles_at(c, (0.5, 0.9)))),
            chance((c <= 1) & (t <= 2)).value,
            balanced_pair(c, t, 0.7).budget.value,
            balanced_pair(c, t, 0.7).percentile.error,
            *isocurve(c, t, 0.6, 5).deadlines,
        )
        for c, t in ((cost, time), tuple(np.take_along_axis(some, order, axis=1) for some in (cost, time)))
    )
    assert one == pytest.approx(other, rel=1e-12)


def test_p90s_do_not_add_up() -> None:
    """Five lognormals of median 1 and sigma 0.4: their P90s sum to 8.35, while P90 of their sum is 6.745."""
    draws = np.exp(0.4 * np.random.default_rng(11).standard_normal((5, REPLICATES, 1 << 14)))
    step, top = 1 / 512, 64
    # The density of the sum, by Fourier: cells of one density, each put at its middle, five times convolved.
    cells = np.diff(lognorm(0.4).cdf(np.arange(0, top, step)))
    sums = np.fft.irfft(np.fft.rfft(cells, 8 * len(cells)) ** 5, 8 * len(cells))
    exact = float(np.interp(0.9, np.cumsum(sums), step * (np.arange(len(sums)) + 3)))
    (of_sum,) = quantiles_at(draws.sum(axis=0), [0.9])
    assert exact == pytest.approx(6.745, abs=1e-3)
    assert abs(of_sum.value - exact) < 4 * of_sum.error
    alone = sum(quantiles_at(one, [0.9])[0].value for one in draws)
    assert alone == pytest.approx(5 * math.exp(0.4 * float(ndtri(0.9))), rel=2e-3)
    assert alone == pytest.approx(8.35, abs=0.01)


# --- both at once -----------------------------------------------------------------------------------------------------

KINDS = ["same", "opposite", "independent"]


def pairs(kind: str) -> tuple[Floats, Floats]:
    """Evenly spread draws of two that move together, against each other, or apart: a lattice of the golden ratio."""
    cost = evenly()
    if kind == "independent":
        index = np.arange(cost.size).reshape(-1, REPLICATES).T
        return cost, (index * 40503 % cost.size + 0.5) / cost.size
    return cost, cost if kind == "same" else 1 - cost


@pytest.mark.parametrize(("kind", "exact"), [("same", 0.8), ("opposite", 0.9), ("independent", math.sqrt(0.8))])
def test_the_common_percentile_of_both(kind: str, exact: float) -> None:
    """For 80 % in both each takes 80 % if they move together, 90 % if against each other, sqrt(80 %) if apart."""
    cost, time = pairs(kind)
    pair = balanced_pair(np.exp(cost), np.exp(time), 0.8)
    assert pair.percentile.value == pytest.approx(100 * exact, abs=0.02)
    assert (pair.budget.value, pair.deadline.value) == pytest.approx((math.exp(exact),) * 2, rel=2e-4)
    kept = (np.exp(cost) <= pair.budget.value) & (np.exp(time) <= pair.deadline.value)
    assert kept.mean() == pytest.approx(0.8, abs=1e-4)


def test_a_constant_takes_nothing_from_the_other() -> None:
    """With a cost that is known, both at 30 % is the deadline at 30 %."""
    pair = balanced_pair(np.full((REPLICATES, 1 << 12), 7.0), evenly(), 0.3)
    assert pair.budget.value == 7
    assert pair.deadline.value == pytest.approx(0.3, abs=1e-3)


def test_atoms_are_taken_whole() -> None:
    """A cost of 1 (70 %) or 2: both at 80 % takes the 2, for with the 1 they are kept with 70 % at most."""
    cost = dealt(np.repeat([1, 2], [7, 3]))
    assert balanced_pair(cost, cost, 0.8).budget.value == 2
    assert balanced_pair(cost, cost, 0.6).budget.value == 1


@pytest.mark.parametrize("part", [0.8, 0.9])
def test_a_pair_of_atoms_is_at_their_own_percentile(part: float) -> None:
    """A cost of 1 (80 % or 90 %) or 2 and a known time: both at 80 % is the 1, which is kept with all its chance."""
    cost = dealt(np.repeat([1.0, 2.0], [round(1000 * part), round(1000 * (1 - part))]))
    pair = balanced_pair(cost, np.full(cost.shape, 7.0), 0.8)
    assert (pair.budget.value, pair.deadline.value) == (1, 7)
    assert pair.percentile.value == pytest.approx(100 * part)
    assert pair.kept.value == pytest.approx(part)


@pytest.mark.parametrize("kind", KINDS)
def test_every_point_of_the_curve_is_as_likely(kind: str) -> None:
    """P(X <= b, Y <= d) is the level all along the curve, on which more money buys no more time."""
    cost, time = pairs(kind)
    curve = isocurve(cost, time, 0.7, points=9)
    kept = [((cost <= b) & (time <= d)).mean() for b, d in zip(curve.budgets, curve.deadlines, strict=True)]
    assert kept == pytest.approx([0.7] * 9, abs=1e-4)
    assert np.all(np.diff(curve.budgets) > 0)
    assert np.all(np.diff(curve.deadlines) <= 1e-12)
    if kind == "independent":
        assert curve.budgets * curve.deadlines == pytest.approx(np.full(9, 0.7), abs=3e-4)


def test_the_errors_of_a_curve() -> None:
    """Deadlines of independent uniform draws scatter about level / budget as their errors say."""
    rng = np.random.default_rng(5)
    z = []
    for _ in range(100):
        curve = isocurve(*rng.random((2, REPLICATES, 256)), 0.7, points=3)
        z.append((curve.deadlines - 0.7 / curve.budgets) / curve.errors)
    assert np.all(np.std(z, axis=0) < 1.3)
    assert np.all(np.std(z, axis=0) > 0.8)
