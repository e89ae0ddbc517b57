"""How long requests wait at a given load: how full the batches are, and the queue before them."""

from __future__ import annotations

import math
from importlib import import_module

from uncertain_botec.formulas.base import Array, formula, namespace, over
from uncertain_botec.formulas.serving import crossing, shown_step, step

_LITTLE = "Little 1961, Operations Research 9, 383-387"
_ERLANG = "Janssen, van Leeuwaarden and Zwart 2011, Operations Research 59(6), 1512-1522"
_ALLEN = "Allen and Cunneen's approximation: Allen 1990, Probability, Statistics and Queueing Theory, section 5.4"
_POLLACZEK = "Pollaczek and Khinchine: Kleinrock 1975, Queueing Systems 1, equation 5.69"

# y'(x) as a power series, where -ln(1 - y) - y = x^2 / 2.
_SERIES = (1, -2 / 3, 1 / 12, 2 / 135, 1 / 864, -1 / 2835, -139 / 777600, -1 / 25515)

# For so many servers more than there are, the series is good to 1e-7; Erlang's recursion leads back.
_MORE = 4

# Beyond it nobody waits.
_MOST_EXPONENT = 600.0


@formula(
    equation="where(peak_request_rate > 0, peak_request_rate / (replicas * replica_request_rate), 0)",
    source="definition",
)
def utilisation(peak_request_rate: Array, replicas: Array, replica_request_rate: Array) -> Array:
    """Part of what the replicas can serve that is asked of them at the peak, ρ = λ / (c μ).

    Args:
        peak_request_rate: λ.
        replicas: c, without spare ones.
        replica_request_rate: μ, of one replica under full load.

    Returns:
        ρ; from one on the fleet cannot keep up, and the queue grows for as long as the peak lasts.

    Example: 11,574 requests/s on 1,655 replicas of 9.99 requests/s: 0.70.
    """
    # Endless many replicas are those that serve nothing.
    some = namespace(peak_request_rate, replicas, replica_request_rate).where(replica_request_rate > 0, replicas, 0)
    return over(peak_request_rate, some * replica_request_rate)


@formula(equation="minimum(1, utilisation) * replica_request_rate", source="definition")
def served_request_rate(utilisation: Array, replica_request_rate: Array) -> Array:
    """Requests that one replica takes in at the peak, λ = min(1, ρ) μ: of more than it can serve, others wait outside.

    Args:
        utilisation: ρ.
        replica_request_rate: μ, under full load.

    Returns:
        λ in requests by time and replica.

    Example: ρ = 0.7 of 9.99 requests/s: 6.993 requests/s.
    """
    return namespace(utilisation).minimum(1, utilisation) * replica_request_rate


@formula(
    equation=(
        "minimum(batch, where(served_request_rate * prefill_time < 1, served_request_rate * output_tokens"
        f" * {shown_step('running_requests')} * (1 - speculation_saving) / (1 - served_request_rate * prefill_time),"
        " inf))"
    ),
    source=f"{_LITTLE}: b = λ o τ(b)",
    law_of_numbers=True,
)
def running_requests(
    served_request_rate: Array,
    batch: Array,
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
    """Requests that decode at a time in one replica at this load: the b with b = λ o σ(b) (1 - s) / (1 - λ T).

    Requests come at the rate λ; each stays for o tokens, which are the faster the fewer there are, but for the
    part λ T of the time in which prompts are read.

    Args:
        served_request_rate: λ, of one replica.
        batch: B, beyond which others have to wait.
        prefill_time: T.
        output_tokens: o.
        dense_read_time: r_d of σ(b) = max(r_d + r_e (1 - m^b), k b) + q b + o'.
        decode_compute_time: k.
        decode_attention_time: q.
        expert_read_time: r_e.
        expert_miss: m.
        step_overhead: o'.
        speculation_saving: s.

    Returns:
        b in requests by replica.

    Example: λ = 6.993/s, T = 73.8 ms, o = 200, r_d = 5.22 ms, k = 17.69 µs, q = 50.1 µs, B = 64: 17.64.
    """
    xp = namespace(served_request_rate, prefill_time, dense_read_time)
    stay = over(served_request_rate * output_tokens * (1 - speculation_saving), 1 - served_request_rate * prefill_time)
    # Without end where more come than are served; then the batch is full.
    come = xp.where(xp.isinf(stay), 0, stay)
    left = 1 - come * decode_attention_time
    computing = over(come * step_overhead, left - come * decode_compute_time)
    computing = xp.where(left > come * decode_compute_time, computing, xp.inf)
    experts = come * expert_read_time
    level = come * (dense_read_time + step_overhead) + experts
    reading = xp.where(left > 0, crossing(xp.where(left > 0, left, 1), experts, expert_miss, level), xp.inf)
    return xp.where(xp.isinf(stay), batch, xp.minimum(batch, xp.maximum(computing, reading)))


@formula(
    equation=(
        f"{shown_step('running_requests')} * (1 - speculation_saving) / (1 - served_request_rate * prefill_time)"
    ),
    source="definition",
    law_of_numbers=True,
)
def time_per_output_token(
    running_requests: Array,
    served_request_rate: Array,
    prefill_time: Array,
    dense_read_time: Array,
    decode_compute_time: Array,
    decode_attention_time: Array,
    expert_read_time: Array = 0,
    expert_miss: Array = 0,
    step_overhead: Array = 0,
    speculation_saving: Array = 0,
) -> Array:
    """Time between two tokens of a request at this load, mean over requests: τ = σ(b) (1 - s) / (1 - λ T).

    Args:
        running_requests: b, that decode at a time.
        served_request_rate: λ, of one replica.
        prefill_time: T.
        dense_read_time: r_d of σ(b) = max(r_d + r_e (1 - m^b), k b) + q b + o.
        decode_compute_time: k.
        decode_attention_time: q.
        expert_read_time: r_e.
        expert_miss: m.
        step_overhead: o.
        speculation_saving: s.

    Returns:
        τ in seconds by token.

    Example: b = 17.64, λ = 6.993/s, T = 73.8 ms, r_d = 5.22 ms, k = 17.69 µs, q = 50.1 µs: 12.61 ms.
    """
    parts = (decode_compute_time, decode_attention_time, expert_read_time, expert_miss, step_overhead)
    time = step(running_requests, dense_read_time, *parts) * (1 - speculation_saving)
    return time / (1 - served_request_rate * prefill_time)


# --- the queue --------------------------------------------------------------------------------------------------------


@formula(equation="replicas * batch", source="definition", trigger=("batch",))
def slots(replicas: Array, batch: Array) -> Array:
    """Requests that the whole fleet serves at a time, S = c B.

    Args:
        replicas: c.
        batch: B, of one replica.

    Returns:
        S, the servers of the queue.

    Example: 3 replicas of 64: 192.
    """
    return replicas * batch


@formula(equation="replicas", source="definition", output="slots")
def slots_of_one(replicas: Array) -> Array:
    """Requests that the whole fleet serves at a time where a replica serves one after the other, S = c.

    Args:
        replicas: c.

    Returns:
        S, the servers of the queue.

    Example: 3 replicas: 3.
    """
    return replicas


@formula(equation="erlang_c(slots, utilisation * slots)", source=_ERLANG, law_of_numbers=True)
def queue_probability(slots: Array, utilisation: Array) -> Array:
    """Chance that a request has to wait for a slot, Erlang's C(S, ρ S), for exponential times of service.

    C = 1 / (ρ + (1 - ρ) / b) with Erlang's b, and 1 / b = sqrt(S) e^(α²/2) ∫ e^(-z²/2) Σ y_k (z / sqrt(S))^k dz up to
    α = sqrt(-2 S (1 - ρ + ln ρ)).

    Args:
        slots: S, servers of the queue.
        utilisation: ρ.

    Returns:
        A fraction; one from ρ = 1 on, nothing where nobody comes.

    Example: 10 servers at a load of 0.8: 0.4092.
    """
    xp = namespace(slots, utilisation)
    calm = (utilisation > 0) & (utilisation < 1) & (slots > 0)
    rho, s = xp.where(calm, utilisation, 0.5), xp.where(calm, slots, 1)
    waits = 1 / (rho + (1 - rho) * _inverse_erlang_b(s, rho * s))
    return xp.where(calm, waits, xp.where(utilisation > 0, 1, 0))


def _inverse_erlang_b(servers: Array, load: Array) -> Array:
    """1 / B(c, a) for a < c: the expansion for a few servers more, and B(c - 1) = (1 / B(c) - 1) a / c back from there.

    M_k = e^(α²/2) ∫ z^k e^(-z²/2) dz up to α are (k - 1) M_(k-2) - α^(k-1), so that all are M_0, which may be
    beyond all numbers and is cut, times a number, plus a polynomial of α.
    """
    xp = namespace(servers, load)
    c = servers + _MORE
    excess = load / c - 1
    alpha = xp.sqrt(2 * c * (excess - xp.log1p(excess)))
    times = [(1.0, 0.0), (0.0, -1.0)]
    power = alpha
    for k in range(2, len(_SERIES)):
        before, at_edge = times[k - 2]
        times.append(((k - 1) * before, (k - 1) * at_edge - power))
        power = power * alpha
    root = 1 / xp.sqrt(c)
    middle, edges, scale = 0.0, 0.0, 1.0
    for y, (of_middle, at_edge) in zip(_SERIES, times, strict=True):
        middle, edges = middle + y * of_middle * scale, edges + y * at_edge * scale
        scale = scale * root
    whole = math.sqrt(2 * math.pi) * _special(xp).ndtr(alpha) * xp.exp(xp.minimum(alpha**2 / 2, _MOST_EXPONENT))
    found = xp.sqrt(c) * (whole * middle + edges)
    for more in range(_MORE, 0, -1):
        found = (found - 1) * load / (servers + more)
    return found


def _special(xp: Array) -> Array:
    """The special functions that go with arrays of a namespace."""
    return import_module("jax.scipy.special" if "jax" in xp.__name__ else "scipy.special")


@formula(
    equation=(
        "where(utilisation < 1, queue_probability * replica_time / (replicas * (1 - utilisation)), inf)"
        " * (1 + service_spread**2) / 2"
    ),
    source=_ALLEN,
)
def queue_wait(
    queue_probability: Array, replica_time: Array, replicas: Array, utilisation: Array, service_spread: Array = 0
) -> Array:
    """Mean wait for a slot at the peak, W = C R (1 + v^2) / (2 c (1 - ρ)).

    Exact for exponential times of service, v = 1, and for one server; for others the approximation is good to some
    percent. Requests come independently of each other; where they come in bursts, they wait for longer.

    Args:
        queue_probability: C.
        replica_time: R, of a whole replica, that one request takes.
        replicas: c.
        utilisation: ρ.
        service_spread: v, standard deviation of the time of service over requests, as a part of its mean.

    Returns:
        W in seconds; without end from ρ = 1 on.

    Example: one server with R = 1 s, ρ = 0.8, v = 1, so that C = 0.8: 4 s (M/M/1).
    """
    xp = namespace(queue_probability, replica_time, replicas, utilisation)
    calm = xp.minimum(1, utilisation)
    # Nobody waits where nobody comes, also for no replica.
    waiting = queue_probability * xp.where(utilisation > 0, replica_time, 0)
    return over(waiting * (1 + service_spread**2) / 2, xp.where(calm < 1, replicas, 0) * (1 - calm))


@formula(equation="output_tokens_spread", source="definition", trigger=("output_tokens_spread",))
def service_spread(output_tokens_spread: Array) -> Array:
    """Spread of the time of service over requests, which is that of their outputs' lengths.

    Args:
        output_tokens_spread: standard deviation of output lengths over requests, as a part of their mean.

    Returns:
        A fraction.

    Example: 1.1: 1.1.
    """
    return output_tokens_spread


@formula(
    equation=(
        "served_request_rate * prefill_time**2 * (1 + prompt_tokens_spread**2)"
        " / (2 * (1 - served_request_rate * prefill_time))"
    ),
    source=_POLLACZEK,
)
def prefill_wait(served_request_rate: Array, prefill_time: Array, prompt_tokens_spread: Array = 0) -> Array:
    """Mean wait until the replica reads a prompt, behind others that came before: w = λ T^2 (1 + v^2) / (2 (1 - λ T)).

    Prompts are read one after the other and go before decoding.

    Args:
        served_request_rate: λ, of one replica.
        prefill_time: T, mean over requests.
        prompt_tokens_spread: v, standard deviation of prompt lengths over requests, as a part of their mean.

    Returns:
        w in seconds.

    Example: λ = 6.993/s, T = 73.8 ms and v = 1: 78.7 ms.
    """
    busy = served_request_rate * prefill_time
    return busy * prefill_time * (1 + prompt_tokens_spread**2) / (2 * (1 - busy))


@formula(equation="queue_wait + prefill_wait + prefill_time", source="definition")
def time_to_first_token(queue_wait: Array, prefill_wait: Array, prefill_time: Array) -> Array:
    """Time until the first token at the peak, mean over requests: for a slot, for the replica, and for the prompt.

    The way to the user and back is not in it.

    Args:
        queue_wait: for a slot.
        prefill_wait: until the replica reads the prompt.
        prefill_time: in which it does.

    Returns:
        Seconds; without end where the fleet cannot keep up.

    Example: 0 s, 78.7 ms and 73.8 ms: 152.5 ms.
    """
    return queue_wait + prefill_wait + prefill_time


@formula(
    equation="time_to_first_token + time_per_output_token * maximum(0, output_tokens - 1)",
    source="definition",
    law_of_numbers=True,
)
def response_time(time_to_first_token: Array, time_per_output_token: Array, output_tokens: Array) -> Array:
    """Time until the last token at the peak, mean over requests: the first, and the others after it.

    Args:
        time_to_first_token: until the first.
        time_per_output_token: from one to the next.
        output_tokens: mean over requests.

    Returns:
        Seconds.

    Example: 152.5 ms and 199 times 12.61 ms: 2.66 s.
    """
    xp = namespace(time_to_first_token, time_per_output_token, output_tokens)
    return time_to_first_token + time_per_output_token * xp.maximum(0, output_tokens - 1)


@formula(
    equation="queue_wait + replica_time",
    source="definition",
    output="response_time",
    trigger=("request_flop",),
)
def response_time_of_flop(queue_wait: Array, replica_time: Array) -> Array:
    """Time until a request that is served alone is answered at the peak, mean over requests.

    Args:
        queue_wait: for a replica.
        replica_time: in which it is served.

    Returns:
        Seconds.

    Example: 0.5 s and 2.88 s: 3.38 s.
    """
    return queue_wait + replica_time
