"""Models of tokenizer.json against tokenizers itself: random models of each kind on random chunks.

A tokenizer without normalizer and pre-tokenizer takes the whole text as one chunk, so only models
are compared here.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toksmith._base.text import characters
from toksmith.engine.kernel import KernelEncoder
from toksmith.engine.stepwise import ReferenceChunks
from toksmith.formats.huggingface import models
from toksmith.formats.huggingface.entries import Entry
from toksmith.models import Model, PieceType, SentencePieceBPE, WordPiece
from toksmith.pipeline import Pipeline

tokenizers = pytest.importorskip("tokenizers")

Entries = dict[str, Any]
ALPHABETS = ("ab", "aéb", "日本a", "ab▁", "😀a-")


def theirs(entry: Entries) -> Any:
    held = {"version": "1.0", "added_tokens": [], "model": entry}
    parts = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    return tokenizers.Tokenizer.from_str(json.dumps(held | dict.fromkeys(parts)))


def read(entry: Entries) -> Model:
    return models.read(Entry(Path("file"), "model", entry), [], byte_level=False)


def check(model: Model, entry: Entries, texts: list[str]) -> None:
    """Ids, and the characters that each token stands for."""
    other = theirs(entry)
    for text in texts:
        data = text.encode()
        whole = np.array([[0, len(data)]])
        expected = other.encode(text)
        for engine in (ReferenceChunks(model), KernelEncoder(model)):
            batch, spans = engine.encode_chunks_with_spans(data, whole)
            assert batch.ids.tolist() == expected.ids, (entry, text)
            if not has_right_offsets(entry):
                continue
            _, places = characters(text, spans)
            assert list(map(tuple, places.tolist())) == expected.offsets, (entry, text)


def has_right_offsets(entry: Entries) -> bool:
    """Whether theirs stand where the text is.

    Without an unknown token, the characters that become nothing are not counted. Where characters
    become bytes, those of a prefix or suffix are counted as text, and each byte of several unknown
    characters has the place of all of them.
    """
    spelled = entry.get("continuing_subword_prefix") or entry.get("end_of_word_suffix")
    if entry["type"] == "BPE" and entry["unk_token"] is None:
        return False
    return not (entry.get("byte_fallback") and (spelled or entry["type"] == "Unigram"))


def random_texts(rng: random.Random, alphabet: str, count: int = 12) -> list[str]:
    letters = alphabet + "x"
    return ["".join(rng.choices(letters, k=rng.randint(1, 12))) for _ in range(count)]


def random_tokens(rng: random.Random, alphabet: str) -> list[str]:
    tokens = {
        "".join(rng.choices(alphabet, k=rng.choice((1, 1, 2, 2, 3, 4))))
        for _ in range(rng.randint(1, 16))
    }
    return sorted(tokens)


def numbered(rng: random.Random, tokens: list[str]) -> dict[str, int]:
    return dict(zip(tokens, rng.sample(range(len(tokens)), len(tokens)), strict=True))


def random_wordpiece(rng: random.Random, alphabet: str) -> Entries:
    prefix = rng.choice(("##", "", "a"))
    tokens = random_tokens(rng, alphabet)
    tokens = sorted({"[UNK]", *tokens, *(prefix + token for token in tokens[::2])})
    return {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": rng.choice((0, 5, 100)),
        "vocab": numbered(rng, tokens),
    }


def random_word_level(rng: random.Random, alphabet: str) -> Entries:
    tokens = ["<unk>", *random_tokens(rng, alphabet)]
    return {"type": "WordLevel", "vocab": numbered(rng, tokens), "unk_token": "<unk>"}


def random_unigram(rng: random.Random, alphabet: str) -> Entries:
    pieces = ["<unk>", *random_tokens(rng, alphabet)]
    fallback = rng.random() < 0.5
    if fallback:
        pieces += [f"<0x{byte:02X}>" for byte in range(256)]
    scores = [-rng.random() * 10 for _ in pieces]
    vocab = [list(pair) for pair in zip(pieces, scores, strict=True)]
    return {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": fallback}


def random_bpe(rng: random.Random, alphabet: str) -> Entries:
    prefix, suffix = rng.choice(("", "", "##", "a")), rng.choice(("", "", "</w>"))
    starts = [c + end for c in alphabet for end in ("", suffix) if rng.random() < 0.9]
    later = [prefix + start for start in starts]
    tokens = list(dict.fromkeys([*starts, *later]))
    merges: list[list[str]] = []
    for _ in range(rng.randint(0, 14)):
        if not tokens or not (rights := [t for t in tokens if t.startswith(prefix)]):
            break
        left, right = rng.choice(tokens), rng.choice(rights)
        merges.append([left, right])
        tokens.append(left + right[len(prefix) :])
    tokens = list(dict.fromkeys(["<unk>", *tokens]))
    fallback = rng.random() < 0.4
    if fallback:
        # Also where some bytes have no token, and their characters are unknown.
        tokens += [f"<0x{byte:02X}>" for byte in range(256) if rng.random() < 0.99]
    return {
        "type": "BPE",
        "unk_token": rng.choice(("<unk>", None)),
        "continuing_subword_prefix": prefix or None,
        "end_of_word_suffix": suffix or None,
        "fuse_unk": rng.random() < 0.5,
        "byte_fallback": fallback,
        "ignore_merges": rng.random() < 0.3,
        "vocab": numbered(rng, list(dict.fromkeys(tokens))),
        "merges": merges,
    }


KINDS = {
    "wordpiece": random_wordpiece,
    "word-level": random_word_level,
    "unigram": random_unigram,
    "bpe": random_bpe,
}


@pytest.mark.parametrize("kind", KINDS)
def test_random_models(kind: str) -> None:
    for seed in range(120):
        rng = random.Random(f"{kind} {seed}")
        alphabet = rng.choice(ALPHABETS)
        entry = KINDS[kind](rng, alphabet)
        check(read(entry), entry, random_texts(rng, alphabet))


@pytest.mark.parametrize("kind", KINDS)
def test_written_models(kind: str) -> None:
    """What we write is what they read."""
    for seed in range(40):
        rng = random.Random(f"written {kind} {seed}")
        alphabet = rng.choice(ALPHABETS)
        model = read(KINDS[kind](rng, alphabet))
        check(model, models.write(Pipeline(model)), random_texts(rng, alphabet))


def scored(scores: dict[str, float]) -> SentencePieceBPE:
    vocab = (b"<unk>", *(piece.encode() for piece in scores))
    types = [PieceType.UNKNOWN] + [PieceType.NORMAL] * len(scores)
    return SentencePieceBPE(vocab, np.array([0.0, *scores.values()]), np.array(types))


@pytest.mark.parametrize(("alphabet", "length"), [("a", 18), ("ab", 8), ("abc", 5)])
def test_merges_of_scores_on_all_texts(alphabet: str, length: int) -> None:
    """Any pieces with any scores, as no training makes them, on every text of some length."""
    letters = {letter: -100.0 - place for place, letter in enumerate(alphabet)}
    texts = ["".join(text) for n in range(1, length + 1)
             for text in itertools.product(alphabet, repeat=n)]  # fmt: skip
    for seed in range(40):
        rng = random.Random(f"{alphabet} {seed}")
        pieces = {"".join(rng.choices(alphabet, k=rng.choice((2, 2, 3, 3, 4, 5, 6))))
                  for _ in range(rng.randint(1, 20))}  # fmt: skip
        ranked = rng.sample(sorted(pieces), len(pieces))
        model = scored({piece: -float(rank) for rank, piece in enumerate(ranked)} | letters)
        other = theirs(models.write(Pipeline(model)))
        ours = KernelEncoder(model).encode_texts(texts, 1)
        for text, ids, expected in zip(texts, ours, other.encode_batch(texts), strict=True):
            assert ids.tolist() == expected.ids, (ranked, text)


def test_runs_of_one_score_on_all_texts() -> None:
    """Llama's runs of spaces, in texts where words stand between them."""
    runs = {"▁" * size: -1e9 for size in (2, 4, 8, 3, 5, 16, 6, 7, 9, 10, 11, 12, 13, 14, 15)}
    model = scored(runs | {"▁a": -1, "▁": -100, "a": -101})
    other = theirs(models.write(Pipeline(model)))
    encoder = KernelEncoder(model)
    for first, second in itertools.product(range(70), range(40)):
        text = "▁" * first + "a" + "▁" * second + "aa" + "▁" * (first // 2)
        assert encoder.encode_list(text, 1) == other.encode(text).ids, text


def test_bert_on_words(shared: Path, corpus: Callable[..., bytes]) -> None:
    """BERT's own words, lower-cased and split there."""
    path = shared / "data/vocab/bert_uncased_tokenizer.json"
    entry = json.loads(path.read_text())["model"]
    model = read(entry)
    assert isinstance(model, WordPiece)
    other = tokenizers.Tokenizer.from_file(str(path))
    other.no_truncation()
    other.no_padding()
    encoder = KernelEncoder(model)
    for name in ("english", "code", "multilingual", "cjk"):
        for text in corpus(f"{name}.txt", 300_000, start=3_000_003).decode().split("<|endoftext|>"):
            normal = other.normalizer.normalize_str(text)
            words = [word for word, _ in other.pre_tokenizer.pre_tokenize_str(normal)]
            ids = encoder.encode_texts(words, 1).ids
            assert ids.tolist() == other.encode(text, add_special_tokens=False).ids
