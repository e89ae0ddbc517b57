"""The page: one file that is whole, reads itself aloud, and lets nothing in."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest

from tests.report.conftest import LONG, NASTY
from tests.report.pages import Page, read
from uncertain_botec import Report
from uncertain_botec.plots import DARK, LIGHT
from uncertain_botec.report import html
from uncertain_botec.report.blocks import Section, Table, foreign, plain
from uncertain_botec.report.html import inline
from uncertain_botec.report.words import capital


@pytest.fixture(scope="module")
def page(report: Report) -> Page:
    """Of the shipped run."""
    return read(report.html)


def test_nothing_but_the_page(report: Report, page: Page) -> None:
    """There is no script, nothing is fetched, and a policy forbids both."""
    names = {element.name for element in page.elements}
    assert not names & {"script", "iframe", "object", "embed", "img", "form", "base"}
    for element in page.elements:
        assert not [key for key in element.attributes if key.startswith("on")]
        for key in ("href", "src", "xlink:href", "action"):
            assert re.match("#|data:,$|$", element.attributes.get(key, "")), element
    assert not re.search(r"url\((?!#)|@import", report.html)
    (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy.attributes["content"].startswith("default-src 'none'")
    assert "script-src" not in policy.attributes["content"]


def test_ids_and_links(page: Page) -> None:
    """Every id is there once, and every link and label leads to one."""
    counts = Counter(element.attributes["id"] for element in page.elements if "id" in element.attributes)
    assert max(counts.values()) == 1
    for element in page.elements:
        targets = element.attributes.get("aria-labelledby", "").split()
        targets += [element.attributes[key][1:] for key in ("href", "xlink:href") if key in element.attributes]
        assert {target for target in targets if not target.startswith("ata:")} <= counts.keys()


def test_structure(report: Report, page: Page) -> None:
    """There is one h1, a heading for each section, which the contents list, and no level is left out."""
    assert [one.text for one in page.all("h1")] == [report.title]
    assert page.all("html")[0].attributes["lang"] == "en"
    titles = [section.title for section in report.sections]
    assert [one.text for one in page.all("h2")] == ["Contents", *titles]
    assert [one.text for one in page.all("a")][1:] == titles
    levels = [int(one.name[1]) for one in page.elements if re.fullmatch("h[1-6]", one.name)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for table in page.all("table"):
        inside = [one for one in page.elements if table in one.parents]
        assert inside[0].name == "caption"
        assert {one.attributes.get("scope") for one in inside if one.name == "th"} <= {"col", "row", "rowgroup"}
        assert all(one.text for one in inside if one.name == "th")


def test_figures(report: Report, page: Page) -> None:
    """Every figure is there with its title and its description, and a caption where it stands alone."""
    shown = page.all("svg", role="img")
    assert [one.attributes["id"] for one in shown] == [figure.name for figure in report.figures]
    descriptions = [one.text for one in page.all("desc")]
    assert descriptions == [figure.alt for figure in report.figures]
    assert all(one.text for one in page.all("figcaption"))
    assert {"s-curve-cost", "s-curve-training-time", "joint", "tornado-cost", "information-cost", "prior-mfu"} <= {
        one.attributes["id"] for one in shown
    }


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast(report: Report) -> None:
    """Text has at least the contrast 4.5 that WCAG 2.2 asks for at level AA, light and dark, on paper and on boxes."""
    schemes = re.findall(r"color-scheme: (light|dark);(.*?)}", report.html, re.DOTALL)
    assert [name for name, _ in schemes] == ["light", "dark"]
    for (name, rules), palette in zip(schemes, (LIGHT, DARK), strict=True):
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", rules))
        assert colours["fig-paper"] == palette["paper"], name
        for text in ("fig-ink", "link", "quiet"):
            for ground in ("fig-paper", "soft"):
                assert _contrast(colours[text], colours[ground]) >= 4.5, (name, text, ground)


def test_hostile_texts_are_texts(hostile: Report) -> None:
    """HTML, Markdown and LaTeX in titles, sources, notes and paths are shown letter by letter."""
    page = read(hostile.html)
    names = {element.name for element in page.elements}
    assert not names & {"script", "img", "b", "iframe"}
    assert len(page.all("h1")) == 1
    shown = re.sub("[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+", " ", NASTY)
    titled = [one for one in page.all("bdi") if one.text == shown]
    # Title and run; the sources and notes of two inputs and the observed time; the correlation.
    assert len(titled) == 2 + 2 * 3 + 1
    assert any("a <b>&$x`|*[c](d).toml" in one.text for one in page.all("bdi"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", hostile.html)


def test_long_texts_are_cut_and_counted(hostile: Report) -> None:
    """Of ten thousand letters two thousand are shown, and how many more there are."""
    page = read(hostile.html)
    (source, note) = [one for one in page.all("dd") if one.text.startswith("WWW")]
    assert source.text == note.text == f"{LONG[:2000]} … (8,000 more characters)"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("-0.092", "−0.092"),
        ("8.2 - 8.4", "8.2 – 8.4"),
        ("-3 - -1", "−3 – −1"),
        ("2e-07", "2e-07"),
        ("10^-3", "10<sup>-3</sup>"),
        ("+1.29", "+1.29"),
    ],
)
def test_signs_of_numbers(cell: str, shown: str) -> None:
    """In a column of numbers a minus is a minus and a span has a dash; powers stay as they are."""
    table = Table("caption", ("name", "value"), "lr", (("one", cell),))
    page = html.page("title", [Section("only", "Only", (table,))], "made")
    assert f'<td class="number">{shown}</td>' in page


def test_plain_texts_keep_what_others_wrote() -> None:
    """Where nothing can be marked our own backticks go, and those of a title stay."""
    assert plain(f"the `name` of {foreign('a `b`')}") == "the name of a `b`"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("no budget", "No budget"), ("training_time is not computed", "training_time is not computed"), ("", "")],
)
def test_capitals(text: str, shown: str) -> None:
    """A sentence begins with a capital, a name as it is stated."""
    assert capital(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a `name_of_it` and b", "a <code>name_<wbr>of_<wbr>it</code> and b"),
        ("80 % of 5 million USD", "80&nbsp;% of 5&nbsp;million USD"),
        ("0.2 (0.04 to 0.4), P10 to P90", "0.2 (0.04&nbsp;to&nbsp;0.4), P10&nbsp;to&nbsp;P90"),
        ("5.4 × 10^4 FLOP", "5.4 × 10<sup>4</sup> FLOP"),
        ("a < b & c", "a &lt; b &amp; c"),
        (f"is {foreign('<b> `x` 80 % 10^4')}.", "is <bdi>&lt;b&gt; `x` 80 % 10^4</bdi>."),
        (f"{foreign('a')} {foreign('b')}", "<bdi>a</bdi> <bdi>b</bdi>"),
        ("\u2068 open", "open"),
    ],
)
def test_inline(text: str, shown: str) -> None:
    """Names are code and numbers keep their units; what others wrote is neither."""
    assert inline(text) == shown
