"""Requirements such as `P(cost <= 5 MUSD) >= 0.8`: what they are made of, and how they are read.

P(cost <= 5 MUSD and training_time <= 45 day) >= 70 %     the chance of events, all at once
P(budget and deadline) >= 0.7                             limits that the scenario states, by name
P80(cost) <= 5 MUSD                                       a quantile
CVaR80(cost) <= 7 MUSD                                    the mean of the worst 20 %
mean(cost) <= 5 MUSD                                      the mean of all
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from uncertain_botec.errors import Fault, UsageError
from uncertain_botec.estimators import ESTIMATORS
from uncertain_botec.library import did_you_mean
from uncertain_botec.quantities import Quantity
from uncertain_botec.units import is_count, to_display
from uncertain_botec.vocabulary import LIMITS, QUANTITIES

OUTPUTS = tuple(dict.fromkeys(name for one in ESTIMATORS.values() for name in one.outputs))
"""Every name that any estimator reports."""

NAMED_LIMITS: Mapping[str, str] = MappingProxyType({**LIMITS, "memory": "memory_utilisation"})
"""The limits that a scenario may have, and the output that each limits."""

PROBABILITY = Quantity("probability", "fraction", "a probability", "0.8", high=1.0, open="")

_SIGN = r"<=|>=|<|>|≤|≥"
_REQUIREMENT = re.compile(
    rf"(?P<head>[A-Za-z]+)\s*(?P<level>\d+(?:\.\d+)?)?\s*\((?P<body>[^()]*)\)\s*(?P<sign>{_SIGN})\s*(?P<value>[^<>=]+)"
)
_BOUND = re.compile(rf"(?P<name>[A-Za-z_]\w*)\s*(?P<sign>{_SIGN})\s*(?P<value>[^<>=]+)")
_ASCII = {"≤": "<=", "≥": ">="}
_HEADS = ("P", "CVaR", "mean")
_FORMS = "P(cost <= 5 MUSD) >= 0.8, P(budget and deadline) >= 70 %, P80(cost) <= 5 MUSD or CVaR80(cost) <= 7 MUSD"


class RequirementError(UsageError):
    """Every fault of the requirements and limits that a review is asked to hold draws against."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


@dataclass(frozen=True)
class Bound:
    """The event that an output lies on one side of a value.

    Attributes:
        output: the name.
        sign: "<=", ">=", "<" or ">".
        value: in base units.
        stated: the value as it was written, or "".
    """

    output: str
    sign: str
    value: float
    stated: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.output} {self.sign} {self.stated or written(self.value, QUANTITIES[self.output])}"


@dataclass(frozen=True)
class Kept:
    """The event that a limit of the scenario is kept."""

    limit: str

    def __str__(self) -> str:
        return self.limit


@dataclass(frozen=True)
class Probability:
    """The probability that all of some events take place."""

    events: tuple[Bound | Kept, ...]

    def __str__(self) -> str:
        return f"P({' and '.join(map(str, self.events))})"


@dataclass(frozen=True)
class Quantile:
    """The value that an output is at or below with a probability between 0 and 1."""

    output: str
    level: float

    def __str__(self) -> str:
        return f"P{100 * self.level:.12g}({self.output})"


@dataclass(frozen=True)
class Tail:
    """The conditional value at risk of an output at a level between 0 and 1."""

    output: str
    level: float

    def __str__(self) -> str:
        return f"CVaR{100 * self.level:.12g}({self.output})"


@dataclass(frozen=True)
class Mean:
    """The mean of an output, infinite where it may be."""

    output: str

    def __str__(self) -> str:
        return f"mean({self.output})"


Measure = Probability | Quantile | Tail | Mean


@dataclass(frozen=True)
class Requirement:
    """A measure of risk and the threshold that it is to keep.

    Attributes:
        measure: what is computed from draws.
        sign: "<=", ">=", "<" or ">": how the measure is to compare with the threshold.
        threshold: in base units.
        stated: the threshold as it was written, or "".
    """

    measure: Measure
    sign: str
    threshold: float
    stated: str = field(default="", compare=False)

    @property
    def quantity(self) -> Quantity:
        """What the threshold is a value of."""
        return PROBABILITY if isinstance(self.measure, Probability) else QUANTITIES[self.measure.output]

    def __str__(self) -> str:
        return f"{self.measure} {self.sign} {self.stated or written(self.threshold, self.quantity)}"


def written(value: float, quantity: Quantity) -> str:
    """A value in base units as it may be read again."""
    number = f"{to_display(value, quantity.unit):.17g}"
    return number if is_count(quantity.unit) else f"{number} {quantity.unit}"


def read_requirements(texts: Iterable[str | Requirement]) -> tuple[Requirement, ...]:
    """Read requirements; those that are read already stay as they are.

    Raises:
        RequirementError: with every fault found in any of them.
    """
    faults: list[Fault] = []
    found = [one if isinstance(one, Requirement) else _read(one, faults) for one in texts]
    if faults:
        raise RequirementError(faults)
    return tuple(one for one in found if one is not None)


def parse_requirement(text: str) -> Requirement:
    """Read one requirement, such as `P(cost <= 5 MUSD) >= 0.8`; its text reads as an equal requirement again.

    Raises:
        RequirementError: with every fault found.
    """
    return read_requirements([text])[0]


def value_in(text: str, quantity: Quantity, where: tuple[str, str], faults: list[Fault]) -> float | None:
    """A value with its unit in base units, or None after adding its fault; counts and parts need no unit."""
    # What reads prior files loads pydantic, which nobody needs who asks for nothing.
    from uncertain_botec.prior_files.beliefs import value_of
    from uncertain_botec.prior_files.places import Place

    try:
        stated: float | str = int(text) if text.isdecimal() else float(text)
    except ValueError:
        stated = text
    return value_of(stated, quantity, Place(*where, Path()), faults)


def _read(text: str, faults: list[Fault]) -> Requirement | None:
    where = ("requirement", text)
    before = len(faults)
    match = _REQUIREMENT.fullmatch(text.strip())
    if match is None:
        faults.append(_unreadable(text))
        return None
    measure = _measure(match["head"], match["level"], match["body"], where, faults)
    if measure is None:
        return None
    made = Requirement(measure, _ASCII.get(match["sign"], match["sign"]), 0.0, match["value"].strip())
    threshold = value_in(made.stated, made.quantity, where, faults)
    if len(faults) > before or threshold is None:
        return None
    return Requirement(measure, made.sign, threshold, made.stated)


def _unreadable(text: str) -> Fault:
    """Why a text is no requirement, as far as that can be told."""
    bare, fix = text.strip(), None
    if _BOUND.fullmatch(bare):
        fix = f"write P({bare}) >= 0.8 if a chance of at least 80 % is meant"
    elif re.fullmatch(r"[Pp]\s*\([^()]*\)", bare):
        fix = f"write {bare} >= 0.8 if a chance of at least 80 % is meant"
    elif bare.count("(") != bare.count(")"):
        fix = "close every bracket, as in P(cost <= 5 MUSD) >= 0.8"
    elif re.search(r"(?<![<>])=|≠|!", bare):
        fix = "draws hardly ever hit a value exactly: write <= or >="
    return Fault("this is not a requirement", "requirement", text, bare or "nothing", _FORMS, fix)


def _measure(head: str, level: str | None, body: str, where: tuple[str, str], faults: list[Fault]) -> Measure | None:
    """What stands before the sign."""

    def fault(message: str, got: str, expected: str, fix: str | None = None) -> None:
        faults.append(Fault(message, *where, got, expected, fix))

    kind = head.lower()
    if kind == "p" and level is None:
        return _probability(body, where, faults)
    if kind not in ("p", "cvar", "mean"):
        fix = f"write P50({body.strip()})" if kind == "median" else did_you_mean(head, _HEADS)
        fault(f"there is no measure {head}", head, "P, CVaR or mean", fix)
        return None
    if (kind == "mean") != (level is None):
        expected = "a level of percent for CVaR, and none for a mean"
        fix = f"write CVaR80({body.strip()})" if kind == "cvar" else f"write mean({body.strip()})"
        fault("a level is missing" if kind == "cvar" else "a mean has no level", f"{head}{level or ''}", expected, fix)
        return None
    name = body.strip()
    if name not in OUTPUTS:
        limited = NAMED_LIMITS.get(name)
        fix = f"write {head}{level or ''}({limited})" if limited else did_you_mean(name, OUTPUTS)
        fix = f"write P({name}) for the chance of that" if _BOUND.fullmatch(name) else fix
        fault(f"there is no output {name}" if name else "an output is missing", name or "nothing", "an output", fix)
        return None
    if level is None:
        return Mean(name)
    percent = float(level)
    if not 1 <= percent < 100:
        fix = f"write {head}{100 * percent:g}({name})" if 0 < percent < 1 else None
        fault("a level is in percent", f"{head}{level}", "from 1 to below 100, such as P80", fix)
        return None
    # 99.9 over 100 is not the number nearest to 0.999.
    part = float(f"{level}e-2")
    return Quantile(name, part) if kind == "p" else Tail(name, part)


def _probability(body: str, where: tuple[str, str], faults: list[Fault]) -> Probability | None:
    """The events between the brackets, joined by `and`."""
    found = [_event(one.strip(), where, faults) for one in re.split(r"\band\b", body)]
    events = tuple(one for one in found if one is not None)
    return Probability(events) if len(events) == len(found) else None


def _event(text: str, where: tuple[str, str], faults: list[Fault]) -> Bound | Kept | None:
    if text in NAMED_LIMITS:
        return Kept(text)
    if re.search(r"\bor\b", text):
        expected = "events such as cost <= 5 MUSD, joined by `and`"
        faults.append(Fault("`or` joins no events", *where, text, expected, "state each as a requirement of its own"))
        return None
    match = _BOUND.fullmatch(text)
    name = match["name"] if match else text
    known = (*OUTPUTS, *NAMED_LIMITS)
    if name not in OUTPUTS and re.fullmatch(r"\w+", name):
        limited = NAMED_LIMITS.get(name)
        fix = f"write {text.replace(name, limited)}" if limited else did_you_mean(name, known)
        kind = f"{name} is a limit, not an output" if name in NAMED_LIMITS else f"there is no output or limit {name}"
        faults.append(Fault(kind, *where, text, "an output with a bound, or a limit by its name", fix))
        return None
    if match is None:
        fix = f"write {name} <= {QUANTITIES[name].example.strip(chr(34))}" if name in OUTPUTS else None
        fix = "draws hardly ever hit a value exactly: write <= or >=" if "==" in text else fix
        expected = "events such as cost <= 5 MUSD, joined by `and`"
        faults.append(Fault("this is not an event", *where, text or "nothing", expected, fix))
        return None
    stated = match["value"].strip()
    value = value_in(stated, QUANTITIES[name], where, faults)
    return None if value is None else Bound(name, _ASCII.get(match["sign"], match["sign"]), value, stated)
