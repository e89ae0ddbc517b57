"""Memory against published values, a list of tensors, dealt-out states and a search over cluster sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uncertain_botec.architecture import Transformer, from_table
from uncertain_botec.formulas import activations, memory
from uncertain_botec.formulas.base import Formula

GIB = 2.0**30
SIZES = {"sequence_length": 2048.0}
OF_22B = SIZES | {"micro_batch": 4.0, "hidden_size": 6144.0, "layers": 48.0}
OF_175B = SIZES | {"micro_batch": 1.0, "hidden_size": 12288.0, "layers": 96.0}
# A layer of GPT keeps 12 h numbers that tensor parallelism splits.
WIDE_22B = OF_22B | {"activation_width": 12 * 6144.0}
WIDE_175B = OF_175B | {"activation_width": 12 * 12288.0}
ONE_STAGE = {"pipeline_parallel": 1.0, "pipeline_interleave": 1.0}
EIGHT_STAGES = {"pipeline_parallel": 8.0, "pipeline_interleave": 3.0}

counts = st.integers(1, 8)
stages = st.integers(0, 3)


@pytest.mark.parametrize(
    ("stage", "gigabytes", "digit"), [(0, 120, 0.5), (1, 31.4, 0.05), (2, 16.6, 0.05), (3, 1.88, 5e-3)]
)
def test_zero_stages(stage: int, gigabytes: float, digit: float) -> None:
    """ZeRO, 7.5e9 parameters on 64: 120, 31.4, 16.6 and 1.88 GB by stage (arXiv 1910.02054, figure 1)."""
    layout = (7.5e9, 64, memory.parameters_per_accelerator(7.5e9, 1, 1), stage)
    weights, gradients = memory.weight_memory(*layout, 2), memory.gradient_memory(*layout, 2)
    total = memory.memory_per_accelerator(weights, gradients, memory.optimizer_memory(*layout, 12), 0)
    assert total / 1e9 == pytest.approx(gigabytes, abs=digit)


def test_each_state_is_sharded_from_its_own_stage_on() -> None:
    """Weights shrink at stage 3, gradients from stage 2, optimizer states from stage 1; the examples' 15, 15, 90 GB."""
    layout = (7.5e9, 64, 7.5e9)
    for stage in range(4):
        found = (
            memory.weight_memory(*layout, stage, 2),
            memory.gradient_memory(*layout, stage, 2),
            memory.optimizer_memory(*layout, stage, 12),
        )
        whole = (stage < 3, stage < 2, stage < 1)
        for value, kept, full in zip(found, whole, (15e9, 15e9, 90e9), strict=True):
            assert value == (full if kept else full / 64)


@given(counts, counts, counts, counts, stages)
def test_states_dealt_out_one_by_one(t: int, p: int, d: int, each: int, stage: int) -> None:
    """Dealing every parameter's states out to the accelerators leaves the first with what the formulas say."""
    n, parameters = t * p * d, t * p * d * each
    held = np.zeros((3, n))
    for parameter in range(parameters):
        part = parameter % (t * p)
        replicas = [replica * t * p + part for replica in range(d)]
        owner = replicas[parameter // (t * p) % d]
        for kind, (size, sharded_from) in enumerate(((2, 3), (4, 2), (12, 1))):
            held[kind, [owner] if stage >= sharded_from else replicas] += size
    layout = (parameters, n, memory.parameters_per_accelerator(parameters, t, p), stage)
    assert held[0, 0] == pytest.approx(memory.weight_memory(*layout, 2), rel=1e-12)
    assert held[1, 0] == pytest.approx(memory.gradient_memory(*layout, 4), rel=1e-12)
    assert held[2, 0] == pytest.approx(memory.optimizer_memory(*layout, 12), rel=1e-12)


@pytest.mark.parametrize(("hidden", "layers", "pipeline"), [(6144, 48, 1), (12288, 96, 8)])
def test_megatron_parameters_and_optimizer(hidden: int, layers: int, pipeline: int) -> None:
    """Megatron, 18 bytes per parameter, t = 8: 45.5625 GiB for 22B (p = 1) and for 175B (p = 8)."""
    parameters = 12 * layers * hidden**2
    share = memory.parameters_per_accelerator(parameters, 8, pipeline)
    layout = (parameters, 8 * pipeline, share, 0)
    weights, gradients = memory.weight_memory(*layout, 2), memory.gradient_memory(*layout, 4)
    assert weights + gradients + memory.optimizer_memory(*layout, 12) == 45.5625 * GIB


def test_layout_examples() -> None:
    """3,072 accelerators at t = 8, p = 64 are 6 replicas; at t = p = 8 one holds 2717908992 of 175B's parameters."""
    assert memory.data_parallel(3072, 8, 64) == 6
    assert memory.parameters_per_accelerator(12 * 96 * 12288**2, 8, 8) == 2717908992


def test_experts_are_spread_whole() -> None:
    """Mixtral 8x7B with an expert on each of 8: 7242780672; without parallelism one accelerator has everything."""
    total, experts = 46702792704, 45097156608
    assert memory.parameters_per_accelerator_with_experts(total, experts, 1, 1, 8) == 7242780672
    assert memory.parameters_per_accelerator_with_experts(total, experts, 1, 1, 1) == total
    assert memory.parameters_per_accelerator_with_experts(total, experts, 4, 2, 4) == total / 8


@given(counts, counts, counts)
def test_experts_dealt_out(t: int, p: int, e: int) -> None:
    """An accelerator holds a t-th of its stage's dense weights and an e-th of its experts, listed one by one."""
    dense, expert = 840, 1000
    stage = [("dense", dense // t)] + [("expert", expert)] * 8
    mine = sum(size for kind, size in stage if kind == "dense") + sum(s for k, s in stage if k == "expert") / e
    total, experts = p * (dense // t * t + 8 * expert), p * 8 * expert
    found = memory.parameters_per_accelerator_with_experts(total, experts, t, p, e)
    assert found == pytest.approx(mine, rel=1e-12)


def test_published_activations() -> None:
    """22B: 59.25 and 9.5625 GiB; 175B in 8 stages of 3 chunks: 66.84375 and 12.3515625 GiB (arXiv 2205.05198)."""
    selective = activations.activation_memory_under_selective_recompute
    none = {"tensor_parallel": 8.0, "sequence_parallel": 0.0}
    split = {"tensor_parallel": 8.0, "sequence_parallel": 1.0}
    assert activations.activation_memory(**WIDE_22B, **none, **ONE_STAGE, attention_heads=64.0) == 59.25 * GIB
    assert selective(**WIDE_22B, **split, **ONE_STAGE) == 9.5625 * GIB
    large = activations.activation_memory(**WIDE_175B, **none, **EIGHT_STAGES, attention_heads=96.0)
    assert large == pytest.approx(66.84375 * GIB, rel=1e-12)
    assert selective(**WIDE_175B, **split, **EIGHT_STAGES) == pytest.approx(12.3515625 * GIB, rel=1e-12)


def test_examples_of_fused_attention_and_full_recompute() -> None:
    """A fused kernel keeps what selective recompute keeps, 9.5625 GiB of 22B; inputs alone are 4.5 GiB."""
    split = {"tensor_parallel": 8.0, "sequence_parallel": 1.0}
    assert activations.activation_memory_of_fused_attention(**WIDE_22B, **split, **ONE_STAGE) == 9.5625 * GIB
    assert activations.activation_memory_under_full_recompute(**OF_22B, **ONE_STAGE) == 4.5 * GIB


class Kept(NamedTuple):
    """A tensor that one layer keeps for its backward pass: numbers for each token, bytes of each, how it is split."""

    name: str
    numbers: int
    size: int = 2
    split: str = "heads"


def _sequence(name: str, numbers: int, size: int = 2) -> Kept:
    return Kept(name, numbers, size, "sequence")


def _kept(table: dict[str, Any], *, scores: bool) -> Iterator[Kept]:
    """The tensors of a layer of GPT (arXiv 2205.05198, section 4.1), and what a gated MLP or experts have instead."""
    h, a, s, f = table["hidden_size"], table["attention_heads"], table["sequence_length"], table["mlp_size"]
    yield _sequence("norm before attention", h)
    yield _sequence("input of queries, keys and values", h)
    yield from [Kept("query", table["head_size"])] * a
    yield from [Kept("key", table["head_size"]), Kept("value", table["head_size"])] * table["kv_heads"]
    if scores:
        yield Kept("softmax", a * s)
        yield Kept("mask of the softmax's dropout", a * s, 1)
        yield Kept("dropped-out softmax", a * s)
    yield from [Kept("input of the projection", table["head_size"])] * a
    yield _sequence("mask of the dropout after attention", h, 1)
    yield _sequence("norm before the MLP", h)
    yield _sequence("input of the MLP or the router", h)
    if "experts" in table:
        for _ in range(table["experts_per_token"]):
            yield Kept("token sent to an expert", h)
            yield from _kept_in_mlp(table["mlp"], table["expert_size"])
            yield Kept("token sent back, before its weight", h)
        for _ in range(table["shared_experts"]):
            yield from _kept_in_mlp(table["mlp"], table["shared_expert_size"])
    else:
        yield from _kept_in_mlp(table["mlp"], f)
    yield _sequence("mask of the dropout after the MLP", h, 1)


def _kept_in_mlp(kind: str, width: int) -> Iterator[Kept]:
    yield Kept("input of the activation function", width)
    if kind == "gated":
        yield Kept("what the gate multiplies", width)
    yield Kept("input of the last matrix", width)


def _listed(table: dict[str, Any], b: int, t: int, q: int, *, scores: bool) -> float:
    tensors = _kept(table, scores=scores)
    tokens = table["sequence_length"] * b
    return sum(tokens * one.numbers * one.size / (t if one.split == "heads" or q else 1) for one in tensors)


@st.composite
def layers_of(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    """An `[architecture]` of 24 layers of GPT, with grouped heads and a gated MLP, or with experts besides."""
    groups = draw(counts)
    table = {"layers": 24, "sequence_length": draw(counts), "vocabulary_size": 50, "tied_embeddings": False}
    table |= {"kv_heads": groups, "head_size": draw(counts), "mlp": "plain" if kind == "GPT" else "gated"}
    table["attention_heads"] = groups * (1 if kind == "GPT" else draw(counts))
    table["hidden_size"] = table["attention_heads"] * table["head_size"] if kind == "GPT" else draw(counts)
    table["mlp_size"] = 4 * table["hidden_size"] if kind == "GPT" else draw(counts)
    if kind == "mixture":
        table |= {"experts": 8, "experts_per_token": draw(counts), "expert_size": draw(counts)}
        table |= {"shared_experts": draw(st.integers(0, 2)), "shared_expert_size": draw(counts)}
    return table


def _layers_in_flight(layers: int, p: int, v: int) -> float:
    """The most layers that the first stage has run forward and not yet backward, in one-forward-one-backward order."""
    warm_up = p - 1 if v == 1 else 2 * (p - 1) + (v - 1) * p
    units = max(warm_up + 3, 2 * p * v)
    order = [1] * warm_up + [1, -1] * (units - warm_up) + [-1] * warm_up
    return max(itertools.accumulate(order)) * layers / (p * v)


@pytest.mark.parametrize("kind", ["GPT", "grouped and gated", "mixture"])
@given(data=st.data(), b=counts, t=counts, q=st.integers(0, 1), p=counts, v=counts)
def test_activations_against_a_list_of_tensors(
    kind: str, data: st.DataObject, b: int, t: int, q: int, p: int, v: int
) -> None:
    """Summing the tensors that a layer keeps, over the layers in flight, gives each formula at its counted width."""
    table = data.draw(layers_of(kind))
    at = _layers_in_flight(table["layers"], p, v)
    known = _quantities(table) | {"micro_batch": b, "pipeline_parallel": p, "pipeline_interleave": v}
    known |= {"tensor_parallel": t, "sequence_parallel": q}
    if kind == "GPT":
        assert known["activation_width"] == 12 * table["hidden_size"]
    all_kept = _of(activations.activation_memory, known)
    assert all_kept == pytest.approx(at * _listed(table, b, t, q, scores=True), rel=1e-12)
    without = at * _listed(table, b, t, q, scores=False)
    for one in (
        activations.activation_memory_of_fused_attention,
        activations.activation_memory_under_selective_recompute,
    ):
        assert _of(one, known) == pytest.approx(without, rel=1e-12)
    inputs = at * 2 * table["sequence_length"] * b * table["hidden_size"]
    assert _of(activations.activation_memory_under_full_recompute, known) == pytest.approx(inputs, rel=1e-12)


def _quantities(table: dict[str, Any]) -> dict[str, float]:
    if "experts" in table:
        table = {key: value for key, value in table.items() if key != "mlp_size"}
        table = table if table["shared_experts"] else {k: v for k, v in table.items() if k != "shared_expert_size"}
    model = from_table(table)
    assert isinstance(model, Transformer)
    return model.quantities("full")


def _of(one: Formula, known: dict[str, float]) -> float:
    return float(one(**{name: known[name] for name in one.inputs}))


@pytest.mark.parametrize("width", [8192, 16384, 24576, 32768])
def test_plain_mlp_of_any_width(width: int) -> None:
    """Megatron-LM's own s b h (18 + 4 f/h) / t a layer (megatron/training/theoretical_memory_usage.py, 00caa53)."""
    split = {"tensor_parallel": 8.0, "sequence_parallel": 1.0}
    heads = {"kv_heads": 64, "attention_heads": 64, "head_size": 96}
    table = {"hidden_size": 6144, "mlp": "plain", "mlp_size": width, "sequence_length": 2048, **heads}
    known = _quantities(table | {"layers": 48, "vocabulary_size": 50, "tied_embeddings": True})
    found = _of(activations.activation_memory_of_fused_attention, known | {"micro_batch": 4.0} | split | ONE_STAGE)
    assert found == pytest.approx(2048 * 4 * 6144 * (18 + 4 * width / 6144) * 48 / 8, rel=1e-12)


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("kernel", ["fused", "unfused"])
def test_one_activation_formula_for_each_pair_of_choices(recompute: str, kernel: str) -> None:
    """Whatever is chosen, exactly one formula applies, and only unfused attention without recompute stores scores."""
    made = {"recompute": recompute, "attention_kernel": kernel}
    fitting = [f for f in activations.ACTIVATION_MEMORY if all(made[key] in words for key, words in f.when.items())]
    assert [one.name for one in fitting] == ["activation_memory"]
    assert ("attention_heads" in fitting[0].inputs) == (made == {"recompute": "none", "attention_kernel": "unfused"})


def test_logits() -> None:
    """s = 2048, b = 4, V = 51200, t = 8: 200 MiB of fp32 logits."""
    assert activations.logit_memory(2048, 4, 51200, 8) == 200 * 2**20 == 209715200


def test_sum_and_share_of_memory() -> None:
    """The parts add up, logits count when they are stated, and 54 of 90 % of 80 GB are three quarters."""
    assert memory.memory_per_accelerator(1.0, 2.0, 4.0, 8.0) == 15
    assert memory.memory_per_accelerator(1.0, 2.0, 4.0, 8.0, 16.0) == 31
    usable = memory.usable_memory(80e9, 0.9)
    assert usable == 72e9
    assert memory.memory_utilisation(54e9, usable) == 0.75


def _search(total: int, each: int, stage: int, sizes: tuple[int, int, int], rest: int, usable: int, g: int) -> float:
    """The first multiple of g at which the bytes fit, in whole numbers; infinity where none up to a bound does."""
    n = g * np.arange(1, 200_000)
    need = rest * n
    for size, sharded_from in zip(sizes, (3, 2, 1), strict=True):
        need = need + (size * total if stage >= sharded_from else size * each * n)
    fits = np.flatnonzero(need <= usable * n)
    return float(n[fits[0]]) if fits.size else math.inf


@given(counts, counts, st.integers(1, 40), stages, st.integers(0, 20), st.integers(0, 20), st.integers(1, 600))
def test_minimum_accelerators_against_a_search(
    t: int, p: int, each: int, stage: int, activations: int, logits: int, usable: int
) -> None:
    """Trying one cluster size after another finds the smallest that the formula gives, or none where it says so."""
    total, sizes = each * t * p, (2, 4, 12)
    found = memory.minimum_accelerators(total, each, stage, *sizes, activations, usable, t, p, logits)
    assert found == _search(total, each, stage, sizes, activations + logits, usable, t * p)


@given(counts, counts, counts, st.integers(1, 40), stages, st.integers(1, 600))
def test_minimum_accelerators_with_spread_experts(t: int, p: int, more: int, e: int, stage: int, usable: int) -> None:
    """Where experts are spread wider than layers, clusters grow by p e; the search agrees."""
    total, experts, expert_parallel = 840 * 40 * p, 840 * 30 * p, t * more
    each = memory.parameters_per_accelerator_with_experts(total, experts, t, p, expert_parallel)
    args = (total, each, stage, 2, 4, 12, e, usable * 840, t, p, 0)
    found = memory.minimum_accelerators(*args, expert_parallel)
    n = p * expert_parallel * np.arange(1, 200_000)
    layout = (total, n, each, stage)
    weights, gradients = memory.weight_memory(*layout, 2), memory.gradient_memory(*layout, 4)
    need = memory.memory_per_accelerator(weights, gradients, memory.optimizer_memory(*layout, 12), e)
    fits = np.flatnonzero(need <= usable * 840 * (1 + 1e-12))
    assert found == (n[fits[0]] if fits.size else math.inf)


def test_minimum_accelerators_example() -> None:
    """7.5e9 parameters of 16 bytes at stage 3 in 40 GB less 10 GB of activations: 4."""
    assert memory.minimum_accelerators(7.5e9, 7.5e9, 3, 2, 2, 12, 10e9, 40e9, 1, 1) == 4


@pytest.mark.parametrize(
    ("stage", "usable", "wanted"),
    [
        (0, 16.0 * 75, 1.0),  # nothing is sharded and it fits to the byte
        (0, 16.0 * 75 - 1, math.inf),  # nothing is sharded and it does not fit
        (1, 4.0 * 75, math.inf),  # what is not sharded leaves no room at all
        (1, 4.0 * 75 + 12, 75.0),  # the room of one parameter's states
    ],
)
def test_minimum_accelerators_at_the_edge(stage: int, usable: float, wanted: float) -> None:
    """Full to the last byte fits; without room for what is sharded no cluster is large enough."""
    assert memory.minimum_accelerators(75.0, 75.0, stage, 2.0, 2.0, 12.0, 0.0, usable, 1.0, 1.0) == wanted


def test_minimum_accelerators_of_many_draws() -> None:
    """Arrays where some draws fit and others never do give numbers and infinities, and no warning."""
    usable = np.array([1.0, 300.0, 312.0, 1200.0])
    found = memory.minimum_accelerators(75.0, 75.0, 1.0, 2.0, 2.0, 12.0, 0.0, usable, 1.0, 1.0)
    assert found.tolist() == [math.inf, math.inf, 75.0, 1.0]


@given(counts, counts)
def test_pipeline_bubble_against_a_schedule(p: int, m: int) -> None:
    """Starting each micro-batch on each stage as soon as it can leaves the first stage idle for the bubble."""
    ends = np.zeros((p + 1, m + 1))
    for stage, batch in itertools.product(range(1, p + 1), range(1, m + 1)):
        ends[stage, batch] = max(ends[stage - 1, batch], ends[stage, batch - 1]) + 1
    assert memory.pipeline_bubble(p, m, 1) == pytest.approx(1 - m / ends[p, m], abs=1e-15)


def test_pipeline_bubble_example() -> None:
    """p = 8, m = 64, v = 3: 7 of 199; and one stage waits for nobody."""
    assert memory.pipeline_bubble(8, 64, 3) == 7 / 199
    assert memory.pipeline_bubble(1, 64, 1) == 0
