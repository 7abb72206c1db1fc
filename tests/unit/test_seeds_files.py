"""Figures of the courses: GPT-2's files, the published encodings, and their BPE."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import toksmith
from tests import engines
from toksmith.models import CharacterBPE
from toksmith.pipeline import Pipeline


def test_gpt2_files(shared: Path) -> None:
    tok = toksmith.load(shared / "data/vocab/gpt2_tokenizer.json")
    assert tok.vocab_size == 50257
    assert tok.special_tokens == {"<|endoftext|>": 50256}
    assert len(tok.merges) == 50000


@pytest.mark.parametrize("engine", engines.ENGINES)
def test_tokens_of_the_seeds_text(
    engine: str, shared: Path, published: Callable[[str], Pipeline], tiktoken_encoding: Callable
) -> None:
    figures = json.loads((shared / "data/golden/seeds.json").read_text())["encodings_on_text"]
    assert len(figures["text"].encode()) == figures["utf8_bytes"]
    for name in ("gpt2", "cl100k_base"):
        ids = engines.encoder(engine, published(name)).encode_list(figures["text"], 1)
        assert ids == tiktoken_encoding(name).encode_ordinary(figures["text"])
        # The seeds count a text that may differ by the line breaks around it.
        assert abs(len(ids) - figures[f"{name}_tokens"]) <= 2


@pytest.mark.parametrize("engine", engines.ENGINES)
def test_characters_merged(engine: str, shared: Path) -> None:
    """The seeds' character BPE on its own text: the last line of merging, and the one after it."""
    figures = json.loads((shared / "data/golden/seeds.json").read_text())["char_bpe"]
    with pytest.warns(UserWarning, match="ran out of pairs"):
        tok = toksmith.train(
            texts=[figures["text"]], vocab_size=99, split=" ", unit="characters", unk_token=None
        )
    model = tok.pipeline.model
    assert isinstance(model, CharacterBPE)
    stages = {11: "would| |y|o|u", 12: "would| |yo|u"}  # how many merges the seed has made
    for count, middle in stages.items():
        learned = replace(tok.pipeline, model=replace(model, merges=model.merges[:count]))
        ids = engines.encoder(engine, learned).encode_list(figures["text"], 1)
        tokens = "|".join(model.vocab[i].decode() for i in ids)
        assert tokens == f"hello| |world| |hey| |{middle}| |hel|p| |w|i|t|h| |m|y| |wor|k"
