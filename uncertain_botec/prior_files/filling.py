"""What a prior file states without naming an input: an accelerator's facts, its prices, an architecture, choices."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from uncertain_botec.architecture import ArchitectureError, Network, Transformer, from_config, from_table, read_config
from uncertain_botec.choices import stated_by
from uncertain_botec.errors import Fault
from uncertain_botec.library import PRIORS, file_inside
from uncertain_botec.prior_files.merging import Merged
from uncertain_botec.prior_files.places import Place
from uncertain_botec.prior_files.schema import Accelerator, toml
from uncertain_botec.units import UnitError, parse_quantity
from uncertain_botec.vocabulary import PRICES, QUANTITIES

Stated = dict[str, tuple[Any, Place]]

Model = Transformer | Network

# The input that each fact of an accelerator is.
_FACTS = {
    "memory": "accelerator_memory",
    "memory_bandwidth": "memory_bandwidth",
    "thermal_design_power": "thermal_design_power",
}


@dataclasses.dataclass(frozen=True)
class Filled:
    """What is stated in all.

    Attributes:
        stated: the inputs as stated, and those that follow from other tables.
        reasons: for some inputs that are not there, why they could not be filled in.
        model: the architecture, if there is one.
        counted: what was counted on it, also where an input is stated in its place.
    """

    stated: Stated
    reasons: dict[str, Fault]
    model: Model | None
    counted: Stated


def filled(merged: Merged, choices: Mapping[str, str]) -> Filled:
    """The stated inputs and those that follow from other tables, which never replace a stated one."""
    stated: Stated = {}
    reasons: dict[str, Fault] = {}
    if merged.accelerator is not None:
        accelerator, place = merged.accelerator
        stated |= _facts(accelerator, place)
        stated |= _peak(accelerator, place, merged.head.get("precision"), reasons)
        for table, name in PRICES.items():
            stated |= _price(merged.tables[table], table, name, accelerator.name, reasons)
    stated |= _chosen(choices, merged)
    model = None
    counts: Stated = {}
    if merged.architecture is not None:
        model, counts = _architecture(*merged.architecture, merged, choices["attention_mask"])
        stated |= counts
    own = merged.tables["inputs"]
    return Filled(own | {name: one for name, one in stated.items() if name not in own}, reasons, model, counts)


def _about(accelerator: Accelerator, what: str) -> dict[str, str]:
    about = {"source": accelerator.source, "as_of": accelerator.as_of, "note": f"{what} of {accelerator.name}"}
    return {key: text for key, text in about.items() if text}


def _facts(accelerator: Accelerator, place: Place) -> Stated:
    return {
        name: ({"value": fact} | _about(accelerator, key.replace("_", " ")), place.at(key))
        for key, name in _FACTS.items()
        if (fact := getattr(accelerator, key)) is not None
    }


def _peak(accelerator: Accelerator, place: Place, precision: str | None, reasons: dict[str, Fault]) -> Stated:
    peaks = accelerator.peak_flop_per_s
    precision = precision or ("bf16" if "bf16" in peaks else "fp16")
    if precision in peaks:
        spec = {"value": peaks[precision]} | _about(accelerator, f"dense {precision} peak")
        return {"peak_flop_per_s": (spec, place.at("peak_flop_per_s", precision))}
    reasons["peak_flop_per_s"] = Fault(
        f"{accelerator.name} has no peak for this precision",
        place.where,
        place.at("peak_flop_per_s").path,
        precision,
        f"precision = one of {', '.join(peaks)}",
        f'precision = "{next(iter(peaks))}", or state the peak: inputs.peak_flop_per_s = "..."',
    )
    return {}


def _price(
    prices: Mapping[str, tuple[Any, Place]], table: str, name: str, accelerator: str, reasons: dict[str, Fault]
) -> Stated:
    if accelerator in prices:
        return {name: prices[accelerator]}
    if prices:
        _, place = next(iter(prices.values()))
        fix = f'state the price: inputs.{name} = {{ family = "lognormal", p10 = ..., p90 = ... }}'
        expected = f"one of {', '.join(prices)}"
        message = "no price for this accelerator"
        reasons[name] = Fault(message, place.where, f"$.{table}", accelerator, expected, fix)
    return {}


def _chosen(choices: Mapping[str, str], merged: Merged) -> Stated:
    """What the choices say about inputs, such as the bytes of an optimizer's states."""
    return {
        name: (
            {"value": f"{value:g} {QUANTITIES[name].unit}", "source": f'{choice} = "{word}"'},
            Place(merged.where, f"$.{choice}", merged.path),
        )
        for choice, word in choices.items()
        for name, value in stated_by(choice, word).items()
    }


def _architecture(table: Any, place: Place, merged: Merged, mask: str) -> tuple[Model | None, Stated]:
    """The model, and what can be counted on it; neither after adding faults."""
    try:
        if isinstance(table, str):
            about = {"source": table}
            model: Model = from_config(read_config(_config(table, place, merged)))
        else:
            about = {key: table[key] for key in ("source", "as_of") if key in table}
            model = from_table(table)
    except ArchitectureError as error:
        for one in error.all:
            at = place.at(one.key) if one.key else place
            merged.faults.append(Fault(one.message, at.where, at.path, one.got, one.expected, one.fix))
        # What could not be counted is not missing besides.
        merged.excused |= {*QUANTITIES}
        return None, {}
    if isinstance(model, Network):
        counts = model.quantities()
    else:
        length = _sequence_length(merged, place)
        model = dataclasses.replace(model, sequence_length=length) if length else model
        counts = model.quantities(mask)
    about = {"source": "not stated"} | about | {"note": "counted on the architecture"}
    return model, dict(_counts(counts, about, place))


def _counts(counts: Mapping[str, float], about: Mapping[str, str], place: Place) -> Iterator[tuple[str, Any]]:
    for name, value in counts.items():
        if name in QUANTITIES:
            yield name, ({"value": int(value) if value.is_integer() else value, **about}, place)


def _sequence_length(merged: Merged, architecture: Place) -> int | None:
    """A sequence length among the inputs is the one that attention is counted at, so it has to be known."""
    spec, place = merged.tables["inputs"].get("sequence_length", (None, architecture))
    if spec is None:
        return None
    stated = spec.get("value") if isinstance(spec, dict) else spec
    if isinstance(stated, str):
        # What cannot be read is told of with all other inputs.
        with suppress(UnitError, OverflowError):
            stated = parse_quantity(stated, QUANTITIES["sequence_length"].unit)
    if isinstance(stated, int | float) and not isinstance(stated, bool) and stated >= 1 and stated == stated // 1:
        return int(stated)
    expected = "a known whole number of tokens, which attention is counted at"
    fix = "state one number, and compare lengths with --set inputs.sequence_length=..."
    message = "the architecture needs one sequence length"
    merged.faults.append(Fault(message, place.where, place.path, toml(spec), expected, fix))
    return None


def _config(name: str, place: Place, merged: Merged) -> Any:
    found = file_inside(place.file.parent / name, merged.root, PRIORS)
    if found is None:
        raise ArchitectureError(
            "",
            "there is no such file in the prior file's folder tree",
            "the path of a Hugging Face config.json, or a table [architecture]",
            "put the file beside the prior file, without links out of its folder",
            got=toml(name),
        )
    return found
