"""How fast one replica serves a language model: what it has to read and compute for a step, and how many fit."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, namespace

_ROOFLINE = (
    "Williams et al. 2009, Communications of the ACM 52(4), 65-76; Pope et al. 2022, arXiv 2211.05102, section 2"
)
_SPECULATION = "Leviathan et al. 2022, arXiv 2211.17192"
_VLLM = "Kwon et al. 2023, arXiv 2309.06180, section 3"


# --- memory -----------------------------------------------------------------------------------------------------------


@formula(equation="maximum(tensor_parallel, expert_parallel)", source="definition", constant="accelerator")
def replica_accelerators(tensor_parallel: Array, expert_parallel: Array = 0) -> Array:
    """Accelerators of one replica, n = max(t, e): those that share a layer, or those that share its experts.

    Where experts are spread wider than the rest of a layer, e > t, every t of the accelerators hold a copy of that
    rest and attend to requests of their own (attention is data-parallel).

    Args:
        tensor_parallel: t, accelerators that share each layer.
        expert_parallel: e, accelerators that share each layer's experts.

    Returns:
        n in accelerators by replica.

    Example: DeepSeek-V3 decoding on 144 accelerators with t = 1, e = 144: 144.
    """
    return namespace(tensor_parallel, expert_parallel).maximum(tensor_parallel, expert_parallel)


@formula(
    equation="weight_bytes_per_parameter * (total_parameters - expert_parameters) / tensor_parallel",
    source="Shoeybi et al. 2019, arXiv 1909.08053, section 3",
    constant="1/accelerator",
)
def dense_weight_memory(
    total_parameters: Array, tensor_parallel: Array, weight_bytes_per_parameter: Array, expert_parameters: Array = 0
) -> Array:
    """Weights on one accelerator that every token passes through, W_d = b_w (N - N_e) / t.

    Args:
        total_parameters: N, all of them.
        tensor_parallel: t, accelerators that share each layer.
        weight_bytes_per_parameter: b_w; 2 in 16 bit, 1 in 8 bit, 0.5 in 4 bit.
        expert_parameters: N_e, of all routed experts.

    Returns:
        Bytes by accelerator.

    Example: Llama 2 70B, N = 68976648192, t = 8, b_w = 2: 17.244e9.
    """
    return weight_bytes_per_parameter * (total_parameters - expert_parameters) / tensor_parallel


@formula(
    equation="weight_bytes_per_parameter * expert_parameters / replica_accelerators",
    source="definition",
    trigger=("expert_parameters",),
)
def expert_weight_memory(
    expert_parameters: Array, replica_accelerators: Array, weight_bytes_per_parameter: Array
) -> Array:
    """Routed experts on one accelerator, W_e = b_w N_e / n: they are spread over the whole replica.

    Copies of popular experts are not in it.

    Args:
        expert_parameters: N_e, of all routed experts.
        replica_accelerators: n.
        weight_bytes_per_parameter: b_w.

    Returns:
        Bytes by accelerator.

    Example: Mixtral 8x7B, N_e = 45097156608, n = 8, b_w = 2: 11.274e9.
    """
    return weight_bytes_per_parameter * expert_parameters / replica_accelerators


@formula(equation="kv_width * kv_bytes_per_number", source=_VLLM, constant="1/token")
def kv_bytes_per_token(kv_width: Array, kv_bytes_per_number: Array) -> Array:
    """Key-value cache of one token, κ = w b_kv, over all layers.

    Args:
        kv_width: w, numbers kept for one token: 2 L n_kv d, or L (r + d_r) for latent attention.
        kv_bytes_per_number: b_kv; 2 in 16 bit, 1 in 8 bit.

    Returns:
        Bytes by token.

    Example: Llama 2 7B, w = 2 x 32 x 32 x 128, b_kv = 2: 524288; Llama 2 70B: 327680.
    """
    return kv_width * kv_bytes_per_number


@formula(
    equation="minimum(tensor_parallel, cache_heads) * replica_accelerators / tensor_parallel",
    source="definition",
)
def kv_shards(tensor_parallel: Array, cache_heads: Array, replica_accelerators: Array) -> Array:
    """Accelerators of a replica among which its cache is split without copies, z = min(t, n_kv) n / t.

    A head of keys and values is not split: where more accelerators share a layer than there are such heads, some hold
    the same. Latent attention has one.

    Args:
        tensor_parallel: t, accelerators that share each layer.
        cache_heads: n_kv, heads of keys and values; 1 for latent attention.
        replica_accelerators: n.

    Returns:
        z in accelerators by replica.

    Example: t = n = 16 and n_kv = 8: 8; latent attention with t = 1, n = 144: 144.
    """
    return (
        namespace(tensor_parallel, cache_heads).minimum(tensor_parallel, cache_heads)
        * replica_accelerators
        / tensor_parallel
    )


@formula(
    equation="maximum(0, usable_memory - dense_weight_memory - expert_weight_memory) * kv_shards",
    source=_VLLM,
)
def kv_memory(
    usable_memory: Array, dense_weight_memory: Array, kv_shards: Array, expert_weight_memory: Array = 0
) -> Array:
    """Memory of a replica that is left to the cache, K = max(0, U - W_d - W_e) z.

    Activations are small in serving; they are among what makes memory unusable.

    Args:
        usable_memory: U, of one accelerator.
        dense_weight_memory: W_d, on one accelerator.
        kv_shards: z, accelerators among which the cache is split.
        expert_weight_memory: W_e, on one accelerator.

    Returns:
        Bytes by replica; nothing where the weights alone do not fit.

    Example: 72e9 usable bytes, Llama 2 70B in 16 bit on 8 accelerators (17.244e9 each): 438.0e9.
    """
    xp = namespace(usable_memory, dense_weight_memory, expert_weight_memory)
    return xp.maximum(0, usable_memory - dense_weight_memory - expert_weight_memory) * kv_shards


@formula(
    equation="prompt_tokens + output_tokens * (1 + output_tokens_spread**2) / 2",
    source="length-biased sampling: Cox 1962, Renewal Theory, section 5.4",
)
def context_tokens(prompt_tokens: Array, output_tokens: Array, output_tokens_spread: Array = 0) -> Array:
    """Tokens in the cache of a request while it decodes, averaged over steps: l = s + o (1 + v^2) / 2.

    A request with a long output is seen in more steps, so that of all requests that decode at a time the mean length
    is above that of all that arrive. Lengths of prompts and outputs are taken as unrelated.

    Args:
        prompt_tokens: s, mean over requests.
        output_tokens: o, mean over requests.
        output_tokens_spread: v, standard deviation of output lengths over requests, as a part of o.

    Returns:
        l in tokens by request.

    Example: s = 1000, o = 200: 1100 where all outputs are alike, 1200 where they are exponentially distributed, v = 1.
    """
    return prompt_tokens + output_tokens * (1 + output_tokens_spread**2) / 2


@formula(equation="floor(kv_memory / (context_tokens * kv_bytes_per_token))", source=_VLLM)
def memory_batch(kv_memory: Array, context_tokens: Array, kv_bytes_per_token: Array) -> Array:
    """Requests whose cache a replica can hold at a time, B_K = floor(K / l κ).

    Pages are taken as needed (paged attention), so that the mean length counts, not the longest.

    Args:
        kv_memory: K, left to the cache.
        context_tokens: l, of a request.
        kv_bytes_per_token: κ.

    Returns:
        Requests by replica; zero where not even one fits.

    Example: 438e9 bytes, 4096 tokens of 327680 bytes: 326.
    """
    return namespace(kv_memory, context_tokens).floor(kv_memory / (context_tokens * kv_bytes_per_token))


# --- speed ------------------------------------------------------------------------------------------------------------


@formula(
    equation=(
        "2 * (1 - cached_fraction) * prompt_tokens * (parameters + (1 + cached_fraction) * attention_width"
        " * prompt_tokens * (1 + prompt_tokens_spread**2))"
    ),
    source="Kaplan et al. 2020, arXiv 2001.08361, section 2.1; Chowdhery et al. 2022, arXiv 2204.02311, appendix B",
    law_of_numbers=True,
)
def prefill_flop(
    parameters: Array,
    attention_width: Array,
    prompt_tokens: Array,
    cached_fraction: Array = 0,
    prompt_tokens_spread: Array = 0,
) -> Array:
    """FLOP of reading one prompt, F = 2 (1 - c) s (N + (1 + c) a s (1 + v^2)), in which attention is causal.

    The weights take 2 N for each token that is not cached. The m-th token attends to m, so that the scores and values
    of tokens from c s to s take 4 a (s^2 - c^2 s^2) / 2; the mean of s^2 over requests is s^2 (1 + v^2).

    Args:
        parameters: N, that take part in each token.
        attention_width: a, heads times head size over all layers.
        prompt_tokens: s, mean over requests.
        cached_fraction: c, the part of a prompt whose keys and values are there from earlier requests.
        prompt_tokens_spread: v, standard deviation of prompt lengths over requests, as a part of s.

    Returns:
        FLOP by request.

    Example: N = 7e10, a = 655360, s = 2048: 2.922e14; with c = 0.5: 1.475e14.
    """
    c, s = cached_fraction, prompt_tokens
    return 2 * (1 - c) * s * (parameters + (1 + c) * attention_width * s * (1 + prompt_tokens_spread**2))


@formula(equation="prefill_flop / (replica_accelerators * peak_flop_per_s * prefill_mfu)", source=_ROOFLINE)
def prefill_time(prefill_flop: Array, replica_accelerators: Array, peak_flop_per_s: Array, prefill_mfu: Array) -> Array:
    """Time that a replica spends on one prompt, T = F / (n P u): it is bound by compute.

    Short prompts are read together with others, or along with decoding, so that reading the weights is not counted.

    Args:
        prefill_flop: F.
        replica_accelerators: n.
        peak_flop_per_s: P, dense peak of one accelerator.
        prefill_mfu: u, the fraction of that peak that becomes FLOP of the model.

    Returns:
        Seconds by request.

    Example: 2.922e14 FLOP on 8 accelerators of 989.4e12 FLOP/s at half the peak: 73.8 ms.
    """
    return prefill_flop / (replica_accelerators * peak_flop_per_s * prefill_mfu)


@formula(equation="dense_weight_memory / (memory_bandwidth * mbu)", source=_ROOFLINE)
def dense_read_time(dense_weight_memory: Array, memory_bandwidth: Array, mbu: Array) -> Array:
    """Time in which an accelerator reads the weights that every token passes through, r_d = W_d / (β m).

    Args:
        dense_weight_memory: W_d, on one accelerator.
        memory_bandwidth: β, of one accelerator.
        mbu: m, memory bandwidth utilisation while decoding.

    Returns:
        Seconds.

    Example: 70e9 parameters in 16 bit over 8 accelerators of 3350 GB/s, at the whole bandwidth: 5.22 ms.
    """
    return dense_weight_memory / (memory_bandwidth * mbu)


@formula(equation="expert_weight_memory / (memory_bandwidth * mbu)", source=_ROOFLINE)
def expert_read_time(expert_weight_memory: Array, memory_bandwidth: Array, mbu: Array) -> Array:
    """Time in which an accelerator reads all of its routed experts, r_e = W_e / (β m).

    Args:
        expert_weight_memory: W_e, on one accelerator.
        memory_bandwidth: β, of one accelerator.
        mbu: m, memory bandwidth utilisation while decoding.

    Returns:
        Seconds.

    Example: 11.274e9 bytes at 3350 GB/s, of which 60 % are reached: 5.61 ms.
    """
    return expert_weight_memory / (memory_bandwidth * mbu)


@formula(
    equation="2 * parameters * (1 + draft_tokens) / (replica_accelerators * peak_flop_per_s * decode_mfu)",
    source=_ROOFLINE,
    constant="FLOP/parameter",
)
def decode_compute_time(
    parameters: Array, replica_accelerators: Array, peak_flop_per_s: Array, decode_mfu: Array, draft_tokens: Array = 0
) -> Array:
    """Time by which one more request lengthens a step that is bound by compute, k = 2 N (1 + γ) / (n P u).

    Args:
        parameters: N, that take part in each token.
        replica_accelerators: n.
        peak_flop_per_s: P, dense peak of one accelerator.
        decode_mfu: u, the fraction of it that matrix products of large batches reach.
        draft_tokens: γ, drafted for each step and checked in it.

    Returns:
        Seconds by request.

    Example: N = 7e10 on 8 accelerators of 989.4e12 FLOP/s at the whole peak: 17.69 µs; the weights take 5.22 ms to
    read, as long as 295 requests take to compute.
    """
    return 2 * parameters * (1 + draft_tokens) / (replica_accelerators * peak_flop_per_s * decode_mfu)


@formula(
    equation=(
        "maximum(context_tokens * kv_bytes_per_token / (kv_shards * memory_bandwidth * mbu),"
        " 4 * decode_attention_width * context_tokens * (1 + draft_tokens)"
        " / (replica_accelerators * peak_flop_per_s * decode_mfu))"
    ),
    source=f"{_ROOFLINE}; DeepSeek-AI 2024, arXiv 2405.04434, section 2.1",
    law_of_numbers=True,
)
def decode_attention_time(
    context_tokens: Array,
    kv_bytes_per_token: Array,
    kv_shards: Array,
    memory_bandwidth: Array,
    mbu: Array,
    decode_attention_width: Array,
    replica_accelerators: Array,
    peak_flop_per_s: Array,
    decode_mfu: Array,
    draft_tokens: Array = 0,
) -> Array:
    """Time that a step spends on one request's attention, q = max(l κ / (z β m), 4 a l (1 + γ) / (n P u)).

    Its cache is read, and its scores and weighted values are computed; latent attention, which keeps little and
    computes much, may be bound by the second.

    Args:
        context_tokens: l, in the cache.
        kv_bytes_per_token: κ.
        kv_shards: z, accelerators among which the cache is split.
        memory_bandwidth: β, of one accelerator.
        mbu: m, memory bandwidth utilisation while decoding.
        decode_attention_width: a, heads times head size, over all layers, in the form that is used for decoding.
        replica_accelerators: n.
        peak_flop_per_s: P, dense peak of one accelerator.
        decode_mfu: u.
        draft_tokens: γ, drafted for each step and checked in it.

    Returns:
        Seconds by request.

    Example: Llama 2 70B, l = 4096, κ = 327680, z = n = 8, β = 3350 GB/s, m = 1: 50.1 µs.
    """
    xp = namespace(context_tokens, kv_bytes_per_token, memory_bandwidth, mbu, peak_flop_per_s, decode_mfu)
    read = context_tokens * kv_bytes_per_token / (kv_shards * memory_bandwidth * mbu)
    flop = 4 * decode_attention_width * context_tokens * (1 + draft_tokens)
    return xp.maximum(read, flop / (replica_accelerators * peak_flop_per_s * decode_mfu))


@formula(
    equation=(
        "where(acceptance_rate == 1, draft_tokens, acceptance_rate * (1 - acceptance_rate**draft_tokens)"
        " / (1 - where(acceptance_rate == 1, 0, acceptance_rate)))"
    ),
    source=f"{_SPECULATION}, equation 1",
    trigger=("draft_tokens",),
)
def accepted_tokens(acceptance_rate: Array, draft_tokens: Array) -> Array:
    """Drafted tokens that a step accepts on average, A = α (1 - α^γ) / (1 - α).

    With the one that the model adds itself it is (1 - α^(γ+1)) / (1 - α) tokens by step.

    Args:
        acceptance_rate: α, chance that a drafted token is accepted, each alike.
        draft_tokens: γ, drafted for each step.

    Returns:
        A in tokens.

    Example: α = 0.8, γ = 5: 2.689, so that a step gives 3.69 tokens.
    """
    xp = namespace(acceptance_rate, draft_tokens)
    certain = acceptance_rate == 1
    rate = xp.where(certain, 0, acceptance_rate)
    return xp.where(certain, draft_tokens, rate * (1 - rate**draft_tokens) / (1 - rate))


@formula(
    equation="1 - (1 + draft_tokens * draft_cost) / (1 + accepted_tokens)",
    source=f"{_SPECULATION}, theorem 3.8",
    trigger=("draft_tokens",),
)
def speculation_saving(accepted_tokens: Array, draft_tokens: Array, draft_cost: Array = 0) -> Array:
    """Part of the time for an output token that drafting saves, s = 1 - (1 + γ c) / (1 + A).

    Below zero where drafting costs more than it brings. That more tokens have to be checked in a step is in the step.

    Args:
        accepted_tokens: A, by step.
        draft_tokens: γ, drafted for each step.
        draft_cost: c, time of drafting one token as a part of a step.

    Returns:
        s, a fraction.

    Example: A = 2.689, γ = 5, c = 0.05: 0.661, so that decoding is 2.95 times as fast.
    """
    return 1 - (1 + draft_tokens * draft_cost) / (1 + accepted_tokens)


@formula(
    equation="(1 - expert_share) ** (1 + draft_tokens)",
    source="uniform routing, each token independently",
    trigger=("expert_share",),
)
def expert_miss(expert_share: Array, draft_tokens: Array = 0) -> Array:
    """Chance that one request leaves a routed expert alone in a step, m = (1 - x)^(1 + γ).

    Args:
        expert_share: x, the part of the routed experts that a token is sent to.
        draft_tokens: γ, drafted for each step and checked in it.

    Returns:
        m, a fraction.

    Example: DeepSeek-V3, 8 of 256 experts: 0.96875; 32 requests leave 36.2 % of them alone.
    """
    return (1 - expert_share) ** (1 + draft_tokens)
