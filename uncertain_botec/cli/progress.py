"""A progress bar on standard error for long runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# A run this short is over before anybody has read the bar.
_PATIENCE = 0.5


def _draws(done: int, planned: int, elapsed: float) -> str:
    return f"{done / 1e6:,.1f} of {planned / 1e6:,.0f} million, {done / elapsed / 1e6:.1f} million/s"


def counted(done: int, planned: int, _: float) -> str:
    """Things that are few enough to be counted."""
    return f"{done:,} of {planned:,}"


@contextmanager
def bar(
    quiet: bool, doing: str = "drawing", told: Callable[[int, int, float], str] = _draws
) -> Iterator[Callable[[int, int], object]]:
    """Show a bar while the block runs; call what it gives with how much is done and how much there is.

    Args:
        quiet: show none, as where standard error is no terminal.
        doing: what is done, for people.
        told: how much is done, how much there is and the seconds it took, in words.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    # Takes a while, and is seldom needed.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(doing),
        BarColumn(20),
        TextColumn("{task.fields[amount]},"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    started = time.perf_counter()
    task = progress.add_task(doing, total=None, amount="")

    def advance(done: int, planned: int) -> None:
        elapsed = time.perf_counter() - started
        progress.update(task, completed=done, total=planned, amount=told(done, planned, elapsed))
        if elapsed > _PATIENCE and done < planned:
            progress.start()

    try:
        yield advance
    finally:
        progress.stop()
