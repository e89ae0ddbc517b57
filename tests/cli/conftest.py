"""The command line in this process, which is fast, and as a real process where pipes, limits or bytes matter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from uncertain_botec.cli import main


class Result(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


Botec = Callable[..., Result]


@pytest.fixture
def botec(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Botec:
    """Run a command in this process."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["botec", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture
def process() -> Botec:
    """Run a command in a process of its own."""

    def run(*arguments: object, **environment: str) -> Result:
        command = [sys.executable, "-m", "uncertain_botec", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=120)
        return Result(done.returncode, done.stdout, done.stderr)

    return run
