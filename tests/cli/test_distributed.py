"""`botec forecast --distributed` as real processes: what goes wrong in one of them soon ends them all."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ports import free_port

Start = Callable[..., list["subprocess.Popen[str]"]]

LIMIT = 30.0
"""Seconds after which processes hang. Of waiting for a lost one they would tire after 120."""

RUN = ("llama-2-70b", "--draws", "1024")

NEVER = """
title     = "Never finishes"
estimator = "training"
include   = ["accelerators/h100-sxm", "prices/neocloud-2026"]

[inputs]
parameters            = "7e9 parameter"
tokens                = "2e12 token"
accelerators          = 256
mfu                   = 0.4
node_failure_rate     = "1000 failure/node-day"
accelerators_per_node = 8
restart_time          = "10 minute"
checkpoint_write_time = "1 minute"
"""


class Ended(NamedTuple):
    """What a process came to."""

    code: int
    out: str
    err: str


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a process for each list of arguments, in the order of ranks; they are gone after the test."""
    with contextlib.ExitStack() as running:

        def begin(*arguments: Sequence[object], first: Sequence[str] = (), **pipes: Any) -> list[subprocess.Popen[str]]:
            port, made = free_port(), []
            for rank, each in enumerate(arguments):
                command = [*(() if rank else first), sys.executable, "-m", "uncertain_botec", "forecast"]
                command += [*map(str, each), "--distributed", "--coordinator", f"127.0.0.1:{port}"]
                command += ["--processes", str(len(arguments)), "--process-id", str(rank)]
                out = subprocess.PIPE if rank else pipes.get("stdout", subprocess.PIPE)
                one = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True)
                running.callback(one.communicate)
                running.callback(one.kill)
                made.append(one)
            return made

        yield begin


def ended(children: list[subprocess.Popen[str]]) -> list[Ended]:
    """What all processes came to, in good time."""
    deadline = time.monotonic() + LIMIT
    said = [child.communicate(timeout=max(0.1, deadline - time.monotonic())) for child in children]
    return [Ended(child.returncode, out or "", err) for child, (out, err) in zip(children, said, strict=True)]


def blamed(one: Ended, culprit: subprocess.Popen[str], rank: int, why: str) -> None:
    """A process ended because of another, and says in one line which and why."""
    assert (one.code, one.out) == (2, "")
    assert one.err.startswith(f"botec: process {rank} (pid {culprit.pid} on ")
    assert one.err.endswith(f" failed: {why}\n")
    assert one.err.count("\n") == 1


@pytest.mark.parametrize("culprit", [0, 2])
def test_a_prior_file_that_does_not_load(start: Start, tmp_path: Path, culprit: int) -> None:
    """Its process tells every fault, the others the first and whose it is; all end with code 2."""
    broken = tmp_path / "broken.toml"
    broken.write_text(f"{NEVER}spare_accelerators = -1\nmfus = 0.4\n", "utf-8")
    children = start(*((broken, *RUN[1:]) if rank == culprit else RUN for rank in range(3)))
    results = ended(children)
    own = results.pop(culprit)
    assert (own.code, own.out) == (2, "")
    assert own.err.endswith("2 faults found; nothing was run.\n")
    for other in results:
        blamed(other, children[culprit], culprit, own.err.splitlines()[0])


def test_an_option_that_one_cannot_use(start: Start) -> None:
    """Options are read when the processes have met."""
    children = start(RUN, (*RUN, "--accuracy", "much"))
    first, second = ended(children)
    assert (second.code, second.out) == (2, "")
    blamed(first, children[1], 1, second.err.removeprefix("botec: ").rstrip())


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--seed", "7"], "seed=7 in process 1, seed=0 in process 0"),
        # How the points are shared hangs on it.
        (["--chunk", "1024"], "chunk=1024 in process 1, chunk=None in process 0"),
        (["--out", "results"], "keep=1048576, outputs=None) in process 1"),
    ],
    ids=["seed", "chunk", "out"],
)
def test_options_that_differ(start: Start, option: list[str], said: str) -> None:
    """All end with code 2 and the line that one was told and another not."""
    for one in ended(start(RUN, (*RUN, *option))):
        assert (one.code, one.out) == (2, "")
        assert "process 1 was told something else than process 0: " in one.err
        assert said in one.err


def test_a_folder_that_cannot_be_written(start: Start, tmp_path: Path) -> None:
    """Process 0 says so before anything is drawn, and the others end with it."""
    file = tmp_path / "file"
    file.write_text("in the way", "utf-8")
    options = (*RUN, "--out", file / "results")
    began = time.monotonic()
    children = start(options, options)
    first, second = ended(children)
    fault = f"--out {file / 'results'}: {file} is a file; name a folder"
    assert first == Ended(2, "", f"botec: {fault}\n")
    blamed(second, children[0], 0, fault)
    assert time.monotonic() - began < LIMIT / 3


def test_a_disk_that_fills_at_the_end(start: Start, tmp_path: Path) -> None:
    """The others wait until process 0 has written, and end with it when it cannot."""
    # 30 to 60 kB, by shell: too little for the draws.
    options = (*RUN, "--quiet", "--out", tmp_path / "results")
    children = start(options, options, first=("sh", "-c", 'ulimit -f 60; exec "$@"', "sh"))
    first, second = ended(children)
    assert (first.code, first.out) == (2, "")
    assert "cannot be written" in first.err
    blamed(second, children[0], 0, first.err.removeprefix("botec: ").rstrip())
    assert list((tmp_path / "results").iterdir()) == []


@pytest.mark.parametrize("form", [["--json"], []], ids=["JSON", "table"])
def test_a_reader_that_has_gone(start: Start, form: list[str]) -> None:
    """Where nobody reads what process 0 prints, JSON or a table, it ends quietly and the others say why they do."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        children = start((*RUN, "--quiet", *form), RUN, stdout=writing)
        first, second = ended(children)
    finally:
        os.close(writing)
    assert (first.code, first.err) == (141, "")
    blamed(second, children[0], 0, "cannot write to standard output: Broken pipe")


def test_what_is_required_and_not_met(start: Start, tmp_path: Path) -> None:
    """Process 0 prints everything and exits with 3; for the others that is no failure."""
    run = tmp_path / "never.toml"
    run.write_text(NEVER, "utf-8")
    first, second = ended(start(*[(run, "--draws", "1024", "--require")] * 2))
    assert first.code == 3
    assert "Never finishes" in first.out
    assert first.err.endswith("botec: required and not met: finishing\n")
    assert second == Ended(0, "", "")


def test_the_numbers_are_those_of_one_process(start: Start, tmp_path: Path) -> None:
    """Two processes share half a million draws and write and print what one would; only process 0 says anything."""
    options = ("llama-2-70b", "--draws", "2^19", "--json", "--no-smooth")
    together, silent = ended(start(*[(*options, "--out", tmp_path / "two")] * 2))
    alone = [sys.executable, "-m", "uncertain_botec", "forecast", *options, "--out", str(tmp_path / "one")]
    single = subprocess.run(alone, capture_output=True, text=True, timeout=LIMIT)
    assert (together.code, silent, single.returncode) == (0, Ended(0, "", ""), 0)
    assert "524,288 draws" in together.err
    documents = [json.loads(text) for text in (together.out, single.stdout)]
    for document, folder in zip(documents, ("two", "one"), strict=True):
        assert {path.name for path in (tmp_path / folder).iterdir()} == {"summary.json", "scenario.toml", "draws.nc"}
        assert json.loads((tmp_path / folder / "summary.json").read_text("utf-8")) == document
        del document["provenance"]
    both, one = (document["outputs"]["cost"] for document in documents)
    assert {key: both[key] for key in ("p10", "p50", "p90")} == {key: one[key] for key in ("p10", "p50", "p90")}
    assert both["mean"] == pytest.approx(one["mean"], rel=1e-12)
