"""Figures of a calibration: chains by rank, and the runs over those that the model makes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.plots.svg import root, words
from uncertain_botec import Calibration, read_runs
from uncertain_botec.inference import Diagnostics, Inferred
from uncertain_botec.plots.calibration import _SHOWN, _by_rank, chains, predictive_check
from uncertain_botec.prior_files.reference_class import shipped


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    """The shipped reference class and its runs, with chains of independent draws."""
    random = np.random.default_rng(0)
    draws = {name: random.normal(size=(4, 1000)) for name in _SHOWN}
    found = Inferred(draws, Diagnostics(1.002, "peak", 3900.0, "moe", 0, 4, 1000))
    return Calibration(shipped(), read_runs(), found, found, 0)


def test_ranks_of_chains() -> None:
    """Every draw is counted once; chains alike are level, and one that stays high has no low ranks."""
    random = np.random.default_rng(1)
    alike = random.normal(size=(4, 1000))
    counts = _by_rank(alike)
    assert counts.shape == (4, 20)
    assert (counts.sum(axis=0) == 200).all()
    assert (counts.sum(axis=1) == 1000).all()
    # Binomial of 1000 with a twentieth: 50 and 6.9.
    assert abs((counts - 50) / 6.9).max() < 5
    apart = _by_rank(np.concatenate([alike[:3], alike[3:] + 10]))
    assert apart[3].tolist() == 15 * [0] + 5 * [200]


def test_the_figure_of_chains(calibration: Calibration) -> None:
    """Parameters are called by words, every chain has a line in each panel, and the worst of them is told."""
    figure = chains(calibration)
    said = words(figure)
    assert {*_SHOWN.values(), "chain 1", "chain 4"} <= {*said}
    assert "R-hat at most 1.002, bulk ESS at least 3,900, no divergences" in figure.alt
    assert root(figure).tag.endswith("svg")


def test_the_predictive_check(calibration: Calibration) -> None:
    """The published runs stay within the band of the model's; runs of half the hours do not, and that is told."""
    assert "it leaves the band nowhere" in predictive_check(calibration).alt
    kept = tuple(replace(run, hours=run.hours / 2) for run in calibration.runs.kept)
    figure = predictive_check(replace(calibration, runs=replace(calibration.runs, kept=kept)))
    assert "it leaves the band in" in figure.alt
    assert "the 58 runs" in words(figure)
