"""A plot as a self-contained SVG image, for pages, notebooks and files."""

from __future__ import annotations

from html import escape

from toksmith.show.chart import Plot, format_tick
from toksmith.show.style import SERIES

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
