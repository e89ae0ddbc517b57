"""Summaries against draws whose quantiles, intervals, probabilities and rank correlations are known exactly."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import arviz_base
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtri
from scipy.stats import gamma, lognorm, norm

from uncertain_botec import Draws, Scenario, load_scenario, sample, summarize
from uncertain_botec.choices import resolved
from uncertain_botec.distributions import elicit
from uncertain_botec.draws import Provenance
from uncertain_botec.scenario import Input, Marker
from uncertain_botec.summaries import INTERVAL, LimitSummary, OutputSummary
from uncertain_botec.tallies import quantiles, standard_error

REPLICATES = 16
SIMPLE = (
    "parameters",
    "tokens",
    "accelerators",
    "peak_flop_per_s",
    "mfu",
    "failure_overhead",
    "on_demand_share",
    "price_per_accelerator_hour",
)
Floats = NDArray[np.floating[Any]]


def drawn(values: Floats, inputs: Mapping[str, Floats] | None = None, **tables: Mapping[str, Marker]) -> Draws:
    """Draws of all outputs from one array of dollars, with uncertain inputs beside them (a price unless others)."""
    inputs = inputs or {"price_per_accelerator_hour": values}
    stated = elicit("normal", {"mean": 0.0, "sd": 1.0})
    known = {name: Input(name, 1, elicit("fixed", {"value": 1.0}), "") for name in SIMPLE if name not in inputs}
    uncertain = {name: Input(name, 0, stated, "") for name in inputs}
    scenario = Scenario("Test", "training", known | uncertain, resolved({}), **tables)  # type: ignore[arg-type]
    columns = {name: np.asarray(array).reshape(REPLICATES, -1) for name, array in inputs.items()}
    columns |= dict.fromkeys(scenario.plan.outputs, np.asarray(values).reshape(REPLICATES, -1))
    made = Provenance("lattice", 0, REPLICATES, values.size // REPLICATES, "float64", "none", {}, {"draw": 1.0})
    return Draws(scenario, columns, made)


def cost_of(values: Floats) -> OutputSummary:
    """The summary of dollars."""
    return summarize(drawn(values)).outputs["cost"]


def budget_of(values: Floats, limit: float) -> LimitSummary:
    """The summary of a budget."""
    limits = {"budget": Marker("budget", "cost", limit, f"{limit} USD")}
    return summarize(drawn(values, limits=limits)).limits["budget"]


def evenly(count: int = 1 << 16) -> Floats:
    """The midpoints of equal cells of (0, 1), dealt to the replicates in turn."""
    points = (np.arange(count) + 0.5) / count
    return points.reshape(-1, REPLICATES).T


# --- quantiles and intervals ------------------------------------------------------------------------------------------


def test_p90_is_at_or_above_nine_draws_in_ten() -> None:
    """P10, P50 and P90 of evenly spread draws are 0.1, 0.5 and 0.9 exactly, in this order and so named."""
    one = cost_of(evenly())
    assert (one.p10, one.p50, one.p90) == pytest.approx((0.1, 0.5, 0.9), abs=1e-12)
    assert np.mean(evenly() <= one.p90) == pytest.approx(0.9, abs=1e-4)
    assert (one.mean, one.sd) == pytest.approx((0.5, 1 / math.sqrt(12)), abs=1e-9)
    assert "P90: a 90 % chance of being at or below" in str(summarize(drawn(evenly())))


def test_quantiles_rise_with_their_level() -> None:
    """Also with ties, jumps and levels that lie between draws."""
    rng = np.random.default_rng(1)
    levels = list(np.linspace(0.001, 0.999, 997))
    for values in (rng.lognormal(0, 3, (16, 8)), rng.integers(0, 3, (16, 100)) * 1e9, rng.standard_t(1, (16, 50))):
        found = quantiles(np.sort(values, axis=None), levels)
        assert all(first <= second for first, second in pairwise(found))
        if len(np.unique(values)) > 3:
            assert found == pytest.approx(np.quantile(values, levels, method="hazen"), rel=1e-12)
        else:
            # inf{y: F(y) >= p}, to one draw.
            assert np.all(found <= np.quantile(values, levels, method="inverted_cdf"))
            assert np.all(
                found >= np.quantile(values, np.maximum(np.array(levels) - 1 / values.size, 0), method="inverted_cdf")
            )


def _shortest(law: Any) -> tuple[float, float]:
    """The shortest interval of 80 %, by minimising over the probability below it."""
    best = minimize_scalar(lambda below: law.ppf(below + 0.8) - law.ppf(below), bounds=(0, 0.2), method="bounded")
    return float(law.ppf(best.x)), float(law.ppf(best.x + 0.8))


@pytest.mark.parametrize(
    ("quantile", "low", "high"),
    [
        # The shortest interval of a falling density starts where the density does.
        (lambda u: -np.log1p(-u), 0.0, math.log(5)),
        (lognorm(0.5).ppf, *_shortest(lognorm(0.5))),
        (norm.ppf, -1.2815516, 1.2815516),
    ],
    ids=["exponential", "lognormal", "normal"],
)
def test_intervals_of_exact_draws(quantile: Callable[[Floats], Floats], low: float, high: float) -> None:
    """The HDI is the shortest interval of 80 %, the ETI that from P10 to P90; the HDI is never wider."""
    values = quantile(evenly(1 << 18))
    one = cost_of(values)
    assert one.hdi.prob == one.eti.prob == INTERVAL == 0.8
    assert (one.eti.low, one.eti.high) == pytest.approx((one.p10, one.p90), rel=1e-12)
    assert (one.hdi.low, one.hdi.high) == pytest.approx((low, high), abs=0.02)
    assert one.hdi.high - one.hdi.low <= (one.eti.high - one.eti.low) * (1 + 1e-9)
    assert np.mean((values >= one.hdi.low) & (values <= one.hdi.high)) == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize("values", [gamma(0.5).ppf(evenly()), np.round(10 * evenly() ** 3), 1 / evenly()])
def test_hdi_is_no_wider_than_eti(values: Floats) -> None:
    """For skewed, discrete and heavy-tailed draws, and it still holds 80 % of them."""
    one = cost_of(values)
    assert one.hdi.high - one.hdi.low <= one.eti.high - one.eti.low
    assert np.mean((values >= one.hdi.low) & (values <= one.hdi.high)) >= 0.8 - 1e-4


def test_arvizs_defaults_do_not_matter() -> None:
    """The kind and probability of intervals are ours, whatever ArviZ's settings or version prefer."""
    values = lognorm(1.0).ppf(evenly())
    ours = cost_of(values)
    with arviz_base.rc_context({"stats.ci_prob": 0.5, "stats.ci_kind": "eti"}):
        assert cost_of(values) == ours


def test_standard_error_is_that_of_independent_estimates() -> None:
    """s / sqrt(R): for the numbers 1 to 16, sqrt(272 / 12 / 16), as (R² + R) / 12 is the variance of 1 .. R."""
    assert float(standard_error(np.arange(1.0, 17.0))) == pytest.approx(math.sqrt(272 / 12 / 16), rel=1e-14)
    offsets = np.arange(REPLICATES)[:, None]
    errors = standard_error(quantiles(np.linspace(0, 1, 256) + offsets, [0.1, 0.5, 0.9]), axis=0)
    assert errors == pytest.approx([math.sqrt(272 / 12 / 16)] * 3)


# --- numbers that are hard on sums ------------------------------------------------------------------------------------


def test_the_mean_of_many_float32_does_not_drift() -> None:
    """Twenty million equal float32 numbers have that number as their mean, and two kinds of them the number between."""
    value, other = np.float32(0.1), np.float32(0.3)
    one = cost_of(np.full(20_000_000, value))
    assert one.mean == one.p50 == float(value)
    assert one.sd == one.mcse["mean"] == 0
    between = (float(value) + float(other)) / 2
    assert cost_of(np.tile([value, other], 1 << 20)).mean == pytest.approx(between, rel=1e-13)


def test_components_eleven_powers_of_ten_apart() -> None:
    """Half N(1, 1) and half N(1e11, 1) have the mean 50000000000.5, and quantiles inside either half."""
    score = ndtri(evenly())
    values = np.concatenate((1 + score, 1e11 + score), axis=1)
    one = cost_of(values)
    assert one.mean == pytest.approx(50_000_000_000.5, abs=1e-3)
    assert one.p10 == pytest.approx(1 + norm.ppf(0.2), abs=1e-3)
    assert one.p90 - 1e11 == pytest.approx(1 + norm.ppf(0.8) - 1, abs=1e-3)
    assert one.sd == pytest.approx(5e10, rel=1e-9)


# --- limits and observed outcomes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1600, 160_000])
def test_what_never_happened_is_bounded(count: int) -> None:
    """None (or all) of n draws within the budget leaves up to about 3 / n of chance, and is never printed as 0 ± 0."""
    values = evenly(count) + 1
    never, always = budget_of(values, 0.5), budget_of(values, 2.5)
    assert (never.probability, never.low) == (0, 0)
    assert 2.7 / count * 0.99 < never.high < 3 / count
    assert (always.probability, always.high) == (1, 1)
    assert 1 - 3 / count < always.low < 1 - 2.7 / count * 0.99
    assert never.mcse > 0
    assert always.mcse > 0
    limits = {"budget": Marker("budget", "cost", 0.5, "0.5 USD")}
    text = str(summarize(drawn(values, limits=limits)))
    assert "less than" in text
    assert "± 0 %" not in text


def test_a_limit_counts_draws_at_or_below_it() -> None:
    """Three draws in four at or below the budget, the equal ones included, is 75 %, with a bound on both sides."""
    one = budget_of(np.tile([1.0, 2.0, 3.0, 4.0], 1 << 10), 3.0)
    assert one.probability == 0.75
    assert (one.value, one.unit, one.output) == (3.0, "USD", "cost")
    assert one.low < 0.75 < one.high
    # Replicates that agree still leave the rounding of one count of 256 draws in each of the 16.
    assert one.mcse == pytest.approx(1 / (256 * math.sqrt(12 * REPLICATES)), rel=1e-12)


@pytest.mark.parametrize(("observed", "percentile"), [(0.25, 25.0), (0.75, 75.0), (-1.0, 0.0), (2.0, 100.0)])
def test_observed_percentile(observed: float, percentile: float) -> None:
    """The percentage of draws below the outcome, with an error that is never nothing."""
    markers = {"cost": Marker("cost", "cost", observed, f"{observed} USD")}
    one = summarize(drawn(evenly(), observed=markers)).observed["cost"]
    assert one.percentile == pytest.approx(percentile, abs=1e-9)
    assert 0 < one.mcse < 0.01


def test_observed_ties_count_half() -> None:
    """An outcome that every draw equals stands at percentile 50, not 0 or 100."""
    markers = {"cost": Marker("cost", "cost", 7.0, "7 USD")}
    assert summarize(drawn(np.full(1 << 10, 7.0), observed=markers)).observed["cost"].percentile == 50


# --- drivers ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lognormals(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """A scenario whose outputs are products of powers of independent lognormals."""
    file = tmp_path_factory.mktemp("priors") / "scenario.toml"
    file.write_text(
        """
        title = "Lognormal"
        estimator = "training"
        [inputs]
        parameters = "70e9 parameter"
        tokens = { family = "lognormal", median = "2e12 token", sigma = 0.1 }
        accelerators = 2048
        peak_flop_per_s = "312 TFLOP/s"
        mfu = { family = "lognormal", median = 0.2, sigma = 0.2 }
        failure_overhead = 0
        price_per_accelerator_hour = { family = "lognormal", median = "2 USD/hour", sigma = 0.3 }
        """,
        "utf-8",
    )
    return load_scenario(file)


def test_drivers_of_lognormals(lognormals: Scenario) -> None:
    """The rank correlation is 6/π asin(r/2), r that of the logarithms, with its sign; the share is its square."""
    summary = summarize(sample(lognormals, 1 << 18, seed=3))
    sigmas = {"tokens": 0.1, "mfu": -0.2, "price_per_accelerator_hour": 0.3}
    for output, names in {
        "training_time": ("mfu", "tokens"),
        "cost": ("price_per_accelerator_hour", "mfu", "tokens"),
    }.items():
        length = math.hypot(*(sigmas[name] for name in names))
        found = {driver.input: driver for driver in summary.drivers[output]}
        assert tuple(found)[: len(names)] == names  # the largest first
        assert set(found) == set(names)  # a price is no driver of time, which no formula computes from it
        for name, driver in found.items():
            r = sigmas[name] / length
            assert driver.rank_correlation == pytest.approx(6 / math.pi * math.asin(r / 2), abs=0.01), (output, name)
            assert driver.share == driver.rank_correlation**2
    assert summary.drivers["training_time"][0].rank_correlation < -0.8
    assert summary.drivers["cost"][0].rank_correlation > 0.5
    flop = summary.drivers["training_flop"]
    assert [(driver.input, driver.rank_correlation) for driver in flop] == [("tokens", pytest.approx(1.0))]


def test_the_order_of_draws_does_not_change_drivers() -> None:
    """Sorting or shuffling the draws, all columns alike, leaves every rank correlation as it was."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2, 1 << 14))
    total = x - 2 * y
    order = np.argsort(x)
    one = summarize(drawn(total, {"tokens": x, "mfu": y})).drivers["cost"]
    other = summarize(drawn(total[order], {"tokens": x[order], "mfu": y[order]})).drivers["cost"]
    assert [driver.input for driver in one] == [driver.input for driver in other] == ["mfu", "tokens"]
    assert [d.rank_correlation for d in one] == pytest.approx([d.rank_correlation for d in other], abs=1e-12)
    assert (one[0].rank_correlation < 0, one[1].rank_correlation > 0) == (True, True)


def test_a_constant_output_has_no_drivers_to_speak_of() -> None:
    """An output that does not vary is driven by nothing: zero rather than NaN."""
    values = np.random.default_rng(6).standard_normal(1 << 10)
    (driver,) = summarize(drawn(np.full(1 << 10, 3.0), {"mfu": values})).drivers["cost"]
    assert (driver.rank_correlation, driver.share) == (0.0, 0.0)


def test_a_stated_output_does_not_drive_itself() -> None:
    """An output that the scenario supplies has no drivers, and is one of those of what follows from it."""
    values = np.random.default_rng(7).standard_normal(1 << 10)
    summary = summarize(drawn(values, {"training_flop": values, "mfu": values}))
    assert summary.drivers["training_flop"] == ()
    assert {driver.input for driver in summary.drivers["cost"]} == {"training_flop", "mfu"}


# --- forms ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["llama-2-70b", "frontier-2027"])
def test_json_has_every_number_and_no_nan(name: str) -> None:
    """The JSON form survives JSON strictly, unrounded, with P10 <= P50 <= P90 and errors for all of them."""
    summary = summarize(sample(load_scenario(name), 1 << 12, seed=1))
    document = summary.to_dict()
    again = json.loads(json.dumps(document, allow_nan=False))
    assert again == document
    assert set(again["outputs"]) >= {"training_flop", "accelerator_hours", "training_time", "cost"}
    for key, one in again["outputs"].items():
        assert one["p10"] <= one["p50"] <= one["p90"]
        assert set(one["mcse"]) == {"p10", "p50", "p90", "mean"}
        assert one["p90"] == summary.outputs[key].p90
        assert one["hdi"]["prob"] == one["eti"]["prob"] == 0.8
    assert again["draws"] == 1 << 12
    assert again["provenance"]["versions"]["jax"]


def test_nothing_is_remembered_between_summaries(lognormals: Scenario) -> None:
    """A second summary of other draws shows the other draws, and a repeated one the same numbers."""
    first, other = (sample(lognormals, 1 << 12, seed=seed) for seed in (1, 2))
    one = summarize(first)
    assert summarize(other).outputs["cost"].mean != one.outputs["cost"].mean
    assert summarize(first).outputs == one.outputs
    assert summarize(first).drivers == one.drivers


def test_replicates_that_differ_show_in_the_errors() -> None:
    """A shift of every replicate by a known amount is the standard error of mean, quantiles and probability."""
    shifts = np.linspace(-1, 1, REPLICATES)[:, None] * 0.01
    values = np.tile(evenly(1 << 12).ravel(), (REPLICATES, 1)) + shifts
    expected = np.std(shifts, ddof=1) / 4
    one = cost_of(values)
    assert list(one.mcse.values()) == pytest.approx([expected] * 4, rel=1e-3)
    assert budget_of(values, 0.5).mcse == pytest.approx(expected, rel=1e-2)


def test_a_mean_that_may_not_exist_is_not_printed() -> None:
    """1 / MFU has no mean where the MFU reaches down to zero: the table says so instead of a number."""
    spec = 'inputs.mfu={ family = "uniform", low = 0, high = 0.5 }'
    wild = summarize(sample(load_scenario("llama-2-70b", [spec]), 1 << 14, seed=1))
    tame = summarize(sample(load_scenario("llama-2-70b"), 1 << 14, seed=1))
    assert ("Mean of cost" in str(wild), "Mean of cost" in str(tame)) == (True, False)


def test_what_is_known_exactly_is_met_or_not() -> None:
    """A cost without uncertain inputs keeps its budget for certain, with no error to report."""
    fixed = ["inputs.mfu=0.4", "inputs.failure_overhead=0", "inputs.tokens=2e12"]
    fixed += ["inputs.price_per_accelerator_hour=2 USD/hour"]
    summary = summarize(sample(load_scenario("llama-2-70b", fixed), 64))
    limit = summary.limits["budget"]
    assert (limit.probability, limit.mcse, limit.low, limit.high) == (1.0, 0.0, 1.0, 1.0)
    assert "100 % (known exactly)" in str(summary)
    assert " exact" in str(summary)


def test_drivers_are_what_the_formulas_use() -> None:
    """A price that is correlated with the MFU does not drive the time, which is not computed from it."""
    scenario = load_scenario("llama-2-70b")
    assert set(scenario.drivers("training_time")) == {"tokens", "mfu", "failure_overhead"}
    assert set(scenario.drivers("cost")) == {"tokens", "mfu", "failure_overhead", "price_per_accelerator_hour"}
    assert scenario.drivers("training_flop") == ("tokens",)
