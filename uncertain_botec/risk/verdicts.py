"""Whether draws meet requirements, and whether there are enough of them to tell."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.special import stdtrit

from uncertain_botec.draws import Draws
from uncertain_botec.errors import Fault
from uncertain_botec.library import did_you_mean
from uncertain_botec.risk import measures
from uncertain_botec.risk.measures import Bools, Chance, Figure
from uncertain_botec.risk.requirements import (
    NAMED_LIMITS,
    Bound,
    Kept,
    Mean,
    Measure,
    Probability,
    Quantile,
    Requirement,
    RequirementError,
)
from uncertain_botec.scenario import Scenario
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import QUANTITIES

_COMPARE: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
)


@dataclass(frozen=True)
class Verdict:
    """How a requirement fares, in the printed unit of what it is about.

    Attributes:
        text: the requirement; it can be read again.
        value: of its measure.
        error: the standard error of that.
        low, high: the 95 % interval of that: Student's t from the replicates, and for a probability as of `Chance`.
        threshold: what it is held against.
        unit: of all these numbers.
        met: whether it is.
        decided: whether the threshold lies outside the interval, so that more draws would hardly say otherwise.
    """

    text: str
    value: float
    error: float
    low: float
    high: float
    threshold: float
    unit: str
    met: bool
    decided: bool


def check(requirements: Iterable[Requirement], scenario: Scenario) -> None:
    """Refuse requirements on what a scenario does not give.

    Raises:
        RequirementError: with every such requirement.
    """
    faults = [fault for one in requirements for fault in _faults(one, scenario)]
    if faults:
        raise RequirementError(faults)


def _faults(requirement: Requirement, scenario: Scenario) -> Iterator[Fault]:
    outputs = scenario.plan.outputs
    where = ("requirement", str(requirement))
    measure = requirement.measure
    events: tuple[Bound | Kept, ...] = measure.events if isinstance(measure, Probability) else ()
    names = [one.output for one in events if isinstance(one, Bound)]
    names += [] if isinstance(measure, Probability) else [measure.output]
    for name in names:
        if name not in outputs:
            fix = did_you_mean(name, outputs)
            yield Fault(f"{name} is not computed here", *where, name, f"one of {', '.join(outputs)}", fix)
    for event in events:
        if isinstance(event, Kept):
            output = NAMED_LIMITS[event.limit]
            if output not in outputs:
                message = f"{output} is not computed here, which {event.limit} limits"
                yield Fault(message, *where, event.limit, f"what is about {', '.join(outputs)}")
            elif event.limit not in scenario.limits:
                fix = f"state it, as in {event.limit} = {QUANTITIES[output].example} under [limits] of the prior file"
                yield Fault(f"no {event.limit} is stated", *where, "nothing", f"a {event.limit}", fix)


def measured(measure: Measure, draws: Draws) -> Chance | Figure:
    """What a measure of risk comes to, in base units; its names must be among the draws."""
    if isinstance(measure, Probability):
        events = [_takes_place(one, draws) for one in measure.events]
        names = {_output(one, draws.scenario) for one in measure.events}
        return measures.chance(np.logical_and.reduce(events), exact=all(map(draws.scenario.certain, names)))
    values = draws.values[measure.output]
    certain = isinstance(measure, Mean) or draws.scenario.certain(measure.output)
    if not certain and not measures.enough(values.size, measure.level):  # type: ignore[union-attr]
        return measures.NOT_KNOWN
    if isinstance(measure, Quantile):
        return measures.quantiles_at(values, [measure.level])[0]
    return measures.mean(values) if isinstance(measure, Mean) else measures.cvar(values, measure.level)


def _output(event: Bound | Kept, scenario: Scenario) -> str:
    return event.output if isinstance(event, Bound) else scenario.limits[event.limit].output


def _takes_place(event: Bound | Kept, draws: Draws) -> Bools:
    """Whether an event takes place, draw by draw."""
    if isinstance(event, Kept):
        limit = draws.scenario.limits[event.limit]
        return np.asarray(draws.values[limit.output] <= limit.value)
    return np.asarray(_COMPARE[event.sign](draws.values[event.output], event.value))  # type: ignore[arg-type]


def judge(requirement: Requirement, draws: Draws) -> Verdict:
    """Whether draws meet a requirement that `check` lets pass."""
    found = measured(requirement.measure, draws)
    low, high = (found.low, found.high) if isinstance(found, Chance) else _interval(found, draws.provenance.replicates)
    unit = requirement.quantity.unit

    def shown(value: float) -> float:
        return float(to_display(value, unit))

    value, error, low, high, threshold = map(shown, (found.value, found.error, low, high, requirement.threshold))
    return Verdict(
        text=str(requirement),
        value=value,
        error=error,
        low=low,
        high=high,
        threshold=threshold,
        unit=unit,
        met=bool(_COMPARE[requirement.sign](found.value, requirement.threshold)),
        decided=found.error == 0 or not low <= threshold <= high,
    )


def _interval(figure: Figure, replicates: int) -> tuple[float, float]:
    """Student's 95 % interval; all numbers where the draws do not tell an error."""
    if not math.isfinite(figure.error):
        return -math.inf, math.inf
    half = float(stdtrit(replicates - 1, 0.975)) * figure.error if figure.error else 0.0
    return figure.value - half, figure.value + half
