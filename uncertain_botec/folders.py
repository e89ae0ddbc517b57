"""A folder of files that appears whole: whoever looks sees the old one or the new one, at any moment."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from uncertain_botec.errors import UsageError

# From Linux's linux/fcntl.h and linux/fs.h: paths are as they are, and the two names change places.
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2

_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})


def replace_folder(folder: Path, marker: str, kind: str, fill: Callable[[Path], object]) -> None:
    """Write a folder beside its place and put it there in one step.

    On Linux the new folder and the old one change places at once, so that a process that is killed leaves either whole.
    Where a file system cannot do that the old one is moved aside first; one that was left aside, because the process
    was killed just then, is put back at the next start.

    Args:
        folder: to be made or replaced.
        marker: the JSON file in it that says what it is: `schema`, which begins with `kind`, and `files`, by name.
        kind: of the folders that may be replaced; no other is, nor one with a file that its marker does not name.
        fill: writes every file into the folder that it is given.

    Raises:
        UsageError: the folder is not one to replace, or cannot be written.
    """
    try:
        folder = Path(os.path.abspath(folder.resolve() if folder.is_symlink() else folder))  # noqa: PTH100 -- no links
        folder.parent.mkdir(parents=True, exist_ok=True)
        check_replaceable(folder, marker, kind)
        place = _beside(folder)
    except (OSError, ValueError) as error:
        raise _unwritable(folder, error) from None
    try:
        with place as new:
            fill(new)
            with _locked(folder.parent):
                check_replaceable(folder, marker, kind)
                _put(new, folder)
    except OSError as error:
        raise _unwritable(folder, error) from None


def _unwritable(folder: Path, error: Exception) -> UsageError:
    if isinstance(error, NotADirectoryError):
        return UsageError(f"{file_in_the_way(folder)}: this is a file; name a folder")
    return UsageError(f"{folder}: cannot be written: {getattr(error, 'strerror', None) or error}")


def check_replaceable(folder: Path, marker: str, kind: str) -> None:
    """Refuse a folder that is not of this kind, that somebody put a file of their own into, or that one is in."""
    try:
        if _is_in(folder):
            what = "is the one that you are in, or holds it, and would be exchanged for another under your feet"
            raise UsageError(f"{folder}: this folder {what}; name one in it, such as {folder / 'report'}")
        found = sorted(_files(folder))
    except FileNotFoundError:
        return
    except NotADirectoryError as error:
        raise _unwritable(folder, error) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not found:
        return
    named = _named(folder / marker, kind)
    if named is None:
        what = f"holds {found[0]} and no {marker} of a report"
        raise UsageError(f"{folder}: this folder {what}, so it is not replaced; name another one")
    if own := [name for name in found if name not in {*named, marker}]:
        raise UsageError(f"{folder}: {own[0]} is not of the report that is there; move it, or name another folder")


def file_in_the_way(folder: Path) -> Path:
    """What is not a folder of all that a path goes through."""
    return next((one for one in (*reversed(folder.parents), folder) if one.exists() and not one.is_dir()), folder)


def _is_in(folder: Path) -> bool:
    """Whether the process, and so the shell that started it, is in a folder."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        # It was removed.
        return False
    return folder.resolve() in (here, *here.parents)


def _files(folder: Path) -> Iterator[str]:
    """The names of all files and links below a folder, relative to it, and of folders that are empty."""
    for entry in os.scandir(folder):
        if not entry.is_dir(follow_symlinks=False):
            yield entry.name
        elif names := list(_files(Path(entry.path))):
            yield from (f"{entry.name}/{name}" for name in names)
        else:
            yield f"{entry.name}/"


def _named(marker: Path, kind: str) -> set[str] | None:
    """The files that a folder's marker names, or None where it is not of that kind."""
    try:
        document = json.loads(marker.read_text("utf-8"))
        schema, files = str(document["schema"]), {*map(str, document["files"])}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return files if schema.startswith(kind) else None


# --- in one step ------------------------------------------------------------------------------------------------------


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A new folder on the same disk, locked while it is written; what is in it in the end goes away."""
    new = folder.with_name(f"{_prefix(folder)}{secrets.token_hex(8)}")
    try:
        with ExitStack() as held:
            with _locked(folder.parent):
                _recover(folder)
                new.mkdir()
                held.enter_context(_locked(new))
            yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _prefix(folder: Path) -> str:
    # As long a name as a file system takes would be too long with more before it.
    return f".botec-{hashlib.sha256(os.fsencode(folder.name)).hexdigest()[:16]}-"


def _aside(folder: Path) -> Path:
    return folder.with_name(f"{_prefix(folder)}old")


def _put(new: Path, folder: Path) -> None:
    """Put a new folder into its place; an old one is then where the new one was."""
    if not folder.exists():
        new.rename(folder)
        return
    shutil.copymode(folder, new)
    if not _exchanged(new, folder):
        aside = _aside(folder)
        folder.rename(aside)
        new.rename(folder)
        aside.rename(new)


def _exchanged(new: Path, old: Path) -> bool:
    """Have two folders change places, where the system can."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    if rename(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code))


def _recover(folder: Path) -> None:
    """Put back what was left aside, and remove what a process that was killed left behind."""
    aside = _aside(folder)
    if aside.is_dir():
        if folder.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(folder)
    for left in folder.parent.glob(f"{_prefix(folder)}{'[0-9a-f]' * 16}"):
        # One that is locked belongs to a process at work.
        with suppress(OSError), _locked(left, wait=False):
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """A block in which no other process holds the same folder; the lock goes with the process that holds it."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            # A file system without locks has nobody waiting either.
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise
        yield
    finally:
        os.close(handle)
