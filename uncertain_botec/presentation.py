"""What people see: a summary as a terminal table, as text and as HTML, its digits following the Monte Carlo error."""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from uncertain_botec.choices import CHOICES
from uncertain_botec.summaries import Driver, LimitSummary, OutputSummary, Summary
from uncertain_botec.units import digits, readable_scale

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

_TITLES: Mapping[str, str] = {
    "training_flop": "Compute",
    "hardware_flop": "Compute executed",
    "accelerator_hours": "Accelerator-hours",
    "hfu": "HFU",
    "mfu": "MFU",
    "weight_memory": "Weights",
    "gradient_memory": "Gradients",
    "optimizer_memory": "Optimizer states",
    "activation_memory": "Activations",
    "logit_memory": "Logits",
    "usable_memory": "Usable",
    "cluster_mtbf": "Time between failures",
    "nodes_in_repair": "Nodes in repair",
    "memory_per_accelerator": "Needed in all",
    "memory_utilisation": "Needed over usable",
    "minimum_accelerators": "Fits from",
    "data_parallel": "Data-parallel replicas",
    "needed_checkpoint_bandwidth": "Checkpoint bandwidth needed",
    "dataset_bytes": "Data set",
    "checkpoint_bytes": "Checkpoint",
    "rental_cost": "On demand",
    "spot_cost": "Spot",
    "reserved_cost": "Reserved",
    "commitment_cost": "Unused commitment",
    "ownership_cost": "Owned",
    "idle_cost": "Spares and idle time",
    "experiments_cost": "Experiments",
}
_ENDINGS = ("_cost",)

# Units that say nothing beside the quantity's name.
_PURE = ("fraction", "count", "failures", "tokens", "parameters", "nodes", "token/parameter")

READING = (
    "P90: a 90 % chance of being at or below. 80 % HDI: the shortest interval that holds 80 %. "
    "Error: the largest Monte Carlo standard error in the row. "
    "Drivers: share of rank variance explained alone, and sign."
)

# A driver that explains less is left out of the printed line; JSON has them all.
_SMALL_SHARE = 0.005
# A mean whose standard error is a tenth of it is decided by a handful of draws, and so is that error.
_UNRESOLVED = 0.1

_DRIVEN = ("cost", "training_time")


def title_of(name: str) -> str:
    """What to call a quantity in a table."""
    if name not in _TITLES:
        for ending in _ENDINGS:
            name = name.removesuffix(ending)
    return _TITLES.get(name, re.sub("flop", "FLOP", name.replace("_", " ").capitalize(), flags=re.IGNORECASE))


def rows(summary: Summary) -> Iterator[tuple[str, ...]]:
    """The table's rows: a section's title alone where it has one, then one row for each output."""
    for section in summary.scenario.plan.sections:
        if section.title:
            yield (section.title,)
        for name in section.outputs:
            yield _cells(name, summary.outputs[name], known=summary.scenario.certain(name))


def _cells(name: str, one: OutputSummary, *, known: bool) -> tuple[str, ...]:
    scale, unit = readable_scale(one.p50 if math.isfinite(one.p50) else one.p10, one.unit)
    if known:
        # All quantiles are the one value, which says itself that it is exact.
        return (row_title(name, unit), "", _exact(one.p50 / scale), "", "", "", "exact")
    shown = [number(getattr(one, key) / scale, one.mcse[key] / scale) for key in ("p10", "p50", "p90")]
    shown.append(number(one.mean / scale, one.mcse["mean"] / scale) if resolved(one) else "?")
    # The ends of a shortest interval move by about a percent from seed to seed, for a density is flat at its peak.
    # Where nearly all draws are one value, it is said whole.
    most = 2 if one.hdi.low < one.hdi.high else 4
    hdi = f"{number(one.hdi.low / scale, 0, most)} - {number(one.hdi.high / scale, 0, most)}"
    return (row_title(name, unit), *shown, hdi, _error(one))


def _exact(value: float) -> str:
    return f"{value:,.0f}" if value == round(value, 0) and abs(value) < 1e7 else number(value, 0)


def number(value: float, error: float, most: int = 4) -> str:
    """A number with as many digits as its error allows."""
    return "∞" if math.isinf(value) else digits(value, error, most)


def resolved(one: OutputSummary) -> bool:
    """Whether the draws say what the mean is; where rare extremes decide it, it may not even exist."""
    return math.isinf(one.mean) or one.mcse["mean"] <= _UNRESOLVED * abs(one.mean)


def row_title(name: str, unit: str) -> str:
    """The quantity and its unit, which is left out where the quantity is named after it."""
    title = title_of(name)
    rest = unit.removesuffix("/accelerator")
    for word in (title.lower(), title.rpartition(" ")[2]):
        # A whole word alone: "token/parameter" is not "token/" of a quantity per parameter.
        rest = re.sub(rf"(?:^| ){re.escape(word)}$", "", rest)
    rest = "" if rest in _PURE else rest
    return f"{title} ({rest})" if rest else title


def _error(one: OutputSummary) -> str:
    """The largest relative standard error among the row's quantiles and mean."""
    shown = [key for key in one.mcse if key != "mean" or resolved(one)]
    values = {key: abs(getattr(one, key)) for key in shown}
    return percent(
        max((one.mcse[key] / value for key, value in values.items() if value and math.isfinite(value)), default=0)
    )


def percent(error: float) -> str:
    """A relative error to one digit."""
    return f"{digits(100 * error, 0, 1)} %" if error >= 1e-5 else "<0.001 %"


def probability(value: float, error: float, low: float, high: float) -> str:
    """A probability in percent with its error, or the bound that the draws allow when none or all were counted."""
    if error == 0:
        return f"{100 * value:g} % (known exactly)"
    if value == 0:
        return f"less than {100 * high:.1g} %"
    if value == 1:
        return f"more than {digits(100 * low, 100 * (1 - low), 9)} %"
    return f"{digits(100 * value, 100 * error)} % ± {100 * error:.1g} %"


def _limit_line(name: str, one: LimitSummary) -> tuple[str, str]:
    chance = probability(one.probability, one.mcse, one.low, one.high)
    return f"{name.capitalize()} {amount(one.value, one.unit)}", f"met with probability {chance}"


def _fit_line(summary: Summary, one: LimitSummary) -> tuple[str, str]:
    least = summary.outputs.get("minimum_accelerators")
    if one.probability == 1:
        statement = "fits"
    elif one.probability == 0:
        statement = "does not fit"
    else:
        statement = f"fits with probability {probability(one.probability, one.mcse, one.low, one.high)}"
    if least is not None and math.isinf(least.p90):
        statement += "; in this layout no number of accelerators makes it fit at P90"
    elif least is not None:
        statement += f"; at least {least.p90:,.0f} accelerators in this layout (P90)"
    return "Memory", statement


def _drivers_line(drivers: Sequence[Driver]) -> str:
    shown = [one for one in drivers if one.share >= _SMALL_SHARE]
    return ", ".join(
        f"{one.input} {100 * one.share:.0f} % ({'+' if one.rank_correlation > 0 else '−'})" for one in shown
    )


def findings(summary: Summary) -> Iterator[tuple[str, str]]:
    """What the summary says below its table, as pairs of a subject and a statement."""
    if summary.partial:
        yield "Interrupted", f"this is what the {summary.provenance.draws:,} draws say that there are"
    if endless := summary.outputs["training_time"].endless if "training_time" in summary.outputs else 0.0:
        yield (
            "Never finishes",
            f"in {digits(100 * endless, 0, 3)} % of the draws: failures come too soon for checkpoints, intervals "
            "or restarts; means are of the other draws",
        )
    for name, limit in summary.limits.items():
        yield _fit_line(summary, limit) if name == "memory" else _limit_line(name, limit)
    for name, seen in summary.observed.items():
        percentile = digits(seen.percentile, seen.mcse, 3)
        yield (
            f"Observed {title_of(name).lower()}",
            f"{amount(seen.value, seen.unit)}, at percentile {percentile} of the forecast",
        )
    for name, one in summary.outputs.items():
        if not resolved(one):
            yield (
                f"Mean of {title_of(name).lower()}",
                "not resolved: rare extreme draws decide it, and it may not exist",
            )
    yield from in_words(summary.scenario.choices_in_force)
    for name in _DRIVEN:
        if line := _drivers_line(summary.drivers.get(name, ())):
            yield f"Drivers of {title_of(name).lower()}", line


def in_words(choices: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What each choice is called, and its word with what that means."""
    for name, word in choices.items():
        yield title_of(name), f"{word}: {CHOICES[name].options[word]}"


def amount(value: float, unit: str) -> str:
    """A stated value to four digits, with its unit in a readable scale."""
    scale, name = readable_scale(value, unit)
    shown = f"{value / scale:,.4g}"
    return f"{shown} {name.removesuffix('s') if shown == '1' and name.endswith(('days', 'hours')) else name}"


HEADINGS = ("", "P10", "P50", "P90", "mean", "80 % HDI", "error")


def renderable(summary: Summary) -> Group:
    """The summary for a rich console."""
    table = sectioned_table(HEADINGS, rows(summary))
    return page(summary.scenario.title, table, findings(summary), READING)


def plain_table() -> Table:
    """A table with a line below its headings and none around it."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def sectioned_table(headings: Iterable[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table whose first column has no heading; a row of one cell is the title of a section."""
    from rich.text import Text

    table = plain_table()
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left", no_wrap=bool(heading), overflow="fold")
    for cells in rows:
        if len(cells) == 1:
            table.add_section()
            table.add_row(Text(cells[0], style="bold"))
        else:
            table.add_row(*cells)
    return table


def page(title: str, table: Table, statements: Iterable[tuple[str, str]], reading: str) -> Group:
    """A title, a table, what there is to say of it, and how to read it."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    lines = Table.grid(padding=(0, 2))
    lines.add_column(style="bold")
    lines.add_column()
    for subject, statement in statements:
        lines.add_row(Text(subject), Text(statement))
    return Group(Text(title, style="bold"), table, lines, Padding(Text(reading, style="dim"), (1, 0, 0, 0)))


def as_text(summary: Summary, width: int = 100) -> str:
    """The summary as plain text."""
    return plain_text(renderable(summary), width)


def plain_text(group: Group, width: int) -> str:
    """What a rich console would show, without colours."""
    from rich.console import Console

    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, legacy_windows=False).print(group)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def as_html(summary: Summary) -> str:
    """The summary as an HTML fragment for notebooks."""
    return html_page(summary.scenario.title, HEADINGS, rows(summary), findings(summary), READING)


def html_page(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    statements: Iterable[tuple[str, str]],
    reading: str,
) -> str:
    """As `page`, but HTML; a row of one cell is the title of a section."""

    def row(cells: Sequence[str], tag: str) -> str:
        if len(cells) == 1:
            return f'<tr><th colspan="{len(headings)}">{html.escape(cells[0])}</th></tr>'
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    lines = "".join(f"<dt>{html.escape(subject)}</dt><dd>{html.escape(text)}</dd>" for subject, text in statements)
    caption = html.escape(title)
    return (
        f"<table><caption>{caption}</caption><thead>{row(headings, 'th')}</thead><tbody>{body}</tbody></table>"
        f"<dl>{lines}</dl><p>{html.escape(reading)}</p>"
    )


def what_it_took(summary: Summary, asked: int | None, seconds: float) -> Iterator[str]:
    """Draws, accuracy, device and time, for standard error.

    Args:
        summary: of the forecast.
        asked: how many draws, if that was said.
        seconds: taken in all.
    """
    made, accuracy = summary.provenance, summary.accuracy
    if summary.partial:
        yield f"interrupted: this is what {made.draws:,} draws say"
    elif asked is not None and accuracy.asked is None and made.draws > asked:
        yield f"{asked:,} draws rounded up to {made.draws:,}: they come in powers of two"
    elif not accuracy.met:
        yield (
            f"{_percent(accuracy.asked or 0)} was not reached: {accuracy.level} of {accuracy.output} has a relative "
            f"standard error of {_percent(accuracy.reached)} after {made.draws:,} draws; ask for more with --draws"
        )
    reached = "" if accuracy.output is None else f"; every quantile to {_percent(accuracy.reached)} or better"
    float32 = " (agrees with float64 to 1e-5 from P1 to P99)" if made.precision == "float32" else ""
    yield (
        f"{made.draws:,} draws ({made.sampler}, {made.replicates} replicates, seed {made.seed}, "
        f"{made.precision}{float32}) on {made.device} in {seconds:.2f} s, of which drawing "
        f"{made.seconds['draw']:.2f} s{reached}"
    )


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %"
