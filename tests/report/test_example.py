"""The report under version control is of the shipped run as it is now."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

from uncertain_botec import Summary, load_scenario, sample, summarize
from uncertain_botec.scenario import dump_scenario

FOLDER = Path(__file__).parents[2] / "reports" / "llama-2-70b"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Its summary."""
    read: dict[str, Any] = json.loads((FOLDER / "summary.json").read_text("utf-8"))
    return read


@pytest.fixture(scope="module")
def fresh() -> Summary:
    """Of the same run and other draws."""
    return summarize(sample(load_scenario("llama-2-70b"), 1 << 16, seed=1))


def test_it_is_of_the_shipped_run(document: dict[str, Any]) -> None:
    """Its inputs, limits and settings are those of the prior files; `make reports` brings it up to date."""
    scenario = load_scenario("llama-2-70b")
    assert document["scenario"]["sha256"] == scenario.sha256
    assert (FOLDER / "scenario.toml").read_text("utf-8") == dump_scenario(scenario)


def test_it_is_whole(document: dict[str, Any]) -> None:
    """Every file is there as it was written."""
    there = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    assert there == {*document["files"], "summary.json"}
    for name, sha256 in document["files"].items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == sha256, name
    assert sum((FOLDER / name).stat().st_size for name in there) < 3e6


def test_its_numbers_are_those_of_a_fresh_forecast(document: dict[str, Any], fresh: Summary) -> None:
    """Quantiles, means and chances agree with those of other draws within their standard errors."""
    stored = document["forecast"]
    assert stored["outputs"].keys() == fresh.outputs.keys()
    scores = []
    for name, one in fresh.outputs.items():
        for level in ("p10", "p50", "p90", "mean"):
            error = math.hypot(one.mcse[level], stored["outputs"][name]["mcse"][level])
            scores.append((getattr(one, level) - stored["outputs"][name][level]) / error)
    for name, limit in fresh.limits.items():
        error = math.hypot(limit.mcse, stored["limits"][name]["mcse"])
        scores.append((limit.probability - stored["limits"][name]["probability"]) / error)
    assert len(scores) > 20
    # Errors are from 16 replicates, so that a score of 5 is about as rare as 4 of a normal.
    assert max(map(abs, scores)) < 5


def test_its_answer_is_on_its_pages(document: dict[str, Any]) -> None:
    """The sentence of the summary stands in the page and in the Markdown, where spaces and signs may be written out."""
    words = document["answer"].split()
    for name in ("index.html", "report.md"):
        text = (FOLDER / name).read_text("utf-8").replace("&nbsp;", " ")
        assert document["answer"] in " ".join(text.split()), name
    assert len(words) > 20
