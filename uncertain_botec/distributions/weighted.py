"""Weighted alternatives: choice among values, mixture of distributions, and a sample of observations."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from uncertain_botec.distributions.base import Distribution, Floats, Support
from uncertain_botec.distributions.counts import whole
from uncertain_botec.distributions.inverse import invert
from uncertain_botec.distributions.level import Level
from uncertain_botec.distributions.normal import Fixed


@dataclass(frozen=True)
class Choice(Distribution):
    """One of the values, in ascending order, with probabilities `weights`."""

    values: tuple[float, ...]
    weights: tuple[float, ...]
    family: ClassVar[str] = "choice"

    @property
    def discrete(self) -> bool:
        return True

    @property
    def support(self) -> Support:
        return (self.values[0], self.values[-1])

    def cdf(self, x: ArrayLike) -> Floats:
        return np.concatenate(([0.0], _up_to_one(self.weights)))[np.searchsorted(self.values, x, side="right")]

    def sf(self, x: ArrayLike) -> Floats:
        beyond = np.concatenate((_up_to_one(self.weights[::-1])[::-1], [0.0]))
        return beyond[np.searchsorted(self.values, x, side="right")]

    def quantile(self, level: Level) -> Any:
        xp = level.u.__array_namespace__()
        values = xp.asarray(self.values, dtype=level.u.dtype)
        steps = xp.cumulative_sum(xp.asarray(self.weights, dtype=level.u.dtype))[:-1]
        return values[xp.searchsorted(steps, level.u, side="left")]

    def mean(self) -> float:
        return math.fsum(w * v for w, v in zip(self.weights, self.values, strict=True))

    def sd(self) -> float:
        mean = self.mean()
        return math.sqrt(math.fsum(w * (v - mean) ** 2 for w, v in zip(self.weights, self.values, strict=True)))

    def atoms(self) -> tuple[tuple[float, float], ...]:
        return tuple(zip(self.values, self.weights, strict=True))

    def count_extension(self) -> Distribution | None:
        return Mixture(tuple(Fixed(v) for v in self.values), self.weights).count_extension()

    def sampling_form(self) -> Distribution:
        """The same with arrays for tuples, so that a kernel takes two leaves however many values there are."""
        return _with_arrays(self, "values", "weights")

    def to_numpyro(self) -> Any:
        import numpyro.distributions as dist

        points = dist.Delta(np.array(self.values))
        return dist.MixtureSameFamily(dist.Categorical(probs=np.array(self.weights)), points)


@dataclass(frozen=True)
class Mixture(Distribution):
    """A draw from one of the components, chosen with probabilities `weights`."""

    components: tuple[Distribution, ...]
    weights: tuple[float, ...]
    family: ClassVar[str] = "mixture"
    closed_form: ClassVar[bool] = False

    @property
    def discrete(self) -> bool:
        return all(component.discrete for component in self.components)

    @property
    def jumps(self) -> bool:
        return True

    @property
    def support(self) -> Support:
        lows, highs = zip(*(component.support for component in self.components), strict=True)
        return (min(lows), max(highs))

    def _average(self, parts: Iterable[Any]) -> Any:
        return sum(weight * part for weight, part in zip(self.weights, parts, strict=True))

    def cdf(self, x: ArrayLike) -> Floats:
        return np.asarray(np.minimum(self._average(component.cdf(x) for component in self.components), 1.0))

    def sf(self, x: ArrayLike) -> Floats:
        return np.asarray(np.minimum(self._average(component.sf(x) for component in self.components), 1.0))

    def quantile(self, level: Level) -> Any:
        extension = self.count_extension()
        if extension is not None:
            return np.asarray(whole(extension.quantile(level)))
        parts = np.stack([np.broadcast_to(c.quantile(level), np.shape(level.z)) for c in self.components])
        low, high = parts.min(axis=0), parts.max(axis=0)
        if self.atoms():
            # F jumps at an atom: the levels of the jump belong to the atom itself.
            points, masses = np.array(self.atoms()).T
            at_most = self.cdf(points)
            first = np.minimum(np.searchsorted(at_most, level.u), len(points) - 1)
            jump = (level.u <= at_most[first]) & (level.u > at_most[first] - masses[first])
            low, high = np.where(jump, points[first], low), np.where(jump, points[first], high)
        return invert(self, level.z, low, high, log=self.support[0] >= 0.0)

    def mean(self) -> float:
        return float(self._average(component.mean() for component in self.components))

    def sd(self) -> float:
        mean = self.mean()
        return math.sqrt(self._average(c.sd() ** 2 + (c.mean() - mean) ** 2 for c in self.components))

    def atoms(self) -> tuple[tuple[float, float], ...]:
        masses: defaultdict[float, float] = defaultdict(float)
        for weight, component in zip(self.weights, self.components, strict=True):
            for point, mass in component.atoms():
                masses[point] += weight * mass
        return tuple(sorted(masses.items()))

    def count_extension(self) -> Distribution | None:
        extensions = tuple(component.count_extension() for component in self.components)
        counts = tuple(e for e in extensions if e is not None)
        return Mixture(counts, self.weights) if len(counts) == len(extensions) else None

    def to_numpyro(self) -> Any:
        from uncertain_botec.distributions.numpyro_forms import mixture

        return mixture(self)


@dataclass(frozen=True)
class Empirical(Distribution):
    """Observations in ascending order, joined by straight lines.

    The i-th of n has cumulative probability (i - 1/2) / n (Hazen), so that the mean is the sample's; the half step
    beyond either end sits on the extreme observations: nothing outside the data is invented.
    """

    values: tuple[float, ...]
    family: ClassVar[str] = "empirical"

    @property
    def support(self) -> Support:
        return (self.values[0], self.values[-1])

    def cdf(self, x: ArrayLike) -> Floats:
        return self._up_to(np.array(self.values), np.asarray(x, dtype=np.float64))

    def sf(self, x: ArrayLike) -> Floats:
        # The whole sample less what lies at or below: its steps are 1 / n, so nothing is lost to cancellation.
        return 1.0 - self.cdf(x)

    @staticmethod
    def _up_to(values: Floats, x: Floats) -> Floats:
        n = len(values)
        rank = np.searchsorted(values, x, side="right")
        inner = np.clip(rank, 1, n - 1)
        left, right = values[inner - 1], values[inner]
        share = np.clip((x - left) / np.where(right > left, right - left, 1.0), 0.0, 1.0)
        return np.where(rank == 0, 0.0, np.where(rank == n, 1.0, (inner - 0.5 + share) / n))

    def quantile(self, level: Level) -> Any:
        xp = level.u.__array_namespace__()
        values = xp.asarray(self.values, dtype=level.u.dtype)
        n = values.shape[0]
        rank = xp.clip(n * level.u - 0.5, 0.0, n - 1.0)
        left = xp.clip(xp.floor(rank).astype(np.int32), 0, n - 2)
        return values[left] + (rank - left) * (values[left + 1] - values[left])

    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)

    def sd(self) -> float:
        x = np.array(self.values) - self.mean()
        inner = np.sum(x[1:] ** 2 + x[1:] * x[:-1] + x[:-1] ** 2) / 3.0
        return math.sqrt((inner + 0.5 * (x[0] ** 2 + x[-1] ** 2)) / len(x))

    def atoms(self) -> tuple[tuple[float, float], ...]:
        points, counts = np.unique(self.values, return_counts=True)
        masses = (counts - 1.0) / len(self.values)
        masses[[0, -1]] += 0.5 / len(self.values)
        return tuple((float(p), float(m)) for p, m in zip(points, masses, strict=True) if m > 0)

    def sampling_form(self) -> Distribution:
        """The same with an array for the tuple, so that a kernel takes one leaf."""
        return _with_arrays(self, "values")

    def to_numpyro(self) -> Any:
        raise NotImplementedError("a sample has point masses at its ends, so it has no density to give numpyro")


def _with_arrays(distribution: Choice | Empirical, *names: str) -> Distribution:
    arrays: dict[str, Any] = {name: np.array(getattr(distribution, name)) for name in names}
    return replace(distribution, **arrays)


def _up_to_one(weights: tuple[float, ...]) -> Floats:
    """Cumulative weights, the last exactly 1."""
    total = np.cumsum(weights)
    return np.asarray(np.append(total[:-1], 1.0))


def choice(values: Iterable[float], weights: Iterable[float]) -> Distribution:
    """The choice among values in any order, equal ones merged and impossible ones left out."""
    masses: defaultdict[float, float] = defaultdict(float)
    for value, weight in zip(values, weights, strict=True):
        if weight > 0:
            masses[value] += weight
    ordered = sorted(masses)
    return Fixed(ordered[0]) if len(ordered) == 1 else Choice(tuple(ordered), tuple(masses[v] for v in ordered))


def mixture(components: Iterable[Distribution], weights: Iterable[float]) -> Distribution:
    """The mixture, impossible components left out; of point masses alone, the choice among them."""
    pairs = [(component, weight) for component, weight in zip(components, weights, strict=True) if weight > 0]
    if len(pairs) == 1:
        return pairs[0][0]
    if all(isinstance(component, Fixed | Choice) for component, _ in pairs):
        atoms = [(point, weight * mass) for component, weight in pairs for point, mass in component.atoms()]
        return choice((point for point, _ in atoms), (mass for _, mass in atoms))
    return Mixture(tuple(component for component, _ in pairs), tuple(weight for _, weight in pairs))
