"""The model size and tokens that give the least loss for a compute budget."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula

_HOFFMANN = "Hoffmann et al. 2022, arXiv 2203.15556, equation 4 (approach 3)"
_REFIT = "constants: Besiroglu et al. 2024, arXiv 2404.10102"


@formula(
    equation=(
        "(parameter_exponent * parameter_coefficient / (token_exponent * token_coefficient))"
        " ** (1 / (parameter_exponent + token_exponent))"
        " * (training_flop / 6) ** (token_exponent / (parameter_exponent + token_exponent))"
    ),
    source=f"{_HOFFMANN}; {_REFIT}",
    law_of_numbers=True,
)
def optimal_parameters(
    training_flop: Array,
    parameter_coefficient: Array,
    token_coefficient: Array,
    parameter_exponent: Array,
    token_exponent: Array,
) -> Array:
    """Parameters of least loss for C = 6 N D, N = G (C/6)^(β/(α+β)) with G = (α A / β B)^(1/(α+β)).

    The constants that Hoffmann et al. print (406.4, 410.7, 0.34, 0.28) do not fit the paper's own conclusions: they ask
    for 92.8 tokens for each parameter at 5.88e23 FLOP, against about 20 by its two other approaches and for the model
    that it trained. The refit to the same runs gives 18.4, which is why its constants are to be preferred.

    Args:
        training_flop: C in FLOP.
        parameter_coefficient: A of A / N^α.
        token_coefficient: B of B / D^β.
        parameter_exponent: α.
        token_exponent: β.

    Returns:
        N in parameters.

    Example: C = 5.88e23, A = 482.01, B = 2085.43, α = 0.3478, β = 0.3658: 7.302e10 parameters.
    """
    a, b = parameter_exponent, token_exponent
    ratio = (a * parameter_coefficient / (b * token_coefficient)) ** (1 / (a + b))
    return ratio * (training_flop / 6) ** (b / (a + b))


@formula(
    equation=(
        "(token_exponent * token_coefficient / (parameter_exponent * parameter_coefficient))"
        " ** (1 / (parameter_exponent + token_exponent))"
        " * (training_flop / 6) ** (parameter_exponent / (parameter_exponent + token_exponent))"
    ),
    source=f"{_HOFFMANN}; {_REFIT}",
    law_of_numbers=True,
)
def optimal_tokens(
    training_flop: Array,
    parameter_coefficient: Array,
    token_coefficient: Array,
    parameter_exponent: Array,
    token_exponent: Array,
) -> Array:
    """Tokens of least loss for C = 6 N D, D = G^-1 (C/6)^(α/(α+β)) with G = (α A / β B)^(1/(α+β)).

    Args:
        training_flop: C in FLOP.
        parameter_coefficient: A of A / N^α.
        token_coefficient: B of B / D^β.
        parameter_exponent: α.
        token_exponent: β.

    Returns:
        D in tokens.

    Example: C = 5.88e23, A = 482.01, B = 2085.43, α = 0.3478, β = 0.3658: 1.342e12 tokens.
    """
    a, b = parameter_exponent, token_exponent
    ratio = (b * token_coefficient / (a * parameter_coefficient)) ** (1 / (a + b))
    return ratio * (training_flop / 6) ** (a / (a + b))


@formula(equation="optimal_tokens / optimal_parameters", source="definition")
def tokens_per_parameter(optimal_tokens: Array, optimal_parameters: Array) -> Array:
    """Tokens for each parameter where the loss is least, D / N.

    Args:
        optimal_tokens: D.
        optimal_parameters: N.

    Returns:
        Tokens per parameter.

    Example: the refit at 5.88e23 FLOP: 18.4.
    """
    return optimal_tokens / optimal_parameters


@formula(
    equation=(
        "loss_floor + parameter_coefficient / optimal_parameters ** parameter_exponent"
        " + token_coefficient / optimal_tokens ** token_exponent"
    ),
    source=f"{_HOFFMANN}; {_REFIT}",
    law_of_numbers=True,
)
def loss(
    optimal_parameters: Array,
    optimal_tokens: Array,
    loss_floor: Array,
    parameter_coefficient: Array,
    token_coefficient: Array,
    parameter_exponent: Array,
    token_exponent: Array,
) -> Array:
    """Loss that the law predicts, L = E + A / N^α + B / D^β.

    It is of the paper's data and tokenizer: losses on other data are not comparable.

    Args:
        optimal_parameters: N.
        optimal_tokens: D.
        loss_floor: E, which neither size nor data removes.
        parameter_coefficient: A of A / N^α.
        token_coefficient: B of B / D^β.
        parameter_exponent: α.
        token_exponent: β.

    Returns:
        Nats per token.

    Example: N = 7.302e10, D = 1.342e12 and the refit's constants with E = 1.8172: 1.974.
    """
    return (
        loss_floor
        + parameter_coefficient / optimal_parameters**parameter_exponent
        + token_coefficient / optimal_tokens**token_exponent
    )
