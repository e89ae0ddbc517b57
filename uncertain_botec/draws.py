"""Draws: named arrays with their provenance, and their way to and from ArviZ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.errors import PriorFileError, UsageError
from uncertain_botec.scenario import Scenario, dump_scenario
from uncertain_botec.units import to_base, to_display
from uncertain_botec.vocabulary import QUANTITIES

if TYPE_CHECKING:
    import xarray

Floats = npt.NDArray[np.floating[Any]]

# Where ArviZ looks for inputs and for outputs.
_GROUPS = ("prior", "prior_predictive")


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

    def to_dict(self) -> dict[str, Any]:
        """What JSON documents tell under `provenance`."""
        return {
            "versions": dict(self.versions),
            "device": self.device,
            "precision": self.precision,
            "timings": dict(self.seconds),
        }


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
        return self.scenario.plan.outputs

    def to_arviz(self) -> xarray.DataTree:
        """An ArviZ data tree: inputs under `prior`, outputs under `prior_predictive`; chains are replicates.

        Values are in printed units, which stand in each variable's `units` attribute.
        """
        import arviz_base

        groups: dict[str, dict[str, Floats]] = {group: {} for group in _GROUPS}
        for name in self.values:
            groups[_GROUPS[0] if name in self.scenario.inputs else _GROUPS[1]][name] = self[name]
        # ArviZ warns of more chains than draws, which few draws in many replicates are on purpose.
        tree: xarray.DataTree = arviz_base.from_dict(
            groups, sample_dims=["chain", "draw"], index_origin=0, check_conventions=False
        )
        for group, columns in groups.items():
            # Which attributes ArviZ writes differs by version, and lists among them do not survive every reader.
            tree[group].attrs = {}
            for name in columns:
                quantity = QUANTITIES[name]
                tree[group][name].attrs = {"units": quantity.unit, "long_name": quantity.meaning}
        tree.attrs = {
            "scenario": dump_scenario(self.scenario),
            "reading": json.dumps(_reading(self.scenario)),
            "provenance": json.dumps(asdict(self.provenance)),
        }
        return tree

    def to_netcdf(self, path: Path) -> None:
        """Write the ArviZ data tree as NetCDF."""
        self.to_arviz().to_netcdf(path, engine="h5netcdf")

    @classmethod
    def from_netcdf(cls, path: Path) -> Draws:
        """Read what `to_netcdf` wrote: an equal scenario and provenance, and values equal to the last digit or two.

        Values went through their printed unit, so that an outcome exactly on a limit may have moved off it.

        Raises:
            UsageError: the file is not one that `to_netcdf` wrote.
        """
        import xarray

        try:
            with xarray.open_datatree(path, engine="h5netcdf") as tree:
                text, reading, provenance = (str(tree.attrs[key]) for key in ("scenario", "reading", "provenance"))
                values = {
                    str(name): np.asarray(to_base(column.to_numpy(), str(column.attrs["units"])))
                    for group in _GROUPS
                    for name, column in tree[group].data_vars.items()
                }
            made = Provenance(**json.loads(provenance))
            scenario = _scenario(text, json.loads(reading))
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{path}: not a file of draws: {error}") from None
        return cls(scenario, values, made)

    def _repr_html_(self) -> str:
        return (
            self.scenario._repr_html_()
            + f"<p>{len(self):,} draws, {self.provenance.sampler}, seed {self.provenance.seed}</p>"
        )


def evenly(sampler: str, size: int, wanted: int) -> slice:
    """Which of a replicate's draws to take for about so many that are spread as evenly as all are.

    Every second, fourth, ... point of a lattice is one of a lattice again, the first half, quarter, ... of Sobol points
    are Sobol points; the other way round neither holds.
    """
    wanted = max(1, min(size, wanted))
    return slice(None, None, size // wanted) if sampler == "lattice" else slice(wanted)


def thinned(draws: Draws, wanted: int) -> Draws:
    """About so many of the draws in all, spread as evenly as all of them."""
    made = draws.provenance
    some = evenly(made.sampler, made.size, max(wanted // made.replicates, 1))
    values = {name: array[:, some] for name, array in draws.values.items()}
    return replace(draws, values=values, provenance=replace(made, size=len(range(made.size)[some])))


def _reading(scenario: Scenario) -> dict[str, Any]:
    """What a scenario knows about its file beyond what the file states."""
    return {
        "path": scenario.path,
        "sha256": scenario.sha256,
        "notes": scenario.notes,
        "warnings": scenario.warnings,
        "origins": {name: one.origin for name, one in scenario.inputs.items()},
    }


def _scenario(text: str, reading: Mapping[str, Any]) -> Scenario:
    """The scenario that a self-contained prior file states, read from the file that `reading` tells of."""
    # Drawing has no use for prior files: it runs where nothing that reads them is installed.
    from uncertain_botec.prior_files.loading import load_scenario

    with TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        file.write_text(text, "utf-8")
        try:
            scenario = load_scenario(file)
        except PriorFileError as error:
            raise ValueError(str(error).replace(str(file), "its scenario")) from None
    origins = reading["origins"]
    return replace(
        scenario,
        inputs={name: replace(one, origin=origins[name]) for name, one in scenario.inputs.items()},
        path=reading["path"],
        sha256=reading["sha256"],
        notes=tuple(reading["notes"]),
        warnings=tuple(reading["warnings"]),
    )
