"""Faults that tools of this kind have had with distributions, each as the case that shows it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from distribution_cases import BY_NAME

from uncertain_botec.distributions import elicit, level_of_u, level_of_z
from uncertain_botec.distributions.bounded import Triangular
from uncertain_botec.distributions.counts import Poisson
from uncertain_botec.distributions.jqpd import JqpdBounded, JqpdHalfBounded
from uncertain_botec.distributions.normal import LogNormal
from uncertain_botec.distributions.tailed import gamma_tails
from uncertain_botec.errors import ElicitationError


def _midpoints(count: int) -> np.ndarray:
    return (np.arange(count) + 0.5) / count


def test_product_of_lognormals_adds_variances() -> None:
    """The logarithm of the product of two standard lognormals has standard deviation sqrt(2), not 2."""
    x = elicit("lognormal", {"median": 1.0, "sigma": 1.0}).sampling_form().quantile(level_of_u(_midpoints(1000)))
    assert np.std(np.log(x[:, None] * x)) == pytest.approx(math.sqrt(2.0), rel=1e-2)


def test_level_of_an_interval_is_not_hard_coded() -> None:
    """1 to 10 as P10 and P90 is wider than as P5 and P95, with the same median."""
    wide, narrow = (elicit("lognormal", {low: 1.0, high: 10.0}) for low, high in (("p10", "p90"), ("p5", "p95")))
    assert isinstance(wide, LogNormal)
    assert isinstance(narrow, LogNormal)
    assert (wide.sigma, narrow.sigma) == (pytest.approx(0.898358, abs=1e-6), pytest.approx(0.699936, abs=1e-6))
    assert wide.median == pytest.approx(3.162278, abs=1e-6)
    assert narrow.median == pytest.approx(3.162278, abs=1e-6)
    assert (wide.mean(), narrow.mean()) == (pytest.approx(4.7342, abs=1e-4), pytest.approx(4.0400, abs=1e-4))


def test_mean_and_sd_of_a_lognormal_are_not_of_its_logarithm() -> None:
    """Mean 5 and sd 0.4 are in the value's own unit: mu is 1.606248 and sigma 0.079872."""
    found = elicit("lognormal", {"mean": 5.0, "sd": 0.4})
    assert isinstance(found, LogNormal)
    assert math.log(found.median) == pytest.approx(1.606248, abs=1e-6)
    assert found.sigma == pytest.approx(0.079872, abs=1e-6)


def test_lognormal_is_not_shifted_by_its_mu() -> None:
    """The median of a lognormal with mu 2 is e^2, and it reaches down to zero."""
    lognormal = BY_NAME["lognormal"].distribution
    assert float(lognormal.quantile(level_of_u(0.5))) == pytest.approx(7.389056, abs=1e-6)
    assert lognormal.support == (0.0, math.inf)
    assert float(lognormal.cdf(1e-3)) < 1e-9


@pytest.mark.parametrize("family", ["gamma", "beta"])
def test_both_tails_of_a_fit_are_met(family: str) -> None:
    """Not only is 80 % of the mass between P10 and P90: 10 % lies on either side."""
    fitted = elicit(family, {"p10": 0.05, "p90": 0.2})
    assert float(fitted.cdf(0.05)) == pytest.approx(0.1, abs=1e-9)
    assert float(fitted.sf(0.2)) == pytest.approx(0.1, abs=1e-9)


def test_median_of_a_gamma_of_shape_151() -> None:
    """The median is where the cumulative probability is a half, not where a Newton step was zero."""
    gamma = elicit("gamma", {"shape": 151.0, "scale": 1.0})
    assert float(gamma.cdf(gamma.quantile(level_of_u(0.5)))) == pytest.approx(0.5, abs=1e-12)


def test_pert_with_its_mode_in_the_middle() -> None:
    """7.8, 7.9, 8 is a beta with alpha = beta = 3."""
    pert = elicit("pert", {"low": 7.8, "mode": 7.9, "high": 8.0})
    assert pert.mean() == pytest.approx(7.9, rel=1e-12)
    assert pert.as_beta.alpha == pytest.approx(3.0, rel=1e-12)  # type: ignore[attr-defined]
    assert pert.as_beta.beta == pytest.approx(3.0, rel=1e-12)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("low", "mode", "high", "quantiles"),
    [(50.0, 60.0, 65.0, (55.333, 59.363, 62.705)), (20.0, 100.0, 900.0, (61.93, 192.45, 419.81))],
)
def test_pert_is_the_textbook_beta_on_its_own_range(
    low: float, mode: float, high: float, quantiles: tuple[float, ...]
) -> None:
    """The quantiles are those of the textbook definition, on [low, high] rather than [0, 1]."""
    pert = elicit("pert", {"low": low, "mode": mode, "high": high})
    np.testing.assert_allclose(pert.sampling_form().quantile(level_of_u([0.1, 0.5, 0.9])), quantiles, atol=5e-3)
    assert pert.mean() == pytest.approx((low + 4 * mode + high) / 6, rel=1e-12)


def test_triangular_quantiles_keep_their_precision_at_both_ends() -> None:
    """Near an end at zero the quantile is sqrt(u low-leg width) to rounding, however small."""
    rising, falling = Triangular(0.0, 1.0, 4.0), Triangular(-4.0, -1.0, 0.0)
    z = np.array([-8.2, -5.0])
    np.testing.assert_allclose(rising.quantile(level_of_z(z)), np.sqrt(4.0 * level_of_z(z).u), rtol=1e-14)
    np.testing.assert_allclose(falling.quantile(level_of_z(-z)), -np.sqrt(4.0 * level_of_z(z).u), rtol=1e-14)


@pytest.mark.parametrize(("cut", "mean"), [(1e6, 1226.64), (1e7, 2424.81)])
def test_mean_of_a_truncated_wide_lognormal(cut: float, mean: float) -> None:
    """The mean of the draws is the integral over the tabulated quantile function."""
    truncated = elicit("lognormal", {"p5": 1e-3, "p95": 1e3, "truncate": (0.0, cut)})
    # Trapezoids in z out to |z| = 8.3, where the integrand x(z) phi(z) has died away.
    z = np.linspace(-8.3, 8.3, 200_001)
    x = truncated.sampling_form().quantile(level_of_z(z))
    integral = np.trapezoid(x * np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi), z)
    assert integral == pytest.approx(mean, abs=5e-3)
    assert elicit("lognormal", {"p5": 1e-3, "p95": 1e3}).mean() == pytest.approx(6757.39, abs=5e-3)


def test_truncation_leaves_no_mass_at_its_bound() -> None:
    """Truncating renormalises; it does not put what it cuts onto the bound."""
    truncated = BY_NAME["normal above 0"].distribution
    draws = truncated.sampling_form().quantile(level_of_u(_midpoints(100_000)))
    assert not np.any(draws == 0.0)
    assert float(truncated.cdf(0.0)) == 0.0


def test_normal_truncated_far_in_its_tail() -> None:
    """Twenty standard deviations out, all draws are inside and the quantiles right, exactly and through the table."""
    truncated = BY_NAME["normal far cut"].distribution
    level = level_of_u([0.05, 0.5, 0.95])
    for form in (truncated, truncated.sampling_form()):
        np.testing.assert_allclose(form.quantile(level), [0.999256, 0.999827, 0.999987], atol=5e-7)


def test_narrow_truncation_of_a_wide_uniform_stays_uniform() -> None:
    """Draws of a uniform on [0, 1e12] cut to [0.25, 2] are inside and uniform."""
    x = BY_NAME["uniform cut"].distribution.sampling_form().quantile(level_of_u(_midpoints(1000)))
    np.testing.assert_allclose(x, 0.25 + 1.75 * _midpoints(1000), rtol=1e-8)


def test_truncated_density_is_positive_and_integrates_to_one() -> None:
    """The cumulative probability rises from 0 to 1 over the interval and nowhere falls."""
    truncated = elicit("normal", {"mean": 0.0, "sd": 1.0, "truncate": (-0.5, math.inf)})
    probability = truncated.cdf(np.linspace(-1.0, 10.0, 1001))
    assert (probability[0], probability[-1]) == (0.0, 1.0)
    assert np.all(np.diff(probability) >= 0.0)


def test_truncation_that_float64_cannot_hold_is_refused() -> None:
    """Mass of e^-27000 is none: an error, not an infinite density."""
    with pytest.raises(ElicitationError, match="no probability"):
        elicit("normal", {"mean": 1.35, "sd": 0.01, "truncate": (-20.0, -1.0)})


def test_mean_of_a_mixture_of_far_apart_normals() -> None:
    """Half at 1 and half at 1e11 is 5e10 and a half on average, of the formula and of the table."""
    mixture = BY_NAME["mixture far apart"].distribution
    assert mixture.mean() == 50_000_000_000.5
    assert mixture.sampling_form().quantile(level_of_u(_midpoints(1 << 16))).mean() == pytest.approx(
        50_000_000_000.5, rel=1e-12
    )


def test_weights_of_one_and_one_drop_no_component() -> None:
    """Weights that do not sum to one are refused; odds of one and one are a half each."""
    components = (elicit("fixed", {"value": 1.0}), elicit("fixed", {"value": 2.0}))
    with pytest.raises(ElicitationError, match="sum to one"):
        elicit("mixture", {"components": components, "weights": (1.0, 1.0)})
    assert elicit("mixture", {"components": components, "odds": (1.0, 1.0)}).mean() == 1.5


@pytest.mark.parametrize("off", [0.0, 1e-14, 1e-10, 1e-6])
def test_jqpd_is_continuous_where_it_becomes_symmetric(off: float) -> None:
    """Close to a symmetric triple the Johnson quantile function approaches the linear one, without a jump."""
    score = level_of_z(np.linspace(-4.0, 4.0, 81))
    bounded = JqpdBounded.of(0.1, (0.3, 0.5 + off, 0.7), 0.0, 1.0).quantile(score)
    from scipy.special import ndtr, ndtri

    np.testing.assert_allclose(bounded, ndtr(score.z * ndtri(0.7) / ndtri(0.9)), atol=20 * off + 1e-13)
    half = JqpdHalfBounded.of(0.1, (0.5, 1.0 + off, 2.0), 0.0, math.inf).quantile(score)
    np.testing.assert_allclose(half, np.exp(score.z * math.log(2.0) / ndtri(0.9)), rtol=40 * off + 1e-13)


@pytest.mark.parametrize("rate", [1e7, 1e12])
def test_tails_of_a_poisson_of_large_rate(rate: float) -> None:
    """Six standard deviations out, the tail is the sum of the probability mass by Stirling's series."""
    k = np.floor(rate + 6.0 * math.sqrt(rate)) + np.arange(1.0, 4.0 * math.sqrt(rate) if rate < 1e8 else 2.0)
    if rate < 1e8:
        d = (k - rate) / rate
        mass = np.exp(-rate * ((1 + d) * np.log1p(d) - d) - 1 / (12 * k)) / np.sqrt(2 * math.pi * k)
        assert float(Poisson(rate).sf(k[0] - 1)) == pytest.approx(mass.sum(), rel=1e-7)
    # The median of a Poisson is its rate plus a third, less 1 / 2 for a count; at the mean P(X < a) follows.
    below, above = gamma_tails(rate, rate)
    assert float(below) == pytest.approx(0.5 + 1.0 / (3.0 * math.sqrt(2.0 * math.pi * rate)), abs=1e-12)
    assert float(below + above) == pytest.approx(1.0, abs=1e-15)
