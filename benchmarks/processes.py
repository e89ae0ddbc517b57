"""Whole processes: started in turns, and timed from start to exit, or asked for one figure each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def environment(changes: Mapping[str, str]) -> dict[str, str]:
    """Ours, with changes. Everybody may compile bytecode in a first run, which is not counted."""
    left_out = {"PYTHONDONTWRITEBYTECODE", "JAX_COMPILATION_CACHE_DIR"}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**{key: value for key, value in os.environ.items() if key not in left_out}, "PYTHONPATH": path, **changes}


def wall(command: Sequence[str], changes: Mapping[str, str]) -> float:
    """Seconds from start to exit."""
    started = time.perf_counter()
    done = subprocess.run(  # noqa: S603 - a command of our own making, without a shell
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(changes), check=False
    )
    taken = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"exit code {done.returncode} from {' '.join(command)}\n{done.stderr.decode()[-2000:]}")
    return taken


def ask(*words: object, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What `python -m benchmarks.child` answers, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.child", *map(str, words)]
    done = subprocess.run(  # noqa: S603 - likewise
        command, capture_output=True, text=True, env=environment(changes or {}), check=False
    )
    if done.returncode:
        sys.exit(f"exit code {done.returncode} from {' '.join(command)}\n{done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer
