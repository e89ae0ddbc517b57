"""A scenario that is dumped and loaded again is the same scenario, whatever it states."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from uncertain_botec import dump_scenario, load_scenario

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def stated(low: float, high: float) -> st.SearchStrategy[Any]:
    """An input between two values, in one of several families, with or without a source."""
    numbers = st.floats(low, high, allow_subnormal=False)
    pair = st.tuples(numbers, numbers).map(sorted).filter(lambda p: p[1] > p[0] * 1.01)
    tables = st.one_of(
        pair.map(lambda p: {"family": "lognormal", "p10": p[0], "p90": p[1], "truncate": [low / 2, high]}),
        pair.map(lambda p: {"family": "uniform", "low": p[0], "high": p[1]}),
        pair.map(lambda p: {"family": "choice", "values": list(p), "odds": [1, 2]}),
        pair.map(lambda p: {"family": "empirical", "values": list(p)}),
        numbers.map(lambda x: {"value": x}),
    )
    mixed = st.tuples(tables.filter(lambda t: t.get("family") == "uniform"), numbers)
    mixtures = mixed.map(lambda m: {"family": "mixture", "components": list(m), "weights": [0.25, 0.75]})
    about = st.fixed_dictionaries({}, optional={"source": texts, "as_of": st.dates(), "note": texts})
    return numbers | st.tuples(tables | mixtures, about).map(lambda parts: parts[0] | parts[1])


documents = st.fixed_dictionaries(
    {
        "title": texts.filter(bool),
        "estimator": st.just("training"),
        "inputs": st.fixed_dictionaries(
            {
                "parameters": stated(1e6, 1e12),
                "tokens": stated(1e9, 1e14),
                "accelerators": stated(1, 1e5),
                "peak_flop_per_s": st.floats(1e12, 1e16).map(lambda x: f"{x!r} FLOP/s"),
                "mfu": stated(0.01, 0.99),
                "failure_overhead": stated(0.01, 0.5),
                "price_per_accelerator_hour": st.floats(0.1, 10).map(lambda x: f"{x!r} USD/hour"),
            }
        ),
    },
    optional={
        "limits": st.fixed_dictionaries({}, optional={"budget": st.just("5e6 USD"), "deadline": st.just("4 week")}),
        "observed": st.fixed_dictionaries({}, optional={"cost": st.just({"value": "3 USD", "source": "x"})}),
        "correlations": st.floats(-1, 1).map(lambda r: [{"between": ["mfu", "tokens"], "spearman": r}]),
    },
)


@settings(max_examples=60, deadline=None)
@given(documents)
def test_dump_then_load(document: dict[str, Any]) -> None:
    """Loading the dump of any scenario gives an equal one, and dumping that the same text."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.toml"
        path.write_text(tomli_w.dumps(document), "utf-8")
        scenario = load_scenario(path)
        path.write_text(dump_scenario(scenario), "utf-8")
        again = load_scenario(path)
    assert again == scenario
    assert dump_scenario(again) == dump_scenario(scenario)
