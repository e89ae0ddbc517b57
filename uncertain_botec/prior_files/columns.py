"""Measured values: the column of a CSV file that an empirical input names, read into the statement itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from uncertain_botec.csv_files import parse_sheet, read_text
from uncertain_botec.distributions import FAMILIES
from uncertain_botec.errors import Fault, PriorFileError
from uncertain_botec.library import did_you_mean, file_inside
from uncertain_botec.prior_files.places import Place
from uncertain_botec.prior_files.schema import toml
from uncertain_botec.quantities import Quantity
from uncertain_botec.units import UnitError, is_count, parse_quantity

MAX_BYTES = 1 << 25


def inlined(spec: Any, quantity: Quantity, place: Place, faults: list[Fault]) -> Any:
    """An input whose CSV columns have been read into `values`, so that the statement stands by itself."""
    if not isinstance(spec, Mapping):
        return spec
    family = FAMILIES[spec.get("family", "fixed")]
    parts = {
        key: [inlined(item, quantity, place.at(key).item(i), faults) for i, item in enumerate(spec[key])]
        for key in family.component_keys
        if key in spec
    }
    if "file" not in spec:
        return {**spec, **parts}
    values = _column(spec, quantity, place, faults)
    rest = {key: value for key, value in spec.items() if key not in ("file", "column", "unit")}
    return spec if values is None else rest | {"values": values}


def _column(
    spec: Mapping[str, Any], quantity: Quantity, place: Place, faults: list[Fault]
) -> list[float] | list[str] | None:
    """The values of one column, as a prior file would state them, or None after adding a fault."""
    column, unit = spec.get("column"), spec.get("unit")
    name = spec["file"]

    def fault(message: str, key: str, got: str, expected: str, fix: str | None = None) -> None:
        at = place.at(key)
        faults.append(Fault(message, at.where, at.path, got, expected, fix))

    if "values" in spec:
        fault("values are stated twice", "values", "file and values", "one of them", "take `values` out")
        return None
    if unit is None and not is_count(quantity.unit):
        fault(
            "the unit is missing",
            "unit",
            "nothing",
            quantity.unit,
            f'unit = "{quantity.unit}" if that is what is meant',
        )
        return None
    try:
        if unit is not None:
            parse_quantity(f"1 {unit}", quantity.unit)
    except UnitError as error:
        fault(
            str(error),
            "unit",
            toml(unit),
            f"a unit of {quantity.name}, such as {quantity.unit}",
            error.fix or f'unit = "{quantity.unit}"',
        )
        return None
    path = file_inside(place.file.parent / name, place.file.parent)
    if path is None:
        message = "there is no such file in the prior file's folder"
        fault(
            message,
            "file",
            toml(name),
            "a CSV file beside the prior file",
            "put the file there, without links out of it",
        )
        return None
    try:
        sheet = parse_sheet(read_text(path, name, MAX_BYTES), name, lower=False)
    except PriorFileError as error:
        for one in error.faults:
            at = place.at("file")
            message = f"{name}: {one.path}: {one.message}"
            faults.append(Fault(message, at.where, at.path, one.got, one.expected, one.fix))
        return None
    names = sheet.names
    if column not in names:
        close = did_you_mean(str(column), names)
        fault(
            "there is no such column",
            "column",
            toml(column) if column else "nothing",
            f"one of {', '.join(names)}",
            close,
        )
        return None
    values: list[float] = []
    index = names.index(str(column))
    for number, cells in sheet.rows:
        cell = cells[index]
        value = _number(cell)
        if value is None:
            fault(f"row {number} of {name} is not a finite number", "column", toml(cell), "numbers without units")
            return None
        values.append(value)
    if not values:
        fault("the column is empty", "column", "no rows", "one number in each row below the heading")
        return None
    return values if unit is None else [f"{value!r} {unit}" for value in values]


def _number(cell: Any) -> float | None:
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None
