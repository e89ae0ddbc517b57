"""`botec solve`: the value of an input that a requirement takes."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from uncertain_botec.cli import options
from uncertain_botec.cli.options import Cache, Json, Quiet, Run, Seed, Settings
from uncertain_botec.cli.printing import console, print_json, say


def solve(
    run: Run,
    requirement: Annotated[
        str,
        typer.Argument(
            metavar="REQUIREMENT",
            help="Such as 'P(training_time <= 30 day) >= 0.9', 'P(budget and deadline) >= 80%' or "
            "'P80(cost) <= 5 MUSD'.",
        ),
    ],
    name: Annotated[
        str,
        typer.Option("--for", metavar="NAME", help="The input to solve for, such as accelerators; budget or deadline."),
    ],
    within: Annotated[
        str | None,
        typer.Option(metavar="LOW:HIGH", help="The range to look in; a thousandth to a thousand times the stated."),
    ] = None,
    draws: options.Draws = "2^16",
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
    cache: Cache = True,
    quiet: Quiet = False,
) -> None:
    """Find the accelerators, MFU, tokens, budget, deadline or other input at which a requirement is just met.

    Exit with 3 where no value in the range meets it, and show the best attainable.
    """
    started = time.perf_counter()
    from uncertain_botec.prior_files.loading import load_scenario

    count = options.draws_of(draws)
    scenario = load_scenario(run, settings or ())
    if not quiet:
        say(*scenario.warnings, *scenario.notes)
    from uncertain_botec.compilation import keep_compiled
    from uncertain_botec.decisions.solving import solve as solved

    if cache:
        keep_compiled()
    solution = solved(scenario, name, requirement, within=within, draws=count, seed=seed)
    if as_json:
        print_json(solution.to_dict())
    else:
        from uncertain_botec.solution_table import renderable

        console().print(renderable(solution))
    if not quiet:
        say(
            f"{solution.draws:,} draws at each value, {len(solution.probes)} of them over the range (seed {seed}), in "
            f"{time.perf_counter() - started:.2f} s"
        )
    if not solution.feasible:
        sys.stdout.flush()
        say(f"botec: required and not met by any value of {name}: {solution.requirement}")
        raise typer.Exit(3)
