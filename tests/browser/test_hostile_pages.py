"""Texts that try to be more than text, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser.chromium import Browser
from tests.report.conftest import LONG, NASTY


@pytest.fixture
def page(browser: Browser, pages: dict[str, Path]) -> Browser:
    """The page whose texts are hostile."""
    browser.open(pages["hostile"], width=360)
    return browser


def test_nothing_came_alive(page: Browser) -> None:
    """No script, picture, heading or link is there that the page itself has not, and none ran."""
    assert (
        page.ask("return document.querySelectorAll('script, img, iframe, object, embed, b, style ~ style').length") == 0
    )
    assert page.ask("return document.querySelectorAll('h1').length") == 1
    links = page.ask(
        "return [...document.querySelectorAll('[href], [src]')].map((one) => one.getAttribute('href') || '')"
    )
    assert all(re.match("#|data:,$|$", link) for link in links)
    assert page.ask("return document.querySelectorAll('h1 *:not(bdi)').length") == 0
    assert page.messages() == []


def test_shown_letter_by_letter(page: Browser) -> None:
    """The title reads as its author wrote it, less what cannot be seen and what would turn other text around."""
    shown = re.sub("[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+", " ", NASTY)
    assert page.ask("return document.querySelector('h1').textContent") == shown
    # A browser takes spaces together in the title of its window.
    assert page.ask("return document.title").split() == shown.split()
    assert page.ask("return document.querySelector('h1').innerText").split() == shown.split()


def test_long_texts_stay_in_their_box(page: Browser) -> None:
    """Thousands of letters without a space are broken into lines of the box that they stand in."""
    boxes = page.ask(
        """return [...document.querySelectorAll("bdi")].filter((one) => one.textContent.startsWith(arguments[0]))
        .map((one) => [one.getBoundingClientRect().right, one.closest(".card").getBoundingClientRect().right])""",
        LONG[:100],
    )
    assert len(boxes) == 2
    assert all(right <= box for right, box in boxes)


def test_right_to_left_texts_turn_nothing_else(page: Browser) -> None:
    """A Hebrew source runs from right to left within itself; what the page says before it stays before it."""
    places = page.ask("""
        const row = [...document.querySelectorAll(".card .pairs > div")].find((one) => one.textContent.includes("מ"));
        const [own, foreign] = [row.querySelector("dt"), row.querySelector("bdi")];
        foreign.textContent = "מימין לשמאל (12)";
        const letters = (node) => {
          const range = document.createRange();
          return [...node.data].map((_, place) => {
            range.setStart(node, place);
            range.setEnd(node, place + 1);
            return range.getBoundingClientRect().left;
          });
        };
        const isolated = getComputedStyle(foreign).unicodeBidi;
        return { isolated, own: letters(own.firstChild), foreign: letters(foreign.firstChild) };
    """)
    assert places["isolated"] == "isolate"
    assert places["own"] == sorted(places["own"])
    assert places["foreign"][0] > places["foreign"][5]
    assert min(places["foreign"]) > max(places["own"])
