"""One row of a file of runs: what it says of a run, and every fault of it with its column."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from uncertain_botec.errors import Fault
from uncertain_botec.library import did_you_mean
from uncertain_botec.reference.accelerators import Part, parts, plain, years
from uncertain_botec.reference.subject import Subject
from uncertain_botec.units import UnitError, parse_quantity

KINDS = ("dense", "moe", "ssm")

COUNTED = ("reported", "rate_per_token", "energy")
"""Hours that somebody counted or measured."""

ROUGH = ("nxwall", "bound_upper")
"""Hours that are accelerators times stated days, or a bound."""

FORMATS = ("bf16", "fp16", "fp8", "fp32", "tf32")
"""Of the numbers that matrices are multiplied in."""

MFU, HFU, RATE = "mfu_published", "hfu_published", "tflops_per_accelerator_published"
"""Columns of what was reached while stepping, the first of them that is there."""

# How far n accelerators times the stated days may lie from the stated hours: counts are maxima and days are rounded.
# Likewise hours times price from the stated cost.
_CONTRADICTION = 3.0

# A run outside of these is a mistake of units, such as of hours for days or of nodes for accelerators: from what a
# perfect machine takes to fifty times that. Published runs lie between 10 and 51 % of the peak.
_LEAST_MFU, _MOST_MFU = 0.02, 1.0

# Steps that are slower than the whole run by more than what rounding does are no steps of that run.
_SLOWER_STEPS = 0.9

# Runs publish within a year before their accelerator is sold, and before it is this old.
_EARLIEST, _LATEST = -1.0, 12.0


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


@dataclass
class Row:
    """One row while it is read; faults are added."""

    cells: Mapping[str, str]
    number: int
    where: str
    faults: list[Fault]

    def fault(self, message: str, column: str, expected: str, fix: str) -> None:
        path = f"row {self.number}, column {column}"
        got = self.cells.get(column) or "nothing"
        self.faults.append(Fault(message, self.where, path, got[:200], expected, fix))

    def unfit(self) -> str | None:
        """Why the row is not learnt from though nothing is wrong with it."""
        if "calibration_set" in self.cells and self.word("calibration_set", ("yes", "no"), needed=False) != "yes":
            return "not in the calibration set"
        return None if self.cells.get("accelerator_hours") else "no accelerator-hours"

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
        price = self.number_in(
            "price_per_accelerator_hour_usd", "USD/accelerator-hour", 1e-3, 1e4, needed=False, scale=1 / 3600
        )
        cost = self.number_in("cost_usd_published", "USD", 1e-3, 1e13, needed=False)
        precision = self.word("precision", FORMATS, needed=False)
        recompute = self.word("activation_recompute", ("yes", "selective", "no"), needed=False)
        step_mfu = self.step_mfu(part, full=recompute == "yes")
        if published is not None and part is not None:
            self.dated(published, part)
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
            fp8=precision == "fp8",
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
            date=self.cells["publication_date"][: len("YYYY-MM")],
            accelerator=part.name,
            row=self.number,
        )
        return run if self.makes_sense(run) else None

    def text(self, column: str) -> str | None:
        if text := self.cells.get(column):
            return text
        self.fault("nothing is stated", column, "a text", f"fill in {column}")
        return None

    def word(self, column: str, known: Sequence[str], *, needed: bool = True) -> str | None:
        word = self.cells.get(column, "").lower()
        if word in known or not (word or needed):
            return word
        otherwise = "set calibration_set to no" if needed else "leave the cell empty"
        fix = did_you_mean(word, known) or f"use one of these, or {otherwise}"
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
        self, column: str, unit: str, low: float, high: float, *, needed: bool = True, scale: float = 1.0
    ) -> float | None:
        """A number, with or without a unit, between bounds that only a mistake of units or of powers of ten exceeds."""
        text = self.cells.get(column, "")
        if not text and not needed:
            return None
        message, mend = "this number cannot be right", None
        try:
            value = float(text)
        except ValueError:
            try:
                value = parse_quantity(text, unit) / scale
            except UnitError as error:
                value, message, mend = math.nan, f"this cannot be read: {error}", error.fix
        if low <= value <= high:
            return value
        what = "a number" if unit == "fraction" else f"a number of {unit}"
        expected = f"{what} from {low:g} to {high:g}"
        fix = mend or (
            "correct it, or set calibration_set to no" if needed else "leave the cell empty if it is unknown"
        )
        self.fault(message, column, expected, fix)
        return None

    def dated(self, published: float, part: Part) -> None:
        """Whether there was such an accelerator then, and still."""
        if published < part.release + _EARLIEST:
            message = f"published more than a year before {part.name} was released"
            expected = f"{int(part.release)} or later"
        elif published > part.release + _LATEST:
            message = f"published more than {_LATEST:g} years after {part.name} was released"
            expected = f"{int(part.release + _LATEST)} or earlier"
        else:
            return
        self.fault(message, "publication_date", expected, "correct the date or the accelerator")

    def step_mfu(self, part: Part | None, *, full: bool) -> float | None:
        """The published MFU while stepping, or else what follows from HFU or TFLOP/s.

        With full recomputation of activations three quarters of hardware FLOP are model FLOP (arXiv 2205.05198,
        section 5).
        """
        useful = 0.75 if full else 1.0
        mfu = self.number_in(MFU, "fraction", 0.005, 1, needed=False)
        hfu = self.number_in(HFU, "fraction", 0.005, 1, needed=False)
        rate = self.number_in(RATE, "TFLOP/second", 0.1, 1e5, needed=False, scale=1e12)
        if mfu is not None:
            return mfu
        if hfu is not None:
            return hfu * useful
        return rate * 1e12 * useful / part.peak_flop_per_s if rate is not None and part is not None else None

    def makes_sense(self, run: Run) -> bool:
        """Whether hours go with the work, with n x days, with the steps and with the cost."""
        before = len(self.faults)
        mfu = 0.4 * math.exp(-run.log_excess)
        if not _LEAST_MFU <= mfu <= _MOST_MFU:
            message = f"these hours mean that {100 * mfu:.3g} % of the peak was used"
            expected = f"between {100 * _LEAST_MFU:g} % and {100 * _MOST_MFU:g} %"
            fix = "are these days, or hours of whole nodes? check active_params and tokens too"
            self.fault(message, "accelerator_hours", expected, fix)
        elif run.step_mfu is not None and run.step_mfu < _SLOWER_STEPS * mfu:
            column = next(name for name in (MFU, HFU, RATE) if self.cells.get(name))
            message = f"an MFU of {run.step_mfu:.3g} while stepping is below the {mfu:.3g} of the whole run"
            expected = f"at least {mfu:.3g} by accelerator_hours, active_params and tokens"
            self.fault(message, column, expected, "correct one of them, or leave this cell empty")
        if run.accelerators and run.days:
            product = run.accelerators * run.days * 24
            said = f"{run.accelerators:g} accelerators for {run.days:g} days are {product:.4g} accelerator-hours"
            self.agree(said, "accelerator_hours", product / run.hours, "correct the hours, the days or the count")
        if run.price and run.cost:
            product = run.hours * run.price
            said = f"{run.hours:g} accelerator-hours at {run.price:g} USD are {product:.4g} USD"
            self.agree(said, "cost_usd_published", product / run.cost, "correct the cost, the price or the hours")
        return len(self.faults) == before

    def agree(self, said: str, column: str, ratio: float, fix: str) -> None:
        if not 1 / _CONTRADICTION <= ratio <= _CONTRADICTION:
            self.fault(said, column, f"within a factor of {_CONTRADICTION:g} of that", fix)
