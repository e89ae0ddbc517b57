"""How many requests a replica serves, and how long each of them waits: steps, batches and the queue before them."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, namespace

_ORCA = "Yu et al. 2022, Orca, OSDI 22, section 3 (iteration-level scheduling)"

# Steps of Newton's method, which doubles the digits that are right with each.
_STEPS = 6
_TINY = 1e-30


# --- a step -----------------------------------------------------------------------------------------------------------


def step(
    requests: Array,
    dense_read_time: Array,
    decode_compute_time: Array,
    decode_attention_time: Array,
    expert_read_time: Array,
    expert_miss: Array,
    step_overhead: Array,
) -> Array:
    """Time of one step for so many requests: see `step_time`."""
    xp = namespace(requests, dense_read_time, expert_read_time, decode_compute_time, decode_attention_time)
    read = dense_read_time + expert_read_time * (1 - expert_miss**requests)
    return xp.maximum(read, decode_compute_time * requests) + decode_attention_time * requests + step_overhead


def shown_step(requests: str) -> str:
    """The same as an expression."""
    return (
        f"(maximum(dense_read_time + expert_read_time * (1 - expert_miss ** {requests}),"
        f" decode_compute_time * {requests}) + decode_attention_time * {requests} + step_overhead)"
    )


def crossing(slope: Array, weight: Array, miss: Array, level: Array) -> Array:
    """The b above nothing with g b + A m^b = C, where g b + A m^b is C at one b at most that is not below nothing.

    With μ = -ln m and v = μ (C / g - b) it is v e^(-v) = (A μ / g) e^(-μ C / g), which Newton's method solves for ln v.

    Args:
        slope: g, above nothing.
        weight: A; below nothing it is g b - |A| m^b, which always grows.
        miss: m, below one.
        level: C.
    """
    xp = namespace(slope, weight, miss, level)
    some = (weight != 0) & (miss > 0) & (miss < 1)
    decay = -xp.log(xp.where(some, miss, 0.5))
    share = xp.where(some, xp.abs(weight), 1) * decay / slope
    sign = xp.where(weight < 0, -1, 1)
    target = xp.log(share) - decay * level / slope
    # Near e^L where that is small; for large L, which there is for a weight below nothing alone, near L.
    v = xp.where(target > 1, target, xp.exp(xp.minimum(target, 1)) / (1 + xp.exp(xp.minimum(target, 1))))
    for _ in range(_STEPS):
        v = xp.maximum(v, _TINY)
        v = v * xp.maximum(1 - (xp.log(v) - sign * v - target) / (1 - sign * v), 0.1)
    return (level - xp.where(some, sign * v * slope / decay, 0)) / slope


@formula(equation=shown_step("batch"), source=f"{_ORCA}; roofline of each part", law_of_numbers=True)
def step_time(
    batch: Array,
    dense_read_time: Array,
    decode_compute_time: Array,
    decode_attention_time: Array,
    expert_read_time: Array = 0,
    expert_miss: Array = 0,
    step_overhead: Array = 0,
) -> Array:
    """Time of one step of a full batch, σ(B) = max(r_d + r_e (1 - m^B), k B) + q B + o.

    Layers alternate between matrix products, whose weights are read once for all requests, and attention, which reads
    each request's own cache. One follows the other, so that it is only within the products that the slower of reading
    and computing counts.

    Args:
        batch: B, requests that decode at a time.
        dense_read_time: r_d, for the weights that every token passes through.
        decode_compute_time: k, by request.
        decode_attention_time: q, by request.
        expert_read_time: r_e, for all routed experts.
        expert_miss: m, chance that one request leaves an expert alone.
        step_overhead: o, launches, sampling and communication.

    Returns:
        σ in seconds.

    Example: r_d = 5.22 ms, k = 17.69 µs, q = 50.1 µs and B = 64 (Llama 2 70B on 8 H100 at their peaks): 8.43 ms.
    """
    parts = (decode_compute_time, decode_attention_time, expert_read_time, expert_miss, step_overhead)
    return step(batch, dense_read_time, *parts)


# --- the batch --------------------------------------------------------------------------------------------------------


@formula(
    equation="minimum(memory_batch, batch_limit)",
    source="definition",
    output="fitting_batch",
    trigger=("batch_limit",),
)
def limited_batch(memory_batch: Array, batch_limit: Array) -> Array:
    """Requests that a replica takes at a time at most, for its memory and by the engine's setting.

    Args:
        memory_batch: whose cache it can hold.
        batch_limit: what the engine is set to.

    Returns:
        Requests by replica.

    Example: 326 that fit and a limit of 256: 256.
    """
    return namespace(memory_batch, batch_limit).minimum(memory_batch, batch_limit)


@formula(equation="memory_batch", source="definition")
def fitting_batch(memory_batch: Array) -> Array:
    """Requests that a replica takes at a time at most, where nothing but its memory limits them.

    Args:
        memory_batch: whose cache it can hold.

    Returns:
        Requests by replica.

    Example: 326 that fit: 326.
    """
    return memory_batch


@formula(
    equation=(
        "minimum(fitting_batch, latency_batch * time_per_output_token_target / "
        f"({shown_step('latency_batch')} * (1 - speculation_saving) + latency_batch * prefill_time / output_tokens))"
    ),
    source=_ORCA,
    trigger=("time_per_output_token_target",),
    law_of_numbers=True,
)
def latency_batch(
    time_per_output_token_target: Array,
    fitting_batch: Array,
    prefill_time: Array,
    output_tokens: Array,
    dense_read_time: Array,
    decode_compute_time: Array,
    decode_attention_time: Array,
    expert_read_time: Array = 0,
    expert_miss: Array = 0,
    step_overhead: Array = 0,
    speculation_saving: Array = 0,
) -> Array:
    """Requests that decode at a time without any of them being too slow: the B with σ(B) (1 - s) + B T / o = τ.

    While a request decodes, as many others are read in as decode beside it: between two of its tokens lie a step and,
    on average, B / o prompts.

    Args:
        time_per_output_token_target: τ.
        fitting_batch: the most that fit.
        prefill_time: T, of one prompt.
        output_tokens: o, mean over requests.
        dense_read_time: r_d of σ(B) = max(r_d + r_e (1 - m^B), k B) + q B + o'.
        decode_compute_time: k.
        decode_attention_time: q.
        expert_read_time: r_e.
        expert_miss: m.
        step_overhead: o'.
        speculation_saving: s.

    Returns:
        B in requests by replica, at most those that fit; zero where even one request is too slow.

    Example: τ = 20 ms, T = 73.8 ms, o = 200, r_d = 5.22 ms, k = 17.69 µs, q = 50.1 µs, of 326 that fit: 35.3.
    """
    xp = namespace(time_per_output_token_target, fitting_batch, prefill_time, dense_read_time, decode_attention_time)
    kept = 1 - speculation_saving
    each = decode_attention_time * kept + prefill_time / output_tokens
    left = time_per_output_token_target - step_overhead * kept
    # The slower of reading and computing decides, so that the target is kept where both would keep it.
    computing = left / (each + decode_compute_time * kept)
    experts = expert_read_time * kept
    reading = crossing(each, -experts, expert_miss, left - dense_read_time * kept - experts)
    return xp.maximum(0, xp.minimum(fitting_batch, xp.minimum(computing, reading)))


@formula(equation="floor(latency_batch)", source="definition", output="batch", trigger=("latency_batch",))
def batch_in_time(latency_batch: Array) -> Array:
    """Requests that decode at a time under full load, where each token has to come in time.

    Args:
        latency_batch: with which it just does.

    Returns:
        B in whole requests by replica.

    Example: 35.3: 35.
    """
    return namespace(latency_batch).floor(latency_batch)


@formula(equation="fitting_batch", source="definition")
def batch(fitting_batch: Array) -> Array:
    """Requests that decode at a time under full load, where nothing is asked of their speed: all that fit.

    Args:
        fitting_batch: the most that fit.

    Returns:
        B in requests by replica.

    Example: 326 that fit: 326.
    """
    return fitting_batch


# --- what a replica serves --------------------------------------------------------------------------------------------


@formula(
    equation="prefill_time + output_tokens * step_time * (1 - speculation_saving) / batch",
    source=_ORCA,
    law_of_numbers=True,
)
def replica_time(
    prefill_time: Array, output_tokens: Array, step_time: Array, batch: Array, speculation_saving: Array = 0
) -> Array:
    """Time of a whole replica that one request takes under full load, R = T + o σ (1 - s) / B.

    Its prompt has the replica to itself; its output shares every step with B - 1 others.

    Args:
        prefill_time: T.
        output_tokens: o, mean over requests.
        step_time: σ, of a full batch.
        batch: B.
        speculation_saving: s.

    Returns:
        Seconds by request; without end where not one request fits.

    Example: T = 73.8 ms, o = 200, σ = 8.43 ms, B = 64: 100.1 ms.
    """
    xp = namespace(prefill_time, output_tokens, step_time, batch)
    decoding = output_tokens * step_time * (1 - speculation_saving)
    return xp.where(batch > 0, prefill_time + decoding / xp.where(batch > 0, batch, 1), xp.inf)


@formula(
    equation="request_flop / (replica_accelerators * peak_flop_per_s * mfu)",
    source="definition",
    output="replica_time",
    trigger=("request_flop",),
)
def replica_time_of_flop(request_flop: Array, replica_accelerators: Array, peak_flop_per_s: Array, mfu: Array) -> Array:
    """Time of a whole replica that one request takes where it is bound by compute, R = F / (n P u).

    So for images, speech and video: what they compute is many times what they read.

    Args:
        request_flop: F.
        replica_accelerators: n.
        peak_flop_per_s: P, dense peak of one accelerator.
        mfu: u, the fraction of that peak that becomes FLOP of the model.

    Returns:
        Seconds by request.

    Example: 30 steps of 12e12 FLOP on one accelerator of 312e12 FLOP/s at 40 %: 2.88 s.
    """
    return request_flop / (replica_accelerators * peak_flop_per_s * mfu)


@formula(
    equation="generation_steps * step_flop",
    source="definition",
    trigger=("step_flop",),
)
def request_flop(generation_steps: Array, step_flop: Array) -> Array:
    """FLOP of one request to a model that generates in steps, F = k f: images, speech, video.

    Args:
        generation_steps: k, by request: denoising steps, frames, pictures of a batch times steps.
        step_flop: f, of one step, with guidance's second pass where there is one.

    Returns:
        F in FLOP by request.

    Example: 30 steps of 12e12 FLOP: 3.6e14.
    """
    return generation_steps * step_flop


@formula(equation="1 / replica_time", source="definition")
def replica_request_rate(replica_time: Array) -> Array:
    """Requests that one replica serves under full load, μ = 1 / R.

    Args:
        replica_time: R, that one of them takes.

    Returns:
        μ in requests by time and replica; nothing where R is without end.

    Example: 100.1 ms: 9.99 requests/s.
    """
    return 1 / replica_time


@formula(equation="replica_request_rate * output_tokens", source="definition")
def replica_token_rate(replica_request_rate: Array, output_tokens: Array) -> Array:
    """Output tokens of one replica under full load, μ o.

    Args:
        replica_request_rate: μ.
        output_tokens: o, mean over requests.

    Returns:
        Tokens by time and replica.

    Example: 9.99 requests/s of 200 tokens: 1998 tokens/s.
    """
    return replica_request_rate * output_tokens
