"""From draws to what is reported: quantiles, means, intervals and probabilities, each with its Monte Carlo error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.draws import Draws, Provenance
from uncertain_botec.scenario import Marker, Scenario
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import QUANTITIES

Floats = npt.NDArray[np.float64]

INTERVAL = 0.8
"""Probability of every reported interval; P10 and P90 are the ends of the equal-tailed one."""

_LEVELS = {"p10": 0.1, "p50": 0.5, "p90": 0.9}

# Rank correlations are good to 1/sqrt(16384) = 0.8 % from this many draws; ranking more takes longer than drawing them.
_RANKED = 1 << 14

# The probability that `--require` asks for.
_GOOD_CHANCE = 0.9

_ONE_SIDED_95 = 1.6448536269514722
_TWO_SIDED_95 = 1.959963984540054

# Student's t at 97.5 % with 15 degrees of freedom, for intervals from 16 replicates.
_T_95 = 2.131449545559323

# With fewer draws than this on one side of a limit the count is skewed, which a standard error does not see.
_FEW = 32


@dataclass(frozen=True)
class Interval:
    """A credible interval; its kind is the name of the field that holds it."""

    prob: float
    low: float
    high: float


@dataclass(frozen=True)
class OutputSummary:
    """One output in its printed unit.

    Attributes:
        unit: of every number here.
        p10, p50, p90: the value that the output is at or below with that probability in percent.
        mean, sd: of the draws that are finite; infinite where none is.
        mcse: Monte Carlo standard errors of p10, p50, p90 and mean, from the spread over independent replicates. With R
            replicates, estimate +- t x mcse covers at 95 % with the Student t quantile of R - 1 degrees (2.13 for 16).
        hdi, eti: the highest-density (shortest) and the equal-tailed interval.
        endless: the part of the draws that is infinite, because the run never finishes.
    """

    unit: str
    p10: float
    p50: float
    p90: float
    mean: float
    sd: float
    mcse: Mapping[str, float]
    hdi: Interval
    eti: Interval
    endless: float = 0.0


@dataclass(frozen=True)
class LimitSummary:
    """The probability that an output stays at or below a limit.

    Attributes:
        value, unit: the limit.
        output: what it limits.
        probability: of keeping it.
        mcse: Monte Carlo standard error of the probability; zero only where the output is known exactly.
        low, high: a 95 % interval: Wilson's one-sided bound where none or all draws keep the limit, Student's t from
            the replicates otherwise, joined with Wilson's score interval while few draws lie on one side.
    """

    value: float
    unit: str
    output: str
    probability: float
    mcse: float
    low: float
    high: float


@dataclass(frozen=True)
class ObservedSummary:
    """Where an observed outcome falls among the draws.

    Attributes:
        value, unit: what was observed.
        percentile: the percentage of draws below it, draws equal to it counted half.
        mcse: Monte Carlo standard error of the percentile.
    """

    value: float
    unit: str
    percentile: float
    mcse: float


@dataclass(frozen=True)
class Driver:
    """How much one uncertain input moves an output.

    Attributes:
        input: its name.
        rank_correlation: Spearman's, with its sign.
        share: its square, the part of the output's rank variance that this input explains alone. With correlated
            inputs the shares overlap.
    """

    input: str
    rank_correlation: float
    share: float


@dataclass(frozen=True)
class Summary:
    """What a forecast says, with everything needed to repeat it."""

    scenario: Scenario
    outputs: Mapping[str, OutputSummary]
    limits: Mapping[str, LimitSummary]
    observed: Mapping[str, ObservedSummary]
    drivers: Mapping[str, tuple[Driver, ...]]
    provenance: Provenance

    @property
    def unmet(self) -> tuple[str, ...]:
        """What a run cannot do without and has no good chance of: memory that suffices, and an end."""
        unmet = []
        if "memory" in self.limits and self.limits["memory"].probability < _GOOD_CHANCE:
            unmet.append("memory")
        if "training_time" in self.outputs and self.outputs["training_time"].endless > 1 - _GOOD_CHANCE:
            unmet.append("finishing")
        return tuple(unmet)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/forecast/1`; numbers are unrounded, null is infinite."""
        made = self.provenance
        return {
            "schema": "uncertain-botec/forecast/1",
            "scenario": {"title": self.scenario.title, "path": self.scenario.path, "sha256": self.scenario.sha256},
            "estimator": self.scenario.estimator,
            "choices": dict(self.scenario.choices),
            "draws": made.draws,
            "seed": made.seed,
            "sampler": made.sampler,
            "replicates": made.replicates,
            "outputs": {name: without_infinity(asdict(one)) for name, one in self.outputs.items()},
            "limits": {name: asdict(one) for name, one in self.limits.items()},
            "observed": {name: asdict(one) for name, one in self.observed.items()},
            "drivers": {name: [asdict(one) for one in some] for name, some in self.drivers.items()},
            "notes": list(self.scenario.notes),
            "warnings": list(self.scenario.warnings),
            "provenance": {
                "versions": dict(made.versions),
                "device": made.device,
                "precision": made.precision,
                "timings": dict(made.seconds),
            },
        }

    def __str__(self) -> str:
        from uncertain_botec.presentation import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from uncertain_botec.presentation import as_html

        return as_html(self)


def summarize(draws: Draws) -> Summary:
    """Summarise the outputs of a scenario's draws, its limits, its observed outcomes and its drivers.

    Args:
        draws: from `sample`.

    Returns:
        The summary, in printed units.
    """
    scenario = draws.scenario
    return Summary(
        scenario=scenario,
        outputs={name: output_summary(draws, name) for name in draws.outputs},
        limits={
            name: limit_summary(draws, marker)
            for name, marker in scenario.limits.items()
            if marker.output in draws.values
        },
        observed={name: _observed(draws, marker) for name, marker in scenario.observed.items() if name in draws.values},
        drivers=_drivers(draws),
        provenance=draws.provenance,
    )


def quantiles(ordered: Floats, levels: list[float]) -> Floats:
    """Quantiles of draws that are sorted along the last axis, which becomes one entry per level.

    The quantile at level p lies at position n p + 1/2 (Hazen), which is unbiased in probability for points spread
    evenly over (0, 1).
    """
    size = ordered.shape[-1]
    position = np.clip(size * np.asarray(levels) - 0.5, 0, size - 1)
    below = position.astype(np.int64)
    left, right = ordered[..., below], ordered[..., np.minimum(below + 1, size - 1)]
    part = position - below
    with np.errstate(invalid="ignore"):
        between = left + part * (right - left)
    # Two infinite neighbours have no difference.
    return np.where((left == right) | (part == 0), left, between)


def standard_error(each: Floats, axis: int = -1) -> Any:
    """Standard error of the mean of independent replicates' estimates."""
    replicates = each.shape[axis]
    if replicates < 2:
        return np.full(np.mean(each, axis=axis).shape, np.nan)
    with np.errstate(invalid="ignore"):
        error = np.std(each, axis=axis, ddof=1) / math.sqrt(replicates)
    # Replicates that are all infinite agree; some that are and some that are not tell nothing.
    agree = np.max(each, axis=axis) == np.min(each, axis=axis)
    return np.where(agree, 0.0, np.where(np.isnan(error), np.inf, error))


def output_summary(draws: Draws, name: str) -> OutputSummary:
    """One output of some draws, in its printed unit."""
    unit = QUANTITIES[name].unit
    values = np.asarray(draws[name], np.float64)
    if draws.scenario.certain(name):
        value = float(values.flat[0])
        interval = Interval(INTERVAL, value, value)
        nothing = dict.fromkeys((*_LEVELS, "mean"), 0.0)
        return OutputSummary(unit, value, value, value, value, 0.0, nothing, interval, interval, float(value == np.inf))
    levels = list(_LEVELS.values())
    # Sorted once for everything: pooled for the estimates, by replicate for their errors.
    rows = np.sort(values, axis=1)
    flat = np.sort(rows, axis=None)
    errors = standard_error(quantiles(rows, levels), axis=0)
    mcse = dict(zip(_LEVELS, map(float, errors), strict=True)) | {"mean": float(standard_error(_means(rows)))}
    p10, p50, p90 = map(float, quantiles(flat, levels))
    mean, sd = _moments(flat)
    return OutputSummary(
        unit,
        p10,
        p50,
        p90,
        mean=mean,
        sd=sd,
        mcse=mcse,
        hdi=_hdi(flat),
        eti=_eti(flat),
        endless=float(np.isposinf(flat).mean()),
    )


def _means(rows: Floats) -> Floats:
    """The mean of each row's finite values; infinite where there are none."""
    if np.isfinite(rows[:, -1]).all():
        return np.asarray(rows.mean(axis=1))
    finite = np.isfinite(rows)
    counts = finite.sum(axis=1)
    sums = np.where(finite, rows, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), math.inf)


def _moments(flat: Floats) -> tuple[float, float]:
    finite = flat[: np.searchsorted(flat, math.inf)]
    if not finite.size:
        return math.inf, math.inf
    # A constant's sum would round: its mean is the value itself.
    if finite[0] == finite[-1]:
        return float(finite[0]), 0.0
    return float(finite.mean()), float(finite.std())


def _eti(flat: Floats) -> Interval:
    from arviz_stats.base.array import array_stats

    if np.isfinite(flat[-1]):
        low, high = array_stats.eti(flat, prob=INTERVAL, method="hazen")
    else:
        low, high = quantiles(flat, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2])
    return Interval(INTERVAL, float(low), float(high))


def _hdi(flat: Floats) -> Interval:
    from arviz_stats.base.array import array_stats

    if flat[0] == flat[-1]:
        return Interval(INTERVAL, float(flat[0]), float(flat[0]))
    # Widths of intervals that reach into infinity are then merely huge.
    huge = np.finfo(np.float64).max / 4
    low, high = array_stats.hdi(np.minimum(flat, huge), prob=INTERVAL)
    return Interval(INTERVAL, float(low), float(high) if high < huge else math.inf)


def without_infinity(node: Any) -> Any:
    """A tree for JSON, which has no infinite numbers: null in their place."""
    if isinstance(node, Mapping):
        return {key: without_infinity(value) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [without_infinity(value) for value in node]
    return None if isinstance(node, float) and not math.isfinite(node) else node


def limit_summary(draws: Draws, marker: Marker) -> LimitSummary:
    """The probability that a limit is kept."""
    kept = draws.values[marker.output] <= marker.value
    probability = float(kept.mean())
    count = kept.size
    unit = QUANTITIES[marker.output].unit
    if draws.scenario.certain(marker.output):
        return LimitSummary(_shown(marker), unit, marker.output, probability, 0.0, probability, probability)
    few = min(int(np.count_nonzero(kept)), int(count - np.count_nonzero(kept)))
    if few:
        # A count is a whole number: replicates that happen to agree still leave the rounding of one draw.
        error = max(float(standard_error(kept.mean(axis=1))), 1 / (count * math.sqrt(12)))
        low, high = max(0.0, probability - _T_95 * error), min(1.0, probability + _T_95 * error)
        if few < _FEW:
            square = _TWO_SIDED_95**2
            centre = (probability + square / (2 * count)) / (1 + square / count)
            spread = math.sqrt(probability * (1 - probability) / count + square / (4 * count**2))
            half = _TWO_SIDED_95 * spread / (1 + square / count)
            low, high = min(low, centre - half), max(high, centre + half)
    else:
        # Wilson's bound at zero successes out of n is z^2 / (n + z^2) (Wilson 1927, JASA 22, 209-212).
        bound = _ONE_SIDED_95**2 / (count + _ONE_SIDED_95**2)
        error = bound / 2
        low, high = (0.0, bound) if probability == 0 else (1 - bound, 1.0)
    return LimitSummary(_shown(marker), unit, marker.output, probability, error, low, high)


def _observed(draws: Draws, marker: Marker) -> ObservedSummary:
    values = draws.values[marker.output]
    rank = 50 * ((values < marker.value).mean(axis=1) + (values <= marker.value).mean(axis=1))
    error = max(float(standard_error(rank)), 100 / (values.size * math.sqrt(12)))
    return ObservedSummary(_shown(marker), QUANTITIES[marker.output].unit, float(rank.mean()), error)


def _shown(marker: Marker) -> float:
    return float(to_display(marker.value, QUANTITIES[marker.output].unit))


def _drivers(draws: Draws) -> dict[str, tuple[Driver, ...]]:
    """Spearman rank correlations of every output with every uncertain input, largest first."""
    from scipy.stats import rankdata

    stride = max(1, len(draws) // _RANKED)

    def ranks(name: str) -> Floats:
        # Every stride-th point of a lattice is a lattice again, so the sample stays evenly spread.
        centred = rankdata(draws.values[name][:, ::stride])
        centred -= centred.mean()
        # Sums, not BLAS: waking its threads takes a thousand times as long as a product of vectors this short.
        length = math.sqrt(np.sum(centred**2))
        return np.asarray(centred / length if length else centred)

    inputs = {name: ranks(name) for name in draws.scenario.uncertain}
    drivers: dict[str, tuple[Driver, ...]] = {}
    for output in draws.outputs:
        if draws.scenario.certain(output):
            drivers[output] = ()
            continue
        # An output that the scenario supplies is an input too; that it drives itself says nothing.
        ranked = ranks(output)
        moving = [name for name in draws.scenario.drivers(output) if name != output]
        correlations = {name: float(np.sum(ranked * inputs[name])) for name in moving}
        order = sorted(correlations, key=lambda name: -abs(correlations[name]))
        drivers[output] = tuple(Driver(name, correlations[name], correlations[name] ** 2) for name in order)
    return drivers
