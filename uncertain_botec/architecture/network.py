"""A fully connected network, counted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Network:
    """Layers of neurons, each connected to all of the layer before.

    Attributes:
        layer_sizes: nodes of each layer; the first are the inputs.
        biases: whether every neuron has one.
    """

    layer_sizes: tuple[int, ...]
    biases: bool = True

    def quantities(self) -> dict[str, float]:
        """Weights, biases, and neurons: the nodes that are no inputs.

        Example: 2-3-1 has 2 x 3 + 3 x 1 = 9 weights, 4 neurons, and 4 biases.
        """
        neurons = sum(self.layer_sizes[1:])
        return {
            "weights": float(sum(before * after for before, after in pairwise(self.layer_sizes))),
            "biases": float(neurons if self.biases else 0),
            "neurons": float(neurons),
        }
