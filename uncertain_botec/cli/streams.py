"""Standard output and error as they come: any encoding, a full disk, a reader that has gone."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from uncertain_botec.errors import BotecError

# What neither comes apart into plain letters nor is Greek.
_PLAIN = {
    "±": "+/-", "−": "-", "–": "-", "—": "-", "×": "x", "·": ".", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "∞": "inf",
    "→": "->", "←": "<-", "√": "sqrt", "∑": "sum", "‘": "'", "’": "'", "“": '"', "”": '"', "•": "*", "°": " degrees",
    "│": "|", "█": "#", "░": ".", "μ": "u",
}  # fmt: skip


class OutputError(BotecError):
    """Standard output that takes no more.

    Attributes:
        gone: whether nobody reads it any longer, which is no fault.
    """

    def __init__(self, error: OSError) -> None:
        self.gone = isinstance(error, BrokenPipeError)
        super().__init__(f"cannot write to standard output: {error.strerror}")


class _Output(io.TextIOWrapper):
    """Standard output whose own faults are told from those of other files."""

    def write(self, text: str) -> int:
        with _told():
            return super().write(text)

    def flush(self) -> None:
        with _told():
            super().flush()


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(error) from None


def prepare() -> None:
    """Have standard output and error take every text, and output tell what became of it."""
    codecs.register_error("plain", _plain)
    out = sys.stdout
    if out is None:
        raise OutputError(OSError(errno.EBADF, "it is closed"))
    # What somebody put in its place, such as a test or a notebook, is theirs.
    if out is sys.__stdout__ and isinstance(out, io.TextIOWrapper):
        encoding, by_line = out.encoding, out.line_buffering
        sys.stdout = _Output(out.detach(), encoding, "plain", line_buffering=by_line)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="plain")


def abandon() -> None:
    """Let go of what was not written, lest Python try again at exit and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def takes(text: str) -> bool:
    """Whether standard output has every letter of a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _plain(error: UnicodeError) -> tuple[str, int]:
    """What to write for letters that an encoding lacks: their nearest in ASCII."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_nearest, error.object[error.start : error.end])), error.end


def _nearest(letter: str) -> str:
    return "".join(map(_in_ascii, unicodedata.normalize("NFKD", letter))) or "?"


def _in_ascii(letter: str) -> str:
    if letter.isascii() or letter in _PLAIN:
        return _PLAIN.get(letter, letter)
    if unicodedata.combining(letter):
        return ""
    name = unicodedata.name(letter, "")
    return name.rpartition(" ")[2].lower() if name.startswith("GREEK SMALL LETTER") else "?"
