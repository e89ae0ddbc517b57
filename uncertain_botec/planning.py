"""An estimator is an ordered tuple of formulas; a plan is one pass over it, and evaluation one plain loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from uncertain_botec.formulas.base import Array, Formula, Luck
from uncertain_botec.vocabulary import QUANTITIES


@dataclass(frozen=True)
class Section:
    """Outputs that are reported together.

    Attributes:
        title: for people; "" for what comes first.
        outputs: the names, in order.
        least: how many of them there must be for any of them to be worth a line.
    """

    title: str
    outputs: tuple[str, ...]
    least: int = 1


@dataclass(frozen=True)
class Plan:
    """How one scenario is evaluated.

    Attributes:
        steps: the formulas that run, in order.
        inputs: the supplied names that they take, or that are reported themselves.
        missing: names that must be supplied and are not.
        sections: what is reported.
    """

    steps: tuple[Formula, ...]
    inputs: tuple[str, ...]
    missing: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names that are reported, in order."""
        return tuple(name for section in self.sections for name in section.outputs)

    def reaching(self, output: str) -> frozenset[str]:
        """The supplied names that an output is computed from; itself where it is supplied."""
        reached = {name: frozenset({name}) for name in self.inputs}
        for step in self.steps:
            reached[step.name] = frozenset().union(*(reached[name] for name in step.inputs if name in reached))
        return reached[output]

    def random(self, output: str) -> bool:
        """Whether an output is computed with randomness of its own, besides that of the inputs."""
        return self._comes_from(output, lambda step: step.random)

    def endless(self, output: str) -> bool:
        """Whether an output may be infinite, because something that it is computed from may be."""
        return self._comes_from(output, lambda step: QUANTITIES[step.name].endless)

    def _comes_from(self, output: str, kind: Callable[[Formula], bool]) -> bool:
        found: dict[str, bool] = {}
        for step in self.steps:
            found[step.name] = kind(step) or any(found.get(name, False) for name in step.inputs)
        return found.get(output, False)


@dataclass(frozen=True, eq=False)
class Estimator:
    """A question that the program can answer.

    Attributes:
        name: what a prior file calls it.
        summary: one line for `botec list estimators`.
        formulas: in the order in which they are evaluated. Where several give the same output, the first whose choices
            are made, whose trigger is there and whose inputs are known is taken.
        required: the outputs without which there is no answer.
        sections: what is reported where it can be computed.
        limits: names of the limits that a prior file is expected to state.
        subject: what is forecast, in a word.
    """

    name: str
    summary: str
    formulas: tuple[Formula, ...]
    required: tuple[str, ...]
    sections: tuple[Section, ...]
    limits: tuple[str, ...] = ("budget", "deadline")
    subject: str = "run"

    @property
    def outputs(self) -> tuple[str, ...]:
        """Every name that can be reported."""
        return tuple(name for section in self.sections for name in section.outputs)

    @property
    def choices(self) -> frozenset[str]:
        """The choices that can change an answer."""
        return frozenset(key for one in self.formulas for key in one.when)

    def plan(self, supplied: Iterable[str], choices: Mapping[str, str]) -> Plan:
        """What runs when these names are supplied and these choices are made.

        A formula whose output is supplied is skipped: who knows the FLOP, or the failure overhead, just states it. One
        with a trigger takes part only where that is known, and then asks for whatever else it needs.
        """
        return _plan(self, frozenset(supplied), frozenset(choices.items()))


@lru_cache(maxsize=256)
def _plan(estimator: Estimator, supplied: frozenset[str], choices: frozenset[tuple[str, str]]) -> Plan:
    made = dict(choices)
    fitting = [one for one in estimator.formulas if one.fits(made)]
    wanted = _wanted(estimator.outputs, fitting, supplied)
    known = set(supplied)
    steps: dict[str, Formula] = {}
    blocked: dict[str, Formula] = {}
    for one in fitting:
        if one.name in known or one.name not in wanted or not one.triggered(known):
            continue
        some = one.required or known & {*one.optional}
        if some and known >= {*one.required}:
            steps[one.name] = one
            known.add(one.name)
        else:
            blocked.setdefault(one.name, one)
    roots = [name for name in estimator.required if name not in known]
    roots += [one.name for one in blocked.values() if one.trigger and one.name not in known]
    sections = tuple(
        Section(section.title, shown)
        for section in estimator.sections
        if len(shown := _shown(section, steps, estimator, supplied)) >= section.least
    )
    needed = _wanted([name for section in sections for name in section.outputs], steps.values(), supplied)
    kept = tuple(one for one in steps.values() if one.name in needed)
    taken = dict.fromkeys(name for one in kept for name in one.inputs if name in supplied)
    taken |= dict.fromkeys(name for section in sections for name in section.outputs if name in supplied)
    return Plan(kept, tuple(taken), _missing(roots, blocked, known), sections)


def _wanted(outputs: Sequence[str], formulas: Iterable[Formula], supplied: frozenset[str]) -> set[str]:
    """The outputs and everything that formulas could need for them; what is supplied needs nothing."""
    takers: dict[str, set[str]] = {}
    for one in formulas:
        takers.setdefault(one.name, set()).update(one.inputs)
    found: set[str] = set()
    waiting = list(outputs)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += () if name in supplied else takers.get(name, ())
    return found


def _shown(
    section: Section, steps: Mapping[str, Formula], estimator: Estimator, supplied: frozenset[str]
) -> tuple[str, ...]:
    stated = supplied & {*estimator.required}
    return tuple(name for name in section.outputs if name in steps or name in stated)


def _missing(roots: Iterable[str], blocked: Mapping[str, Formula], known: set[str]) -> tuple[str, ...]:
    """The names to ask for: what a blocked formula lacks, or the name itself where no formula could give it."""
    missing: dict[str, None] = {}

    def ask(name: str, asking: frozenset[str] = frozenset()) -> None:
        one = blocked.get(name)
        asked: Sequence[str] = ()
        if one is not None:
            # A sum of optional terms lacks the one that was begun, or else the first.
            begun = [other for other in one.optional if other in blocked]
            asked = one.required or begun or one.optional[:1]
        lacking = [other for other in asked if other not in known]
        if asking & {*lacking} or not lacking:
            missing[name] = None
        else:
            for other in lacking:
                ask(other, asking | {name})

    for root in roots:
        ask(root)
    return tuple(missing)


def evaluate(plan: Plan, inputs: Mapping[str, Array], luck: Luck | None = None) -> dict[str, Array]:
    """The inputs and everything that the plan's formulas make of them.

    Args:
        plan: of an estimator.
        inputs: a value for each of the plan's inputs.
        luck: where simulations get their randomness, if the plan has any.
    """
    values = dict(inputs)
    for step in plan.steps:
        arguments = {name: values[name] for name in step.inputs if name in values}
        values[step.name] = step(**arguments, luck=luck) if step.random else step(**arguments)
    return values
