"""How the numbers came about, how far they can be trusted, and what it takes to make them again."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from uncertain_botec.explain import Term
from uncertain_botec.presentation import percent
from uncertain_botec.report.blocks import Heading, Pairs, Paragraph, Section, Table, foreign
from uncertain_botec.report.context import Context
from uncertain_botec.report.words import part, said

SAMPLERS = {
    "lattice": "a rank-1 lattice with independent random shifts",
    "sobol": "scrambled Sobol points",
    "monte-carlo": "independent draws",
}

# What the report is made from; the hashes of all other files are in summary.json.
_HASHED = ("scenario.toml", "draws.nc")


def method(context: Context) -> Section:
    """Formulas, points, errors, versions, seed and hashes."""
    made = context.draws.provenance
    points = SAMPLERS[made.sampler]
    text = (
        f"{made.draws:,} draws of all uncertain inputs together, from {points} in {made.replicates} replicates with "
        f"seed {made.seed}, went through the formulas below. The spread over the replicates gives every number its "
        "standard error, and printed digits stop where the error begins. That error is the sampling's alone: it says "
        "nothing of beliefs that are wrong, or of a formula that leaves something out."
    )
    blocks = (Paragraph(text), Pairs(tuple(_facts(context))), _formulas(context), *_files(context), *_words(context))
    return Section("method", "Method", blocks)


def _facts(context: Context) -> Iterator[tuple[str, str]]:
    made, accuracy = context.draws.provenance, context.summary.accuracy
    if accuracy.output is not None:
        yield (
            "Largest error",
            f"{percent(accuracy.reached)} of the value: {accuracy.level.upper() if accuracy.level else ''} of "
            f"`{accuracy.output}`",
        )
    for study in context.studies:
        yield (
            f"Study of `{study.output}`",
            f"{study.draws:,} independent draws for the tenths, {study.walks:,} walks through the inputs for shares",
        )
    yield "Seed", str(made.seed)
    yield "Arithmetic", f"{made.precision} on {made.device}"
    versions = {**made.versions, "python": platform.python_version()}
    yield "Versions", ", ".join(f"{name} {version}" for name, version in versions.items())
    if context.scenario.sha256:
        yield f"SHA-256 of {foreign(context.scenario.path)}", f"`{context.scenario.sha256}`"


def _formulas(context: Context) -> Table:
    rows = tuple(
        (f"`{step.output.name}`", f"`{step.equation}`", _value(step.output), step.source)
        for step in context.explanation.steps
    )
    columns = ("Quantity", "Formula", "At the medians", "Source")
    return Table("The formulas in order, and their values with every input at its median", columns, "llrl", rows)


def _value(term: Term) -> str:
    return said(term.name, term.value)


def _files(context: Context) -> Iterator[Heading | Paragraph | Pairs]:
    if not context.files:
        return
    yield Heading("Files")
    yield Paragraph(
        "`scenario.toml` states every input, those of included files too: `botec report scenario.toml` makes this "
        "report again. `draws.nc` opens in ArviZ. `summary.json` has every number unrounded and the hash of every file."
    )
    yield Pairs(tuple((f"SHA-256 of `{name}`", f"`{context.files[name]}`") for name in _HASHED))


def _words(context: Context) -> Iterator[Heading | Pairs]:
    """What the words of this report mean."""
    level = part(context.review.confidence)
    yield Heading("What the words mean")
    pairs = [
        ("P10, P50, P90", "the amounts that are not exceeded with a chance of 10, 50 and 90 %; P50 is the median"),
        ("Mean", "the average over all draws; it lies above the median where the dear end is far out"),
        ("80 % HDI", "the shortest interval that holds 80 % of the draws (highest density interval)"),
        ("Error", "the Monte Carlo standard error: another seed would give about as much more or less"),
        ("Point estimate", "the formulas with every input at its median; not the median of the result"),
        ("CVaR", f"conditional value at risk, the mean of the worst {part(1 - context.review.confidence)} of outcomes"),
    ]
    if context.review.pair is not None:
        pairs.append(("Joint confidence", f"the chance of keeping budget and deadline in the same run; {level} here"))
    if context.studies:
        pairs.append(
            ("Share", "Shapley effect: the part of the variance, or of that of the logarithm, that an input is behind")
        )
    if any(study.information for study in context.studies):
        pairs.append(
            ("Worth", "expected value of partial perfect information (EVPPI): what deciding with that known gains")
        )
    yield Pairs(tuple(pairs))
