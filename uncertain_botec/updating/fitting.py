"""From a scenario and a log to posterior draws of what decides the speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import numpy.typing as npt

from uncertain_botec.inference import Inferred, Settings, infer, run_nuts_many
from uncertain_botec.scenario import Scenario
from uncertain_botec.updating.bins import KNOTS, Evidence, binned
from uncertain_botec.updating.model import Beliefs, ProgressModel
from uncertain_botec.updating.planned import Planned, log_rate, plan_of
from uncertain_botec.updating.progress_log import ProgressLog

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """What a log taught.

    Attributes:
        planned: the scenario's inputs, drivers first.
        inferred: posterior draws of the model's parameters, by chain.
        width: usual length of a bin in days.
        now: by which the drift at the last row is reckoned.
    """

    planned: Planned
    inferred: Inferred = field(repr=False)
    width: float
    now: float


def model_of(planned: Planned, **parts: Any) -> tuple[ProgressModel, Beliefs]:
    """The model of a scenario's progress and what it is told of the scenario; `parts` switch parts of it off."""
    scenario = planned.scenario
    drivers = planned.names[: planned.drivers]
    model = ProgressModel(planned.plan, drivers, planned.by_accelerator, planned.counted, **parts)
    forms = {name: scenario.inputs[name].distribution.sampling_form() for name in drivers}
    root = planned.root[: len(drivers), : len(drivers)]
    beliefs = Beliefs(forms, planned.medians(), root, np.eye(len(drivers)))
    with jax.enable_x64(True):
        beliefs = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), beliefs)
        return model, beliefs._replace(axes=_axes(model, beliefs)) if drivers else beliefs


def _axes(model: ProgressModel, beliefs: Beliefs) -> Floats:
    """The direction in which the planned speed rises most steeply at the medians, and those across it."""

    def rate(eps: Floats) -> Any:
        return log_rate(model.values(beliefs, eps), by_accelerator=model.by_accelerator)

    count = len(model.drivers)
    # By differences: where formulas count whole checkpoints a derivative at one point would not do.
    steps = 0.25 * np.eye(count)
    slope = np.array([float(rate(one) - rate(-one)) for one in steps])
    axes, _ = np.linalg.qr(np.column_stack([slope, np.eye(count)]))
    return np.asarray(axes[:, :count] * np.where(np.arange(count) == 0, np.sign(axes[:, 0] @ slope) or 1.0, 1.0))


def fit(
    scenario: Scenario, log: ProgressLog, key: jax.Array, *, settings: Settings | None = None, **parts: Any
) -> Fitted:
    """Posterior draws given one log.

    Args:
        scenario: whose priors are the priors.
        log: of the run.
        key: of the randomness.
        settings: how long the chains are.
        parts: of the model that are switched off or known, as `ProgressModel` has them.

    Raises:
        NotConverged: naming the parameter.
    """
    planned = _planned(scenario, log)
    model, beliefs = model_of(planned, **parts)
    found = binned(log)
    inferred = infer(model, (beliefs, found.evidence), key, settings)
    return Fitted(planned, inferred, found.width, found.now)


def fit_many(
    scenario: Scenario,
    logs: Sequence[ProgressLog],
    keys: jax.Array,
    *,
    knots: int = KNOTS,
    settings: Settings | None = None,
    together: int = 4,
    **parts: Any,
) -> list[Fitted]:
    """Posterior draws given each of many logs of the same columns, sampled side by side; none is refused."""
    planned = _planned(scenario, logs[0])
    model, beliefs = model_of(planned, **parts)
    found = [binned(log, knots) for log in logs]
    size = max(len(one.evidence.days) for one in found)
    stacked = Evidence(
        *(np.stack(leaves) for leaves in zip(*(_filled(one.evidence, size) for one in found), strict=True))
    )
    inferred = run_nuts_many(model, beliefs, stacked, keys, settings=settings, together=together)
    return [Fitted(planned, draws, one.width, one.now) for draws, one in zip(inferred, found, strict=True)]


def _filled(evidence: Evidence, size: int) -> Evidence:
    """The evidence with arrays of one size."""
    more = size - len(evidence.days)
    fill = {"days": 1.0}
    return Evidence(
        **{
            name: np.pad(one, [(0, more)] + [(0, 0)] * (one.ndim - 1), constant_values=fill.get(name, 0.0))
            if one.ndim
            else one
            for name, one in evidence._asdict().items()
        }
    )


def _planned(scenario: Scenario, log: ProgressLog) -> Planned:
    return plan_of(scenario, by_accelerator=log.accelerators is not None, counted=log.interruptions is not None)


def flat(draws: Mapping[str, Floats]) -> dict[str, Floats]:
    """Chains one after the other, of shape (draws, ...)."""
    return {name: np.asarray(array).reshape(-1, *array.shape[2:]) for name, array in draws.items()}


def scores_of(fitted: Fitted, draws: Mapping[str, Floats], random: np.random.Generator) -> dict[str, Floats]:
    """Normal scores z = L ε of all uncertain inputs, those the log does not tell of drawn given those it does."""
    planned = fitted.planned
    count = len(draws["log_rate"])
    eps = {name: draws[name] if name in draws else random.normal(size=count) for name in planned.names}
    z = np.stack([*eps.values(), np.zeros(count)], axis=1)[:, : len(eps)] @ planned.root.T
    return {name: z[:, place] for place, name in enumerate(planned.names)}
