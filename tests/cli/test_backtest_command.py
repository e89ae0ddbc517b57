"""`botec backtest`: its table, its JSON, and how it is used wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.calibration.conftest import ROWS, published, write_rows
from tests.cli.test_compare import MAYBE, NUMBER, TEXT, array, by_name, table
from uncertain_botec import Backtest, backtest
from uncertain_botec.calibration import backtesting
from uncertain_botec.calibration.runs import PUBLISHED

__all__ = ["published", "write_rows"]

Botec = Callable[..., Any]

COUNT = {"type": "integer", "minimum": 0}
PARTS = table(**{"50": NUMBER, "80": NUMBER, "90": NUMBER})
BOUNDS = array(NUMBER, minItems=2, maxItems=2)
SCORES = table(
    coverage=PARTS,
    coverage_bounds=table(**{"50": BOUNDS, "80": BOUNDS, "90": BOUNDS}),
    interval_score=NUMBER,
    crps=NUMBER,
    median_width_factor=NUMBER,
    errors=table(interval_score=MAYBE, crps=MAYBE, median_width_factor=MAYBE),
    above_reference_class=by_name(table(value=NUMBER, error=MAYBE)),
    percentile_histogram=array(COUNT, minItems=10, maxItems=10),
)
AGAINST = table(p10=NUMBER, p50=NUMBER, p90=NUMBER, actual=NUMBER, percentile=NUMBER, unit=TEXT)
PERHAPS = {"anyOf": [AGAINST, {"type": "null"}]}
BACKTEST = table(
    schema={"const": "uncertain-botec/backtest/1"},
    n=COUNT,
    left_out={"enum": ["run", "organisation", "all"]},
    path=TEXT,
    train={"type": ["string", "null"]},
    forecasters=table(reference_class=SCORES, constant_lognormal=SCORES, fixed_mfu=SCORES, published_mfu=SCORES),
    runs=array(
        table(
            name=TEXT,
            organisation=TEXT,
            row=COUNT,
            percentile=NUMBER,
            percentiles=by_name(NUMBER),
            accelerator_hours=AGAINST,
            training_time=PERHAPS,
            cost=PERHAPS,
        )
    ),
    unfit=by_name(COUNT),
    untested=table(training_time=by_name(COUNT), cost=by_name(COUNT)),
    chains=table(refits=COUNT, rhat=NUMBER, ess=NUMBER, divergences=COUNT),
    seed=COUNT,
)


@pytest.mark.parametrize("columns", [80, 140])
def test_table(botec: Botec, columns: int, published: Backtest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is whole at 80 and at 140 columns: forecasters, what that means, and every run."""
    monkeypatch.setattr(backtesting, "backtest", lambda *_, **__: published)
    monkeypatch.setenv("COLUMNS", str(columns))
    result = botec("backtest")
    assert result.code == 0
    assert "…" not in result.out
    assert max(map(len, result.out.splitlines())) <= columns
    for words in ("reference class", "published MFU", "interval score", "CRPS", "Wall-clock, days", "no divergences"):
        assert words in result.out
    said = " ".join(result.out.split())
    assert "P10 to P90 of the reference class held 45 of 58 runs, 78 %" in said
    assert "its CRPS is 25 % above the reference class's" in said
    assert all(row["name"] in said or row["name"][:30] in said for row in ROWS)
    # By percentile: the runs that took least of what was foretold first.
    assert result.out.index("Pleias 1.2B") < result.out.index("PLaMo-13B") < result.out.index("YaLM-100B")
    assert "58 runs, 58 refits (seed 0)" in result.err


def test_json(botec: Botec, write_rows: Callable[..., Path]) -> None:
    """JSON has the documented keys and nothing else, and is what the library says of the same files."""
    train, test = write_rows("train.csv", ROWS[:40]), write_rows("test.csv", ROWS[40:])
    result = botec("backtest", "--train", train, "--runs", test, "--seed", 3, "--json", "--quiet")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    jsonschema.validate(document, BACKTEST)
    assert document == json.loads(json.dumps(backtest(test, train, seed=3).to_dict()))
    assert (document["n"], document["left_out"]) == (18, "all")


def test_report(botec: Botec, published: Backtest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --out there is a report beside the table, which is the same as without."""
    monkeypatch.setattr(backtesting, "backtest", lambda *_, **__: published)
    folder = tmp_path / "report"
    result = botec("backtest", "--out", folder)
    assert (result.code, result.out) == (0, botec("backtest").out)
    assert f"{folder}/index.html written" in result.err
    document = json.loads((folder / "summary.json").read_text("utf-8"))
    assert document["backtest"] == json.loads(botec("backtest", "--json").out)
    jsonschema.validate(document["backtest"], BACKTEST)
    assert (folder / "runs.csv").read_bytes() == PUBLISHED.read_bytes()


def test_a_folder_of_something_else(botec: Botec, tmp_path: Path) -> None:
    """A folder that is no report is refused with 2 before as much as a file of runs is read, and left alone."""
    (tmp_path / "thesis.txt").write_text("all of it", "utf-8")
    result = botec("backtest", "--runs", tmp_path / "none.csv", "--out", tmp_path)
    assert (result.code, result.out) == (2, "")
    assert "thesis.txt" in result.err
    assert "none.csv" not in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_bad_usage(botec: Botec, tmp_path: Path) -> None:
    """Options that contradict each other, and files that cannot be read, end with 2 and say why."""
    result = botec("backtest", "--train", tmp_path / "a.csv", "--leave-out", "run")
    assert result.code == 2
    assert "--leave-out goes without --train" in result.err
    result = botec("backtest", "--runs", tmp_path / "none.csv")
    assert result.code == 2
    assert "none.csv" in result.err
    assert botec("backtest", "--leave-out", "year").code == 2


def test_a_bad_row(botec: Botec, write_rows: Callable[..., Path]) -> None:
    """A fault of a row names the file, the row and the column."""
    result = botec("backtest", "--runs", write_rows("bad.csv", [*ROWS[:6], ROWS[6] | {"tokens": "many"}]))
    assert result.code == 2
    assert "row 8, column tokens" in result.err
    assert "bad.csv" in result.err
