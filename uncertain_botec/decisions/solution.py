"""What solving for an input says, as frozen values in printed units."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from uncertain_botec.risk.verdicts import Verdict
from uncertain_botec.scenario import Scenario
from uncertain_botec.summaries import without_infinity


@dataclass(frozen=True)
class Probe:
    """One value of the input, and what the requirement's measure comes to there.

    Attributes:
        at: the value, in the input's printed unit.
        measure: in the printed unit of the requirement.
        met: whether the requirement is.
    """

    at: float
    measure: float
    met: bool


@dataclass(frozen=True)
class Solution:
    """The value of an input that a requirement takes.

    Attributes:
        scenario: as loaded, with its own value.
        name: of the input, or of the limit.
        unit: of its values.
        requirement: as text.
        side: "least" where the requirement is met from the value upward, "most" where downward, "any" where it is met
            in the whole range, and "none" where nowhere.
        value: the boundary; None unless there is one.
        error: its standard error, which is that of the measure over its slope; infinite where the draws do not tell.
        rounded: the value rounded to the digits that the error allows, or to a whole number, the way that meets the
            requirement.
        until: the other end of the values that meet it, where they end within the range; else None.
        monotone: whether no probe has the measure turn back.
        stated: the value in the scenario, its median where it is uncertain; None where it is not stated.
        low, high: the range that was looked at.
        granularity: the value is a multiple of this; 0 where it need not be.
        verdict: on the requirement at the rounded value; at the best value where it is met nowhere, and None where any
            value does.
        best: the value that comes nearest where the requirement is met nowhere; else None.
        probes: what was tried over the range, in ascending order.
        notes: what the reader should know.
        draws: behind each value of the measure.
        seed: of the draws, which all values share.
    """

    scenario: Scenario
    name: str
    unit: str
    requirement: str
    side: str
    value: float | None
    error: float | None
    rounded: float | None
    until: float | None
    monotone: bool
    stated: float | None
    low: float
    high: float
    granularity: int
    verdict: Verdict | None
    best: float | None
    probes: tuple[Probe, ...]
    notes: tuple[str, ...]
    draws: int
    seed: int

    @property
    def feasible(self) -> bool:
        """Whether any value in the range meets the requirement."""
        return self.side != "none"

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/solve/1`; numbers are unrounded, null is infinite or none.

        Keys are those of the fields; the verdict is that of `uncertain-botec/risk/1`.
        """
        document = {
            "schema": "uncertain-botec/solve/1",
            "scenario": {"title": self.scenario.title, "path": self.scenario.path, "sha256": self.scenario.sha256},
            "choices": dict(self.scenario.choices),
            "name": self.name,
            "unit": self.unit,
            "requirement": self.requirement,
            "feasible": self.feasible,
            "side": self.side,
            "value": self.value,
            "error": self.error,
            "rounded": self.rounded,
            "until": self.until,
            "monotone": self.monotone,
            "stated": self.stated,
            "range": [self.low, self.high],
            "granularity": self.granularity,
            "verdict": None if self.verdict is None else asdict(self.verdict),
            "best": self.best,
            "probes": [asdict(one) for one in self.probes],
            "draws": self.draws,
            "seed": self.seed,
            "notes": list(self.notes),
        }
        made: dict[str, Any] = without_infinity(document)
        return made

    def __str__(self) -> str:
        from uncertain_botec.solution_table import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from uncertain_botec.solution_table import as_html

        return as_html(self)
