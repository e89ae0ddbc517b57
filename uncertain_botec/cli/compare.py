"""`botec compare`: several runs on common random numbers."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Annotated

import typer

from uncertain_botec.cli import options
from uncertain_botec.cli.options import Cache, Json, Quiet, ReportTo, Seed, complete_run
from uncertain_botec.cli.printing import check_out, console, print_json, say, write_out
from uncertain_botec.errors import UsageError

_OF_ONE = re.compile(r"(?P<number>\d+):(?P<setting>.*)", re.DOTALL)


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN RUN...", help="Prior files, or names of shipped runs.", autocompletion=complete_run
        ),
    ],
    draws: options.Draws = "2^18",
    seed: Seed = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[N:]PATH=VALUE",
            help="Override a value in every run, or in the N-th alone, e.g. 2:inputs.accelerators=4096; may be "
            "repeated.",
        ),
    ] = None,
    out: ReportTo = None,
    as_json: Json = False,
    cache: Cache = True,
    quiet: Quiet = False,
) -> None:
    """Compare runs on common random numbers: each, their differences, who is cheaper and sooner, and dominance.

    Inputs that runs state alike are one quantity; inputs of the same name that they state differently are at the same
    percentile in every draw.
    """
    started = time.perf_counter()
    from uncertain_botec.prior_files.loading import load_scenario

    count = options.draws_of(draws)
    check_out(out)
    if len(runs) < 2:
        raise UsageError("a comparison takes two runs or more: name another, or the same again with --set 2:PATH=VALUE")
    each = _settings(settings or (), len(runs))
    scenarios = [load_scenario(run, some) for run, some in zip(runs, each, strict=True)]
    if not quiet:
        say(*dict.fromkeys(line for one in scenarios for line in (*one.warnings, *one.notes)))
    from uncertain_botec.compilation import keep_compiled
    from uncertain_botec.decisions.comparing import compare_scenarios

    if cache:
        keep_compiled()
    comparison = compare_scenarios(scenarios, draws=count, seed=seed)
    if as_json:
        print_json(comparison.to_dict())
    else:
        from uncertain_botec.comparison_table import renderable

        console().print(renderable(comparison))
    write_out(comparison, out, quiet=quiet)
    if not quiet:
        made = comparison.provenance
        say(
            f"{made.draws:,} draws of each run ({made.sampler}, {made.replicates} replicates, seed {made.seed}) on "
            f"{made.device} in {time.perf_counter() - started:.2f} s"
        )


def _settings(settings: Sequence[str], runs: int) -> list[list[str]]:
    """The settings of each run."""
    each: list[list[str]] = [[] for _ in range(runs)]
    for text in settings:
        match = _OF_ONE.fullmatch(text)
        if match is None:
            for some in each:
                some.append(text)
        elif 1 <= int(match["number"]) <= runs:
            each[int(match["number"]) - 1].append(match["setting"])
        else:
            raise UsageError(f"--set {text}: there is no run {match['number']}; they are numbered from 1 to {runs}")
    return each
