"""How much memory activations and logits take on one accelerator."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, namespace

_ACTIVATIONS = "Korthikanti et al. 2022, arXiv 2205.05198, section 4"

# Layers whose activations the first pipeline stage holds: p micro-batches in flight times L / p layers, and more where
# the stage works on several chunks of layers in turn.
_IN_FLIGHT = (
    "layers * where(pipeline_interleave > 1,"
    " 1 + (pipeline_parallel - 1) / (pipeline_parallel * pipeline_interleave), 1)"
)
# Of the 34 bytes, 24 are of what tensor parallelism splits, and 10 are split only along the sequence.
_PER_ELEMENT = "10 * (1 - sequence_parallel + sequence_parallel / tensor_parallel) + 24 / tensor_parallel"
_WITHOUT_SCORES = f"sequence_length * micro_batch * hidden_size * ({_PER_ELEMENT}) * {_IN_FLIGHT}"


def _in_flight(layers: Array, pipeline_parallel: Array, pipeline_interleave: Array) -> Array:
    """Layers whose activations the first pipeline stage holds at a time."""
    xp = namespace(layers, pipeline_parallel, pipeline_interleave)
    chunks = 1 + (pipeline_parallel - 1) / (pipeline_parallel * pipeline_interleave)
    return layers * xp.where(pipeline_interleave > 1, chunks, 1)


def _per_element(tensor_parallel: Array, sequence_parallel: Array) -> Array:
    """Bytes of one layer for each element of its input, attention scores left out."""
    return 10 * (1 - sequence_parallel + sequence_parallel / tensor_parallel) + 24 / tensor_parallel


# Plain numbers, because s tokens times s tokens is a number of scores, to which elements of s tokens are added.
@formula(
    equation=(
        f"sequence_length * micro_batch * (hidden_size * ({_PER_ELEMENT})"
        f" + 5 * attention_heads * sequence_length / tensor_parallel) * {_IN_FLIGHT}"
    ),
    source=_ACTIVATIONS,
    when={"recompute": ("none",), "attention_kernel": ("unfused",)},
    law_of_numbers=True,
)
def activation_memory(
    sequence_length: Array,
    micro_batch: Array,
    hidden_size: Array,
    attention_heads: Array,
    layers: Array,
    tensor_parallel: Array,
    sequence_parallel: Array,
    pipeline_parallel: Array,
    pipeline_interleave: Array,
) -> Array:
    """Activations on the first pipeline stage, all of them kept: L s b h (10 + 24/t + 5 a s / h t) (1 + (p-1)/(p v)).

    With sequence parallelism the 10 becomes 10/t; without interleaving (v = 1) the last factor is 1. In 16 bit, with
    dropout, for layers of the GPT-3 kind: as many key and value heads as query heads, and an MLP of width 4 h that is
    not gated. There are taken to be at least p micro-batches; with fewer it is an upper bound. The embedding's dropout
    mask and the output layer are not in it.

    Args:
        sequence_length: s, tokens.
        micro_batch: b, sequences.
        hidden_size: h.
        attention_heads: a.
        layers: L, of the whole model.
        tensor_parallel: t, accelerators that share each layer.
        sequence_parallel: 1 where the rest of the activations is split along the sequence over the same t, else 0.
        pipeline_parallel: p, pipeline stages.
        pipeline_interleave: v, model chunks of each stage.

    Returns:
        Bytes.

    Example: 22B, s = 2048, b = 4, h = 6144, a = 64, L = 48, t = 8, p = v = 1: 59.25 GiB.
    """
    elements = hidden_size * _per_element(tensor_parallel, sequence_parallel)
    scores = 5 * attention_heads * sequence_length / tensor_parallel
    in_flight = _in_flight(layers, pipeline_parallel, pipeline_interleave)
    return sequence_length * micro_batch * (elements + scores) * in_flight


@formula(
    equation=_WITHOUT_SCORES,
    source=f"{_ACTIVATIONS}; Dao et al. 2022, arXiv 2205.14135, section 3.1",
    output="activation_memory",
    when={"recompute": ("none",), "attention_kernel": ("fused",)},
    constant="byte/token-accelerator",
)
def activation_memory_of_fused_attention(
    sequence_length: Array,
    micro_batch: Array,
    hidden_size: Array,
    layers: Array,
    tensor_parallel: Array,
    sequence_parallel: Array,
    pipeline_parallel: Array,
    pipeline_interleave: Array,
) -> Array:
    """Activations where a fused kernel never stores attention scores: L s b h (10 + 24/t) (1 + (p-1)/(p v)).

    The scores' term 5 a s / h t falls away; one number for each token and head that the kernel keeps instead is left
    out. With sequence parallelism the 10 becomes 10/t. Validity as for `activation_memory` under unfused attention.

    Args:
        sequence_length: s, tokens.
        micro_batch: b, sequences.
        hidden_size: h.
        layers: L, of the whole model.
        tensor_parallel: t, accelerators that share each layer.
        sequence_parallel: 1 where the rest of the activations is split along the sequence over the same t, else 0.
        pipeline_parallel: p, pipeline stages.
        pipeline_interleave: v, model chunks of each stage; 1 for none, where the last factor is 1.

    Returns:
        Bytes.

    Example: 22B, s = 2048, b = 4, h = 6144, L = 48, t = 8, sequence parallel, p = v = 1: 9.5625 GiB.
    """
    elements = hidden_size * _per_element(tensor_parallel, sequence_parallel)
    return sequence_length * micro_batch * elements * _in_flight(layers, pipeline_parallel, pipeline_interleave)


@formula(
    equation=_WITHOUT_SCORES,
    source=_ACTIVATIONS,
    output="activation_memory",
    when={"recompute": ("selective",)},
    constant="byte/token-accelerator",
)
def activation_memory_under_selective_recompute(
    sequence_length: Array,
    micro_batch: Array,
    hidden_size: Array,
    layers: Array,
    tensor_parallel: Array,
    sequence_parallel: Array,
    pipeline_parallel: Array,
    pipeline_interleave: Array,
) -> Array:
    """Activations where attention scores are computed again: L s b h (10 + 24/t) (1 + (p-1)/(p v)).

    With sequence parallelism the 10 becomes 10/t, so that it is 34 s b h L / t. The scores of the one layer that is
    being recomputed are not in it. Validity as for `activation_memory` under unfused attention.

    Args:
        sequence_length: s, tokens.
        micro_batch: b, sequences.
        hidden_size: h.
        layers: L, of the whole model.
        tensor_parallel: t, accelerators that share each layer.
        sequence_parallel: 1 where the rest of the activations is split along the sequence over the same t, else 0.
        pipeline_parallel: p, pipeline stages.
        pipeline_interleave: v, model chunks of each stage; 1 for none, where the last factor is 1.

    Returns:
        Bytes.

    Example: 175B, s = 2048, b = 1, h = 12288, L = 96, t = 8, sequence parallel, p = 8, v = 3: 12.3515625 GiB.
    """
    elements = hidden_size * _per_element(tensor_parallel, sequence_parallel)
    return sequence_length * micro_batch * elements * _in_flight(layers, pipeline_parallel, pipeline_interleave)


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
