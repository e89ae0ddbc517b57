"""An estimator is an ordered tuple of formulas; evaluating it is one plain loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from uncertain_botec.formulas import compute, cost, duration
from uncertain_botec.formulas.base import Array, Formula


@dataclass(frozen=True)
class Estimator:
    """A question that the program can answer.

    Attributes:
        name: what a prior file calls it.
        summary: one line for `botec list estimators`.
        formulas: in the order in which they are evaluated.
        outputs: the names that are reported, in order.
    """

    name: str
    summary: str
    formulas: tuple[Formula, ...]
    outputs: tuple[str, ...]

    def steps(self, supplied: frozenset[str]) -> tuple[Formula, ...]:
        """The formulas that run: those whose output is not supplied as an input."""
        return tuple(formula for formula in self.formulas if formula.name not in supplied)

    def needs(self, supplied: frozenset[str]) -> tuple[str, ...]:
        """The names that must be supplied, in the order in which the formulas ask for them."""
        needed: dict[str, None] = {}
        computed: set[str] = set()
        for step in self.steps(supplied):
            needed |= dict.fromkeys(name for name in step.inputs if name not in computed)
            computed.add(step.name)
        return tuple(needed)

    def reaching(self, output: str, supplied: frozenset[str]) -> frozenset[str]:
        """The supplied names that an output is computed from; itself where it is supplied."""
        step = next((step for step in self.steps(supplied) if step.name == output), None)
        if step is None:
            return frozenset({output})
        return frozenset().union(*(self.reaching(name, supplied) for name in step.inputs))


def evaluate(estimator: Estimator, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs and everything that the estimator's formulas make of them.

    A formula whose output is among the inputs is skipped: who knows the FLOP, or the failure overhead, just states it.
    """
    values = dict(inputs)
    for step in estimator.steps(frozenset(inputs)):
        values[step.name] = step(**{name: values[name] for name in step.inputs})
    return values


_ESTIMATORS = (
    Estimator(
        name="training",
        summary="one training run: FLOP, wall-clock time, accelerator-hours and their cost",
        formulas=(compute.training_flop, duration.training_time, duration.accelerator_hours, cost.cost),
        outputs=("training_flop", "accelerator_hours", "training_time", "cost"),
    ),
)

ESTIMATORS: Mapping[str, Estimator] = MappingProxyType({estimator.name: estimator for estimator in _ESTIMATORS})
