"""What the sections of a report look at: one set of draws and everything that was found out from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from uncertain_botec.draws import Draws
from uncertain_botec.explain import Explanation, explain
from uncertain_botec.risk.review import CONFIDENCE, DEFAULT_DRAWS, RiskReview, review, wanted
from uncertain_botec.scenario import Scenario
from uncertain_botec.sensitivity.result import Sensitivity
from uncertain_botec.summaries import Summary, summarize
from uncertain_botec.vocabulary import LIMITS

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
        return all(name in self.review.outputs for name in LIMITS.values())


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
    requirements = tuple(requirements)
    # Whatever cannot be asked is refused before anything is drawn.
    scenario, _ = wanted(scenario, budget, deadline, confidence, requirements)
    from uncertain_botec.sampling.engine import sample
    from uncertain_botec.sensitivity.study import analyse_sensitivity

    progress("drawing")
    drawn = sample(scenario, draws, seed=seed)
    summary = summarize(drawn)
    reviewed = review(drawn, confidence=confidence, requirements=requirements)
    moving = [name for name in reviewed.outputs if not scenario.certain(name)]
    studies = []
    for name in moving[:_STUDIED]:
        progress(f"studying what moves {name}")
        studies.append(analyse_sensitivity(scenario, name, seed=seed))
    return Context(drawn, summary, reviewed, tuple(studies), explain(scenario))
