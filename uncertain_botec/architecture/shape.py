"""Sizes: the largest that are read, and the names of those inside a layer, which only formulas of architecture take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from uncertain_botec.quantities import Quantity

MOST_LAYERS = 10_000
MOST = 10**9


def _size(name: str, meaning: str, example: str, low: float = 1.0, high: float = math.inf) -> Quantity:
    return Quantity(name, "count", meaning, example, low=low, high=high, open="")


_SHAPE = (
    _size("kv_heads", "heads of keys and values of a layer", "8"),
    _size("head_size", "width of one attention head", "128"),
    _size("q_lora_rank", "latent width of queries in latent attention", "1536"),
    _size("kv_lora_rank", "latent width of keys and values in latent attention", "512"),
    _size("nope_head_size", "a head's position-free part of queries and keys in latent attention", "128"),
    _size("rope_head_size", "the position-dependent part of queries and keys in latent attention", "64"),
    _size("value_head_size", "width of one head's values in latent attention", "128"),
    _size("mlp_size", "width inside a dense layer's MLP", "28672"),
    _size("mlp_matrices", "matrices of an MLP: 3 if it is gated, else 2", "3", low=2.0, high=3.0),
    _size("moe_layers", "layers whose MLP is a mixture of experts", "58", low=0.0),
    _size("experts", "routed experts of a layer", "256"),
    _size("expert_size", "width inside one routed expert", "2048"),
    Quantity("attention_window", "tokens", "tokens that a token may attend to, itself included", "4096"),
    Quantity("attention_parameters", "parameters", "weights of one layer's attention projections", '"151e6 parameter"'),
    Quantity("mla_parameters", "parameters", "weights of one layer's latent attention", '"187e6 parameter"'),
    Quantity("mlp_parameters", "parameters", "weights of one dense layer's MLP", '"705e6 parameter"'),
    Quantity("router_parameters", "parameters", "weights of one layer's router", '"1.8e6 parameter"'),
)

SHAPE: Mapping[str, Quantity] = MappingProxyType({quantity.name: quantity for quantity in _SHAPE})
