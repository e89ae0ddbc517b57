"""What the reference class knows a run by."""

from __future__ import annotations

import math
from dataclasses import dataclass

# In years. Accelerators of no age are as hard to use as those of a few months, and no run used older ones.
YOUNGEST, OLDEST = 0.25, 5.0

# In years. Runs are dated by their publication, and plans by their start.
PUBLISHED_AFTER = 0.5

TERMS = ("peak", "parameters", "tokens", "age", "moe", "ssm", "fp8", "rough")
"""The terms of the regression, in order."""


@dataclass(frozen=True)
class Subject:
    """A run as the reference class sees it.

    Attributes:
        parameters: N, that take part in each token.
        tokens: D.
        peak_flop_per_s: P, dense 16-bit peak of one accelerator, in FLOP/s.
        generation: of the accelerator, such as `Hopper`.
        age: from the release of the first accelerator of that generation to the run's publication, in years.
        kind: `dense`, `moe` or `ssm`.
        fp8: whether matrices were multiplied in 8 bits.
        rough: whether the hours are accelerators times stated days, or a bound, rather than counted.
    """

    parameters: float
    tokens: float
    peak_flop_per_s: float
    generation: str
    age: float
    kind: str = "dense"
    fp8: bool = False
    rough: bool = False

    @property
    def terms(self) -> tuple[float, ...]:
        """x, the value of each of `TERMS`: ln of ratios to a middling run, and yes (1) or no (0)."""
        return (
            math.log(self.peak_flop_per_s / 312e12),
            math.log(self.parameters / 20e9),
            math.log(self.tokens / 2e12),
            math.log(min(max(self.age, YOUNGEST), OLDEST) / 2),
            float(self.kind == "moe"),
            float(self.kind == "ssm"),
            float(self.fp8),
            float(self.rough),
        )

    @property
    def usual_time(self) -> float:
        """h_40 = 6 N D / (0.4 P): accelerator-seconds at 40 % of the 16-bit peak, of which others are multiples."""
        return 6 * self.parameters * self.tokens / (0.4 * self.peak_flop_per_s)
