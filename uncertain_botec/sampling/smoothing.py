"""Which input is integrated out of which output: the one that moves it most, among those it is a straight line in.

Cost is a straight line in price, and time in tokens or in 1/MFU, all else equal. Nothing is assumed of a formula: each
is tried at the medians of the other inputs here, and at every point again where the line is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from uncertain_botec.dependence import Dependence
from uncertain_botec.distributions import level_of_u
from uncertain_botec.planning import Plan, evaluate
from uncertain_botec.scenario import Scenario
from uncertain_botec.tallies import Floats

STRAIGHT = 1e-6
"""How far from a straight line an output may be, relative to itself; a quantile is then at most so much off."""

# Where each input is tried while the others are at their medians, which come last.
_TRIED = (0.1, 0.3, 0.9, 0.5)

# An input that moves an output less than this, relative to the one that moves it most, smooths too little.
_MATTERS = 0.2


@dataclass(frozen=True)
class Line:
    """An output as a straight line in t, all else equal: output = intercept + slope t.

    Attributes:
        output: its name.
        input: the input x that is integrated out.
        inverse: whether t is 1/x rather than x.
    """

    output: str
    input: str
    inverse: bool


@dataclass(frozen=True)
class Given:
    """The law of an input's normal score given those of the inputs that it is correlated with.

    Attributes:
        weights: the conditional mean is the weighted sum of the others' scores, by name.
        spread: the conditional standard deviation.
    """

    weights: Mapping[str, float]
    spread: float


def without_luck(plan: Plan) -> Plan:
    """The plan as far as it is the same for equal inputs."""
    return replace(plan, steps=tuple(step for step in plan.steps if not plan.random(step.name)))


def lines(scenario: Scenario) -> tuple[Line, ...]:
    """One line for each output that has any, by trying every uncertain input at some values."""
    candidates = [name for name in scenario.uncertain if _can_be_integrated(scenario, name)]
    if not candidates:
        return ()
    values = _tried(scenario)
    found = []
    for output in scenario.plan.outputs:
        if output not in values or scenario.certain(output) or not np.isfinite(values[output]).all():
            continue
        swings = dict(zip(scenario.uncertain, np.ptp(values[output], axis=1), strict=True))
        enough = _MATTERS * max(swings.values())
        for name in sorted(candidates, key=lambda one: -swings[one]):
            if not swings[name] or swings[name] < enough:
                break
            row = scenario.uncertain.index(name)
            inverse = _straight_in(values[name][row], values[output][row])
            if inverse is not None:
                found.append(Line(output, name, inverse))
                break
    return tuple(found)


def given(dependence: Dependence | None, name: str) -> Given:
    """The law of one input's score given the others', by the regression of one normal number on others."""
    if dependence is None or name not in dependence.names:
        return Given({}, 1.0)
    latent, place = np.array(dependence.latent), dependence.names.index(name)
    others = [row for row in range(len(latent)) if row != place]
    # The others may determine each other, so that their matrix has no inverse.
    weights = np.linalg.pinv(latent[np.ix_(others, others)], hermitian=True) @ latent[others, place]
    spread = np.sqrt(max(0.0, 1.0 - weights @ latent[others, place]))
    return Given({dependence.names[row]: float(w) for row, w in zip(others, weights, strict=True)}, float(spread))


def _can_be_integrated(scenario: Scenario, name: str) -> bool:
    law = given(scenario.dependence, name)
    # An input that the others all but determine would leave steps, and of a value with mass there is no one score.
    smooth = (scenario.inputs[one].distribution.smooth for one in (name, *law.weights))
    return law.spread > 0.1 and all(smooth)


def _tried(scenario: Scenario) -> dict[str, Floats]:
    """Every value of shape (uncertain inputs, tries): one input after the other is tried, the rest at their medians."""
    shape = (len(scenario.uncertain), len(_TRIED))
    inputs = {}
    for row, name in enumerate(scenario.uncertain):
        quantiles = scenario.inputs[name].distribution.quantile(level_of_u(np.array(_TRIED)))
        inputs[name] = np.full(shape, quantiles[-1])
        inputs[name][row] = quantiles
    with np.errstate(all="ignore"):
        values = evaluate(without_luck(scenario.plan), {**scenario.known, **inputs})
    return {name: np.broadcast_to(value, shape) for name, value in values.items()}


def _straight_in(x: Floats, y: Floats) -> bool | None:
    """False where y is a straight line in x, True where it is one in 1/x, None where in neither."""
    for inverse in (False, True):
        if inverse and not (x > 0).all():
            continue
        t = 1 / x if inverse else x
        slope = (y[2] - y[0]) / (t[2] - t[0])
        if np.all(np.abs(y[0] + slope * (t - t[0]) - y) <= STRAIGHT * np.abs(y)):
            return inverse
    return None
