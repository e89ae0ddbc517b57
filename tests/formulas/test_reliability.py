"""Failures and checkpoints: published values, and an event simulation written another way."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uncertain_botec.formulas import reliability

HOUR, DAY = 3600.0, 86400.0
D, M = 300.0, 6 * HOUR


class NumpyLuck:
    """The randomness of a simulation outside of any kernel."""

    def __init__(self, size: int, events: int, seed: int = 1) -> None:
        self.size, self.events, self.generator = size, events, np.random.default_rng(seed)

    def fold(self, step: Callable[[Any, Any], Any], state: Any) -> Any:
        """One event after another until every run is over."""
        state = tuple(np.broadcast_to(leaf, (self.size,)) for leaf in state)
        for _ in range(self.events):
            if state[0].all():
                break
            state = step(state, self.generator.exponential(size=self.size))
        return state

    def normal(self) -> Any:
        """Standard normal numbers."""
        return self.generator.standard_normal(self.size)


def one_run(
    work: float, tau: float, write: float, restart: float, mtbf: float, wait: float, chance: random.Random
) -> float:
    """A run told step by step: work and write, fail, wait for a node, come back, start the interval again."""
    intervals = max(1, math.ceil(work / tau))
    clock, failure = 0.0, chance.expovariate(1 / mtbf)

    def survive(length: float) -> bool:
        nonlocal clock, failure
        if clock + length <= failure:
            clock += length
            return True
        clock = failure + wait
        failure = clock + chance.expovariate(1 / mtbf)
        return False

    for _ in range(intervals):
        while not survive(work / intervals + write):
            while not survive(restart):
                pass
    return clock


CASES = [
    (200 * HOUR, HOUR, 300.0, 600.0, 6 * HOUR, 0.0),
    (30 * HOUR, HOUR, 300.0, 600.0, 2 * HOUR, 0.0),
    (3 * HOUR, HOUR, 300.0, 1800.0, HOUR, 0.0),
    (1000.0, HOUR, 30.0, 60.0, 20 * HOUR, 0.0),
    (10 * HOUR, 2.5 * HOUR, 60.0, 0.0, 5 * HOUR, 0.0),
    (100 * HOUR, 2 * HOUR, 60.0, 900.0, 5 * HOUR, 8 * HOUR),
]


@pytest.mark.parametrize("case", CASES)
def test_expected_time_is_the_mean_of_single_runs(case: tuple[float, ...]) -> None:
    """Four thousand runs told event by event have the exact formula's mean."""
    chance = random.Random(7)
    times = np.array([one_run(*case, chance) for _ in range(4000)])
    z = (times.mean() - reliability.expected_running_time(*case)) / (times.std(ddof=1) / math.sqrt(times.size))
    assert abs(z) < 5


@pytest.mark.parametrize("events", [8, 32, 100_000])
@pytest.mark.parametrize("case", CASES)
def test_simulated_time_has_the_exact_mean_and_spread(case: tuple[float, ...], events: int) -> None:
    """The simulation has the exact mean, however many failures are drawn one by one, and the law of single runs."""
    size = 40_000
    times = reliability.simulated_running_time(*case[:5], NumpyLuck(size, events), case[5])
    expected = reliability.expected_running_time(*case)
    assert abs(times.mean() - expected) < 5 * times.std() / math.sqrt(size)
    chance = random.Random(11)
    told = np.array([one_run(*case, chance) for _ in range(4000)])
    levels = [0.1, 0.5, 0.9]
    if events >= 32:
        for level in levels:
            share = (times <= np.quantile(told, level, method="inverted_cdf")).mean()
            atom = (told == np.quantile(told, level, method="inverted_cdf")).mean()
            assert abs(share - level) < 5 * math.sqrt(level * (1 - level) / 4000) + atom + 0.004


def test_intervals() -> None:
    """d = 300 s and M = 6 h: Young 3600 s, Daly 3402.8 s; Daly falls back on M where d is 2 M or more."""
    assert reliability.interval_by_young(D, M) == pytest.approx(3600, rel=1e-12)
    assert reliability.interval_by_daly(D, M) == pytest.approx(3402.8, abs=0.05)
    assert reliability.interval_by_daly(2 * M, M) == M
    assert reliability.interval_by_daly(5 * M, M) == M


def test_goodput() -> None:
    """First order 0.8333 at 3600 s; exact at Daly's interval 0.8425, and 0.8194 with 600 s of restart."""
    first_order = 1 - D / 3600 - 3600 / (2 * M)
    assert first_order == pytest.approx(0.8333, abs=5e-5)
    tau = float(reliability.interval_by_daly(D, M))
    work = 1000 * tau
    assert work / reliability.expected_running_time(work, tau, D, 0.0, M) == pytest.approx(0.8425, abs=5e-5)
    assert work / reliability.expected_running_time(work, tau, D, 600.0, M) == pytest.approx(0.8194, abs=5e-5)
    work = 3.6e6
    assert work / reliability.expected_running_time(work, 3600.0, D, 0.0, M) == pytest.approx(0.84225, abs=5e-6)


def test_interruptions_are_the_failures_of_single_runs() -> None:
    """Running time over time between failures and waits is the mean number of failures: counted by the waits."""
    chance = random.Random(3)
    case = (40 * HOUR, HOUR, 120.0, 600.0, 5 * HOUR)
    waits = np.array([one_run(*case, 1e9, chance) // 1e9 for _ in range(4000)])
    expected = reliability.interruptions(reliability.expected_running_time(*case), 5 * HOUR)
    assert abs(waits.mean() - expected) < 5 * waits.std() / math.sqrt(waits.size)


def test_published_failure_rates() -> None:
    """16,384 accelerators at 6.50 per 1000 node-days: 1.80 h; Llama 3's 419 in 54 days: 3.79 per 1000 and 3.09 h."""
    nodes = reliability.nodes(16384, 8)
    assert nodes == 2048
    assert reliability.cluster_mtbf(nodes, 6.50e-3 / DAY) / HOUR == pytest.approx(1.80, abs=5e-3)
    rate = 419 / (2048 * 54 * DAY)
    assert rate * DAY * 1000 == pytest.approx(3.79, abs=5e-3)
    mtbf = reliability.cluster_mtbf(2048, rate)
    assert mtbf / HOUR == pytest.approx(3.09, abs=5e-3)
    assert reliability.interruptions(54 * DAY, mtbf) == pytest.approx(419, rel=1e-12)
    assert reliability.cluster_mtbf(1024 / 8, 6.50e-3 / DAY) / HOUR == pytest.approx(28.8, abs=0.1)


def test_first_order_agrees_where_losses_are_small() -> None:
    """E[ETTR] of arXiv 2410.21680, 12,000 GPUs of RSC-1, w = 1 min, u0 = 5 min: 0.858 at Young's 17.2 minutes."""
    mtbf = reliability.cluster_mtbf(1500, 6.50e-3 / DAY)
    write, outage = 60.0, 300.0
    tau = float(reliability.interval_by_young(write, mtbf))
    assert tau / 60 == pytest.approx(17.2, abs=0.05)
    first_order = (1 - (outage + tau / 2) / mtbf) / (1 + write / tau)
    assert first_order == pytest.approx(0.858, abs=5e-4)
    work = 1000 * tau
    exact = work / reliability.expected_running_time(work, tau, write, outage, mtbf)
    assert exact == pytest.approx(first_order, abs=0.005)


def test_daly_is_near_the_optimum() -> None:
    """No interval beats Daly's by more than a thousandth in expected time."""
    work = 1000 * HOUR
    best = min(float(reliability.expected_running_time(work, tau, D, 600.0, M)) for tau in np.linspace(600, 20000, 400))
    daly = reliability.expected_running_time(work, reliability.interval_by_daly(D, M), D, 600.0, M)
    assert daly <= best * 1.001


def test_a_checkpoint_longer_than_the_time_between_failures_never_ends() -> None:
    """Where d >= M the run never finishes, expected or simulated, and nothing is undefined."""
    for mtbf in (299.0, 300.0):
        assert reliability.expected_running_time(1e6, 3600.0, 300.0, 60.0, mtbf) == math.inf
        assert np.all(
            reliability.simulated_running_time(1e6, 3600.0, 300.0, 60.0, mtbf, luck=NumpyLuck(10, 50)) == math.inf
        )
    assert reliability.expected_running_time(1e6, 3600.0, 3.0, 60.0, 4.0) == math.inf
    assert reliability.failure_overhead(math.inf, 1e6) == math.inf


def test_no_failures_to_speak_of() -> None:
    """A rate of one in a billion years leaves work and checkpoints."""
    assert reliability.expected_running_time(36000.0, 3600.0, 30.0, 600.0, 3e16) == pytest.approx(36300.0, rel=1e-9)


def test_spares() -> None:
    """Without spares every failure waits for its repair; with more than are ever out, none does."""
    out = reliability.nodes_in_repair(2048, 6.50e-3 / DAY, 24 * HOUR)
    assert out == pytest.approx(13.3, abs=0.05)
    assert reliability.spare_wait(24 * HOUR, out) == 24 * HOUR
    assert reliability.spare_wait(24 * HOUR, out, 20) == 0


@settings(max_examples=200)
@given(
    work=st.floats(1e3, 1e8),
    tau=st.floats(60, 1e5),
    write=st.floats(0.1, 1e3),
    outage=st.floats(0, 1e4),
    mtbf=st.floats(1e3, 1e9),
)
def test_time_is_never_less_than_work(work: float, tau: float, write: float, outage: float, mtbf: float) -> None:
    """Failures, checkpoints and restarts only add, and never give NaN; fewer failures never take longer."""
    taken = reliability.expected_running_time(work, tau, write, outage, mtbf)
    assert taken >= (work + write) * (1 - 1e-12)
    assert reliability.expected_running_time(work, tau, write, outage, 2 * mtbf) <= taken
