"""Backtests without chains: forecasts are Student t, so that runs of any number and any name cost nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from uncertain_botec import Backtest
from uncertain_botec.calibration.backtesting import Against, Foretold
from uncertain_botec.calibration.forecasters import REFERENCE_CLASS, Forecast, StudentT, others
from uncertain_botec.calibration.runs import Run, Runs, read_runs
from uncertain_botec.calibration.scores import Judged, judge, score
from uncertain_botec.inference import Diagnostics

SHIPPED = read_runs()

CHAINS = Diagnostics(1.002, "tau", 1500.0, "tau", 0, 4, 600)


def made(runs: Runs, *, reference: Forecast | None = None, held_out: str = "run", seed: int = 0) -> Backtest:
    """What a backtest of these runs would be, were every forecast of the reference class the same."""
    y = np.array([run.log_excess for run in SHIPPED.kept])
    forecasts = {REFERENCE_CLASS: reference or StudentT(float(y.mean()), float(y.std()), 8.0), **others(y)}
    judged: dict[str, list[Judged]] = {
        name: [judge(forecast, run.log_excess) for run in runs.kept] for name, forecast in forecasts.items()
    }
    first = judged[REFERENCE_CLASS]
    return Backtest(
        forecasters={name: score(some, None if some is first else first) for name, some in judged.items()},
        runs=tuple(_foretold(run, [some[place] for some in judged.values()]) for place, run in enumerate(runs.kept)),
        held_out=held_out,
        tested=runs,
        learnt=None,
        unfit={},
        untested={"training_time": {"made up": len(runs.kept)}, "cost": {"made up": len(runs.kept)}},
        refits=(CHAINS,),
        seed=seed,
    )


def _foretold(run: Run, judged: Sequence[Judged]) -> Foretold:
    one, unit = judged[0], run.subject.usual_time / 3600
    p10, p50, p90 = (unit * math.exp(end) for end in (one.p10, one.p50, one.p90))
    return Foretold(run, Against(p10, p50, p90, run.hours, one.percentile), None, None, {})


def renamed(found: Backtest, *names: str) -> Backtest:
    """The same forecasts, of runs of which the first ones have other names."""
    kept = [replace(run, name=name) for run, name in zip(found.tested.kept, names, strict=False)]
    kept += found.tested.kept[len(names) :]
    runs = tuple(replace(one, run=run) for one, run in zip(found.runs, kept, strict=True))
    return replace(found, runs=runs, tested=replace(found.tested, kept=tuple(kept)))
