"""Functions whose sensitivity and value of information are known exactly, and those exact values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from uncertain_botec.sensitivity.models import Model

Latent = np.ndarray[Any, Any] | None

CORRELATED = np.array([[1, 0.5, 0], [0.5, 1, -0.3], [0, -0.3, 1]])
NAMES = ("a", "b", "c")


def shapley_values(names: Sequence[str], explained: Callable[[tuple[int, ...]], float]) -> dict[str, float]:
    """Averages over all orders of what each adds, as parts of the whole; the definition, for a few inputs."""
    count, whole = len(names), explained(tuple(range(len(names))))
    effects = dict.fromkeys(names, 0.0)
    orders = list(permutations(range(count)))
    for order in orders:
        for place, one in enumerate(order):
            gain = explained(tuple(sorted(order[: place + 1]))) - explained(tuple(sorted(order[:place])))
            effects[names[one]] += gain / len(orders) / whole
    return effects


def linear(weights: Sequence[float], latent: Latent = None) -> Model:
    """Y = sum of w z."""
    names = NAMES[: len(weights)]
    return Model(names, lambda z, _: sum(w * z[n] for w, n in zip(weights, names, strict=True)), latent)


def explained_by(weights: Sequence[float], known: Sequence[int], latent: Latent = None) -> float:
    """Var E[sum of w z | z of the known]."""
    matrix = np.eye(len(weights)) if latent is None else latent
    if not known:
        return 0.0
    covariances = (matrix @ np.asarray(weights))[list(known)]
    return float(covariances @ np.linalg.pinv(matrix[np.ix_(known, known)]) @ covariances)


# Ishigami and Homma (1990), with a = 7 and b = 0.1.
_A, _B = 7.0, 0.1
_VARIANCE = _A**2 / 8 + _B * np.pi**4 / 5 + _B**2 * np.pi**8 / 18 + 1 / 2
_BOTH = 8 * _B**2 * np.pi**8 / 225 / _VARIANCE
ISHIGAMI_FIRST = {
    "a": (1 + _B * np.pi**4 / 5) ** 2 / 2 / _VARIANCE,
    "b": _A**2 / 8 / _VARIANCE,
    "c": 0.0,
}
# Only a and c interact, so each has half of that.
ISHIGAMI_SHAPLEY = {name: part + (_BOTH / 2 if name != "b" else 0) for name, part in ISHIGAMI_FIRST.items()}


def ishigami() -> Model:
    """sin x_a + a sin^2 x_b + b x_c^4 sin x_a, each uniform on (-π, π)."""

    def function(z: Any, _: Any) -> Any:
        a, b, c = (np.pi * (2 * ndtr(z[name]) - 1) for name in NAMES)
        return np.sin(a) + _A * np.sin(b) ** 2 + _B * c**4 * np.sin(a)

    return Model(NAMES, function)


def product(sigmas: Sequence[float]) -> Model:
    """Y = exp(sum of s z), a product of lognormals."""
    names = NAMES[: len(sigmas)]
    return Model(names, lambda z, _: np.exp(sum(s * z[n] for s, n in zip(sigmas, names, strict=True))))


def go_or_stop(sigmas: Sequence[float], budget: float, latent: Latent = None) -> Model:
    """Net values of going, budget - exp(sum of s z), and of stopping, 0."""
    names = NAMES[: len(sigmas)]

    def function(z: Any, _: Any) -> Any:
        cost = np.exp(sum(s * z[n] for s, n in zip(sigmas, names, strict=True)))
        return np.stack([budget - cost, np.zeros_like(cost)])

    return Model(names, function, latent)


def put(mean: float, strike: float, variance: float) -> float:
    """E[(strike - X)+] for a lognormal X of this mean, whose logarithm has this variance (Black and Scholes, 1973)."""
    if variance == 0:
        return max(0.0, strike - mean)
    sd = np.sqrt(variance)
    d = (np.log(strike / mean) + variance / 2) / sd
    return float(strike * norm.cdf(d) - mean * norm.cdf(d - sd))


def worth(sigmas: Sequence[float], budget: float, known: Sequence[int], latent: Latent = None) -> float:
    """EVPPI of `go_or_stop`: given what is known, the mean cost is lognormal."""
    mean = float(np.exp(explained_by(sigmas, range(len(sigmas)), latent) / 2))
    return put(mean, budget, explained_by(sigmas, known, latent)) - max(0.0, budget - mean)
