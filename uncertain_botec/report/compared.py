"""What the report of a comparison looks at: the draws of every run, made again, and the review of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from uncertain_botec.comparison_table import letters_of
from uncertain_botec.decisions.comparison import Comparison, Difference
from uncertain_botec.draws import Draws, thinned
from uncertain_botec.plots.figure import elided
from uncertain_botec.report.blocks import foreign
from uncertain_botec.risk.measures import Chance, chance
from uncertain_botec.risk.review import RiskReview, review

# A label in a sentence or in the head of a column.
_LABEL = 40


@dataclass(frozen=True)
class Compared:
    """Everything the report of a comparison is written from.

    Attributes:
        comparison: of the runs.
        draws: by label, of the outputs that are compared: those that the comparison is made from.
        kept: by label, some of the draws of everything.
        reviews: of each run's own budget and deadline, by label.
        limits: by label, the chance of keeping each limit that the run states, its memory's too.
        files: the SHA-256 of what is written beside the page, by name, as far as it is there yet.
    """

    comparison: Comparison
    draws: Mapping[str, Draws]
    kept: Mapping[str, Draws]
    reviews: Mapping[str, RiskReview]
    limits: Mapping[str, Mapping[str, Chance]]
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def letters(self) -> dict[str, str]:
        """What each run is called for short, by label."""
        return letters_of(self.comparison)

    def named(self, label: str) -> str:
        """A run by its letter and its label, as a block's text."""
        return f"{self.letters[label]} ({foreign(elided(label, _LABEL))})"

    def gap(self, output: str, lower: str, other: str) -> Difference:
        """By how much the one run is lower than the other, whichever was given first."""
        found = next(
            one for one in self.comparison.outputs[output].differences if {one.first, one.second} == {lower, other}
        )
        return found if found.first == lower else turned(found)


def turned(gap: Difference) -> Difference:
    """The same difference, seen from the other run."""
    p10, p50, p90, mean = (replace(one, value=0 - one.value) for one in (gap.p90, gap.p50, gap.p10, gap.mean))
    lower = replace(gap.lower, value=1 - gap.lower.value, low=1 - gap.lower.high, high=1 - gap.lower.low)
    return replace(gap, first=gap.second, second=gap.first, p10=p10, p50=p50, p90=p90, mean=mean, lower=lower)


def draw_again(comparison: Comparison, keep: int, progress: Callable[[str], object] = lambda _: None) -> Compared:
    """Draw every run of a comparison once more, which gives the same numbers.

    Args:
        comparison: which holds quantiles, but no draws.
        keep: about how many draws of each run are kept of every input and output.
        progress: called with what is being done.
    """
    from uncertain_botec.sampling.engine import sample

    made = comparison.provenance
    draws, kept, reviews, limits = {}, {}, {}, {}
    for label, scenario in comparison.scenarios.items():
        progress(f"drawing {label}")
        full = sample(scenario, made.draws, seed=made.seed, sampler=made.sampler, precision=made.precision)
        # How long it took is no part of a report: one that is made again is the same to the byte.
        full = replace(full, provenance=replace(full.provenance, seconds={}))
        reviews[label] = review(full)
        limits[label] = {
            name: chance(full.values[one.output] <= one.value, exact=scenario.certain(one.output))
            for name, one in scenario.limits.items()
            if one.output in full.values
        }
        kept[label] = thinned(full, keep)
        # What else was drawn is let go before the next run is.
        draws[label] = replace(full, values={name: full.values[name] for name in comparison.outputs})
        del full
    return Compared(comparison, draws, kept, reviews, limits)
