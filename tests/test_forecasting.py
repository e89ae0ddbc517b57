"""Forecasts err as they say: smooth quantiles and streamed draws against closed forms, over many seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import jax
import numpy as np
import pytest
from scipy.stats import binom, norm
from scipy.stats import t as student_t

from uncertain_botec import Scenario
from uncertain_botec.distributions import Level, elicit
from uncertain_botec.forecasting import forecast, goal_of
from uncertain_botec.sampling.kernel import Beliefs, inputs_at, levels_at
from uncertain_botec.sampling.points import SAMPLERS, point_set
from uncertain_botec.sampling.streaming import ACCURACY, MOST_DRAWS, Goal, stream
from uncertain_botec.summaries import summarize
from uncertain_botec.tallies import LEVELS, Share, quantiles, standard_error

Make = Callable[..., Scenario]

SEEDS = 200
FEWER_SEEDS = 60  # where a seed takes long
DRAWS = 1 << 12
REACH = student_t.ppf(0.975, 15)
Z = norm.ppf(list(LEVELS.values()))

MFU = '{ family = "lognormal", median = 0.25, sigma = 0.15 }'
INPUTS = {
    "parameters": '"70e9 parameter"',
    "tokens": '{ family = "lognormal", median = "2e12 token", sigma = 0.2 }',
    "accelerators": "2048",
    "peak_flop_per_s": '"312 TFLOP/s"',
    "mfu": MFU,
    "failure_overhead": "0",
    "price_per_accelerator_hour": '{ family = "lognormal", median = "2 USD/hour", sigma = 0.3 }',
}
MEDIAN_COST = 6 * 70e9 * 2e12 / (312e12 * 0.25) / 3600 * 2


@pytest.fixture
def make(load_inputs: Make) -> Make:
    """A maker of scenarios: the usual inputs, some of them replaced or (with None) left out, and further tables."""
    return partial(load_inputs, INPUTS)


def assert_covered(inside: np.ndarray) -> None:
    """Fail unless 95 % intervals over seeds, the first axis, hold the truth in 95 %, within four errors of that."""
    covered = inside.mean(axis=0)
    assert np.all(np.abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / len(inside))), covered


def costs_covered(
    scenario: Scenario, exact: np.ndarray, smooth: bool, sampler: str, seeds: int = SEEDS, draws: int = DRAWS
) -> np.ndarray:
    """Whether each seed's intervals of the cost hold the exact quantiles."""
    goal = Goal(draws, 0.5 if smooth else None, outputs=("cost",))
    rows, smoothed = [], 0
    for seed in range(seeds):
        one = stream(scenario, goal, seed=seed, sampler=sampler, smooth=smooth).outputs["cost"]
        smoothed += bool(one.smoothed)
        rows.append(np.abs(one.quantiles - exact) <= REACH * one.errors + 1e-8 * exact * smooth)
    assert smoothed >= 0.95 * seeds if smooth else smoothed == 0
    return np.array(rows)


# --- coverage ---------------------------------------------------------------------------------------------------------

CORRELATED = '[[correlations]]\nbetween = ["mfu", "tokens"]\nlatent = -0.6\n'


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_smooth_intervals_cover(sampler: str, make: Make) -> None:
    """Of correlated lognormals, whose variance of logarithms is known, the standard errors are what they say."""
    deviation = math.sqrt(0.2**2 + 0.15**2 + 2 * 0.6 * 0.2 * 0.15 + 0.3**2)
    inside = costs_covered(make(rest=CORRELATED), MEDIAN_COST * np.exp(Z * deviation), True, sampler)
    assert_covered(inside)


ONE_INPUT = {"tokens": '"2e12 token"', "mfu": "0.25"}


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("draws", [1 << 9, 1 << 15])
def test_intervals_of_one_input_cover(draws: int, sampler: str, make: Make) -> None:
    """Of a price alone, whose points in every replicate are as even as they can be, errors are not too small either."""
    inside = costs_covered(make(ONE_INPUT), MEDIAN_COST * np.exp(Z * 0.3), False, sampler, draws=draws)
    assert_covered(inside[:, [0, 2]])
    # Half of each replicate's points are below the median, none too many: it errs less than is said.
    assert inside[:, 1].mean() > 0.93


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_intervals_of_two_inputs_cover(sampler: str, make: Make) -> None:
    """Of a price and a number of tokens, the fewest inputs of which replicates do not agree to a draw."""
    exact = MEDIAN_COST * np.exp(Z * math.hypot(0.2, 0.3))
    assert_covered(costs_covered(make({"mfu": "0.25"}), exact, False, sampler))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_intervals_of_probabilities_of_one_input_cover(sampler: str, make: Make) -> None:
    """Of tokens alone each replicate counts so many draws within a limit or one more, however often all agree."""
    each = DRAWS / 16
    # One in ten, and one in twenty, counts one more.
    chances = {"budget": 100.1 / each, "deadline": 200.05 / each}
    cost, hours = MEDIAN_COST, MEDIAN_COST / 2 / 2048
    budget, deadline = (
        middle * math.exp(norm.ppf(chance) * 0.2)
        for middle, chance in zip((cost, hours), chances.values(), strict=True)
    )
    limits = f'[limits]\nbudget = "{budget!r} USD"\ndeadline = "{deadline!r} hour"\n'
    observed = f'[observed]\ncost = "{budget!r} USD"\n'
    changes = {"mfu": "0.25", "price_per_accelerator_hour": '"2 USD/hour"'}
    scenario = make(changes, limits + observed)
    inside = []
    for seed in range(SEEDS):
        summary = summarize(stream(scenario, Goal(DRAWS, None), seed=seed, sampler=sampler, smooth=False))
        row = [summary.limits[name].low <= chance <= summary.limits[name].high for name, chance in chances.items()]
        percentile = summary.observed["cost"]
        inside.append([*row, abs(percentile.percentile - 100 * chances["budget"]) <= REACH * percentile.mcse])
    covered = np.array(inside).mean(axis=0)
    assert np.all(covered > 0.95 - 4 * math.sqrt(0.95 * 0.05 / SEEDS)), covered


def test_the_rounding_of_counts() -> None:
    """Of 16 counts that are each rounded up with probability f, the error is as large as is said on average over f."""
    up = np.arange(17)
    said = []
    for ups in up:
        parts = (100 + (np.arange(16) < ups)) / 256
        said.append(max(float(standard_error(parts)), Share(parts, parts, DRAWS).rounding) * 256)
    fractions = (np.arange(1000) + 0.5) / 1000
    chance = binom.pmf(up[:, None], 16, fractions)
    squares = np.sum(chance * ((up[:, None] / 16 - fractions) / np.array(said)[:, None]) ** 2, axis=0)
    assert math.sqrt(squares.mean()) == pytest.approx(1, abs=0.01)
    assert math.sqrt(squares.max()) == pytest.approx(1.12, abs=0.01)


def test_every_seed_is_smoothed(make: Make) -> None:
    """What is smoothed with one seed is with any other: also where the search lands on a quantile to the last bit."""
    goal = Goal(DRAWS, 0.5, outputs=("cost",))
    assert stream(make(rest=CORRELATED), goal, seed=72).outputs["cost"].smoothed


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_streamed_intervals_of_a_wide_lognormal_cover(sampler: str, make: Make) -> None:
    """Of a price with sigma 3, a factor of 2000 from P10 to P90, times other lognormals; one input does not vary."""
    changes = {"price_per_accelerator_hour": '{ family = "lognormal", median = "2 USD/hour", sigma = 3 }'}
    deviation = math.sqrt(0.2**2 + 0.15**2 + 3**2)
    assert_covered(costs_covered(make(changes), MEDIAN_COST * np.exp(Z * deviation), False, sampler))


@pytest.mark.parametrize("smooth", [False, True])
def test_intervals_of_a_mixture_cover(smooth: bool, make: Make) -> None:
    """Of a price that is low with 0.3, high with 0.7: the quantiles of a mixture of lognormals, by bisection."""
    stated = ", ".join(f'{{ family = "lognormal", median = "{usd} USD/hour", sigma = 0.2 }}' for usd in (1, 3))
    changes = {"price_per_accelerator_hour": f'{{ family = "mixture", weights = [0.3, 0.7], components = [{stated}] }}'}
    spread = math.sqrt(0.2**2 + 0.15**2 + 0.2**2)
    low, high = np.full(3, -9.0), np.full(3, 9.0)
    for _ in range(60):
        middle = (low + high) / 2
        below = 0.3 * norm.cdf((middle - math.log(0.5)) / spread) + 0.7 * norm.cdf((middle - math.log(1.5)) / spread)
        under = below < list(LEVELS.values())
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    assert_covered(costs_covered(make(changes), MEDIAN_COST * np.exp(low), smooth, "sobol", FEWER_SEEDS))


def test_intervals_of_a_probability_cover_where_inputs_are_discrete(make: Make) -> None:
    """Of a price of two values the chance of a budget is a sum of two normal probabilities."""
    price = '{ family = "choice", values = ["1 USD/hour", "4 USD/hour"], weights = [0.3, 0.7] }'
    scenario = make({"price_per_accelerator_hour": price}, '[limits]\nbudget = "9e6 USD"\n')
    spread = math.hypot(0.2, 0.15)
    logs = np.log(9e6 / (MEDIAN_COST * np.array([0.5, 2.0])))
    exact = float(np.array([0.3, 0.7]) @ norm.cdf(logs / spread))
    inside = []
    for seed in range(SEEDS):
        tallies = stream(scenario, Goal(DRAWS, None), seed=seed, sampler="monte-carlo", smooth=False)
        share = tallies.limits["budget"].at_or_below
        inside.append(abs(share.mean() - exact) <= REACH * standard_error(share))
    assert_covered(np.array(inside)[:, None])


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_intervals_of_fifty_correlated_inputs_cover(sampler: str) -> None:
    """The kernel's inputs under a full correlation matrix of fifty: the sum of their logarithms is normal."""
    names = tuple(f"input_{number:02}" for number in range(50))
    loadings = np.random.default_rng(3).uniform(-0.9, 0.9, (50, 2)) / math.sqrt(2)
    matrix = loadings @ loadings.T
    np.fill_diagonal(matrix, 1.0)
    sigmas = np.linspace(0.02, 0.3, 50)
    deviation = math.sqrt(sigmas @ matrix @ sigmas)
    forms = {
        name: elicit("lognormal", {"median": 1.0, "sigma": float(sigma)}).sampling_form()
        for name, sigma in zip(names, sigmas, strict=True)
    }
    factor = np.linalg.cholesky(matrix)

    @jax.jit
    def drawn(levels: Mapping[str, Level]) -> jax.Array:
        _, inputs = inputs_at(Beliefs({}, forms, {}, factor, None), levels, names)
        return jax.numpy.log(jax.numpy.prod(jax.numpy.stack([inputs[name] for name in names]), axis=0))

    # In two: fused with the sum, every point would be computed again for each input, for which compilers lack memory.
    points_at = jax.jit(lambda streams, index: levels_at(streams, index, np.dtype(np.float64)))
    inside = []
    for seed in range(FEWER_SEEDS):
        points = point_set(sampler, DRAWS, seed)
        streams = {name: points.streams(name, column) for column, name in enumerate(names)}
        with jax.enable_x64(True):
            index = np.arange(points.size, dtype=np.uint32)
            rows = np.sort(np.asarray(drawn(points_at(streams, index))), axis=1)
        levels = list(LEVELS.values())
        errors = standard_error(quantiles(rows, levels), axis=0)
        inside.append(np.abs(quantiles(np.sort(rows, axis=None), levels) - Z * deviation) <= REACH * errors)
    assert_covered(np.array(inside))


# --- forecasts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accuracy", "draws", "goal"),
    [
        (None, None, (MOST_DRAWS, ACCURACY)),
        (0.01, None, (MOST_DRAWS, 0.01)),
        (None, 1 << 18, (1 << 18, None)),
        (0.01, 1 << 18, (1 << 18, 0.01)),
    ],
)
def test_what_is_asked_for(accuracy: float | None, draws: int | None, goal: tuple[int, float | None]) -> None:
    """An accuracy, a number of draws, or both; 0.1 % where neither is stated."""
    found = goal_of(accuracy, draws)
    assert (found.draws, found.accuracy) == goal


def test_a_forecast_is_as_accurate_as_it_says(make: Make) -> None:
    """The usual forecast reaches 0.1 % and is exact within five of the errors that it prints."""
    summary = forecast(make())
    cost = summary.outputs["cost"]
    exact = MEDIAN_COST * np.exp(Z * math.sqrt(0.2**2 + 0.15**2 + 0.3**2))
    for level, value in zip(LEVELS, exact, strict=True):
        assert abs(getattr(cost, level) - value) < 5 * cost.mcse[level] <= 5 * ACCURACY * value
    assert summary.accuracy.met
    assert not summary.partial


def test_smooth_and_drawn_forecasts_agree(make: Make) -> None:
    """With and without smooth quantiles the same number comes out, within five errors."""
    scenario = make(rest=CORRELATED)
    one, other = (
        forecast(scenario, smooth=smooth, seed=seed).outputs["cost"] for smooth, seed in ((True, 1), (False, 2))
    )
    for level in LEVELS:
        assert abs(getattr(one, level) - getattr(other, level)) < 5 * math.hypot(one.mcse[level], other.mcse[level])
