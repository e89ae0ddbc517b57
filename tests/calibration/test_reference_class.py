"""What the reference class tells of a run: the hours it predicts are those of the forecast that states nothing else."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from uncertain_botec import PriorFileError, Scenario, dump_scenario, estimate_many, load_scenario
from uncertain_botec.prior_files.reference_class import SHIPPED, shipped
from uncertain_botec.reference.beliefs import overhead_quantiles, step_mfu
from uncertain_botec.reference.posterior import Predictive
from uncertain_botec.reference.subject import Subject

BARE = """
title = "Ours"
estimator = "training"
start = "2027-01"
include = ["accelerators/{accelerator}", "prices/neocloud-2026"{more}]
precision = "{precision}"
[inputs]
parameters = "{parameters}"
tokens = "{tokens}"
accelerators = 1024
{inputs}
"""


def bare(
    folder: Path,
    *,
    accelerator: str = "h100-sxm",
    precision: str = "bf16",
    parameters: str = "70e9 parameter",
    tokens: str = "15e12 token",
    inputs: str = "",
    more: str = "",
) -> Scenario:
    """A scenario that states neither MFU nor overhead."""
    text = BARE.format(
        accelerator=accelerator, precision=precision, parameters=parameters, tokens=tokens, inputs=inputs, more=more
    )
    file = folder / "ours.toml"
    file.write_text(text, "utf-8")
    return load_scenario(file)


@pytest.mark.parametrize(
    ("accelerator", "subject"),
    [
        ("h100-sxm", Subject(70e9, 15e12, 989.4e12, "Hopper", 2027.5 - 2022 - 8 / 12)),
        ("a100-80-sxm", Subject(70e9, 1e12, 312e12, "Ampere", 2027.5 - 2020 - 4 / 12)),
        ("mi300x", Subject(70e9, 15e12, 1307.4e12, "CDNA 3", 2027.5 - 2023 - 11 / 12)),
    ],
)
def test_hours_are_those_of_the_reference_class(accelerator: str, subject: Subject, tmp_path: Path) -> None:
    """Forecast through MFU, overhead and the formulas, P10 and P90 are the predictive's, and P50 to 1 %."""
    scenario = bare(tmp_path, accelerator=accelerator, tokens=f"{subject.tokens:g} token")
    (found,) = estimate_many([scenario], ["accelerator_hours"])
    hours = [value / 3600 for value in found["accelerator_hours"].quantiles]
    y = shipped().predict(subject).quantile(np.array([0.1, 0.5, 0.9]))
    expected = np.exp(y) * subject.usual_time / 3600
    assert hours == pytest.approx(list(expected), rel=0.01)


def test_a_note_says_what_was_used(tmp_path: Path) -> None:
    """That it was the reference class, of which runs, and for what."""
    scenario = bare(tmp_path)
    (note,) = [note for note in scenario.notes if "reference class" in note]
    assert "mfu and failure_overhead not stated: from the reference class of 58 finished runs" in note
    assert "a dense model of 7e+10 parameters and 1.5e+13 tokens on Hopper 4.3 years after its release" in note
    assert scenario.inputs["mfu"].about("source") == "reference/training: Published training runs"
    assert scenario.inputs["mfu"].about("as_of") == "2026-08"


def test_what_is_cut_off_is_told_in_the_same_note(tmp_path: Path) -> None:
    """The share of the lognormal MFU above 1 stands beside its P10 and P90, and nowhere else."""
    scenario = bare(tmp_path)
    low, high = (float(scenario.inputs["mfu"].stated[level]) for level in ("p10", "p90"))
    sigma = math.log(high / low) / (2 * stats.norm.ppf(0.9))
    above = stats.lognorm(sigma, scale=math.sqrt(low * high)).sf(1)
    told = [line for line in (*scenario.notes, *scenario.warnings) if "cut" in line]
    assert len(told) == 1
    assert f"mfu {low:.2g} to {high:.2g} ({100 * above:.1g} % above 1 cut off), failure_overhead" in told[0]


def test_what_is_stated_stays(tmp_path: Path) -> None:
    """A stated MFU is used as it is, and the overhead alone is told; and the other way round."""
    scenario = bare(tmp_path, inputs="mfu = 0.4")
    assert scenario.known["mfu"] == 0.4
    assert scenario.inputs["failure_overhead"].about("source") is not None
    other = bare(tmp_path, inputs='failure_overhead = "10 %"')
    assert other.known["failure_overhead"] == pytest.approx(0.1)
    assert other.inputs["mfu"].distribution == bare(tmp_path).inputs["mfu"].distribution


def test_failure_rates_take_the_place_of_the_overhead(tmp_path: Path) -> None:
    """Where reliability is modelled only the MFU is told."""
    more = ', "reliability/datacenter-8gpu-nodes", "reliability/run-upkeep", "storage/asynchronous-checkpoint"'
    scenario = bare(tmp_path, more=more, inputs="spare_nodes = 4")
    assert "failure_overhead" not in scenario.inputs
    assert scenario.inputs["mfu"].about("source") == "reference/training: Published training runs"


def test_sparse_models_and_8_bits_are_told_apart(tmp_path: Path) -> None:
    """A mixture of experts takes longer; fp8 is faster, though its MFU refers to twice the peak."""
    median = {}
    for name, change in {
        "dense": {},
        "sparse": {"inputs": 'total_parameters = "600e9 parameter"'},
        "fp8": {"precision": "fp8"},
    }.items():
        scenario = bare(tmp_path, **change)
        (found,) = estimate_many([scenario], ["accelerator_hours"])
        median[name] = found["accelerator_hours"].quantiles[1]
    draws = shipped().columns
    assert median["sparse"] / median["dense"] == pytest.approx(math.exp(np.median(draws["moe"])), rel=0.03)
    assert median["fp8"] / median["dense"] == pytest.approx(math.exp(np.median(draws["fp8"])), rel=0.03)


def test_it_can_be_loaded_again(tmp_path: Path) -> None:
    """A dumped scenario states what the reference class told, and needs it no more."""
    scenario = bare(tmp_path)
    again = tmp_path / "again.toml"
    again.write_text(dump_scenario(scenario), "utf-8")
    assert load_scenario(again).inputs == scenario.inputs


@pytest.mark.parametrize("inputs", ['peak_flop_per_s = "989 TFLOP/s"', ""])
def test_without_an_accelerator_the_mfu_is_missing(inputs: str, tmp_path: Path) -> None:
    """The reference class needs to know what the run runs on."""
    file = tmp_path / "ours.toml"
    file.write_text(
        'title = "Ours"\nestimator = "training"\n[inputs]\nparameters = 7e9\ntokens = 2e12\naccelerators = 8\n' + inputs
    )
    with pytest.raises(PriorFileError, match="mfu is missing"):
        load_scenario(file)


def test_a_start_that_is_no_month_is_the_only_fault(tmp_path: Path) -> None:
    """And not that the MFU is missing besides."""
    bare(tmp_path)
    with pytest.raises(PriorFileError) as caught:
        load_scenario(tmp_path / "ours.toml", ['start="soon"'])
    (fault,) = caught.value.faults
    assert (fault.path, fault.got) == ("$.start", "soon")


def test_one_of_ones_own_may_be_included(tmp_path: Path) -> None:
    """An included reference class takes the place of the shipped one; what it lacks is told."""
    text = SHIPPED.read_text("utf-8")
    (tmp_path / "mine.toml").write_text(text.replace("Published training runs", "Our runs"), "utf-8")
    scenario = bare(tmp_path, more=', "mine"')
    assert scenario.inputs["mfu"].about("source") == "mine.toml: Our runs" or "Our runs" in str(
        scenario.inputs["mfu"].about("source")
    )
    broken = text.replace("intercept = [", "other = [", 1)
    (tmp_path / "mine.toml").write_text(broken, "utf-8")
    with pytest.raises(PriorFileError) as caught:
        bare(tmp_path, more=', "mine"')
    assert [fault.message for fault in caught.value.faults] == ["a parameter is missing"]
    assert caught.value.faults[0].expected == "intercept"


def test_the_shipped_file_is_whole() -> None:
    """Every parameter has as many draws, and the file says how its chains went."""
    reference = shipped()
    assert {values.shape for values in reference.columns.values()} == {(500,)}
    assert reference.generations == ("Ampere", "Blackwell", "Hopper", "TPU v3", "TPU v4", "Volta")
    note = tomllib.loads(SHIPPED.read_text("utf-8"))["reference_class"]["note"]
    assert note.endswith("no divergences; seed 0")


# --- the arithmetic ---------------------------------------------------------------------------------------------------


def test_one_component_is_students_t() -> None:
    """The mixture of one is that one, both ways."""
    one = Predictive(np.array([0.3]), np.array([0.2]), np.array([5.0]))
    t = stats.t(5, 0.3, 0.2)
    levels = np.array([0.001, 0.1, 0.5, 0.9, 0.999])
    assert one.quantile(levels) == pytest.approx(t.ppf(levels), abs=1e-9)
    assert one.cdf(np.array([0.0, 0.5])) == pytest.approx(t.cdf([0.0, 0.5]), abs=1e-12)


def test_quantiles_of_a_mixture_invert_its_cdf() -> None:
    """Over components of different places, widths and tails."""
    mixture = Predictive(np.array([-1.0, 0.0, 2.0]), np.array([0.1, 1.0, 0.3]), np.array([2.5, 30.0, 5.0]))
    levels = np.linspace(0.01, 0.99, 25)
    assert mixture.cdf(mixture.quantile(levels)) == pytest.approx(levels, abs=1e-9)


def test_no_mfu_is_beyond_what_machines_can(tmp_path: Path) -> None:
    """Where the regression reaches far beyond its runs, P90 of the MFU while stepping stops at 0.9."""
    scenario = bare(tmp_path, accelerator="v100-16", precision="fp16", parameters="2e12 parameter", tokens="1e14 token")
    stated = scenario.inputs["mfu"].stated
    assert stated["p10"] < stated["p90"] <= 0.9


def test_step_mfu_times_overhead_gives_the_whole_run() -> None:
    """u / (1 + f), drawn independently, has P10 and P90 of the whole run's MFU within 3 standard errors."""
    subject = Subject(37e9, 15e12, 989.4e12, "Hopper", 3.0, "moe")
    reference = shipped()
    low, high = overhead_quantiles(reference, np.array([0.1, 0.9]))
    p10, p90 = step_mfu(reference, subject, (low, high))
    draws = 1 << 20
    random = np.random.default_rng(1)
    z = stats.norm.ppf(0.9)
    u = np.exp(np.log([p10, p90]).mean() + np.log(p90 / p10) / (2 * z) * random.standard_normal(draws))
    u = np.where(u > 1, np.nan, u)
    f = np.exp(np.log([low, high]).mean() + np.log(high / low) / (2 * z) * random.standard_normal(draws))
    whole = np.sort((u / (1 + f))[np.isfinite(u)])
    wanted = 0.4 * np.exp(-reference.predict(subject).quantile(np.array([0.9, 0.1])))
    for level, value in zip((0.1, 0.9), wanted, strict=True):
        share = np.searchsorted(whole, value) / len(whole)
        # The overhead is integrated on a grid of 400 points.
        assert abs(share - level) < 3 * math.sqrt(0.09 / draws) + 2e-4
