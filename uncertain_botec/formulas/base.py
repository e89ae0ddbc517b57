"""What makes a function a formula: its inputs are its parameter names and its output is, as a rule, its own name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

Array = Any
"""A float, a NumPy array, a traced JAX array or a pint quantity: formulas use only arithmetic that all of them have."""


class Luck(Protocol):
    """Where a simulation gets its randomness: a fold over events, which the engine runs inside its kernel."""

    def fold(self, step: Callable[[Array, Array], Array], state: Array) -> Array:
        """Apply `state = step(state, e)` for one event after another, `e` from the standard exponential distribution.

        The state is a tuple of arrays; its first one says in which draws nothing more happens.
        """

    def normal(self) -> Array:
        """One number per draw from the standard normal distribution."""


@dataclass(frozen=True, eq=False)
class Formula:
    """A pure function of named quantities, with the equation and source that `botec explain` shows.

    Attributes:
        name: the quantity it gives.
        inputs: the quantities it takes, which are the function's parameter names.
        optional: those among the inputs that count as zero where nothing states them.
        equation: the function's result as an expression in the same names.
        source: where the equation is published.
        function: the function itself.
        when: the choices under which it applies, by the name of the choice.
        trigger: where given, the formula takes part only if one of these inputs is known.
        some_of: where given, it takes part only if one of these optional inputs is known.
        constant: the unit of the equation's numeric constant, where that is not a pure number.
        law_of_numbers: whether units do not follow from it: an empirical law fitted to plain numbers, a power of a
            count, or a sum over steps that each give one token.
        random: whether the function takes `luck` besides its inputs.
    """

    name: str
    inputs: tuple[str, ...]
    optional: tuple[str, ...]
    equation: str
    source: str
    function: Callable[..., Array]
    when: Mapping[str, tuple[str, ...]]
    trigger: tuple[str, ...]
    some_of: tuple[str, ...]
    constant: str
    law_of_numbers: bool
    random: bool

    @property
    def required(self) -> tuple[str, ...]:
        """The inputs without which it cannot be evaluated."""
        return tuple(name for name in self.inputs if name not in self.optional)

    def fits(self, choices: Mapping[str, str]) -> bool:
        """Whether the choices are those under which it applies."""
        return all(choices.get(name) in words for name, words in self.when.items())

    def triggered(self, known: Collection[str]) -> bool:
        """Whether what it waits for is known, so that it takes part and asks for whatever else it needs."""
        return all(not names or any(name in known for name in names) for names in (self.trigger, self.some_of))

    def __call__(self, *args: Array, **kwargs: Array) -> Array:
        return self.function(*args, **kwargs)


def formula(
    equation: str,
    source: str,
    *,
    output: str | None = None,
    when: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    trigger: tuple[str, ...] = (),
    some_of: tuple[str, ...] = (),
    constant: str = "count",
    law_of_numbers: bool = False,
) -> Callable[[Callable[..., Array]], Formula]:
    """Declare a function a formula; a test holds the equation to what the function computes.

    A parameter with the default 0 is optional. No other default is allowed: it would hide a prior.
    """

    def declare(function: Callable[..., Array]) -> Formula:
        parameters = dict(inspect.signature(function).parameters)
        random = parameters.pop("luck", None) is not None
        optional = tuple(name for name, one in parameters.items() if one.default is not inspect.Parameter.empty)
        if any(parameters[name].default != 0 for name in optional):
            raise TypeError(f"{function.__name__}: only zero may stand for what is not stated")
        return Formula(
            output or function.__name__,
            tuple(parameters),
            optional,
            equation,
            source,
            function,
            MappingProxyType(dict(when)),
            trigger,
            some_of,
            constant,
            law_of_numbers,
            random,
        )

    return declare


def namespace(*values: Array) -> Any:
    """The functions that go with the values: `jax.numpy` if one of them is a JAX array, else `numpy`."""
    for value in values:
        found = getattr(value, "__array_namespace__", None)
        if found is not None and not isinstance(value, np.ndarray | np.generic):
            return found()
    return np


def priced(amount: Array, price: Array) -> Array:
    """Amount times price, and nothing where the price is nothing, even for an amount without end."""
    xp = namespace(amount, price)
    return xp.where(price == 0, 0, amount) * price


def over(above: Array, below: Array) -> Array:
    """One amount over another: without end where the other is nothing or less, but nothing over nothing is nothing."""
    xp = namespace(above, below)
    with np.errstate(divide="ignore", invalid="ignore"):
        return xp.where(above > 0, above / xp.where(below > 0, below, 0), 0)
