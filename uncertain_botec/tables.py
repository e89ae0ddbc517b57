"""What every table of a prior file has in common, as pydantic models."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _date_as_text(value: Any) -> Any:
    # TOML has dates of its own; `as_of = 2026-10-01` and `as_of = "2026-10"` mean the same kind of thing.
    return value.isoformat() if isinstance(value, datetime.date) else value


class Table(BaseModel):
    """A TOML table: no unknown keys, no silent conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Sourced(Table):
    """What may be said about where a number comes from."""

    source: str | None = Field(None, description="where the number is published, or who believes it")
    as_of: Annotated[str | None, BeforeValidator(_date_as_text)] = Field(
        None, description="the date of the source, YYYY-MM"
    )
    note: str | None = Field(None, description="anything a reader should know")
