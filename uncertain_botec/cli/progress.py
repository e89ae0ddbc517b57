"""A progress bar on standard error for long runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def bar(draws: int) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs; call what it gives with the draws that were added."""
    columns = (
        TextColumn("drawing"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("drawing", total=draws)
        yield lambda added: progress.advance(task, added)
