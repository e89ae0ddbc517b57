"""The numpyro forms score and sample what the distributions say."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from distribution_cases import BY_NAME, CASES, Case

from uncertain_botec.distributions import level_of_u

WITHOUT_DENSITY = {"empirical", "mixture with a point"}
LEVELS = np.linspace(0.02, 0.98, 25)


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in WITHOUT_DENSITY], ids=lambda case: case.name)
def test_log_density_is_the_slope_of_the_cumulative_probability(case: Case) -> None:
    """numpyro's log_prob is the log density (or mass) that belongs to this package's cdf."""
    distribution = case.distribution
    with jax.enable_x64(True):
        form = distribution.to_numpyro()
        if distribution.discrete:
            x = np.unique(distribution.quantile(level_of_u(LEVELS)))
            mass = distribution.cdf(x) - distribution.cdf(x - 0.5)
            # numpyro's own log_prob is off by 1e-6 for a negative binomial, and at a mean of 1e12 by 1e-2.
            np.testing.assert_allclose(np.exp(form.log_prob(x)), mass, rtol=2e-6 if x.max() < 1e7 else 2e-2)
            return
        x = distribution.quantile(level_of_u(LEVELS))
        low, high = distribution.support
        gap = np.minimum(np.diff(x, prepend=x[0] - 1.0), np.diff(x, append=x[-1] + 1.0))
        step = 1e-4 * np.minimum(gap, np.minimum(x - low, high - x))
        resolved = step > 1e6 * np.spacing(np.abs(x))
        assert np.count_nonzero(resolved) > 10
        x, step = x[resolved], step[resolved]
        low, high = x - step, x + step
        smaller = np.where(distribution.cdf(x) < 0.5, 1.0, -1.0)
        slope = np.where(
            smaller > 0, distribution.cdf(high) - distribution.cdf(low), distribution.sf(low) - distribution.sf(high)
        ) / (high - low)
        np.testing.assert_allclose(np.exp(form.log_prob(x)), slope, rtol=1e-5, atol=1e-9 * slope.max())


@pytest.mark.parametrize("name", ["triangular", "jqpd bounded", "jqpd mirrored", "lognormal cut", "mixture truncated"])
def test_draws_of_our_own_forms_have_the_right_share_below_the_median(name: str) -> None:
    """Half of the draws lie below the median, within five standard errors, and none outside the support."""
    distribution = BY_NAME[name].distribution
    count = 40_000
    with jax.enable_x64(True):
        draws = np.asarray(distribution.to_numpyro().sample(jax.random.key(1), (count,)))
    low, high = distribution.support
    assert low <= draws.min() <= draws.max() <= high
    share = np.mean(draws <= distribution.quantile(level_of_u(0.5)))
    assert abs(share - 0.5) < 5 * 0.5 / np.sqrt(count)


@pytest.mark.parametrize("name", ["triangular", "jqpd bounded", "jqpd half-bounded", "uniform cut"])
def test_density_is_zero_outside_the_support(name: str) -> None:
    """A value outside the support has log density -inf, not nan."""
    distribution = BY_NAME[name].distribution
    with jax.enable_x64(True):
        form = distribution.to_numpyro()
        assert float(form.log_prob(distribution.support[0] - 1.0)) == -np.inf


@pytest.mark.parametrize("name", sorted(WITHOUT_DENSITY))
def test_distributions_without_a_density_say_so(name: str) -> None:
    """Point masses among continuous values have no density that a Markov chain could climb."""
    with pytest.raises(NotImplementedError):
        BY_NAME[name].distribution.to_numpyro()
