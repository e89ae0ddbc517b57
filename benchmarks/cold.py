"""Whole commands from a cold start."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.contestants import MAIN, missing, present
from benchmarks.prior_files import FIVE_LOGNORMALS
from benchmarks.processes import wall
from benchmarks.table import Row, Section
from benchmarks.timing import in_turns, ratio

# The environment that decides about kernels compiled before; `{folder}` is one that starts out empty.
CACHE: Mapping[str, Mapping[str, str]] = {
    "warm cache": {"XDG_CACHE_HOME": "{folder}", "BOTEC_CACHE": "1"},
    "no cache": {"XDG_CACHE_HOME": "{folder}", "BOTEC_CACHE": "0"},
}
WARM, NONE = CACHE

YARDSTICK = "squigglepy 1e7"


def cold(device: str, repeats: int, full: bool) -> Section | None:
    """Start to exit of our commands and of the peers' scripts; None where the command line is not installed."""
    botec = str(Path(sysconfig.get_path("scripts")) / "botec")
    if not Path(botec).exists():
        return None
    on = ("--device", device)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "five-lognormals.toml"
        file.write_text(FIVE_LOGNORMALS, "utf-8")
        forecast = [botec, "forecast", "llama-2-70b", "--json", *on]
        ten_million = [botec, "forecast", str(file), "--json", "--draws", "1e7", *on]
        sweep = [botec, "sweep", "llama-2-70b", "--over", "accelerators=1024:2023:1", "--json", *on]
        # Of 262,144 draws each; these two run on the device that JAX chooses.
        risk = [botec, "risk", "llama-2-70b", "--json"]
        report = [botec, "report", "llama-2-70b", "--out", str(Path(folder) / "report"), "--quiet"]
        commands: dict[str, tuple[list[str], str]] = {
            "botec forecast llama-2-70b --json": (forecast, WARM),
            "botec forecast llama-2-70b --json, no cache": (forecast, NONE),
            "botec forecast five-lognormals --draws 1e7": (ten_million, WARM),
            "botec sweep llama-2-70b, 1,000 points": (sweep, WARM),
            "botec sweep llama-2-70b, 1,000 points, no cache": (sweep, NONE),
            "botec risk llama-2-70b --json": (risk, WARM),
            "botec report llama-2-70b": (report, WARM),
            "botec report llama-2-70b, no cache": (report, NONE),
            "botec --help": ([botec, "--help"], WARM),
        }
        peers = {name: peer for name, peer in present().items() if name in MAIN}
        commands |= {f"{name} 1e7": ([sys.executable, str(peer.path), "1e7"], NONE) for name, peer in peers.items()}
        tasks = {
            name: partial(wall, command, {key: value.format(folder=folder) for key, value in CACHE[cache].items()})
            for name, (command, cache) in commands.items()
        }
        in_turns({name: task for name, task in tasks.items() if name.startswith("botec")}, 1)
        taken = in_turns(tasks, repeats)
    rows: list[Row] = [
        {"command": name, "median_s": median(times), "min_s": min(times)}
        | ({"time_over_squigglepy_1e7": ratio(times, taken[YARDSTICK])} if YARDSTICK in taken else {})
        for name, times in taken.items()
    ]
    notes = (
        f"{repeats} turns, after one of ours that is not counted, which fills the cache of compiled kernels. The "
        "forecasts of llama-2-70b are to 0.1 % and its sweep to 0.5 %, as by default; kernels of 'no cache' are "
        "compiled anew.",
        *missing(),
    )
    return Section("4. Whole commands from start to exit", rows, notes)
