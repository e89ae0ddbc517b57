"""What is measured in a process of its own: `python -m benchmarks.child memory NAME DRAWS DEVICE`, or `devices ...`."""

from __future__ import annotations

import json
import sys
from statistics import median
from typing import Any

from benchmarks.contestants import load
from benchmarks.machine import MIB, memory, peak_memory
from benchmarks.timing import seconds


def peak(name: str, draws: int, device: str) -> dict[str, Any]:
    """The most memory that a contestant takes beyond what it had imported, compiling included."""
    estimate = load(name, device)
    before = memory()
    estimate(draws, 0)
    return {"import_mib": before / MIB, "peak_over_import_mib": (peak_memory() - before) / MIB}


def devices(name: str, draws: int, device: str) -> dict[str, Any]:
    """Seconds of a run with whatever devices there are."""
    import jax

    estimate = load(name, device)
    p90 = float(estimate(draws, 0)[1][2])
    return {
        "devices": len(jax.devices(None if device == "auto" else device)),
        "seconds": median(seconds(lambda: estimate(draws, 0)) for _ in range(3)),
        "p90_cost": p90,
    }


if __name__ == "__main__":
    what, who, how_many, where = sys.argv[1:]
    print(json.dumps({"memory": peak, "devices": devices}[what](who, int(how_many), where)))
