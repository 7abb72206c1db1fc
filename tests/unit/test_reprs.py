"""Every public object has a repr of one line, however much it holds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import toksmith
from tests.kits.bpe import BYTES
from toksmith import decoders, framing, models, normalizers, splitters
from toksmith._base.visible import MOST, brief, count_of
from toksmith.pipeline import Pipeline

MANY = tuple(f"word{i} é\n" for i in range(5000))
TEXT = " ".join(MANY)
LONG = "very long \n and \x1b[31m é" * 500


def specs() -> Iterator[object]:
    words = tuple(text.encode() for text in MANY)
    single = BYTES
    pairs = tuple(bytes([97, byte]) for byte in range(256))
    scores = np.zeros(len(words))
    types = np.ones(len(words), np.uint8)
    yield models.BPE((*single, *pairs), [[97, byte, 256 + byte] for byte in range(256)])
    yield models.WordPiece(words, 0, "#" * 500)
    yield models.WordLevel(words, 0)
    yield models.LongestMatch(words, 0)
    yield models.Unigram(words, scores, types)
    yield models.SentencePieceBPE(words, scores, types)
    yield splitters.PatternSplitter("|".join(MANY))
    yield splitters.SplitterSequence((splitters.PatternSplitter("a|" * 999 + "b"),) * 50)
    yield normalizers.Replace(LONG, LONG)
    yield normalizers.Prepend(LONG)
    yield normalizers.Precompiled(b"\x00" * 300_000)
    yield decoders.WordPieceDecoder(LONG)
    yield framing.AddedToken(LONG, 1)
    added = framing.Framing.of({f"<{i}>": i for i in range(256, 5000)})
    yield added
    yield Pipeline(
        models.BPE((*single,), []), splitters.PatternSplitter("a|" * 999 + "b"), added, LONG
    )


def test_specs() -> None:
    for value in specs():
        shown = repr(value)
        assert len(shown) <= MOST, type(value)
        assert shown.isprintable(), type(value)
        assert type(value).__name__ in shown


def test_short_values_are_shown_as_they_are() -> None:
    assert (
        repr(normalizers.Replace("a", "b")) == "Replace(pattern='a', content='b', is_regex=False)"
    )
    assert repr(splitters.Digits()) == "Digits(individual=False)"
    single = BYTES
    assert repr(models.BPE((*single, b"ab"), [[97, 98, 256]])) == (
        "BPE(vocab=<257 items>, merges=<uint32 array of shape (1, 3)>, whole_chunk_first=False, "
        "unk_id=None, fuse_unk=False, dropout=None)"
    )


def test_a_repr_computes_nothing() -> None:
    """The merges of a vocabulary by ranks take seconds to find."""
    single = BYTES

    def find() -> np.ndarray:
        raise AssertionError("looked at")

    model = models.BPE(single, find)
    assert "merges=<not computed yet>" in repr(model)
    assert "merges=<not computed yet>" in repr(toksmith.Tokenizer(Pipeline(model)).pipeline.model)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "None"),
        (b"\xff", r"b'\xff'"),
        ("é" * 41, "<41 characters: 'ééééééééééééééééééééé…'>"),
        ((), "()"),
        ((LONG,), "<1 item>"),
        ({1: 2}, "{1: 2}"),
        (dict.fromkeys(range(13)), "<13 items>"),
        (np.zeros((3, 2), np.int64), "<int64 array of shape (3, 2)>"),
        (np.int64(3), repr(np.int64(3))),
    ],
)
def test_brief(value: object, shown: str) -> None:
    assert brief(value) == shown


def test_numbers_and_units() -> None:
    assert [count_of(n, "field") for n in (0, 1, 2)] == ["0 fields", "1 field", "2 fields"]
    assert count_of(2, "entry") == "2 entries"


def test_one_of_each() -> None:
    assert "1 code point," in repr(toksmith.unicode("a"))
    assert "1 byte in UTF-8" in repr(toksmith.unicode("a"))
    assert repr(toksmith.train(texts="aa", vocab_size=257).merge_table) == (
        "<MergeTable: 1 merge: a + a>"
    )


def test_repr_of_a_decoder() -> None:
    tok = toksmith.train(texts="aa", vocab_size=257)
    assert repr(tok.decoder()) == "<IncrementalDecoder: errors='replace'>"
    assert repr(tok.decoder(errors="strict", skip_special_tokens=True)) == (
        "<IncrementalDecoder: errors='strict', skip_special_tokens=True>"
    )
