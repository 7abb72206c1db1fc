"""Errors of the byte-level formats for pipelines that they cannot hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.kits.bpe import TEXTS, pipeline
from toksmith import formats
from toksmith.decoders import SentencePieceDecoder
from toksmith.errors import UnsupportedError
from toksmith.framing import (
    AddedToken,
    Framing,
    Padding,
    Template,
    TextPart,
    TokenPart,
    TrimOffsets,
    Truncation,
)
from toksmith.models import Unigram, WordPiece
from toksmith.normalizers import Lowercase
from toksmith.pipeline import Pipeline
from toksmith.splitters import Whitespace
from toksmith.tokenizer import Tokenizer

BYTE_LEVEL = ("minbpe", "tiktoken", "gpt2")
UNIGRAM = Unigram((b"<unk>", b"a"), np.zeros(2), np.array([2, 1]))
A, B = TextPart("A"), TextPart("B", 1)


def framed(token: AddedToken, template: Template | None = None) -> Pipeline:
    return pipeline(framing=Framing((token,), template=template))


LIMITS = [
    (Pipeline(WordPiece((b"[UNK]", b"a"), 0)), "this model is WordPiece; huggingface may hold"),
    (Pipeline(UNIGRAM), "this model is Unigram; sentencepiece and huggingface may hold"),
    (replace(pipeline(), normalizer=(Lowercase(),)), r"a normalizer \(Lowercase\)"),
    (replace(pipeline(), splitter=Whitespace()), "this splitter is Whitespace"),
    (framed(AddedToken("x", 300, rstrip=True)), "'x', a token that is found with the white space"),
    (framed(AddedToken("x", 300, single_word=True)), "'x', a token that is found only as a word"),
    (
        framed(AddedToken("x", 300), template=Template(pair=(A, TokenPart(300), B))),
        "a template of two texts",
    ),
    (framed(AddedToken("x", 300), template=Template(pair=(B, A))), "a template of two texts"),
    (framed(AddedToken("x", 300), template=Template((A, A))), "a template of two texts"),
    (replace(pipeline(), decoder=(SentencePieceDecoder(),)), r"a decoder \(SentencePieceDecoder"),
]


@pytest.mark.parametrize("name", BYTE_LEVEL)
@pytest.mark.parametrize(("pipe", "reason"), LIMITS)
def test_refused(tmp_path: Path, name: str, pipe: Pipeline, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=f"^{name} .*{reason}"):
        formats.write(pipe, tmp_path / "a", name)
    assert not list(tmp_path.iterdir())  # nothing half written


@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_entries_that_change_no_id_may_be_left_out(tmp_path: Path, name: str) -> None:
    framing = Framing(
        (AddedToken("<|end|>", 266, normalized=True),),
        trim_offsets=TrimOffsets(),
        padding=Padding(),
        truncation=Truncation(8),
    )
    pipe = pipeline(framing=framing)
    target = tmp_path / ("folder" if name == "gpt2" else "file")
    formats.write(pipe, target, name)
    again, tok = Tokenizer(formats.read(target, name)), Tokenizer(pipe)
    for text in TEXTS:
        assert again.encode(text, special="encode") == tok.encode(text, special="encode")
