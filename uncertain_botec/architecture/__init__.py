"""What a model is made of, and the exact counts that follow from it."""

from uncertain_botec.architecture.config import from_config, read_config
from uncertain_botec.architecture.errors import ArchitectureError
from uncertain_botec.architecture.network import Network
from uncertain_botec.architecture.shape import SHAPE
from uncertain_botec.architecture.table import ArchitectureTable, NetworkTable, TransformerTable, from_table
from uncertain_botec.architecture.transformer import Component, Transformer

__all__ = [
    "SHAPE",
    "ArchitectureError",
    "ArchitectureTable",
    "Component",
    "Network",
    "NetworkTable",
    "Transformer",
    "TransformerTable",
    "from_config",
    "from_table",
    "read_config",
]
