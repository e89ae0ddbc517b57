"""The priors of a run's MFU and overhead that follow from the reference class."""

from __future__ import annotations

from typing import Any

import numpy as np

from uncertain_botec.reference.posterior import ReferenceClass
from uncertain_botec.reference.subject import Subject

# Of the forecast's interval, and of the grid that the overhead is integrated on.
_LEVELS = np.array([0.1, 0.9])
_NORMAL_P90 = 1.2815515655446004
_POINTS = 400


def overhead_quantiles(reference: ReferenceClass, levels: Any) -> Any:
    """Quantiles of the overhead f of one further run: the mixture of lognormals over the posterior draws.

    Args:
        reference: the reference class.
        levels: in (0, 1).

    Returns:
        f as a fraction of the stepping time, of the shape of `levels`.
    """
    from scipy.special import ndtri

    medians, sds = (reference.columns[name] for name in ("overhead_log_median", "overhead_log_sd"))
    grid = ndtri((np.arange(_POINTS) + 0.5) / _POINTS)
    return np.exp(np.quantile(medians[:, None] + sds[:, None] * grid, levels))


def step_mfu(reference: ReferenceClass, subject: Subject, overhead: tuple[float, float]) -> tuple[float, float]:
    """P10 and P90 of the MFU u while stepping, independent of the overhead f, that give the predictive of hours.

    Whole runs show u_w = 0.4 exp(-y) = u / (1 + f), so u is what, divided by a lognormal 1 + f with these P10 and P90
    of f, has P10 and P90 of u_w as the reference class predicts. u is logit-normal, with location m and scale s. Solved
    by Newton's method on (m, ln s) to 1e-10.

    Args:
        reference: the reference class.
        subject: the run, whose 16-bit peak u refers to.
        overhead: P10 and P90 of f.
    """
    from scipy.special import expit, logit, ndtri

    y = reference.predict(subject).quantile(1 - _LEVELS)
    wanted = np.log(0.4) - y
    grid = ndtri((np.arange(_POINTS) + 0.5) / _POINTS)
    low, high = np.log(overhead)
    g = np.log1p(np.exp((low + high) / 2 + (high - low) / (2 * _NORMAL_P90) * grid))

    def found(m: float, s: float) -> Any:
        """P10 and P90 of ln u - g: their CDF on the grid of g is mean P(logit u <= logit exp(x + g)), inverted."""
        from scipy.special import ndtr

        low, high = np.full(2, -8.0), np.zeros(2)
        for _ in range(60):
            x = (low + high) / 2
            u = np.exp(np.minimum(x[:, None] + g, -1e-12))
            below = ndtr((logit(u) - m) / s).mean(-1) < _LEVELS
            low, high = np.where(below, x, low), np.where(below, high, x)
        return (low + high) / 2

    centre = logit(np.exp(np.minimum(wanted.mean() + g.mean(), -0.05)))
    m, s = float(centre), float((wanted[1] - wanted[0]) / (2 * _NORMAL_P90))
    for _ in range(50):
        now = found(m, s)
        step = 1e-4
        jacobian = np.stack([(found(m + step, s) - now) / step, (found(m, s * (1 + step)) - now) / step], 1)
        dm, ds = np.linalg.solve(jacobian, wanted - now)
        m, s = m + float(dm), s * float(np.exp(np.clip(ds, -1, 1)))
        if max(abs(dm), abs(ds)) < 1e-7:
            break
    p10, p90 = expit(m + s * np.array([-_NORMAL_P90, _NORMAL_P90]))
    return float(p10), float(p90)
