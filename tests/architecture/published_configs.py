"""The sizes in the published `config.json` of well-known models, and their published counts of parameters.

Sizes and counts are from memory of the models' pages (2026-12), each count to the last digit; DeepSeek-V3's count was
looked up. What a block consists of was read in the model code of transformers 4.57.
"""

from __future__ import annotations

from typing import Any


def _sizes(
    model_type: str, hidden: int, layers: int, heads: int, kv_heads: int, mlp: int, vocabulary: int, **more: Any
) -> dict[str, Any]:
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size")
    sizes = dict(zip(names, (hidden, layers, heads, kv_heads, mlp), strict=True))
    return {"model_type": model_type, **sizes, "vocab_size": vocabulary, **more}


def _deepseek(model_type: str, hidden: int, layers: int, heads: int, mlp: int, vocabulary: int, **more: Any) -> Any:
    latent = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
    return _sizes(model_type, hidden, layers, heads, heads, mlp, vocabulary, **latent, moe_layer_freq=1, **more)


def _gpt2(hidden: int, layers: int, heads: int) -> dict[str, Any]:
    sizes = {"n_embd": hidden, "n_layer": layers, "n_head": heads, "n_positions": 1024, "vocab_size": 50257}
    return {"model_type": "gpt2", **sizes, "n_inner": None}


def _bloom(hidden: int, layers: int, heads: int) -> dict[str, Any]:
    return {"model_type": "bloom", "n_embed": hidden, "n_layer": layers, "num_attention_heads": heads} | {
        "vocab_size": 250880
    }


def _opt(hidden: int, layers: int, heads: int) -> dict[str, Any]:
    sizes = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads, "ffn_dim": 4 * hidden}
    return {"model_type": "opt", **sizes, "word_embed_proj_dim": hidden} | {
        "vocab_size": 50272,
        "max_position_embeddings": 2048,
        "do_layer_norm_before": True,
    }


def _neox(hidden: int, layers: int, heads: int, vocabulary: int) -> dict[str, Any]:
    config = _sizes("gpt_neox", hidden, layers, heads, heads, 4 * hidden, vocabulary, tie_word_embeddings=False)
    return {key: value for key, value in config.items() if key != "num_key_value_heads"}


_UNTIED, _TIED = {"tie_word_embeddings": False}, {"tie_word_embeddings": True}
_QWEN_WINDOW = {"use_sliding_window": False, "sliding_window": 131072, "max_window_layers": 28}
_QWEN3 = {"head_dim": 128, "attention_bias": False, "use_sliding_window": False, "sliding_window": None}
_QWEN3_MOE = _QWEN3 | {"num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": []}
_V3 = {"n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1}
_V2 = {"n_routed_experts": 160, "num_experts_per_tok": 6, "moe_intermediate_size": 1536, "n_shared_experts": 2}
_LITE = {"n_routed_experts": 64, "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "n_shared_experts": 2}
_OSS = {"head_dim": 64, "sliding_window": 128, "attention_bias": True, "num_experts_per_tok": 4}

CONFIGS: dict[str, tuple[dict[str, Any], int]] = {
    "Llama-2-7B": (_sizes("llama", 4096, 32, 32, 32, 11008, 32000, **_UNTIED), 6738415616),
    "Llama-2-13B": (_sizes("llama", 5120, 40, 40, 40, 13824, 32000, **_UNTIED), 13015864320),
    "Llama-2-70B": (_sizes("llama", 8192, 80, 64, 8, 28672, 32000, **_UNTIED), 68976648192),
    "Llama-3-8B": (_sizes("llama", 4096, 32, 32, 8, 14336, 128256, **_UNTIED), 8030261248),
    "Llama-3-70B": (_sizes("llama", 8192, 80, 64, 8, 28672, 128256, **_UNTIED), 70553706496),
    "Llama-3.1-405B": (_sizes("llama", 16384, 126, 128, 8, 53248, 128256, **_UNTIED), 405853388800),
    "Llama-3.2-1B": (_sizes("llama", 2048, 16, 32, 8, 8192, 128256, head_dim=64, **_TIED), 1235814400),
    "Llama-3.2-3B": (_sizes("llama", 3072, 28, 24, 8, 8192, 128256, head_dim=128, **_TIED), 3212749824),
    "Mistral-7B": (_sizes("mistral", 4096, 32, 32, 8, 14336, 32000, sliding_window=4096, **_UNTIED), 7241732096),
    "Mixtral-8x7B": (
        _sizes("mixtral", 4096, 32, 32, 8, 14336, 32000, num_local_experts=8, num_experts_per_tok=2, **_UNTIED),
        46702792704,
    ),
    "Mixtral-8x22B": (
        _sizes("mixtral", 6144, 56, 48, 8, 16384, 32000, num_local_experts=8, num_experts_per_tok=2, **_UNTIED),
        140620634112,
    ),
    "Qwen2.5-0.5B": (_sizes("qwen2", 896, 24, 14, 2, 4864, 151936, **_TIED, **_QWEN_WINDOW), 494032768),
    "Qwen2-7B": (_sizes("qwen2", 3584, 28, 28, 4, 18944, 152064, **_UNTIED, **_QWEN_WINDOW), 7615616512),
    "Qwen1.5-MoE-A2.7B": (
        _sizes("qwen2_moe", 2048, 24, 16, 16, 5632, 151936, num_experts=60, num_experts_per_tok=4)
        | {"moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "decoder_sparse_step": 1}
        | _UNTIED,
        14315784192,
    ),
    "Qwen3-0.6B": (_sizes("qwen3", 1024, 28, 16, 8, 3072, 151936, **_TIED, **_QWEN3), 596049920),
    "Qwen3-8B": (_sizes("qwen3", 4096, 36, 32, 8, 12288, 151936, **_UNTIED, **_QWEN3), 8190735360),
    "Qwen3-30B-A3B": (
        _sizes("qwen3_moe", 2048, 48, 32, 4, 6144, 151936, moe_intermediate_size=768, **_UNTIED, **_QWEN3_MOE),
        30532122624,
    ),
    "Qwen3-235B-A22B": (
        _sizes("qwen3_moe", 4096, 94, 64, 4, 12288, 151936, moe_intermediate_size=1536, **_UNTIED, **_QWEN3_MOE),
        235093634560,
    ),
    "Gemma-2B": (_sizes("gemma", 2048, 18, 8, 1, 16384, 256000, head_dim=256), 2506172416),
    "Gemma-7B": (_sizes("gemma", 3072, 28, 16, 16, 24576, 256000, head_dim=256), 8537680896),
    "Gemma-2-2B": (_sizes("gemma2", 2304, 26, 8, 4, 9216, 256000, head_dim=256, sliding_window=4096), 2614341888),
    "Gemma-2-9B": (_sizes("gemma2", 3584, 42, 16, 8, 14336, 256000, head_dim=256, sliding_window=4096), 9241705984),
    "Gemma-2-27B": (_sizes("gemma2", 4608, 46, 32, 16, 36864, 256000, head_dim=128, sliding_window=4096), 27227128320),
    "Gemma-3-1B": (
        _sizes("gemma3_text", 1152, 26, 4, 1, 6912, 262144, head_dim=256, sliding_window=512, sliding_window_pattern=6),
        999885952,
    ),
    "Phi-3-mini": (_sizes("phi3", 3072, 32, 32, 32, 8192, 32064, sliding_window=2047, **_UNTIED), 3821079552),
    "GPT-2": (_gpt2(768, 12, 12), 124439808),
    "GPT-2-XL": (_gpt2(1600, 48, 25), 1557611200),
    "Pythia-70M": (_neox(512, 6, 8, 50304), 70426624),
    "Pythia-6.9B": (_neox(4096, 32, 32, 50432), 6857302016),
    "GPT-NeoX-20B": (_neox(6144, 44, 64, 50432), 20554567680),
    "BLOOM-560M": (_bloom(1024, 24, 16), 559214592),
    "BLOOM": (_bloom(14336, 70, 112), 176247271424),
    "Falcon-7B": (
        {"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71}
        | {"vocab_size": 65024, "multi_query": True, "parallel_attn": True, "bias": False},
        6921720704,
    ),
    "OPT-125M": (_opt(768, 12, 12), 125239296),
    "OPT-6.7B": (_opt(4096, 32, 32), 6658473984),
    "MPT-7B": (
        {"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32, "vocab_size": 50432}
        | {"expansion_ratio": 4, "no_bias": True, "attn_config": {"alibi": True, "attn_type": "multihead_attention"}},
        6649286656,
    ),
    "StarCoder2-3B": (
        _sizes("starcoder2", 3072, 30, 24, 2, 12288, 49152, use_bias=True, sliding_window=4096),
        3030371328,
    ),
    "StarCoder2-7B": (
        _sizes("starcoder2", 4608, 32, 36, 4, 18432, 49152, use_bias=True, sliding_window=4096),
        7173923840,
    ),
    "StableLM-3B-4E1T": (_sizes("stablelm", 2560, 32, 32, 32, 6912, 50304, **_UNTIED), 2795443200),
    "OLMo-7B": (_sizes("olmo", 4096, 32, 32, 32, 11008, 50304, **_UNTIED), 6888095744),
    "OLMo-2-7B": (_sizes("olmo2", 4096, 32, 32, 32, 11008, 100352, **_UNTIED), 7298617344),
    "OLMo-2-13B": (_sizes("olmo2", 5120, 40, 40, 40, 13824, 100352, **_UNTIED), 13716198400),
    "DeepSeek-V2-Lite": (
        _deepseek("deepseek_v2", 2048, 27, 16, 10944, 102400, q_lora_rank=None, first_k_dense_replace=1, **_LITE),
        15706484224,
    ),
    "DeepSeek-V2": (
        _deepseek("deepseek_v2", 5120, 60, 128, 12288, 102400, q_lora_rank=1536, first_k_dense_replace=1, **_V2),
        235741434880,
    ),
    "DeepSeek-V3": (
        _deepseek("deepseek_v3", 7168, 61, 128, 18432, 129280, q_lora_rank=1536, first_k_dense_replace=3, **_V3),
        671026419200,
    ),
    "gpt-oss-20B": (
        _sizes("gpt_oss", 2880, 24, 64, 8, 2880, 201088, num_local_experts=32, **_OSS, **_UNTIED),
        20914757184,
    ),
    "gpt-oss-120B": (
        _sizes("gpt_oss", 2880, 36, 64, 8, 2880, 201088, num_local_experts=128, **_OSS, **_UNTIED),
        116829156672,
    ),
    "Command-R": (_sizes("cohere", 8192, 40, 64, 64, 22528, 256000, use_qk_norm=False), 34980831232),
    "GLM-4-9B-0414": (
        _sizes("glm4", 4096, 40, 32, 2, 13696, 151552, head_dim=128, attention_bias=True, **_UNTIED),
        9400279040,
    ),
}
