"""`botec update`: a forecast revised by the progress log of the run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from uncertain_botec.cli.options import Budget, Cache, Deadline, Json, Quiet, Run, Seed, Settings
from uncertain_botec.cli.printing import console, print_json, say


def update(
    run: Run,
    log: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="CSV with the columns time (ISO 8601) or elapsed ('3.5 day'; plain under elapsed_days), tokens "
            "(so far), and perhaps interruptions, accelerators and cost.",
        ),
    ],
    budget: Budget = None,
    deadline: Deadline = None,
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
    cache: Cache = True,
    quiet: Quiet = False,
) -> None:
    """Revise the forecast of a running run by its log: finish, cost, chances, and what the log taught."""
    started = time.perf_counter()
    from uncertain_botec.prior_files.loading import load_scenario
    from uncertain_botec.updating.progress_log import read_log

    scenario = load_scenario(run, settings or ())
    progress = read_log(log)
    if not quiet:
        say(*scenario.warnings, *scenario.notes)
    from uncertain_botec.compilation import keep_compiled
    from uncertain_botec.updating.revising import update as updated

    if cache:
        keep_compiled()
    if not quiet:
        say(f"holding {len(progress):,} rows against the plan: half a minute or so")
    found = updated(scenario, progress, budget=budget, deadline=deadline, seed=seed)
    if as_json:
        print_json(found.to_dict())
    else:
        from uncertain_botec.update_table import renderable

        console().print(renderable(found))
    if not quiet:
        say(f"{found.provenance.draws:,} draws, seed {seed}, in {time.perf_counter() - started:.1f} s")
