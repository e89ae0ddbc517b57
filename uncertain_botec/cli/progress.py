"""A progress bar on standard error for long runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

# A run this short is over before anybody has read the bar.
_PATIENCE = 0.5


@contextmanager
def bar() -> Iterator[Callable[[int, int], None]]:
    """Show a bar while the block runs; call what it gives with the draws so far and those that are planned."""
    columns = (
        TextColumn("drawing"),
        BarColumn(20),
        TextColumn("{task.fields[amount]},"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    started = time.perf_counter()
    task = progress.add_task("drawing", total=None, amount="")

    def advance(drawn: int, planned: int) -> None:
        elapsed = time.perf_counter() - started
        rate = f"{drawn / elapsed / 1e6:.1f} million/s"
        amount = f"{drawn / 1e6:,.1f} of {planned / 1e6:,.0f} million, {rate}"
        progress.update(task, completed=drawn, total=planned, amount=amount)
        if elapsed > _PATIENCE and drawn < planned:
            progress.start()

    try:
        yield advance
    finally:
        progress.stop()
