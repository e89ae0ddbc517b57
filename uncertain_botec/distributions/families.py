"""The registry of families: what each may be stated by, and what finds its member.

To add one: a `Distribution`, its constructor, its entry in `_FAMILIES`, and a row in the table of test cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from uncertain_botec.distributions import constructors
from uncertain_botec.distributions.base import Distribution
from uncertain_botec.distributions.constructors import Ends, Parameters, Points

_LEVELS = (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99)
_QUANTILE_LEVELS = {f"p{level}": level / 100 for level in _LEVELS} | {"median": 0.5}
QUANTILES = tuple(_QUANTILE_LEVELS)


def quantile_level(key: str) -> float | None:
    """The level of a key such as `p10` or `median`; None for any other key."""
    return _QUANTILE_LEVELS.get(key)


@dataclass(frozen=True)
class Family:
    """One family of distributions.

    Attributes:
        name: what a prior file calls it.
        summary: one line for people.
        example: an input in TOML.
        spellings: the sets of keys that state a member, in words.
        construct: from parameters, quantiles and support to the member, or None where they are none of its spellings.
        value_keys: keys that carry the input's unit.
        number_keys: keys without a unit.
        list_keys: keys with a list of values (of numbers for `weights` and `odds`).
        component_keys: keys with a list of inputs.
        text_keys: keys with a text.
        support: the ends of the support unless stated.
        whole: whether it counts, so that equal quantiles are not a point mass.
    """

    name: str
    summary: str
    example: str
    spellings: tuple[str, ...]
    construct: Callable[[Parameters, Points, Ends], Distribution | None]
    value_keys: tuple[str, ...] = ()
    number_keys: tuple[str, ...] = ()
    list_keys: tuple[str, ...] = ()
    component_keys: tuple[str, ...] = ()
    text_keys: tuple[str, ...] = ()
    support: Ends = (-math.inf, math.inf)
    whole: bool = False


_TWO = "two quantiles"
_FAMILIES = (
    Family(
        "fixed",
        "a value that is known exactly",
        '{ value = 2048, source = "plan" }',
        ("value",),
        constructors.of_fixed,
        ("value",),
    ),
    Family(
        "normal",
        "symmetric, on the whole line",
        '{ family = "normal", mean = 0.4, sd = 0.03, truncate = [0, 1] }',
        ("mean (or median) and sd", _TWO),
        constructors.of_normal,
        ("mean", "sd", *QUANTILES),
    ),
    Family(
        "lognormal",
        "products of many factors: positive, skewed to the right",
        '{ family = "lognormal", p10 = "1.9 USD/hour", p90 = "2.9 USD/hour" }',
        (
            _TWO,
            "median and sigma (standard deviation of the logarithm)",
            "mean and sd (of the value itself)",
            "mean and sigma",
        ),
        constructors.of_lognormal,
        ("mean", "sd", *QUANTILES),
        ("sigma",),
        support=(0.0, math.inf),
    ),
    Family(
        "logit-normal",
        "a fraction: normal on the logit scale",
        '{ family = "logit-normal", p10 = 0.36, p90 = 0.48 }',
        (_TWO, "median and sigma", "mu and sigma (of the logit)"),
        constructors.of_logit_normal,
        QUANTILES,
        ("mu", "sigma"),
        ("support",),
        support=(0.0, 1.0),
    ),
    Family(
        "uniform",
        "equally likely between two ends",
        '{ family = "uniform", low = "30 day", high = "45 day" }',
        ("low and high", _TWO),
        constructors.of_uniform,
        ("low", "high", *QUANTILES),
    ),
    Family(
        "loguniform",
        "equally likely orders of magnitude between two ends",
        '{ family = "loguniform", low = "1e12 token", high = "1e13 token" }',
        ("low and high", _TWO),
        constructors.of_loguniform,
        ("low", "high", *QUANTILES),
        support=(0.0, math.inf),
    ),
    Family(
        "triangular",
        "straight sides up to a mode",
        '{ family = "triangular", low = 0.3, mode = 0.4, high = 0.5 }',
        ("low, mode and high", "three quantiles", "two quantiles and the mode"),
        constructors.of_triangular,
        ("low", "mode", "high", *QUANTILES),
    ),
    Family(
        "pert",
        "smooth three-point estimate: a beta of shape 4, mean (low + 4 mode + high) / 6",
        '{ family = "pert", low = "20 day", mode = "25 day", high = "60 day" }',
        ("low, mode and high", "three quantiles", "two quantiles and the mode"),
        constructors.of_pert,
        ("low", "mode", "high", *QUANTILES),
    ),
    Family(
        "beta",
        "between two ends, by default a fraction",
        '{ family = "beta", p10 = 0.36, p90 = 0.48 }',
        ("alpha and beta", "mean and sd", _TWO),
        constructors.of_beta,
        ("mean", "sd", *QUANTILES),
        ("alpha", "beta"),
        ("support",),
        support=(0.0, 1.0),
    ),
    Family(
        "gamma",
        "positive, reaches zero, lighter tail than lognormal",
        '{ family = "gamma", mean = "10 %", sd = "6 %" }',
        ("shape and scale", "mean and sd", _TWO),
        constructors.of_gamma,
        ("mean", "sd", "scale", *QUANTILES),
        ("shape",),
        ("support",),
        support=(0.0, math.inf),
    ),
    Family(
        "student-t",
        "symmetric with heavy tails",
        '{ family = "student-t", df = 4, p10 = 0.35, p90 = 0.45, truncate = [0, 1] }',
        ("df, mean (or median) and scale", "df and two quantiles"),
        constructors.of_student_t,
        ("mean", "scale", *QUANTILES),
        ("df",),
    ),
    Family(
        "jqpd",
        "any P10, P50 and P90 on a stated support, honoured exactly",
        '{ family = "jqpd", p10 = 0.36, p50 = 0.43, p90 = 0.48, support = [0, 1] }',
        ("p50, two quantiles at the same distance from it such as p10 and p90, and support",),
        constructors.of_jqpd,
        QUANTILES,
        (),
        ("support",),
    ),
    Family(
        "poisson",
        "a count of independent events",
        '{ family = "poisson", mean = 12 }',
        ("mean", "one quantile"),
        constructors.of_poisson,
        ("mean", *QUANTILES),
        whole=True,
    ),
    Family(
        "negative-binomial",
        "a count of events whose rate is itself uncertain",
        '{ family = "negative-binomial", mean = 12, sd = 6 }',
        ("mean and sd", "mean and dispersion (variance = mean + dispersion mean^2)", _TWO),
        constructors.of_negative_binomial,
        ("mean", "sd", *QUANTILES),
        ("dispersion",),
        whole=True,
    ),
    Family(
        "choice",
        "one of several values",
        '{ family = "choice", values = [1024, 2048], weights = [0.3, 0.7] }',
        ("values and weights", "values and odds"),
        constructors.of_choice,
        (),
        (),
        ("values", "weights", "odds"),
    ),
    Family(
        "mixture",
        "one of several beliefs",
        '{ family = "mixture", components = [{ family = "normal", mean = 0.4, sd = 0.02 }, 0.3], odds = [9, 1] }',
        ("components and weights", "components and odds"),
        constructors.of_mixture,
        (),
        (),
        ("weights", "odds"),
        ("components",),
    ),
    Family(
        "empirical",
        "measured values, joined by straight lines",
        '{ family = "empirical", file = "mfu.csv", column = "mfu" }',
        ("file and column, and unit where the column has one", "values"),
        constructors.of_empirical,
        (),
        (),
        ("values",),
        (),
        ("file", "column", "unit"),
    ),
)

FAMILIES: Mapping[str, Family] = MappingProxyType({family.name: family for family in _FAMILIES})
