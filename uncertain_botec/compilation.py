"""Compiled kernels kept from one process to the next, in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path

MOST_BYTES = 256 << 20
"""What the folder holds at most; what was used longest ago goes first. A kernel takes some 50 to 300 kB."""


def keep_compiled(folder: Path | None = None) -> None:
    """Let JAX keep what it compiles in a folder, and look there before it compiles.

    Programs that use the library decide for themselves; the command line does so unless it is told not to. A folder
    that JAX was told of by JAX_COMPILATION_CACHE_DIR stays, and one that cannot be written changes nothing.

    Args:
        folder: by default one in the user's cache folder, of its own for each kind of processor.
    """
    import jax
    from platformdirs import user_cache_path

    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    folder = folder or user_cache_path("botec") / f"kernels-{_processor()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        jax.config.update("jax_compilation_cache_max_size", MOST_BYTES)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
        jax.config.update("jax_compilation_cache_dir", str(folder))


def _processor() -> str:
    """A name for what a compiled kernel may run on: homes are shared by machines that differ."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    abilities = next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
    return hashlib.sha256(f"{platform.machine()} {abilities}".encode()).hexdigest()[:12]
