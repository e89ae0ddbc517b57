"""What a sweep goes over: ranges, lists, choices and files, and every fault in them."""

from __future__ import annotations

import math

import pytest

from uncertain_botec.decisions.axes import MOST_POINTS, read_axes
from uncertain_botec.decisions.figures import DecisionError

INPUTS = ("accelerators", "mfu", "tokens")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("accelerators=256:8192:x2", [256, 512, 1024, 2048, 4096, 8192]),
        ("accelerators=256:8191:x2", [256, 512, 1024, 2048, 4096]),
        ("accelerators = 100 : 1000 : ×3", [100, 300, 900]),
        ("accelerators=3:20:x1.5", [3, 4, 7, 10, 15]),
        ("accelerators=1k:4k:1k", [1000, 2000, 3000, 4000]),
        ("accelerators=64:192:+64", [64, 128, 192]),
        ("accelerators=512", [512]),
        ("accelerators=512:512:x2", [512]),
        ("mfu=30 %,0.4", [0.3, 0.4]),
        ("mfu=0.1:1:0.3", [0.1, 0.4, 0.7, 1.0]),
        ("mfu=20 %:40 %:10 %", [0.2, 0.3, 0.4]),
        ("tokens=15T token,3e13 token", [15e12, 3e13]),
        ("tokens=1T token:4T token:x2", [1e12, 2e12, 4e12]),
        ("pue=1.1:1.3:0.1", [1.1, 1.2, 1.3]),
        ("training_time=30 day:60 day:15 day", [30 * 86400, 45 * 86400, 60 * 86400]),
    ],
)
def test_values(text: str, values: list[float]) -> None:
    """Values are in base units, in order, with the end of a range where a step leads to it."""
    (axis,) = read_axes([text], INPUTS)
    assert axis.kind == "input"
    assert axis.values == pytest.approx(values, rel=1e-12)


def test_words_and_files() -> None:
    """Choices take their words, files the names of shipped ones or paths; a market is a file of prices."""
    texts = [
        "flop_convention=6nd,exact",
        "price_market=neocloud-2026",
        "accelerator=h100-sxm,mine.toml",
        "precision=fp8",
    ]
    axes = read_axes(texts, INPUTS)
    assert [axis.kind for axis in axes] == ["choice", "file", "file", "choice"]
    assert axes[1].values == ("prices/neocloud-2026",)
    assert axes[2].values == ("accelerators/h100-sxm", "mine.toml")
    assert axes[2].labels == ("h100-sxm", "mine.toml")


def test_values_by_name() -> None:
    """A program states values by name: numbers in base units, or texts."""
    axes = read_axes({"accelerators": [256, 512.0], "tokens": ["2T token"], "purchase": ["spot"]}, INPUTS)
    assert [axis.values for axis in axes] == [(256.0, 512.0), (2e12,), ("spot",)]
    assert read_axes(axes, INPUTS) == axes


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["acelerators=1:8:x2"], "did you mean `accelerators`"),
        (["flop_convntion=6nd"], "did you mean `flop_convention`"),
        (["flop_convention=7nd"], "flop_convention is never 7nd"),
        (["prices=neocloud-2062"], "did you mean `neocloud-2026`"),
        (["accelerators=1:8"], "write 1:8:x2"),
        (["accelerators=8:1:x2"], "write accelerators=1:8:x2"),
        (["accelerators=1:8:x1"], "a factor of more than 1"),
        (["accelerators=1:8:-1"], "a step of more than 0"),
        (["accelerators=1:8:0"], "a step of more than 0"),
        (["accelerators=1.5"], "comes in whole numbers"),
        (["accelerators=-1"], "accelerators cannot be -1"),
        (["accelerators"], "this varies nothing"),
        (["accelerators="], "this varies nothing"),
        ([], "nothing is varied"),
        (["mfu=0.3,0.3"], "one value twice"),
        (["mfu=0.3", "mfu=0.4"], "mfu is varied twice"),
        (["mfu=30"], '"30 %"'),
        (["training_time=30"], "the unit is missing"),
        (["tokens=5 day"], "measures time"),
        (["staff_share=0 %:50 %:x2"], "a range that starts above 0"),
        (["accelerators=1:1e9:1"], "1,000,000,000 values"),
        (["accelerators=1:1e30:1"], "at most 100,000 points"),
        (["accelerators=1:1000:1", "mfu=0.1:0.3:0.001"], "1,000 x 201 = 201,000 points"),
    ],
)
def test_faults(texts: list[str], said: str) -> None:
    """What cannot be varied is an error that names it and says how to mend it."""
    with pytest.raises(DecisionError) as caught:
        read_axes(texts, INPUTS)
    assert said in str(caught.value)
    assert "--over" in str(caught.value)


def test_all_faults_at_once() -> None:
    """Faults of several axes are told together."""
    with pytest.raises(DecisionError) as caught:
        read_axes(["mfu=2", "nothing=1", "tokens=2:1:x2"], INPUTS)
    assert len(caught.value.faults) == 3


def test_the_finest_grid() -> None:
    """As many points as are allowed are read."""
    axes = read_axes(["accelerators=1:1000:1", "mfu=0.001:0.1:0.001"], INPUTS)
    assert math.prod(len(axis.values) for axis in axes) == MOST_POINTS
