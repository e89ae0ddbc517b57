"""How well runs were foretold, in one sentence and at a glance."""

from __future__ import annotations

from collections.abc import Iterator

from uncertain_botec.backtest_table import NAMES, compared, held, level, percent, tested, with_error
from uncertain_botec.calibration.backtesting import Against, Foretold
from uncertain_botec.calibration.scores import Share
from uncertain_botec.report.backtested import Backtested, named
from uncertain_botec.report.blocks import Paragraph, Points, Section, Tile, Tiles
from uncertain_botec.units import digits

_WIDE = 0.8


def answer(context: Backtested) -> Section:
    """The sentence, its numbers at a glance, and the runs farthest off."""
    blocks = (Paragraph(sentence(context), lead=True), Tiles(tuple(_tiles(context))), Points(tuple(_points(context))))
    return Section("answer", "The answer", blocks)


def sentence(context: Backtested) -> str:
    """How many runs lay within P10 to P90, and how the best of the simpler forecasts does."""
    backtest, reference = context.backtest, context.reference
    rival = backtest.forecasters[context.rival]
    return (
        f"{held(reference, len(backtest.runs))}, {_verdict(reference.coverage[_WIDE])}; of the simpler forecasts "
        f"{NAMES[context.rival]} does best, and {compared(rival, reference)}."
    )


def _verdict(part: Share) -> str:
    """Whether intervals of 80 % may hold such a part of the runs."""
    if part.low <= _WIDE <= part.high:
        return f"as intervals of {percent(_WIDE)} may well do"
    return f"{'fewer' if part.high < _WIDE else 'more'} than intervals of {percent(_WIDE)} hold by chance"


def _tiles(context: Backtested) -> Iterator[Tile]:
    reference, rival = context.reference, context.backtest.forecasters[context.rival]
    part = reference.coverage[_WIDE]
    bounds = f"of the runs; {percent(part.low)} to {percent(part.high)} of runs like these (95 % bounds)"
    yield Tile("Within P10 to P90", percent(part.value), bounds)
    factor = digits(reference.width_factor.value, reference.width_factor.error, 3)
    yield Tile("P90/P10", factor, f"the median over runs; {NAMES[context.rival]} {_factor(context)}")
    for name, key in (("Interval score", "interval_score"), ("CRPS", "crps")):
        own, other = (with_error(getattr(one, key)) for one in (reference, rival))
        yield Tile(name, own, f"lower is better; {NAMES[context.rival]} {other}")


def _factor(context: Backtested) -> str:
    width = context.backtest.forecasters[context.rival].width_factor
    return digits(width.value, width.error, 3)


def _points(context: Backtested) -> Iterator[str]:
    ordered = context.ordered
    below = [one for one in ordered if one[1].actual < one[1].p10]
    above = [one for one in ordered if one[1].actual > one[1].p90]
    for some, side, farthest in ((below, "less than P10", below[:1]), (above, "more than P90", above[-1:])):
        number = f"{len(some)} run{'s' if len(some) != 1 else ''}" if some else "No run"
        yield f"{number} took {side}{''.join(f'; {_farthest(*one)}' for one in farthest)}."
    yield f"Wall-clock: {tested(context.backtest, 'days', 'training_time')}."
    yield f"Cost: {tested(context.backtest, 'cost', 'cost')}."


def _farthest(run: Foretold, hours: Against) -> str:
    times = digits(hours.actual / hours.p50, 0, 3)
    name, place = named(run.run.name), level(hours.percentile)
    return f"the farthest off is {name}, which took {times} times the median foretold, at percentile {place}"
