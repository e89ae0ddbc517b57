"""Files that are written: a folder of results, and a template to start from. Each appears whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from uncertain_botec.draws import Draws
from uncertain_botec.errors import UsageError
from uncertain_botec.library import PRIORS, SCHEMA_FILE
from uncertain_botec.scenario import dump_scenario
from uncertain_botec.summaries import Summary


def check_writable(folder: Path) -> None:
    """Fail before the work is done rather than after it when results cannot be written."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder}: this is a file; name a folder")
    with _workplace(folder):
        pass


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
    with _workplace(folder) as place:
        try:
            for name, write in writers.items():
                write(Path(place) / name)
            for name in writers:
                os.replace(Path(place) / name, folder / name)
        except OSError as error:
            raise UsageError(f"--out {folder}: cannot be written: {error.strerror or error}") from None


def write_template(file: Path, *, force: bool) -> None:
    """Write the commented prior file that `botec new` starts people from."""
    if file.exists() and not force:
        raise UsageError(f"{file} is already there; --force replaces it")
    text = (PRIORS / "template.toml").read_text("utf-8")
    text = text.replace(f"#:schema {SCHEMA_FILE.name}", f"#:schema {SCHEMA_FILE.as_uri()}")
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=file.parent, prefix=".botec-", delete=False, encoding="utf-8"
        ) as stream:
            stream.write(text)
        os.replace(stream.name, file)
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror or error}") from None


def _workplace(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A temporary folder on the same disk as the results, so that renaming out of it is one step."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=folder, prefix=".botec-", ignore_cleanup_errors=True)
    except OSError as error:
        raise UsageError(f"--out {folder}: cannot be written: {error.strerror or error}") from None
