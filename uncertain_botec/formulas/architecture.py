"""How many parameters a transformer's blocks have, and the widths that FLOP and memory formulas take."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula

_ATTENTION = "Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2; Ainslie et al. 2023, arXiv 2305.13245"
_LATENT = "DeepSeek-AI 2024, arXiv 2405.04434, section 2.1"
_WINDOW = "Beltagy et al. 2020, arXiv 2004.05150; Jiang et al. 2023, arXiv 2310.06825, section 2; counted pair by pair"
_EXPERTS = "Shazeer et al. 2017, arXiv 1701.06538; Jiang et al. 2024, arXiv 2401.04088, section 2.1"


@formula(equation="2 * hidden_size * head_size * (attention_heads + kv_heads)", source=_ATTENTION, constant="parameter")
def attention_parameters(hidden_size: Array, attention_heads: Array, kv_heads: Array, head_size: Array) -> Array:
    """Weights of one layer's attention projections, 2 h d (n + n_kv).

    Queries and the output take h n d each, keys and values h n_kv d each. Biases and norms of queries and keys are not
    in it. With n_kv = n it is multi-head attention, with n_kv = 1 multi-query attention, between them grouped heads.

    Args:
        hidden_size: h, width of the residual stream.
        attention_heads: n, query heads.
        kv_heads: n_kv, heads of keys and of values.
        head_size: d, width of one head.

    Returns:
        Parameters of one layer.

    Example: Llama 2 70B, h = 8192, n = 64, n_kv = 8, d = 128: 150994944.
    """
    return 2 * hidden_size * head_size * (attention_heads + kv_heads)


@formula(
    equation=(
        "q_lora_rank * (hidden_size + attention_heads * (nope_head_size + rope_head_size))"
        " + hidden_size * (kv_lora_rank + rope_head_size)"
        " + attention_heads * kv_lora_rank * (nope_head_size + value_head_size)"
        " + hidden_size * attention_heads * value_head_size"
    ),
    source=_LATENT,
    constant="parameter",
)
def mla_parameters(
    hidden_size: Array,
    attention_heads: Array,
    q_lora_rank: Array,
    kv_lora_rank: Array,
    nope_head_size: Array,
    rope_head_size: Array,
    value_head_size: Array,
) -> Array:
    """Weights of one layer's multi-head latent attention, r_q (h + n d_q) + h (r + d_r) + r n (d_n + d_v) + n d_v h.

    Queries pass through r_q numbers; keys and values come from r numbers, next to d_r position-dependent ones that all
    heads share; d_q = d_n + d_r. Norms of the latent vectors are not in it.

    Args:
        hidden_size: h, width of the residual stream.
        attention_heads: n, heads.
        q_lora_rank: r_q, latent width of queries.
        kv_lora_rank: r, latent width of keys and values.
        nope_head_size: d_n, a head's position-free part of queries and keys.
        rope_head_size: d_r, their part that carries the position.
        value_head_size: d_v, width of one head's values.

    Returns:
        Parameters of one layer.

    Example: DeepSeek-V3, h = 7168, n = 128, r_q = 1536, r = 512, d_n = 128, d_r = 64, d_v = 128: 187105280.
    """
    queries = q_lora_rank * (hidden_size + attention_heads * (nope_head_size + rope_head_size))
    latent = hidden_size * (kv_lora_rank + rope_head_size)
    heads = attention_heads * kv_lora_rank * (nope_head_size + value_head_size)
    return queries + latent + heads + hidden_size * attention_heads * value_head_size


@formula(
    equation=(
        "hidden_size * attention_heads * (nope_head_size + rope_head_size)"
        " + hidden_size * (kv_lora_rank + rope_head_size)"
        " + attention_heads * kv_lora_rank * (nope_head_size + value_head_size)"
        " + hidden_size * attention_heads * value_head_size"
    ),
    source=_LATENT,
    output="mla_parameters",
    constant="parameter",
)
def mla_parameters_of_full_rank_queries(
    hidden_size: Array,
    attention_heads: Array,
    kv_lora_rank: Array,
    nope_head_size: Array,
    rope_head_size: Array,
    value_head_size: Array,
) -> Array:
    """Weights of one layer's latent attention whose queries are not latent: h n d_q stands in for r_q (h + n d_q).

    Args:
        hidden_size: h, width of the residual stream.
        attention_heads: n, heads.
        kv_lora_rank: r, latent width of keys and values.
        nope_head_size: d_n, a head's position-free part of queries and keys.
        rope_head_size: d_r, their part that carries the position.
        value_head_size: d_v, width of one head's values.

    Returns:
        Parameters of one layer.

    Example: DeepSeek-V2-Lite, h = 2048, n = 16, r = 512, d_n = 128, d_r = 64, d_v = 128: 13762560.
    """
    queries = hidden_size * attention_heads * (nope_head_size + rope_head_size)
    latent = hidden_size * (kv_lora_rank + rope_head_size)
    heads = attention_heads * kv_lora_rank * (nope_head_size + value_head_size)
    return queries + latent + heads + hidden_size * attention_heads * value_head_size


@formula(
    equation="mlp_matrices * hidden_size * mlp_size",
    source="Vaswani et al. 2017, arXiv 1706.03762, section 3.3; Shazeer 2020, arXiv 2002.05202 (gated)",
    constant="parameter",
)
def mlp_parameters(hidden_size: Array, mlp_size: Array, mlp_matrices: Array) -> Array:
    """Weights of one layer's MLP, m h f: m = 2 for a plain one, m = 3 for a gated one (SwiGLU, GeGLU).

    Args:
        hidden_size: h, width of the residual stream.
        mlp_size: f, width inside the MLP.
        mlp_matrices: m, matrices.

    Returns:
        Parameters of one layer.

    Example: Llama 2 7B, h = 4096, f = 11008, m = 3: 135266304.
    """
    return mlp_matrices * hidden_size * mlp_size


@formula(
    equation="moe_layers * experts * mlp_matrices * hidden_size * expert_size", source=_EXPERTS, constant="parameter"
)
def expert_parameters(
    moe_layers: Array, experts: Array, hidden_size: Array, expert_size: Array, mlp_matrices: Array
) -> Array:
    """Weights of the routed experts, L E m h f.

    With the experts that one token is sent to in place of all, it is their active part.

    Args:
        moe_layers: L, layers that have experts.
        experts: E, routed experts of such a layer.
        hidden_size: h, width of the residual stream.
        expert_size: f, width inside one expert.
        mlp_matrices: m, matrices of one expert.

    Returns:
        Parameters of all routed experts.

    Example: Mixtral 8x7B, L = 32, E = 8, m = 3, h = 4096, f = 14336: 45097156608 of its 46702792704 parameters.
    """
    return moe_layers * experts * mlp_matrices * hidden_size * expert_size


@formula(equation="hidden_size * experts", source=_EXPERTS, constant="parameter")
def router_parameters(hidden_size: Array, experts: Array) -> Array:
    """Weights of one layer's router, h E.

    Args:
        hidden_size: h, width of the residual stream.
        experts: E, routed experts to choose among.

    Returns:
        Parameters of one layer.

    Example: Mixtral 8x7B, h = 4096, E = 8: 32768.
    """
    return hidden_size * experts


@formula(
    equation="hidden_size * vocabulary_size", source="Vaswani et al. 2017, arXiv 1706.03762, 3.4", constant="parameter"
)
def output_head_parameters(hidden_size: Array, vocabulary_size: Array) -> Array:
    """Weights of the output head, h V: as many as the token embedding has, with which it may share them.

    Args:
        hidden_size: h, width of the residual stream.
        vocabulary_size: V, entries of the vocabulary.

    Returns:
        Parameters.

    Example: Llama 3 70B, h = 8192, V = 128256: 1050673152.
    """
    return hidden_size * vocabulary_size


@formula(equation="layers * attention_heads * head_size", source="Chowdhery et al. 2022, arXiv 2204.02311, appendix B")
def attention_width(layers: Array, attention_heads: Array, head_size: Array) -> Array:
    """Width of attention over all layers, L n d: one forward pass takes 4 L n d FLOP for each token attended to.

    Args:
        layers: L, layers.
        attention_heads: n, query heads; shared keys and values do not lower it.
        head_size: d, width of one head.

    Returns:
        A count.

    Example: PaLM 540B, L = 118, n = 48, d = 256: 1449984 (arXiv 2204.02311, table 1).
    """
    return layers * attention_heads * head_size


@formula(
    equation="layers * attention_heads * (nope_head_size + rope_head_size + value_head_size) / 2",
    source=_LATENT,
    output="attention_width",
)
def mla_attention_width(
    layers: Array, attention_heads: Array, nope_head_size: Array, rope_head_size: Array, value_head_size: Array
) -> Array:
    """Width of latent attention over all layers, L n (d_q + d_v) / 2, the mean of queries' and values' head sizes.

    Scores take 2 d_q FLOP for a head and a token attended to, and the weighted values 2 d_v. It holds for training and
    prefill, where keys and values are expanded from their latent vector.

    Args:
        layers: L, layers.
        attention_heads: n, heads.
        nope_head_size: d_n, the position-free part of d_q.
        rope_head_size: d_r, the part of d_q that carries the position.
        value_head_size: d_v, width of one head's values.

    Returns:
        A count.

    Example: DeepSeek-V3, L = 61, n = 128, d_q = 128 + 64, d_v = 128: 1249280.
    """
    return layers * attention_heads * (nope_head_size + rope_head_size + value_head_size) / 2


@formula(
    equation="layers * attention_heads * (kv_lora_rank + rope_head_size / 2)",
    source=_LATENT,
    output="decode_attention_width",
)
def mla_decode_attention_width(
    layers: Array, attention_heads: Array, kv_lora_rank: Array, rope_head_size: Array
) -> Array:
    """Width of latent attention over all layers while decoding, L n (r + d_r / 2).

    The matrix that expands keys is multiplied into the query, and that of values into the output, so that a head takes
    2 (r + d_r) FLOP for a score and 2 r for a weighted value by token attended to, which is 4 (r + d_r / 2).

    Args:
        layers: L, layers.
        attention_heads: n, heads.
        kv_lora_rank: r, latent width of keys and values.
        rope_head_size: d_r, width of the shared position-dependent key.

    Returns:
        A count.

    Example: DeepSeek-V3, L = 61, n = 128, r = 512, d_r = 64: 4247552, 3.4 times its width in training.
    """
    return layers * attention_heads * (kv_lora_rank + rope_head_size / 2)


@formula(equation="2 * layers * kv_heads * head_size", source=_ATTENTION)
def kv_width(layers: Array, kv_heads: Array, head_size: Array) -> Array:
    """Numbers that the key-value cache holds for one token, 2 L n_kv d.

    Args:
        layers: L, layers.
        kv_heads: n_kv, heads of keys and of values.
        head_size: d, width of one head.

    Returns:
        A count.

    Example: Llama 2 70B, L = 80, n_kv = 8, d = 128: 163840, which is 320 KiB of bf16.
    """
    return 2 * layers * kv_heads * head_size


@formula(equation="layers * (kv_lora_rank + rope_head_size)", source=_LATENT, output="kv_width")
def mla_kv_width(layers: Array, kv_lora_rank: Array, rope_head_size: Array) -> Array:
    """Numbers that the cache of latent attention holds for one token, L (r + d_r): one latent vector, one shared key.

    Args:
        layers: L, layers.
        kv_lora_rank: r, latent width of keys and values.
        rope_head_size: d_r, width of the shared position-dependent key.

    Returns:
        A count.

    Example: DeepSeek-V3, L = 61, r = 512, d_r = 64: 35136.
    """
    return layers * (kv_lora_rank + rope_head_size)


@formula(
    equation="attention_window - attention_window * (attention_window - 1) / (2 * sequence_length)",
    source=_WINDOW,
    output="attended_tokens",
    law_of_numbers=True,
)
def causal_attended_tokens(sequence_length: Array, attention_window: Array) -> Array:
    """Tokens that a token attends to on average under a causal mask, w - w (w - 1) / 2 s.

    The first w tokens attend to 1, 2, ..., w tokens, themselves included, and all later ones to w. Without a window
    w = s, and it is (s + 1) / 2. A window that is longer than the sequence has to be cut to it first. Under a full mask
    every token is counted with w tokens, which needs no formula. Both lengths are plain numbers of tokens, because the
    1 stands for the token itself.

    Args:
        sequence_length: s, tokens of the sequence.
        attention_window: w <= s, tokens that a token may attend to at most, itself included.

    Returns:
        Tokens.

    Example: s = 8192, w = 4096: 3072.25; without a window 4096.5.
    """
    return attention_window - attention_window * (attention_window - 1) / (2 * sequence_length)
