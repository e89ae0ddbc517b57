"""Time per draw, from points to P10, P50 and P90 of three outputs, once everything is imported and compiled."""

from __future__ import annotations

from functools import partial
from statistics import median

from benchmarks.contestants import MAIN, OURS, check, load, missing, present
from benchmarks.table import Row, Section
from benchmarks.timing import in_turns, ratio

DRAWS = 1 << 24
"""1e7, rounded up as ours rounds."""

_WARM = 1 << 21  # large enough for every kernel that ours compiles, and all that numba does


def speed(device: str, repeats: int, full: bool) -> Section:
    """Ours beside everybody."""
    peers = present()
    draws = dict.fromkeys(OURS, DRAWS) | {name: peer.draws(DRAWS, full) for name, peer in peers.items()}
    tasks = {}
    for name, size in draws.items():
        estimate = load(name, device)
        # Ours once in full, so that nothing is compiled later.
        warm = size if name in OURS else min(size, _WARM)
        check(name, estimate(warm, 1), warm)
        tasks[name] = partial(estimate, size, 0)
    taken = in_turns(tasks, repeats)
    each = {name: [one / draws[name] for one in times] for name, times in taken.items()}
    rows: list[Row] = [
        {
            "contestant": name,
            "draws": draws[name],
            "median_ns_per_draw": 1e9 * median(times),
            "min_ns_per_draw": 1e9 * min(times),
            **{f"time_over_{peer}": ratio(times, each[peer]) for peer in MAIN if peer in each},
        }
        for name, times in each.items()
    ]
    notes = (
        f"{repeats} turns of everybody after a warm-up; ratios of times per draw are medians over the turns. Ours "
        "draws all of its lattice (no accuracy, no smooth quantiles) in bounded memory; peers keep every draw, in "
        "float64.",
        "Slow peers get fewer draws: their time per draw hardly depends on how many.",
        *missing(),
    )
    return Section("1. Time per draw to P10, P50 and P90 of three outputs, in steady state", rows, notes)
