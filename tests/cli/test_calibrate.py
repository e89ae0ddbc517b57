"""`botec calibrate`: from a CSV file to a prior file that a run includes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Botec
from uncertain_botec import load_scenario
from uncertain_botec.library import PRIORS


def test_it_learns_and_writes_a_file_that_a_run_includes(botec: Botec, tmp_path: Path) -> None:
    """The shipped runs give the shipped reference class again, figure for figure, and its chains converged."""
    out, figures = tmp_path / "ours.toml", tmp_path / "figures"
    found = botec(
        "calibrate", "--title", "Published training runs", "--out", out, "--figures", figures, "--json", "--quiet"
    )
    assert found.code == 0
    assert found.err == ""
    document = json.loads(found.out)
    assert document["schema"] == "uncertain-botec/calibration/1"
    assert (document["runs"], document["source"]) == (58, "reference/published-runs.csv")
    for chains in document["chains"].values():
        assert chains["rhat"] < 1.01
        assert chains["ess"] > 400
        assert chains["divergences"] == 0
    factors = {one["of"]: one for one in document["factors"]}
    assert factors["a mixture of experts"]["p10"] > 1
    assert factors["twice the age of the accelerator's generation"]["p90"] < 1
    written, shipped = (path.read_text("utf-8") for path in (out, PRIORS / "reference" / "training.toml"))
    assert written.splitlines()[1:9] == shipped.splitlines()[1:9]
    assert Path(written.splitlines()[0].removeprefix("#:schema file://")).is_file()
    assert sorted(path.name for path in figures.iterdir()) == [
        "chains.png",
        "chains.svg",
        "predictive-check.png",
        "predictive-check.svg",
    ]

    (tmp_path / "run.toml").write_text(
        'title = "Ours"\nestimator = "training"\ninclude = ["accelerators/h100-sxm", "prices/neocloud-2026", "ours"]\n'
        "[inputs]\nparameters = 7e9\ntokens = 2e12\naccelerators = 256\n",
        "utf-8",
    )
    mine = load_scenario(tmp_path / "run.toml").inputs["mfu"]
    (tmp_path / "run.toml").write_text((tmp_path / "run.toml").read_text("utf-8").replace(', "ours"', ""), "utf-8")
    theirs = load_scenario(tmp_path / "run.toml").inputs["mfu"]
    assert mine.stated["p10"] == pytest.approx(theirs.stated["p10"], rel=0.01)
    assert "ours.toml" in str(mine.about("source"))


def test_faults_of_the_file_are_told_and_nothing_is_written(botec: Botec, tmp_path: Path) -> None:
    """Exit 2 with row and column."""
    bad = tmp_path / "bad.csv"
    bad.write_text(
        "name,publication_date,arch,active_params,tokens,accelerator,accelerator_hours,hours_basis\n"
        "ours,2025-01,dense,7e9,2e12,h100-sxm,-5,reported\n",
        "utf-8",
    )
    out = tmp_path / "out.toml"
    found = botec("calibrate", "--runs", bad, "--out", out)
    assert (found.code, found.out) == (2, "")
    assert "row 2, column accelerator_hours: this number cannot be right" in found.err
    assert not out.exists()


def test_outputs_are_looked_at_before_the_work(botec: Botec, tmp_path: Path) -> None:
    """A folder, a prior file of the user's own and a place that is no folder are left alone, and told at once."""
    mine = tmp_path / "mine.toml"
    mine.write_text('title = "Mine"\n', "utf-8")
    for option, path, words in (
        ("--out", mine, "no reference class"),
        ("--out", tmp_path, "this is a folder"),
        ("--out", mine / "ours.toml", "mine.toml is a file"),
        ("--figures", mine, "this is a file; name a folder"),
    ):
        found = botec("calibrate", option, path)
        assert (found.code, found.out) == (2, "")
        assert words in found.err
        assert f"{option} {path}" in found.err
    assert mine.read_text("utf-8") == 'title = "Mine"\n'


def test_pooled_with_itself_is_refused(botec: Botec) -> None:
    """Each run counts once."""
    found = botec("calibrate", "--runs", "published", "--runs", "published")
    assert found.code == 2
    assert "this run is in reference/published-runs.csv too" in found.err
