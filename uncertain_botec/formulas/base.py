"""What makes a function a formula: its inputs are its parameter names and its output is its own name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Array = Any
"""A float, a NumPy array, a traced JAX array or a pint quantity: formulas use only arithmetic that all of them have."""


@dataclass(frozen=True)
class Formula:
    """A pure function of named quantities, with the equation and source that `botec explain` shows.

    Attributes:
        name: the quantity it gives, which is the function's own name.
        inputs: the quantities it takes, which are the function's parameter names.
        equation: the function's result as an expression in the same names.
        source: where the equation is published.
        function: the function itself.
    """

    name: str
    inputs: tuple[str, ...]
    equation: str
    source: str
    function: Callable[..., Array]

    def __call__(self, *args: Array, **kwargs: Array) -> Array:
        return self.function(*args, **kwargs)


def formula(equation: str, source: str) -> Callable[[Callable[..., Array]], Formula]:
    """Declare a function a formula; a test holds the equation to what the function computes."""

    def declare(function: Callable[..., Array]) -> Formula:
        inputs = tuple(inspect.signature(function).parameters)
        return Formula(function.__name__, inputs, equation, source, function)

    return declare
