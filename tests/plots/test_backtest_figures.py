"""Figures of a backtest: values, bounds and bars are where the numbers are, and what is off is marked and told."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import pytest

from tests.plots.svg import corners, group, root, spot, styles, words
from uncertain_botec import plots
from uncertain_botec.plots import LIGHT, Told, Within
from uncertain_botec.plots.backtests import MOST_RUNS

OFF, RIGHT = LIGHT["vermilion"], LIGHT["blue"]


def told(*multiples: float, spread: float = 1.5) -> list[Told]:
    """Runs that took so many times the median of forecasts from that over a factor to that times it."""
    return [
        Told(f"run {place}", Within(one, one / spread, one * spread), f"{one:g}") for place, one in enumerate(multiples)
    ]


# --- coverage and scores ----------------------------------------------------------------------------------------------


def test_coverage_is_where_the_parts_are() -> None:
    """In each panel values and bounds lie on its axis of percents, by the distances between them."""
    held = {
        "one": {50.0: Within(40.0, 20.0, 60.0), 80.0: Within(60.0, 50.0, 70.0)},
        "other": {50.0: Within(100.0, 70.0, 100.0), 80.0: Within(80.0, 70.0, 90.0)},
    }
    figure = plots.coverage(held)
    for panel, level in enumerate((50.0, 80.0)):
        low, high = corners(figure, f"bounds-{panel}-0")[:, 0]
        one = held["one"][level]
        unit = (high - low) / (one.high - one.low)
        assert spot(figure, f"value-{panel}-0")[0] == pytest.approx(low + unit * (one.value - one.low), abs=0.02)
        other = held["other"][level]
        assert spot(figure, f"value-{panel}-1")[0] == pytest.approx(low + unit * (other.value - one.low), abs=0.02)
    assert {"50 % interval", "80 % interval", "one", "other"} <= {*words(figure)}
    assert "one: 40 % in 50 % (20 - 60), 60 % in 80 % (50 - 70)." in figure.alt


def test_what_bounds_do_not_hold_is_marked() -> None:
    """A line is of another colour, and its sign of another shape, where the bounds do not hold what is meant."""
    held = {"a": {50.0: Within(40.0, 20.0, 60.0)}, "b": {50.0: Within(20.0, 10.0, 30.0)}}
    figure = plots.coverage(held)
    assert RIGHT in styles(figure, "bounds-0-0")
    assert OFF in styles(figure, "bounds-0-1")
    shapes = [group(figure, f"value-0-{row}").find(".//{*}path").attrib["d"] for row in (0, 1)]  # type: ignore[union-attr]
    assert ("C" in shapes[0], "C" in shapes[1]) == (True, False)


def test_gaps_lie_on_their_side_of_nothing() -> None:
    """Worse scores lie right of the line, better ones left; an unknown error has no bounds and marks nothing."""
    gaps = {
        "worse": {"CRPS": Within(0.2, 0.1, 0.3)},
        "better": {"CRPS": Within(-0.1, -0.3, 0.1)},
        "unknown": {"CRPS": Within(0.1, math.nan, math.nan)},
    }
    figure = plots.score_gaps(gaps, "± 2 standard errors")
    line = corners(figure, "flag-0")[0, 0]
    worse, better, unknown = (spot(figure, f"value-0-{row}")[0] for row in range(3))
    assert (worse - line) / (unknown - line) == pytest.approx(2, abs=0.01)
    assert better - line == pytest.approx(line - unknown, abs=0.02)
    assert (OFF in styles(figure, "bounds-0-0"), OFF in styles(figure, "bounds-0-1")) == (True, False)
    assert group(figure, "bounds-0-2") is None
    assert "unknown: CRPS +0.1 (unknown to unknown)." in figure.alt


# --- percentiles ------------------------------------------------------------------------------------------------------


def test_bars_are_as_high_as_their_numbers() -> None:
    """Heights go by counts, the band by its ends; a bar outside of it is marked and told."""
    counts = (5, 6, 2, 7, 12, 8, 1, 4, 4, 8)
    figure = plots.percentiles(counts, 2, 11)
    heights = [float(np.ptp(corners(figure, f"tenth-{place}")[:, 1])) for place in range(10)]
    assert np.array(heights) / heights[0] == pytest.approx(np.array(counts) / 5, abs=0.01)
    band = corners(figure, "band")
    assert np.ptp(band[:, 1]) / heights[0] == pytest.approx(9 / 5, abs=0.01)
    assert [OFF in styles(figure, f"tenth-{place}") for place in range(10)] == [not 2 <= one <= 11 for one in counts]
    assert figure.alt.endswith("outside of that: 40 - 50 %, 60 - 70 %.")
    assert {"12", "chance leaves 2 to 11 in each tenth"} <= {*words(figure)}


def test_one_run_has_whole_ticks() -> None:
    """Runs are counted by whole numbers, however few there are."""
    figure = plots.percentiles((0, 0, 1, 0, 0, 0, 0, 0, 0, 0), 0, 1)
    assert not any("." in text for text in words(figure))
    assert figure.alt.endswith("outside of that: none.")


# --- run by run -------------------------------------------------------------------------------------------------------


def test_lines_go_from_end_to_end() -> None:
    """Equal ratios are equal distances: the sign is in the middle of its line, and 1 where the flag is."""
    (figure,) = plots.intervals(told(0.5, 1.0, 2.0))
    flag = corners(figure, "flag-0")[0, 0]
    places = [spot(figure, f"value-{row}")[0] for row in range(3)]
    assert places[1] == pytest.approx(flag, abs=0.02)
    assert places[2] - flag == pytest.approx(flag - places[0], abs=0.02)
    for row, place in enumerate(places):
        low, high = corners(figure, f"bounds-{row}")[:, 0]
        assert (low + high) / 2 == pytest.approx(place, abs=0.02)
        assert (high - low) / (places[2] - flag) == pytest.approx(2 * math.log(1.5) / math.log(2), abs=0.01)


def test_runs_outside_are_marked() -> None:
    """Lines that do not reach 1 are of another colour and told with their multiples; an end that just does is held."""
    (figure,) = plots.intervals(told(0.5, 1 / 1.5, 1.2, 1.6))
    assert [OFF in styles(figure, f"bounds-{row}") for row in range(4)] == [True, False, False, True]
    assert figure.alt.endswith("Outside P10 to P90: run 0 0.500, run 3 1.60.")


@pytest.mark.parametrize("number", [1, MOST_RUNS, MOST_RUNS + 1, 58])
def test_many_runs_are_in_several_pictures_of_one_axis(number: int) -> None:
    """No picture has more than can be read, each run is in one of them, and 1 is at the same place in all."""
    figures = plots.intervals(told(*np.geomspace(0.4, 2.5, number)))
    assert len(figures) == math.ceil(number / MOST_RUNS)
    assert len({figure.name for figure in figures}) == len({figure.title for figure in figures}) == len(figures)
    names = [[text for text in words(figure) if text.startswith("run ")] for figure in figures]
    assert [*chain(*names)] == [f"run {place}" for place in range(number)]
    assert max(map(len, names)) <= MOST_RUNS
    assert len({corners(figure, "flag-0")[0, 0] for figure in figures}) == 1


def test_long_names_leave_room() -> None:
    """Names as wide as can be are shortened, and everything stays in the picture, whatever they say."""
    runs = [Told(name, Within(1.0, 0.5, 2.0), ">99.9 %") for name in ("W" * 4000, "<b>&$x^2$</b>", "")]
    (figure,) = plots.intervals(runs)
    assert "<b>&$x^2$</b>" in words(figure)
    assert max(map(len, words(figure))) < 90
    low, high = corners(figure, "bounds-0")[:, 0]
    assert 0 < low < high < float(root(figure).attrib["viewBox"].split()[2])
