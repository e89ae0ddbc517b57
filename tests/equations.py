"""What the equations of formulas, which are shown to people, are evaluated with."""

from __future__ import annotations

import re

import numpy as np
from scipy import stats


def erlang_c(servers: float, load: float) -> float:
    """The chance of waiting, by Poisson's distribution rather than by our expansion."""
    if load >= servers:
        return 1.0
    blocked = stats.poisson.pmf(servers, load) / stats.poisson.cdf(servers, load)
    return float(blocked / (1 - load / servers * (1 - blocked)))


MATHEMATICS = {
    name: getattr(np, name) for name in ("exp", "expm1", "log", "sqrt", "ceil", "floor", "where", "minimum", "maximum")
} | {"erlang_c": erlang_c, "inf": np.inf}


def tolerance(name: str, equation: str) -> float:
    """How near a formula comes to its equation: searches and expansions not as near as arithmetic.

    The equation of a search has its own result on both sides.
    """
    return 1e-6 if re.search(rf"\b{name}\b", equation) or "erlang_c" in equation else 1e-12
