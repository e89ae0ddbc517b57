"""The sampling engine: every replicate's points through quantile functions and formulas, in one jitted kernel."""

from __future__ import annotations

import importlib.metadata
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from uncertain_botec.distributions import PYTREE_CLASSES, Level
from uncertain_botec.draws import Draws, Provenance
from uncertain_botec.errors import SamplingError, UsageError
from uncertain_botec.estimators import Plan, evaluate
from uncertain_botec.sampling.luck import KernelLuck, luck_key
from uncertain_botec.sampling.points import Stream, point_set, uniforms
from uncertain_botec.scenario import Scenario
from uncertain_botec.vocabulary import COLUMNS, QUANTITIES

DEFAULT_DRAWS = 1 << 20

# Points that one call of the kernel evaluates unless the caller says otherwise: enough to keep every core busy, few
# enough that the arrays in flight stay small beside the draws themselves.
_CHUNK = 1 << 20

# Libraries whose version may change the numbers.
_DECISIVE = ("uncertain-botec", "jax", "jaxlib", "numpy", "scipy")

for _class in PYTREE_CLASSES:
    jax.tree_util.register_dataclass(_class, [*_class.data_fields], [*_class.meta_fields])


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
    if precision not in ("float64", "float32"):
        raise UsageError(f"precision {precision!r} is neither float64 nor float32")
    if chunk is not None and chunk < 1:
        raise UsageError(f"a chunk holds at least one draw, not {chunk}")
    points = point_set(sampler, draws, seed)
    dtype = np.dtype(precision)
    shape = (points.replicates, points.size)
    plan = scenario.plan
    drawn = (*scenario.uncertain, *(name for name in plan.outputs if not scenario.certain(name)))
    _check_memory(len(drawn) * points.draws * dtype.itemsize)
    values = {name: np.empty(shape, dtype) for name in drawn}

    devices = _devices(device)
    count = 1 << (min(chunk or _CHUNK, points.size).bit_length() - 1)
    sharding = _sharding(devices, count)
    root = scenario.dependence.root() if scenario.dependence else np.zeros((0, 0))
    forms = {name: scenario.inputs[name].distribution.sampling_form() for name in scenario.uncertain}
    known = {name: one.distribution.support[0] for name, one in scenario.inputs.items() if one.known}
    ready = time.perf_counter()
    with jax.enable_x64(True), jax.default_device(devices[0]):
        beliefs = jax.tree.map(lambda leaf: np.asarray(leaf, dtype), (forms, known, root))
        for replicate in range(points.replicates):
            streams = {name: points.stream(name, COLUMNS.get(name, -1), replicate) for name in forms}
            for start in range(0, points.size, count):
                stop = min(start + count, points.size)
                results = _kernel(
                    streams,
                    *beliefs,
                    luck_key(seed, replicate),
                    np.uint32(start),
                    count=stop - start,
                    plan=plan,
                    kept=drawn,
                    correlated=scenario.dependence.names if scenario.dependence else (),
                    dtype=dtype,
                    sharding=sharding if stop - start == count else None,
                )
                for name, array in results.items():
                    values[name][replicate, start:stop] = array
                if progress is not None:
                    progress(stop - start)
    certain = _certain(plan, known)
    _check_possible(certain | values, scenario)
    finished = time.perf_counter()
    provenance = Provenance(
        sampler=sampler,
        seed=seed,
        replicates=points.replicates,
        size=points.size,
        precision=precision,
        device=f"{devices[0].device_kind}, {_cores(devices)}",
        versions={name: importlib.metadata.version(name) for name in _DECISIVE},
        seconds={"prepare": ready - started, "draw": finished - ready},
    )
    constants = {name: np.broadcast_to(value, shape) for name, value in certain.items()}
    return Draws(scenario, constants | values, provenance)


@partial(jax.jit, static_argnames=("count", "plan", "kept", "correlated", "dtype", "sharding"))
def _kernel(
    streams: Mapping[str, Stream],
    forms: Mapping[str, Any],
    known: Mapping[str, jax.Array],
    factor: jax.Array,
    key: jax.Array,
    start: jax.Array,
    *,
    count: int,
    plan: Plan,
    kept: tuple[str, ...],
    correlated: tuple[str, ...],
    dtype: Any,
    sharding: NamedSharding | None,
) -> dict[str, jax.Array]:
    """One 1-D array per name from the counters [start, start + count), fused into one loop over draws.

    The parameters of all distributions are arguments, so that scenarios that differ in numbers only share the compiled
    kernel. Arrays are never stacked: that made XLA's code for CPUs ten times slower.
    """
    index = start + jnp.arange(count, dtype=jnp.uint32)
    if sharding is not None:
        index = jax.lax.with_sharding_constraint(index, sharding)
    levels = {name: _level(uniforms(stream, index, dtype)) for name, stream in streams.items()}
    levels |= _correlate(levels, correlated, factor)
    inputs = {name: form.quantile(levels[name]) for name, form in forms.items()}
    results = evaluate(plan, {**known, **inputs}, KernelLuck(key, index, dtype))
    return {name: results[name] for name in kept}


def _level(u: jax.Array) -> Level:
    # erf_inv rather than ndtri: one rational approximation without branches, accurate to rounding in both tails because
    # 2 u - 1 is exact for the points used here.
    return Level(u, jnp.sqrt(jnp.asarray(2.0, u.dtype)) * jax.lax.erf_inv(2 * u - 1))


def _correlate(levels: Mapping[str, Level], names: tuple[str, ...], factor: jax.Array) -> dict[str, Level]:
    """Normal scores z = L z', with the copula's lower triangular factor L applied term by term."""
    scores = [levels[name].z for name in names]
    mixed = {
        name: sum(factor[row, column] * scores[column] for column in range(row + 1)) for row, name in enumerate(names)
    }
    return {name: Level(jax.scipy.special.ndtr(z), z) for name, z in mixed.items()}


def _certain(plan: Plan, known: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The inputs that are known and what is computed from them alone, in float64 whatever the kernel's precision."""
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


def _devices(kind: str) -> list[jax.Device]:
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


def _check_possible(values: Mapping[str, np.ndarray], scenario: Scenario) -> None:
    """Refuse draws that cannot exist: undefined, infinite without reason, or below what the quantity can be."""
    computed = [step.name for step in scenario.plan.steps if step.name in values]
    for name in dict.fromkeys((*scenario.inputs, *computed)):
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
