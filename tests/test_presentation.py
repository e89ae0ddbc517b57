"""Numbers with their units, as people read them."""

from __future__ import annotations

import re

import pytest

from uncertain_botec.presentation import amount, percent, row_title
from uncertain_botec.vocabulary import QUANTITIES


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1, "days", "1 day"),
        (1.5, "days", "1.5 days"),
        (1, "accelerator-hours", "1 accelerator-hour"),
        (1_000, "accelerator-hours", "1,000 accelerator-hours"),
        (1, "TFLOP/s", "1 TFLOP/s"),
        (6e6, "USD", "6 million USD"),
    ],
)
def test_one_is_singular(value: float, unit: str, text: str) -> None:
    """An amount of one is that of a day; all others are of days."""
    assert amount(value, unit) == text


@pytest.mark.parametrize(
    ("name", "unit", "title"),
    [
        ("tokens", "trillion tokens", "Tokens (trillion)"),
        ("tokens_per_parameter", "token/parameter", "Tokens per parameter"),
        ("weight_bytes_per_parameter", "byte/parameter", "Weight bytes per parameter (byte/parameter)"),
        ("price_per_accelerator_hour", "USD/accelerator-hour", "Price per accelerator hour (USD/accelerator-hour)"),
    ],
)
def test_a_unit_is_left_out_as_a_whole_word(name: str, unit: str, title: str) -> None:
    """What the title says already is not said again, and nothing is left of a unit without its end."""
    assert row_title(name, unit) == title


@pytest.mark.parametrize("scale", ["", "thousand ", "10^-4 "])
def test_no_unit_lacks_its_end(scale: str) -> None:
    """Of no quantity does a title end in a stroke or a hyphen."""
    titles = [row_title(name, f"{scale}{one.unit}") for name, one in QUANTITIES.items()]
    assert [one for one in titles if re.search(r"[/-]\)|\(\W*\)", one)] == []


@pytest.mark.parametrize(("error", "text"), [(0.12, "10 %"), (0.0004, "0.04 %"), (1e-6, "<0.001 %"), (1.5, "200 %")])
def test_a_relative_error_has_one_digit(error: float, text: str) -> None:
    """And no power of ten."""
    assert percent(error) == text
