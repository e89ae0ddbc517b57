"""Published or private runs, as a CSV file states them: read and checked row by row, with all faults at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from uncertain_botec.calibration.rows import Row, Run
from uncertain_botec.csv_files import parse_sheet, read_text, renamed
from uncertain_botec.errors import Fault, PriorFileError
from uncertain_botec.library import PRIORS

PUBLISHED = PRIORS / "reference" / "published-runs.csv"
"""The shipped file."""

SHIPPED = "published"
"""What stands for it."""

REQUIRED = (
    "name",
    "publication_date",
    "arch",
    "active_params",
    "tokens",
    "accelerator",
    "accelerator_hours",
    "hours_basis",
)
"""The columns that a file has to have; others are read where they are there."""

MAX_BYTES = 1 << 25


@dataclass(frozen=True)
class Runs:
    """The runs of one file that a calibration can learn from.

    Attributes:
        kept: in the order of the file.
        left_out: the names of the others, by the reason.
        path: as the user named the file.
        text: of the file to the letter; nothing where the runs are not those of one file.
    """

    kept: tuple[Run, ...]
    left_out: Mapping[str, tuple[str, ...]]
    path: str
    text: str = field(default="", repr=False)


def read_runs(*paths: str | Path) -> Runs:
    """Read CSV files of runs, which are pooled if there are several.

    Rows whose column `calibration_set` says `no`, or nothing, are left out (where there is no such column, none is),
    and so are rows without hours.

    Args:
        paths: of the files, or "published" for the shipped one, which is read where none is named; columns are those of
            `REQUIRED`, and others of the shipped file.

    Returns:
        The runs that can be learnt from, and which were left out.

    Raises:
        PriorFileError: with every fault, each with its row and column; or a run is in two of the files.
    """
    return pooled([_read(Path(path)) for path in paths or (SHIPPED,)])


def _read(path: Path) -> Runs:
    path = PUBLISHED if str(path) == SHIPPED else path
    # The shipped file is named as an include would name it, wherever it is installed.
    where = "reference/published-runs.csv" if path == PUBLISHED else str(path)
    return parse_runs(read_text(path, where, MAX_BYTES), where)


def parse_runs(text: str, where: str) -> Runs:
    """As `read_runs`, from the text of a file.

    Args:
        text: of the file.
        where: what faults call it.
    """
    sheet = parse_sheet(text, where)
    names = sheet.names
    faults: list[Fault] = []
    lacking = [name for name in REQUIRED if name not in names]
    if len(lacking) == len(REQUIRED):
        message, fix = "the first line names none of the columns", "begin the file with a line of their names"
        raise PriorFileError([Fault(message, where, "row 1", ", ".join(names)[:200], ", ".join(REQUIRED), fix)])
    if lacking:
        for name in lacking:
            fix = renamed(name, names) or f"add a column {name}; docs/reference-class.md describes all of them"
            faults.append(
                Fault("a column is missing", where, f"column {name}", ", ".join(names)[:200] or "nothing", name, fix)
            )
        raise PriorFileError(faults)
    kept: list[Run] = []
    left_out: dict[str, list[str]] = {}
    seen: dict[str, int] = {}
    for number, cells in sheet.rows:
        row = dict(zip(names, cells, strict=True))
        read = Row(row, number, where, faults)
        reason = read.unfit()
        if reason is not None:
            left_out.setdefault(reason, []).append(row.get("name") or f"row {number}")
            continue
        run = read.run()
        if run is None:
            continue
        if run.name in seen:
            message = f"this run is there twice, in row {seen[run.name]} too"
            fix = "take one out, or give them different names"
            faults.append(Fault(message, where, f"row {number}, column name", run.name, "a name of its own", fix))
        seen[run.name] = number
        kept.append(run)
    if faults:
        raise PriorFileError(faults)
    return Runs(tuple(kept), {reason: tuple(some) for reason, some in left_out.items()}, where, text)


def pooled(files: Sequence[Runs]) -> Runs:
    """The runs of several files as those of one.

    Raises:
        PriorFileError: a run is in two of them.
    """
    if len(files) == 1:
        return files[0]
    seen: dict[str, str] = {}
    faults: list[Fault] = []
    for file in files:
        for run in file.kept:
            if run.name in seen:
                message = f"this run is in {seen[run.name]} too"
                path = f"row {run.row}, column name"
                faults.append(Fault(message, file.path, path, run.name, "each run once", "take one of them out"))
            seen.setdefault(run.name, file.path)
    if faults:
        raise PriorFileError(faults)
    left_out: dict[str, tuple[str, ...]] = {}
    for file in files:
        for reason, names in file.left_out.items():
            left_out[reason] = (*left_out.get(reason, ()), *names)
    kept = tuple(run for file in files for run in file.kept)
    return Runs(kept, left_out, ", ".join(file.path for file in files))


__all__ = ["PUBLISHED", "REQUIRED", "SHIPPED", "Run", "Runs", "parse_runs", "pooled", "read_runs"]
