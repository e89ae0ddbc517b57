"""What a comparison of runs says, as frozen values in printed units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from uncertain_botec.draws import Provenance
from uncertain_botec.risk.measures import Chance, Figure
from uncertain_botec.scenario import Scenario
from uncertain_botec.summaries import without_infinity

PERCENTILES = tuple(place / 100 for place in range(1, 100))
"""The probabilities of the S-curves, P1 to P99."""


@dataclass(frozen=True)
class Curve:
    """One output of one run, in its printed unit.

    Attributes:
        p10, p50, p90: the value that it is at or below with that probability in percent.
        mean: of all draws, infinite where one is.
        best: the chance that no other run is lower, which runs that tie share evenly.
        values: the S-curve, at `PERCENTILES`.
    """

    p10: Figure
    p50: Figure
    p90: Figure
    mean: Figure
    best: Chance
    values: tuple[float, ...]


@dataclass(frozen=True)
class Dominance:
    """Whether one run is the lower in every respect.

    Attributes:
        stochastic: the run whose every percentile from P1 to P99 is at most the other's and one is less, which is
            first-order stochastic dominance; "" where the curves cross or are the same.
        decided: whether the percentiles differ by so much that more draws would hardly say otherwise.
        crossings: the percentiles, from 1 to 99, before which the lower run changes.
        draw_by_draw: the run that is never higher in any draw and lower in one; "" where there is none.
    """

    stochastic: str
    decided: bool
    crossings: tuple[int, ...]
    draw_by_draw: str


@dataclass(frozen=True)
class Difference:
    """The second run less the first, draw by draw, in the output's printed unit.

    Attributes:
        first, second: their labels.
        p10, p50, p90, mean: of the differences, which are not the differences of quantiles.
        lower: the chance that the first run is the lower one, ties counted half.
        ties: the part of the draws in which they are equal.
        dominance: of one of them.
    """

    first: str
    second: str
    p10: Figure
    p50: Figure
    p90: Figure
    mean: Figure
    lower: Chance
    ties: float
    dominance: Dominance


@dataclass(frozen=True)
class OutputComparison:
    """One output of all runs.

    Attributes:
        unit: of every number here.
        curves: by run.
        differences: of every pair of runs, in their order.
    """

    unit: str
    curves: Mapping[str, Curve]
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Comparison:
    """What common draws say of several runs.

    Attributes:
        scenarios: by label, in the order in which they were given.
        outputs: cost and training time where all compute them, or else all that they have in common.
        same: the uncertain inputs that are one and the same quantity.
        together: those that runs state differently, at the same percentile in every draw.
        differing: inputs that are known and not the same in all runs, with the value of each in its printed unit, and
            choices with their words; None for a run without.
        apart: those that some runs correlate otherwise than others, so that they move together only in part.
        notes: what the reader should know.
        provenance: of the draws of each.
    """

    scenarios: Mapping[str, Scenario]
    outputs: Mapping[str, OutputComparison]
    same: tuple[str, ...]
    together: tuple[str, ...]
    apart: tuple[str, ...]
    differing: Mapping[str, tuple[float | str | None, ...]]
    notes: tuple[str, ...]
    provenance: Provenance

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/compare/1`; numbers are unrounded, null is infinite.

        Keys are those of the fields; a figure is `{"value", "error"}`, a chance `{"value", "error", "low", "high"}`.
        """
        made = self.provenance
        return {
            "schema": "uncertain-botec/compare/1",
            "scenarios": {
                label: {"title": one.title, "path": one.path, "sha256": one.sha256, "choices": dict(one.choices)}
                for label, one in self.scenarios.items()
            },
            "percentiles": [100 * level for level in PERCENTILES],
            "outputs": {name: without_infinity(asdict(one)) for name, one in self.outputs.items()},
            "same": list(self.same),
            "together": list(self.together),
            "apart": list(self.apart),
            "differing": {name: list(values) for name, values in self.differing.items()},
            "draws": made.draws,
            "seed": made.seed,
            "sampler": made.sampler,
            "replicates": made.replicates,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        from uncertain_botec.comparison_table import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from uncertain_botec.comparison_table import as_html

        return as_html(self)
