"""The report of a backtest: its sections in order, what was not tested, its method and its files."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from uncertain_botec.backtest_table import WORDS, chains, not_tested, title
from uncertain_botec.calibration.backtesting import LEARNT_APART
from uncertain_botec.report.backtest_answer import answer, sentence
from uncertain_botec.report.backtest_figures import coverage, forecasters, intervals, runs
from uncertain_botec.report.backtested import Backtested, named, sources
from uncertain_botec.report.blocks import Heading, Pairs, Paragraph, Section, foreign
from uncertain_botec.report.kind import Kind
from uncertain_botec.report.words import capital, in_all

# Names of rows that are told one by one.
_NAMED = 100

_HELD_OUT = {
    "run": "each run by itself",
    "organisation": "all runs of an organisation together",
    LEARNT_APART: "all runs of the file, for they were forecast from those of another",
}


def untested(context: Backtested) -> Section:
    """What there is no forecast of, and why."""
    text = (
        "Days or a cost that follow from the hours would test the forecast of the hours once more, and nothing else; "
        "rows that are not in the calibration set, or have no hours, are neither forecast nor learnt from."
    )
    blocks = (Paragraph(text), Pairs(tuple(not_tested(context.backtest))), *_left_out(context))
    return Section("untested", "What was not tested", blocks)


def _left_out(context: Backtested) -> Iterator[Heading | Pairs]:
    names: dict[str, list[str]] = {}
    for one in sources(context.backtest).values():
        for reason, some in one.left_out.items():
            names.setdefault(reason, []).extend(some)
    if names:
        yield Heading("Rows left out")
        yield Pairs(tuple((capital(reason), _some(found)) for reason, found in names.items()))


def _some(names: list[str]) -> str:
    rest = len(names) - _NAMED
    return in_all([*map(named, names[:_NAMED]), *([f"{rest:,} more"] if rest > 0 else [])])


def method(context: Backtested) -> Section:
    """What was held out, how the chains went, versions, seed and hashes."""
    text = (
        "A run's forecast is that of a reference class: a regression of the logarithm of accelerator-hours on the size "
        "of the work and the kind of machine, learnt by NUTS from runs among which the run is not. It is learnt anew "
        "for each set of runs that is held out together, with the same priors. The other forecasts know no more "
        "runs than the reference class does. Scores are means over runs, and their errors take runs as independent."
    )
    blocks = (Paragraph(text), Pairs(tuple(_facts(context))), *_files(context), *_words())
    return Section("method", "Method", blocks)


def _facts(context: Backtested) -> Iterator[tuple[str, str]]:
    backtest = context.backtest
    yield "Held out", _HELD_OUT[backtest.held_out]
    for name, one in sources(backtest).items():
        what = "Forecast" if name == "runs.csv" else "Learnt from"
        yield what, f"{len(one.kept):,} runs of {foreign(one.path)}"
    yield "Chains", chains(backtest)
    yield "Seed", str(backtest.seed)
    versions = {**context.versions, "python": platform.python_version()}
    yield "Versions", ", ".join(f"{name} {version}" for name, version in versions.items())


def _files(context: Backtested) -> Iterator[Heading | Paragraph | Pairs]:
    if not context.files:
        return
    yield Heading("Files")
    yield Paragraph(
        f"{_again(context)} `summary.json` has every number unrounded and the hash of every file. There is no file of "
        "draws: a backtest keeps quantiles alone."
    )
    if context.copies:
        yield Pairs(tuple((f"SHA-256 of `{name}`", f"`{context.files[name]}`") for name in context.copies))


def _again(context: Backtested) -> str:
    """What it takes to make the report once more."""
    backtest, names = context.backtest, list(sources(context.backtest))
    if [*context.copies] != names:
        return "Runs that a program made or changed have no file here."
    words = ["botec backtest --runs runs.csv"]
    words += ["--train train.csv"] if backtest.held_out == LEARNT_APART else []
    words += ["--leave-out organisation"] if backtest.held_out == "organisation" else []
    words += [f"--seed {backtest.seed}"] if backtest.seed else []
    copies = in_all(f"`{name}`" for name in names)
    one = "is the file of runs" if len(names) == 1 else "are the files of runs"
    return f"{copies} {one}, to the letter: `{' '.join(words)} --out FOLDER` makes this report again."


def _words() -> Iterator[Heading | Pairs]:
    """What the words of this report mean."""
    yield Heading("What the words mean")
    yield Pairs(
        (
            ("P10, P50, P90", "the amounts that are not exceeded with a chance of 10, 50 and 90 %; P50 is the median"),
            *((capital(word), meaning) for word, meaning in WORDS),
        )
    )


# --- the kind ---------------------------------------------------------------------------------------------------------

SECTIONS: tuple[Callable[[Backtested], Section], ...] = (
    answer,
    forecasters,
    coverage,
    intervals,
    runs,
    untested,
    method,
)
"""In order."""


def sections_of(context: Backtested) -> tuple[Section, ...]:
    """What a report of a backtest says."""
    return tuple(make(context) for make in SECTIONS)


def _title(context: Backtested) -> str:
    return title(context.backtest)


def _made_by(context: Backtested) -> str:
    backtest = context.backtest
    number, version = len(backtest.refits), context.versions.get("uncertain-botec", "")
    return (
        f"Made by `botec backtest` {version} from {number} refit{'s' if number != 1 else ''} with seed {backtest.seed}."
    )


def _texts(context: Backtested) -> Mapping[str, str]:
    return context.copies


def _document(context: Backtested) -> dict[str, Any]:
    return {"backtest": context.backtest.to_dict()}


BACKTEST = Kind(
    schema="uncertain-botec/report-backtest/1",
    title=_title,
    sentence=sentence,
    sections=sections_of,
    method=method,
    made_by=_made_by,
    texts=_texts,
    write_draws=None,
    document=_document,
)
"""The report of a backtest."""
