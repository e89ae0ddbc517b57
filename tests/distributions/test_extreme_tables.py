"""Tables where mass crowds around a point or a tail goes on and on: right to 1e-6 in probability, or refused."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammainc, ndtr, ndtri
from score_kernels import LENGTH, score_of

from uncertain_botec.distributions import Distribution, elicit, level_of_z, tabulate
from uncertain_botec.distributions.inverse import find_roots
from uncertain_botec.distributions.tabulate import SMALLEST
from uncertain_botec.distributions.tailed import StudentT
from uncertain_botec.errors import ElicitationError

SCORES = np.linspace(-6.0, 6.0, LENGTH)
TOLERANCE = 1e-6


def _gamma(shape: float, low: float = 0.0, scale: float = 2.0) -> tuple[Distribution, Any]:
    return (
        elicit("gamma", {"shape": shape, "scale": scale, "support": (low, math.inf)}),
        stats.gamma(shape, low, scale),
    )


def _normal(mean: float = 1.0, sd: float = 1.0) -> tuple[Distribution, Any]:
    return elicit("normal", {"mean": mean, "sd": sd}), stats.norm(mean, sd)


UNIFORM = (elicit("uniform", {"low": -2.0, "high": 1.0}), stats.uniform(-2.0, 3.0))
LOGNORMAL = (elicit("lognormal", {"median": 3.0, "sigma": 0.7}), stats.lognorm(0.7, scale=3.0))

# Distributions, ours and scipy's, with their weights.
CROWDED = {
    "gamma 0.09, normal": ((_gamma(0.09), _normal()), (0.5, 0.5)),
    "gamma 0.05, normal": ((_gamma(0.05), _normal()), (0.5, 0.5)),
    "gamma 0.03, little of it": ((_gamma(0.03), _normal()), (0.01, 0.99)),
    "gamma 0.03, normal": ((_gamma(0.03), _normal()), (0.7, 0.3)),
    "gamma 0.01, normal": ((_gamma(0.01), _normal()), (0.3, 0.7)),
    "gamma 0.05, lognormal": ((_gamma(0.05), LOGNORMAL), (0.5, 0.5)),
    "gamma 0.05, uniform": ((_gamma(0.05), UNIFORM), (0.3, 0.7)),
    "gammas from 0 and 3, normal": ((_gamma(0.1), _gamma(0.2, 3.0), _normal()), (0.3, 0.3, 0.4)),
    "gamma 0.05, far normal": ((_gamma(0.05), _normal(1e11)), (0.5, 0.5)),
    "gamma 0.05 of 1e24": ((_gamma(0.05, 0.0, 1e24), _normal(1e24, 1e23)), (0.5, 0.5)),
}


def _distance(parts: Any, weights: Any, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """How far, in scipy's probability, x is from the quantiles at z, if it is known to 64 ulp and to 2e-300."""
    slack = 64.0 * np.spacing(np.abs(x)) + 2.0 * SMALLEST
    low, high = (
        sum(w * oracle.cdf(y) for w, (_, oracle) in zip(weights, parts, strict=True)) for y in (x - slack, x + slack)
    )
    return np.maximum(np.maximum(low - ndtr(z), ndtr(z) - high), 0.0)


@pytest.mark.parametrize("name", CROWDED)
def test_mixtures_that_crowd_around_a_point(name: str) -> None:
    """A mixture with a gamma that all but sits on its end is drawn right to 1e-6 in scipy's probability, everywhere."""
    parts, weights = CROWDED[name]
    mixture = elicit("mixture", {"components": tuple(own for own, _ in parts), "weights": weights})
    form = tabulate(mixture)
    middles = form.edges + 0.37 / form.inverse_widths
    z = np.sort(np.concatenate((SCORES, middles[np.abs(middles) < 8.2])))
    x = form.quantile(level_of_z(z))
    assert np.all(np.diff(x) >= -64.0 * np.spacing(np.abs(x[1:])))
    assert _distance(parts, weights, x, z).max() < TOLERANCE
    assert len(form.edges) < 2500


def test_a_crowded_mixture_in_the_kernel() -> None:
    """Its score inverts its quantile function, in numpy and in JAX, to 1e-6 in probability."""
    parts, weights = CROWDED["gamma 0.05, normal"]
    form = elicit("mixture", {"components": tuple(own for own, _ in parts), "weights": weights}).sampling_form()
    x = form.quantile(level_of_z(SCORES))
    for route in ("numpy", "jax"):
        assert np.abs(ndtr(score_of(route, form, x)) - ndtr(SCORES)).max() < TOLERANCE


@pytest.mark.parametrize("df", [0.06, 0.08, 0.1, 0.3, 1.0, 3.0])
def test_far_tails_of_students_t(df: float) -> None:
    """Out to the last score of a table they are c t^-df, where scipy's end at 1e153, and the table has them."""
    t = StudentT(df, 2.0, 3.0)
    log_c = 0.5 * df * math.log(df) - math.log(df) - betaln(0.5 * df, 0.5)
    x = np.geomspace(1e60, 1e290, 50)
    np.testing.assert_allclose(t.sf(x), np.exp(log_c - df * np.log(x / 3.0)), rtol=1e-12)
    np.testing.assert_allclose(t.cdf(-x), t.sf(x), rtol=1e-12)
    z = np.linspace(-8.3, 8.3, 501)
    for x in (t.quantile(level_of_z(z)), tabulate(t).quantile(level_of_z(z))):
        assert np.all(np.isfinite(x))
        np.testing.assert_allclose(np.where(z < 0, t.cdf(x), t.sf(x)), ndtr(-np.abs(z)), rtol=1e-7)


@pytest.mark.parametrize("df", [1e-3, 0.03, 0.1, 1.0, 30.0])
def test_the_middle_of_students_t(df: float) -> None:
    """Between P20 and P80 the quantiles are scipy's, where those are no larger than it can tell."""
    level = np.linspace(0.2, 0.8, 61)
    z = ndtri(level)
    x = StudentT(df, 0.0, 1.0).quantile(level_of_z(z))
    told = np.abs(x) < 1e100
    assert np.count_nonzero(told) > 3
    np.testing.assert_allclose(stats.t(df).cdf(x[told]), level[told], rtol=1e-8)


def test_a_truncated_tail_is_drawn() -> None:
    """What is refused without end is drawn where it is cut: P(T <= x | 0 <= T <= 1) from scipy's incomplete beta."""
    form = elicit("student-t", {"df": 0.01, "median": 0.0, "scale": 1.0, "truncate": (0.0, 1.0)}).sampling_form()
    x = form.quantile(level_of_z(SCORES))
    t = stats.t(0.01)
    np.testing.assert_allclose((t.cdf(x) - 0.5) / (t.cdf(1.0) - 0.5), ndtr(SCORES), atol=TOLERANCE)


@pytest.mark.parametrize(
    "distribution",
    [
        elicit("student-t", {"df": 0.05, "median": 1.0, "scale": 1.0}),
        elicit("student-t", {"df": 1e-3, "median": 1.0, "scale": 1.0}),
        elicit("student-t", {"df": 0.1, "median": 0.0, "scale": 1e200}),
        elicit("student-t", {"df": 0.03, "median": 0.0, "scale": 1.0, "truncate": (0.0, math.inf)}),
        elicit(
            "mixture",
            {
                "components": (elicit("student-t", {"df": 0.03, "p10": 1.0, "p90": 2.0}), _normal()[0]),
                "odds": (1.0, 9.0),
            },
        ),
    ],
    ids=["df 0.05", "df 0.001", "scale 1e200", "truncated from below", "in a mixture"],
)
def test_what_float64_cannot_hold_is_refused(distribution: Distribution) -> None:
    """Draws that would overflow are refused with what is possible, and without a warning."""
    with pytest.raises(ElicitationError, match="exceed 1e308") as caught:
        distribution.sampling_form()
    assert "df = 0.06" in str(caught.value.expected)


@pytest.fixture
def few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that run out of cells soon; where the module is, its package has the function of that name."""
    monkeypatch.setattr(sys.modules["uncertain_botec.distributions.tabulate"], "MOST_CELLS", 80)


@pytest.mark.usefixtures("few_cells")
def test_a_table_that_misses_is_refused() -> None:
    """Where cells run out before the table is right there is no table, and the message says how far it would miss."""
    mixture = elicit("mixture", {"components": (_gamma(0.08)[0], _normal()[0]), "weights": (0.5, 0.5)})
    with pytest.raises(ElicitationError, match="crowds around single points") as caught:
        mixture.sampling_form()
    missed = float(str(caught.value.got).split("by ")[1].split(" ")[0])
    assert TOLERANCE < missed < 1.0


@pytest.mark.parametrize("root", [0.0, 1e-250, -1e-250, 1e-20, -3.0, 0.7, 1e200])
def test_roots_of_any_magnitude(root: float) -> None:
    """A root is found to 15 digits in a bracket of both signs, however much smaller it is than the bracket."""

    def steep(x: np.ndarray) -> np.ndarray:
        return np.cbrt(x) - np.cbrt(root)

    found = find_roots(steep, np.array([-5.0]), np.array([1e250]))
    assert found[0] == pytest.approx(root, rel=1e-14, abs=1e-299)


def test_gamma_below_the_smallest_number() -> None:
    """A gamma of shape 0.001 puts half its mass below 1e-300, which is drawn as 0; the rest is scipy's."""
    form = elicit("gamma", {"shape": 1e-3, "scale": 1.0}).sampling_form()
    x = form.quantile(level_of_z(SCORES))
    held = x > 1e-290
    np.testing.assert_allclose(gammainc(1e-3, x[held]), ndtr(SCORES[held]), atol=TOLERANCE)
    assert np.all(ndtr(SCORES[~held]) < gammainc(1e-3, 1e-289))
