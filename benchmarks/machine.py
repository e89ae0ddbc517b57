"""What the figures were measured on, and the memory that a process takes."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import resource
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.table import WIDTH

PACKAGES = (
    *("uncertain-botec", "jax", "jaxlib", "numpyro", "numpy", "scipy"),
    *("squigglepy", "numba", "openturns", "chaospy", "monaco"),
)

MIB = 2**20


def machine() -> dict[str, Any]:
    """Processor, cores, memory, versions and the date."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load": round(os.getloadavg()[0], 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {package: _version(package) for package in PACKAGES},
    }


def headline(about: dict[str, Any]) -> str:
    """The same for people."""
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    text = (
        f"{about['processor']}, {about['cores']} cores, {about['memory_gib']} GiB, load {about['load']} at the start; "
        f"{about['system']}; Python {about['python']}; {versions}"
    )
    return "\n".join([f"Benchmarks, {about['date']}", *textwrap.wrap(text, WIDTH)])


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def peak_memory() -> int:
    """The most memory, in bytes, that this process has had resident."""
    # Of the program alone: what getrusage tells is at least what the parent had when it forked.
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def memory() -> int:
    """The memory, in bytes, that this process has resident; its peak where the system does not tell."""
    return _status("VmRSS") or peak_memory()


def _status(key: str) -> int:
    status = Path("/proc/self/status")
    lines = status.read_text("utf-8").splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:")), 0)
