"""How much money for rented accelerators: on demand, on spot, and under a commitment."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, namespace, priced

# Shares that people state add up to one but for rounding; a rest within it is nothing, also of an infinite amount.
SHARE_ROUNDING = 1e-6


@formula(
    equation="exp(price_trend * time_to_start + price_shock * sqrt(time_to_start)) - 1",
    source="geometric random walk with drift",
    trigger=("time_to_start",),
)
def price_rise(price_trend: Array, price_shock: Array, time_to_start: Array) -> Array:
    """Relative change of accelerator prices until the start of the run, ρ = e^(μ h + σ sqrt(h)) - 1.

    Args:
        price_trend: μ, expected log change by time.
        price_shock: σ, log change beyond the trend by square root of time; centred on zero.
        time_to_start: h, from the date of the prices.

    Returns:
        A fraction above -1.

    Example: a trend of -0.10 per year and no shock: -9.5 % after one year.
    """
    xp = namespace(price_trend, price_shock, time_to_start)
    return xp.expm1(price_trend * time_to_start + price_shock * xp.sqrt(time_to_start))


@formula(
    equation="1 - spot_share - reserved_share - owned_share",
    source="definition",
    when={"purchase": ("mixed",)},
)
def on_demand_share(spot_share: Array = 0, reserved_share: Array = 0, owned_share: Array = 0) -> Array:
    """Part of the accelerators that is rented on demand: what the other parts leave.

    Args:
        spot_share: on spot.
        reserved_share: under a commitment.
        owned_share: owned.

    Returns:
        A fraction; exactly zero where the rest is rounding, below zero where the parts exceed one, which sampling
        refuses.

    Example: 60 % on spot and 30 % reserved leave 10 %.
    """
    rest = 1 - spot_share - reserved_share - owned_share
    return namespace(rest).where(abs(rest) < SHARE_ROUNDING, 0, rest)


@formula(
    equation="accelerator_hours * on_demand_share * price_per_accelerator_hour * (1 + price_rise)",
    source="definition",
    trigger=("on_demand_share",),
)
def rental_cost(
    accelerator_hours: Array, on_demand_share: Array, price_per_accelerator_hour: Array, price_rise: Array = 0
) -> Array:
    """Cost of the accelerators rented on demand, c = h x p (1 + ρ).

    Args:
        accelerator_hours: h in accelerator-seconds.
        on_demand_share: x, the part that is rented on demand.
        price_per_accelerator_hour: p in USD per accelerator-second.
        price_rise: ρ, until the start of the run.

    Returns:
        c in USD.

    Example: 2.788e6 accelerator-hours at 2 USD per hour cost 5.576e6 USD (DeepSeek-V3, arXiv 2412.19437, table 1).
    """
    return priced(accelerator_hours, on_demand_share * price_per_accelerator_hour) * (1 + price_rise)


@formula(
    equation="accelerator_hours * spot_share * spot_price_per_accelerator_hour * (1 + price_rise)",
    source="definition",
    trigger=("spot_share",),
)
def spot_cost(
    accelerator_hours: Array, spot_share: Array, spot_price_per_accelerator_hour: Array, price_rise: Array = 0
) -> Array:
    """Cost of the accelerators on spot, c = h x p (1 + ρ).

    Args:
        accelerator_hours: h in accelerator-seconds; what preemptions lose is in it through `preemption_rate`.
        spot_share: x, the part that is on spot.
        spot_price_per_accelerator_hour: p in USD per accelerator-second.
        price_rise: ρ, until the start of the run.

    Returns:
        c in USD.

    Example: 1e6 accelerator-hours, half of them on spot at 1.50 USD per hour: 0.75e6 USD.
    """
    return priced(accelerator_hours, spot_share * spot_price_per_accelerator_hour) * (1 + price_rise)


@formula(
    equation="accelerator_hours * reserved_share * reserved_price_per_accelerator_hour * (1 + price_rise)",
    source="definition",
    trigger=("reserved_share",),
)
def reserved_cost(
    accelerator_hours: Array, reserved_share: Array, reserved_price_per_accelerator_hour: Array, price_rise: Array = 0
) -> Array:
    """Cost of the accelerators under a commitment while the run uses them, c = h x p (1 + ρ).

    Args:
        accelerator_hours: h in accelerator-seconds.
        reserved_share: x, the part that is reserved.
        reserved_price_per_accelerator_hour: p in USD per accelerator-second.
        price_rise: ρ, until the start of the run.

    Returns:
        c in USD.

    Example: 1e6 accelerator-hours reserved at 1.90 USD per hour: 1.9e6 USD.
    """
    return priced(accelerator_hours, reserved_share * reserved_price_per_accelerator_hour) * (1 + price_rise)


@formula(
    equation=(
        "(accelerators + spare_accelerators) * reserved_share * maximum(0, commitment - training_time - idle_time)"
        " * reserved_price_per_accelerator_hour * (1 + price_rise)"
    ),
    source="definition",
    trigger=("commitment",),
)
def commitment_cost(
    accelerators: Array,
    reserved_share: Array,
    training_time: Array,
    commitment: Array,
    reserved_price_per_accelerator_hour: Array,
    spare_accelerators: Array = 0,
    idle_time: Array = 0,
    price_rise: Array = 0,
) -> Array:
    """Cost of what a commitment leaves when the run is over, which is paid as well: c = (n + s) x (t_c - t - t_i) p.

    It is not the run's use, so that neither spares nor experiments are reckoned from it, and nothing where the run and
    the idle time around it outlast the commitment.

    Args:
        accelerators: n.
        reserved_share: x, the part that is reserved.
        training_time: t.
        commitment: t_c, its length.
        reserved_price_per_accelerator_hour: p in USD per accelerator-second.
        spare_accelerators: s, held ready.
        idle_time: t_i, before and after the run.
        price_rise: ρ, until the start of the run.

    Returns:
        c in USD.

    Example: 1,000 accelerators reserved for a year at 2 USD per hour for a run of 45 days: 15.372e6 USD besides the
    2.16e6 USD of the run.
    """
    xp = namespace(training_time, commitment, idle_time)
    left = xp.maximum(0, commitment - training_time - idle_time)
    price = reserved_share * reserved_price_per_accelerator_hour
    return priced((accelerators + spare_accelerators) * left, price) * (1 + price_rise)
