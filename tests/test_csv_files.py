"""CSV files: what is read of any, and what is refused lest cells end up under other headings."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from uncertain_botec import PriorFileError
from uncertain_botec.csv_files import Sheet, parse_sheet, read_text, renamed
from uncertain_botec.errors import Fault

PLAIN = b"a,b\n1,2\n3,4\n"
ROWS = ((2, ("1", "2")), (3, ("3", "4")))


def sheet_of(path: Path, most_bytes: int = 1000, *, lower: bool = True) -> Sheet:
    """The cells of a file."""
    return parse_sheet(read_text(path, "some.csv", most_bytes), "some.csv", lower=lower)


def faults_of(path: Path, most_bytes: int = 1000) -> tuple[Fault, ...]:
    """What is wrong with a file."""
    with pytest.raises(PriorFileError) as raised:
        sheet_of(path, most_bytes)
    assert all(one.where == "some.csv" for one in raised.value.faults)
    return raised.value.faults


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"\r"),
        b' A , "B"\n"1", 2 \n3,4',
        b"a,b,,\n1,2,,\n3,4,,\n",
        b"a,b\n1,2,\n3,4,,\n",
    ],
    ids=["plain", "byte order mark", "CRLF", "CR", "quotes and blanks", "empty columns", "commas at the end"],
)
def test_habits_of_spreadsheets(content: bytes, tmp_path: Path) -> None:
    """Ways of writing the same cells are read alike."""
    file = tmp_path / "some.csv"
    file.write_bytes(content)
    found = sheet_of(file)
    assert (found.names, found.rows) == (("a", "b"), ROWS)
    assert read_text(file, "some.csv", 1000).encode("utf-8") == content


def test_rows_that_say_nothing(tmp_path: Path) -> None:
    """Blank rows and headings that a logger wrote again are left out; rows keep the numbers of their lines."""
    file = tmp_path / "some.csv"
    file.write_bytes(b'\n a,b\n1,2\n,\n\na,b\n3,"4\n5"\n6,7\n')
    assert sheet_of(file).rows == ((3, ("1", "2")), (8, ("3", "4\n5")), (9, ("6", "7")))


def test_case_of_headings(tmp_path: Path) -> None:
    """Headings are read without regard to case, unless it is to count."""
    file = tmp_path / "some.csv"
    file.write_bytes(b"Tokens,tokens\n1,2\n")
    assert faults_of(file)[0].message == "two columns have one name"
    assert sheet_of(file, lower=False).names == ("Tokens", "tokens")


@pytest.mark.parametrize(
    ("content", "path", "words"),
    [
        (b"", "$", "empty"),
        (b"\xef\xbb\xbf", "$", "empty"),
        (b" \n,,\n\n", "$", "empty"),
        (PLAIN.decode().encode("utf-16"), "$", "row 1 is not UTF-8"),
        (PLAIN.decode().encode("utf-16-le"), "$", "row 1 holds a character that is no text"),
        (gzip.compress(PLAIN, mtime=0), "$", "row 1 is not UTF-8"),
        (b"a,b\n1,2\n3,\xe9\n", "$", "row 3 is not UTF-8"),
        (b"a,b\r\n1,2\r\n3,\x1b[31m4\r\n", "$", "row 3 holds a character that is no text"),
        (b'a,b\n1,2\n"3,4\n5,6\n', "row 3", "cannot be read as CSV"),
        (b'a,b\n1,"2"3\n', "row 2", "cannot be read as CSV"),
        (b"a,b\n1," + 200_000 * b"9" + b"\n", "row 2", "cannot be read as CSV"),
        (b"a;b\n1;2\n", "$", "separated by semicolons"),
        (b"a\tb\n1,5\t2\n", "$", "separated by tabs"),
        (b"a,b\n1,2\n3,40,000\n", "row 3, cells", "another number of cells"),
        (b"a,b\n1\n", "row 2, cells", "another number of cells"),
        (b"a,b\n1,2,x\n", "row 2, cells", "another number of cells"),
        (b"a,a\n1,2\n", "a", "two columns have one name"),
        (b"a,,b\n1,2,3\n", "row 1", "column 2 has no name"),
    ],
)
def test_what_is_no_table_is_refused(content: bytes, path: str, words: str, tmp_path: Path) -> None:
    """Each fault says where it is and how to mend it, in one line."""
    file = tmp_path / "some.csv"
    file.write_bytes(content)
    (found,) = faults_of(file, 1 << 20)
    assert found.path == path
    assert words in found.message
    assert found.expected
    assert "\n" not in found.message + (found.got or "")


def test_many_rows_of_other_widths(tmp_path: Path) -> None:
    """The first few are shown, and the others counted."""
    file = tmp_path / "some.csv"
    file.write_bytes(b"a,b\n" + 100 * b"1\n")
    found = faults_of(file)
    assert len(found) == 6
    assert found[-1].message == "95 more rows have such faults, from row 7 on"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A folder, a file that is not there, an impossible name, and one without end are told, and no more is read."""
    file = tmp_path / "some.csv"
    file.write_bytes(PLAIN)
    for path, words in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none.csv", "No such file"),
        (Path("a\0b"), "null byte"),
        (Path("/dev/zero"), "too large"),
    ):
        (found,) = faults_of(path)
        assert words in found.message
        assert "Errno" not in found.message
    assert sheet_of(file, len(PLAIN)).rows == ROWS
    assert "too large" in faults_of(file, len(PLAIN) - 1)[0].message


def test_columns_of_nearly_the_name() -> None:
    """A column that is missing may be there under another name."""
    assert renamed("tokens", ["time", "token"]) == "rename the column `token` to tokens"
    assert renamed("tokens", ["time", "loss"]) is None
