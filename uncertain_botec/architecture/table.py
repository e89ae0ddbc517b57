"""The `[architecture]` table of a prior file: its keys, and the model that it describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from uncertain_botec import library
from uncertain_botec.architecture.errors import ArchitectureError, raise_faults, shown
from uncertain_botec.architecture.layers import Attention, Experts, LatentAttention, LayerGroup, Mlp, QkNorm
from uncertain_botec.architecture.network import Network
from uncertain_botec.architecture.shape import MOST, MOST_LAYERS
from uncertain_botec.architecture.transformer import Norm, Transformer, grouped
from uncertain_botec.tables import Sourced

Size = Annotated[int, Field(ge=1, le=MOST)]
SizeOrZero = Annotated[int, Field(ge=0, le=MOST)]
Layers = Annotated[int, Field(ge=0, le=MOST_LAYERS)]


class ArchitectureTable(Sourced):
    """What every architecture may say about where its sizes come from."""

    source: str | None = Field(None, description="where the sizes are published")


class NetworkTable(ArchitectureTable):
    """A fully connected network."""

    layer_sizes: Annotated[list[Size], Field(min_length=2, max_length=MOST_LAYERS)] = Field(
        description="nodes of each layer, inputs first"
    )
    biases: bool = Field(True, description="whether every neuron has a bias")


class TransformerTable(ArchitectureTable):
    """A decoder-only transformer."""

    layers: Layers = Field(description="transformer layers")
    hidden_size: Size = Field(description="width of the residual stream")
    attention_heads: Size = Field(description="query heads of a layer")
    vocabulary_size: Size = Field(description="rows of the token embedding, padding included")
    tied_embeddings: bool = Field(description="whether the output head shares the token embedding's weights")
    mlp: Literal["gated", "plain"] = Field(description="gated: three matrices (SwiGLU, GeGLU); plain: two")
    mlp_size: Size | None = Field(None, description="width inside a dense layer's MLP")
    sequence_length: Size | None = Field(None, description="tokens of a training sequence")
    kv_heads: Size | None = Field(None, description="heads of keys and values; without it as many as query heads")
    head_size: Size | None = Field(None, description="width of a head; without it hidden_size / attention_heads")
    attention_window: Size | None = Field(None, description="tokens that a token of a windowed layer may attend to")
    windowed_layers: Layers | None = Field(None, description="layers with that window; the others attend to everything")
    biases: Literal["none", "qkv", "attention", "all"] = Field(
        "none", description="where projections have biases: queries, keys and values; all of attention; everywhere"
    )
    norm: Norm = Field(
        "rms", description="rms: a scale, as in a LayerNorm without biases; layer: scale and shift; none: no parameters"
    )
    norms_per_layer: Annotated[int, Field(ge=0, le=8)] = Field(2, description="norms of a layer, without qk_norm")
    qk_norm: QkNorm = Field("none", description="norms of queries and keys: head, one shared by the heads; width")
    learned_positions: SizeOrZero = Field(0, description="rows of a learned position embedding")
    experts: Size | None = Field(None, description="routed experts of a layer")
    experts_per_token: Size | None = Field(None, description="routed experts that a token is sent to")
    expert_size: Size | None = Field(None, description="width inside one routed expert")
    shared_experts: SizeOrZero = Field(0, description="experts that every token passes through")
    shared_expert_size: Size | None = Field(None, description="width inside a shared one; without it expert_size")
    dense_layers: Layers = Field(0, description="first layers, which have a dense MLP in place of experts")
    moe_every: Annotated[int, Field(ge=1, le=MOST_LAYERS)] = Field(
        1, description="of the layers after those, every n-th has experts"
    )
    q_lora_rank: SizeOrZero | None = Field(
        None, description="latent width of queries in latent attention; 0 for queries of full rank"
    )
    kv_lora_rank: Size | None = Field(None, description="latent width of keys and values in latent attention")
    nope_head_size: Size | None = Field(None, description="a head's position-free part of queries and keys")
    rope_head_size: Size | None = Field(None, description="the position-dependent part of queries and keys")
    value_head_size: Size | None = Field(None, description="width of one head's values")


_LATENT = ("kv_lora_rank", "q_lora_rank", "nope_head_size", "rope_head_size", "value_head_size")
_EXPERTS = ("experts", "experts_per_token", "expert_size")
_ONLY_WITH_EXPERTS = ("shared_experts", "shared_expert_size", "dense_layers", "moe_every")


def table_model(content: Mapping[str, Any]) -> type[NetworkTable] | type[TransformerTable]:
    """The model of a table's keys: one with `layer_sizes` is a network."""
    return NetworkTable if "layer_sizes" in content else TransformerTable


def from_table(table: NetworkTable | TransformerTable | Mapping[str, Any]) -> Transformer | Network:
    """The model that a table describes.

    Raises:
        ArchitectureError: a key that is wrong, missing or unknown, or keys that contradict each other.
    """
    if isinstance(table, Mapping):
        model = table_model(table)
        try:
            table = model.model_validate(dict(table))
        except ValidationError as error:
            raise_faults([_fault(detail, model) for detail in error.errors()])
            raise
    if isinstance(table, NetworkTable):
        return Network(tuple(table.layer_sizes), table.biases)
    raise_faults(list(_contradictions(table)))
    return _transformer(table)


def _fault(detail: ErrorDetails, model: type[ArchitectureTable]) -> ArchitectureError:
    key = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        near = library.did_you_mean(key, model.model_fields)
        return ArchitectureError(
            key, "unknown key", "one of " + ", ".join(model.model_fields), near or f"take `{key}` out"
        )
    meaning = model.model_fields[str(detail["loc"][0])].description
    if detail["type"] == "missing":
        return ArchitectureError(key, "a key is missing", f"{key}: {meaning}", f"add {key} = ...")
    expected = f"{detail['msg'][0].lower()}{detail['msg'][1:]} ({meaning})"
    fix = f"state {key} as {detail['msg'].removeprefix('Input should be ')}"
    return ArchitectureError(key, "this value cannot be", expected, fix, got=shown(detail["input"]))


def _contradictions(table: TransformerTable) -> Iterator[ArchitectureError]:
    """What no single key shows to be wrong."""
    yield from _attention_contradictions(table)
    yield from _together(table, _EXPERTS, "a mixture of experts", _ONLY_WITH_EXPERTS)
    if table.experts and table.experts_per_token and table.experts_per_token > table.experts:
        yield ArchitectureError(
            "experts_per_token",
            "a token cannot be sent to more experts than there are",
            f"at most experts = {table.experts}",
            f"experts_per_token = {table.experts} or less",
            got=shown(table.experts_per_token),
        )
    if table.shared_expert_size and not table.shared_experts:
        yield _needless("shared_expert_size", "shared_experts", "there is no shared expert")
    if table.dense_layers > table.layers:
        yield _too_many("dense_layers", table.dense_layers, "layers", table.layers)
    dense = table.layers - sum(_has_experts(table))
    if table.mlp_size is None and (dense or not table.experts):
        yield ArchitectureError(
            "mlp_size", "a key is missing", f"the width inside the MLP of {dense} dense layers", "add mlp_size = ..."
        )
    if table.mlp_size is not None and table.experts and not dense:
        yield _needless("mlp_size", "dense_layers", "every layer has experts, whose width is expert_size")
    if table.learned_positions and table.sequence_length and table.sequence_length > table.learned_positions:
        yield _too_many("sequence_length", table.sequence_length, "learned_positions", table.learned_positions)


def _attention_contradictions(table: TransformerTable) -> Iterator[ArchitectureError]:
    latent = table.kv_lora_rank is not None
    yield from _together(table, _LATENT, "latent attention", ())
    if latent:
        for key in ("kv_heads", "head_size"):
            if getattr(table, key) is not None:
                yield _needless(key, "kv_lora_rank", "latent attention has head sizes of its own")
        if table.qk_norm != "none":
            yield _needless("qk_norm", "kv_lora_rank", "latent attention has norms of its own")
        if table.biases == "qkv":
            yield ArchitectureError(
                "biases",
                "latent attention has no such biases",
                "none, attention or all",
                'biases = "none"',
                got='"qkv"',
            )
    else:
        kv_heads = table.kv_heads or table.attention_heads
        if table.attention_heads % kv_heads:
            yield ArchitectureError(
                "kv_heads",
                "query heads cannot be shared out among these heads",
                f"a divisor of attention_heads = {table.attention_heads}",
                "correct kv_heads or attention_heads",
                got=shown(kv_heads),
            )
        if table.head_size is None and table.hidden_size % table.attention_heads:
            yield ArchitectureError(
                "head_size",
                f"hidden_size = {table.hidden_size} is not a multiple of attention_heads = {table.attention_heads}",
                "a head size of its own",
                "add head_size = ...",
            )
    yield from _together(table, ("attention_window", "windowed_layers"), "a sliding window", ())
    if table.windowed_layers and table.windowed_layers > table.layers:
        yield _too_many("windowed_layers", table.windowed_layers, "layers", table.layers)


def _together(
    table: TransformerTable, keys: tuple[str, ...], subject: str, needing: tuple[str, ...]
) -> Iterator[ArchitectureError]:
    """Keys of which all or none are stated, and those that say nothing without them."""
    missing = [key for key in keys if getattr(table, key) is None]
    if len(missing) == len(keys):
        for key in needing:
            if key in table.model_fields_set:
                yield _needless(key, keys[0], f"there is no {subject.removeprefix('a ')}")
    else:
        for key in missing:
            yield ArchitectureError(
                key,
                "a key is missing",
                f"{subject} takes {', '.join(keys)}",
                f"add {key} = ..., or take the others out",
            )


def _needless(key: str, other: str, why: str) -> ArchitectureError:
    return ArchitectureError(key, f"{why}, so this says nothing", f"no {key}", f"take {key} out, or correct {other}")


def _too_many(key: str, value: int, other: str, most: int) -> ArchitectureError:
    message, fix = f"this is more than {other}", f"correct {key} or {other}"
    return ArchitectureError(key, message, f"at most {other} = {most}", fix, got=shown(value))


def _has_experts(table: TransformerTable) -> list[bool]:
    """Layer by layer, whether it has experts."""
    first, every = table.dense_layers, table.moe_every
    return [
        table.experts is not None and layer >= first and (layer - first + 1) % every == 0
        for layer in range(table.layers)
    ]


def _transformer(table: TransformerTable) -> Transformer:
    windowed = table.windowed_layers or 0
    layers = [
        (_attention(table, table.attention_window if layer < windowed else None), _mlp(table, has_experts))
        for layer, has_experts in enumerate(_has_experts(table))
    ]
    return Transformer(
        hidden_size=table.hidden_size,
        vocabulary_size=table.vocabulary_size,
        groups=grouped(layers) or (LayerGroup(0, _attention(table, None), _mlp(table, table.mlp_size is None)),),
        tied_embeddings=table.tied_embeddings,
        norm=table.norm,
        norms_per_layer=table.norms_per_layer,
        learned_positions=table.learned_positions,
        sequence_length=table.sequence_length,
    )


def _attention(table: TransformerTable, window: int | None) -> Attention | LatentAttention:
    output_bias = table.biases in ("attention", "all")
    if table.kv_lora_rank is not None:
        sizes = {key: _stated(table, key) for key in _LATENT}
        return LatentAttention(table.attention_heads, **sizes, window=window, bias=output_bias)
    return Attention(
        heads=table.attention_heads,
        kv_heads=table.kv_heads or table.attention_heads,
        head_size=table.head_size or table.hidden_size // table.attention_heads,
        window=window,
        qkv_bias=table.biases != "none",
        output_bias=output_bias,
        qk_norm=table.qk_norm,
    )


def _mlp(table: TransformerTable, has_experts: bool) -> Mlp | Experts:
    gated, bias = table.mlp == "gated", table.biases == "all"
    if not has_experts:
        return Mlp(_stated(table, "mlp_size"), gated, bias)
    size = _stated(table, "expert_size")
    shared = table.shared_experts * (table.shared_expert_size or size)
    return Experts(
        experts=_stated(table, "experts"),
        per_token=_stated(table, "experts_per_token"),
        expert=Mlp(size, gated, bias),
        shared=Mlp(shared, gated, bias) if shared else None,
        router_bias=bias,
    )


def _stated(table: TransformerTable, key: str) -> int:
    """A size that the checks have found to be there."""
    return int(getattr(table, key))
