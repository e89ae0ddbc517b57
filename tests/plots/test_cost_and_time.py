"""Cost against time: areas that hold their part of the draws, outcomes that add up, and the curve of confidence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtri

from tests.plots.svg import corners, group, spot, words
from uncertain_botec import Draws, plots
from uncertain_botec.plots.cost_and_time import regions
from uncertain_botec.risk import measures


def _normal(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Independent standard normals, evenly spread."""
    first = (np.arange(size) + 0.5) / size
    second = (first * size * (math.sqrt(5) - 1) / 2) % 1
    return ndtri(first), ndtri(np.clip(second, 1e-9, 1 - 1e-9))


def test_areas_hold_their_part_of_the_draws() -> None:
    """Of two normals the areas of 50, 80 and 95 % are discs with r^2 = -2 ln(1 - p), up to the size of a cell."""
    x, y = _normal(1 << 16)
    edges = np.linspace(-4, 4, 65)
    found = regions(x, y, edges, edges)
    middles = (edges[1:] + edges[:-1]) / 2
    radius = np.hypot(*np.meshgrid(middles, middles))
    counts = np.histogram2d(x, y, [edges, edges])[0]
    for place, part in enumerate((0.5, 0.8, 0.95)):
        assert counts[found <= place].sum() / x.size == pytest.approx(part, abs=5e-3)
        area = np.sum(found <= place) * (8 / 64) ** 2
        assert area == pytest.approx(-2 * math.pi * math.log(1 - part), rel=0.05)
        assert radius[found > place].min() > math.sqrt(-2 * math.log(1 - part)) - 0.3


def test_cells_without_draws_are_in_no_area() -> None:
    """Nothing is filled where no draw lies: no smoothing reaches beyond the draws."""
    x, y = np.repeat([1.5, 2.5], 100), np.repeat([1.5, 2.5], 100)
    found = regions(x, y, np.arange(5.0), np.arange(5.0))
    assert {*map(tuple, np.argwhere(found < 3).tolist())} == {(1, 1), (2, 2)}


def test_outcomes_make_up_all_draws(draws: Draws) -> None:
    """The four chances are those of the draws, which add up to 1, and stand in picture and text alike."""
    figure = plots.joint(draws, budget=6e6, deadline=50.0)
    within, early = draws["cost"] <= 6e6, draws["training_time"] <= 50.0
    expected = {
        "both kept": within & early,
        "over budget only": ~within & early,
        "late only": within & ~early,
        "over budget and late": ~within & ~early,
    }
    written = words(figure)
    total = 0.0
    for name, event in expected.items():
        said = float(written[written.index(name) + 1].removesuffix(" %"))
        assert said == pytest.approx(100 * event.mean(), abs=0.06)
        assert f"{name} {written[written.index(name) + 1]}" in figure.alt
        total += said
    assert total == pytest.approx(100, abs=0.2)


def test_pair_is_on_the_curve_and_the_curve_falls(draws: Draws) -> None:
    """The balanced pair lies on the curve of its own level, and more budget never needs a later deadline."""
    figure = plots.joint(draws, confidence=0.7)
    line, (x, y) = corners(figure, "isocurve"), spot(figure, "pair")
    assert np.all(np.diff(line[:, 0]) >= 0)
    assert np.all(np.diff(line[:, 1]) <= 0.02)
    ends = line[:-1], line[1:]
    along = np.linspace(0, 1, 100)[:, None, None]
    points = (ends[0] + along * (ends[1] - ends[0])).reshape(-1, 2)
    assert np.min(np.hypot(*(points - (x, y)).T)) < 0.7
    pair = measures.balanced_pair(draws["cost"], draws["training_time"], 0.7)
    (said,) = re.findall(r"70 % keep both ([\d.]+) million USD", figure.alt)
    assert float(said) == pytest.approx(pair.budget.value / 1e6, rel=2e-3)
    assert "both kept in 70 %" in words(figure)


def test_a_curve_of_another_level_may_be_given(draws: Draws) -> None:
    """The legend names the level of the curve that is drawn."""
    curve = measures.isocurve(draws["cost"], draws["training_time"], 0.9)
    assert "both kept in 90 %" in words(plots.joint(draws, isocurve=curve))


def test_nothing_is_filled_without_limits(draws: Draws) -> None:
    """Without limits there are neither lines nor outcomes; the areas are nested, each over the next."""
    figure = plots.joint(draws)
    assert group(figure, "deadline") is None
    assert group(figure, "flag-0") is None
    assert "both kept" not in words(figure)
    boxes = [corners(figure, f"density-{part}") for part in (50, 80, 95)]
    for inner, outer in pairwise(boxes):
        assert np.all(inner.min(axis=0) >= outer.min(axis=0) - 0.1)


def test_one_limit_alone_is_drawn(draws: Draws) -> None:
    """A budget without a deadline has its line, and no outcomes of both."""
    figure = plots.joint(draws, budget=6e6)
    assert "budget 6 million USD" in words(figure)
    assert group(figure, "deadline") is None
    assert "late only" not in words(figure)


def test_endless_runs_are_left_out_and_counted(endless: Callable[[float], Draws]) -> None:
    """Runs that never finish are in no area, count as missed, and are said."""
    draws = endless(0.25)
    figure = plots.joint(draws, budget=1e9, deadline=1e6)
    assert "25.0 % of the draws never finish" in figure.alt
    assert re.search(r"over budget and late 25\.0 %", figure.alt)
    assert "both kept 75.0 %" in figure.alt
    nothing = plots.joint(endless(1.0), budget=6e6, deadline=60.0)
    assert "no run finishes" in words(nothing)
    assert group(nothing, "isocurve") is None
    assert group(nothing, "pair") is None


def test_what_is_known_is_a_point(known: Draws) -> None:
    """Cost and time that are both known exactly are one point, without a curve of confidence."""
    figure = plots.joint(known, budget=6e6, deadline=60.0)
    assert spot(figure, "known")
    assert group(figure, "isocurve") is None
    assert "both kept 100 %" in figure.alt


def test_known_time_makes_a_line(draws: Draws, known: Draws) -> None:
    """Where the time alone is known, the areas are as thin as a cell."""
    time = np.full(draws.values["cost"].shape, known.values["training_time"].flat[0])
    figure = plots.joint(replace(draws, values={**draws.values, "training_time": time}), budget=6e6, deadline=60.0)
    box = corners(figure, "density-95")
    assert np.ptp(box[:, 1]) < 0.1 * np.ptp(box[:, 0])


def test_where_more_are_kept_than_asked(draws: Draws) -> None:
    """Where a single price has nine draws in ten, the caption says how many keep both, and not the level asked for."""
    shape = draws["cost"].shape
    few = np.where(np.arange(shape[1]) < 0.9 * shape[1], 2e6, 4e6) * np.ones((shape[0], 1))
    atoms = replace(draws, values={**draws.values, "cost": few, "training_time": few})
    said = plots.joint(atoms, confidence=0.8).alt
    assert "80 % keep both" not in said
    assert re.search(r"(90|89\.\d+|90\.\d+) % keep both", said)
    assert "the one less often kept at percentile" in said
