"""Contestants take turns, so that a machine that slows down slows all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

Task = Callable[[], object]


def seconds(task: Task) -> float:
    """What one call takes."""
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def in_turns(tasks: Mapping[str, Task], turns: int) -> dict[str, list[float]]:
    """Seconds of each turn, by contestant."""
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(turns):
        for name, task in tasks.items():
            taken[name].append(seconds(task))
    return taken


def ratio(these: Sequence[float], those: Sequence[float]) -> float:
    """The median over the turns of these over those: what is slow for a moment slows both."""
    return median(one / other for one, other in zip(these, those, strict=True))
