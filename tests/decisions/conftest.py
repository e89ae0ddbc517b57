"""Scenarios of lognormal inputs, whose products have closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import pytest

from uncertain_botec import Scenario

INPUTS = {
    "parameters": "7e9",
    "tokens": '{ family = "lognormal", median = "2e12 token", sigma = 0.2 }',
    "accelerators": "512",
    "peak_flop_per_s": '"312 TFLOP/s"',
    "mfu": '{ family = "lognormal", median = 0.3, sigma = 0.15 }',
    "failure_overhead": "0.1",
    "price_per_accelerator_hour": '{ family = "lognormal", median = "2 USD/hour", sigma = 0.3 }',
}

ACCELERATOR_DAYS = 6 * 7e9 * 2e12 * 1.1 / (312e12 * 0.3) / 86400
"""At the medians."""

COST = ACCELERATOR_DAYS * 24 * 2
"""At the medians, in USD."""

TIME_SIGMA = math.hypot(0.2, 0.15)
COST_SIGMA = math.hypot(0.2, 0.15, 0.3)

Make = Callable[..., Scenario]


@pytest.fixture
def make(load_inputs: Callable[..., Scenario]) -> Make:
    """A maker of scenarios: these inputs, some of them replaced or (with None) left out, and further tables."""
    return partial(load_inputs, INPUTS)


@pytest.fixture
def known(make: Make) -> Make:
    """A maker of scenarios whose inputs are all known exactly, at the medians unless told otherwise."""

    def made(changes: Mapping[str, str | None] | None = None, rest: str = "") -> Scenario:
        medians = {"tokens": '"2e12 token"', "mfu": "0.3", "price_per_accelerator_hour": '"2 USD/hour"'}
        return make({**medians, **(changes or {})}, rest)

    return made
