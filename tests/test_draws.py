"""Draws: named arrays in printed units, and their way to ArviZ, to NetCDF and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import arviz_stats
import numpy as np
import pytest
import xarray

from uncertain_botec import Draws, load_scenario, sample, summarize
from uncertain_botec.distributions import elicit
from uncertain_botec.draws import evenly
from uncertain_botec.errors import UsageError
from uncertain_botec.library import shipped
from uncertain_botec.vocabulary import QUANTITIES

# Every kind of statement that a prior file may hold, one of them read from a CSV file beside it.
SCENARIO = """
title     = "Every <kind> of input & unit"
estimator = "training"

[inputs]
parameters                 = "70e9 parameter"
tokens                     = { family = "empirical", file = "tokens.csv", column = "T", unit = "T token" }
accelerators               = { family = "choice", values = [1024, 2048], odds = [1, 3] }
peak_flop_per_s            = { value = "312 TFLOP/s", source = "data sheet", as_of = "2020-11" }
mfu                        = { family = "jqpd", p10 = 0.36, p50 = 0.43, p90 = 0.48, support = [0, 1] }
failure_overhead           = { family = "jqpd", p10 = "4 %", p50 = "10 %", p90 = "30 %", support = [0, inf] }

[inputs.price_per_accelerator_hour]
family     = "mixture"
odds       = [1, 2]
components = [
  { family = "lognormal", median = "2 USD/hour", sigma = 0.3 },
  { family = "lognormal", median = "4 USD/hour", sigma = 0.3 },
]

[[correlations]]
between  = ["mfu", "failure_overhead"]
spearman = -0.3

[limits]
budget   = "5e6 USD"
deadline = { value = "45 day", note = "the board's" }

[observed]
accelerator_hours = { value = "1720320 accelerator-hour", source = "model card" }
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prior file with everything in it."""
    folder = tmp_path_factory.mktemp("priors")
    (folder / "tokens.csv").write_text("T\n1.9\n2.0\n2.2\n", "utf-8")
    path = folder / "scenario.toml"
    path.write_text(SCENARIO, "utf-8")
    return path


@pytest.fixture(scope="module")
def draws(file: Path) -> Draws:
    """Few draws of it."""
    return sample(load_scenario(file), 1 << 12, seed=2)


# --- access -----------------------------------------------------------------------------------------------------------


def test_items_are_in_printed_units(draws: Draws) -> None:
    """Base units inside, days, hours and dollars per hour outside; one row for each replicate."""
    assert draws["training_time"].shape == (16, 256)
    assert len(draws) == 1 << 12
    np.testing.assert_allclose(draws["training_time"] * 86400, draws.values["training_time"], rtol=1e-15)
    np.testing.assert_allclose(draws["price_per_accelerator_hour"] / 3600, draws.values["price_per_accelerator_hour"])
    cost = draws["accelerator_hours"] * draws["price_per_accelerator_hour"]
    np.testing.assert_allclose(cost, draws["cost"], rtol=1e-12)
    np.testing.assert_allclose(
        draws["accelerators"] * draws["training_time"] * 24, draws["accelerator_hours"], rtol=1e-12
    )
    with pytest.raises(KeyError):
        draws["no such name"]


def test_html_escapes_what_people_wrote(draws: Draws) -> None:
    """A title cannot break a notebook's page."""
    text = draws._repr_html_()
    assert "Every &lt;kind&gt; of input &amp; unit" in text
    assert "4,096 draws, lattice, seed 2" in text


# --- ArviZ ------------------------------------------------------------------------------------------------------------


def test_arviz_tree(draws: Draws) -> None:
    """Inputs are the prior, outputs its predictions, chains are replicates, and every variable has its unit."""
    tree = draws.to_arviz()
    assert set(tree.children) == {"prior", "prior_predictive"}
    assert set(tree["prior"].data_vars) == set(draws.scenario.inputs)
    assert set(tree["prior_predictive"].data_vars) == set(draws.outputs)
    for group in tree.children:
        for name, column in tree[group].data_vars.items():
            assert column.dims == ("chain", "draw")
            assert column.attrs["units"] == QUANTITIES[str(name)].unit
            np.testing.assert_array_equal(column.to_numpy(), draws[str(name)])


def test_arviz_attributes_are_texts(draws: Draws) -> None:
    """Whatever reads the file without this program still reads the attributes: texts, the structured ones as JSON."""
    tree = draws.to_arviz()
    for node in tree.subtree:
        for attributes in (node.attrs, *(column.attrs for column in node.data_vars.values())):
            assert all(isinstance(value, str) for value in attributes.values()), attributes
    assert json.loads(tree.attrs["provenance"])["seed"] == 2


def test_arviz_computes_on_the_tree(draws: Draws) -> None:
    """ArviZ's own summary of the tree agrees with ours where both are defined alike."""
    table = arviz_stats.summary(
        draws.to_arviz(), group="prior_predictive", kind="stats", ci_prob=0.8, ci_kind="eti", round_to="none"
    )
    ours = summarize(draws).outputs["cost"]
    assert float(table.loc["cost", "mean"]) == pytest.approx(ours.mean, rel=1e-9)
    assert float(table.loc["cost", "sd"]) == pytest.approx(ours.sd, rel=1e-3)


# --- NetCDF -----------------------------------------------------------------------------------------------------------


def assert_equal(one: Draws, other: Draws) -> None:
    """Equal scenario, provenance and names; values equal as printed, and to a rounding inside."""
    assert one.scenario == other.scenario
    assert one.provenance == other.provenance
    assert set(one.values) == set(other.values)
    for name, values in one.values.items():
        assert other.values[name].dtype == values.dtype
        np.testing.assert_allclose(other.values[name], values, rtol=2 * np.finfo(values.dtype).eps)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("sampler", ["lattice", "monte-carlo"])
def test_netcdf_and_back(precision: str, sampler: str, file: Path, tmp_path: Path) -> None:
    """Everything comes back, what is not compared too: the file's name and hash, notes, warnings and origins."""
    before = sample(load_scenario(file), 100, precision=precision, sampler=sampler)
    before.to_netcdf(tmp_path / "draws.nc")
    after = Draws.from_netcdf(tmp_path / "draws.nc")
    assert_equal(before, after)
    one, other = before.scenario, after.scenario
    assert (one.path, one.sha256, one.notes, one.warnings) == (other.path, other.sha256, other.notes, other.warnings)
    assert [item.origin for item in one.inputs.values()] == [item.origin for item in other.inputs.values()]
    assert list(one.inputs) == list(other.inputs)


@pytest.mark.parametrize("name", shipped("runs"))
def test_every_shipped_run_comes_back(name: str, tmp_path: Path) -> None:
    """Also a run with includes, which the file does not need any more, and with settings from the command line."""
    before = sample(load_scenario(name, ["limits.budget=1e6 USD"]), 256)
    before.to_netcdf(tmp_path / "draws.nc")
    after = Draws.from_netcdf(tmp_path / "draws.nc")
    assert_equal(before, after)
    assert after.scenario.limits["budget"].value == 1e6


def test_what_came_back_is_summarised_alike(draws: Draws, tmp_path: Path) -> None:
    """The summary of the file is that of the draws, and drawing again from the file's scenario gives the same draws."""
    draws.to_netcdf(tmp_path / "draws.nc")
    after = Draws.from_netcdf(tmp_path / "draws.nc")
    one, other = (summarize(each).outputs["cost"] for each in (draws, after))
    assert (one.p10, one.p90, one.mean) == pytest.approx((other.p10, other.p90, other.mean), rel=1e-14)
    again = sample(after.scenario, 1 << 12, seed=after.provenance.seed)
    assert all(again.values[name].tobytes() == draws.values[name].tobytes() for name in draws.values)


def test_a_long_scenario_fits(tmp_path: Path) -> None:
    """A scenario of more than 64 KiB, the most that HDF5 takes as an ordinary attribute, comes back whole."""
    (tmp_path / "many.csv").write_text("n\n" + "\n".join(str(1000 + k / 7) for k in range(4000)) + "\n", "utf-8")
    accelerators = '{ family = "empirical", file = "many.csv", column = "n" }'
    before = sample(load_scenario("gpt-3", ["inputs.accelerators=1000"]), 64)
    text = Path(tmp_path / "scenario.toml")
    text.write_text(
        'title = "Long"\nestimator = "training"\ninclude = ["runs/gpt-3"]\n[inputs]\naccelerators = ' + accelerators,
        "utf-8",
    )
    before = sample(load_scenario(text), 64)
    assert len(before.to_arviz().attrs["scenario"]) > 1 << 16
    before.to_netcdf(tmp_path / "draws.nc")
    assert_equal(before, Draws.from_netcdf(tmp_path / "draws.nc"))


def _missing(path: Path) -> None:
    """No file at all."""


def _text(path: Path) -> None:
    path.write_text("not a NetCDF file", "utf-8")


def _someone_elses(path: Path) -> None:
    xarray.Dataset({"x": ("y", [1.0])}).to_netcdf(path, engine="h5netcdf")


@pytest.mark.parametrize("spoil", [_missing, _text, _someone_elses])
def test_other_files_are_refused(spoil: Callable[[Path], None], tmp_path: Path) -> None:
    """What `to_netcdf` did not write is a usage error that names the file."""
    spoil(tmp_path / "draws.nc")
    with pytest.raises(UsageError, match=r"draws\.nc: not a file of draws"):
        Draws.from_netcdf(tmp_path / "draws.nc")


@pytest.mark.parametrize(
    ("attribute", "content"),
    [("provenance", "[1, 2]"), ("provenance", '{"seed": 1}'), ("reading", "not JSON"), ("reading", "{}")],
)
def test_spoiled_attributes_are_refused(attribute: str, content: str, draws: Draws, tmp_path: Path) -> None:
    """A file whose attributes were changed is a usage error too, not a traceback."""
    tree = draws.to_arviz()
    tree.attrs[attribute] = content
    tree.to_netcdf(tmp_path / "draws.nc", engine="h5netcdf")
    with pytest.raises(UsageError, match=r"draws\.nc: not a file of draws"):
        Draws.from_netcdf(tmp_path / "draws.nc")


def test_a_spoiled_scenario_is_refused(draws: Draws, tmp_path: Path) -> None:
    """A scenario that cannot be loaded any more names the file of draws, not the temporary one it was read from."""
    tree = draws.to_arviz()
    tree.attrs["scenario"] = tree.attrs["scenario"].replace("mfu", "mufu")
    tree.to_netcdf(tmp_path / "draws.nc", engine="h5netcdf")
    with pytest.raises(UsageError, match=r"draws\.nc: not a file of draws: its scenario: \$\.inputs\.mufu"):
        Draws.from_netcdf(tmp_path / "draws.nc")


@pytest.mark.parametrize("sampler", ["lattice", "sobol"])
@pytest.mark.parametrize("name", ["parameters", "tokens", "mfu"])
def test_some_draws_are_as_even_as_all(sampler: str, name: str) -> None:
    """Of 128 thinned draws of a replicate one lies in each of 128 cells of equal probability."""
    scenario = load_scenario("gpt-3").but(**{name: elicit("uniform", {"low": 0.25, "high": 0.75})})
    draws = sample(scenario, 1 << 14, sampler=sampler)
    some = draws.values[name][:, evenly(sampler, draws.provenance.size, 128)]
    cells = np.sort(np.floor((some - 0.25) / 0.5 * 128), axis=1)
    assert np.array_equal(cells, np.broadcast_to(np.arange(128.0), cells.shape))
