"""Simulation-based calibration (arXiv 1804.06788): the truth's rank among posterior draws is uniform.

Truths are drawn from the priors and data sets from the truths; then each parameter's rank among thinned posterior draws
is uniform if, and in practice only if, the sampler samples the posterior of the model that made the data.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from uncertain_botec import read_runs
from uncertain_botec.calibration.model import Data, arrays, generations_of, hours
from uncertain_botec.inference import Settings, run_nuts_many

PARAMETERS = ("intercept", "peak", "parameters", "tokens", "age", "moe", "fp8", "rough")
PARAMETERS += ("tau", "log_scale", "rough_log_scale")
BINS = 8
THINNED = 63


def of_simulated(both: tuple[Data, Any]) -> None:
    """The model of hours, given simulated ones."""
    data, y = both
    hours(data._replace(y=y))


def prior_scale(name: str) -> tuple[float, float]:
    """Centre and standard deviation of a coefficient's prior."""
    from uncertain_botec.calibration.model import CENTRES, SCALES

    return CENTRES.get(name, 0.0), SCALES[name]


def simulated(count: int, seed: int) -> tuple[Data, npt.NDArray[np.float64], dict[str, npt.NDArray[np.float64]]]:
    """Truths from the priors, written down here a second time, and the hours of the shipped runs under each."""
    from uncertain_botec.reference.subject import TERMS

    runs = read_runs().kept
    data = arrays(runs, generations_of(runs))
    random = np.random.default_rng(seed)
    truth: dict[str, npt.NDArray[np.float64]] = {}
    for name in ("intercept", *TERMS):
        centre, scale = prior_scale(name)
        truth[name] = centre + scale * random.standard_normal(count)
    truth["tau"] = np.exp(np.log(0.1) + 0.5 * random.standard_normal(count))
    truth["log_scale"] = np.log(0.3) + 0.4 * random.standard_normal(count)
    truth["rough_log_scale"] = 0.3 * random.standard_normal(count)
    nu = 2 + random.gamma(2.0, 10.0, count)
    z = random.standard_normal((count, data.generation.shape[1]))
    mean = truth["intercept"][:, None] + np.stack([truth[name] for name in TERMS], 1) @ data.x.T
    mean = mean + truth["tau"][:, None] * (z @ data.generation.T)
    scale_of = np.exp(truth["log_scale"][:, None] + truth["rough_log_scale"][:, None] * data.rough)
    noise = random.standard_t(nu[:, None], mean.shape)
    return data, mean + scale_of * noise, truth


def chances(count: int, seed: int) -> dict[str, float]:
    """For each parameter, the p-value of a chi-square test that its ranks are uniform."""
    data, y, truth = simulated(count, seed)
    keys = jax.random.split(jax.random.key(seed), count)
    settings = Settings(chains=2, warmup=400, draws=504, target=0.95)
    found = run_nuts_many(of_simulated, data, y, keys, settings=settings, together=8)
    result = {}
    for name in PARAMETERS:
        ranks = []
        for index, one in enumerate(found):
            draws = np.asarray(one.draws[name]).reshape(-1)
            thinned = draws[:: len(draws) // THINNED][:THINNED]
            ranks.append(int((thinned < truth[name][index]).sum()))
        counts = np.bincount(np.array(ranks) * BINS // (THINNED + 1), minlength=BINS)
        result[name] = float(stats.chisquare(counts).pvalue)
    return result


def test_ranks_are_uniform_over_a_few_data_sets() -> None:
    """Thirty-two of them; no parameter's ranks are further from uniform than one in a thousand, for eleven of them."""
    found = chances(32, seed=3)
    assert min(found.values()) > 0.001 / len(found), found


@pytest.mark.slow
def test_ranks_are_uniform() -> None:
    """Over 256 data sets."""
    found = chances(256, seed=4)
    assert min(found.values()) > 0.001 / len(found), found


def test_ranks_find_a_wrong_prior() -> None:
    """The test could fail: truths from priors half as wide are not uniform among the draws."""
    data, _, truth = simulated(200, seed=5)
    wide = np.random.default_rng(6).normal(0.0, prior_scale("moe")[1], (200, THINNED))
    ranks = (wide < 0.3 * truth["moe"][:, None]).sum(1)
    counts = np.bincount(ranks * BINS // (THINNED + 1), minlength=BINS)
    assert stats.chisquare(counts).pvalue < 1e-6
    assert len(data.y) == 58
