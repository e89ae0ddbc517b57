"""First-order indices and tornadoes of draws, against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, t

from tests.sensitivity.oracles import CORRELATED, ISHIGAMI_FIRST, NAMES, explained_by, ishigami, linear, product
from uncertain_botec.sampling.points import point_set
from uncertain_botec.sensitivity.first_order import first_order, first_order_of_twins
from uncertain_botec.sensitivity.indices import REPLICATES, Index
from uncertain_botec.sensitivity.models import Model, drawn, keys_of
from uncertain_botec.sensitivity.tornado import one_at_a_time, tails, whole

KEYS = keys_of(0, "test", REPLICATES)


def given(model: Model, draws: int, seed: int, sampler: str = "monte-carlo") -> tuple[dict[str, Any], Any]:
    """Scores, as correlated as the model's, and the results."""
    points = point_set(sampler, draws, seed)
    scores = dict(drawn(points, model.names, "given", 0, draws // REPLICATES))
    if model.correlated:
        scores = model.correlate(scores, model.factor(range(len(model.correlated))))
    return scores, model.function(scores, KEYS)


def z_of(index: Index, truth: float) -> float:
    """How many standard errors from the truth."""
    return (index.value - truth) / index.error


@pytest.mark.parametrize("name", NAMES)
def test_ishigami(name: str) -> None:
    """First-order indices of Ishigami's function are 0.314, 0.442 and 0 within three standard errors."""
    scores, y = given(ishigami(), 1 << 16, seed=1)
    index = first_order(scores[name], y, 0.9)
    assert abs(z_of(index, ISHIGAMI_FIRST[name])) < 3
    assert index.error < 0.01
    assert ISHIGAMI_FIRST["a"] == pytest.approx(0.314, abs=5e-4)
    assert ISHIGAMI_FIRST["b"] == pytest.approx(0.442, abs=5e-4)


def test_product_of_lognormals() -> None:
    """The index of a factor is (exp(s_i^2) - 1) / (exp(sum of s^2) - 1)."""
    sigmas = (0.5, 0.3, 0.1)
    scores, y = given(product(sigmas), 1 << 16, seed=2)
    for name, sigma in zip(NAMES, sigmas, strict=True):
        truth = math.expm1(sigma**2) / math.expm1(sum(s**2 for s in sigmas))
        assert abs(z_of(first_order(np.exp(sigma * scores[name]), y, 0.9), truth)) < 3


def test_correlated_inputs() -> None:
    """Of correlated inputs each index is the part of the variance that a regression on it alone explains."""
    weights = (1.0, 0.5, 2.0)
    scores, y = given(linear(weights, CORRELATED), 1 << 16, seed=3)
    variance = explained_by(weights, (0, 1, 2), CORRELATED)
    for place, name in enumerate(NAMES):
        assert abs(z_of(first_order(scores[name], y, 0.9), explained_by(weights, (place,), CORRELATED) / variance)) < 3


def test_few_values_with_correlated_scores() -> None:
    """An input with two values tells what the two values tell, not what its hidden score would."""
    latent = np.array([[1, 0.9], [0.9, 1]])
    scores, y = given(linear((0.0, 1.0), latent), 1 << 16, seed=4)
    # Y is the second score; knowing the sign of the first leaves the mean ± 0.9 sqrt(2 / pi).
    truth = 0.9**2 * 2 / math.pi
    assert abs(z_of(first_order(np.sign(scores["a"]), y, 0.9), truth)) < 3


def test_most_seeds() -> None:
    """At least 97 of 100 seeds are within three standard errors."""
    near = 0
    for seed in range(100):
        scores, y = given(ishigami(), 1 << 12, seed)
        near += abs(z_of(first_order(scores["a"], y, 0.9), ISHIGAMI_FIRST["a"])) < 3
    assert near >= 97


def test_level_is_the_width_of_intervals() -> None:
    """Intervals at 80 % and 99 % are as wide as Student's t with 15 degrees of freedom says."""
    scores, y = given(ishigami(), 1 << 12, seed=5)
    one, other = (first_order(scores["a"], y, level) for level in (0.8, 0.99))
    assert (one.high - one.low) / (other.high - other.low) == pytest.approx(t.ppf(0.9, 15) / t.ppf(0.995, 15), rel=1e-9)
    assert (one.low + one.high) / 2 == pytest.approx(one.value)


def test_order_of_draws_is_nothing() -> None:
    """Draws in another order have the same index within its errors, and the same one where no inputs are equal."""
    scores, y = given(ishigami(), 1 << 12, seed=6)
    order = np.random.default_rng(1).permutation(y.shape[1])
    here, there = first_order(scores["a"], y, 0.9), first_order(scores["a"][:, order], y[:, order], 0.9)
    assert there.value == pytest.approx(here.value, rel=1e-12)
    few = np.round(scores["a"])
    here, there = first_order(few, y, 0.9), first_order(few[:, order], y[:, order], 0.9)
    assert abs(here.value - there.value) < 3 * math.hypot(here.error, there.error)


def test_twins() -> None:
    """Two runs that share one of two terms have the index of that term."""
    random = np.random.default_rng(7)
    shared, first, second = random.standard_normal((3, 16, 4096))
    index = first_order_of_twins(3 * shared + first, 3 * shared + second, 0.9)
    assert abs(z_of(index, 0.9)) < 3


# --- tornadoes --------------------------------------------------------------------------------------------------------


def test_a_low_input_with_a_high_output() -> None:
    """The sign is kept: where the output falls with the input, the lowest tenth has the highest mean."""
    x = np.random.default_rng(8).standard_normal((16, 4096))
    low, high = tails(x, 5 - x)
    # The mean of a normal in its lowest tenth is -phi(z) / 0.1.
    mean = norm.pdf(norm.ppf(0.1)) / 0.1
    assert abs(low.mean - (5 + mean)) < 4 * low.mean_error
    assert abs(high.mean - (5 - mean)) < 4 * high.mean_error
    assert abs(low.median - (5 - norm.ppf(0.05))) < 4 * low.median_error
    assert low.threshold == pytest.approx(norm.ppf(0.1), abs=0.03)
    assert (low.mass, high.mass) == (pytest.approx(0.1, abs=1e-4),) * 2


def test_few_values() -> None:
    """An input with few values has its lowest and highest ones, with all their mass."""
    x = np.tile([1.0, 2, 2, 2, 3], (16, 1000))
    low, high = tails(x, x**2)
    assert (low.mass, low.threshold, low.mean) == (0.2, 1, 1)
    assert (high.mass, high.threshold, high.mean) == (0.2, 3, 9)
    rare = np.tile([1.0] + [2.0] * 19, (16, 100))
    low, high = tails(rare, rare)
    # One in twenty is not a tenth: the lowest tenth takes in the next value.
    assert (low.mass, high.mass, high.mean) == (1, 0.95, 2)


def test_interactions_count() -> None:
    """In Y = X V both ends of X have the same mean, and the draws show that."""
    x, v = np.random.default_rng(9).standard_normal((2, 16, 4096))
    low, high = tails(x, x * v)
    assert abs(low.mean - high.mean) < 4 * math.hypot(low.mean_error, high.mean_error)


def test_endless_outputs() -> None:
    """A tail with infinite draws has an infinite mean and a median that says how it mostly is."""
    x = np.tile(np.arange(1000.0), (16, 1))
    y = np.where(x > 980, np.inf, x)
    low, high = tails(x, y)
    assert math.isinf(high.mean)
    assert high.median == pytest.approx(949.5)
    assert math.isfinite(low.mean)


def test_no_influence_is_a_bar_of_no_length() -> None:
    """What moves nothing has the mean of all draws, without rounding where the output is constant."""
    assert whole(np.full((16, 100), 0.1)).mean == 0.1
    assert whole(np.full((16, 100), 0.1)).mean_error == 0


def test_one_at_a_time() -> None:
    """With all others at their medians, an input at P10 and P90 of a linear function swings it by its weight."""
    middle, swings = one_at_a_time(linear((1.0, -2.0)), KEYS)
    assert middle == 0
    assert swings["b"].at_p10 == pytest.approx(-2 * norm.ppf(0.1))
    assert swings["b"].at_p90 == pytest.approx(-2 * norm.ppf(0.9))
