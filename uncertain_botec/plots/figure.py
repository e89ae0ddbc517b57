"""A figure as values: SVG that can stand in a page, light or dark, and PNG, the same bytes whenever it is drawn."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "ink": "#222222",
        "muted": "#666666",
        "grid": "#dddddd",
        "paper": "#ffffff",
        "blue": "#0072b2",
        "vermilion": "#d55e00",
        "green": "#009e73",
        "orange": "#e69f00",
        "sky": "#56b4e9",
        "purple": "#cc79a7",
    }
)
"""The colours of figures, those of data from Okabe and Ito's palette (Color Universal Design, 2008).

In SVG each is `var(--fig-NAME, COLOUR)`, so that the page a figure stands in may set `--fig-ink` and so on.
"""

DARK: Mapping[str, str] = MappingProxyType(
    {
        "ink": "#eeeeee",
        "muted": "#aaaaaa",
        "grid": "#444444",
        "paper": "#1b1b1b",
        "blue": "#4aa8e0",
        "vermilion": "#ff8a3d",
        "green": "#2cc79a",
        "orange": "#f2b53a",
        "sky": "#8fd0f5",
        "purple": "#e3a1c5",
    }
)
"""The same colours for a dark page."""

BACKED: Mapping[str, Any] = MappingProxyType({"facecolor": LIGHT["paper"], "alpha": 0.8, "linewidth": 0, "pad": 0.6})
"""The box behind a text that may lie over lines."""

TEXT = 9.0
"""Size of all text, in points."""

# It comes with matplotlib, so that a picture is the same on every machine; a page has its own.
FONT = "DejaVu Sans"

_PNG_DPI = 200
_SVG_DPI = 72
_CSS_DPI = 96

# All else is as matplotlib has it, whatever the user's own settings say.
_SETTINGS: Mapping[str, Any] = {
    "font.family": ["sans-serif"],
    "font.sans-serif": [FONT],
    "font.size": TEXT,
    "axes.labelsize": TEXT,
    "axes.titlesize": TEXT,
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "legend.fontsize": TEXT,
    "text.parse_math": False,
    "text.color": LIGHT["ink"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.edgecolor": LIGHT["muted"],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "xtick.labelcolor": LIGHT["ink"],
    "ytick.labelcolor": LIGHT["ink"],
    "svg.fonttype": "none",
    "svg.hashsalt": "uncertain-botec",
    "path.simplify": False,
}

_WINDOWS = (
    "backend",
    "backend_fallback",
    "docstring",
    "interactive",
    "keymap",
    "macosx",
    "timezone",
    "tk",
    "toolbar",
    "webagg",
)

# What XML 1.0 cannot hold, what would break a line, and what turns the direction of the text that follows.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff]+")


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        name: unique within a page, of letters, digits and hyphens; every id in the SVG starts with it.
        title: in a few words, for a caption. The picture itself does not show it.
        alt: what the figure says in a sentence or two, numbers and all.
        svg: an `<svg>` element without background, which may be put into HTML as it is or into a file.
        png: the same on white, with 200 pixels an inch.
        width, height: in CSS pixels, 96 an inch.
    """

    name: str
    title: str
    alt: str
    svg: str = field(repr=False)
    png: bytes = field(repr=False)
    width: int
    height: int

    def _repr_html_(self) -> str:
        return self.svg


def rendered(
    name: str, title: str, alt: str, draw: Callable[[Canvas], None], size: tuple[float, float] = (6.5, 3.6)
) -> Figure:
    """The figure that a function draws.

    Args:
        name: of the figure; what is not a letter or digit becomes a hyphen.
        title: in a few words.
        alt: what there is to see.
        draw: puts axes and all else on an empty canvas.
        size: width and height in inches.
    """
    from matplotlib import rc_context, rcParamsDefault
    from matplotlib.figure import Figure as Canvas

    name = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "figure"
    title, alt = printable(title), printable(alt)
    with rc_context(_settings(cast(Any, rcParamsDefault))), warnings.catch_warnings():
        # A letter that the font lacks is a box in PNG; a browser has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        canvas = Canvas(figsize=size)
        draw(canvas)
        svg, png = io.StringIO(), io.BytesIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        canvas.savefig(svg, format="svg", dpi=_SVG_DPI, metadata=nothing, transparent=True)
        canvas.savefig(png, format="png", dpi=_PNG_DPI, metadata={"Software": None}, facecolor=LIGHT["paper"])
    width, height = (round(side * _CSS_DPI) for side in size)
    return Figure(name, title, alt, _for_pages(svg.getvalue(), name, title, alt), png.getvalue(), width, height)


def _settings(defaults: Mapping[Any, Any]) -> Any:
    """The settings of a figure: matplotlib's defaults, less those that concern windows, and ours."""
    return {key: value for key, value in defaults.items() if key.split(".")[0] not in _WINDOWS} | dict(_SETTINGS)


def printable(text: str) -> str:
    """A text as one line that XML can hold."""
    kept = text.encode("utf-8", "replace").decode("utf-8")
    return _UNPRINTABLE.sub(" ", kept).strip()


def elided(text: str, most: int = 32) -> str:
    """A printable text of at most so many characters, its middle left out where it is longer."""
    text = printable(text)
    if len(text) <= most:
        return text
    end = (most - 1) // 3
    return f"{text[: most - 1 - end].rstrip()}…{text[len(text) - end :].lstrip()}"


# --- SVG --------------------------------------------------------------------------------------------------------------

_OPENING = re.compile(r"<svg\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")
_STYLE = re.compile(r"\s*<defs>\s*<style[^>]*>\*\{(?P<rules>[^}]*)\}</style>\s*</defs>")
_ID = re.compile(r'(?P<before>\bid="|href="#|url\(#)')
# A hundredth of a point is less than anybody sees.
_FINE = re.compile(r"(?<![\w.])\d+\.\d{3,}(?![\w.])")
_VARIABLE = {colour: f"var(--fig-{name}, {colour})" for name, colour in LIGHT.items()}
_COLOUR = re.compile(rf"(?P<what>fill|stroke): (?P<colour>{'|'.join(LIGHT.values())})\b")


def _for_pages(svg: str, name: str, title: str, alt: str) -> str:
    """What matplotlib wrote as an element that can share a page with others and be read aloud."""
    opening = _OPENING.search(svg)
    view = re.search(r'viewBox="([^"]*)"', opening[0]) if opening else None
    if opening is None or view is None:
        raise ValueError("no SVG was written")
    rest = svg[opening.end() :]
    # Its rule for all elements would hold for the page's too; what they inherit from the root is the figure's alone.
    style = _STYLE.search(rest)
    rest = _TAG.sub(lambda tag: _own_tag(tag[0], name), _STYLE.sub("", rest, count=1))
    width, height = (round(float(side) * _CSS_DPI / _SVG_DPI) for side in view[1].split()[2:])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" id="{name}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc" width="{width}" height="{height}" viewBox="{view[1]}" '
        f'style="{style["rules"] if style else ""}">\n<title id="{name}-title">{escape(title, quote=False)}</title>\n'
        f'<desc id="{name}-desc">{escape(alt, quote=False)}</desc>{rest.rstrip()}\n'
    )


def _own_tag(tag: str, name: str) -> str:
    """A tag with ids of this figure's own, the reader's font, and colours that a page may set."""
    tag = _ID.sub(rf"\g<before>{name}-", tag).replace(f"'{FONT}', ", "")
    tag = _FINE.sub(lambda found: f"{float(found[0]):.2f}", tag)
    # A viewer that knows no variables drops the second and keeps the first.
    return _COLOUR.sub(lambda found: f"{found[0]}; {found['what']}: {_VARIABLE[found['colour']]}", tag)
