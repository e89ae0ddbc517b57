"""What the blocks of each Hugging Face `model_type` have, and which keys of its `config.json` say how large they are.

The facts are from the model code of transformers 4.57 (2025-10). A key that says nothing takes the value that this code
gives it, but a size has to be stated wherever published configurations state it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from uncertain_botec.architecture import rules
from uncertain_botec.architecture.layers import Experts, Mlp, QkNorm
from uncertain_botec.architecture.reading import Reader
from uncertain_botec.architecture.transformer import Norm


@dataclass(frozen=True)
class Flag:
    """A key that switches something, and what holds where it is not there."""

    key: str
    absent: bool


Switch = bool | Flag


def on(switch: Switch, read: Reader) -> bool:
    """Whether a part is there."""
    return read.flag(switch.key, switch.absent) if isinstance(switch, Flag) else switch


@dataclass(frozen=True)
class ModelType:
    """One model type; the defaults are a Llama's.

    Attributes:
        kv_heads, head_size: how they are found.
        latent: whether it has latent attention in place of heads of keys and values.
        qkv_bias, output_bias, mlp_bias: whether projections have biases; the second is the first's where it is None.
        qk_norm, has_qk_norm: the norms of queries and keys, and whether they are there.
        sinks: whether every head has a sink.
        gated, mlps: whether MLPs are gated, and what each layer has.
        windows: the window of each layer.
        norm, norms_per_layer, outer_norms: as in `Transformer`.
        extra_positions: None without a learned position embedding, else its rows besides those of the positions.
        tied: whether embeddings are tied where the configuration does not say.
        only: keys that may have one value alone, since with another the model has parts that are not counted here.
        absent: sizes that published configurations leave out, because the model code has them.
    """

    kv_heads: Callable[[Reader], int] = rules.grouped_heads
    head_size: Callable[[Reader], int] = rules.stated_or_even
    latent: bool = False
    qkv_bias: Switch = False
    output_bias: Switch | None = None
    mlp_bias: Switch = False
    qk_norm: QkNorm = "none"
    has_qk_norm: Switch = True
    sinks: bool = False
    gated: bool = True
    mlps: Callable[[Reader, Mlp], list[Mlp] | list[Experts] | list[Mlp | Experts]] = field(default_factory=rules.dense)
    windows: Callable[[Reader], rules.Windows] = rules.no_windows
    norm: Norm = "rms"
    norms_per_layer: Callable[[Reader], int] | int = 2
    outer_norms: int = 1
    extra_positions: int | None = None
    tied: bool = False
    only: Mapping[str, Any] = field(default_factory=dict)
    absent: Mapping[str, int] = field(default_factory=dict)


_BIAS = Flag("attention_bias", absent=False)

_llama = ModelType(qkv_bias=_BIAS, mlp_bias=Flag("mlp_bias", absent=False))
_qwen2 = ModelType(qkv_bias=True, output_bias=False, windows=rules.upper_windows)
_qwen3 = ModelType(
    kv_heads=rules.stated_heads, head_size=rules.stated, qkv_bias=_BIAS, qk_norm="head", windows=rules.upper_windows
)
_gemma = ModelType(kv_heads=rules.stated_heads, head_size=rules.stated, qkv_bias=_BIAS, tied=True)
_olmo2 = ModelType(qkv_bias=_BIAS, qk_norm="width")
_gpt = ModelType(
    kv_heads=rules.as_many_as_heads,
    head_size=rules.even,
    qkv_bias=True,
    mlp_bias=True,
    gated=False,
    norm="layer",
    tied=True,
)
_deepseek = ModelType(latent=True, qkv_bias=_BIAS, mlps=rules.deepseek_experts(router_bias=False))

MODEL_TYPES: Mapping[str, ModelType] = MappingProxyType(
    {
        "llama": _llama,
        "mistral": ModelType(kv_heads=rules.stated_heads, windows=rules.same_window),
        "mixtral": ModelType(kv_heads=rules.stated_heads, windows=rules.same_window, mlps=rules.mixtral_experts),
        "qwen2": _qwen2,
        "qwen2_moe": replace(_qwen2, qkv_bias=Flag("qkv_bias", absent=True), mlps=rules.qwen_experts(shared=True)),
        "qwen3": _qwen3,
        "qwen3_moe": replace(
            _qwen3, head_size=rules.stated_or_even, windows=rules.switched_window, mlps=rules.qwen_experts(shared=False)
        ),
        "gemma": _gemma,
        "gemma2": replace(_gemma, norms_per_layer=4, windows=rules.alternating(2)),
        "gemma3_text": replace(
            _gemma,
            norms_per_layer=4,
            qk_norm="head",
            windows=rules.alternating(6, key="sliding_window_pattern"),
            only={"use_bidirectional_attention": False},
            absent={"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262_208},
        ),
        "phi3": ModelType(windows=rules.same_window),
        "gpt2": replace(
            _gpt, mlps=rules.dense("n_inner", times_hidden=4), extra_positions=0, only={"add_cross_attention": False}
        ),
        "gpt_neox": replace(_gpt, qkv_bias=Flag("attention_bias", absent=True), mlps=rules.dense(), tied=False),
        "bloom": replace(_gpt, mlps=rules.four_times, outer_norms=2),
        "falcon": replace(
            _gpt,
            kv_heads=rules.falcon_heads,
            qkv_bias=Flag("bias", absent=False),
            mlp_bias=Flag("bias", absent=False),
            mlps=rules.dense("ffn_hidden_size", times_hidden=4),
            norms_per_layer=rules.falcon_norms,
        ),
        "opt": replace(
            _gpt,
            qkv_bias=Flag("enable_bias", absent=True),
            mlp_bias=Flag("enable_bias", absent=True),
            mlps=rules.dense("ffn_dim"),
            extra_positions=2,
            only={
                "word_embed_proj_dim": lambda read: read.hidden_size,
                "do_layer_norm_before": True,
                "_remove_final_layer_norm": False,
                "layer_norm_elementwise_affine": True,
            },
        ),
        "mpt": replace(
            _gpt,
            qkv_bias=False,
            mlp_bias=False,
            mlps=rules.expanded,
            norm="rms",
            only={
                "no_bias": True,
                "attn_config.attn_type": "multihead_attention",
                "attn_config.alibi": True,
                "attn_config.qk_ln": False,
            },
        ),
        "starcoder2": replace(
            _gpt,
            kv_heads=rules.stated_heads,
            head_size=rules.stated_or_even,
            qkv_bias=Flag("use_bias", absent=True),
            mlp_bias=Flag("use_bias", absent=True),
            mlps=rules.dense(),
            windows=rules.same_window,
        ),
        "stablelm": ModelType(
            kv_heads=rules.stated_heads,
            head_size=rules.even,
            qkv_bias=Flag("use_qkv_bias", absent=False),
            output_bias=False,
            qk_norm="width",
            has_qk_norm=Flag("qk_layernorm", absent=False),
            norm="layer",
            norms_per_layer=rules.stablelm_norms,
        ),
        "olmo": ModelType(qkv_bias=_BIAS, norm="none"),
        "olmo2": _olmo2,
        "olmo3": replace(_olmo2, windows=rules.alternating(4)),
        "deepseek_v2": replace(_deepseek, mlp_bias=Flag("mlp_bias", absent=False)),
        "deepseek_v3": replace(_deepseek, mlps=rules.deepseek_experts(router_bias=True)),
        "gpt_oss": ModelType(
            kv_heads=rules.stated_heads,
            head_size=rules.stated,
            qkv_bias=True,
            mlp_bias=True,
            sinks=True,
            mlps=rules.gpt_oss_experts,
            windows=rules.alternating(2),
        ),
        "cohere": ModelType(
            qkv_bias=_BIAS,
            qk_norm="width",
            has_qk_norm=Flag("use_qk_norm", absent=False),
            norms_per_layer=1,
            tied=True,
        ),
        "glm4": ModelType(
            kv_heads=rules.stated_heads,
            head_size=rules.stated,
            qkv_bias=Flag("attention_bias", absent=True),
            output_bias=False,
            norms_per_layer=4,
        ),
        "nemotron": ModelType(qkv_bias=_BIAS, mlp_bias=Flag("mlp_bias", absent=False), gated=False, norm="layer"),
    }
)
