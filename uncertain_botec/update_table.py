"""How an update is shown: what was planned above what the log makes of it, and below that the rest in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from uncertain_botec.presentation import (
    amount,
    html_page,
    number,
    page,
    percent,
    plain_text,
    probability,
    row_title,
    sectioned_table,
)
from uncertain_botec.risk.measures import Chance
from uncertain_botec.units import digits, readable_scale
from uncertain_botec.updating.result import Finish, Revised, RevisedChance, RevisedLimit, Spread, Update

if TYPE_CHECKING:
    from rich.console import Group

HEADINGS = ("", "P10", "P50", "P90", "error", "narrower")

_READING = (
    "P90: a 90 % chance of being at or below. Planned: before the log. Narrower: how many times P10 to P90 shrinks; "
    "below 1 it grows. Error: the largest Monte Carlo standard error in the row."
)

_TITLES: Mapping[str, str] = {
    "speed": "Speed",
    "overall_mfu": "MFU, failures included",
    "mfu": "MFU while stepping",
    "day_to_day_noise": "Day-to-day spread",
    "drift_per_month": "Drift in a month",
    "outage_share": "Days with an outage",
}


def renderable(update: Update) -> Group:
    """The update for a rich console."""
    return page(update.scenario.title, sectioned_table(HEADINGS, rows(update)), statements(update), _READING)


def as_text(update: Update, width: int = 100) -> str:
    """The update as plain text."""
    return plain_text(renderable(update), width)


def as_html(update: Update) -> str:
    """The update as an HTML fragment for notebooks."""
    return html_page(update.scenario.title, HEADINGS, rows(update), statements(update), _READING)


def rows(update: Update) -> Iterator[tuple[str, ...]]:
    """The table's rows: a quantity's title alone, then one row before and one after the log."""
    after = "actual" if update.so_far.finished else "with the log"
    for name, one in (*update.outputs.items(), *update.learnt.items()):
        scale, unit = readable_scale(_finite(one), one.unit)
        if one.unit == "fraction":
            scale, unit = 0.01, "%"
        yield (f"{_TITLES[name]} ({unit})" if name in _TITLES else row_title(name, unit),)
        yield _cells("planned", one.prior, scale, "")
        times = "" if one.narrower is None else f"{digits(one.narrower, 0, 2)} times"
        yield _cells(after, one.posterior, scale, times)


def _finite(one: Revised) -> float:
    """A value by which to choose the scale."""
    values = (one.posterior.p50.value, one.posterior.p10.value, one.prior.p50.value, one.prior.p10.value, 1.0)
    return next(value for value in values if math.isfinite(value))


def _cells(label: str, one: Spread, scale: float, narrower: str) -> tuple[str, ...]:
    figures = (one.p10, one.p50, one.p90)
    if one.width == 0 and all(figure.error == 0 for figure in figures):
        return label, "", number(one.p50.value / scale, 0), "", "exact", narrower
    shown = [number(figure.value / scale, figure.error / scale) for figure in figures]
    errors = [figure.error / abs(figure.value) for figure in figures if figure.value and math.isfinite(figure.value)]
    worst = max(errors, default=0.0)
    return label, *shown, "exact" if worst == 0 else percent(worst), narrower


def statements(update: Update) -> Iterator[tuple[str, str]]:
    """What the update says below its table, as pairs of a subject and a statement."""
    for warning in update.warnings:
        yield "WARNING", warning
    if update.so_far.finished:
        yield "Finished", f"the log reaches the plan's tokens after {_days(update.so_far.elapsed)}; this is the actual"
    yield "So far", _so_far(update)
    yield "Plan to here", _against(update)
    if update.finish is not None:
        yield "Finish", _finish(update.finish, finished=update.so_far.finished)
    for name, limit in update.limits.items():
        yield f"{name.capitalize()} {amount(limit.value, limit.unit)}", f"met with probability {_chances(limit)}"
    if update.both is not None:
        yield "Budget and deadline", f"both met with probability {_chances(update.both)}"
    for note in update.notes:
        yield "Note", note
    if update.diagnostics is not None:
        yield "Sampler", f"NUTS, {update.diagnostics.sampled}: {update.diagnostics}"


def _days(days: float) -> str:
    return f"{digits(days, 0, 3)} days"


def _so_far(update: Update) -> str:
    one = update.so_far
    scale, unit = readable_scale(one.tokens, "tokens")
    said = [
        f"{digits(one.tokens / scale, 0, 4)} {unit}, {digits(100 * one.share, 0, 3)} % of the run, "
        f"in {_days(one.elapsed)}"
    ]
    said.append(f"{_days(one.lost)} of them without progress" if one.lost else "no time without progress")
    if one.interruptions is not None:
        said.append(f"{one.interruptions:,.0f} interruptions")
    if one.cost is not None:
        said.append(f"{amount(one.cost, 'USD')} spent")
    return "; ".join(said)


def _against(update: Update) -> str:
    one, planned = update.against_plan, update.against_plan.planned
    days = ", ".join(number(level.value, level.error) for level in (planned.p10, planned.p50, planned.p90))
    place = digits(one.percentile.value, one.percentile.error, 3)
    return f"{days} days planned at P10, P50 and P90; it took {_days(one.actual)}, at percentile {place} of the plan"


def _finish(one: Finish, *, finished: bool) -> str:
    def dates(of: Mapping[str, str | None]) -> str:
        return ", ".join("never" if date is None else date[:10] for date in of.values())

    planned = f"planned {dates(one.prior)} at P10, P50 and P90"
    if finished:
        return f"{(one.posterior['p50'] or '')[:10]}; {planned}"
    return f"{dates(one.posterior)} at P10, P50 and P90; {planned}"


def _chances(one: RevisedLimit | RevisedChance) -> str:
    return f"{_chance(one.posterior)}; planned {_chance(one.prior)}"


def _chance(one: Chance) -> str:
    return probability(one.value, one.error, one.low, one.high)
