"""What byte-level formats say of pipelines that they cannot hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.formats_kit import pipeline
from toksmith import formats
from toksmith.decoders import SentencePieceDecoder
from toksmith.errors import UnsupportedError
from toksmith.models import Unigram, WordPiece
from toksmith.normalizers import Lowercase
from toksmith.pipeline import Pipeline
from toksmith.splitters import Whitespace

BYTE_LEVEL = ("minbpe", "tiktoken", "gpt2")
UNIGRAM = Unigram((b"<unk>", b"a"), np.zeros(2), np.array([2, 1]))
LIMITS = [
    (Pipeline(WordPiece((b"[UNK]", b"a"), 0)), "this model is WordPiece; huggingface may hold"),
    (Pipeline(UNIGRAM), "this model is Unigram; sentencepiece and huggingface may hold"),
    (replace(pipeline(), normalizer=(Lowercase(),)), r"a normalizer \(Lowercase\)"),
    (replace(pipeline(), splitter=Whitespace()), "this splitter is Whitespace"),
    (replace(pipeline(), decoder=(SentencePieceDecoder(),)), r"a decoder \(SentencePieceDecoder"),
]


@pytest.mark.parametrize("name", BYTE_LEVEL)
@pytest.mark.parametrize(("pipe", "reason"), LIMITS)
def test_refused(tmp_path: Path, name: str, pipe: Pipeline, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=f"^{name} .*{reason}"):
        formats.write(pipe, tmp_path / "a", name)
    assert not list(tmp_path.iterdir())  # nothing half written
