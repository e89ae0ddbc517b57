"""How an explanation is drawn in a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from uncertain_botec.choices import CHOICES
from uncertain_botec.explain import Explanation, Step, Term
from uncertain_botec.presentation import plain_table, title_of


def whiteboard(explanation: Explanation) -> Group:
    """Every step as an equation, its inputs and its result, and below them where the inputs are from."""
    blocks = [_block(number, step) for number, step in enumerate(explanation.steps, start=1)]
    skipped = [Text(f"{name} is stated by the scenario, so its formula is skipped.") for name in explanation.skipped]
    choices = explanation.choices.items()
    closing = "Values are at the medians of the inputs: a point estimate. The forecast has the ranges."
    return Group(
        Text(explanation.title, style="bold"),
        *(Text(f"{title_of(name)}: {word} ({CHOICES[name].options[word]})") for name, word in choices),
        Text(),
        *_architecture(explanation),
        *blocks,
        *skipped,
        *_sources(explanation),
        Text(),
        Text(closing, style="dim"),
    )


def _architecture(explanation: Explanation) -> list[RenderableType]:
    """What the model is made of, so that its parameters can be added up by hand."""
    rows = explanation.components
    if not rows:
        return []
    table = plain_table()
    for heading in ("architecture", "times", "parameters", "active"):
        table.add_column(heading, justify="left" if heading == "architecture" else "right")
    for row in rows:
        table.add_row(row.name, f"{row.times:,}", f"{row.parameters:,}", f"{row.active_parameters:,}")
    table.add_section()
    totals = (sum(row.parameters for row in rows), sum(row.active_parameters for row in rows))
    table.add_row("in all", "", *(f"{total:,}" for total in totals), style="bold")
    return [table]


def _block(number: int, step: Step) -> Group:
    inputs = Table.grid(padding=(0, 2))
    for term in step.inputs:
        inputs.add_row(
            Text(term.name),
            Text(_value(term), justify="right"),
            Text(term.unit),
            Text(term.belief or "from above", style="dim"),
        )
    result = Text(f"{step.output.name} = {_value(step.output)} {step.output.unit}", style="bold")
    return Group(
        Text(f"{number}. {step.summary}"),
        Padding(Text(f"{step.output.name} = {step.equation}", style="cyan"), (0, 0, 0, 3)),
        Padding(inputs, (0, 0, 0, 6)),
        Padding(result, (0, 0, 0, 3)),
        Padding(Text(f"Source: {step.source}", style="dim"), (0, 0, 1, 3)),
    )


def _sources(explanation: Explanation) -> list[Text | Padding]:
    """Each input's source, once; some are long, so they stand below the steps rather than beside the values."""
    sources = {term.name: term.source for step in explanation.steps for term in step.inputs if term.belief}
    return [Text("Inputs"), *(Padding(Text(f"{name}: {source}"), (0, 0, 0, 3)) for name, source in sources.items())]


def _value(term: Term) -> str:
    return f"{term.value:,.4g}" if 1e-3 <= abs(term.value) < 1e6 else f"{term.value:.4g}"
