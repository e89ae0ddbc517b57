"""Truncation: the distribution given that the value lies inside an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from uncertain_botec.distributions.base import Distribution, Floats, Support
from uncertain_botec.distributions.level import Level, level_of_tails


@dataclass(frozen=True)
class Truncated(Distribution):
    """`parent` given low <= x <= high: renormalised, so that no mass gathers at the ends.

    With F, S the parent's tails and M = F(high) - F(low) = S(low) - S(high), a quantile is the parent's where its
    tails are F(low) + u M and S(high) + (1 - u) M: sums of positive terms, accurate however far out the interval is.
    """

    parent: Distribution
    low: float
    high: float
    family: ClassVar[str] = "truncated"
    closed_form: ClassVar[bool] = False

    @property
    def support(self) -> Support:
        low, high = self.parent.support
        return (max(low, self.low), min(high, self.high))

    @property
    def jumps(self) -> bool:
        return self.parent.jumps

    @property
    def mass(self) -> float:
        """The share of the parent that lies inside."""
        return float(self._between(self.high))

    @property
    def mass_cut(self) -> float:
        return self._below() + float(self.parent.sf(self.high))

    def _below(self) -> float:
        """P(parent < low), which leaves an atom at the lower end in."""
        return max(0.0, float(self.parent.cdf(self.low)) - self._atom())

    def _atom(self) -> float:
        return math.fsum(mass for point, mass in self.parent.atoms() if point == self.low)

    def _between(self, x: ArrayLike) -> Floats:
        """P(low <= parent <= x), from the tails on the side where they are small."""
        beyond = float(self.parent.sf(self.low)) + self._atom()
        below = self._below()
        return beyond - self.parent.sf(x) if below > 0.5 else self.parent.cdf(x) - below

    def cdf(self, x: ArrayLike) -> Floats:
        return np.clip(self._between(np.clip(x, self.low, self.high)) / self.mass, 0.0, 1.0) * (
            np.asarray(x) >= self.low
        )

    def sf(self, x: ArrayLike) -> Floats:
        x = np.clip(x, self.low, self.high)
        from_above = self.parent.sf(x) - self.parent.sf(self.high)
        from_below = self.parent.cdf(self.high) - self.parent.cdf(x)
        return np.clip(np.where(self.parent.cdf(x) > 0.5, from_above, from_below) / self.mass, 0.0, 1.0)

    def quantile(self, level: Level) -> Any:
        cdf = self._below() + level.u * self.mass
        sf = float(self.parent.sf(self.high)) + ndtr(-level.z) * self.mass
        return np.clip(self.parent.quantile(level_of_tails(cdf, sf)), *self.support)

    def atoms(self) -> tuple[tuple[float, float], ...]:
        return tuple((x, mass / self.mass) for x, mass in self.parent.atoms() if self.low <= x <= self.high)

    def to_numpyro(self) -> Any:
        from uncertain_botec.distributions.numpyro_forms import truncated

        return truncated(self)
