"""What only real processes show: closed pipes, full disks, escape codes, and the same bytes for the same seed."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from uncertain_botec.cli.streams import prepare

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Botec = Callable[..., Any]

MODULE = [sys.executable, "-m", "uncertain_botec"]
FORECAST = ["forecast", "llama-2-70b", "--draws", "1024", "--quiet"]


COMMANDS = [
    FORECAST,
    [*FORECAST, "--json"],
    ["schema"],
    ["--help"],
    ["list", "families"],
    ["check", "gpt-3"],
    ["explain", "gpt-3"],
]
NAMES = ["-".join(arguments[:1] + arguments[-1:]) for arguments in COMMANDS]


@pytest.mark.parametrize("arguments", COMMANDS, ids=NAMES)
def test_closed_pipe(arguments: list[str]) -> None:
    """When the reader has gone, the command says nothing and ends as a shell tells of one that SIGPIPE ended."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([*MODULE, *arguments], stdout=writing, stderr=subprocess.PIPE, timeout=120)
    finally:
        os.close(writing)
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.parametrize("arguments", COMMANDS, ids=NAMES)
def test_a_full_disk_behind_standard_output(arguments: list[str]) -> None:
    """What cannot be written is said in one line, whatever the command prints it with."""
    with open("/dev/full", "w") as full:  # noqa: PTH123 -- a device
        done = subprocess.run([*MODULE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.stderr == "botec: cannot write to standard output: No space left on device\n"
    assert done.returncode == 1


def test_notes_that_nobody_can_read() -> None:
    """Results are worth more than what is said beside them."""
    with open("/dev/full", "w") as full:  # noqa: PTH123 -- a device
        done = subprocess.run([*MODULE, *FORECAST[:-1]], stdout=subprocess.PIPE, stderr=full, text=True, timeout=120)
    assert "Cost" in done.stdout
    assert "P90: a 90 % chance" in done.stdout


def test_no_standard_output() -> None:
    """One that is closed is a line as well."""
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *MODULE, *FORECAST]
    done = subprocess.run(closed, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (1, "botec: cannot write to standard output: it is closed\n")


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
    ids=["io", "locale"],
)
def test_an_encoding_that_lacks_letters(process: Botec, environment: dict[str, str]) -> None:
    """Tables have what comes nearest, and JSON loses nothing."""
    table = process("risk", "llama-2-70b", "--draws", "2^14", LC_ALL="C", **environment)
    assert table.code == 0
    assert re.search(r"met with probability [\d.]+ % \+/- ", table.out)
    assert table.out.isascii()
    assert "?" not in table.out
    document = process("list", "runs", "--json", LC_ALL="C", **environment)
    assert json.loads(document.out) == json.loads(process("list", "runs", "--json", PYTHONIOENCODING="utf-8").out)
    # A name as a system that knows no UTF-8 hands it over.
    refused = process("check", os.fsdecode(b"caf\xe9-\xce\xbc.toml"), LC_ALL="C", **environment)
    assert (refused.code, "Traceback" in refused.err) == (2, False)


@pytest.mark.parametrize(
    ("letter", "plain"), [("μ", "u"), ("β", "beta"), ("−", "-"), ("é", "e"), ("⁻", "-"), ("漢", "?")]
)
def test_letters_in_ascii(letter: str, plain: str) -> None:
    """Letters that an encoding lacks are written by what they are read as."""
    prepare()
    assert f"a{letter}b".encode("ascii", "plain") == f"a{plain}b".encode()


INTERRUPTED = """
import signal
import sys

class Interrupting:
    def find_spec(name, *_):
        if name == "{module}":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting)
sys.argv[1:] = ["sweep", "llama-2-70b", "--over", "accelerators=512,1024"]
from uncertain_botec.cli import main
main()
"""


@pytest.mark.parametrize(
    "module", ["uncertain_botec.cli.running", "typer", "numpy", "uncertain_botec.sampling.batches"]
)
def test_an_interrupt_is_said(module: str) -> None:
    """Ctrl-C ends a command with one line, while it loads and while it works."""
    command = [sys.executable, "-c", INTERRUPTED.format(module=module)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("", "botec: interrupted\n")
    # Python itself may pass the signal on, where it came while the text of a class was executed.
    assert done.returncode in (130, -signal.SIGINT)


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
