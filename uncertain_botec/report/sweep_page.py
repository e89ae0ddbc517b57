"""The report of a sweep: what was varied, every point, its method and its files."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator
from typing import Any

from uncertain_botec.decisions.axes import Axis
from uncertain_botec.presentation import in_words, percent
from uncertain_botec.report.blocks import Block, Heading, Pairs, Paragraph, Points, Section, foreign
from uncertain_botec.report.kind import Kind
from uncertain_botec.report.sweep_answer import answer, limit_of, sentence
from uncertain_botec.report.sweep_figures import axis_unit, front, landscape, points_table
from uncertain_botec.report.swept import Swept, points_as_csv
from uncertain_botec.report.words import in_all, part
from uncertain_botec.scenario import dump_scenario

ROWS = 200
"""Points that the page shows; `points.csv` has them all."""

# Values of an axis that are named one by one.
_NAMED = 12


def asked(context: Swept) -> Section:
    """The run, and what was varied."""
    sweep = context.sweep
    scenario = sweep.scenario
    varied = {axis.name for axis in sweep.axes}
    choices = {name: word for name, word in scenario.choices_in_force.items() if name not in varied}
    pairs = [
        ("Run", foreign(scenario.title)),
        ("Prior file", foreign(scenario.path or "made by a program")),
        ("Estimator", f"`{scenario.estimator}`: {scenario.model.summary}"),
        *((f"Varied: `{axis.name}`", _values(axis)) for axis in sweep.axes),
        ("Points", f"{len(sweep.points):,}"),
        *((name.capitalize(), limit_of(context, name)) for name in ("budget", "deadline") if name in scenario.limits),
        ("Confidence", f"{part(sweep.confidence)}, the chance with which a deadline and the memory are to be kept"),
        *in_words(choices),
    ]
    blocks: list[Block] = [Pairs(tuple(pairs))]
    if notes := [*scenario.warnings, *scenario.notes]:
        blocks.append(Points(tuple(foreign(f"{note[:1].upper()}{note[1:]}.") for note in notes)))
    return Section("asked", "What was asked", tuple(blocks))


def _values(axis: Axis) -> str:
    number = len(axis.labels)
    unit = f" {axis_unit(axis)}".rstrip()
    if number <= _NAMED:
        return f"{in_all(map(foreign, axis.labels))}{unit}"
    return f"{number:,} values from {axis.labels[0]} to {axis.labels[-1]}{unit}"


def points(context: Swept) -> Section:
    """The grid as a table."""
    sweep = context.sweep
    number = len(sweep.points)
    reading = (
        "P90 is the amount that nine runs in ten stay at or below, P50 the median. * is the cheapest by P90 of cost, "
        "and among equal ones the fastest, that keeps what is asked; + is on the Pareto front, where no other has "
        "a lower P90 of both cost and time."
    )
    caption = f"All {number:,} points" if number > 1 else "The one point"
    if number > ROWS:
        caption = f"The first {ROWS} of {number:,} points"
        reading += " `points.csv` and `summary.json` have all of them."
    table = points_table(context, range(min(number, ROWS)), caption)
    return Section("points", "Every point" if number <= ROWS else "The points", (Paragraph(reading), table))


def method(context: Swept) -> Section:
    """How points were evaluated, errors, versions, seed and hashes."""
    sweep = context.sweep
    text = (
        f"Every point is evaluated on the same random points, with seed {sweep.seed}: what differs between two of them "
        "is what was varied, and nothing that chance adds. Where an output allows it one uncertain input is integrated "
        "out exactly instead of drawn. The spread over independent replicates gives every number its standard error. "
        "That error is the sampling's alone: it says nothing of beliefs that are wrong, or of a formula that leaves "
        "something out. `botec report` tells of one point everything that there is to say."
    )
    blocks = (Paragraph(text), Pairs(tuple(_facts(context))), *_files(context), *_words())
    return Section("method", "Method", blocks)


def _facts(context: Swept) -> Iterator[tuple[str, str]]:
    sweep = context.sweep
    errors = [
        error / abs(value)
        for one in sweep.points
        for spread in one.outputs.values()
        for value, error in zip((spread.p10, spread.p50, spread.p90), spread.errors, strict=True)
        if value and math.isfinite(value) and math.isfinite(error)
    ]
    yield "Largest error", f"{percent(max(errors, default=0.0))} of the value, of any point's P10, P50 or P90"
    yield "Seed", str(sweep.seed)
    versions = {**context.versions, "python": platform.python_version()}
    yield "Versions", ", ".join(f"{name} {version}" for name, version in versions.items())
    if sweep.scenario.sha256:
        yield f"SHA-256 of {foreign(sweep.scenario.path)}", f"`{sweep.scenario.sha256}`"


def _files(context: Swept) -> Iterator[Heading | Paragraph | Pairs]:
    if not context.files:
        return
    yield Heading("Files")
    yield Paragraph(
        "`points.csv` has every point in a row, unrounded; `scenario.toml` states every input of the run at the first "
        "of them, those of included files too; `summary.json` has every number and the hash of every file. There is no "
        "file of draws: a sweep keeps quantiles alone."
    )
    yield Pairs(tuple((f"SHA-256 of `{name}`", f"`{context.files[name]}`") for name in ("points.csv", "scenario.toml")))


def _words() -> Iterator[Heading | Pairs]:
    """What the words of this report mean."""
    yield Heading("What the words mean")
    yield Pairs(
        (
            ("P10, P50, P90", "the amounts that are not exceeded with a chance of 10, 50 and 90 %; P50 is the median"),
            ("In time, in budget", "the chance of keeping the deadline, and of keeping the budget"),
            ("Pareto front", "the points that no other beats in both cost and time"),
            ("Error", "the Monte Carlo standard error: another seed would give about as much more or less"),
        )
    )


# --- the kind ---------------------------------------------------------------------------------------------------------

SECTIONS: tuple[Callable[[Swept], Section | None], ...] = (answer, asked, landscape, front, points, method)
"""Each gives None where there is nothing to say."""


def sections_of(context: Swept) -> tuple[Section, ...]:
    """What a report of a sweep says."""
    return tuple(section for make in SECTIONS if (section := make(context)) is not None)


def _title(context: Swept) -> str:
    return f"{context.sweep.scenario.title}: {in_all(axis.name for axis in context.sweep.axes)} varied"


def _made_by(context: Swept) -> str:
    sweep = context.sweep
    version = context.versions.get("uncertain-botec", "")
    return f"Made by `botec sweep` {version} from {len(sweep.points):,} points with seed {sweep.seed}."


def _texts(context: Swept) -> dict[str, str]:
    return {"scenario.toml": dump_scenario(context.sweep.scenario), "points.csv": points_as_csv(context)}


def _document(context: Swept) -> dict[str, Any]:
    return {"sweep": context.sweep.to_dict()}


SWEEP = Kind(
    schema="uncertain-botec/report-sweep/1",
    title=_title,
    sentence=sentence,
    sections=sections_of,
    method=method,
    made_by=_made_by,
    texts=_texts,
    write_draws=None,
    document=_document,
)
"""The report of a sweep."""
