"""CSV files of people's own: read whole and checked for shape, so that no cell ends up under another heading."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from uncertain_botec.errors import Fault, PriorFileError

# Of faults of one kind so many are shown; a file of 100,000 bad rows is not answered with as many lines.
_SHOWN = 5

# Control characters other than tabs and ends of lines: a file in UTF-16 is full of them, and a terminal obeys some.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_END_OF_LINE = re.compile(r"\r\n|\r|\n")
# Some programs begin a UTF-8 file with it.
_BYTE_ORDER_MARK = "\ufeff"

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}

_EXPECTED = "UTF-8 text with commas between cells, and a first line of column names"
_SAVE = "save it as CSV in UTF-8, with commas between cells"


@dataclass(frozen=True)
class Sheet:
    """The cells of a CSV file.

    Attributes:
        names: of the columns, each its own.
        rows: the line at which each row ends in the file, and its cells, one for each column. Rows without any text,
            and headings that are there again, are left out.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]


class Collected:
    """Faults of one kind, of which the first few are shown and the others counted.

    Args:
        where: the file.
        column: what to call the place in a row.
        faults: where they are collected.
    """

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


def read_text(path: Path, where: str, most_bytes: int, *, too_large: str = "thin it out") -> str:
    """A file of text to the letter.

    Args:
        path: of the file, or of a pipe.
        where: what to call it.
        most_bytes: that it may have.
        too_large: what to do about a larger one.

    Raises:
        PriorFileError: it cannot be read, or is no text.
    """
    content = _content(path, where, most_bytes, too_large)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        raise _refusal(f"row {row} is not UTF-8 text", where, f"byte {content[error.start]:#04x}") from None
    if found := _CONTROL.search(text):
        row = len(_END_OF_LINE.findall(text, 0, found.start())) + 1
        raise _refusal(f"row {row} holds a character that is no text", where, f"{found[0]!a}")
    return text


def parse_sheet(text: str, where: str, *, lower: bool = True) -> Sheet:
    """The cells of the text of a CSV file.

    Args:
        text: of the file.
        where: what to call it.
        lower: whether names of columns are read without regard to case.

    Raises:
        PriorFileError: it is no CSV, or its rows do not go with its headings.
    """
    lines = _lines(text.removeprefix(_BYTE_ORDER_MARK), where)
    if not lines:
        raise _refusal("the file is empty", where, "nothing", fix="name a file with rows in it")
    number, first = lines[0]
    names = [cell.lower() if lower else cell for cell in first]
    _check_separator(first, where)
    faults: list[Fault] = []
    width = max((place + 1 for place, name in enumerate(names) if name), default=0)
    body = [(line, cells) for line, cells in lines[1:] if cells != first]
    _check_widths(body, width, where, faults)
    if "" in names[:width]:
        message = f"column {names.index('') + 1} has no name"
        faults.append(Fault(message, where, f"row {number}", ", ".join(names)[:200], "a name for each column", None))
    twice = sorted({name for name in names if name and names.count(name) > 1})
    faults += [
        Fault("two columns have one name", where, name, name, "one column of each name", "rename one of them")
        for name in twice
    ]
    if faults:
        raise PriorFileError(faults)
    return Sheet(tuple(names[:width]), tuple((line, tuple(cells[:width])) for line, cells in body))


def renamed(wanted: str, names: Iterable[str]) -> str | None:
    """What to do where a column is missing and another has nearly its name."""
    near = difflib.get_close_matches(wanted, [*names], n=1, cutoff=0.6)
    return f"rename the column `{near[0]}` to {wanted}" if near else None


def _refusal(message: str, where: str, got: str | None, expected: str = _EXPECTED, fix: str = _SAVE) -> PriorFileError:
    return PriorFileError([Fault(message, where, "$", got, expected, fix)])


def _content(path: Path, where: str, most_bytes: int, too_large: str) -> bytes:
    try:
        with path.open("rb") as stream:
            # Not by the size that the file system tells, which is 0 of a device without end.
            content = stream.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refusal(
            f"the file cannot be read: {reason}", where, None, "a CSV file", "name the file itself"
        ) from None
    if len(content) > most_bytes:
        expected = f"at most {most_bytes:,} bytes"
        raise _refusal("the file is too large", where, f"more than {most_bytes:,} bytes", expected, too_large)
    return content


def _lines(text: str, where: str) -> list[tuple[int, list[str]]]:
    """Every row that says anything, with the line at which it ends."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    found: list[tuple[int, list[str]]] = []
    began = 1
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                found.append((reader.line_num, stripped))
            began = reader.line_num + 1
    except csv.Error as error:
        fix = "close each quotation mark that is opened, and double those inside a cell"
        fault = Fault(f"cannot be read as CSV: {error}", where, f"row {began}", None, _EXPECTED, fix)
        raise PriorFileError([fault]) from None
    return found


def _check_separator(first: Sequence[str], where: str) -> None:
    """Refuse a file whose cells are kept apart by something else, which makes one long heading of all."""
    for mark, word in _SEPARATORS.items():
        if len(first) == 1 and mark in first[0]:
            fix = f"{_SAVE} and points in decimal numbers"
            message = f"the cells seem to be separated by {word}"
            raise _refusal(message, where, first[0][:80], "commas between cells", fix)


def _check_widths(rows: Sequence[tuple[int, Sequence[str]]], width: int, where: str, faults: list[Fault]) -> None:
    """A cell too many or too few puts what follows it under other headings; empty ones at the end do no harm."""
    bad = Collected(where, "cells", faults)
    fix = "put a cell that holds a comma, such as 40,000, in quotation marks, or write 40_000"
    for line, cells in rows:
        if len(cells) < width or any(cells[width:]):
            bad.add(line, "a row has another number of cells", f"{len(cells)}", f"{width}, as in the first line", fix)
    bad.close()
