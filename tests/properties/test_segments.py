"""Segments of any text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import any_texts, texts_with_surrogates
from toksmith import graphemes, sentences, words
from toksmith._base.text import string
from toksmith.segment import Spans, ascii_words, icu

pytest.importorskip("icu4py")
pytest.importorskip("sentencex")

ENDS = ["Mr. X ", "“Ja.” ", "\n\n", "\r\n\r\n", "\n\r\n", "。", "a. ", "?! "]
Both: TypeAlias = Callable[[str], tuple[list[int], list[int]]]
every_text = st.one_of(
    any_texts,
    texts_with_surrogates,
    st.text(st.characters()),
    st.lists(st.sampled_from(ENDS)).map("".join),
)
JOINTS = (
    " ",
    "  ",
    "\n",
    "\n ",
    "\r\n",
    "a",
    "b:",
    "1",
    ",",
    "é",
    "é ",
    "\u0301",
    "\u200d",
    "🇰",
    "😀",
    "中",
)
LANGUAGES = ("en", "de", "ar", "zh", "hi", "ja", "hy", "my", "th")


def covers(spans: Spans, text: str) -> bool:
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    return (
        "".join(spans.pieces) == spans.text == text
        and starts == [0, *ends][: len(starts)]
        and all(start < end for start, end in spans)
        and spans.bounds[-1] == len(text)
    )


@given(every_text)
def test_pieces_are_the_text(text: str | bytes) -> None:
    whole = string(text)
    for spans in (words(text), words(text, "sv"), graphemes(text), sentences(text, "uax29")):
        assert covers(spans, whole)


@given(every_text, st.sampled_from(LANGUAGES))
def test_sentences_are_the_text(text: str | bytes, language: str) -> None:
    found = sentences(text, language=language)
    assert covers(found, string(text))
    assert not any(piece.isspace() for piece in found.pieces) or len(found) == 1


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    """The ends of words by arithmetic, wherever it can be done, and by ICU alone."""
    by_icu = icu.cutter("Word")
    by_arithmetic = ascii_words.find_boundaries(by_icu)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ascii_words, "_MOSTLY", 1)
        yield lambda text: (by_arithmetic(text).tolist(), by_icu(text).tolist())


@given(every_text | st.lists(st.sampled_from(JOINTS), max_size=20).map("".join))
def test_words_by_arithmetic_are_icus(both: Both, text: str | bytes) -> None:
    if text:
        arithmetic, by_icu = both(string(text))
        assert arithmetic == by_icu


def test_ascii_words_are_icus(both: Both) -> None:
    letters = "aZ1_:.',; -\r\n\x0b"
    short = "".join(" é\n" + "".join(some) for some in product(letters, repeat=4))
    around = "".join(
        f"{before}{chr(code)}{after}\n"
        for before, code, after in product(letters, range(128), letters)
    )
    for text in (short, around, short.replace("é", "")):
        arithmetic, by_icu = both(text)
        assert arithmetic == by_icu


@given(st.lists(st.sampled_from("aéb 1.\n中ก\U0001f600e\u0301"), max_size=40).map("".join))
def test_graphemes_never_cut_words(text: str) -> None:
    assert set(words(text).bounds.tolist()) <= set(graphemes(text).bounds.tolist())
