"""The data of a plot: lines over a logarithmic or linear axis, drawn as SVG or as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10


@dataclass(frozen=True)
class Line:
    """One line.

    Attributes:
        label: its name.
        xs: ascending.
        ys: one for each x.
    """

    label: str
    xs: Sequence[float]
    ys: Sequence[float]


@dataclass(frozen=True)
class Mark:
    """A labelled place on the x axis.

    Attributes:
        label: its name.
        x: the place.
    """

    label: str
    x: float


@dataclass(frozen=True)
class Plot:
    """Lines in one frame, with marks.

    Attributes:
        title: above it.
        x_label: below it.
        y_label: beside it.
        lines: what to draw.
        marks: upright lines.
        log_x: whether the x axis is logarithmic, with a tick at each power of two.
        points: whether the points of the lines are drawn, too.
    """

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    marks: Sequence[Mark] = ()
    log_x: bool = False
    points: bool = False

    def x_range(self) -> tuple[float, float]:
        """Return the least and the largest x."""
        xs = [x for line in self.lines for x in line.xs]
        return min(xs), max(xs)

    def y_range(self) -> tuple[float, float]:
        """Return the first and the last tick of the y axis."""
        ticks = self.y_ticks()
        return ticks[0], ticks[-1]

    def x_part(self, x: float) -> float:
        """Return the place of a value on the axis: 0 for its start, 1 for its end."""
        low, high = self.x_range()
        if self.log_x:
            low, high, x = log10(low), log10(high), log10(x)
        return (x - low) / (high - low) if high > low else 0.5

    def y_part(self, y: float) -> float:
        """Return the place of a value on the axis: 0 for the bottom, 1 for the top."""
        low, high = self.y_range()
        return (y - low) / (high - low)

    def x_ticks(self) -> list[float]:
        """Return round values from end to end."""
        low, high = self.x_range()
        if self.log_x:
            return [2.0**power for power in range(64) if low <= 2.0**power <= high]
        return [tick for tick in _round_steps(low, high) if low <= tick <= high]

    def y_ticks(self) -> list[float]:
        """Return round values whose range covers all lines."""
        ys = [y for line in self.lines for y in line.ys]
        return _round_steps(min(ys), max(ys))


def format_tick(value: float) -> str:
    """Return a number as a tick shows it.

    Example:
        >>> [format_tick(value) for value in (0.25, 3.0, 1024.0, 65536.0, 2.5e9)]
        ['0.25', '3', '1,024', '65,536', '2.5e+09']
    """
    if abs(value) >= 1e7:
        return f"{value:.2g}"
    return f"{value:,.0f}" if value == round(value) else f"{value:.4g}"


def _round_steps(low: float, high: float) -> list[float]:
    """Return about five round numbers around a range.

    Example:
        >>> _round_steps(1.2, 4.4)
        [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    span = high - low or abs(high) or 1.0
    power = 10.0 ** floor(log10(span / 4))
    step = next(power * nice for nice in (1, 2, 5, 10) if span / (power * nice) <= 5)
    first = floor(low / step)
    ticks = [first * step]
    while ticks[-1] < high - step * 1e-9:
        ticks.append(round((first + len(ticks)) * step, 12))
    return ticks if len(ticks) > 1 else [*ticks, ticks[0] + step]
