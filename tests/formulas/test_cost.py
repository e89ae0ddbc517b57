"""The bill against published values, line by line and as a whole, with free prices and runs that never finish."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from uncertain_botec.formulas import cost, ownership, rental

HOUR, DAY, YEAR = 3600.0, 86400.0, 31557600.0
MONTH = YEAR / 12
KWH = 3.6e6
positive = st.floats(1e-3, 1e3)

LINES = (
    rental.rental_cost,
    rental.spot_cost,
    rental.reserved_cost,
    rental.commitment_cost,
    ownership.ownership_cost,
    cost.idle_cost,
    ownership.electricity_cost,
    ownership.colocation_cost,
    cost.storage_cost,
    cost.egress_cost,
    cost.experiments_cost,
    cost.staff_cost,
)
ORDER = (
    rental.price_rise,
    rental.on_demand_share,
    *LINES[:4],
    ownership.acquisition_price,
    LINES[4],
    cost.compute_cost,
)
BILL = (*ORDER, *LINES[5:], cost.cost)

INPUTS = {
    "accelerators": 1024.0,
    "training_time": 45 * DAY,
    "accelerator_hours": 1024.0 * 45 * DAY,
    "energy": 1.1e12,
    "accelerator_power": 970.0,
    "spot_share": 0.2,
    "reserved_share": 0.3,
    "owned_share": 0.1,
    "price_per_accelerator_hour": 2.2 / HOUR,
    "spot_price_per_accelerator_hour": 1.4 / HOUR,
    "reserved_price_per_accelerator_hour": 1.9 / HOUR,
    "commitment": 90 * DAY,
    "price_trend": -0.1 / YEAR,
    "price_shock": 0.2 / math.sqrt(YEAR),
    "time_to_start": 0.5 * YEAR,
    "accelerator_price": 30000.0,
    "server_overhead": 1.64,
    "interconnect_overhead": 1 / 0.81,
    "hardware_price_decay": 0.14 * math.log(10) / YEAR,
    "spare_accelerators": 32.0,
    "idle_time": 3 * DAY,
    "electricity_price": 0.08 / KWH,
    "colocation_price": 150 / (1000 * MONTH),
    "storage_price": 0.02e-9 / MONTH,
    "dataset_bytes": 30e12,
    "checkpoint_bytes": 1e12,
    "checkpoints_kept": 10.0,
    "retention_time": 365 * DAY,
    "egress_bytes": 100e12,
    "egress_price": 0.09e-9,
    "experiment_ratio": 0.5,
    "staff_share": 0.4,
}
PRICES = (
    "price_per_accelerator_hour",
    "spot_price_per_accelerator_hour",
    "reserved_price_per_accelerator_hour",
    "accelerator_price",
    "electricity_price",
    "colocation_price",
    "storage_price",
    "egress_price",
)


def bill(**changes: object) -> dict[str, object]:
    """Everything on a bill, formula by formula."""
    values: dict[str, object] = {**INPUTS, **changes}
    for one in BILL:
        if one.name in changes:
            continue
        values[one.name] = one(**{name: values[name] for name in one.inputs if name in values})
    return values


def test_deepseek_v3() -> None:
    """DeepSeek-V3: 2.788e6 hours at 2 USD are 5.576e6 USD, and with nothing else on it that is the bill."""
    rent = rental.rental_cost(2.788e6 * HOUR, 1.0, 2 / HOUR)
    assert rent == pytest.approx(5.576e6, rel=1e-12)
    assert cost.cost(cost.compute_cost(rental_cost=rent)) == rent


def test_examples_of_the_compute_lines() -> None:
    """The worked examples: spot 0.75e6, a commitment 17.5e6 in all, their kinds' sum 3e6, spares 62,500 USD."""
    assert rental.spot_cost(1e6 * HOUR, 0.5, 1.5 / HOUR) == pytest.approx(0.75e6, rel=1e-12)
    reserved = rental.reserved_cost(1000 * 45 * DAY, 1.0, 2 / HOUR)
    reserved += rental.commitment_cost(1000, 1.0, 45 * DAY, YEAR, 2 / HOUR)
    assert reserved == pytest.approx(1000 * 8766 * 2, rel=1e-12) == pytest.approx(17.5e6, abs=5e4)
    assert cost.compute_cost(rental_cost=1e6, reserved_cost=2e6) == 3e6
    assert cost.idle_cost(1e6, 2048, 45 * DAY, spare_accelerators=128) == 62500


def test_examples_of_the_other_lines() -> None:
    """The worked examples: electricity 55,048, space 150,000, storage 800, egress 9,000, experiments 5e6, all 5.1e6."""
    assert ownership.electricity_cost(688.1e3 * KWH, 1.0, 0.08 / KWH) == pytest.approx(55048, rel=1e-12)
    assert ownership.colocation_cost(1000 * MONTH, 1000.0, 1.0, 150 / (1000 * MONTH)) == pytest.approx(
        150000, rel=1e-12
    )
    assert cost.storage_cost(0.02e-9 / MONTH, MONTH, 30e12, 1e12, 10) == pytest.approx(800, rel=1e-12)
    assert cost.egress_cost(100e12, 0.09e-9) == pytest.approx(9000, rel=1e-12)
    assert cost.experiments_cost(experiment_ratio=1.0, compute_cost=5e6) == 5e6
    assert cost.cost(5e6, storage_cost=0.1e6) == 5.1e6


def test_owned_hardware() -> None:
    """30,000 USD make 61,111 USD with server and network, which lose 2.25 USD in an hour (arXiv 2405.21015)."""
    price = ownership.acquisition_price(30000, 1.65, 1 / 0.81)
    assert price == pytest.approx(61111, abs=0.5)
    lost = ownership.ownership_cost(HOUR, 1.0, price, 0.14 * math.log(10) / YEAR)
    assert lost == pytest.approx(2.25, abs=5e-3)
    assert lost == pytest.approx(price * 0.14 * math.log(10) / 8766, rel=1e-12)


# 90 % intervals of what Epoch multiplies (arXiv 2405.21015): price, quantity, server, interconnect.
_FACTORS = ((0.5, 2.0), (0.8, 1.25), (1.3, 2.1), (1.07, 1.32))


def _owned(factors: NDArray[np.float64]) -> NDArray[np.float64]:
    price, quantity, server, interconnect = factors
    owned = ownership.ownership_cost(quantity, 1.0, ownership.acquisition_price(price, server, interconnect), 1.0)
    return np.asarray(owned)


def test_product_of_lognormals() -> None:
    """Epoch's lognormal price, quantity and overheads give 90 % [0.461, 2.168] and 50 % [0.728, 1.373], relative."""
    low, high = np.log(np.array(_FACTORS)).T
    centre, sigma = (low + high) / 2, (high - low) / (2 * ndtri(0.95))
    median = _owned(np.exp(centre))
    moved = [float(np.log(_owned(np.exp(centre + sigma * one)) / median)) for one in np.eye(4)]
    width = math.hypot(*moved)
    for level, published in ((0.05, 0.461), (0.25, 0.728), (0.75, 1.373), (0.95, 2.168)):
        assert math.exp(width * ndtri(level)) == pytest.approx(published, abs=5e-4)
    points = qmc.Sobol(4, rng=np.random.default_rng(7)).random_base2(16)
    drawn = _owned(np.exp(centre + sigma * ndtri(points)).T) / median
    assert np.quantile(drawn, [0.05, 0.25, 0.75, 0.95]) == pytest.approx([0.461, 0.728, 1.373, 2.168], abs=2e-3)


def test_price_rise() -> None:
    """A trend of -0.1 per year is -9.5 % in a year; nothing changes by today; a shock grows as the root of time."""
    assert rental.price_rise(-0.1 / YEAR, 0.0, YEAR) == pytest.approx(-0.095, abs=5e-4)
    assert rental.price_rise(-0.1 / YEAR, 0.3 / math.sqrt(YEAR), 0.0) == 0
    once, later = (math.log1p(rental.price_rise(0.0, 0.3, time)) for time in (1.0, 4.0))
    assert (once, later) == (pytest.approx(0.3, rel=1e-12), pytest.approx(0.6, rel=1e-12))


def test_price_rise_of_a_random_walk() -> None:
    """Many small steps, each with its own part of trend and shock, end with the same spread as one long one."""
    steps, runs = 50, 40_000
    rng = np.random.default_rng(3)
    each = rng.normal(-0.1 * 0.75 / steps, 0.35 * math.sqrt(0.75 / steps), (runs, steps)).sum(axis=1)
    once = np.log1p(rental.price_rise(-0.1, 0.35 * rng.normal(size=runs), 0.75))
    error = 0.35 * math.sqrt(0.75 / runs)
    assert abs(each.mean() - once.mean()) < 5 * error * math.sqrt(2)
    assert abs(each.std() - once.std()) < 5 * error
    assert once.std() == pytest.approx(0.35 * math.sqrt(0.75), abs=5 * error)


def test_the_rest_is_on_demand() -> None:
    """60 % on spot and 30 % reserved leave 10 %; tenths that sum to one leave exactly nothing, in whatever order."""
    assert rental.on_demand_share(0.6, 0.3) == pytest.approx(0.1, rel=1e-12)
    assert rental.on_demand_share(0.7, 0.7) == pytest.approx(-0.4, rel=1e-12)
    for spot, reserved in itertools.product(range(11), repeat=2):
        if (owned := 10 - spot - reserved) >= 0:
            assert rental.on_demand_share(spot / 10, reserved / 10, owned / 10) == 0


@given(
    st.lists(st.floats(0.5, 2.0), min_size=6, max_size=6),
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 1)),
)
def test_the_bill_adds_up_draw_by_draw(factors: list[float], parts: tuple[float, float, float, float]) -> None:
    """In every draw the lines sum to the cost, people have their share of it, and compute is counted once."""
    names = (
        "price_per_accelerator_hour",
        "accelerator_hours",
        "energy",
        "egress_bytes",
        "retention_time",
        "commitment",
    )
    factor = np.array(factors)
    changes = {name: INPUTS[name] * np.roll(factor, shift) for shift, name in enumerate(names)}
    shares = np.array(parts) / sum(parts)
    found = bill(**changes, spot_share=shares[0], reserved_share=shares[1], owned_share=shares[2])
    lines = np.sum([np.broadcast_to(found[line.name], 6) for line in LINES], axis=0)
    assert lines == pytest.approx(found["cost"], rel=1e-12)
    assert found["staff_cost"] == pytest.approx(0.4 * np.asarray(found["cost"]), rel=1e-12)


@given(positive)
def test_twice_the_hours_twice_the_rent(factor: float) -> None:
    """Rents, ownership and space are in proportion to hours; every line but a share is in proportion to its price."""
    base = bill()
    more = bill(accelerator_hours=INPUTS["accelerator_hours"] * factor)
    for line in ("rental_cost", "spot_cost", "reserved_cost", "ownership_cost", "colocation_cost"):
        assert more[line] == pytest.approx(factor * base[line], rel=1e-12)
    assert more["commitment_cost"] == base["commitment_cost"]
    dearer = bill(**{name: INPUTS[name] * factor for name in PRICES})
    assert dearer["cost"] == pytest.approx(factor * base["cost"], rel=1e-12)


def test_a_rise_lifts_rents_alone() -> None:
    """Prices that rise by a quarter lift each rent as much and leave owned hardware and its energy as they were."""
    before, after = bill(price_rise=0.0), bill(price_rise=0.25)
    for line in ("rental_cost", "spot_cost", "reserved_cost", "commitment_cost"):
        assert after[line] == pytest.approx(1.25 * before[line], rel=1e-12)
    for line in ("ownership_cost", "electricity_cost", "colocation_cost"):
        assert after[line] == before[line]


def test_what_experiments_and_people_are_a_part_of() -> None:
    """Experiments follow all that the final run's compute takes and not its storage; people follow everything else."""
    compute, rest = (1.0, 2.0, 4.0, 8.0), (16.0, 32.0, 64.0)
    names = ("compute_cost", "idle_cost", "electricity_cost", "colocation_cost")
    others = ("storage_cost", "egress_cost", "experiments_cost")
    lines = dict(zip(names, compute, strict=True))
    assert cost.experiments_cost(experiment_ratio=3.0, **lines) == 45
    assert cost.staff_cost(staff_share=0.5, **lines, **dict(zip(others, rest, strict=True))) == 127


def test_a_commitment_is_paid_in_full() -> None:
    """A run that is shorter than the commitment pays the commitment, a longer one its own time."""

    def paid(days: float) -> float:
        run = rental.reserved_cost(10.0 * days * DAY, 1.0, 1 / DAY)
        return float(run + rental.commitment_cost(10.0, 1.0, days * DAY, 90 * DAY, 1 / DAY))

    assert [paid(days) for days in (30, 90, 120)] == pytest.approx([900, 900, 1200], rel=1e-12)


def test_idle_time_and_spares_within_a_commitment_are_paid_once() -> None:
    """Work, idle time, spares and what is left of the commitment are all accelerators for its whole length."""
    price, held, commitment = 1 / DAY, 10.0 + 2.0, 90 * DAY
    work = rental.reserved_cost(10.0 * 30 * DAY, 1.0, price)
    idle = cost.idle_cost(work, 10.0, 30 * DAY, spare_accelerators=2.0, idle_time=7 * DAY)
    left = rental.commitment_cost(10.0, 1.0, 30 * DAY, commitment, price, 2.0, 7 * DAY)
    assert work + idle + left == pytest.approx(held * commitment * price, rel=1e-12)


def test_idle_accelerators_against_what_is_held() -> None:
    """Working and spare accelerators, paid for the run and the time around it, cost what was paid beyond the work."""
    accelerators, spares, time, around, price = 1024, 4 * 8, 45.0, 3.0, 53.0
    paid = (accelerators + spares) * (time + around) * price
    work = accelerators * time * price
    idle = cost.idle_cost(work, accelerators, time, 32, around)
    assert work + idle == pytest.approx(paid, rel=1e-12)
    assert cost.idle_cost(work, accelerators, time) == 0


def test_shares_of_nothing_and_of_everything() -> None:
    """A share of nothing costs nothing, a share of everything the whole price, also in a run that never finishes."""
    for line, other in ((rental.rental_cost, 2.0), (rental.spot_cost, 2.0)):
        assert [float(line(hours, 0.0, other)) for hours in (10.0, math.inf)] == [0, 0]
        assert [float(line(hours, 1.0, other)) for hours in (10.0, math.inf)] == [20, math.inf]
    assert ownership.electricity_cost(math.inf, 0.0, 1.0) == 0
    assert ownership.ownership_cost(math.inf, 0.0, 1.0, 1.0) == 0
    assert ownership.colocation_cost(math.inf, 1.0, 0.0, 1.0) == 0
    assert rental.reserved_cost(math.inf, 0.0, 1.0) == 0
    assert rental.commitment_cost(10.0, 1.0, math.inf, 5.0, 1.0) == 0
    assert cost.staff_cost(compute_cost=6e6, staff_share=0.0) == 0
    assert cost.staff_cost(compute_cost=6e6, staff_share=0.4) == pytest.approx(4e6, rel=1e-12)


def test_nothing_kept_and_nothing_retained() -> None:
    """Without retention storage is for the run alone; without bytes it costs nothing, however long the run."""
    assert cost.storage_cost(2.0, 5.0, 7.0) == cost.storage_cost(2.0, 5.0, 7.0, retention_time=0.0) == 70
    assert cost.storage_cost(2.0, 5.0, 7.0, retention_time=3.0) == 70 + 42
    assert cost.storage_cost(2.0, math.inf) == 0
    assert cost.storage_cost(2.0, math.inf, 7.0) == math.inf


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_run_that_never_finishes(shape: tuple[int, ...]) -> None:
    """Every line that grows with time is infinite, none is undefined, and where all prices are zero all is free."""
    endless = {name: np.full(shape, math.inf) for name in ("training_time", "accelerator_hours", "energy")}
    found = bill(**endless)
    for line in (*LINES, cost.cost):
        wanted = {"egress_cost": 9000, "commitment_cost": 0}.get(line.name, math.inf)
        assert found[line.name] == pytest.approx(np.full(shape, wanted))
    free = bill(**endless, **dict.fromkeys(PRICES, 0.0))
    for line in (*LINES, cost.cost):
        assert np.all(np.asarray(free[line.name]) == 0)


def test_idle_lines_of_a_run_that_never_finishes() -> None:
    """Spares or idle time of an endless run cost without end; without either the line is nothing."""
    endless = (math.inf, 10.0, math.inf)
    assert cost.idle_cost(*endless, idle_time=1.0) == math.inf
    assert cost.idle_cost(*endless, spare_accelerators=8.0) == math.inf
    assert cost.idle_cost(*endless, spare_accelerators=0.0, idle_time=0.0) == 0
    assert cost.idle_cost(0.0, 10.0, math.inf, idle_time=1.0) == 0
