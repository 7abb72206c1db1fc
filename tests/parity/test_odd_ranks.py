"""Vocabularies that no training makes: any strings in any order, and tokens without merges."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import toksmith
from tests import engines
from tests.kits.bpe import BYTES
from toksmith import Tokenizer
from toksmith._base.byte_alphabet import spell
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe import recover_merges


@pytest.mark.parametrize("engine", engines.ENGINES)
def test_recovered_merges_encode_as_tiktoken(engine: str) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    rng = random.Random(12)
    for _ in range(60):
        words = {"".join(rng.choices("abc", k=rng.randint(2, 7))).encode() for _ in range(40)}
        vocab = (*BYTES, *rng.sample(sorted(words), len(words)))
        model = BPE(vocab, recover_merges(vocab), whole_chunk_first=True)
        encoder = engines.encoder(engine, Pipeline(model))
        theirs = tiktoken.Encoding(
            "odd",
            pat_str=r"(?s).+",
            mergeable_ranks={token: rank for rank, token in enumerate(vocab)},
            special_tokens={},
        )
        for _ in range(50):
            text = "".join(rng.choices("abc", k=rng.randint(1, 30)))
            assert encoder.encode_list(text, 1) == theirs.encode_ordinary(text), text


@pytest.mark.parametrize("ignore_merges", [True, False])
def test_phrases_without_merges_as_tokenizers(
    ignore_merges: bool,
    ours: Callable[[str], Tokenizer],
    corpus: Callable[..., bytes],
    tmp_path: Path,
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    ours("cl100k_base").save(path)
    held = json.loads(path.read_text())
    text = corpus("cjk.txt", 300_000).decode().replace("<|endoftext|>", "")
    found = Counter(
        re.findall(r"[\u4e00-\u9fff]{2,4}|[\uac00-\ud7a3]{2,4}|[\u3040-\u30ff]{2,6}", text)
    )
    vocab, first = held["model"]["vocab"], 200_000
    spelled = [spell(word.encode()) for word, _ in found.most_common(300)]
    added = [word for word in spelled if word not in vocab]
    vocab |= {word: first + number for number, word in enumerate(added)}
    held["model"]["ignore_merges"] = ignore_merges
    path.write_text(json.dumps(held))
    loaded, theirs = toksmith.load(path), tokenizers.Tokenizer.from_file(str(path))
    text += " ".join(f"{word}和 {word}的{word}" for word, _ in found.most_common(300))
    ids = loaded.encode(text)
    assert ids == theirs.encode(text, add_special_tokens=False).ids
    assert (max(ids) >= first) == ignore_merges
