"""A reference class learnt from runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uncertain_botec.calibration.model import (
    arrays,
    columns,
    generations_of,
    hours,
    hours_without,
    overheads,
    overheads_of,
)
from uncertain_botec.calibration.runs import PUBLISHED, Run, Runs, read_runs
from uncertain_botec.errors import Fault, PriorFileError
from uncertain_botec.reference.posterior import OVERHEAD, ReferenceClass

if TYPE_CHECKING:
    from uncertain_botec.inference import Diagnostics, Inferred

KEPT = 500
"""Posterior draws that a reference class keeps: the Monte Carlo error of its P10 and P90 is then half a percent of the
interval's width."""

LEAST_RUNS = 5
"""Fewer say less than the priors of the model."""

# Steps of a chain before and after adaptation for each set of held-out runs, of which there are many, and the
# acceptance that step sizes aim at; then of a second try.
_SHORTER: Mapping[str, Any] = {"warmup": 400, "draws": 600, "target": 0.95}
_TOGETHER = 8
_FINER: Mapping[str, Any] = {"warmup": 1000, "draws": 1000, "target": 0.99}


@dataclass(frozen=True)
class Calibration:
    """What was learnt, and whether the chains can be believed.

    Attributes:
        reference: the reference class, of `KEPT` draws.
        runs: what it was learnt from.
        hours: all draws of the model of hours.
        overheads: all draws of the model of overheads.
        seed: of the chains.
    """

    reference: ReferenceClass
    runs: Runs
    hours: Inferred = field(repr=False)
    overheads: Inferred = field(repr=False)
    seed: int

    @property
    def diagnostics(self) -> Mapping[str, Diagnostics]:
        """Of both models, by name."""
        return {"hours": self.hours.diagnostics, "overhead": self.overheads.diagnostics}

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/calibration/1`; numbers are unrounded."""
        from uncertain_botec.calibration_table import as_dict

        return as_dict(self)

    def __str__(self) -> str:
        from uncertain_botec.calibration_table import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from uncertain_botec.calibration_table import as_html

        return as_html(self)


def calibrate(runs: Runs | str | Path = PUBLISHED, *, seed: int = 0) -> Calibration:
    """Learn how many accelerator-hours a run takes, and how much of that is not spent in steps.

    Args:
        runs: as `read_runs` gives them, or a CSV file of runs.
        seed: of the chains.

    Raises:
        PriorFileError: faults of the file, or the runs are too few, or all alike.
        NotConverged: naming the parameter.
    """
    import jax

    from uncertain_botec.inference import infer

    runs = runs if isinstance(runs, Runs) else read_runs(runs)
    check_enough(runs)
    known = generations_of(runs.kept)
    keys = jax.random.split(jax.random.key(seed))
    of_hours = infer(hours, arrays(runs.kept, known), keys[0])
    of_overheads = infer(overheads, overheads_of(runs.kept), keys[1])
    return Calibration(_reference(runs, known, of_hours, of_overheads), runs, of_hours, of_overheads, seed)


def check_enough(runs: Runs) -> None:
    """Refuse runs that nothing can be learnt from."""
    kept = runs.kept
    if len(kept) < LEAST_RUNS:
        left = sum(map(len, runs.left_out.values()))
        number = f"{len(kept)} run" if len(kept) == 1 else f"{len(kept)} runs"
        got = number + (f", and {left} that were left out" if left else "")
        fix = "add runs, or pool them with the shipped ones: botec calibrate --runs PATH --runs published"
        raise PriorFileError(
            [Fault("too few runs to learn from", runs.path, "$", got, f"at least {LEAST_RUNS} runs", fix)]
        )
    if len({(run.log_excess, run.subject) for run in kept}) == 1:
        fix = "give each run its own row, with its own hours"
        raise PriorFileError([Fault("all runs are alike", runs.path, "$", kept[0].name, "runs that differ", fix)])


def predict_held_out(
    runs: Sequence[Run],
    held_out: np.ndarray[Any, Any],
    *,
    seed: int = 0,
    progress: Callable[[int, int], object] = lambda *_: None,
) -> tuple[list[ReferenceClass], list[Diagnostics]]:
    """A reference class for each set of held-out runs, learnt from all the others.

    Args:
        runs: all of them.
        held_out: 1 where a run is held out, else 0; array[set, run].
        seed: of the chains.
        progress: called with how many sets are done, and how many there are.

    Returns:
        By set, what was learnt, and how its chains went.

    Raises:
        NotConverged: naming the parameter, where shorter steps did not help either.
    """
    import jax

    from uncertain_botec.inference import Settings, run_nuts_many

    known = generations_of(runs)
    data = arrays(runs, known)
    weights = 1.0 - held_out
    keys = jax.random.split(jax.random.key(seed), len(weights))
    found = run_nuts_many(
        hours_without, data, weights, keys, settings=Settings(**_SHORTER), together=_TOGETHER, progress=progress
    )
    again = [index for index, one in enumerate(found) if one.diagnostics.faults]
    if again:
        chosen = np.array(again)
        finer = run_nuts_many(
            hours_without, data, weights[chosen], keys[chosen], settings=Settings(**_FINER), together=_TOGETHER
        )
        for index, one in zip(again, finer, strict=True):
            found[index] = one.checked()
    classes = [
        ReferenceClass(columns(one.draws, known), int(weight.sum()), 0, "", "")
        for one, weight in zip(found, weights, strict=True)
    ]
    return classes, [one.diagnostics for one in found]


def _reference(runs: Runs, known: tuple[str, ...], of_hours: Inferred, of_overheads: Inferred) -> ReferenceClass:
    everything = columns(of_hours.draws, known)
    everything |= {name: np.asarray(of_overheads.draws[name], float).ravel() for name in OVERHEAD}
    total = len(everything["intercept"])
    # Evenly over all chains; what is printed in the file is what is used.
    chosen = np.linspace(0, total - 1, min(KEPT, total)).round().astype(int)
    return ReferenceClass(
        columns={name: np.round(values[chosen], 4) for name, values in everything.items()},
        runs=len(runs.kept),
        overheads=sum(run.step_mfu is not None for run in runs.kept),
        as_of=max(run.date for run in runs.kept),
        source=runs.path,
    )
