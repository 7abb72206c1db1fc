"""Metaspace that marks only the first piece, after normalizers that drop or add the first one."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import engine
from toksmith.engine.fused import FusedEncoder
from toksmith.stages.charsmap_rules import charsmap_of

tokenizers = pytest.importorskip("tokenizers")

CHARACTERS = ("a", "b", " ", "\u2581", "中", "\u0301", "\0", "A", "é", "-")
WORDS = [*CHARACTERS, *map("".join, product("abA-中", repeat=2))]
VOCAB = {
    word: place
    for place, word in enumerate(dict.fromkeys(["?", *WORDS, *(f"\u2581{word}" for word in WORDS)]))
}
STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}
PREPEND = {"type": "Prepend", "prepend": "b"}
NORMALIZERS: list[dict[str, Any] | None] = [
    None,
    STRIP,
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
    | {"strip_accents": True, "lowercase": True},
    PREPEND,
    {"type": "Replace", "pattern": {"String": "a"}, "content": ""},
    {"type": "Replace", "pattern": {"String": "a"}, "content": "ab"},
    {"type": "Replace", "pattern": {"Regex": "^ "}, "content": "-"},
    {"type": "StripAccents"},
    {"type": "NFD"},
    {"type": "Lowercase"},
    {"type": "Nmt"},
    {"type": "Precompiled", "precompiled_charsmap": b64encode(charsmap_of("nmt_nfkc")).decode()},
    {"type": "Sequence", "normalizers": [STRIP, PREPEND]},
]
FIRST = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True}
BEFORE: list[dict[str, Any] | None] = [
    None,
    {"type": "WhitespaceSplit"},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": False},
    FIRST | {"prepend_scheme": "always"},
]
ADDED = {"id": VOCAB["-"], "content": "-", "special": False} | dict.fromkeys(
    ("single_word", "lstrip", "rstrip", "normalized"), False
)


MODELS: dict[str, dict[str, Any]] = {
    "words": {"type": "WordLevel", "vocab": VOCAB, "unk_token": "?"},
    "characters": {"type": "BPE", "vocab": VOCAB, "unk_token": "?"}
    | {"merges": [["\u2581", each] for each in CHARACTERS]},
}


def held(normalizer: object, before: object, added: bool, model: str) -> dict[str, Any]:
    split = {"type": "Sequence", "pretokenizers": [before, FIRST]} if before else FIRST
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [ADDED] if added else [],
        "normalizer": normalizer,
        "pre_tokenizer": split,
        "post_processor": None,
        "decoder": None,
        "model": MODELS[model],
    }


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("place", range(len(NORMALIZERS)))
def test_ids(tmp_path: Path, place: int, model: str, added: bool) -> None:
    normalizer = NORMALIZERS[place]
    draw = random.Random(5)
    texts = [" a", "\0a", "\u0301a", "中a", " 中", "a", " ", "-a"]
    texts += ["".join(draw.choices(CHARACTERS, k=draw.randint(1, 5))) for _ in range(16)]
    for before in BEFORE:
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(held(normalizer, before, added, model)))
        theirs, ours = tokenizers.Tokenizer.from_file(str(path)), toksmith.load(path)
        for text in texts:
            expected = theirs.encode(text)
            assert ours.encode(text) == expected.ids, (before, text)
            assert list(ours.encoding(text).ids) == expected.ids, (before, text)
            assert ours.count(text.encode()) == len(expected.ids)
        batch = [each.ids for each in theirs.encode_batch(texts)]
        assert ours.encode_batch(texts).to_lists() == batch
        assert ours.encode_batch([text.encode() for text in texts]).to_lists() == batch


def test_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(held(STRIP, None, False, "words")))
    tok = toksmith.load(path)
    assert [tok.token_text(i) for i in tok.encode("a")] == ["\u2581a"]
    assert [tok.token_text(i) for i in tok.encode(" a")] == ["a"]  # the space was first
    (tmp_path / "documents").write_text("a|| a|a")
    ids = tok.encode_file(tmp_path / "documents", separator="|").to_lists()
    assert ids == [tok.encode("a"), [], tok.encode(" a"), tok.encode("a")]


@pytest.mark.parametrize("place", [2, 7, -3, -2])
def test_the_kernel_runs_most_texts(tmp_path: Path, place: int) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(held(NORMALIZERS[place], None, False, "characters")))
    pipeline = toksmith.load(path).pipeline
    encoder = engine.compile(pipeline)
    if isinstance(encoder, FusedEncoder):
        assert encoder._keeps_start is not None
    else:
        assert type(encoder).__name__ == "ReferenceEncoder"
