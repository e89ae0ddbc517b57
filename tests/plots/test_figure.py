"""A figure as a value: the same bytes each time, fit for a page, and safe from what is written in it."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import matplotlib as mpl
import pytest

from tests.plots.svg import LINK, NAMESPACE, root, words
from uncertain_botec import Draws, Sensitivity, plots, summarize
from uncertain_botec.plots.figure import DARK, LIGHT, elided, printable, rendered

HOSTILE = 'a $x_1^{2}$ & <b>"b"</b> \\frac{1}{2} id="x" fill: #222222 \x00\x1b\u202e\ud800\n中'
TITLE = 'a $x_1^{2}$ & <b>"b"</b> \\frac{1}{2} id="x" fill: #222222  ? 中'


def _said(text: str) -> plots.Figure:
    """A figure that is named, described and labelled so."""

    def draw(canvas: Any) -> None:
        axes = canvas.add_axes((0.2, 0.2, 0.7, 0.7))
        axes.plot([1, 2], [1, 2], "o-", color=LIGHT["blue"], label=printable(text))
        axes.set_xlabel(printable(text))
        axes.legend()

    return rendered(text, text, text, draw, (3, 2))


@pytest.fixture(scope="module")
def figures(draws: Draws, study: Sensitivity) -> list[plots.Figure]:
    """One of each, as a report has them."""
    return _report(draws, study)


def _report(draws: Draws, study: Sensitivity) -> list[plots.Figure]:
    summary, grid = summarize(draws), [1.0, 2.0, 4.0]
    return [
        plots.s_curve(draws, "cost", limit=6e6, confidence=0.8, point=4.7e6),
        plots.s_curve(draws, "training_time", limit=60.0),
        plots.joint(draws, budget=6e6, deadline=60.0, confidence=0.8),
        plots.bill({"cost": summary.outputs["cost"]}),
        plots.tornado(study),
        plots.shares(study),
        plots.value_of_information(study),
        *(plots.prior(one) for one in draws.scenario.inputs.values()),
        plots.s_curves([("one", draws), (HOSTILE * 9, draws)], "cost"),
        plots.sweep_lines(grid, grid, grid, grid, x_label=HOSTILE, y_label="y"),
        plots.surface(grid, grid, [grid, grid, grid], x_label=HOSTILE, y_label="y", z_label="z", level=2.0),
        plots.pareto(["a", HOSTILE, "c"], grid, grid[::-1], x_label="x", y_label=HOSTILE),
    ]


def test_figures_are_the_same_bytes_each_time(draws: Draws, study: Sensitivity, figures: list[plots.Figure]) -> None:
    """Drawing again gives equal SVG and PNG, whatever the user's own settings are."""
    with mpl.rc_context({"font.size": 20, "lines.linewidth": 9, "svg.fonttype": "path", "axes.grid": True}):
        again = _report(draws, study)
    assert again == figures
    assert not any(re.search(r"\b20\d\d-\d\d-\d\d", one.svg) for one in figures)


def test_a_report_is_drawn_in_seconds(draws: Draws, study: Sensitivity, figures: list[plots.Figure]) -> None:
    """All figures of a report take less than three seconds of one core, once matplotlib is loaded."""
    start = process_time()
    _report(draws, study)
    assert process_time() - start < 3


def test_figures_are_well_formed_and_described(figures: list[plots.Figure]) -> None:
    """Every SVG parses, is an image to a screen reader, and has its title and description inside."""
    for one in figures:
        element = root(one)
        assert element.attrib["role"] == "img"
        title, description = (element.find(f"svg:{tag}", NAMESPACE) for tag in ("title", "desc"))
        assert title is not None
        assert description is not None
        assert (title.text, description.text) == (one.title, one.alt)
        assert element.attrib["aria-labelledby"] == f"{title.attrib['id']} {description.attrib['id']}"
        assert len(one.alt) > len(one.title) > 3
        assert "nan" not in one.alt


def test_figures_share_a_page(figures: list[plots.Figure]) -> None:
    """No two elements of all figures have one id, every reference is to one of its own, and no rule reaches beyond."""
    names = [one.name for one in figures]
    assert len({*names}) == len(names)
    seen: set[str] = set()
    for one in figures:
        elements = list(root(one).iter())
        ids = [element.attrib["id"] for element in elements if "id" in element.attrib]
        assert len({*ids}) == len(ids)
        assert all(identity == one.name or identity.startswith(f"{one.name}-") for identity in ids)
        referred = [element.attrib[LINK].removeprefix("#") for element in elements if LINK in element.attrib]
        referred += re.findall(r"url\(#([^)]*)\)", one.svg)
        assert {*referred} <= {*ids}
        assert not seen & {*ids}
        seen |= {*ids}
        assert "<style" not in one.svg
        assert "<script" not in one.svg


def test_colours_follow_the_page(figures: list[plots.Figure]) -> None:
    """Every colour in a style is a variable with its fallback, those of a colour scale aside; there is no ground."""
    assert LIGHT.keys() == DARK.keys()
    for one in figures:
        styles = [element.attrib["style"] for element in root(one).iter() if "style" in element.attrib]
        for style in styles if one.name != "surface" else []:
            hard = re.findall(r"(fill|stroke): (#\w+)", style)
            assert len(hard) == style.count("var(--fig-")
            assert {colour for _, colour in hard} <= {*LIGHT.values()}
        assert "var(--fig-ink, #222222)" in one.svg
        page = root(one).find(f"svg:g[@id='{one.name}-figure_1']/svg:g[@id='{one.name}-patch_1']/svg:path", NAMESPACE)
        assert page is None or "fill: none" in page.attrib["style"]


def test_text_stays_text(figures: list[plots.Figure]) -> None:
    """Words are text in the reader's own sans-serif, of 9 points, and none is drawn as outlines."""
    for one in figures:
        fonts = re.findall(r"font[^;\"]*", " ".join(text.attrib["style"] for text in _texts(one)))
        assert {*fonts} <= {"font-size: 9px", "font-family: sans-serif", "font: 9px sans-serif"}
        assert "DejaVu" not in one.svg


def _texts(figure: plots.Figure) -> Any:
    return root(figure).iterfind(".//svg:text", NAMESPACE)


def test_pictures_are_as_large_as_they_say(figures: list[plots.Figure]) -> None:
    """PNG has 200 pixels an inch, where a CSS pixel is a 96th; SVG has the stated size."""
    for one in figures:
        assert one.png.startswith(b"\x89PNG\r\n\x1a\n")
        size = struct.unpack(">II", one.png[16:24])
        assert size == pytest.approx((one.width / 96 * 200, one.height / 96 * 200), abs=1.1)
        assert root(one).attrib["width"] == str(one.width)
        assert abs(int(root(one).attrib["height"]) - one.height) <= 1


def test_hostile_text_is_text() -> None:
    """Dollars, markup, control characters and halves of characters are neither obeyed nor a failure."""
    figure = _said(HOSTILE)
    assert figure.title == figure.alt == TITLE
    assert words(figure).count(TITLE) == 2
    assert re.fullmatch(r"[A-Za-z0-9-]+", figure.name)
    assert rendered("", "", "", lambda _: None, (1, 1)).name == "figure"


@pytest.mark.parametrize(("most", "expected"), [(40, "price_per_accelerator_hour"), (11, "price_p…our"), (2, "p…")])
def test_long_names_are_elided(most: int, expected: str) -> None:
    """A name that is too long keeps its beginning and its end."""
    assert elided("price_per_accelerator_hour", most) == expected
    assert len(elided("x" * 10_000, most)) <= most


@pytest.mark.parametrize("function", [elided, printable])
def test_texts_are_one_line(function: Callable[[str], str]) -> None:
    """Breaks of a line are spaces."""
    assert function("a\r\nb\u2028c") == "a b c"


def test_matplotlib_waits_until_something_is_drawn() -> None:
    """Importing the figures loads neither matplotlib nor JAX."""
    code = "import uncertain_botec.plots, sys; print([name for name in ('matplotlib', 'jax') if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout.strip() == "[]"
