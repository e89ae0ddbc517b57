"""Shipped runs against what was published: parameters, figures that follow from each other, the table in docs."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import numpy as np
import pytest

from uncertain_botec import load_scenario, sample
from uncertain_botec.architecture import Network, Transformer
from uncertain_botec.architecture.layers import Experts
from uncertain_botec.library import PRIORS, shipped

ROOT = Path(__file__).parents[2]

# Exact counts of published weights; where a paper prints fewer digits, so many.
PARAMETERS = {
    "llama-2-7b": (6738415616, 10),
    "llama-2-13b": (13015864320, 11),
    "llama-2-70b": (68976648192, 11),
    "llama-3.1-405b": (405853388800, 12),
    "chat-70b": (70553706496, 11),
    "deepseek-v3": (671026419200, 12),
    "bloom-176b": (176247271424, 12),
    "gpt-3": (174.6e9, 4),
    "olmo-3-32b": (32.2e9, 3),
}

# Plans, and what is published in other terms.
NOT_COUNTED_THUS = {"mixture-400b-2027", "nanochat-d24", "toy-network-2-3-1"}


def counts(run: str) -> dict[str, float]:
    """What is counted on a run's architecture."""
    model = load_scenario(run).architecture
    assert isinstance(model, Transformer)
    return model.quantities("full")


def published(run: str, output: str) -> float:
    """A published figure of a run, in base units."""
    return load_scenario(run).observed[output].value


def test_every_architecture_is_held_against_a_count() -> None:
    """No shipped architecture is left out below, and only runs whose size is open have none."""
    known = {run for run in shipped("runs") if load_scenario(run).architecture is not None}
    assert known == PARAMETERS.keys() | NOT_COUNTED_THUS
    assert {*shipped("runs")} - known == {"frontier-2027", "chinchilla-70b-budget"}


@pytest.mark.parametrize("run", PARAMETERS)
def test_counted_parameters_are_the_published_ones(run: str) -> None:
    """All parameters of a shipped architecture equal the published count, to its last printed digit."""
    count, digits = PARAMETERS[run]
    assert float(f"{counts(run)['total_parameters']:.{digits - 1}e}") == count


def test_nanochat_has_its_published_matrices() -> None:
    """The matrix products of nanochat d24 have as many parameters as tokens over 12, its ratio."""
    assert counts("nanochat-d24")["matmul_parameters"] == 8757706752 / 12


def test_active_parameters_of_deepseek_v3_are_about_the_printed_ones() -> None:
    """The printed 37e9 lie between the counts without and with the lookup of the embedding."""
    count = counts("deepseek-v3")
    assert count["parameters"] - count["output_head_parameters"] < 37e9 < count["parameters"]


def test_toy_network_is_counted_on_paper() -> None:
    """2-3-1 has 13 parameters, takes 18 FLOP forward and 54 for an example, 6 by weight."""
    scenario = load_scenario("toy-network-2-3-1")
    assert scenario.architecture == Network((2, 3, 1))
    draws = sample(scenario, 64)
    found = [float(draws[name].flat[0]) for name in ("network_parameters", "forward_flop", "example_flop")]
    assert found == [13, 18, 54]


def test_chinchilla_budget_has_the_published_optimum() -> None:
    """5.88e23 FLOP are best spent on 73.0e9 parameters at 18.4 tokens by parameter (arXiv 2404.10102)."""
    draws = sample(load_scenario("chinchilla-70b-budget"), 64)
    assert float(draws["optimal_parameters"].flat[0]) == pytest.approx(73.02e9, rel=5e-4)
    assert float(draws["tokens_per_parameter"].flat[0]) == pytest.approx(18.4, abs=0.05)


HOUR, KILO = 3600, 1000


@pytest.mark.parametrize(
    ("run", "power", "intensity", "rounding"),
    [
        ("llama-2-7b", 400, 0.4235, 0.005),
        ("llama-2-13b", 400, 0.4235, 0.005),
        ("llama-2-70b", 400, 0.4235, 0.005),
        ("bloom-176b", 400, 0.057, 0.005),
        ("llama-3.1-405b", 700, 0.4137, 5),
    ],
)
def test_published_emissions_are_hours_times_power(run: str, power: float, intensity: float, rounding: float) -> None:
    """Published tonnes follow from published hours, the accelerator's design power and one intensity, as notes say."""
    energy = published(run, "accelerator_hours") / HOUR * power / KILO
    rest = rounding + 5e-5 * energy / KILO
    assert published(run, "emissions") / KILO**2 == pytest.approx(energy * intensity / KILO, abs=rest)


def test_published_energy_of_bloom_is_hours_times_design_power() -> None:
    """433,196 kWh are 1,082,990 hours at 400 W, to the last digit: a computation and not a measurement."""
    assert published("bloom-176b", "energy") == pytest.approx(published("bloom-176b", "accelerator_hours") * 400)


def test_published_days_of_bloom_are_its_hours() -> None:
    """118.2 days of 384 accelerators are the published hours, to one per cent."""
    hours, days = (published("bloom-176b", output) for output in ("accelerator_hours", "training_time"))
    assert hours == pytest.approx(384 * days, rel=0.01)


def test_record_of_llama_3_1_is_its_count() -> None:
    """3.09 hours between failures are 54 days over 419 interruptions."""
    assert published("llama-3.1-405b", "cluster_mtbf") / HOUR == pytest.approx(54 * 24 / 419, abs=0.005)


def test_forecast_of_llama_3_1_does_not_know_its_own_failures() -> None:
    """The failure rate believed for 405B is that of six other clusters: Student's t on their logarithms."""
    rates = np.log([6.5, 2.3, 13, 3.0, 2.2, 8.6])
    half = 1.4759 * rates.std(ddof=1) * np.sqrt(1 + 1 / len(rates))
    expected = [rates.mean() - half, rates.mean(), rates.mean() + half]
    stated = tomllib.loads((PRIORS / "runs" / "llama-3.1-405b.toml").read_text("utf-8"))["inputs"]["node_failure_rate"]
    for key, log in zip(("p10", "p50", "p90"), expected, strict=True):
        assert float(stated[key].split()[0]) == pytest.approx(np.exp(log) / 1000, rel=0.025)


def test_layout_of_the_mixture_can_be_built() -> None:
    """The planned mixture's layout divides nodes, layers, heads, experts and cluster, and its memory fits always."""
    scenario, count = load_scenario("mixture-400b-2027"), counts("mixture-400b-2027")
    assert isinstance(scenario.architecture, Transformer)
    known = {name: one.distribution.mean() for name, one in scenario.inputs.items() if one.known}
    tensor, pipeline, expert = (known[f"{kind}_parallel"] for kind in ("tensor", "pipeline", "expert"))
    assert known["accelerators"] % (pipeline * max(tensor, expert)) == 0
    assert known["accelerators_per_node"] % tensor == 0
    assert count["layers"] % pipeline == 0
    assert count["attention_heads"] % tensor == 0
    experts = [group.mlp.experts for group in scenario.architecture.groups if isinstance(group.mlp, Experts)]
    assert [number % expert for number in experts] == [0]
    assert count["total_parameters"] == pytest.approx(400e9, rel=0.02)
    assert sample(scenario, 1 << 10)["memory_utilisation"].max() < 1


def test_table_is_current() -> None:
    """The table in docs is what the tool writes from the shipped runs."""
    tool = runpy.run_path(str(ROOT / "tools" / "published_table.py"))
    assert (ROOT / "docs" / "published-runs.md").read_text("utf-8") == tool["table"]()
