"""The risk review: chances of budget and deadline, alone and together, and what a stated confidence costs.

The outline is that of the risk and uncertainty step of GAO's Cost Estimating and Assessment Guide (GAO-20-195G, March
2020, step 9): where the point estimate lies on the curve, and the contingency that a confidence level takes. Budget and
schedule together are NASA's joint cost and schedule confidence level (Cost Estimating Handbook 4.0, February 2015,
appendix J).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from uncertain_botec.draws import Draws, Provenance
from uncertain_botec.errors import Fault, UsageError
from uncertain_botec.explain import at_medians
from uncertain_botec.risk import measures
from uncertain_botec.risk.measures import Chance, Figure, Floats, Pair
from uncertain_botec.risk.requirements import Requirement, RequirementError, read_requirements, value_in
from uncertain_botec.risk.verdicts import Verdict, check, judge
from uncertain_botec.scenario import Marker, Scenario
from uncertain_botec.summaries import without_infinity
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import COST, LIMITS, QUANTITIES, TIME

DEFAULT_DRAWS = 1 << 18
CONFIDENCE = 0.8

LEVELS = (0.5, 0.7, 0.8, 0.9)
"""The confidence levels that every review shows, besides the one asked for."""

WORST_CREDIBLE = 0.99

# More draws than this are not advised: they are all kept in memory.
_MOST_DRAWS = 1 << 24


@dataclass(frozen=True)
class Confidence:
    """What it takes to be this sure of an output.

    Attributes:
        level: the probability of being at or below.
        value: the quantile; nan, with an infinite error, where too few draws lie beyond it.
        error: its standard error, and that of the contingency, for the point estimate is exact.
        contingency: what lies between the point estimate and the quantile; None where the point estimate is infinite.
        part: the contingency as a part of the point estimate; None where that is infinite or nothing.
    """

    level: float
    value: float
    error: float
    contingency: float | None
    part: float | None


@dataclass(frozen=True)
class LimitRisk:
    """How a limit fares.

    Attributes:
        name: such as `budget` or `deadline`.
        value: the limit.
        chance: of keeping it.
        expected_overrun: what is over it on average, nothing where it is kept; infinite where a run may never finish.
        mean_overrun: what is over it on average where it is overrun; None where no draw does.
    """

    name: str
    value: float
    chance: Chance
    expected_overrun: Figure
    mean_overrun: Figure | None


@dataclass(frozen=True)
class OutputRisk:
    """One output in its printed unit.

    Attributes:
        unit: of every number here.
        exact: whether it is known exactly.
        point_estimate: the formulas at the medians of all inputs.
        percentile: where among the draws the point estimate lies, from 0 to 100.
        confidence: the quantiles with their contingency, in ascending order.
        cvar: the mean of the worst outcomes, those beyond the confidence asked for.
        worst_credible: P99. This and the CVaR are nan, with an infinite error, where too few draws lie beyond.
        limit: the budget or the deadline, if there is one.
    """

    unit: str
    exact: bool
    point_estimate: float
    percentile: Figure
    confidence: tuple[Confidence, ...]
    cvar: Figure
    worst_credible: Figure
    limit: LimitRisk | None


@dataclass(frozen=True)
class RiskReview:
    """What draws say of budget, deadline and requirements.

    Attributes:
        scenario: with the limits that were held against.
        confidence: the level asked for.
        outputs: cost and time and what else can be limited, as far as it is computed; all outputs where nothing is.
        both: the chance of keeping budget and deadline, the joint confidence level; None unless both are stated.
        pair: a budget and a deadline that are kept together with the confidence asked for; None without cost and time,
            where both are known exactly, or where too few draws lie beyond.
        verdicts: on the requirements, in their order.
        notes: what the reader should know, such as what is not reviewed.
        provenance: of the draws.
    """

    scenario: Scenario
    confidence: float
    outputs: Mapping[str, OutputRisk]
    both: Chance | None
    pair: Pair | None
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]
    provenance: Provenance

    @property
    def unmet(self) -> tuple[Verdict, ...]:
        """The requirements that are not met."""
        return tuple(one for one in self.verdicts if not one.met)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/risk/1`; numbers are unrounded.

        Null is infinite, unknown or none. Keys are those of the fields; a figure is `{"value", "error"}`, a chance
        `{"value", "error", "low", "high"}`. Amounts are in the `unit` of their output, percentiles from 0 to 100,
        levels and chances from 0 to 1.
        """
        made = self.provenance
        return {
            "schema": "uncertain-botec/risk/1",
            "scenario": {"title": self.scenario.title, "path": self.scenario.path, "sha256": self.scenario.sha256},
            "estimator": self.scenario.estimator,
            "choices": dict(self.scenario.choices),
            "draws": made.draws,
            "seed": made.seed,
            "sampler": made.sampler,
            "replicates": made.replicates,
            "confidence": self.confidence,
            "outputs": {name: without_infinity(asdict(one)) for name, one in self.outputs.items()},
            "both": None if self.both is None else asdict(self.both),
            "pair": None if self.pair is None else without_infinity(asdict(self.pair)),
            "requirements": [without_infinity(asdict(one)) for one in self.verdicts],
            "met": not self.unmet,
            "notes": list(self.notes),
            "provenance": made.to_dict(),
        }

    def __str__(self) -> str:
        from uncertain_botec.risk_table import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from uncertain_botec.risk_table import as_html

        return as_html(self)


def review_risk(
    scenario: Scenario,
    *,
    budget: str | None = None,
    deadline: str | None = None,
    confidence: float = CONFIDENCE,
    requirements: Iterable[str | Requirement] = (),
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
    sampler: str = "lattice",
) -> RiskReview:
    """Draw a scenario and review its risk.

    Args:
        scenario: from `load_scenario`.
        budget: with its unit, such as "5 MUSD"; the scenario's own by default.
        deadline: likewise, such as "45 day".
        confidence: the level to plan for, between 0 and 1.
        requirements: such as "P(cost <= 5 MUSD) >= 0.8".
        draws: at least how many.
        seed: of the randomisations.
        sampler: "lattice", "sobol" or "monte-carlo".

    Returns:
        The review, in printed units.

    Raises:
        UsageError: an option, limit or requirement that cannot be used; nothing is drawn then.
        SamplingError: draws that cannot be used.
    """
    stated, read = wanted(scenario, budget, deadline, confidence, requirements)
    from uncertain_botec.sampling.engine import sample

    return _reviewed(sample(stated, draws, seed=seed, sampler=sampler), confidence, read)


def review(
    draws: Draws,
    *,
    budget: str | None = None,
    deadline: str | None = None,
    confidence: float = CONFIDENCE,
    requirements: Iterable[str | Requirement] = (),
) -> RiskReview:
    """Review the risk that draws show; the arguments are those of `review_risk`."""
    scenario, read = wanted(draws.scenario, budget, deadline, confidence, requirements)
    return _reviewed(replace(draws, scenario=scenario), confidence, read)


def wanted(
    scenario: Scenario,
    budget: str | None,
    deadline: str | None,
    confidence: float,
    requirements: Iterable[str | Requirement],
) -> tuple[Scenario, tuple[Requirement, ...]]:
    """The scenario with the limits asked for, and the requirements, all of which can be reviewed."""
    if not 0 < confidence < 1:
        raise UsageError(f"a confidence of {100 * confidence:g} % is not between 0 and 100 %, both excluded")
    faults: list[Fault] = []
    limits = dict(scenario.limits)
    for name, text in (("budget", budget), ("deadline", deadline)):
        output = LIMITS[name]
        if text is None:
            continue
        if output not in scenario.plan.outputs:
            expected = f"a review of {', '.join(scenario.plan.outputs)}"
            message = f"the estimator {scenario.estimator} gives no {output}, so there is no {name} to keep"
            faults.append(Fault(message, name, text, text, expected, f"leave the {name} out"))
        elif (value := value_in(text, QUANTITIES[output], (name, text), faults)) is not None:
            limits[name] = Marker(name, output, value, text)
    if faults:
        raise RequirementError(faults)
    stated = replace(scenario, limits=limits)
    read = read_requirements(requirements)
    check(read, stated)
    return stated, read


def _reviewed(draws: Draws, confidence: float, requirements: Sequence[Requirement]) -> RiskReview:
    scenario = draws.scenario
    names = [name for name in LIMITS.values() if name in draws.outputs] or list(draws.outputs)
    points = at_medians(scenario)[1]
    pair = None
    told = measures.enough(draws.provenance.draws, confidence)
    if names == [COST, TIME] and told and not (scenario.certain(COST) and scenario.certain(TIME)):
        pair = _shown_pair(measures.balanced_pair(draws.values[COST], draws.values[TIME], confidence))
    return RiskReview(
        scenario=scenario,
        confidence=confidence,
        outputs={name: _output(draws, name, points[name], confidence) for name in names},
        both=_both(
            draws, [one for one in scenario.limits.values() if one.output in (COST, TIME) and one.output in names]
        ),
        pair=pair,
        verdicts=tuple(judge(one, draws) for one in requirements),
        notes=tuple(_notes(draws, confidence)),
        provenance=draws.provenance,
    )


def _output(draws: Draws, name: str, point: float, confidence: float) -> OutputRisk:
    values, unit = draws.values[name], QUANTITIES[name].unit
    exact = draws.scenario.certain(name)
    # What is known exactly the engine computes from the same numbers, perhaps rounding otherwise.
    point = float(values.flat[0]) if exact else point
    levels = sorted({*LEVELS, confidence})
    every = (*levels, WORST_CREDIBLE)
    known = [exact or measures.enough(values.size, level) for level in every]
    found = zip(measures.quantiles_at(values, every), known, strict=True)
    *confident, worst = (one if told else measures.NOT_KNOWN for one, told in found)
    tail = measures.cvar(values, confidence) if known[levels.index(confidence)] else measures.NOT_KNOWN
    limit = next((one for key, one in draws.scenario.limits.items() if key in LIMITS and one.output == name), None)
    return OutputRisk(
        unit=unit,
        exact=exact,
        point_estimate=_shown(point, unit),
        percentile=measures.percentile(values, point, exact=exact),
        confidence=tuple(_confidence(*one, point, unit) for one in zip(levels, confident, strict=True)),
        cvar=_figure(tail, unit),
        worst_credible=_figure(worst, unit),
        limit=None if limit is None else _limit(values, limit, unit, exact),
    )


def _confidence(level: float, figure: Figure, point: float, unit: str) -> Confidence:
    more = figure.value - point if math.isfinite(point) and not math.isnan(figure.value) else None
    part = more / point if more is not None and point else None
    shown = _figure(figure, unit)
    return Confidence(level, shown.value, shown.error, None if more is None else _shown(more, unit), part)


def _limit(values: Floats, limit: Marker, unit: str, exact: bool) -> LimitRisk:
    mean = measures.mean_overrun(values, limit.value, exact=exact)
    return LimitRisk(
        name=limit.name,
        value=_shown(limit.value, unit),
        chance=measures.chance(values <= limit.value, exact=exact),
        expected_overrun=_figure(measures.expected_overrun(values, limit.value, exact=exact), unit),
        mean_overrun=None if mean is None else _figure(mean, unit),
    )


def _both(draws: Draws, limits: Sequence[Marker]) -> Chance | None:
    """The chance of keeping two limits at once."""
    if len(limits) < 2:
        return None
    first, second = (draws.values[one.output] <= one.value for one in limits)
    # One that is known to fail decides for both.
    known = [one for one in limits if draws.scenario.certain(one.output)]
    failed = any(draws.values[one.output].flat[0] > one.value for one in known)
    return measures.chance(first & second, exact=failed or len(known) == len(limits))


def _notes(draws: Draws, confidence: float) -> list[str]:
    notes: list[str] = []
    for limit in draws.scenario.model.limits:
        output = LIMITS[limit]
        if output not in draws.outputs:
            notes.append(f"{output} is not computed here, so there is no {limit} to review")
        elif limit not in draws.scenario.limits:
            notes.append(f"no {limit} is stated")
    if not all(map(draws.scenario.certain, draws.outputs)):
        levels = sorted({*LEVELS, WORST_CREDIBLE, confidence})
        notes += [_lacking(draws, one) for one in levels if not measures.enough(draws.provenance.draws, one)]
    return notes


def _lacking(draws: Draws, level: float) -> str:
    """Why a quantile is not known, and what to do."""
    count, beyond = draws.provenance.draws, min(level, 1 - level)
    power = math.ceil(math.log2(measures.FEW / beyond))
    more = f"ask for --draws 2^{power}" if 2**power <= _MOST_DRAWS else "ask for a level that is less extreme"
    what = f"P{100 * level:.9g} is not known: {count * beyond:.2g} of {count:,} draws lie beyond it"
    return f"{what}, and {measures.FEW} are the least that tell it; {more}"


def _shown(value: float, unit: str) -> float:
    return float(to_display(value, unit))


def _figure(figure: Figure, unit: str) -> Figure:
    return Figure(_shown(figure.value, unit), _shown(figure.error, unit))


def _shown_pair(pair: Pair) -> Pair:
    cost, time = (QUANTITIES[name].unit for name in (COST, TIME))
    return replace(pair, budget=_figure(pair.budget, cost), deadline=_figure(pair.deadline, time))
