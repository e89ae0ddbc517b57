"""What a token costs, what it would cost elsewhere, and what is earned by it."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, namespace, over

_SHARE = "definition: by the replica time that prompts and outputs take"


@formula(equation="cost / (request_rate * period)", source="definition")
def cost_per_request(cost: Array, request_rate: Array, period: Array) -> Array:
    """Cost of one request, c = C / (λ t): the whole bill over all requests.

    Args:
        cost: C, of the period.
        request_rate: λ, averaged over the day.
        period: t.

    Returns:
        c in USD by request; without end where nobody comes.

    Example: 2e6 USD a month for 11,574 requests/s: 0.0000657 USD.
    """
    return over(cost, request_rate * period)


@formula(equation="cost_per_request * request_rate / daily_users", source="definition")
def cost_per_user(cost_per_request: Array, request_rate: Array, daily_users: Array) -> Array:
    """Cost of one daily user by time, c λ / U.

    Args:
        cost_per_request: c.
        request_rate: λ, averaged over the day.
        daily_users: U.

    Returns:
        USD by user and time (printed by month).

    Example: 0.0000657 USD by request and 10 requests a day: 0.02 USD a month.
    """
    return cost_per_request * request_rate / daily_users


@formula(equation="cost_per_request / output_tokens", source="definition")
def cost_per_generated_token(cost_per_request: Array, output_tokens: Array) -> Array:
    """Cost of an output token where the whole bill is put on those: USD/h x accelerators over tokens/h.

    Args:
        cost_per_request: c.
        output_tokens: o, mean over requests.

    Returns:
        USD by token (printed by million tokens).

    Example: 16 USD an hour for 2,500 tokens/s: 1.778 USD by million tokens.
    """
    return cost_per_request / output_tokens


@formula(
    equation="cost_per_request * prefill_time / replica_time / ((1 - cached_fraction) * prompt_tokens)",
    source=_SHARE,
)
def cost_per_input_token(
    cost_per_request: Array, prefill_time: Array, replica_time: Array, prompt_tokens: Array, cached_fraction: Array = 0
) -> Array:
    """Cost of reading one token that is not cached, c T / (R (1 - κ) s).

    Args:
        cost_per_request: c.
        prefill_time: T, that a prompt takes of a replica.
        replica_time: R, that a request takes of it.
        prompt_tokens: s, mean over requests.
        cached_fraction: κ.

    Returns:
        USD by token (printed by million tokens); nothing where all are cached.

    Example: 0.001 USD by request, T = 73.8 ms of R = 100.1 ms, 2,048 tokens: 0.36 USD by million tokens.
    """
    read = (1 - cached_fraction) * prompt_tokens
    each = over(cost_per_request * prefill_time / replica_time, read)
    return namespace(each, read).where(read > 0, each, 0)


@formula(
    equation="cost_per_request * (1 - prefill_time / replica_time) / output_tokens",
    source=_SHARE,
)
def cost_per_output_token(
    cost_per_request: Array, prefill_time: Array, replica_time: Array, output_tokens: Array
) -> Array:
    """Cost of writing one token, c (1 - T / R) / o.

    Args:
        cost_per_request: c.
        prefill_time: T, that a prompt takes of a replica.
        replica_time: R, that a request takes of it.
        output_tokens: o, mean over requests.

    Returns:
        USD by token (printed by million tokens).

    Example: 0.001 USD by request, T = 73.8 ms of R = 100.1 ms, 200 tokens: 1.314 USD by million tokens.
    """
    return cost_per_request * (1 - prefill_time / replica_time) / output_tokens


# --- elsewhere --------------------------------------------------------------------------------------------------------


def _charged(
    prompt_tokens: Array, output_tokens: Array, cached_fraction: Array, price: Array, cached_price: Array, output: Array
) -> Array:
    """What a request costs at a list of prices."""
    read = prompt_tokens * ((1 - cached_fraction) * price + cached_fraction * cached_price)
    return read + output_tokens * output


@formula(
    equation=(
        "prompt_tokens * ((1 - cached_fraction) * api_input_price + cached_fraction * api_cached_price)"
        " + output_tokens * api_output_price"
    ),
    source="definition",
    trigger=("api_output_price",),
)
def api_cost_per_request(
    prompt_tokens: Array,
    output_tokens: Array,
    api_input_price: Array,
    api_output_price: Array,
    cached_fraction: Array = 0,
    api_cached_price: Array = 0,
) -> Array:
    """Cost of one request over an API at list prices, a = s ((1 - κ) p_i + κ p_c) + o p_o.

    Args:
        prompt_tokens: s, mean over requests.
        output_tokens: o, mean over requests.
        api_input_price: p_i, of a token that is not cached.
        api_output_price: p_o, of an output token.
        cached_fraction: κ.
        api_cached_price: p_c, of a cached token.

    Returns:
        a in USD by request.

    Example: 1,000 tokens at 0.5 USD by million and 200 at 1.5 USD: 0.0008 USD.
    """
    prices = (api_input_price, api_cached_price, api_output_price)
    return _charged(prompt_tokens, output_tokens, cached_fraction, *prices)


@formula(equation="api_cost_per_request * request_rate * period", source="definition")
def api_cost(api_cost_per_request: Array, request_rate: Array, period: Array) -> Array:
    """Cost of all requests of the period over an API at list prices.

    Args:
        api_cost_per_request: a.
        request_rate: λ, averaged over the day.
        period: t.

    Returns:
        USD.

    Example: 0.0008 USD for each of 10 requests/s over 30 days: 20,736 USD.
    """
    return api_cost_per_request * request_rate * period


@formula(equation="cost / api_cost", source="definition")
def cost_over_api(cost: Array, api_cost: Array) -> Array:
    """Own cost over that of the API; below one it is cheaper to serve oneself.

    Args:
        cost: of the period.
        api_cost: of the same requests.

    Returns:
        A ratio.

    Example: 15,000 USD against 20,736 USD: 0.723.
    """
    return over(cost, api_cost)


@formula(
    equation="cost / accelerator_hours * replica_accelerators",
    source="definition",
    trigger=("api_output_price",),
)
def replica_cost_rate(cost: Array, accelerator_hours: Array, replica_accelerators: Array) -> Array:
    """What one replica costs by time, with its part of all the rest of the bill.

    Args:
        cost: of the period.
        accelerator_hours: that are paid for in it.
        replica_accelerators: n.

    Returns:
        USD by replica and time (printed by hour).

    Example: 24 USD for 8 accelerator-hours, n = 8: 24 USD an hour.
    """
    return cost / accelerator_hours * replica_accelerators


@formula(
    equation=(
        "where(replica_cost_rate * (1 + spare_replicas) <= api_cost_per_request * replica_request_rate"
        " * target_utilisation / peak_factor, replica_cost_rate * (1 + spare_replicas) / api_cost_per_request,"
        " where(api_cost_per_request * replica_request_rate * target_utilisation / peak_factor > replica_cost_rate,"
        " replica_cost_rate * spare_replicas / maximum(1e-300, api_cost_per_request - replica_cost_rate * peak_factor"
        " / (replica_request_rate * target_utilisation)), inf))"
    ),
    source="definition: one replica and the spare ones at least; beyond that as many as are needed, in parts too",
    law_of_numbers=True,
)
def break_even_request_rate(
    replica_cost_rate: Array,
    api_cost_per_request: Array,
    replica_request_rate: Array,
    target_utilisation: Array,
    peak_factor: Array,
    spare_replicas: Array = 0,
) -> Array:
    """Requests from which on one's own fleet costs less than an API, for one that is held for its peak.

    One replica and s spare ones cost k (1 + s) however few requests there are, and a request over the API a: even at
    r = k (1 + s) / a, if one replica serves that, m = μ u / φ on average. Beyond, every request takes k / m, so that
    r = k s / (a - k / m); where even a full replica costs more than the API, never.

    Args:
        replica_cost_rate: k, by replica and time.
        api_cost_per_request: a.
        replica_request_rate: μ.
        target_utilisation: u.
        peak_factor: φ.
        spare_replicas: s.

    Returns:
        r in requests by time, averaged over the day; without end where the API is always cheaper.

    Example: 24 USD an hour and no spare replica against 0.0008 USD by request: 8.33 requests/s, where one serves 9.99
    at the peak, to 90 %, which is the mean.
    """
    xp = namespace(replica_cost_rate, api_cost_per_request, replica_request_rate, target_utilisation, peak_factor)
    k, a, s = replica_cost_rate, api_cost_per_request, spare_replicas
    earned = a * replica_request_rate * target_utilisation / peak_factor
    gain = 1 - k / xp.where(earned > 0, earned, 1)
    many = k * s / (xp.where(a > 0, a, 1) * xp.where(gain > 0, gain, 1))
    few = k * (1 + s) / xp.where(a > 0, a, 1)
    return xp.where(k * (1 + s) <= earned, few, xp.where(earned > k, many, xp.inf))


# --- what is earned ---------------------------------------------------------------------------------------------------


@formula(
    equation=(
        "prompt_tokens * ((1 - cached_fraction) * input_price + cached_fraction * cached_price)"
        " + output_tokens * output_price"
    ),
    source="definition",
    trigger=("output_price",),
)
def charge_per_request(
    prompt_tokens: Array,
    output_tokens: Array,
    input_price: Array,
    output_price: Array,
    cached_fraction: Array = 0,
    cached_price: Array = 0,
) -> Array:
    """What is charged for one request, s ((1 - κ) p_i + κ p_c) + o p_o.

    Args:
        prompt_tokens: s, mean over requests.
        output_tokens: o, mean over requests.
        input_price: p_i, of a token that is not cached.
        output_price: p_o, of an output token.
        cached_fraction: κ.
        cached_price: p_c, of a cached token.

    Returns:
        USD by request.

    Example: 1,000 tokens at 1 USD by million and 200 at 4 USD: 0.0018 USD.
    """
    return _charged(prompt_tokens, output_tokens, cached_fraction, input_price, cached_price, output_price)


@formula(
    equation="charge_per_request * request_rate * period + users * subscription_price * period",
    source="definition",
    some_of=("charge_per_request", "subscription_price"),
)
def revenue(
    request_rate: Array, period: Array, charge_per_request: Array = 0, users: Array = 0, subscription_price: Array = 0
) -> Array:
    """What comes in over the period, for requests and from subscriptions.

    Args:
        request_rate: λ, averaged over the day.
        period: t.
        charge_per_request: for each.
        users: U, all that have an account.
        subscription_price: by user and time, those who pay nothing included.

    Returns:
        USD.

    Example: 0.0018 USD for each of 10 requests/s over 30 days, and
    1,000 users at 0.50 USD for those 30 days: 47,156 USD.
    """
    return charge_per_request * request_rate * period + users * subscription_price * period


@formula(equation="1 - cost / revenue", source="definition")
def gross_margin(cost: Array, revenue: Array) -> Array:
    """Part of the revenue that serving leaves, g = 1 - C / V.

    Args:
        cost: C, of the period.
        revenue: V, of the period.

    Returns:
        A fraction, below zero where serving costs more than it brings.

    Example: 15,000 USD of 46,656 USD: 0.6785.
    """
    return 1 - over(cost, revenue)


@formula(
    equation="training_cost / (revenue - cost) * period",
    source="definition",
    trigger=("training_cost",),
)
def recovery_time(training_cost: Array, revenue: Array, cost: Array, period: Array) -> Array:
    """Time in which the margin pays the training, t_r = K t / (V - C).

    Args:
        training_cost: K.
        revenue: V, of the period.
        cost: C, of the period.
        period: t.

    Returns:
        Seconds (printed as months); without end where nothing is left over.

    Example: 5.576e6 USD from 1e6 USD less 0.4e6 USD a month: 9.29 months.
    """
    return over(training_cost * period, revenue - cost)


@formula(equation="recovery_time * request_rate * output_tokens", source="definition", trigger=("training_cost",))
def recovery_tokens(recovery_time: Array, request_rate: Array, output_tokens: Array) -> Array:
    """Output tokens over which the margin pays the training.

    Args:
        recovery_time: in which it does.
        request_rate: λ, averaged over the day.
        output_tokens: o, mean over requests.

    Returns:
        Tokens.

    Example: 9.29 months of 10 requests/s with 200 tokens: 4.89e10.
    """
    return recovery_time * request_rate * output_tokens
