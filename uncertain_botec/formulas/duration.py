"""How long."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula


@formula(
    equation="training_flop / (accelerators * peak_flop_per_s * mfu) * (1 + failure_overhead)",
    source="Chowdhery et al. 2022, arXiv 2204.02311, appendix B (MFU), solved for time",
)
def training_time(
    training_flop: Array, accelerators: Array, peak_flop_per_s: Array, mfu: Array, failure_overhead: Array
) -> Array:
    """Wall-clock time of a training run, t = C / (n P u) (1 + f).

    Args:
        training_flop: C, model FLOP.
        accelerators: n, working at a time.
        peak_flop_per_s: P, dense peak of one accelerator in FLOP/s.
        mfu: u, the fraction of that peak that becomes model FLOP while the run is stepping.
        failure_overhead: f, everything else (failures, restarts, pauses) as a fraction of the stepping time.

    Returns:
        t in seconds.

    Example: 6 x 7e10 x 1.64e7 FLOP on 16 accelerators of 312e12 FLOP/s in 13.5 hours without overhead is an MFU of
    2.84 %; at that MFU the formula gives the 13.5 hours back.
    """
    return training_flop / (accelerators * peak_flop_per_s * mfu) * (1 + failure_overhead)


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
