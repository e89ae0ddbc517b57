"""What it is worth to know an input before deciding: EVPI, and EVPPI by nested simulation.

With net values V_a of alternatives a,

    EVPI     = E[max_a V_a] - max_a E[V_a],
    EVPPI(A) = E[max_a E[V_a | X_A]] - max_a E[V_a],

and 0 <= EVPPI(A) <= EVPPI(A and B) <= EVPI (Raiffa and Schlaifer, Applied Statistical Decision Theory, 1961).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from uncertain_botec.sampling.points import PointSet, point_set
from uncertain_botec.sensitivity.indices import REPLICATES, Index, index_of
from uncertain_botec.sensitivity.models import Model, Scores, drawn, keys_of
from uncertain_botec.tallies import Floats

# How many times the rest is drawn for each draw of a set.
_INNER = 128

# Farther from a change of the decision than so many times all draws are apart, no draw would change it.
_FAR = 10.0

Set = tuple[str, ...]


@dataclass(frozen=True)
class Worth:
    """The value of information for one decision.

    Attributes:
        means: expected net value of each alternative, by its place.
        best: the place of the alternative that is best as things are known.
        perfect: EVPI.
        partial: EVPPI by set of inputs.
    """

    means: tuple[Index, ...]
    best: int
    perfect: Index
    partial: Mapping[Set, Index]


def worth_of_information(
    model: Model, sets: Sequence[Set], draws: int = 1 << 16, *, seed: int = 0, level: float = 0.9
) -> Worth:
    """EVPI and the EVPPI of sets of inputs.

    Inputs of a set are drawn, and for each draw all others from their law given these, exactly: no model is fitted. The
    mean of so few inner draws is noisy, and the best of noisy means is too good, by something that is proportional to
    the variance of the noise where that is small. The inner draws are two independent halves, whose means have twice
    the variance of the mean of both: twice the result less that of the halves is free of it (the antithetic difference
    of Giles and Haji-Ali, SIAM/ASA J. Uncertainty Quantification 7, 2019, at one level).

    Estimates are moved by their noise at most to keep the order that EVPPI has: none is below 0 or above EVPI, and none
    below that of a set it contains.

    Args:
        model: whose function gives net values, of shape (alternatives, rows, points).
        sets: names of inputs that would become known together.
        draws: at least how many, for EVPI and for each set.
        seed: of the draws.
        level: of the intervals.
    """
    half = max(1 << (-(-draws // (2 * REPLICATES)) - 1).bit_length(), _INNER)
    points = point_set("sobol", half * REPLICATES, seed, REPLICATES)
    first, second = (
        drawn(points, model.streams, f"inner {part}", 0, half, first=len(model.names)) for part in range(2)
    )
    inner = {name: np.concatenate([first[name], second[name]], axis=1) for name in model.streams}
    keys = keys_of(seed, "inner", REPLICATES)
    values = model.at(inner, keys)
    means = values.mean(axis=2)
    best = int(np.argmax(means.mean(axis=1)))
    with np.errstate(invalid="ignore"):
        perfect = _index(np.mean(_gain(values, best), axis=1), values - values[best], level)
    partial = {
        known: _index(*_gains(model, known, inner, points, best, means[best], seed), level)
        for known in dict.fromkeys(tuple(sorted(one)) for one in sets)
    }
    return Worth(tuple(index_of(one, level) for one in means), best, perfect, ordered(partial, perfect))


def _gains(
    model: Model, known: Set, inner: Scores, points: PointSet, best: int, expected: Floats, seed: int
) -> tuple[Floats, Floats]:
    """What knowing a set gains on the best alternative, by replicate, and what the others gain given each draw of it.

    The best one's means over everything are expected.
    """
    count = next(iter(inner.values())).shape[1] // _INNER
    outer = drawn(points, known, "outer", 0, count)
    # A row for each outer draw, with inner ones of both kinds.
    scores = {
        name: outer[name].reshape(-1, 1) + np.zeros(_INNER)
        if name in known
        else one.reshape(REPLICATES, 2, count, -1).swapaxes(1, 2).reshape(-1, _INNER)
        for name, one in inner.items()
    }
    values = model.at(scores, keys_of(seed, "outer", REPLICATES * count), known)
    halves = values.reshape(*values.shape[:2], 2, -1).mean(axis=3)
    means = halves.mean(axis=2)
    with np.errstate(invalid="ignore"):
        gains = _gain(means, best) * 2 - (_gain(halves[..., 0], best) + _gain(halves[..., 1], best)) / 2
        gains, control = gains.reshape(REPLICATES, -1), means[best].reshape(REPLICATES, -1)
        # The best alternative's mean is known better from all draws than from these: a control variate.
        spread = control.var()
        slope = np.mean((control - control.mean()) * (gains - gains.mean())) / spread if spread > 0 else 0.0
        corrected = gains.mean(axis=1) - slope * (control.mean(axis=1) - expected)
        return corrected if np.all(np.isfinite(corrected)) else gains.mean(axis=1), means - means[best]


def _index(each: Floats, gains: Floats, level: float) -> Index:
    """The mean over replicates, with an error not below what one draw more that changes the decision would make.

    Where knowing seldom changes the decision, few draws or none say how much it gains, and their spread is no error.

    Args:
        each: by replicate.
        gains: of each alternative on the best one, of shape (alternatives, draws).
        level: of the interval.
    """
    return index_of(each, level, least=max(map(_typical, gains)) / gains[0].size)


def _typical(gains: Floats) -> float:
    """How far gains are from their mean, or from 0 where that is infinite; 0 where they are far from any at all."""
    finite = gains[np.isfinite(gains)]
    if finite.size == gains.size:
        if gains.min() == gains.max() or gains.max() < -_FAR * np.ptp(gains):
            # A constant's spread would round, and no draw to come makes good so much.
            return 0.0
        return float(finite.std())
    return float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0


def _gain(means: Floats, best: int) -> Floats:
    gain: Floats = means.max(axis=0) - means[best]
    return gain


def ordered(partial: Mapping[Set, Index], perfect: Index) -> dict[Set, Index]:
    """EVPPI moved into its order: at least 0 and that of any set within, at most EVPI."""
    found: dict[Set, Index] = {}
    for known in sorted(partial, key=len):
        one = partial[known]
        least = max((found[other].value for other in found if {*other} <= {*known}), default=0.0)
        value = min(max(one.value, least), perfect.value)
        half = (one.high - one.low) / 2
        # What is worth as much as everything may well be worth more only as far as everything may.
        high = max(min(value + half, perfect.high), value)
        found[known] = Index(value, one.error, max(value - half, 0.0), high)
    return {known: found[known] for known in partial}
