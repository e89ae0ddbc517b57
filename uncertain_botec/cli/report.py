"""`botec report`: a folder with the answer, the figures and everything behind them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from uncertain_botec.cli import options
from uncertain_botec.cli.options import Budget, Cache, Confidence, Deadline, Json, Quiet, Run, Seed, Settings
from uncertain_botec.cli.printing import print_json, say


def report(
    run: Run,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", parser=options.folder_of, help="The folder to write or to replace; reports/RUN if not said."
        ),
    ] = None,
    budget: Budget = None,
    deadline: Deadline = None,
    confidence: Confidence = "80%",
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REQUIREMENT",
            help="Such as 'P(budget and deadline) >= 70%'; may be repeated. Exit with 3 where one is not met.",
        ),
    ] = None,
    draws: options.Draws = "2^18",
    keep: Annotated[str, typer.Option(metavar="N", help="About how many draws to write to draws.nc.")] = "2^16",
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
    cache: Cache = True,
    quiet: Quiet = False,
) -> None:
    """Write a report: index.html, report.md, summary.json, draws.nc (ArviZ), scenario.toml and every figure.

    A report that is there is replaced in one step; a folder that is not a report is left alone.
    """
    started = time.perf_counter()
    from uncertain_botec.prior_files.loading import load_scenario

    count, kept, level = options.draws_of(draws), options.draws_of(keep, "--keep"), options.confidence_of(confidence)
    scenario = load_scenario(run, settings or ())
    if not quiet:
        say(*scenario.warnings, *scenario.notes)
    from uncertain_botec.compilation import keep_compiled
    from uncertain_botec.report import write_report

    if cache:
        keep_compiled()
    made = write_report(
        scenario,
        Path("reports") / Path(run).stem if out is None else out,
        budget=budget,
        deadline=deadline,
        confidence=level,
        requirements=require or (),
        draws=count,
        keep=kept,
        seed=seed,
    )
    if as_json:
        print_json(made.to_dict())
    else:
        print(f"{made.answer}\n\n{made.folder}/index.html written")
    if not quiet:
        say(f"{len(made.files) + 1} files in {made.folder}, in {time.perf_counter() - started:.2f} s")
    if unmet := made.context.review.unmet:
        from uncertain_botec.risk_table import outcome

        sys.stdout.flush()
        say(*(f"botec: required and not met: {one.text}: {outcome(one)}" for one in unmet))
        raise typer.Exit(3)
