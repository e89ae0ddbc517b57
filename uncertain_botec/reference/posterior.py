"""What was learnt from published runs, as draws of a regression's parameters, and what it says of one further run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uncertain_botec.reference.subject import TERMS, Subject

OTHER = "other"
"""A generation of accelerators that no run of the reference class used."""

OVERHEAD = ("overhead_log_median", "overhead_log_sd")
SHARED = ("intercept", *TERMS, "rough_log_scale", "log_scale", "degrees_of_freedom", *OVERHEAD)
"""The columns of a posterior, besides one for each generation of accelerators, `generation.Hopper`."""

_GENERATION = "generation."


def inverse(
    cdf: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], levels: Any, low: float, high: float
) -> np.ndarray[Any, Any]:
    """Where an increasing function takes each of these values between two ends, by bisection to 2^-60 of their span."""
    levels = np.asarray(levels, float)
    lows, highs = np.full(levels.shape, low), np.full(levels.shape, high)
    for _ in range(60):
        middle = (lows + highs) / 2
        below = cdf(middle) < levels
        lows, highs = np.where(below, middle, lows), np.where(below, highs, middle)
    return np.asarray((lows + highs) / 2)


@dataclass(frozen=True, eq=False)
class Predictive:
    """The posterior predictive of y, the log of a run's accelerator-hours over those at 40 % of the 16-bit peak.

    A mixture with equal weights of Student t, y ~ t(nu_s, mu_s, sigma_s) for each posterior draw s.

    Attributes:
        mu: mu_s, array[draw].
        sigma: sigma_s, array[draw].
        nu: nu_s, array[draw].
    """

    mu: np.ndarray[Any, Any]
    sigma: np.ndarray[Any, Any]
    nu: np.ndarray[Any, Any]

    def cdf(self, y: np.ndarray[Any, Any] | float) -> np.ndarray[Any, Any]:
        """P(Y <= y) = mean_s F((y - mu_s) / sigma_s; nu_s), of the shape of y."""
        from scipy.special import stdtr

        z = (np.asarray(y, float)[..., None] - self.mu) / self.sigma
        return np.asarray(stdtr(self.nu, z).mean(-1))

    def quantile(self, levels: np.ndarray[Any, Any] | float) -> np.ndarray[Any, Any]:
        """The y of each level in (0, 1), of the shape of `levels`."""
        # No component lies outside of its own quantile at a level beyond every level that is asked for.
        reach = 60 * float(self.sigma.max())
        return inverse(self.cdf, levels, float(self.mu.min()) - reach, float(self.mu.max()) + reach)

    def draws(self, uniforms: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """One y for each posterior draw, by the inverse CDF at as many numbers in (0, 1)."""
        from scipy.special import stdtrit

        return np.asarray(self.mu + self.sigma * stdtrit(self.nu, uniforms))


@dataclass(frozen=True, eq=False)
class ReferenceClass:
    """Posterior draws of the parameters of the model of published runs.

    For run i with terms x_i, of generation g and with hours that are rough (r_i = 1) or counted (r_i = 0),

        y_i = intercept + sum_k b_k x_ik + a_g + e_i,   e_i ~ t(nu, 0, sigma exp(d r_i)),

    with y_i = ln(h_i / h_40), h_40 the accelerator-hours at 40 % of the dense 16-bit peak. The overhead f of a run, its
    time beyond steps over its stepping time, is lognormal.

    Attributes:
        columns: an array of draws by parameter.
        runs: how many runs it was learnt from.
        overheads: how many of them publish both their MFU while stepping and their hours.
        as_of: the date of the newest of them, YYYY-MM.
        source: where the runs are listed.
        title: what it is called.
    """

    columns: Mapping[str, np.ndarray[Any, Any]]
    runs: int
    overheads: int
    as_of: str
    source: str
    title: str = ""

    @property
    def generations(self) -> tuple[str, ...]:
        """Those that runs of the reference class used."""
        return tuple(
            name.removeprefix(_GENERATION)
            for name in self.columns
            if name.startswith(_GENERATION) and name != generation_column(OTHER)
        )

    def predict(self, subject: Subject) -> Predictive:
        """The predictive of y of one further run."""
        columns = self.columns
        known = subject.generation in self.generations
        mu = columns["intercept"] + columns[generation_column(subject.generation if known else OTHER)]
        for name, value in zip(TERMS, subject.terms, strict=True):
            mu = mu + columns[name] * value
        sigma = np.exp(columns["log_scale"] + columns["rough_log_scale"] * subject.rough)
        return Predictive(mu, sigma, columns["degrees_of_freedom"])


def generation_column(name: str) -> str:
    """The column of a generation's own deviation."""
    return _GENERATION + name
