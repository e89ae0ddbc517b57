"""Every shipped file loads, says where its numbers are from, and fits the shipped JSON Schema."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from uncertain_botec import dump_scenario, load_scenario
from uncertain_botec.choices import CHOICES
from uncertain_botec.library import PRIORS, SCHEMA_FILE, shipped
from uncertain_botec.prior_files.schema import check_document, json_schema
from uncertain_botec.units import parse_quantity
from uncertain_botec.vocabulary import PRICES, QUANTITIES

if TYPE_CHECKING:
    pass

RUNS = shipped("runs")
FILES = sorted(PRIORS.rglob("*.toml"))


def name_of(path: Path) -> str:
    """How a shipped file is called in test names."""
    return str(path.relative_to(PRIORS))


@pytest.mark.parametrize("name", RUNS)
def test_run_loads_and_names_its_sources(name: str) -> None:
    """A shipped run loads without warnings, and every input has a source and a date."""
    scenario = load_scenario(name)
    assert scenario.warnings == ()
    for one in scenario.inputs.values():
        source = one.about("source")
        assert source, one.name
        # What a choice of the file states has no date.
        assert one.about("as_of") or any(source.startswith(f"{choice} = ") for choice in CHOICES), one.name


@pytest.mark.parametrize("name", RUNS)
def test_dumped_run_loads_to_an_equal_scenario(name: str, tmp_path: Path) -> None:
    """Loading what was dumped gives the same scenario."""
    scenario = load_scenario(name)
    path = tmp_path / "again.toml"
    path.write_text(dump_scenario(scenario), "utf-8")
    assert load_scenario(path) == scenario


@pytest.mark.parametrize("name", shipped("accelerators"))
def test_accelerator(name: str) -> None:
    """An accelerator is named after its file, and its peaks, memory and power are positive quantities."""
    table = tomllib.loads((PRIORS / "accelerators" / f"{name}.toml").read_text("utf-8"))["accelerator"]
    assert table["name"] == name
    assert table["peak_flop_per_s"]
    assert table["source"]
    assert table["as_of"]
    for peak in table["peak_flop_per_s"].values():
        assert parse_quantity(peak, QUANTITIES["peak_flop_per_s"].unit) > 1e12
    units = {"memory": "byte", "memory_bandwidth": "byte/s", "thermal_design_power": "watt"}
    for key, unit in units.items():
        assert key not in table or parse_quantity(table[key], unit) > 0


# The purchase that needs a table of prices.
PURCHASES = {"prices": "on-demand", "spot_prices": "spot", "reserved_prices": "reserved"}


@pytest.mark.parametrize("market", shipped("prices"))
def test_prices(market: str, tmp_path: Path) -> None:
    """Every price is of a shipped accelerator, has a source and a date, and forecasts a run."""
    document = tomllib.loads((PRIORS / "prices" / f"{market}.toml").read_text("utf-8"))
    run = tmp_path / "run.toml"
    for table, name in PRICES.items():
        for accelerator, price in document.get(table, {}).items():
            assert accelerator in shipped("accelerators")
            assert price["source"]
            assert price["as_of"]
            run.write_text(
                f'title = "A"\nestimator = "training"\npurchase = "{PURCHASES[table]}"\n'
                f'include = ["accelerators/{accelerator}", "prices/{market}"]\n'
                "[inputs]\nparameters = 7e9\ntokens = 1e12\naccelerators = 8\nmfu = 0.4\nfailure_overhead = 0.1\n"
            )
            assert load_scenario(run).inputs[name].stated == price


def test_template_loads() -> None:
    """The template is a prior file."""
    scenario = load_scenario(PRIORS / "template.toml")
    assert scenario.warnings == ()
    assert set(scenario.limits) == {"budget", "deadline"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_file_fits_the_shape_and_the_json_schema(path: Path) -> None:
    """Our own check and the JSON Schema both accept every shipped file."""
    content = tomllib.loads(path.read_text("utf-8"))
    assert check_document(content, path.name)[1] == []
    jsonschema.Draft202012Validator(json_schema()).validate(content)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_first_line_names_the_schema(path: Path) -> None:
    """An editor finds the schema from the first line of every shipped file."""
    first = path.read_text("utf-8").partition("\n")[0]
    assert first.startswith("#:schema ")
    assert (path.parent / first.removeprefix("#:schema ")).resolve() == SCHEMA_FILE.resolve()


def test_shipped_json_schema_is_current() -> None:
    """The shipped schema is what `botec schema` prints."""
    assert json.loads(SCHEMA_FILE.read_text("utf-8")) == json_schema()


BAD: list[dict[str, Any]] = [
    {"titel": "x"},
    {"title": 3},
    {"inputs": {"tokns": 1}},
    {"inputs": {"mfu": [0.3, 0.4]}},
    {"inputs": {"mfu": True}},
    {"inputs": {"mfu": {"p10": 0.3, "p90": 0.4}}},
    {"inputs": {"mfu": {"family": "beta", "sdd": 0.1}}},
    {"inputs": {"mfu": {"family": "jqpd", "p10": 0.3, "p50": 0.35, "p90": 0.4, "support": [1]}}},
    {"inputs": {"mfu": {"family": "mixture", "components": [[1, 2]], "odds": [1]}}},
    {"limits": {"budgt": "5 USD"}},
    {"observed": {"mfu": 0.3}},
    {"precision": "bf17"},
    {"include": "accelerators/h100-sxm"},
    {"correlations": [{"between": ["mfu"], "spearman": 0.3}]},
    {"correlations": [{"between": ["mfu", "tokens"], "sperman": 0.3}]},
    {"estimator": "trainig"},
]


@pytest.mark.parametrize("content", BAD, ids=str)
def test_json_schema_refuses(content: dict[str, Any], tmp_path: Path) -> None:
    """What our own check refuses for its shape, an editor marks too."""
    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(content)


def test_json_schema_is_one() -> None:
    """The schema itself is valid, and every definition it refers to exists."""
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)

    def references(node: Any) -> list[str]:
        if isinstance(node, dict):
            own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
            return own + [ref for value in node.values() for ref in references(value)]
        return [ref for item in node for ref in references(item)] if isinstance(node, list) else []

    assert {ref.removeprefix("#/$defs/") for ref in references(schema)} <= schema["$defs"].keys()
