"""The report of one run: its sections stand in `sections.py`, its files here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from uncertain_botec.draws import Provenance, thinned
from uncertain_botec.output import write_draws
from uncertain_botec.report.answer import sentence
from uncertain_botec.report.context import Context
from uncertain_botec.report.kind import Kind
from uncertain_botec.report.method import method
from uncertain_botec.report.sections import sections_of
from uncertain_botec.scenario import dump_scenario


def _title(context: Context) -> str:
    return context.scenario.title


def _made_by(context: Context) -> str:
    made = context.draws.provenance
    return f"Made by `botec report` {made.versions.get('uncertain-botec', '')} from {drawn(made)}."


def drawn(made: Provenance) -> str:
    """How many draws, and with which seed."""
    return f"{made.draws:,} draws with seed {made.seed}"


def _texts(context: Context) -> dict[str, str]:
    return {"scenario.toml": dump_scenario(context.scenario)}


def _write_draws(context: Context, file: Path, keep: int) -> None:
    write_draws(file, thinned(context.draws, keep))


def _document(context: Context) -> dict[str, Any]:
    scenario = context.scenario
    return {
        "scenario": {"title": scenario.title, "path": scenario.path, "sha256": scenario.sha256},
        "forecast": context.summary.to_dict(),
        "risk": context.review.to_dict(),
        "sensitivity": {one.output: one.to_dict() for one in context.studies},
    }


RUN = Kind(
    schema="uncertain-botec/report/1",
    title=_title,
    sentence=sentence,
    sections=sections_of,
    method=method,
    made_by=_made_by,
    texts=_texts,
    write_draws=_write_draws,
    document=_document,
)
"""The report of a scenario."""
