"""What moves the outputs, and what to measure first."""

from __future__ import annotations

from uncertain_botec import plots
from uncertain_botec.presentation import number, row_title, title_of
from uncertain_botec.report.blocks import Block, Heading, Paragraph, Picture, Points, Section, Table
from uncertain_botec.report.context import Context
from uncertain_botec.report.words import capital, part, said
from uncertain_botec.sensitivity.indices import Index
from uncertain_botec.sensitivity.result import InformationWorth, InputSensitivity, Sensitivity
from uncertain_botec.units import digits, readable_scale

_MOST_ROWS = 20


def drivers(context: Context) -> Section | None:
    """What moves cost and time, input by input."""
    if not context.studies:
        return None
    reading = (
        "Each bar shows where the mean of the result (or its median, as the axis says) lies when one input is in its "
        "lowest or highest tenth and all others vary as they then do. The share says how much of the spread of the "
        "result an input is behind; the shares of all inputs make 100 %. The tables tell besides where the result lies "
        "with one input at its P10 or P90 and all others at their medians, and what each input explains by itself."
    )
    blocks: list[Block] = [Paragraph(reading)]
    for study in context.studies:
        name = title_of(study.output)
        tornado, shares = plots.tornado(study), plots.shares(study)
        blocks += [
            Heading(name),
            Picture(tornado, f"{tornado.title}, input by input."),
            Picture(shares, f"{shares.title}, each with its {part(study.level)} interval."),
            _table(study),
        ]
        if study.notes:
            blocks.append(Points(tuple(f"{capital(note)}." for note in study.notes if _tells(note))))
    return Section("drivers", "What drives it", tuple(one for one in blocks if one != Points(())))


def _tells(note: str) -> bool:
    """Whether a note is about what moves the output, rather than about a decision."""
    return "decision" not in note


def _table(study: Sensitivity) -> Table:
    scale, unit = readable_scale(study.overall.median, study.unit)
    columns = ("Input", "alone at P10", "alone at P90", "share (%)", f"{part(study.level)} interval", "by itself (%)")
    moving = [one for one in study.inputs if one.influence in ("uncertain", "chance")]
    rows = tuple(_row(one, scale, study.resolved) for one in moving[:_MOST_ROWS])
    title = row_title(study.output, unit)
    return Table(f"{title}: one input moved at a time, and shares of its spread", columns, "lrrrrr", rows)


def _row(one: InputSensitivity, scale: float, resolved: bool) -> tuple[str, ...]:
    swing = one.swing
    alone = ("", "") if swing is None else tuple(number(end / scale, 0) for end in (swing.at_p10, swing.at_p90))
    share, interval = _percents(one.shapley, resolved)
    name = "luck" if one.influence == "chance" else f"`{one.input}`"
    return (name, *alone, share, interval, _percents(one.first_order, resolved)[0])


def _percents(index: Index | None, resolved: bool) -> tuple[str, str]:
    """A part of the whole and its interval; what noise takes below 0 or above 100 is not shown."""
    if index is None or not resolved:
        return "?", ""
    error = max(100 * index.error, 0.01)
    value, low, high = (digits(100 * min(max(one, 0.0), 1.0), error, 3) for one in (index.value, index.low, index.high))
    return value, f"{low} - {high}" if index.error else ""


def measure_first(context: Context) -> Section | None:
    """What it is worth to know each input before deciding."""
    study = next((one for one in context.studies if one.information is not None), None)
    worth = None if study is None else study.information
    if study is None or worth is None:
        if "cost" not in context.review.outputs or not context.studies:
            return None
        why = [note for one in context.studies if one.output == "cost" for note in one.notes if "decision" in note]
        text = f"{capital(why[0])}." if why else "There is no decision to inform."
        return Section("measure-first", "What to measure first", (Paragraph(text),))
    best = worth.alternatives[worth.best]
    text = (
        f"The decision is {worth.decision}. As things are known, the best is to {worth.best}"
        f"{_expected(best)}. To know an input before deciding is worth what better decisions would save on average: "
        "no measurement, pilot run or quote should cost more than its row says."
    )
    figure = plots.value_of_information(study)
    return Section(
        "measure-first",
        "What to measure first",
        (
            Paragraph(text),
            Picture(figure, f"{figure.title}, with {part(study.level)} intervals."),
            _worths(worth, part(study.level)),
        ),
    )


def _expected(best: Index) -> str:
    if best.value == best.error == 0:
        return ""
    return f", expected to be worth {said('cost', best.value, best.error)}"


def _worths(worth: InformationWorth, level: str) -> Table:
    """The same in numbers."""
    scale, unit = readable_scale(worth.perfect.value, "USD")
    listed = [(f"`{name}`", one) for name, one in worth.inputs.items()][:_MOST_ROWS]
    rows = [_worth(name, one, worth.perfect, scale) for name, one in listed]
    rows.append(_worth("everything", worth.perfect, worth.perfect, scale))
    columns = ("To know", f"is worth ({unit})", f"{level} interval", "of everything (%)")
    return Table("The value of knowing before deciding", columns, "lrrr", tuple(rows))


def _worth(name: str, one: Index, perfect: Index, scale: float) -> tuple[str, ...]:
    error = one.error / scale
    value, low, high = (digits(max(end, 0.0) / scale, error, 3) for end in (one.value, one.low, one.high))
    whole = perfect.value
    relative = digits(100 * max(one.value, 0.0) / whole, 100 * one.error / whole, 3) if whole > 0 else ""
    return name, value, f"{low} - {high}" if one.error else "", relative
