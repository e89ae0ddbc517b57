"""How long."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula


@formula(
    equation="training_flop / (accelerators * peak_flop_per_s * mfu)",
    source="Chowdhery et al. 2022, arXiv 2204.02311, appendix B (MFU), solved for time",
)
def stepping_time(training_flop: Array, accelerators: Array, peak_flop_per_s: Array, mfu: Array) -> Array:
    """Time that a run spends in steps, T_s = C / (n P u).

    Args:
        training_flop: C, model FLOP.
        accelerators: n, working at a time.
        peak_flop_per_s: P, dense peak of one accelerator in FLOP/s.
        mfu: u, the fraction of that peak that becomes model FLOP while the run is stepping.

    Returns:
        T_s in seconds.

    Example: 6 x 7e10 x 1.64e7 FLOP on 16 accelerators of 312e12 FLOP/s in 13.5 hours is an MFU of 2.84 %; at that MFU
    the formula gives the 13.5 hours back.
    """
    return training_flop / (accelerators * peak_flop_per_s * mfu)


@formula(equation="stepping_time * (1 + failure_overhead)", source="definition")
def training_time(stepping_time: Array, failure_overhead: Array) -> Array:
    """Wall-clock time of a training run, t = T_s (1 + f).

    Args:
        stepping_time: T_s in seconds.
        failure_overhead: f, everything else (failures, restarts, pauses) as a fraction of the stepping time.

    Returns:
        t in seconds.

    Example: 40 days of steps and an overhead of 20 % are 48 days.
    """
    return stepping_time * (1 + failure_overhead)


@formula(equation="accelerators * training_time", source="definition")
def accelerator_hours(accelerators: Array, training_time: Array) -> Array:
    """Accelerator-time that a run occupies, h = n t.

    Args:
        accelerators: n, held for the whole run.
        training_time: t in seconds.

    Returns:
        h in accelerator-seconds (printed as accelerator-hours).

    Example: 2,048 accelerators for 2.664e6 accelerator-hours take 54.2 days (DeepSeek-V3, arXiv 2412.19437, table 1).
    """
    return accelerators * training_time


@formula(equation="stepping_time / training_time", source="definition", trigger=("running_time",))
def goodput(stepping_time: Array, training_time: Array) -> Array:
    """Part of the wall-clock time that is spent in steps, g = T_s / t.

    Args:
        stepping_time: T_s in seconds.
        training_time: t in seconds.

    Returns:
        A fraction; zero for a run that never finishes.

    Example: an overhead of 25 % is a goodput of 80 %.
    """
    return stepping_time / training_time
