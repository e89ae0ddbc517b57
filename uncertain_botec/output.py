"""Files that are written: a folder of results, and a template to start from. Each appears whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from uncertain_botec.calibration.writing import as_prior_file
from uncertain_botec.draws import Draws
from uncertain_botec.errors import UsageError
from uncertain_botec.folders import file_in_the_way
from uncertain_botec.library import PRIORS, SCHEMA_FILE
from uncertain_botec.scenario import dump_scenario
from uncertain_botec.summaries import Summary

if TYPE_CHECKING:
    from uncertain_botec.calibration.calibrating import Calibration
    from uncertain_botec.plots.figure import Figure


def check_writable(folder: Path, option: str = "--out") -> None:
    """Fail before the work is done rather than after it when results cannot be written."""
    if _exists(folder, f"{option} {folder}") and not folder.is_dir():
        raise UsageError(f"{option} {folder}: this is a file; name a folder")
    with _workplace(folder, f"{option} {folder}"):
        pass


def check_calibration(file: Path) -> None:
    """Fail before the work is done where a reference class cannot be written, or would replace something else."""
    named = f"--out {file}"
    if _exists(file, named):
        if file.is_dir():
            raise UsageError(f"{named}: this is a folder; name the file to write, such as {file / 'ours.toml'}")
        if not _is_reference_class(file):
            raise UsageError(f"{named}: this is there and no reference class; name another file")
    with _workplace(file.parent, named):
        pass


def _is_reference_class(file: Path) -> bool:
    try:
        return "reference_class" in tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return False


def _exists(path: Path, what: str) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unwritable(what, error) from None
    return True


def write_results(folder: Path, draws: Draws, summary: Summary) -> None:
    """Write summary.json, scenario.toml and draws.nc.

    Every file is written whole beside its place and then renamed, so that a good one is never replaced by half of
    another, and a full disk leaves the old results.
    """
    writers: dict[str, Callable[[Path], object]] = {
        "summary.json": lambda path: path.write_text(
            json.dumps(summary.to_dict(), indent=2, ensure_ascii=False), "utf-8"
        ),
        "scenario.toml": lambda path: path.write_text(dump_scenario(draws.scenario), "utf-8"),
        "draws.nc": draws.to_netcdf,
    }
    with _workplace(folder, f"--out {folder}") as place:
        try:
            _reserve(Path(place) / "room", draws)
            for name, write in writers.items():
                write(Path(place) / name)
            for name in writers:
                (Path(place) / name).replace(folder / name)
        except OSError as error:
            raise _unwritable(f"--out {folder}", error) from None


def write_draws(file: Path, draws: Draws) -> None:
    """Write draws for ArviZ, or fail before that where the disk has no room for them."""
    _reserve(file, draws)
    draws.to_netcdf(file)


def write_runs(file: Path, runs: Mapping[str, Draws]) -> None:
    """Write the draws of several runs as one file for ArviZ, in a group of its own each; `xarray` opens one by name."""
    import xarray

    _reserve(file, *runs.values())
    xarray.DataTree.from_dict({name: one.to_arviz() for name, one in runs.items()}).to_netcdf(file, engine="h5netcdf")


def _reserve(file: Path, *runs: Draws) -> None:
    """Fail where the disk has no room for the draws: HDF5 crashes the process when a write fails half way."""
    if not hasattr(os, "posix_fallocate"):
        return
    # A megabyte for the coordinates and what HDF5 adds of its own, and 16 bytes for each index of the two groups.
    size = sum(
        sum(values.nbytes for values in draws.values.values()) + 16 * draws.provenance.size + (1 << 20)
        for draws in runs
    )
    with file.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, size)
    file.unlink()


def write_template(file: Path, *, force: bool) -> None:
    """Write the commented prior file that `botec new` starts people from."""
    if _exists(file, str(file)) and file.is_dir():
        raise UsageError(f"{file} is a folder; name the file to write, such as {file / 'my-run.toml'}")
    if file.exists() and not force:
        raise UsageError(f"{file} is already there; --force replaces it")
    text = (PRIORS / "template.toml").read_text("utf-8")
    text = text.replace(f"#:schema {SCHEMA_FILE.name}", f"#:schema {SCHEMA_FILE.as_uri()}")
    _write({file.name: text.encode("utf-8")}, file.parent, str(file))


def write_calibration(calibration: Calibration, file: Path, title: str = "") -> None:
    """Write a reference class as a prior file that replaces no other."""
    check_calibration(file)
    folder = file.parent.resolve()
    # The shipped one is installed with the schema beside it.
    inside = folder.is_relative_to(PRIORS)
    schema = Path(os.path.relpath(SCHEMA_FILE, folder)).as_posix() if inside else SCHEMA_FILE.as_uri()
    text = as_prior_file(calibration, schema, title)
    _write({file.name: text.encode("utf-8")}, file.parent, f"--out {file}")


def write_figures(figures: Iterable[Figure], folder: Path) -> None:
    """Write figures as SVG and PNG."""
    files: dict[str, bytes] = {}
    for one in figures:
        files |= {f"{one.name}.svg": one.svg.encode("utf-8"), f"{one.name}.png": one.png}
    _write(files, folder, f"--figures {folder}")


def _write(files: Mapping[str, bytes], folder: Path, named: str) -> None:
    with _workplace(folder, named) as place:
        try:
            for name, content in files.items():
                (Path(place) / name).write_bytes(content)
            for name in files:
                (Path(place) / name).replace(folder / name)
        except OSError as error:
            raise _unwritable(named, error) from None


@contextmanager
def _workplace(folder: Path, named: str) -> Iterator[str]:
    """A temporary folder on the same disk as what is written, so that renaming out of it is one step."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place = tempfile.TemporaryDirectory(dir=folder, prefix=".botec-", ignore_cleanup_errors=True)
    except (NotADirectoryError, FileExistsError):
        raise UsageError(f"{named}: {file_in_the_way(folder)} is a file; name a folder") from None
    except (OSError, ValueError) as error:
        raise _unwritable(named, error) from None
    with place as name:
        yield name


def _unwritable(named: str, error: Exception) -> UsageError:
    return UsageError(f"{named}: cannot be written: {getattr(error, 'strerror', None) or error}")
