"""How a solution is shown: what was tried around it, and below it the value that is needed in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from uncertain_botec.decisions.axes import label_of
from uncertain_botec.decisions.solution import Probe, Solution
from uncertain_botec.presentation import html_page, in_words, number, page, plain_text, sectioned_table
from uncertain_botec.risk.requirements import parse_requirement
from uncertain_botec.risk_table import outcome
from uncertain_botec.units import digits, readable_scale

if TYPE_CHECKING:
    from rich.console import Group

# Probes that are shown on each side of the answer.
_AROUND = 4
_DIGITS = 4

_READING = (
    "All values share their draws. ±: Monte Carlo standard error of the value, that of the measure over its slope. "
    "The value is rounded the way that meets the requirement. P90: a 90 % chance of being at or below."
)


def renderable(solution: Solution) -> Group:
    """The solution for a rich console."""
    table = sectioned_table(("", *_headings(solution)[1:]), _rows(solution))
    table.columns[0].header = _headings(solution)[0]
    return page(solution.scenario.title, table, _statements(solution), _READING)


def as_text(solution: Solution, width: int = 100) -> str:
    """The solution as plain text."""
    return plain_text(renderable(solution), width)


def as_html(solution: Solution) -> str:
    """The solution as an HTML fragment for notebooks."""
    return html_page(solution.scenario.title, _headings(solution), _rows(solution), _statements(solution), _READING)


def _scale(solution: Solution) -> tuple[float, str]:
    """The scale that all values of the input are shown in, and its unit, which a name may say already."""
    values = (solution.rounded, solution.stated, solution.best, solution.low)
    if solution.granularity or solution.unit == "fraction":
        return 1.0, ""
    scale, unit = readable_scale(next(one for one in values if one is not None), solution.unit)
    return scale, "" if unit in ("count", solution.name) else unit


def _headings(solution: Solution) -> tuple[str, str, str]:
    unit = _scale(solution)[1]
    measure = str(parse_requirement(solution.requirement).measure)
    kind = _measured_in(solution)[1]
    return f"{solution.name} ({unit})" if unit else solution.name, f"{measure} ({kind})", ""


def _measured_in(solution: Solution) -> tuple[float, str]:
    if solution.requirement.startswith("P("):
        return 0.01, "%"
    finite = [one.measure for one in _shown(solution) if math.isfinite(one.measure)]
    unit = parse_requirement(solution.requirement).quantity.unit
    return readable_scale(min(finite, key=abs, default=1.0), unit)


def _shown(solution: Solution) -> list[Probe]:
    """The probes around the answer, or around what is stated."""
    probes = solution.probes
    middle = next((one for one in (solution.value, solution.best, solution.stated) if one is not None), probes[0].at)
    place = sum(one.at < middle for one in probes)
    return list(probes[max(place - _AROUND, 0) : place + _AROUND])


def _rows(solution: Solution) -> Iterator[tuple[str, ...]]:
    scale = _scale(solution)[0]
    measured, _ = _measured_in(solution)
    for one in _shown(solution):
        yield _value(one.at / scale), number(one.measure / measured, 0, _DIGITS), "met" if one.met else "not met"


def _value(value: float) -> str:
    return label_of(value) if value == int(value) else number(value, 0, _DIGITS)


def _statements(solution: Solution) -> Iterator[tuple[str, str]]:
    name = solution.name
    if solution.side in ("least", "most"):
        assert solution.rounded is not None  # noqa: S101 -- a boundary has a value
        yield "Needed", f"{name} of at {solution.side} {_with_error(solution)}"
    elif solution.side == "any":
        yield (
            "Needed",
            f"nothing: every value of {name} from {_told(solution, solution.low)} to {_told(solution, solution.high)}",
        )
    else:
        ends = (_told(solution, end) for end in (solution.low, solution.high))
        yield "NOT MET", f"by any value of {name} from {' to '.join(ends)}"
    if solution.until is not None:
        yield "No longer met", f"beyond {_told(solution, solution.until)}"
    if solution.verdict is not None:
        measure, _, _ = solution.verdict.text.rpartition(f" {parse_requirement(solution.requirement).sign} ")
        found = outcome(solution.verdict).partition("; too close")[0]
        if solution.best is None:
            yield "There", f"{measure}: {found}"
        else:
            yield "Best attainable", f"{measure}: {found}, at {_told(solution, solution.best)}"
    yield "Required", solution.requirement
    yield "Stated", "nothing" if solution.stated is None else _told(solution, solution.stated)
    if solution.granularity > 1:
        yield "Granularity", f"multiples of {solution.granularity:,} {name}"
    in_force = solution.scenario.choices_in_force
    yield from in_words({name: in_force[name] for name in ("flop_convention",) if name in in_force})
    for note in solution.notes:
        yield "Note", note


def _told(solution: Solution, value: float) -> str:
    scale, unit = _scale(solution)
    return f"{_value(value / scale)} {unit}".rstrip()


def _with_error(solution: Solution) -> str:
    """The rounded value, with the error of the exact one."""
    assert solution.rounded is not None  # noqa: S101 -- asked for where there is one
    scale, unit = _scale(solution)
    value = label_of(solution.rounded / scale) if solution.granularity else f"{solution.rounded / scale:.12g}"
    error = solution.error or 0.0
    # Less than half a multiple moves the value to no other.
    if error == 0 or (solution.granularity > 1 and error < solution.granularity / 2):
        return f"{value} {unit}".rstrip()
    known = f"± {digits(error / scale, 0, 1)}" if math.isfinite(error) else "(error not known)"
    return f"{value} {known} {unit}".rstrip()
