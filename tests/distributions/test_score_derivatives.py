"""Derivatives of the normal scores, mapped parameters, and what happens outside of the support."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from distribution_cases import BY_NAME, Case
from score_kernels import LENGTH, density, derivative_of, over_smooth, run, score_of, slope, slope_backwards, value

from uncertain_botec.distributions import elicit, level_of_z
from uncertain_botec.distributions.bounded import LogUniform, Triangular, Uniform
from uncertain_botec.distributions.jqpd import JqpdBounded
from uncertain_botec.distributions.normal import LogNormal


@over_smooth
def test_derivative_is_the_slope_of_the_exact_probability(case: Case) -> None:
    """phi(score) times JAX's forward derivative of the score is the central difference of the exact cdf."""
    distribution = case.distribution
    z = np.linspace(-4.0, 4.0, 81)
    x = distribution.quantile(level_of_z(z))
    low, high = distribution.support
    gap = np.minimum(np.diff(x, prepend=-math.inf), np.diff(x, append=math.inf))
    step = 1e-3 * np.minimum(gap, np.minimum(x - low, high - x))
    resolved = step > 1e6 * np.spacing(np.abs(x))
    assert np.count_nonzero(resolved) > 20
    x, step = x[resolved], step[resolved]
    before, after = x - step, x + step
    lower = distribution.cdf(x) < 0.5
    rise = np.where(
        lower, distribution.cdf(after) - distribution.cdf(before), distribution.sf(before) - distribution.sf(after)
    )
    form = distribution.sampling_form()
    found = density(form.score(x)) * derivative_of(form, x)
    rate = rise / (after - before)
    # The slope of a probability that float64 rounds to 1e-16 of it is known to that over the step; in a gap it is 0.
    np.testing.assert_allclose(found, rate, rtol=1e-5, atol=1e-12 * rate.max())


@pytest.mark.parametrize(
    ("form", "joint"),
    [
        (Uniform(0.0, 1.0), 0.5),
        (LogUniform(1.0, 4.0), 2.0),
        (Triangular(0.0, 1.0, 4.0), 1.0),
        (JqpdBounded.of(0.1, (0.3, 0.5, 0.8), 0.0, 1.0), 0.5),
    ],
    ids=lambda value: getattr(value, "family", ""),
)
def test_derivative_is_whole_where_formulas_meet(form: Any, joint: float) -> None:
    """At the very point where the other tail or the other leg takes over, the derivative is its neighbours'."""
    derivative = derivative_of(form, np.array([joint - 1e-9, joint, joint + 1e-9]))
    np.testing.assert_allclose(derivative, derivative[1], rtol=1e-7)


def test_derivative_is_whole_where_cells_meet() -> None:
    """At the edges of a table's cells, and at the ends of the table, the derivative is that of the points around."""
    form = BY_NAME["student-t df 4"].distribution.sampling_form()
    at = np.append(form.edges, -form.edges[0])
    x, near, far = (form.quantile(level_of_z(z)) for z in (at, at - 1e-6, at + 1e-6))
    for other in (near, far):
        np.testing.assert_allclose(derivative_of(form, x), derivative_of(form, other), rtol=1e-4)


def test_score_and_derivative_of_one_kernel() -> None:
    """Where a kernel gives both, however the compiler rounds what they share, they are those of a kernel for each."""
    form = BY_NAME["gamma shape 151"].distribution.sampling_form()
    x = form.quantile(level_of_z(np.linspace(-6.0, 6.0, LENGTH)))
    with jax.enable_x64(True):
        pair = jax.jit(lambda form, x: jax.jvp(form.score, (x,), (jnp.ones_like(x),)))(form, jnp.asarray(x))
        score, derivative = (np.asarray(part) for part in pair)
    np.testing.assert_allclose(score, form.score(x), atol=1e-12)
    np.testing.assert_allclose(derivative, derivative_of(form, x), rtol=1e-12)


@over_smooth
def test_nothing_is_nan_anywhere(case: Case) -> None:
    """Outside the support the score lies beyond 38 standard deviations, and no derivative is nan or infinite."""
    form = case.distribution.sampling_form()
    low, high = form.support
    inner = form.quantile(level_of_z(np.linspace(-9.0, 9.0, 37)))
    ends = [end for end in (low, high) if math.isfinite(end)]
    x = np.array(
        [-math.inf, -1e290, -1e30, -1.0, 0.0, 1.0, 1e30, 1e290, math.inf, *inner]
        + [np.nextafter(end, to) for end in ends for to in (-math.inf, end, math.inf)]
        + [end + offset for end in ends for offset in (-1e9, -1.0, 1.0, 1e9)]
    )
    for route in ("numpy", "jax"):
        score = score_of(route, form, x)
        assert not np.any(np.isnan(score))
        assert np.all(score[x <= low] < -38.0)
        assert np.all(score[x >= high] > 38.0)
    for kernel in (slope, slope_backwards):
        derivative = run(kernel, form, x, np.float64)
        assert np.all(np.isfinite(derivative))
        assert np.all(derivative >= 0.0)


def test_table_goes_on_beyond_its_ends() -> None:
    """Between the table and infinity the score goes on rising, from 8.3 at the table's end and with its derivative."""
    form = BY_NAME["student-t df 4"].distribution.sampling_form()
    x = form.quantile(level_of_z(8.3)) * np.array([1.0, 1.0 + 1e-9, 1.01, 2.0, 10.0])
    for beyond in (x, 2.0 * form.origin - x):
        score = np.abs(score_of("jax", form, beyond))
        assert score[0] == pytest.approx(8.3, abs=1e-9)
        assert np.all(np.diff(score) > 0.0)
        rate = derivative_of(form, beyond)
        assert abs(score[1] - score[0]) == pytest.approx(rate[0] * abs(beyond[1] - beyond[0]), rel=1e-4)
        assert rate[1] == pytest.approx(rate[0], rel=1e-6)


@pytest.mark.parametrize(
    "forms",
    [
        (LogNormal(2.0, 0.5), LogNormal(1e24, 1.5), LogNormal(1e-3, 0.01)),
        tuple(
            JqpdBounded.of(0.1, values, 0.0, 1.0) for values in ((0.36, 0.43, 0.48), (0.1, 0.2, 0.9), (0.4, 0.5, 0.6))
        ),
        (Triangular(0.0, 1.0, 4.0), Triangular(0.0, 0.0, 2.0), Triangular(-1.0, 3.0, 3.0)),
    ],
    ids=lambda forms: forms[0].family,
)
def test_parameters_may_have_a_batch_axis(forms: tuple[Any, ...]) -> None:
    """Mapped over its parameters, a jitted score and its derivative are those of each member alone."""
    x = np.concatenate([form.quantile(level_of_z(np.linspace(-3, 3, 7))) for form in forms])
    with jax.enable_x64(True):
        batch = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf, jnp.float64) for leaf in leaves]), *forms)
        score, derivative = (np.asarray(jax.vmap(k, (0, None))(batch, jnp.asarray(x))) for k in (value, slope))
    for own, rate, form in zip(score, derivative, forms, strict=True):
        np.testing.assert_allclose(own, form.score(x), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(rate, derivative_of(form, x), rtol=1e-12)


def test_tables_may_have_a_batch_axis() -> None:
    """Tables with as many cells are mapped over as other parameters are."""
    forms = [elicit("gamma", {"shape": shape, "scale": 1.0}).sampling_form() for shape in (150.0, 151.0)]
    x = forms[0].quantile(level_of_z(np.linspace(-3, 3, 7)))
    with jax.enable_x64(True):
        batch = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *forms)
        score = np.asarray(jax.vmap(value, (0, None))(batch, jnp.asarray(x)))
    for own, form in zip(score, forms, strict=True):
        np.testing.assert_allclose(own, form.score(x), atol=1e-12)
