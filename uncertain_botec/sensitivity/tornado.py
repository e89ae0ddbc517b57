"""Tornadoes: an output where one input is in its lowest or highest tenth, and where it alone moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from uncertain_botec.distributions.level import Z90
from uncertain_botec.sensitivity.indices import REPLICATES
from uncertain_botec.tallies import Floats, standard_error

if TYPE_CHECKING:  # to show results takes no JAX
    from uncertain_botec.sampling.points import Words
    from uncertain_botec.sensitivity.models import Model

TAIL = 0.1
"""How much of an input's draws each end of a bar looks at."""

# Points in a row of simulated runs: a median of luck.
_LUCK = 256


@dataclass(frozen=True)
class Tail:
    """The output where one input is at one of its ends.

    Attributes:
        threshold: the end of it that lies inside: the input is at most, or at least, this.
        mass: the part of the draws in it; a tenth, or more where equal values cannot be told apart.
        mean, median: of the output there. A low input may well give a high output.
        mean_error, median_error: their standard errors.
    """

    threshold: float
    mass: float
    mean: float
    mean_error: float
    median: float
    median_error: float


def tails(x: Floats, y: Floats) -> tuple[Tail, Tail]:
    """The output's draws where the input's are lowest and highest, everything else being what it then is.

    Nothing is held: interactions and correlated inputs count as they come.

    Args:
        x: the input's draws, of shape (replicates, size).
        y: the output's.
    """
    ordered = np.sort(x, axis=None)
    count = math.ceil(TAIL * ordered.size)
    low, high = float(ordered[count - 1]), float(ordered[-count])
    return _tail(low, x <= low, y), _tail(high, x >= high, y)


def whole(y: Floats) -> Tail:
    """All draws of the output, as a tail: what an input without influence has at either end."""
    return _tail(math.nan, np.ones(y.shape, bool), y)


def _tail(threshold: float, inside: np.ndarray, y: Floats) -> Tail:
    some = y[inside]
    rows = [row[there] for row, there in zip(y, inside, strict=True) if there.any()]
    means = np.array([_mean(row) for row in rows])
    medians = np.array([_median(row) for row in rows])
    return Tail(
        threshold,
        float(inside.mean()),
        _mean(some),
        float(standard_error(means)),
        _median(some),
        float(standard_error(medians)),
    )


def _mean(values: Floats) -> float:
    # A constant's sum would round.
    return float(values[0]) if np.all(values == values[0]) else float(values.mean())


def _median(values: Floats) -> float:
    low, high = np.partition(values, [(values.size - 1) // 2, values.size // 2])[
        [(values.size - 1) // 2, values.size // 2]
    ]
    # Two infinite middles have no mean by halves of their difference.
    return float(low) if low == high else float((low + high) / 2)


@dataclass(frozen=True)
class Swing:
    """The output where one input is at its P10 and its P90 and all others are at their medians.

    Attributes:
        at_p10, at_p90: the output, whose median over luck it is where luck matters.
    """

    at_p10: float
    at_p90: float


def one_at_a_time(model: Model, keys: Words) -> tuple[float, dict[str, Swing]]:
    """The output where all inputs are at their medians, and where each in turn is at its P10 and P90.

    Args:
        model: of the output.
        keys: of luck, one for each replicate; every setting has the same luck.
    """
    settings = 1 + 2 * len(model.names)
    luck = REPLICATES if model.chance else 1
    points = _LUCK if model.chance else 1
    scores = {name: np.zeros((settings, luck, points)) for name in model.streams}
    for place, name in enumerate(model.names):
        scores[name][1 + 2 * place : 3 + 2 * place] = np.array([-Z90, Z90])[:, None, None]
    flat = {name: one.reshape(settings * luck, points) for name, one in scores.items()}
    values = np.asarray(model.function(flat, np.tile(keys[:luck], (settings, 1)))).reshape(settings, -1)
    middles = [_median(row) for row in values]
    swings = {name: Swing(middles[1 + 2 * place], middles[2 + 2 * place]) for place, name in enumerate(model.names)}
    return middles[0], swings
