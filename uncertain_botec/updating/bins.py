"""A progress log reduced to at most 128 bins, whatever its length.

Little is lost. Inside a bin the logarithm of the speed varies about one level with independent noise, whose variance
falls as 1/length: then the average speed of the bin is a sufficient statistic for the level, and further rows inside it
tell only of the noise's size, which a hundred bins give to 7 % (1 / sqrt(2 K)) already. Bins are no shorter than a day,
because restarts, evaluations and data stages make hours within a day anything but independent: the average of an hour
is as far from the run's as that of a day.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from uncertain_botec.updating.progress_log import ProgressLog

Floats = npt.NDArray[np.float64]

DAY = 86400.0
MONTH = 30.0
"""Days by which drift is reckoned."""

LEAST_NOISE = 0.01

MOST_BINS = 128
KNOTS = 8
"""Steps of the drift over the logged time; it is slow, so that a finer grid adds numbers to sample and no fit."""

# 5 % of noise by day, where the logarithm of the speed moves by about 0.2 with one ε.
_SCALE = 0.25

# A bin without progress has no logarithm: it stands for one at a hundredth of the average speed.
_FLOOR = 0.01

# Arrays have one of these sizes, so that logs share what is compiled.
_SIZES = (8, 32, MOST_BINS)


class Evidence(NamedTuple):
    """What the model is told of a log; arrays alone, so that many logs can be stacked.

    Attributes:
        log_speed: ln of tokens by day in each bin, by accelerator-day where the log tells accelerators; shape (bins,).
        days: length of each bin.
        there: whether the bin is one of the log's, or fills the arrays up.
        steps: G, by which the drift in the bins is δ G ξ (see `model`); shape (bins, knots).
        interruptions: how many were counted; 0 where none were.
        exposure: days, or accelerator-days, in which they were.
        average: ln of the average speed, near which the sampler looks first; what it finds does not depend on it.
        scale: c, how far from it in units of ε, likewise.
    """

    log_speed: Floats
    days: Floats
    there: Floats
    steps: Floats
    interruptions: Floats
    exposure: Floats
    average: Floats
    scale: Floats


class Binned(NamedTuple):
    """A log in bins.

    Attributes:
        evidence: for the model.
        width: usual length of a bin in days; the future is simulated in as many.
        now: g, by which the drift at the last row is δ g Σ ξ.
    """

    evidence: Evidence
    width: float
    now: float


def binned(log: ProgressLog, knots: int = KNOTS) -> Binned:
    """The log in bins: whole days, fewer than 128."""
    days = log.seconds / DAY
    span = float(days[-1] - days[0])
    width = max(1.0, float(math.ceil(span / (MOST_BINS - 1))))
    edges = _edges(days, width)
    held = np.diff(days) if log.accelerators is None else np.diff(days) * log.accelerators[:-1]
    worked = np.append(0.0, np.cumsum(held))
    lengths, exposure, done = (np.diff(one[edges]) for one in (days, worked, log.tokens))
    average = done.sum() / exposure.sum()
    log_speed = np.log(np.maximum(done / exposure, _FLOOR * average))
    middle = 0.5 * (days[edges][1:] + days[edges][:-1]) - days[0]
    counted = 0.0 if log.interruptions is None else log.interruptions
    average_speed, reach = math.log(average), _SCALE / math.sqrt(max(span, 1.0))
    whole = log.elapsed / DAY if log.accelerator_seconds is None else log.accelerator_seconds / DAY
    size = next(one for one in _SIZES if one >= len(lengths))
    fill = (0, size - len(lengths))
    evidence = Evidence(
        np.pad(log_speed, fill),
        np.pad(lengths, fill, constant_values=1.0),
        np.pad(np.ones(len(lengths)), fill),
        np.pad(drift_steps(middle, span, knots), (fill, (0, 0))),
        *(np.asarray(one, np.float64) for one in (counted, whole, average_speed, reach)),
    )
    return Binned(evidence, width, math.sqrt(span / knots / MONTH))


def _edges(days: Floats, width: float) -> npt.NDArray[np.int64]:
    """Rows at which bins end: the first at least a width after the last one; a short rest joins the last bin."""
    edges = [0]
    while True:
        place = int(np.searchsorted(days, days[edges[-1]] + width * (1 - 1e-9)))
        if place >= len(days):
            break
        edges.append(place)
    if edges[-1] < len(days) - 1:
        rest = days[-1] - days[edges[-1]]
        if len(edges) > 1 and rest < width / 2:
            edges.pop()
        edges.append(len(days) - 1)
    return np.array(edges)


def drift_steps(middle: Floats, span: float, knots: int) -> Floats:
    """G with δ G ξ the drift at the middle of each bin, a random walk joined by straight lines between its knots.

    G_kj = sqrt(Δ) min(max((m_k - t_(j-1)) / Δ, 0), 1), where the knots t_j are Δ = span / knots apart, with the Δ under
    the root in months.
    """
    length = span / knots
    starts = length * np.arange(knots)
    return np.asarray(math.sqrt(length / MONTH) * np.clip((middle[:, None] - starts) / length, 0.0, 1.0))


def noise_of(noise: Any, xp: Any) -> Any:
    """sqrt(σ^2 + 0.01^2), in an array namespace: no run is steadier than 1 % from day to day."""
    return xp.sqrt(noise**2 + LEAST_NOISE**2)


def averaged(noise: Any, days: Any, xp: Any) -> Any:
    """The noise of an average over some days, in an array namespace; that over a part of a day is the day's."""
    return noise / xp.sqrt(xp.maximum(days, 1.0))
