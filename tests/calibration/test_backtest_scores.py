"""Forecasters and scores against closed forms and second routes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, ndtr

from uncertain_botec.calibration.forecasters import Forecast, Mixture, SteppingMfu, StudentT, others
from uncertain_botec.calibration.scores import Judged, by_chance, judge, mean, score, share
from uncertain_botec.reference.posterior import Predictive

LEVELS = np.array([0.001, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.999])


def predictive(seed: int = 0, draws: int = 500) -> Predictive:
    """A mixture such as chains give."""
    rng = np.random.default_rng(seed)
    return Predictive(
        rng.normal(0.3, 0.1, draws), rng.lognormal(math.log(0.25), 0.1, draws), rng.gamma(2, 10, draws) + 2
    )


FORECASTS = {
    "normal": StudentT(0.1, 0.4),
    "student": StudentT(-0.2, 0.3, 5.0),
    "stepping MFU": SteppingMfu(-0.403, 0.517, 0.08),
    "mixture": Mixture(predictive()),
}


def normal_crps(y: float, mu: float, sigma: float) -> float:
    """Gneiting and Raftery 2007, equation 5."""
    z = (y - mu) / sigma
    density = math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return sigma * (z * (2 * float(ndtr(z)) - 1) + 2 * density - 1 / math.sqrt(math.pi))


@pytest.mark.parametrize("forecast", FORECASTS.values(), ids=FORECASTS)
def test_quantiles_are_the_inverse(forecast: Forecast) -> None:
    """The distribution function at each quantile is its level."""
    found = [forecast.cdf(float(y)) for y in forecast.quantile(LEVELS)]
    assert found == pytest.approx(LEVELS, rel=1e-4)


def test_the_curve_is_the_mixture() -> None:
    """Quantiles of the curve are those by bisection."""
    one = predictive(1)
    assert Mixture(one).quantile(LEVELS) == pytest.approx(one.quantile(LEVELS), abs=1e-4)


def test_a_wide_mixture_of_few_draws_has_quantiles_too() -> None:
    """Draws far apart, with heavy tails and light ones, leave the curve rising and right."""
    one = Predictive(np.array([-2.0, 0.0, 3.0]), np.array([0.05, 0.3, 0.1]), np.array([2.1, 4.0, 80.0]))
    levels = LEVELS[1:-1]
    assert [Mixture(one).cdf(float(y)) for y in Mixture(one).quantile(levels)] == pytest.approx(levels, abs=2e-3)


def test_published_mfu_is_what_it_says() -> None:
    """Its quantiles are those of y worked out from drawn MFUs."""
    u = expit(-0.403 + 0.517 * np.random.default_rng(3).standard_normal(1 << 20))
    y = np.log(0.4 * 1.08 / u)
    forecast = others(np.array([0.1, 0.2, 0.3]))["published_mfu"]
    for level in (0.1, 0.5, 0.9):
        z = ((y <= forecast.quantile(level)).mean() - level) / math.sqrt(level * (1 - level) / len(y))
        assert abs(z) < 5


def test_fixed_mfu_is_a_factor_of_two() -> None:
    """Its 90 % interval is from half to double the hours at 40 %, and no run changes it."""
    forecast = others(np.array([5.0, 6.0, 9.0]))["fixed_mfu"]
    assert np.exp(forecast.quantile(np.array([0.05, 0.5, 0.95]))) == pytest.approx([0.5, 1, 2])


def test_constant_lognormal_covers_normal_samples() -> None:
    """Of further values of normal samples of four, its 80 % interval holds 80 %."""
    rng = np.random.default_rng(5)
    values = rng.normal(0.3, 0.4, (4000, 5))
    inside = [0.1 <= others(one[:4])["constant_lognormal"].cdf(float(one[4])) <= 0.9 for one in values]
    assert abs(np.mean(inside) - 0.8) < 5 * math.sqrt(0.8 * 0.2 / len(values))


@pytest.mark.parametrize("y", [-1.5, 0.1, 0.35, 2.0])
def test_scores_of_a_normal(y: float) -> None:
    """CRPS and interval score are the closed forms."""
    found = judge(StudentT(0.1, 0.4), y)
    assert found.crps == pytest.approx(normal_crps(y, 0.1, 0.4), rel=2e-4)
    low, high = 0.1 - 1.2815515655 * 0.4, 0.1 + 1.2815515655 * 0.4
    beyond = max(low - y, 0) + max(y - high, 0)
    assert found.interval_score == pytest.approx(high - low + 2 / 0.2 * beyond)
    assert found.percentile == pytest.approx(ndtr((y - 0.1) / 0.4))


def test_crps_of_a_mixture() -> None:
    """It is int (F(x) - 1{x >= y})^2 dx."""
    one, y = predictive(2), 0.8
    x = np.linspace(-6, 6, 24_001) + 2.5e-4
    direct = float((((one.cdf(x) - (x >= y)) ** 2).sum()) * (x[1] - x[0]))
    assert judge(Mixture(one), y).crps == pytest.approx(direct, rel=5e-4)


def test_a_table_of_scores() -> None:
    """Coverage counts percentiles in the middle, bounds are exact, differences go run by run."""
    reference = [Judged(0.0, 0.5, 1.0, p, 1.0, 0.1 * place) for place, p in enumerate((0.05, 0.31, 0.74, 0.96))]
    other = [Judged(0.0, 1.0, 2.0, 0.5, 1.5, 0.1 * place + 0.25) for place in range(4)]
    found = score(other, reference)
    assert {part: one.value for part, one in score(reference).coverage.items()} == {0.5: 0.5, 0.8: 0.5, 0.9: 0.75}
    assert score(reference).histogram == (1, 0, 0, 1, 0, 0, 0, 1, 0, 1)
    assert found.width_factor.value == pytest.approx(math.exp(2))
    assert (found.against["crps"].value, found.against["crps"].error) == pytest.approx((0.25, 0), abs=1e-12)
    assert found.against["interval_score"].value == pytest.approx(0.5)
    assert not score(reference).against
    # All of four: the lower bound is 0.025^(1/4).
    assert share(4, 4).low == pytest.approx(0.025**0.25)
    assert share(4, 4).high == 1
    assert mean([1.0, 2.0, 4.0]).error == pytest.approx(math.sqrt(7 / 3 / 3))
    assert math.isnan(mean([1.0]).error)


@pytest.mark.parametrize("n", [1, 7, 58, 400])
def test_what_chance_leaves_in_a_tenth(n: int) -> None:
    """The band holds 95 % of the binomial, and neither of its ends could be moved inwards."""
    chances = [math.comb(n, k) * 0.1**k * 0.9 ** (n - k) for k in range(n + 1)]
    low, high = by_chance(n)
    assert sum(chances[:low]) <= 0.025 < sum(chances[: low + 1])
    assert sum(chances[high + 1 :]) <= 0.025 < sum(chances[high:])
