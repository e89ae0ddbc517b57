"""Every way to get a prior file wrong that we know of: what is said, where, and how to mend it."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from uncertain_botec import PriorFileError, load_scenario
from uncertain_botec.dependence import latent_of_spearman, smallest_eigenvalue

if TYPE_CHECKING:
    from collections.abc import Callable

    Write = Callable[..., Path]

NAN_CHOICE = '{ family = "choice", values = [0.3, 0.4], weights = [nan, 1.0] }'
PAIR = 'between = ["mfu", "tokens"]'

# name of the input, its text, the path of the fault, and what its message must hold.
BAD_INPUTS = [
    ("mfu", '{ family = "beta", mean = 0.4, sdd = 0.1 }', "$.inputs.mfu.sdd", ["unknown key", "did you mean `sd`"]),
    ("tokns", '"1e12 token"', "$.inputs.tokns", ["unknown key", "did you mean `tokens`"]),
    ("price_per_accelerator_hour", '"2.2 USD"', "$.inputs.price_per_accelerator_hour", ['"2.2 USD"', "USD/hour"]),
    ("price_per_accelerator_hour", "2.2", "$.inputs.price_per_accelerator_hour", ["unit", 'write "2.2 USD/hour"']),
    ("peak_flop_per_s", "312e12", "$.inputs.peak_flop_per_s", ["unit", 'write "3.12e+14 FLOP/s"']),
    ("peak_flop_per_s", "312", "$.inputs.peak_flop_per_s", ["unit", 'write "312 TFLOP/s"']),
    ("peak_flop_per_s", '"312 TFLOP"', "$.inputs.peak_flop_per_s", ["per accelerator time", "TFLOP/s"]),
    ("mfu", "[0.3, 0.4]", "$.inputs.mfu", ["list", "family", "p10 = 0.3, p90 = 0.4"]),
    ("tokens", '["1T token", "2T token"]', "$.inputs.tokens", ['p10 = "1T token", p90 = "2T token"']),
    ("mfu", "[0.3, 0.4, 0.5]", "$.inputs.mfu", ["a list does not say", "list families"]),
    ("mfu", "{ p10 = 0.3, p90 = 0.4 }", "$.inputs.mfu", ["names its family", "family = "]),
    ("mfu", "{}", "$.inputs.mfu", ["names its family", "list families"]),
    ("mfu", '{ family = "logit-normal", p10 = 0.4, p90 = 0.3 }', "$.inputs.mfu.p10", ["above p90", "p10 = 0.3"]),
    ("tokens", '{ family = "lognormal", p10 = 0, p90 = 1e12 }', "$.inputs.tokens.p10", ["cannot be 0", "more than 0"]),
    (
        "failure_overhead",
        '{ family = "lognormal", p10 = "0 %", p90 = "9 %" }',
        "$.inputs.failure_overhead.p10",
        ["no value at or below zero", "gamma"],
    ),
    (
        "failure_overhead",
        '{ family = "student-t", df = 0.03, median = "9 %", scale = 0.01, truncate = [0, inf] }',
        "$.inputs.failure_overhead",
        ["exceed 1e308", "df = 0.06", "truncate"],
    ),
    ("mfu", "1.56", "$.inputs.mfu", ["mfu cannot be 1.56", "at most 1", "what was divided by what"]),
    ("mfu", "40", "$.inputs.mfu", ["mfu cannot be 40", 'write "40 %" or 0.4']),
    ("mfu", '{ family = "logit-normal", p10 = 0.3, p90 = 40 }', "$.inputs.mfu.p90", ['write "40 %" or 0.4']),
    ("mfu", '{ family = "logit-normal", p10 = 0.3, p90 = 1.56 }', "$.inputs.mfu.p90", ["mfu cannot be 1.56"]),
    ("tokens", '"1e13"', "$.inputs.tokens", ["needs its unit", "write 1e13 without quotes"]),
    ("tokens", '"1,5e13"', "$.inputs.tokens", ['write "1.5e13"']),
    ("tokens", '"1,500,000 token"', "$.inputs.tokens", ['write "1_500_000 token"']),
    ("mfu", "true", "$.inputs.mfu", ["true", "a number"]),
    ("mfu", '{ family = "logit-normal", p10 = true, p90 = 0.4 }', "$.inputs.mfu.p10", ["true", "a number"]),
    ("mfu", "{ value = false }", "$.inputs.mfu.value", ["false", "a number"]),
    ("mfu", "nan", "$.inputs.mfu", ["not a finite number", "0.4"]),
    ("tokens", "inf", "$.inputs.tokens", ["not a finite number"]),
    ("tokens", "-inf", "$.inputs.tokens", ["not a finite number"]),
    ("tokens", '"nan token"', "$.inputs.tokens", ["not a finite number"]),
    ("tokens", '{ family = "lognormal", p10 = 1e12, p90 = inf }', "$.inputs.tokens.p90", ["not a finite number"]),
    ("mfu", NAN_CHOICE, "$.inputs.mfu.weights[0]", ["not a finite number"]),
    ("tokens", "1" + 400 * "0", "$.inputs.tokens", ["too large"]),
    ("accelerators", "-3", "$.inputs.accelerators", ["accelerators cannot be -3", "more than 0"]),
    ("accelerators", "0", "$.inputs.accelerators", ["accelerators cannot be 0", "more than 0"]),
    ("parameters", '"0 parameter"', "$.inputs.parameters", ["parameters cannot be 0"]),
    ("mfu", "2026-10-01", "$.inputs.mfu", ["2026-10-01", "a number"]),
    ("mfu", "{ value = 0.4, as_of = 10:00:00 }", "$.inputs.mfu.as_of", ["10:00:00", "a text"]),
    ("mfu", '{ family = "lognormall", p10 = 0.3, p90 = 0.4 }', "$.inputs.mfu.family", ["did you mean `lognormal`"]),
    ("mfu", '{ family = ["beta"], p10 = 0.3, p90 = 0.4 }', "$.inputs.mfu.family", ["unknown family", "list families"]),
    (
        "mfu",
        '{ family = "jqpd", p10 = 0.3, p50 = 0.35, p90 = 0.4, support = [1] }',
        "$.inputs.mfu.support",
        ["2 items"],
    ),
    ("mfu", '{ family = "beta", mean = 0.4, sd = 0.1, truncate = [0, 1, 2] }', "$.inputs.mfu.truncate", ["2 items"]),
    ("mfu", '{ family = "normal", mean = 0.4, sd = 0.3 }', "$.inputs.mfu", ["cannot be", "truncate = [0, 1]"]),
    (
        "accelerators",
        '{ family = "poisson", mean = 9, truncate = [1, 20] }',
        "$.inputs.accelerators.truncate",
        ["continuous"],
    ),
    (
        "mfu",
        '{ family = "choice", values = [0.3, 0.4], weights = [1, 1] }',
        "$.inputs.mfu.weights",
        ["sum to", "odds ="],
    ),
    ("mfu", '{ family = "choice", values = 0.3, weights = [1] }', "$.inputs.mfu.values", ["a list"]),
    ("mfu", '{ family = "mixture", components = 0.3, odds = [1] }', "$.inputs.mfu.components", ["a list"]),
    (
        "mfu",
        '{ family = "mixture", components = [0.3, { family = "beta", mean = 40, sd = 0.1 }], odds = [1, 1] }',
        "$.inputs.mfu.components[1].mean",
        ['write "40 %"'],
    ),
    ("mfu", '{ family = "empirical", file = "none.csv", column = "x" }', "$.inputs.mfu.file", ["no such file"]),
    ("mfu", '{ family = "empirical", file = "../x.csv", column = "x" }', "$.inputs.mfu.file", ["no such file"]),
    (
        "price_per_accelerator_hour",
        '{ family = "empirical", file = "x.csv", column = "x" }',
        "$.inputs.price_per_accelerator_hour.unit",
        ["unit is missing", "USD/accelerator-hour"],
    ),
    (
        "tokens",
        '{ family = "empirical", file = "x.csv", column = "x", unit = "USD" }',
        "$.inputs.tokens.unit",
        ["measures money"],
    ),
]


@pytest.mark.parametrize(("name", "text", "path", "holds"), BAD_INPUTS, ids=[f"{c[0]}={c[1][:40]}" for c in BAD_INPUTS])
def test_bad_input(
    write: Write, refused: Callable[..., str], name: str, text: str, path: str, holds: list[str]
) -> None:
    """A wrong input is refused at its place, with what was got, what is expected and a way to mend it."""
    (write().parent / "x.csv").write_text("x\n1\n2\n")
    said = refused(write(**{name: text}))
    assert f"run.toml: {path}: " in said
    assert all(words in said for words in holds), said
    assert "    got: " in said
    assert "    expected: " in said
    assert "    fix: " in said
    assert "1 fault found" in said


BAD_FILES = [
    ("titel = 1", "", "$.titel", ["did you mean `title`"]),
    ('precision = "bf17"', "", "$.precision", ["did you mean `bf16`"]),
    ("", '[limits]\nbudgt = "5 USD"', "$.limits.budgt", ["did you mean `budget`"]),
    ("", "[limits]\nbudget = 5", "$.limits.budget", ["unit is missing", '"5 USD"']),
    ("", '[limits]\nbudget = { value = "5 USD", sourc = "x" }', "$.limits.budget.sourc", ["did you mean `source`"]),
    ("", "[limits]\nbudget = true", "$.limits.budget", ["true"]),
    ("", '[limits]\nbudget = "-5 USD"', "$.limits.budget", ["cannot be -5"]),
    ("", "[observed]\nmfu = 0.4", "$.observed.mfu", ["unknown key", "hfu", "botec schema"]),
    ("prices = [1]", "", "$.prices", ["a table"]),
    ("accelerator = 3", "", "$.accelerator", ["a table"]),
    ('accelerator = { name = "x" }', "", "$.accelerator.peak_flop_per_s", ["missing"]),
    (
        'accelerator = { name = "x", peak_flop_per_s = { bf17 = "1 TFLOP/s" } }',
        "",
        "$.accelerator.peak_flop_per_s.bf17",
        ["bf16"],
    ),
    ('include = ["accelerators/h100-smx"]', "", "$.include[0]", ["did you mean `accelerators/h100-sxm`"]),
    ('include = ["\\u0000"]', "", "$.include[0]", ["no such file"]),
    (f'include = ["{5000 * "a"}"]', "", "$.include[0]", ["no such file"]),
    ('include = "accelerators/h100-sxm"', "", "$.include", ["a list"]),
    ('include = ["run"]', "", "$.include[0]", ["leads back to itself: run -> run"]),
    ('include = ["../elsewhere"]', "", "$.include[0]", ["no such file", "in the same folder tree"]),
    ('include = ["link"]', "", "$.include[0]", ["no such file"]),
    ('include = ["/etc/passwd"]', "", "$.include[0]", ["no such file"]),
    (
        "",
        '[[correlations]]\nbetween = ["mfu", "tokns"]\nspearman = 0.3',
        "$.correlations[0].between[1]",
        ["did you mean `tokens`"],
    ),
    ("", '[[correlations]]\nbetween = ["mfu", "mfu"]\nspearman = 0.3', "$.correlations[0].between", ["with itself"]),
    ("", f"[[correlations]]\n{PAIR}\nspearman = 0.3\nlatent = 0.3", "$.correlations[0]", ["names its kind", "both"]),
    ("", f"[[correlations]]\n{PAIR}", "$.correlations[0]", ["names its kind", "neither"]),
    ("", f"[[correlations]]\n{PAIR}\nspearman = 1.3", "$.correlations[0].spearman", ["between -1 and 1", "1.3"]),
    ("", f"[[correlations]]\n{PAIR}\nlatent = nan", "$.correlations[0].latent", ["between -1 and 1"]),
    (
        "",
        f"[[correlations]]\n{PAIR}\nspearman = [[1.0, 0.3], [0.3]]",
        "$.correlations[0].spearman",
        ["does not fit", "2, 1 numbers"],
    ),
    ("", f"[[correlations]]\n{PAIR}\nspearman = [[1, 0.3], [0.2, 1]]", "$.correlations[0].spearman", ["symmetric"]),
    ("", f"[[correlations]]\n{PAIR}\nspearman = true", "$.correlations[0].spearman", ["true"]),
    ("", 2 * f"[[correlations]]\n{PAIR}\nspearman = 0.3\n", "$.correlations[1]", ["stated twice", "mfu and tokens"]),
    ("", '[[correlations]]\nbetween = ["mfu"]\nspearman = 0.3', "$.correlations[0].between", ["2 items"]),
]


@pytest.mark.parametrize(("head", "tail", "path", "holds"), BAD_FILES, ids=[(c[0] + c[1])[:60] for c in BAD_FILES])
def test_bad_tables(
    write: Write, refused: Callable[..., str], head: str, tail: str, path: str, holds: list[str]
) -> None:
    """A wrong table, include or correlation is refused at its place, once, with what to do."""
    folder = write().parent
    for place in (folder.parent / "elsewhere.toml", folder / "link.toml"):
        place.unlink(missing_ok=True)
    (folder.parent / "elsewhere.toml").write_text("[inputs]\nmfu = 0.4\n")
    (folder / "link.toml").symlink_to(folder.parent / "elsewhere.toml")
    said = refused(write(head, tail))
    assert f"run.toml: {path}: " in said
    assert all(words in said for words in holds), said
    assert "    expected: " in said
    assert "    fix: " in said
    assert "1 fault found" in said


def test_all_faults_at_once(write: Write, refused: Callable[..., str]) -> None:
    """Faults of shape, unit, elicitation, limits and correlations in one file are all reported in one reading."""
    tail = f"[limits]\nbudget = 5\n[[correlations]]\n{PAIR}\nspearman = 2\n"
    path = write(
        'titel = "x"\ninclude = ["nowhere"]', tail, mfu="40", tokns="1", accelerators="[1, 2]", tokens='"1e12 USD"'
    )
    said = refused(path)
    for place in (
        "titel",
        "include[0]",
        "limits.budget",
        "correlations[0].spearman",
        *(f"inputs.{n}" for n in ("mfu", "tokns", "accelerators", "tokens")),
    ):
        assert f"$.{place}: " in said
    assert "8 faults found" in said


@pytest.mark.parametrize("key", ["title", "estimator"])
def test_what_every_file_states(write: Write, refused: Callable[..., str], key: str) -> None:
    """A missing title or estimator is named, with the line to add."""
    path = write()
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith(key)))
    said = refused(path)
    assert f"$.{key}: " in said
    assert f"fix:      {key} = " in said


def test_missing_inputs(write: Write, refused: Callable[..., str]) -> None:
    """Every missing input is named with an example."""
    said = refused(write(mfu=None, tokens=None, price_per_accelerator_hour=None))
    assert "$.inputs.mfu: mfu is missing" in said
    assert "$.inputs.tokens: tokens is missing" in said
    assert 'include = ["prices/neocloud-2026"]' in said
    assert "3 faults found" in said


def test_missing_inputs_beside_other_faults(write: Write, refused: Callable[..., str]) -> None:
    """An unrelated fault does not hide a missing input, and a misspelt input is one fault, not two."""
    said = refused(write("titel = 1", mfu=None, tokens=None, tokenz='"1T token"'))
    assert "$.inputs.mfu: mfu is missing" in said
    assert "$.inputs.tokenz: unknown key" in said
    assert "$.titel: unknown key" in said
    assert "3 faults found" in said


def test_unknown_estimator(write: Write, refused: Callable[..., str]) -> None:
    """A misspelt estimator is not called missing."""
    path = write()
    path.write_text(path.read_text().replace('"training"', '"trainig"'))
    said = refused(path)
    assert "no such estimator" in said
    assert "did you mean `training`" in said


def test_accelerator_without_that_peak_or_price(write: Write, refused: Callable[..., str]) -> None:
    """A precision the accelerator lacks and a price list that lacks the accelerator are two faults."""
    head = 'precision = "fp4"\npurchase = "spot"\ninclude = ["accelerators/mi250x", "prices/spot-2026"]'
    said = refused(write(head, peak_flop_per_s=None, price_per_accelerator_hour=None))
    assert "mi250x has no peak for this precision" in said
    assert "fp16" in said
    assert "no price for this accelerator" in said


def test_include_cycle_of_three(write: Write, refused: Callable[..., str]) -> None:
    """A cycle through other files is shown from its beginning."""
    path = write('include = ["a"]')
    (path.parent / "a.toml").write_text('include = ["b"]')
    (path.parent / "b.toml").write_text('include = ["a"]')
    assert "a -> b -> a" in refused(path)


def test_fault_in_an_included_file_is_reported_there(write: Write, refused: Callable[..., str]) -> None:
    """The message names the included file, not the including one."""
    path = write('include = ["sub/a"]', mfu=None)
    (path.parent / "sub").mkdir()
    (path.parent / "sub" / "a.toml").write_text("[inputs]\nmfu = 40\n")
    assert refused(path).count("sub/a.toml: $.inputs.mfu: ") == 1


BYTES = [
    (b"title = x y\n", "not TOML"),
    (b"tokens = 15T token\n", 'tokens = "15T token"'),
    (b'title = "\xff"\n', "not UTF-8"),
    (b"a = " + 5000 * b"[" + 5000 * b"]", "nested too deeply"),
    (b"a = " + 60 * b"[" + 60 * b"]", "nested too deeply"),
    (b"[inputs." + b".".join([b"a"] * 3000) + b"]\nx = 1\n", "nested too deeply"),
    (b"a = " + 5000 * b"1", "not TOML"),
    (b"a = 1\x00", "not TOML"),
    (b"a = 1\na = 2", "not TOML"),
]


@pytest.mark.parametrize(("content", "says"), BYTES, ids=[f"{c[0][:20]!r}" for c in BYTES])
def test_files_that_are_no_toml(tmp_path: Path, refused: Callable[..., str], content: bytes, says: str) -> None:
    """Bytes that cannot be read as a prior file are one fault with a way to mend it."""
    path = tmp_path / "run.toml"
    path.write_bytes(content)
    said = refused(path)
    assert says in said
    assert "    fix: " in said


def test_huge_file(tmp_path: Path, refused: Callable[..., str]) -> None:
    """A file of 100 MB is refused at once and without reading it."""
    path = tmp_path / "run.toml"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)
    tracemalloc.start()
    started = time.perf_counter()
    said = refused(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "100,000,000 bytes" in said
    assert peak < 20_000_000
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("reference", ["lama-2-70b", "nothing.toml", "", 5000 * "a"])
def test_no_such_run(refused: Callable[..., str], reference: str) -> None:
    """A name that is no file and no shipped run is refused, the nearest shipped one suggested."""
    with pytest.raises(PriorFileError, match=r"no such file|not a file"):
        load_scenario(reference)
    if reference == "lama-2-70b":
        assert "did you mean `llama-2-70b`" in refused(reference)


def test_folder_and_pipe_are_no_files(tmp_path: Path, refused: Callable[..., str]) -> None:
    """A folder is refused, and a named pipe too rather than waited for."""
    os.mkfifo(tmp_path / "pipe.toml")
    assert "a folder" in refused(tmp_path)
    assert "not a regular file" in refused(tmp_path / "pipe.toml")


CSVS = [
    ("y\n1\n", "no such column"),
    ("x\n1\nabc\n", "row 3 of x.csv"),
    ("x\n1\nnan\n", "row 3 of x.csv"),
    ("x\n", "empty"),
    ("", "x.csv: $: the file is empty"),
    ("x,y\n1,2\n3\n", "x.csv: row 3, cells: a row has another number of cells"),
    ("x,x\n1,2\n", "two columns have one name"),
    ("x\n1\n-3\n", "mfu cannot be -3"),
]


@pytest.mark.parametrize(("content", "says"), CSVS)
def test_bad_measurements(write: Write, refused: Callable[..., str], content: str, says: str) -> None:
    """A CSV file that does not hold what the input needs is refused with the row or column."""
    path = write(mfu='{ family = "empirical", file = "x.csv", column = "x" }')
    (path.parent / "x.csv").write_text(content)
    assert says in refused(path)


def _only_ranks_can_be() -> np.ndarray:
    """A 5x5 rank correlation matrix that is positive definite while its latent matrix is not, found by search."""
    generator = np.random.default_rng(5)
    for _ in range(10_000):
        factors = generator.normal(size=(5, 2))
        covariance = factors @ factors.T + 0.003 * np.eye(5)
        scale = np.sqrt(np.diag(covariance))
        matrix = np.round(covariance / np.outer(scale, scale), 3)
        np.fill_diagonal(matrix, 1.0)
        if smallest_eigenvalue(matrix) > 1e-4 and smallest_eigenvalue(latent_of_spearman(matrix)) < -1e-3:
            return matrix
    raise AssertionError("no such matrix was found")


FIVE = ["parameters", "tokens", "mfu", "failure_overhead", "price_per_accelerator_hour"]


def test_ranks_that_no_gaussian_copula_has(write: Write, refused: Callable[..., str]) -> None:
    """The latent matrix is what has to be positive definite; it is shown, and repaired when that is asked for."""
    matrix = _only_ranks_can_be()
    table = f"[[correlations]]\nbetween = {FIVE}\nspearman = {matrix.tolist()}\n"
    uncertain = '{ family = "lognormal", p10 = 6e9, p90 = 8e9 }'
    said = refused(write("", table, parameters=uncertain))
    latent = latent_of_spearman(matrix)
    assert f"smallest eigenvalue is {smallest_eigenvalue(latent):.2g}" in said
    assert "repair = true" in said
    assert f"{latent[0, 1]:7.4f}" in said
    scenario = load_scenario(write("", f"{table}repair = true\n", parameters=uncertain))
    assert any("nearest correlation matrix" in note for note in scenario.notes)
    assert scenario.dependence is not None
    used = np.array(scenario.dependence.latent)
    assert smallest_eigenvalue(used) > -1e-10
    assert np.allclose(np.diag(used), 1, atol=1e-12)


SETTINGS = [
    ("inputs", "$", "a path and a value"),
    ("=", "$", "a path and a value"),
    ("inputs.=3", "$", "a path and a value"),
    ("input.mfu=3", "$.input.mfu", "did you mean `inputs`"),
    ("include=['x']", "$.include", "title, estimator"),
    ("inputs.tokn=3", "$.inputs.tokn", "did you mean `tokens`"),
    ("inputs.accelerators.p50=3", "$.inputs.accelerators.p50", "is not a table"),
    ("inputs.mfu=[0.3", "$.inputs.mfu", "not TOML"),
    ("inputs.mfu.p90=45", "$.inputs.mfu.p90", 'write "45 %"'),
    ("inputs=3", "$.inputs", "a table"),
    ("limits.budget=5", "$.limits.budget", "unit is missing"),
]


@pytest.mark.parametrize(("setting", "path", "says"), SETTINGS)
def test_bad_setting(write: Write, setting: str, path: str, says: str) -> None:
    """A setting that cannot be used is refused under its own name."""
    with pytest.raises(PriorFileError) as caught:
        load_scenario(write(), [setting])
    assert f"--set {setting}: {path}: " in str(caught.value)
    assert says in str(caught.value)
    assert len(caught.value.faults) == 1
