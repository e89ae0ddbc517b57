"""Backtests: what they find of the published runs, that no run informs its own forecast, and files of one's own."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.calibration.conftest import ROWS
from uncertain_botec import Backtest, PriorFileError, backtest
from uncertain_botec.calibration.backtesting import Foretold, _within
from uncertain_botec.calibration.calibrating import calibrate
from uncertain_botec.calibration.runs import Run, Runs, read_runs
from uncertain_botec.calibration.scores import share
from uncertain_botec.errors import UsageError
from uncertain_botec.reference.subject import Subject

Write = Callable[..., Path]

SHIPPED = read_runs()
FEW = replace(SHIPPED, kept=SHIPPED.kept[::4])


def changed(runs: Runs, place: int, factor: float) -> Runs:
    """The same, but one of them took other hours."""
    kept = list(runs.kept)
    kept[place] = replace(kept[place], hours=kept[place].hours * factor)
    return replace(runs, kept=tuple(kept))


def quantiles(one: Foretold) -> tuple[float, float, float]:
    """Of the forecast hours."""
    return one.hours.p10, one.hours.p50, one.hours.p90


# --- the published runs -----------------------------------------------------------------------------------------------


def test_published_runs(published: Backtest) -> None:
    """All 58 are forecast; the reference class is calibrated as far as 58 runs can tell, and better than the others."""
    found = published.forecasters
    assert len(published.runs) == len(ROWS) == 58
    assert list(found) == ["reference_class", "constant_lognormal", "fixed_mfu", "published_mfu"]
    reference = found["reference_class"]
    for part, one in reference.coverage.items():
        assert one.low <= part <= one.high
    assert reference.interval_score.value == pytest.approx(1.145, abs=0.02)
    assert reference.crps.value == pytest.approx(0.176, abs=0.002)
    assert found["constant_lognormal"].interval_score.value == pytest.approx(1.356, abs=1e-3)
    assert found["constant_lognormal"].crps.value == pytest.approx(0.2203, abs=1e-4)
    for name in ("constant_lognormal", "fixed_mfu", "published_mfu"):
        assert found[name].against["crps"].value > 2 * found[name].against["crps"].error
    assert len(published.refits) == 58
    assert not any(one.faults for one in published.refits)


def test_what_cannot_be_tested(published: Backtest) -> None:
    """Days and costs that only repeat the hours are left out and counted; each run is tested or has its reason."""
    timed = [one for one in published.runs if one.days is not None]
    assert len(timed) == 13
    assert not any(one.run.subject.rough for one in timed)
    assert sum(published.untested["training_time"].values()) == 58 - 13
    assert published.untested["cost"] == {"cost or price is not published": 56, "cost is hours times price": 2}
    assert not any(one.cost for one in published.runs)


def test_days_are_hours_over_accelerators(published: Backtest) -> None:
    """The forecast of days is that of hours, divided; the actual days are the stated ones."""
    for one in published.runs:
        if one.days is not None:
            assert one.run.accelerators is not None
            assert 24 * one.days.p90 * one.run.accelerators == pytest.approx(one.hours.p90)
            assert one.days.actual == one.run.days


def test_the_document_is_json(published: Backtest) -> None:
    """Figures of the documented names, unrounded, without infinite numbers."""
    document = json.loads(json.dumps(published.to_dict(), allow_nan=False))
    reference = document["forecasters"]["reference_class"]
    assert reference["coverage"]["80"] == published.forecasters["reference_class"].coverage[0.8].value
    assert sum(reference["percentile_histogram"]) == document["n"] == 58
    assert [one["name"] for one in document["runs"]] == [row["name"] for row in ROWS]


# --- who informs whom -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def few() -> Backtest:
    """Of some of the shipped runs."""
    return backtest(FEW)


def test_no_run_informs_its_own_forecast(few: Backtest) -> None:
    """Other hours of a run leave its own forecast as it is to the bit, and move that of the others."""
    place = 3
    other = backtest(changed(FEW, place, 1.5))
    for index, (before, after) in enumerate(zip(few.runs, other.runs, strict=True)):
        assert (quantiles(before) == quantiles(after)) == (index == place)
    assert other.runs[place].hours.percentile > few.runs[place].hours.percentile


def test_organisations_are_held_out_together() -> None:
    """With `organisation` no run of Meta informs another of Meta, and with `run` each does."""
    meta = [place for place, run in enumerate(SHIPPED.kept) if run.organisation == "Meta"]
    held_out, sets = _within(SHIPPED, "organisation")
    assert {sets[place] for place in meta} == {sets[meta[0]]}
    assert np.flatnonzero(held_out[sets[meta[0]]]).tolist() == meta
    assert held_out.sum() == len(SHIPPED.kept)
    assert (_within(SHIPPED, "run")[0] == np.eye(len(SHIPPED.kept))).all()


def test_unknown_organisations_are_not_one() -> None:
    """Runs that name no organisation are held out one by one."""
    nobody = replace(FEW, kept=tuple(replace(run, organisation="") for run in FEW.kept))
    assert (_within(nobody, "organisation")[0] == np.eye(len(FEW.kept))).all()


def test_a_file_split_in_two(write_rows: Write) -> None:
    """Runs of one file are foretold from those of another as by a calibration on that, to Monte Carlo error."""
    train, test = write_rows("train.csv", ROWS[::2]), write_rows("test.csv", ROWS[1::2])
    found = backtest(test, train)
    reference = calibrate(read_runs(train)).reference
    assert (found.held_out, found.train, len(found.runs), len(found.refits)) == ("all", str(train), 29, 1)
    for one in found.runs:
        unit = one.run.subject.usual_time / 3600
        p10, p50, p90 = reference.predict(one.run.subject).quantile([0.1, 0.5, 0.9])
        width = p90 - p10
        assert np.log(np.array(quantiles(one)) / unit) == pytest.approx([p10, p50, p90], abs=0.06 * width)
    y = np.array([run.log_excess for run in read_runs(train).kept])
    actual = np.array([one.run.log_excess for one in found.runs])
    sd = float(y.std(ddof=1)) * math.sqrt(1 + 1 / len(y))
    from scipy.stats import t

    told = [one.percentiles["constant_lognormal"] for one in found.runs]
    assert told == pytest.approx(t.cdf((actual - y.mean()) / sd, len(y) - 1))


def test_a_world_that_is_the_model() -> None:
    """Where hours come from the model itself, intervals hold what they say, within binomial bounds."""
    rng = np.random.default_rng(11)
    peaks = {"Ampere": 312e12, "Hopper": 989e12, "Blackwell": 2250e12}
    shift = dict(zip(peaks, rng.normal(0, 0.1, 3), strict=True))

    def run(place: int) -> Run:
        generation = list(peaks)[place % 3]
        subject = Subject(
            float(rng.lognormal(math.log(2e10), 1.5)),
            float(rng.lognormal(math.log(2e12), 1)),
            peaks[generation],
            generation,
            float(rng.uniform(0.3, 4)),
            "moe" if place % 5 == 0 else "dense",
            rough=place % 2 == 0,
        )
        terms = dict(
            zip(("peak", "parameters", "tokens", "age", "moe", "ssm", "fp8", "rough"), subject.terms, strict=True)
        )
        mu = 0.2 + 0.2 * terms["peak"] - 0.05 * terms["parameters"] - 0.2 * terms["age"] + 0.3 * terms["moe"]
        y = mu + shift[generation] + 0.3 * math.exp(0.2 * subject.rough) * rng.standard_t(8)
        hours = subject.usual_time * math.exp(y) / 3600
        return Run(f"run {place}", "", subject, hours, None, None, None, None, None, "2026-01", "h100", place)

    runs = [run(place) for place in range(240)]
    found = backtest(Runs(tuple(runs[:120]), {}, "tested.csv"), Runs(tuple(runs[120:]), {}, "learnt.csv"))
    for part, one in found.forecasters["reference_class"].coverage.items():
        assert one.low <= part <= one.high, (part, share(round(one.value * 120), 120))


# --- faults -----------------------------------------------------------------------------------------------------------


def test_a_run_in_both_files(write_rows: Write) -> None:
    """Each run that is learnt from and tested too is a fault, with its row in both files."""
    train, test = write_rows("train.csv", ROWS[:20]), write_rows("test.csv", ROWS[18:30])
    with pytest.raises(PriorFileError) as raised:
        backtest(test, train)
    assert [fault.path for fault in raised.value.faults] == ["row 2, column name", "row 3, column name"]
    assert f"{train}, row 20" in raised.value.faults[0].message
    assert raised.value.faults[0].got == ROWS[18]["name"]


def test_too_few_runs(write_rows: Write) -> None:
    """Nothing is learnt from four runs, also where five are there and one of them is held out."""
    few = write_rows("few.csv", ROWS[:5])
    with pytest.raises(PriorFileError, match="4 runs without"):
        backtest(few)
    with pytest.raises(PriorFileError, match="4 runs"):
        backtest(write_rows("test.csv", ROWS[10:14]), write_rows("train.csv", ROWS[:4]))


def test_no_run_to_forecast(write_rows: Write) -> None:
    """A file of nothing but headings is a fault of that file."""
    with pytest.raises(PriorFileError, match="no run to forecast"):
        backtest(write_rows("none.csv", []), write_rows("train.csv", ROWS[:20]))


def test_an_unknown_word() -> None:
    """What can be left out is named."""
    with pytest.raises(UsageError, match="run, organisation"):
        backtest(FEW, leave_out="year")
