"""Where things stand in prior files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """Where something was stated: the file as the user knows it, the path inside it, and the file on disk."""

    where: str
    path: str
    file: Path

    def at(self, *keys: str) -> Place:
        """The place of a key below this one."""
        return Place(self.where, ".".join((self.path, *keys)), self.file)

    def item(self, index: int) -> Place:
        """The place of an item of this list."""
        return Place(self.where, f"{self.path}[{index}]", self.file)
