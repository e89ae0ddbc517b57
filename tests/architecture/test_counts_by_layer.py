"""Counts against an independent walk over every tensor and every matrix product, on random architectures."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layer_walk import active_parameters, all_tensors, forward_flop, kept_numbers

from uncertain_botec.architecture.table import from_table
from uncertain_botec.architecture.transformer import Transformer

small = st.integers(1, 5)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """An `[architecture]` table with every key that says something stated."""
    layers = draw(st.integers(0, 5))
    table: dict[str, Any] = {
        "layers": layers,
        "hidden_size": draw(st.integers(1, 12)),
        "vocabulary_size": draw(st.integers(1, 30)),
        "sequence_length": draw(st.integers(1, 9)),
        "tied_embeddings": draw(st.booleans()),
        "mlp": draw(st.sampled_from(["gated", "plain"])),
        "norm": draw(st.sampled_from(["rms", "layer", "none"])),
        "norms_per_layer": draw(st.integers(0, 4)),
    }
    table["learned_positions"] = draw(st.sampled_from([0, table["sequence_length"], 20]))
    if draw(st.booleans()):
        table |= {key: draw(small) for key in ("attention_heads", "kv_lora_rank", "nope_head_size", "rope_head_size")}
        table |= {"q_lora_rank": draw(st.integers(0, 5)), "value_head_size": draw(small)}
        table |= {"biases": draw(st.sampled_from(["none", "attention", "all"])), "qk_norm": "none"}
    else:
        table["kv_heads"] = draw(st.integers(1, 3))
        table["attention_heads"] = table["kv_heads"] * draw(st.integers(1, 3))
        table["head_size"] = draw(small)
        table["biases"] = draw(st.sampled_from(["none", "qkv", "attention", "all"]))
        table["qk_norm"] = draw(st.sampled_from(["none", "head", "width"]))
    if draw(st.booleans()):
        table |= {"attention_window": draw(st.integers(1, 12)), "windowed_layers": draw(st.integers(0, layers))}
    if draw(st.booleans()):
        table["experts"] = draw(small)
        table["experts_per_token"] = draw(st.integers(1, table["experts"]))
        table |= {"expert_size": draw(small), "dense_layers": draw(st.integers(0, layers)), "moe_every": draw(small)}
        table["shared_experts"] = draw(st.integers(0, 2))
        if table["shared_experts"]:
            table["shared_expert_size"] = draw(small)
        first, every = table["dense_layers"], table["moe_every"]
        if first == 0 and (every == 1 or layers == 0):
            return table
    return table | {"mlp_size": draw(small)}


def _transformer(table: dict[str, Any]) -> Transformer:
    model = from_table(table)
    assert isinstance(model, Transformer)
    return model


@given(tables())
@settings(max_examples=300, deadline=None)
def test_every_parameter_is_counted_once(table: dict[str, Any]) -> None:
    """All, active and routed parameters are those of the tensors that a framework would allocate."""
    tensors = all_tensors(table)
    values = _transformer(table).quantities("causal")
    assert values["total_parameters"] == sum(tensor.size for tensor in tensors)
    assert values["parameters"] == active_parameters(table)
    assert values["expert_parameters"] == sum(tensor.size for tensor in tensors if tensor.expert is not None)


@given(tables())
@settings(max_examples=100, deadline=None)
def test_components_add_up(table: dict[str, Any]) -> None:
    """The lines that explain the count add up to it, and none has fewer copies than one."""
    model = _transformer(table)
    rows, values = model.components(), model.quantities("full")
    assert sum(row.parameters for row in rows) == values["total_parameters"]
    assert sum(row.active_parameters for row in rows) == values["parameters"]
    assert all(row.times >= 1 and 0 <= row.active_parameters <= row.parameters for row in rows)
    assert len({row.name for row in rows}) == len(rows)


@pytest.mark.parametrize("mask", ["full", "causal"])
@given(table=tables())
@settings(max_examples=150, deadline=None)
def test_forward_pass(mask: str, table: dict[str, Any]) -> None:
    """2 matmul_parameters + 4 attention_width attended_tokens is a token's share of all products of a forward pass."""
    values = _transformer(table).quantities(mask)
    token = 2 * values["matmul_parameters"] + 4 * values["attention_width"] * values["attended_tokens"]
    assert values["sequence_length"] * token == pytest.approx(forward_flop(table, mask), rel=1e-12)


@given(tables())
@settings(max_examples=100, deadline=None)
def test_cache_holds_what_is_projected(table: dict[str, Any]) -> None:
    """The key-value cache holds one token's keys and values, or its latent vector and shared key, in each layer."""
    names = ("kv_a",) if "kv_lora_rank" in table else ("k", "v")
    cached = sum(tensor.shape[0] for tensor in all_tensors(table) if tensor.name in names)
    assert _transformer(table).quantities("causal")["kv_width"] == cached


@given(tables())
@settings(max_examples=200, deadline=None)
def test_width_of_activations(table: dict[str, Any]) -> None:
    """Layers keep, on average, what the operations of their backward passes read; none keep nothing."""
    kept = [kept_numbers(table, layer) for layer in range(table["layers"])]
    mean = sum(kept) / len(kept) if kept else 0
    assert _transformer(table).quantities("causal")["activation_width"] == mean
