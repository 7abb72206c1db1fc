"""Unigram and BPE on text: the kernel's tokens, spans and errors against the reference's."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kits.character_bpe import random_character_bpe
from tests.kits.pieces import (
    Piece,
    model_of,
    random_chunk,
    random_double_unigram,
    random_sentencepiece_bpe,
    random_unigram,
)
from toksmith.engine.kernel import KernelEncoder
from toksmith.errors import OptionError, UnknownTokenError
from toksmith.models import CharacterBPE, Model, PieceType, SentencePieceBPE, Unigram
from toksmith.reference.chunk_models import chunk_model

MAKERS = [
    random_sentencepiece_bpe,
    random_unigram,
    random_double_unigram,
    random_character_bpe,
]
Tokens = list[tuple[int, int, int]] | str
"""Ids with their spans, or the message of an error."""


def by_reference(run: Callable[[bytes], list[tuple[int, int, int]]], chunk: bytes) -> Tokens:
    try:
        return [tuple(token) for token in run(chunk)]
    except UnknownTokenError as error:
        return str(error)


def by_kernel(encoder: KernelEncoder, chunk: bytes) -> Tokens:
    try:
        batch, spans = encoder.encode_chunks_with_spans(chunk, np.array([[0, len(chunk)]]))
        ids = encoder.encode(chunk, 1).tolist()
    except UnknownTokenError as error:
        return str(error)
    assert batch.ids.tolist() == ids, "with spans and without"
    return [(i, *span) for i, span in zip(ids, spans.tolist(), strict=True)]


def check(model: Model, chunks: list[bytes]) -> None:
    run, encoder = chunk_model(model), KernelEncoder(model)
    for chunk in chunks:
        assert by_kernel(encoder, chunk) == by_reference(run, chunk), chunk


@pytest.mark.parametrize("make", MAKERS)
def test_random_models(make: Callable[[random.Random], tuple[Model, str]]) -> None:
    for seed in range(150):
        rng = random.Random(seed)
        model, alphabet = make(rng)
        texts = [random_chunk(rng, alphabet) for _ in range(20)]
        texts.append(random_chunk(rng, alphabet, most=300))
        check(model, [text.encode() for text in texts])


@pytest.mark.parametrize("make", MAKERS)
@given(data=st.data())
def test_hypothesis(
    make: Callable[[random.Random], tuple[Model, str]], data: st.DataObject
) -> None:
    model, alphabet = make(random.Random(data.draw(st.integers(0, 2**32))))
    characters = st.sampled_from(alphabet) | st.characters(codec="utf-8")
    check(model, [data.draw(st.text(characters, min_size=1, max_size=200)).encode()])


@pytest.mark.parametrize("make", MAKERS)
def test_bytes_that_are_no_utf8_are_survived(
    make: Callable[[random.Random], tuple[Model, str]],
) -> None:
    for seed in range(60):
        rng = random.Random(seed)
        model, alphabet = make(rng)
        encoder = KernelEncoder(model)
        for _ in range(20):
            chunk = bytearray(random_chunk(rng, alphabet, most=40).encode())
            for _ in range(rng.randint(1, 5)):
                chunk[rng.randrange(len(chunk))] = rng.choice(b"\x80\xbf\xc3\xe2\xf0\xf5\xffa")
            tokens = by_kernel(encoder, bytes(chunk))
            assert isinstance(tokens, str) or all(t[0] < len(model.vocab) for t in tokens)


def test_pieces_that_are_no_utf8() -> None:
    """A damaged file may hold any bytes; no text is ever made of them."""
    vocab = (b"<unk>", b"a", b"\xc3", b"a\xc3", b"\xa9b", b"\xe6\x97", b"ab")
    types = np.array([2, 1, 1, 1, 1, 1, 1], np.uint8)
    scores = np.arange(7.0)
    chunks = ["aéb".encode(), "ab日日".encode(), b"a" * 200, "éa".encode() * 100]
    check(SentencePieceBPE(vocab, scores, types), chunks)
    for single in (True, False):
        check(Unigram(vocab, scores, types, single=single), chunks)


def test_sums_far_from_zero() -> None:
    """SentencePiece starts anew where the sum is more than 100,000 away from 0."""
    pieces = [Piece("<unk>", 0, PieceType.UNKNOWN)]
    pieces += [Piece("b", -1), Piece("c", -0.999), Piece("bc", -2)]
    for score in (-100.0, 100.0, -33.3):
        model = model_of(Unigram, [*pieces, Piece("a", score)])
        check(model, [b"a" * size + b"bc" for size in (0, 500, 999, 1000, 1001, 1002, 3100)])
        check(model, [b"bca" * 4000, b"ab" * 2500 + b"x" * 2000 + b"bc" * 2000])


def test_large_vocabularies() -> None:
    """More pieces than one block of the trie holds, and long ones."""
    rng = random.Random(5)
    letters = "abcdefghijklmnop日本語éü"
    texts = {"".join(rng.choices(letters, k=rng.choice((1, 2, 3, 4, 8, 30)))) for _ in range(5000)}
    pieces = [Piece("<unk>", 0, PieceType.UNKNOWN)]
    pieces += [Piece(text, rng.uniform(-12, -3)) for text in sorted(texts)]
    chunks = ["".join(rng.choices(letters, k=400)).encode() for _ in range(20)]
    chunks += ["".join(rng.choices(sorted(texts), k=60)).encode() for _ in range(20)]
    check(model_of(Unigram, pieces), chunks)
    check(model_of(SentencePieceBPE, pieces), chunks[:4])


def ladder(depth: int) -> list[tuple[str, str]]:
    """Merges whose results rank before what they are made of."""
    merges = [("a", "a")]
    while len(merges) < depth:
        left, right = merges[-1]
        merges.append((left + right, "a"))
    return merges[::-1]


def long_models() -> list[Model]:
    vocab = (b"<unk>", *(b"a" * size for size in range(1, 17)), b"b", b"ab", b"ba")
    types = np.array([2, *[1] * (len(vocab) - 1)], np.uint8)
    upwards, level = np.arange(len(vocab), dtype=float), np.zeros(len(vocab))
    ids = {token.decode(): i for i, token in enumerate(vocab)}
    merges = [[ids[left], ids[right], ids[left + right]] for left, right in ladder(15)]
    return [
        SentencePieceBPE(vocab, -upwards, types),
        SentencePieceBPE(vocab, upwards, types),
        SentencePieceBPE(vocab, level, types),
        CharacterBPE(vocab, np.array(merges, np.uint32), unk_id=0),
        Unigram(vocab, -upwards, types),
        Unigram(vocab, level, types, single=False),
    ]


@pytest.mark.parametrize("model", long_models())
def test_no_text_takes_quadratic_time(model: Model) -> None:
    check(model, [b"a" * 150, b"ab" * 90 + b"a" * 99, b"aab" * 70])
    encoder = KernelEncoder(model)
    for pattern in (b"a", b"ab", b"aab", b"aaab"):
        seconds = []
        for size in (50_000, 400_000):
            chunk = pattern * (size // len(pattern))
            start = time.perf_counter()
            encoder.encode(chunk, 1)
            seconds.append(time.perf_counter() - start)
        # Eight times the text may take eight times as long, and some more; not 64 times.
        assert seconds[1] < 30 * seconds[0] + 0.5, pattern


def test_arrays_that_do_not_fit() -> None:
    from toksmith import _kernel

    vocab = (b"<unk>", b"a")
    with pytest.raises(ValueError, match="score and a type"):
        _kernel.unigram_model(vocab, np.zeros(1), np.ones(2, np.uint8), 0, False, True, True)
    with pytest.raises(ValueError, match="score and a type"):
        _kernel.SentencePieceModel(vocab, np.zeros(2, np.float32), np.ones(3, np.uint8), 0, False)
    with pytest.raises(ValueError, match="byte"):
        _kernel.unigram_model(vocab, np.zeros(2), np.ones(2, np.uint8), 0, True, True, True)
    with pytest.raises(OptionError, match="merge 0"):
        CharacterBPE((b"a",), np.array([[0, 0, 1]], np.uint32))
