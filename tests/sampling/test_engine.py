"""The engine: the same draws however they are computed, dependence as stated, finite numbers in both precisions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest, pearsonr, spearmanr

from uncertain_botec import Draws, Scenario, load_scenario, sample, summarize
from uncertain_botec.errors import SamplingError, UsageError
from uncertain_botec.library import shipped
from uncertain_botec.sampling.points import SAMPLERS

Make = Callable[..., Scenario]

INPUTS = {
    "parameters": '"70e9 parameter"',
    "tokens": '{ family = "lognormal", median = "2e12 token", sigma = 0.2 }',
    "accelerators": "2048",
    "peak_flop_per_s": '"312 TFLOP/s"',
    "mfu": '{ family = "logit-normal", p10 = 0.3, p90 = 0.5 }',
    "failure_overhead": '{ family = "lognormal", p10 = "4 %", p90 = "20 %" }',
    "price_per_accelerator_hour": '{ family = "lognormal", median = "2 USD/hour", sigma = 0.3 }',
}


@pytest.fixture
def make(load_inputs: Make) -> Make:
    """A maker of scenarios: the usual inputs, some of them replaced or (with None) left out, and further tables."""
    return partial(load_inputs, INPUTS)


def correlated(kind: str, value: Any, *names: str) -> str:
    """A table of correlations; it stands before [inputs]."""
    return f"[[correlations]]\nbetween = {list(names)}\n{kind} = {value}\n"


def furthest(one: Draws, other: Draws) -> float:
    """The largest relative difference of any draw of any name."""
    assert list(one.values) == list(other.values)
    return max(float(np.max(np.abs(one.values[name] / other.values[name] - 1))) for name in one.values)


def bits_equal(one: Draws, other: Draws, names: Sequence[str]) -> bool:
    """Whether every draw of these names is the same to the last bit."""
    return all(one.values[name].tobytes() == other.values[name].tobytes() for name in names)


# --- the same draws ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_same_seed_same_draws(sampler: str, make: Make) -> None:
    """A seed gives the same draws to the last bit, 0 is a seed like any other, and another seed gives others."""
    scenario = make()
    first = sample(scenario, 1 << 12, seed=0, sampler=sampler)
    assert bits_equal(first, sample(scenario, 1 << 12, seed=0, sampler=sampler), list(first.values))
    other = sample(scenario, 1 << 12, seed=1, sampler=sampler)
    for name in scenario.uncertain:
        assert not np.isin(first.values[name], other.values[name]).any()
    one, two = (summarize(draws).outputs["cost"] for draws in (first, other))
    assert abs(one.p50 - two.p50) < 5 * np.hypot(one.mcse["p50"], two.mcse["p50"])


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("chunk", [1, 1000, 4096, 1 << 20])
def test_chunks_do_not_change_draws(sampler: str, chunk: int, make: Make) -> None:
    """One point at a time, an odd number of them or all at once: the same draws within rounding."""
    draws = 16 * 37 if chunk == 1 else 100_001
    scenario = make(rest=correlated("spearman", 0.5, "mfu", "tokens"))
    whole = sample(scenario, draws, seed=3, sampler=sampler)
    assert furthest(whole, sample(scenario, draws, seed=3, sampler=sampler, chunk=chunk)) < 1e-12


EIGHT_DEVICES = """
import sys
import jax
import numpy as np
from uncertain_botec import load_scenario, sample
holders = set()
def progress(done):
    holders.update(len(array.sharding.device_set) for array in jax.live_arrays())
for sampler in ("lattice", "sobol", "monte-carlo"):
    draws = sample(load_scenario(sys.argv[1]), 100_001, seed=3, sampler=sampler, chunk=4096, progress=progress)
    np.savez(f"{sys.argv[2]}/{sampler}.npz", **draws.values)
print(jax.device_count(), draws.provenance.device.endswith("8 devices"), 8 in holders)
"""


def test_devices_do_not_change_draws(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight devices share every chunk (their arrays lie on all eight) and give what one gives, within rounding."""
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    scenario = make({"mfu": '{ family = "beta", mean = 0.4, sd = 0.05 }'}, correlated("latent", 0.5, "mfu", "tokens"))
    command = [sys.executable, "-W", "error", "-c", EIGHT_DEVICES, str(tmp_path / "scenario.toml"), str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["8", "True", "True"]
    for sampler in SAMPLERS:
        one = sample(scenario, 100_001, seed=3, sampler=sampler, device="cpu")
        with np.load(tmp_path / f"{sampler}.npz") as eight:
            for name, values in one.values.items():
                np.testing.assert_allclose(eight[name], values, rtol=1e-12, err_msg=f"{sampler} {name}")


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": '{ family = "lognormal", median = "70e9 parameter", sigma = 0.1 }'},
        {"accelerators": '{ family = "poisson", mean = 2000 }', "parameters": '"1e9 parameter"'},
        {"training_flop": '{ family = "lognormal", median = "8e23 FLOP", sigma = 0.1 }', "parameters": None},
        {"failure_overhead": "0.1"},
    ],
    ids=["a fixed one made uncertain", "a count", "an output stated", "one made fixed"],
)
def test_an_input_leaves_the_others_alone(sampler: str, changes: Mapping[str, str | None], make: Make) -> None:
    """What is stated about one input does not change a bit of another's draws."""
    before = sample(make(), 1 << 14, seed=2, sampler=sampler)
    after = sample(make(changes), 1 << 14, seed=2, sampler=sampler)
    same = [name for name in INPUTS if name not in changes and name in after.values]
    assert {"mfu", "price_per_accelerator_hour"} <= set(same)
    assert bits_equal(before, after, same)


@pytest.mark.parametrize("rest", ["", correlated("latent", 0.5, "mfu", "tokens", "failure_overhead")])
def test_the_order_of_the_file_does_not_matter(rest: str, make: Make, load_inputs: Make) -> None:
    """Inputs in another order have the same draws to the last bit, correlated or not."""
    reordered = rest.replace("mfu", "x").replace("x", "mfu")
    backwards = load_inputs(dict(reversed(INPUTS.items())), rest=reordered)
    one, other = sample(make(rest=rest), 1 << 14), sample(backwards, 1 << 14)
    assert bits_equal(one, other, list(INPUTS))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_equal_priors_are_separate_draws(sampler: str, make: Make) -> None:
    """Two inputs with the same belief are independent: their correlation is within four standard errors of none."""
    same = '{{ family = "lognormal", median = "1e12 {}", sigma = 0.3 }}'
    draws = sample(make({name: same.format(name[:-1]) for name in ("parameters", "tokens")}), 1 << 16, sampler=sampler)
    correlation, _ = pearsonr(draws.values["parameters"].ravel(), draws.values["tokens"].ravel())
    assert abs(correlation) < 4 / np.sqrt(len(draws))
    assert not np.any(draws.values["parameters"] == draws.values["tokens"])


def test_replicates_are_different_randomisations(make: Make) -> None:
    """No draw of one replicate occurs in another, so their spread measures the error."""
    mfu = sample(make(), 1 << 14).values["mfu"]
    assert len(np.unique(mfu)) == mfu.size


# --- dependence -------------------------------------------------------------------------------------------------------

PAIR = {
    "parameters": '{ family = "lognormal", median = "1e9 parameter", sigma = 0.8 }',
    "tokens": '{ family = "lognormal", median = "1e9 token", sigma = 0.8 }',
}


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_latent_correlation_is_that_of_the_logarithms(sampler: str, make: Make) -> None:
    """Latent 0.7 of two lognormals is Pearson's (exp(0.7 s²) - 1) / (exp(s²) - 1): 0.6304 for sigma s = 0.8."""
    draws = sample(make(PAIR, correlated("latent", 0.7, "parameters", "tokens")), 1 << 20, seed=4, sampler=sampler)
    pearson = [pearsonr(*pair).statistic for pair in zip(draws["parameters"], draws["tokens"], strict=True)]
    error = np.std(pearson, ddof=1) / 4
    assert np.mean(pearson) == pytest.approx(0.6304, abs=4 * error + 5e-5)
    assert error < 0.002


@pytest.mark.parametrize("stated", [0.7, -0.4])
def test_rank_correlation_is_as_stated(stated: float, make: Make) -> None:
    """Spearman's correlation comes out as stated, also between families without a closed-form quantile."""
    changes = PAIR | {"mfu": '{ family = "beta", mean = 0.4, sd = 0.1 }'}
    draws = sample(make(changes, correlated("spearman", stated, "mfu", "tokens")), 1 << 18, sampler="monte-carlo")
    found = spearmanr(draws["mfu"].ravel(), draws["tokens"].ravel()).statistic
    assert abs(found - stated) < 4 / np.sqrt(len(draws))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("kind", ["latent", "spearman"])
def test_perfect_correlation(sign: float, kind: str, make: Make) -> None:
    """At 1 the two are one draw, at -1 each is the other's mirror image about the median."""
    draws = sample(make(PAIR, correlated(kind, sign, "parameters", "tokens")), 1 << 14)
    first, second = (np.log(draws.values[name] / 1e9) for name in ("parameters", "tokens"))
    np.testing.assert_allclose(second, sign * first, atol=1e-12)


def test_one_factor_may_drive_three(make: Make) -> None:
    """A singular matrix of perfect correlations, with a fourth input beside them, gives finite draws as stated."""
    names = ("parameters", "tokens", "failure_overhead", "price_per_accelerator_hour")
    matrix = [[1.0, 1.0, -1.0, 0.5], [1.0, 1.0, -1.0, 0.5], [-1.0, -1.0, 1.0, -0.5], [0.5, 0.5, -0.5, 1.0]]
    draws = sample(make(PAIR, correlated("latent", matrix, *names)), 1 << 18, sampler="monte-carlo")
    logs = np.array([np.log(draws[name].ravel()) for name in names])
    np.testing.assert_allclose(np.corrcoef(logs), matrix, atol=4 / np.sqrt(len(draws)))


MANY = {
    "parameters": '{ family = "uniform", low = "1e9 parameter", high = "2e9 parameter" }',
    "tokens": """{ family = "mixture", weights = [0.5, 0.5], components = [
      { family = "lognormal", median = "1e12 token", sigma = 0.1 },
      { family = "lognormal", median = "3e12 token", sigma = 0.1 } ] }""".replace("\n", ""),
    "mfu": '{ family = "beta", mean = 0.4, sd = 0.05 }',
    "failure_overhead": '{ family = "gamma", mean = 0.1, sd = 0.05 }',
    "price_per_accelerator_hour": """{ family = "normal", mean = "2 USD/hour", sd = "1 USD/hour",
      truncate = ["1 USD/hour", inf] }""".replace("\n", ""),
    "accelerators": '{ family = "poisson", mean = 30 }',
    "peak_flop_per_s": '{ family = "choice", values = ["300 TFLOP/s", "400 TFLOP/s"], weights = [0.3, 0.7] }',
}


def test_correlating_leaves_every_marginal_as_it_was(make: Make) -> None:
    """Uniform, tabulated, mixed, truncated and discrete inputs follow their own laws inside a copula as outside it."""
    rest = correlated("latent", 0.6, *MANY)
    together = sample(make(MANY, rest), 1 << 16, seed=5, sampler="monte-carlo")
    apart = sample(make(MANY), 1 << 16, seed=5, sampler="monte-carlo")
    for name, one in together.scenario.inputs.items():
        if one.known:
            continue
        for draws in (together, apart):
            values = draws.values[name].ravel()
            if one.distribution.discrete:
                points = np.unique(values)
                shares = np.searchsorted(np.sort(values), points, side="right") / values.size
                chance = one.distribution.cdf(points)
                spread = np.sqrt(np.maximum(chance * (1 - chance), 1e-6) / values.size)
                assert np.all(np.abs(shares - chance) < 5 * spread + 1e-12), name
            else:
                assert kstest(values, one.distribution.cdf).pvalue > 1e-4, name
    first = together.scenario.dependence.names[0] if together.scenario.dependence else ""
    assert bits_equal(together, apart, [first])
    smooth = [name for name in MANY if not together.scenario.inputs[name].distribution.discrete]
    ranks = spearmanr(np.array([together.values[name].ravel() for name in smooth]), axis=1).statistic
    apart_from_itself = ranks[~np.eye(len(smooth), dtype=bool)]
    assert np.abs(apart_from_itself - 6 / np.pi * np.arcsin(0.3)).max() < 5 / np.sqrt(len(together))


@pytest.mark.parametrize("sampler", ["lattice", "sobol"])
def test_groups_do_not_share_points(sampler: str, make: Make) -> None:
    """Two correlated pairs and two inputs by themselves: nothing across groups, even with few quasi-random points."""
    lognormal = '{{ family = "lognormal", median = "{}", sigma = 0.3 }}'
    changes = PAIR | {
        "mfu": lognormal.format("10 %"),
        "failure_overhead": lognormal.format("10 %"),
        "accelerators": lognormal.format("2048 accelerator"),
        "peak_flop_per_s": lognormal.format("300 TFLOP/s"),
    }
    groups = (("parameters", "mfu"), ("tokens", "failure_overhead"))
    rest = "".join(correlated("latent", 0.9, *group) for group in groups)
    draws = sample(make(changes, rest), 1 << 14, sampler=sampler)
    names = draws.scenario.uncertain
    assert len(names) == 7
    matrix = np.corrcoef([np.log(draws.values[name].ravel()) for name in names])
    for row, one in enumerate(names):
        for column, other in enumerate(names[:row]):
            expected = 0.9 if any({one, other} == set(group) for group in groups) else 0.0
            assert abs(matrix[row, column] - expected) < 0.03, (one, other)


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped("runs"))
def test_float32_agrees_with_float64(name: str) -> None:
    """P1 to P99 of every output of every shipped run agree to 1e-5, or to a rank where draws lie sparser than that."""
    scenario = load_scenario(name)
    single, double = (sample(scenario, 1 << 18, precision=precision) for precision in ("float32", "float64"))
    assert {array.dtype for name, array in single.values.items() if not scenario.certain(name)} <= {np.dtype("float32")}
    levels, rank = np.arange(1, 100) / 100, 1 / len(double)
    for output in double.outputs:
        lower, expected, upper = np.quantile(double[output], [levels - rank, levels, levels + rank])
        found = np.quantile(single[output].astype(float), levels)
        assert np.all(found > lower - 1e-5 * expected), output
        assert np.all(found < upper + 1e-5 * expected), output


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_ten_million_draws_of_heavy_tails_are_finite(sampler: str, make: Make) -> None:
    """1e7 draws in float32 hold no infinity, nothing outside a truncation and no zero time."""
    changes = {
        "parameters": None,
        "tokens": None,
        "training_flop": '{ family = "lognormal", median = "1e24 FLOP", sigma = 3 }',
        "mfu": '{ family = "normal", mean = 0.9, sd = 0.005, truncate = [0.01, 0.8] }',
        "failure_overhead": '{ family = "student-t", df = 1.5, median = 0.1, scale = 0.05, truncate = [0, inf] }',
        "price_per_accelerator_hour": '{ family = "gamma", shape = 0.3, scale = "5 USD/hour" }',
    }
    draws = sample(make(changes), 10_000_000, precision="float32", sampler=sampler, seed=6)
    assert len(draws) >= 10_000_000
    for name, array in draws.values.items():
        assert np.isfinite(array).all(), name
    assert draws.values["mfu"].max() <= np.float32(0.8)
    assert draws.values["mfu"].min() > 0.78
    assert draws.values["failure_overhead"].min() >= 0
    assert draws.values["training_time"].min() > 0


def test_a_column_that_is_not_finite_is_named(make: Make) -> None:
    """Too large for float32: the input is named, or the output when all inputs are finite, with a count of draws."""
    huge = make({"tokens": '{ family = "lognormal", median = "1e38 token", sigma = 3 }'})
    bad = r"scenario.toml: input tokens is infinite, undefined or not more than 0 in [\d,]+ of 16,384 draws"
    with pytest.raises(SamplingError, match=bad):
        sample(huge, 1 << 14, precision="float32")
    with pytest.raises(SamplingError, match="output training_time is infinite, undefined or not more than 0"):
        sample(make({"tokens": '"1e30 token"'}), 1 << 14, precision="float32")
    assert np.isfinite(sample(huge, 1 << 14).values["cost"]).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_everything_known_exactly(sampler: str, precision: str, make: Make) -> None:
    """Without uncertainty there is no spread, no error, no driver and no NaN; the value is the formula's."""
    known = make(
        {
            "tokens": '"2e12 token"',
            "mfu": "0.4",
            "failure_overhead": "0.1",
            "price_per_accelerator_hour": '"2.1 USD/hour"',
        }
    )
    summary = summarize(sample(known, 10_000, sampler=sampler, precision=precision))
    days = 6 * 70e9 * 2e12 / (2048 * 312e12 * 0.4) * 1.1 / 86400
    hours = days * 24 * 2048
    for name, value in {"training_time": days, "accelerator_hours": hours, "cost": hours * 2.1}.items():
        one = summary.outputs[name]
        assert one.p10 == one.p50 == one.p90 == one.mean == one.hdi.low == one.hdi.high == one.eti.low
        assert one.p50 == pytest.approx(value, rel=1e-6 if precision == "float32" else 1e-12)
        assert one.sd == 0
        assert set(one.mcse.values()) == {0}
        assert summary.drivers[name] == ()
    assert "exact" in str(summary)
    assert "nan" not in str(summary).lower()


def test_an_output_that_is_stated_is_not_computed(make: Make) -> None:
    """Who states the FLOP needs neither parameters nor tokens; what follows uses the stated draws."""
    stated = '{ family = "uniform", low = "1e23 FLOP", high = "2e23 FLOP" }'
    draws = sample(make({"training_flop": stated, "parameters": None, "tokens": None}), 1 << 14)
    assert "parameters" not in draws.values
    flop = draws["training_flop"]
    assert 1e23 <= flop.min() < flop.max() <= 2e23
    np.testing.assert_allclose(np.mean(flop), 1.5e23, rtol=1e-4)
    drawn = draws.values
    rate = drawn["accelerators"] * drawn["peak_flop_per_s"] * drawn["mfu"]
    np.testing.assert_allclose(drawn["training_time"], flop / rate * (1 + drawn["failure_overhead"]), rtol=1e-12)


def test_an_input_used_twice_is_one_draw(make: Make) -> None:
    """What cancels in the formulas cancels in every draw: A / (A + B) + B / (A + B) is 1, hours over time is n."""
    drawn = sample(
        make({"accelerators": '{ family = "lognormal", median = "100 accelerator", sigma = 1 }'}), 1 << 14
    ).values
    a, b = (drawn[name] for name in ("training_time", "accelerator_hours"))
    assert np.abs(a / (a + b) + b / (a + b) - 1).max() < 1e-12
    np.testing.assert_allclose(b / a, drawn["accelerators"], rtol=1e-12)
    np.testing.assert_allclose(drawn["cost"] / b, drawn["price_per_accelerator_hour"], rtol=1e-12)
    work = drawn["peak_flop_per_s"] * drawn["mfu"] * b / (1 + drawn["failure_overhead"])
    np.testing.assert_allclose(work, 6 * drawn["parameters"] * drawn["tokens"], rtol=1e-12)


def test_far_apart_components_keep_the_mean(make: Make) -> None:
    """Half the draws near 1e9 tokens and half near 1e15: both halves keep their own mean, and so does the whole."""
    parts = [f'{{ family = "normal", mean = "{mean} token", sd = "1e6 token" }}' for mean in ("1e9", "1e15")]
    mixed = f'{{ family = "mixture", weights = [1, 1], components = [{", ".join(parts)}] }}'
    weighted = mixed.replace("weights = [1, 1]", "weights = [0.5, 0.5]")
    tokens = sample(make({"tokens": weighted}), 1 << 16).values["tokens"]
    assert np.mean(tokens) == pytest.approx((1e9 + 1e15) / 2, rel=1e-4)
    assert np.mean(tokens > 1e12) == pytest.approx(0.5, abs=1e-4)
    near = tokens[tokens < 1e12]
    assert near.mean() == pytest.approx(1e9, abs=5 * 1e6 / np.sqrt(near.size))


# --- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"precision": "float16"}, "float16"),
        ({"device": "abacus"}, "auto, cpu, gpu"),
        ({"chunk": 0}, "chunk"),
        ({"sampler": "halton"}, "halton"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_that_cannot_be_used(options: Mapping[str, Any], word: str, make: Make) -> None:
    """The error names what is wrong, before anything is drawn."""
    with pytest.raises(UsageError, match=word):
        sample(make(), 1 << 12, **options)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_progress_adds_up(sampler: str, make: Make) -> None:
    """Progress is told of every draw once, also of a last chunk that is not full."""
    told: list[int] = []
    draws = sample(make(), 100_001, sampler=sampler, chunk=1000, progress=told.append)
    assert sum(told) == len(draws)
    assert len(told) > 16


def test_provenance_repeats_the_draws(make: Make) -> None:
    """What stands in the provenance, given back to `sample`, makes the same draws; versions stand beside it."""
    scenario = make()
    draws = sample(scenario, 5000, seed=8, sampler="sobol", precision="float32")
    made = draws.provenance
    again = sample(scenario, made.draws, seed=made.seed, sampler=made.sampler, precision=made.precision)
    assert bits_equal(draws, again, list(draws.values))
    assert {"uncertain-botec", "jax", "jaxlib", "numpy", "scipy"} <= set(made.versions)
    assert all(seconds > 0 for seconds in made.seconds.values())


@pytest.mark.parametrize(
    ("setting", "name"),
    [("inputs.accelerators=1e300", "training_time"), ("inputs.parameters=1e300", "training_flop")],
)
def test_what_overflows_on_the_way_is_refused(setting: str, name: str) -> None:
    """An intermediate that is infinite makes a time of zero, which is no answer."""
    with pytest.raises(SamplingError, match=f"output {name} is infinite, undefined or not more than 0"):
        sample(load_scenario("llama-2-70b", [setting]), 1 << 10)
