"""The models that are measured, built in Python, and what is known of them exactly.

Five lognormal inputs give accelerator-hours, cost and days. With no failure overhead each of these is a product of
lognormals, hence exactly lognormal itself.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uncertain_botec.choices import resolved, stated_by
from uncertain_botec.distributions import Distribution, elicit
from uncertain_botec.formulas.base import Formula
from uncertain_botec.planning import Plan, Section
from uncertain_botec.scenario import Scenario
from uncertain_botec.vocabulary import QUANTITIES

Floats = NDArray[np.float64]

OUTPUTS = ("accelerator_hours", "cost", "training_time")
"""What every contestant gives P10, P50 and P90 of."""

PRINTED = np.array([[1 / 3600], [1.0], [1 / 86400]])
"""From base units to those of the contestants: hours, USD and days."""

HOUR = 3600.0

_P90 = NormalDist().inv_cdf(0.9)

MEDIAN_COST = 6 * 70e9 * 2e12 / (312e12 * 0.4) / 3600 * 2.2  # USD
SIGMA_COST = math.hypot(0.02, 0.1, 0.05, 0.12, 0.25)  # of its logarithm
P90_COST = MEDIAN_COST * math.exp(SIGMA_COST * _P90)

SIGMA_WIDE = 0.3  # of the logarithm of a product of however many
P90_WIDE = math.exp(SIGMA_WIDE * _P90)


def error_of(draws: int) -> float:
    """The relative standard error of P90 of cost from this many independent draws.

    The p-quantile q of n draws with density f has standard error sqrt(p (1 - p) / n) / f(q); for a lognormal,
    f(q) q = phi(z) / sigma, with z = Phi^-1(p).
    """
    return math.sqrt(0.9 * 0.1 / draws) * SIGMA_COST / NormalDist().pdf(_P90)


def lognormal(median: float, sigma: float) -> Distribution:
    """By its median and the standard deviation of its logarithm."""
    return elicit("lognormal", {"median": median, "sigma": sigma})


def _training(title: str, **inputs: Distribution | float) -> Scenario:
    choices = resolved({})
    stated: dict[str, float] = {}
    for choice, word in choices.items():
        stated |= stated_by(choice, word)
    return Scenario(title, "training", {}, choices).but(**stated, **inputs)


def five_lognormals() -> Scenario:
    """The model that every contestant computes."""
    return _training(
        "Five lognormals",
        parameters=lognormal(70e9, 0.02),
        tokens=lognormal(2e12, 0.1),
        peak_flop_per_s=lognormal(312e12, 0.05),
        mfu=lognormal(0.4, 0.12),
        price_per_accelerator_hour=lognormal(2.2 / HOUR, 0.25),
        accelerators=2048,
        failure_overhead=0,
    )


def eight_inputs() -> Scenario:
    """A training run with eight uncertain inputs of several families, all of which move the cost."""
    return _training(
        "Eight inputs",
        parameters=elicit("lognormal", {"p10": 65e9, "p90": 75e9}),
        tokens=elicit("lognormal", {"p10": 14e12, "p90": 16e12}),
        peak_flop_per_s=lognormal(989e12, 0.05),
        mfu=elicit("logit-normal", {"p10": 0.3, "p90": 0.5}),
        failure_overhead=elicit("jqpd", {"p10": 0.03, "p50": 0.1, "p90": 0.25, "support": (0.0, math.inf)}),
        price_per_accelerator_hour=elicit("lognormal", {"p10": 1.9 / HOUR, "p90": 2.9 / HOUR}),
        experiment_ratio=elicit("lognormal", {"p10": 0.3, "p90": 1.5}),
        staff_share=elicit("logit-normal", {"p10": 0.25, "p90": 0.5}),
        accelerators=4096,
    )


class _Wide(Scenario):
    """A scenario whose only formula multiplies everything that it is told."""

    @property
    def plan(self) -> Plan:
        """One step."""
        names = tuple(self.inputs)
        return Plan((_product(names),), names, (), (Section("", ("cost",)),))


_PRODUCTS: dict[tuple[str, ...], Formula] = {}


def _product(names: tuple[str, ...]) -> Formula:
    """The same formula for the same names: a kernel is compiled for each plan."""

    def product(**values: Any) -> Any:
        return math.prod(values[name] for name in names)

    if names not in _PRODUCTS:
        _PRODUCTS[names] = Formula("cost", names, (), "product", "", product, {}, (), (), "count", False, False)
    return _PRODUCTS[names]


def wide(inputs: int) -> Scenario:
    """A product of this many lognormals, the same distribution for every number of them.

    No estimator has fifty uncertain inputs, so names are lent from the vocabulary, whatever they mean there.
    """
    names = [name for name, one in QUANTITIES.items() if name != "cost" and one.low == 0 and one.high == math.inf]
    factor = lognormal(1.0, SIGMA_WIDE / math.sqrt(inputs))
    return replace(_Wide(f"{inputs} inputs", "training", {}).but(**dict.fromkeys(names[:inputs], factor)))
