"""What few draws do not tell, values that have probability, and digits that follow the error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from uncertain_botec import Scenario, review_risk

Make = Callable[..., Scenario]


def test_an_extreme_confidence_is_refused(make: Make) -> None:
    """P99.9999 of 2^14 draws: neither quantile, CVaR, pair nor requirement says a number, in print or in JSON."""
    one = review_risk(make(), confidence=0.999999, draws=1 << 14, requirements=["P99.9999(cost) <= 1e9 USD"])
    assert one.pair is None
    assert not one.verdicts[0].met
    assert not one.verdicts[0].decided
    document = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    cost = document["outputs"]["cost"]
    assert (cost["cvar"]["value"], cost["confidence"][-1]["value"]) == (None, None)
    lines = str(one).splitlines()
    assert sum("not known" in line for line in lines) == 6
    labels = [line.split()[0].rstrip(",") for line in lines if line.startswith((" P", "P"))]
    assert [label for label in labels if label[1:2].isdigit()][:6] == ["P50", "P70", "P80", "P90", "P99", "P99.9999"]


def test_what_is_printed_follows_the_error(make: Make) -> None:
    """A contingency has no decimals that its quantile has not; a percentile near 100 has those that matter."""
    line = next(line for line in str(review_risk(make(), draws=1 << 8)).splitlines() if line.startswith(" P80"))
    part = re.search(r"\+([\d.]+) % ", line)
    assert part is not None
    assert "." not in part[1]
    said = " ".join(str(review_risk(make(), confidence=0.999, draws=1 << 18)).split())
    assert re.search(r"each at P99\.9\d", said)


@pytest.mark.parametrize("price", [0.8, 0.9])
def test_a_price_of_two_values(make: Make, price: float) -> None:
    """Its quantile and its overrun are exact, and the pair is at the percentile of the lower price."""
    law = f'{{ family = "choice", values = ["2 USD/hour", "4 USD/hour"], weights = [{price}, {1 - price:.1f}] }}'
    known = {"tokens": '"2e12 token"', "mfu": "0.3", "price_per_accelerator_hour": law}
    one = review_risk(make(known), budget="800e3 USD", draws=1 << 14)
    limit = one.outputs["cost"].limit
    assert limit is not None
    assert limit.mean_overrun is not None
    assert limit.mean_overrun.error == 0
    place = re.search(r"the cost at P([\d.]+) of its own", " ".join(str(one).split()))
    assert place is not None
    assert float(place[1]) == pytest.approx(100 * price, abs=0.02)
    assert all(level.error == 0 for level in one.outputs["cost"].confidence)
