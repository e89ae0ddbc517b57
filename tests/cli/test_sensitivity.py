"""`botec sensitivity`, run as a command."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Botec = Callable[..., Any]

FEW = ("--draws", "2^12")


@pytest.mark.parametrize("columns", ["80", "140"])
def test_table(botec: Botec, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables are whole at 80 and at 140 columns, with bars that keep the sign and how to read them."""
    monkeypatch.setenv("COLUMNS", columns)
    result = botec("sensitivity", "llama-2-70b", *FEW)
    assert result.code == 0
    assert "…" not in result.out
    assert max(map(len, result.out.splitlines())) <= int(columns)
    for words in (
        "Mean cost (million USD)",
        "tenth",
        "at P90",
        "Variance of log cost",
        "share",
        "What to measure first",
    ):
        assert words in result.out
    for words in ("everything", "Decision", "worth 6 million USD", "No influence", "at or below", "Shapley", "EVPPI"):
        assert words in result.out
    bars = {line.split()[0]: line for line in result.out.splitlines() if "│" in line}
    # A low MFU is dear, a low price is cheap.
    assert bars["mfu"].index("│") < bars["mfu"].index("░")
    assert bars["price_per_accelerator_hour"].index("│") > bars["price_per_accelerator_hour"].index("░")
    assert "independent draws" in result.err


def test_json(botec: Botec) -> None:
    """JSON has every input, the set that was asked for, and intervals at the level that was asked for."""
    asked = ("--sets", "mfu, tokens", "--level", "80%", "--seed", 3, "--budget", "5 MUSD", "--json", "--quiet")
    result = botec("sensitivity", "llama-2-70b", *FEW, *asked)
    assert result.code == 0
    assert result.err == ""
    document = json.loads(result.out)
    assert document["schema"] == "uncertain-botec/sensitivity/1"
    assert (document["level"], document["seed"], document["output"]) == (0.8, 3, "cost")
    assert document["inputs"][0]["input"] == "mfu"
    worth = document["information"]
    assert "5 million USD" in worth["decision"]
    assert worth["inputs"]["mfu"]["value"] <= worth["sets"]["mfu + tokens"]["value"] <= worth["perfect"]["value"]


def test_other_outputs_and_scales(botec: Botec) -> None:
    """Another output, another scale and a changed value are those of the document."""
    options = ("--output", "training_time", "--scale", "linear", "--set", "inputs.failure_overhead=0.1", "--json")
    document = json.loads(botec("sensitivity", "llama-2-70b", *FEW, *options).out)
    assert (document["output"], document["unit"], document["scale"]) == ("training_time", "days", "linear")
    kinds = {one["input"]: one["influence"] for one in document["inputs"]}
    assert kinds["failure_overhead"] == "known"
    assert kinds["price_per_accelerator_hour"] == "none"


def test_against(botec: Botec) -> None:
    """Against other runs the decision is which of them."""
    options = ("--against", "llama-2-13b", "--late-cost", "20e3 USD/day", *FEW)
    result = botec("sensitivity", "llama-2-70b", *options)
    assert result.code == 0
    assert "one of 2 runs" in " ".join(result.out.split())
    assert "20 thousand USD for each day beyond its deadline" in " ".join(result.out.split())
    assert "llama-2-13b, expected to be worth" in result.out


@pytest.mark.parametrize("columns", ["80", "140"])
def test_nothing_uncertain(botec: Botec, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is known exactly exits with 0 and says that there is no variance."""
    monkeypatch.setenv("COLUMNS", columns)
    result = botec("sensitivity", "toy-network-2-3-1")
    assert result.code == 0
    assert "n/a (zero variance)" in result.out
    assert "nan" not in result.out.lower()
    document = json.loads(botec("sensitivity", "toy-network-2-3-1", "--json").out)
    assert all(one["shapley"] is None for one in document["inputs"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--draws", "0"), "whole number"),
        (("--draws", "1G"), "from 1 to"),
        (("--level", "2"), "between 0 and 1"),
        (("--output", "csot"), "did you mean `cost`"),
        (("--scale", "cubic"), "linear"),
        (("--budget", "lots"), "'lots' cannot be used"),
        (("--late-cost", "5 USD"), "USD/day"),
        (("--sets", "mfuu"), "did you mean `mfu`"),
        (("--against", "no-such-run"), "no-such-run"),
        (("--against", "gpt-3", "--budget", "5MUSD"), "for one scenario"),
    ],
)
def test_bad_usage(botec: Botec, arguments: tuple[str, ...], said: str) -> None:
    """What cannot be used exits with 2 and says what is expected."""
    result = botec("sensitivity", "llama-2-70b", *arguments)
    assert result.code == 2
    assert said in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


def test_no_walks_are_not_counted(botec: Callable[..., Any]) -> None:
    """Where nothing is walked through, nothing is said of walks."""
    assert "0 walks" not in botec("sensitivity", "toy-network-2-3-1").err
