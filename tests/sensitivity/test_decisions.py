"""Decisions between scenarios: what they share, what is each one's own, and what knowing it is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from tests.sensitivity.oracles import put
from uncertain_botec import Scenario
from uncertain_botec.errors import UsageError
from uncertain_botec.sensitivity.decisions import Decision, go_or_stop, labels, which
from uncertain_botec.sensitivity.information import worth_of_information

# 1e6 accelerator-hours at MFU 0.4.
BASE = {
    "training_flop": f'"{0.4 * 312e12 * 3600 * 1e6} FLOP"',
    "accelerators": "1000",
    "peak_flop_per_s": '"312 TFLOP/s"',
    "mfu": "0.4",
    "failure_overhead": "0",
    "price_per_accelerator_hour": '{ family = "lognormal", median = "2 USD/hour", sigma = 0.3 }',
}
DEARER = {"price_per_accelerator_hour": '{ family = "lognormal", median = "2.1 USD/hour", sigma = 0.2 }'}
MFU = {"mfu": '{ family = "logit-normal", p10 = 0.3, p90 = 0.5 }'}

Load = Callable[..., Scenario]


def correlated(spearman: float) -> str:
    """A table of correlations of MFU with the price."""
    return f'[[correlations]]\nbetween = ["mfu", "price_per_accelerator_hour"]\nspearman = {spearman}\n'


def named(scenario: Scenario, name: str) -> Scenario:
    """The same scenario in a file of this name."""
    return replace(scenario, path=f"folder/{name}.toml")


def z_of(one: Any, truth: float) -> float:
    """How many standard errors from the truth."""
    return abs(one.value - truth) / one.error


def worths(decision: Decision, *sets: tuple[str, ...]) -> Any:
    """What knowing is worth."""
    return worth_of_information(decision.model, sets, 1 << 17, seed=1)


def test_two_markets(load_inputs: Load) -> None:
    """Prices that are stated differently are two quantities: EVPI is an option to exchange one for the other.

    Knowing one of them is worth a put on it at the other's mean (Margrabe, Journal of Finance 33, 1978).
    """
    one, other = named(load_inputs(BASE), "one"), named(load_inputs(BASE, DEARER), "other")
    decision = which((one, other), 0.0)
    first, second = (f"price_per_accelerator_hour ({name})" for name in ("one", "other"))
    assert decision.alternatives == ("one", "other")
    assert set(decision.inputs) == {first, second}
    assert set(decision.set_of(["price_per_accelerator_hour"])) == {first, second}
    assert decision.set_of([first]) == (first,)
    found = worths(decision, (first,), (second,), (first, second))
    mean, dearer = 2e6 * np.exp(0.3**2 / 2), 2.1e6 * np.exp(0.2**2 / 2)
    assert found.best == 0
    assert z_of(found.means[0], -mean) < 4
    sd = np.hypot(0.3, 0.2)
    d = (np.log(dearer / mean) + sd**2 / 2) / sd
    exchange = dearer * norm.cdf(d) - mean * norm.cdf(d - sd)
    # E[max(-A, -B)] + E[A] is E[(A - B)+], which is E[(B - A)+] + E[A] - E[B].
    for known in (found.perfect, found.partial[tuple(sorted((first, second)))]):
        assert z_of(known, exchange + mean - dearer) < 4
    assert z_of(found.partial[(first,)], put(mean, dearer, 0.09) + mean - dearer) < 4
    assert z_of(found.partial[(second,)], put(dearer, mean, 0.04)) < 4


def test_what_is_stated_alike_is_shared(load_inputs: Load) -> None:
    """An input that both state alike is one quantity; a price with the same belief then makes no difference."""
    one = named(load_inputs(BASE, MFU), "one")
    other = named(load_inputs(BASE, {**MFU, **DEARER}), "other")
    decision = which((one, other), 0.0)
    assert "mfu" in decision.inputs
    assert len(decision.inputs) == 3
    same = worths(which((one, named(one, "two")), 0.0), ("mfu",), ("price_per_accelerator_hour",))
    assert same.perfect.value == 0
    assert all(one.value == 0 for one in same.partial.values())


def test_correlations_with_what_is_shared(load_inputs: Load) -> None:
    """Prices that each move with a shared MFU move with each other by the product of both."""
    one = named(load_inputs(BASE, MFU, correlated(0.5)), "one")
    other = named(load_inputs(BASE, {**MFU, **DEARER}, correlated(0.4)), "other")
    model = which((one, other), 0.0).model
    assert model.latent is not None
    at = {name: place for place, name in enumerate(model.names)}
    prices = [at[name] for name in at if name != "mfu"]
    parts = [model.latent[at["mfu"], price] for price in prices]
    assert sorted(parts) == pytest.approx([2 * np.sin(np.pi / 6 * 0.4), 2 * np.sin(np.pi / 6 * 0.5)])
    assert model.latent[prices[0], prices[1]] == pytest.approx(parts[0] * parts[1])


def test_contradicting_correlations(load_inputs: Load) -> None:
    """Scenarios that correlate what they share differently are refused."""
    one, other = (named(load_inputs(BASE, MFU, correlated(rho)), str(rho)) for rho in (0.5, 0.1))
    with pytest.raises(UsageError, match="different correlations"):
        which((one, other), 0.0)


def test_what_moves_along_is_an_input_too(load_inputs: Load) -> None:
    """An input that the cost is not computed from can be measured in place of one that it moves with."""
    told = {**MFU, "pue": '{ family = "uniform", low = 1.1, high = 1.4 }', "power_ratio": "0.8"}
    told |= {"thermal_design_power": '"700 watt/accelerator"'}
    table = correlated(0.3).replace("price_per_accelerator_hour", "pue")
    assert set(go_or_stop(load_inputs(BASE, told, table), 2e6, 0.0).inputs) >= {"pue", "mfu"}
    assert "pue" not in go_or_stop(load_inputs(BASE, told), 2e6, 0.0).inputs


@pytest.mark.parametrize(("deadline", "late"), [("30 day", 0.0), ("41 day", 0.0), ("", 1000 / 24)])
def test_late_cost(load_inputs: Load, deadline: str, late: float) -> None:
    """Lateness of a run of 1000 hours costs by the day beyond the deadline, or from the start where there is none."""
    known: Mapping[str, str] = {"price_per_accelerator_hour": '"2 USD/hour"'}
    limits = f'[limits]\ndeadline = "{deadline}"' if deadline else ""
    decision = go_or_stop(load_inputs(BASE, known, limits), 5e6, 1e3 / 86400)
    days = late or 1000 / 24 - float(deadline.split()[0])
    values = decision.model.function({"": np.zeros((1, 1))}, np.zeros((1, 2), np.uint32))
    assert values.ravel() == pytest.approx([3e6 - 1e3 * days, 0])
    assert ("deadline" in decision.statement) == bool(deadline)


def test_labels(load_inputs: Load) -> None:
    """Scenarios are called by their files, numbered where these are the same."""
    scenario = load_inputs(BASE)
    some = [named(scenario, "a"), named(scenario, "b"), named(scenario, "a"), replace(scenario, path="")]
    assert labels(some) == ("a #1", "b", "a #2", "Test")
