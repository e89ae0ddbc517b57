"""Parameters and FLOP of a small fully connected network, counted weight by weight."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula

_COUNTED = "definition: every multiplication and every addition counts as one FLOP"
_THREE_PASSES = "Kaplan et al. 2020, arXiv 2001.08361, section 2.1 (backward takes two forward passes)"


@formula(equation="weights + biases", source="definition", constant="parameter")
def network_parameters(weights: Array, biases: Array = 0) -> Array:
    """Parameters of a network, N = w + b.

    Args:
        weights: w, connections between neurons.
        biases: b.

    Returns:
        Parameters.

    Example: the 2-3-1 network, w = 2 x 3 + 3 x 1 = 9, b = 4: 13.
    """
    return weights + biases


@formula(equation="2 * weights - neurons + biases", source=_COUNTED, constant="FLOP")
def forward_flop(weights: Array, neurons: Array, biases: Array = 0) -> Array:
    """FLOP of one forward pass for one example, F = 2 w - n + b.

    A neuron with k inputs takes k products, k - 1 sums, and one more sum for its bias. With a bias everywhere b = n,
    and it is the rule of two FLOP per weight. Activation functions are not counted.

    Args:
        weights: w, connections between neurons.
        neurons: n, without the inputs.
        biases: b.

    Returns:
        FLOP.

    Example: the 2-3-1 network, w = 9, n = b = 4: three times 4 and once 6 are 18; without biases 14.
    """
    return 2 * weights - neurons + biases


@formula(equation="3 * forward_flop", source=_THREE_PASSES)
def example_flop(forward_flop: Array) -> Array:
    """FLOP of training on one example, 3 F: a forward pass, and a backward pass that takes two more.

    Args:
        forward_flop: F, of one forward pass for one example.

    Returns:
        FLOP.

    Example: the 2-3-1 network with biases: 54, which is 6 per weight.
    """
    return 3 * forward_flop


@formula(equation="example_flop * examples", source="definition")
def training_flop(example_flop: Array, examples: Array) -> Array:
    """FLOP of training on all examples.

    Args:
        example_flop: of one example, forward and backward.
        examples: seen, repeats included.

    Returns:
        FLOP.

    Example: the 2-3-1 network with biases on 1,000 examples: 54000.
    """
    return example_flop * examples
