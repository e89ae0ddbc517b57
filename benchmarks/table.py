"""What a benchmark found, as a table of plain text that fits in 100 columns and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

WIDTH = 100

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """One table.

    Attributes:
        title: what was measured.
        rows: one mapping for each line; the first key is the line's name, the keys are the headings.
        notes: how to read it.
    """

    title: str
    rows: Sequence[Row]
    notes: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        keys = list(dict.fromkeys(key for row in self.rows for key in row))
        columns = [_column(key, [row.get(key) for row in self.rows], left=not place) for place, key in enumerate(keys)]
        depth = max((len(heading) for heading, _ in columns), default=0)
        lines = [self.title, "=" * min(WIDTH, len(self.title))]
        # Headings stand on the line below them.
        padded = [[" " * len(heading[0])] * (depth - len(heading)) + heading for heading, _ in columns]
        rule = ["-" * len(heading[0]) for heading, _ in columns]
        cells = zip(*(cells for _, cells in columns), strict=True)
        lines += ["  ".join(parts).rstrip() for parts in (*zip(*padded, strict=True), rule, *cells)]
        for note in self.notes:
            lines += textwrap.wrap(note, WIDTH, initial_indent="  ", subsequent_indent="  ")
        return "\n".join(lines)


def _column(key: str, values: Sequence[Any], *, left: bool) -> tuple[list[str], list[str]]:
    """The lines of its heading and its cells, all equally wide."""
    cells = [cell(value) for value in values]
    words = key.replace("_", " ").replace("mib", "MiB").split()
    width = max(len(one) for one in (*cells, *words))
    heading = textwrap.wrap(" ".join(words), width)
    return [_placed(one, width, left) for one in heading], [_placed(one, width, left) for one in cells]


def _placed(text: str, width: int, left: bool) -> str:
    return text.ljust(width) if left else text.rjust(width)


def cell(value: object) -> str:
    """A value with three digits, which is what two measurements have in common; counts in full."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1e}" if abs(value) < 1e-2 else f"{value:.3g}"
