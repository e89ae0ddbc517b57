"""How much memory activations and logits take on one accelerator."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, namespace

_ACTIVATIONS = "Korthikanti et al. 2022, arXiv 2205.05198, section 4"
_OF_ANY_WIDTH = f"{_ACTIVATIONS}, with w for its 12 h"

# Layers whose activations the first pipeline stage holds: p micro-batches in flight times L / p layers, and more where
# the stage works on several chunks of layers in turn.
_IN_FLIGHT = (
    "layers * where(pipeline_interleave > 1,"
    " 1 + (pipeline_parallel - 1) / (pipeline_parallel * pipeline_interleave), 1)"
)
# Bytes of one layer for each token. 10 for each element of the residual stream are split along the sequence alone: the
# inputs of two norms and of the matrices behind them, 8, and the masks of two dropouts, 2. Tensor parallelism splits
# the rest, two bytes each.
_BYTES_OF_LAYER = (
    "10 * hidden_size * (1 - sequence_parallel + sequence_parallel / tensor_parallel)"
    " + 2 * activation_width / tensor_parallel"
)
_WITHOUT_SCORES = f"sequence_length * micro_batch * ({_BYTES_OF_LAYER}) * {_IN_FLIGHT}"


def _in_flight(layers: Array, pipeline_parallel: Array, pipeline_interleave: Array) -> Array:
    """Layers whose activations the first pipeline stage holds at a time."""
    xp = namespace(layers, pipeline_parallel, pipeline_interleave)
    chunks = 1 + (pipeline_parallel - 1) / (pipeline_parallel * pipeline_interleave)
    return layers * xp.where(pipeline_interleave > 1, chunks, 1)


def _bytes_of_layer(
    hidden_size: Array, activation_width: Array, tensor_parallel: Array, sequence_parallel: Array
) -> Array:
    """Bytes of one layer for each token, attention scores left out."""
    stream = 10 * hidden_size * (1 - sequence_parallel + sequence_parallel / tensor_parallel)
    return stream + 2 * activation_width / tensor_parallel


# Plain numbers, because s tokens times s tokens is a number of scores, to which elements of s tokens are added.
@formula(
    equation=(
        f"sequence_length * micro_batch * ({_BYTES_OF_LAYER}"
        f" + 5 * attention_heads * sequence_length / tensor_parallel) * {_IN_FLIGHT}"
    ),
    source=_OF_ANY_WIDTH,
    when={"recompute": ("none",), "attention_kernel": ("unfused",)},
    law_of_numbers=True,
)
def activation_memory(
    sequence_length: Array,
    micro_batch: Array,
    hidden_size: Array,
    activation_width: Array,
    attention_heads: Array,
    layers: Array,
    tensor_parallel: Array,
    sequence_parallel: Array,
    pipeline_parallel: Array,
    pipeline_interleave: Array,
) -> Array:
    """Activations on the first pipeline stage, all of them kept: L s b (10 h + 2 w/t + 5 a s/t) (1 + (p-1)/(p v)).

    With sequence parallelism the 10 h becomes 10 h/t; without interleaving (v = 1) the last factor is 1. With the
    w = 12 h of a GPT-3 layer the sum is the published h (10 + 24/t + 5 a s / h t). In 16 bit, with a norm before
    attention and one before the MLP. Dropout is counted: 2 h are the masks of two, and 3 a s / t of the scores' 5 the
    mask and result of a third, so that without dropout it is an upper bound. It is one, too, with fewer than p
    micro-batches. The first stage's layers are taken to be the mean of all, and tokens to be spread evenly over
    experts. The embedding's dropout mask and the output layer are not in it.

    Args:
        sequence_length: s, tokens.
        micro_batch: b, sequences.
        hidden_size: h.
        activation_width: w, numbers that a layer keeps for each token and that t accelerators share.
        attention_heads: a.
        layers: L, of the whole model.
        tensor_parallel: t, accelerators that share each layer.
        sequence_parallel: 1 where the rest of the activations is split along the sequence over the same t, else 0.
        pipeline_parallel: p, pipeline stages.
        pipeline_interleave: v, model chunks of each stage.

    Returns:
        Bytes.

    Example: 22B, s = 2048, b = 4, h = 6144, w = 12 h, a = 64, L = 48, t = 8, p = v = 1: 59.25 GiB.
    """
    of_layer = _bytes_of_layer(hidden_size, activation_width, tensor_parallel, sequence_parallel)
    scores = 5 * attention_heads * sequence_length / tensor_parallel
    in_flight = _in_flight(layers, pipeline_parallel, pipeline_interleave)
    return sequence_length * micro_batch * (of_layer + scores) * in_flight


@formula(
    equation=_WITHOUT_SCORES,
    source=f"{_OF_ANY_WIDTH}; Dao et al. 2022, arXiv 2205.14135, section 3.1",
    output="activation_memory",
    when={"recompute": ("none",), "attention_kernel": ("fused",)},
    constant="byte/token-accelerator",
)
def activation_memory_of_fused_attention(
    sequence_length: Array,
    micro_batch: Array,
    hidden_size: Array,
    activation_width: Array,
    layers: Array,
    tensor_parallel: Array,
    sequence_parallel: Array,
    pipeline_parallel: Array,
    pipeline_interleave: Array,
) -> Array:
    """Activations where a fused kernel never stores attention scores: L s b (10 h + 2 w/t) (1 + (p-1)/(p v)).

    The scores' term 5 a s / t falls away; one number for each token and head that the kernel keeps instead is left
    out. With sequence parallelism the 10 h becomes 10 h/t. Validity as for `activation_memory` under unfused attention.

    Args:
        sequence_length: s, tokens.
        micro_batch: b, sequences.
        hidden_size: h.
        activation_width: w, numbers that a layer keeps for each token and that t accelerators share.
        layers: L, of the whole model.
        tensor_parallel: t, accelerators that share each layer.
        sequence_parallel: 1 where the rest of the activations is split along the sequence over the same t, else 0.
        pipeline_parallel: p, pipeline stages.
        pipeline_interleave: v, model chunks of each stage; 1 for none, where the last factor is 1.

    Returns:
        Bytes.

    Example: 22B, s = 2048, b = 4, h = 6144, w = 12 h, L = 48, t = 8, sequence parallel, p = v = 1: 9.5625 GiB.
    """
    of_layer = _bytes_of_layer(hidden_size, activation_width, tensor_parallel, sequence_parallel)
    return sequence_length * micro_batch * of_layer * _in_flight(layers, pipeline_parallel, pipeline_interleave)


@formula(
    equation=_WITHOUT_SCORES,
    source=_OF_ANY_WIDTH,
    output="activation_memory",
    when={"recompute": ("selective",)},
    constant="byte/token-accelerator",
)
def activation_memory_under_selective_recompute(
    sequence_length: Array,
    micro_batch: Array,
    hidden_size: Array,
    activation_width: Array,
    layers: Array,
    tensor_parallel: Array,
    sequence_parallel: Array,
    pipeline_parallel: Array,
    pipeline_interleave: Array,
) -> Array:
    """Activations where attention scores are computed again: L s b (10 h + 2 w/t) (1 + (p-1)/(p v)).

    With sequence parallelism the 10 h becomes 10 h/t; with w = 12 h as well, it is the published 34 s b h L / t. The
    scores of the one layer that is being recomputed are not in it. Validity as for `activation_memory` under unfused
    attention.

    Args:
        sequence_length: s, tokens.
        micro_batch: b, sequences.
        hidden_size: h.
        activation_width: w, numbers that a layer keeps for each token and that t accelerators share.
        layers: L, of the whole model.
        tensor_parallel: t, accelerators that share each layer.
        sequence_parallel: 1 where the rest of the activations is split along the sequence over the same t, else 0.
        pipeline_parallel: p, pipeline stages.
        pipeline_interleave: v, model chunks of each stage; 1 for none, where the last factor is 1.

    Returns:
        Bytes.

    Example: 175B, s = 2048, b = 1, h = 12288, w = 12 h, L = 96, t = p = 8, v = 3, sequence parallel: 12.3515625 GiB.
    """
    of_layer = _bytes_of_layer(hidden_size, activation_width, tensor_parallel, sequence_parallel)
    return sequence_length * micro_batch * of_layer * _in_flight(layers, pipeline_parallel, pipeline_interleave)


@formula(
    equation=f"2 * sequence_length * micro_batch * hidden_size * {_IN_FLIGHT}",
    source=f"{_ACTIVATIONS}, table 2",
    output="activation_memory",
    when={"recompute": ("full",)},
    constant="byte/token-accelerator",
)
def activation_memory_under_full_recompute(
    sequence_length: Array,
    micro_batch: Array,
    hidden_size: Array,
    layers: Array,
    pipeline_parallel: Array,
    pipeline_interleave: Array,
) -> Array:
    """Activations where every layer keeps its input alone: 2 L s b h (1 + (p-1)/(p v)), in 16 bit.

    Inputs are kept whole on each accelerator, as published; where they stay split along the sequence it is an upper
    bound. The activations of the one layer that is being recomputed are not in it.

    Args:
        sequence_length: s, tokens.
        micro_batch: b, sequences.
        hidden_size: h.
        layers: L, of the whole model.
        pipeline_parallel: p, pipeline stages.
        pipeline_interleave: v, model chunks of each stage; 1 for none, where the last factor is 1.

    Returns:
        Bytes.

    Example: 22B, s = 2048, b = 4, h = 6144, L = 48, p = v = 1: 4.5 GiB.
    """
    return 2 * sequence_length * micro_batch * hidden_size * _in_flight(layers, pipeline_parallel, pipeline_interleave)


ACTIVATION_MEMORY = (
    activation_memory,
    activation_memory_of_fused_attention,
    activation_memory_under_selective_recompute,
    activation_memory_under_full_recompute,
)


@formula(
    equation="4 * sequence_length * micro_batch * vocabulary_size / tensor_parallel",
    source="Korthikanti et al. 2022, arXiv 2205.05198, section 4.3",
    constant="byte/token-accelerator",
)
def logit_memory(sequence_length: Array, micro_batch: Array, vocabulary_size: Array, tensor_parallel: Array) -> Array:
    """Logits that the loss keeps in fp32, 4 s b V / t.

    They lie on the last pipeline stage, while `activation_memory` is of the first, so that their sum is exact for one
    stage and an upper bound for more. The head's input and final norm, 4 s b h / t, are not in it.

    Args:
        sequence_length: s, tokens.
        micro_batch: b, sequences.
        vocabulary_size: V.
        tensor_parallel: t, accelerators that share the output head.

    Returns:
        Bytes.

    Example: s = 2048, b = 4, V = 51200, t = 8: 209715200, 200 MiB.
    """
    return 4 * sequence_length * micro_batch * vocabulary_size / tensor_parallel
