"""From TOML documents to a scenario: merging, units, elicitation and every check, with all faults collected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from uncertain_botec.architecture import counted_names
from uncertain_botec.choices import CHOICES, resolved
from uncertain_botec.errors import Fault, PriorFileError
from uncertain_botec.estimators import ESTIMATORS
from uncertain_botec.library import PRIORS, did_you_mean, includes_stating
from uncertain_botec.planning import Estimator, Plan
from uncertain_botec.prior_files.beliefs import believe, value_of
from uncertain_botec.prior_files.coherence import check_coherence, silent, vain
from uncertain_botec.prior_files.correlations import correlate
from uncertain_botec.prior_files.documents import Document, read_documents
from uncertain_botec.prior_files.filling import Stated, filled
from uncertain_botec.prior_files.merging import Merged, with_settings
from uncertain_botec.prior_files.places import Place
from uncertain_botec.prior_files.reference_class import told
from uncertain_botec.prior_files.schema import OBSERVABLE, check_input, toml
from uncertain_botec.scenario import Input, Marker, Scenario
from uncertain_botec.vocabulary import LIMITS, QUANTITIES


def load_scenario(reference: str | Path, overrides: Sequence[str] = (), *, including: Sequence[str] = ()) -> Scenario:
    """Read a prior file and everything it includes.

    Args:
        reference: the path of a prior file, or the name of a shipped run such as `llama-2-70b`.
        overrides: settings such as `inputs.mfu.p50=0.4` that win over the file; the value is TOML, or else text.
        including: files such as `prices/spot-2026` that win over what the file includes, and lose to itself.

    Returns:
        The scenario, with every input as a distribution in base units.

    Raises:
        PriorFileError: with every fault found, each with its file, its place and a way to mend it.
    """
    documents, faults = read_documents(reference, including)
    merged = Merged(documents[-1].where, documents[-1].path, list(faults))
    if faults:
        # What an unreadable include would have stated is not missing.
        merged.excused |= {"title", "estimator", *QUANTITIES}
    for document in with_settings(documents, overrides, merged.faults):
        merged.add(document)
    scenario = _assemble(merged, documents[-1])
    if merged.faults:
        raise PriorFileError(merged.faults)
    return scenario


def _assemble(merged: Merged, document: Document) -> Scenario:
    """The scenario that the merged documents state, of use only if no fault was found; faults are added."""
    faults = merged.faults
    estimator = _estimator(merged, document.where)
    if merged.lacks("title"):
        fix = 'title = "Our 70B run"'
        faults.append(Fault("a prior file has a title", document.where, "$.title", "nothing", "title = a text", fix))
    choices = resolved({name: word for name, word in merged.head.items() if isinstance(word, str)})
    everything = filled(merged, choices)
    stated = everything.stated
    plan = estimator.plan(stated.keys() & QUANTITIES.keys(), choices)
    learnt = told(merged, stated, plan.missing)
    if learnt:
        stated |= learnt
        plan = estimator.plan(stated.keys() & QUANTITIES.keys(), choices)
    inputs: dict[str, Input] = {}
    for key, (spec, place) in stated.items():
        if key not in QUANTITIES or check_input(spec, place.where, place.path):
            continue
        if key not in plan.inputs:
            if key not in merged.tables["inputs"]:
                continue
            if not _is_shipped_part(place):
                merged.warnings.append(f"{place.where}: {key} is stated but not used{_why(key, estimator, stated)}")
        # What the reference class cuts off is told with the rest of what it tells.
        notes = [] if key in learnt else merged.notes
        belief = believe(spec, QUANTITIES[key], place, faults, merged.warnings, notes)
        if belief is not None and key in plan.inputs:
            inputs[key] = Input(key, belief.stated, belief.distribution, place.where)
    check_coherence(merged, choices, everything.model, inputs, everything.counted)
    missing = [name for name in plan.missing if merged.lacks(name)]
    faults += [everything.reasons.get(name) or _missing(name, document.where, estimator) for name in missing]
    needed = frozenset((*plan.inputs, *plan.missing))
    dependence, correlations = correlate(merged.correlations, inputs, needed, faults, merged.notes)
    merged.notes += silent(inputs, plan)
    scenario = Scenario(
        title=merged.head.get("title", ""),
        estimator=estimator.name,
        inputs={name: inputs[name] for name in stated if name in inputs},
        choices=_bearing(choices, estimator),
        dependence=dependence,
        correlations=correlations,
        limits=_markers(merged, "limits", LIMITS) | _implied(plan),
        observed=_markers(merged, "observed", {output: output for output in OBSERVABLE}),
        architecture=everything.model,
        path=document.where,
        sha256=document.sha256,
        notes=tuple(merged.notes),
    )
    return replace(scenario, warnings=(*merged.warnings, *vain(scenario, merged, plan)))


def _estimator(merged: Merged, where: str) -> Estimator:
    name = str(merged.head["estimator"]) if "estimator" in merged.head else None
    if name is not None and name in ESTIMATORS:
        return ESTIMATORS[name]
    expected = f"estimator = one of {', '.join(ESTIMATORS)}"
    if name is not None:
        fix = did_you_mean(name, ESTIMATORS) or 'estimator = "training"'
        fault = Fault("there is no such estimator", where, "$.estimator", toml(name), expected, fix)
        merged.faults.append(fault)
    elif merged.lacks("estimator"):
        message, fix = "which estimator is meant is not stated", 'estimator = "training"'
        merged.faults.append(Fault(message, where, "$.estimator", "nothing", expected, fix))
    return ESTIMATORS["training"]


def _bearing(choices: Mapping[str, str], estimator: Estimator) -> dict[str, str]:
    """The choices that may change an answer of this estimator: not those that formulas of others alone ask for."""
    asked = {name for one in ESTIMATORS.values() for name in one.choices} - estimator.choices
    return {name: word for name, word in choices.items() if name not in asked} if estimator.choices else {}


def _is_shipped_part(place: Place) -> bool:
    """Whether a statement is from a shipped file that is there to be included, and may state more than a run needs."""
    return (
        not place.where.startswith("--set")
        and place.file.resolve().is_relative_to(PRIORS.resolve())
        and place.file.resolve().parent not in (PRIORS.resolve(), (PRIORS / "runs").resolve())
    )


def _why(name: str, estimator: Estimator, stated: Stated) -> str:
    """Why a stated input changes nothing, where that can be told."""
    taking = [one for one in estimator.formulas if name in one.inputs]
    followed: set[str] = set()
    waiting = [one.name for one in taking]
    while waiting:
        output = waiting.pop(0)
        if output in stated:
            return f": {output} is stated, which it would go into"
        if output not in followed:
            followed.add(output)
            waiting += [one.name for one in estimator.formulas if output in one.inputs]
    for one in taking:
        lacking = [other for other in (*one.required, *one.trigger) if other not in stated]
        if one.when or lacking:
            words = [f'{key} = "{"|".join(options)}"' for key, options in one.when.items()]
            return f": {one.name} takes it, with {', '.join([*words, *dict.fromkeys(lacking)])}"
    return f": the estimator {estimator.name} has no use for it"


def _missing(name: str, where: str, estimator: Estimator) -> Fault:
    quantity = QUANTITIES[name]
    includes = _NEAREST_INCLUDE.get(name) or includes_stating(name)
    expected = f"{name} = {quantity.example}, or a distribution, or an include that states it"
    if includes:
        fix = f'include = ["{includes[0]}"] states it'
        fix += f", as does {includes[1]}" if len(includes) > 1 else ""
    elif name == "attended_tokens":
        fix = "state sequence_length, in [architecture] or under [inputs], together with the architecture"
    elif name in counted_names():
        fix = f'state [architecture], or architecture = "config.json", which give it; or add {name} under [inputs]'
    else:
        fix = f"add {name} under [inputs]"
    if ways := _ways(name, estimator):
        fix += f", or state {ways} to have it computed"
    return Fault(f"{name} is missing: {quantity.meaning}", where, f"$.inputs.{name}", "nothing", expected, fix)


def _ways(name: str, estimator: Estimator) -> str:
    """What would have a formula compute a quantity: one of its triggers, or a choice."""
    for one in estimator.formulas:
        if one.name == name and one.trigger:
            return " or ".join(one.trigger)
    choices = {key for one in estimator.formulas if one.name == name for key in one.when}
    unmade = [key for key in CHOICES if key in choices and CHOICES[key].default is None]
    return " and ".join(f'{key} = "{"|".join(CHOICES[key].options)}"' for key in unmade)


_NEAREST_INCLUDE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("peak_flop_per_s", "accelerator_memory", "thermal_design_power"), ("accelerators/h100-sxm",)),
    "price_per_accelerator_hour": ("prices/neocloud-2026",),
    "spot_price_per_accelerator_hour": ("prices/spot-2026",),
    "reserved_price_per_accelerator_hour": ("prices/reserved-2026",),
}


def _markers(merged: Merged, table: str, outputs: Mapping[str, str]) -> dict[str, Marker]:
    return {marker.name: marker for marker in _read_markers(merged, table, outputs)}


def _read_markers(merged: Merged, table: str, outputs: Mapping[str, str]) -> Iterator[Marker]:
    for name, (stated, place) in merged.tables[table].items():
        if name not in outputs or isinstance(stated, list | bool):
            continue
        plain = stated.get("value") if isinstance(stated, dict) else stated
        at = place.at("value") if isinstance(stated, dict) else place
        if isinstance(plain, int | float | str) and not isinstance(plain, bool):
            value = value_of(plain, QUANTITIES[outputs[name]], at, merged.faults)
            if value is not None:
                yield Marker(name, outputs[name], value, stated)


def _implied(plan: Plan) -> dict[str, Marker]:
    """Limits that no file states: what is needed of a memory never exceeds what there is."""
    if "memory_utilisation" not in plan.outputs:
        return {}
    return {"memory": Marker("memory", "memory_utilisation", 1.0, None)}
