"""Energy and emissions against what was published, and in the limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uncertain_botec.formulas import energy

HOUR = 3600.0
MWH = 3.6e9
GRAMS_PER_JOULE = 1000 / 3.6e6  # of 1 kg/kWh
positive = st.floats(1e-3, 1e3)


def test_llama_2_70b() -> None:
    """Llama 2 70B: 1,720,320 hours at 400 W are 688.1 MWh, which at 0.4235 kg/kWh emit 291.42 t."""
    drawn = energy.energy(1720320 * HOUR, 400, 1)
    assert drawn / MWH == pytest.approx(688.1, abs=0.05)
    assert energy.emissions(drawn, 0.4235 * GRAMS_PER_JOULE) / 1e6 == pytest.approx(291.42, abs=5e-3)


def test_power_at_the_node() -> None:
    """An accelerator of 700 W draws 966 W at the node when that draws 1.38 times as much."""
    assert energy.accelerator_power(700, 1.38) == pytest.approx(966, rel=1e-12)


@given(positive, positive)
def test_more_of_it(factor: float, pue: float) -> None:
    """Energy is in proportion to hours, to power and to the site's overhead."""
    base = energy.energy(10.0, 400.0, pue)
    changed = (
        energy.energy(10.0 * factor, 400.0, pue),
        energy.energy(10.0, 400.0 * factor, pue),
        energy.energy(10.0, 400.0, pue * factor),
    )
    for more in changed:
        assert more == pytest.approx(base * factor, rel=1e-12)


def test_a_run_without_end() -> None:
    """A run that never finishes takes energy without end, and emits nothing only from a clean grid."""
    hours = np.array([1.0, math.inf, math.inf])
    drawn = energy.energy(hours, 400.0, 1.1)
    assert drawn.tolist() == [pytest.approx(440.0), math.inf, math.inf]
    assert energy.emissions(drawn, np.array([2.0, 2.0, 0.0])).tolist() == [pytest.approx(880.0), math.inf, 0.0]
