"""Which decision there is to inform, and what it is worth to know more before it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uncertain_botec.errors import UsageError
from uncertain_botec.library import did_you_mean
from uncertain_botec.scenario import Scenario
from uncertain_botec.sensitivity.decisions import Decision, go_or_stop, which
from uncertain_botec.sensitivity.indices import ZERO
from uncertain_botec.sensitivity.information import worth_of_information
from uncertain_botec.sensitivity.models import affordable
from uncertain_botec.sensitivity.result import InformationWorth
from uncertain_botec.units import UnitError, parse_quantity, to_base
from uncertain_botec.vocabulary import COST, TIME


def decision_of(
    scenario: Scenario,
    budget: float | str | None,
    against: Sequence[Scenario],
    late_cost: float | str | None,
) -> tuple[Decision | None, str]:
    """What is to be decided, or why nothing is."""
    worth = None if budget is None else _amount("budget", budget, "USD", "5e6 USD")
    late = 0.0 if late_cost is None else _amount("late cost", late_cost, "USD/day", "20e3 USD/day")
    scenarios = (scenario, *against)
    outputs = (COST, TIME) if late else (COST,)
    for one in scenarios:
        if lacking := [name for name in outputs if name not in one.plan.outputs]:
            if against or budget is not None or late:
                raise UsageError(f"{one.path}: there is no {' and no '.join(lacking)} to decide by")
            return None, f"there is no {lacking[0]}, so there is no decision to inform"
    if against:
        if worth is not None:
            raise UsageError("a budget is for one scenario: among several the cheapest is the best")
        return which(scenarios, late), ""
    if worth is None and "budget" in scenario.limits:
        worth = scenario.limits["budget"].value
    if worth is None:
        return None, "no budget is stated, so there is no decision to inform"
    return go_or_stop(scenario, worth, late), ""


def _amount(what: str, stated: float | str, unit: str, example: str) -> float:
    try:
        value = parse_quantity(stated, unit) if isinstance(stated, str) else float(to_base(stated, unit))
    except UnitError as error:
        raise UsageError(f"the {what} {stated!r} cannot be used: {error}; write it as {example!r}") from None
    if not 0 < value < np.inf:
        raise UsageError(f"the {what} {stated!r} is not more than 0")
    return value


def checked_set(scenario: Scenario, decision: Decision | None, names: Sequence[str]) -> tuple[str, ...]:
    """The names of a set, checked."""
    if decision is None:
        raise UsageError("sets of inputs are for the value of information, which needs a decision: state a budget")
    there = (*scenario.inputs, *decision.inputs, *decision.inputs.values())
    for name in names:
        if name not in there:
            near = did_you_mean(name, there) or f"there are {', '.join(dict.fromkeys(decision.inputs))}"
            raise UsageError(f"{scenario.path}: no input is called {name!r}; {near}")
    if not names:
        raise UsageError("a set of inputs names at least one")
    return tuple(dict.fromkeys(names))


def information_of(
    decision: Decision, wanted: Sequence[Sequence[str]], draws: int | None, seed: int, level: float
) -> tuple[InformationWorth | None, str]:
    """What it is worth to know each input, and each set, before deciding."""
    sets = {names: tuple(sorted(decision.set_of(names))) for names in map(tuple, wanted)}
    alone = [(name,) for name in decision.model.names]
    asked = [one for one in dict.fromkeys((*alone, *sets.values())) if one]
    count = draws or affordable((len(asked) + 1) * len(decision.alternatives))
    worth = worth_of_information(decision.model, asked, count, seed=seed, level=level)
    if not np.isfinite(worth.means[worth.best].value):
        return None, "every alternative costs infinitely much in some draws, so there is no best one to compare with"
    each = {name: worth.partial[(name,)] for name in decision.model.names}
    return InformationWorth(
        decision.statement,
        dict(zip(decision.alternatives, worth.means, strict=True)),
        decision.alternatives[worth.best],
        worth.perfect,
        dict(sorted(each.items(), key=lambda item: -item[1].value)),
        {" + ".join(names): worth.partial[keys] if keys else ZERO for names, keys in sets.items()},
    ), ""
