"""Every command of `botec`. Heavy libraries are imported by the commands that need them, not at start."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uncertain_botec.cli import options
from uncertain_botec.cli.backtest import backtest
from uncertain_botec.cli.calibrate import calibrate
from uncertain_botec.cli.compare import compare
from uncertain_botec.cli.listing import Kind, listing
from uncertain_botec.cli.options import (
    Cache,
    Coordinator,
    Device,
    Draws,
    Json,
    Precision,
    Processes,
    ProcessId,
    Quiet,
    Require,
    Run,
    Sampler,
    Seed,
    Settings,
)
from uncertain_botec.cli.printing import console as _console
from uncertain_botec.cli.printing import print_json as _print_json
from uncertain_botec.cli.printing import say as _say
from uncertain_botec.cli.progress import bar
from uncertain_botec.cli.report import report
from uncertain_botec.cli.risk import risk
from uncertain_botec.cli.sensitivity import sensitivity
from uncertain_botec.cli.solve import solve
from uncertain_botec.cli.sweep import sweep
from uncertain_botec.cli.update import update
from uncertain_botec.errors import Fault, PriorFileError, UsageError

if TYPE_CHECKING:
    from uncertain_botec.sampling.processes import Team
    from uncertain_botec.scenario import Scenario
    from uncertain_botec.summaries import Summary
    from uncertain_botec.tallies import Tallies

app = typer.Typer(
    help="Forecast training time and cost of large models, with the uncertainty kept in.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from uncertain_botec import __version__

        print(f"botec {__version__}")
        raise typer.Exit


@app.callback()
def _botec(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Forecast training time and cost of large models, with the uncertainty kept in."""


@app.command()
def forecast(
    run: Run,
    accuracy: Annotated[
        str | None,
        typer.Option(
            metavar="PART",
            help="Draw until every quantile has this relative standard error: 0.1% (as by default), 0.001.",
        ),
    ] = None,
    draws: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Draw at least so many instead: 1000000, 8M, 1e6, 2^20; with --accuracy, at most."
        ),
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=options.folder_of,
            help="Also write summary.json, scenario.toml and draws.nc (ArviZ) there.",
        ),
    ] = None,
    sampler: Annotated[Sampler, typer.Option(help="Point set.")] = Sampler.LATTICE,
    precision: Annotated[Precision, typer.Option(help="Arithmetic in the kernel.")] = Precision.FLOAT64,
    device: Annotated[Device, typer.Option(help="auto takes an accelerator where JAX sees one.")] = Device.AUTO,
    chunk: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Draws evaluated at a time; changes memory, not results beyond rounding."
        ),
    ] = None,
    distributed: Annotated[
        bool, typer.Option("--distributed", help="Share the draws with the other processes of this run, as of srun.")
    ] = False,
    coordinator: Coordinator = None,
    processes: Processes = None,
    process_id: ProcessId = None,
    smooth: Annotated[
        bool, typer.Option(help="Integrate one input out analytically where an output allows, rather than count draws.")
    ] = True,
    cache: Cache = True,
    require: Require = False,
    quiet: Quiet = False,
) -> None:
    """Forecast compute, accelerator-hours, time and cost as P10, P50 and P90.

    With --require, exit with 3 where the memory does not fit or the run does not finish with a chance of 90 %.
    """
    started = time.perf_counter()
    # Whatever goes wrong from here on, the other processes hear of it and end as well.
    with _joined(distributed, coordinator, processes, process_id) as team:
        leads = team is None or team.rank == 0
        loud = leads and not quiet
        precise = None if accuracy is None else options.accuracy_of(accuracy)
        count = None if draws is None else options.draws_of(draws)
        scenario = _loaded(run, settings, loud)
        if leads:
            _check_out(out, run)
            # ArviZ takes as long to import as drawing takes, and compiling and drawing leave a core to it.
            threading.Thread(target=importlib.import_module, args=("arviz_stats.base.array",)).start()
        from uncertain_botec import __version__
        from uncertain_botec.compilation import keep_compiled
        from uncertain_botec.forecasting import WRITTEN, goal_of
        from uncertain_botec.sampling.processes import ALONE
        from uncertain_botec.sampling.streaming import stream
        from uncertain_botec.scenario import dump_scenario
        from uncertain_botec.summaries import summarize

        if cache:
            keep_compiled()
        goal = goal_of(precise, count)
        if out is not None:
            goal = replace(goal, keep=WRITTEN)
        if team is not None:
            told = (dump_scenario(scenario), goal, f"{seed=}", sampler, precision, device, f"{chunk=}", f"{smooth=}")
            team.agree("\n".join(map(str, (*told, f"botec {__version__}"))))
        with bar(not loud) as advance:
            tallies = stream(
                scenario,
                goal,
                seed=seed,
                sampler=sampler.value,
                precision=precision.value,
                device=device.value,
                chunk=chunk,
                smooth=smooth,
                team=team or ALONE,
                progress=advance,
            )
        if not leads:
            return
        summary = summarize(tallies)
        _give(tallies, summary, out, as_json)
    if not quiet:
        from uncertain_botec.presentation import what_it_took

        _say(*what_it_took(summary, count, time.perf_counter() - started))
    if require:
        _require(summary.unmet)


def _joined(
    distributed: bool, coordinator: str | None, processes: int | None, process_id: int | None
) -> AbstractContextManager[Team | None]:
    """A block of work together with the other processes of this run, if there are any to be."""
    if distributed:
        from uncertain_botec.sampling.processes import join

        return join(coordinator, processes, process_id)
    if any(one is not None for one in (coordinator, processes, process_id)):
        raise UsageError("--coordinator, --processes and --process-id go with --distributed")
    return nullcontext()


def _loaded(run: str, settings: Sequence[str] | None, loud: bool) -> Scenario:
    """The scenario, with its warnings and notes told."""
    from uncertain_botec.prior_files.loading import load_scenario

    scenario = load_scenario(run, settings or ())
    if loud:
        _say(*scenario.warnings, *scenario.notes)
    return scenario


def _check_out(out: Path | None, run: str) -> None:
    """Refuse a folder that cannot take the results, before the work is done."""
    if out is None:
        return
    from uncertain_botec.output import check_writable

    check_writable(out)
    if (out / "scenario.toml").resolve() == Path(run).resolve():
        raise UsageError(f"--out {out}: scenario.toml there is the file that is forecast; name another folder")


def _give(tallies: Tallies, summary: Summary, out: Path | None, as_json: bool) -> None:
    """Write and print the results, to the last byte: the other processes wait to hear that it went well."""
    if out is not None:
        from uncertain_botec.output import write_results

        write_results(out, tallies.sample, summary)
    if as_json:
        _print_json(summary.to_dict())
    else:
        from uncertain_botec.presentation import renderable

        _console().print(renderable(summary))
    print(end="", flush=True)


@app.command()
def size(
    run: Run,
    sizes: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Numbers of accelerators; a ladder around the stated one.")
    ] = None,
    confidence: Annotated[
        str, typer.Option(metavar="P", help="Probability of keeping memory and deadline, such as 90% or 0.9.")
    ] = "90%",
    draws: Draws = "2^17",
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
    cache: Cache = True,
    require: Require = False,
    quiet: Quiet = False,
) -> None:
    """Show time, cost and fit over cluster sizes, the smallest that fits, and the smallest in time.

    With --require, exit with 3 where no size both fits and keeps the deadline, as far as each is stated, at the
    confidence asked.
    """
    from uncertain_botec.prior_files.loading import load_scenario

    count, chance = options.draws_of(draws), options.confidence_of(confidence)
    numbers = None if sizes is None else options.sizes_of(sizes)
    scenario = load_scenario(run, settings or ())
    if not quiet:
        _say(*scenario.warnings, *scenario.notes)
    from uncertain_botec.compilation import keep_compiled
    from uncertain_botec.sizing import size as sized

    if cache:
        keep_compiled()
    sizing = sized(scenario, numbers, confidence=chance, draws=count, seed=seed)
    if as_json:
        _print_json(sizing.to_dict())
    else:
        from uncertain_botec.cli.size_table import size_table

        _console().print(size_table(sizing))
    if require:
        _require(sizing.unmet)


app.command()(risk)
app.command()(compare)
app.command()(sweep)
app.command()(solve)
app.command()(sensitivity)
app.command()(report)
app.command()(calibrate)
app.command()(update)
app.command()(backtest)


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Prior files, or names of shipped runs.")],
) -> None:
    """Check prior files and report every fault at once."""
    from uncertain_botec.prior_files.loading import load_scenario

    faults: list[Fault] = []
    for file in files:
        try:
            scenario = load_scenario(file)
        except PriorFileError as error:
            faults += error.faults
            continue
        _say(*scenario.warnings, *scenario.notes)
        print(f"{file}: fine ({scenario.title}; {len(scenario.uncertain)} uncertain inputs)")
    if faults:
        raise PriorFileError(faults)


@app.command()
def explain(run: Run, settings: Settings = None, as_json: Json = False) -> None:
    """Show every formula in order, with its inputs and its value at the medians."""
    from uncertain_botec.explain import explain as explained
    from uncertain_botec.prior_files.loading import load_scenario

    explanation = explained(load_scenario(run, settings or ()))
    if as_json:
        _print_json(explanation.to_dict())
    else:
        from uncertain_botec.cli.whiteboard import whiteboard

        _console().print(whiteboard(explanation))


@app.command("list")
def list_(kind: Annotated[Kind, typer.Argument(help="What to list.")], as_json: Json = False) -> None:
    """List what is shipped: runs, accelerators, prices, families or estimators."""
    table = listing(kind)
    if as_json:
        _print_json({"schema": f"uncertain-botec/list-{kind.value}/1", kind.value: table.records()})
    else:
        _console().print(table.renderable())


@app.command()
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The prior file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
) -> None:
    """Write a commented prior file to start from, which runs as it is."""
    from uncertain_botec.output import write_template

    write_template(file, force=force)
    print(f"{file} written: edit it, then run `botec forecast {file}`")


@app.command()
def schema() -> None:
    """Print the JSON Schema of a prior file, for editors."""
    from uncertain_botec.prior_files.schema import json_schema

    _print_json(json_schema())


def _require(unmet: Sequence[str]) -> None:
    """Exit with 3, and one line on standard error, where something asked for is not met."""
    if unmet:
        sys.stdout.flush()
        _say(f"botec: required and not met: {', '.join(unmet)}")
        raise typer.Exit(3)
