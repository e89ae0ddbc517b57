"""What `botec list` shows: shipped files, distribution families and estimators."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from uncertain_botec.library import PRIORS, parts, shipped

if TYPE_CHECKING:
    from rich.table import Table


class Kind(StrEnum):
    """What can be listed."""

    RUNS = "runs"
    ACCELERATORS = "accelerators"
    PRICES = "prices"
    PARTS = "parts"
    FAMILIES = "families"
    ESTIMATORS = "estimators"


@dataclass(frozen=True)
class Listing:
    """Named columns and rows of text; lists in `stacked` columns are printed one item below the other."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    stacked: tuple[str, ...] = ()

    def records(self) -> list[dict[str, str]]:
        """One mapping per row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def renderable(self) -> Table:
        """A table for a rich console."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for number, column in enumerate(self.columns):
            table.add_column(column, no_wrap=number == 0 or column in self.stacked, overflow="fold")
        for row in self.rows:
            # Names one below the other are not broken in two where the terminal is narrow.
            cells = (
                cell.replace(", ", ",\n") if column in self.stacked else cell
                for column, cell in zip(self.columns, row, strict=True)
            )
            table.add_row(*map(Text, cells))
        return table


def _read(kind: str, name: str) -> dict[str, Any]:
    with (PRIORS / kind / f"{name}.toml").open("rb") as stream:
        return tomllib.load(stream)


def _runs() -> Listing:
    rows = [(name, str(_read("runs", name)["title"])) for name in shipped("runs")]
    return Listing(("run", "title"), tuple(rows))


def _accelerators() -> Listing:
    rows = []
    for name in shipped("accelerators"):
        table = _read("accelerators", name)["accelerator"]
        peaks = table["peak_flop_per_s"]
        peak = next((f"{key} {peaks[key]}" for key in ("bf16", "fp16", "fp32") if key in peaks), "")
        known = "yes" if table.get("verified", True) else "no"
        rows.append((f"accelerators/{name}", peak, str(table.get("memory", "")), str(table.get("release", "")), known))
    return Listing(("include", "dense peak", "memory", "release", "verified"), tuple(rows))


def _prices() -> Listing:
    from uncertain_botec.vocabulary import PRICES

    rows = []
    for name in shipped("prices"):
        table = _read("prices", name)
        priced = sorted({key for kind in PRICES for key in table.get(kind, {})})
        rows.append((f"prices/{name}", str(table["title"]), ", ".join(priced or table.get("inputs", {}))))
    return Listing(("include", "title", "states"), tuple(rows))


def _parts() -> Listing:
    rows = []
    for kind in parts():
        if kind not in ("accelerators", "prices"):
            for name in shipped(kind):
                table = _read(kind, name)
                rows.append((f"{kind}/{name}", str(table["title"]), ", ".join(table.get("inputs", {}))))
    return Listing(("include", "title", "states"), tuple(rows), stacked=("states",))


def _families() -> Listing:
    from uncertain_botec.distributions import FAMILIES

    rows = [(family.name, family.summary, family.example) for family in FAMILIES.values()]
    return Listing(("family", "what it is", "example"), tuple(rows))


def _estimators() -> Listing:
    from uncertain_botec.choices import resolved, stated_by
    from uncertain_botec.estimators import ESTIMATORS

    choices = resolved({})
    stated = {name for choice, word in choices.items() for name in stated_by(choice, word)}
    rows = [
        (one.name, one.summary, ", ".join(one.plan(stated, choices).missing), ", ".join(one.required))
        for one in ESTIMATORS.values()
    ]
    return Listing(("estimator", "answers", "inputs", "outputs"), tuple(rows), stacked=("inputs", "outputs"))


_LISTINGS: Mapping[Kind, Callable[[], Listing]] = {
    Kind.RUNS: _runs,
    Kind.ACCELERATORS: _accelerators,
    Kind.PRICES: _prices,
    Kind.PARTS: _parts,
    Kind.FAMILIES: _families,
    Kind.ESTIMATORS: _estimators,
}


def listing(kind: Kind) -> Listing:
    """What is shipped of one kind."""
    return _LISTINGS[kind]()
