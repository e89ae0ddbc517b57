"""Accelerators as the reference class knows them: by any of their names, with the age of their generation."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from uncertain_botec.library import PRIORS
from uncertain_botec.units import parse_quantity


@dataclass(frozen=True)
class Part:
    """What an accelerator's shipped file says that matters here.

    Attributes:
        name: of the file.
        generation: such as `Hopper`.
        release: when the first part of its generation came out, as a year: later parts inherit its software.
        peak_flop_per_s: dense, in 16 bits.
    """

    name: str
    generation: str
    release: float
    peak_flop_per_s: float


def plain(name: str) -> str:
    """A name without case, blanks and dashes, by which accelerators are found."""
    return re.sub(r"[^a-z0-9.]", "", name.lower())


@cache
def parts() -> Mapping[str, Part]:
    """Every accelerator with a 16-bit peak, by each of its plain names, with its maker's before it and without."""
    files = sorted((PRIORS / "accelerators").glob("*.toml"))
    facts = [tomllib.loads(path.read_text("utf-8"))["accelerator"] for path in files]
    first: dict[str, float] = {}
    for one in facts:
        release = years(one["release"])
        first[one["generation"]] = min(release, first.get(one["generation"], release))
    found: dict[str, Part] = {}
    for one in facts:
        stated = one["peak_flop_per_s"].get("bf16", one["peak_flop_per_s"].get("fp16"))
        if stated is not None:
            peak = parse_quantity(str(stated), "FLOP/second")
            part = Part(one["name"], one["generation"], first[one["generation"]], peak)
            called = (one["name"], *one.get("also_called", ()))
            found |= {plain(maker + name): part for name in called for maker in ("", one["vendor"])}
    return found


def years(month: str) -> float:
    """The middle of a month YYYY-MM, or of that of a day in it, in years; ValueError if it is none."""
    match = re.fullmatch(r"(\d{4})-(\d{2})(-\d{2})?", month, re.ASCII)
    if match is None or not 1 <= int(match[2]) <= 12 or not 1 <= int((match[3] or "-01")[1:]) <= 31:
        raise ValueError(month)
    return int(match[1]) + (int(match[2]) - 0.5) / 12
