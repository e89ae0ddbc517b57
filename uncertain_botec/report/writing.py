"""A report as a value, and as a folder of files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from uncertain_botec.draws import Draws, evenly
from uncertain_botec.errors import UsageError
from uncertain_botec.folders import check_replaceable, replace_folder
from uncertain_botec.output import write_draws
from uncertain_botec.plots import Figure
from uncertain_botec.report import html, markdown
from uncertain_botec.report.answer import sentence
from uncertain_botec.report.blocks import Section, figures_of, foreign, plain
from uncertain_botec.report.context import Context, gather
from uncertain_botec.report.method import method
from uncertain_botec.report.sections import sections_of
from uncertain_botec.risk.review import CONFIDENCE, DEFAULT_DRAWS
from uncertain_botec.scenario import Scenario, dump_scenario

KEPT = 1 << 16
"""How many draws are written, at most."""

_SCHEMA = "uncertain-botec/report/"
_SUMMARY = "summary.json"
_TITLE = 300


@dataclass(frozen=True)
class Report:
    """What a scenario's numbers say to whoever signs for them.

    Attributes:
        title: the scenario's.
        answer: in one sentence.
        sections: everything that is said, as blocks.
        context: what it is said of: draws, summary, review and studies.
        folder: where it was written, or None.
        files: the SHA-256 of every file that was written, by name, but for `summary.json`, which holds them.
    """

    title: str
    answer: str
    sections: tuple[Section, ...]
    context: Context
    folder: Path | None
    files: Mapping[str, str]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """In order."""
        return tuple(figures_of(self.sections))

    @cached_property
    def html(self) -> str:
        """The page."""
        return html.page(foreign(self.title, _TITLE), self.sections, self._made_by)

    @cached_property
    def markdown(self) -> str:
        """The same as Markdown, with figures in a folder beside it."""
        return markdown.document(foreign(self.title, _TITLE), self.sections, self._made_by)

    @property
    def _made_by(self) -> str:
        made = self.context.draws.provenance
        version = made.versions.get("uncertain-botec", "")
        return f"Made by `botec report` {version} from {made.draws:,} draws with seed {made.seed}."

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/report/1`; numbers are unrounded, null is infinite.

        `forecast`, `risk` and each of `sensitivity` are as those commands give them.
        """
        context = self.context
        scenario = context.scenario
        return {
            "schema": f"{_SCHEMA}1",
            "scenario": {"title": scenario.title, "path": scenario.path, "sha256": scenario.sha256},
            "answer": self.answer,
            "files": dict(self.files),
            "forecast": context.summary.to_dict(),
            "risk": context.review.to_dict(),
            "sensitivity": {one.output: one.to_dict() for one in context.studies},
        }

    def _repr_html_(self) -> str:
        return f"<p>{html.inline(self.answer)}</p>"


def write_report(
    scenario: Scenario,
    folder: str | Path,
    *,
    budget: str | None = None,
    deadline: str | None = None,
    confidence: float = CONFIDENCE,
    requirements: Iterable[str] = (),
    draws: int = DEFAULT_DRAWS,
    keep: int = KEPT,
    seed: int = 0,
    progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Draw a scenario and write a report of it: HTML, Markdown, JSON, the draws and every figure.

    The folder appears whole or not at all: one that is there is replaced in one step, and only by a report.

    Args:
        scenario: from `load_scenario`.
        folder: where to write.
        budget: with its unit, such as "5 MUSD"; the scenario's own by default.
        deadline: likewise, such as "45 day".
        confidence: the level to plan for, between 0 and 1.
        requirements: such as "P(cost <= 5 MUSD) >= 0.8".
        draws: at least how many.
        keep: about how many of them are written to `draws.nc`, spread as evenly as all are.
        seed: of all draws.
        progress: called with what is being done.

    Returns:
        The report that was written.

    Raises:
        UsageError: an option that cannot be used, or a folder that cannot be written or is not a report's.
        SamplingError: draws that cannot be used.
    """
    folder = Path(folder)
    if keep < 1:
        raise UsageError(f"{keep} draws cannot be kept; keep at least 1")
    check_replaceable(folder, _SUMMARY, _SCHEMA)
    context = gather(
        scenario,
        budget=budget,
        deadline=deadline,
        confidence=confidence,
        requirements=requirements,
        draws=draws,
        seed=seed,
        progress=progress,
    )
    progress("drawing figures")
    report = Report(scenario.title, plain(sentence(context)), sections_of(context), context, folder, {})
    progress("writing")
    written: list[Report] = []
    replace_folder(folder, _SUMMARY, _SCHEMA, lambda place: written.append(_filled(report, place, keep)))
    return written[0]


def _filled(report: Report, place: Path, keep: int) -> Report:
    """The report, once every file of it is in a folder."""
    context = report.context
    texts: dict[str, str] = {"scenario.toml": dump_scenario(context.scenario)}
    pictures: dict[str, bytes] = {}
    for figure in report.figures:
        pictures[f"{markdown.FIGURES}/{figure.name}.svg"] = figure.svg.encode("utf-8")
        pictures[f"{markdown.FIGURES}/{figure.name}.png"] = figure.png
    contents = {name: text.encode("utf-8") for name, text in texts.items()} | pictures
    for name, content in contents.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(content)
    write_draws(place / "draws.nc", _few(context.draws, keep))
    files = {name: _sha256(place / name) for name in ("draws.nc", *contents)}
    # The page names the hashes of what stands beside it.
    told = replace(context, files=files)
    sections = tuple(method(told) if one.name == "method" else one for one in report.sections)
    report = replace(report, sections=sections, context=told)
    for name, text in (("index.html", report.html), ("report.md", report.markdown)):
        (place / name).write_bytes(text.encode("utf-8"))
        files[name] = _sha256(place / name)
    report = replace(report, files=files)
    document = json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    (place / _SUMMARY).write_text(f"{document}\n", "utf-8")
    return report


def _few(draws: Draws, keep: int) -> Draws:
    """About so many of the draws, spread as evenly as all."""
    made = draws.provenance
    some = evenly(made.sampler, made.size, max(keep // made.replicates, 1))
    values = {name: array[:, some] for name, array in draws.values.items()}
    size = next(iter(values.values())).shape[1]
    return replace(draws, values=values, provenance=replace(made, size=size))


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
