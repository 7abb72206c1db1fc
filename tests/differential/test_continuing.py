"""Continued training: the kernel against the reference."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from typing import Any

import pytest

import toksmith
from tests import strategies
from toksmith._base.text import utf8
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe_training import training_steps
from toksmith.splitters import splitter
from toksmith.stages.split_patterns import chunk_spans


@pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
@pytest.mark.parametrize("seed", range(6))
def test_other_text_and_shuffled_bytes(ties: str, seed: int) -> None:
    """The bytes have ids in any order, as in tiktoken's files; the first text is another."""
    rng = random.Random(seed)
    first, second = strategies.random_texts(seed, 40), strategies.random_texts(seed + 50, 60)
    split = rng.choice([None, "gpt2", "gpt4"])
    learned = _train(texts=first, vocab_size=256 + rng.randint(0, 80), split=split, ties=ties)
    known = _shuffled(learned.pipeline.model, rng) if seed % 2 else learned.pipeline.model
    tok = toksmith.Tokenizer(Pipeline(known, splitter(split)))
    options: dict[str, Any] = {"ties": ties, **rng.choice([{}, {"max_token_length": 4}])}
    counts: Counter[bytes] = Counter()
    for text in map(utf8, second):
        counts.update(text[start:end] for start, end in chunk_spans(splitter(split), text))
    size = len(known.vocab) + 60
    steps = list(training_steps(counts, size, after=known, **options))
    more = _train(texts=second, vocab_size=size, continue_from=tok, **options)
    rows = more.pipeline.model.merges[len(known.merges) :].tolist()
    assert rows == [[*step.pair, step.new] for step in steps]
    assert more.training is not None
    assert more.training.counts.tolist() == [step.count for step in steps]


def _train(**options: Any) -> toksmith.Tokenizer:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the text ran out")
        return toksmith.train(**options)


def _shuffled(model: BPE, rng: random.Random) -> BPE:
    order = list(range(256))
    rng.shuffle(order)
    place = {token: order[token] if token < 256 else token for token in range(len(model.vocab))}
    vocab = [b""] * len(model.vocab)
    for token, moved in place.items():
        vocab[moved] = model.vocab[token]
    rows = [[place[token] for token in row] for row in model.merges.tolist()]
    return BPE(tuple(vocab), rows)
