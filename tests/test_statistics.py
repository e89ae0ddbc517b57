"""Reported numbers against exact ones: estimates err as their errors say, intervals cover as often as they claim."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student_t

from uncertain_botec import load_scenario, sample, summarize
from uncertain_botec.sampling.points import SAMPLERS

SEEDS = 200
DRAWS = 1 << 13

# Every input is lognormal and the overhead is none, so that every output is lognormal exactly.
SCENARIO = """
title     = "Every quantity lognormal"
estimator = "training"

[inputs]
parameters                 = { family = "lognormal", median = "70e9 parameter", sigma = 0.1 }
tokens                     = { family = "lognormal", median = "2e12 token", sigma = 0.2 }
accelerators               = { family = "lognormal", median = 2048, sigma = 0.15 }
peak_flop_per_s            = { family = "lognormal", median = "300 TFLOP/s", sigma = 0.05 }
mfu                        = { family = "lognormal", median = 0.25, sigma = 0.2 }
price_per_accelerator_hour = { family = "lognormal", median = "2 USD/hour", sigma = 0.3 }
failure_overhead           = 0

[[correlations]]
between = ["mfu", "price_per_accelerator_hour", "tokens"]
latent  = [[1, 0.5, -0.3], [0.5, 1, 0.2], [-0.3, 0.2, 1]]

[limits]
budget   = "4.5e6 USD"
deadline = "60 day"
"""

# ln of the medians in printed units, and the latent correlations, in the order of the file.
MEDIANS = np.log([70e9, 2e12, 2048, 300e12, 0.25, 2.0])
SIGMAS = np.array([0.1, 0.2, 0.15, 0.05, 0.2, 0.3])
LATENT = np.eye(6)
for _row, _column, _r in ((1, 4, -0.3), (1, 5, 0.2), (4, 5, 0.5)):
    LATENT[_row, _column] = LATENT[_column, _row] = _r

# An output is exp(shift) times the inputs to these powers.
POWERS = {
    "training_flop": ((1, 1, 0, 0, 0, 0), 6.0),
    "training_time": ((1, 1, -1, -1, -1, 0), 6.0 / 86400),
    "accelerator_hours": ((1, 1, 0, -1, -1, 0), 6.0 / 3600),
    "cost": ((1, 1, 0, -1, -1, 1), 6.0 / 3600),
}
LIMITS = {"budget": ("cost", 4.5e6), "deadline": ("training_time", 60.0)}


def exact() -> dict[tuple[str, str], float]:
    """P10, P50, P90 and mean of exp(N(m, v²)), exp(m + z v) and exp(m + v² / 2); of a limit Phi((ln x - m) / v)."""
    laws: dict[str, tuple[float, float]] = {}
    for output, (powers, factor) in POWERS.items():
        spread = np.array(powers) * SIGMAS
        laws[output] = float(powers @ MEDIANS + np.log(factor)), float(np.sqrt(spread @ LATENT @ spread))
    values = {}
    for output, (m, v) in laws.items():
        values |= {(output, f"p{level}"): np.exp(m + norm.ppf(level / 100) * v) for level in (10, 50, 90)}
        values[output, "mean"] = np.exp(m + v**2 / 2)
    for limit, (output, value) in LIMITS.items():
        m, v = laws[output]
        values[limit, "probability"] = norm.cdf((np.log(value) - m) / v)
    return values


def load(folder: Path, text: str) -> object:
    """The scenario that a text states."""
    file = folder / "scenario.toml"
    file.write_text(text, "utf-8")
    return load_scenario(file)


def errors_in_standard_errors(scenario: object, sampler: str, truth: Mapping[tuple[str, str], float]) -> np.ndarray:
    """(estimate - exact) / reported standard error, of shape (seed, statistic)."""
    rows = []
    for seed in range(SEEDS):
        summary = summarize(sample(scenario, DRAWS, seed=seed, sampler=sampler))  # type: ignore[arg-type]
        row = []
        for (name, statistic), value in truth.items():
            if name in summary.limits:
                row.append((summary.limits[name].probability - value) / summary.limits[name].mcse)
            else:
                one = summary.outputs[name]
                row.append((getattr(one, statistic) - value) / one.mcse[statistic])
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_errors_are_what_they_are_reported_to_be(sampler: str, tmp_path: Path) -> None:
    """Over 200 seeds, 95 % intervals hold the exact value in about 95 %, and three errors reach it in nearly all."""
    truth = exact()
    z = np.abs(errors_in_standard_errors(load(tmp_path, SCENARIO), sampler, truth))
    near = (z < 3).mean(axis=0)
    covered = (z < student_t.ppf(0.975, 15)).mean(axis=0)
    figures = f"{sampler}: within 3 errors {near.mean():.2%} (least {near.min():.2%}), covered {covered.mean():.2%}"
    detail = ", ".join(f"{name} {of} {share:.1%}" for (name, of), share in zip(truth, covered, strict=True))
    assert near.mean() >= 0.97, figures
    assert 0.92 <= covered.mean() <= 0.98, figures
    # A single statistic's share over 200 seeds has a standard error of 1.5 %: 18 of them within 4 of these.
    assert np.all(np.abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / SEEDS)), f"{figures}; {detail}"


@pytest.mark.parametrize(("sampler", "gain"), [("lattice", 1.3), ("sobol", 1.3)])
def test_quasi_random_points_reduce_the_error(sampler: str, gain: float, tmp_path: Path) -> None:
    """At equal draws the quantiles' errors are well below those of plain Monte Carlo."""
    scenario = load(tmp_path, SCENARIO)
    error = {}
    for kind in (sampler, "monte-carlo"):
        outputs = [summarize(sample(scenario, 1 << 16, seed=seed, sampler=kind)).outputs for seed in range(4)]  # type: ignore[arg-type]
        squares = [[one[name].mcse[key] ** 2 for name in POWERS for key in ("p10", "p50", "p90")] for one in outputs]
        error[kind] = np.sqrt(np.mean(squares, axis=0))
    assert np.all(error["monte-carlo"] > gain * error[sampler]), error


def test_the_mean_of_a_very_wide_price_comes_with_its_error(tmp_path: Path) -> None:
    """Where P5 and P95 lie seven powers of ten apart, the mean's relative error is large and says so."""
    wide = 'price_per_accelerator_hour = { family = "lognormal", p5 = "5 USD/hour", p95 = "5e7 USD/hour" }'
    text = SCENARIO.replace(
        'price_per_accelerator_hour = { family = "lognormal", median = "2 USD/hour", sigma = 0.3 }', wide
    )
    summary = summarize(sample(load(tmp_path, text), 1 << 16, seed=1))  # type: ignore[arg-type]
    cost = summary.outputs["cost"]
    assert cost.mcse["mean"] > 0.02 * cost.mean
    assert cost.mcse["p50"] < 0.01 * cost.p50
    row = next(line for line in str(summary).splitlines() if line.strip().startswith("Cost"))
    assert " %" in row
    assert "exact" not in row
