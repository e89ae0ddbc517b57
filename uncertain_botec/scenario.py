"""A scenario: what a prior file means once read, checked and turned into distributions in base units."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from uncertain_botec.architecture import Network, Transformer
from uncertain_botec.choices import CHOICES
from uncertain_botec.dependence import Dependence
from uncertain_botec.distributions import Distribution, elicit
from uncertain_botec.estimators import ESTIMATORS
from uncertain_botec.planning import Estimator, Plan


@dataclass(frozen=True)
class Input:
    """One input: what was stated, and the distribution it stands for.

    Attributes:
        name: a name of the vocabulary.
        stated: as in a prior file: a number, a text with a unit, or a table. It can be loaded again by itself.
        distribution: the belief, in base units.
        origin: the file that stated it.
    """

    name: str
    stated: Any
    distribution: Distribution
    origin: str = field(compare=False)

    def about(self, key: str) -> str | None:
        """What was said about it under `source`, `as_of` or `note`."""
        return self.stated.get(key) if isinstance(self.stated, Mapping) else None

    @property
    def known(self) -> bool:
        """Whether the value is known exactly."""
        return self.distribution.family == "fixed"


@dataclass(frozen=True)
class Marker:
    """A value that draws are held against: a limit to be kept, or an outcome that was observed.

    Attributes:
        name: as stated, such as `budget`.
        output: the quantity it is a value of, such as `cost`.
        value: in base units.
        stated: as in a prior file.
    """

    name: str
    output: str
    value: float
    stated: Any


@dataclass(frozen=True)
class Scenario:
    """Everything that one forecast needs; two scenarios are equal when they state the same beliefs.

    Attributes:
        title: for people.
        estimator: the name of the estimator that evaluates it.
        inputs: what the estimator's formulas take, by name.
        choices: every choice that is made and can change the answer, such as the FLOP convention.
        dependence: how inputs move together, or None when all are independent.
        correlations: as stated, to be loaded again.
        limits: what a risk review tests, such as the budget.
        observed: published or measured outcomes, by output.
        architecture: the model that was counted, for the table that explains the count.
        path: where it was loaded from, as the user named it.
        sha256: of the file's bytes.
        notes: what the reader should know about how the file was understood.
        warnings: what the reader should probably change.
    """

    title: str
    estimator: str
    inputs: Mapping[str, Input]
    choices: Mapping[str, str] = field(default_factory=dict)
    dependence: Dependence | None = None
    correlations: tuple[Mapping[str, Any], ...] = ()
    limits: Mapping[str, Marker] = field(default_factory=dict)
    observed: Mapping[str, Marker] = field(default_factory=dict)
    architecture: Transformer | Network | None = field(default=None, compare=False)
    path: str = field(default="", compare=False)
    sha256: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def model(self) -> Estimator:
        """The estimator itself."""
        return ESTIMATORS[self.estimator]

    @property
    def uncertain(self) -> tuple[str, ...]:
        """The names of the inputs that are not known exactly."""
        return tuple(name for name, one in self.inputs.items() if not one.known)

    @property
    def known(self) -> dict[str, float]:
        """The values of the inputs that are known exactly, in base units."""
        return {name: one.distribution.support[0] for name, one in self.inputs.items() if one.known}

    @property
    def plan(self) -> Plan:
        """The formulas that run, and what is reported."""
        return self.model.plan(self.inputs, self.choices)

    @property
    def choices_in_force(self) -> dict[str, str]:
        """The choices that bear on what is reported, in the order of their table."""
        plan = self.plan
        bearing = {key for step in plan.steps for key in step.when}
        bearing |= {"attention_mask"} if "attended_tokens" in plan.inputs else set()
        bearing |= {"optimizer"} if "weight_memory" in plan.outputs else set()
        bearing |= {"purchase"} if self.choices.get("purchase") != CHOICES["purchase"].default else set()
        return {name: self.choices[name] for name in CHOICES if name in bearing & self.choices.keys()}

    def but(self, **inputs: Distribution | float) -> Scenario:
        """The same scenario with other beliefs, or values known exactly, of some inputs, in base units.

        What is known exactly moves with nothing. An input that the scenario does not state is added.
        """
        stated = {
            name: one if isinstance(one, Distribution) else elicit("fixed", {"value": float(one)})
            for name, one in inputs.items()
        }
        made = {name: Input(name, {"note": "set by a program"}, one, "") for name, one in stated.items()}
        dependence = self.dependence
        for name, one in made.items():
            dependence = dependence.without(name) if dependence and one.known else dependence
        return replace(self, inputs={**self.inputs, **made}, dependence=dependence)

    def certain(self, output: str) -> bool:
        """Whether an output is known exactly: computed from known inputs, without randomness of its own."""
        return not self.drivers(output) and not self.plan.random(output)

    def drivers(self, output: str) -> tuple[str, ...]:
        """The uncertain inputs that an output is computed from."""
        reaching = self.plan.reaching(output)
        return tuple(name for name in self.uncertain if name in reaching)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(one.distribution.family)}</td>"
            f"<td>{html.escape(str(one.about('source') or ''))}</td></tr>"
            for name, one in self.inputs.items()
        )
        head = f"<caption>{html.escape(self.title)}</caption><tr><th>input</th><th>family</th><th>source</th></tr>"
        return f"<table>{head}{rows}</table>"


def labels(scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    """Short names that differ: those of the files, or else titles, numbered where they are the same."""
    names = [Path(one.path).stem or one.title for one in scenarios]
    return tuple(
        name if names.count(name) == 1 else f"{name} #{names[:place].count(name) + 1}"
        for place, name in enumerate(names)
    )


def dump_scenario(scenario: Scenario) -> str:
    """The scenario as one self-contained prior file; loading it gives an equal scenario back."""
    import tomli_w

    document: dict[str, Any] = {"title": scenario.title, "estimator": scenario.estimator, **scenario.choices}
    # What a choice states follows from the choice.
    chosen = {f'{name} = "{word}"' for name, word in scenario.choices.items()}
    own = {name: one for name, one in scenario.inputs.items() if one.about("source") not in chosen}
    document["inputs"] = {name: _plain(one.stated) for name, one in own.items()}
    tables = {"limits": scenario.limits, "observed": scenario.observed}
    document |= {
        table: stated
        for table, markers in tables.items()
        if (stated := {name: _plain(one.stated) for name, one in markers.items() if one.stated is not None})
    }
    if scenario.correlations:
        document["correlations"] = [_plain(entry) for entry in scenario.correlations]
    return tomli_w.dumps(document)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
