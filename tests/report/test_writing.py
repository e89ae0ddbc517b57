"""The folder of a report: every file, their hashes, and draws that open in ArviZ."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import arviz_stats
import numpy as np
import pytest
import xarray

from tests.report.conftest import FEW
from uncertain_botec import Draws, Report, load_scenario, summarize, write_report
from uncertain_botec.errors import UsageError
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import QUANTITIES


def folder_of(report: Report) -> Path:
    """Where it was written."""
    assert report.folder is not None
    return report.folder


def test_files_and_hashes(report: Report) -> None:
    """Every file is named in the summary with its hash, and there is none besides."""
    folder = folder_of(report)
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    document = json.loads((folder / "summary.json").read_text("utf-8"))
    assert there == {*document["files"], "summary.json"}
    assert {"index.html", "report.md", "draws.nc", "scenario.toml", "figures/joint.svg", "figures/joint.png"} <= there
    for name, sha256 in document["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256, name


def test_made_again_it_is_the_same_to_the_byte(report: Report, tmp_path: Path) -> None:
    """Every file of a second report of the same run has the hash that it has in the first; no time is in it."""
    again = write_report(load_scenario("llama-2-70b"), tmp_path / "again", draws=FEW)
    assert again.files == report.files
    summaries = [(folder_of(one) / "summary.json").read_bytes() for one in (report, again)]
    assert summaries[0] == summaries[1]


def test_the_summary_is_what_the_commands_give(report: Report) -> None:
    """`summary.json` is the document of the library, made of those of forecast, risk and sensitivity."""
    document = json.loads((folder_of(report) / "summary.json").read_text("utf-8"))
    assert document == json.loads(json.dumps(report.to_dict()))
    assert document["schema"] == "uncertain-botec/report/1"
    assert document["answer"] == report.answer
    parts = [document["forecast"], document["risk"], *document["sensitivity"].values()]
    kinds = [one["schema"].split("/")[1] for one in parts]
    assert kinds == ["forecast", "risk", "sensitivity", "sensitivity"]
    # One set of draws: what is said twice is said alike.
    assert (
        document["forecast"]["outputs"]["cost"]["p90"] == document["risk"]["outputs"]["cost"]["confidence"][3]["value"]
    )


def test_draws_open_in_arviz(report: Report) -> None:
    """The draws are an ArviZ data tree in printed units, and read back as draws of the same scenario."""
    file = folder_of(report) / "draws.nc"
    with xarray.open_datatree(file, engine="h5netcdf") as tree:
        table = arviz_stats.summary(
            tree, group="prior_predictive", kind="stats", ci_prob=0.8, ci_kind="eti", round_to="none"
        )
        assert tree["prior_predictive"]["cost"].attrs["units"] == "USD"
    assert table.loc["cost", "mean"] == pytest.approx(report.context.summary.outputs["cost"].mean)
    read = Draws.from_netcdf(file)
    assert read.scenario == report.context.scenario
    assert summarize(read).outputs["cost"].p50 == pytest.approx(report.context.summary.outputs["cost"].p50)


def test_fewer_draws_are_kept_evenly(tmp_path: Path) -> None:
    """`keep` writes a part of the draws whose quantiles are those of all within a lattice's error of that size."""
    scenario = load_scenario("toy-network-2-3-1").but()
    assert write_report(scenario, tmp_path / "known", draws=256, keep=1).context.draws.provenance.draws == 256
    scenario = load_scenario(
        "chinchilla-70b-budget", ['inputs.training_flop={family="lognormal",p10="5e23 FLOP",p90="7e23 FLOP"}']
    )
    report = write_report(scenario, tmp_path / "report", draws=1 << 14, keep=1 << 10)
    read = Draws.from_netcdf(tmp_path / "report" / "draws.nc")
    assert read.provenance.draws == 1 << 10
    assert np.quantile(read["optimal_tokens"], 0.9) == pytest.approx(
        np.quantile(report.context.draws["optimal_tokens"], 0.9), rel=5e-3
    )


def test_scenario_makes_the_report_again(report: Report, tmp_path: Path) -> None:
    """`scenario.toml` needs nothing else: its report has the same numbers, and the same figures to the byte."""
    again = write_report(load_scenario(folder_of(report) / "scenario.toml"), tmp_path / "again", draws=FEW)
    assert again.answer == report.answer
    figures = {name: sha256 for name, sha256 in report.files.items() if name.startswith("figures/")}
    assert figures == {name: sha256 for name, sha256 in again.files.items() if name.startswith("figures/")}


def test_figures_are_pictures(report: Report) -> None:
    """Every SVG is XML with the size that it says, every PNG has pixels in that proportion."""
    folder = folder_of(report)
    for figure in report.figures:
        root = ElementTree.fromstring((folder / f"figures/{figure.name}.svg").read_text("utf-8"))  # noqa: S314 - our own
        assert (root.attrib["width"], root.attrib["height"]) == (str(figure.width), str(figure.height))
        content = (folder / f"figures/{figure.name}.png").read_bytes()
        assert content.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", content[16:24])
        assert width / height == pytest.approx(figure.width / figure.height, rel=0.01)


def test_values_of_draws_are_in_base_units_in_memory(report: Report) -> None:
    """The report's own draws are those that were drawn, with the limits asked about."""
    draws = report.context.draws
    assert draws["cost"] == pytest.approx(to_display(draws.values["cost"], QUANTITIES["cost"].unit))
    assert set(draws.scenario.limits) == {"budget", "deadline"}


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """A folder that holds files and no report is refused before anything is drawn, whatever is in it."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it", "utf-8")
    with pytest.raises(UsageError, match=r"thesis\.txt"):
        write_report(load_scenario("toy-network-2-3-1"), tmp_path / "mine", draws=64)
    (tmp_path / "mine" / "summary.json").write_text('{"schema": "uncertain-botec/forecast/1"}', "utf-8")
    with pytest.raises(UsageError, match="not replaced"):
        write_report(load_scenario("toy-network-2-3-1"), tmp_path / "mine", draws=64)
    assert (tmp_path / "mine" / "thesis.txt").read_text("utf-8") == "all of it"


def test_a_report_is_replaced_and_files_of_others_are_not(tmp_path: Path) -> None:
    """A second report takes the first one's place; once somebody put a file there, nothing does."""
    scenario, folder = load_scenario("toy-network-2-3-1"), tmp_path / "report"
    write_report(scenario, folder, draws=64)
    second = write_report(scenario, folder, draws=128)
    assert json.loads((folder / "summary.json").read_text("utf-8"))["forecast"]["draws"] == 128
    assert second.files["index.html"] == hashlib.sha256((folder / "index.html").read_bytes()).hexdigest()
    (folder / "notes.md").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match=r"notes\.md is not of the report"):
        write_report(scenario, folder, draws=64)
    assert (folder / "notes.md").read_text("utf-8") == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="limits on files are POSIX's")
def test_a_full_disk_leaves_the_old_report(tmp_path: Path) -> None:
    """Where a file cannot be written the command exits with 2 and the reason, and the old report is whole."""
    folder = tmp_path / "report"
    write_report(load_scenario("toy-network-2-3-1"), folder, draws=64)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    # A file may have so many bytes and no more: as a full disk, but for the errno.
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, 1 << 15)); "
        f"sys.argv = ['botec', 'report', 'toy-network-2-3-1', '--out', {str(folder)!r}, '--no-cache']; "
        "from uncertain_botec.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done.stderr
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_what_cannot_be_asked_is_refused_before_drawing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad budget, requirement or number of draws to keep is refused before anything is drawn or written."""

    def drawn(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("uncertain_botec.sampling.engine.sample", drawn)
    for asked in ({"budget": "lots"}, {"requirements": ["P(csot <= 1 USD) >= 0.5"]}, {"keep": 0}, {"confidence": 1.5}):
        with pytest.raises(UsageError):
            write_report(load_scenario("llama-2-70b"), tmp_path / "report", **asked)  # type: ignore[arg-type]
    assert not (tmp_path / "report").exists()
