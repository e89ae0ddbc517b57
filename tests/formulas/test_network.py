"""A small network's counts against the published example and a walk over every neuron."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from uncertain_botec.formulas import network


def test_two_three_one() -> None:
    """The 2-3-1 network: 13 parameters, 18 FLOP forward with biases and 14 without, 54 for training on one example."""
    assert network.network_parameters(9, 4) == 13
    assert network.forward_flop(9, 4, 4) == 18
    assert network.forward_flop(9, 4) == 14
    assert network.example_flop(18) == 54 == 6 * 9
    assert network.training_flop(54, 1000) == 54000


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.booleans())
def test_against_a_walk_over_every_neuron(sizes: list[int], biased: bool) -> None:
    """Counting each neuron's products and sums one by one gives parameters, forward FLOP and training FLOP."""
    weights = biases = neurons = products = sums = 0
    for before, here in itertools.pairwise(sizes):
        for _ in range(here):
            neurons += 1
            weights += before
            products += before
            terms = before + biased
            biases += biased
            sums += terms - 1
    assert network.network_parameters(weights, biases) == products + biases
    forward = network.forward_flop(weights, neurons, biases)
    assert forward == products + sums
    assert not biased or forward == 2 * weights
    assert network.training_flop(network.example_flop(forward), 7) == 21 * (products + sums)
