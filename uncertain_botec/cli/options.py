"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from typing import Annotated

import typer

from uncertain_botec.errors import UsageError
from uncertain_botec.library import shipped

_DRAWS = re.compile(r"(?P<number>\d+(?:[._]\d+)*(?:e\d+)?)(?P<scale>[kKMGB]?)|2(?:\^|\*\*)(?P<power>\d+)")
# Larger whole numbers are not exact in a float; no machine holds that many draws.
_MOST = 2.0**53
_SCALES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9}


class Sampler(StrEnum):
    """Kinds of point sets."""

    LATTICE = "lattice"
    SOBOL = "sobol"
    MONTE_CARLO = "monte-carlo"


class Precision(StrEnum):
    """Arithmetic in the kernel."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"


class Device(StrEnum):
    """Where the kernel runs."""

    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"


def draws_of(text: str) -> int:
    """A number of draws such as `8M`, `1e6`, `2^20` or `1_000_000`."""
    match = _DRAWS.fullmatch(text.strip())
    value = math.nan
    if match and match["power"]:
        value = 2.0 ** min(int(match["power"]), 1000)
    elif match:
        value = float(match["number"].replace("_", "")) * _SCALES[match["scale"]]
    if not 1 <= value <= _MOST or value != int(value):
        raise UsageError(f"--draws {text}: expected a whole number of at least 1, such as 1000000, 8M, 1e6 or 2^20")
    return int(value)


def _complete_run(incomplete: str) -> list[str]:
    return [name for name in shipped("runs") if name.startswith(incomplete)]


Run = Annotated[
    str, typer.Argument(metavar="RUN", help="A prior file, or the name of a shipped run.", autocompletion=_complete_run)
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override a value, e.g. inputs.mfu.p50=0.4; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table; numbers are unrounded.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on standard error but faults.")]
