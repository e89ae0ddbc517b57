"""What prior files mean once read: precedence, settings, units, truncation, supplied outputs, measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from uncertain_botec import dump_scenario, load_scenario
from uncertain_botec.distributions import level_of_u
from uncertain_botec.explain import explain
from uncertain_botec.library import PRIORS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from uncertain_botec import Scenario

    Write = Callable[..., Path]

TOKENS = '{ family = "lognormal", p10 = "1e12 token", p90 = "2e12 token" }'


def value_of(scenario: Scenario, name: str) -> float:
    """The median of an input, in base units."""
    return float(scenario.inputs[name].distribution.quantile(level_of_u(np.array([0.5])))[0])


def test_includes_win_in_order(write: Write) -> None:
    """A later include wins over an earlier one, the file itself over both, and what is included twice comes once."""
    path = write('include = ["a", "b"]', mfu=None, tokens=None, accelerators="64")
    folder = path.parent
    (folder / "a.toml").write_text('include = ["b"]\n[inputs]\nmfu = 0.3\ntokens = "1e12 token"\naccelerators = 1\n')
    (folder / "b.toml").write_text('[inputs]\nmfu = 0.4\ntokens = "2e12 token"\naccelerators = 2\n')
    assert value_of(load_scenario(path), "accelerators") == 64
    # `a` includes `b`, so `b` was read before `a`, and its second mention changes nothing.
    assert value_of(load_scenario(path), "mfu") == 0.3
    (folder / "a.toml").write_text('[inputs]\nmfu = 0.3\ntokens = "1e12 token"\n')
    assert value_of(load_scenario(path), "mfu") == 0.4
    assert value_of(load_scenario(path), "tokens") == 2e12


def test_a_later_input_replaces_an_earlier_one_as_a_whole(write: Write) -> None:
    """Keys of an included input do not leak into the input that replaces it."""
    path = write('include = ["a"]', mfu='{ family = "logit-normal", p10 = 0.3, p90 = 0.45 }')
    (path.parent / "a.toml").write_text('[inputs.mfu]\nfamily = "beta"\nalpha = 3\nbeta = 4\nsource = "elsewhere"\n')
    mfu = load_scenario(path).inputs["mfu"]
    assert mfu.stated == {"family": "logit-normal", "p10": 0.3, "p90": 0.45}
    assert mfu.about("source") is None


SETTINGS = [
    ("inputs.tokens.p90=4e12 token", "tokens", {"family": "lognormal", "p10": "1e12 token", "p90": "4e12 token"}),
    ("inputs.tokens.p90 = 4e12", "tokens", {"family": "lognormal", "p10": "1e12 token", "p90": 4e12}),
    ("inputs.mfu=0.5", "mfu", 0.5),
    ("inputs.mfu=50 %", "mfu", "50 %"),
    (
        'inputs.mfu={ family = "beta", mean = 0.4, sd = 0.1 }',
        "mfu",
        {"family": "beta", "mean": 0.4, "sd": 0.1},
    ),
]


@pytest.mark.parametrize(("setting", "name", "stated"), SETTINGS)
def test_settings(write: Write, setting: str, name: str, stated: object) -> None:
    """A setting replaces one key of an input, or an input as a whole, and leaves all others alone."""
    path = write()
    before, after = load_scenario(path), load_scenario(path, [setting])
    assert after.inputs[name].stated == stated
    assert {k: v for k, v in after.inputs.items() if k != name} == {k: v for k, v in before.inputs.items() if k != name}


def test_settings_follow_one_another(write: Write) -> None:
    """Several settings of one input and of limits, titles and accelerators are all in force."""
    path = write('include = ["accelerators/h100-sxm"]', '[limits]\nbudget = "1 USD"', peak_flop_per_s=None)
    settings = [
        "inputs.tokens.p10=5e12",
        "inputs.tokens.p90=6e12",
        "limits.budget=7 USD",
        "limits.deadline=2 day",
        "title=Another",
        "accelerator.peak_flop_per_s.bf16=100 TFLOP/s",
    ]
    scenario = load_scenario(path, settings)
    assert scenario.inputs["tokens"].stated == {"family": "lognormal", "p10": 5e12, "p90": 6e12}
    assert {name: limit.value for name, limit in scenario.limits.items()} == {"budget": 7.0, "deadline": 172800.0}
    assert scenario.title == "Another"
    assert value_of(scenario, "peak_flop_per_s") == 1e14


def test_setting_beside_a_csv_file(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Changing the note of an input from a CSV file still finds the file, wherever the command runs."""
    path = write(mfu='{ family = "empirical", file = "x.csv", column = "x" }', name="deep/run.toml")
    (path.parent / "x.csv").write_text("x\n0.3\n0.4\n")
    monkeypatch.chdir(tmp_path)
    assert load_scenario(path, ["inputs.mfu.note=ours"]).inputs["mfu"].about("note") == "ours"


EQUAL_UNITS = [
    ("price_per_accelerator_hour", '"2.2 USD/hour"', '"2.2 USD/accelerator-hour"'),
    ("price_per_accelerator_hour", '"2.2 USD/hour"', '"2.2 USD/GPU-hour"'),
    ("peak_flop_per_s", '"312 TFLOP/s"', '"312e12 FLOP/accelerator-second"'),
    ("peak_flop_per_s", '"312 TFLOP/s"', '"0.312 PFLOPS"'),
    ("tokens", '"1.5T token"', "1.5e12"),
    ("failure_overhead", '"10 %"', "0.1"),
    ("parameters", '"7e9 parameter"', '"7B"'),
]


@pytest.mark.parametrize(("name", "one", "other"), EQUAL_UNITS)
def test_units_with_and_without_per_accelerator(write: Write, name: str, one: str, other: str) -> None:
    """Ways to write the same value give the same distribution."""
    first, second = (load_scenario(write(**{name: text})).inputs[name].distribution for text in (one, other))
    assert float(first.support[0]) == pytest.approx(float(second.support[0]), rel=1e-15)


def test_toml_dates(write: Write) -> None:
    """A TOML date under `as_of` is as good as a text, and survives being dumped."""
    scenario = load_scenario(write(mfu="{ value = 0.4, as_of = 2026-10-01 }"))
    assert str(scenario.inputs["mfu"].about("as_of")) == "2026-10-01"
    path = write(name="again.toml")
    path.write_text(dump_scenario(scenario))
    assert load_scenario(path).inputs["mfu"].distribution == scenario.inputs["mfu"].distribution


def test_constants_in_a_correlation(write: Write) -> None:
    """A correlation with a value that is known is noted and has no effect."""
    tail = '[[correlations]]\nbetween = ["mfu", "accelerators"]\nspearman = 0.5'
    scenario = load_scenario(write("", tail))
    assert scenario.dependence is None
    assert any("accelerators is known exactly" in note for note in scenario.notes)


@pytest.mark.parametrize(("high", "kind"), [(0.6, "notes"), (0.4, "warnings")])
def test_truncation_reports_the_mass_cut(write: Write, high: float, kind: str) -> None:
    """The mass that a truncation removes is noted, and warned of above 5 %."""
    mfu = f'{{ family = "lognormal", p10 = 0.3, p90 = 0.45, truncate = [0, {high}] }}'
    scenario = load_scenario(write(mfu=mfu))
    from scipy.stats import lognorm, norm

    sigma = np.log(0.45 / 0.3) / (2 * norm.ppf(0.9))
    cut = lognorm(sigma, scale=np.sqrt(0.3 * 0.45)).sf(high)
    assert [f"$.inputs.mfu: truncation cuts off {100 * cut:.2g} %" in line for line in getattr(scenario, kind)] == [
        True
    ]
    assert scenario.inputs["mfu"].distribution.support[1] == high


def test_truncated_component_is_reported(write: Write) -> None:
    """A truncation inside a mixture is reported at its own place."""
    part = '{ family = "lognormal", p10 = 0.3, p90 = 0.45, truncate = [0, 0.4] }'
    scenario = load_scenario(write(mfu=f'{{ family = "mixture", components = [0.4, {part}], odds = [1, 1] }}'))
    assert "$.inputs.mfu.components[1]: truncation cuts off" in scenario.warnings[0]


def test_unusual_overhead_is_warned_of(write: Write) -> None:
    """A failure overhead with a P90 of 1.4 is possible but probably percent gone wrong; one of 0.2 is not."""
    assert (
        "unusual" in load_scenario(write(failure_overhead='{ family = "lognormal", p10 = 0.1, p90 = 1.4 }')).warnings[0]
    )
    assert load_scenario(write()).warnings == ()


def test_supplied_outputs_skip_their_formulas(write: Write) -> None:
    """Who states the FLOP needs no parameters and tokens, and the explanation says that the formula is skipped."""
    scenario = load_scenario(write(training_flop='"1e22 FLOP"', parameters=None, tokens=None))
    explanation = explain(scenario)
    assert "training_flop" not in [step.output.name for step in explanation.steps]
    assert explanation.skipped == ("training_flop",)
    time = next(step for step in explanation.steps if step.output.name == "stepping_time")
    assert next(term.value for term in time.inputs if term.name == "training_flop") == 1e22


def test_inputs_that_are_not_needed_are_warned_of(write: Write) -> None:
    """An input that a supplied output makes useless is named."""
    scenario = load_scenario(write(training_flop='"1e22 FLOP"'))
    assert any("tokens is stated but" in line for line in scenario.warnings)
    assert "tokens" not in scenario.inputs


def test_measurements_in_any_order(write: Write) -> None:
    """The rows of a CSV file in another order give the same distribution, and their unit counts."""
    price = '{ family = "empirical", file = "x.csv", column = "price", unit = "USD/day" }'
    path = write(price_per_accelerator_hour=price)
    seen = []
    for rows in ("24\n48\n72\n", "72\n24\n48\n"):
        (path.parent / "x.csv").write_text(f"price,seller\n{rows}".replace("\n", ",a\n").replace("seller,a", "seller"))
        scenario = load_scenario(path)
        seen.append(scenario.inputs["price_per_accelerator_hour"].distribution)
    assert seen[0] == seen[1]
    assert np.array(seen[0].support) * 3600 == pytest.approx([1.0, 3.0])
    assert "x.csv" not in dump_scenario(scenario)


def test_measurements_inside_a_mixture(write: Write) -> None:
    """A component may come from a CSV file too."""
    part = '{ family = "empirical", file = "x.csv", column = "x" }'
    path = write(mfu=f'{{ family = "mixture", components = [0.4, {part}], odds = [1, 1] }}')
    (path.parent / "x.csv").write_text("x\n0.3\n0.5\n")
    assert load_scenario(path).inputs["mfu"].distribution.support == (0.3, 0.5)


def test_a_later_file_replaces_a_correlation(write: Write) -> None:
    """A pair stated again by a later file replaces that pair only, also after a dump."""
    names = '["mfu", "tokens", "failure_overhead"]'
    path = write('include = ["a"]', '[[correlations]]\nbetween = ["mfu", "tokens"]\nlatent = 0.1')
    matrix = "[[1, 0.3, 0.2], [0.3, 1, 0.4], [0.2, 0.4, 1]]"
    (path.parent / "a.toml").write_text(f"[[correlations]]\nbetween = {names}\nlatent = {matrix}\n")
    scenario = load_scenario(path)
    assert scenario.dependence is not None
    assert scenario.dependence.names == ("failure_overhead", "mfu", "tokens")
    assert scenario.dependence.latent == ((1.0, 0.2, 0.4), (0.2, 1.0, 0.1), (0.4, 0.1, 1.0))
    again = path.with_name("again.toml")
    again.write_text(dump_scenario(scenario))
    assert load_scenario(again) == scenario


def test_a_rank_correlation_of_separate_values_is_noted(tmp_path: Path) -> None:
    """Between values that tie, draws cannot reach a rank correlation meant for continuous ones: a note says so."""
    file = tmp_path / "run.toml"
    text = (PRIORS / "template.toml").read_text("utf-8")
    choice = 'accelerators = { family = "choice", values = [256, 512], weights = [0.9, 0.1] }'
    text = text.replace("accelerators = 256", choice)
    file.write_text(
        text.replace("[limits]", '[[correlations]]\nbetween = ["accelerators", "mfu"]\nspearman = 0.9\n[limits]'),
        "utf-8",
    )
    assert any("accelerators takes separate values" in note for note in load_scenario(file).notes)
