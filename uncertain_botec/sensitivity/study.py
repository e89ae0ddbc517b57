"""The study of one output: which inputs move it and how much, and which are worth knowing before deciding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from uncertain_botec.distributions import level_of_z
from uncertain_botec.distributions.level import Z90
from uncertain_botec.errors import UsageError
from uncertain_botec.library import did_you_mean
from uncertain_botec.sampling.at_scores import outputs_at
from uncertain_botec.sampling.points import point_set
from uncertain_botec.scenario import Scenario
from uncertain_botec.sensitivity.deciding import checked_set, decision_of, information_of
from uncertain_botec.sensitivity.first_order import first_order, first_order_of_twins
from uncertain_botec.sensitivity.indices import REPLICATES, ZERO
from uncertain_botec.sensitivity.models import CHANCE, Model, Scores, affordable, drawn, keys_of, latent_of, model_of
from uncertain_botec.sensitivity.result import SCALES, InputSensitivity, Sensitivity
from uncertain_botec.sensitivity.shapley import Shapley, shapley
from uncertain_botec.sensitivity.tornado import Swing, Tail, one_at_a_time, tails, whole
from uncertain_botec.tallies import Floats
from uncertain_botec.units import to_display
from uncertain_botec.vocabulary import COST, QUANTITIES

LEVEL = 0.9
"""Probability of the intervals."""

# Draws whose lowest and highest tenths are looked at.
_GIVEN = 1 << 16
# More are kept in memory nowhere, for what is asked of them is soon exact enough.
_ALLOWED = 1 << 22

Scale = Callable[[Floats], Floats]


def analyse_sensitivity(
    scenario: Scenario,
    output: str | None = None,
    *,
    budget: float | str | None = None,
    against: Sequence[Scenario] = (),
    late_cost: float | str | None = None,
    sets: Sequence[Sequence[str]] = (),
    scale: str | None = None,
    draws: int | None = None,
    seed: int = 0,
    level: float = LEVEL,
) -> Sensitivity:
    """Study what moves an output, and what is worth knowing before deciding.

    Args:
        scenario: from `load_scenario`.
        output: whose sensitivity; the cost, or the first output of a scenario that has none.
        budget: what the run is worth, in USD or as a text with a unit; by default the scenario's own. The decision is
            then whether to go or to stop.
        against: other scenarios, such as other clusters or markets. The decision is then which one.
        late_cost: of each day beyond the deadline, in USD per day or as a text with a unit.
        sets: sets of inputs whose value of information is asked for, beside that of each alone.
        scale: whose variance is shared out: "log" (by default where the output is positive), "rank" or "linear".
        draws: at least how many for each part of the study; by default as many as about two seconds take.
        seed: of the draws.
        level: the probability of the intervals of indices.

    Returns:
        The study, in printed units.

    Raises:
        UsageError: an option that cannot be used.
        SamplingError: an output that cannot be.
    """
    output = _output(scenario, output)
    if scale is not None and scale not in SCALES:
        raise UsageError(f"scale {scale!r} is none of {', '.join(SCALES)}")
    if not 0 < level < 1:
        raise UsageError(f"a level of {level:g} is not between 0 and 1")
    if draws is not None and not 1 <= draws <= _ALLOWED:
        raise UsageError(f"a study takes from 1 to {_ALLOWED:,} draws, not {draws:,}")
    decision, why = decision_of(scenario, budget, against, late_cost)
    wanted = [checked_set(scenario, decision, names) for names in sets]
    model = model_of(scenario, output)
    given = _given(scenario, output, model, draws or _GIVEN, seed)
    everything = whole(_evenly(model, given, seed))
    scale, shares, unequal = _shares(model, given, scale, draws, seed, level)
    information, undecided = information_of(decision, wanted, draws, seed, level) if decision else (None, "")
    middle, swings = one_at_a_time(model, keys_of(seed, "medians", REPLICATES))
    unit = QUANTITIES[output].unit
    inputs = [
        _without_influence(scenario, name, everything, middle, unit)
        if name in scenario.inputs and name not in model.names
        else _input(name, given, swings, _scaled(scale, given), shares, unit, level, seed)
        for name in _listed(scenario, output, model)
    ]
    order = {"uncertain": 0, "chance": 0, "none": 1, "known": 2}
    inputs.sort(key=lambda one: (order[one.influence], -one.shapley.value if one.shapley else 0.0))
    if not shares.effects:
        inputs = [replace(one, first_order=None, shapley=None) for one in inputs]
    return Sensitivity(
        scenario,
        output,
        unit,
        level,
        scale,
        shares.resolved,
        _shown(everything, "", unit),
        float(to_display(middle, unit)),
        tuple(inputs),
        information,
        given.output.size,
        shares.draws,
        seed,
        tuple(note for note in (why, unequal, undecided, _moving_along(scenario, model, output)) if note),
    )


def _output(scenario: Scenario, output: str | None) -> str:
    outputs = scenario.plan.outputs
    if output is None:
        return COST if COST in outputs else outputs[0]
    if output not in outputs:
        near = did_you_mean(output, outputs) or f"there are {', '.join(outputs)}"
        raise UsageError(f"{scenario.path}: no output is called {output!r}; {near}")
    return output


def _listed(scenario: Scenario, output: str, model: Model) -> list[str]:
    """What moves the output, what is uncertain besides, and what is known of the output's inputs."""
    rest = [name for name in scenario.uncertain if name not in model.names]
    known = [name for name in scenario.known if name in scenario.plan.reaching(output)]
    return [*model.players, *rest, *known]


# --- draws and shares -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Given:
    """Independent draws, of shape (replicates, size).

    Attributes:
        inputs: by name.
        output: the output.
        twin: the output of runs with the same luck and other inputs, where luck matters.
    """

    inputs: Mapping[str, Floats]
    output: Floats
    twin: Floats | None


def _given(scenario: Scenario, output: str, model: Model, draws: int, seed: int) -> _Given:
    size = max(-(-draws // REPLICATES), 64)
    points = point_set("monte-carlo", size * REPLICATES, seed, REPLICATES)
    keys = keys_of(seed, "given", REPLICATES)

    def independent(purpose: str) -> Scores:
        return drawn(points, model.streams, purpose, 0, size)

    scores = independent("given")
    mine = {name: scores[name] for name in model.names}
    if model.correlated:
        mine = model.correlate(mine, model.factor(range(len(model.correlated))))
    found = outputs_at(scenario, mine, tuple(dict.fromkeys((output, *model.names))), luck=keys, points=size)
    # Without anything that moves it, an output has one value, which all draws share.
    values = np.broadcast_to(found[output], (REPLICATES, size))
    twin = model.at(independent("twin"), keys) if model.chance else None
    return _Given({name: found[name] for name in model.names}, values, twin)


def _evenly(model: Model, given: _Given, seed: int) -> Floats:
    """The output at as many points that are evenly spread: its mean and median err less than those of `given`."""
    if not model.names:
        return given.output
    size = 1 << (given.output.shape[1] - 1).bit_length()
    points = point_set("sobol", size * REPLICATES, seed, REPLICATES)
    return model.at(drawn(points, model.streams, "evenly", 0, size), keys_of(seed, "evenly", REPLICATES))


def _shares(
    model: Model, given: _Given, scale: str | None, draws: int | None, seed: int, level: float
) -> tuple[str, Shapley, str]:
    """Shapley effects on a scale that the output has, which it is, and what to say about that."""
    finite, positive = bool(np.all(np.isfinite(given.output))), bool(np.all(given.output > 0))
    if scale == "log" and not positive:
        raise UsageError("the output is not positive in every draw, so it has no logarithm; use the scale rank")
    usual = "log" if positive and finite else "rank"
    if not model.players:
        return scale or usual, Shapley({}, 0.0, True, 0), ""
    count = draws or affordable(len(model.players) + 1)
    found = Shapley({}, np.nan, False, 0)
    for one in dict.fromkeys((scale or usual, *(() if scale else ("rank",)))):
        found = shapley(model, count, seed=seed, level=level, scale=_scale(one, given.output))
        if np.isfinite(found.variance):
            return one, found, "" if found.resolved else _UNRESOLVED_NOTE.format(scale=one)
    return scale or usual, found, "the output is infinite in some draws, so its variance is too; use the scale rank"


_UNRESOLVED_NOTE = (
    "the variance on the scale {scale} is decided by rare extreme draws, so that its shares are not known; use another"
)


def _scale(scale: str, output: Floats) -> Scale:
    if scale == "log":
        return np.log
    if scale == "linear":
        return np.asarray
    ordered = np.sort(output, axis=None)

    def rank(values: Floats) -> Floats:
        ranks = np.searchsorted(ordered, values, side="left") + np.searchsorted(ordered, values, side="right")
        return np.asarray(ranks / (2 * ordered.size))

    return rank


def _scaled(scale: str, given: _Given) -> _Given:
    to = _scale(scale, given.output)
    return replace(given, output=to(given.output), twin=None if given.twin is None else to(given.twin))


# --- one input --------------------------------------------------------------------------------------------------------


def _input(
    name: str,
    given: _Given,
    swings: Mapping[str, Swing],
    scaled: _Given,
    shares: Shapley,
    unit: str,
    level: float,
    seed: int,
) -> InputSensitivity:
    """One input that moves the output."""
    effect = shares.effects.get(name)
    if name == CHANCE:
        first = first_order_of_twins(scaled.output, scaled.twin, level) if effect and scaled.twin is not None else None
        return InputSensitivity(name, "chance", "", None, None, None, first, effect)
    x = given.inputs[name]
    own = QUANTITIES[name].unit
    low, high = tails(x, given.output)
    swing = swings[name]
    return InputSensitivity(
        name,
        "uncertain",
        own,
        _shown(low, own, unit),
        _shown(high, own, unit),
        Swing(float(to_display(swing.at_p10, unit)), float(to_display(swing.at_p90, unit))),
        first_order(x, scaled.output, level, seed) if effect else None,
        effect,
    )


def _without_influence(scenario: Scenario, name: str, everywhere: Tail, middle: float, unit: str) -> InputSensitivity:
    """One that moves nothing: it is known, or the output is not computed from it."""
    one = scenario.inputs[name]
    own = QUANTITIES[name].unit
    ends = one.distribution.quantile(level_of_z(np.array([-Z90, Z90])))
    low, high = (_shown(replace(everywhere, threshold=float(end)), own, unit) for end in ends)
    shown = float(to_display(middle, unit))
    kind = "known" if one.known else "none"
    return InputSensitivity(name, kind, own, low, high, Swing(shown, shown), ZERO, ZERO)


def _shown(tail: Tail, own: str, unit: str) -> Tail:
    """A tail in printed units."""
    keys = ("mean", "mean_error", "median", "median_error")
    values = {key: float(to_display(getattr(tail, key), unit)) for key in keys}
    return replace(tail, threshold=float(to_display(tail.threshold, own)) if own else tail.threshold, **values)


def _moving_along(scenario: Scenario, model: Model, output: str) -> str:
    """Inputs that the output is not computed from and that move with those that it is."""
    others = [name for name in scenario.uncertain if name not in model.names]
    latent = latent_of(scenario, (*model.names, *others))
    if latent is None:
        return ""
    count = len(model.names)
    along = [name for place, name in enumerate(others, start=count) if np.any(latent[place, :count])]
    if not along:
        return ""
    return f"{output} is not computed from {', '.join(along)}, which only moves with inputs that it is computed from"
