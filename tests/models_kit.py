"""A small model of each kind, for tests that are about all of them."""

from __future__ import annotations

import numpy as np

from tests.formats_kit import pipeline
from toksmith.models import (
    CharacterBPE,
    LongestMatch,
    SentencePieceBPE,
    Unigram,
    WordLevel,
    WordPiece,
)
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter

MARK = "▁"
WORDS = PatternSplitter(r"\S+", gaps="drop")
LETTERS = tuple("abcdehlowr")
PIECES = (
    "<unk>",
    "<s>",
    "<u>",
    *LETTERS,
    MARK,
    "lo",
    "low",
    MARK + "low",
    "er",
    "ab",
    "abc",
    "hex",
)
TYPES = (2, 3, 4, *(1 for _ in LETTERS), 1, 1, 1, 1, 1, 1, 5, 1)
SCORES = (0, 0, 0, *(-9.0 - i / 4 for i in range(len(LETTERS))), -3, -1, -2, -4, -2.5, -6, -5, -7)


def utf8(tokens: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(token.encode() for token in tokens)


def merges(vocab: tuple[str, ...], *pairs: str, prefix: str = "") -> np.ndarray:
    ids = {token: i for i, token in enumerate(vocab)}
    rows = []
    for pair in pairs:
        left, right = pair.split(" ")
        rows.append([ids[left], ids[right], ids[left + right.removeprefix(prefix)]])
    return np.array(rows, np.uint32)


CHARACTERS = ("<unk>", *LETTERS, "lo", "low", "er")
MODELS = {
    "bpe": pipeline("gpt2"),
    "character-bpe": Pipeline(
        CharacterBPE(utf8(CHARACTERS), merges(CHARACTERS, "l o", "lo w", "e r"), unk_id=0), WORDS
    ),
    "sentencepiece-bpe": Pipeline(
        SentencePieceBPE(utf8(PIECES), np.array(SCORES), np.array(TYPES))
    ),
    "unigram": Pipeline(Unigram(utf8(PIECES), np.array(SCORES), np.array(TYPES))),
    "wordpiece": Pipeline(
        WordPiece(utf8(("[UNK]", "low", "lo", "##w", "##er", "##e", "a")), unk_id=0), WORDS
    ),
    "word": Pipeline(WordLevel(utf8(("<unk>", "low", "lower")), unk_id=0), WORDS),
    "longest-match": Pipeline(LongestMatch(utf8(("<unk>", *LETTERS, "low")), unk_id=0)),
}
"""A pipeline of each kind of model."""

TEXTS = (
    "",
    "low",
    "lower low",
    "abcabc lowe",
    f"{MARK}low{MARK}er<u>",
    "é 日本 a\u0301",
    "hex\x00 x",
)
