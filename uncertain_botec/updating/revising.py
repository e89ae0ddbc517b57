"""Updating: the log of a running run turns a scenario's priors into a posterior forecast."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.draws import Draws, Provenance
from uncertain_botec.errors import UsageError
from uncertain_botec.risk.measures import Figure, chance
from uncertain_botec.risk.review import wanted
from uncertain_botec.scenario import Scenario
from uncertain_botec.units import to_display
from uncertain_botec.updating.against import against_plan, check_possible, warnings
from uncertain_botec.updating.bins import DAY
from uncertain_botec.updating.progress_log import ProgressLog
from uncertain_botec.updating.result import (
    BATCHES,
    LEVELS,
    Finish,
    Revised,
    RevisedChance,
    RevisedLimit,
    SoFar,
    Spread,
    Update,
    batched,
    iso,
    revised,
    revision,
    spread,
)
from uncertain_botec.vocabulary import COST, LIMITS, QUANTITIES, TIME

if TYPE_CHECKING:
    from uncertain_botec.inference import Diagnostics, Settings
    from uncertain_botec.updating.posterior import Posterior

Floats = npt.NDArray[np.floating[Any]]

PRIOR_DRAWS = 1 << 16
OUTPUTS = ("training_time", "accelerator_hours", "cost")

# A run is finished when so few draws of the plan take more tokens.
_FINISHED = 0.01


def update(
    scenario: Scenario,
    log: ProgressLog,
    *,
    budget: str | None = None,
    deadline: str | None = None,
    seed: int = 0,
    settings: Settings | None = None,
) -> Update:
    """Revise a forecast by the log of the run.

    Args:
        scenario: from `load_scenario`; its priors are the priors.
        log: from `read_log`.
        budget: with its unit, such as "5 MUSD"; the scenario's own by default.
        deadline: likewise, such as "45 day", from the start of the run.
        seed: of all randomness; the same seed gives the same numbers.
        settings: how long the chains of the sampler are.

    Returns:
        Prior and posterior side by side, in printed units.

    Raises:
        UsageError: a scenario or an option that cannot be used.
        ProgressLogError: a log of another run, or one in other units.
        NotConverged: the sampler's chains did not come together; there are no numbers then.
    """
    started = time.perf_counter()
    stated, _ = wanted(scenario, budget, deadline, 0.5, ())
    from uncertain_botec.sampling.engine import sample
    from uncertain_botec.updating.fitting import fit
    from uncertain_botec.updating.planned import plan_of
    from uncertain_botec.updating.posterior import posterior_of

    planned = plan_of(stated, by_accelerator=log.accelerators is not None, counted=log.interruptions is not None)
    prior = sample(stated, PRIOR_DRAWS, seed=seed)
    tokens = _tokens(planned.scenario, prior)
    check_possible(stated, log, prior, tokens)
    drawn = time.perf_counter()
    if (tokens > log.done).mean() < _FINISHED:
        return _finished(stated, log, prior, tokens, seed)
    import jax

    fitted = fit(stated, log, jax.random.key(seed), settings=settings)
    found = posterior_of(fitted, log, np.random.default_rng([seed, 1]))
    fitting = time.perf_counter()
    seconds = {"prior": drawn - started, "nuts": fitting - drawn}
    draws = _draws(stated, found.values, prior.provenance, seed, seconds)
    notes = [*log.notes]
    if stated.choices.get("failures") == "simulated":
        notes.append("failures enter the posterior at their expectation, and with what the log shows")
    if log.interruptions is not None and not planned.counted:
        notes.append("interruptions are not used: the scenario plans none (it states no node_failure_rate)")
    learnt = dict(_learnt(found, fitted.planned.names[: fitted.planned.drivers], prior, fitted.planned.scenario))
    return _update(stated, log, prior, tokens, draws, learnt, notes, fitted.inferred.diagnostics)


def _tokens(scenario: Scenario, prior: Draws) -> Floats:
    """The plan's tokens in every prior draw."""
    if "tokens" in prior.values:
        return prior.values["tokens"]
    raise UsageError(f"{scenario.path or scenario.title}: the plan reports no tokens")


def _finished(stated: Scenario, log: ProgressLog, prior: Draws, tokens: Floats, seed: int) -> Update:
    """What there is to say of a run that has made the tokens of its plan: the actual."""
    from uncertain_botec.updating.posterior import at_the_end

    target = min(float(np.median(tokens)), log.done)
    place = int(np.searchsorted(log.tokens, target * (1 - 1e-9)))
    ended = replace(
        log,
        seconds=log.seconds[: place + 1],
        tokens=log.tokens[: place + 1],
        accelerators=None if log.accelerators is None else log.accelerators[: place + 1],
    )
    shape = tokens.shape
    planned = np.broadcast_to(prior.values["accelerator_hours"] / prior.values["training_time"], shape)
    hours = planned * ended.elapsed if ended.accelerator_seconds is None else np.full(shape, ended.accelerator_seconds)
    nothing = np.zeros(shape)
    scenario = replace(stated, choices={**stated.choices, "failures": "expected"})
    drawn = {name: np.asarray(one, np.float64) for name, one in prior.values.items()}
    values = {**drawn, **at_the_end(scenario, drawn, ended, nothing, nothing, hours)}
    draws = replace(prior, values=values)
    return _update(stated, ended, prior, tokens, draws, {}, [*log.notes], None)


def _update(
    stated: Scenario,
    log: ProgressLog,
    prior: Draws,
    tokens: Floats,
    draws: Draws,
    learnt: Mapping[str, Revised],
    notes: list[str],
    diagnostics: Diagnostics | None,
) -> Update:
    names = [name for name in OUTPUTS if name in prior.outputs and name in draws.values]
    outputs = {name: revised(prior.values[name], draws.values[name], QUANTITIES[name].unit) for name in names}
    limits = {
        name: RevisedLimit(
            float(to_display(one.value, QUANTITIES[one.output].unit)),
            QUANTITIES[one.output].unit,
            *(chance(some.values[one.output] <= one.value, exact=_exact(some, one.output)) for some in (prior, draws)),
        )
        for name, one in stated.limits.items()
        if name in LIMITS and one.output in names
    }
    both = None
    if {*limits} >= {"budget", "deadline"}:
        kept = [
            np.logical_and(
                *(
                    some.values[stated.limits[name].output] <= stated.limits[name].value
                    for name in ("budget", "deadline")
                )
            )
            for some in (prior, draws)
        ]
        exact = [all(_exact(some, output) for output in (COST, TIME)) for some in (prior, draws)]
        both = RevisedChance(*(chance(one, exact=known) for one, known in zip(kept, exact, strict=True)))
    finished = diagnostics is None
    against = against_plan(log, prior, tokens)
    share = min(1.0, float(log.done / np.median(draws.values.get("tokens", tokens))))
    so_far = SoFar(len(log), log.done, share, log.elapsed / DAY, log.lost / DAY, log.interruptions, log.cost, finished)
    finish = None if log.start is None else _finish(log.start, outputs["training_time"])
    warned = tuple(warnings(log, prior, tokens, against, outputs["training_time"], finished=finished))
    return Update(
        stated, log, so_far, against, outputs, finish, limits, both, learnt, warned, tuple(notes), diagnostics, draws
    )


def _exact(draws: Draws, output: str) -> bool:
    values = draws.values[output]
    return bool(values.min() == values.max())


def _finish(start: datetime, total: Revised) -> Finish:
    def dates(one: Spread) -> dict[str, str | None]:
        return {name: _date(start, getattr(one, name).value) for name in ("p10", "p50", "p90")}

    return Finish(dates(total.prior), dates(total.posterior))


def _date(start: datetime, days: float) -> str | None:
    try:
        return iso(start + timedelta(days=days))
    except (OverflowError, ValueError):
        return None


def _learnt(
    found: Posterior, drivers: tuple[str, ...], prior: Draws, scenario: Scenario
) -> Iterator[tuple[str, Revised]]:
    from scipy.special import betaincinv, ndtri

    from uncertain_botec.updating.model import DRIFT_SCALE, NOISE_MEDIAN, NOISE_SPREAD, OUTAGE_RARITY

    values = prior.values
    tokens, seconds = values["tokens"], values["training_time"]
    now = np.exp(found.learnt.log_rate) / DAY
    yield "speed", revised(tokens / seconds, batched(now), "tokens/day")
    if {"training_flop", "peak_flop_per_s"} <= found.values.keys() & values.keys():
        planned = values["training_flop"] / (values["accelerator_hours"] * values["peak_flop_per_s"])
        flop = found.values["training_flop"] / found.values["tokens"]
        seen = flop * now / (found.accelerators * found.values["peak_flop_per_s"])
        yield "overall_mfu", revised(planned, batched(seen), "fraction")
    for name in drivers:
        yield name, revised(values[name], batched(found.values[name]), QUANTITIES[name].unit)
    levels = np.array(LEVELS)
    for name, quantiles, draws in (
        ("day_to_day_noise", NOISE_MEDIAN * np.exp(NOISE_SPREAD * ndtri(levels)), found.learnt.noise),
        ("drift_per_month", DRIFT_SCALE * ndtri(0.5 + levels / 2), found.learnt.drift),
        ("outage_share", betaincinv(1.0, OUTAGE_RARITY, levels), found.learnt.outage),
    ):
        before = Spread(*(Figure(float(one), 0.0) for one in quantiles))
        yield name, revision(before, spread(batched(draws), "fraction"), "fraction")


def _draws(
    scenario: Scenario, values: Mapping[str, Floats], prior: Provenance, seed: int, seconds: Mapping[str, float]
) -> Draws:
    size = len(values["training_time"]) // BATCHES
    made = replace(
        prior,
        sampler="nuts",
        seed=seed,
        replicates=BATCHES,
        size=size,
        versions={**prior.versions, "numpyro": _numpyro()},
        seconds=seconds,
    )
    return Draws(scenario, {name: batched(one) for name, one in values.items()}, made)


def _numpyro() -> str:
    from importlib.metadata import version

    return version("numpyro")
