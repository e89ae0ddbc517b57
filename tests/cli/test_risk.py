"""`botec risk`: what it prints, its JSON, and the gate of `--require`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from uncertain_botec import load_scenario, review_risk

Botec = Callable[..., Any]

FEW = ("--draws", "2^12")
NUMBER: dict[str, Any] = {"type": "number"}
MAYBE: dict[str, Any] = {"type": ["number", "null"]}
TEXT: dict[str, Any] = {"type": "string"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}


def table(**properties: Any) -> dict[str, Any]:
    """The JSON Schema of an object that has these keys and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def maybe(schema: dict[str, Any]) -> dict[str, Any]:
    """That, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


FIGURE = table(value=MAYBE, error=MAYBE)
CHANCE = table(value=NUMBER, error=NUMBER, low=NUMBER, high=NUMBER)
LEVEL = table(level=NUMBER, value=MAYBE, error=MAYBE, contingency=MAYBE, part=MAYBE)
LIMIT = table(name=TEXT, value=NUMBER, chance=CHANCE, expected_overrun=FIGURE, mean_overrun=maybe(FIGURE))
OUTPUT = table(
    unit=TEXT,
    exact={"type": "boolean"},
    point_estimate=MAYBE,
    percentile=FIGURE,
    confidence={"type": "array", "items": LEVEL, "minItems": 4},
    cvar=FIGURE,
    worst_credible=FIGURE,
    limit=maybe(LIMIT),
)
VERDICT = table(
    text=TEXT,
    value=MAYBE,
    error=MAYBE,
    low=MAYBE,
    high=MAYBE,
    threshold=NUMBER,
    unit=TEXT,
    met={"type": "boolean"},
    decided={"type": "boolean"},
)
RISK = table(
    schema={"const": "uncertain-botec/risk/1"},
    scenario=table(title=TEXT, path=TEXT, sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"}),
    estimator=TEXT,
    choices={"type": "object", "additionalProperties": TEXT},
    draws={"const": 4096},
    seed={"const": 3},
    sampler={"const": "lattice"},
    replicates={"const": 16},
    confidence=NUMBER,
    outputs={"type": "object", "additionalProperties": OUTPUT, "minProperties": 1},
    both=maybe(CHANCE),
    pair=maybe(table(level=NUMBER, kept=CHANCE, percentile=FIGURE, budget=FIGURE, deadline=FIGURE)),
    requirements={"type": "array", "items": VERDICT},
    met={"type": "boolean"},
    notes=TEXTS,
    provenance=table(
        versions={"type": "object", "additionalProperties": TEXT},
        device=TEXT,
        precision={"const": "float64"},
        timings={"type": "object", "additionalProperties": NUMBER},
    ),
)


@pytest.mark.parametrize("columns", [80, 140])
def test_table(botec: Botec, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is whole at 80 and at 140 columns, with limits, both, the pair and requirements in words below it."""
    monkeypatch.setenv("COLUMNS", str(columns))
    result = botec("risk", "llama-2-70b", *FEW, "--require", "P80(cost) <= 9 MUSD")
    assert result.code == 0
    assert "…" not in result.out
    assert max(map(len, result.out.splitlines())) <= columns
    for words in (
        "Cost (million USD)",
        "Training time (days)",
        "Point estimate, at P",
        "P80, asked for",
        "P99, worst credible",
        "CVaR80, mean of the worst 20 %",
        "Budget 6 million USD",
        "Deadline 60 days",
        "Budget and deadline",
        "both met with probability",
        "Joint 80 %",
        "P80(cost) <= 9 MUSD: ",
        "P90: a 90 % chance of being at or below",
    ):
        assert words in result.out
    assert "4,096 draws (lattice, 16 replicates, seed 0)" in result.err


@pytest.mark.parametrize("run", ["llama-2-70b", "toy-network-2-3-1"])
def test_json(botec: Botec, run: str) -> None:
    """JSON has the documented keys and nothing else, and is what the library says."""
    arguments = ("--seed", 3, "--confidence", "85 %", "--require", "P(network_parameters <= 5) >= 0.5")
    arguments = arguments[:4] if run == "llama-2-70b" else arguments
    result = botec("risk", run, *FEW, *arguments, "--json")
    document = json.loads(result.out)
    jsonschema.validate(document, RISK)
    review = review_risk(load_scenario(run), confidence=0.85, requirements=arguments[5:], draws=1 << 12, seed=3)
    expected = json.loads(json.dumps(review.to_dict()))
    for one in (document, expected):
        one["provenance"].pop("timings")
    assert document == expected
    assert result.code == (0 if run == "llama-2-70b" else 3)


def test_limits_in_place_of_the_files(botec: Botec) -> None:
    """Budget and deadline are read with their units and stand in place of the file's."""
    result = botec("risk", "llama-2-70b", *FEW, "--budget", "8MUSD", "--deadline", "12 week", "--json")
    outputs = json.loads(result.out)["outputs"]
    assert outputs["cost"]["limit"]["value"] == 8e6
    assert outputs["training_time"]["limit"]["value"] == pytest.approx(84)


def test_require(botec: Botec) -> None:
    """What is met exits with 0, what is not with 3 after the whole table, each on a line with what it comes to."""
    met = ("--require", "P(cost <= 9 MUSD) >= 0.8")
    assert botec("risk", "llama-2-70b", *FEW, *met).code == 0
    failed = ("--require", "P(budget and deadline) >= 0.9", "--require", "mean(training_time) <= 1 day")
    result = botec("risk", "llama-2-70b", *FEW, *met, *failed, "--quiet")
    assert result.code == 3
    assert [line.partition(": ")[2].rpartition(": ")[0] for line in result.err.splitlines()] == [
        "required and not met: P(budget and deadline) >= 0.9",
        "required and not met: mean(training_time) <= 1 day",
    ]
    assert "days" in result.err
    assert "Joint 80 %" in result.out
    assert result.out.count("NOT MET") == 2


def test_require_in_json(botec: Botec) -> None:
    """A gate reads as JSON too, with the exit code of the table."""
    result = botec("risk", "llama-2-70b", *FEW, "--require", "CVaR80(cost) <= 1 MUSD", "--json")
    assert result.code == 3
    document = json.loads(result.out)
    assert document["met"] is False
    assert document["requirements"][0]["threshold"] == 1e6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--budget", "5"), "budget: 5: the unit is missing"),
        (("--budget", "cheap"), "a quantity starts with a number"),
        (("--deadline", "5 MUSD"), "measures money, not time"),
        (("--confidence", "100%"), "between 0 and 1"),
        (("--confidence", "80"), "between 0 and 1"),
        (("--require", "P(csot <= 5 MUSD) >= 0.8"), "did you mean `cost`?"),
        (("--require", "cost <= 5 MUSD"), "write P(cost <= 5 MUSD) >= 0.8"),
        (("--require", "P(memory) >= 0.8"), "memory_utilisation is not computed here"),
        (("--draws", "0"), "whole number"),
    ],
)
def test_bad_usage(botec: Botec, arguments: tuple[str, str], said: str) -> None:
    """What cannot be used exits with 2 and says what is expected."""
    result = botec("risk", "llama-2-70b", *arguments)
    assert result.code == 2
    assert said in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


def test_a_deadline_without_time(botec: Botec) -> None:
    """A deadline for what takes no time is bad usage; a review without one says that there is none."""
    result = botec("risk", "toy-network-2-3-1", "--deadline", "45day")
    assert result.code == 2
    assert "gives no training_time" in result.err
    assert "no deadline to review" in botec("risk", "toy-network-2-3-1", *FEW).out


def test_pipe(process: Botec) -> None:
    """As a process: results on standard output, the gate's line on standard error, and exit code 3."""
    result = process("risk", "gpt-3", *FEW, "--require", "P99(cost) <= 1 USD", NO_COLOR="1")
    assert result.code == 3
    assert "\x1b" not in result.out
    assert "required and not met: P99(cost) <= 1 USD" in result.err
