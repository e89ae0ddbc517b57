"""Reports that several tests look at, and prior files with texts that try to be more than text."""

from __future__ import annotations

from pathlib import Path

import pytest

from uncertain_botec import Report, load_scenario, write_report

FEW = 1 << 12

NASTY = (
    "<script>alert(1)</script><img src=x onerror=alert(2)></td></table><h1>big</h1></style><!-- &lt; &amp; "
    "\"q\" 'q' $x^2$ \\frac{1}{2} **bold** _slanted_ [link](javascript:alert(3)) ![p](http://example.com/p.png) | cell "
    "~~struck~~ `code` ``` \a\x7f\u202egnp.exe\u202c \u2067מימין\u2066 مرحبا 12 {% x %} {{ y }} # h"
)
"""HTML, Markdown, LaTeX, templates, control characters, and letters and marks that turn the direction of a text."""

LONG = "W" * 10_000


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Of a shipped run with a budget and a deadline."""
    return write_report(load_scenario("llama-2-70b"), tmp_path_factory.mktemp("reports") / "llama-2-70b", draws=FEW)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Of a prior file whose name, title, sources and notes try everything."""
    import tomli_w

    def about(text: str) -> dict[str, str]:
        return {"source": text, "note": text, "as_of": "2026-01"}

    inputs = {
        "parameters": {"value": 70e9, **about(NASTY)},
        "tokens": {"family": "lognormal", "p10": "1e12 token", "p90": "3e12 token", **about(LONG)},
        "accelerators": 2048,
        "peak_flop_per_s": "312 TFLOP/s",
        "mfu": {"family": "logit-normal", "p10": 0.2, "p90": 0.5, **about(NASTY)},
        "failure_overhead": 0.1,
        "price_per_accelerator_hour": {"family": "lognormal", "p10": "1 USD/hour", "p90": "3 USD/hour"},
    }
    correlation = {"between": ["mfu", "price_per_accelerator_hour"], "spearman": 0.5, "source": NASTY}
    observed = {"training_time": {"value": "50 day", **about(NASTY)}}
    document = {"title": NASTY, "estimator": "training", "inputs": inputs, "correlations": [correlation]}
    file: Path = tmp_path_factory.mktemp("hostile") / "a <b>&$x`|*[c](d).toml"
    file.write_text(tomli_w.dumps({**document, "observed": observed, "limits": {"budget": "5e6 USD"}}), "utf-8")
    return write_report(load_scenario(file), file.with_name("report"), draws=FEW)
