"""Draws: named arrays with their provenance, and their way to and from ArviZ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.errors import UsageError
from uncertain_botec.quantities import QUANTITIES
from uncertain_botec.scenario import Scenario, dump_scenario
from uncertain_botec.units import to_base, to_display

if TYPE_CHECKING:
    import xarray

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Provenance:
    """How draws came about; with the scenario it is enough to make them again.

    Attributes:
        sampler: the kind of point set.
        seed: of its randomisations.
        replicates: independent randomisations, from whose spread the errors are estimated.
        size: points in each.
        precision: of the arithmetic in the kernel.
        device: what it ran on.
        versions: of the libraries that decide the numbers.
        seconds: time taken by each stage.
    """

    sampler: str
    seed: int
    replicates: int
    size: int
    precision: str
    device: str
    versions: Mapping[str, str]
    seconds: Mapping[str, float]

    @property
    def draws(self) -> int:
        """The number of draws in all."""
        return self.replicates * self.size


@dataclass(frozen=True)
class Draws:
    """The drawn inputs and outputs of one scenario.

    Attributes:
        scenario: what was drawn from.
        values: one array of shape (replicates, size) per name, in base units. Replicates are kept apart because
            errors are estimated from their spread; ArviZ knows them as chains.
        provenance: how the draws came about.
    """

    scenario: Scenario
    values: Mapping[str, Floats]
    provenance: Provenance

    def __getitem__(self, name: str) -> Floats:
        """All draws of one input or output, in the unit that is printed, of shape (replicates, size)."""
        return np.asarray(to_display(self.values[name], QUANTITIES[name].unit))

    def __len__(self) -> int:
        return self.provenance.draws

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names that are reported."""
        return self.scenario.model.outputs

    def to_arviz(self) -> xarray.DataTree:
        """An ArviZ data tree: inputs under `prior`, outputs under `prior_predictive`; chains are replicates.

        Values are in printed units, which stand in each variable's `units` attribute.
        """
        import arviz_base
        import xarray

        def dataset(names: tuple[str, ...]) -> xarray.Dataset:
            variables = {
                name: xarray.DataArray(self[name], dims=("chain", "draw"), attrs={"units": QUANTITIES[name].unit, "long_name": QUANTITIES[name].meaning})
                for name in names
            }
            return xarray.Dataset(variables)

        groups = {"prior": tuple(self.scenario.inputs), "prior_predictive": tuple(n for n in self.values if n not in self.scenario.inputs)}
        tree: xarray.DataTree = arviz_base.convert_to_datatree({name: dataset(names) for name, names in groups.items()})
        tree.attrs |= {"scenario": dump_scenario(self.scenario), "provenance": json.dumps(asdict(self.provenance))}
        return tree

    def to_netcdf(self, path: Path) -> None:
        """Write the ArviZ data tree as NetCDF."""
        self.to_arviz().to_netcdf(path, engine="h5netcdf")

    def _repr_html_(self) -> str:
        return self.scenario._repr_html_() + f"<p>{len(self):,} draws, {self.provenance.sampler}, seed {self.provenance.seed}</p>"
