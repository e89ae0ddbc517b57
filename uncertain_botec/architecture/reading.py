"""A published `config.json`: read from disk, and asked for its sizes with every fault collected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from uncertain_botec.architecture.errors import ArchitectureError, shown
from uncertain_botec.architecture.shape import MOST, MOST_LAYERS

MOST_BYTES = 2**20

# Older model types have names of their own for what the newer ones agree on.
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model"),
    "num_hidden_layers": ("num_hidden_layers", "n_layer", "n_layers"),
    "num_attention_heads": ("num_attention_heads", "n_head", "n_heads"),
    "max_position_embeddings": ("max_position_embeddings", "n_positions"),
}


def read_config(path: Path) -> dict[str, Any]:
    """The content of a `config.json`, of at most 1 MiB.

    Raises:
        ArchitectureError: no file, not JSON, no JSON object, or a number that is none.
    """
    where = path.name

    def unreadable(message: str) -> ArchitectureError:
        return ArchitectureError("", f"{where}: {message}", "the config.json of a model", "name another file")

    def no_number(text: str) -> NoReturn:
        raise unreadable(f"it holds {text}, which is no number")

    try:
        if not path.is_file():
            raise unreadable("there is no such file")
        with path.open("rb") as file:
            # One byte more tells a file that is too long from one that just fits, however long it is.
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise unreadable("it is longer than 1 MiB")
        config = json.loads(content.decode("utf-8"), parse_constant=no_number)
    except ArchitectureError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise unreadable(f"it cannot be read as JSON ({type(error).__name__})") from error
    if not isinstance(config, dict):
        raise unreadable("it is not a JSON object")
    return config


class Reader:
    """Asks a configuration for sizes; a fault is noted and an innocent value given, so that reading goes on.

    Attributes:
        faults: what was found to be wrong.
        hidden_size, layers, heads: what every model type has.
    """

    def __init__(self, config: Mapping[str, Any], absent: Mapping[str, int]) -> None:
        self.config, self.absent = config, absent
        self.faults: list[ArchitectureError] = []
        self.hidden_size = self.size("hidden_size")
        self.layers = self.size("num_hidden_layers", low=0, high=MOST_LAYERS)
        self.heads = self.size("num_attention_heads")

    def has(self, key: str) -> bool:
        """Whether a key is there and not null."""
        return self.value(key) is not None

    def value(self, key: str) -> Any:
        """The value of a key, dotted where it is nested, or None."""
        found = {name: value for name in _ALIASES.get(key, (key,)) if (value := self._at(name)) is not None}
        if len({repr(value) for value in found.values()}) > 1:
            self.fault(key, f"{' and '.join(found)} contradict each other", "one value", "take all but one out")
        return next(iter(found.values()), None)

    def _at(self, name: str) -> Any:
        value: Any = self.config
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def size(self, key: str, *, low: int = 1, high: int = MOST, absent: int | None = None) -> int:
        """A whole number; what stands for a key that is not there, where the model type says what does."""
        value = self.value(key)
        if value is None:
            value = self.absent.get(key, absent)
        expected = f"a whole number from {low} to {high}"
        if value is None:
            self.fault(key, "a key is missing", expected, f"add {key}")
            return low
        if isinstance(value, bool) or not isinstance(value, int):
            self.fault(key, "this is not a whole number", expected, f"correct {key}", value)
            return low
        if not low <= value <= high:
            self.fault(key, "this number cannot be", expected, f"correct {key}", value)
            return low
        return value

    def flag(self, key: str, absent: bool) -> bool:
        """True or false."""
        value = self.value(key)
        if value is None:
            return absent
        if not isinstance(value, bool):
            self.fault(key, "this is neither true nor false", "true or false", f"correct {key}", value)
            return absent
        return value

    def even_head_size(self) -> int:
        """The hidden size shared out among the heads."""
        if self.hidden_size % self.heads and self.sound("hidden_size", "num_attention_heads"):
            message = f"hidden_size = {self.hidden_size} is not a multiple of num_attention_heads = {self.heads}"
            self.fault("num_attention_heads", message, f"a divisor of {self.hidden_size}", "correct one of them")
        return max(1, self.hidden_size // self.heads)

    def sound(self, *keys: str) -> bool:
        """Whether no fault was found in these keys, so that comparing them means something."""
        return not {*keys} & {fault.key for fault in self.faults}

    def fault(self, key: str, message: str, expected: str, fix: str, got: object = None) -> None:
        """Note a fault, once for each key."""
        if self.sound(key):
            text = None if got is None else shown(got)
            self.faults.append(ArchitectureError(key, message, expected, fix, got=text))
