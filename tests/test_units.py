"""Texts to base units and back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uncertain_botec.units import UnitError, digits, parse_quantity, readable_scale, to_base, to_display, unit_of
from uncertain_botec.vocabulary import QUANTITIES


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("15T token", "tokens", 15e12),
        ("15 trillion tokens", "tokens", 15e12),
        ("15T", "tokens", 15e12),
        ("1.5e+13 token", "tokens", 1.5e13),
        ("15_000_000_000_000 token", "tokens", 15e12),
        ("70B parameter", "parameters", 70e9),
        ("40 %", "fraction", 0.4),
        ("28%", "fraction", 0.28),
        ("2.2 USD/hour", "USD/accelerator-hour", 2.2 / 3600),
        ("2.2 USD/accelerator-hour", "USD/accelerator-hour", 2.2 / 3600),
        ("2.2 USD/GPU/hour", "USD/accelerator-hour", 2.2 / 3600),
        ("312 TFLOP/s", "FLOP/accelerator-second", 312e12),
        ("0.312 PFLOPS", "FLOP/accelerator-second", 312e12),
        ("5MUSD", "USD", 5e6),
        ("5 million USD", "USD", 5e6),
        ("1720320 accelerator-hour", "accelerator-hours", 1720320 * 3600),
        ("1720320 GPU-hours", "accelerator-hours", 1720320 * 3600),
        ("45 day", "days", 45 * 86400),
        ("45day", "days", 45 * 86400),
        ("80 GB", "byte", 80e9),
        ("80 B", "byte", 80),
        ("80 GiB", "byte", 80 * 2**30),
    ],
)
def test_what_people_write_is_read(text: str, unit: str, value: float) -> None:
    """Numbers with scales, prefixes, written powers and compound units mean what a reader expects."""
    assert parse_quantity(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "message", "fix"),
    [
        ("2.2 USD", "USD/accelerator-hour", "'USD' measures money, not money per accelerator time", None),
        ("1e13", "tokens", "a number in quotes needs its unit", "write 1e13 without quotes"),
        ("989", "FLOP/accelerator-second", "a number in quotes needs its unit", None),
        ("989 TFLOPs", "FLOP/accelerator-second", "measures flop", '"TFLOP/s" for a rate'),
        ("1,720,320 token", "tokens", "a comma is not part of a number", "1_720_320 token"),
        ("5 EUR", "USD", "'EUR' is not a unit", "money is in USD"),
        ("15T banana", "tokens", "'banana' is not a unit", None),
        ("15T parameter", "tokens", "'parameter' measures parameter, not token", None),
        ("many tokens", "tokens", "starts with a number", None),
        ("", "tokens", "starts with a number", None),
        ("3 (((", "USD", "is not a unit", None),
        ("3 USD/", "USD", "is not a unit", None),
        ("3 __import__('os')", "USD", "is not a unit", None),
        ("3 USD**999999999", "USD", "measures money^1e+09", None),
        ("3 " + "USD*" * 1000 + "USD", "USD", "a quantity of", None),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, unit: str, message: str, fix: str | None) -> None:
    """A wrong dimension, an unknown word or a bare number in quotes is an error that says how to write it."""
    with pytest.raises(UnitError) as caught:
        parse_quantity(text, unit)
    assert message in str(caught.value)
    assert fix is None or fix in str(caught.value.fix)


@pytest.mark.parametrize("name", sorted(QUANTITIES))
def test_every_quantity_has_a_readable_example(name: str) -> None:
    """The example in every error message is itself a value that is accepted."""
    quantity = QUANTITIES[name]
    example = quantity.example
    value = parse_quantity(example.strip('"'), quantity.unit) if example.startswith('"') else float(example)
    assert quantity.admits(value)


@given(st.floats(1e-30, 1e30), st.sampled_from(sorted({quantity.unit for quantity in QUANTITIES.values()})))
def test_round_trip(value: float, unit: str) -> None:
    """Base units to printed units and back is the identity up to rounding, in numbers and in texts."""
    assert to_base(to_display(value, unit), unit) == pytest.approx(value, rel=1e-15)
    factor = unit_of(unit)[0]
    assert parse_quantity(f"{value!r} {unit}", unit) == pytest.approx(value * factor, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1720320.4, 0.0, "1,720,000"),
        (3.14159, 0.001, "3.142"),
        (3.14159, 0.02, "3.14"),
        (3.14159, 0.3, "3.1"),
        (1234.5, 30.0, "1,230"),
        (0.0, 0.0, "0.000"),
        (-2.5, 0.0, "-2.500"),
        (math.inf, 0.0, "inf"),
        (3.2e24, 0.0, "3.2e+24"),
        (4.567e-9, 0.0, "4.57e-09"),
    ],
)
def test_digits_follow_the_error(value: float, error: float, text: str) -> None:
    """No digit is printed below the leading digit of the standard error, and never more than four."""
    assert digits(value, error) == text


@pytest.mark.parametrize(
    ("value", "unit", "name"),
    [
        (8.3e23, "FLOP", "10^23 FLOP"),
        (4.2e6, "USD", "million USD"),
        (2.2e9, "USD", "billion USD"),
        (31.0, "days", "days"),
        (1.7e6, "accelerator-hours", "million accelerator-hours"),
    ],
)
def test_scales_have_names(value: float, unit: str, name: str) -> None:
    """A table row says its power of ten in words where there are words for it."""
    scale, text = readable_scale(value, unit)
    assert text == name
    assert 1 <= value / scale < 1000
