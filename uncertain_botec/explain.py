"""The reasoning on a whiteboard: every formula in order, with its inputs, its value at the medians and its source."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from uncertain_botec.distributions import level_of_u
from uncertain_botec.formulas.base import Formula
from uncertain_botec.quantities import QUANTITIES
from uncertain_botec.scenario import Scenario
from uncertain_botec.units import to_display


@dataclass(frozen=True)
class Term:
    """A quantity that a formula takes or gives, at the medians.

    Attributes:
        name: of the quantity.
        value, unit: in the printed unit.
        meaning: one line for people.
        belief: how an input is distributed, or "" for what a formula computed.
        source: where an input's value is from, or "".
    """

    name: str
    value: float
    unit: str
    meaning: str
    belief: str
    source: str


@dataclass(frozen=True)
class Step:
    """One formula at the medians."""

    output: Term
    equation: str
    source: str
    summary: str
    inputs: tuple[Term, ...]


@dataclass(frozen=True)
class Explanation:
    """A scenario's reasoning: the steps in order, and the formulas skipped because the scenario states their output."""

    title: str
    steps: tuple[Step, ...]
    skipped: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/explain/1`."""
        return {"schema": "uncertain-botec/explain/1"} | asdict(self)


def explain(scenario: Scenario) -> Explanation:
    """Evaluate every formula at the medians of the inputs.

    The result is the point estimate, not the median of the output: a median of a product is not the product of medians.
    """
    half = level_of_u(np.array([0.5]))
    values: dict[str, float] = {
        name: float(one.distribution.quantile(half)[0]) for name, one in scenario.inputs.items()
    }
    supplied = frozenset(scenario.inputs)
    steps = []
    for formula in scenario.model.steps(supplied):
        values[formula.name] = float(formula(**{name: values[name] for name in formula.inputs}))
        steps.append(_step(formula, values, scenario))
    skipped = tuple(formula.name for formula in scenario.model.formulas if formula.name in supplied)
    return Explanation(scenario.title, tuple(steps), skipped)


def _step(formula: Formula, values: dict[str, float], scenario: Scenario) -> Step:
    inputs = tuple(_term(name, values[name], scenario) for name in formula.inputs)
    summary = (formula.function.__doc__ or "").strip().partition("\n")[0]
    return Step(_term(formula.name, values[formula.name], scenario), formula.equation, formula.source, summary, inputs)


def _term(name: str, value: float, scenario: Scenario) -> Term:
    quantity = QUANTITIES[name]
    one = scenario.inputs.get(name)
    belief = "" if one is None else "known" if one.known else one.distribution.family
    source = (one.about("source") or "not stated") if one is not None else ""
    return Term(name, float(to_display(value, quantity.unit)), quantity.unit, quantity.meaning, belief, source)
