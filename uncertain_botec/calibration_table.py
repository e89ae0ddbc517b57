"""How a calibration is shown: what moves the hours of a run, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from uncertain_botec.calibration.calibrating import Calibration
from uncertain_botec.presentation import html_page, page, plain_text, sectioned_table
from uncertain_botec.reference.beliefs import overhead_quantiles
from uncertain_botec.reference.posterior import OTHER, generation_column

if TYPE_CHECKING:
    from rich.console import Group

_LEVELS = np.array([0.1, 0.5, 0.9])

# What each term of the model is compared with, and by how much of the term.
_DOUBLED = float(np.log(2))
_WORDS = {
    "peak": ("an accelerator of twice the peak", _DOUBLED),
    "parameters": ("twice the parameters", _DOUBLED),
    "tokens": ("twice the tokens", _DOUBLED),
    "age": ("twice the age of the accelerator's generation", _DOUBLED),
    "moe": ("a mixture of experts", 1.0),
    "ssm": ("a state-space model", 1.0),
    "fp8": ("matrices multiplied in fp8", 1.0),
    "rough": ("hours that are days times accelerators", 1.0),
}

_HEADINGS = ("", "P10", "P50", "P90")

_READING = (
    "Each factor multiplies accelerator-hours by model FLOP over the 16-bit peak, all else being equal; P10 to P90 is "
    "what the runs leave open. An interval that holds 1 does not tell more from less."
)


def factors(calibration: Calibration) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """What hours are multiplied by for each term and generation: P10, P50 and P90 of the posterior."""
    columns = calibration.reference.columns
    for name, (words, step) in _WORDS.items():
        yield words, _quantiles(np.exp(columns[name] * step))
    for generation in calibration.reference.generations:
        yield f"on {generation}, beyond peak and age", _quantiles(np.exp(columns[generation_column(generation)]))
    yield "on any other accelerator", _quantiles(np.exp(columns[generation_column(OTHER)]))


def _quantiles(values: Any) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, _LEVELS)
    return float(low), float(middle), float(high)


def renderable(calibration: Calibration) -> Group:
    """The calibration for a rich console."""
    return page(_title(calibration), sectioned_table(_HEADINGS, rows(calibration)), statements(calibration), _READING)


def as_text(calibration: Calibration, width: int = 100) -> str:
    """The calibration as plain text."""
    return plain_text(renderable(calibration), width)


def as_html(calibration: Calibration) -> str:
    """The calibration as an HTML fragment for notebooks."""
    return html_page(_title(calibration), _HEADINGS, rows(calibration), statements(calibration), _READING)


def _title(calibration: Calibration) -> str:
    reference = calibration.reference
    return f"Reference class of {reference.runs} finished runs, the newest of {reference.as_of}"


def rows(calibration: Calibration) -> Iterator[tuple[str, ...]]:
    """The table's rows."""
    yield ("Hours are multiplied by, for",)
    for words, spread in factors(calibration):
        yield words, *(f"{value:.2f}" for value in spread)


def statements(calibration: Calibration) -> list[tuple[str, str]]:
    """What is said below the table."""
    reference = calibration.reference
    low, middle, high = (f"{100 * value:.0f} %" for value in overhead_quantiles(reference, _LEVELS))
    learnt = f"{reference.overheads} runs" if reference.overheads else "the prior: no run states an MFU while stepping"
    spread = float(np.exp(np.median(reference.columns["log_scale"])))
    found = [
        (
            "Overhead",
            f"P10 {low}, P50 {middle}, P90 {high} of the stepping time ({learnt})",
        ),
        ("Unexplained", f"{spread:.2f} in ln hours: a factor of {np.exp(spread):.2f} either way for two runs in three"),
    ]
    for name, one in calibration.diagnostics.items():
        found.append((f"Chains, {name}", f"NUTS, {one.sampled}: {one}"))
    for reason, names in calibration.runs.left_out.items():
        found.append(("Left out", f"{len(names)} rows: {reason}"))
    return found


def as_dict(calibration: Calibration) -> dict[str, Any]:
    """The calibration as JSON; `schema` names its shape."""
    reference = calibration.reference
    return {
        "schema": "uncertain-botec/calibration/1",
        "runs": reference.runs,
        "left_out": {reason: list(names) for reason, names in calibration.runs.left_out.items()},
        "as_of": reference.as_of,
        "source": reference.source,
        "seed": calibration.seed,
        "factors": [
            {"of": words, "p10": low, "p50": middle, "p90": high} for words, (low, middle, high) in factors(calibration)
        ],
        "failure_overhead": dict(
            zip(("p10", "p50", "p90"), map(float, overhead_quantiles(reference, _LEVELS)), strict=True)
        ),
        "log_scale": dict(zip(("p10", "p50", "p90"), _quantiles(reference.columns["log_scale"]), strict=True)),
        "chains": {name: asdict(one) for name, one in calibration.diagnostics.items()},
    }
