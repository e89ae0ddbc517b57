"""What the documentation shows of Python: every block runs, and prints what stands under it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]

# A block of Python, and the block of text under it, if there is one.
BLOCKS = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_blocks_of_python(
    page: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of a page, one after the other in one program, print to the letter what the page says."""
    text = (ROOT / page).read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = list(BLOCKS.finditer(text))
    assert len(blocks) == text.count("```python")
    for block in blocks:
        code = compile("\n" * text[: block.start(1)].count("\n") + block[1], page, "exec")
        exec(code, names)  # noqa: S102 - the program is the page of this project
        assert capsys.readouterr().out == (block[2] or "")


def test_no_printed_block_is_left_out() -> None:
    """Every block of text in the guide to Python belongs to a block that prints it."""
    text = (ROOT / "docs/python.md").read_text("utf-8")
    assert sum(block[2] is not None for block in BLOCKS.finditer(text)) == text.count("```text")
