"""One pint registry, and the two places where units change: text to base units at load, base units to text at print.

Base units inside the program: FLOP, second, byte, joule, gram, USD, token, parameter, accelerator, node, user.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pint

# A registry of our own rather than pint's several hundred physical units: an unknown word is then an error that can
# name what is meant, "B" is a byte and never a bel, and start-up does not parse a file of definitions.
_DEFINITIONS = """
femto- = 1e-15 = f-
pico- = 1e-12 = p-
nano- = 1e-9 = n-
micro- = 1e-6 = µ- = u-
milli- = 1e-3 = m-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
peta- = 1e15 = P-
exa- = 1e18 = E-
zetta- = 1e21 = Z-
yotta- = 1e24 = Y-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
gibi- = 1073741824 = Gi-
tebi- = 1099511627776 = Ti-
second = [time] = s = sec
minute = 60 second = min
hour = 3600 second = h = hr
day = 86400 second = d
week = 604800 second
year = 31557600 second = yr
month = 2629800 second
byte = [information] = B
bit = 0.125 byte
joule = [energy] = J
watt = joule / second = W
watt_hour = 3600 joule = Wh
gram = [mass] = g
tonne = 1000000 gram = t
USD = [money] = usd = dollar
token = [token] = tok
parameter = [parameter] = param
accelerator = [accelerator] = GPU = gpu = TPU = chip
node = [node] = server
user = [user]
FLOP = [flop] = flop
FLOPS = FLOP / second
fraction = []
percent = 0.01 fraction = %
count = []
failure = [] = event = preemption
request = []
replica = []
"""

_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
_SCALE_WORDS = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "quadrillion": 1e15}
_NUMBER = re.compile(
    r"(?P<number>[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf|nan)(?P<rest>.*)", re.DOTALL
)
_SCALE = re.compile(
    rf"(?P<scale>{'|'.join(_SCALE_WORDS)}|[{''.join(_SCALES)}](?![A-Za-z/*^-]))\s*(?P<unit>.*)", re.DOTALL
)
_HYPHENATED = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)+")
_MAX_TEXT = 200


class UnitError(ValueError):
    """A text that is not a quantity of the wanted dimension; `fix` says what to write instead."""

    def __init__(self, message: str, fix: str | None = None) -> None:
        self.fix = fix
        super().__init__(message)


@cache
def registry() -> pint.UnitRegistry[Any]:
    """The one registry, built on first use because importing pint takes longer than reading a plain number."""
    import pint

    units: pint.UnitRegistry[Any] = pint.UnitRegistry(None, autoconvert_offset_to_baseunit=False)
    units.load_definitions([line for line in _DEFINITIONS.splitlines() if line])
    return units


@cache
def unit_of(text: str) -> tuple[float, tuple[tuple[str, float], ...]]:
    """The factor to base units and the dimension of a unit written for people, such as `USD/accelerator-hour`.

    The dimension is a sorted tuple of (name, power), so that it compares and hashes.

    Raises:
        UnitError: the text holds a word that is not a unit.
    """
    import pint

    # A hyphen joins: "USD/accelerator-hour" is per accelerator-hour, not per accelerator times hour.
    joined = _HYPHENATED.sub(lambda match: "(" + match.group().replace("-", "*") + ")", text.replace("%", "percent"))
    if not re.fullmatch(r"[\w µ*/^().-]*", joined) or len(text) > _MAX_TEXT:
        raise UnitError(f"{text[:40]!r} is not a unit")
    try:
        joined = joined.strip()
        # "-0.1 / year" leaves "/ year".
        parsed = registry().parse_units(f"1{joined}" if joined.startswith("/") else joined or "count")
        quantity = registry().Quantity(1.0, parsed).to_base_units()
    except pint.UndefinedUnitError as error:
        word = str(error.args[0])
        raise UnitError(f"{word!r} is not a unit known here", _hint(word)) from None
    except Exception as error:
        # pint's parser raises whatever its tokenizer met (SyntaxError, AttributeError, TypeError, ...).
        raise UnitError(f"{text!r} is not a unit") from error
    powers = quantity.dimensionality.items()
    return float(str(quantity.magnitude)), tuple(sorted((str(name), float(str(power))) for name, power in powers))


def _hint(word: str) -> str | None:
    if re.fullmatch(r"[kMGTPEZ]?(flops|FLOPs)", word):
        return f'write "{word[:-1]}" for an amount or "{word[:-1]}/s" for a rate'
    if word.upper() in {"EUR", "GBP", "CNY", "JPY", "CHF"}:
        return "money is in USD: convert it and say at what rate in `note`"
    return None


def parse_quantity(text: str, unit: str) -> float:
    """The value of a text such as `"15T token"`, `"40 %"` or `"2.2 USD/hour"`, in base units.

    Args:
        text: a number, perhaps a scale (k, M, B, T, million, ...), and a unit.
        unit: a unit of the dimension that is wanted. A quantity that is "per accelerator" may leave that out.

    Raises:
        UnitError: not a number, an unknown unit, no unit, or a unit of another dimension.
    """
    if len(text) > _MAX_TEXT:
        raise UnitError(f"a quantity of {len(text)} characters")
    if re.match(r"\s*[+-]?\d{1,3}(,\d{3})+", text):
        raise UnitError("a comma is not part of a number", f'write "{text.strip().replace(",", "_")}"')
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise UnitError("a quantity starts with a number")
    number, rest = float(match["number"].replace("_", "")), match["rest"].strip()
    _, wanted = unit_of(unit)
    scale = 1.0
    if (scaled := _SCALE.fullmatch(rest)) and not (rest == "B" and ("[information]", 1.0) in wanted):
        word = scaled["scale"]
        scale, rest = _SCALE_WORDS.get(word) or _SCALES[word], scaled["unit"].strip()
    elif not rest:
        raise UnitError("a number in quotes needs its unit", f"write {text.strip()} without quotes, or with its unit")
    factor, dimension = unit_of(rest)
    if not rest and all(name in _COUNTS for name, _ in wanted):
        dimension = wanted
    if dimension != wanted and _without_accelerator(wanted) != dimension:
        what = repr(rest) if rest else "a plain number"
        raise UnitError(f"{what} measures {_say(dimension)}, not {_say(wanted)}", _hint(rest))
    # Dividing by 100 keeps "28 %" equal to 0.28, which multiplying by 0.01 does not.
    return number * scale * factor if factor >= 1 else number * scale / (1 / factor)


# What is counted may be stated as a plain number: the name of the input says what is counted.
_COUNTS = frozenset({"[token]", "[parameter]", "[accelerator]", "[node]", "[user]"})


def is_count(unit: str) -> bool:
    """Whether a plain number states this quantity unmistakably: a fraction, or a count of things."""
    _, dimension = unit_of(unit)
    return all(name in _COUNTS for name, _ in dimension)


def _without_accelerator(dimension: tuple[tuple[str, float], ...]) -> tuple[tuple[str, float], ...] | None:
    rest = tuple(item for item in dimension if item != ("[accelerator]", -1.0))
    return rest if rest != dimension else None


def _say(dimension: tuple[tuple[str, float], ...]) -> str:
    def side(sign: int) -> str:
        powers = [(name.strip("[]"), abs(power)) for name, power in dimension if power * sign > 0]
        return " ".join(name if power == 1 else f"{name}^{power:g}" for name, power in powers)

    above, below = side(1), side(-1)
    return (above or ("1" if below else "a pure number")) + (f" per {below}" if below else "")


def to_display(value: Any, unit: str) -> Any:
    """Base units to the unit that is printed; works on numbers and arrays."""
    return value / unit_of(unit)[0]


def to_base(value: Any, unit: str) -> Any:
    """A number or array in the printed unit to base units."""
    return value * unit_of(unit)[0]


_NAMES_OF_POWERS = {3: "thousand", 6: "million", 9: "billion", 12: "trillion"}


def readable_scale(value: float, unit: str) -> tuple[float, str]:
    """The power of ten that makes a value readable, and what to call the unit then: (1e6, "million USD")."""
    if not math.isfinite(value) or value == 0 or 1e-3 <= abs(value) < 1e4:
        return 1.0, unit
    if abs(value) < 1:
        power = math.floor(math.log10(abs(value)))
        return 10.0**power, f"10^{power} {unit}"
    power = math.floor(math.log10(abs(value)) / 3) * 3
    if unit == "FLOP" or power > 12:
        power = math.floor(math.log10(abs(value)))
        return 10.0**power, f"10^{power} {unit}"
    return 10.0**power, f"{_NAMES_OF_POWERS[power]} {unit}"


def digits(value: float, error: float, most: int = 4) -> str:
    """A number with as many decimals as its standard error allows, and at most `most` significant digits.

    The last digit printed is not finer than the error's leading digit, so that what is printed is what is known.
    """
    if not math.isfinite(value):
        return str(value)
    magnitude = math.floor(math.log10(abs(value))) if value else 0
    decimals = most - 1 - magnitude
    if error > 0:
        decimals = min(decimals, -math.floor(math.log10(error)))
    if not -5 < magnitude < 8:
        return f"{value:.{max(decimals + magnitude, 0)}e}" if error > 0 else f"{value:.{most - 1}g}"
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"
