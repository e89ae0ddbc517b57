"""Options that cannot be used end with code 2 and a sentence, never a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Botec = Callable[..., Any]

BAD = [
    (["--draws", "0"], "at least 1"),
    (["--draws=-5"], "at least 1"),
    (["--draws", "abc"], "8M"),
    (["--draws", ""], "8M"),
    (["--draws", "1.5"], "whole number"),
    (["--draws", "1e30"], "--draws 1e30"),
    (["--draws", "1e999999"], "--draws"),
    (["--draws", "2^9999999"], "--draws"),
    (["--seed=-1"], "--seed"),
    (["--seed", "x"], "--seed"),
    (["--chunk", "0"], "--chunk"),
    (["--sampler", "halton"], "monte-carlo"),
    (["--precision", "float16"], "float32"),
    (["--device", "tpu"], "--device"),
    (["--nonsense"], "--nonsense"),
    (["--set", "inputs.mfu.p90=45"], 'write "45 %"'),
    (["--out", "/proc/nothing"], "cannot be written"),
    (["--out", ""], "names no folder"),
    (["--out", f"{__file__}/results/inner"], f"{Path(__file__).name} is a file"),
]


@pytest.mark.parametrize(("options", "says"), BAD, ids=[" ".join(case[0])[:30] for case in BAD])
def test_bad_option(botec: Botec, options: list[str], says: str) -> None:
    """A bad option is refused with what would be right."""
    result = botec("forecast", "llama-2-70b", *options)
    assert result.code == 2
    assert says in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    "command", [["report", "gpt-3"], ["compare", "gpt-3", "gpt-3"], ["sweep", "gpt-3", "--over", "mfu=0.3,0.4"]]
)
@pytest.mark.parametrize(("folder", "says"), [("", "names no folder"), (".", "the one that you are in")])
def test_bad_folder(botec: Botec, command: list[str], folder: str, says: str) -> None:
    """A report is not put into no folder, nor in place of the one that the user is in."""
    result = botec(*command, "--out", folder)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


@pytest.mark.parametrize(
    "arguments",
    [[], ["forecast"], ["list", "chips"], ["check"], ["new"], ["nonsense"], ["forecast", "no-such-run"]],
    ids=" ".join,
)
def test_bad_command(botec: Botec, arguments: list[str]) -> None:
    """A missing or unknown argument or command is bad usage."""
    result = botec(*arguments)
    assert result.code == 2
    assert "Traceback" not in result.err
    assert result.out + result.err


def test_no_gpu(botec: Botec) -> None:
    """Asking for a GPU that is not there says what is."""
    import jax

    if any(device.platform == "gpu" for device in jax.devices()):
        return
    result = botec("forecast", "llama-2-70b", "--draws", "64", "--device", "gpu")
    assert result.code == 2
    assert "no gpu is visible" in result.err
    assert "--device cpu" in result.err


def test_defects_are_ours(botec: Botec, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception nobody foresaw is called a defect of ours and ends with code 1."""
    from uncertain_botec.prior_files import loading

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(loading, "load_scenario", broken)
    result = botec("check", "llama-2-70b")
    assert result.code == 1
    assert "defect of botec" in result.err


@pytest.mark.parametrize(
    ("arguments", "said", "never"),
    [
        (("report", "llama-2-70b", "--keep", "0"), "--keep 0: expected", "--draws"),
        (("forecast", "llama-2-70b", "--draws", "1e30"), "at least 1 and at most 2^53", "0 draws"),
        (("solve", "llama-2-70b", "P(cost <= 1 MUSD) >= 0.5", "--for", "training_time"), "is an output", "not used"),
        (("sweep", "llama-2-70b", "--over", "training_time=10day,20day"), "is an output", "correlation"),
        (("forecast", "llama-2-70b", "--set", "inputs.foo=3"), "`botec schema` has all", "pue"),
    ],
)
def test_faults_speak_of_what_was_asked(botec: Botec, arguments: tuple[str, ...], said: str, never: str) -> None:
    """A fault names the option that was given and its limits, and no list that is too long to read."""
    result = botec(*arguments)
    assert result.code == 2
    assert said in " ".join(result.err.split())
    assert never not in result.err
