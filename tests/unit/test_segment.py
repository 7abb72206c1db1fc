"""Words, sentences and graphemes, against texts that are segmented by hand."""

from __future__ import annotations

import pickle
import re
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import toksmith
from toksmith import graphemes, sentences, words
from toksmith.errors import MissingExtraError, OptionError, UnsupportedError
from toksmith.segment import Spans, icu

pytest.importorskip("icu4py")
pytest.importorskip("sentencex")

FAMILY = "👩\u200d👩\u200d👧"


class TestSpans:
    spans = Spans("to be", np.array([0, 2, 3, 5]))

    def test_is_a_sequence_of_spans(self) -> None:
        assert list(self.spans) == [(0, 2), (2, 3), (3, 5)]
        assert self.spans[1] == self.spans[-2] == toksmith.Span(2, 3)
        assert self.spans[1:] == [(2, 3), (3, 5)]
        assert len(self.spans) == 3
        assert (3, 5) in self.spans
        assert self.spans.index((2, 3)) == 1
        assert type(next(iter(self.spans)).start) is type(self.spans[0].end) is int
        with pytest.raises(IndexError, match="span 3 of 3"):
            self.spans[3]

    def test_a_notebook_shows_the_pieces(self) -> None:
        shown = words(f"<b> {FAMILY}")._repr_html_()
        assert re.findall(
            r"ts-fill ([\w-]+)\" title=\"characters (\S+?)\">(.*?)</span>", shown
        ) == [
            ("ts-plain", "0–1", "&lt;"),
            ("ts-c0", "1–2", "b"),
            ("ts-plain", "2–3", "&gt;"),
            ("ts-plain", "3–4", "·<wbr>"),
            ("ts-plain", "4–9", FAMILY),
        ]
        assert "1 word in 5 pieces, 9 characters" in shown
        of_sentences = sentences("One.\nTwo.")._repr_html_()
        assert of_sentences.count("<div dir=") == 2
        assert re.findall(r"ts-fill (ts-c\d)", of_sentences) == ["ts-c0", "ts-c1"]
        assert "style=" not in of_sentences

    def test_compares_as_a_list(self) -> None:
        assert self.spans == [(0, 2), (2, 3), (3, 5)]
        assert self.spans == ([0, 2], [2, 3], [3, 5])
        assert self.spans == Spans("so is", np.array([0, 2, 3, 5]))
        assert self.spans != [(0, 2), (2, 3)]
        assert self.spans != [(0, 2), (2, 3), (3, 4)]
        assert self.spans != [0, 2, 3]
        assert self.spans != "to be"
        assert repr(self.spans) == "Spans([(0, 2), (2, 3), (3, 5)])"

    def test_can_be_sent_elsewhere(self) -> None:
        found = pickle.loads(pickle.dumps(words("a b")))
        assert found == words("a b")
        assert found.words == ["a", "b"]

    def test_does_not_change(self) -> None:
        with pytest.raises(ValueError, match="read-only"):
            self.spans.bounds[0] = 1
        with pytest.raises(FrozenInstanceError):
            self.spans.text = ""  # type: ignore[misc]
        with pytest.raises(TypeError, match="unhashable"):
            hash(self.spans)
        with pytest.raises(ValueError, match="read-only"):
            words("a b").is_word[1] = True


class TestWords:
    @pytest.mark.parametrize(
        ("text", "pieces"),
        [
            ("", []),
            ("a", ["a"]),
            ("can't  3,456.789 $5", ["can't", "  ", "3,456.789", " ", "$", "5"]),
            ("snake_case x2 e-mail", ["snake_case", " ", "x2", " ", "e", "-", "mail"]),
            ("a.b. c", ["a.b", ".", " ", "c"]),
            ("one\r\ntwo\n\n", ["one", "\r\n", "two", "\n", "\n"]),
            ("𝒶𝒷 😀😀 x", ["𝒶𝒷", " ", "😀", "😀", " ", "x"]),
            (f"{FAMILY}!", [FAMILY, "!"]),
            ("🇰🇷🇩🇪", ["🇰🇷", "🇩🇪"]),
            ("שלום 안녕하세요", ["שלום", " ", "안녕하세요"]),
            ("日本語を学ぶ", ["日本語", "を", "学ぶ"]),
            ("สวัสดีชาวโลก", ["สวัสดี", "ชาว", "โลก"]),
            ("a\ud800b\udc00", ["a", "\ud800", "b", "\udc00"]),
            ("\ud83d\ude00", ["\ud83d", "\ude00"]),
            ("a\x00b\u0378", ["a", "\x00", "b", "\u0378"]),
        ],
    )
    def test_pieces(self, text: str, pieces: list[str]) -> None:
        found = words(text)
        assert found.pieces == pieces
        assert [text[start:end] for start, end in found] == pieces

    def test_which_are_words(self) -> None:
        found = words("Größe: ½ Ⅷ नमस्ते_ 123 _ 😀 ⓐ 語\u0301 \u0301")
        assert found.words == ["Größe", "½", "Ⅷ", "नमस्ते_", "123", "ⓐ", "語\u0301"]
        assert found.is_word.tolist() == [piece in found.words for piece in found.pieces]
        assert words("").is_word.tolist() == []

    def test_locales_have_rules_of_their_own(self) -> None:
        assert words("k:t").pieces == words("k:t", "sv").pieces == ["k:t"]
        assert words("a.b", "en-US-POSIX").pieces != words("a.b").pieces == ["a.b"]

    @pytest.mark.parametrize("locale", ["", "no locale", "e", 7, "en\x00"])
    def test_wrong_locale(self, locale: object) -> None:
        with pytest.raises(OptionError, match=r"locale is .*: use a name such as 'en'"):
            words("a", locale)  # type: ignore[arg-type]

    def test_bytes(self) -> None:
        found = words("né ".encode() + b"\xff\xe2\x82")
        assert found.text == "né \ufffd\ufffd\ufffd"
        assert found == [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6)]
        with pytest.raises(OptionError, match="a text is a str or UTF-8 bytes, not int"):
            words(3)  # type: ignore[arg-type]

    @pytest.mark.parametrize("short", [0, 1000])
    def test_blocks_end_at_line_feeds(self, monkeypatch: pytest.MonkeyPatch, short: int) -> None:
        text = "ab 😀\r\n\u0301\n\n" + "long line, long line\n" + "end 😀x"
        whole = words(text)
        monkeypatch.setattr(sys.modules["toksmith.segment.words"], "_SHORT", short)
        for size in range(1, len(text) + 1):
            monkeypatch.setattr(icu, "_BLOCK", size)
            assert words(text) == whole

    def test_a_line_too_long_for_icu(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(icu, "_MOST", 9)
        with pytest.raises(OptionError, match="a line has 10 characters"):
            words("abc\n" + "x" * 10)


class TestGraphemes:
    def test_pieces(self) -> None:
        pieces = ["e\u0301", "\r\n", FAMILY, "🇰🇷", "한", "각", "\ud800", "\u0301", "क्षि", "1️⃣"]
        assert graphemes("".join(pieces)).pieces == pieces
        assert graphemes("") == []


class TestSentences:
    def test_white_space_belongs_to_the_sentence_before_it(self) -> None:
        text = "\n\n First one. Second!\n\n\n  Third… \n"
        assert sentences(text).pieces == ["\n\n First one. ", "Second!\n\n\n  ", "Third… \n"]

    @pytest.mark.parametrize("text", ["", " ", "\n\n", "a", "no end", "\ud800. \ud800"])
    @pytest.mark.parametrize("rules", ["sentencex", "uax29"])
    def test_small_texts(self, text: str, rules: str) -> None:
        assert "".join(sentences(text, rules).pieces) == text  # type: ignore[arg-type]

    def test_long_paragraphs_are_read_in_windows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        parts = [
            "See Fig. 3 there. ",
            "He said “Stop it. Now.” twice.\r\n",
            "Dr. Ba came at 5 p.m. ",
        ]
        text = "".join(parts[i % 3] for i in range(200)) + "\r\n\r\n" + "x" * 3000 + ". End. "
        whole = sentences(text)
        assert len(whole) == 202
        segment = sys.modules["toksmith.segment.sentences"]
        for window in (90, 100, 333, 1000):
            monkeypatch.setattr(segment, "_WINDOW", window)
            monkeypatch.setattr(segment, "_LOOK_AHEAD", 50)
            assert sentences(text) == whole

    def test_wide_spaces_in_quotes(self) -> None:
        """What sentencex alone ends with a panic on."""
        for language, space in (("en", "\u3000"), ("da", "\xa0"), ("te", "\u2029")):
            text = f"He said 'G{space}.' It was."
            assert "".join(sentences(text, language=language).pieces) == text
        assert sentences("「行く。」\u3000次は。", language="ja").pieces == [
            "「行く。」\u3000",
            "次は。",
        ]

    def test_a_fault_of_sentencex(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class PanicException(BaseException):
            pass

        def fail(language: str, text: str) -> None:
            raise PanicException("byte index 3")

        monkeypatch.setattr("sentencex.get_sentence_boundaries", fail)
        with pytest.raises(
            UnsupportedError, match="fails on characters 0 to 4: byte index 3; rules"
        ):
            sentences("abcd")

    def test_language(self) -> None:
        text = "Wir treffen uns am 3. Januar in z.B. Bonn. Gut?"
        assert sentences(text, language="de").pieces == [
            "Wir treffen uns am 3. Januar in z.B. Bonn. ", "Gut?"
        ]  # fmt: skip
        assert sentences(text, language="DE-at") == sentences(text, language="de")

    def test_uax29(self) -> None:
        found = sentences("Mr. Fox ran. 3.5 km!\nYes? no.", rules="uax29")
        assert found.pieces == ["Mr. ", "Fox ran. ", "3.5 km!\n", "Yes? ", "no."]

    def test_wrong_options(self) -> None:
        with pytest.raises(OptionError, match="rules is 'punkt': use 'sentencex' or 'uax29'"):
            sentences("a", rules="punkt")  # type: ignore[arg-type]
        for language in ("english", "", "e n", None):
            with pytest.raises(OptionError, match=r"language is .*: use a code such as 'en'"):
                sentences("a", language=language)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("icu4py.breakers", lambda: words("a")),
        ("icu4py.breakers", lambda: graphemes("a")),
        ("icu4py.breakers", lambda: sentences("a", rules="uax29")),
        ("sentencex", lambda: sentences("a")),
    ],
)
def test_missing_package(monkeypatch: pytest.MonkeyPatch, module: str, call: object) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"not installed: pip install toksmith\[segment\]"):
        call()  # type: ignore[operator]
