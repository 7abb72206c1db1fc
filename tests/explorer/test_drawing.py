"""The data behind the explorer's pages: directions, shared characters, colours, files, options."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")

import toksmith
from toksmith.errors import OptionError
from toksmith.explorer.excerpts import ExcerptTokens
from toksmith.explorer.folder import Folder, holds_text
from toksmith.explorer.jobs import Jobs
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.explorer.requests import Fields
from toksmith.explorer.text_page import TextPage
from toksmith.explorer.texts import Texts
from toksmith.explorer.token_html import text_html
from toksmith.explorer.train_page import TrainPage, learned_html
from toksmith.results import Encoding
from toksmith.show.style import (
    FOREGROUND,
    FOREGROUND_DARK,
    PALETTE,
    PALETTE_DARK,
    SPECIAL,
    SPECIAL_DARK,
)
from toksmith.show.text_page import text_page
from toksmith.show.token_lines import Box, box_directions, box_lines_html, shared_characters

ALEF, BET = "\u05d0", "\u05d1"


class TestDirections:
    @pytest.mark.parametrize(
        ("texts", "base", "directions"),
        [
            (["a", " ", "b"], "ltr", "LLL"),
            ([ALEF, "a", " ", "b", BET], "rtl", "RLLLR"),
            (["a", ALEF, " ", BET, "b"], "ltr", "LRRRL"),
            (["1", "2", ALEF], "rtl", "LLR"),
            (["!", ALEF, "!"], "rtl", "RRR"),
            (["a", " ", ALEF], "ltr", "LLR"),
            ([".", ""], "ltr", "LL"),
            ([], "ltr", ""),
        ],
    )
    def test_of_boxes(self, texts: list[str], base: str, directions: str) -> None:
        found = box_directions(texts)
        assert found[0] == base
        assert "".join(each[0].upper() for each in found[1]) == directions


class TestSharedCharacters:
    @pytest.mark.parametrize(
        ("text", "shared"),
        [
            ("abc", []),
            ("é", ["é"]),
            ("aéb한", ["é", "한"]),
            ("한국", ["한", "국"]),
            ("👋🏽", ["👋🏽"]),
            ("🇰🇷🇩🇪", ["🇰🇷", "🇩🇪"]),
            ("👩‍👩‍👧", ["👩‍👩‍👧"]),
            ("❤️", ["❤️"]),
        ],
    )
    def test_of_bytes(self, text: str, shared: list[str]) -> None:
        tok = toksmith.train(texts=["a"], vocab_size=256)
        encoding = tok.encoding(text)
        data = text.encode()
        found = [
            data[encoding.byte_spans[first, 0] : encoding.byte_spans[after - 1, 1]].decode()
            for first, after in shared_characters(encoding)
        ]
        assert found == shared

    @pytest.mark.parametrize(
        ("pieces", "shared"),
        [
            (["हिन", "्दी"], [(0, 2)]),
            (["हिन्", "दी"], [(0, 2)]),
            (["हि", "न्दी"], []),
            (["a", " cafe", "\u0301s", " b"], [(1, 3)]),
            (["e", "\u0301", "\u0302", "x"], [(0, 3)]),
            (["ก", "\u0e33"], [(0, 2)]),
            (["\u1112", "\u1161", "\u11ab", "\u1112"], [(0, 3)]),
            (["\n", "\u0301"], []),
            (["مر", "حبا"], []),
            (["க்", "க"], []),  # Tamil has no conjuncts by rule GB9c
        ],
    )
    def test_of_clusters(self, pieces: list[str], shared: list[tuple[int, int]]) -> None:
        assert shared_characters(cut_into(pieces)) == shared

    def test_a_special_token_shares_nothing(self) -> None:
        assert shared_characters(cut_into(["<e>", "\u0301"], special=0)) == []

    def test_a_cluster_is_drawn_once_above_its_tokens(self) -> None:
        html = drawn(["हिन", "्दी", " b"])
        assert '<span class="characters" aria-hidden="true">हिन्दी</span>' in html
        assert html.count('class="whole"') == 1
        assert re.findall(r'data-i="(\d)"', html) == ["0", "1", "2"]

    def test_the_tokens_below_have_the_direction_of_the_text(self) -> None:
        assert 'class="bytes" dir="rtl"' in drawn(["\u05e9", "\u05b8\u05dc"])
        assert 'class="bytes" dir="ltr"' in drawn(["e", "\u0301"])
        page, key = text_of_bytes()
        html = page.tokens(Fields({"text": ALEF, "tokenizers": [key]}))["panels"][0]["text"]
        assert 'class="bytes" dir="ltr"' in html

    def test_the_page_draws_each_once(self) -> None:
        page, key = text_of_bytes()
        html = page.tokens(Fields({"text": "a👩‍👩‍👧\nb", "tokenizers": [key]}))["panels"][0]["text"]
        assert html.count('<span class="whole">') == 1
        assert '<span class="characters" aria-hidden="true">👩‍👩‍👧</span>' in html
        assert html.count('data-i="') == len("a👩‍👩‍👧\nb".encode())
        assert html.count("<div dir=") == 2

    def test_a_token_that_starts_with_a_line_break_starts_a_line(self) -> None:
        assert box_lines_html([Box("a", "a"), Box("b", "\n\u05d0")]) == (
            '<div dir="ltr">a</div><div dir="rtl">b</div>'
        )
        assert box_lines_html([Box("a", "a"), Box("b", "\n"), Box("c", "c")]) == (
            '<div dir="ltr">ab</div><div dir="ltr">c</div>'
        )

    def test_the_page_of_a_text_draws_them_too(self) -> None:
        tok = toksmith.train(texts=["a"], vocab_size=256)
        page = text_page(tok.encoding(f"é👩\u200d👩\n{ALEF}ab{ALEF}"), title="t")
        drawn = re.findall(r'aria-hidden="true">(.*?)</span>', page)
        assert drawn == ["é", "👩\u200d👩", ALEF, ALEF]
        assert page.count(' title="id ') == len(f"é👩\u200d👩\n{ALEF}ab{ALEF}".encode())
        assert re.findall(r'<(?:div|span) dir="(\w+)">', page) == ["ltr", "rtl", "ltr"]
        paired = tok.encoding("é", pair="한")
        assert text_page(paired, title="t").count('characters"') == 2


def cut_into(pieces: list[str], special: int = -1) -> Encoding:
    """Return the encoding whose tokens are these pieces of a text."""
    tokens = [piece.encode() for piece in pieces]
    spans, byte_spans = (
        np.array(list(pairwise(np.cumsum([0, *map(len, parts)])))) for parts in (pieces, tokens)
    )
    is_special = [place == special for place in range(len(pieces))]
    ids = list(range(len(pieces)))
    return Encoding("".join(pieces), ids, tokens, spans, byte_spans, is_special)


def drawn(pieces: list[str]) -> str:
    """Return the tokens as the explorer draws them."""
    return text_html(ExcerptTokens(cut_into(pieces), 0, len(pieces)), [False] * len(pieces))


def text_of_bytes() -> tuple[TextPage, str]:
    loaded = LoadedTokenizers()
    return TextPage(loaded, Texts()), "bytes"


# Deuteranopia after Machado, Oliveira and Fernandes (2009), severity 1: linear RGB is multiplied by
# this matrix. The difference is CIE 1976: the distance of (L*, a*, b*), white point D65.
DEUTERANOPIA = (
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.011820, 0.042940, 0.968881),
)


def linear(colour: str) -> list[float]:
    values = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def lab(rgb: list[float]) -> tuple[float, float, float]:
    r, g, b = rgb
    x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047
    y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b
    z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883

    def curve(t: float) -> float:
        return t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29

    fx, fy, fz = curve(x), curve(y), curve(z)
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def difference(one: str, other: str) -> float:
    """Return the difference of two colours to somebody with deuteranopia."""
    found = []
    for colour in (one, other):
        rgb = linear(colour)
        seen = [sum(a * b for a, b in zip(row, rgb, strict=True)) for row in DEUTERANOPIA]
        found.append(lab([min(max(each, 0.0), 1.0) for each in seen]))
    return sum((a - b) ** 2 for a, b in zip(*found, strict=True)) ** 0.5


def contrast(one: str, other: str) -> float:
    weights = (0.2126, 0.7152, 0.0722)
    high, low = sorted(
        (sum(w * v for w, v in zip(weights, linear(c), strict=True)) for c in (one, other)),
        reverse=True,
    )
    return (high + 0.05) / (low + 0.05)


class TestColours:
    def test_the_formulas(self) -> None:
        """Green and red, which deuteranopes confuse, come near each other."""
        assert difference("#000000", "#ffffff") == pytest.approx(100, abs=0.5)
        assert difference("#8fd3f5", "#8fd3f5") == 0
        assert difference("#7ee787", "#ff8a80") == pytest.approx(9, abs=6)
        assert contrast("#000000", "#ffffff") == pytest.approx(21)

    @pytest.mark.parametrize(
        ("palette", "special", "ink"),
        [(PALETTE, SPECIAL, FOREGROUND), (PALETTE_DARK, SPECIAL_DARK, FOREGROUND_DARK)],
        ids=["light", "dark"],
    )
    def test_neighbours_differ_also_to_deuteranopes(
        self, palette: tuple[str, ...], special: str, ink: str
    ) -> None:
        assert len(palette) % 2 == 0
        for one, other in pairwise((*palette, palette[0])):
            assert difference(one, other) >= 50, (one, other)
        for each in palette:
            assert difference(each, special) >= 15, each
            assert contrast(each, ink) >= 6
        assert contrast(special, ink) >= 6

    def test_light_and_darker_ones_alternate(self) -> None:
        lightness = [lab(linear(colour))[0] for colour in PALETTE]
        assert min(lightness[::2]) > max(lightness[1::2]) + 10

    def test_none_is_red(self) -> None:
        for colour in (*PALETTE, *PALETTE_DARK):
            red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
            assert not red > 1.3 * max(green, blue)

    def test_a_token_keeps_its_colour_in_the_page_of_a_text(self) -> None:
        from toksmith.show.diagram_choice import choose_diagrams

        tok = toksmith.train(texts=["low lower lowest " * 9], vocab_size=262)
        text = "lo wer lowest"
        encoding = tok.encoding(text)
        drawn, _ = choose_diagrams(tok, text, encoding)
        page = text_page(encoding, drawn, title="t")
        for number, placed in enumerate(drawn, 1):
            block = page.split(f'<details id="d{number}"')[1].split("</details>")[0]
            first, last = placed.tokens[0]
            expected = [f"ts-c{i % len(PALETTE)}" for i in range(first, last)]
            summary, tree = block.split("</summary>")
            for part in (summary, tree):
                fills = [piece[:5] for piece in part.split("ts-fill ")[1:]]
                assert fills == expected, placed.diagram.text

    @pytest.mark.parametrize("options", [{}, {"unit": "characters"}])
    def test_a_learned_token_has_its_colour_of_the_vocabulary(
        self, options: dict[str, str]
    ) -> None:
        tok = toksmith.train(
            texts=["low lower lowest " * 9], vocab_size=262 if not options else 12, **options
        )
        items = learned_html(tok)
        assert len(items) >= 2
        for item in items:
            colour, token = re.findall(r'class="sym (c\d)">(?:<wbr><i>·</i>)?(\w+)<', item)[0]
            spelled = f" {token}" if "·" in item else token
            token_id = next(
                i for i in range(tok.vocab_size) if tok.token_bytes(i) == spelled.encode()
            )
            assert colour == f"c{token_id % len(PALETTE)}"


class TestFiles:
    def test_only_texts_are_offered(self, tmp_path: Path) -> None:
        tok = toksmith.train(texts=["low lower"], vocab_size=258)
        tok.save(tmp_path / "mine.json", format="huggingface")
        for name, data in {
            "a.txt": b"low",
            "b.jsonl": b'{"text": "low"}\n',
            "c.json": b'{"text": "low"}',
            "cut.txt": b"x" * 4095 + "é".encode(),
            "empty.txt": b"",
            "web.txt.gz": b"\x1f\x8b\x08\0",
            "picture.png": b"\x89PNG\r\n\x1a\n\0\0",
            "latin.txt": "é low".encode("latin-1"),
            "mine.model": b"low",
            "mine.tiktoken": b"bG93 0\n",
            "vocab.json": b"{}",
            "merges.txt": b"l o\n",
            "ids.npy": b"\x93NUMPY\x01\0",
        }.items():
            (tmp_path / name).write_bytes(data)
        offered = [entry.name for entry in Folder(tmp_path).list_entries("")]
        assert offered == ["a.txt", "b.jsonl", "c.json", "cut.txt", "empty.txt", "web.txt.gz"]
        assert not holds_text(tmp_path / "gone")

    def test_chosen_files_are_found_again(self, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub/a.txt").write_text("low")
        (tmp_path / "7-up.txt").write_text("lower")
        folder = Folder(tmp_path)
        key = folder.add_upload("up.txt", tmp_path / "7-up.txt")
        found = folder.find(["sub/a.txt", key, "gone", "../x", "sub"])
        assert [(each.path, each.name, each.size) for each in found] == [
            ("sub/a.txt", "a.txt", 3),
            ("7-up.txt", "up.txt", 5),
        ]


class TestTexts:
    def test_the_last_four_are_kept(self) -> None:
        texts = Texts()
        keys = [texts.keep(f"{i}.txt", b"%d" % i).key for i in range(5)]
        assert [texts[key].text for key in keys[1:]] == ["1", "2", "3", "4"]
        with pytest.raises(OptionError, match="open its file again"):
            texts[keys[0]]

    def test_invalid_bytes_are_counted_and_replaced(self) -> None:
        kept = Texts().keep("a", b"\xff\xc3" + "é\ufffd".encode())
        assert (kept.text, kept.invalid, kept.bytes) == ("\ufffd\ufffdé\ufffd", 2, 11)

    def test_what_is_not_text_is_refused(self) -> None:
        with pytest.raises(OptionError, match=r"a\.png is not text"):
            Texts().keep("a.png", b"PNG\0")

    def test_a_request_names_a_kept_text(self) -> None:
        texts = Texts()
        page = TextPage(LoadedTokenizers(), texts)
        key = texts.keep("a", b"low").key
        found = page.tokens(Fields({"file": key, "tokenizers": ["bytes"]}))
        assert (found["characters"], found["panels"][0]["ids"]) == (3, [*b"low"])
        assert found["panels"][0]["spelled"] == ["l", "o", "w"]


def test_options_with_few_values_have_lists(tmp_path: Path) -> None:
    jobs = Jobs()
    page = TrainPage(LoadedTokenizers(), Folder(tmp_path), jobs)
    options = {option["name"]: option for option in page.options(Fields({}))["bpe"]}
    assert options["ties"]["choices"] == ["first-seen", "smallest-pair"]
    assert options["unit"]["choices"] == ["bytes", "characters"]
    assert {"gpt2", "o200k", "words", "none"} <= {*options["split"]["choices"]}
    assert options["split"]["other"] == "a regular expression"
    assert options["min_frequency"]["choices"] == options["unk_token"]["choices"] == []
    pieces = {option["name"]: option for option in page.options(Fields({}))["sentencepiece-bpe"]}
    assert pieces["split_digits"]["choices"] == ["true", "false"]
    assert pieces["normalization_rule_name"]["choices"][0] == "nmt_nfkc"
    assert pieces["control_symbols"]["choices"] == []
    jobs.close()
