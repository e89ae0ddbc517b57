"""From draws to what is reported: quantiles, means, intervals and probabilities, each with its Monte Carlo error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.distributions.level import Z95
from uncertain_botec.draws import Draws, Provenance, evenly
from uncertain_botec.scenario import Marker, Scenario
from uncertain_botec.tallies import LEVELS, Share, Tallies, relative_errors, standard_error, tallies_of
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import QUANTITIES

Floats = npt.NDArray[np.float64]

INTERVAL = 0.8
"""Probability of every reported interval; P10 and P90 are the ends of the equal-tailed one."""

# Rank correlations are good to 1/sqrt(16384) = 0.8 % from this many draws; ranking more takes longer than drawing them.
_RANKED = 1 << 14

# The probability that `--require` asks for.
_GOOD_CHANCE = 0.9

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
        smoothed: the input that was integrated out of the quantiles, or None where they are those of draws.
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
    smoothed: str | None = None


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
class Accuracy:
    """How accurate the reported quantiles are.

    Attributes:
        asked: the relative standard error that was asked of each, or None where a number of draws was.
        reached: the largest relative standard error of any.
        output, level: whose it is; None where all are exact.
    """

    asked: float | None
    reached: float
    output: str | None
    level: str | None

    @property
    def met(self) -> bool:
        """Whether it is what was asked for."""
        return self.asked is None or self.reached <= self.asked


@dataclass(frozen=True)
class Summary:
    """What a forecast says, with everything needed to repeat it.

    `partial` says that it was interrupted, so that there are fewer draws than were asked for.
    """

    scenario: Scenario
    outputs: Mapping[str, OutputSummary]
    limits: Mapping[str, LimitSummary]
    observed: Mapping[str, ObservedSummary]
    drivers: Mapping[str, tuple[Driver, ...]]
    provenance: Provenance
    accuracy: Accuracy
    partial: bool = False

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
            "accuracy": without_infinity(asdict(self.accuracy)),
            "partial": self.partial,
            "outputs": {name: without_infinity(asdict(one)) for name, one in self.outputs.items()},
            "limits": {name: asdict(one) for name, one in self.limits.items()},
            "observed": {name: asdict(one) for name, one in self.observed.items()},
            "drivers": {name: [asdict(one) for one in some] for name, some in self.drivers.items()},
            "notes": list(self.scenario.notes),
            "warnings": list(self.scenario.warnings),
            "provenance": made.to_dict(),
        }

    def __str__(self) -> str:
        from uncertain_botec.presentation import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from uncertain_botec.presentation import as_html

        return as_html(self)


def summarize(draws: Draws | Tallies) -> Summary:
    """Summarise the outputs of a scenario, its limits, its observed outcomes and its drivers.

    Args:
        draws: from `sample`, or what was counted of more draws than memory holds.

    Returns:
        The summary, in printed units.
    """
    tallies = tallies_of(draws) if isinstance(draws, Draws) else draws
    scenario, sample = tallies.scenario, tallies.sample
    return Summary(
        scenario=scenario,
        outputs={name: output_summary(tallies, name) for name in sample.outputs},
        limits={
            name: limit_summary(tallies, marker)
            for name, marker in scenario.limits.items()
            if marker.output in sample.values
        },
        observed={name: _observed(tallies, one) for name, one in scenario.observed.items() if name in sample.values},
        drivers=_drivers(sample),
        provenance=tallies.provenance,
        accuracy=_accuracy(tallies),
        partial=tallies.partial,
    )


def _accuracy(tallies: Tallies) -> Accuracy:
    """The worst relative standard error of any quantile."""
    worst = Accuracy(tallies.accuracy, 0.0, None, None)
    for name, tally in tallies.outputs.items():
        for level, relative in zip(LEVELS, map(float, relative_errors(tally.quantiles, tally.errors)), strict=True):
            if relative > worst.reached or math.isnan(relative):
                worst = Accuracy(tallies.accuracy, relative, name, level)
    return worst


def output_summary(tallies: Tallies, name: str) -> OutputSummary:
    """One output in its printed unit."""
    unit = QUANTITIES[name].unit
    if name not in tallies.outputs:
        value = float(tallies.sample[name].flat[0])
        interval = Interval(INTERVAL, value, value)
        nothing = dict.fromkeys((*LEVELS, "mean"), 0.0)
        return OutputSummary(unit, value, value, value, value, 0.0, nothing, interval, interval, float(value == np.inf))
    tally = tallies.outputs[name]

    def shown(value: Any) -> float:
        return float(to_display(value, unit))

    quantiles = dict(zip(LEVELS, map(shown, tally.quantiles), strict=True))
    errors = dict(zip(LEVELS, map(shown, tally.errors), strict=True))
    return OutputSummary(
        unit,
        **quantiles,
        mean=shown(tally.mean),
        sd=shown(tally.sd),
        mcse=errors | {"mean": shown(tally.mean_error)},
        hdi=_hdi(np.sort(np.asarray(tallies.sample[name], np.float64), axis=None)),
        eti=Interval(INTERVAL, quantiles["p10"], quantiles["p90"]),
        endless=tally.endless,
        smoothed=tally.smoothed or None,
    )


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


def limit_summary(tallies: Tallies, marker: Marker) -> LimitSummary:
    """The probability that a limit is kept."""
    unit = QUANTITIES[marker.output].unit
    if marker.name not in tallies.limits:
        certain = float(tallies.sample.values[marker.output].flat[0] <= marker.value)
        return LimitSummary(_shown(marker), unit, marker.output, certain, 0.0, certain, certain)
    share = tallies.limits[marker.name]
    probability = float(share.at_or_below.mean())
    return LimitSummary(_shown(marker), unit, marker.output, probability, *error_and_bounds(share, probability))


def error_and_bounds(share: Share, probability: float) -> tuple[float, float, float]:
    """The standard error of a probability, and a 95 % interval."""
    error = max(float(standard_error(share.at_or_below)), share.rounding)
    count, few = share.draws, _FEW
    if count is not None:
        few = min(round(probability * count), count - round(probability * count))
    if count is not None and not few:
        # Wilson's bound at zero successes out of n is z^2 / (n + z^2) (Wilson 1927, JASA 22, 209-212).
        bound = Z95**2 / (count + Z95**2)
        return (bound / 2, 0.0, bound) if probability == 0 else (bound / 2, 1 - bound, 1.0)
    low, high = max(0.0, probability - _T_95 * error), min(1.0, probability + _T_95 * error)
    if count is not None and few < _FEW:
        square = _TWO_SIDED_95**2
        centre = (probability + square / (2 * count)) / (1 + square / count)
        spread = math.sqrt(probability * (1 - probability) / count + square / (4 * count**2))
        half = _TWO_SIDED_95 * spread / (1 + square / count)
        low, high = min(low, centre - half), max(high, centre + half)
    return error, low, high


def _observed(tallies: Tallies, marker: Marker) -> ObservedSummary:
    if marker.name in tallies.observed:
        share = tallies.observed[marker.name]
        rank = 50 * (share.below + share.at_or_below)
        percentile, error = float(rank.mean()), max(float(standard_error(rank)), 100 * share.rounding)
    else:
        value = float(tallies.sample.values[marker.output].flat[0])
        percentile, error = 50.0 * ((value < marker.value) + (value <= marker.value)), 0.0
    return ObservedSummary(_shown(marker), QUANTITIES[marker.output].unit, percentile, error)


def _shown(marker: Marker) -> float:
    return float(to_display(marker.value, QUANTITIES[marker.output].unit))


def _drivers(draws: Draws) -> dict[str, tuple[Driver, ...]]:
    """Spearman rank correlations of every output with every uncertain input, largest first."""
    from scipy.stats import rankdata

    made = draws.provenance
    some = evenly(made.sampler, made.size, _RANKED // made.replicates)

    def ranks(name: str) -> Floats:
        centred = rankdata(draws.values[name][:, some])
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
