"""Compiled kernels are kept from one command to the next, and only where they may be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def _forecast(home: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uncertain_botec", "forecast", "gpt-3", "--draws", "1024", "--json", *options]
    known = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "BOTEC_", "JAX_"))}
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env={**known, "HOME": str(home), **environment}
    )


def _kernels(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*-cache")}


def test_kernels_are_kept_and_used(tmp_path: Path) -> None:
    """The second command compiles nothing anew and says the same."""
    first = _forecast(tmp_path)
    kept = _kernels(tmp_path)
    second = _forecast(tmp_path)
    assert kept
    assert _kernels(tmp_path) == kept
    assert first.stdout.partition('"provenance"')[0] == second.stdout.partition('"provenance"')[0]


@pytest.mark.parametrize(
    ("options", "environment"), [(["--no-cache"], {}), ([], {"BOTEC_CACHE": "0"})], ids=["option", "environment"]
)
def test_nothing_is_kept_without_leave(tmp_path: Path, options: list[str], environment: dict[str, str]) -> None:
    """The switch leaves nothing compiled behind."""
    _forecast(tmp_path, *options, **environment)
    assert not _kernels(tmp_path)


def test_a_folder_that_cannot_be_made_changes_nothing(tmp_path: Path) -> None:
    """Where the cache folder's place is taken by a file, the forecast is made all the same, without a word."""
    (tmp_path / ".cache").write_text("")
    assert _forecast(tmp_path, "--quiet").stderr == ""
