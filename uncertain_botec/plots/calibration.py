"""Figures of a calibration: how its chains went, and whether the model makes runs like those it learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uncertain_botec.calibration.calibrating import Calibration
from uncertain_botec.plots.figure import LIGHT, Figure, rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_SHOWN = ("intercept", "peak", "parameters", "tokens", "age", "moe", "fp8", "tau", "log_scale")
_COLOURS = ("blue", "vermilion", "green", "purple")
_REPLICATES = 60


def chains(calibration: Calibration) -> Figure:
    """The trace of each chain, by parameter of the model of hours: well-mixed chains lie over each other."""
    samples, found = calibration.hours.draws, calibration.hours.diagnostics

    def draw(canvas: Canvas) -> None:
        canvas.set_layout_engine("constrained")
        axes = canvas.subplots(3, 3, sharex=True)
        for place, (one, name) in enumerate(zip(axes.flat, _SHOWN, strict=True)):
            for colour, chain in zip(_COLOURS, np.asarray(samples[name]), strict=False):
                one.plot(chain, color=LIGHT[colour], linewidth=0.3, alpha=0.8)
            one.set_title(name.replace("_", " "), loc="left")
            if place >= 6:
                one.set_xlabel("draw")

    alt = (
        f"Traces of {found.chains} chains of {found.draws:,} draws for nine parameters, lying over each other: "
        f"R-hat at most {found.rhat:.3f}, bulk ESS at least {found.ess:,.0f}, {found.divergences} divergences."
    )
    return rendered("chains", "Chains of the model of hours", alt, draw, (7.5, 5.5))


def predictive_check(calibration: Calibration, *, seed: int = 0) -> Figure:
    """The runs' hours beside data sets of as many runs made by the model: the posterior predictive check."""
    runs, reference = calibration.runs.kept, calibration.reference
    random = np.random.default_rng(seed)
    predictive = [reference.predict(run.subject) for run in runs]
    made = np.stack([one.draws(random.uniform(size=one.mu.size)) for one in predictive], axis=1)
    chosen = made[np.linspace(0, len(made) - 1, _REPLICATES).astype(int)]
    observed = np.sort([run.log_excess for run in runs])
    share = (np.arange(len(runs)) + 1) / len(runs)
    inside = np.mean(
        (np.quantile(np.sort(made, axis=1), 0.05, axis=0) <= observed)
        & (observed <= np.quantile(np.sort(made, axis=1), 0.95, axis=0))
    )

    def draw(canvas: Canvas) -> None:
        canvas.set_layout_engine("constrained")
        axes = canvas.subplots()
        for one in chosen:
            made_line = axes.step(
                np.exp(np.sort(one)), 100 * share, where="post", color=LIGHT["sky"], linewidth=0.5, alpha=0.5
            )
        line = axes.step(np.exp(observed), 100 * share, where="post", color=LIGHT["ink"], linewidth=1.5)
        labels = ["as published", f"{_REPLICATES} sets made by the model"]
        axes.legend([line[0], made_line[0]], labels, loc="lower right", frameon=False)
        axes.set_xscale("log")
        axes.set_xticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
        axes.minorticks_off()
        axes.set_xlabel("accelerator-hours over those at 40 % of the 16-bit peak")
        axes.set_ylabel("runs at or below (%)")

    alt = (
        f"Share of {len(runs)} runs at or below each multiple of the hours at 40 % of the peak, over {_REPLICATES} "
        f"data sets made by the model; {inside:.0%} of the runs, in order, lie within the 90 % band."
    )
    return rendered("predictive-check", "Published runs and runs made by the model", alt, draw)
