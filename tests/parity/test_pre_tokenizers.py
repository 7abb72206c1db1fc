"""Splitters against the pre-tokenizers of `tokenizers`: their pieces and spans."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import strategies
from toksmith._base.byte_alphabet import spell
from toksmith._base.text import characters
from toksmith.splitters import (
    FAMILIES,
    Behavior,
    BertSplitter,
    CharacterDelimiter,
    Digits,
    FixedLength,
    LeadingSpace,
    Metaspace,
    PatternSplitter,
    Punctuation,
    Split,
    Splitter,
    SplitterSequence,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from toksmith.stages.aligned import Aligned
from toksmith.stages.split_classes import class_table, split_text

peer = pytest.importorskip("tokenizers")
theirs = peer.pre_tokenizers

BEHAVIORS: dict[Behavior, str] = {
    "removed": "removed",
    "isolated": "isolated",
    "merged-with-previous": "merged_with_previous",
    "merged-with-next": "merged_with_next",
    "contiguous": "contiguous",
}
GPT2 = PatternSplitter(FAMILIES["gpt2"].pattern)
BY_CHARACTER: list[tuple[Splitter, Any]] = [
    (BertSplitter(), theirs.BertPreTokenizer()),
    (Whitespace(), theirs.Whitespace()),
    (WhitespaceSplit(), theirs.WhitespaceSplit()),
    (UnicodeScripts(), theirs.UnicodeScripts()),
    (CharacterDelimiter("e"), theirs.CharDelimiterSplit("e")),
    (Digits(individual=True), theirs.Digits(True)),
    (Digits(), theirs.Digits(False)),
    *((Punctuation(ours), theirs.Punctuation(name)) for ours, name in BEHAVIORS.items()),
    (
        SplitterSequence((Whitespace(), Digits(individual=True))),
        theirs.Sequence([theirs.Whitespace(), theirs.Digits(True)]),
    ),
    (
        SplitterSequence((Digits(), CharacterDelimiter("e"), Punctuation("contiguous"))),
        theirs.Sequence(
            [
                theirs.Digits(False),
                theirs.CharDelimiterSplit("e"),
                theirs.Punctuation("contiguous"),
            ]
        ),
    ),
]
OF_TEXT: list[tuple[Splitter, Any]] = [
    *BY_CHARACTER,
    (FixedLength(3), theirs.FixedLength(3)),
    *(
        (Metaspace("\u2581", scheme, split), theirs.Metaspace("\u2581", scheme, split))
        for scheme in ("always", "first", "never")
        for split in (True, False)
    ),
    *(
        (
            SplitterSequence((first, Metaspace("\u2581", scheme))),
            theirs.Sequence([their_first, theirs.Metaspace("\u2581", scheme)]),
        )
        for scheme in ("always", "first")
        for first, their_first in (
            (WhitespaceSplit(), theirs.WhitespaceSplit()),
            (Punctuation(), theirs.Punctuation()),
        )
    ),
    (
        SplitterSequence((Split("'s"), WhitespaceSplit(), Digits(), Metaspace())),
        theirs.Sequence(
            [
                theirs.Split(peer.Regex("'s"), "isolated"),
                theirs.WhitespaceSplit(),
                theirs.Digits(False),
                theirs.Metaspace(),
            ]
        ),
    ),
    *(
        (
            Split(pattern, ours, invert, is_regex),
            theirs.Split(peer.Regex(pattern) if is_regex else pattern, name, invert),
        )
        for pattern, is_regex in (
            *((" ", False), ("'s", False), (r"\s+", True), ("(?=a)", True)),
            *(("a*", True), (r"[A-Z]\w", False), (r"\p{Lu}", True)),
        )
        for ours, name in BEHAVIORS.items()
        for invert in (False, True)
    ),
]
OF_BYTES: list[tuple[Splitter, Any]] = [
    (GPT2, theirs.ByteLevel(False)),
    (LeadingSpace(), theirs.ByteLevel(True, use_regex=False)),
    (SplitterSequence((LeadingSpace(), GPT2)), theirs.ByteLevel(True)),
    (
        SplitterSequence((Digits(individual=True), GPT2)),
        theirs.Sequence([theirs.Digits(True), theirs.ByteLevel(False)]),
    ),
    (
        SplitterSequence((Punctuation("contiguous"), LeadingSpace(), GPT2)),
        theirs.Sequence([theirs.Punctuation("contiguous"), theirs.ByteLevel(True)]),
    ),
    (
        SplitterSequence(
            (PatternSplitter(r"[\r\n]"), PatternSplitter(r"\s?\p{L}+"), Digits(individual=True))
        ),
        theirs.Sequence(
            [
                theirs.Split(peer.Regex(r"[\r\n]"), "isolated"),
                theirs.Split(peer.Regex(r"\s?\p{L}+"), "isolated"),
                theirs.Digits(True),
                theirs.ByteLevel(False, use_regex=False),
            ]
        ),
    ),
]
CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def short_texts(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    letters = "aab  xx\n.,1\u00b2\u00e9A\u2581'es\u30ab\u4e00\u30fc\u0434\u0378"
    return ["".join(rng.choices(letters, k=rng.randint(0, 12))) for _ in range(count)]


def found(ours: Splitter, text: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the pieces of a text, and the characters of it that they stand for."""
    chunks = split_text(ours, Aligned.of(text))
    assert [chunk.text for chunk in chunks] == split_text(ours, text)
    spans = np.array([(c.starts[0], c.ends[-1]) for c in chunks], np.int64).reshape(-1, 2)
    offsets = characters(text, spans)[1].tolist()
    return [(c.text, (a, b)) for c, (a, b) in zip(chunks, offsets, strict=True)]


def spelled(parts: list[tuple[str, tuple[int, int]]]) -> list[tuple[str, tuple[int, int]]]:
    return [(spell(text.encode()), span) for text, span in parts]


@pytest.mark.parametrize(("ours", "their"), OF_TEXT, ids=repr)
def test_pieces(ours: Splitter, their: Any) -> None:
    for text in strategies.random_texts(6, 100, pieces=10) + short_texts(7, 150):
        assert found(ours, text) == their.pre_tokenize_str(text), ascii(text)


@pytest.mark.parametrize(("ours", "their"), OF_BYTES, ids=repr)
def test_pieces_of_bytes(ours: Splitter, their: Any) -> None:
    for text in strategies.random_texts(8, 150, pieces=10) + short_texts(9, 150):
        assert spelled(found(ours, text)) == their.pre_tokenize_str(text), ascii(text)


@pytest.mark.parametrize(("ours", "their"), BY_CHARACTER, ids=repr)
@pytest.mark.parametrize("beside", ["a", " ", "\u4e00"])
def test_every_character(ours: Splitter, their: Any, beside: str) -> None:
    text = beside.join(["", *CHARACTERS[:0x32000], *CHARACTERS[0xE0000:0xE0200], ""])
    expected = [piece for piece, _ in their.pre_tokenize_str(text)]
    assert split_text(ours, text) == expected


@pytest.mark.parametrize("name", ["english.txt", "code.txt", "cjk.txt", "multilingual.txt"])
def test_corpora(name: str, corpus: Callable[..., bytes]) -> None:
    text = corpus(name, 3_000, 2_000_000).decode()
    for ours, their in OF_TEXT:
        assert found(ours, text) == their.pre_tokenize_str(text), ours
    for ours, their in OF_BYTES:
        assert spelled(found(ours, text)) == their.pre_tokenize_str(text), ours


@pytest.mark.parametrize("ours", [ours for ours, _ in BY_CHARACTER if class_table(ours)], ids=repr)
def test_classes_of_characters_make_the_pieces(ours: Splitter) -> None:
    class_of = class_table(ours)
    assert class_of is not None
    for text in strategies.random_texts(10, 150, pieces=10):
        chunks: list[str] = []
        last = 0
        for character in text:
            kind = class_of[ord(character)]
            if kind >= 2 and kind == last:
                chunks[-1] += character
            elif kind:
                chunks.append(character)
            last = kind
        assert split_text(ours, text) == chunks
