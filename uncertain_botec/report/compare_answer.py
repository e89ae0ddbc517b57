"""Which of several runs is the best, by how much and how surely, in one sentence and at a glance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from uncertain_botec.comparison_table import dominance_in_words
from uncertain_botec.decisions.comparison import Difference
from uncertain_botec.plots.axes import reading_of
from uncertain_botec.presentation import number, title_of
from uncertain_botec.report.blocks import Block, Paragraph, Points, Section, Tile, Tiles
from uncertain_botec.report.compared import Compared, turned
from uncertain_botec.report.words import chance, in_all, name_of, said
from uncertain_botec.risk.measures import Figure
from uncertain_botec.vocabulary import COST, TIME

# Better, worse, best, and what equal runs do.
_WORDS = {
    COST: ("cheaper", "dearer", "the cheapest", "cost the same"),
    TIME: ("sooner", "later", "the soonest", "take equally long"),
}
_TOLD = 2
_DIGITS = 3

# Chances and gaps that are closer to nothing than so many standard errors are none.
_APART = 2.0


def answer(context: Compared) -> Section:
    """The sentence, its numbers at a glance, and the points behind it."""
    blocks: list[Block] = [Paragraph(sentence(context), lead=True), Tiles(tuple(_tiles(context)))]
    return Section("answer", "The answer", (*blocks, Points(tuple(_points(context)))))


def _words(output: str) -> tuple[str, str, str, str]:
    """How an output is compared."""
    return _WORDS.get(output, ("lower", "higher", "the lowest", f"have the same {name_of(output)}"))


def _about(output: str) -> str:
    """What is compared, where the words do not say it."""
    return "" if output in _WORDS else f" in {name_of(output)}"


def _told(context: Compared) -> list[str]:
    """The outputs that there is a word about at the start."""
    return list(context.comparison.outputs)[:_TOLD]


# --- the sentence -----------------------------------------------------------------------------------------------------


def sentence(context: Compared) -> str:
    """Who is cheaper and sooner, how surely and by how much."""
    tell = _of_two if len(context.comparison.scenarios) == _TOLD else _of_many
    first, *others = _told(context)
    # Later the letters are enough.
    letters = context.letters.__getitem__
    parts = [tell(context, first, context.named), *(tell(context, output, letters) for output in others)]
    told = "; ".join(parts)
    return f"{told[:1].upper()}{told[1:]}."


def _of_two(context: Compared, output: str, names: Callable[[str], str]) -> str:
    (gap,) = context.comparison.outputs[output].differences
    better, _, _, equal = _words(output)
    if gap.ties == 1:
        return f"{names(gap.first)} and {names(gap.second)} {equal} in every draw"
    gap = _better_first(gap)
    if abs(gap.lower.value - 0.5) < _APART * gap.lower.error:
        told = f"{names(gap.first)} and {names(gap.second)} are equally likely to be {better}{_about(output)}"
        spread = _spread(output, gap)
        return f"{told}: in eight draws of ten {names(gap.first)} is {spread}" if spread else told
    told = f"{names(gap.first)} is {better}{_about(output)} than {names(gap.second)}"
    if _known(gap):
        return f"{told} by {said(output, gap.p50.value)}, for certain"
    return f"{told} with a probability of {chance(gap.lower)}{_by(output, gap)}"


def _better_first(gap: Difference) -> Difference:
    return gap if gap.lower.value >= 0.5 else turned(gap)


def _known(gap: Difference) -> bool:
    """Whether nothing about a difference is uncertain."""
    return gap.lower.error == gap.p50.error == 0 and gap.p10.value == gap.p90.value


def _by(output: str, gap: Difference) -> str:
    """By how much the first run is the better one: at the median, and from P10 to P90."""
    middle = gap.p50
    if not math.isfinite(middle.value):
        return ", for the other often never finishes"
    # What is nothing but rounding is nothing.
    clear = middle.value > _APART * middle.error
    told = f", by {said(output, middle.value, middle.error)} at the median" if clear else ""
    spread = _spread(output, gap)
    return f"{told}{' and' if told else ','} {spread} in eight draws of ten" if spread else told


def _spread(output: str, gap: Difference) -> str:
    """From P10 to P90, where both have an end."""
    better, worse, _, _ = _words(output)
    low, high = gap.p10, gap.p90
    if math.isinf(low.value) or math.isinf(high.value):
        return ""
    if low.value < 0:
        less, more = said(output, -low.value, low.error), said(output, high.value, high.error)
        return f"between {less} {worse} and {more} {better}"
    return f"by {_between(output, low, high)}"


def _between(output: str, low: Figure, high: Figure) -> str:
    """Two amounts in one unit."""
    reading = reading_of(output, [high.value])
    less, more = (number(one.value / reading.scale, one.error / reading.scale, _DIGITS) for one in (low, high))
    return f"{less} to {more} {reading.unit}".rstrip()


def _of_many(context: Compared, output: str, names: Callable[[str], str]) -> str:
    one, number = context.comparison.outputs[output], len(context.comparison.scenarios)
    _, worse, superlative, equal = _words(output)
    if all(gap.ties == 1 for gap in one.differences):
        return f"all {number} runs {equal} in every draw"
    best = best_of(context, output)
    told = f"{names(best)} is {superlative}{_about(output)} of {number} runs"
    told += f" with a probability of {chance(one.curves[best].best)}"
    following = min((label for label in one.curves if label != best), key=lambda label: one.curves[label].p50.value)
    gap = context.gap(output, best, following)
    if gap.ties == 1:
        return f"{told}, which {names(following)} equals in every draw"
    if not math.isfinite(gap.p50.value) or gap.p50.value <= 0:
        return told
    return f"{told}, and {names(following)} is {said(output, gap.p50.value, gap.p50.error)} {worse} at the median"


def best_of(context: Compared, output: str) -> str:
    """The run that is most often the lowest."""
    curves = context.comparison.outputs[output].curves
    return max(curves, key=lambda label: curves[label].best.value)


# --- at a glance ------------------------------------------------------------------------------------------------------


def _tiles(context: Compared) -> Iterator[Tile]:
    letters, two = context.letters, len(context.comparison.scenarios) == _TOLD
    for output in _told(context):
        one = context.comparison.outputs[output]
        better, _, superlative, _ = _words(output)
        if all(gap.ties == 1 for gap in one.differences):
            yield Tile(title_of(output), "equal", "in every draw")
        elif two:
            gap = _better_first(one.differences[0])
            yield Tile(f"{letters[gap.first]} {better}", chance(gap.lower), f"than {letters[gap.second]}")
            clear = gap.p50.value > _APART * gap.p50.error
            middle = said(output, gap.p50.value, gap.p50.error) if clear else "no clear gap"
            yield Tile(f"By how much {better}", middle, "at the median of the differences")
        else:
            best = best_of(context, output)
            curve = one.curves[best]
            yield Tile(superlative.capitalize(), letters[best], f"with a probability of {chance(curve.best)}")
            middle = said(output, curve.p50.value, curve.p50.error)
            yield Tile(f"{title_of(output)} of {letters[best]}", middle, "at the median")


# --- what to know besides ---------------------------------------------------------------------------------------------


def _points(context: Compared) -> Iterator[str]:
    comparison, letters = context.comparison, context.letters
    for output in _told(context):
        for told in _dominance(context, output):
            yield f"{title_of(output)}: {told}."
    for name, what in (("budget", "its budget"), ("deadline", "its deadline"), ("memory", "within memory")):
        each = [f"{letters[label]} with {chance(some[name])}" for label, some in context.limits.items() if name in some]
        if each:
            yield f"Each keeps {what} with this probability: {in_all(each)}."
    both = [f"{letters[label]} with {chance(one.both)}" for label, one in context.reviews.items() if one.both]
    if both:
        yield f"Budget and deadline in the same run: {in_all(both)}."
    if comparison.same:
        names = in_all(f"`{name}`" for name in comparison.same)
        what = "is one and the same quantity" if len(comparison.same) == 1 else "are the same quantities"
        yield f"{names} {what} in the runs that take it: whatever comes of it, it comes to all of them."
    if any(gap.ties > 0 for one in comparison.outputs.values() for gap in one.differences):
        yield "Draws in which two runs are equal count half for each, so that of identical runs each has 50 %."


def _dominance(context: Compared, output: str) -> Iterator[str]:
    """Whom the best run dominates; those that it beats in every draw in one sentence."""
    letters, best = context.letters, best_of(context, output)
    gaps = [gap for gap in context.comparison.outputs[output].differences if best in (gap.first, gap.second)]
    beaten = [gap for gap in gaps if gap.dominance.draw_by_draw == best and gap.ties == 0]
    if len(beaten) > 1:
        others = in_all(letters[gap.second if gap.first == best else gap.first] for gap in beaten)
        yield f"{letters[best]} is lower than {others} in every draw"
    for gap in gaps:
        if len(beaten) <= 1 or gap not in beaten:
            told = dominance_in_words(gap, letters, name_of(output))
            # Of two runs it is plain who is meant.
            pair = f"of {letters[gap.first]} and {letters[gap.second]}, " if len(letters) > _TOLD else ""
            yield told if gap.dominance.draw_by_draw else f"{pair}{told}"
