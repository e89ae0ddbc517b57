"""The Markdown, as a CommonMark reader with tables shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.report.conftest import NASTY
from tests.report.pages import Page, read
from uncertain_botec import Report
from uncertain_botec.report.blocks import Table, foreign, plain
from uncertain_botec.report.markdown import inline


def shown(text: str) -> Page:
    """What a reader makes of Markdown, links that are not written as such included."""
    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    return read(made.replace("<br />", "<br>").replace("<hr />", "<hr>"))


def test_it_says_what_the_page_says(report: Report) -> None:
    """Its headings, tables, cells and pictures are those of the sections."""
    page = shown(report.markdown)
    assert [one.text for one in page.all("h1")] == [report.title]
    assert [one.text for one in page.all("h2")] == [section.title for section in report.sections]
    blocks = [block for section in report.sections for block in section.blocks]
    tables = [block for block in blocks if isinstance(block, Table)]
    cells = [one.text.strip() for one in page.elements if one.name in ("th", "td")]
    said = [plain(cell) for table in tables for row in (table.columns, *_full(table)) for cell in row]
    assert cells == said
    assert [one.attributes["src"] for one in page.all("img")] == [f"figures/{one.name}.png" for one in report.figures]
    assert [one.attributes["alt"] for one in page.all("img")] == [figure.alt for figure in report.figures]


def _full(table: Table) -> list[tuple[str, ...]]:
    return [row if len(row) > 1 else (*row, *[""] * (len(table.columns) - 1)) for row in table.rows]


def test_pictures_are_beside_it(report: Report) -> None:
    """Every picture that it shows is a file."""
    folder = report.folder
    assert isinstance(folder, Path)
    for one in shown((folder / "report.md").read_text("utf-8")).all("img"):
        assert (folder / one.attributes["src"]).stat().st_size > 1000


def test_hostile_texts_are_texts(hostile: Report) -> None:
    """No tag, link, picture, heading or list of a hostile text is one."""
    page = shown(hostile.markdown)
    names = {element.name for element in page.elements}
    assert not names & {"script", "b", "del", "s", "a", "td/", "style", "blockquote", "pre"}
    assert len(page.all("h1")) == 1
    assert len(page.all("img")) == len(hostile.figures)
    title = re.sub("[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+", " ", NASTY)
    assert page.all("h1")[0].text == f"\u2068{title}\u2069"
    assert not page.all("em")


@pytest.mark.parametrize(
    "text",
    ["# h", "- x", "+ x", "1. x", "12) x", "> x", "--- ", "===", "=", "* x", "a_b_c", "_a_", "-3", "5.2", "~~a~~"],
)
def test_texts_begin_nothing(text: str) -> None:
    """Whatever a line begins with, it is a paragraph that says just that."""
    page = shown(inline(foreign(text)))
    assert [(one.name, one.text) for one in page.elements] == [("p", text.strip())]


@pytest.mark.parametrize(("text", "kept"), [("-3 and 5.2", "-3 and 5.2"), ("price_per_hour", "price_per_hour")])
def test_no_more_is_escaped_than_need_be(text: str, kept: str) -> None:
    """Numbers and names stay readable in the file itself."""
    assert inline(text) == kept
