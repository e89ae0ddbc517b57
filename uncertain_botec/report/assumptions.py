"""What is believed: every input with its picture, its source and its date, and how inputs move together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from uncertain_botec import plots
from uncertain_botec.distributions import FAMILIES, level_of_u
from uncertain_botec.draws import evenly
from uncertain_botec.presentation import title_of
from uncertain_botec.report.blocks import Block, Card, Heading, Paragraph, Section, Table, foreign
from uncertain_botec.report.context import Context
from uncertain_botec.report.words import capital, said
from uncertain_botec.scenario import Input
from uncertain_botec.units import readable_scale, to_display
from uncertain_botec.vocabulary import QUANTITIES

_LEVELS = {"P10": 0.1, "P50": 0.5, "P90": 0.9}

# A rank correlation is good to a hundredth from this many draws.
_RANKED = 1 << 14


def assumptions(context: Context) -> Section:
    """Every input: what is uncertain with its picture, then what is known exactly."""
    scenario = context.scenario
    uncertain = [scenario.inputs[name] for name in scenario.uncertain]
    known = [one for one in scenario.inputs.values() if one.known]
    blocks: list[Block] = []
    if uncertain:
        blocks += [Heading(f"Uncertain ({len(uncertain)})"), *map(_card, uncertain)]
    if known:
        blocks += [Heading(f"Known exactly ({len(known)})"), _known(known)]
    if scenario.observed:
        blocks += [Heading("Observed"), _observed(context)]
    curves = "Each curve shows where a value is believed to lie; the triangles mark P10, P50 and P90. "
    reading = "The forecast is as good as these beliefs. "
    reading += f"{curves if uncertain else ''}What has no source is somebody's judgement."
    return Section("assumptions", "Assumptions", (Paragraph(reading), *blocks))


def _card(one: Input) -> Card:
    p10, p50, p90 = to_display(
        np.asarray(one.distribution.quantile(level_of_u(np.array([*_LEVELS.values()])))), QUANTITIES[one.name].unit
    ).tolist()
    scale = readable_scale(p50, QUANTITIES[one.name].unit)[0]
    middle = f"{said(one.name, p50)}; {p10 / scale:,.4g} to {p90 / scale:,.4g} from P10 to P90"
    pairs = [
        ("Median", middle),
        ("Family", _family(one.distribution.family)),
        *_about(one),
        ("Stated as", foreign(_stated(one.stated))),
        ("File", foreign(one.origin or "a program")),
    ]
    return Card(f"`{one.name}`", QUANTITIES[one.name].meaning, plots.prior(one), tuple(pairs))


def _family(name: str) -> str:
    """What a prior file calls it, and what that is."""
    return f"`{name}`: {FAMILIES[name].summary}" if name in FAMILIES else name


def _about(one: Input) -> Iterator[tuple[str, str]]:
    yield "Source", foreign(one.about("source") or "not stated")
    yield "As of", foreign(one.about("as_of") or "not stated")
    if note := one.about("note"):
        yield "Note", foreign(note)


def _stated(stated: Any) -> str:
    """As in the prior file, less what is shown beside it."""
    if not isinstance(stated, Mapping):
        return str(stated)
    shown = {key: value for key, value in stated.items() if key not in ("source", "as_of", "note", "family")}
    return ", ".join(f"{key} = {value}" for key, value in shown.items())


def _known(inputs: list[Input]) -> Table:
    def row(one: Input) -> tuple[str, ...]:
        value = float(to_display(one.distribution.support[0], QUANTITIES[one.name].unit))
        note, when = one.about("note"), one.about("as_of")
        texts = [foreign(one.about("source") or "not stated"), *([foreign(note)] if note else [])]
        about = f"{capital(QUANTITIES[one.name].meaning)}. Source: {'. '.join(texts)}"
        return f"`{one.name}`", said(one.name, value), about, foreign(when or "not stated")

    columns = ("Input", "Value", "Meaning, source and note", "As of")
    return Table("Inputs that are taken to be known exactly", columns, "llld", tuple(map(row, inputs)))


def _observed(context: Context) -> Table:
    rows = []
    for name, marker in context.scenario.observed.items():
        value = said(name, float(to_display(marker.value, QUANTITIES[name].unit)))
        about = marker.stated if isinstance(marker.stated, Mapping) else {}
        text = ". ".join(foreign(about[key]) for key in ("source", "note") if about.get(key)) or "not stated"
        rows.append((title_of(name), value, text, foreign(about.get("as_of") or "")))
    columns = ("Output", "Observed", "Source and note", "As of")
    return Table("Outcomes that the forecast is held against, and that it does not use", columns, "llld", tuple(rows))


# --- together ---------------------------------------------------------------------------------------------------------


def correlations(context: Context) -> Section:
    """How inputs move together, as stated and as drawn."""
    scenario = context.scenario
    if scenario.dependence is None:
        text = (
            "Every input is taken to be independent of every other. Were those that make the run dear to come "
            "together, the spread would be wider than shown here."
            if len(scenario.uncertain) > 1
            else "There are no two uncertain inputs that could move together."
        )
        return Section("correlations", "Correlations", (Paragraph(text),))
    text = (
        "These inputs move together through a Gaussian copula; all others are independent. A rank correlation of 1 "
        "means that the larger one is, the larger the other; 0 that neither tells of the other."
    )
    columns = ("Between", "stated", "kind", "rank correlation of the draws", "source")
    table = Table("Inputs that move together", columns, "lrlrl", tuple(_pairs(context)))
    return Section("correlations", "Correlations", (Paragraph(text), table))


def _pairs(context: Context) -> Iterator[tuple[str, ...]]:
    for entry in context.scenario.correlations:
        kind = "spearman" if entry.get("spearman") is not None else "latent"
        names, stated = entry["between"], entry[kind]
        source = foreign(", ".join(str(entry[key]) for key in ("source", "as_of", "note") if entry.get(key)))
        for row, first in enumerate(names):
            for column, second in enumerate(names[:row]):
                value = stated[row][column] if isinstance(stated, list | tuple) else stated
                if {first, second} <= {*context.scenario.uncertain}:
                    drawn = f"{_rank_correlation(context, first, second):.2f}"
                    yield f"`{second}`, `{first}`", f"{value:g}", kind, drawn, source


def _rank_correlation(context: Context, first: str, second: str) -> float:
    from scipy.stats import spearmanr

    made = context.draws.provenance
    some = evenly(made.sampler, made.size, _RANKED // made.replicates)
    one, other = (context.draws.values[name][:, some].reshape(-1) for name in (first, second))
    return float(spearmanr(one, other).statistic)
