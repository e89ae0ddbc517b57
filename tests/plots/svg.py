"""What a test sees of a figure's SVG: its words, and where its shapes are."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np

from uncertain_botec.plots import Figure

NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}
LINK = "{http://www.w3.org/1999/xlink}href"


def root(figure: Figure) -> ElementTree.Element:
    """The parsed element, whose source is our own."""
    return ElementTree.fromstring(figure.svg)  # noqa: S314


def words(figure: Figure) -> list[str]:
    """All that is written in the picture."""
    return ["".join(text.itertext()) for text in root(figure).iterfind(".//svg:text", NAMESPACE)]


def group(figure: Figure, name: str) -> ElementTree.Element | None:
    """The group that was given a name."""
    return root(figure).find(f".//svg:g[@id='{figure.name}-{name}']", NAMESPACE)


def corners(figure: Figure, name: str) -> np.ndarray:
    """The points of all paths in a group, shape (points, 2), y upwards."""
    found = group(figure, name)
    assert found is not None, name
    paths, offset = found.findall("svg:path", NAMESPACE), np.zeros(2)
    if not paths:
        # A path that is defined once, and used at one place.
        paths = found.findall(".//svg:path", NAMESPACE)
        (used,) = found.iterfind(".//svg:use", NAMESPACE)
        offset = np.array([used.attrib["x"], used.attrib["y"]], float)
    numbers = re.findall(r"-?\d+(?:\.\d+)?", " ".join(path.attrib["d"] for path in paths))
    return (np.array(numbers, float).reshape(-1, 2) + offset) * [1, -1]


def spot(figure: Figure, name: str) -> tuple[float, float]:
    """Where the one marker in a group is, y upwards."""
    found = group(figure, name)
    assert found is not None, name
    (used,) = found.iterfind(".//svg:use", NAMESPACE)
    return float(used.attrib["x"]), -float(used.attrib["y"])


def styles(figure: Figure, name: str) -> str:
    """The styles of all shapes in a group."""
    found = group(figure, name)
    assert found is not None, name
    return "; ".join(shape.attrib.get("style", "") for shape in found.iter())
