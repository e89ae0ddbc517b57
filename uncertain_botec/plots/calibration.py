"""Figures of a calibration: how its chains went, and whether the model makes runs like those it learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from uncertain_botec.calibration.calibrating import Calibration
from uncertain_botec.plots.axes import Span, placed, show_span, span_of
from uncertain_botec.plots.figure import LIGHT, Figure, rendered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Floats = npt.NDArray[np.float64]

# Parameters of the model of hours, and what they are of.
_SHOWN = {
    "intercept": "a middling run",
    "peak": "peak",
    "parameters": "parameters",
    "tokens": "tokens",
    "age": "age of the accelerator",
    "moe": "mixture of experts",
    "fp8": "fp8",
    "tau": "spread of generations",
    "log_scale": "unexplained noise",
}
_COLOURS = ("blue", "vermilion", "green", "purple")
_BINS = 20

_LEVELS = (0.05, 0.5, 0.95)
_POINTS = 400


def chains(calibration: Calibration) -> Figure:
    """The ranks of each chain's draws among those of all, by parameter of the model of hours.

    Chains that went through the same distribution have as many draws in each part of the ranks (Vehtari et al. 2021,
    Bayesian Analysis 16, 667-718, section 4.3); one that was stuck stands out, where in a trace it lies under others.
    """
    samples, found = calibration.hours.draws, calibration.hours.diagnostics
    counts = {name: _by_rank(np.asarray(samples[name], np.float64)) for name in _SHOWN}
    even = found.draws / _BINS
    most = max(2 * even, *(some.max() for some in counts.values()))

    def draw(canvas: Canvas) -> None:
        canvas.set_layout_engine("constrained")
        panels = canvas.subplots(3, 3, sharex=True, sharey=True)
        for one, (name, words) in zip(panels.flat, _SHOWN.items(), strict=True):
            one.axhline(even, color=LIGHT["muted"], linestyle=":", linewidth=0.8)
            for number, chain in enumerate(counts[name]):
                colour = LIGHT[_COLOURS[number % len(_COLOURS)]]
                edges = np.linspace(0, 100, _BINS + 1)
                one.stairs(chain, edges, baseline=None, color=colour, label=f"chain {number + 1}")
            one.set_title(words, loc="left")
            one.set_ylim(0, most)
            one.set_xticks([0, 50, 100])
        panels[1, 0].set_ylabel("draws in a twentieth of all ranks")
        panels[2, 1].set_xlabel("rank among the draws of all chains (%)")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside upper center", ncols=len(handles), frameon=False)

    alt = (
        f"How many draws of each of {found.sampled} fall into each twentieth of all ranks, for nine parameters; level "
        f"lines went through the same distribution. {found}."
    )
    return rendered("chains", "Ranks of each chain's draws among all", alt, draw, (7.5, 5.5))


def _by_rank(draws: Floats) -> npt.NDArray[np.int64]:
    """How many draws of each chain fall into each part of all ranks, array[chain, part], of draws[chain, draw]."""
    ranks = np.argsort(np.argsort(draws, axis=None)).reshape(draws.shape)
    parts = ranks * _BINS // draws.size
    return np.stack([np.bincount(chain, minlength=_BINS) for chain in parts])


def predictive_check(calibration: Calibration, *, seed: int = 0) -> Figure:
    """The runs' hours beside data sets of as many runs made by the model: the posterior predictive check."""
    runs, reference = calibration.runs.kept, calibration.reference
    random = np.random.default_rng(seed)
    predictive = [reference.predict(run.subject) for run in runs]
    made = np.sort(np.stack([one.draws(random.uniform(size=one.mu.size)) for one in predictive], axis=1), axis=1)
    observed = np.sort([run.log_excess for run in runs])
    span = span_of(np.exp([*observed, *np.quantile(made, (0.002, 0.998))]), log=True)
    grid = np.linspace(np.log(span.low), np.log(span.high), _POINTS)
    low, middle, high = np.quantile([_share(one, grid) for one in made], _LEVELS, axis=0)
    share = _share(observed, grid)
    apart = grid[(share < low) | (share > high)]
    outside = (
        "nowhere"
        if not len(apart)
        else f"in {len(apart) / _POINTS:.0%} of the range, from {np.exp(apart[0]):.2g} to {np.exp(apart[-1]):.2g}"
    )

    def draw(canvas: Canvas) -> None:
        axes: Axes = placed(canvas, 0.75, 0.5, 0.2, 0.15)
        show_span(axes, "x", span, "accelerator-hours over those at 40 % of the 16-bit peak")
        show_span(axes, "y", Span(0, 100, log=False), "runs at or below (%)", at=[0, 25, 50, 75, 100])
        axes.grid(color=LIGHT["grid"], linewidth=0.6)
        x = np.exp(grid)
        band = axes.fill_between(x, 100 * low, 100 * high, color=LIGHT["blue"], alpha=0.25, linewidth=0)
        (model,) = axes.plot(x, 100 * middle, color=LIGHT["blue"])
        (line,) = axes.plot(x, 100 * share, color=LIGHT["ink"], drawstyle="steps-post", linewidth=1.5)
        names = [f"the {len(runs)} runs", "as many made by the model, median", "90 % of such sets"]
        axes.legend([line, model, band], names, loc="lower right", frameon=False)

    alt = (
        f"Share of {len(runs)} runs at or below each multiple of the hours at 40 % of the peak, over the band of 90 % "
        f"of the data sets of as many runs made by the model; it leaves the band {outside}."
    )
    return rendered("predictive-check", "Finished runs, and runs made by the model", alt, draw)


def _share(ordered: Floats, grid: Floats) -> Floats:
    """The part of some ordered values that is at or below each point."""
    return np.asarray(np.searchsorted(ordered, grid, side="right") / len(ordered))
