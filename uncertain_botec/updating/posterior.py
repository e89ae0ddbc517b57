"""Posterior draws of a run's end: what was learnt through the scenario's own formulas, and the rest simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.errors import UsageError
from uncertain_botec.planning import evaluate
from uncertain_botec.sampling.at_scores import outputs_at
from uncertain_botec.scenario import Scenario
from uncertain_botec.updating.bins import DAY
from uncertain_botec.updating.fitting import Fitted, flat, scores_of
from uncertain_botec.updating.futures import Learnt, as_learnt, remaining_days
from uncertain_botec.updating.progress_log import ProgressLog
from uncertain_botec.updating.result import BATCHES

Floats = npt.NDArray[np.float64]

# Fewer draws than this that agree with the log say too little.
_LEAST = 800


@dataclass(frozen=True)
class Posterior:
    """Draws side by side, of shape (draws,).

    Attributes:
        values: inputs and outputs, in base units, outputs being those at the end of the run.
        learnt: about the speed now.
        accelerators: working now.
        planned_rate: ln of the average speed without the drift so far, as that in `learnt`.
    """

    values: Mapping[str, Floats]
    learnt: Learnt
    accelerators: Floats
    planned_rate: Floats


def posterior_of(fitted: Fitted, log: ProgressLog, random: np.random.Generator) -> Posterior:
    """Draws of everything at the end of the run.

    Draws whose tokens the run has passed already are left out: it would have ended.

    Raises:
        UsageError: nearly all of them are.
    """
    scenario, draws = fitted.planned.scenario, flat(fitted.inferred.draws)
    count = len(draws["log_rate"])
    scores = scores_of(fitted, draws, random)
    names = tuple(dict.fromkeys((*scenario.inputs, *scenario.plan.outputs, "tokens", "accelerator_hours")))
    found = outputs_at(scenario, {name: z[None, :] for name, z in scores.items()}, names, points=count)
    values = {name: np.asarray(one[0]) for name, one in found.items()}
    going = np.flatnonzero(values["tokens"] > log.done)
    if len(going) < min(_LEAST, count):
        raise UsageError(
            f"the log's {log.done:.4g} tokens are more than {scenario.path or scenario.title} expects in "
            f"{100 - 100 * len(going) / count:.0f} % of the draws: state how many there will be, as with "
            "--set inputs.tokens=..."
        )
    # As many in each batch.
    going = going[: len(going) // BATCHES * BATCHES]
    values = {name: one[going] for name, one in values.items()}
    learnt = as_learnt({name: one[going] for name, one in draws.items()}, fitted.now)
    planned = values["accelerator_hours"] / values["training_time"]
    accelerators = planned if log.accelerators is None else np.full(len(going), log.accelerators[-1])
    scale = np.log(accelerators) if fitted.planned.by_accelerator else 0.0
    cluster = learnt._replace(log_rate=learnt.log_rate + scale)
    left = DAY * remaining_days(values["tokens"] - log.done, cluster, fitted.width, random)
    hours = planned * log.elapsed if log.accelerator_seconds is None else log.accelerator_seconds
    ended = at_the_end(scenario, values, log, left, accelerators * left, hours)
    return Posterior({**values, **ended}, cluster, accelerators, draws["log_rate"][going] + scale)


def at_the_end(
    scenario: Scenario,
    values: Mapping[str, Floats],
    log: ProgressLog,
    left: Floats,
    held: Floats,
    hours: Any,
) -> dict[str, Floats]:
    """Outputs of a run that takes a known time, by the scenario's own formulas.

    Where the log tells what was spent, only what the bill grows by from here on is the formulas'.

    Args:
        scenario: whose formulas.
        values: of its inputs.
        log: of the run.
        left: seconds from the last row on.
        held: accelerators times these.
        hours: accelerator-seconds so far.
    """
    total = _outputs(scenario, values, log.elapsed + left, hours + held)
    if log.cost is not None and "cost" in total and "cost" not in scenario.inputs:
        now = _outputs(scenario, values, np.full_like(left, log.elapsed), hours + 0.0 * held)
        total["cost"] = log.cost + total["cost"] - now["cost"]
    return total


def _outputs(scenario: Scenario, values: Mapping[str, Floats], time: Floats, hours: Floats) -> dict[str, Floats]:
    """A formula whose output is supplied is skipped: time and accelerator-hours are what the run takes."""
    plan = scenario.model.plan({*scenario.inputs, "training_time", "accelerator_hours"}, scenario.choices)
    inputs = {name: values[name] for name in scenario.inputs} | {"training_time": time, "accelerator_hours": hours}
    with np.errstate(all="ignore"):
        made = evaluate(plan, {name: inputs[name] for name in plan.inputs})
    return {name: np.broadcast_to(np.asarray(made[name]), time.shape) for name in plan.outputs}
