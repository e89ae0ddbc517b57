"""Exact quantiles by bracketed root finding, for distributions whose cumulative probability has no inverse of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from uncertain_botec.distributions.base import Distribution, Floats
from uncertain_botec.distributions.level import score_of_tails


def invert(distribution: Distribution, z: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
    """The x in [low, high] with F(x) = Phi(z), elementwise, to the resolution of float64.

    The equation is solved in the normal score, which is accurate in both tails and nearly straight. A bracket whose
    end already overshoots by rounding gives that end.
    """
    from scipy.optimize.elementwise import find_root  # half of the package's import time

    def excess(x: Floats, target: Floats, low: Floats, high: Floats) -> Floats:
        difference = score_of_tails(distribution.cdf(x), distribution.sf(x)) - target
        difference = np.where(x <= low, np.minimum(difference, -1e-300), difference)
        return np.where(x >= high, np.maximum(difference, 1e-300), difference)

    target, low, high = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (z, low, high)))
    tolerances = {"xatol": 0.0, "xrtol": 2.0**-52, "fatol": 0.0, "frtol": 0.0}
    solved = find_root(excess, (low, high), args=(target, low, high), tolerances=tolerances, maxiter=400)
    return np.where(low == high, low, solved.x)
