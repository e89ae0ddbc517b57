"""Peak memory of a whole process."""

from __future__ import annotations

from benchmarks.contestants import FLOAT64, MAIN, OURS, missing, present
from benchmarks.processes import ask
from benchmarks.table import Row, Section

DRAWS = 10**7


def footprint(device: str, repeats: int, full: bool) -> Section:
    """Everybody at 1e7 draws, ours at more."""
    peers = present()
    asked = [*((name, DRAWS) for name in OURS), *((name, peer.draws(DRAWS, full=True)) for name, peer in peers.items())]
    larger = (10**8, 10**9) if full else (10**8,)
    asked += [(name, draws) for draws in larger for name in (OURS if draws < 10**9 else [FLOAT64])]
    found = [(name, draws, ask("memory", name, draws, device)) for name, draws in asked]
    yardstick = {name: one["peak_over_import_mib"] for name, draws, one in found if name in MAIN and draws == DRAWS}
    first = next(iter(yardstick), None)
    rows: list[Row] = [
        {"contestant": name, "draws": draws, **one}
        | ({f"peak_over_{first}": one["peak_over_import_mib"] / yardstick[first]} if first and draws >= DRAWS else {})
        for name, draws, one in found
    ]
    notes = [
        "Resident memory at its peak, less what was resident once everything was imported; one process each. Ours "
        "includes the compiler and rounds draws up to a power of two.",
    ]
    if first:
        notes.append(f"The ratio is to {first} at {DRAWS:,} draws, whatever the draws of the line.")
    return Section("3. Peak memory of a process", rows, (*notes, *missing()))
