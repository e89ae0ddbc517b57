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
    folder: Path = tmp_path_factory.getbasetemp()
    file = (folder.parent if (folder.name.startswith("popen-")) else folder) / "backtest.pickle"
    with FileLock(f"{file}.lock"):
        if not file.exists():
            file.write_bytes(pickle.dumps(backtest()))
    found: Backtest = pickle.loads(file.read_bytes())  # noqa: S301 - written above
    return found


@pytest.fixture
def write_rows(tmp_path: Path) -> Callable[..., Path]:
    """Write rows of the shipped file as a file of their own."""

    def written(name: str, rows: Iterable[dict[str, str]]) -> Path:
        file = tmp_path / name
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, ROWS[0])
            writer.writeheader()
            writer.writerows(rows)
        return file

    return written
