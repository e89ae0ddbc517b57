"""Numbers with their units, as people read them."""

from __future__ import annotations

import pytest

from uncertain_botec.presentation import amount


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
