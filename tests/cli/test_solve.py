"""`botec solve`: what it prints, its JSON, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from tests.cli.test_compare import MAYBE, NUMBER, TEXT, array, by_name, table
from uncertain_botec import load_scenario, solve

Botec = Callable[..., Any]

FEW = ("--draws", "2^12")
IN_TIME = "P(training_time <= 30 day) >= 0.9"
BOOLEAN = {"type": "boolean"}
VERDICT = table(
    text=TEXT,
    value=MAYBE,
    error=MAYBE,
    low=MAYBE,
    high=MAYBE,
    threshold=NUMBER,
    unit=TEXT,
    met=BOOLEAN,
    decided=BOOLEAN,
)
SOLVE = table(
    schema={"const": "uncertain-botec/solve/1"},
    scenario=table(title=TEXT, path=TEXT, sha256=TEXT),
    choices=by_name(TEXT),
    name=TEXT,
    unit=TEXT,
    requirement=TEXT,
    feasible=BOOLEAN,
    side={"enum": ["least", "most", "any", "none"]},
    value=MAYBE,
    error=MAYBE,
    rounded=MAYBE,
    until=MAYBE,
    monotone=BOOLEAN,
    stated=MAYBE,
    range=array(NUMBER, minItems=2, maxItems=2),
    granularity={"type": "integer"},
    verdict={"anyOf": [VERDICT, {"type": "null"}]},
    best=MAYBE,
    probes=array(table(at=NUMBER, measure=MAYBE, met=BOOLEAN)),
    draws={"const": 4096},
    seed={"const": 3},
    notes=array(TEXT),
)


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize(
    ("name", "requirement"), [("accelerators", IN_TIME), ("budget", "P(budget and deadline) >= 0.7")]
)
def test_table(botec: Botec, columns: int, name: str, requirement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is whole at 80 and at 140 columns, with what was tried, what is needed and what it comes to."""
    monkeypatch.setenv("COLUMNS", str(columns))
    result = botec("solve", "llama-2-70b", "--for", name, requirement, *FEW)
    assert result.code == 0
    assert "…" not in result.out
    assert max(map(len, result.out.splitlines())) <= columns
    for words in (f"{name} of at least", "not met", "There", requirement, "Stated", "All values share their draws"):
        assert words in result.out
    assert "4,096 draws at each value, 21 of them over the range" in result.err


def test_a_number_of_accelerators(botec: Botec) -> None:
    """The answer is a whole number with its error, close to the inverse of the time's quantile."""
    document = json.loads(botec("solve", "llama-2-70b", "--for", "accelerators", IN_TIME, "--json").out)
    # 83.6 days at P90 on 2,048.
    assert document["rounded"] == pytest.approx(2048 * 83.6 / 30, rel=2e-3)
    assert document["rounded"] == int(document["rounded"])
    assert 0 < document["error"] < 10


@pytest.mark.parametrize(
    ("run", "name", "requirement", "code"),
    [
        ("llama-2-70b", "mfu", "P90(cost) <= 6 MUSD", 0),
        ("llama-2-70b", "mfu", "P90(cost) <= 1 MUSD", 3),
        ("toy-network-2-3-1", "examples", "mean(training_flop) <= 10000 FLOP", 0),
    ],
)
def test_json(botec: Botec, run: str, name: str, requirement: str, code: int) -> None:
    """JSON has the documented keys and nothing else, and is what the library says."""
    result = botec("solve", run, requirement, "--for", name, *FEW, "--seed", 3, "--json")
    assert result.code == code
    document = json.loads(result.out)
    jsonschema.validate(document, SOLVE)
    found = solve(load_scenario(run), name, requirement, draws=1 << 12, seed=3)
    assert document == json.loads(json.dumps(found.to_dict()))


def test_nothing_is_enough(botec: Botec) -> None:
    """What no value meets exits with 3 after the table, which says what is attainable at best and where."""
    result = botec("solve", "llama-2-70b", "--for", "mfu", "P90(cost) <= 1 MUSD", *FEW)
    assert result.code == 3
    assert "NOT MET" in result.out
    assert "Best attainable" in result.out
    assert "at 1" in result.out
    assert "required and not met by any value of mfu: P90(cost) <= 1 MUSD" in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--for", "accelerators", "P(training_time <= 30 day >= 0.9"), "close every bracket"),
        (("--for", "accelerators", "training_time <= 30 day"), "write P(training_time <= 30 day) >= 0.8"),
        (("--for", "acelerators", IN_TIME), "did you mean `accelerators`"),
        (("--for", "budget", IN_TIME), "write P(budget) >= 0.8"),
        (("--for", "accelerators", IN_TIME, "--within", "8192:256"), "this range is empty"),
        (("--for", "accelerators", IN_TIME, "--draws", "1G"), "from 1 to"),
        ((IN_TIME,), "--for"),
    ],
)
def test_bad_usage(botec: Botec, arguments: tuple[str, ...], said: str) -> None:
    """What cannot be used exits with 2 and says how to mend it."""
    result = botec("solve", "llama-2-70b", *arguments)
    assert result.code == 2
    assert said in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


@pytest.mark.parametrize("requirement", [IN_TIME, "P(cost <= 1 GUSD) >= 0.5", "P(cost <= 1 USD) >= 0.5"])
def test_texts_of_the_library(requirement: str) -> None:
    """A solution shows itself as text and as HTML, whatever it comes to."""
    found = solve(load_scenario("llama-2-70b"), "accelerators", requirement, draws=1 << 8)
    assert requirement in str(found)
    assert "<table>" in found._repr_html_()


def test_a_multiple_has_no_error_that_moves_it_to_none(botec: Botec) -> None:
    """An error of less than half a multiple is left out, and sentences speak of values."""
    found = solve(load_scenario("llama-3.1-405b"), "accelerators", "P(training_time <= 120 day) >= 0.5", draws=1 << 12)
    assert found.granularity == 8
    for error, shown in ((3.9, False), (4.1, True)):
        (needed,) = (one for one in str(replace(found, error=error)).splitlines() if one.startswith("Needed"))
        assert ("±" in needed) == shown
    enough = botec("solve", "llama-2-70b", "P90(cost) <= 1e6 MUSD", "--for", "mfu", *FEW)
    assert "every value of mfu from" in enough.out
