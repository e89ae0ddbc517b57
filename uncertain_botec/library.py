"""The shipped priors, and where a name or a path leads."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

# An installed wheel carries the folder inside the package; a checkout has it beside the package.
PRIORS = next(folder for folder in (_PACKAGE / "priors", _PACKAGE.parent / "priors") if folder.is_dir())

SCHEMA_FILE = PRIORS / "prior-file.schema.json"

# So many letters of a name tell which is meant.
_TELLING = 3


def parts() -> tuple[str, ...]:
    """Kinds of shipped files that runs include, sorted."""
    return tuple(sorted(path.name for path in PRIORS.iterdir() if path.is_dir() and path.name != "runs"))


def shipped(kind: str) -> tuple[str, ...]:
    """The names of the shipped files of one kind, such as `runs`, sorted."""
    return tuple(sorted(path.stem for path in (PRIORS / kind).glob("*.toml")))


def find_run(reference: str) -> Path | None:
    """The file that a command-line argument names: a path, or the name of a shipped run."""
    path = Path(reference)
    there = _is(path.exists)
    if path.suffix == ".toml" or there:
        return path if there else None
    # A name never leaves the folder of shipped runs.
    return PRIORS / "runs" / f"{reference}.toml" if reference in shipped("runs") else None


def includes_stating(name: str) -> tuple[str, ...]:
    """The shipped files that state an input, as an `include` names them."""
    found = []
    for kind in parts():
        for stem in shipped(kind):
            with (PRIORS / kind / f"{stem}.toml").open("rb") as stream:
                if name in tomllib.load(stream).get("inputs", {}):
                    found.append(f"{kind}/{stem}")
    return tuple(found)


def find_include(reference: str, including: Path, root: Path) -> Path | None:
    """The file that an `include` names: beside the including file, or among the shipped priors.

    Prior files are data that people exchange, so an include never leads out of `root` (the folder of the file that was
    asked for) or of the shipped priors, also not through a symbolic link.
    """
    name = reference if reference.endswith(".toml") else f"{reference}.toml"
    for folder in (including.parent, PRIORS):
        candidate = file_inside(folder / name, root, PRIORS)
        if candidate is not None:
            return candidate
    return None


def file_inside(path: Path, *trees: Path) -> Path | None:
    """The file behind a path, if there is one and it lies in one of the folder trees once links are followed."""
    try:
        resolved = path.resolve()
    except (OSError, ValueError, RuntimeError):
        # A name with a null byte, or a link that leads back to itself.
        return None
    inside = any(resolved.is_relative_to(tree.resolve()) for tree in trees)
    return resolved if inside and _is(resolved.is_file) else None


def _is(question: Callable[[], bool]) -> bool:
    """Ask the file system about a name that may be too long for it or hold a null byte."""
    try:
        return question()
    except (OSError, ValueError):
        return False


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A sentence that names the nearest known words, those that begin so first, or None when nothing is near."""
    known = list(known)
    begun = sorted(name for name in known if len(word) >= _TELLING and name.startswith(word))
    near = list(dict.fromkeys((*begun, *difflib.get_close_matches(word, known, n=2, cutoff=0.6))))[:2]
    return f"did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else None
