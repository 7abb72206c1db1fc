"""The data of a plot: lines over a logarithmic or linear axis, drawn as SVG or as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

from toksmith.show.style import SERIES


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


_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 30, 34, 48
_FONT = "font-family:ui-sans-serif,system-ui,sans-serif;font-size:12px"


def plot_svg(plot: Plot, width: int = 720, height: int = 360, legend: bool = True) -> str:
    """Return a plot as one ``<svg>`` element; its text has the colour of the page.

    Args:
        plot: what to draw.
        width: in pixels; on a narrower page it shrinks.
        height: in pixels.
        legend: whether to name the lines.

    Example:
        >>> from toksmith.show.chart import Line
        >>> svg = plot_svg(Plot("Squares", "x", "y", [Line("x²", [0, 1, 2], [0, 1, 4])]))
        >>> svg.startswith("<svg "), svg.count("<polyline ")
        (True, 1)
    """
    right, bottom = width - _RIGHT, height - _BOTTOM

    def across(x: float) -> float:
        return _LEFT + plot.x_part(x) * (right - _LEFT)

    def down(y: float) -> float:
        return bottom - plot.y_part(y) * (bottom - _TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(plot.title)}" style="max-width:{width}px;width:100%;{_FONT}" '
        'fill="currentColor">',
        f'<text x="{_LEFT}" y="16" font-weight="600">{escape(plot.title)}</text>',
    ]
    for tick in plot.y_ticks():
        y = down(tick)
        parts.append(_stroke(_LEFT, y, right, y, 0.15))
        parts.append(_text(_LEFT - 6, y + 4, format_tick(tick), "end"))
    free = 0.0
    for tick in plot.x_ticks():
        x, label = across(tick), format_tick(tick)
        parts.append(_stroke(x, bottom, x, bottom + 4, 0.6))
        if x - 4 * len(label) >= free:
            parts.append(_text(x, bottom + 18, label, "middle"))
            free = x + 4 * len(label)
    parts.append(_stroke(_LEFT, bottom, right, bottom, 0.6))
    parts.append(_text((_LEFT + right) / 2, height - 10, plot.x_label, "middle"))
    parts.append(
        f'<text transform="translate(14 {(_TOP + bottom) / 2:.0f}) rotate(-90)" '
        f'text-anchor="middle">{escape(plot.y_label)}</text>'
    )
    for number, mark in enumerate(plot.marks):
        x = across(mark.x)
        parts.append(_stroke(x, _TOP, x, bottom, 0.6, "4 3"))
        at_right = x > (_LEFT + right) / 2
        parts.append(
            _text(x + (-5 if at_right else 5), bottom - 8 - 15 * number, mark.label,
                  "end" if at_right else "start")
        )  # fmt: skip
    for number, line in enumerate(plot.lines):
        colour = SERIES[number % len(SERIES)]
        places = [(across(x), down(y)) for x, y in zip(line.xs, line.ys, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if plot.points:
            for (x, y), value_x, value_y in zip(places, line.xs, line.ys, strict=True):
                parts.append(
                    f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"><title>'
                    f"{escape(line.label)}: {format_tick(value_x)}, {format_tick(value_y)}"
                    "</title></circle>"
                )
        if len(plot.lines) > 1 and legend:
            parts.append(
                f'<text x="{right}" y="{16 + 15 * number}" text-anchor="end" fill="{colour}">'
                f"{escape(line.label)}</text>"
            )
    return "".join([*parts, "</svg>"])


def _stroke(x1: float, y1: float, x2: float, y2: float, opacity: float, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
        f'stroke-opacity="{opacity}"{dashed}/>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


_SIGNS = "•×+o"
_PLAIN_SIGNS = "*x+o"


def plot_text(plot: Plot, width: int = 78, height: int = 14, *, ascii_only: bool = False) -> str:
    """Return a plot as lines of characters.

    Args:
        plot: what to draw.
        width: in characters, the axis included.
        height: of the frame in lines.
        ascii_only: for terminals that cannot show other characters.

    Example:
        >>> from toksmith.show.chart import Line
        >>> line = Line("squares", range(9), [x * x for x in range(9)])
        >>> print(plot_text(Plot("", "x", "squares", [line]), 25, 5))
        squares
         80 ┤
         60 ┤                   •
         40 ┤              •  •
         20 ┤          • •
          0 ┤• •  • •
            └┬────┬────┬───┬────┬
             0    2    4   6    8
    """
    side, tick, corner, floor, notch = "||+-+" if ascii_only else "│┤└─┬"
    signs = _PLAIN_SIGNS if ascii_only else _SIGNS
    rows = {round((height - 1) * (1 - plot.y_part(y))): format_tick(y) for y in plot.y_ticks()}
    margin = max(map(len, rows.values())) + 1
    columns = max(width - margin - 2, 10)
    canvas = [[" "] * columns for _ in range(height)]

    def column(x: float) -> int:
        return min(max(round(plot.x_part(x) * (columns - 1)), 0), columns - 1)

    for mark in plot.marks:
        for row in canvas:
            row[column(mark.x)] = ":" if ascii_only else "┊"
    for line, sign in zip(plot.lines, signs * len(plot.lines), strict=False):
        for x, y in zip(line.xs, line.ys, strict=True):
            canvas[round((height - 1) * (1 - plot.y_part(y)))][column(x)] = sign
    shown = [plot.y_label] if len(plot.lines) == 1 else [
        f"{plot.y_label}:  " + "   ".join(
            f"{sign} {line.label}" for line, sign in zip(plot.lines, signs, strict=False)
        )
    ]  # fmt: skip
    for number, row in enumerate(canvas):
        label = rows.get(number, "")
        edge = tick if label else side
        shown.append(f"{label:>{margin}} {edge}{''.join(row)}".rstrip())
    axis, labels = [floor] * columns, ""
    for value in plot.x_ticks():
        place, text = column(value), format_tick(value)
        start = min(max(place - len(text) // 2, 0), columns - len(text))
        if start >= len(labels) + (1 if labels else 0):
            axis[place] = notch
            labels = labels.ljust(start) + text
    shown.append(" " * (margin + 1) + corner + "".join(axis))
    shown.append(" " * (margin + 2) + labels)
    return "\n".join(shown)
