"""The rows of a progress log in the order of time: duplicates, rows out of order, clocks that start over, rollbacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from uncertain_botec.csv_files import Collected
from uncertain_botec.errors import Fault
from uncertain_botec.updating.cells import named

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# A clock that starts over falls below this part of where it was.
_OVER = 0.5

# Units that are lost make a number smaller than this part of the one before.
_SLIP = 1e-5

# A gap is this many times as long as the usual step between rows, and a day at least.
_GAP = 2.5
_DAY = 86400.0


@dataclass(frozen=True, eq=False)
class Arranged:
    """Rows in the order of time.

    Attributes:
        order: their places among those given.
        seconds: of each, with clocks that started over put one after the other.
        notes: what was done, and to which rows.
    """

    order: Ints
    seconds: Floats
    notes: tuple[str, ...]


def arranged(
    seconds: Floats,
    values: Mapping[str, Floats],
    rows: Ints,
    *,
    column: str,
    where: str,
    faults: list[Fault],
) -> Arranged:
    """The rows in the order of time, without duplicates.

    Args:
        seconds: time of each row.
        values: everything else that is read, `tokens` among it, cumulative as logged; nan where nothing is said.
        rows: numbers in the file.
        column: what the file calls its times; only `time` holds dates, which never start over.
        where: the file.
        faults: collects times that nothing explains.
    """
    notes: list[str] = []
    tokens = values["tokens"]
    everything = [seconds, *values.values()]
    order = _first_of_each(everything)
    begun = _begun_again(seconds, tokens, order) if column != "time" else np.zeros(0, np.int64)
    if len(begun):
        # What the second attempt repeats of the first one was done twice.
        order = _first_of_each([*everything, np.cumsum(np.isin(np.arange(len(rows)), begun))])
    if len(order) < len(rows):
        twice = np.setdiff1d(np.arange(len(rows)), order)
        notes.append(f"{named(rows[twice].tolist())}: the same as another row, so left out")
    when, done = seconds[order], tokens[order]
    falls = 1 + np.flatnonzero(np.diff(when) < 0)
    joints: Ints = np.zeros(0, np.int64)
    if len(falls):
        by_time = np.argsort(when, kind="stable")
        over = column != "time" and bool(np.all(when[falls] <= _OVER * when[falls - 1]))
        # In the right order tokens fall less than in the wrong one, or not at all.
        sorts = _fallen(done[by_time]) == 0 or _fallen(done[by_time]) < _fallen(done)
        if sorts and not (over and len(begun)):
            notes.append(f"{named(rows[order[falls]].tolist())}: not in the order of time, so the rows were sorted")
            order, when = order[by_time], when[by_time]
        elif over:
            notes.append(f"{named(rows[order[falls]].tolist())}: the time starts over, so it is counted on from there")
            shift = np.zeros(len(when))
            shift[falls] = when[falls - 1]
            when, joints = when + np.cumsum(shift), falls
        else:
            _clock(order, when, falls, rows, column, where, faults)
    _ties(order, when, tokens[order], rows, joints, column, where, faults)
    return Arranged(order, when, tuple(notes))


def _first_of_each(columns: Sequence[npt.NDArray[Any]]) -> Ints:
    """The places of rows that are like none before them."""
    table = np.nan_to_num(np.stack(columns), nan=-1.0)
    first: Ints = np.unique(table, axis=1, return_index=True)[1].astype(np.int64)
    return np.sort(first)


def _begun_again(seconds: Floats, tokens: Floats, order: Ints) -> Ints:
    """Rows at which both time and tokens are back where the log begins, and that begin no copy of what was logged.

    Sorting such a log would lay two attempts into each other, as if they were one.
    """
    falls: Ints = 1 + np.flatnonzero((np.diff(seconds) < 0) & (np.diff(tokens) < 0))
    starts = falls[(seconds[falls] <= seconds[:1]) & (tokens[falls] <= tokens[:1])]
    earliest = bool(np.all(seconds[:1] <= seconds) and np.all(tokens[:1] <= tokens))
    return starts[np.isin(starts + 1, order) & earliest]


def _fallen(tokens: Floats) -> float:
    """By how much tokens fall in all."""
    return float(np.maximum(-np.diff(tokens), 0.0).sum())


def _clock(order: Ints, when: Floats, falls: Ints, rows: Ints, column: str, where: str, faults: list[Fault]) -> None:
    bad = Collected(where, column, faults)
    for place in falls:
        back = (when[place - 1] - when[place]) / _DAY
        bad.add(
            int(rows[order[place]]),
            f"the clock jumps back by {back:.3g} days, and putting the rows in order would make tokens fall",
            f"an earlier time than in row {rows[order[place - 1]]}",
            "times that rise, or a clock that starts over near 0 in a column elapsed",
            "correct the time (with its zone, where clocks change), or take the row out",
        )
    bad.close()


def _ties(
    order: Ints, when: Floats, done: Floats, rows: Ints, joints: Ints, column: str, where: str, faults: list[Fault]
) -> None:
    bad = Collected(where, column, faults)
    ties = 1 + np.flatnonzero((np.diff(when) == 0) & (np.diff(done) != 0))
    for place in np.setdiff1d(ties, joints):
        bad.add(
            int(rows[order[place]]),
            f"the same time as in row {rows[order[place - 1]]}, but other tokens",
            f"{done[place]:.6g} and {done[place - 1]:.6g} tokens",
            "one number of tokens at a time",
            "take the wrong row out",
        )
    bad.close()


def check_falls(tokens: Floats, rows: Ints, where: str, faults: list[Fault]) -> None:
    """Refuse falls to next to nothing: a row whose tokens lack their unit, for no checkpoint is so early."""
    bad = Collected(where, "tokens", faults)
    for place in 1 + np.flatnonzero((tokens[1:] > 0) & (tokens[1:] < _SLIP * tokens[:-1])):
        got, before = f"{tokens[place]:.6g} tokens", f"{tokens[place - 1]:.6g} in row {rows[place - 1]}"
        bad.add(int(rows[place]), "tokens fall to next to nothing", got, f"about {before}", "write its unit, as in 80B")
    bad.close()


def kept_tokens(tokens: Floats, rows: Ints, notes: list[str]) -> Floats:
    """At each row the tokens that were not lost later: k_i = min over j >= i of d_j.

    Where tokens fall the run went back to a checkpoint. The work that it lost adds nothing to k, so that the time it
    took is lost time and no speed is ever negative.
    """
    kept = np.minimum.accumulate(tokens[::-1])[::-1]
    falls = 1 + np.flatnonzero(np.diff(tokens) < 0)
    if len(falls):
        lost = float(np.sum(tokens[falls - 1] - tokens[falls]))
        notes.append(
            f"{named(rows[falls].tolist())}: tokens fall, which is taken for a return to a checkpoint; "
            f"the {lost:.3g} tokens lost count as lost time"
        )
    return np.asarray(kept)


def gaps(seconds: Floats, rows: Ints, notes: list[str]) -> None:
    """Note where the log is silent for long: the run may have stood still, or the log be incomplete."""
    steps = np.diff(seconds)
    usual = float(np.quantile(steps, 0.5, method="lower"))
    long = np.flatnonzero(steps > max(_GAP * usual, _DAY))
    if len(long):
        days = ", ".join(f"{steps[place] / _DAY:.3g}" for place in long[:5])
        notes.append(
            f"after {named(rows[long].tolist())}: no rows for {days} days; what progress there was over the gap counts "
            "at its average speed"
        )
