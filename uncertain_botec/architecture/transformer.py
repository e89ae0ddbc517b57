"""A decoder-only transformer, counted exactly: parameters by component, and the sizes that other formulas take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from uncertain_botec.architecture.layers import Attention, Experts, LatentAttention, LayerGroup, Mlp
from uncertain_botec.formulas import architecture as count

Norm = Literal["rms", "layer", "none"]

_NORM_VECTORS = {"rms": 1, "layer": 2, "none": 0}


@dataclass(frozen=True)
class Component:
    """One line of the table that explains a count.

    Attributes:
        name: what it is.
        parameters: of all its copies together.
        active_parameters: those of them that take part in one token.
        times: its copies.
    """

    name: str
    parameters: int
    active_parameters: int
    times: int


@dataclass(frozen=True)
class Transformer:
    """A decoder-only transformer.

    Attributes:
        hidden_size: width of the residual stream.
        vocabulary_size: rows of the token embedding, padding included.
        groups: its layers, at least one group.
        tied_embeddings: whether the output head shares the token embedding's weights.
        norm: "rms" has a scale, as has a LayerNorm without biases; "layer" also a shift; "none" has no parameters.
        norms_per_layer: norms of the residual stream or of a block's output; those of queries and keys not counted.
        outer_norms: norms outside the layers: one before the output head, in some models one after the embedding.
        learned_positions: rows of the learned position embedding; 0 where there is none.
        sequence_length: tokens of a training sequence; None leaves what depends on it open.
    """

    hidden_size: int
    vocabulary_size: int
    groups: tuple[LayerGroup, ...]
    tied_embeddings: bool
    norm: Norm = "rms"
    norms_per_layer: int = 2
    outer_norms: int = 1
    learned_positions: int = 0
    sequence_length: int | None = None

    @property
    def layers(self) -> int:
        """All layers."""
        return sum(group.layers for group in self.groups)

    def components(self) -> tuple[Component, ...]:
        """Every parameter, by what it belongs to; the parameters of all lines add up to the total."""
        vocabulary = int(count.output_head_parameters(self.hidden_size, self.vocabulary_size))
        rows = [Component("token embedding", vocabulary, vocabulary, 1)]
        if self.learned_positions:
            positions = self.learned_positions * self.hidden_size
            rows.append(Component("position embedding", positions, positions, 1))
        blocks = [row for group in self.groups if group.layers for row in _blocks(group, self.hidden_size)]
        rows += _merged(blocks)
        norms = self.layers * self.norms_per_layer + self.outer_norms
        scales = norms * self.hidden_size * _NORM_VECTORS[self.norm]
        rows.append(Component("norms", scales, scales, norms))
        if self.tied_embeddings:
            rows.append(Component("output head (tied)", 0, 0, 1))
        else:
            rows.append(Component("output head", vocabulary, vocabulary, 1))
        return tuple(rows)

    def quantities(self, mask: str) -> dict[str, float]:
        """What formulas take, by its name in the vocabulary.

        Parameters are those that are active for one token, embeddings included. Matrix products leave out the lookup
        of embeddings, norms and biases, and count the output head also where it is tied. Attended tokens are weighted
        by the width of attention, so that 4 attention_width attended_tokens is the FLOP of a forward pass for one
        token. What layers keep of a token for the backward pass is a mean over them. Nothing is said about a sequence
        whose length is not known.

        Args:
            mask: "full" counts every token with the whole sequence or window, "causal" with what lies before it.
        """
        if mask not in ("full", "causal"):
            raise ValueError(f"{mask!r} is not a mask: full or causal")
        rows = self.components()
        head = int(count.output_head_parameters(self.hidden_size, self.vocabulary_size))
        layers = sum(group.layers * _active_matrices(group, self.hidden_size) for group in self.groups)
        values: dict[str, float] = {
            "total_parameters": sum(row.parameters for row in rows),
            "parameters": sum(row.active_parameters for row in rows),
            "matmul_parameters": layers + head,
            "expert_parameters": sum(row.parameters for row in rows if row.name == "experts"),
            "output_head_parameters": head,
            "attention_width": sum(group.layers * group.attention.width for group in self.groups),
            "kv_width": sum(group.layers * group.attention.kv_width for group in self.groups),
            "cache_heads": min(group.attention.cache_heads for group in self.groups),
            "decode_attention_width": sum(group.layers * group.attention.decode_width for group in self.groups),
            "expert_share": self._expert_share(),
            "activation_width": self._activation_width(),
            "layers": self.layers,
            "hidden_size": self.hidden_size,
            "attention_heads": self.groups[0].attention.heads,
            "vocabulary_size": self.vocabulary_size,
        }
        if self.sequence_length is not None:
            values["attended_tokens"] = self._attended_tokens(mask, self.sequence_length)
            values["sequence_length"] = self.sequence_length
        return {name: float(value) for name, value in values.items()}

    def _expert_share(self) -> float:
        """The part of the routed experts that a token is sent to, weighted by their size; all of them without any."""
        sizes = [
            (group.layers * mlp.experts * mlp.expert.matrices(self.hidden_size), mlp.per_token / mlp.experts)
            for group in self.groups
            if not isinstance(mlp := group.mlp, Mlp)
        ]
        total = sum(size for size, _ in sizes)
        return sum(size * part for size, part in sizes) / total if total else 1.0

    def _activation_width(self) -> float:
        kept = sum(group.layers * _kept(group, self.hidden_size) for group in self.groups)
        return kept / max(self.layers, 1)

    def _attended_tokens(self, mask: str, sequence_length: int) -> float:
        def attended(group: LayerGroup) -> Fraction:
            # In exact fractions, so that the mean of equal numbers is that number.
            window = Fraction(min(sequence_length, group.attention.window or sequence_length))
            return Fraction(count.causal_attended_tokens(sequence_length, window)) if mask == "causal" else window

        weights = [group.layers * Fraction(group.attention.width) for group in self.groups]
        if not any(weights):
            # Without layers nothing is attended to, and the width of zero says so; any length may stand beside it.
            return float(attended(self.groups[0]))
        total = sum(weight * attended(group) for weight, group in zip(weights, self.groups, strict=True))
        return float(total / sum(weights))


def _blocks(group: LayerGroup, hidden_size: int) -> Iterator[Component]:
    """The components of a group's layers."""
    layers, attention, mlp = group.layers, group.attention, group.mlp

    def row(name: str, block: Attention | LatentAttention | Mlp, copies: int = 1, active: int = 1) -> Component:
        one = block.matrices(hidden_size) + block.vectors(hidden_size)
        return Component(name, layers * copies * one, layers * active * one, layers * copies)

    yield row("attention", attention)
    if isinstance(mlp, Mlp):
        yield row("MLP", mlp)
        return
    yield row("experts", mlp.expert, mlp.experts, mlp.per_token)
    if mlp.shared is not None:
        yield row("shared experts", mlp.shared)
    router = layers * (mlp.router_matrices(hidden_size) + mlp.router_vectors)
    yield Component("router", router, router, layers)


def _merged(rows: Iterable[Component]) -> list[Component]:
    """Components of one name as one, in the order in which the names first come."""
    merged: dict[str, Component] = {}
    for row in rows:
        before = merged.get(row.name, Component(row.name, 0, 0, 0))
        merged[row.name] = Component(
            row.name,
            before.parameters + row.parameters,
            before.active_parameters + row.active_parameters,
            before.times + row.times,
        )
    return list(merged.values())


def _active_matrices(group: LayerGroup, hidden_size: int) -> int:
    """Weights of one layer's matrix products for one token."""
    attention, mlp = group.attention.matrices(hidden_size), group.mlp
    if isinstance(mlp, Mlp):
        return attention + mlp.matrices(hidden_size)
    routed = mlp.per_token * mlp.expert.matrices(hidden_size)
    shared = mlp.shared.matrices(hidden_size) if mlp.shared else 0
    return attention + routed + shared + mlp.router_matrices(hidden_size)


def _kept(group: LayerGroup, hidden_size: int) -> int:
    """Numbers that one layer keeps for each token, besides those as wide as the residual stream."""
    mlp = group.mlp
    return group.attention.kept + (mlp.kept if isinstance(mlp, Mlp) else mlp.kept(hidden_size))


def grouped(layers: Iterable[tuple[Attention | LatentAttention, Mlp | Experts]]) -> tuple[LayerGroup, ...]:
    """Layers one by one as groups of those that are alike."""
    counts: dict[tuple[Attention | LatentAttention, Mlp | Experts], int] = {}
    for layer in layers:
        counts[layer] = counts.get(layer, 0) + 1
    return tuple(LayerGroup(times, *layer) for layer, times in counts.items())
