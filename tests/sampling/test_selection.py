"""Selected quantiles against those of all draws sorted: the same to the last bit, whatever comes and in what order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from uncertain_botec.sampling.counting import count_on_host
from uncertain_botec.sampling.selection import WIDTH, BracketMissedError, Selector
from uncertain_botec.tallies import quantiles, standard_error

Floats = NDArray[np.floating[Any]]

LEVELS = (0.1, 0.5, 0.9)
PILOT = 1 << 10
SIZE = 1 << 14


def draws_of(kind: str, replicates: int = 16, size: int = SIZE) -> Floats:
    """Draws of some kind, of shape (replicates, size)."""
    rng = np.random.default_rng(7)
    shape = (replicates, size)
    normal = rng.standard_normal(shape)
    kinds: dict[str, Callable[[], Floats]] = {
        "lognormal": lambda: np.exp(normal),
        "wide": lambda: np.exp(3 * normal),
        "negative": lambda: -np.exp(normal),
        "constant": lambda: np.full(shape, 3.0),
        "few values": lambda: rng.integers(0, 5, shape).astype(float),
        "poisson": lambda: rng.poisson(30, shape).astype(float),
        # The median lies in the gap: as often below as above.
        "a gap": lambda: np.where(rng.random(shape) < 0.5, 1.0, 1e9) * np.exp(0.1 * normal),
        "a step and a slope": lambda: np.where(rng.random(shape) < 0.3, 1.0, 1 + np.exp(normal)),
        "a tenth infinite": lambda: np.where(rng.random(shape) < 0.1, np.inf, np.exp(normal)),
        "a tenth at the bottom": lambda: np.maximum(normal, -1.2815515655446004),
        "half infinite": lambda: np.where(rng.random(shape) < 0.5, np.inf, np.exp(normal)),
        "capped": lambda: np.minimum(normal, 1.2815515655446004),
        "infinite": lambda: np.full(shape, np.inf),
        "float32": lambda: np.exp(normal).astype(np.float32),
        "float32, ties": lambda: np.round(np.exp(normal), 2).astype(np.float32),
        "replicates apart": lambda: np.exp(normal) + np.arange(replicates)[:, None] / 20,
    }
    return kinds[kind]()


KINDS = (
    "lognormal",
    "wide",
    "negative",
    "constant",
    "few values",
    "poisson",
    "a gap",
    "a step and a slope",
    "a tenth infinite",
    "a tenth at the bottom",
    "half infinite",
    "capped",
    "infinite",
    "float32",
    "float32, ties",
    "replicates apart",
)


def feed(selector: Selector, values: Floats) -> None:
    """One chunk, counted with the selector's present thresholds."""
    codes = np.zeros(values.shape, np.uint8)
    for low, high in zip(*selector.thresholds(), strict=True):
        codes += (values >= low).astype(np.uint8) + (values > high).astype(np.uint8)
    selector.add(count_on_host(values, codes, selector.brackets, []))


def selected(
    values: Floats, chunks: int = 4, processes: int = 1, levels: Sequence[float] = LEVELS, width: float = WIDTH
) -> Selector:
    """A selector that was fed in stages, each as long as all before it, by so many processes."""
    team = [Selector(levels, values[:, :PILOT], width) for _ in range(processes)]
    done = PILOT
    while done < values.shape[1]:
        stage = np.array_split(values[:, done : 2 * done], chunks, axis=1)
        for rank, selector in enumerate(team):
            for part in stage[rank::processes]:
                feed(selector, part)
        taken = [selector.take() for selector in team]
        done *= 2
        for selector in team:
            for one in taken:
                selector.absorb(one)
            selector.shrink(done)
    # Whoever is asked says the same.
    for other in team[1:]:
        assert_says(other, team[0].quantiles(done), done)
    return team[0]


def assert_says(selector: Selector, expected: tuple[Floats, Floats], size: int) -> None:
    """Fail unless the quantiles are these to the last bit, over all replicates and of each."""
    for found, wanted in zip(selector.quantiles(size), expected, strict=True):
        assert found.dtype == np.float64
        assert np.array_equal(found, wanted)


def sorted_out(values: Floats, levels: Sequence[float] = LEVELS) -> tuple[Floats, Floats]:
    """The quantiles of all replicates together, and of each, by sorting."""
    each = quantiles(np.sort(values, axis=1), list(levels))
    return quantiles(np.sort(values, axis=None), list(levels), len(values)), each


def held(selector: Selector) -> int:
    """Entries that are kept: draws, or values with how often they came."""
    return len(selector._inside.values)


# --- the same as sorting ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_quantiles_are_those_of_sorted_draws(kind: str) -> None:
    """After 16 times as many draws as the brackets were taken from, every quantile is the order statistic itself."""
    values = draws_of(kind)
    assert_says(selected(values), sorted_out(values), SIZE)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("heap", [math.inf, 100.0, -100.0])
def test_brackets_hold_where_a_heap_begins(heap: float, part: float, seed: int) -> None:
    """A quantile between a heap, at the top or at the bottom, and the last of the other values needs no second look."""
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((16, SIZE)) < part, heap, rng.standard_normal((16, SIZE)))
    assert_says(selected(values), sorted_out(values), SIZE)


@pytest.mark.parametrize("kind", KINDS)
def test_estimates_are_the_quantiles_with_their_errors(kind: str) -> None:
    """The same quantiles, and errors that are the spread of the replicates' own where this is more than a draw."""
    values = draws_of(kind)
    found, errors = selected(values).estimates(SIZE)
    expected, each = sorted_out(values)
    assert np.array_equal(found, expected)
    spread = standard_error(each, axis=0)
    # The same spread, but added up in the order in which it lies in memory.
    assert np.all(errors >= spread * (1 - 1e-12))
    if kind in ("lognormal", "wide", "negative", "float32", "replicates apart"):
        np.testing.assert_allclose(errors, spread, rtol=1e-12)


@pytest.mark.parametrize("chunks", [1, 7, 500])
@pytest.mark.parametrize("kind", ["lognormal", "poisson", "infinite"])
def test_chunks_do_not_matter(kind: str, chunks: int) -> None:
    """Stages in one piece, in pieces of any length or of a draw or two: the same."""
    values = draws_of(kind)
    assert_says(selected(values, chunks), sorted_out(values), SIZE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("processes", [2, 3])
def test_processes_do_not_matter(kind: str, processes: int) -> None:
    """Two and three that count a part each, and exchange what they have, all say what one would."""
    values = draws_of(kind)
    assert_says(selected(values, chunks=5, processes=processes), sorted_out(values), SIZE)


@pytest.mark.parametrize("kind", KINDS)
def test_one_replicate(kind: str) -> None:
    """Without others to tell how its ranks vary, they are taken to vary as those of independent draws."""
    values = draws_of(kind, replicates=1)
    assert_says(selected(values), sorted_out(values), SIZE)


@pytest.mark.parametrize("kind", ["lognormal", "poisson", "a gap"])
def test_sorted_stages(kind: str) -> None:
    """Draws that rise within every stage, so that chunks differ as much as they can, are selected as well."""
    values = draws_of(kind)
    done = PILOT
    values[:, :done].sort(axis=1)
    while done < SIZE:
        values[:, done : 2 * done].sort(axis=1)
        done *= 2
    assert_says(selected(values, 16), sorted_out(values), SIZE)


@pytest.mark.parametrize(
    "levels", [(0.5,), (0.499, 0.5, 0.501), (0.001, 0.01, 0.99, 0.999), tuple(np.arange(1, 20) / 20)]
)
@pytest.mark.parametrize("kind", ["lognormal", "poisson", "a gap"])
def test_other_levels(kind: str, levels: tuple[float, ...]) -> None:
    """One level, levels that share a bracket, extreme and many ones."""
    values = draws_of(kind)
    assert_says(selected(values, levels=levels), sorted_out(values, levels), SIZE)


def test_more_waits_than_is_held_back() -> None:
    """Chunks of a constant add up to more than a million draws inside one bracket, counted to the last."""
    values = np.full((4, 1 << 19), 2.0)
    selector = selected(values)
    assert_says(selector, sorted_out(values), values.shape[1])
    assert held(selector) == 4


def test_levels_close_together_share_a_bracket() -> None:
    """Brackets never overlap; thresholds fill up to as many as there are levels, with some that nothing reaches."""
    values = draws_of("lognormal")
    apart, together = (Selector(levels, values[:, :PILOT]) for levels in (LEVELS, (0.499, 0.5, 0.501)))
    assert (apart.brackets, together.brackets) == (3, 1)
    lows, highs = together.thresholds()
    assert len(lows) == len(highs) == 3
    assert np.isnan(lows[1:]).all()
    assert np.isposinf(highs[1:]).all()


# --- what is held -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "values_at_most"), [("constant", 1), ("few values", 5), ("infinite", 1)])
def test_few_values_take_no_room(kind: str, values_at_most: int) -> None:
    """An output of few values is held as these with their counts, for each replicate and bracket that they are in."""
    selector = selected(draws_of(kind))
    assert held(selector) <= 16 * values_at_most * selector.brackets


def test_brackets_shrink() -> None:
    """Of independent draws ranks vary as their square root: four times as many draws hold about twice as many."""
    values = draws_of("lognormal", size=1 << 17)
    found = {size: held(selected(values[:, :size])) for size in (1 << 13, 1 << 15, 1 << 17)}
    for size, count in found.items():
        # Three brackets, each 16 standard deviations of a replicate's rank wide, of all replicates; no deviation is
        # that of one level, 1/2 at most, and it is estimated from 16 replicates.
        assert count < 3 * 16 * 0.5 * np.sqrt(size) * 16 * 1.5
    ratios = [found[4 * size] / found[size] for size in (1 << 13, 1 << 15)]
    assert np.all(np.abs(np.log2(ratios) - 1) < 0.7)
    assert found[1 << 17] < 0.06 * values.size


# --- brackets that miss -----------------------------------------------------------------------------------------------


def test_what_lies_outside_its_bracket_is_noticed() -> None:
    """Later draws that differ from the pilot move the quantiles out of the brackets: an error, not a wrong number."""
    values = draws_of("lognormal")
    selector = Selector(LEVELS, values[:, :PILOT])
    feed(selector, values[:, PILOT : 2 * PILOT] * 4)
    selector.absorb(selector.take())
    with pytest.raises(BracketMissedError):
        selector.quantiles(2 * PILOT)
    with pytest.raises(BracketMissedError):
        selector.shrink(2 * PILOT)


@pytest.mark.parametrize("width", [0.0, 0.1])
def test_narrow_brackets_miss_or_are_right(width: float) -> None:
    """With brackets far too narrow whatever is said is still true, and some seed says that it missed."""
    missed = 0
    for seed in range(20):
        values = np.random.default_rng(seed).lognormal(size=(16, 4 * PILOT))
        selector = Selector(LEVELS, values[:, :PILOT], width)
        feed(selector, values[:, PILOT:])
        selector.absorb(selector.take())
        try:
            found = selector.quantiles(4 * PILOT)
        except BracketMissedError:
            missed += 1
        else:
            for one, wanted in zip(found, sorted_out(values), strict=True):
                assert np.array_equal(one, wanted)
    assert missed > 0


def test_one_replicate_that_lies_apart() -> None:
    """A bracket has to hold every replicate's quantile: one replicate elsewhere widens it rather than being lost."""
    values = draws_of("lognormal")
    values[3] *= 50
    assert_says(selected(values), sorted_out(values), SIZE)
