"""A report as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from html import escape
from itertools import count
from pathlib import Path

from uncertain_botec.plots import DARK, LIGHT, Figure
from uncertain_botec.plots.figure import printable
from uncertain_botec.report.blocks import (
    FOREIGN,
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
    plain,
)

# Nothing may be fetched, whatever a text says.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_KINDS = {"l": "", "r": ' class="number"', "d": ' class="date"'}

# A number stays in one line with what follows it, and the ends of a span with each other.
_TIED = re.compile(
    r"(?<=\d) (?=%|±|(?:thousand|million|billion|trillion|USD|days?|draws)\b|to P?-?\d)|(?<=\d to) (?=P?-?\d)"
)
_POWER = re.compile(r"\b10\^(-?\d+)")

# Between two numbers, and before one.
_TO = re.compile(r"(?<=\d) - (?=-?\d)")
_MINUS = re.compile(r"(?<![\w^-])-(?=\d)")

_CODE = re.compile(r"`([^`]*)`")


def page(title: str, sections: Sequence[Section], made_by: str) -> str:
    """The whole page.

    Args:
        title: of the scenario, as its author wrote it.
        sections: in order.
        made_by: the last line.
    """
    number = count(1)
    links = "".join(f'<li><a href="#section-{one.name}">{inline(one.title)}</a></li>' for one in sections)
    body = "\n".join(_section(one, number) for one in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escape(plain(title))}</title>
<style>
{_style()}
</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header>
<h1>{inline(title)}</h1>
</header>
<nav aria-labelledby="contents">
<h2 id="contents">Contents</h2>
<ol>{links}</ol>
</nav>
<main id="main">
{body}
</main>
<footer>
<p>{inline(made_by)}</p>
</footer>
</body>
</html>
"""


@cache
def _style() -> str:
    """The style sheet, with the colours that the figures have too."""

    def colours(palette: Iterable[tuple[str, str]]) -> str:
        return " ".join(f"--fig-{name}: {colour};" for name, colour in palette)

    sheet = Path(__file__).with_name("style.css").read_text("utf-8").strip()
    return sheet.replace("/* light */", colours(LIGHT.items())).replace("/* dark */", colours(DARK.items()))


def inline(text: str) -> str:
    """A block's text: names as code, foreign texts for themselves, everything escaped."""
    parts = FOREIGN.split(text)
    return "".join(f"<bdi>{_escaped(one)}</bdi>" if place % 2 else _own(one) for place, one in enumerate(parts))


def _own(text: str) -> str:
    parts = _CODE.split(text)
    return "".join(f"<code>{_code(one)}</code>" if place % 2 else _tied(one) for place, one in enumerate(parts))


def _tied(text: str) -> str:
    return _POWER.sub(r"10<sup>\1</sup>", _TIED.sub("&nbsp;", _escaped(text)))


def _escaped(text: str) -> str:
    """The text, its spaces at the ends kept: parts of a sentence are escaped one by one."""
    before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
    return escape(f"{before}{printable(text)}{after}") if text.strip(" ") else text


def _code(text: str) -> str:
    # A long name may go on in the next line after an underscore.
    return _escaped(text).replace("_", "_<wbr>")


# --- blocks -----------------------------------------------------------------------------------------------------------


def _section(section: Section, number: Iterator[int]) -> str:
    blocks = "\n".join(_block(one, number) for one in section.blocks)
    name = f"section-{section.name}"
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{inline(section.title)}</h2>\n{blocks}\n</section>'


def _block(block: Block, number: Iterator[int]) -> str:
    match block:
        case Paragraph(text, lead):
            return f'<p class="lead">{inline(text)}</p>' if lead else f"<p>{inline(text)}</p>"
        case Heading(text):
            return f"<h3>{inline(text)}</h3>"
        case Points(items):
            return "<ul>" + "".join(f"<li>{inline(one)}</li>" for one in items) + "</ul>"
        case Pairs(pairs):
            return _pairs(pairs)
        case Tiles(items):
            tiles = "".join(
                f"<div><dt>{inline(one.label)}</dt><dd><strong>{inline(one.value)}</strong>"
                f"<small>{inline(one.detail)}</small></dd></div>"
                for one in items
            )
            return f'<dl class="tiles">{tiles}</dl>'
        case Table():
            return _table(block, f"table-{next(number)}")
        case Picture(figure, caption):
            return f"<figure>{_picture(figure)}<figcaption>{inline(caption)}</figcaption></figure>"
        case Card(title, text, figure, pairs):
            return (
                f'<article class="card"><h4>{inline(title)}</h4><p>{inline(text)}</p>'
                f'<div class="beside">{figure.svg}{_pairs(pairs)}</div></article>'
            )


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<div><dt>{inline(subject)}</dt><dd>{inline(text)}</dd></div>" for subject, text in pairs)
    return f'<dl class="pairs">{items}</dl>'


def _picture(figure: Figure) -> str:
    """The figure, in a box of its own to scroll in where the screen is narrower than its text can be read."""
    return f'<div class="scroll" role="group" tabindex="0" aria-label="{escape(figure.title)}">{figure.svg}</div>'


def _table(table: Table, name: str) -> str:
    kinds = [_KINDS[one] for one in table.align]
    cells = zip(table.columns, kinds, strict=True)
    head = "".join(f'<th scope="col"{kind}>{inline(cell)}</th>' for cell, kind in cells)
    bodies: list[list[str]] = [[]]
    row = partial(_row, kinds=kinds)
    for one in table.rows:
        if len(one) == 1:
            bodies.append([])
        bodies[-1].append(row(one))
    body = "".join(f"<tbody>{''.join(some)}</tbody>" for some in bodies if some)
    return (
        f'<div class="scroll" role="group" tabindex="0" aria-labelledby="{name}"><table>'
        f'<caption id="{name}">{inline(table.caption)}</caption><thead><tr>{head}</tr></thead>{body}</table></div>'
    )


def _row(cells: Sequence[str], kinds: Sequence[str]) -> str:
    if len(cells) == 1:
        return f'<tr><th scope="rowgroup" colspan="{len(kinds)}">{inline(cells[0])}</th></tr>'
    first, *rest = zip(cells, kinds, strict=True)
    others = "".join(f"<td{kind}>{_number(cell) if kind == _KINDS['r'] else inline(cell)}</td>" for cell, kind in rest)
    return f'<tr><th scope="row"{first[1]}>{inline(first[0])}</th>{others}</tr>'


def _number(cell: str) -> str:
    """A number, or a span of two, with the signs that print has for them."""
    return inline(_MINUS.sub("−", _TO.sub(" – ", cell)))
