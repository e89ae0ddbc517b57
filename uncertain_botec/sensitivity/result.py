"""What a study of sensitivity says, as frozen values in printed units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from uncertain_botec.scenario import Scenario
from uncertain_botec.sensitivity.indices import Index
from uncertain_botec.sensitivity.tornado import Swing, Tail
from uncertain_botec.summaries import without_infinity

SCALES: Mapping[str, str] = {
    "log": "its logarithm, so that a product's factors add up and rare extremes do not decide",
    "rank": "its rank among all draws, which is finite where the output is not",
    "linear": "the output itself",
}
"""Whose variance is shared out."""


@dataclass(frozen=True)
class InputSensitivity:
    """How one input moves the output.

    Attributes:
        input: its name, or "chance" for the luck of simulated runs.
        influence: "uncertain"; "known" exactly; "none" where the output is not computed from it; or "chance".
        unit: of the thresholds.
        low, high: the output in the draws where the input is lowest and highest; None for chance, which has no order.
        swing: the output where this input alone is at its P10 and P90; None likewise.
        first_order: the part of the variance that knowing it would take away; None where there is no variance.
        shapley: its share of the variance; None likewise.
    """

    input: str
    influence: str
    unit: str
    low: Tail | None
    high: Tail | None
    swing: Swing | None
    first_order: Index | None
    shapley: Index | None


@dataclass(frozen=True)
class InformationWorth:
    """What it is worth, in USD, to know inputs before deciding.

    Attributes:
        decision: in words, between what.
        alternatives: the expected net value of each.
        best: the best one as things are known.
        perfect: EVPI, the worth of knowing everything, luck included.
        inputs: EVPPI of each input alone, largest first.
        sets: EVPPI of the sets that were asked for, by their names joined with " + ".
    """

    decision: str
    alternatives: Mapping[str, Index]
    best: str
    perfect: Index
    inputs: Mapping[str, Index]
    sets: Mapping[str, Index]


@dataclass(frozen=True)
class Sensitivity:
    """What moves one output of a scenario, and what is worth knowing first.

    Attributes:
        scenario: that was studied.
        output: the name of the output.
        unit: of every value of the output.
        level: the probability of the intervals of indices.
        scale: whose variance is shared out: "log", "rank" or "linear".
        resolved: whether the draws say what that variance is.
        overall: mean and median, of as many draws that are evenly spread: they err less than those of independent ones.
        at_medians: the output where every input has its median.
        inputs: largest Shapley effect first; those without influence last.
        information: the value of information, or None where there is no decision.
        draws: independent draws behind tails and first-order indices.
        walks: draws behind Shapley effects.
        seed: of all draws.
        notes: what the reader should know.
    """

    scenario: Scenario
    output: str
    unit: str
    level: float
    scale: str
    resolved: bool
    overall: Tail
    at_medians: float
    inputs: tuple[InputSensitivity, ...]
    information: InformationWorth | None
    draws: int
    walks: int
    seed: int
    notes: tuple[str, ...]

    def __getitem__(self, name: str) -> InputSensitivity:
        """One input's."""
        return next(one for one in self.inputs if one.input == name)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/sensitivity/1`; numbers are unrounded, null is infinite.

        Indices are null where there is no variance to share out.
        """
        overall = asdict(self.overall)
        document = {
            "schema": "uncertain-botec/sensitivity/1",
            "scenario": {"title": self.scenario.title, "path": self.scenario.path, "sha256": self.scenario.sha256},
            "choices": dict(self.scenario.choices),
            "output": self.output,
            "unit": self.unit,
            "level": self.level,
            "scale": self.scale,
            "resolved": self.resolved,
            "overall": {name: overall[name] for name in ("mean", "mean_error", "median", "median_error")},
            "at_medians": self.at_medians,
            "inputs": [asdict(one) for one in self.inputs],
            "information": None if self.information is None else asdict(self.information),
            "draws": self.draws,
            "walks": self.walks,
            "seed": self.seed,
            "notes": list(self.notes),
        }
        made: dict[str, Any] = without_infinity(document)
        return made

    def __str__(self) -> str:
        from uncertain_botec.sensitivity_table import as_text

        return as_text(self)
