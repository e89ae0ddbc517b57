"""How many FLOP."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula


@formula(
    equation="6 * parameters * tokens",
    source="Kaplan et al. 2020, arXiv 2001.08361, section 2.1; Hoffmann et al. 2022, arXiv 2203.15556, section 3.3",
)
def training_flop(parameters: Array, tokens: Array) -> Array:
    """Model FLOP of a training run, C = 6 N D.

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
