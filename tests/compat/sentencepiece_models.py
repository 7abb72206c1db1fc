"""Small SentencePiece models and odd texts for the tests of the module."""

from __future__ import annotations

import io
import random
from functools import cache
from typing import Any

import toksmith.compat.sentencepiece as ours

LINES = [
    "the quick brown fox jumps over the lazy dog", "the dog sleeps; the fox thinks of the dog",
    "low lower lowest, new newer newest, wide wider widest", "a b c d e f g h i j k l m",
    "é è ñ ü ﬁ Ａ ㍻ 吾輩は猫である", "once 1 twice 22 thrice 333",
]  # fmt: skip

PARTS = [
    "a", "b", "the ", "ing", " ", "  ", "é", "ﬁ", "Ａ", "㍻", "吾", "輩", "\u200b", "\n", "\t",
    "😊", "▁", "e\u0301", "\u00ad", "한", "ᄒ", "ᅡ", "½", "\x01", "𝒜", "ﷺ", " ⁇ ", "<s>",
    "<unk>", "\ufffd", "fox", "lower", "22", "<x>",
]  # fmt: skip

OPTIONS: dict[str, dict[str, Any]] = {
    "unigram": {"model_type": "unigram", "vocab_size": 85},
    "unigram-bytes": {
        "model_type": "unigram", "vocab_size": 330, "byte_fallback": True, "pad_id": 3,
        "user_defined_symbols": ["<x>", "22"], "character_coverage": 0.98,
    },
    "bpe": {"model_type": "bpe", "vocab_size": 100, "control_symbols": ["<c>"]},
    "bpe-bytes": {
        "model_type": "bpe", "vocab_size": 330, "byte_fallback": True,
        "normalization_rule_name": "identity", "add_dummy_prefix": False,
        "remove_extra_whitespaces": False, "unk_surface": "?",
    },
    "suffix": {
        "model_type": "unigram", "vocab_size": 85, "treat_whitespace_as_suffix": True,
        "character_coverage": 0.98, "bos_id": -1,
    },
}  # fmt: skip


@cache
def model_proto(name: str) -> bytes:
    """Return the content of a model's file."""
    model = io.BytesIO()
    ours.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 4), model_writer=model, **OPTIONS[name]
    )
    return model.getvalue()


def texts(count: int = 100, seed: int = 1) -> list[str]:
    """Return random texts of parts that are hard in some way."""
    rng = random.Random(seed)
    found = ["".join(rng.choices(PARTS, k=rng.randrange(10))) for _ in range(count)]
    return ["", " ", "the dog", *found]
