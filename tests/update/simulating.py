"""Runs that are simulated: by the model itself, and by a process that knows nothing of the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from uncertain_botec import Scenario, load_scenario
from uncertain_botec.distributions import level_of_z
from uncertain_botec.planning import evaluate
from uncertain_botec.updating.bins import DAY, KNOTS, MONTH, drift_steps
from uncertain_botec.updating.futures import Learnt, remaining_days
from uncertain_botec.updating.progress_log import ProgressLog

Floats = npt.NDArray[np.float64]

RUN = """title = "Simulated"
estimator = "training"
[inputs]
parameters = "7e9 parameter"
tokens = "2e12 token"
accelerators = 64
peak_flop_per_s = "989 TFLOP/s"
mfu = { family = "logit-normal", p10 = 0.30, p90 = 0.48 }
failure_overhead = { family = "jqpd", p10 = "3 %", p50 = "10 %", p90 = "25 %", support = [0, inf] }
price_per_accelerator_hour = { family = "lognormal", median = "2.5 USD/hour", sigma = 0.2 }
[limits]
budget = "250e3 USD"
deadline = "45 day"
"""
DRIVERS = ("mfu", "failure_overhead")


def scenario_in(folder: Path, text: str = RUN) -> Scenario:
    """The scenario of these tests, or another."""
    file = folder / "run.toml"
    file.write_text(text, "utf-8")
    return load_scenario(file)


def planned_rate(scenario: Scenario, eps: Floats) -> Floats:
    """Planned tokens by day where the drivers, which are independent here, have these scores."""
    values = {name: np.float64(value) for name, value in scenario.known.items()}
    for name, z in zip(DRIVERS, eps, strict=True):
        values[name] = scenario.inputs[name].distribution.quantile(level_of_z(z))
    values["price_per_accelerator_hour"] = np.float64(1.0)
    made = evaluate(scenario.plan, values)
    return np.asarray(DAY * made["tokens"] / made["training_time"])


def log_of(days: Floats, tokens: Floats) -> ProgressLog:
    """A log as `read_log` would give it."""
    return ProgressLog(np.asarray(days) * DAY, np.asarray(tokens), None, None, None, None, "simulated.csv", "0" * 64)


def by_the_model(scenario: Scenario, days: int, random: np.random.Generator) -> tuple[ProgressLog, dict[str, float]]:
    """A run drawn from the model, priors included, by code of its own: its log, and its parameters and finish."""
    while True:
        eps = random.normal(size=len(DRIVERS))
        noise, drift = 0.05 * np.exp(0.5 * random.normal()), 0.03 * abs(random.normal())
        steps, outage = random.normal(size=KNOTS), random.beta(1.0, 30.0)
        middle = np.arange(days) + 0.5
        rate = float(np.log(planned_rate(scenario, eps)))
        walked = drift * drift_steps(middle, float(days), KNOTS) @ steps
        stopped = random.random(days) < outage
        lost = np.where(stopped, np.log(random.random(days)), 0.0)
        daily = np.hypot(noise, 0.01)
        usual = rate - np.log1p(-outage / 2) - daily**2 / 2
        speed = np.exp(usual + walked + daily * random.normal(size=days) + lost)
        tokens = np.append(0.0, np.cumsum(speed))
        left = scenario.known["tokens"] - tokens[-1]
        if left > 0:
            break
    now = rate + drift * np.sqrt(days / KNOTS / MONTH) * steps.sum()
    learnt = Learnt(*(np.array([one]) for one in (now, noise, drift, outage)))
    finish = days + float(remaining_days(np.array([left]), learnt, 1.0, random)[0])
    truth = dict(zip(DRIVERS, eps, strict=True))
    truth |= {"log_rate": rate, "noise": noise, "drift": drift, "outage": outage, "now": now, "finish": finish}
    return log_of(np.arange(days + 1.0), tokens), truth


def by_hours(scenario: Scenario, random: np.random.Generator, noise: float = 0.05) -> tuple[Floats, Floats, float]:
    """A whole run, hour by hour: 5 % noise from day to day, and Poisson failures that each stop it for some hours.

    Returns:
        Hours as days, tokens, and the day on which the last token is done.
    """
    failures, hours_lost = 0.25, 2.0
    rate = float(planned_rate(scenario, random.normal(size=len(DRIVERS))))
    # The plan's speed has what failures take in it.
    stepping = rate / (1 - failures * hours_lost / 24)
    target, length = scenario.known["tokens"], 24 * 400
    speed = np.repeat(stepping * np.exp(noise * random.normal(size=length // 24)), 24) / 24
    for hour in np.flatnonzero(random.random(length) < failures / 24):
        speed[hour : hour + round(hours_lost * random.exponential())] = 0.0
    tokens = np.append(0.0, np.cumsum(speed))
    last = int(np.searchsorted(tokens, target))
    finish = (last - 1 + (target - tokens[last - 1]) / (tokens[last] - tokens[last - 1])) / 24
    days = np.arange(length + 1) / 24
    return days[: last + 1], tokens[: last + 1], finish


def part_of(days: Floats, tokens: Floats, target: float, part: float) -> ProgressLog:
    """The log up to a part of the tokens."""
    end = int(np.searchsorted(tokens, part * target)) + 1
    return log_of(days[:end], tokens[:end])
