"""Files of runs: what is read from them, and every fault with its row and column."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from uncertain_botec import PriorFileError, read_runs
from uncertain_botec.calibration.calibrating import check_enough
from uncertain_botec.calibration.runs import PUBLISHED, REQUIRED, pooled
from uncertain_botec.library import did_you_mean

GOOD = {
    "name": "Ours 7B",
    "publication_date": "2025-03",
    "arch": "dense",
    "active_params": "7e9",
    "tokens": "2e12",
    "accelerator": "h100-sxm",
    "accelerator_hours": "70000",
    "hours_basis": "reported",
}

Maker = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path) -> Maker:
    """A maker of a file of good rows with some cells changed."""

    def make(*changes: dict[str, str], drop: str = "") -> Path:
        rows = [GOOD | {"name": f"run {index}"} | change for index, change in enumerate(changes)]
        names = [name for name in dict.fromkeys(key for row in rows for key in row) if name != drop]
        path = tmp_path / "ours.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, names, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        return path

    return make


def faults(path: Path) -> list[str]:
    """What is wrong with a file, each as `row: column: message`."""
    with pytest.raises(PriorFileError) as caught:
        check_enough(read_runs(path))
    assert all(one.where == str(path) for one in caught.value.faults)
    assert all(one.expected and one.fix for one in caught.value.faults)
    return [f"{one.path}: {one.message}" for one in caught.value.faults]


def test_the_shipped_file_holds_58_runs_to_learn_from() -> None:
    """Rows outside of the calibration set are counted, and runs have what the model needs."""
    runs = read_runs()
    assert len(runs.kept) == 58
    assert {reason: len(names) for reason, names in runs.left_out.items()} == {"not in the calibration set": 58}
    y = [run.log_excess for run in runs.kept]
    mean = sum(y) / 58
    assert mean == pytest.approx(0.386, abs=0.001)
    assert math.sqrt(sum((one - mean) ** 2 for one in y) / 57) == pytest.approx(0.382, abs=0.001)


@pytest.mark.parametrize(
    ("name", "hours", "mfu", "rough"),
    [
        # 6 x 405.85e9 x 15.6e12 FLOP in 30.84e6 hours at 989.4e12 FLOP/s; 41 % while stepping as published.
        ("Llama 3.1 405B", 30.84e6, 0.41, False),
        # 150 TFLOP/s of hardware with full recomputation: three quarters of 0.48 are model FLOP.
        ("BLOOM-176B", 1082990, 0.36, False),
        ("GPT-J-6B", 107520, 0.403, True),
        ("Llama 2 70B", 1720320, None, False),
    ],
)
def test_what_a_row_says(name: str, hours: float, mfu: float | None, rough: bool) -> None:
    """Hours, MFU while stepping, and how the hours are known."""
    (run,) = [one for one in read_runs().kept if one.name == name]
    assert run.hours == pytest.approx(hours)
    assert run.step_mfu == (None if mfu is None else pytest.approx(mfu, rel=1e-3))
    assert run.subject.rough is rough
    flop = 6 * run.subject.parameters * run.subject.tokens
    assert math.exp(run.log_excess) == pytest.approx(
        0.4 * run.hours * 3600 * run.subject.peak_flop_per_s / flop, rel=1e-12
    )


def test_a_generation_is_as_old_as_its_first_part() -> None:
    """B300 in January 2026 is fourteen months of Blackwell's software old, though it came out five months before."""
    (run,) = [one for one in read_runs().kept if one.accelerator == "b300"]
    assert run.subject.age == pytest.approx(14 / 12)


@pytest.mark.parametrize("column", REQUIRED)
def test_missing_columns_are_named(column: str, made: Maker) -> None:
    """A column that is not there is a fault of the file."""
    assert faults(made({}, {}, drop=column)) == [f"column {column}: a column is missing"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"accelerator_hours": "-3"}, "column accelerator_hours: this number cannot be right"),
        ({"accelerator_hours": "0"}, "column accelerator_hours: this number cannot be right"),
        ({"accelerator_hours": "many"}, "column accelerator_hours: this cannot be read: a quantity starts with"),
        ({"accelerator_hours": "62000 hour"}, "column accelerator_hours: this cannot be read: 'hour' measures time"),
        ({"accelerator_hours": "70,000"}, "column accelerator_hours: this cannot be read: a comma"),
        ({"accelerator_hours": "nan"}, "column accelerator_hours: this number cannot be right"),
        ({"active_params": "7"}, "column active_params: this number cannot be right"),
        ({"tokens": "inf"}, "column tokens: this number cannot be right"),
        ({"accelerator": "h1000"}, "column accelerator: unknown accelerator"),
        ({"arch": "perceptron"}, "column arch: unknown word"),
        ({"hours_basis": "guess"}, "column hours_basis: unknown word"),
        ({"publication_date": "last year"}, "column publication_date: this cannot be read"),
        ({"publication_date": "2019-01"}, "column publication_date: published more than a year before h100-sxm"),
        # Days in a column of hours, and hours of nodes of eight.
        ({"accelerator_hours": "2917"}, "column accelerator_hours: these hours mean that 808 % of the peak was used"),
        ({"n_accelerators": "512", "wallclock_days": "57"}, "column accelerator_hours: 512 accelerators for 57 days"),
        # Hours of 24 times as many.
        (
            {"accelerator_hours": "1680000"},
            "column accelerator_hours: these hours mean that 1.4 % of the peak",
        ),
        ({"mfu_published": "41"}, "column mfu_published: this number cannot be right"),
        ({"mfu_published": "0.2"}, "column mfu_published: an MFU of 0.2 while stepping is below the 0.337"),
        ({"hfu_published": "20 %", "activation_recompute": "no"}, "column hfu_published: an MFU of 0.2 while stepping"),
        ({"precision": "fp4"}, "column precision: unknown word"),
        ({"activation_recompute": "some"}, "column activation_recompute: unknown word"),
        ({"calibration_set": "true"}, "column calibration_set: unknown word"),
        ({"publication_date": "2125-03"}, "column publication_date: published more than 12 years after h100-sxm"),
        ({"publication_date": "2025-03-99"}, "column publication_date: this cannot be read"),
        ({"publication_date": "２０２５-０３"}, "column publication_date: this cannot be read"),
        (
            {"price_per_accelerator_hour_usd": "2", "cost_usd_published": "5e6"},
            "column cost_usd_published: 70000 accelerator-hours at 2 USD are 1.4e+05 USD",
        ),
    ],
)
def test_wrong_cells_are_named(change: dict[str, str], told: str, made: Maker) -> None:
    """Each fault names its row and column."""
    (found,) = faults(made({}, change))
    assert found.startswith(f"row 3, {told}")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("H100", "h100-sxm"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("nvidia a100-sxm4-80gb", "a100-80-sxm"),
        ("H200", "h200-sxm"),
        ("Google TPU v4", "tpu-v4"),
    ],
)
def test_accelerators_by_other_names(written: str, found: str, made: Maker) -> None:
    """Names are known as their makers and tools write them."""
    (run,) = read_runs(made({"accelerator": written, "accelerator_hours": "90000"})).kept
    assert run.accelerator == found


def test_the_nearest_names_begin_alike() -> None:
    """What a name is the beginning of comes before what merely looks like it."""
    known = ["gh200", "h20", "h200-nvl", "h200-sxm"]
    assert did_you_mean("h200", known) == "did you mean `h200-nvl` or `h200-sxm`?"
    assert did_you_mean("h201", known) == "did you mean `h20` or `gh200`?"
    assert did_you_mean("t4", known) is None


def test_headings_and_percents(made: Maker) -> None:
    """Headings in capitals, shares in percent, and days of a month are read."""
    path = made({"mfu_published": "41 %", "publication_date": "2025-03-09"})
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text(lines[0].upper() + "".join(lines[1:]), "utf-8")
    (run,) = read_runs(path).kept
    assert run.step_mfu == pytest.approx(0.41)
    assert run.date == "2025-03"


def test_a_file_of_something_else(made: Maker, tmp_path: Path) -> None:
    """One fault tells of a first line without any of the names."""
    path = tmp_path / "page.csv"
    path.write_text("<html>, <body>\n1, 2\n", "utf-8")
    assert faults(path) == ["row 1: the first line names none of the columns"]


def test_files_are_pooled(made: Maker) -> None:
    """Several files are one, and `published` is the shipped one."""
    assert read_runs("published") == read_runs()
    both = read_runs(made({}), "published")
    assert [run.name for run in both.kept[:2]] == ["run 0", read_runs().kept[0].name]
    assert (len(both.kept), both.path) == (59, f"{made({})}, reference/published-runs.csv")


def test_all_faults_at_once(made: Maker) -> None:
    """One reading mends a file."""
    found = faults(made({"tokens": "x"}, {}, {"arch": "?", "accelerator": "?"}))
    assert [one.partition(":")[0] for one in found] == [
        "row 2, column tokens",
        "row 4, column arch",
        "row 4, column accelerator",
    ]


def test_an_unknown_accelerator_is_told_with_the_list(made: Maker) -> None:
    """And with the nearest of them."""
    with pytest.raises(PriorFileError, match=r"h100-sxm.*tpu-v4") as caught:
        read_runs(made({"accelerator": "H100-SXN"}))
    assert "did you mean `h100-sx" in str(caught.value)


def test_too_few_runs_and_runs_all_alike_are_refused(made: Maker) -> None:
    """Nothing can be learnt from either."""
    assert faults(made({})) == ["$: too few runs to learn from"]
    assert faults(made(*[{}] * 6)) == ["$: all runs are alike"]


def test_a_run_twice_is_a_fault(made: Maker) -> None:
    """In one file or in two that are pooled."""
    (found,) = faults(made({}, {"name": "run 0"}))
    assert found == "row 3, column name: this run is there twice, in row 2 too"
    with pytest.raises(PriorFileError, match=r"this run is in reference/published-runs\.csv too"):
        pooled([read_runs(PUBLISHED), read_runs(PUBLISHED)])


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00", b'name,"\n'])
def test_what_is_no_csv_is_refused(content: bytes, tmp_path: Path) -> None:
    """Empty files, other encodings and open quotes."""
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert len(faults(path)) >= 1


def test_units_and_spreadsheet_habits_are_read(made: Maker) -> None:
    """Written scales, a byte order mark, blank lines, and rows without hours, which are left out."""
    path = made({"active_params": "7B parameter", "tokens": "2T token"}, {"accelerator_hours": ""})
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\n,,\n")
    runs = read_runs(path)
    assert [run.subject.parameters for run in runs.kept] == [7e9]
    assert runs.left_out == {"no accelerator-hours": ("run 1",)}
    assert runs.text.encode("utf-8") == path.read_bytes()
