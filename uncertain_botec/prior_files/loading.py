"""From TOML documents to a scenario: merging, units, elicitation and every check, with all faults collected."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uncertain_botec.errors import Fault, PriorFileError
from uncertain_botec.estimators import ESTIMATORS
from uncertain_botec.library import did_you_mean
from uncertain_botec.prior_files.beliefs import believe, value_of
from uncertain_botec.prior_files.correlations import correlate
from uncertain_botec.prior_files.documents import Document, read_documents
from uncertain_botec.prior_files.places import Place
from uncertain_botec.prior_files.schema import (
    OBSERVABLE,
    Accelerator,
    PriorFile,
    check_document,
    check_input,
    toml,
    unknown,
)
from uncertain_botec.quantities import LIMITS, QUANTITIES
from uncertain_botec.scenario import Input, Marker, Scenario


def load_scenario(reference: str | Path, overrides: Sequence[str] = ()) -> Scenario:
    """Read a prior file and everything it includes.

    Args:
        reference: the path of a prior file, or the name of a shipped run such as `llama-2-70b`.
        overrides: settings such as `inputs.mfu.p50=0.4` that win over the file; the value is TOML, or else text.

    Returns:
        The scenario, with every input as a distribution in base units.

    Raises:
        PriorFileError: with every fault found, each with its file, its place and a way to mend it.
    """
    documents, faults = read_documents(reference)
    merged = _Merged(list(faults))
    if faults:
        # What an unreadable include would have stated is not missing.
        merged.excused |= {"title", "estimator", *QUANTITIES}
    for document in _with_settings(documents, overrides, merged.faults):
        merged.add(document)
    scenario = _assemble(merged, documents[-1])
    if merged.faults:
        raise PriorFileError(merged.faults)
    return scenario


@dataclass
class _Merged:
    """What all documents say together; a later document replaces an input, a price or a limit as a whole."""

    faults: list[Fault]
    head: dict[str, Any] = field(default_factory=dict)
    accelerator: tuple[Accelerator, Place] | None = None
    tables: dict[str, dict[str, tuple[Any, Place]]] = field(
        default_factory=lambda: {"inputs": {}, "prices": {}, "limits": {}, "observed": {}}
    )
    correlations: list[tuple[Mapping[str, Any], Place]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    excused: set[str] = field(default_factory=set)

    def add(self, document: Document) -> None:
        parsed, faults = check_document(document.content, document.where)
        self.faults += faults
        for table, entries in self.tables.items():
            stated = document.content.get(table)
            for name, spec in (stated if isinstance(stated, dict) else {}).items():
                entries[name] = (spec, Place(document.where, f"$.{table}.{name}", document.path))
        self.keys |= {*document.content, *_names(document.content.get("inputs"))}
        if "accelerator" in document.content and parsed.accelerator is None:
            self.excused |= {"peak_flop_per_s", "price_per_accelerator_hour"}
        self.head |= {key: getattr(parsed, key) for key in ("title", "estimator", "precision") if getattr(parsed, key)}
        if parsed.accelerator is not None:
            self.accelerator = parsed.accelerator, Place(document.where, "$.accelerator", document.path)
        for index, entry in enumerate(parsed.correlations):
            place = Place(document.where, f"$.correlations[{index}]", document.path)
            self.correlations.append((entry.model_dump(exclude_none=True), place))

    def lacks(self, key: str) -> bool:
        """Whether nothing states a key, nor another that is probably a misspelling of it, which is a fault already."""
        known = {*PriorFile.model_fields, *QUANTITIES}
        misspelt = any(did_you_mean(other, [key]) for other in self.keys - known)
        return key not in self.keys | self.excused and not misspelt


def _names(table: Any) -> Iterable[str]:
    return table if isinstance(table, dict) else ()


def _with_settings(
    documents: Sequence[Document], overrides: Sequence[str], faults: list[Fault]
) -> tuple[Document, ...]:
    """The documents, and each of the command line's settings as one more, which wins over those before it."""
    stated = [*documents]
    for override in overrides:
        where = f"--set {override}"
        path, equals, text = override.partition("=")
        keys = path.strip().split(".")
        at = "$." + path.strip()
        if not equals or not all(keys):
            expected = "a path and a value, such as inputs.mfu.p50=0.4"
            faults.append(Fault("not a setting", where, "$", f'"{override}"', expected, "--set PATH=VALUE"))
            continue
        if keys[0] == "include" or keys[0] not in PriorFile.model_fields:
            known = [name for name in PriorFile.model_fields if name != "include"]
            faults.append(unknown(where, at, keys[0], known, "a setting starts with a key of the prior file"))
            continue
        # The last document that states the table is the one whose other keys stay in force, and beside which its CSV
        # file lies. An accelerator is replaced as a whole, like any single input.
        whole = keys[: 1 if keys[0] == "accelerator" else 2]
        source = next((one for one in reversed(stated) if _at(one.content, whole) is not None), documents[-1])
        content: dict[str, Any] = {}
        try:
            if len(whole) < len(keys):
                _put(content, whole, copy.deepcopy(_at(source.content, whole) or {}))
            _put(content, keys, _toml_value(text))
        except TypeError:
            parent = ".".join(keys[:-1])
            got = f"{'.'.join(whole)} = {toml(_at(source.content, whole))}"
            faults.append(Fault(f"{parent} is not a table", where, at, got, "a table", f"--set {parent}=VALUE"))
        except tomllib.TOMLDecodeError as error:
            expected = 'TOML, such as { family = "logit-normal", p10 = 0.36, p90 = 0.48 }'
            faults.append(Fault(f"not TOML: {error}", where, at, text[:80], expected, "put texts inside it in quotes"))
        else:
            stated.append(Document(where, source.path, content, ""))
    return tuple(stated)


def _toml_value(text: str) -> Any:
    """The value that a setting gives: TOML, or else the text itself, so that `"15T token"` needs no second quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        if text.lstrip().startswith(("{", "[")):
            raise tomllib.TOMLDecodeError("this list or table cannot be read") from None
        return text


def _at(content: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content


def _put(content: Any, keys: Sequence[str], value: Any) -> None:
    for key in keys[:-1]:
        content = content.setdefault(key, {})
        if not isinstance(content, dict):
            raise TypeError(key)
    content[keys[-1]] = value


def _assemble(merged: _Merged, document: Document) -> Scenario:
    """The scenario that the merged documents state, of use only if no fault was found; faults are added."""
    faults = merged.faults
    name = merged.head.get("estimator")
    if name is None or name not in ESTIMATORS:
        if name is not None or merged.lacks("estimator"):
            faults.append(_no_estimator(name, document.where))
        estimator = ESTIMATORS["training"]
    else:
        estimator = ESTIMATORS[name]
    if merged.lacks("title"):
        fix = 'title = "Our 70B run"'
        faults.append(Fault("a prior file has a title", document.where, "$.title", "nothing", "title = a text", fix))

    stated = _with_accelerator(merged)
    needed = estimator.needs(frozenset(stated))
    inputs: dict[str, Input] = {}
    for key, (spec, place) in stated.items():
        if key not in QUANTITIES or check_input(spec, place.where, place.path):
            continue
        if key not in needed and key in merged.tables["inputs"]:
            merged.warnings.append(f"{place.where}: {key} is stated but the estimator {estimator.name} does not use it")
        belief = believe(spec, QUANTITIES[key], place, faults, merged.warnings, merged.notes)
        if belief is not None and key in needed:
            inputs[key] = Input(key, belief.stated, belief.distribution, place.where)
    faults += _missing([key for key in needed if key not in stated and merged.lacks(key)], document.where)
    dependence, correlations = correlate(merged.correlations, inputs, frozenset(needed), faults, merged.notes)
    return Scenario(
        title=merged.head.get("title", ""),
        estimator=estimator.name,
        inputs=inputs,
        dependence=dependence,
        correlations=correlations,
        limits=_markers(merged, "limits", LIMITS),
        observed=_markers(merged, "observed", {output: output for output in OBSERVABLE}),
        path=document.where,
        sha256=document.sha256,
        notes=tuple(merged.notes),
        warnings=tuple(merged.warnings),
    )


def _no_estimator(name: str | None, where: str) -> Fault:
    expected = f"estimator = one of {', '.join(ESTIMATORS)}"
    if name is None:
        message, fix = "which estimator is meant is not stated", 'estimator = "training"'
        return Fault(message, where, "$.estimator", "nothing", expected, fix)
    fix = did_you_mean(name, ESTIMATORS) or 'estimator = "training"'
    return Fault("there is no such estimator", where, "$.estimator", toml(name), expected, fix)


def _with_accelerator(merged: _Merged) -> dict[str, tuple[Any, Place]]:
    """The stated inputs, with the accelerator's peak and its price filled in where nothing else was stated."""
    stated = dict(merged.tables["inputs"])
    if merged.accelerator is None:
        return stated
    accelerator, place = merged.accelerator
    if "peak_flop_per_s" not in stated:
        peaks = accelerator.peak_flop_per_s
        precision = merged.head.get("precision") or ("bf16" if "bf16" in peaks else "fp16")
        if precision in peaks:
            about = {"source": accelerator.source, "as_of": accelerator.as_of}
            about["note"] = f"dense {precision} peak of {accelerator.name}"
            spec = {"value": peaks[precision]} | {key: text for key, text in about.items() if text}
            stated["peak_flop_per_s"] = spec, place.at("peak_flop_per_s", precision)
        else:
            merged.excused.add("peak_flop_per_s")
            merged.faults.append(
                Fault(
                    f"{accelerator.name} has no peak for this precision",
                    place.where,
                    place.at("peak_flop_per_s").path,
                    precision,
                    f"precision = one of {', '.join(peaks)}",
                    f'precision = "{next(iter(peaks))}", or state the peak: inputs.peak_flop_per_s = "..."',
                )
            )
    prices = merged.tables["prices"]
    if "price_per_accelerator_hour" not in stated and prices:
        if accelerator.name in prices:
            stated["price_per_accelerator_hour"] = prices[accelerator.name]
        else:
            merged.excused.add("price_per_accelerator_hour")
            _, where = next(iter(prices.values()))
            fix = 'state the price: inputs.price_per_accelerator_hour = { family = "lognormal", p10 = ..., p90 = ... }'
            expected = f"one of {', '.join(prices)}"
            message = "no price for this accelerator"
            merged.faults.append(Fault(message, where.where, "$.prices", accelerator.name, expected, fix))
    return stated


def _missing(names: Iterable[str], where: str) -> list[Fault]:
    return [
        Fault(
            f"{name} is missing: {QUANTITIES[name].meaning}",
            where,
            f"$.inputs.{name}",
            got="nothing",
            expected=f"{name} = {QUANTITIES[name].example}, or a distribution, or an include that states it",
            fix=_NEAREST_INCLUDE.get(name, f"add {name} under [inputs]"),
        )
        for name in names
    ]


_NEAREST_INCLUDE = {
    "peak_flop_per_s": 'include = ["accelerators/h100-sxm"] states it (see `botec list accelerators`)',
    "price_per_accelerator_hour": 'include = ["prices/neocloud-2026"] states it (see `botec list prices`)',
}


def _markers(merged: _Merged, table: str, outputs: Mapping[str, str]) -> dict[str, Marker]:
    markers: dict[str, Marker] = {}
    for name, (stated, place) in merged.tables[table].items():
        if name not in outputs or isinstance(stated, list | bool):
            continue
        plain = stated.get("value") if isinstance(stated, dict) else stated
        at = place.at("value") if isinstance(stated, dict) else place
        if isinstance(plain, int | float | str) and not isinstance(plain, bool):
            value = value_of(plain, QUANTITIES[outputs[name]], at, merged.faults)
            if value is not None:
                markers[name] = Marker(name, outputs[name], value, stated)
    return markers
