"""What a comparison is of: the runs, what differs between them, and what is one and the same quantity."""

from __future__ import annotations

import numpy as np

from uncertain_botec.distributions import level_of_u
from uncertain_botec.plots.axes import reading_of
from uncertain_botec.presentation import amount, in_words
from uncertain_botec.report.blocks import Block, Heading, Pairs, Paragraph, Points, Section, Table, foreign
from uncertain_botec.report.compared import Compared
from uncertain_botec.report.words import in_all, said
from uncertain_botec.scenario import Input, Scenario
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import LIMITS, QUANTITIES


def asked(context: Compared) -> Section:
    """The runs."""
    blocks: list[Block] = []
    for label, one in context.comparison.scenarios.items():
        pairs: list[tuple[str, str]] = [
            ("Run", foreign(one.title)),
            ("Prior file", foreign(one.path or "made by a program")),
            ("Estimator", f"`{one.estimator}`: {one.model.summary}"),
            *((name.capitalize(), limit_of(one, name)) for name in LIMITS if name in one.limits),
            *in_words(one.choices_in_force),
        ]
        blocks += [Heading(context.named(label)), Pairs(tuple(pairs))]
        if notes := [*one.warnings, *one.notes]:
            blocks.append(Points(tuple(foreign(f"{note[:1].upper()}{note[1:]}.") for note in notes)))
    if common := context.comparison.notes:
        blocks.append(Points(tuple(f"{note[:1].upper()}{note[1:]}." for note in common)))
    return Section("asked", "What was compared", tuple(blocks))


def limit_of(scenario: Scenario, name: str) -> str:
    """A limit as the run states it."""
    marker = scenario.limits[name]
    unit = QUANTITIES[marker.output].unit
    return amount(float(to_display(marker.value, unit)), unit)


def differing(context: Compared) -> Section:
    """What is not the same in all runs, and what is one quantity."""
    comparison = context.comparison
    blocks: list[Block] = []
    if differ := _names_that_differ(context):
        blocks += [
            Paragraph("What is uncertain is told by its median, and by P10 and P90 in brackets."),
            _differing(context, differ),
        ]
    else:
        blocks.append(Paragraph("Nothing differs: the runs state everything alike."))
    if comparison.together:
        names = in_all(f"`{name}`" for name in comparison.together)
        blocks.append(
            Paragraph(
                f"Stated differently, and at the same percentile of its own in every draw: {names}. Where one run is "
                "lucky with it, so are the others: it moves together as closely as can be."
            )
        )
    if comparison.apart:
        names = in_all(f"`{name}`" for name in comparison.apart)
        blocks.append(Paragraph(f"Correlated otherwise in one run than in another, moved together in part: {names}."))
    if comparison.same:
        blocks += [
            Heading(f"The same quantity ({len(comparison.same)})"),
            Paragraph("Stated alike, and so one and the same quantity: equal in every draw of all runs that take it."),
            _same(context),
        ]
    return Section("differing", "What differs, and what is the same", tuple(blocks))


def _names_that_differ(context: Compared) -> list[str]:
    """Choices and known inputs, then what is uncertain in a run at least."""
    comparison = context.comparison
    found = dict.fromkeys((*comparison.differing, *comparison.together, *comparison.apart))
    for one in comparison.scenarios.values():
        taken = (name for output in comparison.outputs for name in one.drivers(output))
        # What the others do not take at all.
        found |= dict.fromkeys(name for name in taken if name not in comparison.same)
    return list(found)


def _differing(context: Compared, names: list[str]) -> Table:
    comparison = context.comparison
    cells = []
    for name in names:
        values = comparison.differing.get(name, (None,) * len(comparison.scenarios))
        each = zip(comparison.scenarios.values(), values, strict=True)
        cells.append((f"`{name}`", *(_stated(name, value, one) for one, value in each)))
    columns = ("Input or choice", *(context.named(label) for label in comparison.scenarios))
    return Table("What is not the same in all runs", columns, "l" * len(columns), tuple(cells))


def _stated(name: str, value: float | str | None, scenario: Scenario) -> str:
    """What one run takes."""
    if value is None and name in scenario.uncertain:
        return _belief(scenario.inputs[name])
    if value is None and name in scenario.known:
        value = float(to_display(scenario.known[name], QUANTITIES[name].unit))
    if value is None:
        return "not taken"
    return value if isinstance(value, str) else said(name, value)


def _belief(one: Input) -> str:
    low, middle, high = _quantiles(one)
    scale = reading_of(one.name, [middle]).scale
    return f"{said(one.name, middle)} ({low / scale:,.4g} to {high / scale:,.4g})"


def _quantiles(one: Input) -> list[float]:
    levels = level_of_u(np.array([0.1, 0.5, 0.9]))
    found: list[float] = to_display(np.asarray(one.distribution.quantile(levels)), QUANTITIES[one.name].unit).tolist()
    return found


def _same(context: Compared) -> Table:
    scenarios = context.comparison.scenarios.values()
    taken = [next(one.inputs[name] for one in scenarios if name in one.uncertain) for name in context.comparison.same]
    cells = tuple(
        (f"`{one.name}`", _belief(one), foreign(one.about("source") or "not stated"), foreign(one.about("as_of") or ""))
        for one in taken
    )
    columns = ("Input", "Median (P10 to P90)", "Source", "As of")
    return Table("Uncertain inputs that are the same quantity", columns, "llld", cells)
