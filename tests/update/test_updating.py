"""Updates from end to end: what is said of a run, what is refused, and that the same seed gives the same bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.update.simulating import RUN, log_of, scenario_in
from uncertain_botec import Scenario, Update, read_log, sample, update
from uncertain_botec.distributions import elicit
from uncertain_botec.errors import UsageError
from uncertain_botec.inference import Diagnostics, NotConverged
from uncertain_botec.updating.progress_log import ProgressLogError

DAYS = np.arange(31.0)
NOISE = 0.05 * np.random.default_rng(1).normal(size=30)
STEADY = np.append(0.0, np.cumsum(44e9 * np.exp(NOISE)))


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    """The run of these tests."""
    return scenario_in(tmp_path)


def p50(found: Update, name: str) -> float:
    """The posterior median of an output."""
    return found.outputs[name].posterior.p50.value


def test_a_steady_run(scenario: Scenario) -> None:
    """The finish is the tokens over the speed; a second time it is the same to the bit, and another seed's is near."""
    log = log_of(DAYS, STEADY)
    found, again, other = update(scenario, log), update(scenario, log), update(scenario, log, seed=1)
    expected = 30 + (2e12 - STEADY[-1]) / (STEADY[-1] / 30)
    total = found.outputs["training_time"]
    assert p50(found, "training_time") == pytest.approx(expected, rel=0.01)
    assert p50(found, "accelerator_hours") == pytest.approx(64 * 24 * expected, rel=0.01)
    assert p50(found, "cost") == pytest.approx(64 * 24 * expected * 2.5, rel=0.02)
    assert total.narrower is not None
    assert total.narrower > 8
    assert all(np.array_equal(found.draws.values[name], again.draws.values[name]) for name in found.draws.values)
    error = np.hypot(total.posterior.p50.error, other.outputs["training_time"].posterior.p50.error)
    assert abs(p50(found, "training_time") - p50(other, "training_time")) < 5 * error
    assert found.warnings == ()
    assert found.against_plan.inside
    assert found.learnt["mfu"].posterior.width < found.learnt["mfu"].prior.width
    assert found.learnt["day_to_day_noise"].posterior.p50.value == pytest.approx(NOISE.std(), rel=0.3)
    assert found.both is not None
    assert found.both.posterior.value <= min(one.posterior.value for one in found.limits.values())
    assert "with the log" in str(found)
    assert "<table>" in found._repr_html_()


def test_a_week_of_standstill(scenario: Scenario) -> None:
    """An outage of a week is time lost, and not a new speed for ever."""
    speed = np.diff(STEADY)
    speed[20:27] = 0.0
    log = log_of(DAYS, np.append(0.0, np.cumsum(speed)))
    found = update(scenario, log)
    left = (2e12 - log.done) / (STEADY[-1] / 30)
    assert found.so_far.lost == 7
    assert 30 + 0.95 * left < p50(found, "training_time") < 30 + 1.2 * left
    assert found.learnt["outage_share"].posterior.p50.value > 0.08


def test_a_run_far_from_its_plan(scenario: Scenario) -> None:
    """A run at half its planned speed converges, and both warnings say that the plan no longer holds."""
    found = update(scenario, log_of(DAYS, STEADY / 2.2))
    assert len(found.warnings) == 2
    assert "slower than its plan allows for" in found.warnings[0]
    assert "no longer holds" in found.warnings[1]


def test_three_rows_and_no_uncertainty(scenario: Scenario) -> None:
    """Three rows suffice, also where nothing in the plan is uncertain: the future's noise still is."""
    known = scenario.but(mfu=0.38, failure_overhead=0.1, price_per_accelerator_hour=2.5 / 3600)
    found = update(known, log_of(DAYS[:3], STEADY[:3]))
    total = found.outputs["training_time"]
    assert total.prior.width == 0
    assert total.narrower == 0
    assert 0 < total.posterior.width < 8
    assert found.learnt.keys() == {"speed", "overall_mfu", "day_to_day_noise", "drift_per_month", "outage_share"}


def test_a_changed_cluster_and_money_spent(scenario: Scenario, tmp_path: Path) -> None:
    """Twice the accelerators go on at twice the speed; what was spent is spent, and the rest is at the plan's price."""
    file = tmp_path / "log.csv"
    rows = [f"{day},{44e9 * (day + max(0, day - 10))},{64 if day < 10 else 128},{1000 * day}" for day in range(21)]
    file.write_text("elapsed_days,tokens,accelerators,cost\n" + "\n".join(rows) + "\n", "utf-8")
    found = update(scenario.but(price_per_accelerator_hour=2 / 3600), read_log(file))
    left = (2e12 - 44e9 * 30) / 88e9
    assert p50(found, "training_time") == pytest.approx(20 + left, rel=0.01)
    assert p50(found, "accelerator_hours") == pytest.approx(24 * (64 * 10 + 128 * (10 + left)), rel=0.01)
    assert p50(found, "cost") == pytest.approx(20_000 + 24 * 128 * left * 2, rel=0.01)


def test_money_in_other_units(scenario: Scenario) -> None:
    """Cents for dollars are warned of, and a bill somewhat off the plan's is not."""
    planned = 64 * 24 * 2 * 2.5
    for spent, told in ((1.6 * planned, False), (100 * planned, True), (planned / 1000, True)):
        found = update(scenario, replace(log_of(DAYS[:3], STEADY[:3]), cost=spent))
        assert any("the cost so far" in one for one in found.warnings) == told


def test_an_hour_tells_little(scenario: Scenario) -> None:
    """A log of an hour at the planned speed leaves the finish where it was planned, but for the noise of a day."""
    hour, planned = np.arange(7.0) / 144, float(np.median(sample(scenario, 1 << 14)["training_time"]))
    found = update(scenario, log_of(hour, hour * 2e12 / planned)).outputs["training_time"]
    assert found.posterior.p50.value == pytest.approx(planned, rel=0.05)
    assert 0.05 < found.posterior.width / planned < 0.3


def test_a_finished_run(scenario: Scenario) -> None:
    """A log that reaches the plan's tokens is told as it was; rows after the end count for nothing."""
    log = log_of(np.array([0.0, 20, 41, 50]), np.array([0.0, 1e12, 2e12, 2e12]))
    found = update(scenario, log)
    assert found.so_far.finished
    assert found.diagnostics is None
    total = found.outputs["training_time"]
    assert (total.posterior.p10.value, total.posterior.p90.value) == (41, 41)
    assert found.limits["deadline"].posterior.value == 1
    assert found.limits["deadline"].posterior.error == 0
    assert "this is the actual" in str(found)


def test_what_is_refused(scenario: Scenario) -> None:
    """A log of many more tokens than planned is another run's; what decides the speed in steps is asked for."""
    with pytest.raises(ProgressLogError, match="is it the log of this run"):
        update(scenario, log_of(DAYS, 3 * STEADY))
    steps = scenario.but(accelerators=elicit("choice", {"values": [64.0, 128.0], "odds": [1, 1]}))
    with pytest.raises(UsageError, match=r"accelerators takes separate values.*add a column accelerators"):
        update(steps, log_of(DAYS, STEADY))
    known, unknown = elicit("fixed", {"value": 0.3}), elicit("uniform", {"low": 0.3, "high": 0.5})
    partly = scenario.but(mfu=elicit("mixture", {"components": (known, unknown), "odds": [1, 1]}))
    with pytest.raises(UsageError, match=r"mfu takes separate values, at least in part.*--set inputs.mfu=VALUE"):
        update(partly, log_of(DAYS, STEADY))


@pytest.mark.parametrize(
    ("days", "tokens", "accelerators", "says"),
    [
        (DAYS / 24, STEADY, None, "% of the peak was used"),
        (DAYS, STEADY, 8.0, "% of the peak was used"),
        (DAYS * 24, STEADY, None, "times as long as"),
        (DAYS, STEADY / 1e9, None, "times as long as"),
        (DAYS, STEADY, 8.0 * 64, None),
    ],
    ids=["days for hours", "nodes for accelerators", "hours for days", "billions for tokens", "chips for accelerators"],
)
def test_other_units(
    scenario: Scenario, days: np.ndarray, tokens: np.ndarray, accelerators: float | None, says: str | None
) -> None:
    """Logs in other units are refused where no run can be so, and warned of where the run is on time all the same."""
    log = replace(log_of(days, tokens), accelerators=None if accelerators is None else np.full(len(days), accelerators))
    if says is None:
        found = update(scenario, log)
        assert "each accelerator is slower than the plan allows for" in found.warnings[0]
        return
    with pytest.raises(ProgressLogError, match=says) as raised:
        update(scenario, log)
    (fault,) = raised.value.faults
    assert (fault.path, fault.where) == ("tokens", log.path)
    assert "hours for days" in (fault.fix or "")


def test_a_long_standstill_is_no_other_unit(scenario: Scenario) -> None:
    """A run that stood still for most of its time is not taken for one in other units."""
    log = log_of(np.array([0.0, 1, 2, 3, 90]), np.array([0.0, 44e9, 88e9, 132e9, 132e9]))
    assert any("slower than its plan" in one for one in update(scenario, log).warnings)


def test_no_tokens_no_update(tmp_path: Path) -> None:
    """A plan that states FLOP alone knows no tokens to hold a log against."""
    text = RUN.replace('parameters = "7e9 parameter"\n', "").replace(
        'tokens = "2e12 token"', 'training_flop = "8e22 FLOP"'
    )
    with pytest.raises(UsageError, match="plans no tokens"):
        update(scenario_in(tmp_path, text), log_of(DAYS, STEADY))


def test_uncertain_tokens_are_more_than_those_done(tmp_path: Path) -> None:
    """Draws whose tokens the run has passed are left out: a run that goes on has more to come."""
    text = RUN.replace(
        'tokens = "2e12 token"', 'tokens = { family = "lognormal", p10 = "1.2T token", p90 = "2T token" }'
    )
    found = update(scenario_in(tmp_path, text), log_of(DAYS, STEADY))
    assert found.draws.values["tokens"].min() > STEADY[-1]
    assert found.outputs["training_time"].posterior.p10.value > 30


def test_not_converged_names_the_parameter() -> None:
    """Chains that did not come together give an error with the parameter's name, and no number of a forecast."""
    error = NotConverged(Diagnostics(1.2, "mfu", 13.0, "drift", 5, 4, 1000))
    assert "R-hat of mfu is 1.200" in str(error)
    assert "size of drift is 13" in str(error)
    assert "5 of 4,000 draws diverged" in str(error)
