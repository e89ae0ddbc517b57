"""The report of a sweep: the numbers of the text command, grids of all shapes, and what is written."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
import tomli_w

from tests.report.conftest import NASTY
from tests.report.pages import read
from uncertain_botec import Report, load_scenario, sweep, write_report
from uncertain_botec.decisions.surface import Sweep
from uncertain_botec.report.blocks import Paragraph, Section, Table, plain
from uncertain_botec.report.sweep_answer import sentence
from uncertain_botec.report.sweep_page import ROWS, sections_of
from uncertain_botec.report.swept import Swept, look
from uncertain_botec.sweep_table import rows

OVER = ("accelerators=512:8192:x2", "mfu=30 %,40 %", "prices=neocloud-2026,hyperscaler-2026")

KNOWN = {
    "parameters": 7e9,
    "tokens": "2e12 token",
    "accelerators": 512,
    "peak_flop_per_s": "312 TFLOP/s",
    "mfu": 0.3,
    "failure_overhead": 0.1,
    "price_per_accelerator_hour": "2 USD/hour",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report[Swept]:
    """Of two inputs and two markets."""
    return write_report(sweep("llama-2-70b", OVER), tmp_path_factory.mktemp("sweep") / "report")


def answer(found: Sweep) -> str:
    """The sentence."""
    return plain(sentence(look(found)))


def figures(sections: Iterable[Section]) -> set[str]:
    """The names of all pictures."""
    blocks = (block for section in sections for block in section.blocks)
    return {block.figure.name for block in blocks if hasattr(block, "figure")}


def table(sections: Iterable[Section], caption: str) -> Table:
    """The table with a caption that begins so."""
    blocks = (block for section in sections for block in section.blocks)
    return next(one for one in blocks if isinstance(one, Table) and one.caption.startswith(caption))


# --- the same numbers -------------------------------------------------------------------------------------------------


def test_the_table_is_that_of_the_text(report: Report[Swept]) -> None:
    """Every point stands in the table in the digits and with the marks of the text command."""
    found = report.context.sweep
    told = [tuple(map(plain, row)) for row in table(report.sections, "All 20 points").rows]
    assert told == list(rows(found, range(20)))


def test_the_answer_is_the_cheapest(report: Report[Swept]) -> None:
    """The sentence names the point of `best` with its P90 of cost and time."""
    best = report.context.sweep.best
    assert best is not None
    assert best.at == (8192.0, 0.4, "neocloud-2026")
    cost, time = best.outputs["cost"].p90 / 1e6, best.outputs["training_time"].p90
    assert (
        f"accelerators 8,192, mfu 0.4, prices neocloud-2026: it costs at most {cost:.2f} million USD" in report.answer
    )
    assert f"takes at most {time:.1f} days" in report.answer
    assert "that keeps the deadline of 60 days with a probability of 90 %" in report.answer


def test_pictures_are_of_the_best_market(report: Report[Swept]) -> None:
    """Two inputs are drawn as surfaces where the market is the best one, and the front is drawn over all points."""
    assert figures(report.sections) == {"surface-cost", "surface-training-time", "surface-deadline", "pareto"}
    (landscape,) = (one for one in report.sections if one.name == "landscape")
    assert isinstance(landscape.blocks[0], Paragraph)
    assert "Here `prices` is neocloud-2026." in landscape.blocks[0].text.replace("\u2068", "").replace("\u2069", "")


def test_short_words_stay_in_one_line(report: Report[Swept]) -> None:
    """Columns are of numbers, of words in one line, and of marks without room to spare; inputs have titles."""
    shown = table(report.sections, "All 20 points")
    assert shown.align == "rrdrrrrrrd"
    assert shown.columns[:3] == ("Accelerators", "MFU", "prices")


@pytest.mark.parametrize(
    ("run", "over", "number"), [("llama-2-70b", "mfu=30 %,40 %", 1), ("mixture-400b-2027", "accelerators=2048,4096", 2)]
)
def test_the_front_is_told_as_it_is(run: str, over: str, number: int) -> None:
    """On a front of several points less time costs more; of a single one nothing of the kind is said."""
    found = sweep(run, [over])
    (told,) = (one for one in sections_of(look(found)) if one.name == "front")
    text = " ".join(block.text for block in told.blocks if isinstance(block, Paragraph))
    assert len(found.front) == number
    assert ("whoever wants to be sooner still pays more" in text) == (number > 1)
    assert ("from the cheapest" in table([told], "The Pareto front").caption) == (number > 1)


# --- the folder -------------------------------------------------------------------------------------------------------


def test_files(report: Report[Swept]) -> None:
    """The summary names every file of the folder with its hash, and holds what `sweep --json` says; no draws."""
    folder = report.folder
    assert folder is not None
    document = json.loads((folder / "summary.json").read_text("utf-8"))
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there == {*document["files"], "summary.json"}
    assert {"index.html", "report.md", "points.csv", "scenario.toml", "figures/pareto.png"} <= there
    assert "draws.nc" not in there
    for name, sha256 in document["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256, name
    assert document["schema"] == "uncertain-botec/report-sweep/1"
    assert document["sweep"] == json.loads(json.dumps(report.context.sweep.to_dict()))
    for text in (document["files"]["points.csv"], report.context.sweep.scenario.sha256, "There is no file of draws"):
        assert text in report.html


def test_points_as_csv(report: Report[Swept]) -> None:
    """Every point is a row of numbers that read back to the last digit, under headings with their units."""
    assert report.folder is not None
    with (report.folder / "points.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    found = report.context.sweep
    assert len(lines) == len(found.points)
    for line, point in zip(lines, found.points, strict=True):
        assert float(line["accelerators [accelerators]"]) == point.at[0]
        assert line["prices"] == point.at[2]
        assert float(line["cost p90 [USD]"]) == point.outputs["cost"].p90
        assert float(line["training_time p50 error [days]"]) == point.outputs["training_time"].errors[1]
        assert float(line["P(deadline)"]) == point.limits["deadline"].value
        assert (line["keeps"], line["efficient"]) == (str(point.keeps).lower(), str(point.efficient).lower())


def test_a_report_takes_the_place_of_another(tmp_path: Path) -> None:
    """A sweep's report replaces a sweep's."""
    folder = tmp_path / "report"
    write_report(sweep("toy-network-2-3-1", ["examples=10,20"]), folder)
    write_report(sweep("toy-network-2-3-1", ["examples=10,20,30"]), folder)
    assert len(json.loads((folder / "summary.json").read_text("utf-8"))["sweep"]["points"]) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


# --- grids of all shapes ----------------------------------------------------------------------------------------------


def test_long_grids_are_cut(tmp_path: Path) -> None:
    """Of a thousand points the page shows the first two hundred, says so, and `points.csv` has all of them."""
    report = write_report(sweep("llama-2-70b", ["accelerators=1024:2023:1"]), tmp_path / "report")
    assert len(table(report.sections, f"The first {ROWS} of 1,000 points").rows) == ROWS
    assert len((tmp_path / "report" / "points.csv").read_text("utf-8").splitlines()) == 1001
    assert "accelerators 2,023" in report.answer
    assert len(report.html) < 1_000_000


def test_one_point() -> None:
    """A grid of one point is told as one, without pictures of what does not vary."""
    context = look(sweep("llama-2-70b", ["accelerators=2048"]))
    kept = context.sweep.points[0].limits["deadline"].value
    assert plain(sentence(context)) == (
        "The one point, accelerators 2,048, does not keep the deadline of 60 days with a probability of 90 %: "
        f"it keeps the deadline with {100 * kept:.1f} %."
    )
    assert [one.name for one in sections_of(context)] == ["answer", "asked", "points", "method"]
    assert answer(sweep("llama-2-70b", ["accelerators=8192"])).startswith(
        "The one point, accelerators 8,192, keeps the deadline of 60 days with a probability of 90 %: it costs at most"
    )


def test_where_no_point_is_in_time() -> None:
    """The sentence says that none is, and which comes nearest, if any does."""
    found = sweep("llama-2-70b", ["accelerators=1024,2048"])
    kept = found.at(2048.0).limits["deadline"].value
    assert answer(found) == (
        "None of the 2 points keeps the deadline of 60 days with a probability of 90 %; accelerators 2,048 comes "
        f"nearest: it keeps the deadline with {100 * kept:.1f} %."
    )
    assert answer(sweep("llama-2-70b", ["accelerators=64,128"])).endswith("90 %, nor comes near it.")


def test_known_runs(tmp_path: Path) -> None:
    """Where nothing is uncertain points are told as they are: 6 N D / (n p MFU) with the overhead, and its cost."""
    file = tmp_path / "run.toml"
    file.write_text(tomli_w.dumps({"title": "T", "estimator": "training", "inputs": KNOWN}), "utf-8")
    days = 6 * 7e9 * 2e12 * 1.1 / (1024 * 312e12 * 0.3) / 86400
    told = answer(sweep(load_scenario(file), ["accelerators=512,1024"]))
    cost = days * 24 * 1024 * 2 / 1e3
    assert told.startswith("The cheapest of 2 points is accelerators 1,024: it costs")
    assert told.endswith(f"it costs {cost:.1f} thousand USD and takes {days:.2f} days.")


@pytest.mark.parametrize(
    ("run", "over", "drawn"),
    [
        (
            "chinchilla-70b-budget",
            "training_flop=1e23 FLOP,1e24 FLOP",
            {"sweep-optimal-parameters", "sweep-optimal-tokens"},
        ),
        ("llama-2-70b", "flop_convention=6nd,exact", {"pareto"}),
        ("llama-2-70b", "mfu=40 %,30 %", {"sweep-cost", "sweep-training-time", "pareto"}),
        ("toy-network-2-3-1", "examples=10,20", None),
    ],
)
def test_other_grids(run: str, over: str, drawn: set[str] | None, tmp_path: Path) -> None:
    """Grids of words, values in any order and estimators without cost or time give a page without gaps."""
    report = write_report(sweep(run, [over]), tmp_path / "report")
    assert drawn is None or figures(report.sections) == drawn
    assert report.answer.endswith(".")
    assert not re.search(r"\bnan\b", report.markdown)


def test_hostile_texts_are_texts(tmp_path: Path) -> None:
    """Titles, and files that are swept over, are shown letter by letter, as HTML and as Markdown."""
    for name in ("a <b>&$x`|*", "b"):
        price = {"inputs": {"price_per_accelerator_hour": {"value": "2 USD/hour", "source": NASTY}}}
        (tmp_path / f"{name}.toml").write_text(tomli_w.dumps(price), "utf-8")
    inputs = {name: one for name, one in KNOWN.items() if name != "price_per_accelerator_hour"}
    document = {"title": NASTY, "estimator": "training", "include": ["b.toml"], "inputs": inputs}
    (tmp_path / "run.toml").write_text(tomli_w.dumps(document), "utf-8")
    found = sweep(tmp_path / "run.toml", ["prices=a <b>&$x`|*.toml,b.toml", "accelerators=512,1024"])
    report = write_report(found, tmp_path / "report")
    page = read(report.html)
    assert not {element.name for element in page.elements} & {"script", "img", "b", "iframe"}
    assert any("a <b>&$x`|*.toml" in one.text for one in page.all("bdi"))
    assert len(page.all("h1")) == 1
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", report.html)
    assert not re.search(r"(?<!\\)<(script|b)>", report.markdown)
