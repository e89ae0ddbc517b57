"""A second route to every count: the tensors that a framework would allocate, multiply by, and keep.

It shares nothing with the package: layer by layer, expert by expert, token by token, pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class Tensor(NamedTuple):
    """One allocated tensor; `expert` says which routed expert it belongs to."""

    name: str
    shape: tuple[int, ...]
    multiplied: bool
    expert: int | None = None

    @property
    def size(self) -> int:
        size = 1
        for length in self.shape:
            size *= length
        return size


def _linear(name: str, inputs: int, outputs: int, bias: bool, expert: int | None = None) -> Iterator[Tensor]:
    yield Tensor(name, (outputs, inputs), True, expert)
    if bias:
        yield Tensor(f"{name}.bias", (outputs,), False, expert)


def _mlp(name: str, table: dict[str, Any], size: int, expert: int | None = None) -> Iterator[Tensor]:
    hidden, bias = table["hidden_size"], table["biases"] == "all"
    if table["mlp"] == "gated":
        yield from _linear(f"{name}.gate", hidden, size, bias, expert)
    yield from _linear(f"{name}.up", hidden, size, bias, expert)
    yield from _linear(f"{name}.down", size, hidden, bias, expert)


def _attention(table: dict[str, Any]) -> Iterator[Tensor]:
    hidden, heads = table["hidden_size"], table["attention_heads"]
    outward = table["biases"] in ("attention", "all")
    if "kv_lora_rank" in table:
        query, latent = table["nope_head_size"] + table["rope_head_size"], table["kv_lora_rank"]
        if rank := table["q_lora_rank"]:
            yield from _linear("q_a", hidden, rank, outward)
            yield Tensor("q_a_norm", (rank,), False)
            yield from _linear("q_b", rank, heads * query, False)
        else:
            yield from _linear("q", hidden, heads * query, False)
        yield from _linear("kv_a", hidden, latent + table["rope_head_size"], outward)
        yield Tensor("kv_a_norm", (latent,), False)
        yield from _linear("kv_b", latent, heads * (table["nope_head_size"] + table["value_head_size"]), False)
        yield from _linear("o", heads * table["value_head_size"], hidden, outward)
        return
    size, groups = table["head_size"], table["kv_heads"]
    inward = table["biases"] != "none"
    yield from _linear("q", hidden, heads * size, inward)
    yield from _linear("k", hidden, groups * size, inward)
    yield from _linear("v", hidden, groups * size, inward)
    yield from _linear("o", heads * size, hidden, outward)
    if table["qk_norm"] == "head":
        yield Tensor("q_norm", (size,), False)
        yield Tensor("k_norm", (size,), False)
    if table["qk_norm"] == "width":
        yield Tensor("q_norm", (heads, size), False)
        yield Tensor("k_norm", (groups, size), False)


def has_experts(table: dict[str, Any], layer: int) -> bool:
    """Whether a layer, counted from 0, has experts: every n-th after the first dense ones."""
    if "experts" not in table or layer < table["dense_layers"]:
        return False
    sparse, since = False, 0
    for _ in range(table["dense_layers"], layer + 1):
        since += 1
        sparse = since == table["moe_every"]
        since = 0 if sparse else since
    return sparse


def _norm(name: str, table: dict[str, Any]) -> Iterator[Tensor]:
    if table["norm"] != "none":
        yield Tensor(f"{name}.scale", (table["hidden_size"],), False)
    if table["norm"] == "layer":
        yield Tensor(f"{name}.shift", (table["hidden_size"],), False)


def layer_tensors(table: dict[str, Any], layer: int) -> Iterator[Tensor]:
    """What one layer allocates."""
    yield from _attention(table)
    for index in range(table["norms_per_layer"]):
        yield from _norm(f"norm{index}", table)
    if not has_experts(table, layer):
        yield from _mlp("mlp", table, table["mlp_size"])
        return
    yield from _linear("router", table["hidden_size"], table["experts"], table["biases"] == "all")
    for expert in range(table["experts"]):
        yield from _mlp(f"experts.{expert}", table, table["expert_size"], expert)
    if table["shared_experts"]:
        yield from _mlp("shared", table, table["shared_experts"] * table["shared_expert_size"])


def outer_tensors(table: dict[str, Any]) -> Iterator[Tensor]:
    """What stands outside the layers; a tied head is used but not allocated again."""
    yield Tensor("embedding", (table["vocabulary_size"], table["hidden_size"]), False)
    if table["learned_positions"]:
        yield Tensor("positions", (table["learned_positions"], table["hidden_size"]), False)
    yield from _norm("final", table)
    if not table["tied_embeddings"]:
        yield from _linear("head", table["hidden_size"], table["vocabulary_size"], False)


def all_tensors(table: dict[str, Any]) -> list[Tensor]:
    """Everything that is allocated."""
    layers = [tensor for layer in range(table["layers"]) for tensor in layer_tensors(table, layer)]
    return [*outer_tensors(table), *layers]


def _taken(tensor: Tensor, table: dict[str, Any], token: int) -> bool:
    """Whether a token passes through a tensor, when tokens are sent to experts in turn."""
    if tensor.expert is None:
        return True
    chosen = {(token + turn) % table["experts"] for turn in range(table["experts_per_token"])}
    return tensor.expert in chosen


def active_parameters(table: dict[str, Any]) -> int:
    """Parameters that take part in one token."""
    return sum(tensor.size for tensor in all_tensors(table) if _taken(tensor, table, token=1))


def kept_numbers(table: dict[str, Any], layer: int) -> int:
    """Numbers of one token that a layer's backward pass reads, but for inputs of norms and blocks of the hidden size.

    Every operation names what its own backward pass reads; what two of them read is kept once.
    """
    kept: dict[str, int] = {}
    heads = table["attention_heads"]
    if "kv_lora_rank" in table:
        for name, rank in (("q_a", table["q_lora_rank"]), ("kv_a", table["kv_lora_rank"])):
            kept[f"{name}, read by its norm"] = rank
            kept[f"{name}, read by the projection to heads"] = rank
        query, value, groups = table["nope_head_size"] + table["rope_head_size"], table["value_head_size"], heads
    else:
        query = value = table["head_size"]
        groups = table["kv_heads"]
        if table["qk_norm"] != "none":
            kept |= {f"q{head}, read by its norm": query for head in range(heads)}
            kept |= {f"k{head}, read by its norm": query for head in range(groups)}
    kept |= {f"q{head}, read by attention": query for head in range(heads)}
    kept |= {f"k{head}, read by attention": query for head in range(groups)}
    kept |= {f"v{head}, read by attention": value for head in range(groups)}
    kept |= {f"o{head}, read by attention and the projection": value for head in range(heads)}
    if not has_experts(table, layer):
        kept |= _kept_in_mlp("mlp", table, table["mlp_size"])
        return sum(kept.values())
    for expert in range(table["experts"]):
        if expert < table["experts_per_token"]:
            kept[f"{expert}: token, read by the first matrix"] = table["hidden_size"]
            kept |= _kept_in_mlp(f"{expert}", table, table["expert_size"])
            kept[f"{expert}: result, read by its weight"] = table["hidden_size"]
    for shared in range(table["shared_experts"]):
        kept |= _kept_in_mlp(f"shared {shared}", table, table["shared_expert_size"])
    return sum(kept.values())


def _kept_in_mlp(name: str, table: dict[str, Any], size: int) -> dict[str, int]:
    read = ("up, read by the gate", "gate, read by the gate") if table["mlp"] == "gated" else ("up, read by GeLU",)
    return {f"{name}: {what}": size for what in (*read, "inner, read by the last matrix")}


def forward_flop(table: dict[str, Any], mask: str) -> int:
    """FLOP of a forward pass over one sequence, 2 m n k for each matrix product."""
    length, hidden = table["sequence_length"], table["hidden_size"]
    if "kv_lora_rank" in table:
        query, value = table["nope_head_size"] + table["rope_head_size"], table["value_head_size"]
    else:
        query = value = table["head_size"]
    flop = 0
    for token in range(length):
        flop += 2 * hidden * table["vocabulary_size"]
        for layer in range(table["layers"]):
            for tensor in layer_tensors(table, layer):
                if tensor.multiplied and _taken(tensor, table, token):
                    flop += 2 * tensor.size
            window = table["attention_window"] if layer < table.get("windowed_layers", 0) else length
            seen = [other for other in range(token + 1) if token - other < window]
            keys = len(seen) if mask == "causal" else min(window, length)
            flop += keys * table["attention_heads"] * (2 * query + 2 * value)
    return flop
