"""The sections of a report in order. Another one is one function and one entry here."""

from __future__ import annotations

from collections.abc import Callable

from uncertain_botec.report.answer import answer
from uncertain_botec.report.assumptions import assumptions, correlations
from uncertain_botec.report.blocks import Section
from uncertain_botec.report.context import Context
from uncertain_botec.report.drivers import drivers, measure_first
from uncertain_botec.report.method import method
from uncertain_botec.report.results import asked, bill, contingency, curves, results, together

SECTIONS: tuple[Callable[[Context], Section | None], ...] = (
    answer,
    asked,
    results,
    curves,
    together,
    bill,
    drivers,
    measure_first,
    contingency,
    assumptions,
    correlations,
    method,
)
"""Each gives None where there is nothing to say."""


def sections_of(context: Context) -> tuple[Section, ...]:
    """What a report says."""
    return tuple(section for make in SECTIONS if (section := make(context)) is not None)
