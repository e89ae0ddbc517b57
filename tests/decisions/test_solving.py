"""Goal seeking against inverse lognormal quantiles, exact runs, and searches by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest

from tests.decisions.conftest import ACCELERATOR_DAYS, COST, COST_SIGMA, TIME_SIGMA, Make
from uncertain_botec import load_scenario, sample, solve
from uncertain_botec.decisions.figures import DecisionError
from uncertain_botec.decisions.solution import Solution
from uncertain_botec.errors import UsageError
from uncertain_botec.risk.requirements import RequirementError, parse_requirement
from uncertain_botec.risk.verdicts import judge

NORMAL = NormalDist()
LIMITS = '[limits]\nbudget = "1e6 USD"\ndeadline = "30 day"'


def z(level: float) -> float:
    """A normal quantile."""
    return NORMAL.inv_cdf(level)


# The input, what is required, the closed form in printed units, and the side.
CASES = {
    "accelerators": (
        "P(training_time <= 30 day) >= 0.9",
        ACCELERATOR_DAYS / 30 * math.exp(TIME_SIGMA * z(0.9)),
        "least",
    ),
    "mfu": (
        "P(training_time <= 30 day) >= 80 %",
        0.3 * ACCELERATOR_DAYS / 512 / 30 * math.exp(0.2 * z(0.8)),
        "least",
    ),
    "tokens": ("P80(cost) <= 1 MUSD", 2e12 * 1e6 / COST * math.exp(-math.hypot(0.15, 0.3) * z(0.8)), "most"),
    "price_per_accelerator_hour": (
        "mean(cost) <= 1 MUSD",
        2 * 1e6 / COST * math.exp(-(TIME_SIGMA**2) / 2),
        "most",
    ),
    "parameters": (
        "CVaR80(cost) <= 1 MUSD",
        7e9 * 1e6 / COST / (math.exp(COST_SIGMA**2 / 2) * NORMAL.cdf(COST_SIGMA - z(0.8)) / 0.2),
        "most",
    ),
    "budget": ("P(budget) >= 0.8", COST * math.exp(COST_SIGMA * z(0.8)), "least"),
    "deadline": ("P(deadline) >= 0.95", ACCELERATOR_DAYS / 512 * math.exp(TIME_SIGMA * z(0.95)), "least"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_closed_form(make: Make, name: str) -> None:
    """What is needed is the inverse of the lognormal quantile, tail mean or mean, within its error."""
    requirement, truth, side = CASES[name]
    found = solve(make(rest=LIMITS), name, requirement)
    assert found.side == side
    assert found.value is not None
    assert found.error is not None
    # A whole number is the next one at or above.
    assert abs(found.value - truth) < 4 * found.error + (name == "accelerators")
    assert 0 < found.error < 0.01 * truth
    assert found.monotone
    assert found.verdict is not None
    assert found.verdict.met
    assert found.rounded is not None
    assert found.rounded >= found.value if side == "least" else found.rounded <= found.value
    assert abs(found.rounded - found.value) < 10 * found.error + 1e-4 * truth


@pytest.mark.parametrize("name", ["mfu", "budget"])
def test_errors_in_100_seeds(make: Make, name: str) -> None:
    """Values from few draws are within 3 of their standard errors of the truth in 97 of 100 seeds."""
    requirement, truth, _ = CASES[name]
    scenario = make(rest=LIMITS)
    # A narrow range takes fewer probes.
    within = (0.1, 1.0) if name == "mfu" else (3e5, 2e6)
    found = [solve(scenario, name, requirement, within=within, draws=1 << 10, seed=seed) for seed in range(100)]
    scores = [(one.value - truth) / one.error for one in found if one.value is not None and one.error]
    assert len(scores) == 100
    assert sum(abs(score) < 3 for score in scores) >= 97


def test_the_smallest_whole_number(make: Make) -> None:
    """The number of accelerators meets what is required, and one fewer does not, on the draws of a forecast."""
    requirement = parse_requirement("P(training_time <= 30 day) >= 0.9")
    scenario = make()
    found = solve(scenario, "accelerators", requirement, draws=1 << 14, seed=5)
    number = found.rounded
    assert number is not None
    assert number == int(number) == found.value
    for accelerators, met in ((number, True), (number - 1, False)):
        draws = sample(scenario.but(accelerators=accelerators), 1 << 14, seed=5)
        assert judge(requirement, draws).met is met


def test_known_runs(known: Make) -> None:
    """A run that is known exactly has an exact answer: the next whole number, or the very value."""
    scenario = known()
    found = solve(scenario, "accelerators", "P(training_time <= 30 day) >= 0.9")
    assert (found.value, found.error) == (math.ceil(ACCELERATOR_DAYS / 30), 0)
    found = solve(scenario, "price_per_accelerator_hour", "mean(cost) <= 1 MUSD")
    assert found.value == pytest.approx(2e6 / COST, rel=1e-8)
    assert found.rounded is not None
    assert found.rounded <= 2e6 / COST
    found = solve(scenario, "budget", "P(budget) > 0.5")
    assert found.value == pytest.approx(COST, rel=1e-8)


def test_budget_and_deadline_together(make: Make) -> None:
    """A budget kept together with the deadline leaves out the draws that are late."""
    scenario = make({"accelerators": "550"}, LIMITS)
    found = solve(scenario, "budget", "P(budget and deadline) >= 0.7", draws=1 << 14)
    draws = sample(scenario, 1 << 14)
    cost, time = draws["cost"].ravel(), draws["training_time"].ravel()
    # So many draws have to be in time and cost no more.
    needed = math.ceil(0.7 * cost.size)
    assert found.value == pytest.approx(np.sort(cost[time <= 30])[needed - 1], rel=1e-8)


def test_a_limit_that_is_not_stated(make: Make) -> None:
    """A budget may be solved for where none is stated."""
    found = solve(make(), "budget", "P(budget) >= 0.5", draws=1 << 14)
    assert found.stated is None
    assert found.value == pytest.approx(COST, rel=0.01)


@pytest.fixture(scope="module")
def chances() -> Callable[[float, str], float]:
    """The chance of an event at a number of accelerators, by itself."""
    scenario = load_scenario("llama-3.1-405b")

    def chance(number: float, requirement: str) -> float:
        return judge(parse_requirement(requirement), sample(scenario.but(accelerators=number), 1 << 14)).value

    return chance


def test_a_measure_that_turns(chances: Callable[[float, str], float]) -> None:
    """Failures outgrow the speed-up: what is enough is enough up to a number, and both ends are those of a search."""
    requirement = "P(training_time <= 120 day) >= 0.85"
    found = solve(load_scenario("llama-3.1-405b"), "accelerators", requirement, draws=1 << 14)
    assert (found.side, found.monotone, found.granularity) == ("least", False, 8)
    assert found.value is not None
    assert found.until is not None
    for number, kept in ((found.value, True), (found.value - 8, False), (found.until, True), (found.until + 8, False)):
        assert (chances(number, requirement) >= 0.85) is kept
    assert any("turns back" in note for note in found.notes)


def test_nothing_is_enough(chances: Callable[[float, str], float]) -> None:
    """Where nothing meets the requirement, the best attainable is told and no other number does better by much."""
    requirement = "P(training_time <= 80 day) >= 0.9"
    found = solve(load_scenario("llama-3.1-405b"), "accelerators", requirement, draws=1 << 14)
    assert not found.feasible
    assert found.value is found.rounded is None
    assert found.best is not None
    assert found.verdict is not None
    assert not found.verdict.met
    others = [chances(8.0 * round(2.0**step / 8), requirement) for step in np.arange(13, 19, 0.25)]
    assert found.verdict.value > max(others) - 0.002
    assert found.verdict.value == chances(found.best, requirement)


def test_even_all_of_it_is_not_enough(make: Make) -> None:
    """An MFU above 1 cannot be: the best attainable is that of 1, where the closed form says how much it is."""
    found = solve(make({"accelerators": "128"}), "mfu", "P(training_time <= 20 day) >= 0.9")
    assert not found.feasible
    assert found.best == 1
    days = ACCELERATOR_DAYS / 128 * 0.3
    assert found.verdict is not None
    truth = NORMAL.cdf(math.log(20 / days) / 0.2)
    assert abs(found.verdict.value - truth) < 5 * found.verdict.error + 1e-4


def test_everything_is_enough(make: Make) -> None:
    """Where every value meets the requirement nothing is needed."""
    found = solve(make(), "accelerators", "P(cost <= 1 GUSD) >= 0.5", draws=1 << 10)
    assert (found.side, found.value, found.verdict) == ("any", None, None)
    assert found.feasible
    assert any("the same at every" in note for note in found.notes)


@pytest.mark.parametrize(
    ("within", "side"),
    [("256:8192", "least"), ("256:300", "none"), ("4k:8k", "any"), ((256.0, 8192.0), "least")],
)
def test_within(make: Make, within: str | tuple[float, float], side: str) -> None:
    """A range holds the answer, or nothing that is enough, or nothing that is not; the best is then at its end."""
    found = solve(make(), "accelerators", "P(training_time <= 20 day) >= 0.9", within=within, draws=1 << 10)
    assert found.side == side
    assert found.low == (4000 if within == "4k:8k" else 256)
    if side == "none":
        assert found.best == 300
        assert any("--within looks farther" in note for note in found.notes)


@pytest.mark.parametrize(
    ("name", "requirement", "within", "said"),
    [
        ("acelerators", "P(cost <= 5 MUSD) >= 0.8", None, "did you mean `accelerators`"),
        ("pue", "P(cost <= 5 MUSD) >= 0.8", None, "pue is not stated in this run"),
        ("price_per_accelerator_hour", "P90(training_time) <= 9 day", None, "price_per_accelerator_hour moves nothing"),
        ("budget", "P80(cost) <= 5 MUSD", None, "write P(budget) >= 0.8"),
        ("accelerators", "P(deadline) >= 0.8", None, "no deadline is stated"),
        ("accelerators", "training_time <= 9 day", None, "write P(training_time <= 9 day) >= 0.8"),
        ("accelerators", "P(training_time <= 9 day >= 0.8", None, "close every bracket"),
        ("accelerators", "P(training_time <= 9 day) >= 0.8", "8:1", "this range is empty"),
        ("accelerators", "P(training_time <= 9 day) >= 0.8", "8", "LOW:HIGH"),
        ("accelerators", "P(training_time <= 9 day) >= 0.8", "1.2:1.8", "no multiple of 1"),
        ("mfu", "P(training_time <= 9 day) >= 0.8", "20:30", '"20 %"'),
    ],
)  # fmt: skip
def test_bad_usage(make: Make, name: str, requirement: str, within: str | None, said: str) -> None:
    """What cannot be solved for is told with the way to mend it."""
    with pytest.raises((DecisionError, RequirementError, UsageError)) as caught:
        solve(make(), name, requirement, within=within)
    assert said in str(caught.value)


def test_what_is_not_solved_for() -> None:
    """A sequence length changes what the architecture counts, which solving does not do again."""
    scenario = load_scenario("llama-3.1-405b", ["inputs.sequence_length=8192", "flop_convention=exact"])
    with pytest.raises(DecisionError, match="sweep --over sequence_length"):
        solve(scenario, "sequence_length", "P(deadline) >= 0.5")
    with pytest.raises(UsageError, match="from 1 to"):
        solve(load_scenario("gpt-3"), "budget", "P(budget) >= 0.5", draws=1 << 30)


def test_json_has_no_infinity(make: Make) -> None:
    """A solution without an end is JSON all the same."""
    found: Solution = solve(make(), "accelerators", "P(training_time <= 20 day) >= 0.9", draws=1 << 8)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["schema"] == "uncertain-botec/solve/1"
    assert document["value"] == found.value
