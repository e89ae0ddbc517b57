"""Reading the progress log of a run: a CSV file to cumulative tokens over elapsed time, with every fault at once."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from uncertain_botec.csv_files import Collected, parse_sheet, read_text, renamed
from uncertain_botec.errors import Fault, PriorFileError
from uncertain_botec.library import did_you_mean
from uncertain_botec.units import UnitError, parse_quantity
from uncertain_botec.updating.cells import Column, Limit, instants, named, numbers, rule_out
from uncertain_botec.updating.ordering import arranged, check_falls, gaps, kept_tokens

Floats = npt.NDArray[np.float64]

MOST_BYTES = 1 << 26
"""Files up to 64 MiB are read, about two million rows; a thinned log says as much."""

_THIN = "keep one row an hour, or every hundredth: the forecast stays as it is"

LEAST_ROWS = 3

_ELAPSED = re.compile(r"elapsed(?:_(?P<unit>seconds?|minutes?|hours?|days?|weeks?))?")
# Each with the unit of plain numbers.
_OTHERS = {
    "tokens": ("tokens", Limit(1e18, "10^18 tokens")),
    "interruptions": ("count", Limit(1e9, "10^9", whole=True)),
    "accelerators": ("accelerators", Limit(1e9, "10^9 accelerators")),
    "cost": ("USD", Limit(1e15, "10^15 USD")),
}
_COLUMNS = ("time", "elapsed", "elapsed_days", "elapsed_hours", *_OTHERS)

# No run is over in less than a minute, and none takes longer than a hundred years.
_SHORTEST = 60.0
_YEAR = 365.25 * 86400
_LONGEST = Limit(100 * _YEAR, "100 years")


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
    try:
        text = read_text(Path(path), where, MOST_BYTES, too_large=_THIN)
        sheet = parse_sheet(text, where)
    except PriorFileError as error:
        raise ProgressLogError(error.faults) from None
    header, rows = sheet.names, [row for row, _ in sheet.rows]
    if unused := [name for name in header if name not in _COLUMNS and not _ELAPSED.fullmatch(name)]:
        notes.append(f"columns that are not used: {', '.join(unused)[:200]}")
    when = _time_column(header, where, faults)
    if "tokens" not in header:
        expected = "tokens (so far, such as 1.2e12 or 1.2T)"
        got = ", ".join(header)[:80]
        faults.append(Fault("a column is missing", where, "tokens", got, expected, renamed("tokens", header)))
    if when is None or faults:
        raise ProgressLogError(faults)
    columns = {
        name: Column([cells[place] for _, cells in sheet.rows], rows, name, where) for place, name in enumerate(header)
    }
    for name in (when, "tokens"):
        empty = Collected(where, name, faults)
        for place in [place for place, cell in enumerate(columns[name].cells) if not cell]:
            empty.add(rows[place], "a cell is empty", "nothing", "a value in every row", None)
        empty.close()
    if when == "time":
        seconds = instants(columns[when], faults)
    else:
        match = _ELAPSED.fullmatch(when)
        seconds = _elapsed(columns[when], match["unit"] if match else None, faults)
    values = {
        name: numbers(columns[name], unit, limit, faults) for name, (unit, limit) in _OTHERS.items() if name in columns
    }
    _check_positive(values, rows, where, faults)
    if faults:
        raise ProgressLogError(faults)
    log = _assemble(
        seconds, values, np.array(rows), when, where, hashlib.sha256(text.encode("utf-8")).hexdigest(), notes, faults
    )
    if log is None or faults:
        raise ProgressLogError(faults)
    return log


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


def _elapsed(column: Column, unit: str | None, faults: list[Fault]) -> Floats:
    if unit is not None:
        return numbers(column, unit, _LONGEST, faults)
    bad, values, unread = Collected(column.where, column.name, faults), np.full(len(column.cells), np.nan), set[int]()
    for place, cell in enumerate(column.cells):
        try:
            values[place] = parse_quantity(cell, "second") if cell else np.nan
        except UnitError as error:
            fix = error.fix and f"write {cell} day, or name the column elapsed_days"
            bad.add(column.rows[place], str(error), cell, "a time with its unit, such as 3.5 day", fix)
            unread.add(place)
    bad.close()
    rule_out(values, column, _LONGEST, faults, unread)
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
    found = arranged(seconds, values, rows, column=column, where=where, faults=faults)
    notes += found.notes
    order, when = found.order, found.seconds
    times = len(np.unique(when))
    if faults:
        return None
    if times < LEAST_ROWS:
        got = f"{times} {'row' if times == 1 else 'rows'} of different times"
        faults.append(Fault("too few rows to learn from", where, "$", got, f"at least {LEAST_ROWS}"))
    elif when[-1] - when[0] < _SHORTEST:
        got = f"{when[-1] - when[0]:.3g} seconds"
        faults.append(Fault("the log is over too soon to learn from", where, column, got, "at least a minute"))
    if faults:
        return None
    rows, tokens = rows[order], tokens[order]
    check_falls(tokens, rows, where, faults)
    kept = kept_tokens(tokens, rows, notes)
    gaps(when, rows, notes)
    if kept[-1] - kept[0] < 1:
        got, expected = f"{tokens[-1]:.6g} tokens", "tokens that rise"
        faults.append(Fault("the run makes no progress", where, "tokens", got, expected, "wait for the next rows"))
        return None
    accelerators = _filled(values["accelerators"][order]) if "accelerators" in values else None
    interruptions = _counted(values.get("interruptions"), order, rows, notes)
    if interruptions is not None and interruptions > (when[-1] - when[0]) / 60:
        message, got = "more interruptions than minutes", f"{interruptions:,.0f}"
        faults.append(Fault(message, where, "interruptions", got, "how many so far, in all", None))
    cost = _spent(values.get("cost"), order, rows, where, faults)
    origin = when[0] if column == "time" else 0.0
    since = when - origin
    if since[0] > 0 and kept[0] > 0:
        since, kept = np.append(0.0, since), np.append(0.0, kept)
        accelerators = None if accelerators is None else np.append(accelerators[0], accelerators)
    elif kept[0] > 0:
        before = float(kept[0] * (since[-1] - since[0]) / (kept[-1] - kept[0]))
        if before > _LONGEST.most:
            message = f"at its average speed the run took {before / _YEAR:.3g} years for the tokens of the first row"
            got = f"{tokens[0]:.6g} to {tokens[-1]:.6g} tokens"
            faults.append(Fault(message, where, f"row {rows[0]}, tokens", got, "tokens that rise", None))
            return None
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
