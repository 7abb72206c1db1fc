"""WordPiece, whole words and longest match: BERT's pipeline by hand, and random models."""

from __future__ import annotations

import random
from typing import Any

from toksmith.decoders import WordPieceDecoder
from toksmith.framing import AddedToken, Framing, Template, TextPart, TokenPart
from toksmith.models import LongestMatch, Model, WordLevel, WordPiece
from toksmith.normalizers import Bert
from toksmith.pipeline import Pipeline
from toksmith.splitters import BertSplitter

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "##er", "é", "[Unused]")


def bert(tokens: tuple[str, ...] = BERT, **model: Any) -> Pipeline:
    """BERT's pipeline with these tokens."""
    ids = {token: i for i, token in enumerate(tokens)}
    added = tuple(AddedToken(token, ids[token]) for token in BERT[:5] if token in ids)
    single = (TextPart("A"),)
    pair = (TextPart("A"), TextPart("B", 1))
    if "[CLS]" in ids:
        single = (TokenPart(2), *single, TokenPart(3))
        pair = (*single, TextPart("B", 1), TokenPart(3, 1))
    return Pipeline(
        WordPiece(
            tuple(token.encode("utf-8", "surrogateescape") for token in tokens),
            **({"unk_id": ids["[UNK]"]} | model),
        ),
        BertSplitter(),
        Framing(added, template=Template(single, pair)),
        normalizer=(Bert(),),
        decoder=(WordPieceDecoder(),),
    )


def random_vocab(rng: random.Random, alphabet: str, prefix: str) -> tuple[bytes, ...]:
    """Random strings in random order: some with the prefix, one empty, some twice."""
    tokens = [
        (prefix if rng.random() < 0.5 else "")
        + "".join(rng.choices(alphabet, k=rng.choice((1, 1, 2, 2, 3, 4, 6, 12))))
        for _ in range(rng.randint(1, 30))
    ]
    tokens += rng.choices(["", prefix, tokens[0]], k=3)
    return (b"<?>", *(token.encode() for token in tokens))


def random_word_model(rng: random.Random, alphabet: str) -> Model:
    prefix = rng.choice(("##", "", "a", "é#"))
    vocab = random_vocab(rng, alphabet, prefix)
    unk = rng.choice((0, 0, rng.choice([i for i, token in enumerate(vocab) if token])))
    match rng.randrange(4):
        case 0:
            return WordLevel(vocab, rng.choice((unk, None)))
        case 1:
            return LongestMatch(vocab, rng.choice((unk, None)), rng.random() < 0.5)
        case _:
            return WordPiece(vocab, unk, prefix, rng.choice((0, 3, 8, 100, 10**30)))
