"""`python -m benchmarks [--repeats N] [--json FILE]`: Markdown tables, and the same figures as JSON.

Contestants take turns, so that a machine that slows down slows all of them.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import FIVE_LOGNORMALS

HERE = Path(__file__).parent
PACKAGES = ("uncertain-botec", "jax", "numpy", "scipy", "squigglepy")
YARDSTICK = "squigglepy, 1e7 draws"

Row = dict[str, Any]


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": names[0] if names else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load": round(os.getloadavg()[0], 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": versions,
    }


def commands(scenario: Path) -> dict[str, list[str] | None]:
    """What is started from cold; None for a peer that is not installed."""
    botec = str(Path(sysconfig.get_path("scripts")) / "botec")
    squigglepy = [sys.executable, str(HERE / "squigglepy_training_cost.py")]
    present = importlib.util.find_spec("squigglepy") is not None
    return {
        "botec forecast llama-2-70b --quiet": [botec, "forecast", "llama-2-70b", "--quiet"],
        "botec forecast llama-2-70b --quiet --json": [botec, "forecast", "llama-2-70b", "--quiet", "--json"],
        "botec forecast five-lognormals --quiet": [botec, "forecast", str(scenario), "--quiet"],
        "botec forecast five-lognormals --quiet --draws 1e7": [
            *(botec, "forecast", str(scenario), "--quiet", "--draws", "1e7"),
        ],
        YARDSTICK: [*squigglepy, "1e7"] if present else None,
        "squigglepy, 2^20 draws": [*squigglepy, str(1 << 20)] if present else None,
        "NumPy, 1e7 draws": [sys.executable, str(HERE / "numpy_training_cost.py"), "1e7"],
        "botec --help": [botec, "--help"],
        "botec list runs": [botec, "list", "runs"],
        "botec check llama-2-70b": [botec, "check", "llama-2-70b"],
    }


def run(command: list[str]) -> tuple[float, float]:
    """Wall seconds and peak resident MiB of a whole process.

    A child starts out with its parent's peak, so this is called before anything large is imported here.
    """
    # Everybody may compile bytecode in the first run, which is not counted.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    child = subprocess.Popen(  # noqa: S603 - a command of our own making, without a shell
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"exit code {child.returncode} from {' '.join(command)}")
    return seconds, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def cold_starts(scenario: Path, repeats: int) -> list[Row]:
    """Every command from cold, in turns."""
    chosen = commands(scenario)
    found = {name: command for name, command in chosen.items() if command is not None}
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in found}
    for turn in range(repeats + 1):
        for name, command in found.items():
            result = run(command)
            if turn:
                measured[name].append(result)
    rows: list[Row] = []
    yardstick = [seconds for seconds, _ in measured.get(YARDSTICK, [])]
    for name in chosen:
        if name not in found:
            rows.append({"command": name})
            continue
        seconds, peaks = map(list, zip(*measured[name], strict=True))
        # Turn by turn, because a slow moment slows both.
        ratios = [ours / theirs for ours, theirs in zip(seconds, yardstick, strict=True)] if yardstick else []
        rows.append(
            {
                "command": name,
                "median_s": median(seconds),
                "min_s": min(seconds),
                "peak_mib": max(peaks),
                "time_over_squigglepy_1e7": median(ratios) if ratios else "not installed",
            }
        )
    return rows


def show(title: str, rows: Sequence[Row]) -> None:
    """Print a Markdown table, one column for each key."""
    keys = max(rows, key=len).keys()
    headings = [key.replace("_", " ").replace("mib", "MiB") for key in keys]
    print(f"\n## {title}\n\n| {' | '.join(headings)} |\n|---|{'--:|' * (len(keys) - 1)}")
    for row in rows:
        print(f"| {' | '.join(_cell(row.get(key, 'not installed')) for key in keys)} |", flush=True)


def _cell(value: object) -> str:
    if not isinstance(value, int | float):
        return str(value)
    return f"{value:,.0f}" if value >= 100 else f"{value:.2e}" if value < 1e-3 else f"{value:.3g}"


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="counted runs of each contestant")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be 1 or more")
    about = machine()
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    print(
        f"# Benchmarks, {about['date']}\n\n{about['processor']}, {about['cores']} cores, {about['memory_gib']} GiB, "
        f"load {about['load']} at the start; {about['system']}; Python {about['python']}; {versions}"
    )
    with TemporaryDirectory() as folder:
        scenario = Path(folder) / "five-lognormals.toml"
        scenario.write_text(FIVE_LOGNORMALS, "utf-8")
        cold = cold_starts(scenario, options.repeats)
        show(f"From start to exit, {options.repeats} runs in turns (botec draws 2^20 where nothing is said)", cold)
        # Only now: a child's peak memory cannot read below ours.
        from benchmarks import steady

        accuracy = steady.accuracy(scenario)
        show(
            f"P90 of cost against the exact lognormal, {len(steady.SEEDS)} seeds; draws and summary, compiled", accuracy
        )
        speed = steady.speed(scenario, options.repeats)
        show(f"Per draw at {steady.DRAWS:,} draws, compiled, {options.repeats} runs in turns", speed)
        whole = steady.everything(Path(folder), options.repeats)
        show(
            f"What everything costs per draw at {steady.DRAWS:,} draws, compiled, {options.repeats} runs in turns",
            whole,
        )
    if options.json:
        document = {"machine": about, "cold": cold, "accuracy": accuracy, "speed": speed, "everything": whole}
        options.json.write_text(json.dumps(document, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
