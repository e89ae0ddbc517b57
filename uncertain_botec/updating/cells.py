"""The cells of a progress log: columns of text to numbers in base units, with every fault collected by row."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from uncertain_botec.csv_files import Collected
from uncertain_botec.errors import Fault
from uncertain_botec.units import UnitError, parse_quantity

Floats = npt.NDArray[np.float64]

# Clocks that were not set tell 1970.
_YEARS = range(2000, 2101)


class Limit(NamedTuple):
    """What a column's numbers can be; more is a mistake of units or of powers of ten.

    Attributes:
        most: in base units.
        words: the same for people.
        whole: whether they count something.
    """

    most: float
    words: str
    whole: bool = False


class Column(NamedTuple):
    """A column of a log.

    Attributes:
        cells: the texts, stripped.
        rows: the number of each row in the file.
        name: what the file calls it.
        where: the file.
    """

    cells: Sequence[str]
    rows: Sequence[int]
    name: str
    where: str


def numbers(column: Column, unit: str, limit: Limit, faults: list[Fault]) -> Floats:
    """A column as numbers in base units; nan where a cell is empty or at fault.

    Args:
        column: to be read.
        unit: of plain numbers, such as `tokens`.
        limit: of the numbers.
        faults: where they are collected.
    """
    factor = parse_quantity(f"1 {unit}", unit)
    values = np.full(len(column.cells), np.nan)
    unread: set[int] = set()
    try:
        # Plain numbers are read all at once: a log may have 100,000 rows.
        values = np.array(column.cells, dtype=np.float64) * factor
    except ValueError:
        bad = Collected(column.where, column.name, faults)
        for place, cell in enumerate(column.cells):
            if cell:
                try:
                    values[place] = _number(cell, unit, factor)
                except UnitError as error:
                    example = "1.2e12 or 1.2T" if unit == "tokens" else f"a number, or one with its unit ({unit})"
                    bad.add(column.rows[place], str(error), cell, example, error.fix)
                    unread.add(place)
        bad.close()
    rule_out(values, column, limit, faults, unread)
    return values


def _number(cell: str, unit: str, factor: float) -> float:
    try:
        return float(cell) * factor
    except ValueError:
        return parse_quantity(cell, unit)


def rule_out(values: Floats, column: Column, limit: Limit, faults: list[Fault], unread: Set[int]) -> None:
    """Add a fault for each number that cannot be, but none for cells that were not read."""
    right = (values >= 0) & (values <= limit.most) & ((values == np.floor(values)) | (not limit.whole))
    bad = Collected(column.where, column.name, faults)
    for place in np.flatnonzero(~right).tolist():
        if column.cells[place] and place not in unread:
            message, expected = _wrong(float(values[place]), limit)
            bad.add(column.rows[place], message, column.cells[place], expected, None)
    bad.close()


def _wrong(value: float, limit: Limit) -> tuple[str, str]:
    if not math.isfinite(value):
        return "a number is not finite", "a finite number"
    if value < 0:
        return "a number is negative", "0 or more"
    if value > limit.most:
        return "this number cannot be right", f"at most {limit.words}"
    return "a count is not whole", "a whole number"


def instants(column: Column, faults: list[Fault]) -> Floats:
    """A column of ISO 8601 dates as seconds since 1970; those without a zone are taken for UTC."""
    bad, zones = (Collected(column.where, column.name, faults) for _ in range(2))
    values = np.full(len(column.cells), np.nan)
    zoned: bool | None = None
    for place, cell in enumerate(column.cells):
        if not cell:
            continue
        row = column.rows[place]
        try:
            instant = datetime.datetime.fromisoformat(cell)
        except ValueError:
            bad.add(row, "this is not an ISO 8601 date", cell, "2026-03-01 or 2026-03-01T12:00:00Z", _date_fix(cell))
            continue
        if instant.year not in _YEARS:
            bad.add(row, "this date cannot be right", cell, f"a year from {_YEARS[0]} to {_YEARS[-1]}", None)
            continue
        has = instant.tzinfo is not None
        zoned = has if zoned is None else zoned
        if has != zoned:
            expected = "a time zone in every row, or in none"
            zones.add(row, "some dates have a time zone and some have none", cell, expected, None)
            continue
        values[place] = (instant if has else instant.replace(tzinfo=datetime.UTC)).timestamp()
    bad.close()
    zones.close()
    return values


def _date_fix(cell: str) -> str:
    try:
        float(cell)
    except ValueError:
        return "write year, month and day in this order, and the time zone as Z or +01:00"
    return "name the column elapsed_days, elapsed_hours or elapsed_seconds if this is time since the start"


def named(rows: Sequence[Any]) -> str:
    """Row numbers for a note: all of a few, else the first ones and how many there are."""
    shown = ", ".join(str(row) for row in rows[:5])
    word = "row" if len(rows) == 1 else "rows"
    return f"{word} {shown}" + (f" and {len(rows) - 5:,} more" if len(rows) > 5 else "")
