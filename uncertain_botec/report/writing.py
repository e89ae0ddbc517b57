"""A report as a value, and as a folder of files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, overload

from uncertain_botec.calibration.backtesting import Backtest
from uncertain_botec.decisions.comparison import Comparison
from uncertain_botec.decisions.surface import Sweep
from uncertain_botec.errors import UsageError
from uncertain_botec.folders import check_replaceable, replace_folder
from uncertain_botec.plots import Figure
from uncertain_botec.report import backtested, html, markdown, swept
from uncertain_botec.report.backtest_page import BACKTEST
from uncertain_botec.report.backtested import Backtested
from uncertain_botec.report.blocks import Section, figures_of, foreign, plain
from uncertain_botec.report.compare_page import COMPARISON
from uncertain_botec.report.compared import Compared, draw_again
from uncertain_botec.report.context import Context, gather
from uncertain_botec.report.kind import C, Kind
from uncertain_botec.report.run_page import RUN
from uncertain_botec.report.sweep_page import SWEEP
from uncertain_botec.report.swept import Swept
from uncertain_botec.risk.review import CONFIDENCE, DEFAULT_DRAWS
from uncertain_botec.scenario import Scenario

KEPT = 1 << 16
"""How many draws are written, at most."""

# Of all kinds: one may take the place of another.
_SCHEMAS = "uncertain-botec/report"
_SUMMARY = "summary.json"
_TITLE = 300


@dataclass(frozen=True)
class Report(Generic[C]):
    """What numbers say to whoever signs for them.

    Attributes:
        title: the scenario's, or what was compared, swept over or forecast anew.
        answer: in one sentence.
        sections: everything that is said, as blocks.
        context: what it is said of: draws, summary, review and studies of a run; a comparison; a sweep; or a backtest.
        folder: where it was written, or None.
        files: the SHA-256 of every file that was written, by name, but for `summary.json`, which holds them.
        kind: how it was made.
    """

    title: str
    answer: str
    sections: tuple[Section, ...]
    context: C
    folder: Path | None
    files: Mapping[str, str]
    kind: Kind[C] = field(repr=False)

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
        return self.kind.made_by(self.context)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; numbers are unrounded, null is infinite.

        Of a run it is `uncertain-botec/report/1`: `forecast`, `risk` and each of `sensitivity` are as those commands
        give them. Of a comparison it is `uncertain-botec/report-compare/1` with `compare` and each run's `risk`, of a
        sweep `uncertain-botec/report-sweep/1` with `sweep`, and of a backtest `uncertain-botec/report-backtest/1` with
        `backtest`, again as the commands give them.
        """
        return {
            "schema": self.kind.schema,
            "answer": self.answer,
            "files": dict(self.files),
            **self.kind.document(self.context),
        }

    def _repr_html_(self) -> str:
        return f"<p>{html.inline(self.answer)}</p>"


@overload
def write_report(
    subject: Scenario,
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
) -> Report[Context]: ...


@overload
def write_report(
    subject: Comparison, folder: str | Path, *, keep: int = KEPT, progress: Callable[[str], object] = lambda _: None
) -> Report[Compared]: ...


@overload
def write_report(
    subject: Sweep, folder: str | Path, *, progress: Callable[[str], object] = lambda _: None
) -> Report[Swept]: ...


@overload
def write_report(
    subject: Backtest, folder: str | Path, *, progress: Callable[[str], object] = lambda _: None
) -> Report[Backtested]: ...


def write_report(
    subject: Scenario | Comparison | Sweep | Backtest,
    folder: str | Path,
    *,
    keep: int = KEPT,
    progress: Callable[[str], object] = lambda _: None,
    **asked: Any,
) -> Report[Context] | Report[Compared] | Report[Swept] | Report[Backtested]:
    """Write a report of a scenario, a comparison, a sweep or a backtest: HTML, Markdown, JSON, figures, and the draws.

    The folder appears whole or not at all: one that is there is replaced in one step, and only by a report. What was
    drawn for anything but a scenario is asked no further: all but `keep` and `progress` are for a scenario.

    Args:
        subject: from `load_scenario`, which is drawn, or from `compare_scenarios`, `sweep` or `backtest`.
        folder: where to write.
        keep: about how many draws (of each run) are written to `draws.nc`, spread as evenly as all are; a sweep and a
            backtest keep none.
        progress: called with what is being done.
        asked: of a scenario:
            budget: with its unit, such as "5 MUSD"; the scenario's own by default.
            deadline: likewise, such as "45 day".
            confidence: the level to plan for, between 0 and 1.
            requirements: such as "P(cost <= 5 MUSD) >= 0.8".
            draws: at least how many.
            seed: of all draws.

    Returns:
        The report that was written.

    Raises:
        UsageError: an option that cannot be used, or a folder that cannot be written or is not a report's.
        SamplingError: draws that cannot be used.
    """
    folder = Path(folder)
    if keep < 1:
        raise UsageError(f"{keep} draws cannot be kept; keep at least 1")
    check_folder(folder)
    if isinstance(subject, Scenario):
        return _written(RUN, gather(subject, **asked, progress=progress), folder, keep, progress)
    if asked:
        raise TypeError(f"{', '.join(asked)}: for the report of a scenario alone")
    if isinstance(subject, Comparison):
        return _written(COMPARISON, draw_again(subject, keep, progress), folder, keep, progress)
    if isinstance(subject, Sweep):
        return _written(SWEEP, swept.look(subject), folder, keep, progress)
    return _written(BACKTEST, backtested.look(subject), folder, keep, progress)


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than a report, before there is anything to write."""
    check_replaceable(folder, _SUMMARY, _SCHEMAS)


def _written(kind: Kind[C], context: C, folder: Path, keep: int, progress: Callable[[str], object]) -> Report[C]:
    progress("drawing figures")
    answer, sections = plain(kind.sentence(context)), kind.sections(context)
    report = Report(kind.title(context), answer, sections, context, folder, {}, kind)
    progress("writing")
    written: list[Report[C]] = []
    replace_folder(folder, _SUMMARY, _SCHEMAS, lambda place: written.append(_filled(report, place, keep)))
    return written[0]


def _filled(report: Report[C], place: Path, keep: int) -> Report[C]:
    """The report, once every file of it is in a folder."""
    kind, context = report.kind, report.context
    contents: dict[str, bytes] = _contents(kind.texts(context), report.figures)
    for name, content in contents.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(content)
    names = [*contents]
    if kind.write_draws is not None:
        kind.write_draws(context, place / "draws.nc", keep)
        names.insert(0, "draws.nc")
    files = {name: _sha256(place / name) for name in names}
    # The page names the hashes of what stands beside it.
    told = replace(context, files=files)
    method = kind.method(told)
    sections = tuple(method if one.name == method.name else one for one in report.sections)
    report = replace(report, sections=sections, context=told)
    for name, text in (("index.html", report.html), ("report.md", report.markdown)):
        (place / name).write_bytes(text.encode("utf-8"))
        files[name] = _sha256(place / name)
    report = replace(report, files=files)
    document = json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    (place / _SUMMARY).write_text(f"{document}\n", "utf-8")
    return report


def _contents(texts: Mapping[str, str], figures: Iterable[Figure]) -> dict[str, bytes]:
    """What stands beside the page: texts and pictures."""
    found = {name: text.encode("utf-8") for name, text in texts.items()}
    for figure in figures:
        found[f"{markdown.FIGURES}/{figure.name}.svg"] = figure.svg.encode("utf-8")
        found[f"{markdown.FIGURES}/{figure.name}.png"] = figure.png
    return found


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
