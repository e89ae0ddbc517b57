"""Several runs on common random numbers: how much each costs and takes, by how much they differ, and which is best.

An input's draws depend on the seed and its name alone. Inputs that runs state alike are then one and the same quantity,
and inputs of one name that they state otherwise are at the same percentile of their own in every draw, which is to
move together as closely as can be. What is left between two runs is their difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from uncertain_botec.decisions.comparison import (
    PERCENTILES,
    Comparison,
    Curve,
    Difference,
    Dominance,
    OutputComparison,
)
from uncertain_botec.decisions.figures import decided_by, shown
from uncertain_botec.errors import UsageError
from uncertain_botec.risk import measures
from uncertain_botec.risk.measures import Chance, Figure, Floats
from uncertain_botec.scenario import Scenario, labels
from uncertain_botec.summaries import error_and_bounds
from uncertain_botec.tallies import Share, quantiles, standard_error
from uncertain_botec.vocabulary import QUANTITIES

if TYPE_CHECKING:
    from uncertain_botec.draws import Draws

DEFAULT_DRAWS = 1 << 18

MOST = 8
"""Runs that are compared at a time: all pairs of more are nothing to read."""

# What differs by less than this, relative to itself, is the same number rounded otherwise.
_ROUNDING = 1e-12

# A difference of so many standard errors is none that chance makes.
_CLEAR = 3.0


def compare_scenarios(
    scenarios: Sequence[Scenario], *, draws: int = DEFAULT_DRAWS, seed: int = 0, sampler: str = "lattice"
) -> Comparison:
    """Draw several scenarios on common random numbers and compare them.

    Args:
        scenarios: two or more, from `load_scenario` or `but`.
        draws: at least how many of each.
        seed: of the randomisations.
        sampler: "lattice", "sobol" or "monte-carlo".

    Returns:
        The comparison, in printed units.

    Raises:
        UsageError: fewer than two scenarios, too many, or none of whose outputs all have in common.
        SamplingError: draws that cannot be used.
    """
    if not 2 <= len(scenarios) <= MOST:
        raise UsageError(f"a comparison takes from 2 to {MOST} runs, not {len(scenarios)}")
    common = set.intersection(*({*one.plan.outputs} for one in scenarios))
    wanted = [name for name in decided_by(scenarios[0]) if name in common]
    wanted = wanted or [name for name in scenarios[0].plan.outputs if name in common]
    if not wanted:
        raise UsageError(f"{' and '.join(one.path for one in scenarios)} have no output in common to compare")
    from uncertain_botec.sampling.engine import sample

    labelled = dict(zip(labels(scenarios), scenarios, strict=True))
    values: dict[str, dict[str, Floats]] = {name: {} for name in wanted}
    for label, one in labelled.items():
        drawn: Draws = sample(one, draws, seed=seed, sampler=sampler)
        made = drawn.provenance
        for name in wanted:
            values[name][label] = drawn.values[name]
        # What else was drawn is let go before the next run is.
        del drawn
    apart = _apart(scenarios)
    same, together = _shared(scenarios, wanted)
    return Comparison(
        scenarios=labelled,
        outputs={name: _compared(name, values[name], labelled) for name in wanted},
        same=tuple(name for name in same if name not in apart),
        together=tuple(name for name in together if name not in apart),
        apart=apart,
        differing=_differing(scenarios, wanted),
        notes=tuple(_notes(scenarios, wanted)),
        provenance=made,
    )


# --- one output -------------------------------------------------------------------------------------------------------


def _compared(name: str, values: Mapping[str, Floats], scenarios: Mapping[str, Scenario]) -> OutputComparison:
    unit = QUANTITIES[name].unit
    exact = {label: one.certain(name) for label, one in scenarios.items()}
    ordered = {label: np.sort(rows, axis=1) for label, rows in values.items()}
    curves = {label: quantiles(np.sort(rows, axis=None), [*PERCENTILES], len(rows)) for label, rows in ordered.items()}
    best = _best(list(values.values()), exact=all(exact.values()))
    shares = dict(zip(values, best, strict=True))

    def curve(label: str) -> Curve:
        spread = measures.quantiles_at(values[label], (0.1, 0.5, 0.9))
        p10, p50, p90, mean = (_figure(one, unit) for one in (*spread, measures.mean(values[label])))
        return Curve(
            p10,
            p50,
            p90,
            mean,
            best=shares[label],
            values=tuple(shown(one, unit) for one in curves[label].tolist()),
        )

    def difference(first: str, second: str) -> Difference:
        rows = values[first], values[second]
        tied = _tied(*rows)
        less = (rows[0] < rows[1]) & ~tied
        with np.errstate(invalid="ignore"):
            # Two runs that never finish are no different.
            apart = np.where(tied, 0.0, rows[1] - rows[0])
        spread = measures.quantiles_at(apart, (0.1, 0.5, 0.9))
        certain = (exact[first] and exact[second]) or _identical(scenarios[first], scenarios[second], name)
        p10, p50, p90, mean = (_figure(one, unit) for one in (*spread, _mean(apart)))
        return Difference(
            first,
            second,
            p10,
            p50,
            p90,
            mean,
            lower=_half_ties(less, tied, exact=certain),
            ties=float(tied.mean()),
            dominance=_dominance((first, second), (ordered[first], ordered[second]), less, tied),
        )

    return OutputComparison(
        unit, {label: curve(label) for label in values}, tuple(difference(*pair) for pair in combinations(values, 2))
    )


def _figure(figure: Figure, unit: str) -> Figure:
    return Figure(shown(figure.value, unit), shown(figure.error, unit))


def _tied(first: Floats, second: Floats) -> measures.Bools:
    """Where two outcomes are equal, also where both are infinite."""
    with np.errstate(invalid="ignore"):
        return np.asarray((first == second) | (np.abs(first - second) <= _ROUNDING * np.abs(first)))


def _mean(differences: Floats) -> Figure:
    """The mean; there is none where sometimes the one run never finishes and sometimes the other."""
    if differences.max() == np.inf and differences.min() == -np.inf:
        return Figure(np.nan, np.inf)
    return measures.mean(differences)


def _half_ties(less: measures.Bools, tied: measures.Bools, *, exact: bool) -> Chance:
    """P(X < Y) + P(X = Y) / 2."""
    parts = less.mean(axis=1) + tied.mean(axis=1) / 2
    value = float(parts.mean())
    if exact:
        return Chance(value, 0.0, value, value)
    return Chance(value, *error_and_bounds(Share(parts, parts, less.size), value))


def _best(values: Sequence[Floats], *, exact: bool) -> list[Chance]:
    """For each run the chance that it is the lowest; k runs that tie have a k-th part of the draw each."""
    least = np.minimum.reduce(values)
    hits = [_tied(rows, least) for rows in values]
    number = np.add.reduce([hit.astype(np.int64) for hit in hits])
    found = []
    for hit in hits:
        parts = (hit / number).mean(axis=1)
        value = float(parts.mean())
        bounds = (0.0, value, value) if exact else error_and_bounds(Share(parts, parts, hit.size), value)
        found.append(Chance(value, *bounds))
    return found


def _dominance(
    names: tuple[str, str], ordered: tuple[Floats, Floats], less: measures.Bools, tied: measures.Bools
) -> Dominance:
    """Who dominates whom, from draws that are sorted by replicate and from who is lower in each draw."""
    levels = [*PERCENTILES]
    pooled = [quantiles(np.sort(rows, axis=None), levels, len(rows)) for rows in ordered]
    with np.errstate(invalid="ignore"):
        differences = np.where(_tied(*pooled), 0.0, pooled[1] - pooled[0])
        each = [quantiles(rows, levels) for rows in ordered]
        errors = standard_error(np.where(_tied(*each), 0.0, each[1] - each[0]), axis=0)
    signs = np.sign(differences)
    first, second = bool(np.all(signs >= 0)), bool(np.all(signs <= 0))
    stochastic = "" if first == second else names[0 if first else 1]
    clear = (np.abs(differences) > _CLEAR * errors) | ((differences == 0) & (errors == 0))
    places = np.flatnonzero(signs)
    turns = tuple(int(after) + 1 for before, after in pairwise(places) if signs[before] != signs[after])
    crossed = bool(np.any(clear & (signs > 0)) and np.any(clear & (signs < 0)))
    draw_by_draw = ""
    if np.any(less) and np.all(less | tied):
        draw_by_draw = names[0]
    elif not np.any(less) and not np.all(tied):
        draw_by_draw = names[1]
    return Dominance(stochastic, bool(np.all(clear)) or crossed, turns, draw_by_draw)


# --- what the runs share ----------------------------------------------------------------------------------------------


def _identical(first: Scenario, second: Scenario, output: str) -> bool:
    """Whether two runs compute an output from the same beliefs by the same formulas."""
    if first.plan != second.plan or first.dependence != second.dependence:
        return False
    return all(
        first.inputs[name].distribution == second.inputs[name].distribution for name in first.plan.reaching(output)
    )


def _shared(scenarios: Sequence[Scenario], outputs: Sequence[str]) -> tuple[list[str], list[str]]:
    """The uncertain inputs behind the outputs that several runs state alike, and those they state differently."""
    taken: dict[str, list[object]] = {}
    for one in scenarios:
        for name in dict.fromkeys(name for output in outputs for name in one.drivers(output)):
            taken.setdefault(name, []).append(one.inputs[name].distribution)
    several = {name: beliefs for name, beliefs in taken.items() if len(beliefs) > 1}
    same = [name for name, beliefs in several.items() if all(one == beliefs[0] for one in beliefs)]
    return same, [name for name in several if name not in same]


def _differing(scenarios: Sequence[Scenario], outputs: Sequence[str]) -> dict[str, tuple[float | str | None, ...]]:
    """What is known in each run, and not the same in all."""
    taken = [{name for output in outputs for name in one.plan.reaching(output)} for one in scenarios]
    known: list[dict[str, float | str]] = [
        {name: shown(value, QUANTITIES[name].unit) for name, value in one.known.items() if name in names}
        for one, names in zip(scenarios, taken, strict=True)
    ]
    told = [{**choices.choices_in_force, **some} for choices, some in zip(scenarios, known, strict=True)]
    names = dict.fromkeys(name for one in told for name in one)
    each = {name: tuple(one.get(name) for one in told) for name in names}
    return {name: values for name, values in each.items() if len({*values}) > 1}


def _apart(scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    """The inputs whose scores are not made of the same independent ones in all runs that hold them uncertain."""
    found: dict[str, None] = {}
    made = [_made_of(one) for one in scenarios]
    for name in dict.fromkeys(name for one in made for name in one):
        kinds = [one[name] for one in made if name in one]
        if any(one != kinds[0] for one in kinds):
            found[name] = None
    return tuple(found)


def _made_of(scenario: Scenario) -> dict[str, tuple[tuple[str, float], ...]]:
    """For each uncertain input the independent scores that its own is a sum of, with their weights."""
    found: dict[str, tuple[tuple[str, float], ...]] = {name: ((name, 1.0),) for name in scenario.uncertain}
    dependence = scenario.dependence
    if dependence is not None:
        for name, row in zip(dependence.names, dependence.root().tolist(), strict=True):
            found[name] = tuple((other, part) for other, part in zip(dependence.names, row, strict=True) if part)
    return found


def _notes(scenarios: Sequence[Scenario], outputs: Sequence[str]) -> Iterator[str]:
    if any(one.plan.random(name) for one in scenarios for name in outputs):
        yield "runs whose failures are simulated have the same luck in every draw"
    left = [name for name in decided_by(scenarios[0]) if name not in outputs]
    if left:
        yield f"not every run computes {' and '.join(left)}"
