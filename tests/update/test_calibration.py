"""Simulated runs: how much narrower a log makes the forecast, and whether its probabilities are right."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest
from scipy.stats import binom, chisquare, kstest

from tests.update.simulating import DRIVERS, by_hours, by_the_model, part_of, scenario_in
from uncertain_botec import sample
from uncertain_botec.inference import Settings
from uncertain_botec.updating.bins import DAY
from uncertain_botec.updating.fitting import fit_many, flat
from uncertain_botec.updating.posterior import posterior_of

SHORT = Settings(chains=4, warmup=400, draws=100)


def ranks(folder: Path, count: int, settings: Settings) -> dict[str, np.ndarray]:
    """Where among its posterior draws each truth lies, from 0 to 1, over runs drawn from the model."""
    scenario = scenario_in(folder)
    made = [by_the_model(scenario, 16, np.random.default_rng([5, one])) for one in range(count)]
    keys = jax.random.split(jax.random.key(7), count)
    fits = fit_many(scenario, [log for log, _ in made], keys, settings=settings)
    found: dict[str, list[float]] = {}
    for number, (fitted, (log, truth)) in enumerate(zip(fits, made, strict=True)):
        draws = flat(fitted.inferred.draws)
        posterior = posterior_of(fitted, log, np.random.default_rng([9, number]))
        columns = {name: draws[name] for name in (*DRIVERS, "log_rate", "noise", "drift", "outage")}
        columns |= {"now": posterior.learnt.log_rate, "finish": posterior.values["training_time"] / DAY}
        for name, column in columns.items():
            found.setdefault(name, []).append(float((column < truth[name]).mean()))
    return {name: np.array(some) for name, some in found.items()}


def test_ranks_are_uniform(tmp_path: Path) -> None:
    """Simulation-based calibration (Talts et al. 2018, arXiv 1804.06788) over few runs, of parameters and finish."""
    found = ranks(tmp_path, 32, SHORT)
    assert len(found) == 8
    # One in a thousand by chance, over eight quantities.
    assert {name: p for name, some in found.items() if (p := kstest(some, "uniform").pvalue) < 1e-3 / 8} == {}


@pytest.mark.slow
def test_ranks_are_uniform_over_many_runs(tmp_path: Path) -> None:
    """The same over 256 runs, in ten bins by chi-square."""
    found = ranks(tmp_path, 256, Settings(chains=4, warmup=500, draws=250))
    counts = {name: np.histogram(some, 10, (0, 1))[0] for name, some in found.items()}
    assert {name: some.tolist() for name, some in counts.items() if chisquare(some).pvalue < 1e-3 / 8} == {}


def test_a_log_narrows_the_forecast(tmp_path: Path) -> None:
    """After a tenth of the tokens P10 to P90 of the finish is at most 0.35 as wide as before, after half of them 0.12.

    It holds the truth in 80 % of the runs, which have 5 % noise by day and Poisson failures, hour by hour.
    """
    scenario, count = scenario_in(tmp_path), 20
    target = scenario.known["tokens"]
    low, high = np.quantile(sample(scenario, 1 << 14)["training_time"], [0.1, 0.9])
    runs = [by_hours(scenario, np.random.default_rng([11, one])) for one in range(count)]
    logs = [part_of(days, tokens, target, part) for part in (0.1, 0.5) for days, tokens, _ in runs]
    fits = fit_many(scenario, logs, jax.random.split(jax.random.key(8), 2 * count), settings=SHORT)
    widths, held = np.zeros(2 * count), np.zeros(2 * count, bool)
    for number, (fitted, log) in enumerate(zip(fits, logs, strict=True)):
        posterior = posterior_of(fitted, log, np.random.default_rng([9, number]))
        p10, p90 = np.quantile(posterior.values["training_time"] / DAY, [0.1, 0.9])
        widths[number], held[number] = (p90 - p10) / (high - low), p10 <= runs[number % count][2] <= p90
    assert np.median(widths[:count]) <= 0.35
    assert np.median(widths[count:]) <= 0.12
    for some in (held[:count], held[count:]):
        # The central 99.8 % of the counts that a coverage of 80 % gives.
        assert binom.ppf(0.001, count, 0.8) <= some.sum() <= binom.ppf(0.999, count, 0.8)
