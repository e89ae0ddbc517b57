"""How a sweep is shown: a row for each point, or for those that matter where there are many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from uncertain_botec.decisions.axes import label_of
from uncertain_botec.decisions.figures import Spread, percent_of
from uncertain_botec.decisions.surface import Point, Sweep, told
from uncertain_botec.presentation import amount, html_page, in_words, number, page, plain_table, plain_text, title_of
from uncertain_botec.units import readable_scale, to_display
from uncertain_botec.vocabulary import COST, QUANTITIES, TIME

if TYPE_CHECKING:
    from rich.console import Group

# Points of which all are shown; of more, so many of the Pareto front.
_ALL = 40
_SOME = 20
_OUTPUTS = 3
# Points are compared down a column; a fourth digit would only be in the way.
_DIGITS = 3

# Letters of a word that is never broken.
_LONGEST = 24

# Units that say nothing beside the name.
_PURE = ("fraction", "count", "")

HEADS = {COST: "cost", TIME: "time"}
LIMIT_HEADS = {"deadline": "in time", "budget": "in budget", "memory": "fits"}

_READING = (
    "P90: a 90 % chance of being at or below. All points share their draws. *: the cheapest by P90 of cost, and among "
    "equal ones the fastest, that keeps what is asked. +: on the Pareto front: no other has a lower P90 of both cost "
    "and time."
)


def renderable(sweep: Sweep) -> Group:
    """The sweep for a rich console."""
    table = plain_table()
    headings = _headings(sweep)
    tall = max(heading.count("\n") for heading in headings)
    for place, heading in enumerate(headings):
        # Headings stand on the line below them.
        text = "\n" * (tall - heading.count("\n")) + heading
        # Names are broken only where they are long, such as the paths of files.
        short = place >= len(sweep.axes) or max(map(len, sweep.axes[place].labels)) <= _LONGEST
        table.add_column(text, justify="right", no_wrap=short, overflow="fold")
    for cells in rows(sweep, shown_points(sweep)):
        table.add_row(*cells)
    return page(sweep.scenario.title, table, _statements(sweep), _READING)


def as_text(sweep: Sweep, width: int = 100) -> str:
    """The sweep as plain text."""
    return plain_text(renderable(sweep), width)


def as_html(sweep: Sweep) -> str:
    """The sweep as an HTML fragment for notebooks."""
    shown = rows(sweep, shown_points(sweep))
    return html_page(sweep.scenario.title, _headings(sweep), shown, _statements(sweep), _READING)


def outputs_of(sweep: Sweep) -> list[str]:
    """The outputs that there are columns for."""
    return list(dict.fromkeys(name for one in sweep.points for name in one.outputs))[:_OUTPUTS]


def _limits(sweep: Sweep) -> list[str]:
    return [name for name in LIMIT_HEADS if any(name in one.limits for one in sweep.points)]


def scale_of(sweep: Sweep, name: str) -> tuple[float, str]:
    """One scale and its unit for all values of an output, so that they compare down the column."""
    unit = QUANTITIES[name].unit
    medians = [one.outputs[name].p50 for one in sweep.points if name in one.outputs]
    finite = [value for value in medians if math.isfinite(value) and value]
    return readable_scale(min(finite, key=abs, default=1.0), unit)


def _headings(sweep: Sweep) -> list[str]:
    names = [_in_lines(axis.name.replace("_", " "), axis.unit) for axis in sweep.axes]
    for name in outputs_of(sweep):
        title = HEADS.get(name) or title_of(name)
        names += [_in_lines(title, scale_of(sweep, name)[1], "P50"), "P90"]
    return [*names, *(LIMIT_HEADS[name] for name in _limits(sweep)), ""]


def _in_lines(title: str, unit: str, what: str = "") -> str:
    """A heading of several lines, with its unit where the name does not say it."""
    words = [*title.split(" "), "" if unit in (*_PURE, title) else unit, what]
    return "\n".join(word for word in words if word)


def shown_points(sweep: Sweep) -> list[int]:
    """The places of the points that are shown: all of a few, or some of the front and of all."""
    if len(sweep.points) <= _ALL:
        return [*range(len(sweep.points))]
    front = sweep.front
    steps = min(_SOME, len(front))
    some = {front[round(step * (len(front) - 1) / max(steps - 1, 1))] for step in range(steps)}
    some |= {sweep.cheapest} if sweep.cheapest is not None else set()
    if len(some) < _SOME:
        last = len(sweep.points) - 1
        some |= {round(step * last / (_SOME - 1)) for step in range(_SOME)}
    return sorted(some)


def rows(sweep: Sweep, places: Iterable[int]) -> Iterator[tuple[str, ...]]:
    """A row for each of these points."""
    scales = {name: scale_of(sweep, name)[0] for name in outputs_of(sweep)}
    limits = _limits(sweep)
    for place in places:
        one = sweep.points[place]
        cells = [value if isinstance(value, str) else label_of(value) for value in one.at]
        for name, scale in scales.items():
            cells += _spread(one.outputs.get(name), scale)
        cells += [percent_of(one.limits[name]) if name in one.limits else "" for name in limits]
        mark = ("*" if place == sweep.cheapest else "") + ("+" if one.efficient else "")
        yield (*cells, mark)


def _spread(one: Spread | None, scale: float) -> tuple[str, str]:
    if one is None:
        return "", ""
    _, middle, high = one.errors
    return tuple(  # type: ignore[return-value] # two of them
        number(value / scale, error / scale if math.isfinite(error) else 0, _DIGITS)
        for value, error in ((one.p50, middle), (one.p90, high))
    )


def _statements(sweep: Sweep) -> Iterator[tuple[str, str]]:
    asked = [name for name in ("deadline", "memory") if name in _limits(sweep)]
    condition = f"that keeps {' and '.join(asked)} with {100 * sweep.confidence:g} %" if asked else "of all"
    if any(COST in one.outputs for one in sweep.points):
        yield "Cheapest", f"{condition}: {'none' if sweep.best is None else _point(sweep, sweep.best)}"
    if len(sweep.points) > _ALL:
        shown = len(shown_points(sweep))
        yield "Shown", f"{shown} of {len(sweep.points):,} points, and {_front(sweep.front)}; --json has all"
    for name in ("deadline", "budget"):
        if name in sweep.scenario.limits:
            limit = sweep.scenario.limits[name]
            unit = QUANTITIES[limit.output].unit
            yield name.capitalize(), amount(to_display(limit.value, unit), unit)
    in_force = sweep.scenario.choices_in_force
    varied = {axis.name for axis in sweep.axes}
    yield from in_words({name: in_force[name] for name in ("flop_convention",) if name in {*in_force} - varied})
    for note in sweep.notes:
        yield "Note", note


def _front(front: Sequence[int]) -> str:
    return f"{len(front):,} {'is' if len(front) == 1 else 'are'} on the Pareto front"


def _point(sweep: Sweep, one: Point) -> str:
    """A point with what it costs and takes."""
    outputs = [
        f"P90 of {HEADS.get(name, name)} {amount(one.outputs[name].p90, QUANTITIES[name].unit)}"
        for name in (COST, TIME)
        if name in one.outputs
    ]
    return f"{told(sweep.axes, one)}: {', '.join(outputs)}"
