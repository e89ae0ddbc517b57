"""Which point of a grid is the cheapest that keeps what is asked, in one sentence and at a glance."""

from __future__ import annotations

import math
from collections.abc import Iterator

from uncertain_botec.decisions.figures import Spread
from uncertain_botec.decisions.surface import Point, told
from uncertain_botec.presentation import amount, title_of
from uncertain_botec.report.blocks import Block, Paragraph, Points, Section, Tile, Tiles, foreign
from uncertain_botec.report.swept import Swept
from uncertain_botec.report.words import chance, in_all, name_of, part, said
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import COST, QUANTITIES, TIME

_DOES = {COST: "costs", TIME: "takes"}
_TOLD = 2
_ASKED = ("deadline", "memory")


def answer(context: Swept) -> Section:
    """The sentence, its numbers at a glance, and the points behind it."""
    blocks: list[Block] = [Paragraph(sentence(context), lead=True)]
    if tiles := tuple(_tiles(context)):
        blocks.append(Tiles(tiles))
    if points := tuple(_points(context)):
        blocks.append(Points(points))
    return Section("answer", "The answer", tuple(blocks))


# --- the sentence -----------------------------------------------------------------------------------------------------


def sentence(context: Swept) -> str:
    """The point to choose, or why there is none."""
    sweep, asked, number = context.sweep, _asked(context), len(context.sweep.points)
    best = best_of(context)
    if number == 1:
        return _of_one(context, asked)
    if best is None and sweep.unmet:
        nearest, how = _nearest(context)
        if not any(nearest.limits[name].value for name in _ASKED if name in nearest.limits):
            return f"None of the {number:,} points keeps {asked}, nor comes near it."
        return f"None of the {number:,} points keeps {asked}; {named(context, nearest)} comes nearest: it keeps {how}."
    if best is None:
        return f"None of the {number:,} points can be chosen: each has no end at P90, or too few accelerators."
    kept = f" that keeps {asked}" if asked else ""
    if COST in context.outputs:
        return f"The cheapest of {number:,} points{kept} is {named(context, best)}: {_bounds(best)}."
    return f"The point of {number:,}{kept} with the least {_first(context)} is {named(context, best)}: {_bounds(best)}."


def _of_one(context: Swept, asked: str) -> str:
    (only,) = context.sweep.points
    if not asked:
        return f"The one point is {named(context, only)}: {_bounds(only)}."
    if context.sweep.unmet:
        return f"The one point, {named(context, only)}, does not keep {asked}: it keeps {_nearest(context)[1]}."
    return f"The one point, {named(context, only)}, keeps {asked}: {_bounds(only)}."


def _first(context: Swept) -> str:
    """What points are chosen by where there is no cost."""
    return f"P90 of the {name_of(context.outputs[0])}"


def best_of(context: Swept) -> Point | None:
    """The cheapest that keeps what is asked; where there is no cost, the one with the least of the first output."""
    sweep = context.sweep
    if COST in context.outputs:
        return sweep.best
    name = context.outputs[0]
    there = [one for one in sweep.points if one.keeps and name in one.outputs and math.isfinite(one.outputs[name].p90)]
    return min(there, key=lambda one: one.outputs[name].p90, default=None)


def _asked(context: Swept) -> str:
    """What is to be kept, and how surely; nothing where nothing is."""
    names = [name for name in _ASKED if name in context.limits]
    each = [f"the deadline of {limit_of(context, name)}" if name == "deadline" else "the memory" for name in names]
    return f"{in_all(each)} with a probability of {part(context.sweep.confidence)}" if each else ""


def limit_of(context: Swept, name: str) -> str:
    """A limit as the run states it."""
    marker = context.sweep.scenario.limits[name]
    unit = QUANTITIES[marker.output].unit
    return amount(float(to_display(marker.value, unit)), unit)


def named(context: Swept, point: Point) -> str:
    """A point, as a block's text: words on the axes may be the names of somebody's files."""
    return foreign(told(context.sweep.axes, point))


def _bounds(point: Point) -> str:
    """What a point costs and takes: at most, with a chance of 90 %, or exactly."""
    exact = all(one.p10 == one.p90 for one in point.outputs.values())
    most = "" if exact else "at most "
    told_of = {name: f"{most}{at_p90(name, one)}" for name, one in list(point.outputs.items())[:_TOLD]}
    sure = "" if exact else f", {'each ' if len(told_of) > 1 else ''}with a probability of 90 %"
    if told_of.keys() <= _DOES.keys():
        return f"it {in_all(f'{_DOES[name]} {text}' for name, text in told_of.items())}{sure}"
    return f"{in_all(f'{name_of(name)} {text}' for name, text in told_of.items())}{sure}"


def at_p90(name: str, one: Spread) -> str:
    """P90 with its unit."""
    return said(name, one.p90, finite(one.errors[2]))


def finite(error: float) -> float:
    """An error, or none where the draws do not tell it."""
    return error if math.isfinite(error) else 0.0


def _nearest(context: Swept) -> tuple[Point, str]:
    """The point whose least chance of what is asked is the largest, and its chances."""
    names = [name for name in _ASKED if name in context.limits]

    def least(point: Point) -> float:
        return min((point.limits[name].value for name in names if name in point.limits), default=0.0)

    nearest = max(context.sweep.points, key=least)
    each = [f"the {name} with {chance(nearest.limits[name])}" for name in names if name in nearest.limits]
    return nearest, in_all(each or ["neither"])


# --- at a glance ------------------------------------------------------------------------------------------------------


def _tiles(context: Swept) -> Iterator[Tile]:
    best = best_of(context)
    if best is None:
        return
    for name, one in list(best.outputs.items())[:_TOLD]:
        middle = said(name, one.p50, finite(one.errors[1]))
        yield Tile(f"{title_of(name)} at most", at_p90(name, one), f"in nine of ten runs; in half of them {middle}")
    for name, kept in best.limits.items():
        detail = "of its accelerators" if name == "memory" else f"a {name} of {limit_of(context, name)}"
        yield Tile(f"{name.capitalize()} kept", chance(kept), detail)


# --- what to know besides ---------------------------------------------------------------------------------------------


def _points(context: Swept) -> Iterator[str]:
    sweep = context.sweep
    if len(sweep.front) > 1:
        first, last = sweep.points[sweep.front[0]], sweep.points[sweep.front[-1]]
        yield (
            f"{len(sweep.front):,} points are on the Pareto front, where less time costs more: from "
            f"{named(context, first)} ({_both(first)}) to {named(context, last)} ({_both(last)})."
        )
    elif len(sweep.points) > 1 and sweep.front:
        yield f"{named(context, sweep.points[sweep.front[0]])} is both the cheapest and the fastest of all, at P90."
    for name in ("deadline", "budget") if len(sweep.points) > 1 else ():
        there = [one.limits[name].value for one in sweep.points if name in one.limits]
        if there:
            sure = sum(value >= sweep.confidence for value in there)
            limit, level = limit_of(context, name), part(sweep.confidence)
            which = f"{sure:,} of {len(there):,} points keep" if sure else f"None of {len(there):,} points keeps"
            yield f"{which} the {name} of {limit} with a probability of {level} or more."
    for note in sweep.notes:
        yield f"{foreign(f'{note[:1].upper()}{note[1:]}')}."


def _both(point: Point) -> str:
    return ", ".join(at_p90(name, point.outputs[name]) for name in (COST, TIME))
