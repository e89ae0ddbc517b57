"""The value of information against closed forms: going on at a lognormal cost is a put on it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from tests.sensitivity.oracles import CORRELATED, NAMES, go_or_stop, put, worth
from uncertain_botec.sensitivity.indices import Index
from uncertain_botec.sensitivity.information import ordered, worth_of_information
from uncertain_botec.sensitivity.models import Model

SIGMAS = (0.5, 0.3, 0.2)
SETS = [one for count in (1, 2, 3) for one in combinations(NAMES, count)]


@pytest.mark.parametrize("latent", [None, CORRELATED], ids=["independent", "correlated"])
@pytest.mark.parametrize("budget", [0.8, 1.25, 2.0])
def test_put(budget: float, latent: Any) -> None:
    """EVPPI is a put on the part of the cost that the set explains, less the value of deciding now."""
    found = worth_of_information(go_or_stop(SIGMAS, budget, latent), SETS, 1 << 17, seed=1)
    assert found.best == (0 if budget > np.exp(CORRELATED_VARIANCE[latent is not None] / 2) else 1)
    for known, one in found.partial.items():
        truth = worth(SIGMAS, budget, [NAMES.index(name) for name in known], latent)
        assert abs(one.value - truth) < 4 * one.error, (known, one, truth)
    truth = worth(SIGMAS, budget, (0, 1, 2), latent)
    assert abs(found.perfect.value - truth) < 4 * found.perfect.error
    assert found.perfect.error < 0.002 * budget


CORRELATED_VARIANCE = (
    sum(s**2 for s in SIGMAS),
    float(np.array(SIGMAS) @ CORRELATED @ np.array(SIGMAS)),
)


def test_most_seeds() -> None:
    """At least 97 of 100 seeds are within three standard errors, and on average there is no bias."""
    truth = worth(SIGMAS, 1.25, (1,))
    found = [
        worth_of_information(go_or_stop(SIGMAS, 1.25), [("b",)], 1 << 14, seed=seed).partial[("b",)]
        for seed in range(100)
    ]
    zs = np.array([(one.value - truth) / one.error for one in found])
    assert np.sum(np.abs(zs) < 3) >= 97
    assert abs(zs.mean()) < 4 / np.sqrt(100)


def test_order() -> None:
    """0 <= EVPPI(A) <= EVPPI(A and B) <= EVPI, for every pair of sets, also from few draws."""
    for seed in range(5):
        found = worth_of_information(go_or_stop(SIGMAS, 1.0, CORRELATED), SETS, 1 << 12, seed=seed)
        for one, other in combinations(SETS, 2):
            if {*one} <= {*other}:
                assert 0 <= found.partial[one].value <= found.partial[other].value <= found.perfect.value


def test_noise_is_moved_into_order() -> None:
    """A value below 0 is 0, one above everything is that, and a set is worth no less than what it contains."""

    def index(value: float) -> Index:
        return Index(value, 0.1, value - 0.2, value + 0.2)

    found = ordered({("a", "b"): index(0.3), ("a",): index(0.5), ("b",): index(-0.1), ("c",): index(1.2)}, index(1.0))
    assert {known: one.value for known, one in found.items()} == {("a", "b"): 0.5, ("a",): 0.5, ("b",): 0, ("c",): 1}
    assert found[("b",)].low == 0


def test_what_tells_nothing() -> None:
    """An input that changes neither cost nor decision is worth nothing, with an error that is not zero."""
    found = worth_of_information(go_or_stop((0.5, 0.0), 1.25), [("a",), ("b",)], 1 << 13)
    assert found.partial[("b",)].value < 3 * found.partial[("b",)].error
    assert 0 < found.partial[("b",)].error < 0.1 * found.perfect.value


def test_what_moves_with_the_cost_is_worth_something() -> None:
    """An input that is not in the cost tells of it through one that is, by as much as their correlation says."""
    latent = np.array([[1, 0.8], [0.8, 1]])
    found = worth_of_information(go_or_stop((0.5, 0.0), 1.25, latent), [("b",)], 1 << 17)
    truth = worth((0.5, 0.0), 1.25, (1,), latent)
    assert truth > 0.05
    assert abs(found.partial[("b",)].value - truth) < 4 * found.partial[("b",)].error


def test_luck_cannot_be_known() -> None:
    """Knowing every input leaves luck: it is worth less than EVPI, by the closed form of both."""

    def function(z: Any, keys: Any) -> Any:
        luck = np.stack([np.random.default_rng(key).standard_normal(z["a"].shape[1]) for key in keys])
        cost = np.exp(0.4 * z["a"] + 0.3 * luck)
        return np.stack([1.2 - cost, np.zeros_like(cost)])

    found = worth_of_information(Model(("a",), function, chance=True), [("a",)], 1 << 16, seed=2)
    mean = np.exp(0.25 / 2)
    for one, variance in ((found.partial[("a",)], 0.16), (found.perfect, 0.25)):
        assert abs(one.value - (put(mean, 1.2, variance) - (1.2 - mean))) < 4 * one.error


def test_endless_costs() -> None:
    """Where going may cost infinitely much, stopping is best, and knowing is worth what it saves of that."""

    def function(z: Any, _: Any) -> Any:
        cost = np.where(z["a"] > 1, np.inf, 1.0)
        return np.stack([2 - cost, np.zeros_like(cost)])

    found = worth_of_information(Model(("a",), function), [("a",)], 1 << 16)
    assert found.best == 1
    # Phi(1) of the runs end, and gain 1.
    for one in (found.perfect, found.partial[("a",)]):
        assert abs(one.value - ndtr(1)) < 4 * one.error < 0.02
