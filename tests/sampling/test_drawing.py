"""Draws of many scenarios at once are those of each alone."""

from __future__ import annotations

import numpy as np
import pytest

from uncertain_botec import load_scenario, sample
from uncertain_botec.errors import SamplingError
from uncertain_botec.sampling.drawing import drawn_many
from uncertain_botec.tallies import tallies_of

OUTPUTS = ("training_time", "cost")


@pytest.mark.parametrize("settings", [[], ["failures=simulated"]])
def test_draws_of_many_are_those_of_each(settings: list[str]) -> None:
    """Quantiles, errors and shares of a batch are those of the draws of each scenario alone, luck included."""
    base = load_scenario("llama-3.1-405b", settings)
    scenarios = [base.but(accelerators=4096.0 * number) for number in range(1, 20)]
    found = drawn_many(scenarios, [OUTPUTS] * len(scenarios), 1 << 12, seed=3)
    for scenario, estimates in list(zip(scenarios, found, strict=True))[::6]:
        tallies = tallies_of(sample(scenario, 1 << 12, seed=3), OUTPUTS)
        for name in OUTPUTS:
            assert np.allclose(estimates[name].quantiles, tallies.outputs[name].quantiles, rtol=1e-9)
            assert np.allclose(estimates[name].errors, tallies.outputs[name].errors, rtol=1e-6)
        for marker in scenario.limits.values():
            share = estimates[marker.output].shares[marker.value]
            assert np.array_equal(share.at_or_below, tallies.limits[marker.name].at_or_below)


def test_only_what_is_asked_for() -> None:
    """Scenarios of which nothing is asked have nothing, and others what is asked of them."""
    scenario = load_scenario("llama-2-70b")
    found = drawn_many([scenario] * 3, [(), ("cost",), OUTPUTS], 1 << 8)
    assert [{*one} for one in found] == [set(), {"cost"}, {*OUTPUTS}]
    assert np.array_equal(found[1]["cost"].quantiles, found[2]["cost"].quantiles)


def test_draws_that_cannot_be() -> None:
    """Draws that overflow are an error that names the output."""
    with pytest.raises(SamplingError, match="cost"):
        drawn_many([load_scenario("llama-2-70b").but(parameters=1e300)], [("cost",)], 1 << 8)
