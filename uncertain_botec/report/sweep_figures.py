"""Pictures of a sweep: an output along one input or over two, and the Pareto front."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uncertain_botec import plots
from uncertain_botec.decisions.axes import Axis, label_of
from uncertain_botec.decisions.surface import Point
from uncertain_botec.plots.axes import reading_of
from uncertain_botec.presentation import title_of
from uncertain_botec.report.blocks import Block, Paragraph, Picture, Section, Table, foreign
from uncertain_botec.report.sweep_answer import best_of
from uncertain_botec.report.swept import Swept
from uncertain_botec.report.words import in_all, name_of, spread_out, unit_of
from uncertain_botec.sweep_table import HEADS, LIMIT_HEADS, outputs_of, rows, scale_of
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import COST, LIMITS, QUANTITIES, TIME

# More are not told apart in a picture, and make it large.
_ALONG = 120
_OVER = 48
_CHOICES = 1000
_FRONT = 40

_FIGURES = 2

# Letters of a word that stays in one line.
_SHORT = 20

_PLAIN = re.compile(r"[\w.,+*<>∞ %-]*")


@dataclass(frozen=True)
class _Slice:
    """The points that differ in one or two inputs alone.

    Attributes:
        axes: these inputs, with their values in printed units, ascending.
        points: by the places of these values on the axes.
        fixed: what the others are, as a block's text; nothing where there are none.
    """

    axes: tuple[tuple[Axis, list[float]], ...]
    points: dict[tuple[float, ...], Point]
    fixed: str


def _sliced(context: Swept) -> _Slice | None:
    """The one or two inputs with the most values, all others as at the best point."""
    sweep = context.sweep
    numbers = [place for place, axis in enumerate(sweep.axes) if axis.kind == "input" and len(axis.values) > 1]
    # Two at most, in the order in which they were given.
    chosen = sorted(sorted(numbers, key=lambda place: -len(sweep.axes[place].values))[:2])
    if not chosen:
        return None
    best = best_of(context) or sweep.points[0]
    others = [place for place, axis in enumerate(sweep.axes) if place not in chosen and len(axis.values) > 1]
    alike = [one for one in sweep.points if all(one.at[place] == best.at[place] for place in others)]
    fixed = [f"`{sweep.axes[place].name}` is {foreign(_word(best.at[place]))}" for place in others]
    axes = []
    for place in chosen:
        axis, most = sweep.axes[place], _ALONG if len(chosen) == 1 else _OVER
        values = sorted(float(axis.printed(number)) for number in range(len(axis.values)))
        axes.append((axis, [values[step] for step in spread_out(len(values), most)]))
    points = {tuple(float(one.at[place]) for place in chosen): one for one in alike}
    return _Slice(tuple(axes), points, in_all(fixed) if fixed else "")


def _word(at: float | str) -> str:
    return at if isinstance(at, str) else label_of(at)


def landscape(context: Swept) -> Section | None:
    """Cost and time along the one or two inputs with the most values."""
    part_of = _sliced(context)
    if part_of is None:
        return None
    names, outputs = in_all(f"`{axis.name}`" for axis, _ in part_of.axes), context.outputs[:_FIGURES]
    if len(part_of.axes) == 1:
        title, reading = f"Along {names}", f"What half of all runs stay at or below along {names}."
        pictures = [
            Picture(_line(context, part_of, name), f"{title_of(name)} along {names}: P50 in the band from P10 to P90.")
            for name in outputs
        ]
    else:
        title, reading = f"Over {names}", f"P90 over {names}, the amount that nine runs in ten stay at or below."
        pictures = [
            Picture(_surface(context, part_of, name), f"P90 of {name_of(name)} over {names}: the darker, the less.")
            for name in outputs
        ]
        if "deadline" in context.limits:
            caption = f"Chance of keeping the deadline over {names}: the darker, the less likely."
            pictures.append(Picture(_chances(context, part_of), caption))
        if any(_limit(context, name) for name in outputs):
            reading += " A line is where a limit is just kept; a picture without one is all on one side of its limit."
    reading += f" Here {part_of.fixed}." if part_of.fixed else ""
    return Section("landscape", title, (Paragraph(reading), *pictures))


def _limit(context: Swept, output: str) -> tuple[str, float] | None:
    """The budget or the deadline of an output, in its printed unit."""
    limits = context.sweep.scenario.limits
    name = next((name for name, limited in LIMITS.items() if limited == output and name in limits), None)
    return None if name is None else (name, float(to_display(limits[name].value, QUANTITIES[output].unit)))


def _line(context: Swept, part_of: _Slice, output: str) -> plots.Figure:
    ((axis, values),) = part_of.axes
    there = [(value, part_of.points[(value,)].outputs.get(output)) for value in values]
    known = [(value, spread) for value, spread in there if spread is not None]
    along, reading = reading_of(axis.name, values), reading_of(output, [spread.p50 for _, spread in known])
    limit = _limit(context, output)
    return plots.sweep_lines(
        [value / along.scale for value, _ in known],
        *([getattr(spread, key) / reading.scale for _, spread in known] for key in ("p10", "p50", "p90")),
        x_label=along.label,
        y_label=reading.label,
        limit=None if limit is None else limit[1] / reading.scale,
        limit_name="limit" if limit is None else limit[0],
        name=f"sweep-{output}",
    )


def _surface(context: Swept, part_of: _Slice, output: str) -> plots.Figure:
    p90 = {at: one.outputs[output].p90 if output in one.outputs else math.inf for at, one in part_of.points.items()}
    reading, limit = reading_of(output, sorted(p90.values())), _limit(context, output)
    label = f"P90 of {name_of(output)}"
    return _over(
        part_of,
        {at: value / reading.scale for at, value in p90.items()},
        z_label=f"{label} ({reading.unit})" if reading.unit else label,
        level=None if limit is None else limit[1] / reading.scale,
        level_name="limit" if limit is None else limit[0],
        name=f"surface-{output}",
    )


def _chances(context: Swept, part_of: _Slice) -> plots.Figure:
    """How likely the deadline is kept, and where with what is asked."""
    chances = {
        at: one.limits["deadline"].value if "deadline" in one.limits else math.nan for at, one in part_of.points.items()
    }
    return _over(
        part_of,
        chances,
        z_label="Chance of keeping the deadline",
        level=context.sweep.confidence,
        level_name="confidence",
        chances=True,
        name="surface-deadline",
    )


def _over(part_of: _Slice, values: Mapping[tuple[float, ...], float], **shown: Any) -> plots.Figure:
    (first, xs), (second, ys) = part_of.axes
    along, across = reading_of(first.name, xs), reading_of(second.name, ys)
    return plots.surface(
        [x / along.scale for x in xs],
        [y / across.scale for y in ys],
        [[values[x, y] for x in xs] for y in ys],
        x_label=along.label,
        y_label=across.label,
        **shown,
    )


# --- cost against time ------------------------------------------------------------------------------------------------


def front(context: Swept) -> Section | None:
    """The points that no other beats in both cost and time, among the others."""
    sweep = context.sweep
    both = [place for place, one in enumerate(sweep.points) if COST in one.outputs and TIME in one.outputs]
    if len(both) < 2 or not sweep.front:
        return None
    best = [sweep.front[step] for step in spread_out(len(sweep.front), _FRONT)]
    others = [place for place in both if not sweep.points[place].efficient]
    shown = [*best, *(others[step] for step in spread_out(len(others), _CHOICES))]
    points = [sweep.points[place] for place in shown]
    cost, time = (reading_of(name, [sweep.points[place].outputs[name].p90 for place in best]) for name in (COST, TIME))
    figure = plots.pareto(
        [", ".join(map(_word, one.at)) for one in points],
        [one.outputs[COST].p90 / cost.scale for one in points],
        [one.outputs[TIME].p90 / time.scale for one in points],
        x_label=f"{cost.label}, P90",
        y_label=f"{time.label}, P90",
        front=range(len(best)),
    )
    reading = (
        "No point is both cheaper and sooner at P90 than one on the Pareto front: whoever wants to be sooner still "
        "pays more. All other points give something away."
        if len(sweep.front) > 1
        else "One point is the cheapest at P90 and the fastest as well: it is the whole Pareto front."
    )
    blocks: list[Block] = [
        Paragraph(reading),
        Picture(figure, f"P90 of the time against P90 of the cost; points are named by {_axes(context)}."),
    ]
    caption = f"The Pareto front{' from the cheapest point to the fastest' if len(sweep.front) > 1 else ''}"
    if len(best) < len(sweep.front):
        caption += f": {len(best)} of its {len(sweep.front):,} points"
    blocks.append(points_table(context, best, caption))
    return Section("front", "Cost against time", tuple(blocks))


def axis_unit(axis: Axis) -> str:
    """The unit of an axis, where its name does not say it."""
    return "" if axis.kind != "input" or axis.unit == axis.name else unit_of(axis.name)


def _axes(context: Swept) -> str:
    return in_all(f"`{axis.name}`" for axis in context.sweep.axes)


def points_table(context: Swept, places: Sequence[int], caption: str) -> Table:
    """Some points in the columns of the text command."""
    sweep = context.sweep
    cells = tuple(tuple(map(_guarded, row)) for row in rows(sweep, places))
    columns = [_head(axis) for axis in sweep.axes]
    for name in outputs_of(sweep):
        unit = scale_of(sweep, name)[1]
        title = HEADS.get(name, name_of(name))
        columns += [f"{title} P50{'' if unit in ('fraction', 'count') else f' ({unit})'}", f"{title} P90"]
    columns += [LIMIT_HEADS[name] for name in LIMIT_HEADS if name in context.limits]
    align = "".join(map(_align, sweep.axes)) + "r" * (len(columns) - len(sweep.axes))
    return Table(caption, (*columns, "marks"), f"{align}d", cells)


def _align(axis: Axis) -> str:
    """Numbers as such, short words in one line, and long ones, which may be names of files, as text."""
    if axis.kind == "input":
        return "r"
    return "d" if max(map(len, axis.labels)) <= _SHORT else "l"


def _head(axis: Axis) -> str:
    title = title_of(axis.name) if axis.kind == "input" else axis.name.replace("_", " ")
    return f"{title} ({unit})" if (unit := axis_unit(axis)) else title


def _guarded(cell: str) -> str:
    """A cell that may be the name of somebody's file; a plain word or a number needs no guard."""
    return cell if _PLAIN.fullmatch(cell) else foreign(cell)
