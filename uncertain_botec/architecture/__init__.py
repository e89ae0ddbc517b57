"""What a model is made of, and the exact counts that follow from it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from uncertain_botec.architecture.config import from_config, read_config
from uncertain_botec.architecture.errors import ArchitectureError
from uncertain_botec.architecture.layers import Attention, LayerGroup, Mlp
from uncertain_botec.architecture.network import Network
from uncertain_botec.architecture.shape import SHAPE
from uncertain_botec.architecture.transformer import Component, Transformer

if TYPE_CHECKING:
    from uncertain_botec.architecture.table import ArchitectureTable, NetworkTable, TransformerTable, from_table

__all__ = [
    "SHAPE",
    "ArchitectureError",
    "ArchitectureTable",
    "Component",
    "Network",
    "NetworkTable",
    "Transformer",
    "TransformerTable",
    "counted_names",
    "from_config",
    "from_table",
    "read_config",
]

_TABLES = ("ArchitectureTable", "NetworkTable", "TransformerTable", "from_table")


def __getattr__(name: str) -> Any:
    # Tables are checked by pydantic, which counting does without.
    if name not in _TABLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.table"), name)


def counted_names() -> frozenset[str]:
    """The names of everything that an architecture gives, asked of the smallest ones there are."""
    block = LayerGroup(1, Attention(1, 1, 1), Mlp(1, gated=False))
    transformer = Transformer(1, 1, (block,), tied_embeddings=False, sequence_length=1)
    return frozenset(transformer.quantities("full") | Network((1, 1)).quantities())
