"""A reference class as a prior file."""

from __future__ import annotations

import json
import os
from pathlib import Path

from uncertain_botec.calibration.calibrating import Calibration
from uncertain_botec.errors import UsageError

_WIDTH = 118


def as_prior_file(calibration: Calibration, title: str = "") -> str:
    """The TOML of a prior file that `include`s like any other: a scenario that states no `mfu` takes it from there.

    Args:
        calibration: what was learnt.
        title: for people; made from the number of runs where it is empty.
    """
    reference = calibration.reference
    title = title or f"Reference class of {reference.runs} finished runs"
    lines = [
        "#:schema ../prior-file.schema.json",
        "# Written by `botec calibrate`; docs/reference-class.md has the model. Posterior draws of its parameters.",
        f"title = {_text(title)}",
        "",
        "[reference_class]",
        f"runs      = {reference.runs}",
        f"overheads = {reference.overheads}",
        f"source    = {_text(reference.source)}",
        f"as_of     = {_text(reference.as_of)}",
        f"note      = {_text(_convergence(calibration))}",
        "",
        "[reference_class.draws]",
    ]
    for name, values in reference.columns.items():
        lines.append(f"{_key(name)} = [")
        line = "  "
        for value in values:
            item = f"{float(value):.4g}, "
            if len(line) + len(item) > _WIDTH:
                lines.append(line.rstrip())
                line = "  "
            line += item
        lines += [line.rstrip(), "]"]
    return "\n".join(lines) + "\n"


def write_calibration(calibration: Calibration, file: Path, title: str = "") -> None:
    """Write the prior file; it appears whole or not at all.

    Raises:
        UsageError: it cannot be written.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(as_prior_file(calibration, title), "utf-8")
        beside.replace(file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"--out {file}: cannot be written: {error.strerror or error}") from None


def _convergence(calibration: Calibration) -> str:
    worst = calibration.diagnostics.values()
    return (
        f"largest R-hat {max(one.rhat for one in worst):.4f}, least bulk ESS {min(one.ess for one in worst):,.0f}, "
        f"{sum(one.divergences for one in worst)} divergences; seed {calibration.seed}"
    )


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() else _text(name)
