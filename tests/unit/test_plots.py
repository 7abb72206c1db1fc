"""Plots: ticks, places, SVG and text."""

from __future__ import annotations

from xml.etree import ElementTree

from toksmith.show.chart import Line, Mark, Plot, plot_svg, plot_text

POWERS = Plot(
    "Powers <2>", "x & y", "log", [Line("<a>", [1, 2, 4, 8], [0, 1, 2, 3])], [Mark("<4>", 4)],
    log_x=True, points=True,
)  # fmt: skip


def test_places() -> None:
    assert [round(POWERS.x_part(x), 3) for x in (1, 2, 4, 8)] == [0, 0.333, 0.667, 1]
    assert [POWERS.y_part(y) for y in (0, 3)] == [0, 1]
    assert POWERS.x_ticks() == [1, 2, 4, 8]
    assert POWERS.y_ticks() == [0, 1, 2, 3]


def test_ticks_hold_all_values() -> None:
    for low, high in [(0.0, 1.0), (3.2, 3.3), (-7.0, 12.0), (5.0, 5.0), (0.0, 0.0), (1e9, 3e9)]:
        ticks = Plot("", "", "", [Line("", [0, 1], [low, high])]).y_ticks()
        assert ticks[0] <= low
        assert ticks[-1] >= high
        assert 2 <= len(ticks) <= 8
        assert ticks == sorted(set(ticks))


def test_text() -> None:
    assert plot_text(POWERS, 20, 4, ascii_only=True).splitlines() == [
        "log",
        " 3 |          :    *",
        " 2 |          *",
        " 1 |     *    :",
        " 0 |*         :",
        "   ++----+----+----+",
        "    1    2    4    8",
    ]


def test_several_lines_have_signs() -> None:
    lines = [Line("up", [0, 1], [0, 1]), Line("down", [0, 1], [1, 0])]
    first, *_ = plot_text(Plot("", "", "y", lines)).splitlines()
    assert first == "y:  • up   × down"


def test_svg_is_well_formed_and_alone() -> None:
    svg = plot_svg(POWERS)
    root = ElementTree.fromstring(svg)
    texts = {"".join(element.itertext()) for element in root.iter()}
    assert {"Powers <2>", "x & y", "<4>", "<a>: 8, 3"} <= texts
    assert "href" not in svg
    assert svg.count("<circle ") == 4
