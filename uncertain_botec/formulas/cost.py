"""How much money: the lines of the bill, which add up draw by draw."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula, namespace, priced

_EPOCH = "Cottier et al. 2024, arXiv 2405.21015, section 2 and appendix A"


@formula(equation="rental_cost + spot_cost + reserved_cost + ownership_cost", source="definition")
def compute_cost(
    rental_cost: Array = 0, spot_cost: Array = 0, reserved_cost: Array = 0, ownership_cost: Array = 0
) -> Array:
    """Cost of the accelerators, however they are paid for.

    Args:
        rental_cost: on demand.
        spot_cost: on spot.
        reserved_cost: under a commitment.
        ownership_cost: owned.

    Returns:
        USD.

    Example: 1e6 USD on demand and 2e6 USD reserved: 3e6 USD.
    """
    return rental_cost + spot_cost + reserved_cost + ownership_cost


@formula(
    equation="compute_cost * ((1 + spare_accelerators / accelerators) * (1 + idle_time / training_time) - 1)",
    source="definition",
    trigger=("spare_accelerators", "idle_time"),
)
def idle_cost(
    compute_cost: Array,
    accelerators: Array,
    training_time: Array,
    spare_accelerators: Array = 0,
    idle_time: Array = 0,
) -> Array:
    """Cost of accelerators that are held and do not work: spares, and all of them before and after the run.

    They cost what the working ones do: c = c_w ((1 + s / n) (1 + t_i / t) - 1).

    Args:
        compute_cost: c_w, of the working ones.
        accelerators: n, working.
        training_time: t.
        spare_accelerators: s, held ready.
        idle_time: t_i, before and after the run.

    Returns:
        c in USD; infinite where the run never finishes and anything is held beside it.

    Example: 128 spares beside 2,048 accelerators that cost 1e6 USD: 62,500 USD.
    """
    xp = namespace(compute_cost, accelerators, training_time, spare_accelerators, idle_time)
    spare = spare_accelerators / accelerators
    # Beside a run without end idle time vanishes, but not what it costs: its sign keeps the product above nothing.
    idle = xp.where(xp.isinf(training_time), xp.sign(idle_time), idle_time / training_time)
    return priced(compute_cost, spare + idle + spare * idle)


@formula(
    equation=(
        "(dataset_bytes + checkpoint_bytes * checkpoints_kept) * (training_time + retention_time) * storage_price"
    ),
    source="definition",
    trigger=("storage_price",),
    some_of=("dataset_bytes", "checkpoint_bytes"),
)
def storage_cost(
    storage_price: Array,
    training_time: Array,
    dataset_bytes: Array = 0,
    checkpoint_bytes: Array = 0,
    checkpoints_kept: Array = 0,
    retention_time: Array = 0,
) -> Array:
    """Cost of keeping the data set and the checkpoints during the run and after it.

    As if all were there from the first day: c = (S_d + k S_c) (t + t_r) p.

    Args:
        storage_price: p in USD per byte-second (stated by GB and month).
        training_time: t.
        dataset_bytes: S_d.
        checkpoint_bytes: S_c, of one checkpoint.
        checkpoints_kept: k.
        retention_time: t_r, after the run.

    Returns:
        c in USD.

    Example: 30 TB and ten checkpoints of 1 TB for a month at 0.02 USD per GB: 800 USD.
    """
    stored = dataset_bytes + checkpoint_bytes * checkpoints_kept
    return priced(training_time + retention_time, stored * storage_price)


@formula(equation="egress_bytes * egress_price", source="definition", trigger=("egress_bytes",))
def egress_cost(egress_bytes: Array, egress_price: Array) -> Array:
    """Cost of moving data out, c = S p.

    Args:
        egress_bytes: S.
        egress_price: p in USD per byte (stated by GB).

    Returns:
        c in USD.

    Example: 100 TB at 0.09 USD per GB: 9,000 USD.
    """
    return egress_bytes * egress_price


@formula(
    equation="experiment_ratio * (compute_cost + idle_cost + electricity_cost + colocation_cost)",
    source=_EPOCH,
    trigger=("experiment_ratio",),
)
def experiments_cost(
    experiment_ratio: Array,
    compute_cost: Array,
    idle_cost: Array = 0,
    electricity_cost: Array = 0,
    colocation_cost: Array = 0,
) -> Array:
    """Cost of the compute of experiments and failed runs, as a multiple of the final run's.

    Args:
        experiment_ratio: their compute over that of the final run.
        compute_cost: of the final run's accelerators.
        idle_cost: of spares and idle time.
        electricity_cost: of owned accelerators.
        colocation_cost: of owned accelerators.

    Returns:
        USD.

    Example: a final run of 5e6 USD and as much again in experiments: 5e6 USD.
    """
    return priced(compute_cost + idle_cost + electricity_cost + colocation_cost, experiment_ratio)


@formula(
    equation=(
        "staff_share / (1 - staff_share) * (compute_cost + commitment_cost + idle_cost + electricity_cost"
        " + colocation_cost + storage_cost + egress_cost + experiments_cost)"
    ),
    source=f"{_EPOCH} (staff 29 to 49 % of development cost)",
    trigger=("staff_share",),
)
def staff_cost(
    staff_share: Array,
    compute_cost: Array,
    idle_cost: Array = 0,
    electricity_cost: Array = 0,
    colocation_cost: Array = 0,
    storage_cost: Array = 0,
    egress_cost: Array = 0,
    experiments_cost: Array = 0,
    commitment_cost: Array = 0,
) -> Array:
    """Cost of people, stated as their part x of the whole: x / (1 - x) times everything else.

    Args:
        staff_share: x.
        compute_cost: of the accelerators.
        idle_cost: of spares and idle time.
        electricity_cost: of owned accelerators.
        colocation_cost: of owned accelerators.
        storage_cost: of data and checkpoints.
        egress_cost: of moving data.
        experiments_cost: of experiments and failed runs.
        commitment_cost: of what commitments leave unused.

    Returns:
        USD.

    Example: 40 % of a bill whose other lines are 6e6 USD: 4e6 USD.
    """
    rest = compute_cost + idle_cost + electricity_cost + colocation_cost + storage_cost + egress_cost + experiments_cost
    rest = rest + commitment_cost
    return priced(rest, staff_share / (1 - staff_share))


@formula(
    equation=(
        "compute_cost + commitment_cost + idle_cost + electricity_cost + colocation_cost + storage_cost + egress_cost"
        " + experiments_cost + staff_cost"
    ),
    source="definition",
)
def cost(
    compute_cost: Array,
    idle_cost: Array = 0,
    electricity_cost: Array = 0,
    colocation_cost: Array = 0,
    storage_cost: Array = 0,
    egress_cost: Array = 0,
    experiments_cost: Array = 0,
    staff_cost: Array = 0,
    commitment_cost: Array = 0,
) -> Array:
    """Everything on the bill.

    Args:
        compute_cost: of the accelerators.
        idle_cost: of spares and idle time.
        electricity_cost: of owned accelerators.
        colocation_cost: of owned accelerators.
        storage_cost: of data and checkpoints.
        egress_cost: of moving data.
        experiments_cost: of experiments and failed runs.
        staff_cost: of people.
        commitment_cost: of what commitments leave unused.

    Returns:
        USD.

    Example: accelerators 5e6 USD and storage 0.1e6 USD: 5.1e6 USD.
    """
    return (
        compute_cost
        + idle_cost
        + electricity_cost
        + colocation_cost
        + storage_cost
        + egress_cost
        + experiments_cost
        + staff_cost
        + commitment_cost
    )
