"""The errors a user can cause: each says what was wrong, what was got, what is expected, where, and how to mend it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class BotecError(Exception):
    """Something the user can mend; the command line prints it without a traceback and exits with 2."""


class UsageError(BotecError):
    """An option or argument that cannot be used, such as zero draws or a folder that cannot be written."""


class SamplingError(BotecError):
    """Draws that cannot be used, such as an input column that is not finite."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong in a prior file: where it stands, what is wrong with it, and how to mend it.

    Attributes:
        message: what is wrong, in one sentence without a full stop.
        where: the file or option that holds it.
        path: its place inside the file, such as `$.inputs.mfu.p90`.
        got: the value found, as the user wrote it.
        expected: what would have been accepted.
        fix: what to write instead.
    """

    message: str
    where: str = ""
    path: str = "$"
    got: str | None = None
    expected: str | None = None
    fix: str | None = None

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.path}: {self.message}" if self.where else f"{self.path}: {self.message}"]
        for label, text in (("got", self.got), ("expected", self.expected), ("fix", self.fix)):
            if text is not None:
                lines.append(f"    {label + ':':<9} {text}")
        return "\n".join(map(_visible, lines))


def _visible(text: str) -> str:
    """A line without letters that cannot be seen, or that a terminal would obey: they are written as escapes."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


class PriorFileError(BotecError):
    """Every fault of a prior file and the files it includes, collected so that one reading mends them all."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class ElicitationError(BotecError):
    """Stated values that no member of the family can honour.

    Attributes:
        key: the key at fault inside the input's table, or "" for the table as a whole.
        got, expected, fix: as in `Fault`.
    """

    def __init__(
        self,
        message: str,
        *,
        key: str = "",
        got: str | None = None,
        expected: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.key, self.got, self.expected, self.fix = key, got, expected, fix
        super().__init__(message)
