"""Smooth quantiles against closed forms and against draws, and what may not be smoothed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from uncertain_botec import Scenario, load_scenario
from uncertain_botec.library import shipped
from uncertain_botec.sampling.smooth import SOLVED
from uncertain_botec.sampling.smoothing import given, lines
from uncertain_botec.sampling.streaming import Goal, stream
from uncertain_botec.tallies import LEVELS, Share, Tallies, standard_error

Make = Callable[..., Scenario]

LOGNORMAL = {
    "parameters": ("70e9 parameter", 0.1),
    "tokens": ("2e12 token", 0.2),
    "peak_flop_per_s": ("312 TFLOP/s", 0.05),
    "mfu": ("25 %", 0.15),
    "price_per_accelerator_hour": ("2 USD/hour", 0.25),
}
INPUTS = {
    name: f'{{ family = "lognormal", median = "{median}", sigma = {sigma} }}'
    for name, (median, sigma) in LOGNORMAL.items()
} | {"accelerators": "2048", "failure_overhead": "0"}
FIXED = {name: f'"{median}"' for name, (median, _) in LOGNORMAL.items()}
MEDIAN_COST = 6 * 70e9 * 2e12 / (312e12 * 0.25) / 3600 * 2
Z = norm.ppf(list(LEVELS.values()))


@pytest.fixture
def make(load_inputs: Make) -> Make:
    """A maker of scenarios: the usual inputs, some of them replaced or (with None) left out, and further tables."""
    return partial(load_inputs, INPUTS)


def correlated(matrix: object, *names: str) -> str:
    """A table of correlations."""
    return f"[[correlations]]\nbetween = {list(names)}\nlatent = {matrix}\n"


def smoothed(scenario: Scenario, seed: int = 0, sampler: str = "lattice") -> Tallies:
    """What a forecast to the usual accuracy knows after its first stage."""
    return stream(scenario, Goal(1 << 17, 1e-3), seed=seed, sampler=sampler)


def assert_exact(tallies: Tallies, name: str, exact: np.ndarray) -> None:
    """Fail unless an output is smoothed, and its quantiles within five of their errors (and 1e-8) of the exact ones."""
    one = tallies.outputs[name]
    assert one.smoothed
    assert np.all(np.abs(one.quantiles - exact) < 5 * one.errors + 1e-8 * exact), (
        one.quantiles / exact - 1,
        one.errors,
    )
    assert np.all(one.errors <= 1e-3 * exact)


# --- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", ["lattice", "sobol", "monte-carlo"])
def test_a_product_of_five_lognormals(sampler: str, make: Make) -> None:
    """The cost is lognormal with the sum of the variances; so is the time, without the price."""
    tallies = smoothed(make(), sampler=sampler)
    variance = {name: sigma**2 for name, (_, sigma) in LOGNORMAL.items()}
    assert_exact(tallies, "cost", MEDIAN_COST * np.exp(Z * math.sqrt(sum(variance.values()))))
    del variance["price_per_accelerator_hour"]
    hours = MEDIAN_COST / 2 * 3600
    assert_exact(tallies, "training_time", hours / 2048 * np.exp(Z * math.sqrt(sum(variance.values()))))
    assert_exact(tallies, "training_flop", 6 * 70e9 * 2e12 * np.exp(Z * math.sqrt(0.1**2 + 0.2**2)))


CORRELATIONS = [[1, 0.4, -0.3, 0.2], [0.4, 1, 0.2, -0.2], [-0.3, 0.2, 1, 0.3], [0.2, -0.2, 0.3, 1]]
CORRELATED = ("mfu", "price_per_accelerator_hour", "tokens", "parameters")


def test_correlated_lognormals(make: Make) -> None:
    """With a copula the logarithm's variance is w' R w, and the input that is integrated out depends on the others."""
    tallies = smoothed(make(rest=correlated(CORRELATIONS, *CORRELATED)))
    spread = np.array([-1, 1, 1, 1]) * [LOGNORMAL[name][1] for name in CORRELATED]
    deviation = math.sqrt(spread @ np.array(CORRELATIONS) @ spread + 0.05**2)
    assert_exact(tallies, "cost", MEDIAN_COST * np.exp(Z * deviation))


def test_the_law_of_one_given_the_others(make: Make) -> None:
    """Weights and spread are those of the inverse of the correlation matrix: -P_ij / P_ii and 1 / sqrt(P_ii)."""
    dependence = make(rest=correlated(CORRELATIONS, *CORRELATED)).dependence
    assert dependence is not None
    precision = np.linalg.inv(np.array(dependence.latent))
    for place, name in enumerate(dependence.names):
        law = given(dependence, name)
        assert law.spread == pytest.approx(1 / math.sqrt(precision[place, place]), rel=1e-12)
        for other, weight in law.weights.items():
            column = dependence.names.index(other)
            assert weight == pytest.approx(-precision[place, column] / precision[place, place], rel=1e-9)
    assert (dict(given(dependence, "peak_flop_per_s").weights), given(None, "mfu").spread) == ({}, 1.0)


BIMODAL = """{ family = "mixture", weights = [0.4, 0.6], components = [
  { family = "lognormal", median = "1 USD/hour", sigma = 0.1 },
  { family = "lognormal", median = "5 USD/hour", sigma = 0.1 } ] }""".replace("\n", "")


def test_a_mixture_with_a_gap(make: Make) -> None:
    """A price that is low or high times a lognormal: a mixture of two lognormals, solved for its quantiles."""
    changes = {"price_per_accelerator_hour": BIMODAL} | {
        name: FIXED[name] for name in ("parameters", "peak_flop_per_s")
    }
    tallies = smoothed(make(changes))
    spread = math.sqrt(0.1**2 + 0.2**2 + 0.15**2)

    def cdf(log: float) -> float:
        return float(0.4 * norm.cdf((log - math.log(0.5)) / spread) + 0.6 * norm.cdf((log - math.log(2.5)) / spread))

    roots = [brentq(lambda log, p=p: cdf(log) - p, -5, 5, xtol=1e-14) for p in LEVELS.values()]
    assert_exact(tallies, "cost", MEDIAN_COST * np.exp(roots))


PRICES = {
    "uniform": '{ family = "uniform", low = "1 USD/hour", high = "3 USD/hour" }',
    "truncated": """{ family = "normal", mean = "2 USD/hour", sd = "1 USD/hour",
      truncate = ["1 USD/hour", "6 USD/hour"] }""".replace("\n", ""),
    "jqpd": """{ family = "jqpd", p10 = "1.5 USD/hour", p50 = "2 USD/hour", p90 = "3.5 USD/hour",
      support = ["0 USD/hour", inf] }""".replace("\n", ""),
    "pert": '{ family = "pert", low = "1 USD/hour", mode = "2 USD/hour", high = "6 USD/hour" }',
    "bimodal": BIMODAL,
}


@pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)
def test_any_price_times_a_lognormal(price: str, make: Make) -> None:
    """Whatever the family of the price, F(y) is the mean of its distribution function over the lognormal rest."""
    scenario = make({"price_per_accelerator_hour": price})
    law = scenario.inputs["price_per_accelerator_hour"].distribution
    # The rest by the midpoint rule in its normal score, which for a smooth integrand converges geometrically.
    nodes = np.arange(-9, 9, 1 / 512) + 1 / 1024
    weights = norm.pdf(nodes) / 512
    rest = MEDIAN_COST / 2 * 3600 * np.exp(nodes * math.sqrt(0.1**2 + 0.2**2 + 0.05**2 + 0.15**2))

    def missing(y: float, level: float) -> float:
        return float(weights @ law.cdf(y / rest) - level)

    exact = [brentq(missing, 1e4, 1e9, args=(level,), xtol=1e-3, rtol=1e-14) for level in LEVELS.values()]
    assert_exact(smoothed(scenario), "cost", np.array(exact))


def test_an_output_that_is_an_input_has_exact_quantiles(make: Make) -> None:
    """A stated output, and one that is a multiple of one input, have that input's quantiles, but for the solution."""
    tallies = smoothed(
        make({"parameters": FIXED["parameters"], "mfu": FIXED["mfu"], "peak_flop_per_s": '"312 TFLOP/s"'})
    )
    one = tallies.outputs["training_flop"]
    np.testing.assert_allclose(one.quantiles, 6 * 70e9 * 2e12 * np.exp(0.2 * Z), rtol=1e-9)
    assert one.smoothed == "tokens"
    np.testing.assert_allclose(one.errors, SOLVED * one.quantiles, rtol=1e-12)


# --- against draws ----------------------------------------------------------------------------------------------------


def middle(share: Share) -> np.ndarray:
    """The probability of lying below, and half of that of lying at, a value; by replicate."""
    return np.asarray((share.at_or_below + share.below) / 2)


UNCERTAIN = [name for name in shipped("runs") if load_scenario(name).uncertain]


@pytest.mark.parametrize("name", UNCERTAIN)
def test_shipped_runs_agree_with_draws(name: str) -> None:
    """Quantiles, limits and percentiles of every smoothed output are those of a million draws, within five errors."""
    scenario = load_scenario(name)
    smooth, draws = smoothed(scenario, seed=1), stream(scenario, Goal(1 << 20, None), seed=2, smooth=False)
    some = [name for name, one in smooth.outputs.items() if one.smoothed]
    assert some
    # Of an output of one input each replicate's draws are a comb, whose quantiles are off by parts of a tooth, which
    # replicates that happen to agree do not tell: a tooth in ranks, and in values at the mean distance of draws.
    tooth = 16 / draws.provenance.draws
    for output in some:
        one, other = smooth.outputs[output], draws.outputs[output]
        assert (other.smoothed, bool(np.all(one.quantiles > 0))) == ("", True)
        slack = 1e-8 * one.quantiles + tooth / 2 * np.ptp(other.quantiles)
        off = np.abs(one.quantiles - other.quantiles)
        assert np.all(off < 5 * np.hypot(one.errors, other.errors) + slack), (output, off / other.errors)
    marks = [(smooth.limits[key], draws.limits[key]) for key in smooth.limits]
    marks += [(smooth.observed[key], draws.observed[key]) for key in smooth.observed]
    for one, other in marks:
        if one.draws is None:
            error = np.hypot(*(standard_error(middle(share)) for share in (one, other)))
            assert abs(middle(one).mean() - middle(other).mean()) < 5 * error + tooth / 2


# --- what is smoothed -------------------------------------------------------------------------------------------------

DISCRETE = '{ family = "choice", values = ["1 USD/hour", "4 USD/hour"], weights = [0.3, 0.7] }'


def test_nothing_is_smoothed_unless_asked(make: Make) -> None:
    """Quantiles of draws alone say so."""
    tallies = stream(make(), Goal(1 << 14, None), smooth=False)
    assert {one.smoothed for one in tallies.outputs.values()} == {""}
    assert all(share.draws == 1 << 14 for share in tallies.limits.values())


def test_what_is_no_straight_line_is_not_smoothed() -> None:
    """Goodput and checkpoint intervals, in which square roots stand, are left to draws."""
    scenario = load_scenario("llama-3.1-405b")
    found = {line.output for line in lines(scenario)}
    assert found
    assert not found & {"goodput", "checkpoint_interval"}
    tallies = smoothed(scenario)
    assert {tallies.outputs[name].smoothed for name in ("goodput", "checkpoint_interval")} == {""}


def test_discrete_inputs_are_not_integrated_out(make: Make) -> None:
    """A discrete price, though it moves the cost most, gives way to the next input; alone it leaves draws."""
    found = {line.output: line.input for line in lines(make({"price_per_accelerator_hour": DISCRETE}))}
    assert found.get("cost") != "price_per_accelerator_hour"
    alone = make(FIXED | {"price_per_accelerator_hour": DISCRETE})
    assert lines(alone) == ()
    assert {one.smoothed for one in smoothed(alone).outputs.values()} == {""}


def test_perfectly_correlated_inputs_are_not_integrated_out(make: Make) -> None:
    """What the others determine leaves nothing to integrate; a third input does."""
    pair = ("mfu", "price_per_accelerator_hour")
    for value in (1.0, -1.0, 0.999):
        scenario = make(rest=f"[[correlations]]\nbetween = {list(pair)}\nlatent = {value}\n")
        assert not {line.input for line in lines(scenario)} & set(pair)
    # Their effects cancel or add up; the closed form says which.
    scenario = make(rest=f"[[correlations]]\nbetween = {list(pair)}\nlatent = 1.0\n")
    deviation = math.sqrt(0.1**2 + 0.2**2 + 0.05**2 + (0.25 - 0.15) ** 2)
    assert_exact(smoothed(scenario), "cost", MEDIAN_COST * np.exp(Z * deviation))


def test_an_input_correlated_with_a_discrete_one_is_not_integrated_out(make: Make) -> None:
    """A discrete value has no one score to condition on."""
    rest = correlated([[1, 0.5], [0.5, 1]], "mfu", "price_per_accelerator_hour")
    found = {line.input for line in lines(make({"price_per_accelerator_hour": DISCRETE}, rest))}
    assert not found & {"mfu", "price_per_accelerator_hour"}


def test_each_line_is_one_of_inverse_or_not(make: Make) -> None:
    """Cost is straight in the price and in 1/MFU, never in the MFU."""
    found = {line.output: line for line in lines(make({"mfu": '{ family = "uniform", low = 0.1, high = 0.5 }'}))}
    assert (found["cost"].input, found["cost"].inverse) == ("mfu", True)
    plain = {line.output: line for line in lines(make())}
    assert (plain["cost"].input, plain["cost"].inverse) == ("price_per_accelerator_hour", False)
