"""The shape of a prior file: which tables and keys there are, as pydantic models, and the JSON Schema made from them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails

from uncertain_botec import library
from uncertain_botec.distributions import FAMILIES, Family
from uncertain_botec.errors import Fault
from uncertain_botec.estimators import ESTIMATORS
from uncertain_botec.quantities import LIMITS, QUANTITIES

Stated = int | float | str
"""A number, or a text with a number and a unit."""

Precision = Literal["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8"]


def _date_as_text(value: Any) -> Any:
    # TOML has dates of its own; `as_of = 2026-10-01` and `as_of = "2026-10"` mean the same kind of thing.
    return value.isoformat() if isinstance(value, datetime.date) else value


class Table(BaseModel):
    """A TOML table: no unknown keys, no silent conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Sourced(Table):
    """What may be said about where a number comes from."""

    source: str | None = Field(None, description="where the number is published, or who believes it")
    as_of: Annotated[str | None, BeforeValidator(_date_as_text)] = Field(None, description="the date of the source, YYYY-MM")
    note: str | None = Field(None, description="anything a reader should know")


class Known(Sourced):
    """A value that is known, with its source."""

    value: Stated


class Accelerator(Sourced):
    """One accelerator's facts; peaks are dense, without structured sparsity."""

    name: str
    vendor: str | None = None
    release: str | None = None
    memory: Stated | None = None
    memory_bandwidth: Stated | None = None
    interconnect_bandwidth: Stated | None = None
    thermal_design_power: Stated | None = None
    verified: bool = True
    peak_flop_per_s: dict[Precision, Stated]


class Correlation(Sourced):
    """How inputs move together: a Gaussian copula with this rank (`spearman`) or latent normal (`latent`) correlation."""

    between: Annotated[list[str], Field(min_length=2, description="names of inputs")]
    spearman: float | list[list[float]] | None = Field(None, description="rank correlation: one number, or a matrix")
    latent: float | list[list[float]] | None = Field(None, description="correlation of the normal scores")
    repair: bool = Field(False, description="take the nearest correlation matrix when the stated one cannot be")


class PriorFile(Table):
    """A prior file: what one believes about a run, and what is asked of it."""

    title: str | None = None
    estimator: str | None = Field(None, json_schema_extra={"enum": list(ESTIMATORS)})
    include: list[str] = Field([], description="prior files that come before this one; later files win")
    precision: Precision | None = Field(None, description="which dense peak of the accelerator counts")
    accelerator: Accelerator | None = None
    prices: dict[str, Any] = Field({}, description="USD per accelerator-hour, by accelerator")
    inputs: dict[str, Any] = Field({}, description="what the formulas take: a value, or a distribution")
    correlations: list[Correlation] = []
    limits: dict[str, Stated | Known] = Field({}, description="what a risk review tests")
    observed: dict[str, Stated | Known] = Field({}, description="published or measured outcomes")


@cache
def family_model(name: str) -> type[Sourced]:
    """The keys that an input of one family may have."""
    family: Family = FAMILIES[name]
    keys: dict[str, Any] = {"family": (Literal[name], Field(description=family.summary))}
    keys |= {key: (Stated | None, None) for key in (*family.value_keys, *family.number_keys)}
    keys |= {key: (list[Stated] | None, None) for key in family.list_keys}
    keys |= {key: (list[Any] | None, None) for key in family.component_keys}
    keys |= {key: (str | None, None) for key in family.text_keys}
    return create_model(f"{name} input", __base__=Sourced, __doc__=family.summary, **keys)


def check_document(content: Mapping[str, Any], where: str) -> tuple[PriorFile | None, list[Fault]]:
    """A document as a `PriorFile`, or None, and every fault of its shape."""
    faults: list[Fault] = []
    parsed: PriorFile | None = None
    try:
        parsed = PriorFile.model_validate(content)
    except ValidationError as error:
        faults += [_fault(detail, where, "$", PriorFile.model_fields) for detail in _one_per_place(error.errors())]
    for table, known in (("inputs", QUANTITIES), ("prices", None)):
        entries = content.get(table)
        for name, spec in (entries if isinstance(entries, dict) else {}).items():
            if known is not None and name not in known:
                faults.append(unknown(where, f"$.{table}.{name}", name, known))
            faults += check_input(spec, where, f"$.{table}.{name}")
    for table, names in (("limits", tuple(LIMITS)), ("observed", tuple(QUANTITIES))):
        entries = content.get(table)
        for name in entries if isinstance(entries, dict) else ():
            if name not in names:
                faults.append(unknown(where, f"$.{table}.{name}", name, names))
    return parsed, faults


def unknown(where: str, path: str, word: str, known: Iterable[str]) -> Fault:
    """The fault of a word that is none of the known ones."""
    names = list(known)
    return Fault("unknown key", where, path, repr(word), "one of " + ", ".join(names), library.did_you_mean(word, names))


def check_input(spec: Any, where: str, path: str) -> list[Fault]:
    """Every fault in the shape of one input: a plain value, or a table that names its family."""
    if isinstance(spec, list):
        bounds = ", ".join(f"{name} = {value!r}" for name, value in zip(("p10", "p90"), spec, strict=False))
        fix = f'{{ family = "lognormal", {bounds} }} if they are the 10th and 90th percentile' if len(spec) == 2 else None
        expected = "a family and named levels: a bare pair could be 5-95 %, 10-90 %, low-high or mean-sd"
        return [Fault("a list does not say what its numbers are", where, path, repr(spec), expected, fix)]
    if isinstance(spec, bool) or not isinstance(spec, int | float | str | dict):
        return [Fault("this is not a value", where, path, repr(spec), "a number, a text with a unit, or a table")]
    if not isinstance(spec, dict):
        return []
    name = spec.get("family", "fixed" if "value" in spec else None)
    if name is None:
        expected = f"family = one of {', '.join(FAMILIES)}"
        fix = None
        if keys := [key for key in spec if key not in Sourced.model_fields]:
            fix = f'{{ family = "lognormal", {", ".join(f"{key} = {spec[key]!r}" for key in keys)} }}'.replace("'", '"')
        return [Fault("an interval names its family", where, path, _short(spec), expected, fix)]
    if name not in FAMILIES:
        word = str(name)
        fix = library.did_you_mean(word, FAMILIES)
        return [Fault("unknown family", where, f"{path}.family", repr(name), f"one of {', '.join(FAMILIES)}", fix)]
    model = family_model(name)
    faults: list[Fault] = []
    try:
        model.model_validate({"family": name} | spec)
    except ValidationError as error:
        faults += [_fault(detail, where, path, model.model_fields) for detail in _one_per_place(error.errors())]
    for key in FAMILIES[name].component_keys:
        for index, component in enumerate(spec.get(key) or []):
            faults += check_input(component, where, f"{path}.{key}[{index}]")
    return faults


def _one_per_place(errors: list[ErrorDetails]) -> list[ErrorDetails]:
    """A union reports one error for each of its members; the user made one mistake."""
    places: dict[tuple[int | str, ...], ErrorDetails] = {}
    for detail in errors:
        members = {"int", "float", "str", "list[list[float]]", "Known"}
        place = tuple(part for part in detail["loc"] if part not in members)
        places.setdefault(place, {**detail, "loc": place})
    return list(places.values())


def _fault(detail: ErrorDetails, where: str, base: str, known: Iterable[str]) -> Fault:
    path = base + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"])
    got = _short(detail["input"])
    if detail["type"] == "extra_forbidden":
        names = list(known) if len(detail["loc"]) == 1 else []
        return Fault(
            "unknown key",
            where,
            path,
            repr(detail["loc"][-1]),
            f"one of {', '.join(names)}" if names else None,
            library.did_you_mean(str(detail["loc"][-1]), names),
        )
    if detail["type"] == "missing":
        return Fault("a key is missing", where, path, None, f"`{detail['loc'][-1]}`")
    messages = {"int_type": "a number, or a text with a unit", "literal_error": detail.get("ctx", {}).get("expected")}
    return Fault("this value has the wrong type", where, path, got, messages.get(detail["type"], detail["msg"].lower()))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a prior file, with one definition per family, for editors that complete and check TOML."""
    schema = PriorFile.model_json_schema()
    definitions = schema["$defs"]
    references = []
    for name, family in FAMILIES.items():
        definition = family_model(name).model_json_schema()
        for key in family.component_keys:
            definition["properties"][key] = {"type": "array", "items": {"$ref": "#/$defs/input"}, "title": key}
        definition["required"] = ["family"] if name != "fixed" else ["value"]
        definitions[name] = _without_null(definition)
        references.append({"$ref": f"#/$defs/{name}"})
    definitions["input"] = {"anyOf": [{"type": "number"}, {"type": "string"}, *references]}
    inputs = {
        name: {"$ref": "#/$defs/input", "description": f"{quantity.meaning} ({quantity.unit}); e.g. {quantity.example}"}
        for name, quantity in QUANTITIES.items()
    }
    properties = _without_null(schema["properties"])
    properties["inputs"] |= {"properties": inputs, "additionalProperties": False}
    properties["prices"] |= {"additionalProperties": {"$ref": "#/$defs/input"}}
    properties["limits"] |= {"propertyNames": {"enum": list(LIMITS)}}
    properties["observed"] |= {"propertyNames": {"enum": list(QUANTITIES)}}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "uncertain_botec prior file"}
    return head | schema | {"title": head["title"], "properties": properties, "$defs": _without_null(definitions)}


def _without_null(node: Any) -> Any:
    """TOML has no null: an optional key is left out, never empty."""
    if isinstance(node, list):
        return [_without_null(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: _without_null(value) for key, value in node.items() if not (key == "default" and value is None)}
    if "anyOf" in node:
        members = [member for member in node.pop("anyOf") if member != {"type": "null"}]
        node = node | (members[0] if len(members) == 1 else {"anyOf": members})
    return node
