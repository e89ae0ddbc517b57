"""Errors that are what they say: over many seeds estimates miss exact values as far, and as often, as they claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm, poisson
from scipy.stats import t as student_t

from uncertain_botec import Scenario
from uncertain_botec.dependence import Dependence
from uncertain_botec.distributions import Distribution, elicit
from uncertain_botec.formulas.base import Formula
from uncertain_botec.planning import Plan, Section
from uncertain_botec.sampling.batches import estimate_many
from uncertain_botec.sampling.engine import sample
from uncertain_botec.sampling.integrating import smooth_outputs
from uncertain_botec.sampling.points import SAMPLERS
from uncertain_botec.sampling.smooth import SOLVED
from uncertain_botec.sampling.streaming import Goal, stream
from uncertain_botec.scenario import Input, Marker
from uncertain_botec.summaries import error_and_bounds, limit_summary
from uncertain_botec.tallies import LEVELS, Tallies
from uncertain_botec.vocabulary import QUANTITIES

Floats = NDArray[np.float64]
Make = Callable[..., Scenario]
Maker = Callable[..., tuple[Scenario, "Case"]]
# Estimates and errors of one seed: of the quantiles, then of the probabilities of staying within the limits.
Found = tuple[list[float], list[float]]

SEEDS = 80
DRAWS = 1 << 12
FIRST = 1 << 17  # as many as any forecast makes
OUTPUT = ("cost",)
WITHIN = (0.05, 0.4, 0.95)  # the exact probabilities of staying within the limits

# --- cases, whose cost is a mixture of lognormals ---------------------------------------------------------------------

FIXED = {
    "parameters": "70e9",
    "tokens": "2e12",
    "accelerators": "2048",
    "peak_flop_per_s": '"312 TFLOP/s"',
    "mfu": "0.25",
    "price_per_accelerator_hour": '"2 USD/hour"',
    "failure_overhead": "0",
}
PRICE = "price_per_accelerator_hour"
CENTRES = {"parameters": 70e9, "tokens": 2e12, "peak_flop_per_s": 312e12, "mfu": 0.25, PRICE: 2 / 3600}
CENTRE = 6 * 70e9 * 2e12 / (312e12 * 0.25) * 2 / 3600  # USD


@dataclass(frozen=True)
class Case:
    """Beliefs, and the law of the cost.

    Attributes:
        inputs: those that are not as fixed.
        sigma: the standard deviation of the logarithm of every part of the mixture.
        parts: the median of each relative to the usual cost, and its weight; by itself the usual cost.
    """

    inputs: Mapping[str, Distribution]
    sigma: float
    parts: Sequence[tuple[float, float]] = ((1, 1),)

    def quantile(self, level: float) -> float:
        """The cost that is not exceeded with this probability."""
        medians, weights = np.log([at for at, _ in self.parts]), np.array([weight for _, weight in self.parts])

        def missing(log: float) -> float:
            return float(weights @ norm.cdf((log - medians) / self.sigma) - level)

        return CENTRE * math.exp(brentq(missing, -99, 99, xtol=1e-13, rtol=1e-14))


def lognormal(median: float, sigma: float) -> Distribution:
    """By its median and the standard deviation of its logarithm; a value known exactly where there is none."""
    return elicit("lognormal", {"median": median, "sigma": sigma})


def lognormals(**sigmas: float) -> dict[str, Distribution]:
    """About the usual values."""
    return {name: lognormal(CENTRES[name], sigma) for name, sigma in sigmas.items()}


# A Poisson count with this mean is zero once in 1e13.
MEAN = 30
COUNTS = [(count / CENTRES["tokens"], float(poisson.pmf(count, MEAN))) for count in range(1, 100)]
PRICES = ((1, 0.3), (4, 0.7))

CHOICE = elicit("choice", {"values": [at * CENTRES[PRICE] for at, _ in PRICES], "weights": [0.3, 0.7]})
BIMODAL = elicit(
    "mixture", {"components": [lognormal(at * CENTRES[PRICE], 0.1) for at, _ in PRICES], "weights": [0.3, 0.7]}
)

SPREADS = {"parameters": 0.1, "tokens": 0.2, "peak_flop_per_s": 0.05, "mfu": 0.15, PRICE: 0.25}
TAILS = {**dict.fromkeys(CENTRES, 0.1), "tokens": 2, PRICE: 3}

CASES = {
    "five lognormals": Case(lognormals(**SPREADS), math.hypot(*SPREADS.values())),
    "heavy tails": Case(lognormals(**TAILS), math.hypot(*TAILS.values())),
    # One of the inputs has no spread.
    "discrete": Case(
        {
            **lognormals(mfu=0.3, peak_flop_per_s=0.1, parameters=0),
            "tokens": elicit("poisson", {"mean": MEAN}),
            PRICE: CHOICE,
        },
        math.hypot(0.3, 0.1),
        [(few * price, p * q) for few, p in COUNTS for price, q in PRICES],
    ),
    # The mixture moves the cost most: it is what is integrated out.
    "mixture": Case({**lognormals(tokens=0.3, mfu=0.2), PRICE: BIMODAL}, math.hypot(0.3, 0.2, 0.1), PRICES),
    "choice": Case({**lognormals(tokens=0.3), PRICE: CHOICE}, 0.3, PRICES),
    "one input": Case(lognormals(mfu=0.15), 0.15),
}

# Fifty correlated inputs take half a minute to compile; but for draws of a lattice, which take less, eight will do.
FEW, MANY = 8, 50
EVERY = [(name, sampler) for name in (*CASES, "correlated") if name != "choice" for sampler in SAMPLERS]


class _Product(Scenario):
    """A scenario whose only formula multiplies everything that it is told."""

    @property
    def plan(self) -> Plan:
        """One step."""
        names = tuple(self.inputs)
        return Plan((_product(names),), names, (), (Section("", OUTPUT),))


@cache
def _product(names: tuple[str, ...]) -> Formula:
    def product(**values: Any) -> Any:
        return math.prod(values[name] for name in names)

    return Formula("cost", names, (), "product", "", product, {}, (), (), "count", False, False)


def correlated(count: int) -> tuple[Scenario, Case]:
    """A product of lognormals all of which are correlated with all: its logarithm's variance is w' R w.

    No estimator has fifty uncertain inputs: names are lent from the vocabulary, whatever they mean there.
    """
    positive = [name for name, one in QUANTITIES.items() if name != "cost" and (one.low, one.high) == (0, math.inf)]
    names = tuple(sorted(positive[:count]))
    rng = np.random.default_rng(1)
    latent = np.corrcoef(rng.standard_normal((count, 2 * count)))
    sigmas = rng.uniform(0.1, 0.5, count) / math.sqrt(count)
    inputs = {name: Input(name, {}, lognormal(1, sigma), "") for name, sigma in zip(names, sigmas, strict=True)}
    scenario = _Product("Product", "training", inputs, dependence=Dependence(names, tuple(map(tuple, latent))))
    return scenario, Case({}, math.sqrt(sigmas @ latent @ sigmas), ((1 / CENTRE, 1),))


@pytest.fixture
def make(load_inputs: Make) -> Maker:
    """A maker of the scenario of a case, with limits, and of its law; of so many inputs where they are correlated."""

    def made(name: str, count: int = FEW) -> tuple[Scenario, Case]:
        if name == "correlated":
            scenario, law = correlated(count)
        else:
            scenario, law = load_inputs(FIXED).but(**CASES[name].inputs), CASES[name]
        limits = {str(level): Marker(str(level), "cost", law.quantile(level), None) for level in WITHIN}
        return replace(scenario, limits=limits), law

    return made


# --- what is reported -------------------------------------------------------------------------------------------------


def told(tallies: Tallies) -> Found:
    """By a summary."""
    one = tallies.outputs["cost"]
    limits = [limit_summary(tallies, marker) for marker in tallies.scenario.limits.values()]
    return [*one.quantiles, *(limit.probability for limit in limits)], [*one.errors, *(limit.mcse for limit in limits)]


def batched(scenarios: Sequence[Scenario], **options: Any) -> list[Found]:
    """By a batch, of each scenario."""
    found = []
    for scenario, estimates in zip(scenarios, estimate_many(scenarios, OUTPUT, **options), strict=True):
        one = estimates["cost"]
        assert one.smoothed
        shares = [one.shares[marker.value] for marker in scenario.limits.values()]
        chances = [float(share.at_or_below.mean()) for share in shares]
        errors = [*one.errors, *(error_and_bounds(share, at)[0] for share, at in zip(shares, chances, strict=True))]
        found.append(([*one.quantiles, *chances], errors))
    return found


def scores(found: Sequence[Found], law: Case) -> Floats:
    """(estimate - exact) / error, of shape (seed, statistic)."""
    estimates, errors = np.array(found).swapaxes(0, 1)
    exact = np.array([*map(law.quantile, LEVELS.values()), *WITHIN])
    # What is exact is so but for rounding.
    return np.asarray((estimates - exact) / (errors + 1e-12 * exact))


def assert_honest(found: Sequence[Found], law: Case, exact: bool = False, cautious: bool = False) -> None:
    """Fail unless the errors are as large as is claimed, and 95 % intervals of Student's t cover as often.

    A score is distributed as Student's t with 15 degrees of freedom, whose standard deviation is 1.07. That of n
    seeds has a relative standard error of 0.8 / sqrt(n).
    """
    z = scores(found, law)
    root = np.sqrt((z**2).mean(axis=0))
    covered = (np.abs(z) < student_t.ppf(0.975, 15)).mean(axis=0)
    figures = f"scores {root.round(2)}, bias {z.mean(axis=0).round(2)}, covered {covered.round(2)}"
    if exact:
        assert np.all(np.abs(z) < 1), figures
        return
    assert (0.4 if cautious else 0.8) < math.sqrt(np.mean(root**2)) < 1.25, figures
    # Single ones may be small: points of a lattice or of one input are even, and rounding is what they are given.
    assert np.all(root < 1.07 * (1 + 4 * 0.8 / math.sqrt(len(z)))), figures
    # Of some 300 shares one is three of its standard errors short by chance, of cases hardly one.
    error = math.sqrt(0.95 * 0.05 / len(z))
    assert covered.mean() >= 0.95 - 3 * error, figures
    assert np.all(covered >= 0.95 - 4 * error), figures


def streamed(
    scenario: Scenario, sampler: str, seeds: int = SEEDS, kinds: Sequence[bool] = (False, True)
) -> list[list[Found]]:
    """By streams of so many seeds: drawn, and smooth."""
    goal = Goal(DRAWS, None, outputs=OUTPUT)
    found: list[list[Found]] = [[] for _ in kinds]
    # Both of a seed at once: its points are remembered.
    for seed in range(seeds):
        for smooth, one in zip(kinds, found, strict=True):
            tallies = stream(scenario, goal, smooth=smooth, seed=seed, sampler=sampler)
            assert bool(tallies.outputs["cost"].smoothed) == smooth
            one.append(told(tallies))
    return found


@pytest.mark.parametrize(("name", "sampler"), EVERY)
def test_streams(name: str, sampler: str, make: Maker) -> None:
    """Quantiles and probabilities of draws, and smooth ones of the same draws, err as they say."""
    many = (name, sampler) == ("correlated", "lattice")
    scenario, law = make(name, MANY if many else FEW)
    drawn, smooth = streamed(scenario, sampler, SEEDS // 2 if many else SEEDS)
    assert_honest(drawn, law)
    # Where all that is uncertain is integrated out, nothing is left to chance.
    assert_honest(smooth, law, exact=name == "one input")


@pytest.mark.parametrize("name", [*CASES, "correlated"])
def test_batches_of_one(name: str, make: Maker) -> None:
    """Quantiles and probabilities of a batch of one scenario err as they say."""
    scenario, law = make(name)
    found = [batched([scenario], points=DRAWS, seed=seed)[0] for seed in range(SEEDS)]
    assert_honest(found, law, exact=name == "one input", cautious=name == "choice")


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_batches_of_several(sampler: str, make: Maker) -> None:
    """So do those of several scenarios at once, which share their points."""
    made = [make(name) for name in ("five lognormals", "heavy tails")]
    scenarios = [scenario for scenario, _ in made]
    found = [batched(scenarios, points=DRAWS, seed=seed, sampler=sampler) for seed in range(SEEDS)]
    for place, (_, law) in enumerate(made):
        assert_honest([one[place] for one in found], law)


def test_batches_to_an_accuracy(make: Maker) -> None:
    """So do those that are drawn on until they look accurate, though errors that are too small by luck end it."""
    scenario, law = make("five lognormals")
    few = [estimate_many([scenario], OUTPUT, points=DRAWS, seed=seed)[0]["cost"] for seed in range(SEEDS)]
    accuracy = float(np.median([one.worst for one in few]))
    found = [batched([scenario], accuracy=accuracy, seed=seed)[0] for seed in range(SEEDS)]
    ended = [bool(np.array_equal(one.quantiles, other[0][:3])) for one, other in zip(few, found, strict=True)]
    assert 0.3 < np.mean(ended) < 0.7
    assert_honest(found, law)


def test_solutions_are_as_close_as_they_claim(make: Maker) -> None:
    """The quantiles of the very points are found as closely as is said, however wide the output is."""
    scenario, _ = make("heavy tails")
    worst = 0.0
    for seed in range(SEEDS):
        drawn = sample(scenario, DRAWS, seed=seed)
        inputs = {name: drawn.values[name] for name in scenario.uncertain}
        found = smooth_outputs(scenario, inputs, "lattice", None, {"cost": ()})["cost"]
        assert found.smoothed == PRICE
        logs = np.log(drawn.values["cost"] / drawn.values[PRICE] * CENTRES[PRICE])
        for quantile, level in zip(found.quantiles, LEVELS.values(), strict=True):
            exact = brentq(_missing, -99, 99, (logs, TAILS[PRICE], level), xtol=1e-12)
            worst = max(worst, abs(math.log(quantile) - exact))
    assert worst < SOLVED


def _missing(log: float, logs: Floats, sigma: float, level: float) -> float:
    return float(norm.cdf((log - logs) / sigma).mean() - level)


# A few hundred points of each replicate, evenly spread in two inputs, of which one jumps: replicates differ by a count
# or two, and most of them agree.
FEW_COUNTS = pytest.mark.xfail(reason="errors of a few thousand draws are a third too small beside a jump")


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_lognormal_at_one_of_two_prices(sampler: str, make: Maker) -> None:
    """Errors are as large as is claimed, or larger, where all that is not integrated out is one discrete input.

    Of n evenly spread points 0.3 n are at the lower price, rounded up in most replicates and down in some. Where they
    all round alike they agree, and see nothing of the error that remains.
    """
    scenario, law = make("choice")
    assert_honest(streamed(scenario, sampler, 3 * SEEDS, [True])[0], law, cautious=True)


@pytest.mark.parametrize("draws", [pytest.param(DRAWS, marks=FEW_COUNTS), FIRST])
@pytest.mark.parametrize("sampler", ["lattice", "sobol"])
def test_draws_of_a_lognormal_at_one_of_two_prices(sampler: str, draws: int, make: Maker) -> None:
    """So are those of draws, of as many as a forecast makes at least."""
    scenario, law = make("choice")
    goal = Goal(draws, None, outputs=OUTPUT)
    found = [told(stream(scenario, goal, smooth=False, seed=seed, sampler=sampler)) for seed in range(3 * SEEDS)]
    assert_honest(found, law)
