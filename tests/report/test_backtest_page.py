"""The report of a backtest: the numbers of the text command, files that make it again, any number of runs."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.calibration.conftest import ROWS, apart, written
from tests.report.backtests import SHIPPED, made
from tests.report.conftest import LONG, NASTY
from tests.report.pages import read
from uncertain_botec import Backtest, Report, read_runs, write_report
from uncertain_botec.backtest_table import rows, run_rows, statements
from uncertain_botec.calibration.forecasters import StudentT
from uncertain_botec.calibration.runs import parse_runs
from uncertain_botec.plots.figure import elided
from uncertain_botec.report.backtest_answer import sentence
from uncertain_botec.report.backtest_figures import DRAWN
from uncertain_botec.report.backtest_page import sections_of
from uncertain_botec.report.backtested import Backtested, look
from uncertain_botec.report.blocks import Block, Pairs, Paragraph, Picture, Section, Table, plain
from uncertain_botec.units import digits

__all__ = ["apart"]


@pytest.fixture(scope="module")
def report(apart: Backtest, tmp_path_factory: pytest.TempPathFactory) -> Report[Backtested]:
    """Of runs that were forecast from those of another file."""
    return write_report(apart, tmp_path_factory.mktemp("backtest") / "report")


def folder_of(report: Report[Backtested]) -> Path:
    """Where it was written."""
    assert report.folder is not None
    return report.folder


def blocks_of(sections: Iterable[Section]) -> Iterator[Block]:
    """All blocks, in order."""
    for section in sections:
        yield from section.blocks


def tables(sections: Iterable[Section]) -> dict[str, list[tuple[str, ...]]]:
    """The rows of every table as they are read, by caption."""
    found = [block for block in blocks_of(sections) if isinstance(block, Table)]
    return {one.caption: [tuple(map(plain, row)) for row in one.rows] for one in found}


def pairs(sections: Iterable[Section]) -> list[tuple[str, str]]:
    """Everything that is said of a subject, as it is read."""
    found = [block for block in blocks_of(sections) if isinstance(block, Pairs)]
    return [(plain(subject), plain(text)) for one in found for subject, text in one.pairs]


def section(found: Backtest, name: str) -> str:
    """The texts of one section."""
    (one,) = (
        one
        for one in sections_of(replace(look(found), files=dict.fromkeys(("runs.csv", "train.csv"), "0")))
        if one.name == name
    )
    return " ".join(plain(block.text) for block in one.blocks if isinstance(block, Paragraph))


# --- the same numbers -------------------------------------------------------------------------------------------------


def test_tables_are_those_of_the_text(report: Report[Backtested]) -> None:
    """Forecasters, and every run for each quantity, stand in tables in the digits of the text command."""
    found = report.context.backtest
    shown = tables(report.sections)
    assert shown["Forecasts of the accelerator-hours"] == list(rows(found))
    told = [row for caption, some in shown.items() if "," in caption for row in [(caption,), *some]]
    assert told == list(run_rows(found))
    assert len(shown["Accelerator-hours, thousands"]) == 38
    assert len(shown["Wall-clock, days"]) == sum(one.days is not None for one in found.runs) > 0


def test_everything_that_the_text_says_is_said(report: Report[Backtested]) -> None:
    """Coverage, each forecaster, what was not tested, what was left out and the chains are told in the same words."""
    assert {*statements(report.context.backtest)} <= {*pairs(report.sections)}


def test_the_answer(report: Report[Backtested]) -> None:
    """The sentence counts runs within P10 to P90, and names the best of the other forecasts by its CRPS."""
    found = report.context.backtest
    inside = sum(0.1 <= one.hours.percentile <= 0.9 for one in found.runs)
    assert report.answer.startswith(
        f"P10 to P90 of the reference class held {inside} of 38 runs, {100 * inside / 38:.0f} %, "
    )
    names = {"constant_lognormal": "constant lognormal", "fixed_mfu": "fixed MFU", "published_mfu": "published MFU"}
    best = min(names, key=lambda name: found.forecasters[name].crps.value)
    assert f"of the simpler forecasts {names[best]} does best" in report.answer
    gap = found.forecasters[best].against["crps"]
    assert ("cannot be told from" in report.answer) == (abs(gap.value) <= 2 * gap.error)
    assert ("more than chance explains" in report.answer) == (abs(gap.value) > 2 * gap.error)


@pytest.mark.parametrize(
    ("spread", "said"),
    [
        (0.36, "as intervals of 80 % may well do"),
        (0.05, "fewer than intervals of 80 % hold by chance"),
        (3.0, "more than intervals of 80 % hold by chance"),
    ],
)
def test_whether_chance_may_explain_the_coverage(spread: float, said: str) -> None:
    """Forecasts as wide as runs differ hold 80 % of them within what chance does, narrow ones fewer, wide ones more."""
    assert said in sentence(look(made(SHIPPED, reference=StudentT(0.29, spread))))


def test_figures(report: Report[Backtested]) -> None:
    """Every run is named in a picture once, in the order of its percentile, and those outside are told."""
    found = report.context.backtest
    assert [figure.name for figure in report.figures] == [
        "score-gaps",
        "coverage",
        "percentiles",
        "intervals-1-of-2",
        "intervals-2-of-2",
    ]
    ordered = sorted(found.runs, key=lambda one: one.hours.percentile)
    names = {one.run.name: elided(one.run.name) for one in ordered}
    texts = [text for figure in report.figures[-2:] for text in re.findall(r"<text[^>]*>([^<]*)</text>", figure.svg)]
    assert [text for text in texts if text in names.values()] == list(names.values())
    told = " ".join(figure.alt.partition("Outside P10 to P90: ")[2] for figure in report.figures[-2:])
    for one in ordered:
        multiple = digits(one.hours.actual / one.hours.p50, 0, 3)
        outside = not 0.1 <= one.hours.percentile <= 0.9
        assert (f"{names[one.run.name]} {multiple}" in told) == outside, one.run.name


def test_rows_that_were_left_out_are_named(report: Report[Backtested]) -> None:
    """Rows that are neither forecast nor learnt from stand by their names under the reason."""
    said = dict(pairs(report.sections))
    assert said["Not in the calibration set"] == "Set aside"
    assert said["No accelerator-hours"] == ROWS[1]["name"]
    assert said["Left out"] == "1 rows: not in the calibration set; 1 rows: no accelerator-hours"


# --- the folder -------------------------------------------------------------------------------------------------------


def test_files(report: Report[Backtested]) -> None:
    """The summary names every file of the folder with its hash, and holds what `backtest --json` says; no draws."""
    folder = folder_of(report)
    document = json.loads((folder / "summary.json").read_text("utf-8"))
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there == {*document["files"], "summary.json"}
    assert {"index.html", "report.md", "runs.csv", "train.csv", "figures/coverage.png"} <= there
    assert "draws.nc" not in there
    for name, sha256 in document["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256, name
    assert document["schema"] == "uncertain-botec/report-backtest/1"
    assert document["answer"] == report.answer
    assert document["backtest"] == json.loads(json.dumps(report.context.backtest.to_dict()))
    for text in (document["files"]["runs.csv"], document["files"]["train.csv"], "There is no file of draws"):
        assert text in report.html


def test_files_of_runs_make_it_again(report: Report[Backtested]) -> None:
    """Both files are there to the byte and read as the same runs, and the page has the command."""
    found, folder = report.context.backtest, folder_of(report)
    assert found.learnt is not None
    for name, runs in (("runs.csv", found.tested), ("train.csv", found.learnt)):
        assert (folder / name).read_bytes() == Path(runs.path).read_bytes()
        assert read_runs(folder / name).kept == runs.kept
    assert "botec backtest --runs runs.csv --train train.csv --out FOLDER" in report.markdown


def test_a_report_takes_the_place_of_another(tmp_path: Path) -> None:
    """A backtest's report replaces a backtest's, whole; made again of the same it is the same to the byte."""
    folder, found = tmp_path / "report", made(SHIPPED)
    first = write_report(made(replace(SHIPPED, kept=SHIPPED.kept[:30])), folder)
    second, again = write_report(found, folder), write_report(found, tmp_path / "again")
    assert json.loads((folder / "summary.json").read_text("utf-8"))["backtest"]["n"] == 58
    assert first.files != second.files == again.files
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "report"]


@pytest.mark.parametrize(
    ("held_out", "seed", "command"),
    [
        ("run", 0, "botec backtest --runs runs.csv --out FOLDER"),
        ("organisation", 7, "botec backtest --runs runs.csv --leave-out organisation --seed 7 --out FOLDER"),
    ],
)
def test_the_command_asks_for_the_same(held_out: str, seed: int, command: str) -> None:
    """What was held out, and the seed where it is another than that by default, are in the command."""
    assert command in section(made(SHIPPED, held_out=held_out, seed=seed), "method")


def test_marks_and_line_ends_of_a_file_are_kept(tmp_path: Path) -> None:
    """A file with a byte order mark and the line ends of Windows is copied to the byte."""
    file = written(tmp_path / "a.csv", ROWS[:9])
    content = b"\xef\xbb\xbf" + file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    file.write_bytes(content)
    write_report(made(read_runs(file)), tmp_path / "report")
    assert (tmp_path / "report" / "runs.csv").read_bytes() == content


def test_runs_that_a_program_changed_have_no_file(tmp_path: Path) -> None:
    """Where the file that runs were read from says something else, none is written, and the page says why."""
    found = made(replace(SHIPPED, kept=SHIPPED.kept[::2]))
    report = write_report(found, tmp_path / "report")
    assert "runs.csv" not in report.files
    assert "Runs that a program made or changed have no file here." in section(found, "method")
    assert "SHA-256" not in report.markdown


# --- any number of runs -----------------------------------------------------------------------------------------------


def test_one_run(tmp_path: Path) -> None:
    """One run makes a page without gaps: its errors are unknown, and nothing is told from chance."""
    report = write_report(made(replace(SHIPPED, kept=SHIPPED.kept[:1])), tmp_path / "report")
    assert "of 1 runs" in report.answer
    assert "cannot be told from the reference class's" in report.answer
    assert not re.search(r"\bnan\b", report.markdown)
    assert [figure.name for figure in report.figures][-1] == "intervals"


def test_many_runs_are_cut(tmp_path: Path) -> None:
    """Of hundreds of runs some are drawn, with the first and the last, and tables say that there are more."""
    kept = tuple(replace(run, name=f"{run.name} {turn}") for turn in range(6) for run in SHIPPED.kept)
    report = write_report(made(replace(SHIPPED, kept=kept)), tmp_path / "report")
    ordered = [one.run.name for one, _ in report.context.ordered]
    pictures = [
        one for one in blocks_of(report.sections) if isinstance(one, Picture) and "intervals" in one.figure.name
    ]
    assert len(pictures) == math.ceil(DRAWN / 20)
    assert elided(ordered[0]) in pictures[0].figure.svg
    assert elided(ordered[-1]) in pictures[-1].figure.svg
    assert "Drawn are 60 of 348 runs" in report.markdown
    assert len(tables(report.sections)["Accelerator-hours, thousands"]) == 200
    assert "`summary.json` has all of them" in report.markdown
    assert len(report.html) < 1_000_000


# --- hostile texts ----------------------------------------------------------------------------------------------------


def test_hostile_names_are_texts(tmp_path: Path) -> None:
    """Names of runs and files are shown letter by letter, as HTML, as Markdown and in pictures."""
    # No file of runs holds control characters.
    nasty = re.sub("[\x00-\x1f\x7f]", "", NASTY)
    names = (nasty, LONG, "a <b>&$x`|*")
    changed = [row | {"name": name} for row, name in zip(ROWS, names, strict=False)]
    aside = ROWS[20] | {"name": f"aside {nasty}", "calibration_set": "no"}
    file = written(tmp_path / "a <b>&$x`|*.csv", [*changed, *ROWS[3:20], aside])
    report = write_report(made(read_runs(file)), tmp_path / "report")
    page = read(report.html)
    assert not {element.name for element in page.elements} & {"script", "img", "b", "iframe"}
    assert len(page.all("h1")) == 1
    assert file.name in page.all("h1")[0].text
    cells = {one.text for one in page.all("bdi")}
    assert "a <b>&$x`|*" in cells
    assert any(one.startswith("<script>alert(1)</script><img") for one in cells)
    assert any(one.startswith("aside <script>") for one in cells)
    assert max(map(len, cells - {page.all("h1")[0].text})) < 200
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", report.html)
    assert not re.search(r"(?<!\\)<(script|b)>", report.markdown)
    assert (tmp_path / "report" / "runs.csv").read_bytes() == file.read_bytes()


def test_a_text_is_read_as_its_file_is() -> None:
    """Reading the text of a file once more gives the same runs."""
    assert SHIPPED.text
    assert parse_runs(SHIPPED.text, SHIPPED.path) == SHIPPED
