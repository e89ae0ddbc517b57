"""The reasoning on a whiteboard: every formula in order, with its inputs, its value at the medians and its source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from uncertain_botec.architecture import Component, Transformer
from uncertain_botec.distributions import level_of_u
from uncertain_botec.formulas.base import Formula
from uncertain_botec.planning import Plan, evaluate
from uncertain_botec.scenario import Scenario
from uncertain_botec.summaries import without_infinity
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import QUANTITIES


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
    """A scenario's reasoning.

    Attributes:
        title: the scenario's.
        choices: by which conventions it is counted.
        components: what its architecture is made of, if it states one; the parameters add up to the model's.
        steps: the formulas in order.
        skipped: what formulas would give, were it not stated.
    """

    title: str
    choices: Mapping[str, str]
    components: tuple[Component, ...]
    steps: tuple[Step, ...]
    skipped: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/explain/1`."""
        document: dict[str, Any] = without_infinity(asdict(self))
        return {"schema": "uncertain-botec/explain/1"} | document


def at_medians(scenario: Scenario) -> tuple[Plan, dict[str, float]]:
    """The formulas that run at the medians of the inputs, and every value there, in base units.

    The result is the point estimate, not the median of the output: a median of a product is not the product of medians.
    """
    half = level_of_u(np.array([0.5]))
    medians = {name: float(one.distribution.quantile(half)[0]) for name, one in scenario.inputs.items()}
    # A point estimate has no luck: the expected time stands for that of one run.
    plan = scenario.model.plan(scenario.inputs, {**scenario.choices, "failures": "expected"})
    return plan, {name: float(value) for name, value in evaluate(plan, medians).items()}


def explain(scenario: Scenario) -> Explanation:
    """Evaluate every formula at the medians of the inputs."""
    plan, values = at_medians(scenario)
    steps = []
    same: dict[str, str] = {}
    for formula in plan.steps:
        equation = _narrowed(formula.equation, [name for name in formula.optional if name not in values])
        for name, other in same.items():
            equation = re.sub(rf"\b{name}\b", other, equation)
        if equation in values and formula.name not in plan.outputs:
            # A sum of one term is that term.
            same[formula.name] = equation
        else:
            inputs = [same.get(name, name) for name in formula.inputs if name in values]
            steps.append(_step(formula, equation, dict.fromkeys(inputs), values, scenario))
    model = scenario.architecture
    components = model.components() if isinstance(model, Transformer) else ()
    return Explanation(scenario.title, scenario.choices_in_force, components, tuple(steps), _skipped(scenario, plan))


def _narrowed(equation: str, absent: Sequence[str]) -> str:
    """An equation without the terms that nothing states."""
    for name in absent:
        term = rf"(?:\w+ [*/] )*\b{name}\b(?: [*/] \w+)*"
        equation = re.sub(rf" [+-] {term}", "", equation)
        equation = re.sub(rf"{term} \+ ", "", equation)
    equation = equation.replace(" * (1)", "").replace("(1) * ", "")
    # Brackets around a single name, unless they are a function's.
    return re.sub(r"(?<!\w)\((\w+)\)", r"\1", equation)


def _skipped(scenario: Scenario, plan: Plan) -> tuple[str, ...]:
    """What formulas would give, were it not stated; not those that would work back from what follows from it."""
    known = {*plan.inputs, *(step.name for step in plan.steps)}

    def backwards(formula: Formula) -> bool:
        return any(formula.name in plan.reaching(name) for name in formula.inputs if name in known)

    return tuple(
        dict.fromkeys(
            one.name
            for one in scenario.model.formulas
            if one.name in plan.inputs
            and not backwards(one)
            and one.fits(scenario.choices)
            and one.triggered(plan.inputs)
        )
    )


def _step(formula: Formula, equation: str, inputs: Iterable[str], values: dict[str, float], scenario: Scenario) -> Step:
    terms = tuple(_term(name, values[name], scenario) for name in inputs)
    summary = (formula.function.__doc__ or "").strip().partition("\n")[0]
    return Step(_term(formula.name, values[formula.name], scenario), equation, formula.source, summary, terms)


def _term(name: str, value: float, scenario: Scenario) -> Term:
    quantity = QUANTITIES[name]
    one = scenario.inputs.get(name)
    belief = "" if one is None else "known" if one.known else one.distribution.family
    source = (one.about("source") or "not stated") if one is not None else ""
    return Term(name, float(to_display(value, quantity.unit)), quantity.unit, quantity.meaning, belief, source)
