"""Shapley effects against their definition, worked out over all orders of a few inputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.sensitivity.oracles import (
    CORRELATED,
    ISHIGAMI_SHAPLEY,
    NAMES,
    explained_by,
    ishigami,
    linear,
    product,
    shapley_values,
)
from uncertain_botec.sensitivity.models import CHANCE, Model
from uncertain_botec.sensitivity.shapley import Shapley, shapley

WEIGHTS = (1.0, 0.5, 2.0)


def check(found: Shapley, truth: dict[str, float], errors: float = 4) -> None:
    """Every effect is within so many standard errors, and all together are the variance.

    From 16 replicates one in a hundred is beyond three, and one in a thousand beyond four.
    """
    assert found.effects.keys() == truth.keys()
    for name, one in found.effects.items():
        assert abs(one.value - truth[name]) < errors * one.error
        assert one.low < one.value < one.high
    assert math.fsum(one.value for one in found.effects.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("rho", [-0.7, 0.0, 0.4, 0.9])
def test_two_correlated_gaussians(rho: float) -> None:
    """Of w_1 z_1 + w_2 z_2 the first has w_1^2 (1 - ρ^2 / 2) + w_1 w_2 ρ + w_2^2 ρ^2 / 2 of the variance.

    Owen and Prieur, SIAM/ASA J. Uncertainty Quantification 5, 2017.
    """
    w, v = 1.0, 2.0
    found = shapley(linear((w, v), np.array([[1, rho], [rho, 1]])), 1 << 14, seed=1)
    variance = w**2 + v**2 + 2 * w * v * rho
    first = (w**2 * (1 - rho**2 / 2) + w * v * rho + v**2 * rho**2 / 2) / variance
    check(found, {"a": first, "b": 1 - first})
    assert found.variance == pytest.approx(variance, rel=0.02)
    assert max(one.error for one in found.effects.values()) < 0.01


def test_three_correlated_gaussians() -> None:
    """Three inputs, of which two pairs are correlated, have what the average over the six orders says."""
    found = shapley(linear(WEIGHTS, CORRELATED), 1 << 16, seed=2)
    check(found, shapley_values(NAMES, lambda known: explained_by(WEIGHTS, known, CORRELATED)))
    assert max(one.error for one in found.effects.values()) < 0.01


def test_inputs_that_are_one() -> None:
    """Two perfectly correlated inputs, of which the output takes one, have half each."""
    latent = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    found = shapley(linear((1.0, 0.0, 1.0), latent), 1 << 14, seed=3)
    check(found, {"a": 0.25, "b": 0.25, "c": 0.5})


def test_ishigami() -> None:
    """An interaction is shared evenly by those who take part in it."""
    check(shapley(ishigami(), 1 << 16, seed=4), ISHIGAMI_SHAPLEY, errors=3)


def test_product_of_lognormals() -> None:
    """Of a product itself, given some factors the variance explained is proportional to exp(sum of s^2) - 1."""
    sigmas = (0.6, 0.4, 0.2)
    truth = shapley_values(NAMES, lambda known: math.expm1(sum(sigmas[one] ** 2 for one in known)))
    check(shapley(product(sigmas), 1 << 16, seed=5), truth)


def test_the_logarithm_of_a_product() -> None:
    """On the scale of the logarithm the shares of a product are those of the variances, whatever the tails."""
    sigmas = (3.0, 2.0, 1.0)
    found = shapley(product(sigmas), 1 << 14, seed=6, scale=np.log)
    check(found, {name: sigma**2 / 14 for name, sigma in zip(NAMES, sigmas, strict=True)})
    assert found.resolved


def test_a_variance_that_cannot_be_estimated_is_called_so() -> None:
    """Of a lognormal with a sigma of 3, rare extremes decide the variance, and it is called not resolved."""
    assert not shapley(product((3.0, 0.5)), 1 << 16).resolved


def test_chance() -> None:
    """Luck is an input among the others."""

    def function(z: Any, keys: Any) -> Any:
        luck = np.stack([np.random.default_rng(key).standard_normal(z["a"].shape[1]) for key in keys])
        return z["a"] + 2 * luck

    check(shapley(Model(("a",), function, chance=True), 1 << 14, seed=7), {"a": 0.2, CHANCE: 0.8})


def test_an_input_that_is_not_read() -> None:
    """What the output does not read has exactly nothing."""
    found = shapley(linear((1.0, 0.0)), 1 << 10)
    assert found.effects["b"].value == found.effects["b"].error == 0
    assert found.effects["a"].value == pytest.approx(1, abs=1e-12)


def test_no_variance() -> None:
    """A constant has no variance, and so no shares; an infinite variance is no number."""
    constant = shapley(linear((0.0,)), 1 << 10)
    assert constant.effects == {}
    assert constant.variance == 0
    endless = shapley(Model(("a",), lambda z, _: np.where(z["a"] > 1, np.inf, z["a"])), 1 << 10)
    assert endless.effects == {}
    assert not math.isfinite(endless.variance)


def test_most_seeds() -> None:
    """At least 97 of 100 seeds are within three standard errors."""
    truth = shapley_values(NAMES, lambda known: explained_by(WEIGHTS, known, CORRELATED))["b"]
    model = linear(WEIGHTS, CORRELATED)
    found = [shapley(model, 1 << 11, seed=seed).effects["b"] for seed in range(100)]
    assert sum(abs(one.value - truth) < 3 * one.error for one in found) >= 97


def test_seeds() -> None:
    """The same seed gives the same numbers, another one others."""
    one, same, other = (shapley(ishigami(), 1 << 10, seed=seed) for seed in (3, 3, 4))
    assert one == same
    assert one.effects != other.effects


# --- scores -----------------------------------------------------------------------------------------------------------


def test_factors() -> None:
    """In every order the factor gives the correlation matrix, and the first input its own score alone."""
    model = linear(WEIGHTS, CORRELATED)
    for ranks in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        factor = model.factor(ranks)
        np.testing.assert_allclose(factor @ factor.T, CORRELATED, atol=1e-12)
        np.testing.assert_array_equal(factor[ranks.index(0)], np.eye(3)[ranks.index(0)])


def test_inputs_that_are_given() -> None:
    """With one input held, the others have the mean and variance of the normal law given it."""
    model = linear(WEIGHTS, CORRELATED)
    random = np.random.default_rng(8)
    scores = {"a": random.standard_normal((1, 40_000)), "b": np.full((1, 40_000), 1.5)}
    scores["c"] = random.standard_normal((1, 40_000))
    mixed = model.correlate(scores, model.factor((1, 0, 2)))
    np.testing.assert_array_equal(mixed["b"], scores["b"])
    for name, rho in (("a", 0.5), ("c", -0.3)):
        sd = math.sqrt(1 - rho**2)
        assert abs(mixed[name].mean() - 1.5 * rho) < 4 * sd / 200
        assert abs(mixed[name].std() / sd - 1) < 4 / math.sqrt(80_000)
