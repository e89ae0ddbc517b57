"""The rest of a run, simulated bin by bin for every draw of what was learnt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from uncertain_botec.updating.bins import MONTH, averaged, noise_of

Floats = npt.NDArray[np.float64]

# A draw that is not through after so many bins goes on at the speed that it has come to: noise and outages have long
# averaged out by then.
_MOST_BINS = 4096


class Learnt(NamedTuple):
    """What the future follows from, one number for each draw.

    Attributes:
        log_rate: ln of the average speed now, tokens by day, outages included.
        noise: σ, from day to day.
        drift: δ, by the square root of a month.
        outage: q, the part of bins with an outage.
    """

    log_rate: Floats
    noise: Floats
    drift: Floats
    outage: Floats


def remaining_days(tokens: Floats, learnt: Learnt, width: float, random: np.random.Generator) -> Floats:
    """Days that the tokens left take, with the drift, the noise and the outages of the model in bins of `width` days.

    The last bin is taken in part, as if its progress were even.

    Args:
        tokens: that are left, for each draw.
        learnt: from the log.
        width: of a bin.
        random: where the randomness comes from; draws are simulated side by side.
    """
    left, days = np.array(tokens, np.float64), np.zeros(len(tokens))
    going = np.flatnonzero(left > 0)
    scale, step = averaged(noise_of(learnt.noise, np), width, np), learnt.drift * np.sqrt(width / MONTH)
    level = learnt.log_rate - np.log1p(-learnt.outage / 2) - scale**2 / 2
    drift = np.zeros(len(tokens))
    for _ in range(_MOST_BINS):
        if not len(going):
            return days
        drift[going] += step[going] * random.normal(size=len(going))
        log_speed = level[going] + drift[going] + scale[going] * random.normal(size=len(going))
        stopped = random.random(len(going)) < learnt.outage[going]
        part = np.where(stopped, random.random(len(going)), 1.0)
        made = width * part * np.exp(log_speed)
        days[going] += width * np.minimum(left[going] / np.maximum(made, 1e-300), 1.0)
        left[going] -= made
        going = going[left[going] > 0]
    days[going] += left[going] / np.exp(learnt.log_rate[going] + drift[going])
    return days


def as_learnt(draws: Mapping[str, Floats], now: float) -> Learnt:
    """What a posterior says of the future; parts that a model leaves out are nothing.

    Args:
        draws: by parameter, of shape (draws, ...).
        now: g, by which the drift at the last row is δ g Σ ξ.
    """
    rate = draws["log_rate"]
    nothing = np.zeros_like(rate)
    drift = draws.get("drift", nothing)
    walked = now * drift * draws["steps"].sum(axis=-1) if "steps" in draws else nothing
    return Learnt(rate + walked, draws["noise"], drift, draws.get("outage", nothing))
