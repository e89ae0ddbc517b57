"""`botec backtest`: how well finished runs would have been foretold."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from uncertain_botec.cli.options import Cache, Json, Quiet, ReportTo, Seed
from uncertain_botec.cli.printing import check_out, console, print_json, say, write_out
from uncertain_botec.cli.progress import bar, counted
from uncertain_botec.errors import UsageError


class LeaveOut(StrEnum):
    """What is held out together."""

    RUN = "run"
    ORGANISATION = "organisation"


def backtest(
    runs: Annotated[
        Path | None, typer.Option(metavar="CSV", help="The runs to forecast; the published ones by default.")
    ] = None,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Learn from these runs alone, rather than from the others of --runs; 'published' for the shipped.",
        ),
    ] = None,
    leave_out: Annotated[
        LeaveOut | None, typer.Option(help="What is held out with each run: itself, or its organisation's.")
    ] = None,
    seed: Seed = 0,
    out: ReportTo = None,
    as_json: Json = False,
    cache: Cache = True,
    quiet: Quiet = False,
) -> None:
    """Forecast finished runs without knowing them, and score the forecasts against simpler ones."""
    started = time.perf_counter()
    if train is not None and leave_out is not None:
        raise UsageError("--leave-out goes without --train: nothing of --runs is learnt from then")
    check_out(out)
    from uncertain_botec.calibration.backtesting import backtest as backtested
    from uncertain_botec.calibration.runs import PUBLISHED, read_runs
    from uncertain_botec.compilation import keep_compiled

    tested = read_runs(runs or PUBLISHED)
    learnt = None if train is None else read_runs(train)
    if cache:
        keep_compiled()
    if not quiet and learnt is None:
        say("learning anew without each run: a minute or two for the published ones")
    with bar(quiet, "learning", counted) as advance:
        found = backtested(tested, learnt, leave_out=leave_out or LeaveOut.RUN, seed=seed, progress=advance)
    if as_json:
        print_json(found.to_dict())
    else:
        from uncertain_botec.backtest_table import renderable

        console().print(renderable(found))
    write_out(found, out, quiet=quiet)
    if not quiet:
        say(
            f"{len(found.runs)} runs, {len(found.refits)} refits (seed {seed}) in {time.perf_counter() - started:.1f} s"
        )
