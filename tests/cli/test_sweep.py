"""`botec sweep`: what it prints, its JSON, a thousand points, and the gate of `--require`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.test_compare import CHANCE, MAYBE, NUMBER, TEXT, array, by_name, table
from uncertain_botec import sweep

Botec = Callable[..., Any]

FEW = ("--over", "accelerators=512:8192:x2")
SPREAD = table(unit=TEXT, p10=MAYBE, p50=MAYBE, p90=MAYBE, errors=array(MAYBE, minItems=3, maxItems=3))
BOOLEAN = {"type": "boolean"}
PLACE = {"type": "integer", "minimum": 0}
SWEEP = table(
    schema={"const": "uncertain-botec/sweep/1"},
    scenario=table(title=TEXT, path=TEXT, sha256=TEXT),
    axes=array(
        table(
            name=TEXT,
            kind={"enum": ["input", "choice", "file"]},
            unit=TEXT,
            values=array({"type": ["number", "string"]}),
        ),
        minItems=1,
    ),
    confidence=NUMBER,
    points=array(
        table(
            at=by_name({"type": ["number", "string"]}),
            outputs=by_name(SPREAD),
            limits=by_name(CHANCE),
            keeps=BOOLEAN,
            efficient=BOOLEAN,
        )
    ),
    cheapest={"anyOf": [PLACE, {"type": "null"}]},
    front=array(PLACE),
    unmet=array(TEXT),
    notes=array(TEXT),
    seed={"const": 3},
)


@pytest.mark.parametrize("columns", [80, 140])
def test_table(botec: Botec, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is whole at 80 and at 140 columns, with every point, the cheapest in time and the front."""
    monkeypatch.setenv("COLUMNS", str(columns))
    result = botec("sweep", "llama-2-70b", *FEW, "--over", "mfu=30 %,40 %")
    assert result.code == 0
    assert "…" not in result.out
    assert max(map(len, result.out.splitlines())) <= columns
    for words in ("accelerators", "million USD", "P50", "P90", "in time", "in budget", "8,192", "*+", "Cheapest"):
        assert words in result.out
    assert sum(line.split()[:1] == ["4,096"] for line in result.out.splitlines()) == 2
    assert "accelerators 8,192, mfu 0.4: P90 of cost 6.4" in " ".join(result.out.split())
    assert "10 points (seed 0)" in result.err


def test_names_are_whole(botec: Botec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of a column are not broken at 80 columns, and one point is one."""
    monkeypatch.setenv("COLUMNS", "80")
    markets = "prices=neocloud-2026,hyperscaler-2026"
    result = botec("sweep", "llama-2-70b", "--over", "accelerators=512:1024:x2", "--over", markets)
    assert {line.split()[1] for line in result.out.splitlines() if line.split()[:1] == ["512"]} == {
        "neocloud-2026",
        "hyperscaler-2026",
    }
    assert max(map(len, result.out.splitlines())) <= 80
    assert "1 point (seed 0)" in botec("sweep", "llama-2-70b", "--over", "accelerators=512").err


@pytest.mark.parametrize("run", ["llama-2-70b", "toy-network-2-3-1"])
def test_json(botec: Botec, run: str) -> None:
    """JSON has the documented keys and nothing else, and is what the library says."""
    over = ["examples=10,20"] if run.startswith("toy") else ["accelerators=512,1024", "flop_convention=6nd,palm"]
    options = [part for one in over for part in ("--over", one)]
    result = botec("sweep", run, *options, "--seed", 3, "--confidence", "80 %", "--accuracy", "1%", "--json")
    document = json.loads(result.out)
    jsonschema.validate(document, SWEEP)
    found = sweep(run, over, seed=3, confidence=0.8, accuracy=0.01)
    assert document == json.loads(json.dumps(found.to_dict()))
    assert len(document["points"]) == (2 if run.startswith("toy") else 4)


def test_a_thousand_points(botec: Botec) -> None:
    """Of a thousand points some are shown, the best among them, and JSON has all."""
    many = ("--over", "accelerators=1024:2023:1")
    result = botec("sweep", "llama-2-70b", *many)
    assert "20 of 1,000 points, and 1 is on the Pareto front" in " ".join(result.out.split())
    rows = [line for line in result.out.splitlines() if line.lstrip()[:2] in ("1,", "2,")]
    assert len(rows) <= 40
    assert any("2,023" in row and row.rstrip().endswith("+") for row in rows)
    assert len(json.loads(botec("sweep", "llama-2-70b", *many, "--json").out)["points"]) == 1000


def test_require(botec: Botec) -> None:
    """Where no point is in time, the gate exits with 3 after the whole table, and names the deadline."""
    over = ("--over", "accelerators=128,256")
    result = botec("sweep", "llama-2-70b", *over, "--require")
    assert result.code == 3
    assert "required and not met: deadline" in result.err
    assert "comes nearest to the deadline" in " ".join(result.out.split())
    assert botec("sweep", "llama-2-70b", *over).code == 0
    assert botec("sweep", "llama-2-70b", *FEW, "--require").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--over"),
        (("--over", "acelerators=1:8:x2"), "did you mean `accelerators`"),
        (("--over", "accelerators=1:1e7:1"), "10,000,000 values"),
        (("--over", "accelerators=512", "--over", "mfu=120"), "mfu cannot be 120"),
        (("--over", "prices=nowhere"), "there is no file of prices called nowhere"),
        (("--over", "mfu=0.3", "--confidence", "100%"), "between 0 and 1"),
        (("--over", "mfu=0.3", "--accuracy", "0"), "relative standard error"),
    ],
)
def test_bad_usage(botec: Botec, arguments: tuple[str, ...], said: str) -> None:
    """What cannot be used exits with 2 and says what is expected."""
    result = botec("sweep", "llama-2-70b", *arguments)
    assert result.code == 2
    assert said in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


def test_texts_of_the_library() -> None:
    """A sweep shows itself as text and as HTML."""
    found = sweep("llama-2-70b", {"accelerators": [512, 1024]})
    assert "1,024" in str(found)
    assert "<table>" in found._repr_html_()


def test_report(botec: Botec, tmp_path: Path) -> None:
    """With --out there is a report beside the table; a gate that is not met has its report all the same."""
    folder = tmp_path / "report"
    over = ("sweep", "llama-2-70b", "--over", "accelerators=512,1024")
    result = botec(*over, "--out", folder, "--require")
    assert result.code == 3
    assert result.out == botec(*over).out
    assert f"{folder}/index.html written" in result.err
    document = json.loads((folder / "summary.json").read_text("utf-8"))
    assert document["sweep"] == json.loads(botec(*over, "--json").out)


def test_a_folder_of_something_else(botec: Botec, tmp_path: Path) -> None:
    """A folder that is no report is refused with 2 before anything is evaluated, and left alone."""
    (tmp_path / "thesis.txt").write_text("all of it", "utf-8")
    result = botec("sweep", "llama-2-70b", *FEW, "--out", tmp_path)
    assert result.code == 2
    assert result.out == ""
    assert "thesis.txt" in result.err
