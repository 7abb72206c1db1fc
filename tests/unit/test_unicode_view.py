"""The unicode view: code points, names, bytes and sizes of a text, by hand."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path

import pytest
from rich.console import Console

from toksmith._base.text import Text
from toksmith.segment.characters import CATEGORIES, CodePoint, code_points
from toksmith.show.unicode import encoding_sizes, unicode_view

KOREAN = "안녕하세요 👋 (hello in Korean!)"


def names(text: Text) -> list[str]:
    return [point.name for point in code_points(text)]


def shown(text: Text, limit: int | None = 200) -> str:
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(unicode_view(text, limit))
    return capture.get()


class TestCodePoints:
    def test_bytes(self) -> None:
        assert list(code_points("é👋")) == [
            CodePoint(
                "é", 0xE9, "LATIN SMALL LETTER E WITH ACUTE", "Ll",
                b"\xc3\xa9", b"\xe9\x00", b"\xe9\x00\x00\x00",
            ),
            CodePoint(
                "👋", 0x1F44B, "WAVING HAND SIGN", "So",
                b"\xf0\x9f\x91\x8b", b"\x3d\xd8\x4b\xdc", b"\x4b\xf4\x01\x00",
            ),
        ]  # fmt: skip

    def test_controls_have_their_aliases(self) -> None:
        assert names("\x00\t\n\r\x1b\x7f\x85") == [
            "NULL", "CHARACTER TABULATION", "LINE FEED", "CARRIAGE RETURN", "ESCAPE", "DELETE",
            "NEXT LINE",
        ]  # fmt: skip
        controls = [
            chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cc"
        ]
        assert len(controls) == 65
        assert [unicodedata.lookup(name) for name in names("".join(controls))] == controls

    def test_characters_without_a_name(self) -> None:
        assert names("\ud83d\ue000\ufdd0\U0010ffff\u0378") == [
            "<surrogate-D83D>", "<private-use-E000>", "<noncharacter-FDD0>",
            "<noncharacter-10FFFF>", "<reserved-0378>",
        ]  # fmt: skip
        (half,) = code_points("\ud83d")
        assert (half.utf8, half.utf16, half.utf32) == (b"", b"\x3d\xd8", b"\x3d\xd8\x00\x00")

    def test_bytes_that_are_no_utf8(self) -> None:
        points = list(code_points(b"a\xff\xe2\x82"))
        assert [point.utf8 for point in points] == [b"a", b"\xff", b"\xe2", b"\x82"]
        assert [point.code for point in points] == [0x61, None, None, None]
        assert points[1].name == "<byte FF, invalid UTF-8>"

    def test_all_categories_are_named(self) -> None:
        assert {unicodedata.category(chr(code)) for code in range(0x110000)} == set(CATEGORIES)


class TestSizes:
    def test_by_hand(self) -> None:
        sizes = [(s.size, s.zeros, s.marked_size, s.marked_zeros) for s in encoding_sizes("A한\0")]
        assert sizes == [(5, 1, 8, 1), (6, 3, 8, 3), (12, 9, 16, 11)]
        assert [size.size for size in encoding_sizes("")] == [0, 0, 0]

    def test_as_pythons_codecs_count(self) -> None:
        for size, codec in zip(
            encoding_sizes(KOREAN), ("utf-8-sig", "utf-16", "utf-32"), strict=True
        ):
            data = KOREAN.encode(codec)
            assert (size.marked_size, size.marked_zeros) == (len(data), data.count(0))

    def test_the_seeds_figures(self, shared: Path) -> None:
        seeds = json.loads((shared / "data/golden/seeds.json").read_text(encoding="utf-8"))
        wanted = seeds["unicode"]
        utf8, utf16, utf32 = encoding_sizes(wanted["text"])
        assert wanted["text"] == KOREAN
        assert len(list(code_points(KOREAN))) == wanted["code_points"] == 26
        assert utf8.size == wanted["utf8_bytes"] == 39
        assert utf16.marked_zeros == wanted["utf16_zero_bytes"] == 20
        assert utf32.marked_zeros == wanted["utf32_zero_bytes"] == 73
        article = (shared / "data/golden/unicode_article.txt").read_bytes()
        assert encoding_sizes(article)[0].size == seeds["basic_bpe"][0]["utf8_bytes"] == 24597

    def test_broken_bytes_and_surrogates(self) -> None:
        assert [size.size for size in encoding_sizes(b"a\xff")] == [2, 4, 8]
        assert [size.size for size in encoding_sizes("a\ud83d")] == [4, 4, 8]
        assert [size.size for size in encoding_sizes("\ud83d\ude00")] == [4, 4, 4]


class TestView:
    def test_rows_and_totals(self) -> None:
        pytest.importorskip("icu4py")
        lines = shown("e\u0301 한\n").splitlines()
        assert lines[0].split() == ["code", "text", "name", "UTF-8", "UTF-16LE", "UTF-32LE"]
        assert lines[1].startswith("╭ U+0065  e ")
        assert lines[2].startswith("╰ U+0301  ◌\u0301 ")
        assert lines[3].split() == [
            "U+0020",
            "·",
            "SPACE",
            "Zs",
            "20",
            "20",
            "00",
            "20",
            "00",
            "00",
            "00",
        ]
        assert "HANGUL SYLLABLE HAN" in lines[4]
        assert lines[5].split()[1:4] == ["↵", "LINE", "FEED"]
        assert (
            lines[6]
            == "Cc control · Ll lowercase letter · Lo other letter · Mn nonspacing mark · Zs space"
        )
        assert [line.split() for line in lines[-5:-2]] == [
            ["UTF-8", "8", "0", "11", "0"],
            ["UTF-16", "10", "3", "12", "3"],
            ["UTF-32", "20", "13", "24", "15"],
        ]
        assert lines[-1].startswith("5 code points, 4 graphemes; names of Unicode ")

    def test_no_control_character_reaches_the_terminal(self) -> None:
        codes = [*range(0xA1), 0xAD, 0x61C, *range(0x2000, 0x2070)]
        text = "".join(map(chr, codes)) + "\ud83d\ufdd0\U000e0001[red]x[/red]"
        view = shown(text, None)
        assert all(letter.isprintable() or letter in "\n" for letter in view)
        assert "U+202E" in view
        assert "[red]" not in view.replace(" ", "")  # each letter has a row, and no markup is read

    def test_limit(self) -> None:
        assert "… and 7 more" in shown("a" * 10, 3)
        assert "10 code points" in shown("a" * 10, 3)
        assert "more" not in shown("a" * 10, 10)

    def test_without_icu(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
        assert "╭" not in shown("e\u0301")
        assert "\n2 code points; names" in shown("e\u0301")
