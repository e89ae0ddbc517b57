"""What reports of all kinds are made by: functions of a context, of which a kind has one set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from uncertain_botec.report.backtested import Backtested
from uncertain_botec.report.blocks import Section
from uncertain_botec.report.compared import Compared
from uncertain_botec.report.context import Context
from uncertain_botec.report.swept import Swept

C = TypeVar("C", Context, Compared, Swept, Backtested)


@dataclass(frozen=True)
class Kind(Generic[C]):
    """How one kind of report is made.

    Attributes:
        schema: of its `summary.json`, with the version.
        title: of the page, which may be in somebody else's words.
        sentence: the answer, as a block's text.
        sections: everything that is said, in order.
        method: the one of them that names the hashes of files, and is made again once there are any.
        made_by: the last line of the page.
        texts: the files that stand beside the page, by name.
        write_draws: writes a file of about so many draws; None where there are none.
        document: what `summary.json` holds besides the answer and the files.
    """

    schema: str
    title: Callable[[C], str]
    sentence: Callable[[C], str]
    sections: Callable[[C], tuple[Section, ...]]
    method: Callable[[C], Section]
    made_by: Callable[[C], str]
    texts: Callable[[C], Mapping[str, str]]
    write_draws: Callable[[C, Path, int], object] | None
    document: Callable[[C], dict[str, Any]]
