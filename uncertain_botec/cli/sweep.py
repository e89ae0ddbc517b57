"""`botec sweep`: a run over a grid of choices."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from uncertain_botec.cli import options
from uncertain_botec.cli.options import Cache, Device, Json, Quiet, ReportTo, Require, Run, Seed, Settings
from uncertain_botec.cli.printing import check_out, console, print_json, say, write_out


def sweep(
    run: Run,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUES",
            help="What to vary: accelerators=256:8192:x2 doubles, mfu=0.3:0.5:0.05 adds, tokens='15T token,30T token' "
            "lists; choices (flop_convention=6nd,exact) and files (prices=..., accelerator=...) too; several make a "
            "grid.",
        ),
    ],
    confidence: Annotated[
        str, typer.Option(metavar="P", help="Probability of keeping deadline and memory, such as 90% or 0.9.")
    ] = "90%",
    accuracy: Annotated[
        str, typer.Option(metavar="PART", help="Relative standard error of quantiles where they can be smooth.")
    ] = "0.5%",
    seed: Seed = 0,
    device: Annotated[Device, typer.Option(help="auto takes an accelerator where JAX sees one.")] = Device.AUTO,
    settings: Settings = None,
    out: ReportTo = None,
    as_json: Json = False,
    cache: Cache = True,
    require: Require = False,
    quiet: Quiet = False,
) -> None:
    """Show P50 and P90 over a grid of choices, the cheapest that keeps the deadline, and the Pareto front.

    With --require, exit with 3 where no point keeps deadline and memory, as far as each is stated, at the confidence.
    """
    started = time.perf_counter()
    chance, precise = options.confidence_of(confidence), options.accuracy_of(accuracy)
    check_out(out)
    from uncertain_botec.compilation import keep_compiled
    from uncertain_botec.decisions.sweeping import sweep as swept

    if cache:
        keep_compiled()
    found = swept(
        run, over, settings=settings or (), confidence=chance, accuracy=precise, seed=seed, device=device.value
    )
    if not quiet:
        say(*found.scenario.warnings, *found.scenario.notes)
    if as_json:
        print_json(found.to_dict())
    else:
        from uncertain_botec.sweep_table import renderable

        console().print(renderable(found))
    write_out(found, out, quiet=quiet)
    if not quiet:
        points = "1 point" if len(found.points) == 1 else f"{len(found.points):,} points"
        say(f"{points} (seed {seed}) in {time.perf_counter() - started:.2f} s")
    if require and found.unmet:
        sys.stdout.flush()
        say(f"botec: required and not met: {found.unmet[0]}")
        raise typer.Exit(3)
