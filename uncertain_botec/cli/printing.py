"""Where commands print: results to standard output, everything else to standard error; and reports that they write."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncertain_botec.cli.streams import takes

if TYPE_CHECKING:
    from rich.console import Console

    from uncertain_botec.calibration.backtesting import Backtest
    from uncertain_botec.decisions.comparison import Comparison
    from uncertain_botec.decisions.surface import Sweep


def print_json(document: dict[str, Any]) -> None:
    """A document as JSON, without infinite numbers."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    # Escapes lose nothing where the encoding would.
    print(text if takes(text) else json.dumps(document, indent=2, allow_nan=False))


def say(*lines: str) -> None:
    """Lines on standard error; where nobody can read them, that costs no results."""
    with suppress(OSError):
        for line in lines:
            print(line, file=sys.stderr)


def console() -> Console:
    """Where tables are printed."""
    from rich.console import Console

    # A pipe has no width: 100 columns keep tables whole for whoever reads the file.
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 100, highlight=False)


def check_out(folder: Path | None) -> None:
    """Refuse a folder for a report before anything is computed, where it is something else's."""
    if folder is not None:
        from uncertain_botec.report import check_folder

        check_folder(folder)


def write_out(result: Comparison | Sweep | Backtest, folder: Path | None, *, quiet: bool) -> None:
    """Write the report that `--out` asks for, and say so."""
    if folder is None:
        return
    from uncertain_botec.report import write_report

    made = write_report(result, folder)
    if not quiet:
        say(f"{made.folder}/index.html written, with {len(made.files)} files beside it")
