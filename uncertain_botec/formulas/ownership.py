"""How much money for owned accelerators: the value they lose, their energy and their space."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, priced

_EPOCH = "Cottier et al. 2024, arXiv 2405.21015, section 2 and appendix A"


@formula(
    equation="accelerator_price * server_overhead * interconnect_overhead",
    source=_EPOCH,
    trigger=("accelerator_price",),
)
def acquisition_price(accelerator_price: Array, server_overhead: Array, interconnect_overhead: Array) -> Array:
    """Price of one accelerator with its part of the server and of the network, a = p s c.

    Args:
        accelerator_price: p in USD per accelerator.
        server_overhead: s, price of a server over that of its accelerators; 1.64 to 1.66 for NVIDIA's.
        interconnect_overhead: c, price of a cluster over that of its servers; 1 / 0.81.

    Returns:
        a in USD per accelerator.

    Example: 30,000 USD, 1.65 and 1 / 0.81: 61,111 USD.
    """
    return accelerator_price * server_overhead * interconnect_overhead


@formula(
    equation="accelerator_hours * owned_share * acquisition_price * hardware_price_decay",
    source=_EPOCH,
    trigger=("owned_share",),
)
def ownership_cost(
    accelerator_hours: Array, owned_share: Array, acquisition_price: Array, hardware_price_decay: Array
) -> Array:
    """Value that owned hardware loses during the run, c = h x a r.

    Prices of a given performance fall by 0.14 orders of magnitude in a year, so that r = 0.14 ln 10 per year.

    Args:
        accelerator_hours: h in accelerator-seconds.
        owned_share: x, the part that is owned.
        acquisition_price: a in USD per accelerator.
        hardware_price_decay: r, by time.

    Returns:
        c in USD.

    Example: 61,111 USD at 0.14 x ln 10 / 8766 per hour: 2.25 USD for an accelerator-hour.
    """
    return priced(accelerator_hours, owned_share * acquisition_price * hardware_price_decay)


@formula(equation="energy * owned_share * electricity_price", source="definition", trigger=("owned_share",))
def electricity_cost(energy: Array, owned_share: Array, electricity_price: Array) -> Array:
    """Cost of the energy of owned accelerators; rent includes it. c = E x p.

    Args:
        energy: E in joules, of the site.
        owned_share: x.
        electricity_price: p in USD per joule (stated by kWh).

    Returns:
        c in USD.

    Example: 688.1 MWh at 0.08 USD per kWh: 55,048 USD.
    """
    return priced(energy, owned_share * electricity_price)


@formula(
    equation="accelerator_hours * accelerator_power * owned_share * colocation_price",
    source="definition",
    trigger=("colocation_price",),
)
def colocation_cost(
    accelerator_hours: Array, accelerator_power: Array, owned_share: Array, colocation_price: Array
) -> Array:
    """Cost of space and cooling for owned accelerators, by the power of their nodes: c = h P x p.

    Args:
        accelerator_hours: h in accelerator-seconds.
        accelerator_power: P in watts per accelerator, at the node.
        owned_share: x.
        colocation_price: p in USD per watt-second (stated by kW and month).

    Returns:
        c in USD.

    Example: 1,000 accelerators of 1 kW for a month at 150 USD per kW and month: 150,000 USD.
    """
    return priced(accelerator_hours * accelerator_power, owned_share * colocation_price)
