"""Accuracy and time per call once everything is imported and compiled."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import EVERYTHING, P90_COST, SIMPLE, draws_for
from uncertain_botec import load_scenario, sample, summarize

SAMPLERS = ("lattice", "sobol", "monte-carlo")
SIZES = (1 << 14, 1 << 17, 1 << 20)
SEEDS = range(1, 17)
DRAWS = 1 << 20
PEERS = ("numpy", "squigglepy")

Row = dict[str, Any]


def accuracy(scenario: Path) -> list[Row]:
    """Root mean square relative error of P90 of cost over the seeds, and seconds for draws and quantiles."""
    loaded = load_scenario(str(scenario))

    def ours(sampler: str) -> Callable[[int, int], float]:
        return lambda n, seed: summarize(sample(loaded, n, seed=seed, sampler=sampler)).outputs["cost"].p90

    contestants = {f"botec {sampler}": ours(sampler) for sampler in SAMPLERS}
    numpy = importlib.import_module("benchmarks.numpy_training_cost")
    contestants["NumPy"] = lambda n, seed: float(numpy.quantiles(numpy.draw(n, seed))[1, 2])
    rows = []
    for size in SIZES:
        errors: dict[str, list[float]] = {name: [] for name in contestants}
        seconds: dict[str, list[float]] = {name: [] for name in contestants}
        for p90 in contestants.values():
            p90(size, 0)  # compiles
        for seed in SEEDS:
            for name, p90 in contestants.items():
                started = time.perf_counter()
                estimate = p90(size, seed)
                seconds[name].append(time.perf_counter() - started)
                errors[name].append(estimate / P90_COST - 1)
        for name in contestants:
            rms = math.sqrt(sum(error**2 for error in errors[name]) / len(SEEDS))
            rows.append(
                {
                    "contestant": name,
                    "draws": size,
                    "rms_relative_error": rms,
                    "worth_independent_draws": draws_for(rms),
                    "median_s": median(seconds[name]),
                    "min_s": min(seconds[name]),
                }
            )
    return rows


def everything(folder: Path, repeats: int) -> list[Row]:
    """Nanoseconds per draw of a simple run, of everything that can be computed, and of simulated failures."""
    scenarios = {"simple: 6 N D, time, cost": load_scenario(_simple(folder))}
    for failures in ("expected", "simulated"):
        file = folder / f"{failures}.toml"
        file.write_text(EVERYTHING.format(failures=failures), "utf-8")
        scenarios[f"everything, failures {failures}"] = load_scenario(file)
    times: dict[str, list[float]] = {name: [] for name in scenarios}
    for turn in range(repeats + 1):
        for name, one in scenarios.items():
            started = time.perf_counter()
            sample(one, DRAWS)
            if turn:  # the first one compiles
                times[name].append(1e9 * (time.perf_counter() - started) / DRAWS)
    simple = next(iter(times.values()))
    return [
        {
            "scenario": name,
            "uncertain_inputs": len(scenarios[name].uncertain),
            "outputs": len(scenarios[name].plan.outputs),
            "sample_median_ns": median(each),
            "sample_min_ns": min(each),
            # Turn by turn, because a slow moment slows all.
            "times_the_simple_one": median(one / base for one, base in zip(each, simple, strict=True)),
        }
        for name, each in times.items()
    ]


def _simple(folder: Path) -> Path:
    file = folder / "simple.toml"
    file.write_text(SIMPLE, "utf-8")
    return file


def speed(scenario: Path, repeats: int) -> list[Row]:
    """Nanoseconds per draw of drawing alone, and of drawing and summarising; peers that are missing have none."""
    loaded = load_scenario(str(scenario))

    def ours(precision: str) -> tuple[Callable[[], Any], Callable[[Any], float]]:
        return lambda: sample(loaded, DRAWS, precision=precision), lambda drawn: summarize(drawn).outputs["cost"].p90

    def theirs(module: Any) -> tuple[Callable[[], Any], Callable[[Any], float]]:
        return lambda: module.draw(DRAWS, 0), lambda drawn: float(module.quantiles(drawn)[1, 2])

    contestants = {f"botec lattice {precision}": ours(precision) for precision in ("float64", "float32")}
    missing = []
    for peer in PEERS:
        try:
            contestants[peer] = theirs(importlib.import_module(f"benchmarks.{peer}_training_cost"))
        except ModuleNotFoundError:
            missing.append(peer)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for turn in range(repeats + 1):
        for name, (draw, summary) in contestants.items():
            started = time.perf_counter()
            drawn = draw()
            ready = time.perf_counter()
            p90 = summary(drawn)
            finished = time.perf_counter()
            if abs(p90 / P90_COST - 1) > 0.01:
                raise SystemExit(f"{name} computes another model: P90 of cost {p90:,.0f}, not {P90_COST:,.0f} USD")
            if turn:  # the first one compiles
                times[name].append((ready - started, finished - started))
    rows: list[Row] = []
    for name, pairs in times.items():
        drawing, both = ([1e9 * t / DRAWS for t in column] for column in zip(*pairs, strict=True))
        rows.append(
            {
                "contestant": name,
                "sample_median_ns": median(drawing),
                "sample_min_ns": min(drawing),
                "sample_and_summarize_median_ns": median(both),
                "sample_and_summarize_min_ns": min(both),
            }
        )
    return rows + [{"contestant": peer} for peer in missing]
