"""Smooth quantiles: one input integrated out analytically, and the smooth distribution function inverted.

Where all else equal an output is y = a + b t(x), and z = score(x) is the normal score of x, which given the other
inputs' scores is normal with mean m and standard deviation s,

    F(y) = E[ Phi((score(t^-1((y - a) / b)) - m) / s) ]        for y that rises with x,

the expectation over the other inputs alone: a mean of smooth functions of y, whose inverse is a quantile with some
hundred times less variance than an order statistic of as many draws (conditional Monte Carlo: Nakayama, ACM Trans.
Model. Comput. Simul. 24(4), article 25, 2014). Its standard error at level p is that of the replicates' F at the
quantile, divided by the density there (Bahadur's representation).

Everything here runs on arrays of NumPy and of JAX alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from uncertain_botec.distributions.level import special
from uncertain_botec.planning import Plan, evaluate
from uncertain_botec.sampling.smoothing import Line

# Draws of each replicate whose quantiles the search starts from.
_STARTS = 16

# One point in so many tells where all of them are asked first, so that these have hardly a step left to go.
_FEW = 8

# A step this small, relative to y, leaves no error to speak of: the normal score is so straight in w that what is left
# after it is less than a part in a thousand of it.
_CLOSE = 1e-3

# Closer than this, relative to y, two points tell no slope: their normal scores are rounded.
_SAME = 1e-8

SOLVED = 1e-6
"""How far from the quantile of its points a solution may be, relative to itself: more than was ever seen."""

# Steps of all points that are taken before it is asked whether they will do, for nearly always they do. A step inside a
# loop takes XLA on a CPU twice as long.
_AT_ONCE = 2

# Steps after which a search ends where it is: the secant method takes some four, halving a bracket fifty.
_MOST_STEPS = 60

# Probabilities this close to 0 and 1 have no normal score worth a step.
_LEAST = 1e-15

Loop = Callable[[Callable[[Any], Any], Callable[[Any], Any], Any], Any]


class Law(NamedTuple):
    """What is told of an input that is integrated out.

    Attributes:
        form: its distribution.
        ends: two of its values, through which lines are drawn.
        weights: of the other inputs' normal scores in its conditional mean, by name.
        spread: its conditional standard deviation.
    """

    form: Any
    ends: Any
    weights: Mapping[str, Any]
    spread: Any


class Smooth(NamedTuple):
    """One output.

    Attributes:
        quantiles: at the levels, over all points.
        density: there.
        levels_each: each replicate's F at the quantiles, of shape (levels, replicates).
        marks_each: and at the marked values, of shape (marks, replicates).
        bend: how far the output is from a straight line at any point, relative to itself.
        slopes: the least and the greatest slope of any point.
    """

    quantiles: Any
    density: Any
    levels_each: Any
    marks_each: Any
    bend: Any
    slopes: Any


class Straight(NamedTuple):
    """An output as a straight line in t at every point, and the law of the input x there.

    Attributes:
        intercept, slope: arrays of shape (replicates, points), as is the mean.
        mean, spread: of the normal score of x given the other inputs.
        form: of x.
        inverse: whether t is 1/x.
    """

    intercept: Any
    slope: Any
    mean: Any
    spread: Any
    form: Any
    inverse: bool

    def few(self) -> Straight:
        """The same at one point in `_FEW`."""
        intercept, slope, mean = (array[:, ::_FEW] for array in (self.intercept, self.slope, self.mean))
        return self._replace(intercept=intercept, slope=slope, mean=mean)

    def cdf(self, y: Any) -> Any:
        """F(y) by replicate, of shape (values of y, replicates)."""
        xp = y.__array_namespace__()
        t = (y[:, None, None] - self.intercept) / self.slope
        rising = self.slope > 0
        if self.inverse:
            # What 1/x is never below lies beyond every x.
            x = xp.where(t > 0, 1 / xp.where(t > 0, t, 1.0), xp.inf)
            rising = ~rising
        else:
            x = t
        z = (self.form.score(x) - self.mean) / self.spread
        # Phi by the complementary error function: precise in the lower tail, and the fastest of its kind in JAX.
        return xp.mean(0.5 * special(xp).erfc(xp.where(rising, -z, z) * math.sqrt(0.5)), axis=-1)


def smooth(
    plan: Plan,
    known: Mapping[str, Any],
    inputs: Mapping[str, Any],
    scores: Mapping[str, Any],
    laws: Mapping[str, Law],
    lines: Sequence[Line],
    levels: Any,
    marks: Mapping[str, Any],
    loop: Loop,
) -> dict[str, Smooth]:
    """The smooth quantiles of every output that has a line.

    Args:
        plan: the scenario's, without formulas that need luck.
        known: values of the inputs that are known.
        inputs: drawn values of the others, of shape (replicates, points).
        scores: their normal scores.
        laws: of the inputs that are integrated out.
        lines: one for each output.
        levels: ascending probabilities.
        marks: values at which F is asked for, by output.
        loop: `jax.lax.while_loop` or its like.
    """
    drawn = evaluate(plan, {**known, **inputs})
    straights, values = {}, {}
    for name, law in laws.items():
        at_ends = [evaluate(plan, {**known, **inputs, name: end}) for end in law.ends]
        mean = sum((weight * scores[other] for other, weight in law.weights.items()), 0 * inputs[name])
        for line in lines:
            if line.input == name:
                first, second = (ends[line.output] for ends in at_ends)
                start, end = (1 / x if line.inverse else x for x in law.ends)
                slope = (second - first) / (end - start) + 0 * mean
                intercept = first - slope * start
                straights[line] = Straight(intercept, slope, mean, law.spread, law.form, line.inverse)
                values[line] = drawn[line.output] + 0 * mean
    before = _start([values[line] for line in straights], levels)
    before = _solved([one.few() for one in straights.values()], before, levels, loop)
    found = _solved([*straights.values()], before, levels, loop, _AT_ONCE)
    return {
        line.output: _smooth(
            straight, inputs[line.input], values[line], marks[line.output], found.part(place, len(levels))
        )
        for place, (line, straight) in enumerate(straights.items())
    }


def _smooth(straight: Straight, x: Any, drawn: Any, marks: Any, found: _Search) -> Smooth:
    """What was found of one output, which as drawn tells whether it is straight in x."""
    xp = drawn.__array_namespace__()
    line = straight.intercept + straight.slope * (1 / x if straight.inverse else x)
    off = xp.abs(line - drawn) / xp.abs(drawn)
    return Smooth(
        found.y,
        found.density,
        found.each,
        straight.cdf(marks),
        # XLA's maximum on a CPU loses what is undefined.
        xp.where(xp.any(xp.isnan(off)), xp.inf, xp.max(off)),
        xp.stack([xp.min(straight.slope), xp.max(straight.slope)]),
    )


class _Search(NamedTuple):
    """Where a search for all levels of all outputs at once has come to; the levels of the first output come first.

    Attributes:
        at: w, to be tried next: ln y, or y itself.
        tried: the w that was tried last.
        score: the normal score of F there.
        each: each replicate's F there.
        slope: of the normal score around there.
        farthest: a step may go.
        positive: whether w is ln y, in which the normal score of most outputs is straight, however wide they are.
    """

    at: Any
    tried: Any
    score: Any
    each: Any
    slope: Any
    farthest: Any
    positive: Any

    @property
    def y(self) -> Any:
        """To be tried next."""
        xp = self.at.__array_namespace__()
        return xp.where(self.positive, xp.exp(xp.where(self.positive, self.at, 0.0)), self.at)

    @property
    def density(self) -> Any:
        """dF/dy where it was tried last."""
        xp = self.at.__array_namespace__()
        density = self.slope * xp.exp(-self.score * self.score / 2) / math.sqrt(2 * math.pi)
        return density / xp.where(self.positive, self.y, 1.0)

    def within(self, part: float) -> Any:
        """Whether the next step is this small, relative to y."""
        xp = self.at.__array_namespace__()
        return xp.abs(self.at - self.tried) <= part * xp.where(self.positive, 1.0, xp.abs(self.at))

    def part(self, place: int, size: int) -> _Search:
        """That of one output."""
        return _Search(*(one[place * size : (place + 1) * size] for one in self))


def _start(values: Sequence[Any], levels: Any) -> _Search:
    """The quantiles of some draws of each output, and the slopes that go with those around them."""
    xp = values[0].__array_namespace__()
    score = special(xp).ndtri
    replicates, size = values[0].shape
    some = xp.stack([one[:, :: max(1, size // _STARTS)].reshape(-1) for one in values])
    reach = xp.minimum(levels, 1 - levels) / 2
    around = xp.quantile(some, xp.concat([levels, levels - reach, levels + reach]), axis=1)
    positive = xp.min(around, axis=0) > 0
    around = xp.where(positive, xp.log(xp.where(positive, around, 1.0)), around)
    at, left, right = around.reshape(3, len(levels), len(values)).swapaxes(1, 2)
    run = xp.where(right > left, right - left, xp.inf)
    slope = (score(levels + reach) - score(levels - reach)) / run
    farthest = at[:, -1:] - at[:, :1] + 0 * at
    at, slope, farthest = at.reshape(-1), slope.reshape(-1), farthest.reshape(-1)
    positive = xp.repeat(positive, len(levels))
    return _Search(at, 0 * at, 0 * at, xp.zeros((len(at), replicates)), slope, farthest, positive)


def _solved(straights: Sequence[Straight], before: _Search, levels: Any, loop: Loop, at_once: int = 0) -> _Search:
    """The y where F(y) is each level, by the secant method on the normal score of F, which is nearly straight in w.

    A step that leaves the bracket of what was tried halves it; one that would go far goes no farther than the draws'
    own quantiles lie apart.
    """
    xp = before.at.__array_namespace__()
    functions = special(xp)
    levels = xp.concat([levels] * len(straights))
    targets = functions.ndtri(levels)

    def going(state: tuple[_Search, Any, Any, Any]) -> Any:
        (search, *_, steps) = state
        return (steps < _MOST_STEPS) & ~xp.all(search.within(_CLOSE))

    def closer(state: tuple[_Search, Any, Any, Any]) -> tuple[_Search, Any, Any, Any]:
        search, low, high, steps = state
        at = search.at
        parts = search.y.reshape(len(straights), -1)
        each = xp.concat([one.cdf(part) for one, part in zip(straights, parts, strict=True)])
        probability = xp.clip(xp.mean(each, axis=1), _LEAST, 1 - _LEAST)
        z = functions.ndtri(probability)
        low, high = xp.where(probability < levels, at, low), xp.where(probability >= levels, at, high)
        # Of a function that rises; where it does not from one point to the other, the slope says nothing.
        rise, run = z - search.score, at - search.tried
        rising = rise * run > 0
        slope = xp.where(rising, rise / xp.where(rising, run, 1.0), 0.0)
        # Nor do points that are the same but for rounding, or the first of all: the slope is what it was.
        slope = xp.where((steps > 0) & ~search.within(_SAME), slope, search.slope)
        rising = slope > 0
        missing = targets - z
        secant = xp.where(rising, missing / xp.where(rising, slope, 1.0), xp.sign(missing) * search.farthest)
        onward = at + xp.clip(secant, -search.farthest, search.farthest)
        inside = ((onward >= low) & (onward <= high)) | ~xp.isfinite(high - low)
        onward = xp.where(inside, onward, (low + high) / 2)
        return search._replace(at=onward, tried=at, score=z, each=each, slope=slope), low, high, steps + 1

    far = xp.full_like(before.at, xp.inf)
    # Tried is what these points were tried at: nothing yet.
    state: tuple[_Search, Any, Any, Any] = (before._replace(tried=far), -far, far, 0)
    for _ in range(at_once):
        state = closer(state)
    state = loop(going, closer, state)
    return state[0]
