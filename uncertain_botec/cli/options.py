"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from uncertain_botec.errors import UsageError
from uncertain_botec.library import shipped

_WHOLE = re.compile(r"(?P<number>\d+(?:[._]\d+)*(?:e\d+)?)(?P<scale>[kKMGB]?)|2(?:\^|\*\*)(?P<power>\d+)")
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


def draws_of(text: str, option: str = "--draws") -> int:
    """A number of draws such as `8M`, `1e6`, `2^20` or `1_000_000`."""
    value = _whole(text)
    if value is None:
        raise UsageError(
            f"{option} {text}: expected a whole number of at least 1 and at most 2^53, such as 1000000, 8M, 1e6 or 2^20"
        )
    return value


def _whole(text: str) -> int | None:
    """A whole number from 1 on, with a scale or as a power of two, or None."""
    match = _WHOLE.fullmatch(text.strip())
    value = math.nan
    if match and match["power"]:
        value = 2.0 ** min(int(match["power"]), 1000)
    elif match:
        value = float(match["number"].replace("_", "")) * _SCALES[match["scale"]]
    return int(value) if 1 <= value <= _MOST and value == int(value) else None


def accuracy_of(text: str) -> float:
    """A relative standard error such as `0.1%` or `0.001`."""
    return _part(text, f"--accuracy {text}: expected a relative standard error, such as 0.1% or 0.001")


def sizes_of(text: str) -> tuple[int, ...]:
    """Numbers of accelerators such as `256,512,1k`."""
    sizes = [_whole(part) for part in text.split(",")]
    if None in sizes:
        raise UsageError(f"--sizes {text}: expected whole numbers of accelerators, such as 256,512,1k")
    return tuple(one for one in sizes if one is not None)


def confidence_of(text: str) -> float:
    """A probability such as `90%`, `90 %` or `0.9`."""
    return _part(text, f"--confidence {text}: expected a probability between 0 and 1, such as 90% or 0.9")


def level_of(text: str) -> float:
    """A probability of intervals such as `90%`, `90 %` or `0.9`."""
    return _part(text, f"--level {text}: expected a probability between 0 and 1, such as 90% or 0.9")


def _part(text: str, fault: str) -> float:
    number, percent, rest = text.strip().partition("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = math.nan
    if not 0 < value < 1 or rest.strip():
        raise UsageError(fault)
    return value


def folder_of(text: str) -> Path:
    """The folder that a text names; an empty one, such as of a variable that is not set, names none."""
    if not text.strip():
        raise UsageError(f"--out '{text}': this names no folder; name one, such as results")
    return Path(text)


def complete_run(incomplete: str) -> list[str]:
    """The shipped runs that begin so."""
    return [name for name in shipped("runs") if name.startswith(incomplete)]


Run = Annotated[
    str, typer.Argument(metavar="RUN", help="A prior file, or the name of a shipped run.", autocompletion=complete_run)
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override a value, e.g. inputs.mfu.p50=0.4; may be repeated."),
]
Require = Annotated[
    bool,
    typer.Option("--require", help="Exit with 3 where what is asked is not met: see the command's description."),
]
Draws = Annotated[str, typer.Option("--draws", metavar="N", help="At least how many draws: 1000000, 8M, 1e6, 2^20.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same numbers.")]
ReportTo = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        parser=folder_of,
        help="Also write a report there (HTML, Markdown, JSON, figures); replaces a report, and nothing else.",
    ),
]
Budget = Annotated[
    str | None, typer.Option("--budget", metavar="AMOUNT", help="Such as 5MUSD or '800e3 USD', in place of the file's.")
]
Deadline = Annotated[
    str | None,
    typer.Option(
        "--deadline", metavar="TIME", help="From the start, such as 45day or '6 week', in place of the file's."
    ),
]
Confidence = Annotated[
    str, typer.Option("--confidence", metavar="P", help="The confidence to plan for, such as 80% or 0.8.")
]
Cache = Annotated[
    bool,
    typer.Option(
        "--cache/--no-cache",
        envvar="BOTEC_CACHE",
        help="Keep compiled kernels in the user's cache folder, for next time.",
    ),
]
Coordinator = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Where process 0 waits for the others; the launcher may tell.")
]
Processes = Annotated[int | None, typer.Option(metavar="N", help="How many processes; the launcher may tell.")]
ProcessId = Annotated[int | None, typer.Option(metavar="I", help="The number of this one, from 0; likewise.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table; numbers are unrounded.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on standard error but faults.")]
