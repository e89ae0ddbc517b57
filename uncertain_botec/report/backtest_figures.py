"""Pictures and tables of a backtest: the forecasters side by side, how often intervals held, and run by run."""

from __future__ import annotations

from uncertain_botec import plots
from uncertain_botec.backtest_table import (
    CAVEAT,
    DOUBT,
    HEADINGS,
    NAMES,
    RUN_HEADINGS,
    level,
    rows,
    run_tables,
    verdicts,
)
from uncertain_botec.calibration.scores import Mean, Share, by_chance
from uncertain_botec.plots import Told, Within
from uncertain_botec.report.backtested import Backtested, named
from uncertain_botec.report.blocks import Pairs, Paragraph, Picture, Section, Table
from uncertain_botec.report.words import spread_out

ROWS = 200
"""Rows that a table of the page shows; `summary.json` has every run."""

DRAWN = 60
"""Runs that are drawn, at most."""

_SCORES = {"interval_score": "Interval score", "crps": "CRPS"}


def forecasters(context: Backtested) -> Section:
    """The reference class beside simpler forecasts, by coverage, scores and sharpness."""
    backtest = context.backtest
    columns = ("Forecast", *(" ".join(heading.split()) for heading in HEADINGS[1:]))
    table = Table("Forecasts of the accelerator-hours", columns, "lrrrrrr", tuple(rows(backtest)))
    gaps = {
        NAMES[name]: {title: _doubt(one.against[key]) for key, title in _SCORES.items()}
        for name, one in backtest.forecasters.items()
        if one.against
    }
    figure = plots.score_gaps(gaps, f"± {DOUBT:g} standard errors")
    caption = (
        "How much higher, and so worse, simpler forecasts score than the reference class, the mean of differences run "
        "by run; where the line crosses 0 the two cannot be told apart."
    )
    blocks = (Paragraph(CAVEAT), table, Pairs(tuple(verdicts(backtest))), Picture(figure, caption))
    return Section("forecasters", "Beside simpler forecasts", blocks)


def _doubt(one: Mean) -> Within:
    return Within(one.value, one.value - DOUBT * one.error, one.value + DOUBT * one.error)


def coverage(context: Backtested) -> Section:
    """How many runs intervals held, and where in their forecasts runs fell."""
    backtest = context.backtest
    held = {
        NAMES[name]: {100 * part: _percent(share) for part, share in one.coverage.items()}
        for name, one in backtest.forecasters.items()
    }
    low, high = by_chance(len(backtest.runs))
    reading = (
        "Forecasts that mean what they say hold 80 % of runs in intervals of 80 %, and have as many runs in each tenth "
        "of their percentiles as in any other. Too few runs within: the intervals are too narrow; too many in the "
        "middle: too wide; too many at one side: forecasts are too low or too high."
    )
    return Section(
        "coverage",
        "How often intervals held",
        (
            Paragraph(reading),
            Picture(
                plots.coverage(held),
                "Runs that took what lies in central intervals of 50, 80 and 90 %, with exact 95 % bounds (Clopper and "
                "Pearson), as if runs were independent; the line is what is meant.",
            ),
            Picture(
                plots.percentiles(context.reference.histogram, low, high),
                "Percentiles of the actual hours in the forecasts of the reference class. Where forecasts are right "
                f"each tenth has {low} to {high} runs with a probability of at least 95 %; of ten, one outside is "
                "nothing unusual.",
            ),
        ),
    )


def _percent(share: Share) -> Within:
    return Within(100 * share.value, 100 * share.low, 100 * share.high)


def intervals(context: Backtested) -> Section:
    """Every run beside its own forecast."""
    ordered = context.ordered
    shown = [ordered[place] for place in spread_out(len(ordered), DRAWN)]
    figures = plots.intervals(
        [
            Told(
                one.run.name,
                Within(hours.actual / hours.p50, hours.actual / hours.p90, hours.actual / hours.p10),
                level(hours.percentile),
            )
            for one, hours in shown
        ]
    )
    reading = (
        "The line of each run goes from its actual hours over P90 of the forecast to those over P10, with the median "
        "at the mark; it crosses 1 where P10 to P90 held the run. Runs at the top took the least of what was "
        "foretold, those at the bottom the most."
    )
    if len(shown) < len(ordered):
        reading += f" Drawn are {len(shown)} of {len(ordered):,} runs, evenly by percentile."
    pictures = (Picture(figure, f"{figure.title}, by percentile.") for figure in figures)
    return Section("intervals", "Run by run", (Paragraph(reading), *pictures))


def runs(context: Backtested) -> Section:
    """The forecast of every run in a table for each quantity that was tested."""
    found = list(run_tables(context.backtest))
    reading = "By the percentile of what the run took in its forecast, for each quantity that can be tested."
    if any(len(told) > ROWS for _, told in found):
        reading += f" Tables have their first {ROWS} rows; `summary.json` has all of them."
    columns = ("Run", *RUN_HEADINGS[1:])
    tables = [
        Table(title, columns, "lrrrrr", tuple((named(name), *amounts) for name, *amounts in told[:ROWS]))
        for title, told in found
    ]
    return Section("runs", "Every run", (Paragraph(reading), *tables))
