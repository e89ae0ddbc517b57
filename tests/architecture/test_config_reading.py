"""A model's `config.json`: what is read, what is refused, and what each model type's keys mean."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from published_configs import CONFIGS

from uncertain_botec.architecture import ArchitectureError, Transformer, from_config, read_config
from uncertain_botec.architecture.model_types import MODEL_TYPES

LLAMA = CONFIGS["Llama-2-7B"][0]


def _total(config: dict[str, Any]) -> int:
    return sum(row.parameters for row in from_config(config).components())


def _faults(config: dict[str, Any]) -> dict[str, ArchitectureError]:
    with pytest.raises(ArchitectureError) as caught:
        from_config(config)
    assert all(fault.message and fault.expected and fault.fix for fault in caught.value.all)
    return {fault.key: fault for fault in caught.value.all}


def _without(name: str, key: str) -> dict[str, Any]:
    return {other: value for other, value in CONFIGS[name][0].items() if other != key}


def test_a_file_gives_what_its_content_does(tmp_path: Path) -> None:
    """A file on disk leads to the same model as its content."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA))
    assert from_config(read_config(path)) == from_config(LLAMA)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"hidden_size": NaN}',
        b'{"hidden_size": -Infinity}',
        b'{"model_type": "\xff"}',
        b"[" * 100_000,
        b'{"hidden_size": ' + b"1" * 5000 + b"}",
        b'{"note": "' + b"x" * 2**20 + b'"}',
    ],
    ids=["empty", "cut", "list", "null", "NaN", "infinite", "bytes", "deep", "digits", "long"],
)
def test_a_file_that_is_no_configuration(content: bytes, tmp_path: Path) -> None:
    """What is not a JSON object of numbers within 1 MiB is refused, with the file's name."""
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(ArchitectureError, match=r"config\.json"):
        read_config(path)


def test_a_file_of_one_mebibyte_is_read(tmp_path: Path) -> None:
    """The limit is 1 MiB to the byte."""
    path = tmp_path / "config.json"
    path.write_bytes(b"{}".ljust(2**20))
    assert read_config(path) == {}
    path.write_bytes(b"{}".ljust(2**20 + 1))
    with pytest.raises(ArchitectureError, match="1 MiB"):
        read_config(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    """A missing file, a folder and a pipe, which would never end, are refused."""
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing.json", ".", "pipe", "null\0byte"):
        with pytest.raises(ArchitectureError):
            read_config(tmp_path / name)


@pytest.mark.parametrize("name", ["lama", None, 3, ["llama"]])
def test_an_unknown_model_type(name: Any) -> None:
    """A model type that is not known is told the known ones and the table that describes any."""
    fault = _faults(LLAMA | {"model_type": name})["model_type"]
    assert all(known in fault.expected for known in MODEL_TYPES)
    assert "[architecture]" in fault.fix
    assert ("`llama`" in fault.fix) == (name == "lama")


def test_no_model() -> None:
    """A configuration without a model type could be anything, and one that only sees counts no words."""
    assert _faults({}).keys() == {"model_type"}
    assert _faults({"model_type": "gemma3", "vision_config": {}}).keys() == {"text_config"}


@pytest.mark.parametrize("value", [4096.0, "4096", True, -1, 0, [4096], 10**10, float("nan"), None])
@pytest.mark.parametrize(
    "key", ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"]
)
def test_sizes_that_cannot_be(key: str, value: Any) -> None:
    """A size is a whole number within limits; anything else names its key."""
    if (key, value) == ("num_hidden_layers", 0):
        assert from_config(LLAMA | {key: 0}).layers == 0
    else:
        assert key in _faults(LLAMA | {key: value})


@pytest.mark.parametrize(
    ("name", "key", "asked_for"),
    [
        ("Llama-2-7B", "num_hidden_layers", "num_hidden_layers"),
        ("Mistral-7B", "num_key_value_heads", "num_key_value_heads"),
        ("Mixtral-8x7B", "num_local_experts", "num_local_experts"),
        ("Mixtral-8x7B", "num_experts_per_tok", "num_experts_per_tok"),
        ("Qwen1.5-MoE-A2.7B", "shared_expert_intermediate_size", "shared_expert_intermediate_size"),
        ("Qwen3-8B", "head_dim", "head_dim"),
        ("Qwen3-30B-A3B", "moe_intermediate_size", "moe_intermediate_size"),
        ("Gemma-2B", "head_dim", "head_dim"),
        ("DeepSeek-V3", "kv_lora_rank", "kv_lora_rank"),
        ("DeepSeek-V3", "qk_rope_head_dim", "qk_rope_head_dim"),
        ("DeepSeek-V3", "first_k_dense_replace", "first_k_dense_replace"),
        ("DeepSeek-V3", "intermediate_size", "intermediate_size"),
        ("GPT-2", "n_embd", "hidden_size"),
        ("GPT-2", "n_positions", "max_position_embeddings"),
        ("BLOOM", "n_layer", "num_hidden_layers"),
        ("OPT-125M", "ffn_dim", "ffn_dim"),
        ("OPT-125M", "hidden_size", "hidden_size"),
        ("Mistral-7B", "num_attention_heads", "num_attention_heads"),
    ],
)
def test_a_missing_size_is_asked_for(name: str, key: str, asked_for: str) -> None:
    """Without a size that published configurations state there is a fault that names it, and no other."""
    assert _faults(_without(name, key)).keys() == {asked_for}


def test_all_faults_are_told_at_once() -> None:
    """One reading finds every fault."""
    wrong = {"hidden_size": -1, "vocab_size": "many", "tie_word_embeddings": "no", "num_key_value_heads": 0}
    assert _faults(LLAMA | wrong).keys() == wrong.keys()


def test_heads_that_do_not_fit() -> None:
    """Query heads are shared out evenly, and the hidden size among heads without a size of their own."""
    assert "num_key_value_heads" in _faults(LLAMA | {"num_key_value_heads": 5})
    assert "num_attention_heads" in _faults(LLAMA | {"num_attention_heads": 31, "num_key_value_heads": 31})


def test_names_that_contradict() -> None:
    """Two names of one size have to agree."""
    bloom = CONFIGS["BLOOM-560M"][0]
    assert _total(bloom | {"hidden_size": 1024}) == _total(bloom)
    assert "hidden_size" in _faults(bloom | {"hidden_size": 1025})


def test_the_length_is_what_is_given() -> None:
    """The longest position is no length of training, so the length is open unless it is given."""
    assert from_config(LLAMA | {"max_position_embeddings": 4096}).sequence_length is None
    assert from_config(LLAMA, 4096).quantities("full")["attended_tokens"] == 4096


def test_null_means_absent() -> None:
    """A key that is null counts as one that is not there."""
    assert from_config(LLAMA | {"head_dim": None, "num_key_value_heads": None}) == from_config(LLAMA)


H, F, V, D = 4096, 11008, 32000, 128


@pytest.mark.parametrize(
    ("model_type", "changes", "more"),
    [
        ("llama", {"attention_bias": True}, 32 * 4 * H),
        ("llama", {"mlp_bias": True}, 32 * (2 * F + H)),
        ("llama", {"tie_word_embeddings": True}, -V * H),
        ("llama", {"head_dim": 64}, -32 * 4 * H * 32 * 64),
        ("llama", {"num_key_value_heads": 8}, -32 * 2 * H * 24 * D),
        ("qwen2", {}, 32 * 3 * H),
        ("qwen3", {"head_dim": 128}, 32 * 2 * D),
        ("gemma", {"head_dim": 128}, -V * H),
        ("gemma", {"head_dim": 128, "tie_word_embeddings": False}, 0),
        ("gemma2", {"head_dim": 128, "sliding_window": 64}, 32 * 2 * H - V * H),
        ("olmo", {}, -65 * H),
        ("olmo2", {}, 32 * 2 * H),
        ("olmo3", {"sliding_window": 64}, 32 * 2 * H),
        ("cohere", {}, -32 * H - V * H),
        ("cohere", {"use_qk_norm": True}, 32 * H - V * H),
        ("glm4", {"head_dim": 128}, 32 * (2 * H + 3 * H)),
        ("stablelm", {}, 65 * H),
        ("stablelm", {"use_parallel_residual": True}, (33 * 2 - 65) * H),
        ("stablelm", {"use_qkv_bias": True, "qk_layernorm": True}, 65 * H + 32 * (3 * H + 2 * H)),
        ("nemotron", {}, 65 * H - 32 * H * F),
        ("starcoder2", {}, 65 * H - 32 * H * F + 32 * (5 * H + F) - V * H),
        ("starcoder2", {"use_bias": False}, 65 * H - 32 * H * F - V * H),
        ("phi3", {"sliding_window": 2047}, 0),
    ],
)
def test_what_a_model_type_adds_to_a_llama(model_type: str, changes: dict[str, Any], more: int) -> None:
    """With Llama 2 7B's sizes each model type differs by its own biases, norms, matrices and tying alone."""
    assert _total(LLAMA | {"model_type": model_type, "tie_word_embeddings": None} | changes) == _total(LLAMA) + more


def test_falcon_has_three_kinds_of_heads() -> None:
    """One key and value head, as many as query heads, or a group; and one norm, or two."""
    falcon = {"model_type": "falcon", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 8}
    falcon |= {"vocab_size": 10}
    one = _total(falcon)
    assert _total(falcon | {"multi_query": False}) - one == 2 * 64 * 7 * 8
    newer = {"new_decoder_architecture": True, "num_kv_heads": 2}
    assert _total(falcon | newer) - one == 2 * 64 * 1 * 8 + 2 * 64
    assert _total(falcon | {"parallel_attn": False}) - one == 2 * 64


def _windows(config: dict[str, Any]) -> dict[int | None, int]:
    counts: dict[int | None, int] = {}
    for group in from_config(config).groups:
        counts[group.attention.window] = counts.get(group.attention.window, 0) + group.layers
    return counts


def test_windows() -> None:
    """A window holds in all layers, in those of a list, in the upper ones if switched on, or in a pattern."""
    mistral, qwen = CONFIGS["Mistral-7B"][0], CONFIGS["Qwen2-7B"][0]
    assert _windows(mistral) == {4096: 32}
    assert _windows(mistral | {"sliding_window": None}) == {None: 32}
    types = ["full_attention", "sliding_attention", "sliding_attention", "sliding_attention"] * 8
    assert _windows(mistral | {"layer_types": types}) == {None: 8, 4096: 24}
    assert _windows(qwen) == {None: 28}
    assert _windows(qwen | {"use_sliding_window": True, "max_window_layers": 21}) == {None: 21, 131072: 7}
    assert _windows(CONFIGS["OLMo-2-7B"][0] | {"model_type": "olmo3", "sliding_window": 9}) == {9: 24, None: 8}


@pytest.mark.parametrize("types", [["full_attention"], ["chunked_attention"] * 32, "full_attention", [1] * 32])
def test_layer_types_that_cannot_be(types: Any) -> None:
    """A list of layer types has a known word for each layer."""
    assert "layer_types" in _faults(CONFIGS["Mistral-7B"][0] | {"layer_types": types})


def test_dense_layers_among_experts() -> None:
    """Layers listed as dense, or between every n-th with experts, have an MLP of the dense size."""
    qwen = CONFIGS["Qwen3-30B-A3B"][0]
    for changes, dense in (({"mlp_only_layers": [0, 5]}, 2), ({"decoder_sparse_step": 2}, 24)):
        rows = {row.name: row for row in from_config(qwen | changes).components()}
        assert rows["MLP"].parameters == dense * 3 * 2048 * 6144
        assert rows["experts"].times == (48 - dense) * 128
    assert "mlp_only_layers" in _faults(qwen | {"mlp_only_layers": "none"})
    assert "num_experts_per_tok" in _faults(qwen | {"num_experts_per_tok": 129})


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("OPT-125M", {"word_embed_proj_dim": 512}),
        ("OPT-125M", {"do_layer_norm_before": False}),
        ("MPT-7B", {"no_bias": False}),
        ("GPT-2", {"add_cross_attention": True}),
        ("Gemma-3-1B", {"use_bidirectional_attention": True}),
    ],
)
def test_parts_that_are_not_counted_are_refused(name: str, changes: dict[str, Any]) -> None:
    """A configuration that adds parts to its model type is refused rather than counted without them."""
    assert _faults(CONFIGS[name][0] | changes).keys() == changes.keys()


def test_a_nested_part_that_is_not_counted() -> None:
    """The same holds for a key inside another."""
    mpt = CONFIGS["MPT-7B"][0]
    assert "attn_config.alibi" in _faults(mpt | {"attn_config": {"alibi": False}})


def _outcome(config: dict[str, Any]) -> Transformer | ArchitectureError:
    try:
        return from_config(config)
    except ArchitectureError as error:
        return error


@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_nonsense_is_a_fault_and_no_crash(model_type: str) -> None:
    """Whatever stands in the keys of any model type, the answer is a fault, or a model if all ones make one."""
    keys = {key for config, _ in CONFIGS.values() for key in config} | {"layer_types"}
    for value in (0, -1, True, 1.5, "x", [], {}, [None], None, 10**30):
        assert isinstance(_outcome(dict.fromkeys(keys, value) | {"model_type": model_type}), ArchitectureError)
    ones = _outcome(dict.fromkeys(keys - {"layer_types"}, 1) | {"model_type": model_type})
    assert isinstance(ones, Transformer | ArchitectureError)
