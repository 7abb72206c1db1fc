"""Word models and the longest match, by hand, on both engines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from toksmith.engine.kernel import KernelEncoder
from toksmith.errors import OptionError
from toksmith.models import LongestMatch, WordLevel, WordPiece
from toksmith.reference.chunk_models import Token, chunk_model
from toksmith.reference.wordpiece import attempts

PIECES = (b"[UNK]", b"un", b"##a", b"##aff", b"##able", b"##ff", "é".encode(), "##é".encode())
PIECES = (*PIECES, b"##", b"##b", b"a", b"unab")


def tokens(model: WordPiece | WordLevel | LongestMatch, chunk: str | bytes) -> list[Token]:
    chunk = chunk.encode() if isinstance(chunk, str) else chunk
    found = chunk_model(model)(chunk)
    batch, spans = KernelEncoder(model).encode_chunks_with_spans(chunk, np.array([[0, len(chunk)]]))
    places = zip(batch.ids.tolist(), spans.tolist(), strict=True)
    assert [Token(i, *span) for i, span in places] == found
    return found


def pieces(model: WordPiece | WordLevel | LongestMatch, chunk: str | bytes) -> list[str]:
    return [model.vocab[token.id].decode() for token in tokens(model, chunk)]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("unaffable", ["un", "##aff", "##able"]),
        ("unab", ["unab"]),
        ("unable", ["[UNK]"]),  # unab, and nothing goes on with le
        ("una", ["un", "##a"]),
        ("unaffx", ["[UNK]"]),
        ("xun", ["[UNK]"]),
        ("unéa", ["un", "##é", "##a"]),
        ("éé", ["é", "##é"]),
        ("##b", ["##b"]),  # the text itself, at the start of a word
        ("##", ["##"]),
        ("un##", ["[UNK]"]),
        ("[UNK]", ["[UNK]"]),
        ("aff", ["a", "##ff"]),
    ],
)
def test_wordpiece(word: str, expected: list[str]) -> None:
    assert pieces(WordPiece(PIECES, 0), word) == expected


def test_wordpiece_spans() -> None:
    model = WordPiece(PIECES, 0)
    assert tokens(model, "unéa") == [Token(1, 0, 2), Token(7, 2, 4), Token(2, 4, 5)]
    assert tokens(model, "unéx") == [Token(0, 0, 5)]
    assert tokens(model, "") == []


def test_wordpiece_greed_is_not_undone() -> None:
    """`ab` + `##c` would fit, but `abc` is taken first and leaves nothing that starts with d."""
    model = WordPiece((b"?", b"abc", b"ab", b"##cd"), 0)
    assert pieces(model, "abcd") == ["?"]


def test_wordpiece_limit_counts_characters() -> None:
    model = WordPiece((b"?", "é".encode(), "##é".encode()), 0, max_characters=3)
    assert pieces(model, "ééé") == ["é", "##é", "##é"]
    assert tokens(model, "éééé") == [Token(0, 0, 8)]
    assert tokens(WordPiece((b"?", b"a"), 0, max_characters=0), "a") == [Token(0, 0, 1)]


def test_wordpiece_without_prefix() -> None:
    model = WordPiece((b"?", b"ab", b"a", b"b"), 0, prefix="")
    assert pieces(model, "abba") == ["ab", "b", "a"]


def test_attempts() -> None:
    model = WordPiece((b"?", b"ab", b"##c"), 0)
    assert [(a.token, a.id) for a in attempts(model, b"abdc")] == [
        *((b"abdc", None), (b"abd", None), (b"ab", 1)),
        *((b"##dc", None), (b"##d", None)),
    ]


def test_word_level() -> None:
    model = WordLevel((b"<unk>", b"the", b"", b"the cat"), 0)
    assert tokens(model, "the") == [Token(1, 0, 3)]
    assert tokens(model, "the cat") == [Token(3, 0, 7)]
    assert tokens(model, "cat") == [Token(0, 0, 3)]
    assert tokens(WordLevel((b"the",)), "cat") == []


@pytest.mark.parametrize(
    ("text", "fused", "expected"),
    [
        ("abcab", False, ["abc", "ab"]),
        ("ababc", False, ["ab", "abc"]),
        ("abcd", False, ["abc", "?", ]),
        ("xxabxé", False, ["?", "?", "ab", "?", "?"]),
        ("xxabxé", True, ["?", "ab", "?"]),
        ("ac", False, ["a", "?"]),
        ("?", False, ["?"]),
        ("日本日", False, ["日本", "?"]),
    ],
)  # fmt: skip
def test_longest_match(text: str, fused: bool, expected: list[str]) -> None:
    vocab = (b"?", b"a", b"ab", b"abc", b"b", "日本".encode(), b"abcde")
    assert pieces(LongestMatch(vocab, 0, fused), text) == expected


def test_longest_match_spans() -> None:
    vocab = (b"<?>", b"a", b"ab")
    assert tokens(LongestMatch(vocab, 0), "éabé") == [
        Token(0, 0, 2),
        Token(2, 2, 4),
        Token(0, 4, 6),
    ]
    assert tokens(LongestMatch(vocab, 0, True), "xéa") == [Token(0, 0, 3), Token(1, 3, 4)]
    assert tokens(LongestMatch(vocab), "xéab") == [Token(2, 3, 5)]


def test_unknown_token_is_no_text() -> None:
    vocab = (b"<?>", b"<", b">")
    assert pieces(LongestMatch(vocab, 0), "<?>") == ["<", "<?>", ">"]


def test_seeds_greedy_longest(shared: Path) -> None:
    """Over the vocabulary of the seeds' character BPE."""
    figures = json.loads((shared / "data/golden/seeds.json").read_text())
    vocab = ("<UNK>", *figures["char_bpe"]["vocab_after_26"])
    model = LongestMatch(tuple(token.encode() for token in vocab), 0)
    held = figures["greedy_longest"]
    assert pieces(model, held["text"]) == held["tokens"]


@pytest.mark.parametrize("unk_id", [-1, 1, 5])
def test_unknown_has_to_be_a_token(unk_id: int) -> None:
    for make in (WordPiece, WordLevel, LongestMatch):
        with pytest.raises(OptionError, match=f"unk_id is {unk_id}"):
            make((b"a", b""), unk_id)
