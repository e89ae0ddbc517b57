"""A reference class as a prior file."""

from __future__ import annotations

import json

from uncertain_botec.calibration.calibrating import Calibration

_WIDTH = 118


def as_prior_file(calibration: Calibration, schema: str, title: str = "") -> str:
    """The TOML of a prior file that `include`s like any other: a scenario that states no `mfu` takes it from there.

    Args:
        calibration: what was learnt.
        schema: where editors find that of prior files, from the folder of this one.
        title: for people; made from the number of runs where it is empty.
    """
    from uncertain_botec.inference import worst

    reference = calibration.reference
    title = title or f"Reference class of {reference.runs} finished runs"
    lines = [
        f"#:schema {schema}",
        "# Written by `botec calibrate`; docs/reference-class.md has the model. Posterior draws of its parameters.",
        f"title = {_text(title)}",
        "",
        "[reference_class]",
        f"runs      = {reference.runs}",
        f"overheads = {reference.overheads}",
        f"source    = {_text(reference.source)}",
        f"as_of     = {_text(reference.as_of)}",
        f"note      = {_text(f'{worst(calibration.diagnostics.values())}; seed {calibration.seed}')}",
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


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() else _text(name)
