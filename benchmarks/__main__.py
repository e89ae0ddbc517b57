"""`python -m benchmarks [--device gpu] [--full] [--only PART ...] [--repeats N] [--json FILE]`: tables and figures.

Everything is measured in one run, contestants in turns. A bare JAX is enough: whoever is not installed is left out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks.accuracy import accuracy
from benchmarks.cold import cold
from benchmarks.footprint import footprint
from benchmarks.machine import headline, machine
from benchmarks.scaling import by_devices, by_draws, by_formulas, by_inputs
from benchmarks.speed import speed
from benchmarks.sweep import sweep
from benchmarks.table import Section

PARTS: dict[str, Callable[[str, int, bool], Section | None]] = {
    "speed": speed,
    "accuracy": accuracy,
    "memory": footprint,
    "cold": cold,
    "sweep": sweep,
    "draws": by_draws,
    "inputs": by_inputs,
    "devices": by_devices,
    "formulas": by_formulas,
}


def main() -> None:
    """Measure and print everything, or the parts that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto", help="what ours runs on")
    parser.add_argument("--full", action="store_true", help="up to 1e9 draws, and slow peers at as many as the others")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="counted turns of each contestant")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be 1 or more")
    started = time.perf_counter()
    about = machine()
    print(headline(about), flush=True)
    found = {}
    for name in options.only:
        began = time.perf_counter()
        section = PARTS[name](options.device, options.repeats, options.full)
        if section is None:
            print(f"\n{name}: cannot be measured here", flush=True)
            continue
        found[name] = {**asdict(section), "took_s": time.perf_counter() - began}
        print(f"\n{section}", flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s in all")
    if options.json:
        options.json.write_text(json.dumps({"machine": about, **found}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
