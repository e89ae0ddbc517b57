"""The answer in one sentence, and what whoever signs should know besides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from uncertain_botec.presentation import amount, title_of
from uncertain_botec.report.blocks import Block, Paragraph, Points, Section, Tile, Tiles, foreign
from uncertain_botec.report.context import Context
from uncertain_botec.report.words import chance, in_all, name_of, part, percent, said
from uncertain_botec.risk.measures import Chance
from uncertain_botec.risk.review import Confidence, LimitRisk, OutputRisk
from uncertain_botec.risk_table import outcome
from uncertain_botec.sensitivity.result import Sensitivity
from uncertain_botec.vocabulary import QUANTITIES

_DOES = {"cost": "cost", "training_time": "take"}

# What moves an output less is not what decides it.
_DECIDES = 0.05
# Chances that are as good as certain need no comparison with a hundred runs.
_OPEN = (0.005, 0.995)


def answer(context: Context) -> Section:
    """The sentence, its numbers at a glance, and the points behind it."""
    blocks: list[Block] = [Paragraph(sentence(context), lead=True)]
    if tiles := tuple(_tiles(context)):
        blocks.append(Tiles(tiles))
    if points := tuple(_points(context)):
        blocks.append(Points(points))
    return Section("answer", "The answer", tuple(blocks))


# --- the sentence -----------------------------------------------------------------------------------------------------


def sentence(context: Context) -> str:
    """What was asked, answered."""
    review = context.review
    limits = {one.limit.name: (one, one.limit) for one in review.outputs.values() if one.limit is not None}
    if not limits:
        return _without_limits(context)
    stated = in_all(_limit(one, limit) for one, limit in limits.values())
    if review.both is not None:
        return f"At {stated} the run keeps both with a probability of {chance(review.both)}; {_plan(context)}."
    subject = context.scenario.model.subject
    if len(limits) == 1:
        ((_, limit),) = limits.values()
        return f"At {stated} the {subject} keeps it with a probability of {chance(limit.chance)}; {_plan(context)}."
    chances = in_all(chance(limit.chance) for _, limit in limits.values())
    return f"At {stated} the {subject} keeps each by itself with a probability of {chances}; {_plan(context)}."


def _limit(one: OutputRisk, limit: LimitRisk) -> str:
    return f"a {limit.name} of {amount(limit.value, one.unit)}"


def _plan(context: Context) -> str:
    """What to plan for to be as sure as was asked."""
    review = context.review
    sure = part(review.confidence)
    if review.pair is not None:
        budget, deadline = review.pair.budget, review.pair.deadline
        if math.isinf(budget.value) or math.isinf(deadline.value):
            return f"nothing makes both {sure} sure, for too many runs never finish"
        money, days = said("cost", budget.value, budget.error), said("training_time", deadline.value, deadline.error)
        return f"to be {sure} sure of both, plan for {money} and {days}"
    if all(one.exact for one in review.outputs.values()):
        return f"{_known(context)}, for nothing about it is uncertain"
    # Where only one of two has a limit it is still both that are planned for; where there is only one, that.
    return f"to be {sure} sure, plan for {in_all(_quantiles(context))}"


def _quantiles(context: Context) -> Iterator[str]:
    for name, one in context.review.outputs.items():
        level = _asked(one, context.review.confidence)
        yield said(name, level.value, level.error)


def _asked(one: OutputRisk, confidence: float) -> Confidence:
    """What it takes to be as sure as was asked."""
    return next(level for level in one.confidence if level.level == confidence)


def _known(context: Context) -> str:
    """What comes out where nothing is uncertain."""
    exact = {name: one.point_estimate for name, one in context.review.outputs.items()}
    if exact.keys() <= _DOES.keys():
        return f"the run will {in_all(f'{_DOES[name]} {said(name, value)}' for name, value in exact.items())}"
    return in_all(f"{name_of(name)} {_bare(name, value)}" for name, value in exact.items())


def _bare(name: str, value: float) -> str:
    """A value without the unit where the name says it."""
    text, word = said(name, value), name_of(name).rpartition(" ")[2]
    return text.removesuffix(f" {word}")


def _without_limits(context: Context) -> str:
    review = context.review
    sure = part(review.confidence)
    if all(one.exact for one in review.outputs.values()):
        return f"Every input is known exactly, and so is the answer: {_known(context)}."
    if review.pair is not None:
        budget, deadline = review.pair.budget, review.pair.deadline
        if math.isinf(budget.value) or math.isinf(deadline.value):
            return f"No budget and deadline can be kept with a probability of {sure}: too many runs never finish."
        money, days = said("cost", budget.value, budget.error), said("training_time", deadline.value, deadline.error)
        return f"With a probability of {sure} the run costs at most {money} and takes at most {days}."
    names = list(review.outputs)
    each = [f"{name_of(name)} at most {text}" for name, text in zip(names, _quantiles(context), strict=True)]
    return (
        f"Each with a probability of {sure}: {in_all(each)}."
        if each[1:]
        else f"With a probability of {sure}: {each[0]}."
    )


# --- at a glance ------------------------------------------------------------------------------------------------------


def _tiles(context: Context) -> Iterator[Tile]:
    review = context.review
    if review.both is not None:
        yield Tile("Both kept", chance(review.both), "budget and deadline in the same run")
    for one in review.outputs.values():
        if one.limit is not None:
            kept = f"a {one.limit.name} of {amount(one.limit.value, one.unit)}"
            yield Tile(f"{one.limit.name.capitalize()} kept", chance(one.limit.chance), kept)
    for name, one in review.outputs.items():
        if name in _DOES and not one.exact and math.isfinite(context.summary.outputs[name].p50):
            middle, level = context.summary.outputs[name], _asked(one, review.confidence)
            surer = f"in half of all runs; in {part(review.confidence)} at most {said(name, level.value, level.error)}"
            yield Tile(f"{title_of(name)} at most", said(name, middle.p50, middle.mcse["p50"]), surer)
    if review.pair is not None and math.isfinite(review.pair.budget.value + review.pair.deadline.value):
        days = said("training_time", review.pair.deadline.value, review.pair.deadline.error)
        detail = f"and {days}, which {part(review.confidence)} of all runs keep together"
        yield Tile("Plan for", said("cost", review.pair.budget.value, review.pair.budget.error), detail)


# --- what to know besides ---------------------------------------------------------------------------------------------


def _points(context: Context) -> Iterator[str]:
    review = context.review
    for verdict in review.verdicts:
        yield f"The requirement {foreign(verdict.text)} is {'met' if verdict.met else 'NOT met'}: {outcome(verdict)}."
    if review.both is not None:
        yield from _of_a_hundred(review.both, "the budget, the deadline or both")
    else:
        for one in review.outputs.values():
            if one.limit is not None:
                yield from _of_a_hundred(one.limit.chance, f"the {one.limit.name}")
    for name, one in review.outputs.items():
        if one.limit is None or one.limit.mean_overrun is None or one.exact:
            continue
        mean = one.limit.mean_overrun
        if math.isinf(mean.value):
            yield f"Where the {one.limit.name} is overrun there is no average to tell, for some runs never finish."
        else:
            over = said(name, mean.value, mean.error)
            yield f"Where the {one.limit.name} is overrun, it is by {over} on average."
    if "memory" in context.summary.limits:
        fits = context.summary.limits["memory"]
        text = chance(Chance(fits.probability, fits.mcse, fits.low, fits.high))
        yield f"The model fits the memory of its accelerators with a probability of {text}."
    time = context.summary.outputs.get("training_time")
    if time is not None and time.endless:
        yield (
            f"{percent(time.endless)} of the runs never finish: failures come faster than checkpoints and restarts "
            "can make up for."
        )
    yield from _decides(context.studies)
    yield from _first(context)


def _of_a_hundred(one: Chance, what: str) -> Iterator[str]:
    if _OPEN[0] < one.value < _OPEN[1]:
        yield f"Of 100 runs like this one, about {100 * (1 - one.value):.0f} would break {what}."


def _decides(studies: Sequence[Sensitivity]) -> Iterator[str]:
    """The input behind most of each output's spread; those that share one in one sentence."""
    found: dict[str, list[tuple[str, str]]] = {}
    for study in studies:
        first = study.inputs[0]
        if study.resolved and first.shapley is not None and first.shapley.value >= _DECIDES:
            what = "the luck of the run" if first.influence == "chance" else _explained(first.input)
            share = f"{100 * min(first.shapley.value, 1.0):.0f} %"
            found.setdefault(what, []).append((f"the {name_of(study.output)}", share))
    for what, outputs in found.items():
        about = in_all(output for output, _ in outputs)
        (only, share), *others = outputs
        behind = in_all([f"{share} of the spread of {only}", *(f"{more} of that of {one}" for one, more in others)])
        behind = behind if others else f"{share} of its spread"
        yield f"What decides most about {about} is {what}, which is behind {behind}."


def _explained(name: str) -> str:
    """An input's name and what it means."""
    return f"`{name}` ({QUANTITIES[name].meaning})"


def _first(context: Context) -> Iterator[str]:
    """What to measure before deciding."""
    worth = next((study.information for study in context.studies if study.information is not None), None)
    if worth is None or not worth.inputs:
        return
    name, one = next(iter(worth.inputs.items()))
    if one.low > 0:
        money = said("cost", one.value, one.error)
        yield f"What to measure first is `{name}`: knowing it before deciding is worth up to {money}."
    else:
        yield "No single input is clearly worth measuring before deciding."
