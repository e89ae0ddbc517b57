"""A thousand scenarios at once, as when one looks for a budget or a cluster."""

from __future__ import annotations

from functools import partial
from statistics import median

from benchmarks.contestants import MAIN, load, missing, present
from benchmarks.models import OUTPUTS, P90_COST, error_of, five_lognormals, lognormal
from benchmarks.table import Row, Section
from benchmarks.timing import seconds

SCENARIOS = 1000
ACCURACY = 1e-3
DRAWS = round(error_of(1) ** 2 / ACCURACY**2)
"""How many independent draws have this error of P90 of cost."""

# Peers take scenarios one after the other, each as long as the next.
_TRIED = 5


def sweep(device: str, repeats: int, full: bool) -> Section:
    """Scenarios that differ in two numbers each, to P10, P50 and P90 of three outputs."""
    from uncertain_botec import estimate_many
    from uncertain_botec.sampling.streaming import Goal, stream

    base = five_lognormals()
    mfus = [0.3 + 0.2 * place / SCENARIOS for place in range(SCENARIOS)]
    scenarios = [base.but(accelerators=256 + 8 * place, mfu=lognormal(mfu, 0.12)) for place, mfu in enumerate(mfus)]
    estimate_many(scenarios[:20], OUTPUTS, accuracy=ACCURACY, device=device)
    together = [
        seconds(lambda: estimate_many(scenarios, OUTPUTS, accuracy=ACCURACY, device=device)) for _ in range(repeats)
    ]

    estimates = estimate_many(scenarios, OUTPUTS, accuracy=ACCURACY, device=device)
    p90s = [float(one["cost"].quantiles[2]) for one in estimates]
    # Cost is as mfu to the power -1, and does not depend on the accelerators.
    worst = max(abs(p90 / (P90_COST * 0.4 / mfu) - 1) for p90, mfu in zip(p90s, mfus, strict=True))

    def alone() -> None:
        for scenario in scenarios[:: SCENARIOS // _TRIED]:
            stream(scenario, Goal(accuracy=ACCURACY, outputs=OUTPUTS), device=device)

    alone()
    found = {
        "botec, estimate_many": (median(together), "measured"),
        "botec, one by one": (median(seconds(alone) for _ in range(repeats)) * SCENARIOS / _TRIED, "from 5"),
    }
    for name in present():
        if name in MAIN:
            estimate = load(name, device)
            estimate(DRAWS, 0)
            each = [seconds(partial(estimate, DRAWS, seed)) for seed in range(_TRIED)]
            found[name] = (median(each) * SCENARIOS, "from 5")
    yardstick = median(together)
    rows: list[Row] = [
        {
            "contestant": name,
            "seconds": taken,
            "ms_per_scenario": 1e3 * taken / SCENARIOS,
            "time": how,
            "time_over_estimate_many": taken / yardstick,
        }
        for name, (taken, how) in found.items()
    ]
    notes = (
        f"P10, P50 and P90 of three outputs to a relative standard error of {ACCURACY:g}, compiled; peers with the "
        f"{DRAWS:,} independent draws that give P90 of cost this error. 'from 5': five scenarios, times "
        f"{SCENARIOS // _TRIED}. The largest error of a P90 of cost that estimate_many gives is {worst:.1e}.",
        *missing(),
    )
    return Section(f"5. A sweep over {SCENARIOS:,} scenarios", rows, notes)
