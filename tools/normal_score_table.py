"""Fit the rational functions of the normal score and print them: `python tools/normal_score_table.py` (ten seconds).

It needs mpmath, which is no dependency: `uv run --with mpmath python tools/normal_score_table.py`.

With s = 2 u - 1 and w = -ln(1 - s^2), the fit is of Phi^-1(u) / s by P(w) / Q(w), Q(0) = 1, on Chebyshev's nodes of
(0, 1) to the power CLUSTERING, times the range of w. Multiplied by Q the equation P - y Q = 0 is linear in the
coefficients, so that dividing it by y times the Q of the iteration before makes its residual the relative error of the
quotient (Sanathanan and Koerner, IEEE Trans. Autom. Control 8, 56-58, 1963). From one iteration to the next each node
gains weight with its error (Lawson's rule, damped), which brings least squares near the smallest largest error; the
iteration with the smallest of them is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import mpmath as mp

DIGITS = 60
ITERATIONS = 20
CLUSTERING = 1.5  # nodes towards w = 0, the median, where most draws are
DAMPING = "0.02"


class Precision(NamedTuple):
    """What is fitted for one precision.

    Attributes:
        degree: of numerator and denominator alike.
        reach: the greatest w, a little beyond -ln(4 u (1 - u)) of the least u that is drawn.
        nodes: where the function is fitted.
        digits: that are printed.
    """

    degree: int
    reach: str
    nodes: int
    digits: int


PRECISIONS = {
    "float64": Precision(12, "36.1", 260, 17),  # 2^-53 is at 35.35
    "float32": Precision(5, "15.95", 120, 10),  # 2^-24 is at 15.25
}


def score_over_s(w: Any) -> Any:
    """Phi^-1(u) / s for w > 0, by Halley's method on the complementary error function."""
    s = mp.sqrt(-mp.expm1(-w))
    tail = mp.exp(-w) / (1 + s)  # 1 - s without cancellation
    z = mp.sqrt(2) * mp.erfinv(mp.mpf(float(s))) if s < 0.9999 else mp.sqrt(2 * w - mp.log(4 * mp.pi * w))
    for _ in range(60):
        newton = (tail - mp.erfc(z / mp.sqrt(2))) / (mp.sqrt(2 / mp.pi) * mp.exp(-z * z / 2))
        step = newton / (1 - newton * z / 2)
        z -= step
        if abs(step) < mp.mpf(10) ** (10 - DIGITS):
            return z / s
    raise ArithmeticError(f"no score found at w = {mp.nstr(w, 10)}")


def fitted(precision: Precision) -> tuple[Any, list[Any], list[Any]]:
    """The largest relative error at any node, and the coefficients of numerator and denominator, ascending."""
    degree, count = precision.degree, precision.nodes
    chebyshev = [(1 - mp.cos(mp.pi * (k + mp.mpf(1) / 2) / count)) / 2 for k in range(count)]
    nodes = [mp.mpf(precision.reach) * x**CLUSTERING for x in chebyshev]
    exact = [score_over_s(w) for w in nodes]
    weights, before = [mp.mpf(1)] * count, [mp.mpf(1)] * count
    damping = mp.mpf(DAMPING)
    best: tuple[Any, list[Any], list[Any]] = (mp.inf, [], [])
    for _ in range(ITERATIONS):
        equations, right = mp.matrix(count, 2 * degree + 1), mp.matrix(count, 1)
        for row, (w, y) in enumerate(zip(nodes, exact, strict=True)):
            scale = mp.sqrt(weights[row]) / (before[row] * y)
            for power in range(degree + 1):
                equations[row, power] = scale * w**power
            for power in range(1, degree + 1):
                equations[row, degree + power] = -scale * y * w**power
            right[row] = scale * y
        found = list(mp.lu_solve(equations, right))
        numerator, denominator = found[: degree + 1], [mp.mpf(1), *found[degree + 1 :]]
        before = [mp.polyval(denominator[::-1], w) for w in nodes]
        quotients = [mp.polyval(numerator[::-1], w) / q for w, q in zip(nodes, before, strict=True)]
        errors = [abs(quotient / y - 1) for quotient, y in zip(quotients, exact, strict=True)]
        largest = max(errors)
        if largest < best[0]:
            best = largest, numerator, denominator
        weights = [one * (error / largest + damping) for one, error in zip(weights, errors, strict=True)]
        mean = sum(weights) / count
        weights = [one / mean for one in weights]
    return best


def written(coefficients: Sequence[Any], digits: int) -> str:
    """A tuple of Python: of the nearest float64, or of so many digits where that is fewer."""
    shown = [repr(float(one)) if digits >= 17 else f"{float(one):.{digits}g}" for one in coefficients]
    return f"({', '.join(shown)})"


def main() -> None:
    """Print what `_RATIONAL` holds."""
    mp.mp.dps = DIGITS
    for name, precision in PRECISIONS.items():
        largest, *polynomials = fitted(precision)
        if min(min(one) for one in polynomials) <= 0:
            raise ArithmeticError(f"{name}: a coefficient is not positive, so that terms cancel")
        print(f'"{name}": (  # relative error at most {mp.nstr(largest, 3)} before rounding')
        for polynomial in polynomials:
            print(f"    {written(polynomial, precision.digits)},")
        print("),")


if __name__ == "__main__":
    main()
