"""How a study of sensitivity is shown: a tornado, shares of variance, and what to measure first."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncertain_botec.presentation import amount, number, page, plain_table, title_of
from uncertain_botec.sensitivity.indices import UNRESOLVED, Index
from uncertain_botec.sensitivity.result import SCALES, InformationWorth, InputSensitivity, Sensitivity
from uncertain_botec.sensitivity.tornado import Tail
from uncertain_botec.units import digits, readable_scale

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderResult
    from rich.measure import Measurement
    from rich.table import Table

_MOST_ROWS = 12
# An input with a smaller part of the variance is counted with the rest.
_SMALL_SHARE = 0.005

# A part of the variance that is smaller is rounding.
_ROUNDED = 1e-12

_BAR = (8, 48)


def renderable(study: Sensitivity) -> Group:
    """The study for a rich console."""
    from rich.console import Group
    from rich.text import Text

    shown = _rows(study)
    blocks: list[tuple[str, Table]] = []
    if shown:
        blocks += [_tornado(study, shown), _shares(study, shown)]
    if study.information is not None:
        blocks.append(_worth(study.information))
    if not blocks:
        return page(study.scenario.title, _known(study), _findings(study, shown), "")
    head = [Text(study.scenario.title, style="bold"), Text(_lead(study)), Text()]
    *first, (title, table) = blocks
    parts = [part for heading, one in first for part in (Text(heading, style="bold"), one)]
    return Group(*head, *parts, page(title, table, _findings(study, shown), _reading(study, shown)))


def as_text(study: Sensitivity, width: int = 100) -> str:
    """The study as plain text."""
    from rich.console import Console

    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, legacy_windows=False).print(renderable(study))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def _rows(study: Sensitivity) -> list[InputSensitivity]:
    """The inputs that matter, and a few of those that do not where there is room."""
    moving = [one for one in study.inputs if one.influence in ("uncertain", "chance")]
    large = [one for one in moving if one.shapley is None or _part(one) >= _SMALL_SHARE]
    return (large or moving[:3])[:_MOST_ROWS]


def _part(one: InputSensitivity) -> float:
    return max(index.value if index else 0.0 for index in (one.shapley, one.first_order))


def _lead(study: Sensitivity) -> str:
    """The output in one line."""
    name = title_of(study.output)
    scale, unit = readable_scale(study.overall.median, study.unit)
    one = study.overall
    median = _with_error(one.median / scale, one.median_error / scale)
    middle = number(study.at_medians / scale, 0)
    mean = _with_error(one.mean / scale, one.mean_error / scale) if _resolved(one) else "?"
    return f"{name} ({unit}): mean {mean}, median {median}; at medians of all inputs {middle}"


def _with_error(value: float, error: float) -> str:
    known = 0 < error < math.inf and math.isfinite(value)
    return f"{number(value, error)} ± {_rough(error)}" if known else number(value, 0)


def _resolved(tail: Tail) -> bool:
    return math.isfinite(tail.mean) and tail.mean_error <= UNRESOLVED * abs(tail.mean)


def _known(study: Sensitivity) -> Table:
    """An output that nothing moves."""
    table = plain_table()
    for heading in ("", "known exactly"):
        table.add_column(heading)
    table.add_row(title_of(study.output), amount(study.overall.median, study.unit))
    return table


# --- tables -----------------------------------------------------------------------------------------------------------


def _tornado(study: Sensitivity, shown: list[InputSensitivity]) -> tuple[str, Table]:
    ends = [tail for one in shown for tail in (one.low, one.high) if tail is not None]
    by_mean = all(_resolved(tail) for tail in (*ends, study.overall))
    centre, error = ("mean", "mean_error") if by_mean else ("median", "median_error")
    scale, unit = readable_scale(getattr(study.overall, centre), study.unit)
    values = [getattr(tail, centre) for tail in (*ends, study.overall)]
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    span = (min(finite), max(finite))
    table = plain_table()
    for heading in ("input is\nin its", "lowest\ntenth", "highest\ntenth", "", "alone\nat P10", "alone\nat P90"):
        left = heading in ("", "input is\nin its")
        # The bar alone gives way where the terminal is narrow.
        table.add_column(heading, justify="left" if left else "right", no_wrap=heading != "")
    for one in shown:
        if one.low is None or one.high is None or one.swing is None:
            continue
        low, high = (getattr(tail, centre) for tail in (one.low, one.high))
        cells = [number(getattr(tail, centre) / scale, getattr(tail, error) / scale) for tail in (one.low, one.high)]
        alone = [number(value / scale, 0) for value in (one.swing.at_p10, one.swing.at_p90)]
        table.add_row(one.input, *cells, _Bar(low, high, getattr(study.overall, centre), span), *alone)
    return f"{centre.capitalize()} {title_of(study.output).lower()} ({unit})", table


@dataclass(frozen=True)
class _Bar:
    """From the middle to where a low input leads, ░, and to where a high one does, █."""

    low: float
    high: float
    middle: float
    span: tuple[float, float]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.drawn(options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        return Measurement(*_BAR)

    def drawn(self, width: int) -> str:
        """The bar in so many characters."""
        least, most = self.span

        def place(value: float) -> int:
            part = (min(max(value, least), most) - least) / (most - least) if most > least else 0.5
            return round(part * (width - 1))

        middle = place(self.middle)
        cells = [" "] * width
        # The shorter side is drawn last, for both may lie on one side of the middle.
        sides = sorted(((place(self.low), "░"), (place(self.high), "█")), key=lambda side: -abs(side[0] - middle))
        for end, sign in sides:
            for cell in range(min(end, middle), max(end, middle) + 1):
                cells[cell] = sign
        cells[middle] = "│"
        return "".join(cells)


def _shares(study: Sensitivity, shown: list[InputSensitivity]) -> tuple[str, Table]:
    name = title_of(study.output).lower()
    title = {"log": f"Variance of log {name}", "rank": f"Variance of the rank of {name}"}
    table = plain_table()
    interval = f"{100 * study.level:g} %\ninterval"
    for heading in ("", "share\n(%)", interval, "by itself\n(%)", interval):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for one in shown:
        table.add_row(one.input, *_percent(one.shapley, study), *_percent(one.first_order, study))
    rest = [one for one in study.inputs if one.shapley and one.influence == "uncertain" and one not in shown]
    if rest:
        total = sum(one.shapley.value for one in rest if one.shapley)
        names = "1 more" if len(rest) == 1 else f"{len(rest)} more, together"
        table.add_row(names, _cell(total) if study.resolved else "?")
    return title.get(study.scale, f"Variance of {name}"), table


def _cell(part: float) -> str:
    """A small part, in percent to one decimal."""
    if part < _ROUNDED:
        return "0"
    return digits(100 * part, 0.1, 3) if part >= 0.0005 else "<0.1"


def _percent(index: Index | None, study: Sensitivity) -> tuple[str, str]:
    """A part of the variance and its interval, in percent; noise below 0 or above 100 is not shown."""
    if index is None:
        return "n/a", ""
    if not study.resolved:
        return "?", ""
    if index.error < _ROUNDED:
        return f"{100 * index.value:.4g}", ""
    value, low, high = (100 * min(max(part, 0.0), 1.0) for part in (index.value, index.low, index.high))
    # The ends are as uncertain as the value: a digit more than its error's would say nothing.
    error = max(100 * index.error, 0.01)
    return digits(value, error, 3), f"{digits(low, error, 3)} - {digits(high, error, 3)}"


def _worth(worth: InformationWorth) -> tuple[str, Table]:
    scale, unit = readable_scale(worth.perfect.value, "USD")
    table = plain_table()
    for heading in ("", f"worth\n({unit})", "\n±", "of everything\n(%)"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=bool(heading), overflow="fold")
    listed = {name: one for name, one in worth.inputs.items() if one.low > 0}
    few = dict(list(listed.items())[:_MOST_ROWS])
    for name, one in few.items():
        table.add_row(name, *_money(one, worth.perfect, scale))
    if len(few) < len(worth.inputs):
        count = len(worth.inputs) - len(few)
        rest = f"{count} {'more' if few else 'inputs' if count > 1 else 'input'}"
        table.add_row(f"{rest}, each" if count > 1 else rest, _below(worth, few, scale))
    if worth.sets:
        table.add_section()
        for name, one in worth.sets.items():
            table.add_row(name, *_money(one, worth.perfect, scale))
    table.add_section()
    everything = worth.perfect
    told = everything.value > 0 or everything.error == 0
    table.add_row("everything", *(_money(everything, everything, scale) if told else (_bound(everything.high, scale),)))
    return "What to measure first", table


def _below(worth: InformationWorth, few: Mapping[str, Index], scale: float) -> str:
    """The largest that any that is not listed may well be worth."""
    most = max((one.high for name, one in worth.inputs.items() if name not in few), default=0.0)
    return _bound(most, scale)


def _bound(most: float, scale: float) -> str:
    """What something is worth less than."""
    return f"<{_rough(most / scale)}" if most > 0 else "0"


def _rough(value: float) -> str:
    return digits(value, value, 1)


def _money(one: Index, perfect: Index, scale: float) -> tuple[str, str, str]:
    if one.error == 0:
        return number(one.value / scale, 0) if one.value else "0", "", "0" if one.value == 0 and perfect.value else ""
    part = digits(100 * one.value / perfect.value, 100 * one.error / perfect.value, 3) if perfect.value > 0 else ""
    return number(one.value / scale, one.error / scale), _rough(one.error / scale), part


# --- words ------------------------------------------------------------------------------------------------------------


def _findings(study: Sensitivity, shown: list[InputSensitivity]) -> Iterator[tuple[str, str]]:
    """What there is to say below the tables."""
    worth = study.information
    if worth is not None:
        yield "Decision", worth.decision
        yield "As things are", f"{worth.best}, expected to be worth {_amount(worth.alternatives[worth.best])}"
        yield from _others(worth)
    if not shown:
        yield "Shares of variance", "n/a (zero variance)"
    elif study.inputs[0].shapley is None:
        yield "Shares of variance", "n/a (zero variance)" if study.resolved else "n/a"
    else:
        yield "Shared out", f"the variance of {SCALES[study.scale]}"
    for title, kind in (("No influence", "none"), ("Known exactly", "known")):
        if names := [one.input for one in study.inputs if one.influence == kind]:
            yield title, ", ".join(names)
    wide = [one for one in shown if one.low and one.high and max(one.low.mass, one.high.mass) > 0.11]
    for one in wide:
        assert one.low is not None  # noqa: S101 -- told above
        assert one.high is not None  # noqa: S101
        yield (
            "Tenths",
            f"{one.input} has few values: its lowest is {100 * one.low.mass:.0f} % of the draws, its highest "
            f"{100 * one.high.mass:.0f} %",
        )
    for note in study.notes:
        yield "Note", note


def _others(worth: InformationWorth) -> Iterator[tuple[str, str]]:
    rest = {name: one for name, one in worth.alternatives.items() if name != worth.best and name != "stop"}
    if rest:
        yield "Otherwise", "; ".join(f"{name}, worth {_amount(one)}" for name, one in rest.items())


def _amount(one: Index) -> str:
    if one.value == one.error == 0:
        return "nothing"
    if not math.isfinite(one.value):
        return f"{'-' if one.value < 0 else ''}∞ USD"
    # Of what is printed: what rounds to a trillion is no thousand billion.
    value = float(f"{one.value:.4g}")
    scale, unit = readable_scale(value, "USD")
    return f"{number(value / scale, one.error / scale)} {unit}"


def _reading(study: Sensitivity, shown: list[InputSensitivity]) -> str:
    """How to read the tables that there are."""
    texts = []
    if shown:
        texts.append(
            "Tenths: the draws where the input is lowest (░) or highest (█), all others as they then come. "
            "Alone: this input at its P10 or P90 (10 % and 90 % chance of being at or below), all others at their "
            "medians. Share: Shapley effect; the shares of all inputs make 100 %. By itself: what knowing the input "
            "would take away."
        )
    if study.information is not None:
        texts.append(
            "Worth: what deciding with that known gains on average (EVPPI), the most that a measurement may cost."
        )
    return " ".join(texts)
