"""What a report is made of: sections of plain blocks, which know nothing of HTML or Markdown.

In a block's texts `backticks` stand around names, and `foreign` around what somebody else wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from uncertain_botec.plots import Figure
from uncertain_botec.plots.figure import printable

OPEN, CLOSE = "\u2068", "\u2069"
"""Unicode's first strong isolate and its end: what is between them cannot turn the text around it."""

FOREIGN = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")

_LONG = 2000


def foreign(text: str, most: int = _LONG) -> str:
    """A text of somebody else's, as one line to be shown letter by letter; what is beyond `most` is counted only."""
    text = printable(text)
    if len(text) > most:
        text = f"{text[:most].rstrip()} … ({len(text) - most:,} more characters)"
    return f"{OPEN}{text}{CLOSE}"


def plain(text: str) -> str:
    """A block's text without its marks, for where nothing can be marked."""
    parts = FOREIGN.split(text)
    return "".join(one if place % 2 else one.replace("`", "") for place, one in enumerate(parts))


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; the answer itself stands out."""

    text: str
    lead: bool = False


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Pairs:
    """Subjects and what there is to say of each."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Tile:
    """One number to be seen at a glance: what it is, the number, and a word more."""

    label: str
    value: str
    detail: str


@dataclass(frozen=True)
class Tiles:
    """Numbers side by side."""

    items: tuple[Tile, ...]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        caption: what it shows.
        columns: their headings.
        align: a letter for each column: "l" for words, "r" for numbers, "d" for dates and what else stays
            in one line.
        rows: of cells, the first of which names the row; a row of one cell is the title of those that follow.
    """

    caption: str
    columns: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A figure and what to see in it."""

    figure: Figure
    caption: str


@dataclass(frozen=True)
class Card:
    """A small figure beside what there is to say of it."""

    title: str
    text: str
    figure: Figure
    pairs: tuple[tuple[str, str], ...]


Block = Paragraph | Heading | Points | Pairs | Tiles | Table | Picture | Card


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes:
        name: unique, for links.
        title: its heading.
        blocks: in order.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]


def figures_of(sections: Sequence[Section]) -> Iterator[Figure]:
    """Every figure, in order."""
    for section in sections:
        for block in section.blocks:
            if isinstance(block, Picture | Card):
                yield block.figure
