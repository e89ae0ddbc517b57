"""From the `config.json` that Hugging Face models are published with to a `Transformer`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uncertain_botec import library
from uncertain_botec.architecture.errors import ArchitectureError, raise_faults, shown
from uncertain_botec.architecture.layers import Attention, LatentAttention, LayerGroup, Mlp
from uncertain_botec.architecture.model_types import MODEL_TYPES, ModelType, on
from uncertain_botec.architecture.reading import Reader, read_config
from uncertain_botec.architecture.transformer import Transformer, grouped

__all__ = ["from_config", "read_config"]

# Of a model that also sees, the language model alone is counted.
_TEXT_PARTS = {"gemma3": "gemma3_text"}


def from_config(config: Mapping[str, Any], sequence_length: int | None = None) -> Transformer:
    """The model that a configuration describes.

    What is not part of the language model (an image encoder, layers that predict further tokens) is not counted. The
    largest position that a configuration names is what the model can be used with; how long the sequences were that it
    was trained on, no key says, so the length is left open unless it is given here.

    Args:
        config: the content of a `config.json`.
        sequence_length: tokens of a training sequence.

    Raises:
        ArchitectureError: an unknown model type, or keys that are missing, wrong or contradict each other.
    """
    name = config.get("model_type")
    if isinstance(name, str) and name in _TEXT_PARTS:
        part = config.get("text_config")
        if not isinstance(part, Mapping):
            expected = "an object that describes the language model"
            raise ArchitectureError("text_config", "there is no language model", expected, "add text_config")
        config, name = part, _TEXT_PARTS[name]
    if not isinstance(name, str) or name not in MODEL_TYPES:
        known = ", ".join((*MODEL_TYPES, *_TEXT_PARTS))
        near = f"{library.did_you_mean(name, MODEL_TYPES) or ''} " if isinstance(name, str) else ""
        fix = f"{near}describe the model in an [architecture] table"
        raise ArchitectureError("model_type", "unknown model type", f"one of {known}", fix, got=shown(name))
    return _transformer(MODEL_TYPES[name], Reader(config, MODEL_TYPES[name].absent), sequence_length)


def _transformer(kind: ModelType, read: Reader, sequence_length: int | None) -> Transformer:
    for key, allowed in kind.only.items():
        _only(read, key, allowed(read) if callable(allowed) else allowed)
    windows = kind.windows(read)
    attentions = {window: _attention(kind, read, window) for window in {None, *windows}}
    mlp = Mlp(1, kind.gated, on(kind.mlp_bias, read))
    mlps = kind.mlps(read, mlp)
    norms = kind.norms_per_layer
    layers = [(attentions[window], block) for window, block in zip(windows, mlps, strict=True)]
    positions = 0
    if kind.extra_positions is not None:
        positions = read.size("max_position_embeddings") + kind.extra_positions
    model = Transformer(
        hidden_size=read.hidden_size,
        vocabulary_size=read.size("vocab_size"),
        # A model without layers still says how many heads they would have.
        groups=grouped(layers) or (LayerGroup(0, attentions[None], mlp),),
        tied_embeddings=read.flag("tie_word_embeddings", absent=kind.tied),
        norm=kind.norm,
        norms_per_layer=norms if isinstance(norms, int) else norms(read),
        outer_norms=kind.outer_norms,
        learned_positions=positions,
        sequence_length=sequence_length,
    )
    raise_faults(read.faults)
    return model


def _only(read: Reader, key: str, allowed: object) -> None:
    value = read.value(key)
    if value is not None and value != allowed and read.sound("hidden_size"):
        fix = "describe the model in an [architecture] table"
        read.fault(key, "a model with this has parts that are not counted here", shown(allowed), fix, value)


def _attention(kind: ModelType, read: Reader, window: int | None) -> Attention | LatentAttention:
    bias = on(kind.qkv_bias, read)
    if kind.latent:
        return LatentAttention(
            heads=read.heads,
            q_lora_rank=read.size("q_lora_rank", low=0, absent=0),
            kv_lora_rank=read.size("kv_lora_rank"),
            nope_head_size=read.size("qk_nope_head_dim"),
            rope_head_size=read.size("qk_rope_head_dim"),
            value_head_size=read.size("v_head_dim"),
            window=window,
            bias=bias,
        )
    kv_heads = kind.kv_heads(read)
    if read.heads % kv_heads and read.sound("num_attention_heads"):
        expected = f"a divisor of num_attention_heads = {read.heads}"
        read.fault(
            "num_key_value_heads", "query heads cannot be shared out among these", expected, "correct it", kv_heads
        )
    return Attention(
        heads=read.heads,
        kv_heads=kv_heads,
        head_size=kind.head_size(read),
        window=window,
        qkv_bias=bias,
        output_bias=bias if kind.output_bias is None else on(kind.output_bias, read),
        qk_norm=kind.qk_norm if on(kind.has_qk_norm, read) else "none",
        sinks=kind.sinks,
    )
