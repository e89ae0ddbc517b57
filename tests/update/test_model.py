"""The model and its parts against closed forms and numerical integrals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from scipy.integrate import quad
from scipy.stats import norm, poisson

from tests.update.simulating import RUN, log_of, planned_rate, scenario_in
from uncertain_botec.updating.bins import binned
from uncertain_botec.updating.fitting import fit
from uncertain_botec.updating.futures import Learnt, remaining_days
from uncertain_botec.updating.model import Speed


@pytest.mark.parametrize(("scale", "outage"), [(0.05, 0.03), (0.3, 0.2)])
def test_speed_is_a_density(scale: float, outage: float) -> None:
    """ln y integrates to 1, and the mean of what is drawn is that of its density."""
    with jax.enable_x64(True):
        one = Speed(np.float64(1.0), np.float64(scale), np.float64(outage))

        def density(x: float) -> float:
            return float(np.exp(one.log_prob(np.float64(x))))

        kink = [1 - 3 * scale, 1 + 3 * scale]
        assert quad(density, -25, 3, points=kink, limit=200)[0] == pytest.approx(1, abs=1e-7)
        # E[s e + o ln u] = -q
        assert quad(lambda x: x * density(x), -25, 3, points=kink, limit=200)[0] == pytest.approx(1 - outage, abs=1e-6)
        drawn = np.asarray(one.sample(jax.random.key(1), (1 << 16,)))
    error = drawn.std() / 256
    assert abs(drawn.mean() - (1 - outage)) < 5 * error


def test_conjugate_posterior(tmp_path: Path) -> None:
    """With known noise and neither drift nor outages ln v has the conjugate normal posterior, mean and spread."""
    text = RUN.replace(
        'family = "logit-normal", p10 = 0.30, p90 = 0.48', 'family = "lognormal", median = 0.4, sigma = 0.15'
    )
    lines = [line if "failure_overhead" not in line else 'failure_overhead = "10 %"' for line in text.splitlines()]
    scenario = scenario_in(tmp_path, "\n".join(lines))
    centre = float(np.log(planned_rate(scenario.but(failure_overhead=0.1), np.zeros(2))))
    random, noise = np.random.default_rng(2), 0.05
    seen = centre + 0.2 - noise**2 / 2 + noise * random.normal(size=20)
    log = log_of(np.arange(21.0), np.append(0, np.cumsum(np.exp(seen))))
    found = fit(scenario, log, jax.random.key(3), drift=False, outages=False, noise=noise).inferred.draws["log_rate"]
    precision = 1 / 0.15**2 + 20 / noise**2
    # The mean of a lognormal speed is v, and that of its logarithm lower.
    mean, sd = (centre / 0.15**2 + (seen + noise**2 / 2).sum() / noise**2) / precision, precision**-0.5
    error = float(array_stats.mcse(found, chain_axis=0, draw_axis=1, method="mean"))
    assert abs(found.mean() - mean) < 4 * error
    error = float(array_stats.mcse(found, chain_axis=0, draw_axis=1, method="sd"))
    assert abs(found.std() - sd) < 4 * error
    for prob in (0.1, 0.9):
        error = float(array_stats.mcse(found, chain_axis=0, draw_axis=1, method="quantile", prob=prob))
        assert abs(np.quantile(found, prob) - norm.ppf(prob, mean, sd)) < 4 * error


def test_interruptions_inform_their_rate(tmp_path: Path) -> None:
    """A count of interruptions gives the failure rate the posterior of a Poisson count on a lognormal prior."""
    more = (
        'node_failure_rate = { family = "lognormal", median = "0.02 failure/node-day", sigma = 0.8 }\n'
        "accelerators_per_node = 8\n[limits]"
    )
    scenario = scenario_in(tmp_path, RUN.replace("[limits]", more))
    tokens = np.arange(11.0) * 4.4e10
    log = replace(log_of(np.arange(11.0), tokens), interruptions=6.0)
    fitted = fit(scenario, log, jax.random.key(4))
    assert "node_failure_rate" in fitted.planned.names[: fitted.planned.drivers]
    found = 0.8 * fitted.inferred.draws["node_failure_rate"]
    grid = np.linspace(-4, 4, 4001)
    weight = norm.pdf(grid, 0, 0.8) * poisson.pmf(6, 8 * 0.02 * np.exp(grid) * 10)
    mean = float((grid * weight).sum() / weight.sum())
    error = float(array_stats.mcse(found, chain_axis=0, draw_axis=1, method="mean"))
    assert abs(found.mean() - mean) < 4 * error


def test_bins_are_whole_days() -> None:
    """Long logs become at most 128 bins of whole days that keep every token and every day; rows do not matter."""
    for span, width in ((0.1, 1.0), (4.0, 1.0), (30.0, 1.0), (127.0, 1.0), (300.0, 3.0)):
        days = np.linspace(0, span, 5001)
        found = binned(log_of(days, 1e9 * days))
        there = found.evidence.there > 0
        assert found.width == pytest.approx(width)
        assert there.sum() <= 128
        assert found.evidence.days[there].sum() == pytest.approx(span)
        assert np.allclose(found.evidence.log_speed[there], np.log(1e9))


@pytest.mark.parametrize("noise", [0.05, 0.3, 1.0])
def test_noise_makes_no_run_faster(noise: float) -> None:
    """Over many bins the speed averages to what was learnt, however large the noise from day to day is."""
    count = 4096
    nothing = np.zeros(count)
    learnt = Learnt(np.full(count, np.log(1e9)), nothing + noise, nothing, nothing)
    left = remaining_days(np.full(count, 1000e9), learnt, 1.0, np.random.default_rng(6))
    # By renewal theory the bins begun are L + (1 + c^2) / 2, with c the coefficient of variation of a bin, and half of
    # the last one is not needed.
    squared = np.exp(noise**2 + 0.01**2) - 1
    assert abs(left.mean() - (1000 + squared / 2)) < 5 * left.std() / 64


def test_futures_without_noise() -> None:
    """Without drift, noise (but its floor) and outages what is left takes tokens over speed; outages slow it."""
    count = 4096
    speed, nothing = np.full(count, np.log(1e9)), np.zeros(count)
    random = np.random.default_rng(5)
    left = remaining_days(np.full(count, 50.5e9), Learnt(speed, nothing, nothing, nothing), 1.0, random)
    # 51 bins of 1 %
    assert abs(left.mean() - 50.5) < 5 * left.std() / 64 + 0.01
    assert left.std() == pytest.approx(0.01 * np.sqrt(50.5), rel=0.1)
    stopped = remaining_days(np.full(count, 200e9), Learnt(speed, nothing, nothing, nothing + 0.2), 1.0, random)
    # The speed is the average, outages included; a last bin ends on average half a lost bin late.
    assert stopped.mean() == pytest.approx(200, rel=0.005)
    assert stopped.std() > 10 * 0.01 * np.sqrt(200) / 2
