"""Quantile functions without a closed form, tabulated so that they run inside a kernel.

The table is a piecewise polynomial in the normal score z, for the quantile after a monotone map that opens the ends
of the support it comes close to: a gamma of shape 0.1 keeps its relative accuracy near 0 as ln x, and a Cauchy as
arcsinh x. Cells are split until the polynomial's score error |Phi^-1(F(x)) - z| is below 1e-9 (after three rounds,
where rounding may stand in the way: its error in probability below 4e-10), or it meets the exact quantile to rounding,
or the cell is so narrow that it holds less than 1e-9 of the mass. Where the polynomial would fall somewhere, or a
narrow cell holds the jump between far-apart components, the cell is a straight line. The table is then held against the
cumulative probability: one that misses is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from uncertain_botec.distributions.base import Distribution, Floats, Leaves, Support
from uncertain_botec.distributions.counts import whole
from uncertain_botec.distributions.inverse import SMALLEST
from uncertain_botec.distributions.level import Level, ascending_cell, held, level_of_z, score_of_tails
from uncertain_botec.errors import ElicitationError

Z_END = 8.3
"""Tables reach from -8.3 to 8.3: Phi(-8.3) = 5e-17 lies beyond any float64 below 1. Beyond they are constant."""

FIRST_CELLS = 64
SPLIT = 4
MOST_CELLS = 8192
TOLERANCE = 1e-9
STRICT_ROUNDS = 3
NARROW = 2e-9
EPSILON = 2.0**-52
ZERO_DISTANCE = -750.0
"""Stands for the logarithm of a distance below 1e-300 in a table: exp of it is exactly 0."""

MOST_MISSED = 1e-6
"""How far in probability a table may be from its distribution before it is refused."""

DEGREE = 5
NEWTON_STEPS = 8
"""With as many, a polynomial whose slope varies fiftyfold is solved to rounding; three do for most cells."""
NODES = 0.5 - 0.5 * np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
TESTS = 0.5 * (NODES[1:] + NODES[:-1])
TO_COEFFICIENTS = np.linalg.inv(NODES[1:, None] ** np.arange(1, DEGREE + 1))
FINE = np.linspace(0.0, 1.0, 33)


@dataclass(frozen=True, eq=False)
class Tabulated(Leaves):
    """A tabulated quantile function: y = sum_k coefficients[k, cell] t^k, then x from y by `coordinate`.

    Attributes:
        edges: lower ends of the cells in z, ascending.
        inverse_widths: one for each cell; t = (z - edge) * inverse_width, held inside [0, 1].
        coefficients: of shape (degree + 1, cells).
        low, high: the support.
        origin, scale: of the arcsinh coordinate.
        coordinate: the name of the map from x to y.
        whole: whether x is the extension of a count.
        smooth: whether the distribution has no point with mass of its own, so that `score` is its normal score.
    """

    edges: Any
    inverse_widths: Any
    coefficients: Any
    low: float
    high: float
    origin: float
    scale: float
    coordinate: str = field(metadata={"static": True})
    whole: bool = field(metadata={"static": True})
    smooth: bool = field(metadata={"static": True})
    closed_form: ClassVar[bool] = True

    @property
    def support(self) -> Support:
        return (self.low, self.high)

    def quantile(self, level: Level) -> Any:
        z = level.z
        xp = z.__array_namespace__()
        edges, inverse_widths, coefficients = (
            xp.asarray(a, dtype=z.dtype) for a in (self.edges, self.inverse_widths, self.coefficients)
        )
        cell = xp.searchsorted(edges[1:], z, side="right")
        t = xp.clip((z - edges[cell]) * inverse_widths[cell], 0.0, 1.0)
        y = coefficients[0][cell] + _polynomial([row[cell] for row in coefficients[1:]], t)
        x = xp.clip(self._from_coordinate(y), self.low, self.high)
        return whole(x) if self.whole else x

    def score(self, x: Any) -> Any:
        """The normal score of an array of values, elementwise in its namespace: the inverse of `quantile`.

        -inf and inf outside the support. Between the table and an end of the support, where no float64 below 1 is
        a level, the outermost polynomial goes on as a straight line.
        """
        xp = x.__array_namespace__()
        edges, inverse_widths, coefficients = (
            xp.asarray(a, dtype=x.dtype) for a in (self.edges, self.inverse_widths, self.coefficients)
        )
        inside = (x > self.low) & (x < self.high)
        y = self._to_coordinate(xp.where(inside, x, self.origin))
        place = held(y)
        cell = ascending_cell(coefficients[0][1:], place)
        slopes = [row[cell] for row in coefficients[1:]]
        t = _root(slopes, place - coefficients[0][cell])
        rate = _derivative(slopes, t) * inverse_widths[cell]
        rising = rate >= xp.finfo(x.dtype).tiny
        dz_dy = xp.where(rising, 1.0 / xp.where(rising, rate, 1.0), 0.0)
        # Beyond the table the distance to its end; inside it is zero, and there for its derivative.
        first, last = coefficients[0][0], coefficients[:, -1].sum()
        onward = y - xp.where(place < first, first, xp.where(place > last, last, place))
        z = edges[cell] + t / inverse_widths[cell] + dz_dy * onward
        return xp.where(inside, z, xp.where(x <= self.low, -xp.inf, xp.inf))

    def sampling_form(self) -> Tabulated:
        return self

    def _from_coordinate(self, y: Any) -> Any:
        xp = y.__array_namespace__()
        if self.coordinate == "log":
            return self.low + xp.exp(y)
        if self.coordinate == "log from above":
            return self.high - xp.exp(-y)
        if self.coordinate == "logit":
            nearer = xp.exp(-xp.abs(y))
            distance = (self.high - self.low) * nearer / (1.0 + nearer)
            return xp.where(y < 0, self.low + distance, self.high - distance)
        if self.coordinate == "arcsinh":
            return self.origin + self.scale * xp.sinh(y)
        return y

    def _to_coordinate(self, x: Any) -> Any:
        xp = x.__array_namespace__()
        if self.coordinate == "log":
            return _log_distance(x - self.low)
        if self.coordinate == "log from above":
            return -_log_distance(self.high - x)
        if self.coordinate == "logit":
            logit = _log_distance(x - self.low) - _log_distance(self.high - x)
            return xp.clip(logit, ZERO_DISTANCE, -ZERO_DISTANCE)
        if self.coordinate == "arcsinh":
            return xp.asinh((x - self.origin) / self.scale)
        return x


@lru_cache(maxsize=256)
def tabulate(distribution: Distribution) -> Tabulated:
    """The table of a distribution's exact quantile function; for counts, of their continuous extension.

    Raises:
        ElicitationError: values that float64 cannot hold, or mass so crowded that no table is right.
    """
    source = distribution.count_extension() or distribution
    exact = _exact_quantile(source)
    landmarks = exact(np.array([-Z_END, -1.28, 0.0, 1.28, Z_END]))
    if not np.all(np.isfinite(landmarks)):
        raise ElicitationError(
            "draws of this distribution would exceed 1e308, the largest number that there is",
            got=f"p10 = {landmarks[1]:g}, p90 = {landmarks[3]:g}, and tails that go on like that",
            expected="lighter tails, which a student-t has from about df = 0.06 on",
            fix="state a larger df, or add `truncate` with finite ends",
        )
    usual = _empty(source.support, landmarks, whole=source is not distribution, smooth=distribution.smooth)
    missed = 1.0
    # What opens an end leaves no digits for mass that crowds around a point inside, as a gamma's does in a mixture.
    for shape in (usual, replace(usual, coordinate="identity")):
        edges, widths, coefficients = _adapt(source, shape, exact)
        order = np.argsort(edges)
        table = replace(
            shape, edges=edges[order], inverse_widths=1.0 / widths[order], coefficients=coefficients[:, order]
        )
        missed = min(missed, _missed(distribution, table))
        if missed <= MOST_MISSED:
            return table
    raise ElicitationError(
        "this distribution crowds around single points too closely to be drawn from",
        got=f"values that would be off by {missed:.1g} in probability",
        expected="components that spread more, such as gammas of a larger shape",
        fix="what is as good as one value is better stated as family fixed",
    )


def _missed(distribution: Distribution, table: Tabulated) -> float:
    """How far, in probability, the table is from the quantiles, if x is known to rounding; nan if it is no number."""
    z = (table.edges[:, None] + np.array([0.1, 0.5, 0.9]) / table.inverse_widths[:, None]).ravel()
    x = table.quantile(level_of_z(z))
    rounding = _rounding(x)
    missed = np.maximum(distribution.cdf(x - rounding) - ndtr(z), ndtr(z) - distribution.cdf(x + rounding))
    return float(np.max(missed))


def _rounding(x: Floats) -> Floats:
    """How far a tabulated value may be from the exact one because of rounding alone."""
    return 64.0 * EPSILON * np.abs(x) + 2.0 * SMALLEST


def _exact_quantile(source: Distribution) -> Callable[[Floats], Floats]:
    def exact(z: Floats) -> Floats:
        return np.asarray(np.clip(source.quantile(level_of_z(z)), *source.support))

    return exact


def _empty(support: Support, landmarks: Floats, *, whole: bool, smooth: bool) -> Tabulated:
    """A table without cells: the coordinate that suits the support and the quantiles at z = -8.3, -1.28, 0, 1.28, 8.3.

    An end of the support is opened when the distribution comes within a tenth of its spread of it.
    """
    lowest, p10, median, p90, highest = (float(v) for v in landmarks)
    low, high = support
    spread = p90 - p10
    near_low, near_high = lowest - low <= 0.1 * spread, high - highest <= 0.1 * spread
    if near_low and near_high:
        coordinate = "logit"
    elif near_low or near_high:
        coordinate = "log" if near_low else "log from above"
    else:
        coordinate = "arcsinh" if 0 < 1e3 * spread < highest - lowest else "identity"
    none = np.empty(0)
    return Tabulated(none, none, none, low, high, median, spread, coordinate, whole, smooth)


def _adapt(source: Distribution, shape: Tabulated, exact: Callable[[Floats], Floats]) -> tuple[Floats, Floats, Floats]:
    """Cells split until each passes: their lower ends, widths and coefficients, in no order."""
    edges = np.linspace(-Z_END, Z_END, FIRST_CELLS + 1)[:-1]
    widths = np.full(FIRST_CELLS, 2.0 * Z_END / FIRST_CELLS)
    done: list[tuple[Floats, Floats, Floats]] = []
    count = rounds = 0
    while len(edges):
        z = edges[:, None] + widths[:, None] * np.concatenate((NODES, TESTS))
        x = exact(z.ravel()).reshape(z.shape)
        nodes, tests = x[:, : DEGREE + 1], x[:, DEGREE + 1 :]
        y = shape._to_coordinate(nodes)
        coefficients = np.vstack((y[:, 0], TO_COEFFICIENTS @ (y[:, 1:] - y[:, :1]).T))
        rising = np.all(np.diff(_horner(coefficients, FINE), axis=1) >= 0.0, axis=1)
        line = np.zeros_like(coefficients)
        line[0], line[1] = y[:, 0], y[:, -1] - y[:, 0]
        coefficients = np.where(rising, coefficients, line)
        fitted = np.clip(shape._from_coordinate(_horner(coefficients, TESTS)), *source.support)
        agrees = _agrees(source, fitted, tests, z[:, DEGREE + 1 :], strict=rounds < STRICT_ROUNDS)
        final = np.all(agrees, axis=1) | (widths < NARROW) | (count + SPLIT * len(edges) > MOST_CELLS)
        coefficients = np.where(final & ~np.all(agrees, axis=1), line, coefficients)
        done.append((edges[final], widths[final], coefficients[:, final]))
        count += int(np.count_nonzero(final))
        parts = np.arange(SPLIT) / SPLIT
        edges = (edges[~final, None] + widths[~final, None] * parts).ravel()
        widths = np.repeat(widths[~final] / SPLIT, SPLIT)
        rounds += 1
    return tuple(np.concatenate(parts, axis=-1) for parts in zip(*done, strict=True))  # type: ignore[return-value]


def _agrees(source: Distribution, fitted: Floats, exact: Floats, z: Floats, *, strict: bool) -> NDArray[np.bool_]:
    """Whether tabulated quantiles meet the exact ones, in the normal score or else in probability, or to rounding."""
    error = np.abs(score_of_tails(source.cdf(fitted), source.sf(fitted)) - z)
    if not strict:
        error *= np.exp(-0.5 * z**2)
    rounding = 2.0 * EPSILON * np.abs(exact) + SMALLEST if strict else _rounding(exact)
    return np.asarray((error < TOLERANCE) | (np.abs(fitted - exact) <= rounding))


def _log_distance(distance: Any) -> Any:
    xp = distance.__array_namespace__()
    held_by_dtype = distance >= max(SMALLEST, float(xp.finfo(distance.dtype).tiny))
    return xp.where(held_by_dtype, xp.log(xp.where(held_by_dtype, distance, 1.0)), ZERO_DISTANCE)


def _polynomial(slopes: Sequence[Any], t: Any) -> Any:
    """c1 t + ... + c5 t^5, elementwise."""
    y = slopes[-1]
    for slope in slopes[-2::-1]:
        y = slope + t * y
    return t * y


def _derivative(slopes: Sequence[Any], t: Any) -> Any:
    """c1 + 2 c2 t + ... + 5 c5 t^4, elementwise."""
    y = len(slopes) * slopes[-1]
    for k in range(len(slopes) - 1, 0, -1):
        y = k * slopes[k - 1] + t * y
    return y


def _root(slopes: Sequence[Any], height: Any) -> Any:
    """The t in [0, 1] where the rising polynomial c1 t + ... + c5 t^5 comes to `height`, elementwise.

    Newton's method from the chord, with a bisection wherever a step would leave the bracket. By more than rounding:
    a compiler may round two copies of one number differently, and a root that is found would be lost.
    """
    xp = height.__array_namespace__()
    rounding = float(xp.finfo(height.dtype).eps) ** 0.5
    total = sum(slopes)
    # Of a cell with an end at infinity as well, this is a number.
    between = (height > 0) & (height < total)
    t = xp.where(between, height / xp.where(between, total, 1.0), xp.where(height > 0, 1.0, 0.0))
    low, high = xp.zeros_like(t), xp.ones_like(t)
    for _ in range(NEWTON_STEPS):
        excess = _polynomial(slopes, t) - height
        low, high = xp.where(excess < 0, t, low), xp.where(excess < 0, high, t)
        rate = _derivative(slopes, t)
        step = t - excess / xp.where(rate > 0, rate, 1.0)
        taken = (rate > 0) & (step >= low - rounding) & (step <= high + rounding)
        t = xp.where(taken, step, 0.5 * (low + high))
    return xp.clip(t, 0.0, 1.0)


def _horner(coefficients: Floats, t: Floats) -> Floats:
    """The polynomials at t, of shape (cells, points)."""
    return np.asarray(coefficients[0][:, None] + _polynomial([row[:, None] for row in coefficients[1:]], t))
