"""Splitters of text models, by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toksmith.errors import SplitError
from toksmith.splitters import (
    Behavior,
    BertSplitter,
    CharacterDelimiter,
    Digits,
    FixedLength,
    LeadingSpace,
    Metaspace,
    Punctuation,
    Split,
    Splitter,
    SplitterSequence,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
    splitter,
)
from toksmith.stages.aligned import Aligned
from toksmith.stages.split_classes import split_text


@pytest.mark.parametrize(
    ("cut", "text", "expected"),
    [
        (BertSplitter(), "Don't  go.", ["Don", "'", "t", "go", "."]),
        (Whitespace(), "Don't go!!", ["Don", "'", "t", "go", "!!"]),
        (WhitespaceSplit(), "\tDon't\u3000go ", ["Don't", "go"]),
        (Punctuation(), "a..b", ["a", ".", ".", "b"]),
        (Punctuation("contiguous"), "a..b", ["a", "..", "b"]),
        (Punctuation("merged-with-next"), "a..b", ["a", ".", ".b"]),
        (Punctuation("removed"), "a$b", ["a", "b"]),  # of ASCII, symbols count too
        (Punctuation(), "a€b", ["a€b"]),
        (Digits(), "a12½", ["a", "12½"]),
        (Digits(individual=True), "a12", ["a", "1", "2"]),
        (CharacterDelimiter("-"), "-a--b", ["a", "b"]),
        (FixedLength(2), "abcde", ["ab", "cd", "e"]),
        (UnicodeScripts(), " да カナ漢ー 1no", ["да ", "カナ漢ー ", "1", "no"]),
        (UnicodeScripts(), "  ", []),
        (Metaspace(), "to be", ["▁to", "▁be"]),
        (Metaspace(), " to  be", ["▁to", "▁", "▁be"]),
        (Metaspace(prepend="never"), "to be", ["to", "▁be"]),
        (Metaspace(split=False), "to be", ["▁to▁be"]),
        (Metaspace("_"), "to_be", ["_to", "_be"]),
        (LeadingSpace(), "a", [" a"]),
        (LeadingSpace(), "\ta", [" \ta"]),
        (LeadingSpace(), " a", [" a"]),
        (
            SplitterSequence((Digits(individual=True), LeadingSpace(), splitter("gpt2"))),
            "it's 12",
            [" it", "'s", " ", " 1", " 2"],
        ),
        (SplitterSequence(()), "a b", ["a b"]),
        (SplitterSequence((SplitterSequence((WhitespaceSplit(),)),)), "a b", ["a", "b"]),
    ],
)
def test_splitters(cut: Splitter, text: str, expected: list[str]) -> None:
    assert split_text(cut, text) == expected
    assert [chunk.text for chunk in split_text(cut, Aligned.of(text))] == expected


@pytest.mark.parametrize(
    ("behavior", "expected", "inverted"),
    [
        ("removed", "a|b", "-|-|-"),
        ("isolated", "-|a|-|-|b", "-|a|-|-|b"),
        ("contiguous", "-|a|--|b", "-|a|--|b"),
        ("merged-with-previous", "-|a-|-|b", "-a|-|-b"),
        ("merged-with-next", "-a|-|-b", "-|a-|-|b"),
    ],
)
def test_behaviours(behavior: Behavior, expected: str, inverted: str) -> None:
    assert split_text(Split("-", behavior), "-a--b") == expected.split("|")
    assert split_text(Split("-", behavior, is_regex=False), "-a--b") == expected.split("|")
    assert split_text(Split("-", behavior, invert=True), "-a--b") == inverted.split("|")


def test_empty_matches_cut() -> None:
    assert split_text(Split("(?=[A-Z])"), "aBcD") == ["a", "Bc", "D"]
    assert split_text(Split("x*"), "axxb") == ["a", "xx", "b"]


def test_the_start_of_a_document() -> None:
    first = Metaspace(prepend="first")
    assert split_text(first, "to be") == ["▁to", "▁be"]
    assert split_text(first, "to be", at_start=False) == ["to", "▁be"]
    words = SplitterSequence((WhitespaceSplit(), first))
    assert split_text(words, "to be") == ["▁to", "be"]
    assert split_text(words, " to be") == ["to", "be"]  # what is first was dropped


def test_a_leading_mark_has_the_span_of_the_first_character() -> None:
    piece = split_text(Metaspace(), Aligned.of("éa"))[0]
    assert (piece.text, piece.starts, piece.ends) == ("▁éa", [0, 0, 2], [2, 2, 3])


@pytest.mark.parametrize(
    "make",
    [
        lambda: CharacterDelimiter("ab"),
        lambda: CharacterDelimiter(""),
        lambda: FixedLength(0),
        lambda: Metaspace(""),
        lambda: Split("("),
    ],
)
def test_invalid_splitters(make: Callable[[], object]) -> None:
    with pytest.raises(SplitError):
        make()
