"""What a sweep says, as frozen values in printed units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from uncertain_botec.decisions.axes import Axis, label_of
from uncertain_botec.decisions.figures import Spread
from uncertain_botec.risk.measures import Chance
from uncertain_botec.scenario import Scenario
from uncertain_botec.summaries import without_infinity


@dataclass(frozen=True)
class Point:
    """One point of the grid.

    Attributes:
        at: the value of each axis, in its printed unit or as a word.
        outputs: cost and training time, or what there is.
        limits: the chances of keeping those that are stated.
        keeps: whether it fits into memory and keeps the deadline, as far as each is stated, at the confidence asked.
        efficient: whether no other point has both a lower P90 of cost and a lower P90 of time.
    """

    at: tuple[float | str, ...]
    outputs: Mapping[str, Spread]
    limits: Mapping[str, Chance]
    keeps: bool
    efficient: bool


@dataclass(frozen=True)
class Sweep:
    """A run over a grid of choices.

    Attributes:
        scenario: at the first point.
        axes: what was varied.
        confidence: the probability with which deadline and memory are to be kept.
        points: of the grid, the last axis fastest.
        cheapest: the place among the points of the one with the least P90 of cost that keeps what is asked, or None.
        front: the places of the efficient points, from the cheapest to the fastest.
        notes: what the reader should know.
        seed: of the draws, which all points share.
    """

    scenario: Scenario
    axes: tuple[Axis, ...]
    confidence: float
    points: tuple[Point, ...]
    cheapest: int | None
    front: tuple[int, ...]
    notes: tuple[str, ...]
    seed: int

    @property
    def best(self) -> Point | None:
        """The cheapest point that keeps what is asked."""
        return None if self.cheapest is None else self.points[self.cheapest]

    @property
    def unmet(self) -> tuple[str, ...]:
        """What is asked and kept by no point."""
        asked = [name for name in ("deadline", "memory") if name in self.points[0].limits]
        return (" and ".join(asked),) if asked and not any(one.keeps for one in self.points) else ()

    def at(self, *values: float | str) -> Point:
        """The point with these values, in printed units."""
        return next(one for one in self.points if one.at == values)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/sweep/1`; numbers are unrounded, null is infinite or none.

        Points have the values of the axes by name under `at`; `cheapest` and `front` are places among the points.
        """
        names = [axis.name for axis in self.axes]
        return {
            "schema": "uncertain-botec/sweep/1",
            "scenario": {"title": self.scenario.title, "path": self.scenario.path, "sha256": self.scenario.sha256},
            "axes": [
                {
                    "name": axis.name,
                    "kind": axis.kind,
                    "unit": axis.unit,
                    "values": [axis.printed(place) for place in range(len(axis.values))],
                }
                for axis in self.axes
            ],
            "confidence": self.confidence,
            "points": [
                without_infinity(asdict(one) | {"at": dict(zip(names, one.at, strict=True))}) for one in self.points
            ],
            "cheapest": self.cheapest,
            "front": list(self.front),
            "unmet": list(self.unmet),
            "notes": list(self.notes),
            "seed": self.seed,
        }

    def __str__(self) -> str:
        from uncertain_botec.sweep_table import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from uncertain_botec.sweep_table import as_html

        return as_html(self)


def told(axes: Sequence[Axis], point: Point) -> str:
    """A point in words: accelerators 4,096, mfu 0.4, checkpoint_interval 30 minutes."""
    each = zip(axes, point.at, strict=True)
    return ", ".join(f"{axis.name} {at if isinstance(at, str) else _with_unit(axis, at)}" for axis, at in each)


def _with_unit(axis: Axis, value: float) -> str:
    """A number with its unit, where the axis's name does not say it."""
    return label_of(value) if axis.unit in ("fraction", "count", axis.name) else f"{label_of(value)} {axis.unit}"
