"""How much memory one accelerator needs, for weights, gradients and optimizer states and in all."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, namespace

_ZERO = "Rajbhandari et al. 2020, arXiv 1910.02054, figure 1"
_PIPELINE = "Narayanan et al. 2021, arXiv 2104.04473, section 2.2"


@formula(
    equation="accelerators / (tensor_parallel * pipeline_parallel)",
    source="Narayanan et al. 2021, arXiv 2104.04473, section 3",
    constant="1/accelerator",
)
def data_parallel(accelerators: Array, tensor_parallel: Array, pipeline_parallel: Array) -> Array:
    """Replicas of the model, d = n / t p.

    Args:
        accelerators: n.
        tensor_parallel: t, accelerators that share each layer.
        pipeline_parallel: p, pipeline stages.

    Returns:
        A count; below one where the cluster is too small for the layout.

    Example: n = 3072, t = 8, p = 64: 6 replicas.
    """
    return accelerators / (tensor_parallel * pipeline_parallel)


@formula(
    equation=(
        "((total_parameters - expert_parameters) / tensor_parallel + expert_parameters / expert_parallel)"
        " / pipeline_parallel"
    ),
    source="definition",
    output="parameters_per_accelerator",
    trigger=("expert_parallel",),
    constant="1/accelerator",
)
def parameters_per_accelerator_with_experts(
    total_parameters: Array,
    expert_parameters: Array,
    tensor_parallel: Array,
    pipeline_parallel: Array,
    expert_parallel: Array,
) -> Array:
    """Parameters that one accelerator works on where experts are spread, N_1 = ((N - N_e) / t + N_e / e) / p.

    Experts stay whole: they are spread over e accelerators of a stage and not split by tensor parallelism.

    Args:
        total_parameters: N, all of them.
        expert_parameters: N_e, of all routed experts.
        tensor_parallel: t, accelerators that share each layer.
        pipeline_parallel: p, pipeline stages.
        expert_parallel: e, accelerators that share each layer's experts.

    Returns:
        Parameters.

    Example: Mixtral 8x7B, N = 46702792704, N_e = 45097156608, e = 8, t = p = 1: 7242780672.
    """
    shared = (total_parameters - expert_parameters) / tensor_parallel
    return (shared + expert_parameters / expert_parallel) / pipeline_parallel


@formula(
    equation="total_parameters / (tensor_parallel * pipeline_parallel)",
    source="Shoeybi et al. 2019, arXiv 1909.08053, section 3; Narayanan et al. 2021, arXiv 2104.04473, section 3",
    constant="1/accelerator",
)
def parameters_per_accelerator(total_parameters: Array, tensor_parallel: Array, pipeline_parallel: Array) -> Array:
    """Parameters that one accelerator works on, N_1 = N / t p.

    Embeddings are taken as spread like the layers; in truth the first and the last stage hold more.

    Args:
        total_parameters: N, all of them.
        tensor_parallel: t, accelerators that share each layer.
        pipeline_parallel: p, pipeline stages.

    Returns:
        Parameters.

    Example: layers of 175B, 12 x 96 x 12288^2, t = 8, p = 8: 2717908992.
    """
    return total_parameters / (tensor_parallel * pipeline_parallel)


def _state_memory(share: Array, whole: Array, sharded: Array, bytes_per_parameter: Array) -> Array:
    """Bytes of one kind of state on one accelerator: of its share of all parameters where it is sharded, else whole."""
    return bytes_per_parameter * namespace(share, whole, sharded).where(sharded, share, whole)


@formula(
    equation=(
        "weight_bytes_per_parameter"
        " * where(zero_stage >= 3, total_parameters / accelerators, parameters_per_accelerator)"
    ),
    source=_ZERO,
    trigger=("weight_bytes_per_parameter",),
)
def weight_memory(
    total_parameters: Array,
    accelerators: Array,
    parameters_per_accelerator: Array,
    zero_stage: Array,
    weight_bytes_per_parameter: Array,
) -> Array:
    """Weights on one accelerator: b_w N_1, or b_w N / n where ZeRO shards them (stage 3).

    What stage 3 gathers of a layer while it is computed is not in it.

    Args:
        total_parameters: N, all of them.
        accelerators: n.
        parameters_per_accelerator: N_1, that one accelerator works on.
        zero_stage: 0 to 3.
        weight_bytes_per_parameter: b_w, 2 in 16 bit.

    Returns:
        Bytes.

    Example: 7.5e9 parameters on 64 accelerators, b_w = 2: 15e9 bytes, at stage 3 0.234e9.
    """
    share = total_parameters / accelerators
    return _state_memory(share, parameters_per_accelerator, zero_stage >= 3, weight_bytes_per_parameter)


@formula(
    equation=(
        "gradient_bytes_per_parameter"
        " * where(zero_stage >= 2, total_parameters / accelerators, parameters_per_accelerator)"
    ),
    source=_ZERO,
    trigger=("gradient_bytes_per_parameter",),
)
def gradient_memory(
    total_parameters: Array,
    accelerators: Array,
    parameters_per_accelerator: Array,
    zero_stage: Array,
    gradient_bytes_per_parameter: Array,
) -> Array:
    """Gradients on one accelerator: b_g N_1, or b_g N / n where ZeRO shards them (from stage 2).

    Args:
        total_parameters: N, all of them.
        accelerators: n.
        parameters_per_accelerator: N_1, that one accelerator works on.
        zero_stage: 0 to 3.
        gradient_bytes_per_parameter: b_g, 2 in 16 bit, 4 in 32 bit.

    Returns:
        Bytes.

    Example: 7.5e9 parameters on 64 accelerators, b_g = 2: 15e9 bytes, from stage 2 on 0.234e9.
    """
    share = total_parameters / accelerators
    return _state_memory(share, parameters_per_accelerator, zero_stage >= 2, gradient_bytes_per_parameter)


@formula(
    equation=(
        "optimizer_bytes_per_parameter"
        " * where(zero_stage >= 1, total_parameters / accelerators, parameters_per_accelerator)"
    ),
    source=_ZERO,
    trigger=("optimizer_bytes_per_parameter",),
)
def optimizer_memory(
    total_parameters: Array,
    accelerators: Array,
    parameters_per_accelerator: Array,
    zero_stage: Array,
    optimizer_bytes_per_parameter: Array,
) -> Array:
    """Optimizer states on one accelerator: b_o N_1, or b_o N / n where ZeRO shards them (from stage 1).

    Args:
        total_parameters: N, all of them.
        accelerators: n.
        parameters_per_accelerator: N_1, that one accelerator works on.
        zero_stage: 0 to 3.
        optimizer_bytes_per_parameter: b_o; Adam in mixed precision keeps an fp32 copy and two fp32 moments, 12.

    Returns:
        Bytes.

    Example: 7.5e9 parameters on 64 accelerators, b_o = 12: 90e9 bytes, from stage 1 on 1.41e9.
    """
    share = total_parameters / accelerators
    return _state_memory(share, parameters_per_accelerator, zero_stage >= 1, optimizer_bytes_per_parameter)


@formula(
    equation="weight_memory + gradient_memory + optimizer_memory + activation_memory + logit_memory",
    source="definition",
    trigger=("weight_bytes_per_parameter",),
)
def memory_per_accelerator(
    weight_memory: Array,
    gradient_memory: Array,
    optimizer_memory: Array,
    activation_memory: Array,
    logit_memory: Array = 0,
) -> Array:
    """Memory that a run needs on one accelerator, the sum of its parts.

    Buffers of communication and what the runtime takes are not in it: they are why not all memory is usable.

    Args:
        weight_memory: weights.
        gradient_memory: gradients.
        optimizer_memory: optimizer states.
        activation_memory: activations.
        logit_memory: logits.

    Returns:
        Bytes.

    Example: 7.5e9 parameters on 64 accelerators, ZeRO stage 2, 16 bytes per parameter, without activations: 16.6e9.
    """
    return weight_memory + gradient_memory + optimizer_memory + activation_memory + logit_memory


@formula(equation="accelerator_memory * usable_memory_fraction", source="definition")
def usable_memory(accelerator_memory: Array, usable_memory_fraction: Array) -> Array:
    """Memory of one accelerator that a run can use, U = A u.

    Args:
        accelerator_memory: A.
        usable_memory_fraction: u, what the runtime and fragmentation leave.

    Returns:
        Bytes.

    Example: 90 % of 80e9 bytes: 72e9.
    """
    return accelerator_memory * usable_memory_fraction


@formula(
    equation="memory_per_accelerator / usable_memory", source="definition", trigger=("weight_bytes_per_parameter",)
)
def memory_utilisation(memory_per_accelerator: Array, usable_memory: Array) -> Array:
    """Memory needed over memory usable; above one the run does not fit.

    Args:
        memory_per_accelerator: needed.
        usable_memory: usable.

    Returns:
        A fraction.

    Example: 54e9 of 72e9 bytes: 0.75.
    """
    return memory_per_accelerator / usable_memory


def _sum_where(weights: str, gradients: str, states: str) -> str:
    return (
        f"(where({weights}, weight_bytes_per_parameter, 0) + where({gradients}, gradient_bytes_per_parameter, 0)"
        f" + where({states}, optimizer_bytes_per_parameter, 0))"
    )


_SHARDED = f"total_parameters * {_sum_where('zero_stage >= 3', 'zero_stage >= 2', 'zero_stage >= 1')}"
_ROOM = (
    "(usable_memory - activation_memory - logit_memory"
    f" - parameters_per_accelerator * {_sum_where('zero_stage < 3', 'zero_stage < 2', 'zero_stage < 1')})"
)
_GROUP = "(pipeline_parallel * maximum(tensor_parallel, expert_parallel))"


@formula(
    equation=(
        f"where({_ROOM} > 0, {_GROUP} * ceil(maximum({_SHARDED} / {_ROOM},"
        f" total_parameters / parameters_per_accelerator / 2) / {_GROUP}), 1e999)"
    ),
    source="definition: the sum of weight, gradient, optimizer, activation and logit memory, solved for accelerators",
    trigger=("weight_bytes_per_parameter",),
)
def minimum_accelerators(
    total_parameters: Array,
    parameters_per_accelerator: Array,
    zero_stage: Array,
    weight_bytes_per_parameter: Array,
    gradient_bytes_per_parameter: Array,
    optimizer_bytes_per_parameter: Array,
    activation_memory: Array,
    usable_memory: Array,
    tensor_parallel: Array,
    pipeline_parallel: Array,
    logit_memory: Array = 0,
    expert_parallel: Array = 0,
) -> Array:
    """Smallest cluster whose memory suffices in this layout, n = g ceil(S / (r g)), and at least one group g = t p.

    S are the states that ZeRO shards over the cluster, and r is the room that activations, logits and unsharded states
    leave on one accelerator. Where there is none, more accelerators do not help: n is infinite; the layout has to
    change. With nothing sharded the cluster's size plays no part, and one group suffices. Spread experts need groups of
    p max(t, e), where one of t and e is a multiple of the other.

    Args:
        total_parameters: N, all of them.
        parameters_per_accelerator: N_1, that one accelerator works on.
        zero_stage: 0 to 3.
        weight_bytes_per_parameter: sharded at stage 3.
        gradient_bytes_per_parameter: sharded from stage 2 on.
        optimizer_bytes_per_parameter: sharded from stage 1 on.
        activation_memory: of one accelerator.
        usable_memory: of one accelerator.
        tensor_parallel: t, accelerators that share each layer.
        pipeline_parallel: p, pipeline stages.
        logit_memory: of one accelerator.
        expert_parallel: e, accelerators that share each layer's experts.

    Returns:
        Accelerators, a multiple of g, or infinity.

    Example: N = 7.5e9, 16 bytes per parameter, stage 3, 40e9 bytes usable and 10e9 of activations: 120 / 30 = 4.
    """
    xp = namespace(total_parameters, zero_stage, usable_memory, activation_memory, tensor_parallel, pipeline_parallel)
    stages = (
        (3, weight_bytes_per_parameter),
        (2, gradient_bytes_per_parameter),
        (1, optimizer_bytes_per_parameter),
    )
    sharded = total_parameters * sum(xp.where(zero_stage >= stage, size, 0) for stage, size in stages)
    whole = parameters_per_accelerator * sum(xp.where(zero_stage < stage, size, 0) for stage, size in stages)
    room = usable_memory - activation_memory - logit_memory - whole
    group = pipeline_parallel * xp.maximum(tensor_parallel, expert_parallel)
    # Half of what holds one copy of the model: whatever the rounding, it is rounded up to one group.
    least = total_parameters / parameters_per_accelerator / 2
    needed = group * xp.ceil(xp.maximum(sharded / xp.where(room > 0, room, usable_memory), least) / group)
    fits = (room > 0) | ((room == 0) & (sharded == 0))
    return xp.where(fits, needed, xp.inf * needed)


@formula(
    equation="(pipeline_parallel - 1) / (pipeline_interleave * micro_batches + pipeline_parallel - 1)",
    source=f"{_PIPELINE}, as a part of the whole step",
    trigger=("micro_batches",),
)
def pipeline_bubble(pipeline_parallel: Array, micro_batches: Array, pipeline_interleave: Array) -> Array:
    """Part of a step in which pipeline stages wait, (p - 1) / (v m + p - 1).

    The paper's (p - 1) / (v m) is over the time without waiting. It holds for schedules that run one forward and one
    backward pass in turn, with equally long stages. A measured MFU contains the bubble already.

    Args:
        pipeline_parallel: p, pipeline stages.
        micro_batches: m, of one step in one pipeline.
        pipeline_interleave: v, model chunks of each stage; 1 for none.

    Returns:
        A fraction of the step.

    Example: p = 8, m = 64, v = 3: 7 / 199 = 3.5 %.
    """
    return (pipeline_parallel - 1) / (pipeline_interleave * micro_batches + pipeline_parallel - 1)
