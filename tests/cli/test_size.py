"""`botec size` and `--require`, run as commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Botec = Callable[..., Any]

RUN = """
title     = "Sizes"
estimator = "training"
optimizer = "adam"
recompute = "full"
include   = ["accelerators/h100-sxm", "prices/neocloud-2026"]

[architecture]
layers           = 32
hidden_size      = 4096
attention_heads  = 32
mlp              = "gated"
mlp_size         = 11008
vocabulary_size  = 32000
tied_embeddings  = false
sequence_length  = 4096

[inputs]
tokens                 = "2e12 token"
accelerators           = 256
mfu                    = { family = "logit-normal", p10 = 0.3, p90 = 0.5 }
failure_overhead       = "10 %"
micro_batch            = 1
tensor_parallel        = 2
pipeline_parallel      = 1
pipeline_interleave    = 1
sequence_parallel      = 1
zero_stage             = 1
usable_memory_fraction = 0.9

[limits]
deadline = "14 day"
budget   = "400e3 USD"
"""

NEVER = """
[inputs]
accelerators          = 256
mfu                   = 0.4
node_failure_rate     = "1000 failure/node-day"
accelerators_per_node = 8
restart_time          = "10 minute"
checkpoint_write_time = "1 minute"
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that fits and has a deadline."""
    path = tmp_path / "run.toml"
    path.write_text(RUN, "utf-8")
    return path


@pytest.mark.parametrize("columns", ["80", "140"])
def test_table(botec: Botec, run: Path, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is whole at 80 and at 140 columns, with the smallest sizes in words below it."""
    monkeypatch.setenv("COLUMNS", columns)
    result = botec("size", run, "--draws", "2^12")
    assert result.code == 0
    assert "…" not in result.out
    assert max(map(len, result.out.splitlines())) <= int(columns)
    for words in ("accelerators", "Smallest that fits", "Smallest in time", "FLOP convention", "14 days", "at 90 %"):
        assert words in result.out


def test_json(botec: Botec, run: Path) -> None:
    """JSON has the sizes asked for, among those found by search."""
    result = botec("size", run, "--sizes", "128,0.5k,2^10", "--confidence", "80 %", "--draws", "2^10", "--json")
    document = json.loads(result.out)
    assert {128, 500, 1024} <= {one["accelerators"] for one in document["sizes"]}
    assert document["confidence"] == 0.8
    assert document["smallest"] == max(document["smallest_that_fits"], document["smallest_in_time"])


def test_require(botec: Botec, run: Path) -> None:
    """What can be met exits with 0, what cannot with 3 after the whole table."""
    assert botec("size", run, "--draws", "2^10", "--require").code == 0
    tight = ("--set", "inputs.accelerator_memory=12 GB")
    result = botec("size", run, "--draws", "2^10", "--require", *tight)
    assert result.code == 3
    assert "required and not met: memory" in result.err
    assert "Smallest that fits" in result.out
    assert botec("size", run, "--draws", "2^10", *tight).code == 0


def test_require_both_at_once(botec: Botec, run: Path) -> None:
    """A size that fits and another that is in time do not make one that does both: exit code 3, and it is said."""
    failing = (
        "failure_overhead",
        'node_failure_rate = "0.05 failure/node-day"\naccelerators_per_node = 8\n'
        'restart_time = "1 hour"\ncheckpoint_write_time = "5 minute"\n#',
    )
    run.write_text(run.read_text("utf-8").replace(*failing).replace("zero_stage             = 1", "zero_stage = 3"))
    outputs = json.loads(botec("forecast", run, "--draws", "64", "--json").out)["outputs"]
    rest = sum(outputs[name]["p50"] for name in ("activation_memory", "logit_memory"))
    states = 256 * sum(outputs[f"{name}_memory"]["p50"] for name in ("weight", "gradient", "optimizer"))
    tight = ("--set", f"inputs.accelerator_memory={(rest + states / 99_999) / 0.9:.12f} GB")
    result = botec("size", run, "--draws", "2^10", "--require", *tight)
    assert result.code == 3
    assert "Smallest of both    none" in result.out
    assert result.err.splitlines()[-1] == "botec: required and not met: memory and deadline at once"
    document = json.loads(botec("size", run, "--draws", "2^10", "--json", *tight).out)
    assert document["smallest"] is None
    assert None not in (document["smallest_that_fits"], document["smallest_in_time"])


def test_forecast_require(botec: Botec, run: Path) -> None:
    """A forecast that does not fit says so in its memory table and, where it is required, with exit code 3."""
    assert botec("forecast", run, "--draws", "2^10", "--require").code == 0
    tight = ("--set", "inputs.accelerator_memory=12 GB")
    result = botec("forecast", run, "--draws", "2^10", "--require", *tight)
    assert result.code == 3
    assert "Memory of one accelerator" in result.out
    assert "does not fit" in result.out
    assert "required and not met: memory" in result.err
    assert botec("forecast", run, "--draws", "2^10", *tight).code == 0


def test_a_run_that_never_finishes(botec: Botec, tmp_path: Path) -> None:
    """It is said in words, no deadline is kept, JSON stays JSON, and `--require` exits with 3."""
    path = tmp_path / "never.toml"
    head = RUN.partition("[inputs]")[0].replace('optimizer = "adam"\nrecompute = "full"\n', "")
    path.write_text(f'{head}{NEVER}tokens = "2e12 token"\n[limits]\ndeadline = "14 day"\n', "utf-8")
    result = botec("forecast", path, "--draws", "2^10", "--require")
    assert result.code == 3
    assert "Never finishes" in result.out
    assert "met with probability 0 % (known exactly)" in result.out
    assert "nan" not in result.out.lower()
    document = json.loads(botec("forecast", path, "--draws", "2^10", "--json").out)
    assert document["outputs"]["training_time"]["p50"] is None
    assert document["outputs"]["training_time"]["endless"] == 1
    assert document["limits"]["deadline"]["probability"] == 0
    assert "∞" in botec("size", path, "--draws", "2^10").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sizes", "0"), "whole numbers of accelerators"),
        (("--sizes", "a,b"), "whole numbers of accelerators"),
        (("--sizes", "1.5"), "whole numbers of accelerators"),
        (("--confidence", "2"), "between 0 and 1"),
        (("--confidence", "100%"), "between 0 and 1"),
        (("--confidence", "high"), "between 0 and 1"),
        (("--draws", "0"), "whole number"),
    ],
)
def test_bad_usage(botec: Botec, run: Path, arguments: tuple[str, str], said: str) -> None:
    """What cannot be used exits with 2 and says what is expected."""
    result = botec("size", run, *arguments)
    assert result.code == 2
    assert said in result.err
    assert result.out == ""
