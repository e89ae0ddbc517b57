"""Comparisons against closed forms of lognormal products, and what identical, constant and endless runs come to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from tests.decisions.conftest import COST, COST_SIGMA, Make
from uncertain_botec import compare_scenarios, load_scenario
from uncertain_botec.comparison_table import rows
from uncertain_botec.decisions.comparison import PERCENTILES, Difference
from uncertain_botec.errors import UsageError
from uncertain_botec.risk.measures import Figure
from uncertain_botec.scenario import Scenario

NORMAL = NormalDist()


def lognormal(median: str, sigma: float) -> str:
    """An input."""
    return f'{{ family = "lognormal", median = {median}, sigma = {sigma} }}'


def only(scenarios: list[Scenario], output: str = "cost", **options: int) -> Difference:
    """The difference of two runs in one output."""
    (gap,) = compare_scenarios(scenarios, **options).outputs[output].differences
    return gap


def z_of(value: float, error: float, truth: float) -> float:
    """How many standard errors an estimate is off."""
    return abs(value - truth) / error


def other_of(make: Make, rest: str = "") -> Scenario:
    """A run of another market and more certain of its MFU than the usual one."""
    return make({"price_per_accelerator_hour": lognormal('"2.2 USD/hour"', 0.1), "mfu": lognormal("0.3", 0.05)}, rest)


# In every draw log B - log A = log 1.1 - 0.2 z + 0.1 z', of the scores of price and MFU.
SPREAD = math.hypot(0.2, 0.1)


def test_the_chance_of_being_cheaper_in_100_seeds(make: Make) -> None:
    """P(A cheaper) = Phi(log 1.1 / s) of runs that share what they state alike, within 3 errors in 97 of 100 seeds."""
    scenarios = [make(), other_of(make)]
    truth = NORMAL.cdf(math.log(1.1) / SPREAD)
    found = [only(scenarios, draws=1 << 10, seed=seed).lower for seed in range(100)]
    assert sum(z_of(one.value, one.error, truth) < 3 for one in found) >= 97
    assert sum(one.low <= truth <= one.high for one in found) >= 88


def test_correlations_that_both_state(make: Make) -> None:
    """With scores correlated alike in both runs the spread of the ratio is that of the correlated sum."""
    rest = '[[correlations]]\nbetween = ["mfu", "price_per_accelerator_hour"]\nlatent = 0.5'
    scenarios = [make(rest=rest), other_of(make, rest)]
    comparison = compare_scenarios(scenarios, draws=1 << 16)
    gap = comparison.outputs["cost"].differences[0]
    truth = NORMAL.cdf(math.log(1.1) / math.sqrt(0.2**2 + 0.1**2 - 0.2 * 0.1))
    assert z_of(gap.lower.value, gap.lower.error, truth) < 4
    assert comparison.apart == ()


def test_independent_runs(make: Make, known: Make) -> None:
    """Runs uncertain of different inputs are independent; one dominates in distribution and in no way draw by draw."""
    first = known({"tokens": lognormal('"2e12 token"', 0.2)})
    second = known({"price_per_accelerator_hour": lognormal('"2.2 USD/hour"', 0.2)})
    gap = only([first, second], draws=1 << 16)
    truth = NORMAL.cdf(math.log(1.1) / (0.2 * math.sqrt(2)))
    assert z_of(gap.lower.value, gap.lower.error, truth) < 4
    assert gap.dominance.stochastic == gap.first
    assert gap.dominance.decided
    assert gap.dominance.draw_by_draw == ""


@pytest.mark.parametrize("seed", range(3))
def test_the_difference_of_a_common_factor(known: Make, seed: int) -> None:
    """Runs that differ by a known price differ by a known part of the cost: lognormal, with a known mean."""
    scenarios = [
        known({"tokens": lognormal('"2e12 token"', 0.2), "price_per_accelerator_hour": f'"{price} USD/hour"'})
        for price in (2, 3)
    ]
    gap = only(scenarios, draws=1 << 12, seed=seed)
    for found, level in ((gap.p10, 0.1), (gap.p50, 0.5), (gap.p90, 0.9)):
        truth = COST / 2 * math.exp(0.2 * NORMAL.inv_cdf(level))
        assert z_of(found.value, found.error + 1e-9 * truth, truth) < 5
    truth = COST / 2 * math.exp(0.2**2 / 2)
    assert z_of(gap.mean.value, gap.mean.error, truth) < 5
    assert (gap.lower.value, gap.ties, gap.dominance.draw_by_draw) == (1, 0, gap.first)
    # All draws are so, and still they are draws.
    assert gap.lower.error > 0


def test_curves(make: Make) -> None:
    """The S-curve of cost is the lognormal's at P1 to P99, and its quantiles are those at P10, P50 and P90."""
    comparison = compare_scenarios([make(), other_of(make)], draws=1 << 18)
    curve = next(iter(comparison.outputs["cost"].curves.values()))
    truth = [COST * math.exp(COST_SIGMA * NORMAL.inv_cdf(level)) for level in PERCENTILES]
    assert np.allclose(curve.values, truth, rtol=3e-3)
    assert (curve.p10.value, curve.p50.value, curve.p90.value) == tuple(curve.values[place] for place in (9, 49, 89))
    assert abs(curve.mean.value - COST * math.exp(COST_SIGMA**2 / 2)) < 5 * curve.mean.error


def test_curves_that_cross(known: Make) -> None:
    """Equal medians and unequal spreads cross at the median: neither run dominates, and that is certain."""
    scenarios = [known({"tokens": lognormal('"2e12 token"', sigma)}) for sigma in (0.1, 0.3)]
    dominance = only(scenarios, draws=1 << 14).dominance
    assert dominance.stochastic == ""
    assert dominance.decided
    assert set(dominance.crossings) <= {50, 51}
    assert dominance.crossings


def test_a_difference_within_chance_is_not_decided(make: Make, known: Make) -> None:
    """Runs of one distribution by different inputs have curves that few draws cannot tell apart."""
    first = known({"tokens": lognormal('"2e12 token"', 0.2)})
    second = known({"price_per_accelerator_hour": lognormal('"2 USD/hour"', 0.2)})
    gap = only([first, second], draws=1 << 9)
    assert not gap.dominance.decided
    assert abs(gap.lower.value - 0.5) < 4 * gap.lower.error


def test_identical_runs(make: Make) -> None:
    """A run is cheaper than itself with probability 1/2, exactly, for ties count half."""
    comparison = compare_scenarios([make(), make()], draws=1 << 10)
    for output in comparison.outputs.values():
        (gap,) = output.differences
        assert (gap.lower.value, gap.lower.error, gap.ties) == (0.5, 0, 1)
        assert (gap.p10, gap.p90, gap.mean) == (Figure(0, 0),) * 3
        assert (gap.dominance.stochastic, gap.dominance.draw_by_draw, gap.dominance.crossings) == ("", "", ())
        assert [curve.best.value for curve in output.curves.values()] == [0.5, 0.5]
    assert comparison.together == comparison.apart == ()
    assert comparison.differing == {}
    assert {*comparison.same} == {"tokens", "mfu", "price_per_accelerator_hour"}


def test_equal_but_for_rounding(make: Make) -> None:
    """The cost of accelerator-hours is the same on any number of them, and ties although it rounds otherwise."""
    comparison = compare_scenarios([make(), make({"accelerators": "777"})], draws=1 << 10)
    assert comparison.outputs["cost"].differences[0].ties == 1
    assert comparison.outputs["training_time"].differences[0].dominance.draw_by_draw == "scenario #2"
    assert comparison.differing == {"accelerators": (512, 777)}


def test_constants(known: Make) -> None:
    """Runs that are known exactly compare exactly."""
    comparison = compare_scenarios([known(), known({"price_per_accelerator_hour": '"3 USD/hour"'})], draws=1 << 8)
    (gap,) = comparison.outputs["cost"].differences
    assert (gap.lower.value, gap.lower.error, gap.lower.low) == (1, 0, 1)
    assert gap.p50.value == pytest.approx(COST / 2, rel=1e-12)
    assert gap.p50.error == 0
    assert gap.dominance.decided
    (time,) = comparison.outputs["training_time"].differences
    assert (time.lower.value, time.lower.error) == (0.5, 0)


def test_the_best_of_three(known: Make) -> None:
    """Of three runs two of which are the same, these share what they win: the chances make one."""
    tokens = {"tokens": lognormal('"2e12 token"', 0.2)}
    rival = known({"price_per_accelerator_hour": lognormal('"2 USD/hour"', 0.2)})
    comparison = compare_scenarios([known(tokens), known(tokens), rival], draws=1 << 12)
    best = [curve.best for curve in comparison.outputs["cost"].curves.values()]
    assert best[0] == best[1]
    assert sum(one.value for one in best) == pytest.approx(1, rel=1e-12)
    assert abs(best[2].value - 0.5) < 4 * best[2].error
    assert [(gap.first, gap.second) for gap in comparison.outputs["cost"].differences] == [
        ("scenario #1", "scenario #2"),
        ("scenario #1", "scenario #3"),
        ("scenario #2", "scenario #3"),
    ]


def test_what_moves_together(make: Make) -> None:
    """Inputs stated differently are told of, and those that one run alone correlates move together in part only."""
    comparison = compare_scenarios([make(), other_of(make)], draws=1 << 8)
    assert comparison.same == ("tokens",)
    assert {*comparison.together} == {"mfu", "price_per_accelerator_hour"}
    rest = '[[correlations]]\nbetween = ["mfu", "tokens"]\nlatent = 0.5'
    comparison = compare_scenarios([make(), make(rest=rest)], draws=1 << 8)
    # The first of a copula keeps its own scores; the second takes half of the first's.
    assert comparison.apart == ("tokens",)
    assert "tokens" not in comparison.same


def test_runs_that_never_finish() -> None:
    """Infinite times tie with each other and lose to finite ones, without anything undefined but a mean."""
    scenario = load_scenario("llama-3.1-405b")
    comparison = compare_scenarios([scenario.but(accelerators=n) for n in (2.0**14, 2.0**21, 2.0**21)], draws=1 << 10)
    first, _, last = comparison.outputs["training_time"].differences
    assert last.ties == 1
    assert (last.p50.value, last.mean.value) == (0, 0)
    assert first.p90.value == math.inf
    assert comparison.to_dict()["outputs"]["training_time"]["differences"][0]["p90"]["value"] is None


def test_bad_usage(make: Make, load_inputs: Callable[..., Scenario]) -> None:
    """One run, or more than can be read, cannot be compared; runs of other kinds are by what they have in common."""
    with pytest.raises(UsageError, match="from 2 to 8 runs, not 1"):
        compare_scenarios([make()])
    with pytest.raises(UsageError, match="not 9"):
        compare_scenarios([make()] * 9)
    comparison = compare_scenarios([make(), load_scenario("toy-network-2-3-1")], draws=1 << 8)
    assert [*comparison.outputs] == ["training_flop"]
    assert comparison.notes == ("not every run computes cost and training_time",)


def test_runs_of_other_sizes(make: Make) -> None:
    """A run that costs a millionth leaves the other's digits alone, and the error of each is a part of its own."""
    small = make({"tokens": lognormal('"2e6 token"', 0.2)})
    comparison = compare_scenarios([make(), small], draws=1 << 14)
    shown = [*rows(comparison)]
    assert shown[0] == ("Cost (thousand USD)",)
    assert float(shown[1][2]) == pytest.approx(COST / 1e3, rel=0.02)
    for cells in shown[1:4]:
        assert float(cells[-1].removesuffix(" %").removeprefix("<")) < 1


def test_a_difference_within_its_error_is_nothing(known: Make) -> None:
    """A quantile where the sign of a difference turns is 0, not the digits that the draws happened to leave."""
    price = {"price_per_accelerator_hour": lognormal('"2 USD/hour"', 0.1)}
    comparison = compare_scenarios([known(price), known(price)], draws=1 << 14)
    (gap,) = comparison.outputs["cost"].differences
    barely = replace(gap, p90=Figure(-15.7, 26.4), p10=Figure(-15.7, 2.4))
    cost = replace(comparison.outputs["cost"], differences=(barely,))
    scale = {"(thousand USD)": 1e3, "(million USD)": 1e6}
    head, *_, cells = rows(replace(comparison, outputs={"cost": cost}))
    assert cells[3] == "0"
    assert float(cells[1]) == -round(15.7) / scale[head[0].removeprefix("Cost ")]
