"""Training on counted documents gives what training on the documents gives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith import Counts, CountsFile
from toksmith.errors import OptionError, TrainingError
from toksmith.trainers.counting.counted_documents import CountedDocuments

WORDS = ["low", "Lower", "newest", "wide", "ünï", "日本", "1234", "can't", "a-b", "x" * 40]


def texts(seed: int) -> list[str]:
    """Return texts of which some come several times."""
    draw = random.Random(seed)
    several = [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) for _ in range(200)]
    return [text for text in several for _ in range(draw.choice([1, 1, 1, 2, 3, 70]))]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[CountsFile]:
    folder = tmp_path_factory.mktemp("counts")
    for seed in range(2):
        Counts.from_texts(texts(seed), split=None).save(folder / str(seed))
    return [CountsFile(folder / str(seed)) for seed in range(2)]


@pytest.mark.parametrize(
    "options",
    [
        {"model": "wordpiece", "vocab_size": 95},
        {"model": "wordpiece", "vocab_size": 95, "memory": "1M"},
        {"model": "wordpiece", "vocab_size": 95, "threads": 1, "min_count": 3},
        {"model": "wordpiece", "vocab_size": 95, "normalize": False, "split": "gpt2"},
        {"model": "unigram", "vocab_size": 70},
        {"model": "unigram", "vocab_size": 70, "memory": "32M"},
    ],
    ids=str,
)
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.filterwarnings("ignore:the text")
def test_documents_train_as_their_text(
    files: list[CountsFile], number: int, options: dict[str, Any]
) -> None:
    wanted = toksmith.train(texts=[t for seed in range(number) for t in texts(seed)], **options)
    for counts in (files[:number], Counts.merge([file.path for file in files[:number]])):
        found = toksmith.train(counts=counts, **options)
        assert found.pipeline == wanted.pipeline
        assert found.training is not None
        assert wanted.training is not None
        for name in ("documents", "bytes", "chunks", "tokens"):
            assert getattr(found.training, name) == getattr(wanted.training, name)


def test_a_checkpoint(files: list[CountsFile], tmp_path: Path) -> None:
    options: dict[str, Any] = {"model": "wordpiece", "vocab_size": 95}
    wanted = toksmith.train(counts=files, **options)
    for _ in range(2):
        found = toksmith.train(counts=files, checkpoint=tmp_path / "kept", **options)
        assert found.pipeline == wanted.pipeline


def test_invalid_utf8() -> None:
    documents = {"日本 low".encode()[:4]: 3, "本".encode()[1:]: 1, b"low \xff": 2}
    options: dict[str, Any] = {"model": "wordpiece", "vocab_size": 12}
    replaced = [text.decode("utf-8", "replace") for text, n in documents.items() for _ in range(n)]
    found = toksmith.train(counts=Counts.of(documents), **options)
    assert found.pipeline == toksmith.train(texts=replaced, **options).pipeline


def test_no_documents() -> None:
    with pytest.raises(TrainingError, match="there is no text"):
        toksmith.train(counts=Counts.of({}), model="wordpiece", vocab_size=95)


class _Sink:
    """Notes the documents it gets."""

    def __init__(self) -> None:
        self.found: list[bytes] = []

    def add_slices(self, text: Any, bounds: Any) -> None:
        self.found += [text[start:end] for start, end in bounds.tolist()]

    def add_texts(self, several: Any) -> None:
        self.found += several

    def cut(self, text: Any, start: int, end: int) -> int:
        raise NotImplementedError


def test_parts() -> None:
    counts = Counts.of({b"one": 1, b"six": 6, b"none": 0, b"many": 2**40 + 1})
    source = CountedDocuments(lambda: [(counts.chunks, counts.ends, counts.counts)])
    parts = []
    for weight, part in source.parts():
        sink = _Sink()
        part.feed(sink, lambda _: None)
        parts.append((weight, sink.found))
    million = 10**6
    assert parts == [
        (million, [b"one", b"six", b"many"]),
        (million, [b"six"]),
        (4 * million, [b"six"]),
        (2**40 * million, [b"many"]),
    ]
    assert source.read().documents == 6


def test_weights_of_two_to_the_62() -> None:
    counts = Counts(b"ab", np.array([2], np.uint64), np.array([2**61], np.uint64))
    for memory in (None, "1M"):
        tok = toksmith.train(counts=counts, model="wordpiece", vocab_size=9, memory=memory)
        assert tok.pipeline.model.vocab[-1] == b"ab"
    with pytest.raises(OptionError, match="2\\*\\*63"):
        Counts(b"ab", np.array([2], np.uint64), np.array([2**62], np.uint64))
