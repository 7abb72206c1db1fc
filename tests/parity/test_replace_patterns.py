"""Regular expressions of Replace, against tokenizers: on every character, and on short texts."""

from __future__ import annotations

import json
import random
import unicodedata
from functools import cache
from pathlib import Path

import pytest

import toksmith
from tests.parity.test_normalizers import tried
from toksmith.stages.normalize import normalize

peer = pytest.importorskip("tokenizers")

PATTERNS = [
    *(r"[^\p{L}]", "[a-z]+", r"[\n\r]", r"[^\S\n]+", r" {2,}", "[‘’]", r"[\p{Mn}\p{Me}]"),
    *("[[:punct:]]", "[[:alpha:]]+", "[[:alnum:]_]", "[[:digit:]]", "[[:space:]]", "[[:lower:]]"),
    *("[^[:upper:]]", "[[:cntrl:]]", "[[:blank:]]{2,}", "[[:xdigit:]]", "[^[:ascii:]]"),
    *("[[:word:]]", r"[[:punct:]\s]+", r"[\x00-\x1f\x7f]", r"[\x{300}-\x{36f}]", r"\x{41}b"),
    *(r"[\u0300-\u036f]", r"\x2E|\x5b|\x5D", r"\u0041", r"[\x5D\x5e\x2d]", r"\\x41", r"\R+"),
    *("[[:^alpha:]]", "[[:^punct:]a]+", "[^[:^alpha:]]", "[^[:^alpha:]b]", "[a[^b]]", r"[\H]"),
    *(r"[^\H1]", "[^[:^alpha:][:^lower:]]", r"\d{1,3}+", "[ab]{2}+", r"\p{N}{1,2}+"),
    *("(?i)a", "(?i:k)b", "(?i)[a-z]+", "(?i)é|σ", "(?i:[sdmt]|ll|v)|b", r"(?i)[^\s\p{L}\p{N}]"),
    *(r"a(?i)b|4", r"(?i)[\p{L}\p{M}]", r"(?i)[\p{M}]", r"(?i)\p{Lu}x", "(?i)[^ab]", "(?i)[Ā-ħ]+"),
    *(r"[\W_]+", r"[^\W_]+", r"[^\W]", r"[\W]", r"[^\W\d_]", r"[\W\-]", r"[\x41-\x5a]"),
]


@cache
def characters() -> list[str]:
    # Both libraries know the characters of Unicode 14; U+0295 has changed its category since.
    return [c for c in tried() if unicodedata.category(c) != "Cn" and c != "\u0295"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_replacing(tmp_path: Path, pattern: str) -> None:
    step = {"type": "Replace", "pattern": {"Regex": pattern}, "content": "<"}
    held = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": step,
        "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"},
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(held))
    ours, theirs = toksmith.load(path).pipeline.normalizer, peer.Tokenizer.from_file(str(path))
    rng = random.Random(pattern)
    every = characters()
    texts = ["".join(every[start : start + 4096]) for start in range(0, len(every), 4096)]
    texts += [
        "".join(rng.choices("abB_ .-]^[\u212a\u017fkdD\\x41A\r\n\t\u0301é9²", k=12))
        for _ in range(300)
    ]
    for text in texts:
        assert normalize(ours, text) == theirs.normalizer.normalize_str(text)
