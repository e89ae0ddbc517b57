"""Counting a chunk: by NumPy, by the device's own reductions, and by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from uncertain_botec.sampling.counting import Counted, count_on_device, count_on_host

Floats = NDArray[np.floating[Any]]
Codes = NDArray[np.uint8]

SHAPE = (16, 4096)
LEVELS = (0.1, 0.5, 0.9)


def chunk(kind: str, shape: tuple[int, int] = SHAPE) -> Floats:
    """Draws of some kind."""
    rng = np.random.default_rng(5)
    values = {
        "continuous": lambda: rng.lognormal(0, 1, shape),
        "atoms": lambda: rng.integers(0, 5, shape).astype(float),
        "infinite": lambda: np.where(rng.random(shape) < 0.3, np.inf, rng.lognormal(0, 1, shape)),
        "only infinite": lambda: np.full(shape, np.inf),
        "negative": lambda: -rng.lognormal(0, 1, shape),
        "float32": lambda: rng.lognormal(0, 1, shape).astype(np.float32),
    }
    return np.asarray(values[kind]())


def brackets_of(values: Floats, width: float) -> list[tuple[float, float]]:
    """An interval of some probability around each quantile of the finite draws, apart from one another."""
    finite = np.sort(values[np.isfinite(values)])
    if not finite.size:
        return [(0.0, 1.0), (2.0, np.inf)]
    ends = [np.quantile(finite, [level - width / 2, level + width / 2], method="nearest") for level in LEVELS]
    apart = [ends[0]]
    for one in ends[1:]:
        if one[0] > apart[-1][1]:
            apart.append(one)
    return [(float(low), float(high)) for low, high in apart]


def codes_of(values: Floats, brackets: Sequence[tuple[float, float]]) -> Codes:
    """How many thresholds each draw has come to; three pairs, of which nothing reaches those that fill up."""
    lows, highs = np.array([*brackets, *[(math.nan, math.inf)] * (3 - len(brackets))], values.dtype).T
    with np.errstate(invalid="ignore"):
        return np.asarray(
            sum((values >= low).astype(np.uint8) + (values > high) for low, high in zip(lows, highs, strict=True)),
            np.uint8,
        )


def by_hand(values: Floats, brackets: Sequence[tuple[float, float]], marks: Sequence[float]) -> Counted:
    """The same from the definitions, one replicate and one bracket after the other."""
    inside, where = [], []
    for replicate, row in enumerate(values):
        for value in row:
            for bracket, (low, high) in enumerate(brackets):
                if low <= value <= high:
                    inside.append(value)
                    where.append(replicate * len(brackets) + bracket)
    finite = [row[np.isfinite(row)] for row in values]
    return Counted(
        np.array([math.fsum(row) for row in finite]),
        np.array([len(row) for row in finite]),
        float(values.min()),
        np.array(
            [[[sum(row <= mark) for row in values], [sum(row < mark) for row in values]] for mark in marks]
        ).reshape(len(marks), 2, len(values)),
        np.array([[sum(row < low) for low, _ in brackets] for row in values]).reshape(len(values), len(brackets)),
        np.array(inside, values.dtype),
        np.array(where, np.int32),
    )


def same(one: Counted, other: Counted, sums: float) -> None:
    """Fail unless both say the same to the last bit, and sums within a relative error."""
    np.testing.assert_allclose(one.sums, other.sums, rtol=sums)
    assert one.lowest == other.lowest
    for field in ("finite", "shares", "below", "inside", "where"):
        mine, theirs = getattr(one, field), getattr(other, field)
        assert mine.shape == theirs.shape, field
        assert np.array_equal(mine, theirs), field
    assert one.inside.dtype == other.inside.dtype


KINDS = ("continuous", "atoms", "infinite", "only infinite", "negative", "float32")


@pytest.mark.parametrize("kind", KINDS)
def test_the_host_counts_as_defined(kind: str) -> None:
    """Every field is what its description says, found by looking at one draw after the other."""
    values = chunk(kind, (3, 301))
    brackets, marks = brackets_of(values, 0.05), [float(values[0, 0]), 1.0]
    same(
        count_on_host(values, codes_of(values, brackets), len(brackets), marks), by_hand(values, brackets, marks), 1e-13
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_device_counts_as_the_host(kind: str) -> None:
    """All counts, and the draws inside brackets in their order, are the host's to the last bit."""
    values = chunk(kind)
    brackets, marks = brackets_of(values, 0.005), [float(values[0, 0]), 1.0, -np.inf, np.inf]
    codes = codes_of(values, brackets)
    host, device = (count(values, codes, len(brackets), marks) for count in (count_on_host, count_on_device))
    same(device, host, 1e-13)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (3, 5), (2, 8), (5, 129), (16, 1000)])
def test_any_size(shape: tuple[int, int]) -> None:
    """Chunks whose size no eight divides are counted to their last draw, on host and device."""
    values = chunk("continuous", shape)
    last = float(values[-1, -1])
    brackets = [(last, last)]
    codes = codes_of(values, brackets)
    assert codes[-1, -1] == 1
    expected = by_hand(values, brackets, [last])
    assert expected.inside[-1] == last
    for count in (count_on_host, count_on_device):
        same(count(values, codes, 1, [last]), expected, 1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_without_brackets_or_marks(kind: str) -> None:
    """With nothing to bracket there are no codes, and sums and counts are as ever."""
    values = chunk(kind)
    one, other = (count(values, None, 0, []) for count in (count_on_host, count_on_device))
    same(other, one, 1e-13)
    assert (one.shares.shape, one.below.shape, one.inside.size, one.where.size) == ((0, 2, 16), (16, 0), 0, 0)
    assert list(one.finite) == [np.isfinite(row).sum() for row in values]


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_more_draws_inside_than_there_is_room_for(extra: int) -> None:
    """One draw fewer than the device's room of a 32nd, as many, one more: nothing is lost."""
    values = chunk("continuous")
    room = values.size // 32
    ordered = np.sort(values, axis=None)
    brackets = [(float(ordered[1000]), float(ordered[1000 + room + extra - 1]))]
    codes = codes_of(values, brackets)
    host, device = (count(values, codes, 1, []) for count in (count_on_host, count_on_device))
    assert host.inside.size == room + extra
    same(device, host, 1e-13)


def test_all_draws_inside() -> None:
    """A constant fills its bracket, on host and device alike."""
    values = np.full(SHAPE, 3.0)
    for count in (count_on_host, count_on_device):
        one = count(values, codes_of(values, [(3.0, 3.0)]), 1, [3.0])
        assert (one.inside.size, one.below.sum(), one.lowest) == (values.size, 0, 3.0)
        assert np.array_equal(one.where, np.repeat(np.arange(16), SHAPE[1]))
        assert np.array_equal(one.shares[0], [[SHAPE[1]] * 16, [0] * 16])


@pytest.mark.parametrize(
    "count",
    [
        count_on_host,
        # Of jax 0.10.2; an accelerator's minimum is another matter, and CPUs count on the host.
        count_on_device,
    ],
)
def test_an_undefined_draw_shows(count: Any) -> None:
    """One nan among infinite draws makes the lowest nan, is no finite draw and lies inside no bracket."""
    values = chunk("infinite")
    values[3, 17] = np.nan
    brackets = brackets_of(values, 0.005)
    one = count(values, codes_of(values, brackets), len(brackets), [1.0])
    assert math.isnan(one.lowest)
    assert one.finite[3] == np.isfinite(values[3]).sum()
    assert not np.isnan(one.inside).any()
    assert np.isfinite(one.sums).all()


def test_sums_of_float32_do_not_drift() -> None:
    """A chunk of float32 is added up in float64: a million times 0.1 is right to 13 digits."""
    values = np.full((2, 1 << 20), 0.1, np.float32)
    for count in (count_on_host, count_on_device):
        np.testing.assert_allclose(count(values, None, 0, []).sums, float(np.float32(0.1)) * (1 << 20), rtol=1e-13)
