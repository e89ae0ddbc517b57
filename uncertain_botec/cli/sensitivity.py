"""`botec sensitivity`: what moves an output, and what is worth knowing before deciding."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Annotated

import typer

from uncertain_botec.cli import options
from uncertain_botec.cli.options import Cache, Json, Quiet, Run, Seed, Settings
from uncertain_botec.cli.printing import console, print_json, say


class Scale(StrEnum):
    """Whose variance is shared out."""

    LOG = "log"
    RANK = "rank"
    LINEAR = "linear"


def sensitivity(
    run: Run,
    output: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose sensitivity, such as training_time; the cost if not said.")
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(metavar="AMOUNT", help="What the run is worth, such as 5MUSD, in place of the file's budget."),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN", help="Another cluster or market, to decide which; may be repeated."),
    ] = None,
    late_cost: Annotated[
        str | None, typer.Option(metavar="AMOUNT", help="Of each day beyond the deadline, such as '20e3 USD/day'.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,NAME", help="Inputs to learn together, such as mfu,tokens; may be repeated."),
    ] = None,
    scale: Annotated[
        Scale | None, typer.Option(help="Share out the variance of the output's logarithm, its rank, or itself.")
    ] = None,
    level: Annotated[str, typer.Option(metavar="P", help="Probability of the intervals, such as 90% or 0.9.")] = "90%",
    draws: Annotated[
        str | None,
        typer.Option(metavar="N", help="At least how many draws for each part; a second or two's worth if not said."),
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
    cache: Cache = True,
    quiet: Quiet = False,
) -> None:
    """Show what moves the cost, input by input, and what it is worth to know each before deciding.

    A decision is whether to go, against the budget, or which of several runs to take, with --against.
    """
    started = time.perf_counter()
    from uncertain_botec.prior_files.loading import load_scenario

    count = None if draws is None else options.draws_of(draws)
    probability = options.level_of(level)
    scenario = load_scenario(run, settings or ())
    others = [load_scenario(one) for one in against or ()]
    if not quiet:
        say(*(line for one in (scenario, *others) for line in (*one.warnings, *one.notes)))
    from uncertain_botec.compilation import keep_compiled
    from uncertain_botec.sensitivity.study import analyse_sensitivity

    if cache:
        keep_compiled()
    study = analyse_sensitivity(
        scenario,
        output,
        budget=budget,
        against=others,
        late_cost=late_cost,
        sets=[[name.strip() for name in one.split(",")] for one in sets or ()],
        scale=None if scale is None else scale.value,
        draws=count,
        seed=seed,
        level=probability,
    )
    if as_json:
        print_json(study.to_dict())
    else:
        from uncertain_botec.sensitivity_table import renderable

        console().print(renderable(study))
    if not quiet:
        walks = f", {study.walks:,} walks through the inputs" if study.walks else ""
        say(
            f"{study.draws:,} independent draws{walks} (16 replicates, seed {seed}) "
            f"in {time.perf_counter() - started:.2f} s"
        )
