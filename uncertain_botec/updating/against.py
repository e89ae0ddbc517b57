"""A log against its plan: what no run of the plan can have logged, how it stands, and what to warn of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from uncertain_botec.draws import Draws
from uncertain_botec.errors import Fault
from uncertain_botec.risk.measures import percentile, quantiles_at
from uncertain_botec.scenario import Scenario
from uncertain_botec.updating.bins import DAY
from uncertain_botec.updating.progress_log import ProgressLog, ProgressLogError
from uncertain_botec.updating.result import AgainstPlan, Revised, spread

Floats = npt.NDArray[np.floating[Any]]

# A log of so many times the tokens that nearly every draw of the plan has is that of another run.
_FAR = 1.1

# A run that works at a twelfth of its planned speed has its times or its tokens in other units: hours for days are 24.
_SLOW = 12.0

# A bill is not as even as a plan is taken to be; that it is so many times too large or too small is worth a word.
_DEAR = 2.0

_HOUR = 3600.0


def check_possible(scenario: Scenario, log: ProgressLog, prior: Draws, tokens: Floats) -> None:
    """Refuse a log of another run, or one in other units.

    Args:
        scenario: the plan.
        log: of the run.
        prior: draws of the plan.
        tokens: of the plan, in every draw.

    Raises:
        ProgressLogError: the log has more tokens than the plan, more in its time than the peak allows for, or so few
            that units must be wrong.
    """
    plan = scenario.path or scenario.title
    most = float(np.quantile(tokens, 0.99))
    if log.done > _FAR * most:
        raise _refused(
            log,
            f"these are more tokens than {plan} plans; is it the log of this run?",
            f"{log.done:.4g} tokens",
            f"at most {most:.4g}, as in 99 % of the plan's draws",
            "state the tokens of the plan otherwise, as with --set inputs.tokens=...",
        )
    held = log.elapsed * _accelerators(prior) if log.accelerator_seconds is None else log.accelerator_seconds
    units = "are tokens, times or accelerators in other units, such as hours for days, or nodes for accelerators?"
    if {"training_flop", "peak_flop_per_s"} <= prior.values.keys():
        flop = prior.values["training_flop"] / tokens * log.done
        used = float(np.quantile(flop / (prior.values["peak_flop_per_s"] * held), 0.01))
        if used > 1:
            raise _refused(
                log,
                f"so many tokens in this time mean that {100 * used:.3g} % of the peak was used",
                f"{log.done:.4g} tokens in {log.elapsed / DAY:.3g} days",
                "at most 100 % of the peak",
                units,
            )
    planned, took, unit, name = _to_here(log, prior, tokens, standstills=False)
    middle, high = (float(one) for one in np.quantile(planned, (0.5, 0.99)))
    if took > max(_SLOW * middle, high):
        raise _refused(
            log,
            f"this took {took / middle:.3g} times as long as {plan} plans, standstills aside",
            f"{log.done:.4g} tokens in {took / unit:.4g} {name}",
            f"about {middle / unit:.4g} {name}",
            f"{units} Otherwise state what is believed now, as with --set inputs.mfu.p10=...",
        )


def _refused(log: ProgressLog, message: str, got: str, expected: str, fix: str) -> ProgressLogError:
    noted = f" The log as it was read: {'; '.join(log.notes)}" if log.notes else ""
    return ProgressLogError([Fault(message, log.path, "tokens", got, expected, fix + noted)])


def _accelerators(prior: Draws) -> Floats:
    return np.asarray(prior.values["accelerator_hours"] / prior.values["training_time"])


class ToHere(NamedTuple):
    """What it takes to the present tokens: accelerators times time where the log tells the accelerators, else time.

    Attributes:
        planned: in every draw of the plan, which is even: at a part of the tokens that part of it has gone by.
        took: by the log.
        unit: by which both are told.
        name: of that.
    """

    planned: Floats
    took: float
    unit: float
    name: str


def _to_here(log: ProgressLog, prior: Draws, tokens: Floats, *, standstills: bool) -> ToHere:
    """With steps of the log that added nothing, or without."""
    part = np.minimum(log.done / tokens, 1.0)
    steps = np.diff(log.seconds, prepend=0.0)
    if not standstills:
        steps = steps * (np.diff(log.tokens, prepend=0.0) > 0)
    if log.accelerators is None:
        return ToHere(prior.values["training_time"] * part, float(steps.sum()), DAY, "days")
    held = np.concatenate([log.accelerators[:1], log.accelerators[:-1]])
    return ToHere(prior.values["accelerator_hours"] * part, float((held * steps).sum()), _HOUR, "accelerator-hours")


def against_plan(log: ProgressLog, prior: Draws, tokens: Floats) -> AgainstPlan:
    """Days to the present number of tokens, as planned and as it was."""
    planned = prior.values["training_time"] * np.minimum(log.done / tokens, 1.0)
    low, high = (one.value for one in quantiles_at(planned, (0.05, 0.95)))
    exact = bool(planned.min() == planned.max())
    return AgainstPlan(
        spread(planned, "days"),
        log.elapsed / DAY,
        percentile(planned, log.elapsed, exact=exact),
        low / DAY,
        high / DAY,
    )


def warnings(
    log: ProgressLog, prior: Draws, tokens: Floats, against: AgainstPlan, total: Revised, *, finished: bool
) -> Iterator[str]:
    """Where the plan no longer holds, in words.

    Args:
        log: of the run.
        prior: draws of the plan.
        tokens: of the plan.
        against: how the run stands.
        total: days of the whole run, planned and now.
        finished: whether it is over.
    """
    exact = total.prior.width == 0
    posterior = total.posterior
    if exact and not finished and not posterior.p10.value <= total.prior.p50.value <= posterior.p90.value:
        yield (
            f"the plan no longer holds: it says {total.prior.p50.value:.3g} days, without any spread, and the run now "
            f"takes {posterior.p10.value:.3g} to {posterior.p90.value:.3g} days with a chance of 80 %"
        )
    if exact:
        return
    if not against.inside:
        pace = "slower" if against.actual > against.high else "faster"
        yield (
            f"the run is {pace} than its plan allows for: {against.actual:.3g} days to here, where the plan gives "
            f"{against.low:.3g} to {against.high:.3g} days with a chance of 90 %; look for what the plan did not know"
        )
    elif log.accelerators is not None:
        yield from _other_pace(log, prior, tokens)
    if log.cost is not None and "cost" in prior.values:
        yield from _other_cost(log, prior.values["cost"] * np.minimum(log.done / tokens, 1.0))
    median = posterior.p50.value
    if not finished and not total.prior.p10.value <= median <= total.prior.p90.value:
        side = "after" if median > total.prior.p90.value else "before"
        bound = total.prior.p90.value if side == "after" else total.prior.p10.value
        level = "P90" if side == "after" else "P10"
        yield (
            f"the plan's interval no longer holds: the run now ends {side} its {level} with a chance above 50 % "
            f"({median:.3g} days at P50 against {bound:.3g})"
        )


def _other_pace(log: ProgressLog, prior: Draws, tokens: Floats) -> Iterator[str]:
    """A run may be on time by another number of accelerators than its plan has."""
    planned, took, unit, name = _to_here(log, prior, tokens, standstills=True)
    low, high = (float(one) for one in np.quantile(planned, (0.05, 0.95)))
    if not low <= took <= high:
        pace = "slower" if took > high else "faster"
        yield (
            f"each accelerator is {pace} than the plan allows for: {took / unit:,.4g} {name} to here, where the plan "
            f"gives {low / unit:,.4g} to {high / unit:,.4g} with a chance of 90 %; are the log's accelerators those "
            "of the plan?"
        )


def _other_cost(log: ProgressLog, planned: Floats) -> Iterator[str]:
    """A cost in other units, or of something else than the run so far, is far from the plan's."""
    low, high = (float(one) for one in np.quantile(planned, (0.05, 0.95)))
    if log.cost is not None and not low / _DEAR <= log.cost <= high * _DEAR:
        yield (
            f"the cost so far is {log.cost:,.4g} USD, where the plan gives {low:,.4g} to {high:,.4g} for as many "
            "tokens with a chance of 90 %; is it in USD, and of all of the run?"
        )
