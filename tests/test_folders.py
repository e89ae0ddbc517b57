"""A folder that is replaced whole: at every moment, whatever happens to the process that does it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from uncertain_botec import folders
from uncertain_botec.errors import UsageError
from uncertain_botec.folders import replace_folder

FILES = 20

# Writes one version after the other until it is killed.
WRITER = """
import itertools, json, sys
from pathlib import Path
from uncertain_botec import folders

if sys.argv[2] == "aside":
    folders._exchanged = lambda new, old: False

def fill(version, place):
    for number in range(20):
        (place / f"{number}.txt").write_text(str(version))
    names = [f"{number}.txt" for number in range(20)]
    (place / "marker.json").write_text(json.dumps({"schema": "kind/1", "files": names}))

for version in itertools.count(int(sys.argv[3])):
    folders.replace_folder(Path(sys.argv[1]), "marker.json", "kind/", lambda place: fill(version, place))
    print(version, flush=True)
"""


def fill(text: str, place: Path) -> None:
    """Every file with one text, and the marker that names them."""
    names = [f"{number}.txt" for number in range(FILES)]
    for name in names:
        (place / name).write_text(text, "utf-8")
    (place / "marker.json").write_text(json.dumps({"schema": "kind/1", "files": names}), "utf-8")


def put(folder: Path, text: str) -> None:
    """Write the folder."""
    replace_folder(folder, "marker.json", "kind/", lambda place: fill(text, place))


def whole(folder: Path) -> str:
    """The one text of all files."""
    (text,) = {(folder / f"{number}.txt").read_text("utf-8") for number in range(FILES)}
    assert (folder / "marker.json").exists()
    return text


@pytest.mark.parametrize("way", ["exchange", "aside"])
def test_killed_at_any_moment(tmp_path: Path, way: str) -> None:
    """After a kill the folder is an old or a new one whole, or comes back whole at the next start; nothing piles up."""
    folder, last = tmp_path / "folder", 0
    for kill in range(12):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), way, str(last + 1)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(0.003 * kill)
            writer.send_signal(signal.SIGKILL)
            said = [int(line) for line in writer.stdout.read().split()]
        if way == "exchange" and sys.platform == "linux":
            assert folder.is_dir()
        if folder.exists():
            assert int(whole(folder)) >= max([last, *said])
        put(folder, str(last := max([last, *said]) + 1))
        assert int(whole(folder)) == last
        assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_readers_always_find_it_whole(tmp_path: Path) -> None:
    """Whoever opens the folder while it is replaced again and again finds all files of one version."""
    if sys.platform != "linux":
        pytest.skip("elsewhere the old folder is moved aside for a moment")
    folder = tmp_path / "folder"
    put(folder, "0")
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), "exchange", "1"], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        found = set()
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            handle = os.open(folder, os.O_RDONLY)
            try:
                # Through the handle one version is read to its end, unless it is removed meanwhile.
                texts = {_read(handle, f"{number}.txt") for number in range(FILES)} - {None}
            finally:
                os.close(handle)
            assert len(texts) <= 1
            found |= texts
        writer.kill()
    assert len(found) > 3


def _read(handle: int, name: str) -> str | None:
    try:
        file = os.open(name, os.O_RDONLY, dir_fd=handle)
    except FileNotFoundError:
        return None
    with os.fdopen(file) as stream:
        return stream.read()


def test_two_at_once(tmp_path: Path) -> None:
    """Two processes that write the same folder take turns; neither removes what the other is writing."""
    folder = tmp_path / "folder"
    command = [sys.executable, "-c", WRITER, str(folder), "exchange"]
    both = [
        subprocess.Popen([*command, start], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for start in ("0", "1000")
    ]
    time.sleep(2)
    assert [one.poll() for one in both] == [None, None]
    for one in both:
        one.kill()
        assert one.communicate()[1] == b""
    put(folder, "end")
    assert whole(folder) == "end"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_left_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An old folder that was left aside comes back at the next start, even if that fails."""
    folder = tmp_path / "folder"
    put(folder, "old")
    folder.rename(folders._aside(folder))

    def failing(place: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(UsageError, match="No space left on device"):
        replace_folder(folder, "marker.json", "kind/", failing)
    assert whole(folder) == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_without_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two folders cannot change places, one is moved aside and removed in the end."""
    monkeypatch.setattr(folders, "_exchanged", lambda *_: False)
    put(tmp_path / "folder", "old")
    put(tmp_path / "folder", "new")
    assert whole(tmp_path / "folder") == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_permissions_are_kept(tmp_path: Path) -> None:
    """A new folder has the usual permissions, and one that replaces another has that one's."""
    folder = tmp_path / "folder"
    put(folder, "old")
    (tmp_path / "usual").mkdir()
    assert folder.stat().st_mode == (tmp_path / "usual").stat().st_mode
    folder.chmod(0o750)
    put(folder, "new")
    assert folder.stat().st_mode & 0o777 == 0o750


def test_links_and_long_names(tmp_path: Path) -> None:
    """A link stays a link to the folder that is replaced, and a name may be as long as names are."""
    put(tmp_path / "folder", "old")
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    put(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert whole(tmp_path / "folder") == "new"
    put(tmp_path / ("n" * 255), "long")
    assert whole(tmp_path / ("n" * 255)) == "long"


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({"a.txt": ""}, "a.txt and no marker.json"),
        ({"marker.json": "{}"}, "not replaced"),
        ({"marker.json": "[]"}, "not replaced"),
        ({"marker.json": "{"}, "not replaced"),
        ({"marker.json": '{"schema": "other/1", "files": []}'}, "not replaced"),
        ({"marker.json": '{"schema": "kind/1", "files": []}', "deep/b.txt": ""}, "deep/b.txt is not of"),
        ({"marker.json": '{"schema": "kind/1", "files": []}', ".hidden": ""}, ".hidden is not of"),
    ],
)
def test_what_is_not_replaced(tmp_path: Path, there: dict[str, str], said: str) -> None:
    """A folder without the marker, or with a file that the marker does not name, stays as it is."""
    folder = tmp_path / "folder"
    for name, text in there.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    with pytest.raises(UsageError, match=said):
        put(folder, "new")
    assert {
        str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()
    } == there
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    """An empty folder is as good as none, and folders above it are made."""
    (tmp_path / "empty").mkdir()
    put(tmp_path / "empty", "new")
    put(tmp_path / "a" / "b" / "c", "new")
    assert whole(tmp_path / "empty") == whole(tmp_path / "a" / "b" / "c") == "new"


@pytest.mark.parametrize("name", ["file", "file/below", "null\0byte"])
def test_what_cannot_be_a_folder(tmp_path: Path, name: str) -> None:
    """A file, a place below one, and a name that cannot be are refused with the reason."""
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(UsageError):
        put(tmp_path / name, "new")
    assert (tmp_path / "file").read_text("utf-8") == ""


def test_a_read_only_folder(tmp_path: Path) -> None:
    """Where nothing can be written, the old folder stays and the reason is told."""
    if os.geteuid() == 0:
        # Root writes everywhere but where the system itself does not let it.
        with pytest.raises(UsageError, match="cannot be written"):
            put(Path("/proc/botec"), "new")
        return
    put(tmp_path / "folder", "old")
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(UsageError, match="Permission denied"):
            put(tmp_path / "folder", "new")
    finally:
        tmp_path.chmod(0o755)
    assert whole(tmp_path / "folder") == "old"


@pytest.mark.parametrize("where", [".", "..", "", "../inner", "link"])
def test_the_folder_that_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Neither it nor one above it is exchanged under one's feet, by whatever path; one within it is written."""
    put(tmp_path, "old")
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    Path("link").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="the one that you are in, or holds it"):
        put(Path(where), "new")
    assert whole(tmp_path) == "old"
    put(Path("own"), "new")
    assert whole(tmp_path / "inner" / "own") == "new"


def test_the_file_in_the_way(tmp_path: Path) -> None:
    """What is named is the file, not what was to stand below it."""
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(UsageError, match=r"/file: this is a file; name a folder"):
        put(tmp_path / "file" / "folder" / "inner", "new")
