"""The parts of a transformer layer: exact counts of weights in matrix products and of all else, and of what is kept.

`kept` counts the numbers that a part keeps for each token from its forward to its backward pass, besides those as wide
as the residual stream that every layer has: the inputs of its norms and of the first matrices behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from uncertain_botec.formulas import architecture as count

QkNorm = Literal["none", "head", "width"]


@dataclass(frozen=True)
class Attention:
    """Attention with a key and value head for each query head, for a group of them, or for all.

    Attributes:
        heads: query heads.
        kv_heads: heads of keys and of values.
        head_size: width of one head.
        window: tokens that a token may attend to, itself included; None for all of the sequence.
        qkv_bias: whether queries, keys and values have biases.
        output_bias: whether the output projection has one.
        qk_norm: norms of queries and keys: "head" shares one scale among the heads, "width" has one for each.
        sinks: whether every head has a learned number in the softmax's denominator.
    """

    heads: int
    kv_heads: int
    head_size: int
    window: int | None = None
    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: QkNorm = "none"
    sinks: bool = False

    def matrices(self, hidden_size: int) -> int:
        """Weights of the projections."""
        return int(count.attention_parameters(hidden_size, self.heads, self.kv_heads, self.head_size))

    def vectors(self, hidden_size: int) -> int:
        """Biases, scales of norms, and sinks."""
        projected = (self.heads + 2 * self.kv_heads) * self.head_size
        scales = {"none": 0, "head": 2 * self.head_size, "width": (self.heads + self.kv_heads) * self.head_size}
        biases = self.qkv_bias * projected + self.output_bias * hidden_size
        return biases + scales[self.qk_norm] + self.sinks * self.heads

    @property
    def width(self) -> float:
        """Heads times head size."""
        return float(count.attention_width(1, self.heads, self.head_size))

    @property
    def decode_width(self) -> float:
        """The same while decoding."""
        return self.width

    @property
    def cache_heads(self) -> int:
        """Heads that the key-value cache can be split by."""
        return self.kv_heads

    @property
    def kv_width(self) -> int:
        """Numbers that the key-value cache holds for one token."""
        return int(count.kv_width(1, self.kv_heads, self.head_size))

    @property
    def kept(self) -> int:
        """Queries, keys, values and the output's input; queries and keys also before their norms, if they have any.

        Where more accelerators share a layer than there are heads of keys and values, these are not split further, and
        too little is counted.
        """
        projected = self.heads + self.kv_heads
        unnormed = projected if self.qk_norm != "none" else 0
        return (2 * projected + unnormed) * self.head_size


@dataclass(frozen=True)
class LatentAttention:
    """Multi-head latent attention: keys and values of all heads come from one short vector for each token.

    Attributes:
        heads: heads.
        q_lora_rank: latent width of queries; 0 for queries of full rank.
        kv_lora_rank: latent width of keys and values.
        nope_head_size, rope_head_size: a head's position-free and position-dependent part of queries and keys.
        value_head_size: width of one head's values.
        window: as in `Attention`.
        bias: whether the projections from and to the hidden state have biases, but for full-rank queries.
    """

    heads: int
    q_lora_rank: int
    kv_lora_rank: int
    nope_head_size: int
    rope_head_size: int
    value_head_size: int
    window: int | None = None
    bias: bool = False

    def matrices(self, hidden_size: int) -> int:
        """Weights of the projections."""
        sizes = (self.kv_lora_rank, self.nope_head_size, self.rope_head_size, self.value_head_size)
        if self.q_lora_rank:
            return int(count.mla_parameters(hidden_size, self.heads, self.q_lora_rank, *sizes))
        return int(count.mla_parameters_of_full_rank_queries(hidden_size, self.heads, *sizes))

    def vectors(self, hidden_size: int) -> int:
        """Scales of the latent vectors' norms, and biases."""
        biases = self.q_lora_rank + self.kv_lora_rank + self.rope_head_size + hidden_size
        return self.q_lora_rank + self.kv_lora_rank + self.bias * biases

    @property
    def width(self) -> float:
        """Heads times the mean of the head sizes of queries and values."""
        sizes = (self.nope_head_size, self.rope_head_size, self.value_head_size)
        return float(count.mla_attention_width(1, self.heads, *sizes))

    @property
    def decode_width(self) -> float:
        """The same while decoding, where queries are brought to the latent vectors instead of these being expanded."""
        return float(count.mla_decode_attention_width(1, self.heads, self.kv_lora_rank, self.rope_head_size))

    @property
    def cache_heads(self) -> int:
        """Heads that the cache can be split by: all heads share one latent vector."""
        return 1

    @property
    def kv_width(self) -> int:
        """Numbers that the cache holds for one token."""
        return int(count.mla_kv_width(1, self.kv_lora_rank, self.rope_head_size))

    @property
    def kept(self) -> int:
        """Queries, keys, values and the output's input of all heads; latent vectors before and after their norms.

        Keys are kept expanded, so that every head has a copy of the position-dependent part. Tensor parallelism splits
        the heads, but latent vectors only along the sequence: without sequence parallelism each of t accelerators holds
        t times as much of those as is counted.
        """
        queries = self.nope_head_size + self.rope_head_size
        return 2 * self.heads * (queries + self.value_head_size) + 2 * (self.q_lora_rank + self.kv_lora_rank)


@dataclass(frozen=True)
class Mlp:
    """A dense layer's MLP.

    Attributes:
        size: its inner width.
        gated: whether a third matrix gates it.
        bias: whether each matrix has a bias.
    """

    size: int
    gated: bool
    bias: bool = False

    def matrices(self, hidden_size: int) -> int:
        """Weights of the two or three matrices."""
        return int(count.mlp_parameters(hidden_size, self.size, 3 if self.gated else 2))

    def vectors(self, hidden_size: int) -> int:
        """Biases."""
        return self.bias * ((2 if self.gated else 1) * self.size + hidden_size)

    @property
    def kept(self) -> int:
        """The activation function's input and the last matrix's; gated also what the gate multiplies.

        A kernel is taken to apply the gate in one go; apart, the activation function's result would be kept too.
        """
        return (3 if self.gated else 2) * self.size


@dataclass(frozen=True)
class Experts:
    """A mixture of experts, of which a router sends each token to a few.

    Attributes:
        experts: routed experts.
        per_token: how many of them a token is sent to.
        expert: one of them.
        shared: the MLP that every token passes through besides, if there is one.
        shared_gate: whether that one's output is scaled by a learned projection of the hidden state.
        router_bias: whether each expert has a bias in the router.
    """

    experts: int
    per_token: int
    expert: Mlp
    shared: Mlp | None = None
    shared_gate: bool = False
    router_bias: bool = False

    def router_matrices(self, hidden_size: int) -> int:
        """Weights of the router, and of the shared expert's gate."""
        return int(count.router_parameters(hidden_size, self.experts)) + self.shared_gate * hidden_size

    @property
    def router_vectors(self) -> int:
        """Biases of the router."""
        return self.router_bias * self.experts

    def kept(self, hidden_size: int) -> int:
        """What a token's experts keep, its copy that is sent to each, and the result that each sends back.

        Results are kept because their weights have gradients; a shared expert's, too, if it is gated. The router's
        scores are left out. Experts are whole, so that what tensor parallelism splits here are the tokens.
        """
        routed = self.per_token * (self.expert.kept + 2 * hidden_size)
        return routed + (self.shared.kept if self.shared else 0) + self.shared_gate * hidden_size


@dataclass(frozen=True)
class LayerGroup:
    """Layers that are all alike; where they stand in the model does not matter to any count.

    Attributes:
        layers: how many; zero keeps the sizes of a model that has no layers.
        attention, mlp: what each of them has.
    """

    layers: int
    attention: Attention | LatentAttention
    mlp: Mlp | Experts
