"""Published or private runs, as a CSV file states them: read and checked row by row, with all faults at once."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from uncertain_botec.errors import Fault, PriorFileError
from uncertain_botec.library import PRIORS, did_you_mean
from uncertain_botec.reference.accelerators import Part, parts, plain, years
from uncertain_botec.reference.subject import Subject
from uncertain_botec.units import UnitError, parse_quantity

PUBLISHED = PRIORS / "reference" / "published-runs.csv"
"""The shipped file."""

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

KINDS = ("dense", "moe", "ssm")

COUNTED = ("reported", "rate_per_token", "energy")
"""Hours that somebody counted or measured."""

ROUGH = ("nxwall", "bound_upper")
"""Hours that are accelerators times stated days, or a bound."""

MAX_BYTES = 1 << 25

# How far n accelerators times the stated days may lie from the stated hours: counts are maxima and days are rounded.
_CONTRADICTION = 3.0

# A run outside of these is a mistake of units: from a tenth of what a perfect machine takes to a hundred times.
_FASTEST, _SLOWEST = math.log(0.4), math.log(40.0)


@dataclass(frozen=True)
class Run:
    """One finished run.

    Attributes:
        name: of the model.
        organisation: that trained it; "" where unknown.
        subject: what the reference class knows it by.
        hours: accelerator-hours that it took.
        step_mfu: its published MFU while stepping, or None.
        accelerators: how many, or None.
        days: stated wall-clock days, or None.
        price: USD per accelerator-hour, or None.
        cost: published USD, or None.
        date: of publication, YYYY-MM.
        accelerator: as a shipped file calls it.
        row: its line in the file.
    """

    name: str
    organisation: str
    subject: Subject
    hours: float
    step_mfu: float | None
    accelerators: float | None
    days: float | None
    price: float | None
    cost: float | None
    date: str
    accelerator: str
    row: int

    @property
    def log_excess(self) -> float:
        """y = ln(h / h_40), of the hours over those at 40 % of the 16-bit peak."""
        return math.log(self.hours * 3600 / self.subject.usual_time)


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


def read_runs(path: str | Path = PUBLISHED) -> Runs:
    """Read a CSV file of runs.

    Rows whose column `calibration_set` is not `yes` are left out (where there is no such column, none is), and so are
    rows without hours.

    Args:
        path: of the file; columns are those of `REQUIRED`, and others of the shipped file.

    Returns:
        The runs that can be learnt from, and which were left out.

    Raises:
        PriorFileError: with every fault, each with its row and column.
    """
    path = Path(path)
    # The shipped file is named as an include would name it, wherever it is installed.
    where = "reference/published-runs.csv" if path == PUBLISHED else str(path)
    return parse_runs(_text(path, where), where)


def parse_runs(text: str, where: str) -> Runs:
    """As `read_runs`, from the text of a file.

    Args:
        text: of the file.
        where: what faults call it.
    """
    names, rows = _table(text, where)
    faults: list[Fault] = []
    if lacking := [name for name in REQUIRED if name not in names]:
        for name in lacking:
            fix = did_you_mean(name, names) or f"add a column {name}; docs/reference-class.md describes all of them"
            faults.append(
                Fault("a column is missing", where, f"column {name}", ", ".join(names)[:200] or "nothing", name, fix)
            )
        raise PriorFileError(faults)
    kept: list[Run] = []
    left_out: dict[str, list[str]] = {}
    seen: dict[str, int] = {}
    for number, row in rows:
        reason = _unfit(row, names)
        if reason is not None:
            left_out.setdefault(reason, []).append(row.get("name") or f"row {number}")
            continue
        run = _Row(row, number, where, faults).run()
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


_EXPECTED = f"UTF-8 text with commas, and a first line with at least {', '.join(REQUIRED)}"

# Some programs begin a UTF-8 file with it.
_BYTE_ORDER_MARK = "\ufeff"


def _text(path: Path, where: str) -> str:
    """The file to the letter."""
    try:
        if path.stat().st_size > MAX_BYTES:
            got = f"{path.stat().st_size:,} bytes"
            fault = Fault("the file is too large", where, "$", got, f"at most {MAX_BYTES:,} bytes", "thin it out")
            raise PriorFileError([fault])
        return path.read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        raise _unreadable(where, error) from None


def _unreadable(where: str, error: Exception) -> PriorFileError:
    fix = "docs/reference-class.md has an example"
    return PriorFileError([Fault(f"cannot be read: {error}", where, "$", None, _EXPECTED, fix)])


def _table(text: str, where: str) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """The names of the columns, and each row with its line; what is beyond the last column is dropped."""
    try:
        reader = csv.reader(io.StringIO(text.removeprefix(_BYTE_ORDER_MARK), newline=""), strict=True)
        lines = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise _unreadable(where, error) from None
    if not lines:
        raise PriorFileError([Fault("the file is empty", where, "$", "nothing", _EXPECTED, "put one run in each row")])
    names = [cell.strip() for cell in lines[0][1]]
    rows = (
        (number, {name: cell.strip() for name, cell in zip(names, cells, strict=False)}) for number, cells in lines[1:]
    )
    return names, rows


def _unfit(row: Mapping[str, str], names: Sequence[str]) -> str | None:
    """Why a row is not learnt from though nothing is wrong with it."""
    if "calibration_set" in names and row.get("calibration_set", "").lower() != "yes":
        return "not in the calibration set"
    if not row.get("accelerator_hours"):
        return "no accelerator-hours"
    return None


@dataclass
class _Row:
    """One row while it is read; faults are added."""

    cells: Mapping[str, str]
    number: int
    where: str
    faults: list[Fault]

    def fault(self, message: str, column: str, expected: str, fix: str) -> None:
        path = f"row {self.number}, column {column}"
        got = self.cells.get(column) or "nothing"
        self.faults.append(Fault(message, self.where, path, got[:200], expected, fix))

    def run(self) -> Run | None:
        before = len(self.faults)
        name = self.text("name")
        kind = self.word("arch", KINDS)
        basis = self.word("hours_basis", (*COUNTED, *ROUGH))
        published = self.read("publication_date", years, "a month, YYYY-MM", "state the month of publication")
        part = self.part()
        parameters = self.number_in("active_params", "parameters", 1e5, 1e15)
        tokens = self.number_in("tokens", "tokens", 1e6, 1e17)
        hours = self.number_in("accelerator_hours", "accelerator-hours", 1e-2, 1e12, scale=3600.0)
        accelerators = self.number_in("n_accelerators", "count", 1, 1e8, needed=False)
        days = self.number_in("wallclock_days", "days", 1e-3, 1e4, needed=False, scale=86400.0)
        price = self.number_in("price_per_accelerator_hour_usd", None, 1e-3, 1e4, needed=False)
        cost = self.number_in("cost_usd_published", None, 1e-3, 1e13, needed=False)
        step_mfu = self.step_mfu(part)
        if published is not None and part is not None and published < part.release - 1:
            message = f"published more than a year before {part.name} was released"
            expected = f"{int(part.release)} or later"
            self.fault(message, "publication_date", expected, "correct the date or the accelerator")
        if name is None or kind is None or basis is None or published is None or part is None:
            return None
        if parameters is None or tokens is None or hours is None or len(self.faults) > before:
            return None
        subject = Subject(
            parameters=parameters,
            tokens=tokens,
            peak_flop_per_s=part.peak_flop_per_s,
            generation=part.generation,
            age=published - part.release,
            kind=kind,
            fp8=self.cells.get("precision", "").lower() == "fp8",
            rough=basis in ROUGH,
        )
        run = Run(
            name=name,
            organisation=self.cells.get("organisation", ""),
            subject=subject,
            hours=hours,
            step_mfu=step_mfu,
            accelerators=accelerators,
            days=days,
            price=price,
            cost=cost,
            date=self.cells["publication_date"],
            accelerator=part.name,
            row=self.number,
        )
        return run if self.makes_sense(run) else None

    def text(self, column: str) -> str | None:
        if text := self.cells.get(column):
            return text
        self.fault("nothing is stated", column, "a text", f"fill in {column}")
        return None

    def word(self, column: str, known: Sequence[str]) -> str | None:
        word = self.cells.get(column, "").lower()
        if word in known:
            return word
        fix = did_you_mean(word, known) or "use one of these, or set calibration_set to no"
        self.fault("unknown word", column, f"one of {', '.join(known)}", fix)
        return None

    def read(self, column: str, reader: Callable[[str], float], expected: str, fix: str) -> float | None:
        try:
            return reader(self.cells.get(column, ""))
        except ValueError:
            self.fault("this cannot be read", column, expected, fix)
            return None

    def part(self) -> Part | None:
        name = self.text("accelerator")
        if name is None:
            return None
        if (part := parts().get(plain(name))) is not None:
            return part
        known = sorted({part.name for part in parts().values()})
        fix = did_you_mean(name.lower(), known) or "name one of these, or add priors/accelerators/NAME.toml"
        self.fault("unknown accelerator", "accelerator", f"one of {', '.join(known)}", fix)
        return None

    def number_in(
        self, column: str, unit: str | None, low: float, high: float, *, needed: bool = True, scale: float = 1.0
    ) -> float | None:
        """A number, with or without a unit, between bounds that only a mistake of units or of powers of ten exceeds."""
        text = self.cells.get(column, "")
        if not text and not needed:
            return None
        try:
            value = float(text)
        except ValueError:
            try:
                value = parse_quantity(text, unit or "USD") / scale
            except UnitError:
                value = math.nan
        if low <= value <= high:
            return value
        what = "a number" + (f" of {unit.replace('accelerator-', '')}" if unit else "")
        expected = f"{what} from {low:g} to {high:g}"
        fix = "leave the cell empty if it is unknown" if not needed else "correct it, or set calibration_set to no"
        message = "this is not a number" if math.isnan(value) else "this number cannot be right"
        self.fault(message, column, expected, fix)
        return None

    def step_mfu(self, part: Part | None) -> float | None:
        """The published MFU while stepping, or else what follows from HFU or TFLOP/s.

        With full recomputation of activations three quarters of hardware FLOP are model FLOP (arXiv 2205.05198,
        section 5).
        """
        useful = 0.75 if self.cells.get("activation_recompute", "").lower() == "yes" else 1.0
        mfu = self.number_in("mfu_published", None, 0.005, 1, needed=False)
        hfu = self.number_in("hfu_published", None, 0.005, 1, needed=False)
        rate = self.number_in("tflops_per_accelerator_published", None, 0.1, 1e5, needed=False)
        if mfu is not None:
            return mfu
        if hfu is not None:
            return hfu * useful
        return rate * 1e12 * useful / part.peak_flop_per_s if rate is not None and part is not None else None

    def makes_sense(self, run: Run) -> bool:
        """Whether hours go with the work and with n x days."""
        before = len(self.faults)
        if not _FASTEST <= run.log_excess <= _SLOWEST:
            mfu = 0.4 * math.exp(-run.log_excess)
            message = f"these hours mean that {100 * mfu:.3g} % of the peak was used"
            expected = "between 1 % and 100 %"
            fix = "are these days, or hours of whole nodes? check active_params and tokens too"
            self.fault(message, "accelerator_hours", expected, fix)
        if run.accelerators and run.days:
            product = run.accelerators * run.days * 24
            if not 1 / _CONTRADICTION <= product / run.hours <= _CONTRADICTION:
                message = f"{run.accelerators:g} accelerators for {run.days:g} days are {product:.4g} accelerator-hours"
                expected = f"within a factor of {_CONTRADICTION:g} of that"
                self.fault(message, "accelerator_hours", expected, "correct the hours, the days or the count")
        return len(self.faults) == before
