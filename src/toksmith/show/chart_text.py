"""A plot as lines of characters, for the terminal."""

from __future__ import annotations

from toksmith.show.chart import Plot, format_tick

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
