"""Streams of draws: what is said of them is what sorting all of them says, in bounded memory, as accurate as asked."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from uncertain_botec import Scenario, load_scenario, sample
from uncertain_botec.errors import SamplingError, UsageError
from uncertain_botec.sampling.points import SAMPLERS
from uncertain_botec.sampling.processes import Team
from uncertain_botec.sampling.streaming import KEPT, Goal, stream
from uncertain_botec.tallies import LEVELS, Tallies, tallies_of

Make = Callable[..., Scenario]

INPUTS = {
    "parameters": '"70e9 parameter"',
    "tokens": '{ family = "lognormal", median = "2e12 token", sigma = 0.2 }',
    "accelerators": "2048",
    "peak_flop_per_s": '"312 TFLOP/s"',
    "mfu": '{ family = "lognormal", median = 0.25, sigma = 0.2 }',
    "failure_overhead": "0",
    "price_per_accelerator_hour": '{ family = "lognormal", median = "2 USD/hour", sigma = 0.3 }',
}
DISCRETE = {
    "tokens": '{ family = "choice", values = ["1e12 token", "2e12 token"], weights = [0.3, 0.7] }',
    "mfu": '{ family = "choice", values = [0.3, 0.4], weights = [0.6, 0.4] }',
    "price_per_accelerator_hour": '{ family = "choice", values = ["2 USD/hour", "4 USD/hour"], weights = [0.9, 0.1] }',
}
HELD_AGAINST = """[limits]
budget = "3e6 USD"
deadline = "50 day"
[observed]
accelerator_hours = "1.7e6 accelerator-hour"
cost = "3e6 USD"
"""


def text_of(changes: Mapping[str, str | None] | None = None) -> str:
    """A prior file with the usual inputs, some of them replaced."""
    lines = "\n".join(f"{name} = {stated}" for name, stated in (INPUTS | dict(changes or {})).items() if stated)
    return f'title = "Test"\nestimator = "training"\n[inputs]\n{lines}\n{HELD_AGAINST}'


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A maker of scenarios."""

    def made(changes: Mapping[str, str | None] | None = None) -> Scenario:
        file = tmp_path / "scenario.toml"
        file.write_text(text_of(changes), "utf-8")
        return load_scenario(file)

    return made


def counted(scenario: Scenario, draws: int, **options: Any) -> Tallies:
    """All draws streamed, none of them smoothed."""
    return stream(scenario, Goal(draws, None), smooth=False, **options)


def assert_same(one: Tallies, other: Tallies, means: float = 1e-12) -> None:
    """Fail unless quantiles and all counts are equal to the last bit, and errors and means but for rounding."""
    assert list(one.outputs) == list(other.outputs)
    assert one.outputs
    for name, mine in one.outputs.items():
        theirs = other.outputs[name]
        assert np.array_equal(mine.quantiles, theirs.quantiles), name
        # The replicates' quantiles are equal, but a spread is added up in the order in which they lie in memory.
        assert np.all(np.abs(mine.errors - theirs.errors) <= 1e-15 * np.abs(mine.quantiles)), name
        assert mine.mean == pytest.approx(theirs.mean, rel=means), name
        # The means of replicates differ by their error, which their rounding is to be seen against.
        assert mine.mean_error == pytest.approx(theirs.mean_error, rel=1e-6, abs=means * abs(theirs.mean)), name
        assert mine.endless == pytest.approx(theirs.endless, abs=1e-15), name
        assert mine.smoothed == theirs.smoothed == ""
    for ours, their in ((one.limits, other.limits), (one.observed, other.observed)):
        assert list(ours) == list(their)
        for name, share in ours.items():
            assert share.draws == their[name].draws
            assert np.array_equal(share.at_or_below, their[name].at_or_below), name
            assert np.array_equal(share.below, their[name].below), name


# --- the same as all draws at hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_streamed_draws_are_those_of_sample(sampler: str, precision: str, make: Make) -> None:
    """Over a million draws, eight times the first stage and four times what is kept, nothing differs but rounding."""
    scenario, options = make(), {"seed": 3, "sampler": sampler, "precision": precision}
    streamed, drawn = counted(scenario, 1 << 20, **options), tallies_of(sample(scenario, 1 << 20, **options))
    assert_same(streamed, drawn, 1e-12)
    assert set(streamed.limits) == {"budget", "deadline"}
    assert set(streamed.observed) == {"accelerator_hours", "cost"}
    assert (streamed.provenance.draws, streamed.partial, streamed.accuracy) == (1 << 20, False, None)
    assert len(streamed.sample) == KEPT


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_discrete_outputs(sampler: str, make: Make) -> None:
    """An output of eight values, one of whose quantiles lies where two of them meet, is counted exactly too."""
    scenario = make(DISCRETE)
    assert_same(counted(scenario, 1 << 19, sampler=sampler), tallies_of(sample(scenario, 1 << 19, sampler=sampler)))


@pytest.mark.parametrize("draws", [16, 1000, 1 << 12, (1 << 17) - 1, 1 << 17, (1 << 17) + 1, 1 << 18])
def test_any_number_of_draws(draws: int, make: Make) -> None:
    """Below, at and above one stage: as many as asked for, rounded up to a power of two."""
    scenario = make()
    streamed = counted(scenario, draws)
    assert streamed.provenance.draws == max(32, 1 << (draws - 1).bit_length())
    drawn = tallies_of(sample(scenario, streamed.provenance.draws))
    assert_same(streamed, drawn)
    if len(streamed.sample) == streamed.provenance.draws:
        for name, tally in streamed.outputs.items():
            assert tally.sd == pytest.approx(drawn.outputs[name].sd, rel=1e-12)
        for name in scenario.uncertain:
            assert np.array_equal(np.sort(streamed.sample.values[name]), np.sort(drawn.sample.values[name]))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("chunk", [1 << 12, 50_000, 1 << 19])
def test_chunks_do_not_matter(sampler: str, chunk: int, make: Make) -> None:
    """Small, odd and large chunks: the same quantiles and counts to the last bit."""
    scenario = make()
    assert_same(counted(scenario, 1 << 19, sampler=sampler, chunk=chunk), counted(scenario, 1 << 19, sampler=sampler))


def test_what_is_kept_is_a_point_set(make: Make) -> None:
    """The draws that are kept are those of a sample of that size, so that their rank correlations are too."""
    scenario = make()
    kept = counted(scenario, 1 << 20).sample
    fewer = sample(scenario, KEPT)
    for name, values in fewer.values.items():
        assert np.array_equal(np.sort(kept.values[name], axis=1), np.sort(values, axis=1)), name


def test_some_outputs_only(make: Make) -> None:
    """What is not looked at has no tally, and what is has the same as ever."""
    scenario = make()
    every = counted(scenario, 1 << 18)
    one = stream(scenario, Goal(1 << 18, None, outputs=("cost",)), smooth=False)
    assert list(one.outputs) == ["cost"]
    assert set(one.limits) == {"budget"}
    assert np.array_equal(one.outputs["cost"].quantiles, every.outputs["cost"].quantiles)


def test_nothing_uncertain(make: Make) -> None:
    """A scenario that is known exactly has nothing to count, and its limits nothing to err in."""
    fixed = {"tokens": '"2e12 token"', "mfu": "0.25", "price_per_accelerator_hour": '"2 USD/hour"'}
    one = stream(make(fixed), Goal())
    assert (dict(one.outputs), dict(one.limits), one.partial) == ({}, {}, False)


# --- an accuracy ------------------------------------------------------------------------------------------------------


def reached(tallies: Tallies) -> float:
    """The largest relative standard error of any quantile."""
    return max(float(np.max(one.errors / np.abs(one.quantiles))) for one in tallies.outputs.values())


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_fewest_draws_that_are_accurate_enough(sampler: str, make: Make) -> None:
    """The errors reached are at most what was asked for, with the least power of two at which they are."""
    scenario = make()
    errors = {1 << bits: reached(counted(scenario, 1 << bits, sampler=sampler)) for bits in (17, 18, 19, 20)}
    accuracy = errors[1 << 19] * 1.0001
    found = stream(scenario, Goal(accuracy=accuracy), sampler=sampler, smooth=False)
    assert found.provenance.draws == min(draws for draws, error in errors.items() if error <= accuracy) > 1 << 17
    assert reached(found) == pytest.approx(errors[found.provenance.draws], rel=1e-12)
    assert (found.accuracy, found.partial) == (accuracy, False)


def test_an_accuracy_out_of_reach(make: Make) -> None:
    """Where the draws that are allowed do not do, all of them are drawn and the errors say how far it came."""
    found = stream(make(), Goal(1 << 18, 1e-6), smooth=False)
    assert (found.provenance.draws, found.partial, found.accuracy) == (1 << 18, False, 1e-6)
    assert reached(found) > 1e-6


@pytest.mark.parametrize("accuracy", [0.0, 1.0, -1e-3, 2.0, math.nan])
def test_accuracies_that_cannot_be(accuracy: float, make: Make) -> None:
    """Nothing is exact, and an error as large as the number says nothing."""
    with pytest.raises(UsageError, match="accuracy"):
        stream(make(), Goal(1 << 12, accuracy))


# --- trouble ----------------------------------------------------------------------------------------------------------


def test_what_overflows_late_is_refused(make: Make) -> None:
    """An output too large for float32 in one draw of a million is refused, though the first stage has none of them."""
    wide = {"price_per_accelerator_hour": '{ family = "lognormal", median = "2 USD/hour", sigma = 15.5 }'}
    scenario = make(wide)
    assert counted(scenario, 1 << 17, precision="float32").outputs["cost"].endless == 0
    for drawing in (sample, counted):
        with pytest.raises(SamplingError, match="output cost is infinite"):
            drawing(scenario, 1 << 22, precision="float32")


def test_progress_tells_what_is_drawn(make: Make) -> None:
    """The draws so far rise to what is planned."""
    told: list[tuple[int, int]] = []
    counted(make(), 1 << 19, progress=lambda drawn, planned: told.append((drawn, planned)))
    drawn = [one for one, _ in told]
    assert drawn == sorted(set(drawn))
    assert told[-1] == (1 << 19, 1 << 19)
    assert {planned for _, planned in told} == {1 << 19}


# --- several at once --------------------------------------------------------------------------------------------------


class Threads(Team):
    """Threads that stand in for processes: a stage's arrays are exchanged where all meet."""

    def __init__(self, rank: int, size: int, meeting: threading.Barrier, table: list[Any]) -> None:
        super().__init__(rank, size)
        self._meeting, self._table = meeting, table

    def gather(self, parts: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
        self._table[self.rank] = [np.array(part) for part in parts]
        self._meeting.wait(60)
        gathered = [list(one) for one in self._table]
        self._meeting.wait(60)
        return gathered


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("sampler", ["lattice", "sobol"])
def test_processes_that_share_the_work(sampler: str, size: int, make: Make) -> None:
    """Each draws a part of what is not kept, and all say to the last bit what one would."""
    scenario = make()
    alone = counted(scenario, 1 << 20, sampler=sampler)
    meeting, table = threading.Barrier(size), [None] * size
    with ThreadPoolExecutor(size) as pool:
        teams = [Threads(rank, size, meeting, table) for rank in range(size)]
        together = list(pool.map(lambda team: counted(scenario, 1 << 20, sampler=sampler, team=team), teams))
    for one in together:
        assert_same(one, alone)
        assert one.provenance.draws == 1 << 20


# --- interrupted, and large -------------------------------------------------------------------------------------------

INTERRUPTED = """
import os, signal, sys, time
from uncertain_botec import load_scenario
from uncertain_botec.sampling.streaming import Goal, stream
times = int(sys.argv[2])
told = False
def progress(drawn, planned):
    global told
    if drawn > 1 << 18 and not told:
        told = True
        print("drawing", flush=True)
        if times == 2:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
one = stream(load_scenario(sys.argv[1]), Goal(1 << 30, None), smooth=False, progress=progress)
cost = one.outputs["cost"]
print(one.partial, one.provenance.draws, cost.quantiles[1], cost.errors[1], len(one.sample), flush=True)
signal.raise_signal(signal.SIGINT)
"""


def begun(code: str, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A process of its own that runs some code on the usual scenario."""
    (folder / "scenario.toml").write_text(text_of(), "utf-8")
    command = [sys.executable, "-W", "error", "-c", code, str(folder / "scenario.toml"), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_interrupted_it_says_what_it_knows(tmp_path: Path) -> None:
    """Told to end, a long run ends soon, marked as partial, with estimates that err as they say."""
    with begun(INTERRUPTED, tmp_path, "1") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "drawing\n"
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    partial, draws, median, error, kept = output.split()
    assert partial == "True"
    assert 1 << 18 < int(draws) < 1 << 30
    assert int(kept) == KEPT
    exact = 6 * 70e9 * 2e12 / (312e12 * 0.25) / 3600 * 2
    assert abs(float(median) - exact) < 5 * float(error) < 0.01 * exact
    # Once it has ended an interrupt is raised as it was before.
    assert "KeyboardInterrupt" in errors
    assert process.returncode == -signal.SIGINT


def test_interrupted_twice_it_ends_at_once(tmp_path: Path) -> None:
    """Whoever does not want to wait for the chunk tells it again."""
    with begun(INTERRUPTED, tmp_path, "2") as process:
        output, errors = process.communicate(timeout=60)
    assert output == "drawing\n"
    assert "KeyboardInterrupt" in errors
    assert process.returncode == -signal.SIGINT


LARGE = """
import resource, sys
from uncertain_botec import load_scenario
from uncertain_botec.sampling.streaming import Goal, stream
scenario = load_scenario(sys.argv[1])
for bits in (24, 27):
    one = stream(scenario, Goal(1 << bits, None), precision="float32", smooth=False)
    cost = one.outputs["cost"]
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, one.provenance.draws, *cost.quantiles, *cost.errors)
"""


def test_memory_does_not_grow_with_draws(tmp_path: Path) -> None:
    """From 16 to 134 million draws the most that is ever held grows by less than 64 MiB, and P10 to P90 are true."""
    with begun(LARGE, tmp_path) as process:
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    rows = np.array([line.split() for line in output.splitlines()], float)
    assert list(rows[:, 1]) == [1 << 24, 1 << 27]
    assert rows[1, 0] - rows[0, 0] < 64 * 1024
    spread = math.sqrt(0.2**2 + 0.2**2 + 0.3**2)
    exact = 6 * 70e9 * 2e12 / (312e12 * 0.25) / 3600 * 2 * np.exp(spread * norm.ppf(list(LEVELS.values())))
    # float32 rounds each draw, by less than 1e-6 of it.
    assert np.all(np.abs(rows[:, 2:5] / exact - 1) < 5 * rows[:, 5:] / exact + 1e-6)
