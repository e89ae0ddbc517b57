"""What a log makes of a forecast: prior and posterior side by side, and everything needed to repeat it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.draws import Draws, Provenance
from uncertain_botec.risk.measures import Chance, Figure, quantiles_at
from uncertain_botec.scenario import Scenario
from uncertain_botec.summaries import without_infinity
from uncertain_botec.units import to_display
from uncertain_botec.updating.progress_log import ProgressLog

if TYPE_CHECKING:
    from uncertain_botec.inference import Diagnostics

Floats = npt.NDArray[np.floating[Any]]

LEVELS = (0.1, 0.5, 0.9)
"""Of a spread."""

BATCHES = 16
"""Batches of consecutive draws, whose spread gives the Monte Carlo errors: each chain gives four, far longer than draws
remember each other (batch means; Flegal and Jones 2010, Annals of Statistics 38, 1034-1070)."""


@dataclass(frozen=True)
class Spread:
    """P10, P50 and P90, each with its Monte Carlo standard error: P90 is at or above with a chance of 90 %."""

    p10: Figure
    p50: Figure
    p90: Figure

    @property
    def width(self) -> float:
        """P90 less P10."""
        return self.p90.value - self.p10.value


@dataclass(frozen=True)
class Revised:
    """A quantity before and after the log.

    Attributes:
        unit: of every number here.
        prior, posterior: its spread; the posterior's width is 0 where the log says the value.
        narrower: how many times narrower the posterior's P10 to P90 is; None where that is not a finite number.
    """

    unit: str
    prior: Spread
    posterior: Spread
    narrower: float | None


@dataclass(frozen=True)
class RevisedLimit:
    """The chance of keeping a limit, before and after the log."""

    value: float
    unit: str
    prior: Chance
    posterior: Chance


@dataclass(frozen=True)
class RevisedChance:
    """A chance before and after the log."""

    prior: Chance
    posterior: Chance


@dataclass(frozen=True)
class SoFar:
    """How far the run is.

    Attributes:
        rows: useful ones of the log.
        tokens: so far, those lost to rollbacks not counted.
        share: tokens so far over those of the plan, at P50 of what the plan says now.
        elapsed: days since the start.
        lost: days in which nothing was added that was kept.
        interruptions: counted so far, or None.
        cost: USD so far, or None where the log does not say.
        finished: whether the log reaches the tokens of the plan.
    """

    rows: int
    tokens: float
    share: float
    elapsed: float
    lost: float
    interruptions: float | None
    cost: float | None
    finished: bool


@dataclass(frozen=True)
class AgainstPlan:
    """Days to the present number of tokens: as planned, and as it was.

    Attributes:
        planned: P10, P50 and P90 of the plan.
        actual: days it took.
        percentile: of the actual in the plan, from 0 to 100.
        low, high: the plan's P5 and P95.
    """

    planned: Spread
    actual: float
    percentile: Figure
    low: float
    high: float

    @property
    def inside(self) -> bool:
        """Whether the actual lies between the plan's P5 and P95."""
        return self.low <= self.actual <= self.high


@dataclass(frozen=True)
class Finish:
    """When the run ends: ISO 8601 times at P10, P50 and P90 (None for one beyond all calendars)."""

    prior: Mapping[str, str | None]
    posterior: Mapping[str, str | None]


@dataclass(frozen=True)
class Update:
    """A forecast revised by the log of a run.

    Attributes:
        scenario: with the limits that were held against.
        log: of the run.
        so_far: how far it is.
        against_plan: days to here, planned and actual.
        outputs: training time, accelerator-hours and cost at the end, in printed units.
        finish: the date of the end, where the log has dates.
        limits: the chances of keeping budget and deadline, as far as they are stated.
        both: of keeping both, where both are stated.
        learnt: what the log taught: speed, MFU, inputs that it tells of, noise, drift and outages.
        warnings: where the plan no longer holds, in words.
        notes: what was done to the log, and what the reader should know.
        diagnostics: of the sampler; None for a run that is finished.
        draws: from the posterior, of inputs and outputs; the replicates are batches of consecutive draws of one chain.
        provenance: of these draws.
    """

    scenario: Scenario
    log: ProgressLog
    so_far: SoFar
    against_plan: AgainstPlan
    outputs: Mapping[str, Revised]
    finish: Finish | None
    limits: Mapping[str, RevisedLimit]
    both: RevisedChance | None
    learnt: Mapping[str, Revised]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    diagnostics: Diagnostics | None
    draws: Draws = field(repr=False)

    @property
    def provenance(self) -> Provenance:
        """How the posterior draws came about."""
        return self.draws.provenance

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/update/1`; numbers are unrounded, null is infinite or none.

        Keys are those of the fields; a figure is `{"value", "error"}`, a chance `{"value", "error", "low", "high"}`.
        """
        made, log = self.provenance, self.log
        start = None if log.start is None else iso(log.start)
        document = {
            "so_far": asdict(self.so_far),
            "against_plan": asdict(self.against_plan) | {"inside": self.against_plan.inside},
            "outputs": {name: asdict(one) for name, one in self.outputs.items()},
            "finish": None if self.finish is None else asdict(self.finish),
            "limits": {name: asdict(one) for name, one in self.limits.items()},
            "both": None if self.both is None else asdict(self.both),
            "learnt": {name: asdict(one) for name, one in self.learnt.items()},
            "diagnostics": None if self.diagnostics is None else asdict(self.diagnostics),
        }
        return {
            "schema": "uncertain-botec/update/1",
            "scenario": {"title": self.scenario.title, "path": self.scenario.path, "sha256": self.scenario.sha256},
            "log": {"path": log.path, "sha256": log.sha256, "start": start},
            "estimator": self.scenario.estimator,
            "choices": dict(self.scenario.choices),
            "draws": made.draws,
            "seed": made.seed,
            **without_infinity(document),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "provenance": made.to_dict(),
        }

    def __str__(self) -> str:
        from uncertain_botec.update_table import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from uncertain_botec.update_table import as_html

        return as_html(self)


def batched(values: Floats) -> Floats:
    """Draws side by side as batches of consecutive ones, of shape (batches, size)."""
    return np.reshape(values, (BATCHES, -1))


def spread(values: Floats, unit: str) -> Spread:
    """P10, P50 and P90 in the printed unit, of draws in base units of shape (replicates, size)."""
    factor = float(to_display(1.0, unit))
    return Spread(*(Figure(one.value * factor, one.error * factor) for one in quantiles_at(values, LEVELS)))


def revised(prior: Floats, posterior: Floats, unit: str) -> Revised:
    """A quantity before and after, from draws of both."""
    return revision(spread(prior, unit), spread(posterior, unit), unit)


def revision(before: Spread, after: Spread, unit: str) -> Revised:
    """A quantity before and after."""
    narrower = before.width / after.width if after.width > 0 and np.isfinite(before.width) else None
    return Revised(unit, before, after, narrower)


def iso(instant: datetime.datetime) -> str:
    """To the second, in UTC."""
    return instant.astimezone(datetime.UTC).isoformat(timespec="seconds")
