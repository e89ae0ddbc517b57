"""Quantile functions: exact, tabulated, in numpy and in jitted JAX, of every case in the table."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from distribution_cases import CASES, Case, tails_missed

from uncertain_botec.distributions import PYTREE_CLASSES, Level, level_of_u, level_of_z, tabulate
from uncertain_botec.distributions.level import level_of_tails
from uncertain_botec.distributions.normal import Fixed
from uncertain_botec.distributions.weighted import Mixture

SCORES = np.linspace(-5.99, 5.99, 2001)  # u from 1e-9 to 1 - 1e-9
P1_TO_P99 = np.arange(1, 100) / 100

over_cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
over_oracles = pytest.mark.parametrize("case", [c for c in CASES if c.oracle], ids=lambda case: case.name)


@jax.jit
def _quantile(form: Any, level: Level) -> Any:
    return form.quantile(level)


def _in_jax(form: Any, z: np.ndarray, dtype: type) -> np.ndarray:
    """The sampling form in a jitted kernel, its numbers traced and in the kernel's precision, as the engine runs it."""
    with jax.enable_x64(True):
        leaves = jax.tree.map(lambda leaf: np.asarray(leaf, dtype), form)
        score = jnp.asarray(z, dtype)
        return np.asarray(_quantile(leaves, Level(jax.scipy.special.ndtr(score), score)))


@pytest.fixture(scope="module", autouse=True)
def _registered() -> None:
    """The engine registers the sampling forms as pytrees when it is imported."""
    import uncertain_botec.sampling.engine  # noqa: F401


@over_oracles
def test_cumulative_probabilities_are_scipys(case: Case) -> None:
    """Both tails agree with an independent implementation to 1e-12, if x is known to two ulp."""
    oracle, distribution = case.oracle(), case.distribution
    tail = np.geomspace(1e-9, 0.5, 200)
    x = np.concatenate((oracle.ppf(tail), oracle.isf(tail)))
    slack = 0.0 if distribution.discrete else 2.0 * np.spacing(np.abs(x))
    for own, low, high in (
        (distribution.cdf(x), oracle.cdf(x - slack), oracle.cdf(x + slack)),
        (distribution.sf(x), oracle.sf(x + slack), oracle.sf(x - slack)),
    ):
        assert np.all((low - 1e-12 <= own) & (own <= high + 1e-12))


@over_oracles
def test_mean_and_sd_are_scipys(case: Case) -> None:
    """A moment with a closed form is the oracle's."""
    oracle, distribution = case.oracle(), case.distribution
    for own, other in ((distribution.mean(), oracle.mean()), (distribution.sd(), oracle.std())):
        assert math.isnan(own) or own == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize("name", ["choice", "mixture of kinds", "mixture of counts", "mixture far apart", "empirical"])
def test_weighted_moments_are_those_of_the_quantile_function(name: str) -> None:
    """The mean is the integral of the quantile function over u."""
    distribution = next(case.distribution for case in CASES if case.name == name)
    # Midpoints in u; the power tail of "mixture of kinds" leaves the most outside.
    x = distribution.sampling_form().quantile(level_of_u((np.arange(400_000) + 0.5) / 400_000))
    assert distribution.mean() == pytest.approx(x.mean(), rel=1e-4)
    if name != "mixture of kinds":
        assert distribution.sd() == pytest.approx(x.std(), rel=1e-3)


@over_cases
def test_quantile_inverts_the_cumulative_probability(case: Case) -> None:
    """icdf(cdf(x)) is x to 1e-9 on 1000 points of every continuous family."""
    distribution = case.distribution
    if distribution.discrete:
        x = np.unique(distribution.quantile(level_of_z(np.linspace(-5, 5, 1000))))
        # In the middle of an atom's own levels, so that no rounding decides.
        below, upto = distribution.cdf(x - np.maximum(0.5, np.spacing(x))), distribution.cdf(x)
        atoms = upto - below > 1e-12
        np.testing.assert_array_equal(distribution.quantile(level_of_u(0.5 * (below + upto)))[atoms], x[atoms])
        return
    x = distribution.quantile(level_of_z(np.linspace(-4.9, 4.9, 1000)))
    spread = np.ptp(x[100:-100])
    again = distribution.quantile(level_of_tails(distribution.cdf(x), distribution.sf(x)))
    held = distribution.cdf(x) < 1.0  # nearer to a bound than float64 resolves, both are the bound
    np.testing.assert_allclose(again[held], x[held], rtol=1e-9, atol=1e-12 * spread)


@over_cases
def test_sampling_form_is_accurate_in_numpy(case: Case) -> None:
    """The sampling form misses its level by less than 1e-8 from 1e-9 to 1 - 1e-9."""
    x = case.distribution.sampling_form().quantile(level_of_z(SCORES))
    assert tails_missed(case.distribution, x, SCORES).max() < 1e-8


@over_cases
def test_sampling_form_is_accurate_in_jax(case: Case) -> None:
    """The jitted float64 kernel misses its level by less than 1e-8 as well, with all parameters traced."""
    x = _in_jax(case.distribution.sampling_form(), SCORES, np.float64)
    assert x.dtype == np.float64
    assert tails_missed(case.distribution, x, SCORES).max() < 1e-8


@over_cases
def test_float32_agrees_with_float64(case: Case) -> None:
    """From P1 to P99 a float32 kernel is within 1e-5 of float64, relative to the value or to the spread near zero."""
    form = case.distribution.sampling_form()
    z = np.float64(np.float32(level_of_u(P1_TO_P99).z))
    single, double = _in_jax(form, z, np.float32), form.quantile(level_of_z(z))
    assert single.dtype == np.float32
    tolerance = 1e-5 * np.abs(double) + 1e-6 * np.ptp(double)
    if case.distribution.atoms() or case.distribution.discrete:
        # Next to a step the rounding of u may fall on its other side.
        near = [form.quantile(level_of_u(level_of_z(z).u + shift)) for shift in (-1e-6, 1e-6)]
        assert np.all((near[0] - tolerance <= single) & (single <= near[1] + tolerance))
    else:
        assert np.all(np.abs(single - double) <= tolerance)


@over_cases
def test_sampling_form_never_falls_and_stays_inside(case: Case) -> None:
    """Draws are finite, ordered and inside the support out to the last float64 below one and beyond."""
    low, high = case.distribution.support
    z = np.concatenate(([-40.0, -9.0], np.linspace(-8.2, 8.2, 20_001), [9.0]))
    x = case.distribution.sampling_form().quantile(level_of_z(z))
    assert np.all(np.isfinite(x))
    assert x.min() >= low
    assert x.max() <= high
    # Each value is known to rounding, so that two neighbours may swap by an ulp.
    assert np.all(np.diff(x) >= -np.spacing(np.abs(x[1:])))


@over_cases
def test_distributions_are_equal_by_value(case: Case) -> None:
    """A rebuilt distribution is the same dictionary key, so that its table is built once."""
    distribution = case.distribution
    again = dataclasses.replace(distribution)
    assert again == distribution
    assert hash(again) == hash(distribution)
    if not distribution.closed_form:
        assert again.sampling_form() is distribution.sampling_form()


@over_cases
def test_sampling_forms_are_registered(case: Case) -> None:
    """What a kernel is given is one of the classes that the engine registers, and has arrays for long lists."""
    form = case.distribution.sampling_form()
    assert isinstance(form, PYTREE_CLASSES)
    assert len(jax.tree.leaves(form)) <= 8


def test_no_two_classes_share_a_compiled_kernel() -> None:
    """Structures of different classes are unequal: JAX's own comparison of dataclasses leaves their class out."""
    forms = {type(case.distribution.sampling_form()): case.distribution.sampling_form() for case in CASES}
    forms[Fixed] = Fixed(1.0)
    assert set(forms) == set(PYTREE_CLASSES)
    for one, other in itertools.combinations(forms.values(), 2):
        assert jax.tree.structure(one) != jax.tree.structure(other)


@over_cases
def test_tables_stay_small(case: Case) -> None:
    """A table has some hundred cells, whatever the scale of its distribution."""
    form = case.distribution.sampling_form()
    assert len(getattr(form, "edges", ())) < 1000


def test_levels_are_nudged_inside() -> None:
    """u = 0 and u = 1 give finite draws."""
    level = level_of_u([0.0, 0.5, 1.0])
    assert np.all(np.isfinite(level.z))
    np.testing.assert_array_equal(level.u[1:], [0.5, 1.0 - 2.0**-53])


def test_a_point_mass_is_its_value_everywhere() -> None:
    """A value known exactly is drawn in the kernel's precision."""
    x = _in_jax(Fixed(2048.0), SCORES, np.float32)
    np.testing.assert_array_equal(x, np.full(len(SCORES), 2048.0, np.float32))


def test_atoms_of_a_mixture_are_drawn_exactly() -> None:
    """The share of an exactly known value is drawn as that value, at the end of the support and inside it."""
    mixture = Mixture(
        (Fixed(0.0), *(c.distribution for c in CASES if c.name == "lognormal"), Fixed(7.0)), (0.3, 0.5, 0.2)
    )
    u = (np.arange(100_000) + 0.5) / 100_000
    for x in (mixture.quantile(level_of_u(u)), tabulate(mixture).quantile(level_of_u(u))):
        assert np.mean(x == 0.0) == pytest.approx(0.3, abs=1e-5)
        assert np.mean(np.isclose(x, 7.0, rtol=1e-14)) == pytest.approx(0.2, abs=1e-5)
