"""Inputs that a prior file does not state and finished runs tell: the MFU while stepping, and the overhead."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from uncertain_botec.distributions import elicit, level_of_u
from uncertain_botec.errors import Fault
from uncertain_botec.library import PRIORS
from uncertain_botec.prior_files.beliefs import believe
from uncertain_botec.prior_files.filling import Stated
from uncertain_botec.prior_files.merging import Merged
from uncertain_botec.prior_files.places import Place
from uncertain_botec.prior_files.schema import Accelerator, Reference, check_input
from uncertain_botec.reference.accelerators import parts, plain, years
from uncertain_botec.reference.beliefs import overhead_quantiles, step_mfu
from uncertain_botec.reference.posterior import OTHER, SHARED, ReferenceClass, generation_column
from uncertain_botec.reference.subject import PUBLISHED_AFTER, Subject
from uncertain_botec.vocabulary import QUANTITIES

TOLD = ("mfu", "failure_overhead")
"""What the reference class tells."""

SHIPPED = PRIORS / "reference" / "training.toml"

_LEVELS = (0.1, 0.9)

# In percent.
_NOTHING = 0.01

# More parameters in all than take part in each token, and not only by an embedding: a mixture of experts.
_SPARSE = 1.3


def told(merged: Merged, stated: Stated, missing: tuple[str, ...]) -> Stated:
    """The missing inputs that the reference class tells; a note says which, and of what it is the class.

    Args:
        merged: what all documents say; notes and faults are added.
        stated: the inputs so far.
        missing: the names of what is needed and not stated.

    Returns:
        For `mfu` and `failure_overhead`, where missing, a statement and the place of the reference class; nothing where
        the run's accelerator, parameters or tokens are not known.
    """
    wanted = [name for name in TOLD if name in missing and merged.lacks(name)]
    if not wanted or merged.accelerator is None:
        return {}
    reference, place = _reference(merged)
    if reference is None:
        merged.excused |= {*TOLD}
        return {}
    accelerator, _ = merged.accelerator
    started = merged.head.get("start")
    try:
        start = years(started or reference.as_of)
    except ValueError:
        fault = Fault("not a month", merged.where, "$.start", str(started), "YYYY-MM", 'start = "2027-03"')
        merged.faults.append(fault)
        merged.excused |= {*TOLD}
        return {}
    found = _subject(accelerator, stated, start, merged.head.get("precision"))
    if found is None:
        return {}
    subject, gain = found
    overhead = overhead_quantiles(reference, np.array(_LEVELS))
    about = {"source": f"{place.where}: {reference.title}", "as_of": reference.as_of}
    specs: dict[str, dict[str, Any]] = {}
    if "mfu" in wanted:
        ends = step_mfu(reference, subject, (overhead[0], overhead[1]), gain)
        p10, p90 = (round(value, 4) for value in ends)
        note = f"learnt from {reference.runs} finished runs, for {_said(subject)}"
        specs["mfu"] = {"family": "lognormal", "p10": p10, "p90": p90, "truncate": [0, 1], **about, "note": note}
    if "failure_overhead" in wanted:
        p10, p90 = (round(float(value), 4) for value in overhead)
        note = (
            f"learnt from the {reference.overheads} finished runs that publish both MFU while stepping and hours"
            if reference.overheads
            else "no finished run of the reference class publishes both MFU while stepping and hours: its prior"
        )
        specs["failure_overhead"] = {"family": "lognormal", "p10": p10, "p90": p90, **about, "note": note}
    spans = ", ".join(f"{name} {spec['p10']:.2g} to {spec['p90']:.2g}{_cut(spec)}" for name, spec in specs.items())
    dated = "" if started else f", taken to start in {reference.as_of} (state start otherwise)"
    merged.notes.append(
        f"{' and '.join(wanted)} not stated: from the reference class of {reference.runs} finished runs "
        f"({place.where}), for {_said(subject)}{dated}; P10 to P90: {spans}"
    )
    return {name: (spec, place) for name, spec in specs.items()}


def _cut(spec: Mapping[str, Any]) -> str:
    """What of a belief is cut off; the reader has not asked for it, and needs no note of its own."""
    if "truncate" not in spec:
        return ""
    stated = {"p10": spec["p10"], "p90": spec["p90"], "truncate": tuple(spec["truncate"])}
    cut = 100 * elicit(spec["family"], stated).mass_cut
    return f" ({cut:.1g} % above {spec['truncate'][1]} cut off)" if cut >= _NOTHING else ""


def _said(subject: Subject) -> str:
    kind = {"dense": "a dense model", "moe": "a mixture of experts", "ssm": "a state-space model"}[subject.kind]
    return (
        f"{kind} of {subject.parameters:.3g} parameters and {subject.tokens:.3g} tokens on {subject.generation} "
        f"{subject.age - PUBLISHED_AFTER:.1f} years after its release"
    )


def _subject(
    accelerator: Accelerator, stated: Stated, start: float, precision: str | None
) -> tuple[Subject, float] | None:
    """What the reference class is asked about, and its 16-bit peak over the one that MFU refers to."""
    peaks = accelerator.peak_flop_per_s
    known = parts().get(plain(accelerator.name))
    release = known.release if known else years(accelerator.release) if accelerator.release else None
    sixteen = _believed(peaks.get("bf16", peaks.get("fp16")), "peak_flop_per_s")
    parameters, tokens, peak = (_median(name, stated) for name in ("parameters", "tokens", "peak_flop_per_s"))
    if release is None or sixteen is None or parameters is None or tokens is None or peak is None:
        return None
    if precision not in (None, "bf16", "fp16", "fp8"):
        return None
    total = _median("total_parameters", stated)
    subject = Subject(
        parameters=parameters,
        tokens=tokens,
        peak_flop_per_s=sixteen,
        generation=accelerator.generation or OTHER,
        age=start + PUBLISHED_AFTER - release,
        kind="moe" if total is not None and total > _SPARSE * parameters else "dense",
        fp8=precision == "fp8",
    )
    return subject, sixteen / peak


def _median(name: str, stated: Stated) -> float | None:
    """The median of an input in base units; what cannot be read is told of with all other inputs."""
    return _believed(stated[name][0], name, stated[name][1]) if name in stated else None


def _believed(spec: Any, name: str, place: Place | None = None) -> float | None:
    place = place or Place("", "", SHIPPED)
    if spec is None or check_input(spec, place.where, place.path):
        return None
    belief = believe(spec, QUANTITIES[name], place, [], [], [])
    return None if belief is None else float(belief.distribution.quantile(level_of_u(0.5)))


def _reference(merged: Merged) -> tuple[ReferenceClass | None, Place]:
    """The reference class that is included, or else the shipped one; none after adding faults."""
    if merged.reference is None:
        return shipped(), Place("reference/training", "$.reference_class", SHIPPED)
    table, title, place = merged.reference
    faults = list(_faults(table, place))
    merged.faults += faults
    return (None if faults else _class(table, title)), place


@cache
def shipped() -> ReferenceClass:
    """The reference class that comes with the program."""
    return read_reference_class(SHIPPED)


def read_reference_class(path: Path) -> ReferenceClass:
    """The reference class of a file that `botec calibrate` wrote."""
    content = tomllib.loads(path.read_text("utf-8"))
    return _class(Reference.model_validate(content["reference_class"]), content.get("title"))


def _class(table: Reference, title: str | None) -> ReferenceClass:
    return ReferenceClass(
        columns={name: np.array(values, float) for name, values in table.draws.items()},
        runs=table.runs,
        overheads=table.overheads,
        as_of=table.as_of or "",
        source=table.source or "",
        title=title or "reference class",
    )


def _faults(table: Reference, place: Place) -> list[Fault]:
    """What a file that `botec calibrate` did not write, or that was edited, may lack."""
    at = place.at("draws")
    fix = "write it with botec calibrate --out"
    needed = (*SHARED, generation_column(OTHER))
    faults = [
        Fault("a parameter is missing", at.where, at.path, ", ".join(table.draws)[:200] or "nothing", name, fix)
        for name in needed
        if name not in table.draws
    ]
    lengths = {len(values) for values in table.draws.values()}
    if len(lengths) > 1 or 0 in lengths:
        got = ", ".join(map(str, sorted(lengths)))
        faults.append(Fault("parameters have different numbers of draws", at.where, at.path, got, "one number", fix))
    for name, values in table.draws.items():
        if not np.isfinite(np.array(values, float)).all():
            faults.append(Fault("a draw is not finite", at.where, at.at(name).path, None, "finite numbers", fix))
    if table.as_of is None:
        faults.append(Fault("a key is missing", place.where, place.at("as_of").path, "nothing", "YYYY-MM", fix))
    return faults
