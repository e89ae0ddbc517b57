"""`botec update`: what it prints, its JSON, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.test_risk import CHANCE, FIGURE, MAYBE, NUMBER, TEXT, TEXTS, maybe, table

Botec = Callable[..., Any]

SPREAD = table(p10=FIGURE, p50=FIGURE, p90=FIGURE)
REVISED = table(unit=TEXT, prior=SPREAD, posterior=SPREAD, narrower=MAYBE)
DATES = table(
    **dict.fromkeys(("p10", "p50", "p90"), maybe({"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT.*\+00:00$"}))
)
UPDATE = table(
    schema={"const": "uncertain-botec/update/1"},
    scenario=table(title=TEXT, path=TEXT, sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"}),
    log=table(path=TEXT, sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"}, start=maybe(TEXT)),
    estimator=TEXT,
    choices={"type": "object", "additionalProperties": TEXT},
    draws={"type": "integer", "minimum": 800},
    seed={"const": 3},
    so_far=table(
        rows=NUMBER,
        tokens=NUMBER,
        share=NUMBER,
        elapsed=NUMBER,
        lost=NUMBER,
        interruptions=MAYBE,
        cost=MAYBE,
        finished={"type": "boolean"},
    ),
    against_plan=table(
        planned=SPREAD, actual=NUMBER, percentile=FIGURE, low=NUMBER, high=NUMBER, inside={"type": "boolean"}
    ),
    outputs=table(training_time=REVISED, accelerator_hours=REVISED, cost=REVISED),
    finish=maybe(table(prior=DATES, posterior=DATES)),
    limits={"type": "object", "additionalProperties": table(value=NUMBER, unit=TEXT, prior=CHANCE, posterior=CHANCE)},
    both=maybe(table(prior=CHANCE, posterior=CHANCE)),
    learnt={"type": "object", "additionalProperties": REVISED},
    diagnostics=maybe(
        table(rhat=NUMBER, rhat_of=TEXT, ess=NUMBER, ess_of=TEXT, divergences=NUMBER, chains=NUMBER, draws=NUMBER)
    ),
    warnings=TEXTS,
    notes=TEXTS,
    provenance=table(
        versions={"type": "object", "additionalProperties": TEXT},
        device=TEXT,
        precision={"const": "float64"},
        timings={"type": "object", "additionalProperties": NUMBER},
    ),
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Eleven days of a run of llama-2-70b."""
    file = tmp_path / "progress.csv"
    rows = "".join(f"2026-09-{day + 1:02},{40.0 * day + day % 3}e9,{day // 2}\n" for day in range(12))
    file.write_text(f"time,tokens,interruptions\n{rows}", "utf-8")
    return file


@pytest.mark.parametrize("columns", [80, 140])
def test_table(botec: Botec, log: Path, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is whole at 80 and at 140 columns, with the finish as a date and the chances in words below it."""
    monkeypatch.setenv("COLUMNS", str(columns))
    result = botec("update", "llama-2-70b", "--log", log)
    assert result.code == 0
    assert "…" not in result.out
    assert max(map(len, result.out.splitlines())) <= columns
    for words in (
        "Training time (days)", "Cost (million USD)", "planned", "with the log", "times", "MFU while stepping (%)",
        "Day-to-day spread (%)", "Finish", "2026-10-", "Budget 6 million USD", "Deadline 60 days",
        "Budget and deadline", "no divergences", "Plan to here",
    ):  # fmt: skip
        assert words in " ".join(result.out.split())


def test_json(botec: Botec, log: Path) -> None:
    """JSON follows its schema, is unrounded, and has the limits that the options state."""
    result = botec("update", "llama-2-70b", "--log", log, "--json", "--seed", 3, "--deadline", "52 day", "--quiet")
    assert result.code == 0
    assert result.err == ""
    document = json.loads(result.out)
    jsonschema.validate(document, UPDATE)
    assert document["limits"]["deadline"]["value"] == 52
    assert document["so_far"]["interruptions"] == 5
    assert {"mfu", "failure_overhead", "speed", "day_to_day_noise"} <= document["learnt"].keys()
    assert any("interruptions are not used" in note for note in document["notes"])


def test_a_finished_run_has_no_sampler(botec: Botec, log: Path) -> None:
    """A log that reaches the tokens of the plan ends with what it was, in the same schema."""
    result = botec("update", "llama-2-70b", "--log", log, "--json", "--seed", 3, "--set", "inputs.tokens='0.44T token'")
    assert result.code == 0
    document = json.loads(result.out)
    jsonschema.validate(document, UPDATE)
    assert document["so_far"]["finished"]
    assert document["diagnostics"] is None


def test_bad_logs(botec: Botec, tmp_path: Path, log: Path) -> None:
    """Faults of a log end with exit code 2, all at once, each with its row and column; so does a missing file."""
    bad = tmp_path / "bad.csv"
    bad.write_text("elapsed_days,tokens\n0,0\n1,x\n2,-1\n3,4\n", "utf-8")
    result = botec("update", "llama-2-70b", "--log", bad)
    assert result.code == 2
    assert f"{bad}: row 3, tokens" in result.err
    assert f"{bad}: row 4, tokens" in result.err
    assert "2 faults found" in result.err
    assert botec("update", "llama-2-70b", "--log", tmp_path / "none.csv").code == 2
    assert botec("update", "llama-2-70b").code == 2
    assert botec("update", "toy-network-2-3-1", "--log", log).code == 2
    assert botec("update", "llama-2-70b", "--log", log, "--deadline", "soon").code == 2
