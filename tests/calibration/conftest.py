"""Backtests that take long, made once for all tests of a session, whichever processes they run in."""

from __future__ import annotations

import csv
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from filelock import FileLock

from uncertain_botec import Backtest, backtest
from uncertain_botec.calibration.runs import PUBLISHED

with PUBLISHED.open(encoding="utf-8", newline="") as _stream:
    ROWS = [row for row in csv.DictReader(_stream) if row["calibration_set"] == "yes"]


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Backtest:
    """Of the shipped file, each run from all the others."""
    return _once(tmp_path_factory, "published", lambda _: backtest())


@pytest.fixture(scope="session")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Backtest:
    """Of the later runs of the shipped file, from the earlier ones, with two rows that are left out; one refit."""

    def made(folder: Path) -> Backtest:
        left_out = (ROWS[0] | {"name": "Set aside", "calibration_set": "no"}, ROWS[1] | {"accelerator_hours": ""})
        test = written(folder / "test.csv", [*ROWS[20:], *left_out])
        return backtest(test, written(folder / "train.csv", ROWS[:20]))

    return _once(tmp_path_factory, "apart", made)


def _once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Backtest]) -> Backtest:
    folder: Path = factory.getbasetemp()
    folder = (folder.parent if folder.name.startswith("popen-") else folder) / f"backtest-{name}"
    folder.mkdir(exist_ok=True)
    file = folder / "found.pickle"
    with FileLock(f"{file}.lock"):
        if not file.exists():
            file.write_bytes(pickle.dumps(make(folder)))
    found: Backtest = pickle.loads(file.read_bytes())  # noqa: S301 - written above
    return found


def written(file: Path, rows: Iterable[dict[str, str]]) -> Path:
    """A file of rows in the columns of the shipped one."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ROWS[0])
        writer.writeheader()
        writer.writerows(rows)
    return file


@pytest.fixture
def write_rows(tmp_path: Path) -> Callable[..., Path]:
    """Write rows of the shipped file as a file of their own."""
    return lambda name, rows: written(tmp_path / name, rows)
