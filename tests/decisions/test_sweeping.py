"""Sweeps against closed forms, against forecasts of every point, and against loading every point."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from tests.decisions.conftest import ACCELERATOR_DAYS, COST, COST_SIGMA, TIME_SIGMA, Make
from uncertain_botec import Scenario, load_scenario, sample, size, sweep
from uncertain_botec.decisions.estimating import DRAWS
from uncertain_botec.decisions.figures import DecisionError
from uncertain_botec.decisions.surface import Point, Sweep
from uncertain_botec.decisions.sweeping import grid
from uncertain_botec.errors import UsageError
from uncertain_botec.units import to_display

Z90 = NormalDist().inv_cdf(0.9)
LIMITS = '[limits]\ndeadline = "30 day"\nbudget = "1e6 USD"'
SIZES = [2048 * number for number in range(1, 13)]


def test_closed_form(make: Make) -> None:
    """P50, P90 and the chance of the deadline are the lognormals' at every point of a grid."""
    found = sweep(make(rest=LIMITS), ["accelerators=256:1024:x2", "mfu=0.2,0.4"])
    assert [one.at for one in found.points] == [(n, mfu) for n in (256, 512, 1024) for mfu in (0.2, 0.4)]
    for one in found.points:
        number, mfu = one.at
        cost, days = COST * 0.3 / mfu, ACCELERATOR_DAYS / number * 0.3 / mfu
        assert one.outputs["cost"].p50 == pytest.approx(cost, rel=1e-4)
        assert one.outputs["cost"].p90 == pytest.approx(cost * math.exp(Z90 * math.hypot(0.2, 0.3)), rel=1e-3)
        assert one.outputs["training_time"].p90 == pytest.approx(days * math.exp(Z90 * 0.2), rel=1e-3)
        chance = one.limits["deadline"]
        assert chance.value == pytest.approx(NormalDist().cdf(math.log(30 / days) / 0.2), abs=1e-3)


def test_more_accuracy_is_never_less(make: Make) -> None:
    """What is more than can be had gets the best there is, and is told by how much it is missed."""
    jumping = {"tokens": '{ family = "choice", values = ["1e12 token", "2e12 token"], weights = [0.3, 0.7] }'}
    for scenario in (make(), make(jumping)):
        errors = []
        for accuracy in (5e-3, 1e-4, 1e-6, 1e-14):
            found = sweep(scenario, {"accelerators": [256, 512]}, accuracy=accuracy)
            spreads = [one.outputs[name] for one in found.points for name in ("cost", "training_time")]
            errors.append(max(max(one.errors) / one.p50 for one in spreads))
        assert errors == sorted(errors, reverse=True)
        assert "at 2 of 2 points quantiles have relative standard errors of up to" in found.notes[-1]
        assert found.notes[-1].endswith("not the 1e-12 % that was asked for")
        assert "asked for" not in " ".join(sweep(scenario, {"accelerators": [256, 512]}).notes)


def by_hand(points: tuple[Point, ...]) -> set[int]:
    """The Pareto front by its definition, where no two points are equal."""
    both = [(one.outputs["cost"].p90, one.outputs["training_time"].p90) for one in points]
    return {
        place
        for place, (cost, time) in enumerate(both)
        if not any(c <= cost and t <= time and (c, t) != (cost, time) for c, t in both)
    }


@pytest.fixture(scope="module")
def llama() -> Sweep:
    """A run whose failures make larger clusters dearer, and later at last."""
    return sweep("llama-3.1-405b", {"accelerators": SIZES}, settings=["limits.deadline=150 day"], confidence=0.8)


def test_against_forecasts(llama: Sweep) -> None:
    """Every point is what a forecast of that size alone says, within both errors, and so are its chances."""
    sizing = size(load_scenario("llama-3.1-405b", ["limits.deadline=150 day"]), SIZES, draws=1 << 16)
    alone = {one.accelerators: one for one in sizing.sizes}
    for one in llama.points:
        other = alone[int(float(one.at[0]))]
        for name, spread in one.outputs.items():
            for level, error in zip(("p10", "p50", "p90"), spread.errors, strict=True):
                value, theirs = getattr(other.outputs[name], level), other.outputs[name].mcse[level]
                assert abs(getattr(spread, level) - value) < 5 * math.hypot(error, theirs) + 1e-6 * value
        for name, chance in one.limits.items():
            limit = other.limits[name]
            assert abs(chance.value - limit.probability) < 5 * math.hypot(chance.error, limit.mcse) + 1e-5


def test_the_cheapest_and_the_front_by_hand(llama: Sweep) -> None:
    """The cheapest in time is the least cost among those in time, and the front is that of its definition."""
    kept = [place for place, one in enumerate(llama.points) if one.limits["deadline"].value >= 0.8]
    assert 0 < len(kept) < len(llama.points)
    assert llama.cheapest == min(kept, key=lambda place: llama.points[place].outputs["cost"].p90)
    assert {*llama.front} == by_hand(llama.points) == {p for p, one in enumerate(llama.points) if one.efficient}
    costs = [llama.points[place].outputs["cost"].p90 for place in llama.front]
    assert costs == sorted(costs)
    assert llama.unmet == ()
    assert llama.at(4096.0) == llama.points[1]


def test_equal_costs(make: Make) -> None:
    """Where any number of accelerators costs the same, the front is the fastest alone, which is the cheapest too."""
    found = sweep(make(rest=LIMITS), ["accelerators=700:1200:100"])
    assert found.front == (len(found.points) - 1,)
    assert found.cheapest == len(found.points) - 1
    assert found.best is not None
    assert found.best.at == (1200,)


def test_no_point_in_time(make: Make) -> None:
    """Where no point keeps the deadline none is the cheapest, and the nearest is told."""
    found = sweep(make(rest='[limits]\ndeadline = "1 day"'), ["accelerators=256,512"])
    assert found.cheapest is None
    assert found.unmet == ("deadline",)
    assert "accelerators 512 comes nearest" in " ".join(found.notes)


def test_constants(known: Make) -> None:
    """A run that is known exactly is exact at every point."""
    found = sweep(known(rest=LIMITS), ["accelerators=512,1024"])
    one = found.points[0].outputs["cost"]
    assert one.p10 == one.p90 == pytest.approx(COST, rel=1e-12)
    assert one.errors == (0, 0, 0)
    assert found.points[0].limits["deadline"].error == 0


def test_without_limits(make: Make) -> None:
    """Without a deadline the cheapest is that of all points."""
    found = sweep(make(), {"mfu": [0.3, 0.5, 0.4]})
    assert found.cheapest == 1
    assert found.notes == ("no deadline is stated",)


@pytest.mark.parametrize(
    ("over", "setting"),
    [
        (["flop_convention=6nd,exact", "accelerators=4096,8192"], "accelerators"),
        # The architecture is counted at the length, so that more than one input changes.
        (["flop_convention=6nd,exact", "sequence_length=4096,131072"], "sequence_length"),
    ],
)
def test_points_are_what_is_loaded(over: list[str], setting: str) -> None:
    """Every point is the run as loaded with the same settings, also where other inputs follow from what varies."""
    _, points = grid("llama-3.1-405b", over)
    values = over[1].partition("=")[2].split(",")
    told = [(word, value) for word in ("6nd", "exact") for value in values]
    for one, (word, value) in zip(points, told, strict=True):
        assert_same(one, load_scenario("llama-3.1-405b", [f"flop_convention={word}", f"inputs.{setting}={value}"]))


def assert_same(one: Scenario, other: Scenario) -> None:
    """Two scenarios state the same of everything that is computed with."""
    assert one.plan == other.plan
    assert one.dependence == other.dependence
    assert {name: one.inputs[name].distribution for name in one.plan.inputs} == {
        name: other.inputs[name].distribution for name in other.plan.inputs
    }


def test_precisions() -> None:
    """The precision chooses the peak."""
    _, points = grid("llama-3.1-405b", ["precision=bf16,fp8"])
    first, second = (one.known["peak_flop_per_s"] for one in points)
    assert second == pytest.approx(2 * first, rel=0.01)


def test_markets_and_accelerators() -> None:
    """Files come in place of those that the run includes: a price of another market, a peak of another accelerator."""
    axes, points = grid("llama-2-70b", ["prices=neocloud-2026,hyperscaler-2026", "accelerator=a100-80-sxm,h100-sxm"])
    assert [axis.labels for axis in axes] == [("neocloud-2026", "hyperscaler-2026"), ("a100-80-sxm", "h100-sxm")]
    assert_same(points[0], load_scenario("llama-2-70b"))
    price, peak = "price_per_accelerator_hour", "peak_flop_per_s"
    assert [one.inputs[price].origin for one in points] == [
        f"priors/prices/{market}-2026.toml" for market in ("neocloud", "neocloud", "hyperscaler", "hyperscaler")
    ]
    # H100 and A100: 989.4 and 312 TFLOP/s dense.
    assert points[1].known[peak] / points[0].known[peak] == pytest.approx(989.4 / 312, rel=1e-3)
    assert points[2].inputs[price].distribution != points[3].inputs[price].distribution


def test_a_market_beside_the_run(tmp_path: Path) -> None:
    """A file beside the run is a market too, and wins over what the run includes."""
    (tmp_path / "ours.toml").write_text('[prices]\na100-80-sxm = "1 USD/hour"\n', "utf-8")
    (tmp_path / "run.toml").write_text('title = "Ours"\ninclude = ["runs/llama-2-70b"]\n', "utf-8")
    _, (ours, theirs) = grid(tmp_path / "run.toml", ["prices=ours.toml,neocloud-2026"])
    assert ours.known["price_per_accelerator_hour"] == 1 / 3600
    assert_same(theirs, load_scenario("llama-2-70b"))


def test_simulated_failures() -> None:
    """Outputs that cannot be smooth are drawn, with the same luck at every point."""
    sizes = [8192.0, 16384.0]
    found = sweep("llama-3.1-405b", {"accelerators": sizes}, settings=["failures=simulated"])
    base = load_scenario("llama-3.1-405b", ["failures=simulated"])
    for one, number in zip(found.points, sizes, strict=True):
        draws = sample(base.but(accelerators=number), DRAWS)
        assert one.outputs["training_time"].p90 == pytest.approx(
            float(np.quantile(draws["training_time"], 0.9)), rel=1e-3
        )
        kept = draws.values["training_time"] <= base.limits["deadline"].value
        assert one.limits["deadline"].value == pytest.approx(kept.mean(), abs=1e-12)


def test_too_few_for_the_layout() -> None:
    """A cluster that holds no replica keeps nothing, and is told of."""
    found = sweep(load_scenario("mixture-400b-2027"), ["accelerators=128,8192"])
    assert not found.points[0].keeps
    assert any("one replica" in note for note in found.notes)


@pytest.mark.parametrize(
    ("over", "said"),
    [
        (["pue=1.1,1.2"], "pue moves neither cost nor training_time"),
        (["checkpointing=young,daly"], "checkpointing bears on nothing"),
        (["prices=reserved-2026"], "prices/reserved-2026 states nothing that this run takes"),
        (["accelerators=1:8"], "write 1:8:x2"),
    ],
)
def test_what_changes_nothing(over: list[str], said: str) -> None:
    """A sweep along which nothing can change is an error that says what would."""
    with pytest.raises(DecisionError, match=said):
        grid("llama-2-70b", over)


def test_bad_usage(make: Make) -> None:
    """A scenario has no file to load again, and a confidence lies between 0 and 1."""
    with pytest.raises(DecisionError, match="the run's name"):
        sweep(make(), ["flop_convention=6nd,exact"])
    with pytest.raises(UsageError, match="not for a scenario"):
        sweep(make(), ["mfu=0.3"], settings=["inputs.mfu=0.4"])
    with pytest.raises(UsageError, match="between 0 and 1"):
        sweep(make(), ["mfu=0.3"], confidence=1)


def test_the_time_of_a_scenario_in_printed_units(make: Make) -> None:
    """Numbers of a program are in base units, what is told is in printed ones."""
    found = sweep(make({"training_flop": '"1e22 FLOP"'}), {"training_flop": [1e22]})
    assert found.points[0].at == (1e22,)
    found = sweep(make(), {"price_per_accelerator_hour": [2 / 3600]})
    assert found.points[0].at == (to_display(2 / 3600, "USD/accelerator-hour"),)
    assert found.points[0].outputs["cost"].p90 == pytest.approx(COST * math.exp(Z90 * TIME_SIGMA), rel=1e-3)
    assert COST_SIGMA > TIME_SIGMA


def test_what_is_nearest_has_units_and_no_certainty(make: Make) -> None:
    """A note names a price with its unit, and no draw in time is not a chance of 0."""
    found = sweep(make({}, '[limits]\ndeadline = "1 day"'), ["price_per_accelerator_hour=1 USD/hour,2 USD/hour"])
    (note,) = (one for one in found.notes if "comes nearest" in one)
    assert "price_per_accelerator_hour 1 USD/accelerator-hour comes nearest to the deadline, with <0.1 %" in note
