"""The decision at hand as net values: go or stop against a budget, or which of several scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from uncertain_botec.dependence import can_be
from uncertain_botec.errors import UsageError
from uncertain_botec.sampling.points import Words
from uncertain_botec.scenario import Scenario, labels
from uncertain_botec.sensitivity.models import Model, Scores, latent_of, outputs_of
from uncertain_botec.tallies import Floats
from uncertain_botec.units import readable_scale, to_display
from uncertain_botec.vocabulary import COST, TIME

# Keeps the lucks of scenarios apart that are drawn from one key: 2^32 over the golden ratio.
_APART = 0x9E3779B9


@dataclass(frozen=True)
class Decision:
    """Alternatives, and the net value of each in USD as a function of what is uncertain.

    Attributes:
        alternatives: their names.
        statement: in words, what is decided and what each alternative is worth.
        model: their net values, in the order of the names.
        inputs: for each of the model's inputs, the name of the scenario's input.
    """

    alternatives: tuple[str, ...]
    statement: str
    model: Model
    inputs: Mapping[str, str]

    def set_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """The model's inputs that some names of inputs stand for: in every scenario, unless one is named."""
        return tuple(key for key, name in self.inputs.items() if name in names or key in names)


def go_or_stop(scenario: Scenario, budget: float, late_cost: float) -> Decision:
    """To go ahead is worth the budget less the cost, to stop nothing.

    Args:
        scenario: with a cost.
        budget: what the run is worth, in USD.
        late_cost: in USD for each second beyond the deadline, or of the whole time where there is no deadline.
    """

    def values(costs: Sequence[Floats]) -> Floats:
        return np.stack([budget - costs[0], np.zeros_like(costs[0])])

    model, inputs = _together((scenario,), late_cost, values)
    statement = f"go, worth {_money(budget)} less the cost{_lateness(scenario, late_cost)}; or stop, worth nothing"
    return Decision(("go", "stop"), statement, model, inputs)


def which(scenarios: Sequence[Scenario], late_cost: float) -> Decision:
    """One of several scenarios, each worth the less the more it costs.

    Inputs that all of them state alike are the same quantity. Those that differ are different ones, independent of each
    other but for what both share: the price of one market says nothing about that of another.

    Args:
        scenarios: each with a cost.
        late_cost: as of `go_or_stop`.

    Raises:
        UsageError: scenarios that correlate what they share differently.
    """
    model, inputs = _together(scenarios, late_cost, lambda costs: -np.stack(costs))
    statement = f"one of {len(scenarios)} runs, each worth less by its cost{_lateness(scenarios[0], late_cost)}"
    return Decision(labels(scenarios), statement, model, inputs)


def _lateness(scenario: Scenario, late_cost: float) -> str:
    since = "beyond its deadline" if "deadline" in scenario.limits else "that it takes"
    return f" and {_money(to_display(late_cost, 'USD/day'))} for each day {since}" if late_cost else ""


def _money(value: float) -> str:
    scale, unit = readable_scale(value, "USD")
    return f"{value / scale:,.4g} {unit}"


def _together(
    scenarios: Sequence[Scenario], late_cost: float, values: Callable[[Sequence[Floats]], Floats]
) -> tuple[Model, dict[str, str]]:
    """Net values of scenarios that share what they state alike."""
    outputs = (COST, TIME) if late_cost else (COST,)
    taken = [_taken(one, outputs) for one in scenarios]
    own = _own(scenarios, taken)
    keys = [
        {name: f"{name} ({label})" if name in own else name for name in names}
        for names, label in zip(taken, labels(scenarios), strict=True)
    ]
    inputs = {key: name for some in keys for name, key in some.items()}
    latent = _latent(scenarios, keys, tuple(inputs))

    def function(scores: Scores, luck: Words) -> Floats:
        costs = []
        for number, (scenario, some) in enumerate(zip(scenarios, keys, strict=True)):
            mine = {name: scores[key] for name, key in some.items()}
            words = np.asarray(luck ^ np.array([0, number * _APART & 0xFFFFFFFF], np.uint32))
            found = outputs_of(scenario, mine, outputs, scores, words)
            deadline = scenario.limits["deadline"].value if "deadline" in scenario.limits else 0.0
            late = late_cost * np.maximum(found[TIME] - deadline, 0) if late_cost else 0.0
            costs.append(found[COST] + late)
        return values(costs)

    chance = any(one.plan.random(name) for one in scenarios for name in outputs)
    return Model(tuple(inputs), function, latent, chance), inputs


def _taken(scenario: Scenario, outputs: Sequence[str]) -> tuple[str, ...]:
    """The uncertain inputs that outputs are computed from, and those that tell of them by correlation."""
    found = {name for output in outputs for name in scenario.drivers(output)}
    dependence = scenario.dependence
    if dependence is not None:
        while more := {
            name
            for name, row in zip(dependence.names, dependence.latent, strict=True)
            if name not in found
            and any(value for other, value in zip(dependence.names, row, strict=True) if other in found)
        }:
            found |= more
    return tuple(name for name in scenario.uncertain if name in found)


def _own(scenarios: Sequence[Scenario], taken: Sequence[Sequence[str]]) -> set[str]:
    """The inputs that are not one quantity: scenarios that state them do so differently."""
    stated: dict[str, list[object]] = {}
    for scenario, names in zip(scenarios, taken, strict=True):
        for name in names:
            stated.setdefault(name, []).append(scenario.inputs[name].distribution)
    return {name for name, beliefs in stated.items() if any(one != beliefs[0] for one in beliefs)}


def _latent(scenarios: Sequence[Scenario], keys: Sequence[Mapping[str, str]], names: tuple[str, ...]) -> Floats | None:
    """The correlation matrix of all inputs; those of different scenarios move together only by what both share."""
    matrices = [latent_of(one, tuple(some)) for one, some in zip(scenarios, keys, strict=True)]
    if all(one is None for one in matrices):
        return None
    place = {name: number for number, name in enumerate(names)}
    latent, known = np.eye(len(names)), np.eye(len(names), dtype=bool)
    for matrix, some in zip(matrices, keys, strict=True):
        mine = [place[key] for key in some.values()]
        block = np.eye(len(mine)) if matrix is None else matrix
        there = known[np.ix_(mine, mine)]
        if np.any(there & (np.abs(latent[np.ix_(mine, mine)] - block) > 1e-12)):
            raise UsageError("the scenarios state different correlations of inputs that they share; state the same")
        latent[np.ix_(mine, mine)], known[np.ix_(mine, mine)] = block, True
    for first in range(len(names)):
        for second in range(first):
            if not known[first, second]:
                one, other = (next(some for some in keys if names[at] in some.values()) for at in (first, second))
                shared = [place[key] for key in one.values() if key in other.values()]
                inner = np.linalg.pinv(latent[np.ix_(shared, shared)])
                latent[first, second] = latent[second, first] = latent[first, shared] @ inner @ latent[shared, second]
    if not can_be(latent):
        raise UsageError(
            "the correlations that the scenarios state do not go together; state fewer, or the same in each"
        )
    return latent
