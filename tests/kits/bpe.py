"""Byte-level BPE: small models and pipelines by hand, a tekken.json, and random models."""

from __future__ import annotations

import random
from base64 import b64encode
from collections.abc import Iterable
from typing import Any

import numpy as np

from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, splitter

BYTES = tuple(bytes([byte]) for byte in range(256))
"""The 256 single bytes, by value: how the vocabulary of a byte-level BPE begins."""

HELLO_BPE = BPE(
    (*BYTES, b"ll", b"ell", b"Hell"), [[108, 108, 256], [101, 256, 257], [72, 257, 258]]
)
"""Three merges turn the bytes of "Hell" into one token."""

PAIRS = (
    *((b"t", b"h"), (b"th", b"e"), (b" ", b"the"), (b"\xc3", b"\xa9"), (b" ", b" ")),
    *((b"\n", b"\n"), (b"1", b"2"), (b"a", b"b"), (b"ab", b"ab"), (b"\x00", b"\xff")),
)
TEXTS = (
    *("the then  the\n\n  éé 1212 abab", "", " ", "a the<|end|>the", "don't WON'T ſ 'ſ x²½"),
    *(
        "日本語 テキスト 한국어 👩‍👩‍👧 é\u0301",
        "a  \n b\t\r\n ",
        "１２３४५ 123456 1,000.5",
        "\x00\x1c\x85\u2028z",
    ),
)


def model(pairs: tuple[tuple[bytes, bytes], ...] = PAIRS, whole: bool = False) -> BPE:
    """Bytes by value, then one token a merge."""
    vocab = [*BYTES, *(left + right for left, right in pairs)]
    ids = {token: i for i, token in enumerate(vocab)}
    rows = [(ids[left], ids[right], ids[left + right]) for left, right in pairs]
    return BPE(tuple(vocab), np.array(rows, np.uint32).reshape(-1, 3), whole)


def pipeline(
    split: str | PatternSplitter | None = "gpt2",
    special: dict[str, int] | None = None,
    framing: Framing | None = None,
    **options: object,
) -> Pipeline:
    cut = split if isinstance(split, PatternSplitter) else splitter(split)
    if framing is None:
        framing = Framing.of({"<|end|>": 266, "<|pad|>": 300} if special is None else special)
    return Pipeline(model(**options), cut, framing)  # type: ignore[arg-type]


def plain_token(content: str, token_id: int) -> Framing:
    return Framing((AddedToken(content, token_id, special=False),))


def with_whole(pipe: Pipeline) -> Pipeline:
    """The same pipeline, as tiktoken's reader builds it."""
    held = pipe.model
    return Pipeline(BPE(held.vocab, held.merges, True), pipe.splitter, pipe.framing)


def tekken(version: str = "v11") -> dict[str, Any]:
    """The content of a tekken.json: three special tokens, one without a name, and two merges."""
    tokens = [*BYTES, b"ab", b"abab", b"left out"]
    return {
        "config": {
            "pattern": "[a-z]+|[^a-z]+",
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": 261,
            "default_num_special_tokens": 3,
            "version": version,
        },
        "vocab": [
            {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
        "special_tokens": [
            {"rank": rank, "token_str": token, "is_control": True}
            for rank, token in enumerate(("<unk>", "<s>"))
        ],
    }


def random_bpe(rng: random.Random, letters: Iterable[str] = "abc ", tokens: int = 40) -> BPE:
    """Up to this number of tokens of at most eight letters, merged in any order."""
    allowed, vocab, pairs = set("".join(letters).encode()), list(BYTES), []
    longest = 8 * max(len(letter.encode()) for letter in letters)
    for _ in range(rng.randint(1, tokens)):
        pool = [token for token, text in enumerate(vocab) if set(text) <= allowed]
        left, right = rng.choice(pool), rng.choice(pool)
        if len(vocab[left]) + len(vocab[right]) <= longest and (left, right) not in pairs:
            pairs.append((left, right))
            vocab.append(vocab[left] + vocab[right])
    merges = [(*pair, 256 + number) for number, pair in enumerate(pairs)]
    rng.shuffle(merges)
    return BPE(tuple(vocab), np.array(merges, np.uint32), rng.random() < 0.5)


def random_ranks(rng: random.Random) -> tuple[bytes, ...]:
    """A vocabulary of random strings in random order, as no training makes it."""
    words = {"".join(rng.choices("abc", k=rng.randint(2, 6))).encode() for _ in range(40)}
    return (*BYTES, *rng.sample(sorted(words), len(words)))
