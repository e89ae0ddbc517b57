"""The report of a comparison: its sections in order, its method and its files."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from uncertain_botec.output import write_runs
from uncertain_botec.plots.figure import elided
from uncertain_botec.presentation import percent
from uncertain_botec.report.blocks import Heading, Pairs, Paragraph, Section
from uncertain_botec.report.compare_answer import answer, sentence
from uncertain_botec.report.compare_inputs import asked, differing
from uncertain_botec.report.compare_results import curves, differences, limits, results
from uncertain_botec.report.compared import Compared
from uncertain_botec.report.kind import Kind
from uncertain_botec.report.method import SAMPLERS
from uncertain_botec.report.run_page import drawn
from uncertain_botec.report.words import in_all
from uncertain_botec.scenario import dump_scenario

# Labels of a title, which is one line.
_LABEL = 40


def method(context: Compared) -> Section:
    """Points, errors, versions, seed and hashes."""
    made = context.comparison.provenance
    text = (
        f"{made.draws:,} draws of each run, from {SAMPLERS[made.sampler]} in {made.replicates} replicates with seed "
        f"{made.seed}. What is drawn of an input depends on the seed and its name alone: inputs of one name are at the "
        "same percentile in the same draw of every run, and stated alike they are equal. The runs are then compared "
        "draw by draw, and the spread over the replicates gives every number its standard error. That error is the "
        "sampling's alone: it says nothing of beliefs that are wrong, or of a formula that leaves something out."
    )
    blocks = (Paragraph(text), Pairs(tuple(_facts(context))), *_files(context), *_words(context))
    return Section("method", "Method", blocks)


def _facts(context: Compared) -> Iterator[tuple[str, str]]:
    comparison = context.comparison
    made = comparison.provenance
    errors = [
        one.error / abs(one.value)
        for output in comparison.outputs.values()
        for curve in output.curves.values()
        for one in (curve.p10, curve.p50, curve.p90)
        if one.value and math.isfinite(one.value)
    ]
    yield "Largest error", f"{percent(max(errors, default=0.0))} of the value, of any run's P10, P50 or P90"
    yield "Seed", str(made.seed)
    yield "Arithmetic", f"{made.precision} on {made.device}"
    versions = {**made.versions, "python": platform.python_version()}
    yield "Versions", ", ".join(f"{name} {version}" for name, version in versions.items())
    for label, one in comparison.scenarios.items():
        if one.sha256:
            yield f"SHA-256 of the prior file of {context.letters[label]}", f"`{one.sha256}`"


def _files(context: Compared) -> Iterator[Heading | Paragraph | Pairs]:
    if not context.files:
        return
    runs = [f"{letter}.toml" for letter in context.letters.values()]
    yield Heading("Files")
    yield Paragraph(
        f"{in_all(f'`{name}`' for name in runs)} state every input, those of included files and of settings too: "
        f"`botec compare {' '.join(runs)} --out FOLDER` makes this report again. `draws.nc` has a group for each run, "
        "which opens in ArviZ; the same place in each is the same draw. `summary.json` has every number unrounded and "
        "the hash of every file."
    )
    yield Pairs(tuple((f"SHA-256 of `{name}`", f"`{context.files[name]}`") for name in ("draws.nc", *runs)))


def _words(context: Compared) -> Iterator[Heading | Pairs]:
    """What the words of this report mean."""
    yield Heading("What the words mean")
    yield Pairs(
        (
            ("P10, P50, P90", "the amounts that are not exceeded with a chance of 10, 50 and 90 %; P50 is the median"),
            ("Difference", "the one run less the other in the same draw; below zero where the one is lower"),
            ("Ties", "draws in which runs are equal; they count half for each, so that identical runs have 50 % each"),
            (
                "Lower at every percentile",
                "first-order stochastic dominance: at every confidence from 1 to 99 %",
            ),
            ("Lower in every draw", "better whatever comes, as far as the draws tell"),
            ("Error", "the Monte Carlo standard error: another seed would give about as much more or less"),
        )
    )


# --- the kind ---------------------------------------------------------------------------------------------------------

SECTIONS: tuple[Callable[[Compared], Section | None], ...] = (
    answer,
    asked,
    differing,
    results,
    curves,
    differences,
    limits,
    method,
)
"""Each gives None where there is nothing to say."""


def sections_of(context: Compared) -> tuple[Section, ...]:
    """What a report of a comparison says."""
    return tuple(section for make in SECTIONS if (section := make(context)) is not None)


def _title(context: Compared) -> str:
    return f"{in_all(elided(label, _LABEL) for label in context.comparison.scenarios)} compared"


def _made_by(context: Compared) -> str:
    made = context.comparison.provenance
    return f"Made by `botec compare` {made.versions.get('uncertain-botec', '')} from {drawn(made)} of each run."


def _texts(context: Compared) -> dict[str, str]:
    each = context.comparison.scenarios.items()
    return {f"{context.letters[label]}.toml": dump_scenario(one) for label, one in each}


def _write_draws(context: Compared, file: Path, keep: int) -> None:
    write_runs(file, {context.letters[label]: one for label, one in context.kept.items()})


def _document(context: Compared) -> dict[str, Any]:
    return {
        "compare": context.comparison.to_dict(),
        "risk": {label: one.to_dict() for label, one in context.reviews.items()},
    }


COMPARISON = Kind(
    schema="uncertain-botec/report-compare/1",
    title=_title,
    sentence=sentence,
    sections=sections_of,
    method=method,
    made_by=_made_by,
    texts=_texts,
    write_draws=_write_draws,
    document=_document,
)
"""The report of a comparison."""
