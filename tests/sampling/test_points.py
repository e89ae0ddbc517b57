"""Points: inside the open cube, evenly spread, reproducible, independent of each other, and better than Monte Carlo."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import norm, qmc

from uncertain_botec.errors import UsageError
from uncertain_botec.sampling import points as points_module
from uncertain_botec.sampling.points import (
    MAX_SIZE,
    SAMPLERS,
    LatticeStream,
    MonteCarloStream,
    PointSet,
    SobolStream,
    lattice_generators,
    point_set,
    uniforms,
)
from uncertain_botec.sampling.sobol import (
    KEYS,
    direction_numbers,
    random_direction_numbers,
    reverse_bits,
    scrambled_sobol,
)

QUASI = ("lattice", "sobol")
LEVELS = np.array([0.1, 0.5, 0.9])
BOUNDS = {8: 0.06, 32: 0.014, 256: 0.003}  # columns and the least rho ln(n) / n of their pairs
Cube = NDArray[np.floating[Any]]


@partial(jax.jit, static_argnums=2)
def _cube(streams: Any, index: jax.Array, dtype: Any) -> jax.Array:
    return jax.vmap(jax.vmap(lambda stream: uniforms(stream, index, dtype)))(streams)


def cube(points: PointSet, inputs: Sequence[tuple[str, int]], dtype: Any = np.float64) -> Cube:
    """The whole point set, shape (replicate, input, point)."""
    streams = [[points.stream(name, column, r) for name, column in inputs] for r in range(points.replicates)]
    rows = [jax.tree.map(lambda *leaves: np.stack(leaves), *row) for row in streams]
    with jax.enable_x64(dtype == np.float64), jax.numpy_dtype_promotion("strict"):
        index = jnp.arange(points.size, dtype=jnp.uint32)
        return np.asarray(_cube(jax.tree.map(lambda *leaves: np.stack(leaves), *rows), index, dtype))


def columns(*numbers: int) -> list[tuple[str, int]]:
    """Inputs named after their columns."""
    return [(f"x{number}", number) for number in numbers]


# --- layout -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sampler", "draws", "size"),
    [("lattice", 1, 2), ("sobol", 33, 4), ("lattice", 1 << 20, 1 << 16), ("monte-carlo", 1, 1), ("monte-carlo", 33, 3)],
)
def test_size_is_the_least_that_gives_the_draws(sampler: str, draws: int, size: int) -> None:
    """Lattices and Sobol points come in powers of two, Monte Carlo in any number, and never fewer than asked for."""
    points = point_set(sampler, draws, seed=0)
    assert (points.size, points.draws) == (size, 16 * size)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("halton", 1, 0), "monte-carlo"),
        (("lattice", 0, 0), "draws"),
        (("sobol", 16 * MAX_SIZE + 1, 0), "draws"),
        (("lattice", 1, -1), "seed"),
        (("lattice", 1, 0, 0), "replicates"),
    ],
)
def test_a_point_set_that_cannot_be_is_a_usage_error(arguments: tuple[Any, ...], word: str) -> None:
    """The error names what is wrong."""
    with pytest.raises(UsageError, match=word):
        point_set(*arguments)


def test_float64_without_64_bit_jax_is_refused() -> None:
    """Silently narrower points could be 1."""
    stream = point_set("lattice", 16, seed=0).stream("mfu", 0, 0)
    with jax.enable_x64(False), pytest.raises(ValueError, match="enable_x64"):
        uniforms(stream, jnp.arange(2, dtype=jnp.uint32), np.float64)


# --- the open unit interval -------------------------------------------------------------------------------------------

ALL, NONE = np.uint32(0xFFFFFFFF), np.uint32(0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "stream",
    [
        LatticeStream(step=np.array(1 << 4, dtype=np.uint32), shift=np.array([ALL, 0xFFFFF], dtype=np.uint32)),
        LatticeStream(step=np.array(1 << 31, dtype=np.uint32), shift=np.array([NONE, 1], dtype=np.uint32)),
        LatticeStream(step=np.array(0xFFFFFFF0, dtype=np.uint32), shift=np.array([0xF, 0xFFFFF], dtype=np.uint32)),
        SobolStream(directions=np.full(1, ALL), keys=np.zeros(KEYS, dtype=np.uint32)),
        SobolStream(directions=np.full(28, NONE), keys=np.full(KEYS, NONE)),
    ],
)
def test_extreme_bit_patterns_stay_inside(stream: Any, dtype: Any) -> None:
    """All bits set is below 1 and none set is above 0, in both precisions."""
    with jax.enable_x64(dtype == np.float64):
        index = jnp.array([0, 1, 2, MAX_SIZE - 1], dtype=jnp.uint32)
        u = np.asarray(uniforms(stream, index, dtype))
    assert u.dtype == dtype
    assert u.min() > 0
    assert u.max() < 1
    assert np.isfinite(ndtri(u)).all()


@pytest.mark.parametrize("bits", [NONE, ALL], ids=["none", "all"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_random_words_stay_inside(bits: np.uint32, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash of all zeros or all ones, which no test would meet by drawing, gives neither 0 nor 1."""
    monkeypatch.setattr(points_module, "_threefry", lambda _key, index: (jnp.full_like(index, bits),) * 2)
    with jax.enable_x64(dtype == np.float64):
        u = np.asarray(uniforms(MonteCarloStream(np.zeros(2, dtype=np.uint32)), jnp.zeros(1, dtype=jnp.uint32), dtype))
    edge = 2.0**-24 if dtype == np.float32 else 2.0**-53
    assert u[0] == (edge if bits == NONE else 1 - edge)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_many_float32_points_stay_inside(sampler: str) -> None:
    """Where plain float32 uniforms give 0 about twice and round up to 1, 2**24 points give neither."""
    u = cube(point_set(sampler, 1 << 24, seed=3, replicates=1), columns(7), np.float32)
    assert 0 < u.min() < 2.0**-20
    assert 1 - 2.0**-20 < u.max() < 1


def test_float64_points_are_odd_multiples_of_a_power_of_two() -> None:
    """Lattice points are exact: an odd multiple of 2**-52 at every index, so neither 0 nor 1 nor a rounding occurs."""
    scaled = cube(point_set("lattice", 1 << 18, seed=5), columns(0, 100, -1)) * 2.0**52
    assert (scaled % 2 == 1).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_float32_is_float64_in_fewer_bits(sampler: str) -> None:
    """Both precisions are the same points, half a float32 cell apart at most."""
    points = point_set(sampler, 1 << 16, seed=9)
    gap = cube(points, columns(3, -1)) - cube(points, columns(3, -1), np.float32)
    assert np.abs(gap).max() <= 2.0**-24


# --- evenness ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", QUASI)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_cell_holds_one_point(sampler: str, dtype: Any) -> None:
    """Every one of the n cells of width 1/n has one point of each replicate, so every dyadic interval its share."""
    points = point_set(sampler, 1 << 17, seed=11)
    u = cube(points, columns(0, 1, 77, 255, -1), dtype)
    cells = np.sort((u * points.size).astype(int), axis=-1)
    assert (cells == np.arange(points.size)).all()


@pytest.mark.parametrize("sampler", QUASI)
def test_runs_of_indices_are_evenly_spread(sampler: str) -> None:
    """A chunk of 2**12 indices covers each of 2**6 equal intervals about equally, though it is no whole point set."""
    u = cube(point_set(sampler, 1 << 22, seed=2), columns(0, 5, 60))[..., 3 << 12 : 4 << 12]
    counts = np.apply_along_axis(lambda row: np.bincount((row * 64).astype(int), minlength=64), -1, u)
    assert np.abs(counts / 64 - 1).max() < 0.25  # independent points: 0.5


def test_first_two_sobol_columns_are_a_net() -> None:
    """Elementary intervals of area 1/n hold one point each: a (0, m, 2)-net stays one under nested scrambling."""
    u = cube(point_set("sobol", 1 << 14, seed=4), columns(0, 1))
    for level in range(11):
        cells = (u[:, 0] * 2**level).astype(int) * 2 ** (10 - level) + (u[:, 1] * 2 ** (10 - level)).astype(int)
        assert (np.sort(cells, axis=-1) == np.arange(1024)).all()


def test_sobol_points_are_scipys() -> None:
    """With all keys zero the points are the Sobol points of Joe and Kuo in natural order."""
    expected = qmc.Sobol(256, scramble=False, bits=32).random_base2(10)
    index = jnp.arange(1024, dtype=jnp.uint32)
    gray = np.arange(1024) ^ (np.arange(1024) >> 1)  # SciPy's order
    for column in (0, 1, 2, 100, 255):
        words = scrambled_sobol(index, reverse_bits(direction_numbers(column)[:10]), np.zeros(KEYS, dtype=np.uint32))
        assert (np.asarray(words)[gray] * 2.0**-32 == expected[:, column]).all()


def test_random_direction_numbers_are_triangular() -> None:
    """Direction number k has its lowest set bit in place k, whatever the words: a (0, 1)-sequence."""
    numbers = random_direction_numbers(np.random.default_rng(0).integers(0, 1 << 32, 32, dtype=np.uint32))
    assert (numbers & -numbers == np.uint32(1) << np.arange(31, -1, -1, dtype=np.uint32)).all()
    assert len(np.unique(numbers)) == 32


def test_lattice_table_keeps_its_bounds() -> None:
    """256 odd generators, no pair of which has a Zaremba index far below n / ln n at any size from 2**8 to 2**28."""
    tool = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "lattice_table.py"))
    generators = lattice_generators()
    assert len(np.unique(generators)) == 256
    assert (generators % 2 == 1).all()
    for count, bound in BOUNDS.items():
        assert min(tool["worst_merit"](generators[:count], level) for level in range(8, 29)) > bound
    assert min(tool["zaremba_index"](generators[:1] * 0 + 7, 12)) == 7  # h = (7, -1)


@pytest.mark.parametrize(("a", "level"), [(1, 8), (93, 8), (233, 9), (377, 10), (511, 9)])
def test_zaremba_index_by_enumeration(a: int, level: int) -> None:
    """The continued fraction finds what trying every short dual vector finds."""
    tool = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "lattice_table.py"))
    n = 1 << level
    second = np.arange(1, n // 2 + 1)
    first = np.minimum(a * second % n, -a * second % n)
    expected = min(n, (np.maximum(first, 1) * second).min())
    assert tool["zaremba_index"](np.array([a], dtype=np.uint32), level) == expected


# --- scrambling -------------------------------------------------------------------------------------------------------


def test_scrambling_gives_every_two_points_owens_law() -> None:
    """Given where two points part, every bit of both is flipped independently of all others, over random keys.

    Two points of 4 digits that part after r digits share r + 1 flips and have 3 - r more each: all patterns of these
    are equally frequent, by a chi-square of each pair of points.
    """
    trials, digits = 1 << 16, 4
    keys = np.random.default_rng(8).integers(0, 1 << 32, (KEYS, trials), dtype=np.uint32)
    index = np.arange(1 << digits, dtype=np.uint32)
    unit = reverse_bits(np.uint32(1) << np.arange(31, 31 - digits, -1, dtype=np.uint32))
    scramble = jax.jit(jax.vmap(lambda i: scrambled_sobol(jnp.full(trials, i, dtype=jnp.uint32), unit, keys)))
    words = np.asarray(scramble(index)) >> np.uint32(32 - digits)  # digits most significant first
    plain = reverse_bits(index) >> np.uint32(32 - digits)
    flips = words ^ plain[:, None]
    statistics = []
    for one in range(1 << digits):
        for other in range(one):
            shared = digits - int(plain[one] ^ plain[other]).bit_length() + 1
            pattern = flips[one] << np.uint32(digits - shared) | flips[other] & np.uint32((1 << digits - shared) - 1)
            counts = np.bincount(pattern, minlength=1 << (2 * digits - shared))
            freedom = len(counts) - 1
            chi_square = ((counts - trials / len(counts)) ** 2).sum() / (trials / len(counts))
            statistics.append((chi_square - freedom) / np.sqrt(2 * freedom))
    assert max(statistics) < 6  # 120 chi-squares, skewed to the right


@pytest.mark.parametrize(("sampler", "power"), [("sobol", 3.0), ("lattice", 2.0)])
def test_variance_falls_fast_on_smooth_integrands(sampler: str, power: float) -> None:
    """From n to 16 n points the variance of the mean of u exp(u) falls as n**-3 (Sobol) or n**-2 (lattice)."""
    variances = []
    for size in (1 << 6, 1 << 10):
        u = cube(point_set(sampler, 256 * size, seed=1, replicates=256), columns(9))
        variances.append(((u * np.exp(u)).mean(axis=-1) - 1).var())
    assert np.log(variances[0] / variances[1]) / np.log(16) == pytest.approx(power, abs=0.25)


# --- moments, independence, seeds -------------------------------------------------------------------------------------


def test_monte_carlo_moments() -> None:
    """Mean, variance and the fraction below each decile agree with the uniform law: |z| < 5."""
    u = cube(point_set("monte-carlo", 1 << 20, seed=6), columns(2))
    assert abs(u.mean() - 1 / 2) < 5 * np.sqrt(1 / 12 / u.size)
    assert abs(((u - 1 / 2) ** 2).mean() - 1 / 12) < 5 * np.sqrt(1 / 180 / u.size)
    for level in np.arange(0.1, 1, 0.1):
        assert abs((u < level).mean() - level) < 5 * np.sqrt(level * (1 - level) / u.size)


def test_monte_carlo_is_fold_in() -> None:
    """The bits are those of jax.random.fold_in, one index at a time."""
    stream = point_set("monte-carlo", 64, seed=6).stream("mfu", 0, 3)
    assert isinstance(stream, MonteCarloStream)
    key = jax.random.wrap_key_data(jnp.asarray(stream.key), impl="threefry2x32")
    index = [0, 1, 2, 12345, MAX_SIZE - 1]
    words = [jax.random.key_data(jax.random.fold_in(key, i)) for i in index]
    expected = [((int(upper) << 20 | int(lower) >> 12) + 0.5) * 2.0**-52 for upper, lower in map(np.asarray, words)]
    with jax.enable_x64(True):
        u = np.asarray(uniforms(stream, jnp.array(index, dtype=jnp.uint32), np.float64))
    assert u.tolist() == expected


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("known", [True, False], ids=["vocabulary", "hashed"])
def test_names_and_replicates_are_independent(sampler: str, known: bool) -> None:
    """No two inputs and no two replicates are correlated, whether or not the names are known."""
    points = point_set(sampler, 1 << 18, seed=13)
    u = cube(points, [(f"x{k}", k if known else -1) for k in range(6)])
    bound = 4 / np.sqrt(u[:, 0].size) if sampler == "monte-carlo" else 1 / np.sqrt(u[:, 0].size)
    names = np.corrcoef(u.transpose(1, 0, 2).reshape(6, -1))
    assert np.abs(names - np.eye(6)).max() < bound
    first = u[:, :, 0].ravel()  # the randomisation itself, 96 values
    assert len(np.unique(first)) == 96
    assert abs(np.corrcoef(u[:8, :, 0].ravel(), u[8:, :, 0].ravel())[0, 1]) < 4 / np.sqrt(48)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_seeds(sampler: str) -> None:
    """Seed 0 is a seed: repeatable, and unlike seed 1 and the largest."""
    first, again, other, largest = (cube(point_set(sampler, 256, seed), columns(1)) for seed in (0, 0, 1, 2**63))
    assert (first == again).all()
    assert np.unique(np.stack([first, other, largest])).size == 3 * first.size


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_names_decide_not_columns_alone(sampler: str) -> None:
    """Two inputs that came to share a column would still differ."""
    u = cube(point_set(sampler, 1 << 12, seed=1), [("mfu", 4), ("price", 4)])
    assert (u[:, 0] != u[:, 1]).any(axis=-1).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_slice_is_the_slice_of_the_whole(sampler: str, dtype: Any) -> None:
    """Points depend on their index alone: chunks of odd sizes and a shuffled order give the same bits."""
    points = point_set(sampler, 1 << 14, seed=21)
    whole = cube(points, columns(6), dtype)[5, 0]
    stream = points.stream("x6", 6, 5)
    with jax.enable_x64(dtype == np.float64):
        for index in (np.arange(17, 300), np.random.default_rng(0).permutation(1 << 10), np.array([1023])):
            part = np.asarray(uniforms(stream, jnp.asarray(index, dtype=jnp.uint32), dtype))
            assert (part == whole[index]).all()


# --- accuracy ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_spread_over_replicates_is_the_standard_error(sampler: str) -> None:
    """Over 200 seeds, errors of a mean divided by their estimated standard errors follow Student's law with 15 df."""
    scores = []
    for seed in range(200):
        u = cube(point_set(sampler, 1 << 10, seed), columns(0, 1, 2))
        means = np.exp(u.sum(axis=1)).mean(axis=-1)
        scores.append((means.mean() - np.expm1(1) ** 3) / (means.std(ddof=1) / 4))
    squares = np.square(scores)
    assert abs(np.mean(scores)) < 5 * np.sqrt(15 / 13 / 200)
    assert abs(squares.mean() - 15 / 13) < 5 * np.sqrt((3 * 15**2 / (13 * 11) - (15 / 13) ** 2) / 200)


def log_cost(z: Cube) -> Cube:
    """Log training cost of five lognormal inputs, less its median without overhead; z has shape (..., input, point)."""
    mfu, parameters, price, overhead, tokens = np.moveaxis(z, -2, 0)
    return 0.02 * tokens + 0.1 * parameters - 0.12 * mfu + np.log1p(0.1 * np.exp(0.5 * overhead)) + 0.25 * price


def quantile_errors(y: Cube, truth: NDArray[np.float64]) -> float:
    """RMS error over replicates and over P10, P50 and P90."""
    return float(np.sqrt(((np.quantile(y, LEVELS, axis=-1).T - truth) ** 2).mean()))


@pytest.mark.parametrize("level", [14, 18])
def test_training_cost_quantiles(level: int) -> None:
    """P10, P50, P90 of the training cost: Monte Carlo errs as theory says, the others less than a third of that.

    The exact law: the overhead by Gauss-Hermite quadrature, the normal rest in closed form.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    centres, scale = np.log1p(0.1 * np.exp(0.5 * nodes)), np.sqrt(0.02**2 + 0.1**2 + 0.12**2 + 0.25**2)
    weights /= weights.sum()
    truth = np.array([brentq(lambda y, p=p: weights @ ndtr((y - centres) / scale) - p, -3, 3) for p in LEVELS])
    density = norm.pdf(truth[:, None], centres, scale) @ weights
    theory = np.sqrt((LEVELS * (1 - LEVELS) / 2**level / density**2).mean())
    errors = {}
    for sampler in SAMPLERS:
        u = cube(point_set(sampler, 16 << level, seed=7), columns(0, 1, 2, 3, 4))
        errors[sampler] = quantile_errors(log_cost(ndtri(u)), truth)
    assert 0.7 < errors["monte-carlo"] / theory < 1.4
    assert errors["lattice"] < theory / 3
    assert errors["sobol"] < theory / 3


@pytest.mark.parametrize("sampler", QUASI)
def test_random_subsets_of_columns(sampler: str) -> None:
    """Any 5 to 10 of 256 columns, summed with random weights: means err 4 times less than Monte Carlo, quantiles 1.5.

    Monte Carlo's errors are known in closed form: the sum y of normals is standard normal, exp(y / 2) is lognormal.
    """
    rng, size, truth = np.random.default_rng(2), 1 << 14, ndtri(LEVELS)
    quantile_theory = np.sqrt((LEVELS * (1 - LEVELS) / norm.pdf(truth) ** 2).mean() / size)
    mean_theory = np.sqrt(np.exp(1 / 4) * np.expm1(1 / 4) / size)
    ratios = []
    for seed in range(16):
        chosen = rng.choice(256, int(rng.integers(5, 11)), replace=False)
        weights = np.exp(rng.normal(0, 0.7, len(chosen)))
        z = ndtri(cube(point_set(sampler, 16 * size, seed), columns(*chosen)))
        y = np.einsum("k,rki->ri", weights / np.linalg.norm(weights), z)
        mean_error = np.sqrt(((np.exp(y / 2).mean(axis=-1) - np.exp(1 / 8)) ** 2).mean())
        ratios.append((quantile_errors(y, truth) / quantile_theory, mean_error / mean_theory))
    quantile_rms, mean_rms = np.sqrt(np.square(ratios).mean(axis=0))
    assert quantile_rms < 1 / 1.5
    assert mean_rms < 1 / 4
    assert np.max(ratios) < 1  # no subset is worse off than with Monte Carlo
