"""Requirements: what is read, what is refused and why, and what is decided."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from uncertain_botec import Scenario, sample
from uncertain_botec.risk.measures import Chance, Figure
from uncertain_botec.risk.requirements import (
    Bound,
    Kept,
    Mean,
    Probability,
    Quantile,
    Requirement,
    RequirementError,
    Tail,
    parse_requirement,
    read_requirements,
)
from uncertain_botec.risk.verdicts import check, judge, measured

Make = Callable[..., Scenario]

COST = Bound("cost", "<=", 5e6)
DAY = 86400.0

GOOD = {
    "P(cost <= 5 MUSD) >= 0.8": Requirement(Probability((COST,)), ">=", 0.8),
    "P(cost<=5MUSD)>=80%": Requirement(Probability((COST,)), ">=", 0.8),
    "P(cost <= 5 million USD and training_time <= 45 day) >= 70 %": Requirement(
        Probability((COST, Bound("training_time", "<=", 45 * DAY))), ">=", 0.7
    ),
    "P(budget and deadline) ≥ 0.7": Requirement(Probability((Kept("budget"), Kept("deadline"))), ">=", 0.7),
    "P(memory) > 0.9": Requirement(Probability((Kept("memory"),)), ">", 0.9),
    "P(hfu >= 40 %) < 0.5": Requirement(Probability((Bound("hfu", ">=", 0.4),)), "<", 0.5),
    "P80(cost) <= 5 MUSD": Requirement(Quantile("cost", 0.8), "<=", 5e6),
    "p99.9(training_time) <= 6 week": Requirement(Quantile("training_time", 0.999), "<=", 42 * DAY),
    "P10(goodput) >= 0.9": Requirement(Quantile("goodput", 0.1), ">=", 0.9),
    "mean(cost) <= 5e6 USD": Requirement(Mean("cost"), "<=", 5e6),
    "CVaR80(cost) <= 7 MUSD": Requirement(Tail("cost", 0.8), "<=", 7e6),
}


@pytest.mark.parametrize("text", GOOD)
def test_what_is_read(text: str) -> None:
    """Every form is read as the measure, sign and threshold that it states, in base units."""
    found, meant = parse_requirement(text), GOOD[text]
    assert found.measure == meant.measure
    assert (found.sign, found.threshold) == (meant.sign, pytest.approx(meant.threshold, rel=1e-15))


@pytest.mark.parametrize("text", GOOD)
def test_texts_are_read_again(text: str) -> None:
    """A requirement's text reads as an equal one with the same text, also where a program made it without a text."""
    found = parse_requirement(text)
    again = parse_requirement(str(found))
    assert (again, str(again)) == (found, str(found))
    assert parse_requirement(str(GOOD[text])).measure == found.measure


BAD = {
    "": ["this is not a requirement", "expected: P(cost"],
    "cost <= 5 MUSD": ["write P(cost <= 5 MUSD) >= 0.8"],
    "P(cost <= 5 MUSD)": ["write P(cost <= 5 MUSD) >= 0.8"],
    "P(cost <= 5 MUSD) = 0.8": ["write <= or >="],
    "P(cost == 5 MUSD) >= 0.8": ["this is not an event", "write <= or >="],
    "P(csot <= 5 MUSD) >= 0.8": ["there is no output or limit csot", "did you mean `cost`?"],
    "P(deadlin) >= 0.8": ["did you mean `deadline`?"],
    "P80(trainingtime) <= 45 day": ["there is no output trainingtime", "did you mean `training_time`"],
    "P(cost <= 5) >= 0.8": ["the unit is missing", "got:      5\n", 'write "5 USD"'],
    "P(cost <= 5 day) >= 0.8": ["'day' measures time, not money"],
    "P(cost <= 5 EUR) >= 0.8": ["money is in USD"],
    "P(cost <= 5 MUSD) >= 80": ["probability cannot be 80", 'write "80 %"'],
    "P(cost <= 5 MUSD) >= nan": ["not a finite number"],
    "P(cost <= inf USD) >= 0.8": ["not a finite number"],
    "P(cost <= -5 USD) >= 0.8": ["cost cannot be -5", "at least 0"],
    "P(budget <= 5 MUSD) >= 0.8": ["budget is a limit, not an output", "write cost <= 5 MUSD"],
    "P80(budget) <= 5 MUSD": ["write P80(cost)"],
    "P(cost) >= 0.8": ["this is not an event", "write cost <="],
    "P() >= 0.8": ["this is not an event", "nothing"],
    "P(cost <= 5 MUSD or deadline) >= 0.8": ["`or` joins no events"],
    "P(5 MUSD >= cost) >= 0.8": ["this is not an event"],
    "P80(cost <= 5 MUSD) >= 0.8": ["write P(cost <= 5 MUSD)"],
    "P0.8(cost) <= 5 MUSD": ["a level is in percent", "write P80(cost)"],
    "P100(cost) <= 5 MUSD": ["below 100"],
    "CVaR(cost) <= 5 MUSD": ["a level is missing", "write CVaR80(cost)"],
    "mean80(cost) <= 5 MUSD": ["a mean has no level"],
    "median(cost) <= 5 MUSD": ["there is no measure median", "write P50(cost)"],
    "CVar80(cost) <= 7": ["the unit is missing"],
    "men(cost) <= 5 MUSD": ["did you mean `mean`?"],
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_refused(text: str) -> None:
    """What is no requirement is refused with the text itself, what is wrong with it, and how to mend it."""
    with pytest.raises(RequirementError) as caught:
        parse_requirement(text)
    for words in (f"requirement: {text}: ", "got: ", "expected: ", *BAD[text]):
        assert words in str(caught.value)


def test_all_faults_at_once() -> None:
    """Every requirement is read before any is refused, and every event of one."""
    with pytest.raises(RequirementError) as caught:
        read_requirements(["P(csot <= 1 USD and deadlin) >= 0.5", "P80(cost) <= 5 MUSD", "P80(cost) <= 5"])
    assert len(caught.value.faults) == 3


def test_what_a_scenario_does_not_give(make: Make) -> None:
    """Limits that are not stated and outputs that are not computed are refused, together."""
    texts = ["P(budget) >= 0.8", "P(memory) >= 0.8", "P90(energy) <= 5 MWh", "P(deadline) >= 0.8"]
    with pytest.raises(RequirementError) as caught:
        check(read_requirements(texts), make(rest='[limits]\ndeadline = "20 day"\n'))
    said = str(caught.value)
    for words in ("no budget is stated", "memory_utilisation is not computed here", "energy is not computed here"):
        assert words in said
    assert "deadline" not in said


def test_measures_are_those_of_the_draws(make: Make) -> None:
    """Each measure is what NumPy makes of the same draws."""
    draws = sample(make(rest='[limits]\nbudget = "600 kUSD"\n'), 1 << 12)
    cost, time = (draws.values[name] for name in ("cost", "training_time"))

    def found(text: str) -> Chance | Figure:
        return measured(parse_requirement(f"{text} <= 1 {'' if text.startswith('P(') else 'USD'}").measure, draws)

    assert found("P(cost > 450 kUSD and training_time < 23 day)").value == np.mean((cost > 4.5e5) & (time < 23 * DAY))
    assert found("P(budget)").value == np.mean(cost <= 6e5)
    assert found("P80(cost)").value == pytest.approx(np.quantile(cost, 0.8, method="hazen"), rel=1e-12)
    assert found("mean(cost)").value == pytest.approx(cost.mean(), rel=1e-12)
    worst = np.sort(cost, axis=None)[-1024:]
    assert found("CVaR75(cost)").value == pytest.approx(worst.mean(), rel=1e-12)


def test_verdicts(make: Make) -> None:
    """A verdict is in printed units, met as its sign says, and decided where the threshold is beyond the error."""
    draws = sample(make(), 1 << 12)
    one = judge(parse_requirement("P80(cost) <= 0.8 MUSD"), draws)
    assert (one.unit, one.threshold, one.met, one.decided) == ("USD", 8e5, True, True)
    assert one.low < one.value < one.high
    close = judge(parse_requirement(f"P80(cost) <= {one.value + one.error!r} USD"), draws)
    assert (close.met, close.decided) == (True, False)
    far = judge(parse_requirement(f"P80(cost) >= {one.value + 3 * one.error!r} USD"), draws)
    assert (far.met, far.decided) == (False, True)
    days = judge(parse_requirement("mean(training_time) < 10 day"), draws)
    assert (days.unit, days.met) == ("days", False)
    assert days.value == pytest.approx(draws["training_time"].mean(), rel=1e-12)


def test_signs_at_the_threshold(known: Make) -> None:
    """Of what is known exactly, equality meets <= and >= and neither < nor >, and is decided."""
    draws = sample(known({"training_time": '"20 day"'}), 64)
    for sign, met in (("<=", True), (">=", True), ("<", False), (">", False)):
        one = judge(parse_requirement(f"P80(training_time) {sign} 20 day"), draws)
        assert (one.met, one.decided, one.error) == (met, True, 0)
        chance = judge(parse_requirement(f"P(training_time {sign} 20 day) >= 1"), draws)
        assert (chance.value, chance.met, chance.error) == (float(met), met, 0)


def test_certainty_is_not_decided_by_draws(make: Make) -> None:
    """That all draws keep a limit does not decide that it is kept with certainty, nor with one in a million less."""
    draws = sample(make(), 1 << 10)
    for asked, decided in (("1", False), ("0.999999", False), ("0.99", True)):
        one = judge(parse_requirement(f"P(cost <= 900 MUSD) >= {asked}"), draws)
        assert (one.value, one.met, one.decided) == (1, True, decided)


def test_endless_runs_fail_what_is_required(known: Make) -> None:
    """A run that never finishes has an infinite mean, which no threshold is above, and that is decided."""
    failing = {
        "failure_overhead": None,
        "node_failure_rate": '"1000 failure/node-day"',
        "accelerators_per_node": "8",
        "restart_time": '"10 minute"',
        "checkpoint_write_time": '"1 minute"',
    }
    draws = sample(known(failing), 64)
    for measure in ("mean(training_time)", "P80(training_time)", "CVaR80(training_time)"):
        one = judge(parse_requirement(f"{measure} <= 1e6 day"), draws)
        assert (one.value, one.met, one.decided) == (math.inf, False, True)
