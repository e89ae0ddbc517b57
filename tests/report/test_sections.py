"""What a report says: the numbers of the review and the studies, for every kind of scenario."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from uncertain_botec import Draws, Report, Scenario, load_scenario, review_risk, sample, write_report
from uncertain_botec.report.answer import sentence
from uncertain_botec.report.blocks import Card, Paragraph, Picture, Section, Table, plain
from uncertain_botec.report.context import Context, gather, look
from uncertain_botec.report.sections import SECTIONS, sections_of
from uncertain_botec.risk.measures import quantiles_at

FEW = 1 << 12

NAMES = [
    "answer", "asked", "results", "curves", "together", "bill", "drivers", "measure-first", "contingency",
    "assumptions", "correlations", "method",
]  # fmt: skip


@pytest.fixture(scope="module")
def draws() -> Draws:
    """Of the shipped run."""
    return sample(load_scenario("llama-2-70b"), FEW)


@pytest.fixture(scope="module")
def of(draws: Draws) -> Callable[..., Context]:
    """What there is to see of the shipped run, with some of its limits and a part of the draws that never finish."""

    def made(*limits: str, endless: float = 0.0) -> Context:
        kept = {name: one for name, one in draws.scenario.limits.items() if name in limits}
        time = draws.values["training_time"]
        slow = time >= np.quantile(time, 1 - endless)
        values = dict(draws.values)
        if endless:
            for name in ("training_time", "cost", "accelerator_hours"):
                values[name] = values[name].copy()
                values[name][slow] = math.inf
        return look(replace(draws, scenario=replace(draws.scenario, limits=kept), values=values), studied=())

    return made


def words(sections: Iterable[Section]) -> str:
    """Everything that sections say."""
    said = "\n".join(repr(block) for section in sections for block in section.blocks)
    return plain(said.replace("\\u2068", "").replace("\\u2069", ""))


def section(report: Report, name: str) -> Section:
    """One section."""
    return next(one for one in report.sections if one.name == name)


def test_every_section_is_there(report: Report) -> None:
    """A run with cost, time and both limits has every section, in order."""
    assert [one.name for one in report.sections] == NAMES
    assert len(SECTIONS) == len(NAMES)


def test_the_answer_is_that_of_the_review(report: Report) -> None:
    """The probability, the budget and the deadline of the answer are the review's, to its digits."""
    review = review_risk(load_scenario("llama-2-70b"), draws=FEW)
    assert review.both is not None
    assert review.pair is not None
    found = re.fullmatch(
        r"At a budget of 6 million USD and a deadline of 60 days the run keeps both with a probability of ([\d.]+) %; "
        r"to be 80 % sure of both, plan for ([\d.]+) million USD and ([\d.]+) days\.",
        report.answer,
    )
    assert found is not None, report.answer
    exact = (100 * review.both.value, review.pair.budget.value / 1e6, review.pair.deadline.value)
    for shown, value in zip(found.groups(), exact, strict=True):
        assert float(shown) == pytest.approx(value, abs=0.51 * 10.0 ** -len(shown.partition(".")[2]))


def test_what_decides_is_explained(report: Report) -> None:
    """One input that decides about cost and time is told once, with its meaning and both of its shares."""
    said = words([section(report, "answer")])
    shares = [round(100 * study["mfu"].shapley.value) for study in report.context.studies]
    assert (
        "What decides most about the cost and the training time is mfu (model FLOP utilisation while stepping: useful "
        f"FLOP over dense peak), which is behind {shares[0]} % of the spread of the cost and {shares[1]} % of that of "
        "the training time."
    ) in said


def test_dates(report: Report) -> None:
    """From the oldest to the newest date of an input, which those without a date have no part in."""
    dates = sorted(filter(None, (one.about("as_of") for one in report.context.scenario.inputs.values())))
    assert f"('Inputs known as of', '{dates[0]} to {dates[-1]}')" in words([section(report, "asked")])


def test_one_limit(of: Callable[..., Context]) -> None:
    """With a budget alone the answer is that of the budget, and what is planned for is still both."""
    said = sentence(of("budget"))
    assert re.fullmatch(
        r"At a budget of 6 million USD the run keeps it with a probability of 62\.\d %; to be 80 % sure of both, plan "
        r"for 8\.\d+ million USD and 7\d\.\d days\.",
        said,
    )


def test_no_limit(of: Callable[..., Context]) -> None:
    """Without a budget or a deadline the answer is what the run stays within, and what is missing is said."""
    context = of()
    assert re.fullmatch(
        r"With a probability of 80 % the run costs at most 8\.\d+ million USD and takes at most 7\d\.\d days\.",
        sentence(context),
    )
    said = words(sections_of(context))
    assert "No budget is stated." in said
    assert "No deadline is stated." in said


@pytest.mark.parametrize("endless", [0.1, 0.5, 1.0])
def test_runs_that_never_finish(endless: float, of: Callable[..., Context]) -> None:
    """How many never finish is said, nothing is planned for that is infinite, and nothing is called nan or inf."""
    context = of("budget", "deadline", endless=endless)
    said = words(sections_of(context))
    assert f"{100 * endless:.3g} % of the runs never finish" in re.sub(r"(\d)\.0+ %", r"\1 %", said)
    assert not re.search(r"\bnan\b|\binf\b(?!\])", said.lower().replace("0, inf]", "").replace("1, inf]", ""))
    assert ("nothing makes both 80 % sure" in sentence(context)) == (endless > 0.2)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("toy-network-2-3-1", "network parameters 13, forward FLOP 18, example FLOP 54 and compute 5.4 × 10^4 FLOP."),
        ("chinchilla-70b-budget", "optimal parameters 73.02 billion, optimal tokens 1.342 trillion,"),
    ],
)
def test_estimators_without_cost_and_time(run: str, said: str) -> None:
    """What is known exactly is said so, without curves, drivers or contingency."""
    context = gather(load_scenario(run), draws=64)
    assert sentence(context).startswith(f"Every input is known exactly, and so is the answer: {said}")
    assert [one.name for one in sections_of(context)] == [
        "answer",
        "asked",
        "results",
        "assumptions",
        "correlations",
        "method",
    ]


def test_outputs_that_are_neither_cost_nor_time() -> None:
    """Each is told with the confidence asked for, and the first two have curves and drivers."""
    belief = '{family = "lognormal", p10 = "5e23 FLOP", p90 = "7e23 FLOP"}'
    scenario = load_scenario("chinchilla-70b-budget", [f"inputs.training_flop={belief}"])
    context = gather(scenario, draws=FEW, confidence=0.9)
    value = quantiles_at(context.draws["optimal_parameters"], (0.9,))[0].value
    assert sentence(context).startswith(
        f"Each with a probability of 90 %: optimal parameters at most {value / 1e9:.1f} billion parameters"
    )
    sections = {one.name: one for one in sections_of(context)}
    assert sections.keys() == {*NAMES} - {"together", "bill", "measure-first"}
    assert sum(isinstance(block, Picture) for block in sections["curves"].blocks) == 2


def test_all_inputs_constant(draws: Draws, load_inputs: Callable[..., Scenario]) -> None:
    """A run of which everything is known costs what it costs, and keeps its limits or does not, for certain."""
    inputs = {
        "parameters": "7e9", "tokens": '"1e12 token"', "accelerators": "1000", "peak_flop_per_s": '"300 TFLOP/s"',
        "mfu": "0.4", "failure_overhead": "0.0", "price_per_accelerator_hour": '"2 USD/hour"',
    }  # fmt: skip
    # 4.2e22 FLOP over 1.2e17 a second are 350,000 s or 4.051 days; of 1,000 accelerators at 2 USD 194,444 USD.
    scenario = load_inputs(inputs, rest='[limits]\nbudget = "2e5 USD"\ndeadline = "4 day"')
    context = gather(scenario, draws=64)
    assert sentence(context) == (
        "At a budget of 200 thousand USD and a deadline of 4 days the run keeps both with a probability of 0 %; the "
        "run will cost 194.4 thousand USD and take 4.051 days, for nothing about it is uncertain."
    )
    assert "nan" not in words(sections_of(context))


def test_assumptions(report: Report) -> None:
    """Every uncertain input is drawn, and every input has its source and date."""
    scenario = report.context.scenario
    blocks = section(report, "assumptions").blocks
    cards = {plain(block.title): block for block in blocks if isinstance(block, Card)}
    assert tuple(cards) == scenario.uncertain
    known = next(block for block in blocks if isinstance(block, Table))
    rows = {plain(row[0]): row for row in known.rows}
    assert rows.keys() == scenario.known.keys()
    for name, one in scenario.inputs.items():
        said = plain(
            " ".join(f"{pair[0]} {pair[1]}" for pair in cards[name].pairs) if name in cards else repr(rows[name])
        )
        for key in ("source", "as_of", "note"):
            assert (one.about(key) or "").replace("'", "\\'") in said.replace("'", "\\'").replace("\\\\'", "\\'"), name
    assert cards["mfu"].figure.name == "prior-mfu"
    assert dict(cards["price_per_accelerator_hour"].pairs)["Median"] == (
        "2.3 USD/accelerator-hour; 1.68 to 2.75 from P10 to P90"
    )


def test_correlations() -> None:
    """Stated correlations stand beside those of the draws."""
    context = look(sample(load_scenario("frontier-2027"), FEW))
    table = next(
        block
        for one in sections_of(context)
        for block in one.blocks
        if isinstance(block, Table) and "together" in block.caption
    )
    ((between, stated, kind, drawn, _),) = table.rows
    assert plain(between) == "parameters, tokens"
    assert (stated, kind) == ("0.4", "spearman")
    both = (context.draws.values[name].reshape(-1) for name in ("parameters", "tokens"))
    assert float(drawn) == pytest.approx(spearmanr(*both).statistic, abs=0.006)


def test_the_bill(report: Report) -> None:
    """A bill of one item says so, and what is not on it; one of several is drawn."""
    (paragraph,) = section(report, "bill").blocks
    assert isinstance(paragraph, Paragraph)
    assert paragraph.text.startswith(
        "The bill has one item: accelerators rented on demand. Not on the bill: experiments,"
    )
    context = look(sample(load_scenario("mixture-400b-2027"), 1 << 10))
    blocks = next(one for one in sections_of(context) if one.name == "bill").blocks
    assert [block.figure.name for block in blocks if isinstance(block, Picture)] == ["bill"]


def test_requirements(tmp_path: Path) -> None:
    """What is required stands first among the points, met or not."""
    requirements = ("P(cost <= 8 MUSD) >= 0.9", "P(cost <= 8 MUSD) >= 0.5")
    report = write_report(load_scenario("llama-2-70b"), tmp_path / "r", draws=FEW, requirements=requirements)
    said = words([section(report, "answer")])
    assert f"The requirement {requirements[0]} is NOT met: 82.4" in said
    assert f"The requirement {requirements[1]} is met: 82.4" in said


def test_seed_and_versions(report: Report) -> None:
    """The method tells how to make the numbers again."""
    said = words([section(report, "method")])
    made = report.context.draws.provenance
    for text in (f"seed {made.seed}", f"{made.draws:,} draws", report.context.scenario.sha256, *made.versions.values()):
        assert text in said
    assert report.files["scenario.toml"] in said
    assert report.files["draws.nc"] in said
