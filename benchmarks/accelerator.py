"""Eight inputs on an accelerator against its ceilings: `python -m benchmarks.accelerator --device gpu --draws 1e9`.

Needs JAX, NumPy and SciPy alone. Exits with 1 where the device's quantiles are not the processor's.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.machine import headline, machine
from benchmarks.models import OUTPUTS, Floats, eight_inputs
from benchmarks.table import Section
from benchmarks.timing import seconds

TOLERANCES = {"float32": 1e-5, "float64": 1e-9}
"""How far quantiles on the device may be from the processor's in float64, relative to them."""

SIZES = {"gpu": (1 << 28, 1 << 24), "cpu": (1 << 24, 1 << 22)}
"""Elements of the copy and of the transcendental kernel: far more than caches hold."""

INPUTS = 8
TURNS = 5


def whole(text: str) -> int:
    """A number such as 1e9 or 2^22."""
    base, power, exponent = text.partition("^")
    return int(base) ** int(exponent) if power else int(float(text))


def ceilings(device: Any, kind: str, precision: str) -> dict[str, float]:
    """What the chip does at most, as XLA reaches it: bytes copied, and sums of eight exponentials of normal scores."""
    import jax
    import jax.numpy as jnp

    from uncertain_botec.sampling.normal_score import normal_score

    dtype = np.dtype(precision)
    copied, computed = (size * 4 // dtype.itemsize for size in SIZES[kind])

    def transcendental(index: Any) -> Any:
        total = jnp.zeros(index.shape, dtype)
        for term in range(INPUTS):
            # Any numbers within (0, 1) will do; each has the score and the exponential that a lognormal input has.
            bits = (index * np.uint32(2654435761 + 2 * term)) >> 9
            u = (bits.astype(dtype) + dtype.type(0.5)) * dtype.type(2.0**-23)
            total += jnp.exp(dtype.type(0.1) * normal_score(u))
        return total

    with jax.enable_x64(True), jax.default_device(device):
        numbers, index = jnp.zeros(copied, dtype), jnp.arange(computed, dtype=jnp.uint32)
        copy = _fastest(partial(jax.jit(lambda x: x + 1), numbers))
        compute = _fastest(partial(jax.jit(transcendental), index))
    return {
        "copy_gb_per_s": 2 * copied * dtype.itemsize / copy / 1e9,
        "ns_for_eight_scores_and_exps": 1e9 * compute / computed,
    }


def _fastest(run: Callable[[], Any]) -> float:
    run().block_until_ready()
    return min(seconds(lambda: run().block_until_ready()) for _ in range(TURNS))


class Compiling:
    """Adds up the time that XLA compiles."""

    def __init__(self) -> None:
        import jax.monitoring

        self.seconds = 0.0
        jax.monitoring.register_event_duration_secs_listener(self._hear)

    def _hear(self, event: str, duration_secs: float, **_: str | int) -> None:
        if event.startswith("/jax/core/compile"):  # tracing, lowering and compiling
            self.seconds += duration_secs


def quantiles(draws: int, precision: str, device: str, chunk: int | None) -> Floats:
    """P10, P50 and P90 of accelerator-hours, cost and days, in base units."""
    from uncertain_botec.sampling.streaming import Goal, stream

    goal = Goal(draws, accuracy=None, outputs=OUTPUTS)
    found = stream(eight_inputs(), goal, smooth=False, precision=precision, device=device, chunk=chunk).outputs
    return np.array([found[name].quantiles for name in OUTPUTS])


def measure(precision: str, options: argparse.Namespace, compiling: Compiling) -> tuple[dict[str, Any], Floats]:
    """One precision: its time per draw against the ceilings, and quantiles to hold against the processor's."""
    import jax

    device = jax.devices(options.device)[0]
    limits = ceilings(device, options.device, precision)
    compiled = compiling.seconds
    started = time.perf_counter()
    few = quantiles(options.check, precision, options.device, options.chunk)
    run = partial(quantiles, options.draws, precision, options.device, options.chunk)
    run()
    first = time.perf_counter() - started
    compile_s = compiling.seconds - compiled
    times = [seconds(run) for _ in range(options.repeats)]
    drawn = 1 << (options.draws - 1).bit_length()
    each = 1e9 * median(times) / drawn
    # Each output's value and its code are written once and read once.
    moved = len(OUTPUTS) * 2 * (np.dtype(precision).itemsize + 1)
    row = {
        "precision": precision,
        "draws": drawn,
        "compile_s": compile_s,
        "first_runs_s": first,
        "median_s": median(times),
        "min_s": min(times),
        "ns_per_draw": each,
        **limits,
        "bytes_per_draw": moved,
        "compute_floor_over_time": limits["ns_for_eight_scores_and_exps"] / each,
        "memory_floor_over_time": moved / limits["copy_gb_per_s"] / each,
    }
    return row, few


def main() -> None:
    """Measure, print, and hold the device's quantiles against the processor's."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accelerator", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--device", choices=tuple(SIZES), default="gpu")
    parser.add_argument("--draws", type=whole, default=10**9, metavar="N", help="such as 1e9 or 2^22")
    parser.add_argument("--check", type=whole, default=1 << 22, metavar="N", help="draws that are made on both")
    parser.add_argument("--precisions", nargs="+", choices=TOLERANCES, default=list(TOLERANCES))
    parser.add_argument("--chunk", type=whole, metavar="N", help="draws evaluated at a time; by default the device's")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    # What the device gives is held against the processor, which JAX must be let see as well.
    platforms = os.environ.get("JAX_PLATFORMS")
    if platforms and "cpu" not in platforms.split(","):
        os.environ["JAX_PLATFORMS"] = f"{platforms},cpu"
    import jax

    started = time.perf_counter()
    about = {**machine(), "device": jax.devices(options.device)[0].device_kind}
    print(headline(about), f"Device: {about['device']}", sep="\n", flush=True)
    compiling = Compiling()
    measured = [measure(precision, options, compiling) for precision in options.precisions]
    # Last, so that nothing which the device compiles was compiled for the processor before.
    exact = quantiles(options.check, "float64", "cpu", None)
    rows = []
    for row, few in measured:
        off = float(np.max(np.abs(few / exact - 1)))
        rows.append({**row, "quantiles_off": off, "quantiles_agree": off <= TOLERANCES[row["precision"]]})
    # Turned, for there are few precisions and many figures.
    keys = [key for key in rows[0] if key != "precision"]
    table = [{"figure": key} | {row["precision"]: row[key] for row in rows} for key in keys]
    notes = (
        "Steady state from counters to P10, P50 and P90 of three outputs. Floors: eight normal scores and exponentials "
        "for each draw, and the bytes of three outputs and their codes written and read once, at what this device was "
        "measured to do; a floor over the time is the part of the ceiling that is reached.",
        f"quantiles_off: the largest relative difference of the nine quantiles of {options.check:,} draws from those "
        f"of the same draws on the processor in float64; at most "
        f"{', '.join(f'{most:g} in {name}' for name, most in TOLERANCES.items())}.",
    )
    section = Section(f"Eight inputs on {about['device']}", table, notes)
    print(f"\n{section}")
    took = time.perf_counter() - started
    print(f"\n{took:.0f} s in all")
    if options.json:
        document = {"machine": about, "rows": rows, "check_draws": options.check, "took_s": took}
        options.json.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    if not all(row["quantiles_agree"] for row in rows):
        sys.exit("quantiles on the device are not the processor's")


if __name__ == "__main__":
    main()
