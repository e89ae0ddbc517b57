"""A complete prior file to spoil or to vary, and the command that checks it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from uncertain_botec.cli import main

INPUTS = {
    "parameters": '"7e9 parameter"',
    "tokens": '{ family = "lognormal", p10 = "1e12 token", p90 = "2e12 token" }',
    "accelerators": "256",
    "peak_flop_per_s": '"312 TFLOP/s"',
    "mfu": '{ family = "logit-normal", p10 = 0.3, p90 = 0.45 }',
    "failure_overhead": '{ family = "lognormal", p10 = "4 %", p90 = "20 %" }',
    "price_per_accelerator_hour": '{ family = "lognormal", p10 = "1.5 USD/hour", p90 = "2.5 USD/hour" }',
}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a complete prior file: inputs replaced or left out (None), and text before and after."""

    def written(head: str = "", tail: str = "", name: str = "run.toml", **inputs: str | None) -> Path:
        stated = {key: text for key, text in (INPUTS | inputs).items() if text is not None}
        lines = ['title = "A run"', 'estimator = "training"', head, "[inputs]"]
        lines += [*(f"{key} = {text}" for key, text in stated.items()), tail]
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines), "utf-8")
        return path

    return written


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What `botec check` says of a file that it has to refuse, after holding it to the manner of every refusal."""

    def said(path: Path | str) -> str:
        monkeypatch.setattr(sys, "argv", ["botec", "check", str(path)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        assert stop.value.code == 2
        assert "Traceback" not in err
        assert out == ""
        return err

    return said
