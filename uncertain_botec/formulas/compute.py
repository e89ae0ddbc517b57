"""How many FLOP: a run's model FLOP under four named conventions, and the FLOP that the hardware executes."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula

_KAPLAN = "Kaplan et al. 2020, arXiv 2001.08361, section 2.1; Hoffmann et al. 2022, arXiv 2203.15556, section 3.3"
_PALM = "Chowdhery et al. 2022, arXiv 2204.02311, appendix B"
_MEGATRON = "Narayanan et al. 2021, arXiv 2104.04473, equation 3; Korthikanti et al. 2022, arXiv 2205.05198, appendix A"

_BY_TOKEN = {"flop_convention": ("palm", "megatron", "exact")}


@formula(
    equation="6 * parameters * tokens",
    source=_KAPLAN,
    when={"flop_convention": ("6nd",)},
    constant="FLOP/parameter-token",
)
def training_flop(parameters: Array, tokens: Array) -> Array:
    """Model FLOP of a training run by the rule of thumb, C = 6 N D.

    Each parameter takes one multiplication and one addition per token in the forward pass (2 N D) and twice that in the
    backward pass (4 N D). Attention scores are left out, which is fair while the sequence is much shorter than six
    times the model's width. Recomputed activations are not counted: they are hardware FLOP, not model FLOP.

    Args:
        parameters: N, the parameters that take part in each token (active ones for a mixture of experts).
        tokens: D, the tokens seen.

    Returns:
        C in FLOP.

    Example: GPT-3, 174.6e9 parameters and 300e9 tokens: 3.14e23 FLOP (arXiv 2005.14165, table D.1).
    """
    return 6 * parameters * tokens


@formula(
    equation="6 * parameters",
    source=_PALM,
    output="weight_flop_per_token",
    when={"flop_convention": ("6nd", "palm")},
    constant="FLOP/parameter-token",
)
def weight_flop_of_all_parameters(parameters: Array) -> Array:
    """FLOP that the weights take for one token, forward and backward, counting every active parameter: 6 N.

    Args:
        parameters: N, active parameters, embeddings included.

    Returns:
        FLOP per token.

    Example: PaLM 540B, N = 540.35e9: 3.2421e12 FLOP per token (arXiv 2204.02311, appendix B).
    """
    return 6 * parameters


@formula(
    equation="6 * matmul_parameters",
    source=_MEGATRON,
    output="weight_flop_per_token",
    when={"flop_convention": ("megatron", "exact")},
    constant="FLOP/parameter-token",
)
def weight_flop_of_matrix_products(matmul_parameters: Array) -> Array:
    """FLOP that the weights take for one token, forward and backward, counting matrix products alone: 6 N_m.

    Looking an embedding up is no product, while the output head is one also where it shares the embedding's weights.
    With a plain MLP of width 4 h and no grouped heads, 6 N_m = 72 l h^2 (1 + V / 12 l h).

    Args:
        matmul_parameters: N_m, active parameters in matrix products.

    Returns:
        FLOP per token.

    Example: GPT-3 with l = 96, h = 12288, V = 51200: N_m = 174.57e9, 1.0474e12 FLOP per token.
    """
    return 6 * matmul_parameters


@formula(
    equation="12 * attention_width * attended_tokens",
    source=f"{_PALM}; {_MEGATRON}",
    constant="FLOP/token^2",
)
def attention_flop_per_token(attention_width: Array, attended_tokens: Array) -> Array:
    """FLOP of the attention scores and of the values they weight, forward and backward: 12 L H Q T.

    Two products of 2 Q FLOP per head and attended token, three times because the backward pass takes two forward ones.
    Under a full mask T is the sequence length, as PaLM, the Megatron papers, torchtitan and llm-foundry count; under a
    causal mask it is the mean number of tokens that there are to attend to, which halves it, as today's Megatron-LM
    and MaxText do. A sliding window lowers it further.

    Args:
        attention_width: L H Q, heads times head size summed over layers.
        attended_tokens: T, tokens that a token attends to on average.

    Returns:
        FLOP per token.

    Example: PaLM 540B, L = 118, H = 48, Q = 256, T = 2048: 3.5635e10 FLOP per token (arXiv 2204.02311, appendix B).
    """
    return 12 * attention_width * attended_tokens


@formula(
    equation="(weight_flop_per_token + attention_flop_per_token) * tokens",
    source=f"{_PALM}; {_MEGATRON}",
    output="training_flop",
    when=_BY_TOKEN,
)
def training_flop_by_token(weight_flop_per_token: Array, attention_flop_per_token: Array, tokens: Array) -> Array:
    """Model FLOP of a training run from those of one token, C = (c_w + c_a) D.

    Args:
        weight_flop_per_token: c_w of the weights, forward and backward.
        attention_flop_per_token: c_a of the attention scores, forward and backward.
        tokens: D, the tokens seen.

    Returns:
        C in FLOP.

    Example: nanoGPT's sizing, 12 layers, h = 768, one sequence of 1,024 tokens under a full mask: 874944921600 FLOP.
    """
    return (weight_flop_per_token + attention_flop_per_token) * tokens


@formula(
    equation="weight_flop_per_token / 3",
    source=_KAPLAN,
    output="recomputed_flop_per_token",
    when={"recompute": ("full",), "flop_convention": ("6nd",)},
)
def recomputed_flop_by_rule_of_thumb(weight_flop_per_token: Array) -> Array:
    """FLOP executed again for one token under full recompute, by the rule of thumb: 2 N of 6 N, so 8 N D in all.

    Args:
        weight_flop_per_token: 6 N.

    Returns:
        FLOP per token.

    Example: N = 7e10: 1.4e11 FLOP per token.
    """
    return weight_flop_per_token / 3


@formula(
    equation=(
        "(weight_flop_per_token * (1 - output_head_parameters / matmul_parameters) + attention_flop_per_token) / 3"
    ),
    source=_MEGATRON,
    output="recomputed_flop_per_token",
    when={"recompute": ("full",), **_BY_TOKEN},
)
def recomputed_flop_in_full(
    weight_flop_per_token: Array,
    attention_flop_per_token: Array,
    output_head_parameters: Array,
    matmul_parameters: Array,
) -> Array:
    """FLOP executed again for one token when every layer's forward pass is recomputed: a third of the layers' FLOP.

    The output head is not a layer and is not recomputed. Together with the model FLOP this is
    96 B s l h^2 (1 + s/6h + V/16lh).

    Args:
        weight_flop_per_token: c_w of the weights, forward and backward.
        attention_flop_per_token: c_a of the attention scores, forward and backward.
        output_head_parameters: V h.
        matmul_parameters: N_m, of which the head is a part.

    Returns:
        FLOP per token.

    Example: l = 96, h = 12288, V = 51200, s = 2048: (1.0474e12 - 3.775e9 + 2.899e10) / 3 = 3.5754e11 FLOP per token.
    """
    layers = weight_flop_per_token * (1 - output_head_parameters / matmul_parameters)
    return (layers + attention_flop_per_token) / 3


@formula(
    equation="attention_flop_per_token / 3",
    source="definition: the forward pass is a third",
    output="recomputed_flop_per_token",
    when={"recompute": ("selective",), "flop_convention": ("palm", "exact")},
)
def recomputed_flop_of_attention(attention_flop_per_token: Array) -> Array:
    """FLOP executed again for one token when attention alone is recomputed: its forward pass, a third of its FLOP.

    Args:
        attention_flop_per_token: c_a, forward and backward.

    Returns:
        FLOP per token.

    Example: l = 96, h = 12288, s = 2048: 2.899e10 / 3 = 9.664e9 FLOP per token.
    """
    return attention_flop_per_token / 3


@formula(
    equation="attention_flop_per_token",
    source="Korthikanti et al. 2022, arXiv 2205.05198, appendix A",
    output="recomputed_flop_per_token",
    when={"recompute": ("selective",), "flop_convention": ("megatron",)},
)
def recomputed_flop_as_published(attention_flop_per_token: Array) -> Array:
    """FLOP executed again for one token when attention alone is recomputed, as the paper counts it.

    The paper's hardware FLOP, 72 B L s h^2 (1 + s/3h + V/12hL), holds twice its model FLOP's attention term s/6h. The
    forward pass alone would be a third of that term; the conventions `palm` and `exact` count so.

    Args:
        attention_flop_per_token: c_a, forward and backward.

    Returns:
        FLOP per token.

    Example: 175B (L = 96, h = 12288, s = 2048) at an MFU of 51.4 %: an HFU of 52.8 % (arXiv 2205.05198, table 5).
    """
    return attention_flop_per_token


@formula(
    equation="training_flop + recomputed_flop_per_token * tokens",
    source=_MEGATRON,
)
def hardware_flop(training_flop: Array, recomputed_flop_per_token: Array, tokens: Array) -> Array:
    """FLOP that the hardware executes: the model's and what is computed again to save memory, C_h = C + c_r D.

    Args:
        training_flop: C, model FLOP.
        recomputed_flop_per_token: c_r, executed again.
        tokens: D, the tokens seen.

    Returns:
        C_h in FLOP.

    Example: N = 7e10, D = 1e12 under full recompute: 6 N D + 2 N D = 5.6e23 FLOP.
    """
    return training_flop + recomputed_flop_per_token * tokens


@formula(equation="mfu * hardware_flop / training_flop", source=_PALM)
def hfu(mfu: Array, hardware_flop: Array, training_flop: Array) -> Array:
    """Hardware FLOP utilisation, HFU = MFU C_h / C.

    Args:
        mfu: model FLOP utilisation while stepping.
        hardware_flop: C_h, with what is recomputed.
        training_flop: C, without.

    Returns:
        A fraction of the dense peak.

    Example: PaLM 540B, MFU 46.2 % and full recompute: 57.8 % (arXiv 2204.02311, section 4.1).
    """
    return mfu * hardware_flop / training_flop


@formula(equation="training_flop / (6 * parameters)", source=_KAPLAN, constant="parameter-token/FLOP")
def tokens(training_flop: Array, parameters: Array) -> Array:
    """Tokens that a compute budget pays for, D = C / 6 N.

    Args:
        training_flop: C, the budget.
        parameters: N, active parameters.

    Returns:
        D in tokens.

    Example: 3.14e23 FLOP and 174.6e9 parameters: 299.7e9 tokens.
    """
    return training_flop / (6 * parameters)
