"""Pictures of beliefs: areas and stems are probabilities, and nothing lies where the belief has none."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from tests.distributions.distribution_cases import CASES, Case
from tests.plots.svg import corners, group, root, words
from uncertain_botec import plots
from uncertain_botec.distributions import Distribution, elicit
from uncertain_botec.distributions.level import level_of_u
from uncertain_botec.plots.axes import Span, span_of
from uncertain_botec.plots.priors import density
from uncertain_botec.scenario import Input

USUAL = [case for case in CASES if case.family != "fixed"]


def _span(belief: Distribution) -> Span:
    """Nearly all of a belief."""
    return span_of(np.asarray(belief.quantile(level_of_u(np.array([2e-3, 0.998])))).tolist())


def _input(name: str, family: str, **stated: Any) -> Input:
    return Input(name, {"family": family, **stated}, elicit(family, stated), "")


@pytest.mark.parametrize("case", USUAL, ids=lambda case: case.name)
def test_areas_are_probabilities(case: Case) -> None:
    """The area between the ends is the probability between them, less that of single values, to rounding."""
    belief, span = case.distribution, _span(case.distribution)
    edges, heights = density(belief, span)
    atoms = sum(mass for point, mass in belief.atoms() if edges.size and edges[0] < point <= edges[-1])
    if not edges.size:
        assert belief.discrete
        return
    low, high = belief.support
    assert max(span.low, low) <= edges[0] + belief.discrete
    assert edges[-1] <= min(span.high, high) + belief.discrete
    assert np.all(heights >= 0)
    lengths = np.diff(np.log(edges)) if span.log else np.diff(edges)
    below = float(belief.cdf(edges[-1]) - belief.cdf(edges[0]))
    assert heights @ lengths == pytest.approx(below - atoms, abs=1e-6)


@pytest.mark.parametrize("log", [False, True])
def test_density_is_that_of_a_lognormal(log: bool) -> None:
    """Heights are the closed form's density in the middle of each cell, also where the axis goes by ratios."""
    belief = elicit("lognormal", {"median": 3.0, "sigma": 0.4})
    edges, heights = density(belief, Span(0.5, 12.0, log))
    middles = np.sqrt(edges[1:] * edges[:-1]) if log else (edges[1:] + edges[:-1]) / 2
    bell = np.exp(-0.5 * (np.log(middles / 3) / 0.4) ** 2) / (0.4 * math.sqrt(2 * math.pi))
    assert heights == pytest.approx(bell if log else bell / middles, abs=2e-3)


def test_units_do_not_change_a_picture() -> None:
    """A belief in base units is drawn along an axis in printed ones, with the same areas."""
    belief = elicit("normal", {"mean": 3e5, "sd": 4e4})
    edges, heights = density(belief, Span(1.0, 6.0, log=False), 1e5)
    assert heights @ np.diff(edges) == pytest.approx(ndtr(7.5) - ndtr(-5.0), abs=1e-9)
    assert edges[np.argmax(heights)] == pytest.approx(3.0, abs=0.05)


def test_nothing_is_drawn_outside_the_support() -> None:
    """A uniform belief rises and falls upright at its ends, with the axis reaching beyond both."""
    figure = plots.prior(_input("mfu", "uniform", low=0.3, high=0.5))
    shape, frame = corners(figure, "density"), _frame(figure)
    assert shape[:, 0].min() > frame[0] + 5
    assert shape[:, 0].max() < frame[1] - 5
    assert len({*np.round(shape[:, 1], 1)}) == 2
    third = (shape[:, 0].max() - shape[:, 0].min()) / 0.2
    assert _at(figure, 0.4) == pytest.approx(shape[:, 0].min() + 0.1 * third, abs=0.1)


def _frame(figure: plots.Figure) -> tuple[float, float]:
    """The left and the right end of the axis."""
    paths = corners(figure, "patch_2")
    return float(paths[:, 0].min()), float(paths[:, 0].max())


def _at(figure: plots.Figure, value: float) -> float:
    """Where a tick's number stands."""
    for text in root(figure).iter("{http://www.w3.org/2000/svg}text"):
        if text.text == f"{value:g}":
            return float(text.attrib["x"])
    raise AssertionError(value)


def test_truncation_is_a_cliff() -> None:
    """What is cut off is not drawn: the heights end where the belief does, not near nothing."""
    stated = {"mean": 0.4, "sd": 0.1, "truncate": [0.35, 1.0]}
    belief = elicit("normal", stated)
    edges, heights = density(belief, Span(0.2, 0.8, log=False))
    assert edges[0] == 0.35
    assert heights[0] == pytest.approx(math.exp(-0.125) / (0.1 * math.sqrt(2 * math.pi)) / ndtr(0.5), rel=0.01)


def test_values_of_a_choice_are_stems() -> None:
    """Each value has a stem as high as its weight, and there is no area."""
    figure = plots.prior(_input("accelerators", "choice", values=(1024.0, 2048.0, 4096.0), weights=(0.25, 0.5, 0.25)))
    stems = corners(figure, "stems").reshape(3, 2, 2)
    heights = np.ptp(stems[:, :, 1], axis=1)
    assert heights == pytest.approx(heights[1] * np.array([0.5, 1, 0.5]), abs=0.02)
    places = stems[:, 0, 0]
    assert (places[2] - places[1]) / (places[1] - places[0]) == pytest.approx(2, abs=0.01)
    assert group(figure, "density") is None
    assert "2,048, with probability 50 %" in figure.alt


@pytest.mark.parametrize(("mean", "stems"), [(3.5, True), (1e6, False)])
def test_counts_are_stems_while_they_are_few(mean: float, stems: bool) -> None:
    """A few counts have a stem each; more than can be told apart are an area."""
    figure = plots.prior(_input("accelerators", "poisson", mean=mean))
    assert (group(figure, "stems") is not None) == stems
    assert (group(figure, "density") is None) == stems


def test_a_point_in_a_mixture_stands_beside_its_area() -> None:
    """A mixture with one certain value has a stem there, whose probability is not in the area too."""
    parts = (elicit("fixed", {"value": 0.0}), elicit("uniform", {"low": 0.1, "high": 0.3}))
    belief = elicit("mixture", {"components": parts, "weights": (0.4, 0.6)})
    figure = plots.prior(Input("failure_overhead", {}, belief, ""))
    assert group(figure, "stems") is not None
    edges, heights = density(belief, Span(0.0, 0.5, log=False))
    assert heights @ np.diff(edges) == pytest.approx(0.6, abs=1e-9)
    assert not heights[edges[1:] < 0.1].any()


def test_what_is_known_is_a_line() -> None:
    """A value that is known exactly is a line with its number."""
    figure = plots.prior(_input("accelerators", "fixed", value=16384.0))
    assert group(figure, "known") is not None
    assert group(figure, "density") is None
    assert "16,384" in words(figure)
    assert figure.alt == "accelerators is known exactly: 16,384 accelerators."


def test_quantiles_are_marked_and_said() -> None:
    """P10, P50 and P90 are those that were stated."""
    figure = plots.prior(_input("mfu", "jqpd", p10=0.36, p50=0.43, p90=0.48, support=(0.0, 1.0)))
    assert figure.alt == "mfu, jqpd: P10 0.36, P50 0.43, P90 0.48."
    assert {"P10", "P50", "P90", "mfu"} <= {*words(figure)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_belief_has_a_picture(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The most extreme members of all families are drawn without a warning."""
    monkeypatch.setattr("uncertain_botec.plots.priors.rendered", _drawn)
    assert plots.prior(Input("price_rise", {}, case.distribution, "")).alt


def _drawn(name: str, title: str, alt: str, draw: Callable[[Any], None], size: tuple[float, float]) -> plots.Figure:
    """Artists alone, which takes a fifth of the time that pictures do."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=size)
    draw(canvas)
    for axes in canvas.axes:
        assert np.all(np.isfinite(axes.get_xlim()))
    return plots.Figure(name, title, alt, "", b"", 0, 0)
