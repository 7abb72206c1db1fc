"""What is made at first use is right for all threads that use it first at the same time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import toksmith
from tests.processes import at_once

pytestmark = pytest.mark.usefixtures("threads_alternate_often")

TEXT = "The lowest naïve newest 最好 widest ones, lower and wider. " * 3
WORDS = TEXT.split()

USES: list[Callable[[toksmith.Tokenizer], Any]] = [
    lambda tok: tok.encode(TEXT),
    lambda tok: tok.encode_array(TEXT).tolist(),
    lambda tok: tok.encode_batch(WORDS, threads=2).to_lists(),
    lambda tok: tok.count(TEXT),
    lambda tok: tok.encoding(TEXT).spans.tolist(),
    lambda tok: tok.encoding(TEXT).words,
    lambda tok: tok.decode(range(30)),
    lambda tok: tok.decode_bytes(range(30)),
    lambda tok: tok.prepare(WORDS, padding=toksmith.framing.Padding(id=0))["input_ids"].tolist(),
    lambda tok: [*tok.vocab][:20],
    lambda tok: tok.spellings[:20],
    lambda tok: [tok.token_bytes(each) for each in range(20)],
    lambda tok: tok.engine,
    repr,
    lambda tok: repr(tok.pipeline),
    lambda tok: hash(tok.pipeline.splitter),
    lambda tok: tok.forget(),
]


@pytest.mark.parametrize(
    ("model", "size"),
    [("bpe", 280), ("sentencepiece-bpe", 40), ("sentencepiece-unigram", 33), ("wordpiece", 50)],
)
def test_a_new_tokenizer(model: str, size: int) -> None:
    pipeline = toksmith.train(texts=[TEXT], model=model, vocab_size=size).pipeline
    expected = [use(toksmith.Tokenizer(pipeline)) for use in USES]
    for _ in range(3):
        tok = toksmith.Tokenizer(pipeline)
        assert at_once([partial(use, tok) for use in USES]) == expected
