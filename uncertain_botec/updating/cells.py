"""The cells of a progress log: columns of text to numbers in base units, with every fault collected by row."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.errors import Fault
from uncertain_botec.units import UnitError, parse_quantity

Floats = npt.NDArray[np.float64]

# Of faults of one kind in one column so many are shown; a log of 100,000 bad rows is not answered with as many lines.
_SHOWN = 5


def numbers(
    cells: Sequence[str], rows: Sequence[int], column: str, unit: str, where: str, faults: list[Fault]
) -> Floats:
    """A column as numbers in base units; nan where a cell is empty or at fault.

    Args:
        cells: the texts, stripped.
        rows: the number of each row in the file, for faults.
        column: what the file calls it.
        unit: of plain numbers, such as `tokens`.
        where: the file.
        faults: where they are collected.
    """
    factor = parse_quantity(f"1 {unit}", unit)
    values = np.full(len(cells), np.nan)
    try:
        # Plain numbers are read all at once: a log may have 100,000 rows.
        values = np.array(cells, dtype=np.float64) * factor
    except ValueError:
        bad = Collected(where, column, faults)
        for number, cell in enumerate(cells):
            if cell:
                try:
                    values[number] = _number(cell, unit, factor)
                except UnitError as error:
                    example = "1.2e12 or 1.2T" if unit == "tokens" else f"a number, or one with its unit ({unit})"
                    bad.add(rows[number], str(error), cell, example, error.fix)
        bad.close()
    bad = Collected(where, column, faults)
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        if _unreal(cells[place]):
            bad.add(rows[place], "a number is not finite", cells[place], "a finite number", None)
    for place in np.flatnonzero(values < 0).tolist():
        bad.add(rows[place], "a number is negative", cells[place], "0 or more", None)
    bad.close()
    return values


def _unreal(cell: str) -> bool:
    try:
        return not math.isfinite(float(cell.split()[0])) if cell else False
    except ValueError:
        return False


def _number(cell: str, unit: str, factor: float) -> float:
    try:
        return float(cell) * factor
    except ValueError:
        return parse_quantity(cell, unit)


def instants(cells: Sequence[str], rows: Sequence[int], column: str, where: str, faults: list[Fault]) -> Floats:
    """A column of ISO 8601 dates as seconds since 1970; those without a zone are taken for UTC."""
    bad, zones = Collected(where, column, faults), Collected(where, column, faults)
    values = np.full(len(cells), np.nan)
    zoned: bool | None = None
    for place, cell in enumerate(cells):
        if not cell:
            continue
        try:
            instant = datetime.datetime.fromisoformat(cell)
        except ValueError:
            fix = "name the column elapsed_days if these are days since the start" if _is_number(cell) else None
            bad.add(rows[place], "this is not an ISO 8601 date", cell, "2026-03-01 or 2026-03-01T12:00:00Z", fix)
            continue
        has = instant.tzinfo is not None
        zoned = has if zoned is None else zoned
        if has != zoned:
            expected = "a time zone in every row, or in none"
            zones.add(rows[place], "some dates have a time zone and some have none", cell, expected, None)
            continue
        values[place] = (instant if has else instant.replace(tzinfo=datetime.UTC)).timestamp()
    bad.close()
    zones.close()
    return values


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


class Collected:
    """Faults of one kind in one column, of which the first few are shown and the others counted."""

    def __init__(self, where: str, column: str, faults: list[Fault]) -> None:
        self._make: Callable[..., Fault] = lambda row, *rest: Fault(rest[0], where, f"row {row}, {column}", *rest[1:])
        self._where, self._column, self._faults = where, column, faults
        self._more: list[int] = []
        self._seen = 0

    def add(self, row: int, message: str, got: str, expected: str, fix: str | None) -> None:
        """A fault in a row."""
        self._seen += 1
        if self._seen <= _SHOWN:
            self._faults.append(self._make(row, message, got[:60], expected, fix))
        else:
            self._more.append(row)

    def close(self) -> None:
        """Say how many more there were."""
        if self._more:
            message = f"{len(self._more):,} more rows have such faults, from row {self._more[0]} on"
            self._faults.append(Fault(message, self._where, self._column))


def named(rows: Sequence[Any]) -> str:
    """Row numbers for a note: all of a few, else the first ones and how many there are."""
    shown = ", ".join(str(row) for row in rows[:5])
    word = "row" if len(rows) == 1 else "rows"
    return f"{word} {shown}" + (f" and {len(rows) - 5:,} more" if len(rows) > 5 else "")
