"""What decisions are told with: outputs and limits of a run in printed units, from draws or from estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from uncertain_botec.errors import Fault, UsageError
from uncertain_botec.risk.measures import Chance
from uncertain_botec.scenario import Scenario
from uncertain_botec.summaries import error_and_bounds
from uncertain_botec.tallies import Estimate, Share
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import COST, QUANTITIES, TIME

CONFIDENCE = 0.9
"""The probability with which limits are to be kept."""


class DecisionError(UsageError):
    """Every fault of what is asked to be compared, swept or solved for."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


@dataclass(frozen=True)
class Spread:
    """The quantiles of an output, in its printed unit, with their standard errors.

    Attributes:
        unit: of every number here.
        p10, p50, p90: the value that the output is at or below with that probability in percent.
        errors: their standard errors, in this order.
    """

    unit: str
    p10: float
    p50: float
    p90: float
    errors: tuple[float, float, float]


def spread_of(name: str, estimate: Estimate) -> Spread:
    """The quantiles of an estimate, in the printed unit."""
    unit = QUANTITIES[name].unit
    p10, p50, p90 = to_display(estimate.quantiles, unit).tolist()
    first, second, third = to_display(estimate.errors, unit).tolist()
    return Spread(unit, p10, p50, p90, (first, second, third))


def chance_of(share: Share) -> Chance:
    """The probability of being at or below a value; one of a single replicate is known exactly."""
    value = float(share.at_or_below.mean())
    if len(share.at_or_below) == 1:
        return Chance(value, 0.0, value, value)
    return Chance(value, *error_and_bounds(share, value))


def percent_of(chance: Chance) -> str:
    """A probability in percent, never rounded to certainty."""
    percent = 100 * chance.value
    if chance.error == 0 and percent in (0, 100):
        return f"{percent:g} %"
    if percent < 0.1:
        return "<0.1 %"
    return ">99.9 %" if percent > 99.9 else f"{percent:.1f} %"


def decided_by(scenario: Scenario) -> tuple[str, ...]:
    """The outputs that a run is chosen by: cost and time, or whatever there is where neither is computed."""
    outputs = scenario.plan.outputs
    return tuple(name for name in (COST, TIME) if name in outputs) or outputs


def shown(value: float, unit: str) -> float:
    """A value in base units in the printed one."""
    return float(to_display(value, unit))


def comes_whole(name: str) -> bool:
    """Whether an input comes in whole numbers alone: things that cannot be halved."""
    quantity = QUANTITIES[name]
    return quantity.whole or quantity.unit in ("accelerators", "nodes")
