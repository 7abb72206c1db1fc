"""The same ids as sentencepiece and tokenizers, from normalized text that is not cut anywhere.

Each document is one chunk, longer than what the cache keeps: what runs is the model itself.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import sentencepiece_peer
from tests.kits.character_bpe import random_character_bpe
from tests.kits.pieces import Piece, model_of, random_chunk, random_double_unigram, random_pieces
from tests.strategies import random_texts
from toksmith import Tokenizer
from toksmith.engine.kernel import KernelEncoder
from toksmith.errors import UnknownTokenError
from toksmith.models import CharacterBPE, Model, SentencePieceBPE, Unigram
from toksmith.pipeline import Pipeline
from toksmith.reference.chunk_models import chunk_model

SEPARATOR = "<|endoftext|>"
CORPORA = ("english.txt", "code.txt", "multilingual.txt", "cjk.txt")
FILES = {
    "llama2": sentencepiece_peer.BPE,
    "spm_toy400_bpe": sentencepiece_peer.BPE,
    "english8k_unigram": sentencepiece_peer.UNIGRAM,
    "spm_test_unigram": sentencepiece_peer.UNIGRAM,
}
SAMPLE = 400_000
"""How much of each corpus is compared, in bytes."""

Pair = tuple[Any, Model]
"""A processor of sentencepiece, and our model of its pieces."""


@pytest.fixture(scope="session")
def pair(shared: Path) -> Callable[[str], Pair]:
    """``pair(name)``: the two of a model file."""
    sentencepiece = pytest.importorskip("sentencepiece")

    @cache
    def build(name: str) -> Pair:
        path = str(shared / f"data/vocab/{name}.model")
        theirs = sentencepiece.SentencePieceProcessor(model_file=path)
        return theirs, sentencepiece_peer.model_in(theirs, FILES[name])

    return build


def assert_equal(theirs: Any, model: Model, texts: list[str]) -> None:
    normalized = [text.encode() for text in theirs.normalize(texts)]
    found = KernelEncoder(model).encode_texts(normalized, 1)
    for text, ids, expected in zip(texts, found, theirs.encode(texts), strict=True):
        assert ids.tolist() == expected, text[:300]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("corpus_name", CORPORA)
def test_documents(
    name: str, corpus_name: str, pair: Callable[[str], Pair], corpus: Callable[..., bytes]
) -> None:
    for start in (0, 5_000_001):
        text = corpus(corpus_name, SAMPLE, start).decode()
        assert_equal(*pair(name), text.split(SEPARATOR))


@pytest.mark.parametrize("name", FILES)
def test_random_strings(name: str, pair: Callable[[str], Pair]) -> None:
    assert_equal(*pair(name), random_texts(seed=31, count=5_000))


@pytest.mark.parametrize("name", FILES)
def test_long_texts(name: str, pair: Callable[[str], Pair], corpus: Callable[..., bytes]) -> None:
    """Sums that go far from zero, and runs in which everything may merge."""
    english = corpus("english.txt", 300_000).decode()
    assert_equal(
        *pair(name), [english, "a" * 20_000, " " * 5_000, "日本" * 20_000, "ab \n" * 9_000]
    )


@pytest.mark.parametrize("name", FILES)
def test_the_reference_too(
    name: str, pair: Callable[[str], Pair], corpus: Callable[..., bytes]
) -> None:
    theirs, model = pair(name)
    run = chunk_model(model)
    texts = random_texts(seed=32, count=200)
    texts += [corpus(corpus_name, 400, 9_000_001).decode() for corpus_name in CORPORA]
    for text in texts:
        normalized = theirs.normalize(text).encode()
        assert [token.id for token in run(normalized)] == theirs.encode(text), text


@pytest.mark.parametrize("kind", [sentencepiece_peer.BPE, sentencepiece_peer.UNIGRAM])
def test_pieces_of_all_types(kind: int) -> None:
    pytest.importorskip("sentencepiece")
    make = SentencePieceBPE if kind == sentencepiece_peer.BPE else Unigram
    for seed in range(250):
        rng = random.Random(seed)
        pieces, alphabet = random_pieces(rng)
        theirs = sentencepiece_peer.processor(pieces, kind)
        model = model_of(make, pieces)
        run, encoder = chunk_model(model), KernelEncoder(model)
        for _ in range(20):
            text = random_chunk(rng, alphabet)
            expected = theirs.encode(text)
            assert encoder.encode_list(text, 1) == expected, (seed, text)
            assert [token.id for token in run(text.encode())] == expected, (seed, text)


def test_sums_far_from_zero() -> None:
    pytest.importorskip("sentencepiece")
    pieces = [
        Piece("<unk>", 0, 2),
        Piece("b", -1),
        Piece("c", -0.999),
    ]
    for last in ((-100.0, -2), (100.0, -2), (-33.3, -2.001), (-50.0, -1.998)):
        score, joined = last
        vocab = [*pieces, Piece("bc", joined), Piece("a", score)]
        theirs = sentencepiece_peer.processor(vocab, sentencepiece_peer.UNIGRAM)
        assert_equal(
            theirs,
            model_of(Unigram, vocab),
            ["a" * size + "bc" * 3 for size in range(0, 6000, 250)]
            + ["a" * size + "bc" for size in (999, 1000, 1001, 1999, 2000, 2001, 2002)]
            + ["x" * 1500 + "abc" * 4000],
        )


# n-best and samples


def test_nbest_of_random_pieces() -> None:
    pytest.importorskip("sentencepiece")
    for seed in range(150):
        rng = random.Random(seed)
        pieces, alphabet = random_pieces(rng)
        if not any(piece.type == 1 for piece in pieces):
            continue  # then unknown characters score infinitely much, and nothing tells ways apart
        theirs = sentencepiece_peer.processor(pieces, sentencepiece_peer.UNIGRAM)
        ours = Tokenizer(Pipeline(model_of(Unigram, pieces)))
        for _ in range(4):
            text = random_chunk(rng, alphabet, most=9)
            found = ours.nbest(text, 10)
            expected = [list(ids) for ids in theirs.nbest_encode_as_ids(text, 10)]
            assert len(found) == len(expected)
            # Ways with equal scores may stand in another order, or outside of the ten.
            scores = {tuple(ids): score for ids, score in ours.nbest(text, 1024)}
            for ids, (_, score) in zip(expected, found, strict=True):
                assert scores[tuple(ids)] == pytest.approx(score, abs=1e-4), (seed, text)


@pytest.mark.parametrize("name", ["english8k_unigram", "spm_test_unigram"])
def test_nbest_of_sentences(
    name: str, pair: Callable[[str], Pair], corpus: Callable[..., bytes]
) -> None:
    theirs, model = pair(name)
    ours = Tokenizer(Pipeline(model))
    for line in corpus("english.txt", 6_000).decode().split(". ")[:12]:
        normalized = theirs.normalize(line)
        if not normalized:
            continue
        found = ours.nbest(normalized, 12)
        expected = [list(ids) for ids in theirs.nbest_encode_as_ids(line, 12)]
        scores = {tuple(ids): score for ids, score in ours.nbest(normalized, 200)}
        for ids, (_, score) in zip(expected, found, strict=True):
            assert scores[tuple(ids)] == pytest.approx(score, abs=1e-3), line


@pytest.mark.parametrize("alpha", [0.2, 1.0])
def test_samples_are_as_frequent(alpha: float) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    sentencepiece.set_random_generator_seed(5)
    texts = {"a": -1.5, "b": -2.0, "ab": -2.5, "ba": -3.0, "aa": -2.25}
    pieces = [Piece("<unk>", 0, 2), *(Piece(t, s) for t, s in texts.items())]
    theirs = sentencepiece_peer.processor(pieces, sentencepiece_peer.UNIGRAM)
    ours = Tokenizer(Pipeline(model_of(Unigram, pieces)))
    draws = 4_000

    def shares(draw: Callable[[int], list[int]]) -> dict[tuple[int, ...], float]:
        found = [tuple(draw(number)) for number in range(draws)]
        return {way: found.count(way) / draws for way in set(found)}

    here = shares(lambda seed: ours.sample("abab", seed=seed, alpha=alpha))
    there = shares(
        lambda _: theirs.encode("abab", enable_sampling=True, nbest_size=-1, alpha=alpha)
    )
    assert here.keys() == there.keys()
    for way, share in here.items():
        assert abs(share - there[way]) < 6 * (share * (1 - share) / draws) ** 0.5 + 0.003, way


def test_dropout_is_as_frequent() -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    sentencepiece.set_random_generator_seed(6)
    texts = {"a": -9, "b": -9, "ab": -1, "ba": -2, "aba": -3, "aa": -4}
    pieces = [Piece("<unk>", 0, 2), *(Piece(t, s) for t, s in texts.items())]
    theirs = sentencepiece_peer.processor(pieces, sentencepiece_peer.BPE)
    ours = Tokenizer(Pipeline(model_of(SentencePieceBPE, pieces)))
    draws = 4_000
    here = [tuple(ours.sample("abaab", seed=seed, dropout=0.3)) for seed in range(draws)]
    there = [
        tuple(theirs.encode("abaab", enable_sampling=True, nbest_size=-1, alpha=0.3))
        for _ in range(draws)
    ]
    assert set(here) == set(there)
    for way in set(here):
        share = here.count(way) / draws
        limit = 6 * (share * (1 - share) / draws) ** 0.5 + 0.003
        assert abs(share - there.count(way) / draws) < limit, way


# tokenizers


def assert_equal_in_tokenizers(theirs: Any, model: Model, texts: list[str]) -> None:
    run, encoder = chunk_model(model), KernelEncoder(model)
    for text in texts:
        refused = ""
        try:
            expected = theirs.encode(text, add_special_tokens=False).ids
        except Exception as error:  # it has no class of its own
            refused = str(error)
        if refused:
            assert "unk_id" in refused
            with pytest.raises(UnknownTokenError):
                encoder.encode_list(text, 1)
            with pytest.raises(UnknownTokenError):
                run(text.encode())
        else:
            assert encoder.encode_list(text, 1) == expected, text
            assert [token.id for token in run(text.encode())] == expected, text


def test_unigram_of_tokenizers() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    for seed in range(250):
        rng = random.Random(seed)
        model, alphabet = random_double_unigram(rng)
        tokens = [token.decode() for token in model.vocab]
        pairs = list(zip(tokens, model.scores.tolist(), strict=True))
        theirs = tokenizers.models.Unigram(pairs, model.unk_id, model.byte_fallback)
        texts = [random_chunk(rng, alphabet) for _ in range(20)]
        assert_equal_in_tokenizers(tokenizers.Tokenizer(theirs), model, texts)


def test_character_bpe_of_tokenizers() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    for seed in range(400):
        rng = random.Random(seed)
        model, alphabet = random_character_bpe(rng)
        theirs = tokenizers.models.BPE(**bpe_options(model))
        texts = [random_chunk(rng, alphabet) for _ in range(20)]
        assert_equal_in_tokenizers(tokenizers.Tokenizer(theirs), model, texts)


def bpe_options(model: CharacterBPE) -> dict[str, Any]:
    tokens = [token.decode() for token in model.vocab]
    options: dict[str, Any] = {
        "vocab": {token: token_id for token_id, token in enumerate(tokens)},
        "merges": [(tokens[left], tokens[right]) for left, right, _ in model.merges.tolist()],
        "fuse_unk": model.fuse_unk,
        "byte_fallback": model.byte_fallback,
        "ignore_merges": model.whole_chunk_first,
    }
    if model.unk_id is not None:
        options["unk_token"] = tokens[model.unk_id]
    if model.continuing_prefix:
        options["continuing_subword_prefix"] = model.continuing_prefix
    if model.word_suffix:
        options["end_of_word_suffix"] = model.word_suffix
    return options


@pytest.fixture(scope="module")
def envit5(shared: Path) -> tuple[Any, CharacterBPE]:
    """Their tokenizer of a T5 with its model alone, and ours."""
    tokenizers = pytest.importorskip("tokenizers")
    path = shared / "data/vocab/t5_envit5_tokenizer.json"
    whole = tokenizers.Tokenizer.from_file(str(path))
    entry = json.loads(path.read_text())["model"]
    ids: dict[str, int] = entry["vocab"]
    vocab = [b""] * (max(ids.values()) + 1)
    for token, token_id in ids.items():
        vocab[token_id] = token.encode()
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in entry["merges"]]
    merges = np.array([[ids[left], ids[right], ids[left + right]] for left, right in pairs])
    ours = CharacterBPE(
        tuple(vocab), merges, unk_id=ids[entry["unk_token"]], fuse_unk=entry["fuse_unk"]
    )
    bare = tokenizers.Tokenizer(whole.model)
    return bare, ours


@pytest.mark.parametrize("corpus_name", CORPORA)
def test_envit5(
    corpus_name: str, envit5: tuple[Any, CharacterBPE], corpus: Callable[..., bytes]
) -> None:
    theirs, model = envit5
    text = corpus(corpus_name, SAMPLE, 1_000_003).decode().replace(" ", "▁")
    documents = [document for document in text.split(SEPARATOR) if document]
    found = KernelEncoder(model).encode_texts(documents, 1)
    for ids, expected in zip(found, theirs.encode_batch_fast(documents), strict=True):
        assert ids.tolist() == expected.ids
