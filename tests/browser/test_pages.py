"""Pages as a browser shows them: whole, in bounds, legible, on screens and on paper."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.browser.chromium import PAPER, Browser, pixels


class Holds(NamedTuple):
    """How much there is on a page at least, and how many sheets of paper it takes."""

    figures: int
    tables: int
    texts: int
    inks: int
    sheets: range


HOLDS = {
    "plain": Holds(10, 4, 300, 20, range(8, 15)),
    "many": Holds(10, 4, 300, 20, range(8, 31)),
    "hostile": Holds(10, 4, 300, 20, range(8, 17)),
    # Few figures, of a few lines each.
    "compared": Holds(4, 5, 300, 10, range(6, 9)),
    "swept": Holds(4, 2, 300, 10, range(4, 7)),
    "backtested": Holds(5, 3, 300, 100, range(6, 10)),
}
NAMES = list(HOLDS)
SCRIPTS = Path(__file__).parent

# What WCAG 2.2 asks for at level AA of text (1.4.3) and of what one has to see in a figure (1.4.11).
TEXT, INK = 4.5, 3.0
# Lines of a grid are there to be seen past; regions of the draws fade outwards, and beliefs have an outline. Cells of a
# surface are seen against each other within a frame, and what is around a line stands out from cells.
FAINT = re.compile(r"grid|line2d|patch|legend|density$|density-(80|95)$|cells$|halo$")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_opens_from_disk_without_a_network(name: str, scheme: str, browser: Browser, pages: dict[str, Path]) -> None:
    """Nothing but the file and its empty icon is asked for, and the console stays empty."""
    browser.open(pages[name], scheme=scheme)
    assert browser.ask("return document.readyState") == "complete"
    assert {one for one in browser.requests() if not one.startswith("data:")} == {pages[name].as_uri()}
    assert browser.messages() == []


@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_drawn(name: str, width: int, browser: Browser, pages: dict[str, Path]) -> None:
    """Each has a size and its proportions, shapes with a size of their own, and all of its texts within it."""
    browser.open(pages[name], width=width)
    figures = browser.ask("""
        return [...document.querySelectorAll("svg")].map((svg) => {
          const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
          const inside = (one) => {
            const own = one.getBoundingClientRect();
            const across = own.left > box.left - 1 && own.right < box.right + 1;
            return across && own.top > box.top - 1 && own.bottom < box.bottom + 1;
          };
          const sized = (one) => one.getBBox().width + one.getBBox().height > 0;
          const drawn = [...svg.querySelectorAll("path")].filter(sized);
          const texts = [...svg.querySelectorAll("text")];
          return {
            id: svg.id, width: box.width, height: box.height, ratio: view.width / view.height, drawn: drawn.length,
            texts: texts.length, clipped: texts.filter((one) => !inside(one)).map((one) => one.textContent),
          };
        })""")
    assert len(figures) == len({one["id"] for one in figures}) >= HOLDS[name].figures
    for one in figures:
        assert one["width"] > 150, one
        assert one["width"] / one["height"] == pytest.approx(one["ratio"], rel=0.01), one
        assert one["drawn"] > 3, one
        assert one["texts"] > 3, one
        assert one["clipped"] == [], one


@pytest.mark.parametrize("width", [320, 360, 800, 1400])
@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_no_wider_than_the_window(name: str, width: int, browser: Browser, pages: dict[str, Path]) -> None:
    """Nothing reaches beyond the window but what scrolls in a box of its own, which the keyboard reaches too."""
    browser.open(pages[name], width=width)
    beyond = browser.ask("""
        const wide = document.documentElement.clientWidth;
        return {
          page: document.documentElement.scrollWidth - wide,
          out: [...document.querySelectorAll("body *")].filter((one) =>
            !one.closest(".scroll > *, .skip, defs") && one.getBoundingClientRect().right > wide + 0.5
          ).map((one) => one.outerHTML.slice(0, 80)),
          boxes: [...document.querySelectorAll(".scroll")].filter((one) =>
            one.scrollWidth > one.clientWidth && (getComputedStyle(one).overflowX !== "auto" || one.tabIndex !== 0)
          ).length,
        }""")
    assert beyond == {"page": 0, "out": [], "boxes": 0}


@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("name", NAMES)
def test_tables_are_readable(name: str, width: int, browser: Browser, pages: dict[str, Path]) -> None:
    """Captions fit the window, columns of words are wide enough for words, and numbers stay in one line."""
    browser.open(pages[name], width=width)
    tables = browser.ask("""
        const lines = (cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return new Set([...range.getClientRects()].map((one) => Math.round(one.bottom / 8))).size;
        };
        return [...document.querySelectorAll("table")].map((table) => {
          const words = [...table.querySelectorAll("td:not(.number, .date), tbody th[scope=row]")];
          const numbers = [...table.querySelectorAll("td.number:not(:has(sup)), td.date")];
          return {
            caption: table.caption.textContent,
            beyond: table.caption.getBoundingClientRect().right - document.documentElement.clientWidth,
            broken: numbers.filter((one) => lines(one) > 1).length,
            narrow: words.filter((one) => one.textContent.length > 40 && one.clientWidth < 120).length,
            small: parseFloat(getComputedStyle(table.querySelector("td")).fontSize),
          };
        })""")
    assert len(tables) >= HOLDS[name].tables
    for one in tables:
        assert one["beyond"] <= 0, one
        assert (one["broken"], one["narrow"]) == (0, 0), one
        assert one["small"] >= 14, one


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_text_and_ink_are_legible(name: str, scheme: str, browser: Browser, pages: dict[str, Path]) -> None:
    """As the browser computes them, texts stand out from what is behind them by 4.5 and a figure's marks by 3."""
    browser.open(pages[name], scheme=scheme)
    found = browser.ask((SCRIPTS / "contrast.js").read_text("utf-8"))
    ground = browser.ask("return getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(27, 27, 27)"}[scheme]
    texts = [one for one in found if one["what"] == "text"]
    inks = [one for one in found if one["what"] == "ink" and not FAINT.search(one["name"])]
    assert len(texts) > HOLDS[name].texts
    assert len(inks) > HOLDS[name].inks
    assert [one for one in texts if one["contrast"] < TEXT] == []
    assert [one for one in inks if one["contrast"] < INK] == []


def test_dark_figures_are_dark(browser: Browser, pages: dict[str, Path]) -> None:
    """The same figure has other colours on a dark page than on a light one."""
    colours = []
    for scheme in ("light", "dark"):
        browser.open(pages["plain"], scheme=scheme)
        colours.append(browser.ask("return getComputedStyle(document.querySelector('#s-curve-cost text')).fill"))
    assert colours == ["rgb(34, 34, 34)", "rgb(238, 238, 238)"]


# --- paper ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", list(PAPER))
@pytest.mark.parametrize("name", NAMES)
def test_figures_fit_a_sheet(name: str, paper: str, browser: Browser, pages: dict[str, Path]) -> None:
    """At the width of the sheet each figure with its caption fits between the margins, and may not be broken."""
    width, height = PAPER[paper]
    browser.open(pages[name], width=round(pixels(width - 30)), media="print")
    found = browser.ask("""
        const room = document.documentElement.clientWidth;
        const beyond = (one) => one.getBoundingClientRect().right > room + 0.5;
        return {
          page: document.documentElement.scrollWidth - room,
          tables: [...document.querySelectorAll("table")].filter(beyond).length,
          figures: [...document.querySelectorAll("figure, .card svg")].map((one) => {
            const box = one.getBoundingClientRect(), svg = one.matches("svg") ? one : one.querySelector("svg");
            return {
              id: svg.id, height: box.height, right: svg.getBoundingClientRect().right - room,
              inside: getComputedStyle(one).breakInside,
            };
          }),
        }""")
    assert (found["page"], found["tables"]) == (0, 0)
    for one in found["figures"]:
        assert one["inside"] == "avoid", one
        assert one["right"] <= 0.5, one
        assert one["height"] < pixels(height - 32) * 0.6, one


@pytest.mark.parametrize("paper", list(PAPER))
@pytest.mark.parametrize("name", NAMES)
def test_prints(name: str, paper: str, browser: Browser, pages: dict[str, Path]) -> None:
    """The PDF has about so many sheets, all of that paper, and figures in it as lines, not as pictures."""
    browser.open(pages[name])
    pdf = browser.printed(paper)
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", _objects(pdf))
    assert len(boxes) in HOLDS[name].sheets
    points = [side / 25.4 * 72 for side in PAPER[paper]]
    for box in boxes:
        assert [float(side) for side in box] == pytest.approx(points, abs=1)
    assert b"/Subtype /Image" not in _objects(pdf)


def _objects(pdf: bytes) -> bytes:
    """What a PDF says of its objects, those in compressed streams too."""
    streams = re.findall(rb"/Type /ObjStm.*?stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    return pdf + b"".join(map(zlib.decompress, streams))


# --- barriers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("name", NAMES)
def test_no_barriers(name: str, width: int, scheme: str, axe: str, browser: Browser, pages: dict[str, Path]) -> None:
    """axe-core finds nothing against WCAG or good practice that it calls more than minor."""
    browser.open(pages[name], width=width, scheme=scheme)
    browser.ask(axe)
    found = browser.ask_later("axe.run().then(arguments[arguments.length - 1])")
    assert len(found["passes"]) > 20
    assert [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found["violations"]] == []
