"""What an `[architecture]` table may not say, and what it is told to say instead."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from uncertain_botec.architecture import ArchitectureError, Network, NetworkTable, TransformerTable, from_table

BASE = {"layers": 2, "hidden_size": 8, "attention_heads": 2, "mlp": "gated", "mlp_size": 24, "vocabulary_size": 50} | {
    "tied_embeddings": False
}
EXPERTS = {"experts": 4, "experts_per_token": 2, "expert_size": 6}
LATENT = {"kv_lora_rank": 4, "q_lora_rank": 0, "nope_head_size": 2, "rope_head_size": 2, "value_head_size": 2}


def _faults(table: dict[str, Any]) -> dict[str, ArchitectureError]:
    with pytest.raises(ArchitectureError) as caught:
        from_table({key: value for key, value in table.items() if value is not None})
    faults = caught.value.all
    assert all(fault.message and fault.expected and fault.fix for fault in faults)
    assert all(fault.message in str(caught.value) for fault in faults)
    return {fault.key: fault for fault in faults}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"layers": None}, "layers"),
        ({"hidden_size": None}, "hidden_size"),
        ({"tied_embeddings": None}, "tied_embeddings"),
        ({"mlp": None}, "mlp"),
        ({"mlp_size": None}, "mlp_size"),
        ({"layers": 0, "mlp_size": None}, "mlp_size"),
        ({"layers": -1}, "layers"),
        ({"layers": 10_001}, "layers"),
        ({"hidden_size": 0}, "hidden_size"),
        ({"hidden_size": 8.0}, "hidden_size"),
        ({"hidden_size": True}, "hidden_size"),
        ({"hidden_size": "8"}, "hidden_size"),
        ({"hidden_size": 10**9 + 1}, "hidden_size"),
        ({"tied_embeddings": 1}, "tied_embeddings"),
        ({"mlp": "swiglu"}, "mlp"),
        ({"norm": "batch"}, "norm"),
        ({"biases": True}, "biases"),
        ({"kv_heads": 3}, "kv_heads"),
        ({"kv_heads": 4}, "kv_heads"),
        ({"attention_heads": 3}, "head_size"),
        ({"attention_window": 4}, "windowed_layers"),
        ({"windowed_layers": 1}, "attention_window"),
        ({"attention_window": 4, "windowed_layers": 3}, "windowed_layers"),
        ({"mlp_size": None, **EXPERTS, "experts_per_token": 5}, "experts_per_token"),
        ({"mlp_size": None, **EXPERTS, "expert_size": None}, "expert_size"),
        (EXPERTS, "mlp_size"),
        ({"mlp_size": None, **EXPERTS, "dense_layers": 1}, "mlp_size"),
        ({"mlp_size": None, **EXPERTS, "moe_every": 2}, "mlp_size"),
        ({**EXPERTS, "dense_layers": 3}, "dense_layers"),
        ({"mlp_size": None, **EXPERTS, "shared_expert_size": 3}, "shared_expert_size"),
        ({"shared_experts": 1}, "shared_experts"),
        ({"dense_layers": 1}, "dense_layers"),
        ({"moe_every": 2}, "moe_every"),
        ({**LATENT, "kv_heads": 2}, "kv_heads"),
        ({**LATENT, "head_size": 4}, "head_size"),
        ({**LATENT, "qk_norm": "head"}, "qk_norm"),
        ({**LATENT, "biases": "qkv"}, "biases"),
        ({**LATENT, "q_lora_rank": None}, "q_lora_rank"),
        ({"rope_head_size": 4}, "kv_lora_rank"),
        ({"sequence_length": 9, "learned_positions": 8}, "sequence_length"),
        ({"layer_sizes": [2]}, "layer_sizes"),
        ({"layer_sizes": [2, 0]}, "layer_sizes.1"),
        ({"layer_sizes": [2, 1]}, "hidden_size"),
    ],
)
def test_a_wrong_table_is_told_which_key(changes: dict[str, Any], key: str) -> None:
    """A value that cannot be, a missing one, and keys that contradict each other name the key at fault."""
    assert key in _faults(BASE | changes)


def test_an_unknown_key_is_told_the_nearest() -> None:
    """A misspelt key is told which one was meant."""
    assert "`hidden_size`" in _faults(BASE | {"hiden_size": 8})["hiden_size"].fix


def test_all_faults_are_told_at_once() -> None:
    """One reading finds every fault of shape, or every contradiction."""
    assert _faults(BASE | {"layers": -1, "mlp": "swiglu", "hiden_size": 8}).keys() == {"layers", "mlp", "hiden_size"}
    changes = {"kv_heads": 3, "attention_window": 4, "shared_experts": 1}
    assert _faults(BASE | changes).keys() == {"kv_heads", "windowed_layers", "shared_experts"}


def test_what_was_got_is_shown_as_it_was_written() -> None:
    """A fault shows the value at fault, strings in quotes."""
    assert _faults(BASE | {"mlp": "swiglu"})["mlp"].got == '"swiglu"'
    assert _faults(BASE | {"hidden_size": True})["hidden_size"].got == "true"
    assert _faults(BASE | {"layers": None})["layers"].got is None


def test_defaults_are_what_they_say() -> None:
    """As many key and value heads as query heads, which share the hidden size; no biases; two norms of a scale."""
    stated = {"kv_heads": 2, "head_size": 4, "biases": "none", "norm": "rms", "norms_per_layer": 2, "qk_norm": "none"}
    assert from_table(BASE) == from_table(BASE | stated | {"learned_positions": 0})


def test_shared_experts_are_as_wide_as_routed_ones() -> None:
    """A shared expert has the routed ones' width where it has none of its own."""
    base = {key: value for key, value in BASE.items() if key != "mlp_size"} | EXPERTS | {"shared_experts": 2}
    assert from_table(base) == from_table(base | {"shared_expert_size": 6})


def test_a_table_with_layer_sizes_is_a_network() -> None:
    """`layer_sizes` makes a fully connected network, with biases unless it says no."""
    assert from_table({"layer_sizes": [2, 3, 1]}) == Network((2, 3, 1), biases=True)
    assert from_table(NetworkTable(layer_sizes=[2, 3, 1], biases=False)) == Network((2, 3, 1), biases=False)


def test_a_parsed_table_is_taken_as_it_is() -> None:
    """A table that has been parsed gives what its content does, and its contradictions are found too."""
    assert from_table(TransformerTable(**BASE)) == from_table(BASE)
    with pytest.raises(ArchitectureError, match="query heads"):
        from_table(TransformerTable(**BASE | {"kv_heads": 3}))


def test_where_sizes_come_from_may_be_said() -> None:
    """Source, date and note change no count; a TOML date is a date."""
    about = {"source": "arXiv 2307.09288", "as_of": datetime.date(2023, 7, 18), "note": "table 1"}
    assert from_table(BASE | about) == from_table(BASE)
    assert TransformerTable(**BASE | about).as_of == "2023-07-18"


@pytest.mark.parametrize("model", [NetworkTable, TransformerTable])
def test_every_key_says_what_it_means(model: type[NetworkTable] | type[TransformerTable]) -> None:
    """Every key of both tables has a description, for the schema that editors use."""
    assert all(field.description for field in model.model_fields.values())
