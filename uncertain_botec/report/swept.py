"""What the report of a sweep looks at, and its points as a table that other programs read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from uncertain_botec.decisions.surface import Sweep


@dataclass(frozen=True)
class Swept:
    """Everything the report of a sweep is written from.

    Attributes:
        sweep: the points.
        versions: of the libraries that decide the numbers.
        files: the SHA-256 of what is written beside the page, by name, as far as it is there yet.
    """

    sweep: Sweep
    versions: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def outputs(self) -> tuple[str, ...]:
        """What is known of one point or another: cost and time, or what there is."""
        return tuple(dict.fromkeys(name for one in self.sweep.points for name in one.outputs))

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits that one point or another is held against."""
        return tuple(dict.fromkeys(name for one in self.sweep.points for name in one.limits))


def look(sweep: Sweep) -> Swept:
    """A sweep, and what it was made with."""
    from uncertain_botec.sampling.engine import versions

    return Swept(sweep, versions())


def points_as_csv(context: Swept) -> str:
    """Every point as a row: unrounded, in printed units that stand in the heading."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows(_lines(context))
    return stream.getvalue()


_QUANTILES = ("p10", "p50", "p90")


def _lines(context: Swept) -> Iterator[list[object]]:
    # Asked for once: each goes through all points.
    sweep, outputs, limits = context.sweep, context.outputs, context.limits
    units = {name: spread.unit for one in sweep.points for name, spread in one.outputs.items()}
    heads = [f"{axis.name} [{axis.unit}]" if axis.unit else axis.name for axis in sweep.axes]
    for name in outputs:
        heads += [f"{name} {key} [{units[name]}]" for key in _QUANTILES]
        heads += [f"{name} {key} error [{units[name]}]" for key in _QUANTILES]
    heads += [f"P({name}){what}" for name in limits for what in ("", " error")]
    yield [*heads, "keeps", "efficient"]
    for one in sweep.points:
        cells: list[object] = list(one.at)
        for name in outputs:
            spread = one.outputs.get(name)
            cells += [""] * 6 if spread is None else [spread.p10, spread.p50, spread.p90, *spread.errors]
        for name in limits:
            chance = one.limits.get(name)
            cells += ["", ""] if chance is None else [chance.value, chance.error]
        yield [*cells, str(one.keeps).lower(), str(one.efficient).lower()]
