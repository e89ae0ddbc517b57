"""First-order indices: the part of an output's variance that knowing one input would take away.

S = Var E[Y | X] / Var Y. Also among correlated inputs this is what X tells of Y, be it through others; the indices of
correlated inputs overlap.
"""

from __future__ import annotations

import numpy as np

from uncertain_botec.sensitivity.indices import Index, ratio_of
from uncertain_botec.tallies import Floats

# Of an input of which more neighbours than this are equal, those that are tell enough.
_MOSTLY = 0.5


def first_order(x: Floats, y: Floats, level: float, seed: int = 0) -> Index:
    """The index of one input from draws alone, S = 1 - E[(Y - Y')^2] / (2 Var Y).

    Y' is the output at the next larger input. This is the rank estimator of Gamboa, Gremaud, Klein and Lagnoux
    (Bernoulli 28(4), 2022), S = Cov(Y, Y') / Var Y, without their pair of the largest input and the smallest, which
    moves it by more than its error where those outputs are far apart.

    The draws have to be independent: on a lattice, draws that are neighbours in one input are a fixed step apart in all
    others, so that how alike Y and Y' are is by design and not by chance. Equal inputs come in random order, so that Y
    and Y' have this input in common and nothing else; where most are equal, pairs of unequal ones are left out, which
    lie a whole value apart.

    Args:
        x: the input's draws, of shape (replicates, size).
        y: the output's.
        level: of the interval.
        seed: of the order among equal inputs.
    """
    ties = np.random.default_rng([seed, x.size]).random(x.shape)
    unexplained = np.empty(len(x))
    for place, (row, values, tie) in enumerate(zip(y, x, ties, strict=True)):
        order = np.lexsort((tie, values))
        squares, same = np.diff(row[order]) ** 2, np.diff(values[order]) == 0
        unexplained[place] = np.mean(squares[same] if same.mean() > _MOSTLY else squares) / 2
    wholes = y.var(axis=1, ddof=1)
    return ratio_of(wholes - unexplained, wholes, level)


def first_order_of_twins(y: Floats, twin: Floats, level: float) -> Index:
    """The index of what two runs have in common: S = Cov(Y, Y') / Var Y.

    For what cannot be put in order, such as luck (Sobol' 1993; both runs estimate the mean and the variance, as in
    Janon, Klein, Lagnoux, Nodet and Prieur, ESAIM: PS 18, 2014).

    Args:
        y: the output, of shape (replicates, size).
        twin: the output where that is the same and all else is drawn anew.
        level: of the interval.
    """
    mean = (y.mean() + twin.mean()) / 2
    one, other = y - mean, twin - mean
    means = (one.mean(axis=1) + other.mean(axis=1)) / 2
    parts = np.mean(one * other, axis=1) - means**2
    wholes = np.mean(one**2 + other**2, axis=1) / 2 - means**2
    return ratio_of(parts, wholes, level)
