"""Draws and studies that several figures are of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from uncertain_botec import Draws, Sensitivity, analyse_sensitivity, load_scenario, sample


@pytest.fixture(scope="session")
def draws() -> Draws:
    """Of a scenario with a cost of a few million USD and a time of some weeks."""
    return sample(load_scenario("llama-2-70b"), 1 << 14)


@pytest.fixture(scope="session")
def known(draws: Draws) -> Draws:
    """The same with every input known exactly."""
    stated = draws.scenario.inputs
    medians = {name: float(np.median(draws.values[name])) for name in draws.scenario.uncertain}
    return sample(draws.scenario.but(**{name: medians[name] for name in stated if name in medians}), 64)


@pytest.fixture(scope="session")
def study(draws: Draws) -> Sensitivity:
    """Of the cost; energy inputs have no influence on it."""
    return analyse_sensitivity(draws.scenario, "cost", draws=1 << 12)


@pytest.fixture(scope="session")
def endless(draws: Draws) -> Callable[[float], Draws]:
    """A maker of the same draws, of which the slowest part never finish."""

    def made(part: float) -> Draws:
        time = draws.values["training_time"]
        never = time > np.quantile(time, 1 - part) if part < 1 else np.ones(time.shape, bool)
        ends = {name: np.where(never, np.inf, draws.values[name]) for name in ("cost", "training_time")}
        return replace(draws, values={**draws.values, **ends})

    return made
