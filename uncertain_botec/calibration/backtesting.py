"""How well published runs would have been foretold: each from all others, or those of one file from another's."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.calibration.calibrating import LEAST_RUNS, check_enough, predict_held_out
from uncertain_botec.calibration.forecasters import REFERENCE_CLASS, Forecast, Mixture, others
from uncertain_botec.calibration.runs import PUBLISHED, Run, Runs, read_runs
from uncertain_botec.calibration.scores import Judged, Mean, Scores, judge, score
from uncertain_botec.errors import Fault, PriorFileError, UsageError

if TYPE_CHECKING:
    from uncertain_botec.inference import Diagnostics

LEAVE_OUT = ("run", "organisation")
"""What is held out together when a run is forecast from others of its file."""

LEARNT_APART = "all"
"""What is held out when runs are forecast from those of another file."""

_LEVELS = np.array([0.1, 0.5, 0.9])

# A published cost this near to hours times price is nothing but that.
_SAME = 0.02


@dataclass(frozen=True)
class Against:
    """The forecast of one quantity of one run, and what it was.

    Attributes:
        p10, p50, p90: the forecast.
        actual: what was published.
        percentile: the chance that the forecast gave to at most that.
    """

    p10: float
    p50: float
    p90: float
    actual: float
    percentile: float


@dataclass(frozen=True)
class Foretold:
    """One run as the reference class would have foretold it, without knowing it.

    Attributes:
        run: as it is in the file.
        hours: in accelerator-hours.
        days: of wall-clock, where both they and the hours are counted.
        cost: in USD, where both it and a price are published.
        percentiles: of the actual hours in the forecast of each forecaster.
    """

    run: Run
    hours: Against
    days: Against | None
    cost: Against | None
    percentiles: Mapping[str, float]


@dataclass(frozen=True)
class Backtest:
    """How well runs would have been foretold.

    Attributes:
        forecasters: scores by name, the reference class first.
        runs: each that was forecast, in the order of the file.
        held_out: with each run `run`, its `organisation`'s, or `all` of its file.
        tested: the file of the runs.
        learnt: the file that was learnt from where that is another, or None.
        unfit: rows of both files that are no run to learn from or to forecast, by the reason.
        untested: by quantity, how many runs were not forecast in it, by the reason.
        refits: how the chains went, of each time that the reference class was learnt.
        seed: of the chains.
    """

    forecasters: Mapping[str, Scores]
    runs: tuple[Foretold, ...]
    held_out: str
    tested: Runs = field(repr=False)
    learnt: Runs | None = field(repr=False)
    unfit: Mapping[str, int]
    untested: Mapping[str, Mapping[str, int]]
    refits: tuple[Diagnostics, ...] = field(repr=False)
    seed: int

    @property
    def path(self) -> str:
        """What the file of the runs is called."""
        return self.tested.path

    @property
    def train(self) -> str | None:
        """What the file that was learnt from is called where that is another."""
        return None if self.learnt is None else self.learnt.path

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form, schema `uncertain-botec/backtest/1`; numbers are unrounded, null is unknown."""
        from uncertain_botec.inference import worst

        chains = worst(self.refits)
        return {
            "schema": "uncertain-botec/backtest/1",
            "n": len(self.runs),
            "left_out": self.held_out,
            "path": self.path,
            "train": self.train,
            "forecasters": {name: _scores(one) for name, one in self.forecasters.items()},
            "runs": [_run(one) for one in self.runs],
            "unfit": dict(self.unfit),
            "untested": {name: dict(reasons) for name, reasons in self.untested.items()},
            "chains": {
                "refits": len(self.refits),
                "rhat": chains.rhat,
                "ess": chains.ess,
                "divergences": chains.divergences,
            },
            "seed": self.seed,
        }

    def __str__(self) -> str:
        from uncertain_botec.backtest_table import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from uncertain_botec.backtest_table import as_html

        return as_html(self)


def backtest(
    runs: str | Path | Runs = PUBLISHED,
    train: str | Path | Runs | None = None,
    *,
    leave_out: str = "run",
    seed: int = 0,
    progress: Callable[[int, int], object] = lambda *_: None,
) -> Backtest:
    """Forecast finished runs without knowing them, and score the forecasts.

    Args:
        runs: a CSV file of runs, or what `read_runs` gives; each is forecast from all the others.
        train: another one; with it every run is forecast from the runs of this file alone.
        leave_out: what is held out with a run: `run`, itself alone, or `organisation`, all of the same organisation.
        seed: of the chains.
        progress: called with how many times the reference class was learnt anew, and how many times it will be.

    Raises:
        PriorFileError: faults of a file, too few runs, or a run that is in both files.
        NotConverged: naming the parameter.
    """
    if leave_out not in LEAVE_OUT:
        raise UsageError(f"leave_out={leave_out!r}: expected one of {', '.join(LEAVE_OUT)}")
    tested = runs if isinstance(runs, Runs) else read_runs(runs)
    learnt = train if train is None or isinstance(train, Runs) else read_runs(train)
    held_out, sets = _apart(tested, learnt) if learnt is not None else _within(tested, leave_out)
    everything = (*tested.kept, *(learnt.kept if learnt is not None else ()))
    classes, refits = predict_held_out(everything, held_out, seed=seed, progress=progress)

    y = np.array([run.log_excess for run in everything])
    elsewhere = [others(y[one == 0]) for one in held_out]
    judged: dict[str, list[Judged]] = {}
    foretold = []
    for run, one in zip(tested.kept, sets, strict=True):
        reference = Mixture(classes[one].predict(run.subject))
        forecasts = {REFERENCE_CLASS: reference, **elsewhere[one]}
        for name, forecast in forecasts.items():
            judged.setdefault(name, []).append(judge(forecast, run.log_excess))
        percentiles = {name: some[-1].percentile for name, some in judged.items()}
        foretold.append(_foretold(run, reference, percentiles))
    reference_class = judged[REFERENCE_CLASS]
    return Backtest(
        forecasters={
            name: score(some, None if name == REFERENCE_CLASS else reference_class) for name, some in judged.items()
        },
        runs=tuple(foretold),
        held_out=LEARNT_APART if learnt is not None else leave_out,
        tested=tested,
        learnt=learnt,
        unfit=_unfit(tested, learnt),
        untested={"training_time": _count(map(untimed, tested.kept)), "cost": _count(map(unpriced, tested.kept))},
        refits=tuple(refits),
        seed=seed,
    )


# --- who is forecast from whom ----------------------------------------------------------------------------------------


def _within(runs: Runs, leave_out: str) -> tuple[npt.NDArray[np.float64], list[int]]:
    """The sets of runs that are held out together, array[set, run], and the set of each run."""
    check_enough(runs)
    # A run of an unknown organisation is held out by itself.
    names = [run.organisation if leave_out == "organisation" and run.organisation else run.row for run in runs.kept]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    sets = [places[name] for name in names]
    held_out = np.equal.outer(np.arange(len(places)), sets).astype(np.float64)
    fewest = int((1 - held_out).sum(1).min())
    if fewest < LEAST_RUNS:
        worst = runs.kept[sets.index(int(np.argmax(held_out.sum(1))))]
        got = f"{fewest} runs without {worst.organisation if leave_out == 'organisation' else worst.name}"
        fix = "add runs, or learn from another file by --train PATH"
        fault = Fault("too few runs are left to learn from", runs.path, "$", got, f"at least {LEAST_RUNS} runs", fix)
        raise PriorFileError([fault])
    return held_out, sets


def _apart(tested: Runs, learnt: Runs) -> tuple[npt.NDArray[np.float64], list[int]]:
    """All tested runs held out together."""
    check_enough(learnt)
    if not tested.kept:
        fix = "fill in accelerator_hours, and set calibration_set to yes"
        raise PriorFileError([Fault("no run to forecast", tested.path, "$", "0 runs", "at least one", fix)])
    there = {run.name: run.row for run in learnt.kept}
    if twice := [run for run in tested.kept if run.name in there]:
        expected, fix = "runs that were not learnt from", "take them out of one of the two files"
        raise PriorFileError(
            [
                Fault(
                    f"this run is learnt from too: {learnt.path}, row {there[run.name]}",
                    tested.path,
                    f"row {run.row}, column name",
                    run.name,
                    expected,
                    fix,
                )
                for run in twice
            ]
        )
    held_out = np.repeat([1.0, 0.0], [len(tested.kept), len(learnt.kept)])[None, :]
    return held_out, [0] * len(tested.kept)


def _unfit(*files: Runs | None) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for one in files:
        counted.update({reason: len(names) for reason, names in one.left_out.items()} if one is not None else {})
    return dict(counted)


# --- one run ----------------------------------------------------------------------------------------------------------


def untimed(run: Run) -> str | None:
    """Why a run's wall-clock cannot be tested, if it cannot."""
    if run.accelerators is None or run.days is None:
        return "accelerators or days are not stated"
    # Forecasting such days is forecasting the hours once more.
    return "hours are accelerators times days" if run.subject.rough else None


def unpriced(run: Run) -> str | None:
    """Why a run's cost cannot be tested, if it cannot."""
    if run.cost is None or run.price is None:
        return "cost or price is not published"
    return "cost is hours times price" if abs(run.cost / (run.hours * run.price) - 1) < _SAME else None


def _count(reasons: Any) -> dict[str, int]:
    return dict(Counter(reason for reason in reasons if reason is not None))


def _foretold(run: Run, forecast: Forecast, percentiles: Mapping[str, float]) -> Foretold:
    def against(actual: float, hours_in_one: float) -> Against:
        """The forecast in units of so many accelerator-hours each."""
        unit = run.subject.usual_time / 3600 / hours_in_one
        p10, p50, p90 = (unit * np.exp(forecast.quantile(_LEVELS))).tolist()
        return Against(p10, p50, p90, actual, forecast.cdf(math.log(actual / unit)))

    timed = run.days is not None and run.accelerators is not None and untimed(run) is None
    priced = run.cost is not None and run.price is not None and unpriced(run) is None
    return Foretold(
        run=run,
        hours=against(run.hours, 1.0),
        days=against(run.days or 0.0, 24 * (run.accelerators or 1.0)) if timed else None,
        cost=against(run.cost or 0.0, 1 / (run.price or 1.0)) if priced else None,
        percentiles=percentiles,
    )


# --- JSON -------------------------------------------------------------------------------------------------------------


def _mean(one: Mean) -> dict[str, float | None]:
    return {"value": one.value, "error": one.error if math.isfinite(one.error) else None}


def _scores(one: Scores) -> dict[str, Any]:
    parts = {f"{100 * part:g}": share for part, share in one.coverage.items()}
    means = {"interval_score": one.interval_score, "crps": one.crps, "median_width_factor": one.width_factor}
    return {
        "coverage": {part: share.value for part, share in parts.items()},
        "coverage_bounds": {part: [share.low, share.high] for part, share in parts.items()},
        **{name: mean.value for name, mean in means.items()},
        "errors": {name: _mean(mean)["error"] for name, mean in means.items()},
        "above_reference_class": {name: _mean(mean) for name, mean in one.against.items()},
        "percentile_histogram": list(one.histogram),
    }


def _run(one: Foretold) -> dict[str, Any]:
    quantities: Sequence[tuple[str, str, Against | None]] = (
        ("accelerator_hours", "accelerator-hour", one.hours),
        ("training_time", "day", one.days),
        ("cost", "USD", one.cost),
    )
    return {
        "name": one.run.name,
        "organisation": one.run.organisation,
        "row": one.run.row,
        "percentile": one.hours.percentile,
        "percentiles": dict(one.percentiles),
        **{name: {**vars(it), "unit": unit} if it is not None else None for name, unit, it in quantities},
    }


__all__ = ["LEAVE_OUT", "Against", "Backtest", "Foretold", "backtest"]
