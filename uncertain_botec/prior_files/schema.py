"""The shape of a prior file: its tables and keys as pydantic models, and the JSON Schema made from them."""

from __future__ import annotations

import datetime
import difflib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic_core import ErrorDetails

from uncertain_botec import library
from uncertain_botec.architecture import NetworkTable, TransformerTable
from uncertain_botec.choices import CHOICES
from uncertain_botec.distributions import FAMILIES, Family
from uncertain_botec.errors import Fault
from uncertain_botec.estimators import ESTIMATORS
from uncertain_botec.tables import Sourced, Table
from uncertain_botec.vocabulary import LIMITS, PRICES, QUANTITIES

OBSERVABLE = tuple(dict.fromkeys(output for estimator in ESTIMATORS.values() for output in estimator.outputs))
"""What can have been observed: the outputs of the estimators."""

Stated = int | float | str
"""A number, or a text with a number and a unit."""

Precision = Literal["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8"]


class Known(Sourced):
    """A value that is known, with its source."""

    value: Stated


class Accelerator(Sourced):
    """One accelerator's facts; peaks are dense, without structured sparsity."""

    name: str
    vendor: str | None = None
    generation: str | None = Field(None, description="parts of one generation share their software, such as Hopper")
    also_called: list[str] = Field([], description="other names that published runs give it")
    release: str | None = None
    memory: Stated | None = None
    memory_bandwidth: Stated | None = None
    interconnect_bandwidth: Stated | None = None
    thermal_design_power: Stated | None = None
    verified: bool = True
    peak_flop_per_s: dict[Precision, Stated]


class Correlation(Sourced):
    """How inputs move together: a Gaussian copula with this `spearman` (rank) or `latent` (normal) correlation."""

    between: Annotated[list[str], Field(min_length=2, description="names of inputs")]
    spearman: float | list[list[float]] | None = Field(None, description="rank correlation: one number, or a matrix")
    latent: float | list[list[float]] | None = Field(None, description="correlation of the normal scores")
    repair: bool = Field(False, description="take the nearest correlation matrix when the stated one cannot be")


class Reference(Sourced):
    """What was learnt from finished runs; `botec calibrate` writes it."""

    runs: int = Field(description="how many runs it was learnt from")
    overheads: int = Field(description="how many of them publish both their MFU while stepping and their hours")
    draws: dict[str, list[float | int]] = Field(description="posterior draws of each parameter of the model")


_CHOSEN: dict[str, Any] = {
    name: (Literal[tuple(choice.options)] | None, Field(None, description=choice.meaning))
    for name, choice in CHOICES.items()
}
_Choices: Any = create_model("_Choices", __base__=Table, **_CHOSEN)


class PriorFile(_Choices):  # type: ignore[misc] # its choices are made from their table
    """A prior file: what one believes about a run, and what is asked of it."""

    title: str | None = None
    estimator: str | None = Field(None, json_schema_extra={"enum": list(ESTIMATORS)})
    include: list[str] = Field([], description="prior files that come before this one; later files win")
    precision: Precision | None = Field(None, description="which dense peak of the accelerator counts")
    start: str | None = Field(None, description="the month in which training starts, YYYY-MM")
    accelerator: Accelerator | None = None
    architecture: dict[str, Any] | str | None = Field(
        None, description="the model's sizes, or the path of a Hugging Face config.json"
    )
    prices: dict[str, Any] = Field({}, description="on-demand USD per accelerator-hour, by accelerator")
    spot_prices: dict[str, Any] = Field({}, description="spot USD per accelerator-hour, by accelerator")
    reserved_prices: dict[str, Any] = Field({}, description="committed USD per accelerator-hour, by accelerator")
    reference_class: Reference | None = Field(None, description="finished runs that tell what this one may take")
    inputs: dict[str, Any] = Field({}, description="what the formulas take: a value, or a distribution")
    correlations: list[Correlation] = Field([], description="how inputs move together")
    limits: dict[str, Stated | Known] = Field({}, description="what a risk review tests")
    observed: dict[str, Stated | Known] = Field({}, description="published or measured outcomes")


_Ends = Annotated[list[Stated], Field(min_length=2, max_length=2)]


@cache
def family_model(name: str) -> type[Sourced]:
    """The keys that an input of one family may have."""
    family: Family = FAMILIES[name]
    keys: dict[str, Any] = {"family": (Literal[name], Field(description=family.summary))}
    keys |= dict.fromkeys((*family.value_keys, *family.number_keys), (Stated | None, None))
    keys |= dict.fromkeys(family.list_keys, (list[Stated] | None, None))
    keys |= dict.fromkeys(("truncate", *({"support"} & {*family.list_keys})), (_Ends | None, None))
    keys |= dict.fromkeys(family.component_keys, (list[Any] | None, None))
    keys |= dict.fromkeys(family.text_keys, (str | None, None))
    return create_model(f"{name} input", __base__=Sourced, __doc__=family.summary, **keys)


def check_document(content: Mapping[str, Any], where: str) -> tuple[PriorFile, list[Fault]]:
    """A document as a `PriorFile`, without those keys whose shape is wrong, and every fault of its shape."""
    faults: list[Fault] = []
    try:
        parsed = PriorFile.model_validate(content)
    except ValidationError as error:
        # What is right is still read, so that faults of its meaning are found in the same reading.
        wrong = {detail["loc"][0] for detail in error.errors()}
        parsed = PriorFile.model_validate({key: value for key, value in content.items() if key not in wrong})
        faults += [_fault(detail, where, "$", PriorFile.model_fields) for detail in _one_per_place(error.errors())]
    for table, known in (("inputs", QUANTITIES), *((table, None) for table in PRICES)):
        entries = content.get(table)
        for name, spec in (entries if isinstance(entries, dict) else {}).items():
            if known is not None and name not in known:
                faults.append(unknown(where, f"$.{table}.{name}", name, known))
            faults += check_input(spec, where, f"$.{table}.{name}")
    for table, names in (("limits", tuple(LIMITS)), ("observed", OBSERVABLE)):
        entries = content.get(table)
        for name in entries if isinstance(entries, dict) else ():
            if name not in names:
                faults.append(unknown(where, f"$.{table}.{name}", name, names))
    return parsed, faults


# More names are nothing to read; the nearest are told instead.
_MOST_NAMES, _NEAREST = 24, 5

_VALUE = "a number, a text with a unit, or a table"


def unknown(where: str, path: str, word: str, known: Iterable[str], message: str = "unknown key") -> Fault:
    """The fault of a word that is none of the known ones."""
    names = list(known)
    fix = library.did_you_mean(word, names) or f"take `{word[:40]}` out, or use one of the expected names"
    return Fault(message, where, path, toml(word), _one_of(word, names), fix)


def _one_of(word: str, names: list[str]) -> str:
    """All of a few names, or the nearest of many and where the others are."""
    if len(names) <= _MOST_NAMES:
        return "one of " + ", ".join(names)
    near = difflib.get_close_matches(word, names, n=_NEAREST, cutoff=0)
    return f"one of {len(names)} names, such as {', '.join(near)}; `botec schema` has all"


def check_input(spec: Any, where: str, path: str) -> list[Fault]:
    """Every fault in the shape of one input: a plain value, or a table that names its family."""
    if isinstance(spec, list):
        fix = "a table that names its family; `botec list families` has examples"
        if len(spec) == 2:
            table = {"family": "lognormal", "p10": spec[0], "p90": spec[1]}
            fix = f"{toml(table)} if they are the 10th and 90th percentile"
        expected = "a family and named levels: a bare pair could be 5-95 %, 10-90 %, low-high or mean-sd"
        return [Fault("a list does not say what its numbers are", where, path, toml(spec), expected, fix)]
    if isinstance(spec, bool) or not isinstance(spec, int | float | str | dict):
        return [Fault("this is not a value", where, path, toml(spec), _VALUE, f"state {path} as {_VALUE}")]
    if not isinstance(spec, dict):
        return []
    name = spec.get("family", "fixed" if "value" in spec else None)
    if name is None:
        expected = f"family = one of {', '.join(FAMILIES)}"
        fix = f"{path.rpartition('.')[2]} = {{ family = ..., ... }}; `botec list families` has examples"
        if keys := [key for key in spec if key not in Sourced.model_fields]:
            fix = toml({"family": "lognormal"} | {key: spec[key] for key in keys})
        return [Fault("an interval names its family", where, path, toml(spec), expected, fix)]
    if not isinstance(name, str) or name not in FAMILIES:
        close = library.did_you_mean(name, FAMILIES) if isinstance(name, str) else None
        fix = close or "`botec list families` shows each with an example"
        return [Fault("unknown family", where, f"{path}.family", toml(name), f"one of {', '.join(FAMILIES)}", fix)]
    model = family_model(name)
    faults: list[Fault] = []
    try:
        model.model_validate({"family": name} | spec)
    except ValidationError as error:
        faults += [_fault(detail, where, path, model.model_fields) for detail in _one_per_place(error.errors())]
    for key in FAMILIES[name].component_keys:
        components = spec.get(key)
        for index, component in enumerate(components if isinstance(components, list) else ()):
            faults += check_input(component, where, f"{path}.{key}[{index}]")
    return faults


def _one_per_place(errors: list[ErrorDetails]) -> list[ErrorDetails]:
    """A union reports one error for each of its members; the user made one mistake, and the deepest place names it."""
    places: dict[tuple[int | str, ...], ErrorDetails] = {}
    for detail in errors:
        members = {"int", "float", "str", "list[list[float]]", "dict[str,any]", "Known", "[key]"}
        place = tuple(part for part in detail["loc"] if part not in members)
        places.setdefault(place, {**detail, "loc": place})
    return [detail for place, detail in places.items() if not any(_inside(other, place) for other in places)]


def _inside(place: tuple[int | str, ...], outer: tuple[int | str, ...]) -> bool:
    return len(place) > len(outer) and place[: len(outer)] == outer


def _fault(detail: ErrorDetails, where: str, base: str, known: Iterable[str]) -> Fault:
    path = base + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"])
    key = str(detail["loc"][-1])
    if detail["type"] == "extra_forbidden":
        return unknown(where, path, key, known if len(detail["loc"]) == 1 else _keys_at(detail["loc"][:-1]))
    if detail["type"] == "missing":
        return Fault("a key is missing", where, path, "nothing", f"`{key}`", f"add {key} = ...")
    context = detail.get("ctx", {})
    form = _EXPECTED.get(detail["type"])
    expected = form.format_map(context) if form else detail["msg"].lower()
    words = [word.strip("' ") for word in re.split(",| or ", expected)]
    fix = library.did_you_mean(str(detail["input"]), words) or f"state {key} as {expected}"
    message = "unknown word" if detail["type"] == "literal_error" else "this value has the wrong type"
    if detail["type"] in ("too_short", "too_long"):
        message = "this list has the wrong length"
    return Fault(message, where, path, toml(detail["input"]), expected, fix)


_EXPECTED = {
    "int_type": "a number, or a text with a unit",
    "float_type": "a number",
    "string_type": "a text in quotes",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "literal_error": "{expected}",
    "too_short": "at least {min_length} items",
    "too_long": "at most {max_length} items",
}


def _keys_at(place: tuple[int | str, ...]) -> Iterable[str]:
    """The keys that a table inside a prior file may have."""
    match place:
        case ("accelerator",):
            return Accelerator.model_fields
        case ("correlations", _):
            return Correlation.model_fields
        case ("reference_class",):
            return Reference.model_fields
        case ("accelerator", "peak_flop_per_s"):
            return get_args(Precision)
    return Known.model_fields


def toml(value: Any, most: int = 80) -> str:
    """A value as it is written in a prior file, cut short where it is long."""
    text = _toml(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a prior file, with one definition per family, for editors that complete and check TOML."""
    schema: dict[str, Any] = PriorFile.model_json_schema()
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
    for table in PRICES:
        properties[table] |= {"additionalProperties": {"$ref": "#/$defs/input"}}
    models: dict[str, type[BaseModel]] = {"network": NetworkTable, "transformer": TransformerTable}
    definitions |= {name: _without_null(model.model_json_schema()) for name, model in models.items()}
    properties["architecture"]["anyOf"] = [{"type": "string"}, *({"$ref": f"#/$defs/{name}"} for name in models)]
    properties["limits"] |= {"propertyNames": {"enum": list(LIMITS)}}
    properties["observed"] |= {"propertyNames": {"enum": list(OBSERVABLE)}}
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
