"""Families of distributions, elicitation, and quantile functions that run inside a jitted kernel."""

from __future__ import annotations

from typing import Any

from uncertain_botec.distributions.base import Distribution
from uncertain_botec.distributions.bounded import LogUniform, Triangular, Uniform
from uncertain_botec.distributions.elicitation import elicit
from uncertain_botec.distributions.families import FAMILIES, Family
from uncertain_botec.distributions.jqpd import JqpdBounded, JqpdHalfBounded
from uncertain_botec.distributions.level import Level, level_of_u, level_of_z
from uncertain_botec.distributions.normal import Fixed, LogitNormal, LogNormal, Normal
from uncertain_botec.distributions.tabulate import Tabulated, tabulate
from uncertain_botec.distributions.weighted import Choice, Empirical

__all__ = [
    "FAMILIES",
    "PYTREE_CLASSES",
    "Distribution",
    "Family",
    "Level",
    "elicit",
    "level_of_u",
    "level_of_z",
    "tabulate",
]

# What a kernel may be given: the sampling forms.
PYTREE_CLASSES: tuple[Any, ...] = (
    Choice, Empirical, Fixed, JqpdBounded, JqpdHalfBounded, LogNormal, LogUniform, LogitNormal, Normal, Tabulated,
    Triangular, Uniform,
)  # fmt: skip
