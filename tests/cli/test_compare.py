"""`botec compare`: what it prints, its JSON, and settings of single runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from uncertain_botec import compare_scenarios, load_scenario

Botec = Callable[..., Any]

FEW = ("--draws", "2^10")
NUMBER: dict[str, Any] = {"type": "number"}
MAYBE: dict[str, Any] = {"type": ["number", "null"]}
TEXT: dict[str, Any] = {"type": "string"}


def array(items: Any, **more: Any) -> dict[str, Any]:
    """The JSON Schema of a list."""
    return {"type": "array", "items": items, **more}


def table(**properties: Any) -> dict[str, Any]:
    """The JSON Schema of an object that has these keys and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def by_name(schema: Any) -> dict[str, Any]:
    """The JSON Schema of an object with such values."""
    return {"type": "object", "additionalProperties": schema}


FIGURE = table(value=MAYBE, error=MAYBE)
CHANCE = table(value=NUMBER, error=NUMBER, low=NUMBER, high=NUMBER)
SPREAD = {"p10": FIGURE, "p50": FIGURE, "p90": FIGURE, "mean": FIGURE}
DOMINANCE = table(stochastic=TEXT, decided={"type": "boolean"}, crossings=array({"type": "integer"}), draw_by_draw=TEXT)
COMPARE = table(
    schema={"const": "uncertain-botec/compare/1"},
    scenarios=by_name(table(title=TEXT, path=TEXT, sha256=TEXT, choices=by_name(TEXT))),
    percentiles=array(NUMBER, minItems=99, maxItems=99),
    outputs=by_name(
        table(
            unit=TEXT,
            curves=by_name(table(**SPREAD, best=CHANCE, values=array(MAYBE, minItems=99, maxItems=99))),
            differences=array(table(first=TEXT, second=TEXT, **SPREAD, lower=CHANCE, ties=NUMBER, dominance=DOMINANCE)),
        )
    ),
    same=array(TEXT),
    together=array(TEXT),
    apart=array(TEXT),
    differing=by_name(array({"type": ["number", "string", "null"]})),
    draws={"const": 1024},
    seed={"const": 3},
    sampler={"const": "lattice"},
    replicates={"const": 16},
    notes=array(TEXT),
)


@pytest.mark.parametrize("columns", [80, 140])
def test_table(botec: Botec, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is whole at 80 and at 140 columns, with both runs, their difference, and who is cheaper in words."""
    monkeypatch.setenv("COLUMNS", str(columns))
    result = botec("compare", "llama-2-70b", "gpt-3", *FEW)
    assert result.code == 0
    assert "…" not in result.out
    assert max(map(len, result.out.splitlines())) <= columns
    for words in (
        "2 runs compared on common random numbers",
        "Cost (million USD)",
        "Training time (days)",
        "A: llama-2-70b",
        "B: gpt-3",
        "B - A",
        "A cheaper than B",
        "A sooner than B",
        "The same quantity",
        "Moved together",
        "accelerators: A 2,048",
        "P90: a 90 % chance of being at or below",
    ):
        assert words in result.out
    assert "1,024 draws of each run (lattice, 16 replicates, seed 0)" in result.err


def test_identical_runs(botec: Botec) -> None:
    """A run beside itself is cheaper with 50 %, and how ties count is said."""
    result = botec("compare", "gpt-3", "gpt-3", *FEW)
    assert result.code == 0
    words = " ".join(result.out.split())
    assert "A cheaper than B with probability 50 %; equal in every draw" in words
    assert "count half, so that a run is cheaper than an identical one with probability 50 %" in words
    assert "nan" not in result.out


@pytest.mark.parametrize("runs", [("llama-2-70b", "llama-2-13b"), ("toy-network-2-3-1", "toy-network-2-3-1")])
def test_json(botec: Botec, runs: tuple[str, str]) -> None:
    """JSON has the documented keys and nothing else, and is what the library says."""
    result = botec("compare", *runs, *FEW, "--seed", 3, "--json")
    document = json.loads(result.out)
    jsonschema.validate(document, COMPARE)
    comparison = compare_scenarios([load_scenario(run) for run in runs], draws=1 << 10, seed=3)
    assert document == json.loads(json.dumps(comparison.to_dict()))


def test_settings_of_one_run(botec: Botec) -> None:
    """A setting with a number is for that run alone, one without for all."""
    settings = ("--set", "2:inputs.accelerators=4096", "--set", "inputs.failure_overhead=0.1")
    result = botec("compare", "llama-2-70b", "llama-2-70b", *FEW, *settings, "--json", "--quiet")
    document = json.loads(result.out)
    assert document["differing"] == {"accelerators": [2048, 4096]}
    assert "failure_overhead" not in document["same"]
    (gap,) = document["outputs"]["cost"]["differences"]
    assert (gap["ties"], gap["lower"]["value"]) == (1, 0.5)
    assert result.err == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("llama-2-70b",), "two runs or more"),
        (("llama-2-70b", "no-such-run"), "no-such-run"),
        (("gpt-3",) * 9, "not 9"),
        (("gpt-3", "gpt-3", "--draws", "0"), "whole number"),
        (("gpt-3", "gpt-3", "--set", "3:inputs.mfu=0.4"), "numbered from 1 to 2"),
        (("gpt-3", "gpt-3", "--set", "2:inputs.mfuu=0.4"), "did you mean `mfu`"),
    ],
)
def test_bad_usage(botec: Botec, arguments: tuple[str, ...], said: str) -> None:
    """What cannot be used exits with 2 and says what is expected."""
    result = botec("compare", *arguments)
    assert result.code == 2
    assert said in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


def test_texts_of_the_library() -> None:
    """A comparison shows itself as text and as HTML."""
    comparison = compare_scenarios([load_scenario("gpt-3")] * 2, draws=1 << 8)
    assert "A: gpt-3 #1" in str(comparison)
    assert "<table>" in comparison._repr_html_()


def test_report(botec: Botec, tmp_path: Path) -> None:
    """With --out there is a report beside the table, which stays as it is; its summary holds what --json says."""
    folder = tmp_path / "report"
    runs = ("compare", "llama-2-70b", "gpt-3", *FEW)
    result = botec(*runs, "--out", folder)
    assert result.code == 0
    assert result.out == botec(*runs).out
    assert f"{folder}/index.html written" in result.err
    document = json.loads((folder / "summary.json").read_text("utf-8"))
    again = botec(*runs, "--out", folder, "--json", "--quiet")
    assert document["compare"] == json.loads(again.out)
    assert again.err == ""


def test_a_folder_of_something_else(botec: Botec, tmp_path: Path) -> None:
    """A folder that is no report is refused with 2 before anything is drawn, and left alone."""
    (tmp_path / "thesis.txt").write_text("all of it", "utf-8")
    result = botec("compare", "llama-2-70b", "gpt-3", *FEW, "--out", tmp_path)
    assert result.code == 2
    assert result.out == ""
    assert "thesis.txt" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
