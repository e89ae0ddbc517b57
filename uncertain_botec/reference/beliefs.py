"""The priors of a run's MFU and overhead that follow from the reference class."""

from __future__ import annotations

from typing import Any

import numpy as np

from uncertain_botec.distributions.level import Z90
from uncertain_botec.reference.posterior import ReferenceClass, inverse
from uncertain_botec.reference.subject import Subject

# Of the forecast's interval, and of the grid that the overhead is integrated on.
_LEVELS = np.array([0.1, 0.9])
_POINTS = 400

# Of ln u, where overheads alone would account for how runs differ; and of u.
_LEAST_SPREAD = 0.02
_HIGHEST_P90 = 0.9


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


def step_mfu(
    reference: ReferenceClass, subject: Subject, overhead: tuple[float, float], gain: float = 1.0
) -> tuple[float, float]:
    """P10 and P90 of the MFU u while stepping, independent of the overhead f, that give the predictive of hours.

    Whole runs show u_w = 0.4 exp(-y) = u / (1 + f), so u is what, divided by 1 + f with a lognormal f, has P10 and P90
    of gain u_w as the reference class predicts. u is lognormal, as u_w nearly is: ln u ~ N(m, s^2). Solved by Newton's
    method on (m, s) to 1e-7. What lies above 1 is then cut off, which hardly moves the quantiles of ordinary runs; for
    others m is as high as P90 = 0.9 allows.

    Args:
        reference: the reference class.
        subject: the run.
        overhead: P10 and P90 of f.
        gain: the dense 16-bit peak over the one that u refers to.

    Returns:
        P10 and P90 of u before it is cut off, exp(m -+ 1.28 s).
    """
    from scipy.special import ndtr, ndtri

    y = reference.predict(subject).quantile(1 - _LEVELS)
    wanted = np.log(0.4 * gain) - y
    grid = ndtri((np.arange(_POINTS) + 0.5) / _POINTS)
    low, high = np.log(overhead)
    g = np.log1p(np.exp((low + high) / 2 + (high - low) / (2 * Z90) * grid))

    def found(m: float, s: float) -> Any:
        """P10 and P90 of ln u - g: their CDF is the mean over g of Phi((x + g - m) / s), inverted."""
        return inverse(lambda x: ndtr((x[:, None] + g - m) / s).mean(-1), _LEVELS, m - 20.0, m + 20.0)

    m, s = float(wanted.mean() + g.mean()), float((wanted[1] - wanted[0]) / (2 * Z90))
    for _ in range(50):
        now = found(m, s)
        # P10 and P90 move with m as they are; their distance moves with s alone.
        narrower = found(m, 0.99 * s)
        slope = ((now[1] - now[0]) - (narrower[1] - narrower[0])) / (0.01 * s)
        change = ((wanted[1] - wanted[0]) - (now[1] - now[0])) / slope
        s_next = max(s + float(change), _LEAST_SPREAD)
        shift = float((wanted - now).mean())
        m, moved, s = m + shift, max(abs(shift), abs(s_next - s)), s_next
        if moved < 1e-7:
            break
    m = min(m, float(np.log(_HIGHEST_P90)) - Z90 * s)
    return float(np.exp(m - Z90 * s)), float(np.exp(m + Z90 * s))
