"""Sweeps: an output along one setting or over two, and the options that none is better than in both respects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from uncertain_botec.plots.axes import Span, inches_of, placed, plain, show_span, span_of, text_width
from uncertain_botec.plots.figure import LIGHT, Figure, elided, printable, rendered
from uncertain_botec.units import digits

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Floats = npt.NDArray[np.float64]


def sweep_lines(
    x: Sequence[float],
    p10: Sequence[float],
    p50: Sequence[float],
    p90: Sequence[float],
    *,
    x_label: str,
    y_label: str,
    limit: float | None = None,
    limit_name: str = "limit",
    name: str = "sweep",
) -> Figure:
    """P50 along a setting, within the band from P10 to P90.

    Args:
        x: the setting's values, ascending.
        p10: of the output at each.
        p50: likewise; where it is infinite there is a gap.
        p90: likewise.
        x_label: the setting with its unit.
        y_label: the output with its unit.
        limit: of the output, drawn across.
        limit_name: what to call it.
        name: of the figure, unique within a page.
    """
    xs, low, middle, high = (np.asarray(values, np.float64) for values in (x, p10, p50, p90))
    x_label, y_label = elided(x_label, 70), elided(y_label, 50)
    x_span = span_of(xs.tolist(), log=True if _by_ratio(xs) else None, pad=0.03)
    y_span = span_of([*low, *middle, *high, *([] if limit is None else [limit])])
    finite = np.flatnonzero(np.isfinite(middle))
    said = [f"{y_label} against {x_label}, P50 with P10 and P90 in brackets."]
    for place in dict.fromkeys([0, int(finite[np.argmin(middle[finite])]), len(xs) - 1] if finite.size else []):
        ends = f"{_short(low[place])} - {_short(high[place])}"
        said.append(f"At {plain(float(xs[place]))}: {_short(middle[place])} ({ends}).")
    if limit is not None:
        said.append(f"The {limit_name} is {limit:,.4g}.")

    def draw(canvas: Canvas) -> None:
        axes = placed(canvas, 0.75, 0.5, 0.2, 0.3)
        show_span(axes, "x", x_span, x_label, at=xs.tolist())
        show_span(axes, "y", y_span, y_label)
        axes.grid(color=LIGHT["grid"], linewidth=0.6)
        # An end that is infinite is beyond the axis, not nowhere.
        top = np.where(np.isinf(high), _beyond(y_span), high)
        known = np.isfinite(low)
        band = axes.fill_between(xs, low, top, where=known, color=LIGHT["blue"], alpha=0.25, linewidth=0, gid="band")
        (line,) = axes.plot(
            xs, np.where(np.isfinite(middle), middle, np.nan), "-o", color=LIGHT["blue"], markersize=3.5
        )
        line.set_gid("p50")
        handles: list[Artist] = [line, band]
        names = ["P50", "P10 to P90"]
        if limit is not None:
            handles.append(axes.axhline(limit, color=LIGHT["vermilion"], linestyle="--", linewidth=1.2, gid="limit"))
            names.append(_limit(limit_name, limit))
        _legend(canvas, axes, handles, names)

    return rendered(name, f"{y_label} against {x_label}", " ".join(said), draw)


def surface(
    x: Sequence[float],
    y: Sequence[float],
    z: npt.ArrayLike,
    *,
    x_label: str,
    y_label: str,
    z_label: str,
    level: float | None = None,
    level_name: str = "level",
    chances: bool = False,
    name: str = "surface",
) -> Figure:
    """A quantity over two settings, as colours, with the line where it has a given value.

    Args:
        x: the first setting's values, ascending.
        y: the second's.
        z: the quantity, of shape (len(y), len(x)); what is not finite stays empty.
        x_label: the first setting with its unit.
        y_label: the second.
        z_label: the quantity.
        level: the value whose line is drawn.
        level_name: what to call it.
        chances: whether the quantity is a probability, which is shown in percent.
        name: of the figure, unique within a page.
    """
    xs, ys, zs = (np.asarray(values, np.float64) for values in (x, y, z))
    x_label, y_label, z_label = elided(x_label, 60), elided(y_label, 45), elided(z_label, 45)
    if chances:
        zs, z_label, level = 100 * zs, f"{z_label} (%)", None if level is None else 100 * level
    finite = zs[np.isfinite(zs)]
    # Chances are read by differences, and from none to all.
    z_span = Span(0.0, 100.0, log=False) if chances else span_of(finite.tolist(), pad=0.0)
    title = f"{z_label} over {x_label} and {y_label}"
    said = [f"{title}."]
    for end, place in (("lowest", np.argmin), ("highest", np.argmax)):
        if finite.size:
            flat = int(place(np.where(np.isfinite(zs), zs, math.inf if end == "lowest" else -math.inf)))
            row, column = divmod(flat, len(xs))
            where = f"{plain(float(xs[column]))} and {plain(float(ys[row]))}"
            said.append(f"The {end}, {_short(zs[row, column])}, is at {where}.")
    if finite.size < zs.size:
        said.append(f"{zs.size - finite.size} of {zs.size} cells have no finite value.")
    met = level is not None and min(zs.shape) > 1 and finite.min(initial=level) < level < finite.max(initial=level)
    if level is not None:
        said.append(f"The {level_name} is {level:,.4g}{' %' if chances else ''}.")

    def draw(canvas: Canvas) -> None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LogNorm, Normalize
        from matplotlib.lines import Line2D

        top = 0.3 if met else 0.15
        axes = placed(canvas, 0.75, 0.5, 1.15, top)
        x_edges, y_edges = _edges(xs), _edges(ys)
        show_span(axes, "x", Span(float(x_edges[0]), float(x_edges[-1]), _by_ratio(xs)), x_label, at=xs.tolist())
        show_span(axes, "y", Span(float(y_edges[0]), float(y_edges[-1]), _by_ratio(ys)), y_label, at=ys.tolist())
        norm = (LogNorm if z_span.log else Normalize)(z_span.low, z_span.high)
        shown = np.ma.masked_invalid(zs)
        axes.pcolormesh(
            x_edges, y_edges, shown, norm=norm, cmap="cividis", gid="cells", edgecolors="face", linewidth=0.3
        )
        if met and level is not None:
            # A line of any one colour would be lost in cells of some other.
            axes.contour(xs, ys, shown, [level], colors=[LIGHT["paper"]], linewidths=4.5).set_gid("halo")
            axes.contour(xs, ys, shown, [level], colors=[LIGHT["vermilion"]], linewidths=2).set_gid("level")
            line = Line2D([], [], color=LIGHT["vermilion"], linewidth=2)
            _legend(canvas, axes, [line], [_limit(level_name, level) + (" %" if chances else "")])
        bar = placed(canvas, canvas.get_figwidth() - 1.0, 0.5, 0.85, top)
        # A ladder of steps in place of a picture, so that SVG has shapes alone.
        steps = np.array([z_span.at(part) for part in np.linspace(0, 1, 65)])
        colours = ScalarMappable(norm, "cividis").to_rgba(
            np.sqrt(steps[1:] * steps[:-1]) if z_span.log else (steps[1:] + steps[:-1]) / 2
        )
        bar.barh(steps[:-1], 1.0, np.diff(steps), align="edge", color=colours, linewidth=0.3, edgecolor=colours)
        bar.set_xlim(0, 1)
        bar.set_xticks([])
        bar.yaxis.tick_right()
        bar.yaxis.set_label_position("right")
        show_span(bar, "y", z_span, z_label)
        # The ends of the scale may be as light or as dark as the page.
        for frame in (axes, bar):
            frame.spines[:].set_visible(True)
        if level is not None and z_span.holds(level):
            bar.axhline(level, color=LIGHT["vermilion"], linewidth=2)

    return rendered(name, title, " ".join(said), draw, (6.5, 4.2))


def pareto(
    labels: Sequence[str],
    x: Sequence[float],
    y: Sequence[float],
    *,
    x_label: str,
    y_label: str,
    front: Sequence[int] | None = None,
) -> Figure:
    """Options by two things of which less is better, with those that no other beats in both.

    Args:
        labels: of the options.
        x: what each takes of the one.
        y: of the other; options that take infinitely much of either are not shown.
        x_label: the one with its unit.
        y_label: the other.
        front: the places of those that no other beats, by ascending x; found from the numbers by default.
    """
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    x_label, y_label = elided(x_label, 70), elided(y_label, 50)
    front = front_of(xs, ys) if front is None else list(front)
    finite = np.isfinite(xs) & np.isfinite(ys)
    x_span, y_span = span_of(xs[finite].tolist(), pad=0.1), span_of(ys[finite].tolist(), pad=0.1)
    names = {place: elided(labels[place], 28) for place in front}
    listed = "; ".join(f"{names[place]} at {_short(xs[place])} and {_short(ys[place])}" for place in front)
    missing = int(np.sum(~finite))
    said = [f"{y_label} against {x_label} of {len(xs)} options.", f"None is better in both than: {listed}."]
    if missing:
        said.append(f"{missing} take infinitely much and are not shown.")

    def draw(canvas: Canvas) -> None:
        axes = placed(canvas, 0.75, 0.5, 0.2, 0.3)
        show_span(axes, "x", x_span, x_label)
        show_span(axes, "y", y_span, y_label)
        axes.grid(color=LIGHT["grid"], linewidth=0.6)
        others = finite.copy()
        others[front] = False
        (rest,) = axes.plot(
            xs[others], ys[others], "o", markerfacecolor="none", markeredgecolor=LIGHT["muted"], markersize=4.5
        )
        rest.set_gid("others")
        stairs_x, stairs_y = np.repeat(xs[front], 2)[1:], np.repeat(ys[front], 2)[:-1]
        axes.plot(stairs_x, stairs_y, color=LIGHT["blue"], linewidth=1.2, gid="front")
        named = [(xs[place], ys[place], names[place]) for place in front]
        (best,) = axes.plot(xs[front], ys[front], "D", color=LIGHT["blue"], markersize=5)
        best.set_gid("best")
        _name_points(axes, x_span, y_span, [*zip(xs[finite], ys[finite], strict=True)], named)
        _legend(canvas, axes, [best, rest], ["no other is better in both", "others"])

    return rendered("pareto", f"{y_label} against {x_label}", " ".join(said), draw)


def front_of(x: Floats, y: Floats) -> list[int]:
    """The places of the options that no other beats in one respect and equals or beats in the other, by ascending x."""
    front: list[int] = []
    best = math.inf
    for place in np.lexsort((y, x)).tolist():
        if math.isfinite(x[place]) and y[place] < best:
            front.append(place)
            best = float(y[place])
    return front


# --- parts ------------------------------------------------------------------------------------------------------------


def _short(value: float) -> str:
    return "∞" if math.isinf(value) else digits(float(value), 0, 3)


def _limit(name: str, value: float) -> str:
    """A limit as it is stated, in the unit of its axis."""
    return f"{printable(name)} {value:,.4g}"


def _beyond(span: Span) -> float:
    return span.at(2.0)


def _by_ratio(values: Floats) -> bool:
    """Whether a grid is even in its logarithms rather than in its values."""
    if len(values) < 3 or values[0] <= 0:
        return False
    by_ratio, by_difference = np.diff(np.log(values)), np.diff(values)
    return float(np.ptp(by_ratio) * by_difference.mean()) < float(np.ptp(by_difference) * by_ratio.mean())


def _edges(values: Floats) -> Floats:
    """Edges of cells around the values of a grid."""
    if len(values) == 1:
        return np.asarray(values[0] + np.array([-0.5, 0.5]) * (abs(float(values[0])) or 1.0))
    if _by_ratio(values):
        return np.asarray(np.exp(_around(np.log(values))))
    return _around(values)


def _around(places: Floats) -> Floats:
    between = (places[1:] + places[:-1]) / 2
    return np.concatenate([[2 * places[0] - between[0]], between, [2 * places[-1] - between[-1]]])


def _legend(canvas: Canvas, axes: Axes, handles: Sequence[Artist], names: Sequence[str]) -> None:
    left = axes.get_position().x0
    canvas.legend(
        handles,
        names,
        loc="upper left",
        bbox_to_anchor=(left, 1.0),
        ncols=len(names),
        frameon=False,
        borderaxespad=0.2,
    )


def _name_points(
    axes: Axes, x: Span, y: Span, points: Sequence[tuple[float, float]], named: Sequence[tuple[float, float, str]]
) -> None:
    """Names beside some of the points, where they lie over no point and no other name; left out where they would."""
    width, height = inches_of(axes)
    # Left and right, bottom and top of what is there; a name just fits above a row of points.
    places = [(x.part(one) * width, y.part(other) * height) for one, other in points]
    boxes = [(one - 0.035, one + 0.035, other - 0.035, other + 0.035) for one, other in places]
    for value, other, text in named:
        wide, tall = text_width(text), 0.15
        # To the lower left of a point of the front there is never another, nor a step of the stairs.
        for right, above in ((False, False), (True, True), (True, False), (False, True)):
            left = x.part(value) * width + (0.08 if right else -0.08 - wide)
            bottom = y.part(other) * height + (0.04 if above else -0.04 - tall)
            box = (left, left + wide, bottom, bottom + tall)
            inside = left >= 0.04 and bottom >= 0.0 and box[1] <= width and box[3] <= height
            if inside and not any(_overlap(box, one) for one in boxes):
                boxes.append(box)
                axes.text(left / width, bottom / height, text, transform=axes.transAxes, va="bottom")
                break


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
