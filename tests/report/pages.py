"""What a test sees of a page: its elements, and the text in each."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

# Elements without an end.
_VOID = frozenset({"meta", "link", "br", "wbr", "hr", "img"})


@dataclass(eq=False)
class Element:
    """One element with all text below it."""

    name: str
    attributes: dict[str, str]
    parents: tuple[Element, ...]
    text: str = ""


@dataclass
class Page:
    """All elements in order."""

    elements: list[Element] = field(default_factory=list)

    def all(self, name: str, **attributes: str) -> list[Element]:
        """The elements of a name, and with some attributes."""
        return [one for one in self.elements if one.name == name and attributes.items() <= one.attributes.items()]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs}, tuple(self.open))
        assert len(attrs) == len(element.attributes), f"an attribute of {tag} is there twice"
        self.page.elements.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.elements.append(Element(tag, {key: value or "" for key, value in attrs}, tuple(self.open)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> ends nothing"
        assert self.open[-1].name == tag, f"</{tag}> ends a {self.open[-1].name}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def read(text: str) -> Page:
    """The page of an HTML text in which every element that is begun ends where it should."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open, f"{reader.open[-1].name} has no end"
    return reader.page
