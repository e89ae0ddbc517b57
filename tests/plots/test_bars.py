"""Bars are as long as what they stand for, keep their sign, and have no length where there is no influence."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.plots.svg import corners, group, words
from uncertain_botec import Draws, Sensitivity, plots
from uncertain_botec.sensitivity.indices import Index
from uncertain_botec.sensitivity.tornado import Tail
from uncertain_botec.summaries import Interval, OutputSummary


def _item(p10: float, p50: float, p90: float) -> OutputSummary:
    errors = {"p10": p10 / 1e3, "p50": p50 / 1e3, "p90": 0.0, "mean": 0.0}
    interval = Interval(0.8, p10, p90)
    return OutputSummary("USD", p10, p50, p90, p50, 1.0, errors, interval, interval)


def _length(figure: plots.Figure, name: str) -> float:
    """From the first side of a bar to the other, to the right positive."""
    sides = corners(figure, name)[:, 0]
    return float(sides[1] - sides[0])


def test_bill_is_in_order_and_to_scale() -> None:
    """Bars go from nothing to P50, the largest item first and the whole last; whiskers go from P10 to P90."""
    items = {"storage_cost": _item(1e5, 2e5, 3e5), "cost": _item(2e6, 3.2e6, 5e6), "rental_cost": _item(2e6, 3e6, 4e6)}
    figure = plots.bill(items)
    names = [text for text in words(figure) if text in ("Storage", "Total", "On demand")]
    assert names == ["On demand", "Storage", "Total"]
    lengths = [_length(figure, f"bar-{place}") for place in range(3)]
    assert np.array(lengths) / lengths[0] == pytest.approx([1, 2 / 30, 32 / 30], abs=1e-3)
    whisker = corners(figure, "whisker-0")[:, 0] - corners(figure, "bar-0")[0, 0]
    assert whisker / lengths[0] == pytest.approx([2 / 3, 4 / 3], abs=1e-3)
    assert "On demand 3.00  (2.00 - 4.00), Storage 0.200  (0.100 - 0.300), Total" in figure.alt


def test_bill_says_what_is_nothing_infinite_or_small() -> None:
    """An item of nothing has no bar, one that may be infinite says so, a small one does not pretend to be nothing."""
    items = {"staff_cost": _item(1e6, 2e6, math.inf), "egress_cost": _item(0, 0, 0), "storage_cost": _item(9, 10, 11)}
    figure = plots.bill(items)
    assert "2.00  (1.00 - ∞)" in words(figure)
    assert "0" in words(figure)
    assert "<0.001" in figure.alt
    assert _length(figure, "bar-2") == 0
    assert group(figure, "whisker-2") is None


def test_many_items_leave_the_smallest_out() -> None:
    """What is not shown is counted."""
    figure = plots.bill(
        {f"item_{place}_cost": _item(place, place, place) for place in range(1, 31)} | {"cost": _item(9, 9, 9)}
    )
    assert "17 smaller items are not shown." in figure.alt
    assert "Item 30" in words(figure)
    assert "Item 1" not in words(figure)


# --- tornado ----------------------------------------------------------------------------------------------------------


def test_tornado_keeps_signs_and_order(study: Sensitivity) -> None:
    """A high MFU leads to a low cost and a high price to a high one, by the stated means; the widest is on top."""
    figure = plots.tornado(study)
    names = [text for text in words(figure) if text in {one.input for one in study.inputs}]
    moving = [one for one in study.inputs if one.influence == "uncertain"]
    widths = {one.input: abs(one.high.mean - one.low.mean) for one in moving if one.low and one.high}
    assert names[: len(widths)] == sorted(widths, key=lambda name: -widths[name])
    scale = None
    for name in names[:3]:
        low, high = study[name].low, study[name].high
        assert low is not None
        assert high is not None
        for side, tail in (("low", low), ("high", high)):
            length = _length(figure, f"{side}-{names.index(name)}")
            scale = scale or length / (tail.mean - study.overall.mean)
            assert length == pytest.approx(scale * (tail.mean - study.overall.mean), abs=0.05)
    assert scale is not None
    assert scale > 0
    assert _length(figure, f"high-{names.index('mfu')}") < 0 < _length(figure, f"low-{names.index('mfu')}")


def test_inputs_without_influence_have_no_bar(study: Sensitivity) -> None:
    """They are listed last and said to have none."""
    figure = plots.tornado(study)
    idle = [one.input for one in study.inputs if one.influence == "none"]
    assert idle
    names = [text for text in words(figure) if text in {one.input for one in study.inputs}]
    assert {*names[-len(idle) :]} == {*idle}
    assert words(figure).count("no influence") == len(idle)
    assert group(figure, f"low-{len(names) - 1}") is None
    assert f"Without influence: {', '.join(sorted(idle))}." in figure.alt
    shares = plots.shares(study)
    last = [place for place, one in enumerate(words(shares)) if one == "0"]
    assert len(last) >= len(idle)


def _with_tails(study: Sensitivity, low: float, high: float) -> Sensitivity:
    """The study with one input, whose tails have these means and medians."""
    tails = [Tail(1.0, 0.1, mean, 0.0, mean, 0.0) for mean in (low, high)]
    whole = Tail(math.nan, 1.0, 5e6, 0.0, 5e6, 0.0)
    return replace(study, inputs=(replace(study.inputs[0], low=tails[0], high=tails[1]),), overall=whole)


def test_both_ends_on_one_side_are_drawn_apart(study: Sensitivity) -> None:
    """Where the output rises at both ends of an input, its two bars lie one above the other."""
    figure = plots.tornado(_with_tails(study, 6e6, 7e6))
    low, high = corners(figure, "low-0"), corners(figure, "high-0")
    assert low[:, 1].min() >= high[:, 1].max()
    assert _length(figure, "high-0") == pytest.approx(2 * _length(figure, "low-0"), abs=0.05)


def test_infinite_ends_reach_the_edge(study: Sensitivity) -> None:
    """An end where runs never finish is written as infinite, at a bar that the axis ends."""
    figure = plots.tornado(_with_tails(study, 4e6, math.inf))
    assert "∞" in words(figure)
    assert _length(figure, "high-0") > -_length(figure, "low-0") > 0
    assert "Median cost" in figure.alt


# --- shares and worth -------------------------------------------------------------------------------------------------


def test_shares_are_to_scale(study: Sensitivity) -> None:
    """Bars are Shapley effects; together they are the whole variance."""
    figure = plots.shares(study)
    effects = [one.shapley.value for one in study.inputs if one.influence == "uncertain" and one.shapley]
    lengths = [_length(figure, f"bar-{place}") for place in range(len(effects))]
    assert sum(effects) == pytest.approx(1, abs=1e-9)
    assert np.array(lengths) / sum(lengths) == pytest.approx(effects, abs=2e-3)
    assert "share explained by itself" in words(figure)


def test_worth_is_to_scale(study: Sensitivity) -> None:
    """Bars are EVPPI, none longer than that of everything, which stands last."""
    figure = plots.value_of_information(study)
    worth = study.information
    assert worth is not None
    bars = [*(one.value for one in worth.inputs.values()), worth.perfect.value]
    lengths = [_length(figure, f"bar-{place}") for place in range(len(bars))]
    assert np.array(lengths) / lengths[-1] == pytest.approx(np.array(bars) / bars[-1], abs=2e-3)
    assert max(lengths) == lengths[-1]
    assert worth.decision in figure.alt


def test_what_cannot_be_drawn_is_said(study: Sensitivity) -> None:
    """Without anything uncertain, without a decision, or with one that is clear, a sentence stands for the bars."""
    nothing = replace(study, inputs=(), information=None)
    assert words(plots.tornado(nothing)) == words(plots.shares(nothing)) == ["Nothing uncertain moves it."]
    assert words(plots.value_of_information(nothing)) == ["There is no decision to inform."]
    assert words(plots.shares(replace(study, resolved=False))) == ["The draws do not tell the shares."]
    assert study.information is not None
    clear = replace(study.information, perfect=Index(1e-12, 0.0, 0.0, 0.0))
    assert words(plots.value_of_information(replace(study, information=clear))) == [
        "Nothing is worth knowing: the decision is clear."
    ]


def test_known_scenarios_have_figures_too(known: Draws) -> None:
    """A bill without uncertainty has bars without whiskers."""
    cost = float(known["cost"].flat[0])
    figure = plots.bill({"cost": _item(cost, cost, cost)})
    assert group(figure, "whisker-0") is None
    assert _length(figure, "bar-0") > 0
