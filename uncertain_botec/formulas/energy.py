"""How much energy, and the emissions of it."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, priced


@formula(equation="thermal_design_power * power_ratio", source="definition", trigger=("power_ratio",))
def accelerator_power(thermal_design_power: Array, power_ratio: Array) -> Array:
    """Power drawn at the node for one accelerator in training, w = T r.

    Args:
        thermal_design_power: T, of one accelerator.
        power_ratio: r, over T; above one, since processors, network cards and fans of the node draw too.

    Returns:
        Watts.

    Example: T = 700 W and r = 1.38: 966 W.
    """
    return thermal_design_power * power_ratio


@formula(equation="accelerator_hours * accelerator_power * pue", source="definition", trigger=("pue",))
def energy(accelerator_hours: Array, accelerator_power: Array, pue: Array) -> Array:
    """Energy that the site draws for a run, E = h w P.

    Args:
        accelerator_hours: h in accelerator-seconds.
        accelerator_power: w, drawn at the node for one accelerator.
        pue: P, power of the whole site over that of its nodes.

    Returns:
        Joules (printed as MWh); infinite for a run that never finishes.

    Example: Llama 2 70B, 1720320 accelerator-hours at 400 W, P = 1: 688.1 MWh (arXiv 2307.09288, table 2).
    """
    return accelerator_hours * accelerator_power * pue


@formula(equation="energy * grid_intensity", source="definition", trigger=("grid_intensity",))
def emissions(energy: Array, grid_intensity: Array) -> Array:
    """CO2 equivalent of the energy, G = E i.

    What it took to make the hardware is not in it.

    Args:
        energy: E.
        grid_intensity: i, emitted by energy drawn from the grid.

    Returns:
        Grams (printed as tonnes); nothing where the intensity is nothing.

    Example: Llama 2 70B, 688.1 MWh at 0.4235 kg/kWh: 291.42 t (arXiv 2307.09288, table 2).
    """
    return priced(energy, grid_intensity)
