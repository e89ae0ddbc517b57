"""Counts at the ends: no layer, one layer, all experts, windows as long as the sequence, unknown lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from uncertain_botec.architecture.shape import SHAPE
from uncertain_botec.architecture.table import from_table
from uncertain_botec.architecture.transformer import Transformer
from uncertain_botec.vocabulary import QUANTITIES

BASE = {"layers": 2, "hidden_size": 8, "attention_heads": 2, "mlp": "gated", "mlp_size": 24, "vocabulary_size": 50} | {
    "tied_embeddings": False,
    "sequence_length": 16,
}
EXPERTS = {"experts": 4, "experts_per_token": 2, "expert_size": 6}


def _transformer(**changes: Any) -> Transformer:
    table = {key: value for key, value in (BASE | changes).items() if value is not None}
    model = from_table(table)
    assert isinstance(model, Transformer)
    return model


def test_no_layers() -> None:
    """Without layers there are an embedding, a norm and a head, and attention has no width."""
    model = _transformer(layers=0)
    values = model.quantities("full")
    assert values["total_parameters"] == 50 * 8 + 8 + 50 * 8
    assert values["matmul_parameters"] == 50 * 8
    assert values["attention_width"] == values["kv_width"] == values["activation_width"] == values["layers"] == 0
    assert values["attended_tokens"] == 16
    assert [row.name for row in model.components()] == ["token embedding", "norms", "output head"]


def test_layers_are_alike() -> None:
    """Every further layer adds what the first one did."""
    counts = [_transformer(layers=layers).quantities("causal")["total_parameters"] for layers in (0, 1, 2, 7)]
    one = counts[1] - counts[0]
    assert one == 4 * 8 * 8 + 3 * 8 * 24 + 2 * 8
    assert counts[2] - counts[0] == 2 * one
    assert counts[3] - counts[0] == 7 * one


def test_tied_head_is_counted_once() -> None:
    """A tied head costs no parameters but the same products."""
    tied, untied = (_transformer(tied_embeddings=tied).quantities("full") for tied in (True, False))
    assert untied["total_parameters"] - tied["total_parameters"] == 50 * 8 == tied["output_head_parameters"]
    assert untied["matmul_parameters"] == tied["matmul_parameters"]


def test_all_experts_are_a_dense_model() -> None:
    """A token sent to all E experts of width f takes what an MLP of width E f takes, besides router and copies."""
    moe = _transformer(mlp_size=None, **EXPERTS | {"experts_per_token": 4}).quantities("causal")
    dense = _transformer().quantities("causal")
    assert moe["parameters"] == moe["total_parameters"] == dense["parameters"] + 2 * 8 * 4
    assert moe["matmul_parameters"] == dense["matmul_parameters"] + 2 * 8 * 4
    assert moe["activation_width"] == dense["activation_width"] + 2 * 4 * 8


def test_dense_layers_alone_are_a_dense_model() -> None:
    """Experts in no layer leave the dense model."""
    assert _transformer(**EXPERTS, dense_layers=2).quantities("full") == _transformer().quantities("full")


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("window", [16, 17, 10**6])
def test_a_window_as_long_as_the_sequence_is_none(mask: str, window: int) -> None:
    """A window that the sequence fits into changes nothing."""
    windowed = _transformer(attention_window=window, windowed_layers=2)
    assert windowed.quantities(mask) == _transformer().quantities(mask)


def test_attended_tokens() -> None:
    """16 tokens see 16 under a full and 8.5 under a causal mask; with a window of 4, 4 and 3.625; half of each."""
    windowed, half = (_transformer(attention_window=4, windowed_layers=layers) for layers in (2, 1))
    assert _transformer().quantities("full")["attended_tokens"] == 16
    assert _transformer().quantities("causal")["attended_tokens"] == 8.5
    assert windowed.quantities("full")["attended_tokens"] == 4
    assert windowed.quantities("causal")["attended_tokens"] == 3.625
    assert half.quantities("causal")["attended_tokens"] == (8.5 + 3.625) / 2


def test_a_single_token() -> None:
    """One token attends to itself under either mask."""
    model = _transformer(sequence_length=1)
    assert model.quantities("full") == model.quantities("causal")
    assert model.quantities("full")["attended_tokens"] == 1


def test_unknown_length_is_left_open() -> None:
    """Without a sequence length everything else is counted as before."""
    known, unknown = _transformer().quantities("causal"), _transformer(sequence_length=None).quantities("causal")
    assert known.keys() - unknown.keys() == {"attended_tokens", "sequence_length"}
    assert unknown == {name: known[name] for name in unknown}


def test_one_head_groups_nothing() -> None:
    """With one head the number of key and value heads cannot matter, and its size is the hidden size."""
    one = _transformer(attention_heads=1)
    assert one == _transformer(attention_heads=1, kv_heads=1, head_size=8)
    assert one.quantities("full")["attention_width"] == 2 * 8


def test_names_are_known() -> None:
    """Every count has a name that the vocabulary knows, with a value that can exist."""
    known = dict(QUANTITIES) | dict(SHAPE)
    values = _transformer(mlp_size=None, **EXPERTS).quantities("causal")
    assert values.keys() <= known.keys()
    assert all(known[name].admits(value) for name, value in values.items())
    assert not SHAPE.keys() & QUANTITIES.keys()


def test_an_unknown_mask_is_refused() -> None:
    """A mask is full or causal."""
    with pytest.raises(ValueError, match="full or causal"):
        _transformer().quantities("prefix")


def test_huge_sizes_stay_exact() -> None:
    """Counts are integers of any length; a component of more than 2^53 parameters is not rounded."""
    model = replace(_transformer(), hidden_size=10**9, vocabulary_size=10**9 - 1)
    assert model.components()[0].parameters == 10**18 - 10**9
