"""What the sections of a report look at: one set of draws and everything that was found out from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from uncertain_botec.draws import Draws
from uncertain_botec.explain import Explanation, explain
from uncertain_botec.risk.review import CONFIDENCE, DEFAULT_DRAWS, RiskReview, review, wanted
from uncertain_botec.scenario import Scenario
from uncertain_botec.sensitivity.result import Sensitivity
from uncertain_botec.summaries import Summary, summarize
from uncertain_botec.vocabulary import COST, LIMITS, TIME

# Cost and time, or of an estimator without them the first outputs.
_STUDIED = 2


@dataclass(frozen=True)
class Context:
    """Everything a report is written from.

    Attributes:
        draws: of the scenario, with the limits that were asked about.
        summary: of these draws.
        review: of these draws.
        studies: what moves each output that is decided about and not known exactly.
        explanation: the formulas at the medians.
        files: the SHA-256 of what is written beside the page, by name, as far as it is there yet.
    """

    draws: Draws
    summary: Summary
    review: RiskReview
    studies: tuple[Sensitivity, ...]
    explanation: Explanation
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def scenario(self) -> Scenario:
        """The scenario, with the limits that were asked about."""
        return self.draws.scenario

    @property
    def both(self) -> bool:
        """Whether there is a cost and a time."""
        return all(name in self.review.outputs for name in (COST, TIME))


def gather(
    scenario: Scenario,
    *,
    budget: str | None = None,
    deadline: str | None = None,
    confidence: float = CONFIDENCE,
    requirements: Iterable[str] = (),
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
    progress: Callable[[str], object] = lambda _: None,
) -> Context:
    """Draw a scenario and find out everything that a report says; the arguments are those of `write_report`."""
    # Whatever cannot be asked is refused before anything is drawn.
    requirements = tuple(requirements)
    scenario, _ = wanted(scenario, budget, deadline, confidence, requirements)
    from uncertain_botec.sampling.engine import sample

    progress("drawing")
    drawn = sample(scenario, draws, seed=seed)
    # How long it took is no part of a report: one that is made again is the same to the byte.
    drawn = replace(drawn, provenance=replace(drawn.provenance, seconds={}))
    studied = [name for name in _decided(scenario) if not scenario.certain(name)][:_STUDIED]
    return look(drawn, confidence=confidence, requirements=requirements, studied=studied, progress=progress)


def look(
    draws: Draws,
    *,
    confidence: float = CONFIDENCE,
    requirements: Iterable[str] = (),
    studied: Iterable[str] = (),
    progress: Callable[[str], object] = lambda _: None,
) -> Context:
    """Find out what there is to say of draws.

    Args:
        draws: of a scenario with the limits that are asked about.
        confidence: the level to plan for.
        requirements: such as "P(cost <= 5 MUSD) >= 0.8".
        studied: the outputs of which it is studied what moves them.
        progress: called with what is being done.
    """
    from uncertain_botec.sensitivity.study import analyse_sensitivity

    scenario, studies = draws.scenario, []
    summary, reviewed = summarize(draws), review(draws, confidence=confidence, requirements=requirements)
    for name in studied:
        progress(f"studying what moves {name}")
        studies.append(analyse_sensitivity(scenario, name, seed=draws.provenance.seed))
    return Context(draws, summary, reviewed, tuple(studies), explain(scenario))


def _decided(scenario: Scenario) -> list[str]:
    """Cost and time, or all outputs of a scenario that has neither."""
    return [name for name in LIMITS.values() if name in scenario.plan.outputs] or list(scenario.plan.outputs)
