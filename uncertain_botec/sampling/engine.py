"""The sampling engine: every replicate's points through quantile functions and formulas, in one jitted kernel."""

from __future__ import annotations

import importlib.metadata
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from uncertain_botec.draws import Draws, Provenance
from uncertain_botec.errors import SamplingError, UsageError
from uncertain_botec.sampling.kernel import Beliefs, kernel
from uncertain_botec.sampling.luck import luck_keys
from uncertain_botec.sampling.points import PointSet, point_set
from uncertain_botec.scenario import Scenario
from uncertain_botec.vocabulary import COLUMNS, QUANTITIES

DEFAULT_DRAWS = 1 << 20

# Points that one call of the kernel evaluates unless the caller says otherwise. On a CPU few enough that the arrays
# stay in the cores' own caches, which halves the time of a draw in float64; on an accelerator enough to fill it.
_CHUNK_ON_CPU = 1 << 17
_CHUNK = 1 << 24

# Libraries whose version may change the numbers.
_DECISIVE = ("uncertain-botec", "jax", "jaxlib", "numpy", "scipy")


def sample(
    scenario: Scenario,
    draws: int = DEFAULT_DRAWS,
    *,
    seed: int = 0,
    sampler: str = "lattice",
    precision: str = "float64",
    device: str = "auto",
    chunk: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Draws:
    """Draw a scenario's inputs and push them through its estimator's formulas.

    Args:
        scenario: what to draw from.
        draws: at least how many; rounded up to the sampler's natural size.
        seed: of the randomisations. The same seed and settings give the same draws, on any number of devices.
        sampler: "lattice", "sobol" or "monte-carlo".
        precision: "float64" or "float32", of the arithmetic in the kernel.
        device: "auto" (the accelerator if there is one), "cpu" or "gpu".
        chunk: points evaluated at a time; changes memory and speed, not results beyond rounding.
        progress: called with the number of draws added, after every chunk.

    Returns:
        Arrays of shape (replicates, size), in base units.

    Raises:
        UsageError: an option that cannot be used.
        SamplingError: an input or output that is not finite, or zero where it cannot be.
    """
    started = time.perf_counter()
    job = prepare(scenario, draws, seed=seed, sampler=sampler, precision=precision, device=device, chunk=chunk)
    points, shape = job.points, (job.points.replicates, job.points.size)
    _check_memory(len(job.kept) * points.draws * job.dtype.itemsize)
    values = {name: np.empty(shape, job.dtype) for name in job.kept}
    ready = time.perf_counter()
    for start in range(0, points.size, job.count):
        stop = min(start + job.count, points.size)
        arrays, _ = job.chunk(start, 1, stop - start)
        for name, array in arrays.items():
            values[name][:, start:stop] = array
        if progress is not None:
            progress((stop - start) * points.replicates)
    check_possible({**job.certain, **values}, scenario)
    finished = time.perf_counter()
    constants = {name: np.broadcast_to(value, shape) for name, value in job.certain.items()}
    return Draws(
        scenario, {**constants, **values}, job.provenance({"prepare": ready - started, "draw": finished - ready})
    )


@dataclass(frozen=True)
class Job:
    """Everything that one run of the kernel over and over needs, made ready once.

    Attributes:
        scenario: what is drawn from.
        points: how the draws are laid out.
        dtype: of the arithmetic.
        devices: what it runs on.
        count: points of one chunk in each replicate.
        kept: the names whose arrays the kernel gives: uncertain inputs, and outputs that are not known exactly.
        certain: the known inputs, and what follows from them alone.
        beliefs: what the kernel is told of the scenario.
    """

    scenario: Scenario
    points: PointSet
    dtype: np.dtype[Any]
    devices: list[jax.Device]
    count: int
    kept: tuple[str, ...]
    certain: Mapping[str, np.ndarray]
    beliefs: Beliefs

    def chunk(
        self,
        start: int,
        stride: int,
        count: int,
        thresholds: Mapping[str, np.ndarray] = MappingProxyType({}),
        kept: tuple[str, ...] | None = None,
    ) -> tuple[dict[str, jax.Array], dict[str, jax.Array]]:
        """Arrays of shape (replicates, count) at the counters start, start + stride, ..., and codes by threshold."""
        dependence = self.scenario.dependence
        with jax.enable_x64(True), jax.default_device(self.devices[0]):
            made: tuple[dict[str, jax.Array], dict[str, jax.Array]] = kernel(
                self.beliefs,
                np.array([start, stride], np.uint32),
                dict(thresholds),
                count=count,
                plan=self.scenario.plan,
                kept=self.kept if kept is None else kept,
                correlated=dependence.names if dependence else (),
                dtype=self.dtype,
                sharding=_sharding(self.devices, count),
            )
            return made

    def provenance(self, seconds: Mapping[str, float]) -> Provenance:
        """How the draws came about."""
        return Provenance(
            sampler=self.points.sampler,
            seed=self.points.seed,
            replicates=self.points.replicates,
            size=self.points.size,
            precision=self.dtype.name,
            device=f"{self.devices[0].device_kind}, {_cores(self.devices)}",
            versions=versions(),
            seconds=seconds,
        )


def prepare(
    scenario: Scenario,
    draws: int,
    *,
    seed: int,
    sampler: str,
    precision: str,
    device: str,
    chunk: int | None,
) -> Job:
    """Check the options and make everything ready that does not change from chunk to chunk."""
    if precision not in ("float64", "float32"):
        raise UsageError(f"precision {precision!r} is neither float64 nor float32")
    if chunk is not None and chunk < 1:
        raise UsageError(f"a chunk holds at least one draw, not {chunk}")
    points = point_set(sampler, draws, seed)
    dtype = np.dtype(precision)
    plan = scenario.plan
    devices = devices_of(device)
    usual = _CHUNK_ON_CPU if devices[0].platform == "cpu" else _CHUNK
    each = max(1, (chunk or usual * len(devices)) // points.replicates)
    return Job(
        scenario,
        points,
        dtype,
        devices,
        count=1 << (min(each, points.size).bit_length() - 1),
        kept=(*scenario.uncertain, *(name for name in plan.outputs if not scenario.certain(name))),
        certain=certain_values(scenario),
        beliefs=beliefs_of(scenario, points, dtype),
    )


def beliefs_of(scenario: Scenario, points: PointSet, dtype: np.dtype[Any]) -> Beliefs:
    """What a kernel is told of a scenario."""
    streams = {name: points.streams(name, COLUMNS.get(name, -1)) for name in scenario.uncertain}
    return Beliefs(streams, *numbers_of(scenario, dtype), luck_keys(points.seed, points.replicates))


def numbers_of(scenario: Scenario, dtype: np.dtype[Any]) -> tuple[Any, Any, Any]:
    """The quantile functions, the known values and the copula's factor, all of what differs between alike scenarios."""
    forms = {name: scenario.inputs[name].distribution.sampling_form() for name in scenario.uncertain}
    root = scenario.dependence.root() if scenario.dependence else np.zeros((0, 0))
    with jax.enable_x64(True):
        forms, known, root = jax.tree.map(lambda leaf: np.asarray(leaf, dtype), (forms, scenario.known, root))
    return forms, known, root


def versions(*also: str) -> dict[str, str]:
    """The version of every library that may change the numbers, and of some that may change those of a caller."""
    return {name: _version(name) for name in (*_DECISIVE, *also)}


@cache
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # run from a folder beside a cluster's own JAX
        return "not installed"


def certain_values(scenario: Scenario) -> dict[str, np.ndarray]:
    """The inputs that are known and what is computed from them alone, in float64 whatever the kernel's precision."""
    plan, known = scenario.plan, scenario.known
    there = {*plan.inputs, *(step.name for step in plan.steps)}
    values: dict[str, Any] = {name: np.float64(value) for name, value in known.items()}
    for step in plan.steps:
        taken = [name for name in step.inputs if name in there]
        if not step.random and all(name in values for name in taken):
            values[step.name] = step(**{name: values[name] for name in taken})
    return {name: np.asarray(values[name]) for name in values if name in {*known, *plan.outputs}}


def _check_memory(needed: int) -> None:
    """Refuse what would end in the operating system killing the process."""
    present = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    # Summaries sort a copy of one array at a time; half of the memory leaves room for that and for everybody else.
    if needed > present // 2:
        raise UsageError(
            f"that many draws take {needed / 2**30:,.1f} GiB and this machine has {present / 2**30:,.1f} GiB; "
            "ask for fewer draws, or for --precision float32"
        )


def devices_of(kind: str) -> list[jax.Device]:
    """The devices of a kind, which all take part."""
    if kind not in ("auto", "cpu", "gpu"):
        raise UsageError(f"device {kind!r} is none of auto, cpu, gpu")
    try:
        return jax.devices(None if kind == "auto" else kind)
    except RuntimeError:
        present = ", ".join(sorted({one.platform for one in jax.devices()}))
        raise UsageError(
            f"no {kind} is visible to JAX, only {present}; use --device {present}, or install JAX for your accelerator"
        ) from None


def _sharding(devices: list[jax.Device], count: int) -> NamedSharding | None:
    """All devices share a chunk evenly; a chunk that they cannot share stays on the first."""
    if len(devices) == 1 or count % len(devices):
        return None
    return NamedSharding(Mesh(np.array(devices), ("draws",)), PartitionSpec("draws"))


def _cores(devices: list[jax.Device]) -> str:
    if devices[0].platform == "cpu" and len(devices) == 1:
        return f"{os.cpu_count()} cores"
    return f"{len(devices)} {'device' if len(devices) == 1 else 'devices'}"


def check_possible(values: Mapping[str, np.ndarray], scenario: Scenario) -> None:
    """Refuse draws that cannot exist: undefined, infinite without reason, or below what the quantity can be."""
    computed = [step.name for step in scenario.plan.steps if step.name in values]
    for name in dict.fromkeys((*scenario.inputs, *computed)):
        if name not in values:
            continue
        array, quantity = values[name], QUANTITIES[name]
        impossible = np.isnan(array) if scenario.plan.endless(name) else ~np.isfinite(array)
        impossible |= array <= quantity.low if quantity.open in ("low", "both") else array < quantity.low
        if bad := int(np.count_nonzero(impossible)):
            kind = "input" if name in scenario.inputs else "output"
            raise SamplingError(
                f"{scenario.path}: {kind} {name} is infinite, undefined or not {quantity.limits} in {bad:,} of "
                f"{array.size:,} draws; "
                "an input is too large or too small for the arithmetic, or its tail reaches what cannot be: "
                "bound it with truncate, or use --precision float64"
            )
