"""What all documents behind a prior file say together, and the settings of the command line among them."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uncertain_botec.choices import CHOICES
from uncertain_botec.errors import Fault
from uncertain_botec.library import did_you_mean
from uncertain_botec.prior_files.documents import Document
from uncertain_botec.prior_files.places import Place
from uncertain_botec.prior_files.schema import Accelerator, PriorFile, Reference, check_document, toml, unknown
from uncertain_botec.vocabulary import PRICES, QUANTITIES

_HEAD = ("title", "estimator", "precision", "start", *CHOICES)


@dataclass
class Merged:
    """What all documents say together; a later document replaces an input, a price or a limit as a whole."""

    where: str
    path: Path
    faults: list[Fault]
    head: dict[str, Any] = field(default_factory=dict)
    accelerator: tuple[Accelerator, Place] | None = None
    architecture: tuple[Any, Place] | None = None
    reference: tuple[Reference, str | None, Place] | None = None
    tables: dict[str, dict[str, tuple[Any, Place]]] = field(
        default_factory=lambda: {name: {} for name in ("inputs", *PRICES, "limits", "observed")}
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
            self.excused |= {"peak_flop_per_s", *PRICES.values(), "accelerator_memory", "thermal_design_power"}
        self.head |= {key: stated for key in _HEAD if (stated := getattr(parsed, key))}
        if parsed.accelerator is not None:
            self.accelerator = parsed.accelerator, Place(document.where, "$.accelerator", document.path)
        if parsed.architecture is not None:
            self.architecture = parsed.architecture, Place(document.where, "$.architecture", document.path)
        elif "architecture" in document.content:
            self.excused |= {*QUANTITIES}
        if parsed.reference_class is not None:
            place = Place(document.where, "$.reference_class", document.path)
            self.reference = parsed.reference_class, parsed.title, place
        for index, entry in enumerate(parsed.correlations):
            place = Place(document.where, f"$.correlations[{index}]", document.path)
            self.correlations.append((entry.model_dump(exclude_none=True), place))

    @property
    def root(self) -> Path:
        """The folder that no file named in a prior file may lie outside of."""
        return self.path.resolve().parent

    def lacks(self, key: str) -> bool:
        """Whether nothing states a key, nor another that is probably a misspelling of it, which is a fault already."""
        known = {*PriorFile.model_fields, *QUANTITIES}
        misspelt = any(did_you_mean(other, [key]) for other in self.keys - known)
        return key not in self.keys | self.excused and not misspelt


def _names(table: Any) -> Iterable[str]:
    return table if isinstance(table, dict) else ()


def with_settings(documents: Sequence[Document], overrides: Sequence[str], faults: list[Fault]) -> tuple[Document, ...]:
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
        # file lies. An accelerator or architecture is replaced as a whole, like any single input.
        whole = keys[: 1 if keys[0] in ("accelerator", "architecture") else 2]
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
