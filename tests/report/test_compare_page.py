"""The report of a comparison: the numbers of the text command, runs that are alike or known, and hostile titles."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
import xarray

from tests.report.conftest import FEW, LONG, NASTY
from tests.report.pages import read
from uncertain_botec import Report, Scenario, compare_scenarios, load_scenario, review_risk, write_report
from uncertain_botec.comparison_table import rows, statements
from uncertain_botec.errors import UsageError
from uncertain_botec.report.blocks import Points, Table, plain
from uncertain_botec.report.compare_answer import sentence
from uncertain_botec.report.compare_page import sections_of
from uncertain_botec.report.compared import Compared, draw_again, turned

INPUTS = {
    "parameters": 7e9,
    "tokens": {"family": "lognormal", "median": "2e12 token", "sigma": 0.2},
    "accelerators": 512,
    "peak_flop_per_s": "312 TFLOP/s",
    "mfu": 0.3,
    "failure_overhead": 0.1,
    "price_per_accelerator_hour": "2 USD/hour",
}

Make = Callable[..., Scenario]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A maker of scenarios: a file's stem, and what is stated otherwise."""

    def made(stem: str = "run", tables: dict[str, Any] | None = None, **changes: Any) -> Scenario:
        document = {"title": stem, "estimator": "training", **(tables or {}), "inputs": {**INPUTS, **changes}}
        file = tmp_path / f"{stem}.toml"
        file.write_text(tomli_w.dumps(document), "utf-8")
        return load_scenario(file)

    return made


def compared(*scenarios: Scenario, draws: int = FEW) -> Compared:
    """What a report of these runs looks at."""
    return draw_again(compare_scenarios(scenarios, draws=draws), 256)


def answer(*scenarios: Scenario) -> str:
    """The sentence."""
    return plain(sentence(compared(*scenarios)))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report[Compared]:
    """Of three shipped runs."""
    scenarios = [load_scenario(name) for name in ("llama-2-70b", "gpt-3", "deepseek-v3")]
    return write_report(compare_scenarios(scenarios, draws=FEW, seed=2), tmp_path_factory.mktemp("pair") / "report")


def table(report: Report[Compared], caption: str) -> Table:
    """The table with a caption that begins so."""
    blocks = [block for section in report.sections for block in section.blocks]
    (found,) = (one for one in blocks if isinstance(one, Table) and one.caption.startswith(caption))
    return found


def folder_of(report: Report[Compared]) -> Path:
    """Where it was written."""
    assert report.folder is not None
    return report.folder


# --- the same numbers -------------------------------------------------------------------------------------------------


def test_the_table_is_that_of_the_text(report: Report[Compared]) -> None:
    """Every number of the text command stands on the page, in the same digits, and every statement of who is better."""
    told = [[plain(cell) for cell in row] for row in table(report, "Every run").rows]
    shown = [list(row) for row in rows(report.context.comparison)]
    assert [row[1:] for row in told] == [row[1:] for row in shown]
    assert [row[0] for row in told[1:4]] == ["A (llama-2-70b)", "B (gpt-3)", "C (deepseek-v3)"]
    page = " ".join(read(report.html).all("main")[0].text.replace("\xa0", " ").split())
    for subject, statement in statements(report.context.comparison):
        if " than " in subject:
            assert statement in page
            assert subject in page


def test_of_many_runs_it_is_said_which_are_meant(report: Report[Compared]) -> None:
    """Who is lower at every percentile is said of a pair of runs by name, unless it names both already."""
    points = [plain(one) for block in report.sections[0].blocks if isinstance(block, Points) for one in block.items]
    assert "Cost: A is lower than B in every draw." in points
    assert "Cost: of A and C, A has the lower cost at every percentile from P1 to P99." in points


def test_draws_are_those_of_the_comparison(report: Report[Compared]) -> None:
    """What is drawn again is what was compared: medians, chances and the quantiles of differences are equal to it."""
    comparison = report.context.comparison
    labels = list(comparison.scenarios)
    for name, one in comparison.outputs.items():
        drawn = {label: report.context.draws[label][name] for label in labels}
        for label in labels:
            assert np.quantile(drawn[label], 0.5, method="hazen") == pytest.approx(one.curves[label].p50.value, 1e-12)
        for gap in one.differences:
            apart = drawn[gap.second] - drawn[gap.first]
            assert np.mean(apart > 0) + np.mean(apart == 0) / 2 == pytest.approx(gap.lower.value, abs=1e-12)
            assert np.quantile(apart, 0.9, method="hazen") == pytest.approx(gap.p90.value, 1e-9)


def test_limits_are_those_of_the_risk_review(report: Report[Compared]) -> None:
    """Each run's chances of budget, deadline and both, and what to plan for, are those of `risk` for it alone."""
    alone = review_risk(load_scenario("gpt-3"), draws=FEW, seed=2)
    label = "gpt-3"
    assert report.context.reviews[label].both == alone.both
    limits = {one.limit.name: one.limit.chance for one in alone.outputs.values() if one.limit is not None}
    assert dict(report.context.limits[label]) == limits
    (row,) = (row for row in table(report, "What to plan for").rows if "gpt-3" in row[0])
    assert alone.pair is not None
    assert float(row[3].split()[0]) == pytest.approx(alone.pair.budget.value / 1e6, rel=5e-3)
    assert float(row[4].split()[0]) == pytest.approx(alone.pair.deadline.value, rel=5e-3)


def test_a_difference_turned_is_that_of_the_runs_in_the_other_order() -> None:
    """B less A is A less B with its quantiles in the other order and the other chance."""
    one, other = load_scenario("llama-2-70b"), load_scenario("deepseek-v3")
    (gap,) = compare_scenarios([one, other], draws=FEW).outputs["cost"].differences
    (back,) = compare_scenarios([other, one], draws=FEW).outputs["cost"].differences
    told = turned(gap)
    assert (told.first, told.second) == (back.first, back.second)
    for mine, theirs in zip(
        (told.p10, told.p50, told.p90, told.mean), (back.p10, back.p50, back.p90, back.mean), strict=True
    ):
        assert mine.value == pytest.approx(theirs.value, rel=1e-9)
    assert told.lower.value == pytest.approx(back.lower.value, abs=1e-12)
    assert (told.lower.low, told.lower.high) == pytest.approx((back.lower.low, back.lower.high), abs=1e-9)


# --- the folder -------------------------------------------------------------------------------------------------------


def test_files(report: Report[Compared]) -> None:
    """The summary names every file of the folder with its hash, and holds what `compare --json` says."""
    folder = folder_of(report)
    document = json.loads((folder / "summary.json").read_text("utf-8"))
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there == {*document["files"], "summary.json"}
    assert {"index.html", "report.md", "draws.nc", "A.toml", "B.toml", "C.toml", "figures/gaps-cost.svg"} <= there
    for name, sha256 in document["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256, name
    assert document["schema"] == "uncertain-botec/report-compare/1"
    assert document["compare"] == json.loads(json.dumps(report.context.comparison.to_dict()))
    assert document["answer"] == report.answer
    assert {one["schema"] for one in document["risk"].values()} == {"uncertain-botec/risk/1"}


def test_hashes_seed_and_versions_are_on_the_page(report: Report[Compared]) -> None:
    """The page names the hash of every run's file and of the files beside it, the seed, and the versions."""
    made = report.context.comparison.provenance
    for text in (
        *(one.sha256 for one in report.context.comparison.scenarios.values()),
        *(report.files[name] for name in ("draws.nc", "A.toml", "B.toml", "C.toml")),
        *made.versions.values(),
        f"{made.draws:,} draws of each run",
        "seed 2",
    ):
        assert text in report.html.replace("&nbsp;", " ")
        assert text in report.markdown


def test_draws_hold_every_run(report: Report[Compared]) -> None:
    """`draws.nc` has a group for each run; its rows are common, so that shared inputs are equal in the same place."""
    file = folder_of(report) / "draws.nc"
    groups = {}
    for letter in "ABC":
        with xarray.open_datatree(file, engine="h5netcdf", group=letter) as tree:
            groups[letter] = {name: tree["prior"][name].to_numpy() for name in ("failure_overhead", "mfu")}
            assert tree["prior_predictive"]["cost"].attrs["units"] == "USD"
            assert "provenance" in tree.attrs
    assert report.context.comparison.same == ("failure_overhead",)
    for letter in "BC":
        np.testing.assert_array_equal(groups["A"]["failure_overhead"], groups[letter]["failure_overhead"])
        assert not np.array_equal(groups["A"]["mfu"], groups[letter]["mfu"])


def test_the_runs_make_the_report_again(report: Report[Compared], tmp_path: Path) -> None:
    """The scenario files of the folder, compared with the same seed, give the same numbers."""
    scenarios = [load_scenario(folder_of(report) / f"{letter}.toml") for letter in "ABC"]
    again = write_report(compare_scenarios(scenarios, draws=FEW, seed=2), tmp_path / "again")
    assert table(again, "What to plan for").rows[0][1:] == table(report, "What to plan for").rows[0][1:]
    for old, new in zip(
        report.context.comparison.outputs.values(), again.context.comparison.outputs.values(), strict=True
    ):
        assert [one.values for one in old.curves.values()] == [one.values for one in new.curves.values()]


def test_what_was_drawn_is_asked_no_further(tmp_path: Path) -> None:
    """Options of a scenario's report are refused for a comparison, and a folder of something else is left alone."""
    comparison = compare_scenarios([load_scenario("toy-network-2-3-1")] * 2, draws=64)
    with pytest.raises(TypeError, match="budget"):
        write_report(comparison, tmp_path / "report", budget="5 MUSD")  # type: ignore[call-overload]
    assert not (tmp_path / "report").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it", "utf-8")
    with pytest.raises(UsageError, match=r"thesis\.txt"):
        write_report(comparison, tmp_path / "mine")


# --- kinds of runs ----------------------------------------------------------------------------------------------------


def test_identical_runs(make: Make) -> None:
    """A run beside itself: equal in every draw, each better with 50 %, no difference to draw, and how ties count."""
    context = compared(make(), make())
    sections = {one.name: one for one in sections_of(context)}
    assert answer(make(), make()) == (
        "A (run #1) and B (run #2) cost the same in every draw; A and B take equally long in every draw."
    )
    assert "differences" not in sections
    said = repr([*sections.values()])
    assert "Draws in which two runs are equal count half for each, so that of identical runs each has 50 %" in said
    assert "with probability 50 %; equal in every draw" in said
    assert "Nothing differs" in said


def test_runs_that_are_known(make: Make) -> None:
    """Constants are compared exactly: 6 N D / (n p MFU) with the overhead, at 2 and at 3 USD."""
    first, second = (
        make("a", tokens="2e12 token"),
        make("b", tokens="2e12 token", price_per_accelerator_hour="3 USD/hour"),
    )
    hours = 6 * 7e9 * 2e12 * 1.1 / (312e12 * 0.3) / 3600
    assert answer(first, second) == (
        f"A (a) is cheaper than B (b) by {hours / 1e3:,.1f} thousand USD, for certain; "
        "A and B take equally long in every draw."
    )
    names = [one.name for one in sections_of(compared(first, second))]
    assert names == ["answer", "asked", "differing", "results", "limits", "method"]


def test_the_answer_is_the_closed_form(make: Make) -> None:
    """A and B share all but a known price: the difference is a lognormal's, whose quantiles the sentence tells."""
    said = answer(make("a"), make("b", price_per_accelerator_hour="3 USD/hour"))
    hours = 6 * 7e9 * 2e12 * 1.1 / (312e12 * 0.3) / 3600
    low, middle, high = (hours * math.exp(0.2 * z) / 1e3 for z in (-1.2815516, 0.0, 1.2815516))
    match = re.search(r"by ([\d.]+) thousand USD at the median and by ([\d.]+) to ([\d.]+) thousand USD in eight", said)
    assert match is not None, said
    told = [float(number) for number in match.groups()]
    assert told == pytest.approx([middle, low, high], rel=3e-3)
    assert said.startswith("A (a) is cheaper than B (b) with a probability of more than 99.")


def test_runs_as_likely_as_each_other(make: Make) -> None:
    """Where neither is clearly the better, the sentence says so rather than name one for its noise."""
    uncertain = {"family": "lognormal", "median": "2e12 token", "sigma": 0.2}
    said = answer(make("a", tokens=uncertain), make("b", tokens="2e12 token"))
    assert said.startswith("A (a) and B (b) are equally likely to be cheaper: in eight draws of ten")
    assert "-0" not in said


@pytest.mark.parametrize("runs", [("chinchilla-70b-budget",) * 2, ("toy-network-2-3-1",) * 2])
def test_runs_without_cost(runs: Sequence[str], tmp_path: Path) -> None:
    """Estimators that know of no cost or time are compared by what they have."""
    scenarios = [load_scenario(run) for run in runs]
    if runs[0].startswith("chinchilla"):
        scenarios[1] = load_scenario(runs[0], ["inputs.training_flop=7e23 FLOP"])
    report = write_report(compare_scenarios(scenarios, draws=256), tmp_path / "report")
    assert "parameters" in report.answer
    assert "No run states a budget or a deadline." in report.html
    assert not re.search(r"\bnan\b", report.markdown)


def test_runs_that_never_finish(make: Make) -> None:
    """A run that often never finishes is told of without a number that has no end, and drawn without one."""
    context = compared(make("a"), make("b", accelerators=600))
    name = "training_time"
    slow = context.draws["b"].values[name].copy()
    slow[:, ::4] = math.inf
    slow_b = replace(context.draws["b"], values={**context.draws["b"].values, name: slow})
    figure = next(
        block.figure
        for section in sections_of(replace(context, draws={**context.draws, "b": slow_b}))
        if section.name == "differences"
        for block in section.blocks
        if getattr(getattr(block, "figure", None), "name", "").endswith("training-time")
    )
    assert "nan" not in figure.svg
    assert "inf" not in re.sub("infinite", "", figure.alt)


# --- other people's texts ---------------------------------------------------------------------------------------------


def test_hostile_titles_are_texts(tmp_path: Path) -> None:
    """HTML, Markdown and control characters in names, titles and sources are shown letter by letter, on one line."""
    files = []
    for name in ("a <b>&$x`|*[c](d)", "b \u202egnp.exe"):
        stated = {"value": 7e9, "source": NASTY}
        mfu = {"family": "logit-normal", "p10": 0.2, "p90": 0.5, "source": NASTY, "note": LONG}
        document = {"title": NASTY, "estimator": "training", "inputs": {**INPUTS, "parameters": stated, "mfu": mfu}}
        files.append(tmp_path / f"{name}.toml")
        files[-1].write_text(tomli_w.dumps(document), "utf-8")
    comparison = compare_scenarios(
        [load_scenario(files[0]), load_scenario(files[1], ["inputs.accelerators=600"])], draws=256
    )
    report = write_report(comparison, tmp_path / "report")
    page = read(report.html)
    assert not {element.name for element in page.elements} & {"script", "img", "b", "iframe"}
    assert len(page.all("h1")) == 1
    assert any("a <b>&$x`|*[c](d)" in one.text for one in page.all("bdi"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", report.html)
    assert "<script" not in report.markdown.replace("\\<script", "")
