"""Exact quantiles by bracketed root finding, for distributions without an inverse of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from uncertain_botec.distributions.base import Distribution, Floats
from uncertain_botec.distributions.level import score_of_tails

MOST_STEPS = 200
SMALLEST = 1e-300


def invert(distribution: Distribution, z: ArrayLike, low: ArrayLike, high: ArrayLike, *, log: bool = False) -> Floats:
    """The x in [low, high] with F(x) = Phi(z), elementwise, to the resolution of float64.

    The equation is solved in the normal score, which is accurate in both tails and nearly straight; with `log` as a
    function of ln x, for distributions on x > 0 that span orders of magnitude. A bracket whose end already overshoots
    by rounding gives that end, and an infinite end itself.
    """
    z, low, high = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (z, low, high)))

    def excess(y: Floats) -> Floats:
        x = np.exp(y) if log else y
        return np.asarray(score_of_tails(distribution.cdf(x), distribution.sf(x)) - z)

    endless = np.isinf(low) | np.isinf(high)
    first, last = np.where(endless, 1.0, low), np.where(endless, 1.0, high)
    if log:
        root = np.exp(find_roots(excess, np.log(np.maximum(first, SMALLEST)), np.log(np.maximum(last, SMALLEST))))
    else:
        root = find_roots(excess, first, last)
    root = np.where(endless, np.where(np.isinf(high), high, low), root)
    return np.where(low == high, low, np.clip(root, low, high))


def find_roots(f: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Roots of an elementwise increasing function in brackets, by Chandrupatla's method.

    Inverse quadratic interpolation where the last three points bend little enough, else bisection (Chandrupatla,
    Advances in Engineering Software 28, 1997), in turn of the values and of their orders of magnitude: a root of 1e-200
    is found as well as one of 0.5. `scipy.optimize.elementwise.find_root` knows no magnitudes, and its bookkeeping
    takes 0.2 ms a step, which is most of the time to build a table.
    """
    a, b = low, high
    fa, fb = np.minimum(f(a), -SMALLEST), np.maximum(f(b), SMALLEST)
    x = a + 0.5 * (b - a)
    best = a
    for step in range(MOST_STEPS):
        fx = f(x)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        best = np.where(np.abs(fa) < np.abs(fb), a, b)
        width = np.abs(b - a)
        resolution = 2.0**-50 * np.abs(best) + SMALLEST
        if np.all((width <= 2.0 * resolution) | (fa == 0.0)):
            break
        with np.errstate(all="ignore"):
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            bent = (phi**2 >= xi) | ((1.0 - phi) ** 2 >= 1.0 - xi)
            t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            least = np.minimum(resolution / width, 0.5)
        middle = _middle(a, b) if step % 2 else a + 0.5 * (b - a)
        x = np.where(bent | ~np.isfinite(t), middle, a + np.clip(t, least, 1.0 - least) * (b - a))
    return best


def _middle(a: Floats, b: Floats) -> Floats:
    """Zero between values of both signs, the geometric mean of those far apart, else the arithmetic one."""
    smaller = np.maximum(np.minimum(np.abs(a), np.abs(b)), SMALLEST)
    larger = np.maximum(np.abs(a), np.abs(b))
    geometric = np.copysign(np.sqrt(smaller) * np.sqrt(larger), a + b)
    return np.where(np.sign(a) * np.sign(b) < 0, 0.0, np.where(larger > 16.0 * smaller, geometric, a + 0.5 * (b - a)))
