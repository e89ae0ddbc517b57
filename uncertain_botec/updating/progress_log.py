"""Reading the progress log of a run: a CSV file to cumulative tokens over elapsed time, with every fault at once."""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from uncertain_botec.errors import Fault, PriorFileError
from uncertain_botec.library import did_you_mean
from uncertain_botec.units import UnitError, parse_quantity
from uncertain_botec.updating.cells import Collected, instants, named, numbers
from uncertain_botec.updating.ordering import arranged, gaps, kept_tokens

Floats = npt.NDArray[np.float64]

MOST_BYTES = 1 << 26
"""Files up to 64 MiB are read, about two million rows; a thinned log says as much."""

LEAST_ROWS = 3

_ELAPSED = re.compile(r"elapsed(?:_(?P<unit>seconds?|minutes?|hours?|days?|weeks?))?")
_OTHERS = ("tokens", "interruptions", "accelerators", "cost")
_COLUMNS = ("time", "elapsed", "elapsed_days", "elapsed_hours", *_OTHERS)
_UNITS = {"interruptions": "count", "accelerators": "accelerators", "cost": "USD"}


class ProgressLogError(PriorFileError):
    """Every fault of a progress log."""


@dataclass(frozen=True, eq=False)
class ProgressLog:
    """What a run has done so far.

    Attributes:
        seconds: time since the start of the run, ascending, of shape (rows,).
        tokens: that were not lost later (see `kept_tokens`), ascending, of shape (rows,).
        accelerators: in use from each row on, of shape (rows,); None where the log does not say.
        interruptions: how many in all, or None.
        cost: USD spent so far, or None.
        start: when the run started, where the log has dates; without a zone where they have none.
        path: as the user named it.
        sha256: of the file's bytes.
        notes: what was done to the rows.
    """

    seconds: Floats
    tokens: Floats
    accelerators: Floats | None
    interruptions: float | None
    cost: float | None
    start: datetime.datetime | None
    path: str
    sha256: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def elapsed(self) -> float:
        """Seconds from the start of the run to the last row."""
        return float(self.seconds[-1])

    @property
    def done(self) -> float:
        """Tokens at the last row."""
        return float(self.tokens[-1])

    @property
    def lost(self) -> float:
        """Seconds in which no token was added that was kept: standstills, and work that a rollback lost."""
        return float(np.diff(self.seconds)[np.diff(self.tokens) <= 0].sum())

    @property
    def accelerator_seconds(self) -> float | None:
        """Accelerators times time so far, where the log says how many; before its first row as in it."""
        if self.accelerators is None:
            return None
        inside = float(np.sum(self.accelerators[:-1] * np.diff(self.seconds)))
        return inside + float(self.accelerators[0] * self.seconds[0])


def read_log(path: str | Path) -> ProgressLog:
    """Read a progress log.

    Args:
        path: of a CSV file in UTF-8 with the columns `time` (ISO 8601 dates) or `elapsed` (values with a unit such as
            "3.5 day"; plain numbers under `elapsed_days` or `elapsed_hours`), and `tokens` (cumulative); perhaps
            `interruptions` (cumulative), `accelerators` (in use from the row on) and `cost` (USD so far).

    Returns:
        The log in the order of time, with notes on what was done to its rows.

    Raises:
        ProgressLogError: with every fault found, each with its row and column.
    """
    where, faults, notes = str(path), list[Fault](), list[str]()
    content, sha256 = _content(Path(path), where)
    header, cells, rows = _table(content, where, notes)
    when = _time_column(header, where, faults)
    if "tokens" not in header:
        got = ", ".join(header)[:80] or "nothing"
        faults.append(Fault("a column is missing", where, "tokens", got, "tokens", did_you_mean("tokens", header)))
    if when is None or faults:
        raise ProgressLogError(faults)
    columns = {name: [row[place].strip() for row in cells] for place, name in enumerate(header)}
    for name in (when, "tokens"):
        empty = Collected(where, name, faults)
        for place in [place for place, cell in enumerate(columns[name]) if not cell]:
            empty.add(rows[place], "a cell is empty", "nothing", "a value in every row", None)
        empty.close()
    if when == "time":
        seconds = instants(columns[when], rows, when, where, faults)
    else:
        match = _ELAPSED.fullmatch(when)
        seconds = _elapsed(columns[when], rows, when, match["unit"] if match else None, where, faults)
    values = {
        name: numbers(columns[name], rows, name, _UNITS.get(name, name), where, faults)
        for name in _OTHERS
        if name in columns
    }
    _check_positive(values, rows, where, faults)
    if faults:
        raise ProgressLogError(faults)
    log = _assemble(seconds, values, np.array(rows), when, where, sha256, notes, faults)
    if log is None or faults:
        raise ProgressLogError(faults)
    return log


def _content(path: Path, where: str) -> tuple[str, str]:
    def refuse(message: str, got: str, expected: str, fix: str | None = None) -> ProgressLogError:
        return ProgressLogError([Fault(message, where, "$", got, expected, fix)])

    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            fix = "keep one row an hour, or every hundredth: the forecast stays as it is"
            raise refuse("the log is too large", f"{size:,} bytes", f"at most {MOST_BYTES:,} bytes", fix)
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise refuse(f"the log cannot be read: {error}", where, "a CSV file") from None
    if not content.strip():
        raise refuse("the log is empty", "nothing", "a line of column names and at least 3 rows")
    try:
        return content.decode("utf-8-sig"), hashlib.sha256(content).hexdigest()
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        raise refuse(f"row {row} is not UTF-8 text", f"byte {content[error.start]:#04x}", "UTF-8") from None


def _table(content: str, where: str, notes: list[str]) -> tuple[list[str], list[list[str]], list[int]]:
    """Column names, rows of cells and the number of each row in the file."""
    reader = csv.reader(io.StringIO(content, newline=""))
    faults: list[Fault] = []
    cells: list[list[str]] = []
    rows: list[int] = []
    header: list[str] = []
    bad = Collected(where, "cells", faults)
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if not header:
                header = [name.strip().lower() for name in row]
            elif len(row) != len(header):
                bad.add(reader.line_num, "a row has another number of cells", str(len(row)), str(len(header)), None)
            else:
                cells.append(row)
                rows.append(reader.line_num)
    except csv.Error as error:
        faults.append(Fault(f"cannot be read as CSV: {error}", where, f"row {reader.line_num}"))
    bad.close()
    twice = sorted({name for name in header if header.count(name) > 1})
    faults += [Fault("two columns have one name", where, name, name, "one column of each name") for name in twice]
    unknown = [name for name in header if name not in _COLUMNS and not _ELAPSED.fullmatch(name)]
    if unknown:
        notes.append(f"columns that are not used: {', '.join(unknown)[:200]}")
    if faults:
        raise ProgressLogError(faults)
    return header, cells, rows


def _time_column(header: Sequence[str], where: str, faults: list[Fault]) -> str | None:
    """The column of times: exactly one of `time` and `elapsed...`."""
    found = [name for name in header if name == "time" or _ELAPSED.fullmatch(name)]
    if len(found) == 1:
        return found[0]
    expected = "one of time (ISO 8601 dates), elapsed (such as 3.5 day), elapsed_days, elapsed_hours"
    message = "the time is stated twice" if found else "a column is missing"
    got = ", ".join(found or header)[:80] or "nothing"
    faults.append(Fault(message, where, "time", got, expected, None if found else _time_fix(header)))
    return None


def _time_fix(header: Sequence[str]) -> str | None:
    for name in header:
        if near := did_you_mean(name, _COLUMNS[:4]):
            return f"{name}: {near}"
    return None


def _elapsed(
    cells: Sequence[str], rows: Sequence[int], column: str, unit: str | None, where: str, faults: list[Fault]
) -> Floats:
    if unit is not None:
        return numbers(cells, rows, column, unit, where, faults)
    plain, bad, values = Collected(where, column, faults), Collected(where, column, faults), np.full(len(cells), np.nan)
    for place, cell in enumerate(cells):
        try:
            values[place] = parse_quantity(cell, "second") if cell else np.nan
        except UnitError as error:
            fix = error.fix and f"write {cell} day, or name the column elapsed_days"
            bad.add(rows[place], str(error), cell, "a time with its unit, such as 3.5 day", fix)
    for number in np.flatnonzero(np.isinf(values) | (values < 0)).tolist():
        plain.add(rows[number], "a time is negative or not finite", cells[number], "0 or more", None)
    bad.close()
    plain.close()
    return values


def _check_positive(values: dict[str, Floats], rows: Sequence[int], where: str, faults: list[Fault]) -> None:
    if "accelerators" in values:
        bad = Collected(where, "accelerators", faults)
        for place in np.flatnonzero(values["accelerators"] == 0).tolist():
            fix = "for a standstill leave the cell empty and repeat the tokens"
            bad.add(rows[place], "no accelerators are in use", "0", "more than 0", fix)
        bad.close()


def _assemble(
    seconds: Floats,
    values: dict[str, Floats],
    rows: npt.NDArray[np.int64],
    column: str,
    where: str,
    sha256: str,
    notes: list[str],
    faults: list[Fault],
) -> ProgressLog | None:
    """The log, or None after adding faults."""
    tokens = values["tokens"]
    found = arranged(seconds, tokens, rows, column=column, where=where, faults=faults)
    notes += found.notes
    order, when = found.order, found.seconds
    if len(order) < LEAST_ROWS:
        got = f"{len(order)} useful {'row' if len(order) == 1 else 'rows'}"
        faults.append(Fault("too few rows to learn from", where, "$", got, f"at least {LEAST_ROWS}"))
    if faults:
        return None
    rows, tokens = rows[order], tokens[order]
    kept = kept_tokens(tokens, rows, notes)
    gaps(when, rows, notes)
    if not kept[-1] > kept[0]:
        faults.append(
            Fault("the run makes no progress", where, "tokens", f"{tokens[-1]:.6g} tokens", "tokens that rise")
        )
        return None
    accelerators = _filled(values["accelerators"][order]) if "accelerators" in values else None
    interruptions = _counted(values.get("interruptions"), order, rows, notes)
    cost = _spent(values.get("cost"), order, rows, where, faults)
    origin = when[0] if column == "time" else 0.0
    since = when - origin
    if since[0] > 0 and kept[0] > 0:
        since, kept = np.append(0.0, since), np.append(0.0, kept)
        accelerators = None if accelerators is None else np.append(accelerators[0], accelerators)
    elif kept[0] > 0:
        before = float(kept[0] * (since[-1] - since[0]) / (kept[-1] - kept[0]))
        since, origin = since + before, origin - before
        said = f"the log begins at {tokens[0]:.4g} tokens"
        notes.append(f"{said}: the {before / 86400:.3g} days before are reckoned at its average speed")
    start = None
    if column == "time":
        start = datetime.datetime.fromtimestamp(float(origin), datetime.UTC)
    for array in (since, kept):
        array.setflags(write=False)
    return ProgressLog(since, kept, accelerators, interruptions, cost, start, where, sha256, tuple(notes))


def _filled(values: Floats) -> Floats | None:
    """Empty cells as in the row before, those before the first number as in that."""
    known = np.flatnonzero(~np.isnan(values))
    if not len(known):
        return None
    last = np.maximum.accumulate(np.where(np.isnan(values), known[0], np.arange(len(values))))
    return np.asarray(values[np.maximum(last, known[0])])


def _counted(
    values: Floats | None, order: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], notes: list[str]
) -> float | None:
    """Interruptions in all; a counter that falls has started over at 0."""
    filled = None if values is None else _filled(values[order])
    if filled is None:
        return None
    steps = np.diff(filled)
    falls = np.flatnonzero(steps < 0)
    if len(falls):
        notes.append(f"{named(rows[falls + 1].tolist())}: the count of interruptions starts over, so it is counted on")
    return float(filled[0] + np.where(steps < 0, filled[1:], steps).sum())


def _spent(
    values: Floats | None,
    order: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    where: str,
    faults: list[Fault],
) -> float | None:
    filled = None if values is None else _filled(values[order])
    if filled is None:
        return None
    bad = Collected(where, "cost", faults)
    for place in 1 + np.flatnonzero(np.diff(filled) < 0):
        least = f"at least {filled[place - 1]:,.6g}"
        bad.add(int(rows[place]), "the cost so far falls", f"{filled[place]:,.6g}", least, None)
    bad.close()
    return float(filled[-1])
