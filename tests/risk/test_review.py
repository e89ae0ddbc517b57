"""The review against bivariate normal, Black-Scholes and other closed forms, and at its edges."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal

from uncertain_botec import RiskReview, Scenario, load_scenario, review_risk, sample
from uncertain_botec.errors import UsageError
from uncertain_botec.explain import explain
from uncertain_botec.risk.review import LEVELS, review
from uncertain_botec.scenario import dump_scenario

Make = Callable[..., Scenario]

DAY = 86400.0
SEEDS = 100

TIME = 6 * 7e9 * 2e12 * 1.1 / (512 * 312e12 * 0.3) / DAY
COST = TIME * 24 * 512 * 2
SPREADS = {"tokens": 0.2, "mfu": 0.15, "price": 0.3}
LATENT = -0.5
COPULA = f'[[correlations]]\nbetween = ["mfu", "price_per_accelerator_hour"]\nlatent = {LATENT}\n'

# Time is tokens / MFU and cost is tokens price / MFU, up to constants: their logarithms are jointly normal.
S_TIME = math.sqrt(SPREADS["tokens"] ** 2 + SPREADS["mfu"] ** 2)
_CROSS = -LATENT * SPREADS["mfu"] * SPREADS["price"]
S_COST = math.sqrt(S_TIME**2 + SPREADS["price"] ** 2 + 2 * _CROSS)
RHO = (S_TIME**2 + _CROSS) / (S_TIME * S_COST)

Z_BUDGET, Z_DEADLINE = 0.5, 0.3
BUDGET, DEADLINE = COST * math.exp(Z_BUDGET * S_COST), TIME * math.exp(Z_DEADLINE * S_TIME)
CONFIDENCE = 0.8


def both(first: float, second: float) -> float:
    """The bivariate normal distribution function."""
    return float(multivariate_normal([0, 0], [[1, RHO], [RHO, 1]]).cdf([first, second]))


def call(spot: float, sigma: float, strike: float) -> float:
    """E[(X - b)+] of a lognormal: the call of Black and Scholes (1973), without interest."""
    d = math.log(spot / strike) / sigma
    return float(spot * math.exp(sigma**2 / 2) * ndtr(d + sigma) - strike * ndtr(d))


def tail(median: float, sigma: float, level: float) -> float:
    """CVaR of a lognormal: its mean times Phi(s - z) / (1 - a)."""
    return float(median * math.exp(sigma**2 / 2) * ndtr(sigma - ndtri(level)) / (1 - level))


def exact_figures() -> dict[str, float]:
    """Every figure of a review, in closed form."""
    z = float(brentq(lambda x: both(x, x) - CONFIDENCE, 0, 3))
    found = {
        "both": both(Z_BUDGET, Z_DEADLINE),
        "pair percentile": 100 * float(ndtr(z)),
        "pair budget": COST * math.exp(z * S_COST),
        "pair deadline": TIME * math.exp(z * S_TIME),
    }
    for name, median, sigma, limit, place in (
        ("cost", COST, S_COST, BUDGET, Z_BUDGET),
        ("training_time", TIME, S_TIME, DEADLINE, Z_DEADLINE),
    ):
        found |= {f"{name} P{100 * p:g}": median * math.exp(sigma * ndtri(p)) for p in (*LEVELS, 0.99)}
        over = call(median, sigma, limit)
        found |= {f"{name} kept": float(ndtr(place)), f"{name} CVaR": tail(median, sigma, CONFIDENCE)}
        found |= {f"{name} overrun": over, f"{name} mean overrun": over / float(ndtr(-place))}
        # A product of lognormals has the product of medians as its median.
        found[f"{name} percentile"] = 50.0
    return found


def figures(one: RiskReview) -> dict[str, tuple[float, float]]:
    """Every figure of a review with its error."""
    assert one.both is not None
    assert one.pair is not None
    found = {"both": (one.both.value, one.both.error)}
    for name in ("percentile", "budget", "deadline"):
        figure = getattr(one.pair, name)
        found[f"pair {name}"] = (figure.value, figure.error)
    for name, output in one.outputs.items():
        limit = output.limit
        assert limit is not None
        assert limit.mean_overrun is not None
        found |= {f"{name} P{100 * level.level:g}": (level.value, level.error) for level in output.confidence}
        for key, figure in (
            ("P99", output.worst_credible),
            ("kept", limit.chance),
            ("CVaR", output.cvar),
            ("overrun", limit.expected_overrun),
            ("mean overrun", limit.mean_overrun),
            ("percentile", output.percentile),
        ):
            found[f"{name} {key}"] = (figure.value, figure.error)
    return found


@pytest.mark.parametrize("sampler", ["lattice", "monte-carlo"])
def test_every_figure_has_its_closed_form(sampler: str, make: Make) -> None:
    """Within three of its standard errors with at least 97 of 100 seeds, for correlated lognormals."""
    scenario, exact = make(rest=COPULA), exact_figures()
    inside = dict.fromkeys(exact, 0)
    for seed in range(SEEDS):
        draws = sample(scenario, 1 << 14, seed=seed, sampler=sampler)
        found = figures(review(draws, budget=f"{BUDGET!r} USD", deadline=f"{DEADLINE!r} day", confidence=CONFIDENCE))
        assert found.keys() == exact.keys()
        for name, (value, error) in found.items():
            inside[name] += abs(value - exact[name]) <= 3 * error
    assert {name: count for name, count in inside.items() if count < 0.97 * SEEDS} == {}


def test_p80_of_each_is_not_p80_of_both(make: Make) -> None:
    """With budget and deadline at P80 of their own both are kept with less than 80 %, and the pair asks for more."""
    one = review_risk(make(rest=COPULA), draws=1 << 14)
    p80 = {name: output.confidence[2].value for name, output in one.outputs.items()}
    apart = review_risk(
        make(rest=COPULA), budget=f"{p80['cost']!r} USD", deadline=f"{p80['training_time']!r} day", draws=1 << 14
    )
    assert apart.both is not None
    assert apart.both.value == pytest.approx(both(ndtri(0.8), ndtri(0.8)), abs=5e-3)
    assert apart.both.high < 0.75
    assert one.pair is not None
    assert one.pair.budget.value > p80["cost"]
    assert one.pair.deadline.value > p80["training_time"]


@pytest.mark.parametrize("name", ["llama-2-70b", "nanochat-d24", "frontier-2027", "mixture-400b-2027"])
def test_shipped_runs_have_a_review(name: str) -> None:
    """As text, HTML and JSON; chances and quantiles are in order."""
    one = review_risk(load_scenario(name), draws=1 << 10)
    document = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert document["schema"] == "uncertain-botec/risk/1"
    assert "a 90 % chance of being at or below" in str(one)
    assert one._repr_html_().startswith("<table>")
    assert not re.search(r"\bnan\b", str(one))
    for output in one.outputs.values():
        values = [level.value for level in output.confidence]
        assert values == sorted(values)
        assert output.cvar.value >= output.confidence[2].value
    if one.both is not None:
        chances = [output.limit.chance.value for output in one.outputs.values() if output.limit is not None]
        assert one.both.value <= min(chances)


def test_the_point_estimate_is_the_explanation(make: Make) -> None:
    """It is the value that the explanation shows, at every input's median, and contingency counts from there."""
    scenario = make({"failure_overhead": '{ family = "lognormal", median = 0.1, sigma = 1 }'})
    shown = {step.output.name: step.output.value for step in explain(scenario).steps}
    one = review_risk(scenario, draws=1 << 12)
    for name, output in one.outputs.items():
        assert output.point_estimate == shown[name]
        for level in output.confidence:
            assert level.contingency == pytest.approx(level.value - shown[name], rel=1e-12)
            assert level.part == pytest.approx(level.value / shown[name] - 1, abs=1e-12)
        # The overhead is skewed, and so is what it goes into.
        assert output.percentile.value < 50


# --- what is asked ----------------------------------------------------------------------------------------------------

LIMITED = '[limits]\nbudget = "500 kUSD"\ndeadline = "25 day"\n'


def test_limits_are_those_of_the_scenario_or_stated(make: Make) -> None:
    """The scenario's own limits hold unless others are stated, and the reviewed scenario has those that did."""
    scenario = make(rest=LIMITED)
    own = review_risk(scenario, draws=1 << 10)
    other = review_risk(scenario, budget="600 kUSD", draws=1 << 10)
    limits = [{name: out.limit.value for name, out in one.outputs.items() if out.limit} for one in (own, other)]
    assert limits == [{"cost": 5e5, "training_time": 25}, {"cost": 6e5, "training_time": 25}]
    assert 'budget = "600 kUSD"' in dump_scenario(other.scenario)
    bare = review_risk(make(), draws=1 << 10)
    assert all(one.limit is None for one in bare.outputs.values())
    assert bare.both is None
    assert {"no budget is stated", "no deadline is stated"} <= {*bare.notes}


def test_the_confidence_asked_for_is_shown(make: Make) -> None:
    """Its quantile stands among the usual ones, in order and once; CVaR and the pair are at it."""
    one = review_risk(make(), confidence=0.95, draws=1 << 12)
    cost = one.outputs["cost"]
    assert [level.level for level in cost.confidence] == [*LEVELS, 0.95]
    assert cost.cvar.value == pytest.approx(tail(COST, math.hypot(S_TIME, 0.3), 0.95), rel=0.02)
    assert one.pair is not None
    assert one.pair.level == 0.95
    assert [level.level for level in review_risk(make(), draws=64).outputs["cost"].confidence] == [*LEVELS]


def test_requirements_and_the_limits_they_name(make: Make) -> None:
    """Requirements use the limits that hold in the review; what is not met is told apart."""
    texts = ["P(budget) >= 0.99", "P(budget and deadline) >= 0.2", "P80(cost) <= 9 MUSD"]
    one = review_risk(make(rest=LIMITED), budget="600 kUSD", requirements=texts, draws=1 << 12)
    assert [verdict.text for verdict in one.verdicts] == texts
    kept = one.outputs["cost"].limit
    assert kept is not None
    assert one.verdicts[0].value == kept.chance.value
    assert one.both is not None
    assert one.verdicts[1].value == one.both.value
    assert [verdict.text for verdict in one.unmet] == texts[:1]
    assert one.to_dict()["met"] is False


@pytest.mark.parametrize("confidence", [0.0, 1.0, 80.0, math.nan])
def test_a_confidence_is_between_nothing_and_certainty(confidence: float, make: Make) -> None:
    """Nothing can be planned for a confidence of 100 %, and 80 is not 80 %."""
    with pytest.raises(UsageError, match="not between 0 and 100 %"):
        review_risk(make(), confidence=confidence)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"budget": "5"}, "budget: 5: the unit is missing"),
        ({"budget": "lots"}, "a quantity starts with a number"),
        ({"budget": "5 MEUR"}, "'MEUR' is not a unit known here"),
        ({"deadline": "5 MUSD"}, "measures money, not time"),
        ({"deadline": "-1 day"}, "training_time cannot be -1"),
    ],
)
def test_limits_that_cannot_be_read(limits: dict[str, str], said: str, make: Make) -> None:
    """A limit is refused before anything is drawn, with what is wrong and what is expected."""
    with pytest.raises(UsageError) as caught:
        review_risk(make(), draws=1 << 60, **limits)  # type: ignore[arg-type]
    assert said in str(caught.value)
    assert "expected:" in str(caught.value)


# --- edges ------------------------------------------------------------------------------------------------------------


def test_a_budget_far_above_or_below_all_draws(make: Make) -> None:
    """Chances have bounds where all draws or none keep a limit, and no overrun is said to be nothing exactly."""
    one = review_risk(make(), budget="1 USD", deadline="9000 year", draws=1 << 14)
    below, above = one.outputs["cost"].limit, one.outputs["training_time"].limit
    assert below is not None
    assert above is not None
    assert (below.chance.value, above.chance.value) == (0, 1)
    assert below.chance.high == pytest.approx(3 / (1 << 14), rel=0.15)
    assert above.chance.low == 1 - below.chance.high
    assert below.chance.error > 0
    assert above.mean_overrun is None
    assert (above.expected_overrun.value, above.expected_overrun.error) == (0, math.inf)
    assert below.expected_overrun.value == pytest.approx(one.outputs["cost"].point_estimate, rel=0.2)
    assert one.both is not None
    assert (one.both.value, one.both.low) == (0, 0)
    assert "less than 0.02 %" in str(one)
    assert "no draw overruns it" in str(one)


def test_all_inputs_known(known: Make) -> None:
    """Every figure is exact: quantiles are the value, contingency is nothing, chances are 0 or 1 without error."""
    one = review_risk(known(), budget=f"{1.01 * COST!r} USD", deadline=f"{0.5 * TIME!r} day", draws=64)
    for name, value in (("cost", COST), ("training_time", TIME)):
        output = one.outputs[name]
        assert output.exact
        for level in output.confidence:
            assert (level.value, level.error) == (pytest.approx(value, rel=1e-12), 0)
            assert (level.contingency, level.part) == (0, 0)
        assert (output.percentile.value, output.percentile.error) == (50, 0)
        assert (output.cvar.value, output.cvar.error) == (output.point_estimate, 0)
    kept, late = one.outputs["cost"].limit, one.outputs["training_time"].limit
    assert kept is not None
    assert late is not None
    assert (kept.chance.value, kept.chance.error, late.chance.value, late.chance.error) == (1, 0, 0, 0)
    assert (kept.expected_overrun.value, kept.expected_overrun.error, kept.mean_overrun) == (0, 0, None)
    assert late.mean_overrun is not None
    assert (late.mean_overrun.value, late.mean_overrun.error) == (pytest.approx(0.5 * TIME, rel=1e-12), 0)
    assert one.both is not None
    assert (one.both.value, one.both.error) == (0, 0)
    assert one.pair is None
    assert "exact" in str(one)


def test_a_deadline_that_is_known_to_fail_decides_both(known: Make) -> None:
    """With an uncertain cost and a known time beyond its deadline, both are kept with probability 0 exactly."""
    price = {"price_per_accelerator_hour": '{ family = "lognormal", median = "2 USD/hour", sigma = 0.3 }'}
    one = review_risk(known(price), budget="9 MUSD", deadline="1 day", draws=64)
    assert one.both is not None
    assert (one.both.value, one.both.error) == (0, 0)
    in_time = review_risk(known(price), budget=f"{COST!r} USD", deadline="900 day", draws=1 << 12)
    assert in_time.both is not None
    assert in_time.both.value == pytest.approx(0.5, abs=0.01)
    assert in_time.both.error > 0


@pytest.mark.parametrize("name", ["toy-network-2-3-1", "chinchilla-70b-budget"])
def test_estimators_without_cost_and_time(name: str) -> None:
    """What there is is reviewed, what there is not is said, and a limit on it is refused."""
    scenario = load_scenario(name)
    one = review_risk(scenario, draws=64)
    assert tuple(one.outputs) == scenario.plan.outputs
    assert (one.both, one.pair) == (None, None)
    assert any("cost is not computed here" in note for note in one.notes)
    assert any("training_time is not computed here" in note for note in one.notes)
    with pytest.raises(UsageError, match="gives no training_time"):
        review_risk(scenario, deadline="45 day", draws=64)
    first = scenario.plan.outputs[0]
    value = one.outputs[first].point_estimate
    met = review_risk(scenario, requirements=[f"P({first} <= {2 * value!r}) >= 0.99"], draws=64)
    assert not met.unmet


FAILING = {
    "failure_overhead": None,
    "accelerators_per_node": "8",
    "restart_time": '"10 minute"',
    "checkpoint_write_time": '"1 minute"',
}


@pytest.mark.parametrize("rate", ['"1000 failure/node-day"', "rarely"])
def test_runs_that_may_never_finish(rate: str, make: Make) -> None:
    """Infinite draws make figures infinite, never undefined, and JSON has null for them."""
    if rate == "rarely":
        rates = '["1 failure/node-day", "1000 failure/node-day"]'
        rate = f'{{ family = "choice", values = {rates}, weights = [0.85, 0.15] }}'
    scenario = make({**FAILING, "node_failure_rate": rate}, LIMITED)
    one = review_risk(scenario, draws=1 << 12, requirements=["mean(cost) <= 9e9 USD"])
    time = one.outputs["training_time"]
    never = rate.startswith('"')
    assert math.isinf(time.confidence[0].value) == never
    assert math.isinf(time.confidence[3].value)
    assert math.isinf(time.point_estimate) == never
    assert time.confidence[3].contingency == (None if never else math.inf)
    assert math.isinf(time.cvar.value)
    assert time.limit is not None
    assert math.isinf(time.limit.expected_overrun.value)
    assert one.pair is not None or never
    assert [verdict.met for verdict in one.verdicts] == [False]
    text, document = str(one), one.to_dict()
    assert "∞" in text
    assert "nan" not in text.lower()
    assert document["outputs"]["training_time"]["cvar"]["value"] is None
    assert document["outputs"]["training_time"]["confidence"][3]["value"] is None
    assert not np.isnan([one.value for one in time.confidence]).any()
    json.dumps(document, allow_nan=False)


def test_few_draws_are_said(make: Make) -> None:
    """What fewer than 32 draws decide is not known, whichever level it is, and the note says what is enough."""
    few = review_risk(make(), draws=256)
    cost = few.outputs["cost"]
    unknown = [one.level for one in cost.confidence if math.isnan(one.value)]
    assert unknown == [0.9]
    assert math.isnan(cost.worst_credible.value)
    assert [note for note in few.notes if "not known" in note][-1].endswith("ask for --draws 2^12")
    enough = review_risk(make(), draws=1 << 12)
    assert not any("not known" in note for note in enough.notes)
    assert math.isfinite(enough.outputs["cost"].worst_credible.value)


def test_a_review_is_repeatable(make: Make) -> None:
    """The same seed gives the same review, another seed another within the errors."""
    first, same, other = (review_risk(make(), seed=seed, draws=1 << 12).outputs["cost"].cvar for seed in (1, 1, 2))
    assert first == same
    assert first != other
    assert abs(first.value - other.value) < 5 * math.hypot(first.error, other.error)
