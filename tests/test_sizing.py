"""Cluster sizes: the smallest that fits and the smallest in time, against closed forms and plain searches."""

from __future__ import annotations

import json
import math
import weakref
from pathlib import Path
from typing import Any

import pytest
from scipy.special import ndtr, ndtri

from uncertain_botec import Draws, Scenario, load_scenario, sample, size, summarize
from uncertain_botec.errors import UsageError
from uncertain_botec.sampling import engine

FLOP = 6 * 7e9 * 2e12
PEAK = 312e12
DAY = 86400.0

SIMPLE = """
title     = "Sizes"
estimator = "training"

[inputs]
parameters                 = 7e9
tokens                     = "2e12 token"
accelerators               = {accelerators}
peak_flop_per_s            = "312 TFLOP/s"
mfu                        = {mfu}
failure_overhead           = 0.1
price_per_accelerator_hour = "2 USD/hour"
{more}

[limits]
deadline = "20 day"
"""

MEMORY = """
total_parameters               = 7e9
layers                         = 32
hidden_size                    = 4096
activation_width               = 49152
vocabulary_size                = 32000
sequence_length                = 4096
micro_batch                    = 1
tensor_parallel                = 2
pipeline_parallel              = 4
pipeline_interleave            = 1
sequence_parallel              = 1
zero_stage                     = 1
accelerator_memory             = "40 GB"
usable_memory_fraction         = {usable}
"""


def load(folder: Path, head: str = "", accelerators: str = "64", mfu: str = "0.4", more: str = "") -> Scenario:
    """A scenario of known inputs unless others are given."""
    file = folder / "run.toml"
    file.write_text(head + SIMPLE.format(accelerators=accelerators, mfu=mfu, more=more), "utf-8")
    return load_scenario(file)


def memory(usable: str = "0.9") -> tuple[str, str]:
    """A memory section: what stands before everything, and what stands among the inputs."""
    return 'optimizer = "adam"\nrecompute = "selective"\n', MEMORY.format(usable=usable)


def test_smallest_in_time_of_known_inputs(tmp_path: Path) -> None:
    """The smallest whole n with C (1 + f) / (n P u) <= deadline, to the accelerator."""
    exact = FLOP * 1.1 / (PEAK * 0.4 * 20 * DAY)
    sizing = size(load(tmp_path), draws=64)
    assert sizing.in_time == math.ceil(exact)
    assert sizing.smallest == sizing.in_time
    assert sizing.granularity == 1


def test_smallest_in_time_of_a_lognormal_utilisation(tmp_path: Path) -> None:
    """With a lognormal MFU the chance of being in time is a normal tail, and 90 % of it a closed form."""
    scenario = load(tmp_path, mfu='{ family = "lognormal", median = 0.3, sigma = 0.1 }')
    exact = FLOP * 1.1 / (PEAK * 0.3 * 20 * DAY) * math.exp(0.1 * ndtri(0.9))
    sizing = size(scenario, draws=1 << 16)
    assert sizing.in_time is not None
    assert sizing.in_time == pytest.approx(exact, rel=2e-3, abs=1)
    for one in sizing.sizes:
        chance = ndtr(math.log(20 * DAY * one.accelerators * PEAK * 0.3 / (FLOP * 1.1)) / 0.1)
        assert one.limits["deadline"].probability == pytest.approx(chance, abs=1e-3)


def test_sizes_are_forecasts(tmp_path: Path) -> None:
    """A size is what the forecast with that many accelerators says, with the same seed."""
    scenario = load(tmp_path, mfu='{ family = "logit-normal", p10 = 0.3, p90 = 0.5 }')
    found = {one.accelerators: one for one in size(scenario, [64, 256], draws=1 << 12, seed=3).sizes}
    for number in (64, 256):
        other = load_scenario(tmp_path / "run.toml", [f"inputs.accelerators={number}"])
        outputs = summarize(sample(other, 1 << 12, seed=3)).outputs
        assert found[number].outputs == {name: outputs[name] for name in ("training_time", "cost")}


def test_ladder(tmp_path: Path) -> None:
    """Without sizes, powers of two from an eighth of the stated number to eight times it."""
    numbers = [one.accelerators for one in size(load(tmp_path), draws=64).sizes]
    assert {8, 16, 32, 64, 128, 256, 512} <= {*numbers}
    assert numbers == sorted({*numbers})


@pytest.mark.parametrize("usable", ["0.9", '{ family = "uniform", low = 0.4, high = 0.95 }'])
def test_smallest_that_fits_by_trying_every_size(usable: str, tmp_path: Path) -> None:
    """The smallest cluster that fits is the first multiple of the layout whose memory suffices with 90 %."""
    head, more = memory(usable)
    scenario = load(tmp_path, head, more=more)
    sizing = size(scenario, draws=1 << 12)
    assert sizing.granularity == 8
    for number in range(8, 4096, 8):
        other = load_scenario(tmp_path / "run.toml", [f"inputs.accelerators={number}"])
        if summarize(sample(other, 1 << 12)).limits["memory"].probability >= 0.9:
            break
    assert sizing.fits == number
    assert sizing.smallest == max(number, sizing.in_time or 0)
    assert all(one.accelerators % 8 == 0 for one in sizing.sizes)


def test_a_layout_that_never_fits(tmp_path: Path) -> None:
    """Where weights and activations alone are too much, no number of accelerators helps, and that is said."""
    head, more = memory("0.1")
    sizing = size(load(tmp_path, head, more=more), draws=64)
    assert sizing.fits is None
    assert sizing.smallest is None
    assert sizing.unmet == ("memory",)
    assert any("no number of accelerators" in note for note in sizing.notes)


def test_sizes_too_small_for_the_layout(tmp_path: Path) -> None:
    """Four accelerators hold no replica of two by four, and are left out with a note; alone they are an error."""
    head, more = memory()
    scenario = load(tmp_path, head, more=more)
    sizing = size(scenario, [4, 64], draws=64)
    assert 4 not in [one.accelerators for one in sizing.sizes]
    assert any("4 accelerators hold no replica" in note for note in sizing.notes)
    with pytest.raises(UsageError, match="below 8"):
        size(scenario, [4], draws=64)


FAILING = """
node_failure_rate     = "0.5 failure/node-day"
accelerators_per_node = 8
restart_time          = "1 hour"
checkpoint_write_time = "5 minute"
"""


def test_more_accelerators_need_not_be_sooner(tmp_path: Path) -> None:
    """Where failures outgrow the speed-up, no size keeps a tight deadline, and the search ends and says so."""
    text = SIMPLE.format(accelerators=64, mfu=0.4, more=FAILING).replace("failure_overhead           = 0.1\n", "")
    file = tmp_path / "run.toml"
    file.write_text(text.replace('"20 day"', '"1 hour"'), "utf-8")
    sizing = size(load_scenario(file), draws=64)
    assert sizing.in_time is None
    assert sizing.unmet == ("deadline",)
    assert any("no size keeps the deadline" in note for note in sizing.notes)
    assert sizing.granularity == 8


def late_when_large(folder: Path, deadline: str, head: str = "", more: str = "") -> Scenario:
    """A run that is soonest on about 3000 accelerators, in 8.3 days; more of them fail too often."""
    failing = FAILING.replace("0.5 failure", "0.05 failure")
    text = head + SIMPLE.format(accelerators=64, mfu=0.4, more=failing + more)
    file = folder / "run.toml"
    file.write_text(text.replace("failure_overhead           = 0.1\n", "").replace("20 day", deadline), "utf-8")
    return load_scenario(file)


def days(folder: Path, number: int) -> float:
    """The training time that a forecast on this many accelerators gives, everything being known."""
    scenario = load_scenario(folder / "run.toml", [f"inputs.accelerators={number}"])
    return summarize(sample(scenario, 64)).outputs["training_time"].p50


@pytest.mark.parametrize("sizes", [None, [64], [3000], [16384], [100_000]])
def test_a_window_between_powers_of_two(sizes: list[int] | None, tmp_path: Path) -> None:
    """2048 and 4096 accelerators are late and some between are not: the first is found, whatever sizes are shown."""
    scenario = late_when_large(tmp_path, "8.5 day")
    assert min(days(tmp_path, 2048), days(tmp_path, 4096)) > 8.5
    first = next(number for number in range(2048, 4096, 8) if days(tmp_path, number) <= 8.5)
    sizing = size(scenario, sizes, draws=64)
    assert sizing.in_time == sizing.smallest == first
    assert sizing.unmet == ()


def test_the_size_that_comes_nearest(tmp_path: Path) -> None:
    """Where none is in time, the size named takes no longer than the best by trial, to half a percent."""
    sizing = size(late_when_large(tmp_path, "8 day"), draws=64)
    assert sizing.in_time is None
    (note,) = (note for note in sizing.notes if "come nearest" in note)
    named = int(note.partition("about ")[2].partition(" ")[0].replace(",", ""))
    assert days(tmp_path, named) <= 1.005 * min(days(tmp_path, number) for number in range(2048, 4096, 64))


@pytest.mark.parametrize(("needs", "both"), [(600, 600), (20_000, None)])
def test_large_enough_may_be_too_large(needs: int, both: int | None, tmp_path: Path) -> None:
    """Where only clusters fit that fail too often to be in time, no size does both, though some size does each."""
    head, more = memory()
    more = more.replace("zero_stage                     = 1", "zero_stage = 3")
    roomy = summarize(sample(late_when_large(tmp_path, "20 day", head, more), 64)).outputs
    rest = roomy["activation_memory"].p50 + roomy["logit_memory"].p50
    # Stage 3 shards all 16 bytes per parameter; 90 % of the memory is usable.
    more = more.replace("40 GB", f"{(rest + 7 * 16 / (needs - 1)) / 0.9:.9f} GB")
    sizing = size(late_when_large(tmp_path, "20 day", head, more), draws=64)
    assert sizing.fits == needs
    assert sizing.in_time is not None
    assert sizing.in_time < 600
    assert sizing.smallest == both
    assert sizing.unmet == (() if both else ("memory and deadline at once",))
    assert any("no size that fits keeps the deadline" in note for note in sizing.notes) == (both is None)


def test_the_smallest_in_time_is_a_multiple(tmp_path: Path) -> None:
    """Where 414 accelerators are enough and come in eights, it is 416, though 415 are asked for and in time too."""
    head, more = memory()
    load(tmp_path, head, more=more)
    deadline = FLOP * 1.1 / (PEAK * 0.4 * 413.5 * DAY)
    file = tmp_path / "run.toml"
    file.write_text(file.read_text("utf-8").replace("20 day", f"{deadline!r} day"), "utf-8")
    sizing = size(load_scenario(file), [415], draws=64)
    assert sizing.in_time == 416
    assert 415 in [one.accelerators for one in sizing.sizes]


def test_an_uncertain_layout(tmp_path: Path) -> None:
    """Where two or eight accelerators share a layer, in four stages, sizes are multiples of what the larger takes."""
    head, more = memory()
    either = "{ family = 'choice', values = [2, 8], weights = [0.5, 0.5] }"
    more = more.replace("tensor_parallel                = 2", f"tensor_parallel = {either}")
    sizing = size(load(tmp_path, head, more=more), draws=64)
    assert sizing.granularity == 32
    assert all(one.accelerators % 32 == 0 for one in sizing.sizes)


def test_draws_are_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one size is drawn, no other's draws are held but the first's, however long the search."""
    made: list[weakref.ref[Draws]] = []
    held: list[int] = []

    def counting(*arguments: Any, **options: Any) -> Draws:
        held.append(sum(one() is not None for one in made))
        drawn = sample(*arguments, **options)
        made.append(weakref.ref(drawn))
        return drawn

    monkeypatch.setattr(engine, "sample", counting)
    size(load(tmp_path), draws=64)
    assert len(made) > 10
    assert max(held) <= 1


def test_correlated_accelerators(tmp_path: Path) -> None:
    """An uncertain number of accelerators is replaced, its correlations with it; the others stay."""
    correlations = '[[correlations]]\nbetween = ["accelerators", "mfu"]\nspearman = 0.5\n'
    accelerators = '{ family = "lognormal", median = 64, sigma = 0.3 }'
    mfu = '{ family = "lognormal", median = 0.3, sigma = 0.1 }'
    scenario = load(tmp_path, accelerators=accelerators, mfu=mfu, more=correlations)
    sizing = size(scenario, [64], draws=1 << 12)
    alone = size(load(tmp_path, mfu=mfu), [64], draws=1 << 12)
    assert sizing.sizes[0].outputs["training_time"].p90 == pytest.approx(
        alone.sizes[0].outputs["training_time"].p90, rel=1e-3
    )
    assert any("uncertain in the file" in note for note in sizing.notes)


def test_json(tmp_path: Path) -> None:
    """The document is JSON with stable keys."""
    head, more = memory()
    document = json.loads(json.dumps(size(load(tmp_path, head, more=more), draws=64).to_dict(), allow_nan=False))
    assert list(document) == [
        "schema",
        "scenario",
        "choices",
        "confidence",
        "granularity",
        "sizes",
        "smallest_that_fits",
        "smallest_in_time",
        "smallest",
        "unmet",
        "notes",
    ]
    assert document["schema"] == "uncertain-botec/size/1"
    assert list(document["sizes"][0]) == ["accelerators", "outputs", "limits", "finishes"]


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, math.nan])
def test_confidence_is_a_probability(confidence: float, tmp_path: Path) -> None:
    """Zero, one and what is no number are refused."""
    with pytest.raises(UsageError, match="between 0 and 1"):
        size(load(tmp_path), confidence=confidence)


@pytest.mark.parametrize("sizes", [[0], [-8], [1 << 60]])
def test_sizes_are_whole_positive_numbers(sizes: list[int], tmp_path: Path) -> None:
    """None, negative and absurd numbers of accelerators are refused."""
    with pytest.raises(UsageError, match="whole numbers of accelerators"):
        size(load(tmp_path), sizes)


def test_nothing_to_size() -> None:
    """A network by hand has no accelerators."""
    with pytest.raises(UsageError, match="nothing to size"):
        size(load_scenario("toy-network-2-3-1"))
