"""Progress logs: what is read, what is put right with a note, and every fault at once."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from uncertain_botec import ProgressLog, read_log
from uncertain_botec.errors import Fault
from uncertain_botec.updating import progress_log
from uncertain_botec.updating.progress_log import ProgressLogError

Written = Callable[[str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """A log with this text."""

    def write(text: str) -> Path:
        file = tmp_path / "progress.csv"
        file.write_text(text, "utf-8")
        return file

    return write


def faults_of(file: Path) -> tuple[Fault, ...]:
    """What is wrong with a log."""
    with pytest.raises(ProgressLogError) as raised:
        read_log(file)
    return raised.value.faults


def days(log: ProgressLog) -> list[float]:
    """Days since the start of the run."""
    return (log.seconds / 86400).round(9).tolist()


def test_dates(written: Written) -> None:
    """ISO dates count from the first row; without a zone they are UTC; optional columns are carried on."""
    log = read_log(
        written(
            "Time, tokens, interruptions, accelerators, cost\n2026-03-01T12:00:00+02:00,0,0,64,0\n"
            "2026-03-02T10:00:00Z,45e9,1,,\n\n2026-03-03T10:00:00Z,0.09T,3,32,24k USD\n"
        )
    )
    assert days(log) == [0, 1, 2]
    assert log.tokens.tolist() == [0, 45e9, 90e9]
    assert log.start == datetime.datetime(2026, 3, 1, 10, tzinfo=datetime.UTC)
    assert log.accelerators is not None
    assert log.accelerators.tolist() == [64, 64, 32]
    assert (log.interruptions, log.cost, log.notes) == (3, 24000, ())
    assert log.accelerator_seconds == 2 * 64 * 86400


@pytest.mark.parametrize(
    ("heading", "cells"),
    [
        ("elapsed", ("0 day", "36 hour", "3 day")),
        ("elapsed_days", ("0", "1.5", "3")),
        ("elapsed_hours", ("0", "36", "72")),
        ("elapsed_seconds", ("0", "129600", "259200")),
    ],
)
def test_elapsed(written: Written, heading: str, cells: tuple[str, ...]) -> None:
    """Elapsed times carry a unit, in the cell or in the heading."""
    rows = "".join(f"{cell},{number}e9\n" for number, cell in enumerate(cells))
    log = read_log(written(f"{heading},tokens\n{rows}"))
    assert days(log) == [0, 1.5, 3]
    assert log.start is None


def test_a_log_that_begins_late(written: Written) -> None:
    """Elapsed times count from the start of the run; dates do not tell it, so it is reckoned and said."""
    log = read_log(written("elapsed_days,tokens\n2,20e9\n3,30e9\n4,40e9\n"))
    assert days(log) == [0, 2, 3, 4]
    log = read_log(written("time,tokens\n2026-03-03,20e9\n2026-03-04,30e9\n2026-03-05,40e9\n"))
    assert days(log) == [2, 3, 4]
    assert log.start == datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
    assert "2 days before" in log.notes[0]


@pytest.mark.parametrize(
    ("rows", "when", "tokens", "words"),
    [
        ("0,0\n1,1e9\n1,1e9\n2,2e9\n", [0, 1, 2], [0, 1e9, 2e9], "row 4: the same as another row"),
        ("0,0\n2,2e9\n1,1e9\n3,3e9\n", [0, 1, 2, 3], [0, 1e9, 2e9, 3e9], "row 4: not in the order of time"),
        ("0,0\n3,3e9\n0,3e9\n1,4e9\n", [0, 3, 3, 4], [0, 3e9, 3e9, 4e9], "row 4: the time starts over"),
        ("0,0\n2,2e9\n3,1e9\n4,2e9\n", [0, 2, 3, 4], [0, 1e9, 1e9, 2e9], "row 4: tokens fall"),
        ("0,0\n1,1e9\n2,2e9\n9,3e9\n", [0, 1, 2, 9], [0, 1e9, 2e9, 3e9], "after row 4: no rows for 7 days"),
        ("0,0\n1,1e9\n9,3e9\n", [0, 1, 9], [0, 1e9, 3e9], "after row 3: no rows for 8 days"),
        ("0,0\n3,3e9\n0,0\n1,1e9\n2,2e9\n", [0, 3, 3, 4, 5], [0, 0, 0, 1e9, 2e9], "row 4: the time starts over"),
        ("0,0\n1,1e9\n2,2e9\n0,0\n1,1e9\n2,2e9\n", [0, 1, 2], [0, 1e9, 2e9], "rows 5, 6, 7: the same as another"),
        ("2,2e9\n1,1e9\n0,0\n", [0, 1, 2], [0, 1e9, 2e9], "rows 3, 4: not in the order of time"),
    ],
    ids=[
        "duplicate",
        "unordered",
        "restarted",
        "rollback",
        "gap",
        "gap in few rows",
        "begun again",
        "logged twice",
        "backwards",
    ],
)
def test_what_is_put_right(written: Written, rows: str, when: list[float], tokens: list[float], words: str) -> None:
    """Rows are dropped, sorted or counted on, and a note names them; work that is lost is lost time."""
    log = read_log(written(f"elapsed_days,tokens\n{rows}"))
    assert days(log) == when
    assert log.tokens.tolist() == tokens
    assert words in "\n".join(log.notes)


def test_a_rollback_loses_time(written: Written) -> None:
    """Tokens that a rollback lost count from the row they were first reached for good."""
    log = read_log(written("elapsed_days,tokens\n0,0\n1,10\n2,20\n3,30\n4,15\n5,25\n6,35\n"))
    assert log.tokens.tolist() == [0, 10, 15, 15, 15, 25, 35]
    assert log.lost == 2 * 86400


def test_a_change_within_a_row_of_one_time(written: Written) -> None:
    """A second row of one time and as many tokens says what changed then, and is no duplicate."""
    rows = "0,0,8,0\n1,1e9,8,5\n1,1e9,16,5\n1,1e9,16,5\n2,2e9,16,9\n"
    log = read_log(written(f"elapsed_days,tokens,accelerators,cost\n{rows}"))
    assert days(log) == [0, 1, 1, 2]
    assert log.accelerators is not None
    assert log.accelerators.tolist() == [8, 8, 16, 16]
    assert log.accelerator_seconds == (8 + 16) * 86400
    assert log.notes == ("row 5: the same as another row, so left out",)


def test_habits_of_loggers(written: Written) -> None:
    """Headings that are written again at each restart, and commas at the ends of rows, are left out."""
    log = read_log(written("elapsed_days,tokens,\n0,0,\n1,1e9,\nelapsed_days,tokens,\n2,2e9,\n"))
    assert (days(log), log.notes) == ([0, 1, 2], ())


BAD = {
    "no tokens": ("elapsed_days,token\n0,0\n1,1\n2,2\n", "tokens", "a column is missing"),
    "no time": ("times,tokens\n0,0\n1,1\n2,2\n", "time", "a column is missing"),
    "two times": ("time,elapsed_days,tokens\n2026-01-01,0,0\n", "time", "stated twice"),
    "one name twice": ("elapsed_days,tokens,tokens\n0,0,0\n", "tokens", "two columns have one name"),
    "not a number": ("elapsed_days,tokens\n0,0\n1,many\n2,2\n", "row 3, tokens", "starts with a number"),
    "negative": ("elapsed_days,tokens\n0,0\n1,-1\n2,2\n", "row 3, tokens", "negative"),
    "negative time": ("elapsed,tokens\n-1 day,0\n1 day,1\n2 day,2\n", "row 2, elapsed", "negative"),
    "nan": ("elapsed_days,tokens\n0,0\n1,nan\n2,2\n", "row 3, tokens", "not finite"),
    "inf": ("elapsed_days,tokens\n0,0\n1,1\n2,inf\n", "row 4, tokens", "not finite"),
    "inf time": ("elapsed_days,tokens\n0,0\ninf,1\n2,2\n", "row 3, elapsed_days", "not finite"),
    "inf by its scale": ("elapsed_days,tokens\n0,0\n1,1e400T\n2,2\n", "row 3, tokens", "not finite"),
    "impossible number": ("elapsed_days,tokens\n0,0\n1,1e300\n2,2e300\n", "row 3, tokens", "cannot be right"),
    "impossible time": ("elapsed_days,tokens\n0,0\n1,1\n40000,2\n", "row 4, elapsed_days", "cannot be right"),
    "impossible date": ("time,tokens\n1970-01-01,0\n2026-01-02,1\n2026-01-03,2\n", "row 2, time", "cannot be right"),
    "first day of all": (
        "time,tokens\n0001-01-01T00:00+14:00,1\n0001-01-02T00:00+14:00,2\n", "row 2, time", "cannot be right"
    ),
    "seconds since 1970": ("time,tokens\n1772323200,0\n1772409600,1\n", "row 2, time", "not an ISO 8601 date"),
    "half an interruption": (
        "elapsed_days,tokens,interruptions\n0,0,0\n1,1,1.5\n2,2,2\n", "row 3, interruptions", "not whole"
    ),
    "endless interruptions": (
        "elapsed_days,tokens,interruptions\n0,0,0\n1,1,9000\n2,2,9001\n", "interruptions", "more interruptions than min"
    ),
    "unit lost": ("elapsed_days,tokens\n0,0\n1,40B\n2,80\n3,120B\n", "row 4, tokens", "next to nothing"),
    "soon over": ("elapsed_seconds,tokens\n0,0\n1e-300,1\n2e-300,2\n", "elapsed_seconds", "over too soon"),
    "part of a token": ("elapsed_days,tokens\n0,0\n1,1e-320\n2,2e-320\n", "tokens", "no progress"),
    "began before all time": (
        "elapsed_days,tokens\n0,9e17\n1,9e17\n2,900000000000000256\n", "row 2, tokens", "years for the tokens"
    ),
    "headings alone": ("elapsed_days,tokens\n", "$", "too few rows"),
    "semicolons": ("elapsed_days;tokens\n0;0\n", "$", "separated by semicolons"),
    "thousands": ("elapsed_days,tokens\n0,0\n1,40,000\n2,80,000\n", "row 3, cells", "another number of cells"),
    "empty cell": ("elapsed_days,tokens\n0,0\n1,\n2,2\n", "row 3, tokens", "empty"),
    "no unit": ("elapsed,tokens\n0 day,0\n1,1\n2 day,2\n", "row 3, elapsed", "needs its unit"),
    "not a date": ("time,tokens\n2026-01-01,0\n2026-13-01,1\n2026-01-03,2\n", "row 3, time", "not an ISO 8601 date"),
    "zones": ("time,tokens\n2026-01-01,0\n2026-01-02T00:00Z,1\n2026-01-03,2\n", "row 3, time", "time zone"),
    "clock": ("time,tokens\n2026-01-01,0\n2026-01-05,1\n2026-01-03,2\n2026-01-06,3\n", "row 4, time", "back by 2"),
    "same time": ("elapsed_days,tokens\n0,0\n1,1\n1,2\n2,3\n", "row 4, elapsed_days", "the same time as in row 3"),
    "two rows": ("elapsed_days,tokens\n0,0\n1,1\n1,1\n", "$", "too few rows"),
    "accelerators 0": (
        "elapsed_days,tokens,accelerators\n0,0,8\n1,1,0\n2,2,8\n", "row 3, accelerators", "no accelerators"
    ),
    "cost falls": ("elapsed_days,tokens,cost\n0,0,0\n1,1,9\n2,2,8\n", "row 4, cost", "falls"),
    "no progress": ("elapsed_days,tokens\n0,5\n1,5\n2,5\n", "tokens", "no progress"),
    "cells": ("elapsed_days,tokens\n0,0\n1,1,1\n2,2\n", "row 3, cells", "another number of cells"),
    "empty": ("", "$", "the file is empty"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_faults(written: Written, name: str) -> None:
    """A fault names the file, the row and the column, and what is wrong there."""
    text, place, words = BAD[name]
    file = written(text)
    found = [one for one in faults_of(file) if one.path == place]
    assert any(words in one.message for one in found)
    assert all(one.where == str(file) for one in found)


def test_all_faults_at_once(written: Written) -> None:
    """One reading finds the faults of every column, and counts what is more than a screen can show."""
    rows = "".join(f"{n},x{n},{-n}\n" for n in range(1, 101))
    found = faults_of(written(f"elapsed_days,tokens,cost\n0,0,0\n{rows}"))
    assert {one.path.rpartition(" ")[2] for one in found} == {"tokens", "cost"}
    assert sum("95 more rows" in one.message for one in found) == 2
    assert len(found) == 12


def test_not_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that are no UTF-8 are refused by row, as are missing and oversized files."""
    file = tmp_path / "latin.csv"
    file.write_bytes("elapsed_days,tokens\n0,0\n1,1 \xe9\n".encode("latin-1"))
    assert "row 3 is not UTF-8" in faults_of(file)[0].message
    assert "cannot be read" in faults_of(tmp_path / "none.csv")[0].message
    monkeypatch.setattr(progress_log, "MOST_BYTES", 10)
    assert "too large" in faults_of(file)[0].message


def test_many_rows(written: Written) -> None:
    """A hundred thousand rows are read, in plain numbers or with scales."""
    rows = "\n".join(f"{n / 1000},{n / 1e5:.6f}T" for n in range(100_000))
    log = read_log(written(f"elapsed_days,tokens\n{rows}\n"))
    assert len(log) == 100_000
    assert np.isclose(log.done, 0.99999e12)
