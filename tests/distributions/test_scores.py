"""Normal scores of the sampling forms: the inverse of their quantile functions, in numpy and in jitted JAX."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from distribution_cases import BY_NAME, CASES, Case
from scipy.special import ndtr, ndtri
from score_kernels import LENGTH, SMOOTH, density, derivative_of, over_routes, over_smooth, over_tables, score_of

from uncertain_botec.distributions import elicit, level_of_z
from uncertain_botec.distributions.bounded import LogUniform, Triangular, Uniform
from uncertain_botec.distributions.level import ascending_cell, score_of_tails
from uncertain_botec.distributions.normal import Fixed, LogNormal
from uncertain_botec.distributions.tabulate import Tabulated, _polynomial, _root
from uncertain_botec.distributions.truncated import Truncated
from uncertain_botec.distributions.weighted import Empirical

SCORES = np.linspace(-6.0, 6.0, LENGTH)
TOLERANCE = 1e-9
NOT_SMOOTH = {
    "poisson 0.001", "poisson 3.5", "poisson 1e6", "poisson 1e12", "negative-binomial", "negative-binomial tight",
    "negative-binomial 1e12", "choice", "mixture with a point", "mixture of counts", "empirical",
}  # fmt: skip


def _resolution(case: Case, x: np.ndarray) -> np.ndarray:
    """How far a computed quantile may be from the true one by rounding alone.

    Four ulp; where it is the exponential of a rounded logarithm that many more, and where it is measured from the
    other end of the support those of that end.
    """
    if case.family == "loguniform":
        return (4.0 + np.abs(np.log(x))) * np.spacing(x)
    if case.family == "triangular":
        return np.full_like(x, 4.0 * np.spacing(max(np.abs(case.distribution.support))))
    return 4.0 * np.spacing(np.abs(x))


def _exact_score(distribution: Any, x: np.ndarray) -> np.ndarray:
    return score_of_tails(distribution.cdf(x), distribution.sf(x))


def test_what_has_points_of_mass_is_not_smooth() -> None:
    """Counts, points, samples and their mixtures have no score; a sampling form says what its distribution does."""
    assert {case.name for case in CASES if not case.distribution.smooth} == NOT_SMOOTH
    assert not Fixed(1.0).smooth
    for case in CASES:
        assert case.distribution.sampling_form().smooth is case.distribution.smooth


def test_truncation_can_cut_a_point_of_mass_away() -> None:
    """A mixture with a point at 0 is smooth above it and not from it on; a sample is smooth between its ends."""
    mixture = BY_NAME["mixture with a point"].distribution
    assert Truncated(mixture, 0.5, math.inf).smooth
    assert not Truncated(mixture, 0.0, 5.0).smooth
    assert Truncated(Empirical((1.0, 2.0, 4.0)), 1.5, 3.0).smooth


@over_routes
@over_smooth
def test_score_inverts_the_quantile_function(case: Case, route: str) -> None:
    """score(quantile(z)) is z to 1e-9 within |z| <= 6, if the value is known to rounding."""
    form = case.distribution.sampling_form()
    x = form.quantile(level_of_z(SCORES))
    slack = _resolution(case, x)
    assert np.all(score_of(route, form, x - slack) <= SCORES + TOLERANCE)
    assert np.all(score_of(route, form, x + slack) >= SCORES - TOLERANCE)


@over_tables
def test_every_cell_of_a_table_is_inverted(case: Case) -> None:
    """However narrow or bent a cell within |z| <= 6 is, and right up to its edges, score(quantile(z)) is z to 1e-9."""
    form = case.distribution.sampling_form()
    z = form.edges[:, None] + np.array([1e-6, 0.1, 0.5, 0.9, 1 - 1e-6]) / form.inverse_widths[:, None]
    z = z[np.abs(z) <= 6.0]
    x = form.quantile(level_of_z(z))
    slack = _resolution(case, x)
    assert np.all(form.score(x - slack) <= z + TOLERANCE)
    assert np.all(form.score(x + slack) >= z - TOLERANCE)


@pytest.mark.parametrize(
    "slopes", [(0.1, 0.0, 0.0, 0.0, 1.0), (5.1, -10.0, 10.0, -5.0, 1.0), (0.3, -0.9, 1.0, 0.0, 0.0)]
)
def test_bent_cells_are_solved_to_rounding(slopes: tuple[float, ...]) -> None:
    """A polynomial whose slope varies fiftyfold, at its ends or in between, is inverted to 1e-12 of the cell."""
    t = np.linspace(0.0, 1.0, 1001)
    rows = [np.full_like(t, slope) for slope in slopes]
    np.testing.assert_allclose(_root(rows, _polynomial(rows, t)), t, atol=1e-12)


@pytest.mark.parametrize("name", ["normal", "lognormal", "logit-normal", "jqpd bounded", "jqpd half-bounded"])
def test_scores_by_formula_need_no_allowance(name: str) -> None:
    """Where no end of the support is near, score(quantile(z)) is z to 1e-13 in the kernel."""
    form = BY_NAME[name].distribution
    np.testing.assert_allclose(score_of("jax", form, form.quantile(level_of_z(SCORES))), SCORES, atol=1e-13)


@over_routes
@pytest.mark.parametrize("case", [c for c in SMOOTH if c.oracle], ids=lambda case: case.name)
def test_probability_of_the_score_is_scipys(case: Case, route: str) -> None:
    """Phi(score(x)) is an independent implementation's P(X <= x) to 1e-9 of the smaller tail, but for rounding.

    Rounding is two ulp of x, and 1e-15 in probability, which is what scipy leaves of a tail that it takes from one.
    """
    oracle = case.oracle()
    x = oracle.ppf(ndtr(SCORES)) if case.family != "student-t" else case.distribution.quantile(level_of_z(SCORES))
    x = x[np.isfinite(x)]
    score = score_of(route, case.distribution.sampling_form(), x)
    slack = 2.0 * np.spacing(np.abs(x))
    allowed = 1e-8 if isinstance(case.distribution.sampling_form(), Tabulated) else TOLERANCE
    for own, low, high in (
        (ndtr(score), oracle.cdf(x - slack), oracle.cdf(x + slack)),
        (ndtr(-score), oracle.sf(x + slack), oracle.sf(x - slack)),
    ):
        assert np.all((low * (1.0 - allowed) - 1e-15 <= own) & (own <= high * (1.0 + allowed) + 1e-15))


@over_routes
@over_tables
def test_score_of_a_table_is_that_of_the_exact_tails(case: Case, route: str) -> None:
    """As the table itself: to 1e-9 in the score or else in probability, if x is known to four ulp."""
    distribution = case.distribution
    x = distribution.quantile(level_of_z(SCORES))
    # Nearer to an end than float64 resolves, a value is the end, which has no finite score.
    inside = (x > distribution.support[0]) & (x < distribution.support[1])
    x, z = x[inside], SCORES[inside]
    slack = 4.0 * np.spacing(np.abs(x))
    score = score_of(route, distribution.sampling_form(), x)
    low, high = _exact_score(distribution, x - slack), _exact_score(distribution, x + slack)
    missed = np.maximum(np.maximum(low - score, score - high), 0.0)
    assert np.all((missed < TOLERANCE) | (missed * density(z) < TOLERANCE))


@over_routes
@pytest.mark.parametrize("distance", [1e-12, 1e-6, 1e-3])
def test_both_tails_keep_their_relative_precision(route: str, distance: float) -> None:
    """A small distance from either end, the score of the closed form of the small tail is met to 1e-12."""
    d = distance
    falls, rises = Triangular(0.0, 0.0, 1.0), Triangular(-1.0, 0.0, 0.0)
    for form, x, tail in (
        (Uniform(0.0, 4.0), 4.0 * d, d),
        (LogUniform(1.0, 1e4), 1.0 + d, math.log1p((1.0 + d) - 1.0) / math.log(1e4)),
        (LogUniform(1e-4, 1.0), 1.0 - d, math.log1p((1.0 - d) - 1.0) / math.log(1e4)),
        (Triangular(0.0, 1.0, 4.0), d, d * d / 4.0),
        (Triangular(-4.0, -1.0, 0.0), -d, -d * d / 4.0),
        # F(x) = 1 - (1 - x)^2 next to the mode, and its mirror image.
        (falls, d, d * (2.0 - d)),
        (rises, -d, -d * (2.0 - d)),
    ):
        score = math.copysign(float(ndtri(abs(tail))), -tail)
        assert score_of(route, form, np.array([x]))[0] == pytest.approx(score, rel=1e-12)


@over_routes
def test_loguniform_over_hundreds_of_orders_of_magnitude(route: str) -> None:
    """Where the ratio of the ends is beyond float64, P(X <= 10^k) is still the share of the exponents."""
    k = np.linspace(-199.0, 199.0, 200)
    score = score_of(route, LogUniform(1e-200, 1e200), 10.0**k)
    np.testing.assert_allclose(score, ndtri((k + 200.0) / 400.0), atol=1e-12)


@over_smooth
def test_score_never_falls(case: Case) -> None:
    """A larger value has no smaller score, but for rounding, in the table and beyond its ends."""
    form = case.distribution.sampling_form()
    x = np.unique(form.quantile(level_of_z(np.linspace(-6.5, 6.5, 20_001))))
    low, high = np.maximum(form.support[0], x[0] - 10 * np.ptp(x)), np.minimum(form.support[1], x[-1] + 10 * np.ptp(x))
    x = np.concatenate((np.linspace(low, x[0], 100), x, np.linspace(x[-1], high, 100)))
    score = form.score(x)
    with np.errstate(invalid="ignore"):  # two infinities have no difference
        assert not np.any(np.diff(score) < -1e-12 * (1.0 + np.abs(score[1:])))


@over_smooth
def test_float32_agrees_with_float64(case: Case) -> None:
    """From P1 to P99 a float32 kernel is finite, and within 1e-4 of float64 if x is known to eight ulp."""
    form = case.distribution.sampling_form()
    z = np.linspace(-2.3, 2.3, 99)
    x = np.asarray(form.quantile(level_of_z(z)), np.float32)
    inside = (x > np.float32(form.support[0])) & (x < np.float32(form.support[1]))
    x, slack = x[inside], np.float64(8.0 * np.spacing(np.abs(x[inside])))
    score, derivative = score_of("jax", form, x, np.float32), derivative_of(form, x, np.float32)
    assert np.all(np.isfinite(score) & np.isfinite(derivative))
    assert np.all(form.score(x - slack) - 1e-4 <= score)
    assert np.all(score <= form.score(x + slack) + 1e-4)


@over_routes
@pytest.mark.parametrize("share", [0.5, 0.3, 1e-6])
def test_score_is_constant_over_a_gap(route: str, share: float) -> None:
    """Between far-apart components the score is that of the lower one's weight, to 1e-9 in it or in probability."""
    parts = tuple(elicit("normal", {"mean": mean, "sd": 1.0}) for mean in (1.0, 1e11))
    form = elicit("mixture", {"components": parts, "weights": (share, 1.0 - share)}).sampling_form()
    x = np.concatenate((np.geomspace(60.0, 9e10, 50), 1e11 - np.geomspace(1e10, 60.0, 50)))
    score = score_of(route, form, x)
    missed = np.abs(score - ndtri(share))
    assert np.all((missed < TOLERANCE) | (np.abs(ndtr(score) - share) < TOLERANCE))
    rate = density(score) * derivative_of(form, x)
    assert np.all(rate >= 0.0)
    assert np.trapezoid(rate, x) < TOLERANCE


def test_cumulative_probabilities_take_plain_numbers() -> None:
    """cdf and sf of a distribution with a score take Python floats, whole numbers and lists."""
    lognormal = LogNormal(2.0, 1.0)
    assert lognormal.cdf(2.0) == lognormal.sf(2) == 0.5
    np.testing.assert_array_equal(Uniform(0.0, 4.0).cdf([-1, 1, 5]), [0.0, 0.25, 1.0])
    np.testing.assert_array_equal(Uniform(0.0, 4.0).sf([-1, 1, 5]), [1.0, 0.75, 0.0])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9])
def test_place_among_ascending_values(count: int) -> None:
    """It is numpy's own, for any number of values, with ties, and beyond the last."""
    values = np.sort(np.random.default_rng(count).integers(0, 4, count)).astype(float)
    x = np.array([-math.inf, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, math.inf])
    np.testing.assert_array_equal(ascending_cell(values, x), np.searchsorted(values, x, side="right"))
