"""`botec calibrate`: a reference class learnt from finished runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from uncertain_botec.cli.options import Cache, Json, Quiet, Seed
from uncertain_botec.cli.printing import console, print_json, say


def calibrate(
    runs: Annotated[
        list[Path] | None,
        typer.Option(
            "--runs",
            metavar="CSV",
            help="Finished runs; the shipped ones where left out. Several files are pooled: --runs ours.csv --runs "
            "published learns from ours and the shipped ones.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what was learnt as a prior file, to be included; replaces such a file, and no other.",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write figures of the chains and of the fit, as SVG and PNG."),
    ] = None,
    title: Annotated[str, typer.Option(help="Of the reference class.")] = "",
    seed: Seed = 0,
    as_json: Json = False,
    cache: Cache = True,
    quiet: Quiet = False,
) -> None:
    """Learn from finished runs how many accelerator-hours the next one takes, given its accelerator and size.

    A scenario that includes the file written by --out, and states no MFU or overhead, takes them from there.
    """
    started = time.perf_counter()
    from uncertain_botec.calibration.calibrating import calibrate as learn
    from uncertain_botec.calibration.calibrating import check_enough
    from uncertain_botec.calibration.runs import read_runs

    read = read_runs(*runs or ())
    check_enough(read)
    from uncertain_botec import output
    from uncertain_botec.compilation import keep_compiled

    if out is not None:
        output.check_calibration(out)
    if figures is not None:
        output.check_writable(figures, "--figures")
    if cache:
        keep_compiled()
    if not quiet:
        say(f"learning from {len(read.kept)} runs: half a minute or so")
    found = learn(read, seed=seed)
    if out is not None:
        output.write_calibration(found, out, title)
    if figures is not None:
        from uncertain_botec.plots.calibration import chains, predictive_check

        output.write_figures((chains(found), predictive_check(found)), figures)
    if as_json:
        print_json(found.to_dict())
    else:
        from uncertain_botec.calibration_table import renderable

        console().print(renderable(found))
    if not quiet:
        say(*(f"{path} written" for path in (out, figures) if path is not None))
        say(f"{len(read.kept)} runs (seed {seed}) in {time.perf_counter() - started:.2f} s")
