"""Shapley effects: the variance of an output shared out among its inputs, correlated or not, and nothing left over.

An input's effect is what it adds to the variance explained, Var E[Y | X_u], averaged over all orders in which the
inputs can become known (Owen, SIAM/ASA J. Uncertainty Quantification 2, 2014; Song, Nelson and Staum, ibid. 4, 2016).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from uncertain_botec.sampling.points import Words, point_set
from uncertain_botec.sensitivity.indices import REPLICATES, Index, ratio_of, resolved
from uncertain_botec.sensitivity.models import CHANCE, Model, Scores, drawn, keys_of
from uncertain_botec.tallies import Floats

Ints = npt.NDArray[np.int64]

# Orders that a replicate goes through at a time, each beside its reverse, and points for each.
_ORDERS = 16
_POINTS = 256


@dataclass(frozen=True)
class Shapley:
    """How the variance of an output is shared out.

    Attributes:
        effects: of each input, and of luck, as parts of the variance; their sum is 1. Empty where the variance is 0, or
            infinite.
        variance: of the output.
        resolved: whether the draws say what the variance is; where rare extremes decide it, the effects mean nothing.
        draws: points that the walks started from.
    """

    effects: Mapping[str, Index]
    variance: float
    resolved: bool
    draws: int


def shapley(
    model: Model,
    draws: int = 1 << 16,
    *,
    seed: int = 0,
    level: float = 0.9,
    scale: Callable[[Floats], Floats] = np.asarray,
) -> Shapley:
    """Shapley effects by walks from redrawn inputs back to the drawn ones.

    Y is the output at a draw. In a random order π of the inputs let Y_k be the output where the first k inputs are as
    in Y and the others are drawn anew from their law given those: Y_d is Y, and Y_0 is independent of it. Then

        Var φ_πk = E[(Y - (Y_k + Y_{k-1}) / 2) (Y_k - Y_{k-1})].

    For E[Y Y_k] = E[E[Y | X_1..k]^2], as Y and Y_k are independent and alike given the first k, so that E[Y (Y_k -
    Y_{k-1})] is what the k-th adds to the variance explained; and E[Y_k^2 - Y_{k-1}^2] = 0, as all Y_k have one law.
    The sum over k is (Y - Y_0)^2 / 2 draw by draw, so that the effects add up to the variance exactly. (Goda,
    Reliability Engineering & System Safety 206, 2021, for independent inputs; here the conditional draws of a Gaussian
    copula make it hold for correlated ones.) Each draw takes d + 1 evaluations.

    Args:
        model: of the output.
        draws: at least how many draws to walk to.
        seed: of the draws and orders.
        level: of the intervals.
        scale: an increasing function of the output whose variance is meant, such as the logarithm.
    """
    players = model.players
    each = max(1 << (-(-draws // REPLICATES) - 1).bit_length(), 4 * _ORDERS)
    count = min(_POINTS, each // _ORDERS)
    points = point_set("sobol", each * REPLICATES, seed, REPLICATES)
    parts = np.zeros((REPLICATES, len(players)))
    wholes = np.zeros(REPLICATES)
    for start in range(0, each, _ORDERS * count):
        size = _ORDERS * count
        ours = drawn(points, model.streams, "drawn", start, size)
        others = drawn(points, model.streams, "redrawn", start, size, first=len(model.names))
        walk = _Walk(
            model,
            _in_rows(ours, count),
            _in_rows(others, count),
            keys_of(seed, f"drawn {start}", REPLICATES * _ORDERS),
            keys_of(seed, f"redrawn {start}", REPLICATES * _ORDERS),
            _orders(len(players), seed, start),
        )
        gains, total = walk.gains(scale)
        parts += gains
        wholes += total
    if not np.all(np.isfinite(wholes)) or not np.any(wholes > 0):
        return Shapley({}, float(wholes.mean()), not np.any(wholes), each * REPLICATES)
    batches = each // (_ORDERS * count)
    effects = {name: ratio_of(parts[:, place], wholes, level) for place, name in enumerate(players)}
    return Shapley(effects, float(wholes.mean()) / batches, resolved(wholes), each * REPLICATES)


def _in_rows(scores: Scores, count: int) -> Scores:
    """One row for each replicate and order."""
    return {name: one.reshape(-1, count) for name, one in scores.items()}


def _orders(players: int, seed: int, batch: int) -> Ints:
    """Random orders and their reverses, other ones for each replicate, of shape (replicates x orders, players)."""
    random = np.random.default_rng([seed, batch, players])
    half = np.tile(np.arange(players), (REPLICATES, _ORDERS // 2, 1))
    half = random.permuted(half, axis=2)
    return np.concatenate([half, half[:, :, ::-1]], axis=1).reshape(-1, players)


@dataclass(frozen=True)
class _Walk:
    """One order of the players for each row of points.

    Attributes:
        model: of the output.
        ours, others: independent scores, drawn and redrawn.
        keys, other_keys: of luck.
        orders: of the players, of shape (rows, players).
    """

    model: Model
    ours: Scores
    others: Scores
    keys: Words
    other_keys: Words
    orders: Ints

    def gains(self, scale: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
        """By replicate: what each player adds, and what all add together; sums over orders, means over points."""
        rows, players = self.orders.shape
        ranks = np.argsort(self.orders, axis=1)
        factors = self._factors(ranks)
        base = scale(self._at(players, ranks, factors))
        before = scale(self._at(0, ranks, factors))
        gains = np.zeros((rows, players))
        with np.errstate(invalid="ignore"):
            total = np.mean((base - before) ** 2, axis=1) / 2
        for step in range(1, players + 1):
            after = base if step == players else scale(self._at(step, ranks, factors))
            with np.errstate(invalid="ignore"):
                gain = np.mean((base - (after + before) / 2) * (after - before), axis=1)
            gains[np.arange(rows), self.orders[:, step - 1]] = gain
            before = after
        return (
            gains.reshape(REPLICATES, -1, players).mean(axis=1),
            total.reshape(REPLICATES, -1).mean(axis=1),
        )

    def _at(self, step: int, ranks: Ints, factors: Floats) -> Floats:
        """The output where the first so many of each row's order are as drawn."""
        held = ranks < step
        model = self.model
        scores = {
            name: np.where(held[:, place, None], self.ours[name], self.others[name])
            for place, name in enumerate(model.streams)
        }
        keys = self.keys
        if model.chance:
            keys = np.where(held[:, model.players.index(CHANCE), None], self.keys, self.other_keys)
        return model.function(model.correlate(scores, factors) if len(factors) else scores, keys)

    def _factors(self, ranks: Ints) -> Floats:
        """Each row's factor of the correlated inputs; they depend on how these are ordered among themselves alone."""
        places = list(self.model.correlated)
        if not places:
            return np.zeros((0, 0, 0))
        known: dict[tuple[int, ...], Floats] = {}
        found = []
        for row in ranks[:, places]:
            order = tuple(np.argsort(row).tolist())
            if order not in known:
                known[order] = self.model.factor(row.tolist())
            found.append(known[order])
        return np.stack(found)
