"""What a sweep goes over: `accelerators=256:8192:x2`, `mfu=30 %,40 %`, `prices=neocloud-2026,hyperscaler-2026`.

NAME=A:B:xK        from A to B, each K times the one before
NAME=A:B:K         from A to B in steps of K; also A:B:+K
NAME=V,V,V         these values: of an input, or words of a choice, or files to include
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from uncertain_botec.choices import CHOICES
from uncertain_botec.decisions.figures import DecisionError, comes_whole, shown
from uncertain_botec.errors import Fault
from uncertain_botec.library import did_you_mean, parts, shipped
from uncertain_botec.risk.requirements import value_in
from uncertain_botec.units import is_count
from uncertain_botec.vocabulary import QUANTITIES

MOST_POINTS = 100_000
"""Points of a grid; more take minutes and are nothing to look at."""

FORMS = "NAME=A:B:xK, NAME=A:B:K or NAME=V,V,... such as accelerators=256:8192:x2 or mfu=30 %,40 %"

# A range ends with its last value where that misses the end by rounding alone.
_ROUNDING = 1e-9

_RANGE = re.compile(r"(?P<low>[^:,]+):(?P<high>[^:,]+):\s*(?P<sign>[x×*+]?)\s*(?P<step>[^:,]+)")


@dataclass(frozen=True)
class Axis:
    """What is varied, and its values.

    Attributes:
        name: of an input or a choice, or of a kind of files.
        kind: "input", "choice" or "file".
        values: in base units for an input; words of a choice; or what an `include` names.
        labels: the values for people.
        unit: that an input is printed in, or "".
    """

    name: str
    kind: str
    values: tuple[Any, ...]
    labels: tuple[str, ...]
    unit: str = ""

    def printed(self, place: int) -> float | str:
        """One value as it is reported: in the printed unit, or a word."""
        return shown(self.values[place], self.unit) if self.kind == "input" else self.labels[place]


def kinds_of_files() -> dict[str, str]:
    """The names under which files are swept over, each with the folder of shipped ones."""
    kinds = {one: one for one in parts() if one != "accelerators"}
    # The input `accelerators` says how many; a market is a file of prices.
    return {**kinds, "accelerator": "accelerators", "price_market": "prices"}


def read_axes(
    over: Iterable[str | Axis] | Mapping[str, Sequence[float | str]], inputs: Iterable[str]
) -> tuple[Axis, ...]:
    """Read what is to be varied.

    Args:
        over: texts such as "accelerators=256:8192:x2", or values by name: numbers in base units, or texts.
        inputs: the names that a run takes, which are told where a name is none.

    Raises:
        DecisionError: with every fault found in any of them, or a grid of more than `MOST_POINTS`.
    """
    faults: list[Fault] = []
    known = tuple(dict.fromkeys((*inputs, *CHOICES, "precision", *kinds_of_files())))
    if isinstance(over, Mapping):
        found = [_of_values(name, [*values], known, faults) for name, values in over.items()]
    else:
        found = [one if isinstance(one, Axis) else _of_text(one, known, faults) for one in over]
    axes = tuple(one for one in found if one is not None)
    names = [one.name for one in axes]
    faults += [
        Fault(f"{name} is varied twice", "--over", name, None, "each name once", "join its values in one list")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if not faults and not axes:
        faults.append(Fault("nothing is varied", "--over", "nothing", None, FORMS))
    count = math.prod(len(one.values) for one in axes)
    if count > MOST_POINTS:
        sizes = " x ".join(f"{len(one.values):,}" for one in axes)
        faults.append(_too_many(" ".join(names), f"{sizes} = {count:,} points"))
    if faults:
        raise DecisionError(faults)
    return axes


def _too_many(path: str, got: str) -> Fault:
    return Fault("the grid is too fine", "--over", path, got, f"at most {MOST_POINTS:,} points", "take larger steps")


def _of_text(text: str, known: Sequence[str], faults: list[Fault]) -> Axis | None:
    name, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not name or not values:
        faults.append(Fault("this varies nothing", "--over", text, text or "nothing", FORMS))
        return None
    if not _is_known(name, known, text, faults):
        return None
    if name in QUANTITIES:
        if match := _RANGE.fullmatch(values):
            return _range(name, match, text, faults)
        if ":" in values:
            expected = "a range A:B:xK or A:B:K, or values with commas between them"
            faults.append(Fault("this is not a range", "--over", text, values, expected, _fix_of_range(values)))
            return None
    return _of_values(name, [one.strip() for one in values.split(",")], known, faults, text)


def _fix_of_range(values: str) -> str | None:
    return f"write {values}:x2 to double from one to the next" if values.count(":") == 1 else None


def _is_known(name: str, known: Sequence[str], text: str, faults: list[Fault]) -> bool:
    if name in known or name in QUANTITIES:
        return True
    expected = f"an input, a choice ({', '.join(CHOICES)}, precision) or files ({', '.join(kinds_of_files())})"
    fix = did_you_mean(name, dict.fromkeys((*known, *QUANTITIES)))
    faults.append(Fault(f"there is nothing called {name} to vary", "--over", text, name, expected, fix))
    return False


def _of_values(
    name: str, values: Sequence[float | str], known: Sequence[str], faults: list[Fault], text: str = ""
) -> Axis | None:
    """An axis of values that are listed."""
    text = text or name
    if not _is_known(name, known, text, faults):
        return None
    before = len(faults)
    if not values:
        faults.append(Fault(f"{name} has no values", "--over", text, "nothing", FORMS))
    if name in QUANTITIES:
        made = [_value(name, one, text, faults) for one in values]
        read = [one for one in made if one is not None]
        axis = _of_numbers(name, read)
    else:
        axis = _of_words(name, [str(one) for one in values], text, faults)
    if len({*axis.values}) < len(axis.values):
        faults.append(
            Fault(f"{name} has one value twice", "--over", text, ", ".join(axis.labels), "values that differ")
        )
    return axis if len(faults) == before else None


def _value(name: str, stated: float | str, text: str, faults: list[Fault]) -> float | None:
    quantity = QUANTITIES[name]
    if isinstance(stated, str):
        value = value_in(stated, quantity, ("--over", text), faults)
    elif quantity.admits(stated):
        value = float(stated)
    else:
        faults.append(Fault(f"{name} cannot be {stated:g}", "--over", text, f"{stated:g}", quantity.limits))
        return None
    if value is not None and comes_whole(name) and value != int(value):
        faults.append(Fault(f"{name} comes in whole numbers", "--over", text, str(stated), "a whole number"))
        return None
    return value


def _of_numbers(name: str, values: Sequence[float]) -> Axis:
    unit = QUANTITIES[name].unit
    return Axis(name, "input", tuple(values), tuple(label_of(shown(one, unit)) for one in values), unit)


def label_of(value: float) -> str:
    """A swept value in its printed unit for people: as short as it is exact."""
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e9 else f"{value:.6g}"


def _of_words(name: str, words: Sequence[str], text: str, faults: list[Fault]) -> Axis:
    if name in kinds_of_files():
        kind = kinds_of_files()[name]
        files = tuple(word if word.endswith(".toml") or "/" in word else f"{kind}/{word}" for word in words)
        for word, file in zip(words, files, strict=True):
            if file.startswith(f"{kind}/") and not word.endswith(".toml") and word not in shipped(kind):
                expected = f"one of {', '.join(shipped(kind))}, or the path of a file beside the run's"
                fix = did_you_mean(word, shipped(kind))
                faults.append(Fault(f"there is no file of {kind} called {word}", "--over", text, word, expected, fix))
        return Axis(name, "file", files, tuple(words))
    options = _words_of(name)
    for word in words:
        if word not in options:
            fix = did_you_mean(word, options)
            faults.append(Fault(f"{name} is never {word}", "--over", text, word, f"one of {', '.join(options)}", fix))
    return Axis(name, "choice", tuple(words), tuple(words))


def _words_of(choice: str) -> tuple[str, ...]:
    if choice in CHOICES:
        return tuple(CHOICES[choice].options)
    # What reads prior files loads pydantic.
    from uncertain_botec.prior_files.schema import Precision

    return get_args(Precision)


def _range(name: str, match: re.Match[str], text: str, faults: list[Fault]) -> Axis | None:
    """The values of a range, as many as a grid may have."""
    quantity = QUANTITIES[name]
    before = len(faults)
    low, high = (value_in(match[end].strip(), quantity, ("--over", text), faults) for end in ("low", "high"))
    times = match["sign"] in ("x", "×", "*") and bool(match["sign"])
    # A step may be what the quantity itself cannot.
    free = replace(quantity, low=-math.inf, high=math.inf, open="", whole=False)
    if times:
        free = replace(free, unit="fraction", name="the factor", example="2")
    elif is_count(quantity.unit):
        free = replace(free, name="the step")
    step = value_in(match["step"].strip(), free, ("--over", text), faults)
    if len(faults) > before or low is None or high is None or step is None:
        return None
    least = 1.0 if times else 0.0
    if step <= least:
        what = "factor" if times else "step"
        expected = f"a {what} of more than {least:g}"
        faults.append(Fault(f"this {what} goes nowhere", "--over", text, match["step"].strip(), expected))
        return None
    if low > high or (times and low <= 0):
        expected = "a range that starts above 0" if times and low <= 0 else "a range that goes up"
        fix = f"write {name}={match['high'].strip()}:{match['low'].strip()}:{match['sign']}{match['step'].strip()}"
        faults.append(Fault("this range is empty", "--over", text, match[0], expected, fix if low > high > 0 else None))
        return None
    steps = math.log(high / low) / math.log(step) if times else (high - low) / step
    if steps + 1 > MOST_POINTS:
        faults.append(_too_many(text, f"{steps + 1:,.0f} values"))
        return None
    at: Callable[[int], float] = (lambda i: low * step**i) if times else (lambda i: low + i * step)
    values = [at(i) for i in range(math.floor(steps + _ROUNDING) + 1)]
    # Rounding may lead past the end, which may be as far as the quantity goes.
    values = [min(one, high) for one in values]
    whole = [float(round(one)) for one in values] if comes_whole(name) else values
    return _of_numbers(name, list(dict.fromkeys(whole)))
