"""Time to a relative error of P90 of cost, whose distribution is known exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.contestants import MAIN, Estimate, missing, present, printed
from benchmarks.models import OUTPUTS, P90_COST, error_of, five_lognormals
from benchmarks.table import Row, Section
from benchmarks.timing import seconds

TARGETS = (1e-2, 1e-3, 1e-4)
SEEDS = range(1, 17)

# Where the law of independent draws is measured, and with how many seeds; the last only in a full run.
_SIZES = {1 << 12: 32, 1 << 15: 32, 1 << 18: 32, 10**7: 16}

_MOST = 10**7
"""Draws beyond which time is extrapolated."""

Task = Callable[[int], tuple[float, int | None]]
"""From a seed to the error of P90 of cost and the draws that it took, where they are told."""

# The compiled kernel of sweeps for one scenario, with the points that it needs, as the peers get the draws that they
# need; the same asked for the accuracy; a forecast as the command makes it; and without smooth quantiles.
ENOUGH = "botec, enough points"
ESTIMATE = "botec, estimate_many"
FORECAST = "botec, forecast"
BY_DRAWS = "botec, by draws"
OURS = (ENOUGH, ESTIMATE, FORECAST, BY_DRAWS)


def accuracy(device: str, repeats: int, full: bool) -> Section:
    """Ours asked for the accuracy; peers with as many draws as their own error says that they need."""
    peers: dict[str, Estimate] = {name: peer.load() for name, peer in present().items() if name in MAIN}
    for estimate in peers.values():
        estimate(1 << 17, 0)  # numba compiles
    sizes = {size: seeds for size, seeds in _SIZES.items() if full or size < _MOST}
    laws = {name: _law(estimate, sizes) for name, estimate in peers.items()}
    rows: list[Row] = []
    for target in TARGETS:
        tasks: dict[str, Task] = {
            ENOUGH: _enough(target, device),
            ESTIMATE: _estimate(target, device),
            FORECAST: _ours(target, True, device),
            BY_DRAWS: _ours(target, False, device),
        }
        needed = {name: math.ceil((law[0] / target) ** 2) for name, law in laws.items()}
        beyond = {name for name, draws in needed.items() if draws > _MOST}
        tasks |= {name: _theirs(peers[name], draws) for name, draws in needed.items() if name not in beyond}
        measured = _measure(tasks)
        yardstick = measured[ENOUGH]["median_ms"]
        slow = _extrapolated({name: peers[name] for name in beyond}, needed, laws, repeats)
        rows += [
            {"to": f"{target:.0e}", "contestant": name, **one, "time_over_first": one["median_ms"] / yardstick}
            for name, one in (
                (name, (measured | slow)[name]) for name in (ENOUGH, ESTIMATE, FORECAST, BY_DRAWS, *peers)
            )
        ]
    told = ", ".join(f"{name} {law:.3f} n^-1/2 (fitted exponent {slope:.2f})" for name, (law, slope) in laws.items())
    notes = [
        f"Root mean square relative error of P90 of cost over {len(SEEDS)} seeds against the exact lognormal, and the "
        "median time of a second run with P10, P50 and P90 of all three outputs. 'Enough points' are the fewest whose "
        "error over other seeds is small enough, as peers get the draws that they need; the others of ours are asked "
        "for the accuracy, of all nine quantiles, and find out themselves. A forecast keeps 2^17 draws with all their "
        f"inputs besides. The exact error of n independent draws is {error_of(1):.3f} n^-1/2.",
    ]
    if laws:
        told_sizes = ", ".join(f"{size:,} ({seeds} seeds)" for size, seeds in sizes.items())
        notes += [
            f"Draws that peers need, by the law that is measured here at {told_sizes} draws: {told}.",
            f"'extrapolated': the median of {repeats} turns at 1e7 draws, times draws over 1e7; error by the law.",
        ]
    return Section("2. Time to an error of P90 of cost", rows, (*notes, *missing()))


def _p90(quantiles: Any) -> float:
    return float(quantiles[1][2]) / P90_COST - 1


def _estimate(target: float, device: str, points: int | None = None) -> Task:
    from uncertain_botec import estimate_many

    scenarios = [five_lognormals()]

    def once(seed: int) -> tuple[float, int | None]:
        found = estimate_many(scenarios, OUTPUTS, accuracy=target, points=points, seed=seed, device=device)
        return float(found[0]["cost"].quantiles[2]) / P90_COST - 1, points

    return once


def _enough(target: float, device: str) -> Task:
    """The estimate from the fewest points, a power of two, whose error over many seeds is small enough."""
    for power in range(8, 20):
        task = _estimate(target, device, 1 << power)
        if rms([task(seed)[0] for seed in range(101, 133)]) <= target:
            break
    return task


def _ours(target: float, smooth: bool, device: str) -> Task:
    from uncertain_botec.sampling.streaming import MOST_DRAWS, Goal, stream

    scenario = five_lognormals()

    def once(seed: int) -> tuple[float, int | None]:
        goal = Goal(MOST_DRAWS, target, outputs=OUTPUTS)
        found = stream(scenario, goal, seed=seed, smooth=smooth, device=device)
        return _p90(printed(found.outputs)), found.provenance.size * found.provenance.replicates

    return once


def _theirs(estimate: Estimate, draws: int) -> Task:
    return lambda seed: (_p90(estimate(draws, seed)), draws)


def _measure(tasks: Mapping[str, Task]) -> dict[str, dict[str, Any]]:
    errors: dict[str, list[float]] = {name: [] for name in tasks}
    draws: dict[str, list[int | None]] = {name: [] for name in tasks}
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task(0)
    for seed in SEEDS:
        for name, task in tasks.items():
            error, drawn = task(seed)
            errors[name].append(error)
            draws[name].append(drawn)
            # Once more, as somebody who works with one seed would.
            times[name].append(seconds(partial(task, seed)))
    return {
        name: {
            "draws": _middle(draws[name]),
            "rms_relative_error": rms(errors[name]),
            "median_ms": 1e3 * median(times[name]),
            "time": "measured",
        }
        for name in tasks
    }


def _middle(draws: Sequence[int | None]) -> int | None:
    told = [one for one in draws if one is not None]
    return int(median(told)) if told else None


def rms(errors: Sequence[float]) -> float:
    """Root mean square."""
    return math.sqrt(sum(one * one for one in errors) / len(errors))


def _law(estimate: Estimate, sizes: Mapping[int, int]) -> tuple[float, float]:
    """What times n^-1/2 is the relative error, and the exponent that a free fit would have."""
    found = {
        size: rms([_p90(estimate(size, seed)) for seed in range(101, 101 + seeds)]) for size, seeds in sizes.items()
    }
    slope = float(np.polyfit(np.log([*found]), np.log([*found.values()]), 1)[0])
    return math.sqrt(sum(one * one * size for size, one in found.items()) / len(found)), slope


def _extrapolated(
    peers: Mapping[str, Estimate], needed: Mapping[str, int], laws: Mapping[str, tuple[float, float]], turns: int
) -> dict[str, dict[str, Any]]:
    times: dict[str, list[float]] = {name: [] for name in peers}
    for seed in range(turns):
        for name, estimate in peers.items():
            times[name].append(seconds(partial(estimate, _MOST, seed)))
    return {
        name: {
            "draws": needed[name],
            "rms_relative_error": laws[name][0] / math.sqrt(needed[name]),
            "median_ms": 1e3 * median(taken) * needed[name] / _MOST,
            "time": "extrapolated",
        }
        for name, taken in times.items()
    }
