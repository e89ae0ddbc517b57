"""Run-to-run luck: failures drawn inside the kernel, on top of uncertain rates."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from uncertain_botec import Scenario, load_scenario, sample, summarize
from uncertain_botec.formulas import reliability

# A run of about three weeks on 512 nodes; every number is known, so that only luck is left.
KNOWN = """
title     = "Luck"
estimator = "training"
failures  = "{failures}"

[inputs]
parameters                 = 7e9
tokens                     = "2e12 token"
accelerators               = {accelerators}
peak_flop_per_s            = "312 TFLOP/s"
mfu                        = 0.4
node_failure_rate          = "{rate} failure/node-day"
accelerators_per_node      = 8
restart_time               = "20 minute"
checkpoint_write_time      = "2 minute"
price_per_accelerator_hour = "2 USD/hour"

[limits]
deadline = "{deadline} day"
"""

CASES = {
    "hardly a failure": {"accelerators": 256, "rate": 0.001},
    "a dozen": {"accelerators": 512, "rate": 0.02},
    "hundreds": {"accelerators": 512, "rate": 0.6},
    "one accelerator": {"accelerators": 1, "rate": 0.01},
}


def load(folder: Path, failures: str, deadline: float = 30, **changes: float) -> Scenario:
    """The scenario with failures expected or simulated."""
    file = folder / f"{failures}.toml"
    file.write_text(KNOWN.format(failures=failures, deadline=deadline, **changes), "utf-8")
    return load_scenario(file)


@pytest.mark.parametrize("case", CASES)
def test_mean_of_simulated_runs_is_the_exact_formula(case: str, tmp_path: Path) -> None:
    """Half a million simulated runs have the mean that the formula gives, within five standard errors."""
    exact = sample(load(tmp_path, "expected", **CASES[case]), 64)["training_time"].flat[0]
    runs = sample(load(tmp_path, "simulated", **CASES[case]), 1 << 19, seed=5)["training_time"]
    error = runs.std(ddof=1) / math.sqrt(runs.size)
    assert error > 0
    assert abs(runs.mean() - exact) < 5 * error


def test_the_kernel_draws_the_law_of_the_formula(tmp_path: Path) -> None:
    """In the kernel and with NumPy's randomness, the same formula gives the same quantiles."""
    scenario = load(tmp_path, "simulated", **CASES["a dozen"])
    runs = np.sort(sample(scenario, 1 << 17, seed=2)["training_time"].ravel()) * 86400

    class NumpyLuck:
        generator = np.random.default_rng(3)

        def fold(self, step: object, state: object) -> object:
            state = tuple(np.broadcast_to(leaf, runs.shape) for leaf in state)  # type: ignore[attr-defined]
            while not state[0].all():
                state = step(state, self.generator.exponential(size=runs.shape))  # type: ignore[operator]
            return state

        def normal(self) -> object:
            return self.generator.standard_normal(runs.shape)

    work = 6 * 7e9 * 2e12 / (512 * 312e12 * 0.4)
    mtbf = 86400 / (64 * 0.02)
    tau = reliability.interval_by_daly(120.0, mtbf)
    told = np.sort(reliability.simulated_running_time(work, tau, 120.0, 1200.0, mtbf, luck=NumpyLuck()))
    for level in (0.05, 0.25, 0.5, 0.75, 0.95):
        share = (told <= runs[int(level * runs.size)]).mean()
        assert abs(share - level) < 5 * math.sqrt(2 * level * (1 - level) / runs.size) + 1e-3


def test_luck_is_reproducible_and_independent_of_chunks(tmp_path: Path) -> None:
    """The same seed gives the same runs in any chunks, another seed gives others, and replicates differ."""
    scenario = load(tmp_path, "simulated", **CASES["a dozen"])
    first = sample(scenario, 1 << 14, seed=1)["training_time"]
    np.testing.assert_allclose(sample(scenario, 1 << 14, seed=1, chunk=128)["training_time"], first, rtol=1e-12)
    assert np.mean(sample(scenario, 1 << 14, seed=2)["training_time"] == first) < 0.5
    assert np.mean(first[0] == first[1]) < 0.5
    assert abs(np.corrcoef(first[0], first[1])[0, 1]) < 4 / math.sqrt(first.shape[1])


DEVICES = """
import sys, numpy as np
from uncertain_botec import load_scenario, sample
np.save(sys.argv[2], sample(load_scenario(sys.argv[1]), 1 << 14, seed=1)["training_time"])
"""


def test_devices_do_not_change_luck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight devices simulate the runs that one does."""
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    scenario = load(tmp_path, "simulated", **CASES["a dozen"])
    place = tmp_path / "eight.npy"
    command = [sys.executable, "-W", "error", "-c", DEVICES, str(tmp_path / "simulated.toml"), str(place)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    np.testing.assert_allclose(np.load(place), sample(scenario, 1 << 14, seed=1)["training_time"], rtol=1e-12)


def test_luck_adds_spread_and_is_no_certainty(tmp_path: Path) -> None:
    """With every input known, the expected time is exact, and a single run's is a distribution with errors."""
    expected = summarize(sample(load(tmp_path, "expected", **CASES["a dozen"]), 1 << 14)).outputs["training_time"]
    assert expected.p10 == expected.p90
    summary = summarize(sample(load(tmp_path, "simulated", **CASES["a dozen"]), 1 << 14))
    simulated = summary.outputs["training_time"]
    assert simulated.p10 < expected.p50 < simulated.p90
    assert simulated.mcse["p50"] > 0
    assert "∞" not in str(summary)


def test_simulated_in_float32(tmp_path: Path) -> None:
    """Single precision draws the same law: the mean agrees to 1e-4."""
    scenario = load(tmp_path, "simulated", **CASES["hundreds"])
    double, single = (sample(scenario, 1 << 16, precision=name)["training_time"] for name in ("float64", "float32"))
    assert single.mean() == pytest.approx(double.mean(), rel=1e-4)


@pytest.mark.parametrize("failures", ["expected", "simulated"])
def test_a_run_that_never_finishes_says_so(failures: str, tmp_path: Path) -> None:
    """A checkpoint longer than the time between failures: infinite, no deadline is kept, and JSON stays JSON."""
    summary = summarize(sample(load(tmp_path, failures, accelerators=2048, rate=6), 1 << 12))
    time = summary.outputs["training_time"]
    assert time.p10 == time.p50 == time.p90 == time.mean == math.inf
    assert time.endless == 1
    assert summary.limits["deadline"].probability == 0
    said = str(summary)
    assert "Never finishes" in said
    assert re.search(r"\bnan\b", said) is None
    document = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert document["outputs"]["training_time"]["p50"] is None
    assert document["outputs"]["cost"]["endless"] == 1


def test_some_draws_that_never_finish(tmp_path: Path) -> None:
    """Where the rate is uncertain, the part of the draws that never finishes is told, and the others have quantiles."""
    file = tmp_path / "some.toml"
    rate = '{ family = "loguniform", low = "0.6 failure/node-day", high = "60 failure/node-day" }'
    text = KNOWN.format(failures="expected", deadline=1e9, accelerators=512, rate="RATE")
    file.write_text(text.replace('"RATE failure/node-day"', rate), "utf-8")
    summary = summarize(sample(load_scenario(file), 1 << 14))
    time = summary.outputs["training_time"]
    # d >= M from 86400 / (64 x 120) = 11.25 failures per node-day on: ln(60 / 11.25) / ln(100) of a loguniform rate.
    never = math.log(60 / 11.25) / math.log(100)
    assert time.endless == pytest.approx(never, abs=1e-3)
    assert math.isfinite(time.p50)
    assert time.p90 == math.inf
    assert math.isfinite(time.mean)
    assert summary.limits["deadline"].probability == pytest.approx(1 - never, abs=1e-3)
    assert "Never finishes" in str(summary)
