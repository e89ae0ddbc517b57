"""A report as Markdown (CommonMark with the tables of GitHub's)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from uncertain_botec.plots import Figure
from uncertain_botec.plots.figure import printable
from uncertain_botec.report.blocks import (
    CLOSE,
    FOREIGN,
    OPEN,
    Block,
    Card,
    Heading,
    Pairs,
    Paragraph,
    Picture,
    Points,
    Section,
    Table,
    Tiles,
)

FIGURES = "figures"
"""The folder of the pictures, beside the file."""

_CODE = re.compile(r"`([^`]*)`")
# What may begin or end something wherever it stands; an underscore within a word may not.
_SPECIAL = re.compile(r"[\\`*\[\]<|~$&]|(?<![^\W_])_|_(?![^\W_])")
# What begins a list, a heading, a quotation or a rule where it stands first.
_FIRST = re.compile(r"^(?P<before>\s*\d*)(?P<sign>[-+#.)](?=\s|$)|-(?=-)|#(?=#)|[=:>])")
_TURNING = frozenset({"R", "AL", "AN"})


def document(title: str, sections: Sequence[Section], made_by: str) -> str:
    """The whole file; the arguments are those of `html.page`."""
    parts = [
        f"# {inline(title)}",
        *(part for section in sections for part in _section(section)),
        "---",
        inline(made_by),
    ]
    return "\n\n".join(parts) + "\n"


def inline(text: str) -> str:
    """A block's text: names as code, everything else escaped."""
    parts = FOREIGN.split(text)
    return _guarded("".join(_foreign(one) if place % 2 else _own(one) for place, one in enumerate(parts)))


def _foreign(text: str) -> str:
    turning = any(unicodedata.bidirectional(letter) in _TURNING for letter in text)
    return f"{OPEN}{_escaped(text)}{CLOSE}" if turning else _escaped(text)


def _own(text: str) -> str:
    parts = _CODE.split(text)
    return "".join(f"`{one.replace('|', '')}`" if place % 2 else _escaped(one) for place, one in enumerate(parts))


def _escaped(text: str) -> str:
    before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
    return _SPECIAL.sub(r"\\\g<0>", f"{before}{printable(text)}{after}") if text.strip(" ") else text


def _guarded(line: str) -> str:
    """A line that begins no list, heading or rule."""
    return _FIRST.sub(r"\g<before>\\\g<sign>", line)


def _section(section: Section) -> Iterable[str]:
    yield f"## {inline(section.title)}"
    for block in section.blocks:
        yield _block(block)


def _block(block: Block) -> str:
    match block:
        case Paragraph(text, lead):
            return f"**{inline(text)}**" if lead else inline(text)
        case Heading(text):
            return f"### {inline(text)}"
        case Points(items):
            # Another sign than that of pairs, which would else be one list with these.
            return "\n".join(f"* {inline(one)}" for one in items)
        case Pairs(pairs):
            return _pairs(pairs)
        case Tiles(items):
            return _pairs((one.label, f"{one.value}, {one.detail}") for one in items)
        case Table():
            return _table(block)
        case Picture(figure, caption):
            return f"{_picture(figure)}\n\n{inline(caption)}"
        case Card(title, text, figure, pairs):
            return f"#### {inline(title)}\n\n{inline(text)}\n\n{_picture(figure)}\n\n{_pairs(pairs)}"


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- **{inline(subject)}**: {inline(text)}" for subject, text in pairs)


def _picture(figure: Figure) -> str:
    return f"![{_escaped(figure.alt)}]({FIGURES}/{figure.name}.png)"


def _table(table: Table) -> str:
    rules = ["---:" if one == "r" else "---" for one in table.align]
    rows = [(f"**{row[0]}**", *[""] * (len(rules) - 1)) if len(row) == 1 else row for row in table.rows]
    cells = [[_cell(one) for one in row] for row in rows]
    lines = [[_escaped(one) or " " for one in table.columns], rules, *cells]
    return "\n\n".join([f"**{inline(table.caption)}**", "\n".join(f"| {' | '.join(line)} |" for line in lines)])


def _cell(text: str) -> str:
    if text.startswith("**") and text.endswith("**"):
        return f"**{inline(text[2:-2])}**"
    return inline(text)
