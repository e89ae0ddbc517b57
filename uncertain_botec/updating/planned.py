"""What a scenario plans for the speed of a run, as a function of the normal scores of its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.dependence import Dependence
from uncertain_botec.distributions import level_of_z
from uncertain_botec.errors import UsageError
from uncertain_botec.planning import Plan, evaluate
from uncertain_botec.scenario import Scenario

Floats = npt.NDArray[np.float64]

# An input that moves the speed by less than this does not touch it: it cancels but for rounding.
_CANCELS = 1e-9
_POINTS, _LEVELS = 4, np.array([-2.3, -1.3, -0.5, 0.0, 0.6, 1.4, 2.3])

# A plan without end is one of so many seconds, whose logarithm is a number.
_ENDLESS = 1e30


@dataclass(frozen=True)
class Planned:
    """The uncertain inputs of a scenario, those first that the log can tell of.

    Attributes:
        scenario: with failures at their expectation, because the log shows what they took.
        names: the uncertain inputs, drivers first.
        drivers: how many of them the speed, or the rate of interruptions, depends on.
        by_accelerator: whether speed is by accelerator, as where the log says how many there are.
        counted: whether interruptions are counted and planned.
    """

    scenario: Scenario
    names: tuple[str, ...]
    drivers: int
    by_accelerator: bool
    counted: bool

    @property
    def root(self) -> Floats:
        """The lower triangular L with z = L ε for independent standard normal ε, in the order of `names`."""
        latent = np.eye(len(self.names))
        dependence = self.scenario.dependence
        if dependence is not None:
            place = {name: number for number, name in enumerate(self.names)}
            for row, first in enumerate(dependence.names):
                for column, second in enumerate(dependence.names):
                    if first in place and second in place:
                        latent[place[first], place[second]] = dependence.latent[row][column]
        return Dependence(self.names, tuple(map(tuple, latent))).root() if self.names else latent

    @property
    def plan(self) -> Plan:
        """The formulas that the speed and the interruptions take, without the bill and the rest."""
        plan = self.scenario.plan
        needed = {"tokens", "training_time", "accelerator_hours"} | ({"interruptions"} if self.counted else set())
        steps = []
        for step in reversed(plan.steps):
            if step.name in needed:
                steps.append(step)
                needed |= {*step.inputs}
        return replace(plan, steps=tuple(reversed(steps)))

    def medians(self) -> dict[str, float]:
        """The known inputs, and the medians of those that are no drivers."""
        half = level_of_z(np.zeros(1))
        rest = {name: self.scenario.inputs[name].distribution for name in self.names[self.drivers :]}
        return {**self.scenario.known, **{name: float(one.quantile(half)[0]) for name, one in rest.items()}}


def log_rate(values: Mapping[str, Any], *, by_accelerator: bool) -> Any:
    """ln of planned tokens by day, with everything that failures take: ln (86400 D / t), or by accelerator-day."""
    from uncertain_botec.formulas.base import namespace

    taken = values["accelerator_hours" if by_accelerator else "training_time"]
    xp = namespace(taken, values["tokens"])
    return xp.log(86400.0 * values["tokens"]) - xp.log(xp.minimum(taken, _ENDLESS))


def interruption_rate(values: Mapping[str, Any], *, by_accelerator: bool) -> Any:
    """Planned interruptions by day, or by accelerator-day."""
    rate = 86400.0 * values["interruptions"] / values["training_time"]
    return rate * values["training_time"] / values["accelerator_hours"] if by_accelerator else rate


def plan_of(scenario: Scenario, *, by_accelerator: bool, counted: bool) -> Planned:
    """What the log can tell of.

    Raises:
        UsageError: the scenario does not say how many tokens, or a discrete input decides the speed.
    """
    if scenario.choices.get("failures") == "simulated":
        scenario = replace(scenario, choices={**scenario.choices, "failures": "expected"})
    plan = scenario.plan
    there = {*plan.inputs, *(step.name for step in plan.steps)}
    if lacking := [name for name in ("tokens", "training_time", "accelerator_hours") if name not in there]:
        raise UsageError(
            f"{scenario.path or scenario.title}: a log counts tokens over time, and the scenario plans no "
            f"{' and no '.join(lacking)}; state tokens and parameters rather than training_flop alone, with the "
            'estimator "training"'
        )
    counted = counted and "interruptions" in there
    drivers = [name for name in scenario.uncertain if _touches(scenario, name, by_accelerator, counted)]
    if discrete := [name for name in drivers if not scenario.inputs[name].distribution.smooth]:
        fix = f"state one value, as with --set inputs.{discrete[0]}=VALUE"
        if discrete == ["accelerators"]:
            fix += ", or add a column accelerators to the log"
        raise UsageError(
            f"{scenario.path or scenario.title}: {', '.join(discrete)} takes separate values, at least in part, and "
            f"decides the speed, which a log cannot be held against; {fix}"
        )
    rest = [name for name in scenario.uncertain if name not in drivers]
    return Planned(scenario, (*drivers, *rest), len(drivers), by_accelerator, counted)


def _touches(scenario: Scenario, name: str, by_accelerator: bool, counted: bool) -> bool:
    """Whether the speed changes with an input, all else equal: tried, for in formulas much cancels."""
    plan = scenario.plan
    reaching = plan.reaching("tokens") | plan.reaching("accelerator_hours") | plan.reaching("training_time")
    if counted:
        reaching |= plan.reaching("interruptions")
    if name not in reaching:
        return False
    spread = np.random.default_rng(0)
    z = {other: np.repeat(spread.normal(size=_POINTS), len(_LEVELS)) for other in scenario.uncertain}
    z[name] = np.tile(_LEVELS, _POINTS)
    values: dict[str, Any] = dict(scenario.known)
    values |= {other: scenario.inputs[other].distribution.quantile(level_of_z(one)) for other, one in z.items()}
    with np.errstate(all="ignore"):
        made = evaluate(plan, values)
        tried = [log_rate(made, by_accelerator=by_accelerator)]
        if counted:
            tried.append(np.log(interruption_rate(made, by_accelerator=by_accelerator)))
    shapes = [np.broadcast_to(one, z[name].shape).reshape(_POINTS, -1) for one in tried]
    return any(bool(np.nanmax(np.ptp(one, axis=1)) > _CANCELS) for one in shapes)
