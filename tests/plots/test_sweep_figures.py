"""Sweeps: lines, surfaces and fronts of plain arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.plots.svg import NAMESPACE, corners, group, root, words
from uncertain_botec import plots
from uncertain_botec.plots.axes import Span, plain, span_of, text_width, ticks_of
from uncertain_botec.plots.sweeps import front_of

SIZES = [512.0, 1024.0, 2048.0, 4096.0]


def test_lines_are_where_the_numbers_are() -> None:
    """Along a doubling of the size P50 steps evenly to the right, and lies within its band."""
    half = [80.0, 40.0, 20.0, 10.0]
    figure = plots.sweep_lines(
        SIZES, [v / 2 for v in half], half, [v * 2 for v in half], x_label="n", y_label="days", limit=30.0
    )
    line = corners(figure, "p50")
    assert np.diff(line[:, 0]) == pytest.approx(np.full(3, np.diff(line[:, 0])[0]), abs=0.02)
    assert np.diff(line[:, 1]) == pytest.approx(np.full(3, np.diff(line[:, 1])[0]), abs=0.02)
    limit = corners(figure, "limit")[0, 1]
    assert (line[2, 1] - line[1, 1]) * math.log2(4 / 3) == pytest.approx(limit - line[1, 1], abs=0.02)
    band = corners(figure, "band")
    assert band[:, 1].min() < line[:, 1].min()
    assert band[:, 1].max() > line[:, 1].max()
    assert "At 512: 80.0 (40.0 - 160)." in figure.alt
    assert "limit 30" in words(figure)
    # The axis has its numbers where the line has its points.
    assert {"512", "1,024", "2,048", "4,096"} <= {*words(figure)}


def test_infinite_ends_of_a_band_leave_the_picture() -> None:
    """Where P90 is infinite the band goes on past the top; where P50 is, the line has a gap."""
    figure = plots.sweep_lines(
        SIZES, [1, 1, 1, 1], [2, 2, 2, np.inf], [3, 3, np.inf, np.inf], x_label="n", y_label="days"
    )
    assert len(corners(figure, "p50")) == 3
    assert "∞" in figure.alt


def test_surface_has_a_cell_for_each_number() -> None:
    """Cells without a finite number are left open, and the line of a level is where the level is crossed."""
    x, y = np.linspace(0, 1, 11), np.linspace(0, 1, 6)
    z = np.tile(x, (6, 1))
    z[0, 0] = np.nan
    figure = plots.surface(x, y, z, x_label="x", y_label="y", z_label="chance", level=0.5, chances=True)
    cells = group(figure, "cells")
    assert cells is not None
    filled = [path for path in cells.iterfind(".//svg:path", NAMESPACE) if "fill: none" not in path.attrib["style"]]
    assert len(filled) == 65
    line = corners(figure, "level")
    assert np.ptp(line[:, 0]) < 0.1
    assert "1 of 66 cells have no finite value." in figure.alt
    assert "The highest, 100, is at 1 and 0." in figure.alt
    assert "image" not in {element.tag.rpartition("}")[2] for element in root(figure).iter()}


def test_small_amounts_are_no_chances() -> None:
    """What is below one is told in its own numbers unless it is said to be a chance; a level not met has no line."""
    z = [[0.2, 0.3], [0.4, 0.9]]
    days, chance = (
        plots.surface([1, 2], [1, 2], z, x_label="x", y_label="y", z_label="z", level=level, chances=chances)
        for level, chances in ((0.95, False), (0.5, True))
    )
    assert "z" in words(days)
    assert {"z (%)", "0", "100", "level 50 %"} <= {*words(chance)}
    assert group(days, "level") is None
    assert not any(text.startswith("level") for text in words(days))
    assert "The level is 50 %." in chance.alt


def test_single_rows_and_constant_surfaces() -> None:
    """One value of a setting, and one value of the quantity, make a figure as well."""
    assert plots.surface([1.0], [2.0, 4.0, 8.0], [[5.0], [5.0], [5.0]], x_label="x", y_label="y", z_label="z", level=5)
    assert plots.surface([1.0], [2.0], [[np.inf]], x_label="x", y_label="y", z_label="z").alt.count("cells")


def test_front_is_what_nothing_beats() -> None:
    """The front is that of comparing every option with every other."""
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 12, 60).astype(float), rng.integers(0, 12, 60).astype(float)
    x[5], y[7] = np.inf, np.inf

    def beaten(one: int) -> bool:
        better = (x <= x[one]) & (y <= y[one]) & ((x < x[one]) | (y < y[one]))
        return bool(better.any()) or not (math.isfinite(x[one]) and math.isfinite(y[one]))

    expected = {(x[one], y[one]) for one in range(60) if not beaten(one)}
    found = front_of(x, y)
    assert {(x[one], y[one]) for one in found} == expected
    assert len(found) == len(expected)
    assert np.all(np.diff(x[found]) > 0)


def test_front_is_drawn_with_its_names() -> None:
    """Options on the front are named, others are not, and what takes infinitely much is counted."""
    figure = plots.pareto(["a", "b", "c", "d"], [1, 2, 3, np.inf], [3, 1, 2, 1], x_label="USD", y_label="days")
    assert {"a", "b"} <= {*words(figure)}
    assert "c" not in words(figure)
    assert "1 take infinitely much" in figure.alt
    stairs = corners(figure, "front")
    assert np.all(np.diff(stairs[:, 0]) >= 0)
    assert np.all(np.diff(stairs[:, 1]) <= 0)
    assert plots.pareto(["a"], [np.inf], [1.0], x_label="x", y_label="y").alt


@pytest.mark.parametrize("seed", range(5))
def test_names_of_the_front_lie_over_nothing(seed: int) -> None:
    """No name lies over a point or another name."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(1, 5, 40), rng.uniform(1, 5, 40)
    labels = [f"option number {place}" for place in range(40)]
    figure = plots.pareto(labels, x, y, x_label="USD", y_label="days")
    named = [one for one in root(figure).iterfind(".//svg:text", NAMESPACE) if (one.text or "").startswith("option")]
    assert named
    boxes = [
        (left, float(one.attrib["y"]) - 7, left + 72 * text_width(one.text or ""), float(one.attrib["y"]))
        for one in named
        for left in [float(one.attrib["x"])]
    ]
    groups = [found for name in ("others", "best") if (found := group(figure, name)) is not None]
    points = [one for found in groups for one in found.iterfind(".//svg:use", NAMESPACE)]
    assert len(points) == 40
    for left, top, right, bottom in boxes:
        for one in points:
            across, down = float(one.attrib["x"]), float(one.attrib["y"])
            assert not (left < across < right and top < down < bottom)
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            assert one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]


# --- axes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (Span(0.0, 1.0, log=False), [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (Span(98.0, 103.0, log=False), [98, 99, 100, 101, 102, 103]),
        (Span(0.9, 110.0, log=True), [1, 2, 5, 10, 20, 50, 100]),
        (Span(1.0, 1e12, log=True), [1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12]),
        (Span(20.0, 90.0, log=True), [20, 30, 40, 50, 60, 80]),
    ],
)
def test_ticks_are_round_and_few(span: Span, expected: list[float]) -> None:
    """A few round numbers, whatever the span."""
    assert ticks_of(span) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_every_span_has_some_ticks(seed: int) -> None:
    """Random spans of all sizes have two to seven ticks, all inside."""
    rng = np.random.default_rng(seed)
    low = 10 ** rng.uniform(-12, 12)
    for high in low * (1 + 10 ** rng.uniform(-2, 6, 50)):
        span = span_of([low, high])
        found = ticks_of(span)
        assert 2 <= len(found) <= 8
        assert all(span.low * (1 - 1e-9) <= tick <= span.high * (1 + 1e-9) for tick in found)
        assert len({plain(tick) for tick in found}) == len(found)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0"),
        (1500.0, "1,500"),
        (0.25, "0.25"),
        (1e6, "10⁶"),
        (2e7, "2 × 10⁷"),
        (5e-5, "5 × 10⁻⁵"),
        (-2.0, "−2"),
        (-3e7, "−3 × 10⁷"),
    ],
)
def test_numbers_on_axes_are_plain(value: float, expected: str) -> None:
    """Numbers are written as people do, and powers of ten without a letter."""
    assert plain(value) == expected


def test_spans_hold_their_values() -> None:
    """A span has room at both ends, goes by ratios for wide positive values, and never below nothing without need."""
    span = span_of([1.0, 1000.0, math.inf])
    assert span.log
    assert span.low < 1
    assert span.high > 1000
    assert not span_of([1.0, 2.0]).log
    assert span_of([0.0, 5.0]).low == 0
    assert span_of([-1.0, 5.0]).low < -1
    for part in (0.0, 0.3, 1.0):
        assert span.part(span.at(part)) == pytest.approx(part)
    alone = span_of([7.0])
    assert alone.low < 7 < alone.high
    assert span_of([]).high > 0
