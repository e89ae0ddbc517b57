"""Figures of draws, summaries and studies, each a frozen `Figure` of SVG and PNG with its text alternative.

Amounts that are passed in are in printed units, as draws[name], reviews, summaries and studies have them.
"""

from uncertain_botec.plots.backtests import Told, Within, coverage, intervals, percentiles, score_gaps
from uncertain_botec.plots.bars import bill, shares, value_of_information
from uncertain_botec.plots.cost_and_time import joint
from uncertain_botec.plots.curves import gap_curves, s_curve, s_curves
from uncertain_botec.plots.figure import DARK, LIGHT, Figure
from uncertain_botec.plots.priors import prior
from uncertain_botec.plots.sweeps import pareto, surface, sweep_lines
from uncertain_botec.plots.tornadoes import tornado

__all__ = [
    "DARK",
    "LIGHT",
    "Figure",
    "Told",
    "Within",
    "bill",
    "coverage",
    "gap_curves",
    "intervals",
    "joint",
    "pareto",
    "percentiles",
    "prior",
    "s_curve",
    "s_curves",
    "score_gaps",
    "shares",
    "surface",
    "sweep_lines",
    "tornado",
    "value_of_information",
]
