"""S-curves pass through the exact quantiles, also where runs never finish or nothing is uncertain."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtri

from tests.plots.svg import NAMESPACE, corners, group, root, spot, styles, words
from uncertain_botec import Draws, plots
from uncertain_botec.plots.axes import text_width
from uncertain_botec.plots.curves import MOST_CURVES, curve

LEVELS = (0.013, 0.1, 0.5, 0.8, 0.9, 0.97)


def test_curve_has_the_exact_quantiles() -> None:
    """At the levels asked for the line has NumPy's Hazen quantiles, and it ends where the draws do."""
    values = np.exp(np.random.default_rng(5).normal(size=(8, 500)))
    x, p = curve(values, LEVELS)
    assert np.interp(LEVELS, p, x) == pytest.approx(np.quantile(values, LEVELS, method="hazen"), rel=1e-12)
    assert (x[0], p[0]) == (values.min(), 0)
    assert (x[-1], p[-1]) == (values.max(), 1)
    assert np.all(np.diff(x) >= 0)
    assert np.all(np.diff(p) >= 0)


def test_curve_counts_draws() -> None:
    """Between its points the line is within a step and a half of the share of draws at or below."""
    values = np.sort(np.random.default_rng(6).normal(size=1000))
    x, p = curve(values)
    share = np.searchsorted(values, values, "right") / values.size
    assert np.max(np.abs(np.interp(values, x, p) - share)) < 6e-3


def test_curve_of_endless_draws_ends_below_one() -> None:
    """Infinite draws take from its height; where all are infinite there is no line."""
    values = np.array([3.0, 1.0, np.inf, 2.0, np.inf])
    x, p = curve(values)
    assert (x[-1], p[-1]) == (3.0, 0.6)
    assert curve(np.full(9, np.inf))[0].size == 0


def test_picture_passes_through_the_quantiles(draws: Draws) -> None:
    """In the picture P10, which is not marked, is where P50 and P90, which are, say that it must be."""
    figure = plots.s_curve(draws, "training_time")
    line = corners(figure, "curve")
    marks = {level: spot(figure, f"p{level}") for level in (50, 80, 90)}
    for x, y in marks.values():
        assert np.interp(x, *line.T) == pytest.approx(y, abs=0.05)
    (x50, y50), (x90, y90) = marks[50], marks[90]
    assert marks[80][1] == pytest.approx(y50 + 0.75 * (y90 - y50), abs=0.02)
    q10, q50, q90 = np.quantile(draws["training_time"], (0.1, 0.5, 0.9), method="hazen")
    expected = x50 + (x90 - x50) * (q10 - q50) / (q90 - q50)
    assert np.interp(y50 - (y90 - y50), *line.T[::-1]) == pytest.approx(expected, abs=0.1)


def test_limit_is_stated_with_its_probability(draws: Draws) -> None:
    """The budget's flag and the text alternative give the share of draws that keep it."""
    figure = plots.s_curve(draws, "cost", limit=6e6, point=4e6)
    share = 100 * float((draws["cost"] <= 6e6).mean())
    (flag,) = [text for text in words(figure) if text.startswith("budget")]
    assert float(re.findall(r"([\d.]+) %", flag)[0]) == pytest.approx(share, abs=0.06)
    assert f"{flag.split(': ')[1].split(' %')[0]} %" in figure.alt
    assert "point estimate 4" in words(figure)
    assert "The point estimate is 4 million USD." in figure.alt
    line, (p50, _) = corners(figure, "flag-0"), spot(figure, "p50")
    assert line[0, 0] == line[-1, 0]
    assert (line[0, 0] > p50) == (share > 50)


@pytest.mark.parametrize(("limit", "arrow"), [(1.0, "←"), (1e12, "→")])
def test_limit_far_off_stays_in_the_picture(draws: Draws, limit: float, arrow: str) -> None:
    """A limit that no draw comes near has its flag at the edge, and does not flatten the curve."""
    figure = plots.s_curve(draws, "cost", limit=limit)
    assert any(arrow in text for text in words(figure))
    assert group(figure, "flag-0") is None
    usual, line = corners(plots.s_curve(draws, "cost"), "curve"), corners(figure, "curve")
    assert np.ptp(line[:, 0]) == pytest.approx(np.ptp(usual[:, 0]))


@pytest.mark.parametrize("limit", np.geomspace(3e6, 15e6, 9))
@pytest.mark.parametrize("point", [4.8e6, 5.2e6, 7.5e6])
def test_no_line_goes_through_a_label(limit: float, point: float, draws: Draws) -> None:
    """Wherever the budget and the point estimate are, levels are written beside their lines and within the picture."""
    figure = plots.s_curve(draws, "cost", limit=limit, point=point)
    lines = [corners(figure, name)[0, 0] for name in ("flag-0", "flag-1")]
    right = corners(figure, "curve")[-1, 0]
    labels = [one for one in root(figure).iterfind(".//svg:text", NAMESPACE) if re.match(r"P\d", one.text or "")]
    assert len(labels) == 3
    for one in labels:
        start, wide = float(one.attrib["x"]), 72 * text_width(one.text or "")
        start -= wide if "text-anchor: end" in one.attrib["style"] else 0
        assert not any(start - 1 < line < start + wide + 1 for line in lines), one.text
        assert start + wide <= right + 0.1


def test_confidence_asked_for_is_marked(draws: Draws) -> None:
    """A level of one's own is marked, and takes the place of those that it would be written over."""
    figure = plots.s_curve(draws, "cost", confidence=0.75)
    assert group(figure, "p75") is not None
    assert group(figure, "p80") is None
    assert group(figure, "p90") is not None
    (said,) = re.findall(r"P75 ([\d.]+) million", figure.alt)
    assert float(said) == pytest.approx(np.quantile(draws["cost"], 0.75, method="hazen") / 1e6, rel=2e-3)


def test_endless_runs_are_said(endless: Callable[[float], Draws]) -> None:
    """The share that never finishes is drawn as the height that the curve does not exceed; P90 is infinite."""
    figure = plots.s_curve(endless(0.25), "training_time", limit=60.0)
    assert "25.0 % never finish" in words(figure)
    assert "P90 infinite" in figure.alt
    assert group(figure, "p90") is None
    line, height = corners(figure, "curve"), corners(figure, "endless")
    assert line[-1, 1] == height[0, 1] == max(line[:, 1])


def test_nothing_finishes(endless: Callable[[float], Draws]) -> None:
    """Draws that are all infinite still make a figure, which says so."""
    figure = plots.s_curve(endless(1.0), "cost", limit=6e6)
    assert "no run finishes" in words(figure)
    assert figure.alt.startswith("Cost is infinite in every draw.")


def test_what_is_known_is_a_step(known: Draws) -> None:
    """A constant rises upright from nothing to all, with one mark for all levels."""
    figure = plots.s_curve(known, "cost", limit=6e6)
    line = corners(figure, "curve")
    places, counts = np.unique(line[:, 0], return_counts=True)
    assert places.size == 3
    upright = line[line[:, 0] == places[counts.argmax()]]
    assert np.ptp(upright[:, 1]) == np.ptp(line[:, 1])
    assert [text for text in words(figure) if text.startswith("P")] == [f"P50 - P90  {known['cost'].flat[0] / 1e6:.4g}"]
    assert "in every draw" in figure.alt
    assert "kept with probability 100 %" in figure.alt


def test_curves_of_several_scenarios_lie_in_one_frame(draws: Draws, known: Draws) -> None:
    """Each has its line, its own dashes and its name; half of the draws of a scenario lie on either side of its P50."""
    figure = plots.s_curves([("mine", draws), ("known", known)], "cost")
    first, second = corners(figure, "curve-0"), corners(figure, "curve-1")
    middle = (first[0, 1] + first[-1, 1]) / 2
    step = second[np.argmax(np.diff(second[:, 1])), 0]
    p50, value = float(np.median(draws["cost"])), float(known["cost"].flat[0])
    assert (np.interp(middle, *first.T[::-1]) < step) == (p50 < value)
    assert {"mine", "known"} <= {*words(figure)}
    assert "stroke-dasharray" not in styles(figure, "curve-0")
    assert "stroke-dasharray" in styles(figure, "curve-1")
    assert "Cost of mine: P10" in figure.alt


def test_no_more_curves_than_can_be_told_apart(draws: Draws) -> None:
    """What is left out is said."""
    figure = plots.s_curves([(f"run {place}", draws) for place in range(MOST_CURVES + 3)], "cost")
    assert group(figure, f"curve-{MOST_CURVES - 1}") is not None
    assert group(figure, f"curve-{MOST_CURVES}") is None
    assert "3 more are not shown." in figure.alt


def test_levels_are_dense_where_the_curve_bends() -> None:
    """A lognormal's line departs from its distribution function by less than can be seen."""
    n = 1 << 14
    values = np.exp(0.5 * ndtri((np.arange(n) + 0.5) / n))
    x, p = curve(values)
    share = (np.searchsorted(values, values, "right") - 0.5) / n
    assert np.max(np.abs(np.interp(values, x, p) - share)) < 1e-3


def test_curve_knows_the_replicates_beside_an_atom() -> None:
    """Where each replicate rounds how many of its draws an atom has, the curve still ends the atom at its level."""
    values = np.where(np.arange(997) < 897, 2.0, 4.0) * np.ones((16, 1))
    x, p = curve(values, (0.9,))
    assert x[np.flatnonzero(p == 0.9)].tolist() == [2.0]
