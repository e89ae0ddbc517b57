"""The vocabulary: every name a formula may take or give, with its unit, limits and meaning, each stated once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Quantity:
    """What a name stands for.

    Attributes:
        name: the name in prior files, formulas and results.
        unit: the unit that is printed and that JSON carries; inside the program values are in base units.
        meaning: one line for people.
        example: a stated value as a prior file would hold it, in TOML.
        low, high: the values that can exist, in base units; the ends themselves are excluded where `open` says so.
        open: which ends are excluded: "", "low", "high" or "both".
        usual_high: above this a prior is more likely a mistake than a belief, and the reader is warned.
    """

    name: str
    unit: str
    meaning: str
    example: str
    low: float = 0.0
    high: float = math.inf
    open: str = "low"
    usual_high: float = math.inf

    def admits(self, value: float) -> bool:
        """Whether the value can exist: lies between the limits."""
        above = value > self.low if self.open in ("low", "both") else value >= self.low
        below = value < self.high if self.open in ("high", "both") else value <= self.high
        return above and below

    @property
    def limits(self) -> str:
        """The limits in words, for error messages."""
        low = f"{'more than' if self.open in ('low', 'both') else 'at least'} {self.low:g}"
        if math.isinf(self.high):
            return low
        return f"{low} and {'less than' if self.open in ('high', 'both') else 'at most'} {self.high:g}"


# Append only: a name's position is its column in the point sets, so moving a line would change everybody's draws.
_VOCABULARY = (
    Quantity(
        "parameters", "parameters", "parameters that take part in each token (active ones for MoE)", '"70e9 parameter"'
    ),
    Quantity("tokens", "tokens", "training tokens seen, repeats included", '"15T token"'),
    Quantity("accelerators", "accelerators", "accelerators working on the run at a time", "2048"),
    Quantity("peak_flop_per_s", "FLOP/accelerator-second", "dense peak of one accelerator", '"312 TFLOP/s"'),
    Quantity("mfu", "fraction", "model FLOP utilisation while stepping: useful FLOP over dense peak", "0.4", high=1.0),
    Quantity(
        "failure_overhead",
        "fraction",
        "extra time as a fraction of the stepping time: failures, restarts, pauses, evaluation",
        '"10 %"',
        open="",
        usual_high=1.0,
    ),
    Quantity(
        "price_per_accelerator_hour",
        "USD/accelerator-hour",
        "price of one accelerator for one hour",
        '"2.2 USD/hour"',
        open="",
    ),
    Quantity("training_flop", "FLOP", "model FLOP of the whole run", '"8e23 FLOP"'),
    Quantity("training_time", "days", "wall-clock time from the first step to the last", '"45 day"'),
    Quantity(
        "accelerator_hours", "accelerator-hours", "accelerators times wall-clock time", '"1.7e6 accelerator-hour"'
    ),
    Quantity("cost", "USD", "what the accelerator-hours cost", '"5e6 USD"', open=""),
)

QUANTITIES: Mapping[str, Quantity] = MappingProxyType({quantity.name: quantity for quantity in _VOCABULARY})

COLUMNS: Mapping[str, int] = MappingProxyType({quantity.name: column for column, quantity in enumerate(_VOCABULARY)})

# What a risk review tests: the name in [limits], and the output it limits from above.
LIMITS: Mapping[str, str] = MappingProxyType({"budget": "cost", "deadline": "training_time"})
