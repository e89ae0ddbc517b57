"""What can be wrong with a stated architecture."""

from __future__ import annotations

import json
from collections.abc import Sequence


class ArchitectureError(ValueError):
    """A table or configuration that describes no model that can be counted.

    Attributes:
        key: the key at fault, dotted where it is nested, or "" for the whole.
        message: what is wrong, in one sentence without a full stop.
        expected: what would have been accepted.
        fix: what to write instead.
        got: the value found, or None where there is none.
        others: further faults that the same reading found.
    """

    def __init__(
        self,
        key: str,
        message: str,
        expected: str,
        fix: str,
        *,
        got: str | None = None,
        others: Sequence[ArchitectureError] = (),
    ) -> None:
        self.key, self.message, self.expected, self.fix, self.got = key, message, expected, fix, got
        self.others = tuple(others)
        super().__init__(message)

    @property
    def all(self) -> tuple[ArchitectureError, ...]:
        """Itself and the others."""
        return (self, *self.others)

    def __str__(self) -> str:
        return "\n".join(
            f"{fault.key or 'architecture'}: {fault.message}; expected {fault.expected}; {fault.fix}"
            for fault in self.all
        )


def raise_faults(faults: Sequence[ArchitectureError]) -> None:
    """Raise the first fault with the others attached, if there are any."""
    if faults:
        first = faults[0]
        raise ArchitectureError(
            first.key, first.message, first.expected, first.fix, got=first.got, others=tuple(faults[1:])
        )


def shown(value: object, most: int = 60) -> str:
    """A value as it is written in a file, cut short where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else f"{text[: most - 3]}..."
