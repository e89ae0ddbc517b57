"""Whoever computes the five-lognormal model: draws and a seed in, P10, P50 and P90 of three outputs out."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.models import OUTPUTS, P90_COST, PRINTED, Floats, error_of, five_lognormals

HERE = Path(__file__).parent

FLOAT32, FLOAT64 = "botec float32", "botec float64"
OURS = {FLOAT32: "float32", FLOAT64: "float64"}

Estimate = Callable[[int, int], Floats]


@dataclass(frozen=True)
class Peer:
    """Another tool, and its script in this folder.

    Attributes:
        name: of the tool.
        package: to be imported; it may not be installed.
        script: a module with `draw` and `quantiles`.
        many: whether it is compared at as many draws as ours; the others are too slow, and get fewer.
        few: the draws that it then gets.
    """

    name: str
    package: str
    script: str
    many: bool = True
    few: int = 1 << 20

    @property
    def installed(self) -> bool:
        """Whether there is anything to compare with."""
        return importlib.util.find_spec(self.package) is not None

    def draws(self, wanted: int, full: bool) -> int:
        """How many it gets where others get so many; in a full run only those that can never keep up get fewer."""
        return wanted if self.many or (full and self.few >= 1 << 20) else self.few

    @property
    def path(self) -> Path:
        """The script."""
        return HERE / f"{self.script}.py"

    def load(self) -> Estimate:
        """Import it."""
        module = importlib.import_module(f"benchmarks.{self.script}")
        return lambda draws, seed: module.quantiles(module.draw(draws, seed))


_PEERS = (
    Peer("squigglepy", "squigglepy", "squigglepy_training_cost"),
    Peer("NumPy", "numpy", "numpy_training_cost"),
    Peer("numba", "numba", "numba_training_cost"),
    Peer("OpenTURNS", "openturns", "openturns_training_cost", many=False),
    Peer("chaospy", "chaospy", "chaospy_training_cost", many=False),
    Peer("monaco", "monaco", "monaco_training_cost", many=False, few=1 << 12),
)

PEERS: Mapping[str, Peer] = {peer.name: peer for peer in _PEERS}

MAIN = tuple(peer.name for peer in _PEERS if peer.many)
"""The peers that ratios are taken of."""


def missing() -> tuple[str, ...]:
    """A note that says who is left out."""
    names = [peer.name for peer in _PEERS if not peer.installed]
    return (f"Not installed, hence left out: {', '.join(names)}.",) if names else ()


def present() -> dict[str, Peer]:
    """The peers that are installed."""
    return {peer.name: peer for peer in _PEERS if peer.installed}


def ours(precision: str, device: str) -> Estimate:
    """All draws of the lattice, whatever the accuracy; quantiles are order statistics of them."""
    from uncertain_botec.sampling.streaming import Goal, stream

    scenario = five_lognormals()

    def estimate(draws: int, seed: int) -> Floats:
        goal = Goal(draws, accuracy=None, outputs=OUTPUTS)
        found = stream(scenario, goal, seed=seed, precision=precision, device=device, smooth=False).outputs
        return printed(found)

    return estimate


def printed(found: Mapping[str, Any]) -> Floats:
    """Quantiles of ours in the peers' units, one row for each output."""
    rows: Floats = PRINTED * [found[name].quantiles for name in OUTPUTS]
    return rows


def load(name: str, device: str) -> Estimate:
    """A contestant by name."""
    return ours(OURS[name], device) if name in OURS else PEERS[name].load()


def check(name: str, quantiles: Floats, draws: int) -> None:
    """End here if a contestant computes another model."""
    p90 = float(quantiles[1][2])
    if abs(p90 / P90_COST - 1) > 6 * error_of(draws) + 1e-5:
        sys.exit(f"{name} computes another model: P90 of cost {p90:,.0f}, not {P90_COST:,.0f} USD")
