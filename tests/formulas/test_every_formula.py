"""What holds for every formula: a worked example, its dimension, its equation, its documentation."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
import pytest
from equations import MATHEMATICS, tolerance
from worked_examples import EXAMPLES

from uncertain_botec import formulas
from uncertain_botec.architecture import SHAPE
from uncertain_botec.choices import CHOICES
from uncertain_botec.estimators import ESTIMATORS
from uncertain_botec.formulas.base import Formula
from uncertain_botec.quantities import Quantity
from uncertain_botec.units import is_count, parse_quantity, registry
from uncertain_botec.vocabulary import QUANTITIES

MODULES = [
    importlib.import_module(f"{formulas.__name__}.{one.name}") for one in pkgutil.iter_modules(formulas.__path__)
]


def _declared() -> dict[str, Formula]:
    """Every formula by its function's name, with the module's before it where another module has the same."""
    found: dict[str, Formula] = {}
    for module in MODULES:
        for one in vars(module).values():
            if isinstance(one, Formula):
                name = one.function.__name__
                found[name if name not in found else f"{module.__name__.rpartition('.')[2]}.{name}"] = one
    return found


DECLARED = _declared()
COUNTS = {name: one for name, one in DECLARED.items() if one.function.__module__.endswith(".architecture")}
EVALUATED = {name: one for name, one in DECLARED.items() if name not in COUNTS}
PLAIN = {name: one for name, one in EVALUATED.items() if not one.random}


# Laws that were fitted to plain numbers, a count of scores, which is tokens times tokens, powers of counts, and steps
# that give a token each.
WITHOUT_UNITS = {"optimal_parameters", "optimal_tokens", "loss", "activation_memory", "causal_attended_tokens"}
WITHOUT_UNITS |= {"prefill_flop", "decode_attention_time", "step_time", "latency_batch", "replica_time"}
WITHOUT_UNITS |= {
    "running_requests",
    "time_per_output_token",
    "queue_probability",
    "break_even_request_rate",
    "response_time",
}


def quantity(name: str) -> Quantity:
    """What a name stands for, in the vocabulary or among the sizes of an architecture."""
    return QUANTITIES.get(name) or SHAPE[name]


def base(name: str, stated: Any) -> float:
    """A stated value in base units, checked to be one that a prior file could hold."""
    one = quantity(name)
    if isinstance(stated, str):
        return parse_quantity(stated, one.unit)
    assert is_count(one.unit), name
    return float(stated)


def test_every_formula_has_a_worked_example() -> None:
    """The table of worked examples and the formulas name the same functions."""
    assert EXAMPLES.keys() == PLAIN.keys()


def test_every_formula_is_used() -> None:
    """Each formula belongs to an estimator, and no estimator holds another."""
    used = {one for estimator in ESTIMATORS.values() for one in estimator.formulas}
    assert used == {*EVALUATED.values()}


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_worked_example(name: str) -> None:
    """The formula gives its example's result to the stated precision, and takes exactly its example's inputs."""
    one = PLAIN[name]
    inputs, result, precision = EXAMPLES[name]
    assert inputs.keys() == {*one.inputs}
    value = one(**{key: base(key, stated) for key, stated in inputs.items()})
    assert value == pytest.approx(base(one.name, result), rel=precision)


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_dimension(name: str) -> None:
    """Evaluated on pint quantities, a formula has the dimension that its output is declared in."""
    one = PLAIN[name]
    inputs = EXAMPLES[name][0]
    if one.law_of_numbers:
        assert name in WITHOUT_UNITS
        return
    units = registry()
    # Base units by name, so that a wrong dimension cannot hide in a magnitude.
    arguments = {
        key: base(key, stated) * units(_parsable(quantity(key).unit)).to_base_units().units
        for key, stated in inputs.items()
    }
    result = one(**arguments) * units(_parsable(one.constant))
    expected = units(_parsable(quantity(one.name).unit))
    assert units.Quantity(result).dimensionality == expected.dimensionality
    plain = one(**{key: base(key, stated) for key, stated in inputs.items()})
    assert units.Quantity(result).to_base_units().magnitude == pytest.approx(plain, rel=1e-12)


def _parsable(unit: str) -> str:
    top, slash, below = unit.replace("-", "*").partition("/")
    return f"{top}/({below})" if slash else top


def test_a_wrong_dimension_is_caught() -> None:
    """The check above is one: a price added to a time, or a missing factor, does not pass."""
    units = registry()
    with pytest.raises(Exception, match="Cannot convert"):
        _ = units("1 USD") + units("1 second")
    assert (units("1 USD") * units("1 second")).dimensionality != units("USD").dimensionality


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_equation_is_what_the_function_computes(name: str) -> None:
    """The equation shown to people, evaluated as an expression, gives what the function gives."""
    one = PLAIN[name]
    values = {key: base(key, stated) for key, stated in EXAMPLES[name][0].items()}
    for change in (1.0, 1.37):
        moved = {key: value * change if quantity(key).high > 1 else value for key, value in values.items()}
        found = one(**moved)
        with np.errstate(divide="ignore"):
            known = MATHEMATICS | moved | {one.name: found}
            shown = eval(one.equation, {"__builtins__": {}}, known)  # noqa: S307 - our own expressions
        assert found == pytest.approx(shown, rel=tolerance(one.name, one.equation))


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_formulas_are_documented(name: str) -> None:
    """Every formula says what it computes, with symbols, units, a worked example and a source, in known quantities."""
    one = DECLARED[name]
    text = inspect.getdoc(one.function) or ""
    assert all(part in text for part in ("Args:", "Returns:", "Example:"))
    assert all(f"    {key}:" in text for key in one.inputs)
    assert one.source
    assert {one.name, *one.inputs} <= QUANTITIES.keys() | SHAPE.keys()
    assert {*one.trigger} <= QUANTITIES.keys()
    assert all({*words} <= CHOICES[choice].options.keys() for choice, words in one.when.items())


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_formulas_take_arrays_and_broadcast(name: str) -> None:
    """A formula of arrays is the formula of their elements."""
    one = PLAIN[name]
    values = {key: base(key, stated) for key, stated in EXAMPLES[name][0].items()}
    arrays = {key: np.array([value, value]) for key, value in values.items()}
    assert np.asarray(one(**arrays)).tolist() == pytest.approx([float(one(**values))] * 2, rel=1e-14)


def test_only_zero_stands_for_what_is_not_stated() -> None:
    """A default other than zero would hide a prior."""
    from uncertain_botec.formulas.base import formula

    with pytest.raises(TypeError, match="only zero"):

        @formula(equation="a", source="none")
        def hidden(parameters: Any, tokens: Any = 1e12) -> Any:
            return parameters * tokens
