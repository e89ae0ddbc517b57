"""Where commands print: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def print_json(document: dict[str, Any]) -> None:
    """A document as JSON, without infinite numbers."""
    print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def say(*lines: str) -> None:
    """Lines on standard error."""
    for line in lines:
        print(line, file=sys.stderr)


def console() -> Console:
    """Where tables are printed."""
    from rich.console import Console

    # A pipe has no width: 100 columns keep tables whole for whoever reads the file.
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 100, highlight=False)
