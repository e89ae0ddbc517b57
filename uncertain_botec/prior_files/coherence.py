"""What no single input shows to be wrong: shares that exceed the whole, layouts that cannot be, statements in vain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from uncertain_botec.architecture import Network, Transformer
from uncertain_botec.architecture.layers import Experts
from uncertain_botec.choices import CHOICES
from uncertain_botec.errors import Fault
from uncertain_botec.formulas.rental import SHARE_ROUNDING
from uncertain_botec.planning import Plan
from uncertain_botec.prior_files.filling import Model, Stated
from uncertain_botec.prior_files.merging import Merged
from uncertain_botec.scenario import Input, Scenario

_SHARES = ("spot_share", "reserved_share", "owned_share")

# Counts differ by what they leave out, such as embeddings; one this far off is another model's.
_ANOTHER_MODEL = 0.1

Inputs = Mapping[str, Input]


def check_coherence(
    merged: Merged, choices: Mapping[str, str], model: Model | None, inputs: Inputs, counted: Stated
) -> None:
    """Add the faults and warnings of inputs that do not go together.

    Args:
        merged: what is stated, to whose faults and warnings is added.
        choices: that are made.
        model: the architecture, if one is stated.
        inputs: that are used, as far as they are without fault.
        counted: what follows from other tables than the inputs.
    """
    before = len(merged.faults)
    merged.faults += _shares(merged, choices, inputs)
    if len(merged.faults) > before:
        merged.excused.add("rental_cost")
    merged.faults += _model(merged, model)
    merged.faults += _layout(merged, model, inputs)
    merged.warnings += _contradictions(merged, model, inputs, counted)


def _fault(merged: Merged, name: str, message: str, got: str, expected: str, fix: str) -> Fault:
    _, place = merged.tables["inputs"].get(name, (None, None))
    where, path = (place.where, place.path) if place is not None else (merged.where, f"$.inputs.{name}")
    return Fault(message, where, path, got, expected, fix)


def _shares(merged: Merged, choices: Mapping[str, str], inputs: Inputs) -> Iterator[Fault]:
    """Shares belong to a mixed purchase, where what they leave is rented on demand."""
    own = merged.tables["inputs"]
    purchase = choices["purchase"]
    stated = [name for name in _SHARES if name in own]
    if purchase != "mixed":
        for name in (*stated, *(["on_demand_share"] if "on_demand_share" in own else [])):
            message = f'a share is stated, but purchase = "{purchase}" is all of one kind'
            yield _fault(merged, name, message, name, 'purchase = "mixed"', 'purchase = "mixed", or take the share out')
        return
    if "on_demand_share" in own:
        message = "on demand is what the other shares leave"
        yield _fault(merged, "on_demand_share", message, "on_demand_share", "the other shares", "take it out")
    if not stated:
        expected = f"one of {', '.join(_SHARES)}"
        yield _fault(merged, "spot_share", "a mixed purchase has shares", "none", expected, "spot_share = 0.5")
    most = sum(inputs[name].distribution.support[1] for name in stated if name in inputs)
    if most > 1 + SHARE_ROUNDING:
        got = " + ".join(f"{name} up to {inputs[name].distribution.support[1]:g}" for name in stated if name in inputs)
        message = "the shares can add up to more than all accelerators"
        yield _fault(merged, stated[-1], message, got, "at most 1 together", "bound them with truncate, or lower them")


def _model(merged: Merged, model: Model | None) -> Iterator[Fault]:
    """A network is for the network's estimator, a transformer is not."""
    estimator = merged.head.get("estimator")
    network = isinstance(model, Network)
    if model is not None and estimator is not None and network != (estimator == "network"):
        _, place = merged.architecture or (None, None)
        where, path = (place.where, place.path) if place is not None else (merged.where, "$.architecture")
        fix = 'estimator = "network"' if network else "take layers and heads out, or choose another estimator"
        kind = "a fully connected network" if network else "a transformer"
        yield Fault(f"{kind} is not what this estimator is for", where, path, str(estimator), fix, fix)


def _known(inputs: Inputs, name: str) -> float | None:
    one = inputs.get(name)
    return one.distribution.support[0] if one is not None and one.known else None


def _layout(merged: Merged, model: Model | None, inputs: Inputs) -> Iterator[Fault]:
    """A replica of the layout has to be there, and experts can only be shared out whole."""
    tensor, pipeline, expert = (_known(inputs, f"{one}_parallel") for one in ("tensor", "pipeline", "expert"))
    accelerators = _known(inputs, "accelerators")
    if tensor and pipeline and accelerators:
        group = pipeline * max(tensor, expert or 1)
        if accelerators < group:
            message = f"one replica of this layout takes {group:g} accelerators"
            fix = f"accelerators = {group:g} or more, or split less"
            yield _fault(merged, "accelerators", message, f"{accelerators:g}", f"at least {group:g}", fix)
    if tensor and expert and max(tensor, expert) % min(tensor, expert):
        message = "neither of tensor_parallel and expert_parallel is a multiple of the other"
        got = f"{tensor:g} and {expert:g}"
        yield _fault(merged, "expert_parallel", message, got, "a multiple", f"expert_parallel = {tensor:g}")
    if pipeline and isinstance(model, Transformer) and pipeline > max(model.layers, 1):
        got, expected = f"{pipeline:g}", f"at most {model.layers} layers"
        message = "there are more pipeline stages than layers"
        yield _fault(merged, "pipeline_parallel", message, got, expected, f"pipeline_parallel = {model.layers}")
    if expert and expert > 1 and isinstance(model, Transformer):
        numbers = {group.mlp.experts for group in model.groups if isinstance(group.mlp, Experts)}
        if not numbers or any(number % expert for number in numbers):
            expected = f"a divisor of {', '.join(map(str, sorted(numbers)))} experts" if numbers else "1: it has none"
            message = "the experts cannot be shared out evenly"
            yield _fault(merged, "expert_parallel", message, f"{expert:g}", expected, "choose such a number")
    total, experts = _known(inputs, "total_parameters"), _known(inputs, "expert_parameters")
    if total is not None and experts is not None and experts > total:
        message = "the experts have more parameters than the whole model"
        yield _fault(merged, "expert_parameters", message, f"{experts:g}", f"at most {total:g}", "check both counts")


def _contradictions(merged: Merged, model: Model | None, inputs: Inputs, counted: Stated) -> Iterator[str]:
    """Inputs that win over what the stated architecture counts, which other counts still follow."""
    if model is None:
        return
    for name, (spec, _) in counted.items():
        own = merged.tables["inputs"].get(name)
        value = _known(inputs, name)
        if own is None or value is None or name == "sequence_length":
            continue
        count = spec["value"]
        if abs(value - count) > _ANOTHER_MODEL * abs(count):
            yield (
                f"{own[1].where}: {name} is stated as {value:g}, and the architecture has {count:g}; "
                "what is stated wins, but all other counts are the architecture's"
            )


def vain(scenario: Scenario, merged: Merged, plan: Plan) -> Iterator[str]:
    """Warnings of what is stated and changes nothing: choices, limits and observed outcomes."""
    in_force = scenario.choices_in_force
    for name in CHOICES:
        stated = merged.head.get(name)
        if stated is not None and name not in in_force and stated != CHOICES[name].default:
            yield f"{merged.where}: {name} is stated but has no effect here"
    for table, markers in (("limits", scenario.limits), ("observed", scenario.observed)):
        for name, marker in markers.items():
            if marker.output not in plan.outputs:
                yield f"{merged.where}: {table}.{name} is not looked at: {marker.output} is not computed here"


def silent(inputs: Inputs, plan: Plan) -> Iterator[str]:
    """Notes of what counts as nothing because nobody stated it, where that is easily forgotten."""
    computed = {step.name for step in plan.steps}
    if "repair_time" in inputs and "spare_nodes" not in inputs:
        yield "spare_nodes is not stated: every failure waits for its repair"
    if "cluster_mtbf" in computed and {"spot_share"} & inputs.keys() and "preemption_rate" not in inputs:
        yield "preemption_rate is not stated: spot accelerators are taken as never preempted (reliability/spot)"
    if "cluster_mtbf" in computed and "failure_overhead" in inputs:
        yield "failure_overhead is stated: the failures that are computed beside it do not enter the time"
