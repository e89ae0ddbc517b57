"""What a named quantity is: its unit, limits and meaning. The names themselves are in `vocabulary.py`."""

from __future__ import annotations

import math
from dataclasses import dataclass


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
        whole: whether only whole numbers can exist.
        endless: whether its formula may say infinity: a run that never finishes, a memory that never suffices.
    """

    name: str
    unit: str
    meaning: str
    example: str
    low: float = 0.0
    high: float = math.inf
    open: str = "low"
    usual_high: float = math.inf
    whole: bool = False
    endless: bool = False

    def admits(self, value: float) -> bool:
        """Whether the value can exist: lies between the limits."""
        above = value > self.low if self.open in ("low", "both") else value >= self.low
        below = value < self.high if self.open in ("high", "both") else value <= self.high
        return above and below and (not self.whole or value == int(value))

    @property
    def limits(self) -> str:
        """The limits in words, for error messages."""
        kind = "a whole number, " if self.whole else ""
        low = f"{kind}{'more than' if self.open in ('low', 'both') else 'at least'} {self.low:g}"
        if math.isinf(self.high):
            return low
        return f"{low} and {'less than' if self.open in ('high', 'both') else 'at most'} {self.high:g}"
