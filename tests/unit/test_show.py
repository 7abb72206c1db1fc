"""Views of tokens: nothing is hidden, and a terminal or browser obeys none of it."""

from __future__ import annotations

import dataclasses
import io
import re
import subprocess
import sys
import time
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

import toksmith
from toksmith._base.arrays import Span
from toksmith._base.visible import visible
from toksmith.results import Encoding
from toksmith.show.notebook import encoding_html, visible_html
from toksmith.show.style import PALETTE_DARK, SPECIAL, TERMINAL
from toksmith.show.terminal import encoding_table, encoding_text, has_colour, render_plain
from toksmith.show.text_page import text_page

HOSTILE = [
    b"<script>alert('x')</script>",
    b'"><img src=x onerror=alert(1)>',
    b"\x1b[31mred\x1b]0;title\x07",
    "\u202eabc\u2066".encode(),
    "a\u200bb\u200d".encode(),
    b"[bold]x[/bold] :smile: {last}",
    b"\xe2\x82",
    b"\xac",
    b" \r\n\t\x00\x7f",
    "\u0301".encode(),
    "字".encode(),
]


def encoding_of(tokens: list[bytes], special: tuple[int, ...] = ()) -> Encoding:
    spans, start = [], 0
    for token in tokens:
        spans.append(Span(start, start + len(token)))
        start += len(token)
    return Encoding(
        text=b"".join(tokens).decode("utf-8", "replace"),
        ids=[100 + place for place in range(len(tokens))],
        tokens=tokens,
        spans=spans,
        byte_spans=spans,
        special=[place in special for place in range(len(tokens))],
    )


def with_characters(encoding: Encoding) -> Encoding:
    """Return an encoding whose spans count characters; those of :func:`encoding_of` count bytes."""
    data = b"".join(encoding.tokens)
    spans = [
        Span(
            len(data[:start].decode("utf-8", "ignore")), len(data[:end].decode("utf-8", "replace"))
        )
        for start, end in encoding.byte_spans.tolist()
    ]
    return dataclasses.replace(encoding, spans=spans)


def printed(renderable: object, **options: object) -> str:
    console = Console(file=io.StringIO(), width=100, **options)  # type: ignore[arg-type]
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


class TestVisible:
    @pytest.mark.parametrize(
        ("token", "shown"),
        [
            (b"", ""),
            (b"Hello", "Hello"),
            (b" the", "·the"),
            (b"\n\n\t", "↵↵→"),
            (b"\r\x00\x1b[1m", "<U+000D><U+0000><U+001B>[1m"),
            ("\u200b\u202e\ufeff\u00a0\u3000".encode(), "<U+200B><U+202E><U+FEFF><U+00A0><U+3000>"),
            ("·↵→".encode(), "<U+00B7><U+21B5><U+2192>"),
            (b"\xe2\x82", "<E2 82>"),
            (b"a\xff\xfeb\x80", "a<FF FE>b<80>"),
            (b"\xed\xa0\x80", "<ED A0 80>"),
            ("e\u0301".encode(), "e\u0301"),
            ("\u0301 \u0301".encode(), "◌\u0301·◌\u0301"),
            ("☎\ufe0f".encode(), "☎<U+FE0F>"),
            ("\u115f\u3164".encode(), "<U+115F><U+3164>"),
            ("naïve 字 🙂".encode(), "naïve·字·🙂"),
        ],
    )
    def test_literals(self, token: bytes, shown: str) -> None:
        assert visible(token) == shown

    @given(st.one_of(st.binary(), st.text().map(str.encode)))
    def test_never_lets_a_control_through(self, token: bytes) -> None:
        shown = visible(token)
        assert {unicodedata.category(c) for c in shown}.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})
        assert not re.search(r"\s", re.sub(r"<[0-9A-F ]+>", "", shown))


class TestTerminal:
    def test_without_colour_bars_set_tokens_apart(self) -> None:
        encoding = encoding_of([b"Hello", b" world", b"!\n", b"<|end|>"], special=(3,))
        assert printed(encoding_text(encoding, colour=False)).splitlines() == [
            "Hello│·world│!↵",
            "100  │101   │102",
            "<|end|>",
            "*103",
        ]

    def test_neighbours_have_different_backgrounds(self) -> None:
        encoding = encoding_of([b"a", b"b", b"<|end|>", b"c"], special=(2,))
        styles = [str(span.style) for span in encoding_text(encoding, ids=False).spans]
        assert [style.split(" on ")[1] for style in styles] == [
            TERMINAL[0], TERMINAL[1], SPECIAL, TERMINAL[3],
        ]  # fmt: skip

    @pytest.mark.parametrize("system", ["standard", "256", "truecolor"])
    def test_palette_stays_distinct_in_every_colour_system(self, system: str) -> None:
        tokens = [b"x"] * len(TERMINAL) + [b"<|end|>"]
        text = encoding_text(encoding_of(tokens, special=(len(TERMINAL),)), ids=False)
        shown = printed(text, force_terminal=True, color_system=system, no_color=False)
        assert len(set(re.findall(r"\x1b\[([\d;]+)m[x<]", shown))) == len(tokens)

    def test_rows_fit_the_width_and_lose_nothing(self) -> None:
        tokens = [b"tok%d" % n for n in range(50)]
        text = encoding_text(encoding_of(tokens), width=40, ids=False, colour=False)
        lines = text.plain.splitlines()
        assert max(map(len, lines)) <= 40
        assert "│".join(lines).split("│") == [token.decode() for token in tokens]

    @pytest.mark.parametrize("colour", [True, False])
    def test_hostile_tokens_reach_the_terminal_as_marks(self, colour: bool) -> None:
        encoding = encoding_of(HOSTILE)
        text = encoding_text(encoding, colour=colour, width=100)
        for shown in (
            printed(text, color_system=None),
            printed(encoding_table(encoding, colour=colour), color_system=None),
        ):
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]", shown)
            for mark in ("<U+001B>[31m", "<U+202E>", "[bold]x[/bold]·:smile:·{last}", "<E2 82>"):
                assert mark in shown

    def test_a_wide_token_is_folded_not_cut(self) -> None:
        shown = printed(encoding_text(encoding_of([b"x" * 250]), width=100), color_system=None)
        assert shown.count("x") == 250

    def test_no_colour_and_no_terminal_are_respected(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("NO_COLOR", raising=False)
        assert has_colour(Console(force_terminal=True, color_system="256"))
        assert not has_colour(Console(file=io.StringIO()))
        monkeypatch.setenv("NO_COLOR", "1")
        assert not has_colour(Console(force_terminal=True, color_system="256"))


class _Collector(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def without_style(html: str) -> str:
    return re.sub("<style>.*?</style>", "", html, flags=re.DOTALL)


class TestHtml:
    def test_every_token_is_text_and_nothing_else(self) -> None:
        html = without_style(encoding_html(with_characters(encoding_of(HOSTILE, special=(0,)))))
        parser = _Collector()
        parser.feed(html)
        assert set(parser.tags) <= {"div", "span", "wbr", "bdi", "s"}
        assert parser.attributes == {"class", "title", "dir", "aria-hidden"}
        above = re.findall(r'<span class="characters" aria-hidden="true">.*?</span>', html)
        assert len(above) == 2  # the character of two tokens, and the accent of a control
        parser = _Collector()
        for part in above:
            html = html.replace(part, "")
        parser.feed(html)
        shown = "".join(visible(token) for token in HOSTILE)
        assert parser.text.replace("\u00a0", " ").startswith(shown)

    def test_title_names_id_characters_and_bytes(self) -> None:
        html = encoding_html(encoding_of([b"a", b"<|end|>"], special=(1,)))
        assert 'title="id 100, characters 0–1, bytes 0–1: 61"' in html
        assert 'title="id 101 (special), characters 1–8, bytes 1–8: 3C 7C' in html

    def test_long_texts_are_cut_with_a_word_about_it(self) -> None:
        html = encoding_html(encoding_of([b"x"] * 30), limit=10)
        assert html.count("<span") == 10
        assert "… and 20 more" in html
        assert encoding_html(encoding_of([b"x"] * 30), limit=None).count("<span") == 30

    def test_a_notebook_shows_it(self) -> None:
        encoding = encoding_of([b"a\n", b"b"])
        assert encoding._repr_html_() == encoding_html(encoding)
        assert '↵</s></span></div><div dir="ltr"><span' in encoding_html(encoding)

    def test_colours_are_those_of_the_scheme(self) -> None:
        html = encoding_html(encoding_of([b"a", b"b", b"<|end|>"], special=(2,)))
        assert re.findall(r'class="ts-token ts-fill (ts-c\d)"', html) == ["ts-c0", "ts-c1", "ts-c4"]
        assert "style=" not in html
        assert f"--ts-fill0: {PALETTE_DARK[0]};" in html
        assert ".ts-c0 { --ts-fill: var(--ts-fill0); }" in html
        assert "box-shadow: inset -2px 0" in html  # the gap between tokens

    def test_a_split_character_is_drawn_once(self) -> None:
        tok = toksmith.train(texts=["a"], vocab_size=256)
        html = encoding_html(tok.encoding("a👩\u200d👩b"))
        assert re.findall(r'aria-hidden="true">(.*?)</span>', html) == ["👩\u200d👩"]
        assert html.count(' title="id ') == len("a👩\u200d👩b".encode())


class TestProgress:
    def run(self, enabled: str) -> subprocess.CompletedProcess[str]:
        program = f"""
import sys
from toksmith._base.progress import counting_progress, training_progress
with counting_progress(100, {enabled}) as counted:
    counted(100)
with training_progress(3, {enabled}) as merged:
    for done in (1, 2, 3):
        merged(done, b" [bold]\\x1b[31m\\xe2", 4071)
print("rich" in sys.modules)
"""
        return subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )

    @pytest.mark.parametrize("enabled", ["None", "False"])
    def test_is_silent_and_imports_nothing_without_a_terminal(self, enabled: str) -> None:
        ran = self.run(enabled)
        assert (ran.stdout, ran.stderr) == ("False\n", "")

    def test_shows_merges_the_last_token_and_its_count(self) -> None:
        ran = self.run("True")
        assert ran.stdout == "True\n"
        assert "3/3 ·[bold]<U+001B>[31m<E2> × 4,071" in ran.stderr


class TestTextModels:
    """Tokens that are spelled otherwise than the text: the view says what they stand for."""

    ENCODING = Encoding(
        text="Unaffable [b]",
        ids=[101, 7, 9, 100, 3],
        tokens=[b"[CLS]", b"un", b"##affable", b"[UNK]", "▁".encode()],
        spans=[Span(0, 0), Span(0, 2), Span(2, 9), Span(10, 13), Span(13, 13)],
        byte_spans=[Span(0, 0), Span(0, 2), Span(2, 9), Span(10, 13), Span(13, 13)],
        special=[True, False, False, True, False],
    )

    def test_table(self) -> None:
        rows = [line.rstrip() for line in printed(encoding_table(self.ENCODING)).splitlines()]
        assert rows[0].split() == ["id", "token", "characters", "bytes", "text"]
        assert rows[1].split() == ["*101", "[CLS]", "0–0", "0–0"]
        assert rows[3].split() == ["9", "##affable", "2–9", "2–9", "affable"]
        assert rows[4].split() == ["*100", "[UNK]", "10–13", "10–13", "[b]"]
        assert rows[5].split() == ["3", "▁", "13–13", "13–13"]

    def test_html(self) -> None:
        shown = encoding_html(self.ENCODING)
        assert "characters 2–9, bytes 2–9: &#x27;affable&#x27;" in shown
        assert "characters 13–13, bytes 13–13: covers no text" in shown

    def test_bytes_are_shown_where_tokens_are_the_text(self) -> None:
        assert "C3 A9" in printed(encoding_table(encoding_of(["é".encode()])))


class TestTable:
    def test_wide_values_are_folded(self) -> None:
        encoding = encoding_of([b"a" * 30, "東京".encode() * 6, b"b"])
        assert render_plain(encoding_table(encoding, colour=False), width=54).splitlines() == [
            " id  token           characters  bytes  hex",
            "100  aaaaaaaaaaaaaa        0–30   0–30  61 61 61 61 61",
            "     aaaaaaaaaaaaaa                     61 61 61 61 61",
            "     aa                                 61 61 61 61 61",
            "                                        61 …",
            "101  東京東京東京東       30–66  30–66  E6 9D B1 E4 BA",
            "     京東京東京                         AC E6 9D B1 E4",
            "                                        BA AC E6 9D B1",
            "                                        E4 …",
            "102  b                    66–67  66–67  62",
        ]

    def test_no_line_is_wider_than_the_terminal(self) -> None:
        encoding = encoding_of([b"a" * 30, "東京".encode() * 6, b"b"], special=(2,))
        for width in range(32, 120):
            lines = render_plain(encoding_table(encoding), width=width).splitlines()
            assert max(map(cell_len, lines)) <= width

    def test_many_tokens_take_no_time(self) -> None:
        encoding = encoding_of([b"abc"] * 20_000)
        started = time.process_time()
        assert render_plain(encoding_table(encoding)).count("\n") == 20_000
        assert time.process_time() - started < 8  # rich's own table: 20 s


class TestDirection:
    """Letters are left to the browser; labels are isolated, and read from left to right."""

    TOKENS = ("السل".encode(), "ام".encode(), b" " + b"\xd8", b"\xb9\n", b"low", b"\xe2\x80\x8f")

    def test_lines_have_a_direction_and_tokens_have_none(self) -> None:
        html = without_style(encoding_html(with_characters(encoding_of(list(self.TOKENS)))))
        assert re.findall(r'<div dir="(\w+)">', html) == ["rtl", "ltr"]
        assert 'dir="ltr"' in html
        assert "unicode-bidi" not in html
        assert ">السل</span><span" in html  # nothing between two tokens of a word

    def test_labels(self) -> None:
        assert visible_html("שלום ".encode() + b"\xd7\xff!") == (
            'שלום·<bdi dir="ltr">&lt;D7 FF&gt;</bdi>!'
        )
        assert visible_html("a\u200fb\n".encode()) == 'a<bdi dir="ltr">&lt;U+200F&gt;</bdi>b↵'
        assert visible_html(b"<E2 82>") == "&lt;E2·82&gt;"  # a text that looks like a label

    def test_every_view_isolates_labels_alone(self) -> None:
        tok = toksmith.train(texts=["a"], vocab_size=256)
        text = "ש low\nlow"
        encoding = tok.encoding(text)
        found = toksmith.compare([tok], texts=text, speed=False)
        for html in (
            text_page(encoding, title="x"),
            found._repr_html_(),
            found.to_html(),
            tok.explain(text)._repr_html_(),
        ):
            assert '<bdi dir="ltr">&lt;D7&gt;</bdi>' in html
            style = re.search(r"\.ts-token \{(.*?)\}", html, re.DOTALL)
            assert style is None or not re.search("bidi|direction", style[1])
        lines = re.findall(r'<div dir="(\w+)">', encoding_html(encoding))
        assert lines == ["rtl", "ltr"]
