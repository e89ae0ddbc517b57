"""From a path to TOML documents: the file asked for and everything that it includes, in order of precedence."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uncertain_botec import library
from uncertain_botec.errors import Fault, PriorFileError
from uncertain_botec.prior_files.places import Place

MAX_BYTES = 1 << 20
MAX_FILES = 100
MAX_DEPTH = 50


@dataclass(frozen=True)
class Document:
    """One TOML file, or the settings of the command line, as plain Python values.

    Attributes:
        where: what to call it in error messages: the path as the user knows it.
        path: where it lies, against which relative names inside it are resolved.
        content: the parsed tables.
        sha256: of the file's bytes.
    """

    where: str
    path: Path
    content: dict[str, Any]
    sha256: str


@dataclass
class _Reader:
    """Depth-first reading: what is included comes before what includes it, so that later documents win."""

    root: Path
    faults: list[Fault] = field(default_factory=list)
    documents: dict[Path, Document] = field(default_factory=dict)

    def read(self, path: Path, where: str, chain: tuple[Path, ...] = ()) -> None:
        resolved = path.resolve()
        try:
            content, sha256 = _parse(path, where)
        except PriorFileError as error:
            self.faults += error.faults
            return
        includes = content.get("include", [])
        # A wrong type is reported by the schema, with all other faults of the file.
        for index, reference in enumerate(includes if isinstance(includes, list) else []):
            if isinstance(reference, str):
                self._include(reference, Place(where, f"$.include[{index}]", path), (*chain, resolved))
        self.documents[resolved] = Document(where, path, content, sha256)

    def include_again(self, reference: str, path: Path) -> None:
        """Read a file that wins over those before it, also where it is one of them."""
        found = library.find_include(reference, path, self.root)
        if found is not None and found != path.resolve():
            self.documents.pop(found, None)
        self._include(reference, Place(f"include {reference}", "$", path), (path.resolve(),))

    def _include(self, reference: str, place: Place, chain: tuple[Path, ...]) -> None:
        found = library.find_include(reference, place.file, self.root)

        def fault(message: str, expected: str, fix: str) -> None:
            self.faults.append(Fault(message, place.where, place.path, f'"{reference}"', expected, fix))

        if found is None:
            known = [f"{kind}/{name}" for kind in (*library.parts(), "runs") for name in library.shipped(kind)]
            expected = "a file in the same folder tree, or a shipped one such as accelerators/h100-sxm"
            fix = (
                library.did_you_mean(reference, known) or "`botec list accelerators` and `prices` show what is shipped"
            )
            fault("there is no such file to include", expected, fix)
        elif found in chain:
            expected = "includes that end somewhere"
            names = " -> ".join(path.stem for path in (*chain[chain.index(found) :], found))
            fault(f"the include leads back to itself: {names}", expected, "take one of the includes out")
        elif len(self.documents) + len(chain) >= MAX_FILES:
            fault(f"more than {MAX_FILES} files are included", f"at most {MAX_FILES}", "take some of them out")
        elif found not in self.documents:
            self.read(found, _relative(found, place.file, place.where), chain)


def _relative(found: Path, including: Path, where: str) -> str:
    """What to call an included file: relative to the including one where that is shorter to read."""
    if found.is_relative_to(library.PRIORS.resolve()):
        return f"priors/{found.relative_to(library.PRIORS.resolve())}"
    folder = including.resolve().parent
    return str(Path(where).parent / found.relative_to(folder)) if found.is_relative_to(folder) else str(found)


def _parse(path: Path, where: str) -> tuple[dict[str, Any], str]:
    """The content and hash of one file, or the one fault that keeps it from being read."""

    def fault(message: str, expected: str, fix: str | None = None, got: str | None = None) -> PriorFileError:
        return PriorFileError([Fault(message, where, "$", got, expected, fix)])

    try:
        if not path.is_file():
            kind = "a folder" if path.is_dir() else "not a regular file"
            raise fault("this is not a file", got=kind, expected="a TOML file", fix="name the prior file itself")
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise fault(
                "the file is too large",
                got=f"{size:,} bytes",
                expected=f"a prior file of at most {MAX_BYTES:,} bytes",
                fix="measured values go into a CSV file beside it",
            )
        content = path.read_bytes()
    except OSError as error:
        raise fault(f"cannot be read: {error.strerror or error}", "a file that can be read") from None
    try:
        parsed = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        got = f"byte {content[error.start]:#04x} in line {line}"
        raise fault("not UTF-8", got=got, expected="UTF-8 text", fix="save the file as UTF-8") from None
    except ValueError as error:
        # Besides TOMLDecodeError: Python refuses to read whole numbers of thousands of digits.
        fix = 'a value that is not a number, a list or a table stands in quotes: tokens = "15T token"'
        raise fault(f"not TOML: {error}", expected="TOML 1.0", fix=fix) from None
    except RecursionError:
        parsed = None
    if parsed is None or _deeper_than(MAX_DEPTH, parsed):
        expected = f"at most {MAX_DEPTH} levels"
        raise fault("tables or lists are nested too deeply", expected=expected, fix="flatten what is nested")
    return parsed, hashlib.sha256(content).hexdigest()


def _deeper_than(levels: int, content: dict[str, Any]) -> bool:
    """Whether tables and lists are nested deeper than that; asked level by level, so that no depth is too much."""
    level: list[Any] = [content]
    for _ in range(levels):
        level = [
            item
            for node in level
            for item in (node.values() if isinstance(node, dict) else node)
            if isinstance(item, dict | list)
        ]
    return bool(level)


def read_documents(
    reference: str | Path, including: Sequence[str] = ()
) -> tuple[tuple[Document, ...], tuple[Fault, ...]]:
    """The documents behind a path or a shipped run's name, and the faults of those that cannot be read.

    The document that was asked for comes last and wins; what it is made to include besides comes just before it.

    Raises:
        PriorFileError: the file asked for is not there or cannot be read.
    """
    path = library.find_run(str(reference))
    if path is None:
        raise PriorFileError([_not_found(str(reference))])
    named = str(reference) in library.shipped("runs") and not Path(reference).exists()
    reader = _Reader(root=path.resolve().parent)
    reader.read(path, f"priors/runs/{path.name}" if named else str(path))
    if path.resolve() not in reader.documents:
        raise PriorFileError(reader.faults)
    asked = reader.documents.pop(path.resolve())
    for one in including:
        reader.include_again(one, path)
    reader.documents[path.resolve()] = asked
    return tuple(reader.documents.values()), tuple(reader.faults)


def _not_found(name: str) -> Fault:
    runs = library.shipped("runs")
    fix = library.did_you_mean(name, runs)
    return Fault(
        message="there is no such file or shipped run",
        where=name,
        expected=f"the path of a prior file, or a shipped run: {', '.join(runs)}",
        fix=fix,
    )
