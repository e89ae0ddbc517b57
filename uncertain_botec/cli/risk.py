"""`botec risk`: the review of budget and deadline, and a gate for what is required."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from uncertain_botec.cli import options
from uncertain_botec.cli.options import Budget, Cache, Confidence, Deadline, Json, Quiet, Run, Seed, Settings
from uncertain_botec.cli.printing import console, print_json, say


def risk(
    run: Run,
    budget: Budget = None,
    deadline: Deadline = None,
    confidence: Confidence = "80%",
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REQUIREMENT",
            help="Such as 'P(cost <= 5 MUSD) >= 0.8', 'P(budget and deadline) >= 70%', 'P80(cost) <= 5 MUSD' or "
            "'CVaR80(cost) <= 7 MUSD'; may be repeated. Exit with 3 where one is not met.",
        ),
    ] = None,
    draws: options.Draws = "2^18",
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
    cache: Cache = True,
    quiet: Quiet = False,
) -> None:
    """Review the risk: chances of budget, deadline and both; contingency by confidence; overruns and the worst.

    With --require, exit with 3 where a requirement is not met, and name it on standard error.
    """
    started = time.perf_counter()
    from uncertain_botec.prior_files.loading import load_scenario

    count, level = options.draws_of(draws), options.confidence_of(confidence)
    scenario = load_scenario(run, settings or ())
    if not quiet:
        say(*scenario.warnings, *scenario.notes)
    from uncertain_botec.compilation import keep_compiled
    from uncertain_botec.risk.review import review_risk

    if cache:
        keep_compiled()
    review = review_risk(
        scenario,
        budget=budget,
        deadline=deadline,
        confidence=level,
        requirements=require or (),
        draws=count,
        seed=seed,
    )
    if as_json:
        print_json(review.to_dict())
    else:
        from uncertain_botec.risk_table import renderable

        console().print(renderable(review))
    if not quiet:
        made = review.provenance
        say(
            f"{made.draws:,} draws ({made.sampler}, {made.replicates} replicates, seed {made.seed}) on {made.device} "
            f"in {time.perf_counter() - started:.2f} s"
        )
    if review.unmet:
        from uncertain_botec.risk_table import outcome

        sys.stdout.flush()
        say(*(f"botec: required and not met: {one.text}: {outcome(one)}" for one in review.unmet))
        raise typer.Exit(3)
