"""How a backtest is shown: the forecasters side by side, what that means in words, and every run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from uncertain_botec.calibration.backtesting import LEARNT_APART, Against, Backtest, Foretold
from uncertain_botec.calibration.forecasters import MEANINGS, REFERENCE_CLASS
from uncertain_botec.calibration.scores import COVERED, Mean, Scores
from uncertain_botec.presentation import html_page, page, plain_text, sectioned_table
from uncertain_botec.units import digits

if TYPE_CHECKING:
    from rich.console import Group

HEADINGS = ("", *(f"in\n{100 * part:g} %" for part in COVERED), "\ninterval score", "\nCRPS", "\nP90/P10")
RUN_HEADINGS = ("", "P10", "P50", "P90", "actual", "percentile")

WORDS = (
    ("in 80 %", "how many runs took what lies in the interval that should hold 80 %, so that 80 % is right"),
    (
        "Interval score (of P10 to P90) and CRPS",
        "how far off forecasts were and how wide, in ln hours; lower is better, and a CRPS of 0.1 is about a tenth of "
        "the hours",
    ),
    ("P90/P10", "the median over runs"),
    ("Above the reference class", "the mean of differences run by run"),
    (
        "±",
        "the standard error over runs, as if they were independent; labs that publish several runs make it too small",
    ),
    (
        "percentile",
        "the chance that the forecast gave to at most the actual hours; near 100 %, the run took more than foretold",
    ),
)
"""What the words of the tables mean."""

CAVEAT = (
    "The terms of the reference class and the widths of its priors were chosen by people who knew some of these runs."
)

READING = " ".join([*(f"{word}: {meaning}." for word, meaning in WORDS), CAVEAT])

DOUBT = 2.0
"""Differences of fewer standard errors may be chance."""

NAMES = {
    REFERENCE_CLASS: "reference class",
    "constant_lognormal": "constant lognormal",
    "fixed_mfu": "fixed MFU",
    "published_mfu": "published MFU",
}

TITLES = {"hours": "Accelerator-hours, thousands", "days": "Wall-clock, days", "cost": "Cost, thousand USD"}
_SCALES = {"hours": 1e3, "days": 1.0, "cost": 1e3}


def renderable(backtest: Backtest) -> Group:
    """The backtest for a rich console."""
    from rich.console import Group
    from rich.text import Text

    summary = page(title(backtest), sectioned_table(HEADINGS, rows(backtest)), statements(backtest), READING)
    return Group(summary, Text(), sectioned_table(RUN_HEADINGS, run_rows(backtest)))


def as_text(backtest: Backtest, width: int = 100) -> str:
    """The backtest as plain text."""
    return plain_text(renderable(backtest), width)


def as_html(backtest: Backtest) -> str:
    """The backtest as an HTML fragment for notebooks."""
    summary = html_page(title(backtest), HEADINGS, rows(backtest), statements(backtest), READING)
    return summary + html_page("Run by run", RUN_HEADINGS, run_rows(backtest), (), "")


def title(backtest: Backtest) -> str:
    """What was forecast from what."""
    number = len(backtest.runs)
    what = f"{number} run{'s' if number != 1 else ''} of {backtest.path}"
    if backtest.held_out == LEARNT_APART:
        return f"{what}, forecast from those of {backtest.train}"
    without = " without its organisation's" if backtest.held_out == "organisation" else ""
    return f"{what}, each forecast from all the others{without}"


# --- forecasters ------------------------------------------------------------------------------------------------------


def rows(backtest: Backtest) -> Iterator[tuple[str, ...]]:
    """A row for each forecaster, and below them how much worse than the reference class each does."""
    for name, one in backtest.forecasters.items():
        coverage = (percent(one.coverage[part].value) for part in COVERED)
        factor = digits(one.width_factor.value, one.width_factor.error, 3)
        yield NAMES[name], *coverage, with_error(one.interval_score), with_error(one.crps), factor
    yield ("Above the reference class",)
    for name, one in backtest.forecasters.items():
        if one.against:
            gaps = (with_error(one.against[key], signed=True) for key in ("interval_score", "crps"))
            yield NAMES[name], "", "", "", *gaps, ""


def with_error(one: Mean, *, signed: bool = False) -> str:
    """A mean with its standard error, to two digits of that, where it is known."""
    if not math.isfinite(one.error):
        return digits(one.value, 0, 3)
    decimals = max(1 - math.floor(math.log10(one.error)), 0) if one.error else 3
    return f"{one.value:{'+' if signed else ''}.{decimals}f} ± {one.error:.{decimals}f}"


def percent(part: float) -> str:
    """A part of few runs, to whole percents."""
    return f"{100 * part:.0f} %"


def statements(backtest: Backtest) -> Iterator[tuple[str, str]]:
    """What the figures mean, in words."""
    yield from verdicts(backtest)
    yield from not_tested(backtest)
    yield "Chains", chains(backtest)


def verdicts(backtest: Backtest) -> Iterator[tuple[str, str]]:
    """How often intervals held, and what each other forecaster is and how it does."""
    reference = backtest.forecasters[REFERENCE_CLASS]
    yield "Coverage", coverage(reference, len(backtest.runs))
    for name, one in backtest.forecasters.items():
        if one.against:
            yield NAMES[name].capitalize().replace("mfu", "MFU"), f"{MEANINGS[name]}; {compared(one, reference)}"


def not_tested(backtest: Backtest) -> Iterator[tuple[str, str]]:
    """What was not tested of runs, and which were left out."""
    yield "Wall-clock", tested(backtest, "days", "training_time")
    yield "Cost", tested(backtest, "cost", "cost")
    if backtest.unfit:
        left = "; ".join(f"{number} rows: {reason}" for reason, number in backtest.unfit.items())
        yield "Left out", left


def coverage(one: Scores, n: int) -> str:
    """How many runs lie between P10 and P90, with what chance makes of that."""
    part = one.coverage[0.8]
    bounds = f"{percent(part.low)} to {percent(part.high)} (95 % bounds)"
    return f"{held(one, n)}; for forecasts like these it holds {bounds}"


def held(one: Scores, n: int) -> str:
    """How many runs lie between P10 and P90 of the reference class."""
    part = one.coverage[0.8]
    return f"P10 to P90 of the reference class held {round(part.value * n)} of {n} runs, {percent(part.value)}"


def compared(one: Scores, reference: Scores) -> str:
    """How a forecaster's CRPS compares with that of the reference class, and whether chance may have done it."""
    gap, error = one.against["crps"].value, one.against["crps"].error
    if not abs(gap) > DOUBT * error:
        return "its CRPS cannot be told from the reference class's"
    part = 100 * abs(gap) / reference.crps.value
    return (
        f"its CRPS is {part:.0f} % {'above' if gap > 0 else 'below'} the reference class's, more than chance explains"
    )


def tested(backtest: Backtest, attribute: str, quantity: str) -> str:
    """How the forecasts of another quantity went, and of which runs there is none."""
    found = [it for one in backtest.runs if (it := getattr(one, attribute)) is not None]
    inside = sum(it.p10 <= it.actual <= it.p90 for it in found)
    said = f"{inside} of {len(found)} runs within P10 to P90" if found else "no run can be tested"
    missing = "; ".join(f"{number}: {reason}" for reason, number in backtest.untested[quantity].items())
    return f"{said}, others not ({missing})" if found and missing else f"{said} ({missing})" if missing else said


def chains(backtest: Backtest) -> str:
    """Whether the refits can be believed."""
    from uncertain_botec.inference import worst

    number = len(backtest.refits)
    return f"{number} refit{'s' if number != 1 else ''} by NUTS: {worst(backtest.refits)}"


# --- runs -------------------------------------------------------------------------------------------------------------


def run_rows(backtest: Backtest) -> Iterator[tuple[str, ...]]:
    """Every run by its percentile, under the title of each quantity."""
    for title, found in run_tables(backtest):
        yield (title,)
        yield from found


def run_tables(backtest: Backtest) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """The title of each quantity that there are forecasts of, and a row for every run by its percentile."""
    for quantity, found in by_quantity(backtest):
        yield TITLES[quantity], [_run_row(one.run.name, it, _SCALES[quantity]) for one, it in found]


def _run_row(name: str, it: Against, scale: float) -> tuple[str, ...]:
    amounts = (digits(value / scale, 0, 3) for value in (it.p10, it.p50, it.p90, it.actual))
    return name, *amounts, level(it.percentile)


def by_quantity(backtest: Backtest) -> Iterator[tuple[str, list[tuple[Foretold, Against]]]]:
    """The forecasts of each quantity that there are any of, in the order of their percentiles."""
    found = [(name, one, it) for name in TITLES for one in backtest.runs if (it := getattr(one, name)) is not None]
    for name, some in groupby(found, key=lambda item: item[0]):
        yield name, sorted(((one, it) for _, one, it in some), key=lambda item: item[1].percentile)


def level(percentile: float) -> str:
    """A percentile in percent, never rounded to certainty."""
    value = 100 * percentile
    return "<0.1 %" if value < 0.1 else ">99.9 %" if value > 99.9 else f"{value:.1f} %"
