"""One table of distributions that feeds the generic tests: what is stated, and scipy's own where it has one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from uncertain_botec.distributions import Distribution, elicit


@dataclass(frozen=True)
class Case:
    """A family, what is stated of it, and the same distribution in scipy."""

    name: str
    family: str
    stated: Mapping[str, Any]
    oracle: Callable[[], Any] | None = None

    @cached_property
    def distribution(self) -> Distribution:
        """The elicited distribution."""
        return elicit(self.family, self.stated)


def _part(family: str, **stated: Any) -> Distribution:
    return elicit(family, stated)


def _mixture(*components: Distribution, weights: tuple[float, ...], **others: Any) -> dict[str, Any]:
    return {"components": components, "weights": weights, **others}


_POSITIVE = (0.0, math.inf)
_SAMPLE = (0.31, 0.35, 0.35, 0.40, 0.42, 0.47)

CASES = (
    Case("normal", "normal", {"mean": 3.0, "sd": 2.0}, lambda: stats.norm(3, 2)),
    Case("normal p10 p90", "normal", {"p10": -1.0, "p90": 1.0}, lambda: stats.norm(0, 1 / stats.norm.ppf(0.9))),
    Case("lognormal", "lognormal", {"median": math.e**2, "sigma": 0.5}, lambda: stats.lognorm(0.5, scale=math.e**2)),
    Case("lognormal sigma 5", "lognormal", {"median": 1.0, "sigma": 5.0}, lambda: stats.lognorm(5)),
    Case("logit-normal", "logit-normal", {"p10": 0.36, "p90": 0.48}),
    Case("logit-normal wide", "logit-normal", {"mu": 1.0, "sigma": 3.0, "support": (-1.0, 4.0)}),
    Case("uniform", "uniform", {"low": -2.0, "high": 5.0}, lambda: stats.uniform(-2, 7)),
    Case("loguniform", "loguniform", {"low": 1e12, "high": 1e13}, lambda: stats.loguniform(1e12, 1e13)),
    Case("triangular", "triangular", {"low": 0.0, "mode": 1.0, "high": 4.0}, lambda: stats.triang(0.25, 0, 4)),
    Case("triangular mode low", "triangular", {"low": 0.0, "mode": 0.0, "high": 4.0}, lambda: stats.triang(0, 0, 4)),
    Case("triangular mode high", "triangular", {"low": -4.0, "mode": 0.0, "high": 0.0}, lambda: stats.triang(1, -4, 4)),
    Case("pert", "pert", {"low": 50.0, "mode": 60.0, "high": 65.0}, lambda: stats.beta(1 + 8 / 3, 1 + 4 / 3, 50, 15)),
    Case("pert mode low", "pert", {"low": 1.0, "mode": 1.0, "high": 2.0}, lambda: stats.beta(1, 5, 1, 1)),
    Case("pert mode high", "pert", {"low": 5.0, "mode": 25.0, "high": 25.0}, lambda: stats.beta(5, 1, 5, 20)),
    Case("beta", "beta", {"alpha": 2.0, "beta": 3.5, "support": (-1.0, 4.0)}, lambda: stats.beta(2, 3.5, -1, 5)),
    Case("beta U-shaped", "beta", {"alpha": 0.1, "beta": 0.1}, lambda: stats.beta(0.1, 0.1)),
    Case("beta p5 p95 wide", "beta", {"p5": 0.001, "p95": 0.999}),
    Case("beta p5 p95 narrow", "beta", {"p5": 0.499, "p95": 0.501}),
    Case("gamma shape 0.1", "gamma", {"shape": 0.1, "scale": 2.0}, lambda: stats.gamma(0.1, scale=2)),
    Case("gamma shape 151", "gamma", {"shape": 151.0, "scale": 1.0}, lambda: stats.gamma(151)),
    Case("gamma shape 1e9", "gamma", {"shape": 1e9, "scale": 1.0}),
    Case("gamma ratio 1e6", "gamma", {"p10": 1.0, "p90": 1e6}),
    Case("gamma moved", "gamma", {"mean": 5.0, "sd": 2.0, "support": (3.0, math.inf)}, lambda: stats.gamma(1, 3, 2)),
    Case("student-t df 1", "student-t", {"df": 1.0, "median": 0.0, "scale": 1.0}, lambda: stats.cauchy()),
    Case("student-t df 4", "student-t", {"df": 4.0, "mean": 2.0, "scale": 0.5}, lambda: stats.t(4, 2, 0.5)),
    Case("student-t df 1000", "student-t", {"df": 1e3, "p10": -1.0, "p90": 2.0}),
    Case("student-t df 0.1", "student-t", {"df": 0.1, "median": 0.0, "scale": 1.0}, lambda: stats.t(0.1)),
    Case("jqpd bounded", "jqpd", {"p10": 0.36, "p50": 0.43, "p90": 0.48, "support": (0.0, 1.0)}),
    Case("jqpd half-bounded", "jqpd", {"p5": 1.0, "p50": 2.0, "p95": 9.0, "support": _POSITIVE}),
    Case("jqpd mirrored", "jqpd", {"p10": -5.0, "p50": 0.0, "p90": 1.0, "support": (-math.inf, 2.0)}),
    Case("poisson 0.001", "poisson", {"mean": 1e-3}, lambda: stats.poisson(1e-3)),
    Case("poisson 3.5", "poisson", {"mean": 3.5}, lambda: stats.poisson(3.5)),
    # scipy's tails of a Poisson of 1e6 are off by 7e-6 beyond 4.5 standard deviations.
    Case("poisson 1e6", "poisson", {"mean": 1e6}),
    Case("poisson 1e12", "poisson", {"mean": 1e12}),
    Case("negative-binomial", "negative-binomial", {"mean": 12.0, "dispersion": 0.5}, lambda: stats.nbinom(2, 1 / 7)),
    Case("negative-binomial tight", "negative-binomial", {"mean": 3.0, "sd": 1.75}, lambda: stats.nbinom(144, 48 / 49)),
    Case("negative-binomial 1e12", "negative-binomial", {"mean": 1e12, "sd": 1e9}),
    Case("choice", "choice", {"values": (4.0, 1.0, 2.0), "weights": (0.2, 0.3, 0.5)}),
    Case(
        "mixture far apart",
        "mixture",
        _mixture(_part("normal", mean=1.0, sd=1.0), _part("normal", mean=1e11, sd=1.0), weights=(0.5, 0.5)),
    ),
    Case(
        "mixture of kinds",
        "mixture",
        _mixture(
            _part("gamma", shape=2.0, scale=1.0),
            _part("uniform", low=-2.0, high=1.0),
            _part("student-t", df=2.0, mean=5.0, scale=1.0),
            weights=(0.2, 0.3, 0.5),
        ),
    ),
    Case(
        "mixture with a point",
        "mixture",
        _mixture(_part("fixed", value=0.0), _part("lognormal", median=3.0, sigma=0.7), weights=(0.3, 0.7)),
    ),
    Case(
        "mixture of counts",
        "mixture",
        _mixture(_part("fixed", value=0.0), _part("poisson", mean=4.0), weights=(0.25, 0.75)),
    ),
    Case(
        "mixture truncated",
        "mixture",
        _mixture(
            _part("normal", mean=0.0, sd=1.0),
            _part("normal", mean=9.0, sd=2.0),
            weights=(0.5, 0.5),
            truncate=(-1.0, 10.0),
        ),
    ),
    Case("empirical", "empirical", {"values": _SAMPLE}),
    Case(
        "normal above 0", "normal", {"p5": 0.0, "p95": 3.0, "truncate": _POSITIVE},
        lambda: stats.truncnorm(-stats.norm.ppf(0.95), math.inf, 1.5, 1.5 / stats.norm.ppf(0.95)),
    ),
    Case(
        "normal far cut", "normal", {"mean": 1.1, "sd": 0.005, "truncate": (-1.0, 1.0)},
        lambda: stats.truncnorm(-2.1 / 0.005, -0.1 / 0.005, 1.1, 0.005),
    ),
    Case("lognormal cut", "lognormal", {"p5": 1e-3, "p95": 1e3, "truncate": (0.0, 1e6)}),
    Case(
        "uniform cut", "uniform", {"low": 0.0, "high": 1e12, "truncate": (0.25, 2.0)},
        lambda: stats.uniform(0.25, 1.75),
    ),
    Case(
        "student-t cut at its median",
        "student-t",
        {"df": 1.0, "median": 0.0, "scale": 1.0, "truncate": (-math.inf, 0.0)},
    ),
)  # fmt: skip

BY_NAME = {case.name: case for case in CASES}


def tails_missed(distribution: Distribution, x: Any, z: Any) -> Any:
    """How far, in probability, values are from being the quantiles at normal scores z, if x is known to four ulp.

    x is a quantile at u when P(X < x) <= u <= P(X <= x); the comparison is made on the side of the smaller tail.
    """
    x = np.asarray(x, dtype=np.float64)
    slack = 4.0 * np.spacing(np.abs(x))
    above = x if distribution.discrete else x + slack
    u, upper = stats.norm.cdf(z), stats.norm.sf(z)
    lower_miss = np.maximum(distribution.cdf(x - slack) - u, u - distribution.cdf(above))
    upper_miss = np.maximum(upper - distribution.sf(x - slack), distribution.sf(above) - upper)
    return np.maximum(np.where(np.asarray(z) < 0, lower_miss, upper_miss), 0.0)
