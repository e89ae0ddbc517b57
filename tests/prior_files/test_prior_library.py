"""Every number in the shipped priors: source, date, unit, order, agreement with its own note and published values."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from statistics import NormalDist
from typing import Any, NamedTuple

import pytest

from uncertain_botec.library import PRIORS
from uncertain_botec.quantities import Quantity
from uncertain_botec.units import is_count, parse_quantity
from uncertain_botec.vocabulary import LIMITS, QUANTITIES

FILES = {str(path.relative_to(PRIORS).with_suffix("")): path for path in sorted(PRIORS.rglob("*.toml"))}
CONTENT = {name: tomllib.loads(path.read_text("utf-8")) for name, path in FILES.items()}
ACCELERATORS = {name: content["accelerator"] for name, content in CONTENT.items() if "accelerator" in content}
LIBRARY = [name for name in FILES if name != "template"]

PRICE_TABLES = {
    "prices": "price_per_accelerator_hour",
    "spot_prices": "spot_price_per_accelerator_hour",
    "reserved_prices": "reserved_price_per_accelerator_hour",
}
FACTS = {
    "memory": "accelerator_memory",
    "memory_bandwidth": "memory_bandwidth",
    "interconnect_bandwidth": "memory_bandwidth",
    "thermal_design_power": "thermal_design_power",
}
VALUES = re.compile(r"value|mean|median|low|mode|high|p\d+")
QUANTILE = re.compile(r"p\d+")
DATE = re.compile(r"(19|20)\d\d(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
LATEST = "2026-12"

Z10 = NormalDist().inv_cdf(0.9)


class Statement(NamedTuple):
    """One stated number or belief, and what it is a number of."""

    place: str
    quantity: Quantity
    spec: Any


def statements(name: str) -> Iterator[Statement]:
    """Every input, price, limit and outcome that a file states, and every fact of its accelerator."""
    content = CONTENT[name]
    for key, spec in content.get("inputs", {}).items():
        yield Statement(f"inputs.{key}", QUANTITIES[key], spec)
    for table, price in PRICE_TABLES.items():
        for accelerator, spec in content.get(table, {}).items():
            yield Statement(f"{table}.{accelerator}", QUANTITIES[price], spec)
    for key, spec in content.get("limits", {}).items():
        yield Statement(f"limits.{key}", QUANTITIES[LIMITS[key]], spec)
    for key, spec in content.get("observed", {}).items():
        yield Statement(f"observed.{key}", QUANTITIES[key], spec)
    accelerator = content.get("accelerator", {})
    for key, quantity in FACTS.items():
        if key in accelerator:
            yield Statement(f"accelerator.{key}", QUANTITIES[quantity], accelerator[key])
    for precision, peak in accelerator.get("peak_flop_per_s", {}).items():
        yield Statement(f"accelerator.peak_flop_per_s.{precision}", QUANTITIES["peak_flop_per_s"], peak)


def base_value(stated: float | str, quantity: Quantity) -> float:
    """A stated value in base units, whose unit must be that of the quantity."""
    if isinstance(stated, str):
        return parse_quantity(stated, quantity.unit)
    assert is_count(quantity.unit) or math.isinf(stated), f"{stated} has no unit"
    return float(stated)


def stated_values(spec: Any, quantity: Quantity) -> dict[str, float]:
    """What a statement says about values of the quantity, in base units, by key."""
    if not isinstance(spec, dict):
        return {"value": base_value(spec, quantity)}
    found = {key: base_value(value, quantity) for key, value in spec.items() if VALUES.fullmatch(key)}
    return found | {f"values[{i}]": base_value(value, quantity) for i, value in enumerate(spec.get("values", ()))}


def belief(file: str, name: str, table: str = "inputs") -> dict[str, Any]:
    """A stated belief, its values in base units."""
    spec: dict[str, Any] = CONTENT[file][table][name]
    return spec | stated_values(spec, QUANTITIES[PRICE_TABLES.get(table, name)])


def middle(spec: dict[str, Any]) -> float:
    """The median: stated, or that of the lognormal through P10 and P90."""
    assert "p50" in spec or spec["family"] == "lognormal"
    return float(spec["p50"]) if "p50" in spec else math.sqrt(spec["p10"] * spec["p90"])


def spread(spec: dict[str, Any]) -> float:
    """The log standard deviation of the lognormal through P10 and P90."""
    return math.log(spec["p90"] / spec["p10"]) / (2 * Z10)


def score(spec: dict[str, Any], value: float) -> float:
    """Where a value lies in a lognormal belief, in standard deviations of its logarithm."""
    assert spec["family"] == "lognormal"
    return math.log(value / middle(spec)) / spread(spec)


@pytest.mark.parametrize("name", FILES)
def test_file_has_a_title_and_says_what_it_is(name: str) -> None:
    """Every file has a title of its own; every file but an accelerator's explains itself in a comment at its top."""
    titles = [content["title"] for content in CONTENT.values()]
    assert titles.count(CONTENT[name]["title"]) == 1
    second = FILES[name].read_text("utf-8").splitlines()[1]
    assert name in ACCELERATORS or re.match(r"# \w", second)


@pytest.mark.parametrize("name", FILES)
def test_names_are_known(name: str) -> None:
    """Inputs, limits and outcomes are in the vocabulary, and prices are of shipped accelerators."""
    content = CONTENT[name]
    assert content.get("inputs", {}).keys() | content.get("observed", {}).keys() <= QUANTITIES.keys()
    assert content.get("limits", {}).keys() <= LIMITS.keys()
    for table in PRICE_TABLES:
        assert {f"accelerators/{accelerator}" for accelerator in content.get(table, {})} <= ACCELERATORS.keys()


@pytest.mark.parametrize("name", LIBRARY)
def test_numbers_have_source_and_date(name: str) -> None:
    """Every input, price and outcome names its source and a date, and so does every accelerator for its facts."""
    content = CONTENT[name]
    tables = ("inputs", "observed", *PRICE_TABLES)
    specs = [(f"{table}.{key}", spec) for table in tables for key, spec in content.get(table, {}).items()]
    specs += [("accelerator", content["accelerator"])] if name in ACCELERATORS else []
    assert [place for place, spec in specs if not (spec["source"].strip() and spec["as_of"])] == []


@pytest.mark.parametrize("name", LIBRARY)
def test_dates_are_dates_and_past(name: str) -> None:
    """Dates are a year, perhaps with month and day, and none lies after the newest data."""
    dates = [spec["as_of"] for _, _, spec in statements(name) if isinstance(spec, dict) and "as_of" in spec]
    accelerator = CONTENT[name].get("accelerator", {})
    dates += [accelerator[key] for key in ("as_of", "release") if key in accelerator]
    assert [date for date in dates if not DATE.fullmatch(date) or date > LATEST] == []


@pytest.mark.parametrize("name", FILES)
def test_values_can_exist(name: str) -> None:
    """Every value carries a unit of the right dimension and lies where its quantity can be."""
    for place, quantity, spec in statements(name):
        for key, value in stated_values(spec, quantity).items():
            assert quantity.admits(value), f"{place}.{key} = {value}"


@pytest.mark.parametrize("name", FILES)
def test_support_lies_where_the_quantity_can_be(name: str) -> None:
    """A stated support holds its quantiles and nothing that cannot exist, such as a PUE below 1."""
    for place, quantity, spec in statements(name):
        if isinstance(spec, dict) and "support" in spec:
            low, high = (base_value(end, quantity) if end else 0.0 for end in spec["support"])
            assert quantity.low <= low < high <= quantity.high, place
            assert all(low < value < high for value in stated_values(spec, quantity).values()), place


@pytest.mark.parametrize("name", FILES)
def test_quantiles_rise(name: str) -> None:
    """Stated quantiles rise with their level, and so do low, mode and high."""
    for place, quantity, spec in statements(name):
        values = stated_values(spec, quantity)
        levels = sorted((key for key in values if QUANTILE.fullmatch(key)), key=lambda key: int(key[1:]))
        for keys in (levels, [key for key in ("low", "mode", "high") if key in values]):
            stated = [values[key] for key in keys]
            assert all(one < other for one, other in pairwise(stated)), place


def test_includes_lead_to_files_and_not_in_circles() -> None:
    """Every include names a shipped file, and no file includes itself, directly or through others."""

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above
        for other in CONTENT[name].get("include", ()):
            assert other in FILES, f"{name} includes {other}"
            visit(other, (*above, name))

    for name in FILES:
        visit(name, ())


# bf16 with 2:4 sparsity as NVIDIA's datasheets print it, TFLOP/s.
SPARSE = {
    "a100-40-sxm": 624,
    "a100-80-sxm": 624,
    "b200": 4500,
    "gb200": 5000,
    "h100-nvl": 1671,
    "h100-pcie": 1513,
    "h100-sxm": 1979,
    "h200-sxm": 1979,
    "l4": 242,
    "l40s": 733,
}


@pytest.mark.parametrize("name", SPARSE)
def test_peaks_are_dense(name: str) -> None:
    """The dense bf16 peak is half of the sparse figure that the datasheet leads with, or a little less (L40S)."""
    peak = parse_quantity(ACCELERATORS[f"accelerators/{name}"]["peak_flop_per_s"]["bf16"], "FLOP/accelerator-second")
    assert 0.98 < peak / (SPARSE[name] * 1e12 / 2) < 1.001


@pytest.mark.parametrize("name", ACCELERATORS)
def test_narrower_formats_are_not_slower(name: str) -> None:
    """Within one accelerator fp32, tf32, bf16, fp8 and fp4 run no slower in this order."""
    peaks = ACCELERATORS[name]["peak_flop_per_s"]
    stated = [parse_quantity(peaks[key], "FLOP/s") for key in ("fp32", "tf32", "bf16", "fp8", "fp4") if key in peaks]
    assert all(one <= other for one, other in pairwise(stated))


@pytest.mark.parametrize("name", [name for name, facts in ACCELERATORS.items() if not facts.get("verified", True)])
def test_unverified_accelerator_says_what_is_from_memory(name: str) -> None:
    """An accelerator that is not verified names what was not looked up."""
    assert "from memory" in ACCELERATORS[name]["source"] + ACCELERATORS[name]["note"]


PRICED = [
    (name, table, accelerator)
    for name, content in CONTENT.items()
    for table in PRICE_TABLES
    for accelerator in content.get(table, ())
]
STATED_WIDTH = re.compile(r"(?:Centred on|=) (\d+\.\d\d) (?:and widened to a log standard deviation of |\()(\d\.\d\d)")


@pytest.mark.parametrize(("name", "table", "accelerator"), PRICED)
def test_price_agrees_with_its_note(name: str, table: str, accelerator: str) -> None:
    """A price whose note states centre and width has the P10 and P90 that follow, to the rounding of all of them."""
    note = CONTENT[name][table][accelerator]["note"]
    spec = belief(name, accelerator, table)
    match = STATED_WIDTH.search(note)
    assert (match is not None) == note.startswith(("Thin", "Derived"))
    if match is None:
        return
    centre, width = float(match[1]), float(match[2])
    for key, sign in (("p10", -1), ("p90", 1)):
        expected = centre * math.exp(sign * Z10 * width)
        rounding = 0.005 + expected * (0.005 / centre + Z10 * 0.005)
        assert spec[key] * 3600 == pytest.approx(expected, abs=rounding)


@pytest.mark.parametrize(
    ("reserved", "on_demand", "ratio", "width"),
    [("reserved-2026", "neocloud-2026", 0.75, 0.20), ("hyperscaler-reserved-2026", "hyperscaler-2026", 0.66, 0.15)],
)
def test_reserved_price_is_its_ratio_of_the_price_on_demand(
    reserved: str, on_demand: str, ratio: float, width: float
) -> None:
    """A derived price under commitment is still the stated ratio of the on-demand price beside it, and wider."""
    prices = CONTENT[f"prices/{on_demand}"]["prices"]
    assert CONTENT[f"prices/{reserved}"]["reserved_prices"].keys() == prices.keys()
    for accelerator in prices:
        base = belief(f"prices/{on_demand}", accelerator, "prices")
        derived = belief(f"prices/{reserved}", accelerator, "reserved_prices")
        cent = 0.005 / 3600
        assert middle(derived) == pytest.approx(ratio * middle(base), rel=cent / base["p10"] + cent / derived["p10"])
        rounding = cent / base["p10"] + cent / derived["p10"]
        assert spread(derived) == pytest.approx(math.hypot(spread(base), width), abs=rounding)


def test_spot_is_cheaper_than_the_dearest_market() -> None:
    """The median spot price lies below the median on-demand price of hyperscalers, wherever both are known."""
    spot = CONTENT["prices/spot-2026"]["spot_prices"]
    both = spot.keys() & CONTENT["prices/hyperscaler-2026"]["prices"].keys()
    assert len(both) > 10
    for accelerator in both:
        asked = belief("prices/hyperscaler-2026", accelerator, "prices")
        assert middle(belief("prices/spot-2026", accelerator, "spot_prices")) < middle(asked), accelerator


FAILURES = "reliability/datacenter-8gpu-nodes"


@pytest.mark.parametrize("per_1000_node_days", [6.50, 2.34, 419 / (54 * 2.048)])
def test_published_failure_rates_are_ordinary(per_1000_node_days: float) -> None:
    """RSC-1, RSC-2 (arXiv 2410.21680) and Llama 3.1 405B (419 stops, 54 days, 2,048 nodes) lie between P10 and P90."""
    rate = per_1000_node_days / 1000 / 86400
    assert abs(score(belief(FAILURES, "node_failure_rate"), rate)) < Z10


def test_failure_rate_covers_what_contradicts_it() -> None:
    """The MTTF of 1,024-GPU jobs on RSC, 7.9 hours, asks for 24 failures by 1000 node-days: beyond P90, within P99."""
    rate = 1 / (128 * 7.9 * 3600)
    assert Z10 < score(belief(FAILURES, "node_failure_rate"), rate) < NormalDist().inv_cdf(0.99)


def test_node_power_covers_the_measured_node() -> None:
    """P90 of the power ratio lies at most 5 % beyond the largest draw measured on eight H100, and P50 near training."""
    ratio = belief("energy/node-power", "power_ratio")
    assert 8400 / 8 / 700 < ratio["p90"] < 1.05 * 8400 / 8 / 700
    assert ratio["p50"] == pytest.approx(0.76 * 10200 / 8 / 700, rel=0.05)


def test_scaling_law_gives_the_published_optimum() -> None:
    """At Chinchilla's 5.88e23 FLOP the constants give 18.4 tokens per parameter at 73.0e9 (arXiv 2404.10102)."""
    names = ("parameter_coefficient", "token_coefficient", "parameter_exponent", "token_exponent")
    a, b, alpha, beta = (belief("scaling/chinchilla-refit", name)["value"] for name in names)
    product = 5.88e23 / 6
    parameters = (alpha * a / (beta * b)) ** (1 / (alpha + beta)) * product ** (beta / (alpha + beta))
    assert parameters == pytest.approx(7.302e10, rel=5e-4)
    assert product / parameters**2 == pytest.approx(18.4, abs=0.05)


def test_ownership_priors_hold_the_published_intervals() -> None:
    """Server and network overhead have Epoch AI's 90 % intervals, the decay 0.10 to 0.18 powers of ten by year."""
    server, network, decay = (
        belief("ownership/epoch-2024", name)
        for name in ("server_overhead", "interconnect_overhead", "hardware_price_decay")
    )
    assert (server["p5"], server["p95"]) == (1.3, 2.1)
    assert (network["p5"], network["p95"]) == (1.07, 1.32)
    assert network["p50"] == pytest.approx(1 / 0.81, abs=0.005)
    year = 31557600
    assert decay["p10"] * year == pytest.approx(0.10 * math.log(10), abs=0.005)
    assert decay["p90"] * year == pytest.approx(0.18 * math.log(10), abs=0.005)
    assert middle(decay) * year == pytest.approx(0.14 * math.log(10), abs=0.005)


@pytest.mark.parametrize(
    ("size", "parameters"), [(2.3e12, 176247271424), (782e9, 70e9), (1.6e12, 175e9)], ids=["BLOOM", "70B", "OPT-175B"]
)
def test_checkpoint_size_covers_published_checkpoints(size: float, parameters: float) -> None:
    """Published checkpoints lie between P10 and P90 of bytes per parameter, to 5 %."""
    spec = belief("storage/checkpoint-adam", "checkpoint_bytes_per_parameter")
    assert 0.95 * spec["p10"] < size / parameters < 1.05 * spec["p90"]
