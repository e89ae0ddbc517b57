"""Batches: many scenarios at once say what each says alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from uncertain_botec import load_scenario
from uncertain_botec.distributions import elicit
from uncertain_botec.sampling.batches import estimate_many
from uncertain_botec.sampling.streaming import Goal, stream
from uncertain_botec.scenario import Scenario

OUTPUTS = ("training_flop", "training_time", "cost", "goodput")


def _varied(scenario: Scenario, count: int) -> list[Scenario]:
    return [
        scenario.but(
            accelerators=1000.0 * (place + 1),
            tokens=elicit("lognormal", {"median": 1e12 * (place + 1), "sigma": 0.1}),
        )
        for place in range(count)
    ]


@pytest.mark.parametrize("run", ["llama-2-70b", "llama-3.1-405b", "deepseek-v3"])
def test_batches_agree_with_draws(run: str) -> None:
    """Quantiles and probabilities of a batch are those of a million draws of each scenario, within both errors."""
    scenarios = _varied(load_scenario(run), 20)
    many = estimate_many(scenarios, OUTPUTS)
    for scenario, estimates in zip(scenarios[::7], many[::7], strict=True):
        drawn = stream(scenario, Goal(1 << 20, accuracy=None), seed=1, smooth=False)
        assert estimates.keys() == {*OUTPUTS} & {*scenario.plan.outputs}
        for name, one in estimates.items():
            tally = drawn.outputs[name]
            error = np.hypot(one.errors, tally.errors) + 1e-8 * np.abs(tally.quantiles)
            assert np.all(np.abs(one.quantiles - tally.quantiles) < 5 * error)
        for marker in scenario.limits.values():
            if marker.output in estimates and marker.name in drawn.limits:
                shares = [estimates[marker.output].shares[marker.value], drawn.limits[marker.name]]
                means = [share.at_or_below.mean() for share in shares]
                errors = [share.at_or_below.std(ddof=1) / 4 for share in shares]
                assert abs(means[0] - means[1]) < 5 * np.hypot(*errors) + 1e-6


def test_batches_of_different_kinds_keep_their_order(tmp_path: Path) -> None:
    """Scenarios of several kinds, known outputs among them, come back in the order in which they were given."""
    lone, known = load_scenario("gpt-3"), load_scenario("gpt-3").but(tokens=3e11, parameters=1.75e11)
    scenarios = [lone, known, *_varied(lone, 3), load_scenario("llama-2-70b")]
    many = estimate_many(scenarios, ("training_flop", "cost"))
    alone = [estimate_many([one], ("training_flop", "cost"))[0] for one in scenarios]
    assert np.array_equal(many[1]["training_flop"].quantiles, np.full(3, 6 * 1.75e11 * 3e11))
    assert not many[1]["training_flop"].errors.any()
    for one, other in zip(many, alone, strict=True):
        assert one.keys() == other.keys()
        for name in one:
            error = np.hypot(one[name].errors, other[name].errors) + 1e-8 * one[name].quantiles
            assert np.all(np.abs(one[name].quantiles - other[name].quantiles) <= 5 * error)


def test_points_are_common() -> None:
    """Two scenarios of a batch with the same numbers have the same quantiles to the last bit."""
    scenario = load_scenario("llama-2-70b")
    first, *_, last = estimate_many([scenario, *_varied(scenario, 30), scenario], ("cost",))
    assert np.array_equal(first["cost"].quantiles, last["cost"].quantiles)
