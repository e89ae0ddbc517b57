"""How much money."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula


@formula(equation="accelerator_hours * price_per_accelerator_hour", source="definition")
def cost(accelerator_hours: Array, price_per_accelerator_hour: Array) -> Array:
    """Cost of renting the accelerators, c = h p.

    Args:
        accelerator_hours: h in accelerator-seconds.
        price_per_accelerator_hour: p in USD per accelerator-second.

    Returns:
        c in USD.

    Example: 2.788e6 accelerator-hours at 2 USD per hour cost 5.576e6 USD (DeepSeek-V3, arXiv 2412.19437, table 1).
    """
    return accelerator_hours * price_per_accelerator_hour
