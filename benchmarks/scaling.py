"""How time grows with draws, inputs, devices and formulas."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.contestants import OURS, load
from benchmarks.models import P90_COST, P90_WIDE, wide
from benchmarks.processes import ask
from benchmarks.table import Row, Section
from benchmarks.timing import in_turns, ratio, seconds

DRAWS = (10**5, 10**6, 10**7, 10**8)
MOST = 10**9
INPUTS = (2, 5, 10, 20, 50)
DEVICES = (1, 2)

# Every kernel that a long run needs is compiled by then.
_WARM = 1 << 21
_DRAWS = 1 << 22
_KEPT = 1 << 20


def by_draws(device: str, repeats: int, full: bool) -> Section:
    """From 1e5 draws to 1e8, or to 1e9 when asked."""
    estimates = {name: load(name, device) for name in OURS}
    for estimate in estimates.values():
        estimate(_WARM, 0)
    rows: list[Row] = []
    for draws in (*DRAWS, MOST) if full else DRAWS:
        rounded = 1 << (draws - 1).bit_length()
        row: dict[str, Any] = {"draws": rounded}
        tasks = {name: partial(estimate, rounded, 0) for name, estimate in estimates.items()}
        for name, times in in_turns(tasks, repeats if draws <= 10**7 else 1).items():
            key = OURS[name]
            row |= {f"{key}_seconds": median(times), f"{key}_ns_per_draw": 1e9 * median(times) / rounded}
        rows.append(row)
    notes = [f"The median of {repeats} turns up to 1e7, one turn beyond; draws are rounded up to a power of two."]
    if not full:
        notes.append("1e9 draws with --full.")
    return Section("6a. Ours by the number of draws, five inputs", rows, tuple(notes))


def by_inputs(device: str, repeats: int, full: bool) -> Section:
    """A product of 2 to 50 lognormals, whose distribution is the same whatever their number."""
    from uncertain_botec.sampling.streaming import Goal, stream

    rows: list[Row] = []
    for inputs in INPUTS:
        scenario = wide(inputs)
        row: dict[str, Any] = {"inputs": inputs}
        for precision in OURS.values():
            goal = Goal(_DRAWS, accuracy=None)
            run = partial(stream, scenario, goal, smooth=False, precision=precision, device=device)
            p90 = float(run().outputs["cost"].quantiles[2])
            times = [seconds(run) for _ in range(repeats)]
            row |= {
                f"{precision}_ns_per_draw": 1e9 * median(times) / _DRAWS,
                f"{precision}_ns_per_draw_and_input": 1e9 * median(times) / _DRAWS / inputs,
                f"{precision}_error_of_p90": abs(p90 / P90_WIDE - 1),
            }
        rows.append(row)
    note = f"A product of lognormals through the same kernel, {_DRAWS:,} draws; its P90 is known exactly."
    return Section("6b. Ours by the number of inputs, one output", rows, (note,))


def by_devices(device: str, repeats: int, full: bool) -> Section | None:
    """The cores of a processor as one device and as two; None on an accelerator."""
    if device == "gpu":
        return None
    found = {}
    for count in DEVICES:
        changes = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={count}", "JAX_PLATFORMS": "cpu"}
        # Flags of the user's own stay in force.
        changes["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {changes['XLA_FLAGS']}".strip()
        found[count] = {name: ask("devices", name, _DRAWS, "cpu", changes=changes) for name in OURS}
    rows: list[Row] = [
        {
            "precision": OURS[name],
            "devices": count,
            "ns_per_draw": 1e9 * one["seconds"] / _DRAWS,
            "time_over_one_device": one["seconds"] / found[1][name]["seconds"],
            "p90_over_one_device_less_1": one["p90_cost"] / found[1][name]["p90_cost"] - 1,
            "p90_error": one["p90_cost"] / P90_COST - 1,
        }
        for count, each in found.items()
        for name, one in each.items()
    ]
    note = f"Processes of their own, {_DRAWS:,} draws. One device already uses every core."
    return Section("6c. Ours by the number of devices that the processor is split into", rows, (note,))


def by_formulas(device: str, repeats: int, full: bool) -> Section | None:
    """A simple run, everything that can be computed, and simulated failures; None where files cannot be read."""
    try:
        from uncertain_botec.prior_files.loading import load_scenario
    except ModuleNotFoundError:
        return None
    from benchmarks.prior_files import EVERYTHING, SIMPLE
    from uncertain_botec.sampling.engine import sample

    texts = {"simple: 6 N D, time, cost": SIMPLE}
    texts |= {f"everything, failures {one}": EVERYTHING.format(failures=one) for one in ("expected", "simulated")}
    scenarios = {}
    with TemporaryDirectory() as folder:
        for name, text in texts.items():
            file = Path(folder) / "run.toml"
            file.write_text(text, "utf-8")
            scenarios[name] = load_scenario(file)
    tasks = {name: partial(sample, one, _KEPT, device=device) for name, one in scenarios.items()}
    in_turns(tasks, 1)
    taken = in_turns(tasks, repeats)
    simple = next(iter(taken.values()))
    rows: list[Row] = [
        {
            "scenario": name,
            "uncertain_inputs": len(scenarios[name].uncertain),
            "outputs": len(scenarios[name].plan.outputs),
            "ns_per_draw": 1e9 * median(times) / _KEPT,
            "time_over_the_simple_one": ratio(times, simple),
        }
        for name, times in taken.items()
    ]
    note = f"{_KEPT:,} draws in float64 with every input and output kept, without summaries."
    return Section("6d. Ours by what is computed", rows, (note,))
