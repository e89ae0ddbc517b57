"""Monte Carlo back-of-the-envelope calculations for large-model training and serving, with the uncertainty kept in.

from uncertain_botec import forecast, load_scenario
summary = forecast(load_scenario("llama-2-70b"))
summary.outputs["cost"].p90
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uncertain_botec.calibration.backtesting import Backtest, backtest
    from uncertain_botec.calibration.calibrating import Calibration, calibrate
    from uncertain_botec.calibration.runs import read_runs
    from uncertain_botec.decisions.comparing import compare_scenarios
    from uncertain_botec.decisions.comparison import Comparison
    from uncertain_botec.decisions.solution import Solution
    from uncertain_botec.decisions.solving import solve
    from uncertain_botec.decisions.surface import Sweep
    from uncertain_botec.decisions.sweeping import sweep
    from uncertain_botec.draws import Draws
    from uncertain_botec.errors import BotecError, PriorFileError
    from uncertain_botec.forecasting import forecast
    from uncertain_botec.output import write_calibration
    from uncertain_botec.prior_files.loading import load_scenario
    from uncertain_botec.report import Report, write_report
    from uncertain_botec.risk.review import RiskReview, review_risk
    from uncertain_botec.sampling.batches import estimate_many
    from uncertain_botec.sampling.engine import sample
    from uncertain_botec.scenario import Scenario, dump_scenario
    from uncertain_botec.sensitivity.result import Sensitivity
    from uncertain_botec.sensitivity.study import analyse_sensitivity
    from uncertain_botec.sizing import Sizing, size
    from uncertain_botec.summaries import Summary, summarize
    from uncertain_botec.updating.progress_log import ProgressLog, read_log
    from uncertain_botec.updating.result import Update
    from uncertain_botec.updating.revising import update

__all__ = [
    "Backtest",
    "BotecError",
    "Calibration",
    "Comparison",
    "Draws",
    "PriorFileError",
    "ProgressLog",
    "Report",
    "RiskReview",
    "Scenario",
    "Sensitivity",
    "Sizing",
    "Solution",
    "Summary",
    "Sweep",
    "Update",
    "analyse_sensitivity",
    "backtest",
    "calibrate",
    "compare_scenarios",
    "dump_scenario",
    "estimate_many",
    "forecast",
    "load_scenario",
    "read_log",
    "read_runs",
    "review_risk",
    "sample",
    "size",
    "solve",
    "summarize",
    "sweep",
    "update",
    "write_calibration",
    "write_report",
]

_HOMES = {
    "Backtest": "calibration.backtesting",
    "BotecError": "errors",
    "Calibration": "calibration.calibrating",
    "Comparison": "decisions.comparison",
    "Draws": "draws",
    "PriorFileError": "errors",
    "ProgressLog": "updating.progress_log",
    "Report": "report",
    "RiskReview": "risk.review",
    "Scenario": "scenario",
    "Sensitivity": "sensitivity.result",
    "Sizing": "sizing",
    "Solution": "decisions.solution",
    "Summary": "summaries",
    "Sweep": "decisions.surface",
    "Update": "updating.result",
    "analyse_sensitivity": "sensitivity.study",
    "backtest": "calibration.backtesting",
    "calibrate": "calibration.calibrating",
    "compare_scenarios": "decisions.comparing",
    "dump_scenario": "scenario",
    "estimate_many": "sampling.batches",
    "forecast": "forecasting",
    "load_scenario": "prior_files.loading",
    "read_log": "updating.progress_log",
    "read_runs": "calibration.runs",
    "review_risk": "risk.review",
    "sample": "sampling.engine",
    "size": "sizing",
    "solve": "decisions.solving",
    "summarize": "summaries",
    "sweep": "decisions.sweeping",
    "update": "updating.revising",
    "write_calibration": "output",
    "write_report": "report",
}


def __getattr__(name: str) -> Any:
    # Importing the package must not import JAX: `botec --help` would wait a second for it.
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("uncertain-botec")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
