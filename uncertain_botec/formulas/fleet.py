"""What a service takes: replicas and servers for its requests, power, bandwidth, storage, and what is paid for."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, namespace, over, priced

_HELD = {"scaling": ("peak",)}
_FOLLOWING = {"scaling": ("mean",)}


# --- requests ---------------------------------------------------------------------------------------------------------


@formula(equation="daily_users * requests_per_user", source="definition")
def request_rate(daily_users: Array, requests_per_user: Array) -> Array:
    """Requests of all users, averaged over the day: λ = U r.

    Args:
        daily_users: U, on a day.
        requests_per_user: r, of one of them on that day, by time.

    Returns:
        λ in requests by time.

    Example: 100 million users with 10 requests a day: 11,574 requests/s.
    """
    return daily_users * requests_per_user


@formula(equation="request_rate * peak_factor", source="definition")
def peak_request_rate(request_rate: Array, peak_factor: Array) -> Array:
    """Requests in the busiest time of the day, λ_p = λ φ.

    Args:
        request_rate: λ, averaged over the day.
        peak_factor: φ.

    Returns:
        λ_p in requests by time.

    Example: 11,574 requests/s and a peak of twice the mean: 23,148 requests/s.
    """
    return request_rate * peak_factor


# --- replicas ---------------------------------------------------------------------------------------------------------


def _enough(rate: Array, replica_request_rate: Array, target_utilisation: Array) -> Array:
    needed = over(rate, replica_request_rate * target_utilisation)
    return namespace(needed).ceil(needed)


@formula(
    equation="ceil(peak_request_rate / (replica_request_rate * target_utilisation))",
    source="Little 1961, Operations Research 9, 383-387",
)
def replicas(peak_request_rate: Array, replica_request_rate: Array, target_utilisation: Array) -> Array:
    """Replicas that serve the peak and still leave room, c = ceil(λ_p / (μ u)).

    Args:
        peak_request_rate: λ_p.
        replica_request_rate: μ, of one replica under full load.
        target_utilisation: u, the part of it that may be asked of a replica, so that requests seldom wait.

    Returns:
        c; none where nobody comes, without end where a replica serves nothing.

    Example: 11,574 requests/s on replicas of 9.99 requests/s that may be busy to 70 %: 1656.
    """
    return _enough(peak_request_rate, replica_request_rate, target_utilisation)


@formula(
    equation="ceil(request_rate / (replica_request_rate * target_utilisation))",
    source="Little 1961, Operations Research 9, 383-387",
)
def mean_replicas(request_rate: Array, replica_request_rate: Array, target_utilisation: Array) -> Array:
    """Replicas that serve the day's mean, as `replicas` do the peak.

    Args:
        request_rate: λ, averaged over the day.
        replica_request_rate: μ, of one replica under full load.
        target_utilisation: u, the part of it that may be asked of a replica.

    Returns:
        A number of replicas.

    Example: 5,787 requests/s on replicas of 9.99 requests/s that may be busy to 70 %: 828.
    """
    return _enough(request_rate, replica_request_rate, target_utilisation)


@formula(equation="(replicas + spare_replicas) * replica_accelerators", source="definition", output="accelerators")
def fleet_accelerators(replicas: Array, replica_accelerators: Array, spare_replicas: Array = 0) -> Array:
    """Accelerators of the fleet that serves the peak, N = (c + s) n.

    Args:
        replicas: c.
        replica_accelerators: n, of each.
        spare_replicas: s, held ready in case others fail.

    Returns:
        N in accelerators.

    Example: 1,656 replicas and 10 spare ones of 8: 13,328.
    """
    return (replicas + spare_replicas) * replica_accelerators


@formula(equation="(mean_replicas + spare_replicas) * replica_accelerators", source="definition")
def mean_accelerators(mean_replicas: Array, replica_accelerators: Array, spare_replicas: Array = 0) -> Array:
    """Accelerators of a fleet that follows its load, averaged over the day.

    Args:
        mean_replicas: for the day's mean.
        replica_accelerators: n, of each.
        spare_replicas: s, held ready in case others fail.

    Returns:
        Accelerators.

    Example: 828 replicas and 10 spare ones of 8: 6,704.
    """
    return (mean_replicas + spare_replicas) * replica_accelerators


@formula(equation="ceil(accelerators / accelerators_per_node)", source="definition")
def servers(accelerators: Array, accelerators_per_node: Array) -> Array:
    """Whole servers of the fleet that serves the peak, ceil(N / g).

    Args:
        accelerators: N.
        accelerators_per_node: g.

    Returns:
        Servers.

    Example: 13,328 accelerators by 8: 1,666.
    """
    return namespace(accelerators, accelerators_per_node).ceil(accelerators / accelerators_per_node)


# --- what is paid for -------------------------------------------------------------------------------------------------


@formula(
    equation="servers * accelerators_per_node * period",
    source="definition",
    output="accelerator_hours",
    when=_HELD,
)
def held_hours(servers: Array, accelerators_per_node: Array, period: Array) -> Array:
    """Accelerator-time of a fleet that is held for its peak all the time, h = S g t: servers are rented whole.

    Args:
        servers: S.
        accelerators_per_node: g.
        period: t.

    Returns:
        h in accelerator-seconds (printed as accelerator-hours).

    Example: 1,666 servers of 8 for a month of 730.5 hours: 9.736e6 accelerator-hours.
    """
    return servers * accelerators_per_node * period


@formula(
    equation="ceil(mean_accelerators / accelerators_per_node) * accelerators_per_node * period",
    source="definition",
    output="accelerator_hours",
    when=_FOLLOWING,
)
def following_hours(mean_accelerators: Array, accelerators_per_node: Array, period: Array) -> Array:
    """Accelerator-time of a fleet that grows and shrinks with its load, h = ceil(N / g) g t.

    Args:
        mean_accelerators: N, averaged over the day.
        accelerators_per_node: g.
        period: t.

    Returns:
        h in accelerator-seconds (printed as accelerator-hours).

    Example: 6,704 accelerators by 8 for a month of 730.5 hours: 4.897e6 accelerator-hours.
    """
    xp = namespace(mean_accelerators, accelerators_per_node)
    return xp.ceil(mean_accelerators / accelerators_per_node) * accelerators_per_node * period


@formula(equation="accelerators * accelerator_power * pue", source="definition", trigger=("pue",))
def fleet_power(accelerators: Array, accelerator_power: Array, pue: Array) -> Array:
    """Power of the site when the whole fleet is busy, P = N w p.

    Args:
        accelerators: N.
        accelerator_power: w, at the node for one accelerator.
        pue: p, power of the whole site over that of its nodes.

    Returns:
        Watts (printed as kW).

    Example: 13,328 accelerators of 966 W and p = 1.12: 14,420 kW.
    """
    return accelerators * accelerator_power * pue


# --- bytes ------------------------------------------------------------------------------------------------------------


@formula(equation="peak_request_rate * request_bytes", source="definition", trigger=("request_bytes",))
def ingress_bandwidth(peak_request_rate: Array, request_bytes: Array) -> Array:
    """Data that comes in at the peak, λ_p b.

    Args:
        peak_request_rate: λ_p.
        request_bytes: b, of one request.

    Returns:
        Bytes by time.

    Example: 23,148 requests/s of 4 kB: 92.6 MB/s.
    """
    return peak_request_rate * request_bytes


@formula(equation="peak_request_rate * response_bytes", source="definition", trigger=("response_bytes",))
def egress_bandwidth(peak_request_rate: Array, response_bytes: Array) -> Array:
    """Data that goes out at the peak, λ_p b.

    Args:
        peak_request_rate: λ_p.
        response_bytes: b, of one answer.

    Returns:
        Bytes by time.

    Example: 23,148 requests/s of 10 kB: 231.5 MB/s.
    """
    return peak_request_rate * response_bytes


@formula(
    equation="request_rate * response_bytes * period",
    source="definition",
    output="egress_bytes",
    trigger=("response_bytes",),
)
def sent_bytes(request_rate: Array, response_bytes: Array, period: Array) -> Array:
    """Data that goes out over the period, λ b t.

    Args:
        request_rate: λ, averaged over the day.
        response_bytes: b, of one answer.
        period: t.

    Returns:
        Bytes.

    Example: 11,574 requests/s of 10 kB over 30 days: 300 TB.
    """
    return request_rate * response_bytes * period


@formula(
    equation="users * bytes_per_user * (1 + index_overhead)",
    source="definition",
    trigger=("bytes_per_user",),
)
def user_bytes(users: Array, bytes_per_user: Array, index_overhead: Array = 0) -> Array:
    """Data kept of users, U b (1 + i).

    Args:
        users: U, all that have an account.
        bytes_per_user: b.
        index_overhead: i, what indexes take beside the data.

    Returns:
        Bytes.

    Example: 100 million profiles of 10 kB are 1 TB, with indexes of 25 % 1.25 TB.
    """
    return users * bytes_per_user * (1 + index_overhead)


@formula(
    equation="request_rate * log_bytes_per_request * log_retention",
    source="definition",
    trigger=("log_bytes_per_request",),
)
def log_bytes(request_rate: Array, log_bytes_per_request: Array, log_retention: Array) -> Array:
    """Logs that are kept, λ b t.

    Args:
        request_rate: λ, averaged over the day.
        log_bytes_per_request: b.
        log_retention: t, how long they are kept.

    Returns:
        Bytes.

    Example: 11,574 requests/s of 2 kB for 30 days: 60 TB.
    """
    return request_rate * log_bytes_per_request * log_retention


@formula(
    equation="(user_bytes + log_bytes) * storage_price * period",
    source="definition",
    output="storage_cost",
    trigger=("storage_price",),
    some_of=("user_bytes", "log_bytes"),
)
def service_storage_cost(storage_price: Array, period: Array, user_bytes: Array = 0, log_bytes: Array = 0) -> Array:
    """Cost of keeping users' data and logs over the period.

    Args:
        storage_price: in USD per byte-second (stated by GB and month).
        period: t.
        user_bytes: of users.
        log_bytes: of requests.

    Returns:
        USD.

    Example: 1.25 TB and 60 TB for a month at 0.02 USD per GB: 1,225 USD.
    """
    return priced((user_bytes + log_bytes) * period, storage_price)
