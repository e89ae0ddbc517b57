"""What each command prints and writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import xarray

import uncertain_botec
from uncertain_botec import load_scenario
from uncertain_botec.library import shipped

if TYPE_CHECKING:
    from collections.abc import Callable

    Botec = Callable[..., Any]

FEW = ("--draws", "1024")
COMMANDS = ("forecast", "check", "explain", "list", "new", "risk", "schema", "sensitivity", "size")
NUMBER = {"type": "number"}
TEXT = {"type": "string"}


def table(**properties: Any) -> dict[str, Any]:
    """The JSON Schema of an object that has these keys and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


INTERVAL = table(prob={"const": 0.8}, low=NUMBER, high=NUMBER)


def output(unit: str = "") -> dict[str, Any]:
    """The JSON Schema of one output."""
    mcse = table(p10=NUMBER, p50=NUMBER, p90=NUMBER, mean=NUMBER)
    numbers = dict.fromkeys(("p10", "p50", "p90", "mean", "sd", "endless"), NUMBER)
    smoothed = {"type": ["string", "null"]}
    return table(
        unit={"const": unit} if unit else TEXT, **numbers, mcse=mcse, hdi=INTERVAL, eti=INTERVAL, smoothed=smoothed
    )


DRIVERS = {"type": "array", "items": table(input=TEXT, rank_correlation=NUMBER, share=NUMBER)}
UNITS = {
    "training_flop": "FLOP",
    "accelerator_hours": "accelerator-hours",
    "training_time": "days",
    "cost": "USD",
}
LIMIT = table(value=NUMBER, unit=TEXT, output=TEXT, probability=NUMBER, mcse=NUMBER, low=NUMBER, high=NUMBER)
OBSERVED = table(value=NUMBER, unit=TEXT, percentile=NUMBER, mcse=NUMBER)
FORECAST = table(
    schema={"const": "uncertain-botec/forecast/1"},
    scenario=table(title=TEXT, path=TEXT, sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"}),
    estimator={"const": "training"},
    choices={"type": "object", "additionalProperties": TEXT},
    draws={"const": 1024},
    seed={"const": 3},
    sampler={"const": "lattice"},
    replicates={"const": 16},
    accuracy=table(asked={"type": ["number", "null"]}, reached=NUMBER, output=TEXT, level=TEXT),
    partial={"const": False},
    # A run that states more reports more, each output in the same form.
    outputs=table(**{name: output(unit) for name, unit in UNITS.items()}) | {"additionalProperties": output()},
    limits=table(budget=LIMIT, deadline=LIMIT),
    observed=table(accelerator_hours=OBSERVED) | {"additionalProperties": OBSERVED},
    drivers=table(**dict.fromkeys(UNITS, DRIVERS)) | {"additionalProperties": DRIVERS},
    notes={"type": "array", "items": TEXT},
    warnings={"type": "array", "items": TEXT},
    provenance=table(
        versions={"type": "object", "additionalProperties": TEXT},
        device=TEXT,
        precision={"const": "float64"},
        timings={"type": "object", "additionalProperties": NUMBER},
    ),
)


def test_forecast_json(botec: Botec) -> None:
    """The JSON of a forecast has the documented keys, units and nothing else."""
    result = botec("forecast", "llama-2-70b", *FEW, "--seed", 3, "--json")
    assert result.code == 0
    document = json.loads(result.out)
    jsonschema.validate(document, FORECAST)
    for one in document["outputs"].values():
        assert one["p10"] <= one["p50"] <= one["p90"]
    assert document["observed"]["accelerator_hours"]["value"] == pytest.approx(1720320)
    assert document["limits"]["deadline"]["value"] == pytest.approx(60)


def test_forecast_table(botec: Botec) -> None:
    """The table has a row for each output, the limits, the outcome and how to read it; timings go to standard error."""
    result = botec("forecast", "llama-2-70b", *FEW)
    assert result.code == 0
    for words in (
        "Llama 2 70B",
        "P10",
        "P50",
        "P90",
        "80 % HDI",
        "Cost (million USD)",
        "Budget",
        "Observed",
        "Drivers",
    ):
        assert words in result.out
    assert "at or below" in result.out
    assert "of which drawing" in result.err
    assert "draws per second" not in result.out


def test_quiet(botec: Botec) -> None:
    """A quiet forecast says nothing on standard error, also where it would note or warn."""
    setting = "inputs.failure_overhead={ family = 'lognormal', p10 = 0.2, p90 = 1.4 }"
    assert "unusual" in botec("forecast", "llama-2-70b", *FEW, "--set", setting).err
    assert botec("forecast", "llama-2-70b", *FEW, "--set", setting, "--quiet").err == ""


def test_rounded_draws_are_said(botec: Botec) -> None:
    """A number of draws that the sampler rounds up is reported as it is."""
    assert "1,000 draws rounded up to 1,024" in botec("forecast", "llama-2-70b", "--draws", "1000").err


DRAWS = [("64", 64), ("1k", 1000), ("2^10", 1024), ("2**10", 1024), ("1e3", 1000), ("1.5k", 1500), ("1_024", 1024)]


@pytest.mark.parametrize(("text", "least"), DRAWS)
def test_spellings_of_draws(botec: Botec, text: str, least: int) -> None:
    """Numbers of draws may be written as people write them."""
    result = botec("forecast", "gpt-3", "--draws", text, "--json", "--sampler", "monte-carlo")
    assert least <= json.loads(result.out)["draws"] < 2 * least


def test_set_reaches_the_forecast(botec: Botec) -> None:
    """Twice the accelerators take half the time for the same cost."""
    base = json.loads(botec("forecast", "llama-2-70b", *FEW, "--json").out)["outputs"]
    more = json.loads(botec("forecast", "llama-2-70b", *FEW, "--json", "--set", "inputs.accelerators=4096").out)[
        "outputs"
    ]
    assert more["training_time"]["p50"] == pytest.approx(base["training_time"]["p50"] / 2, rel=1e-12)
    assert more["cost"]["p50"] == pytest.approx(base["cost"]["p50"], rel=1e-12)


def test_out(botec: Botec, tmp_path: Path) -> None:
    """The folder of results holds the summary, an equal scenario and the draws for ArviZ, and nothing else."""
    folder = tmp_path / "deep" / "results"
    result = botec("forecast", "llama-2-70b", *FEW, "--out", folder, "--json")
    assert sorted(path.name for path in folder.iterdir()) == ["draws.nc", "scenario.toml", "summary.json"]
    assert json.loads((folder / "summary.json").read_text("utf-8")) == json.loads(result.out)
    assert load_scenario(folder / "scenario.toml") == load_scenario("llama-2-70b")
    with xarray.open_datatree(folder / "draws.nc", engine="h5netcdf") as tree:
        assert tree["prior_predictive/cost"].shape == (16, 64)
        assert tree["prior_predictive/cost"].attrs["units"] == "USD"
        assert tree["prior/mfu"].attrs["units"] == "fraction"
        median = float(tree["prior_predictive/cost"].median())
    assert median == pytest.approx(json.loads(result.out)["outputs"]["cost"]["p50"], rel=1e-2)


def test_check(botec: Botec, tmp_path: Path) -> None:
    """Good files are called fine even where others are not, and all bad ones are reported together."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(f"bad_{name} = 1")
    result = botec("check", "gpt-3", tmp_path / "a.toml", tmp_path / "b.toml", "llama-2-70b")
    assert result.code == 2
    assert "gpt-3: fine" in result.out
    assert "llama-2-70b: fine" in result.out
    assert "$.bad_a" in result.err
    assert "$.bad_b" in result.err
    assert botec("check", *shipped("runs")).code == 0


def test_explain(botec: Botec) -> None:
    """The explanation shows every equation, the value at the medians, and each input's source once."""
    result = botec("explain", "llama-2-70b")
    assert result.code == 0
    assert "training_flop = 6 * parameters * tokens" in result.out
    assert "2307.09288, table 1" in result.out
    assert max(map(len, result.out.splitlines())) <= 100
    document = json.loads(botec("explain", "llama-2-70b", "--json").out)
    assert document["schema"] == "uncertain-botec/explain/1"
    names = [step["output"]["name"] for step in document["steps"]]
    expected = ["training_flop", "stepping_time", "training_time", "accelerator_hours", "rental_cost", "cost"]
    assert [name for name in names if name in expected] == expected
    first = document["steps"][0]
    values = {term["name"]: term["value"] for term in first["inputs"]}
    assert first["output"]["value"] == pytest.approx(6 * values["parameters"] * values["tokens"])


def test_explain_shows_what_is_skipped(botec: Botec) -> None:
    """A stated output is said to skip its formula."""
    result = botec("explain", "llama-2-70b", "--set", "inputs.training_flop=8e23 FLOP")
    assert "training_flop is stated by the scenario, so its formula is skipped." in result.out


LISTS = [
    ("runs", "run", "llama-2-70b"),
    ("accelerators", "include", "accelerators/h100-sxm"),
    ("prices", "include", "prices/neocloud-2026"),
    ("families", "family", "logit-normal"),
    ("estimators", "estimator", "training"),
]


@pytest.mark.parametrize(("kind", "key", "one"), LISTS)
def test_list(botec: Botec, kind: str, key: str, one: str) -> None:
    """Everything shipped is listed, as a table and as JSON."""
    assert one in botec("list", kind).out
    document = json.loads(botec("list", kind, "--json").out)
    assert document["schema"] == f"uncertain-botec/list-{kind}/1"
    assert one in [record[key] for record in document[kind]]
    if kind in ("runs", "accelerators", "prices"):
        assert len(document[kind]) == len(shipped(kind))


def test_every_family_example_loads(botec: Botec) -> None:
    """The examples that `botec list families` gives are right; the one from a file needs its file."""
    names = {"fixed": "accelerators", "uniform": "training_time", "lognormal": "price_per_accelerator_hour"}
    names |= {"loguniform": "tokens", "pert": "training_time", "poisson": "accelerators", "choice": "accelerators"}
    names |= {"negative-binomial": "accelerators", "gamma": "failure_overhead"}
    for record in json.loads(botec("list", "families", "--json").out)["families"]:
        if record["family"] == "empirical":
            continue
        setting = f"inputs.{names.get(record['family'], 'mfu')}={record['example']}"
        said = botec("explain", "llama-2-70b", "--set", setting)
        assert said.code == 0 or "of the probability lies at or below 0" in said.err, said.err


def test_new(botec: Botec, tmp_path: Path) -> None:
    """A new file forecasts as it is, finds its schema, is readable for others, and is never overwritten unasked."""
    path = tmp_path / "mine.toml"
    assert botec("new", path).code == 0
    first = path.read_text("utf-8").partition("\n")[0]
    assert Path(first.removeprefix("#:schema file://")).is_file()
    assert path.stat().st_mode & 0o044
    assert botec("forecast", path, *FEW).code == 0
    path.write_text("mine")
    again = botec("new", path)
    assert again.code == 2
    assert "--force" in again.err
    assert path.read_text() == "mine"
    assert botec("new", path, "--force").code == 0
    assert path.read_text("utf-8").startswith(first)
    assert list(tmp_path.iterdir()) == [path]


def test_schema(botec: Botec) -> None:
    """The JSON Schema is printed as JSON."""
    jsonschema.Draft202012Validator.check_schema(json.loads(botec("schema").out))


def test_version(botec: Botec) -> None:
    """The version is the package's."""
    assert botec("--version").out == f"botec {uncertain_botec.__version__}\n"


def test_help(botec: Botec) -> None:
    """The help names every command and fits 80 columns, and each command has its own."""
    said = botec("--help").out
    assert all(re.search(rf"^\W*{command}\s", said, re.MULTILINE) for command in COMMANDS)
    for command in COMMANDS:
        text = botec(command, "--help").out
        assert f"botec {command}" in text
        assert max(map(len, text.splitlines())) <= 80
    assert max(map(len, said.splitlines())) <= 80
