"""What only real processes show: closed pipes, full disks, escape codes, and the same bytes for the same seed."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Botec = Callable[..., Any]

MODULE = [sys.executable, "-m", "uncertain_botec"]
FORECAST = ["forecast", "llama-2-70b", "--draws", "1024", "--quiet"]


@pytest.mark.parametrize(
    "arguments",
    [
        FORECAST,
        [*FORECAST, "--json"],
        ["schema"],
        ["--help"],
        ["list", "families"],
        ["check", "gpt-3"],
        ["explain", "gpt-3"],
    ],
    ids=lambda arguments: "-".join(arguments[:1] + arguments[-1:]),
)
def test_closed_pipe(arguments: list[str]) -> None:
    """When the reader has gone, the command ends with code 2 and says nothing."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([*MODULE, *arguments], stdout=writing, stderr=subprocess.PIPE, timeout=120)
    finally:
        os.close(writing)
    assert done.returncode == 2
    assert done.stderr == b""


def test_same_seed_same_bytes(process: Botec) -> None:
    """Two processes with one seed print the same bytes apart from the timings; another seed does not."""
    runs = [process(*FORECAST, "--json", "--seed", seed) for seed in (7, 7, 8)]
    first, second, other = (json.loads(run.out) for run in runs)
    for document in (first, second, other):
        assert document["provenance"].pop("timings")
    assert json.dumps(first) == json.dumps(second)
    assert first["outputs"] != other["outputs"]


def test_a_full_disk_leaves_the_old_results(process: Botec, tmp_path: Path) -> None:
    """When the draws cannot be written whole, the results of the last run stay as they were, and nothing else stays."""
    assert process(*FORECAST, "--out", tmp_path).code == 0
    old = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert old.keys() == {"summary.json", "scenario.toml", "draws.nc"}

    # 30 to 60 kB, by shell: enough for the summary, too little for the draws.
    limited = ["sh", "-c", 'ulimit -f 60; exec "$@"', "sh", *MODULE, *FORECAST, "--seed", "9", "--out", str(tmp_path)]
    done = subprocess.run(limited, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == old


def test_pipes_have_no_escape_codes(process: Botec) -> None:
    """What goes into a pipe or file is plain text."""
    for arguments in (FORECAST, ["explain", "gpt-3"]):
        result = process(*arguments, TERM="xterm-256color")
        assert "\x1b" not in result.out + result.err


@pytest.mark.parametrize("plain", [True, False])
def test_no_color(plain: bool) -> None:
    """A terminal gets colour unless NO_COLOR asks for none."""
    terminal, device = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm-256color"}
    command = [*MODULE, "explain", "gpt-3"]
    with subprocess.Popen(command, stdout=device, env=environment | ({"NO_COLOR": "1"} if plain else {})) as child:
        os.close(device)
        said = b""
        try:
            while part := os.read(terminal, 65536):
                said += part
        except OSError:
            # Linux reports the end of a pseudo-terminal as an input error.
            pass
    os.close(terminal)
    assert child.returncode == 0
    assert b"training_flop" in said
    assert (b"\x1b[36m" in said) is not plain
