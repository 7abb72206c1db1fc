"""Merging in phases, from a store that is partly in a file, against the reference's merges."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from tests.kits.pieces import random_piece_rules
from toksmith.engine.training import ChunkStore, MergeRules, merge_pieces, merge_symbols
from toksmith.models import BPE
from toksmith.reference.bpe_training import training_steps
from toksmith.reference.sentencepiece_bpe_training import (
    training_steps as training_steps_of_pieces,
)
from toksmith.trainers.bpe_merging import BYTES, tie_places
from toksmith.trainers.counting.symbol_words import CharacterWords
from toksmith.trainers.sentencepiece.pieces import learn_pieces

LITTLE = 1 << 12
"""Memory in bytes that no test's words fit into."""


@contextmanager
def a_store() -> Iterator[ChunkStore]:
    with tempfile.TemporaryFile() as file:
        yield ChunkStore(100, file.fileno())


def random_chunks(rng: random.Random) -> dict[bytes, int]:
    alphabet = rng.choice(
        ["a", "ab", "aab ", "abcdefgh", "a \n", "".join(map(chr, range(33, 255)))]
    )
    longest = rng.choice([3, 20, 200])
    count = rng.choice([1, 3, 1000])
    return {
        "".join(rng.choices(alphabet, k=rng.randint(1, longest))).encode("latin-1"): rng.randint(
            1, count
        )
        for _ in range(rng.randint(1, 200))
    }


@pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
@pytest.mark.parametrize("seed", range(60))
def test_merges(ties: Literal["first-seen", "smallest-pair"], seed: int) -> None:
    rng = random.Random(seed)
    chunks, tokens = random_chunks(rng), rng.randint(1, 120)
    options: dict[str, Any] = rng.choice([{}, {"min_frequency": 3}, {"max_token_length": 4}])
    steps = list(training_steps(chunks, 256 + tokens, ties=ties, **options))
    for threads in (1, 3):
        with a_store() as store:
            for chunk, count in chunks.items():
                one = np.array([len(chunk), count], np.uint64)
                store.add_bytes(chunk, one[:1], one[1:])
            found = merge_symbols(
                store,
                tokens,
                MergeRules(ties, **options),
                threads=threads,
                places=tie_places(BPE(BYTES, ())),
                memory=LITTLE,
            )
        assert found.merges.tolist() == [[*step.pair, step.new] for step in steps]
        assert found.counts.tolist() == [step.count for step in steps]


@pytest.mark.parametrize("seed", range(60))
def test_pieces(seed: int) -> None:
    rng = random.Random(seed)
    alphabet = rng.choice(["ab", "aab▁", "aя▁", "カな漢一ーa▁", "a▁▁▁1"])
    longest = rng.choice([4, 24, 300])
    words = {
        "".join(rng.choices(alphabet, k=rng.randint(1, longest))): rng.randint(1, 4)
        for _ in range(rng.randint(1, 150))
    }
    rules = random_piece_rules(rng, (1, 2, 3, 5, 16))
    spelled = CharacterWords.of(words)
    whole = learn_pieces(spelled, 60, rules, progress=False)
    assert whole.pieces == [step.piece for step in training_steps_of_pieces(words, 60, rules)]
    with a_store() as store:
        for batch in spelled.batches(7):
            store.add_symbols(batch)
        characters = spelled.characters
        found = merge_pieces(
            store,
            60,
            characters,
            rules,
            threads=rng.choice([1, 3]),
            memory=LITTLE,
        )
    pieces = list(characters)
    for left, right, _ in found.merges.tolist():
        pieces.append(pieces[left] + pieces[right])
    assert pieces[len(characters) :] == whole.pieces
    assert found.counts.tolist() == whole.counts.tolist()
    assert found.tokens_after.tolist() == whole.tokens_after.tolist()


def test_a_changed_file_is_noticed() -> None:
    rng = random.Random(1)
    with tempfile.TemporaryFile(buffering=0) as file:
        store = ChunkStore(0, file.fileno())
        for _ in range(3000):
            chunk = rng.randbytes(100)
            store.add_bytes(chunk, np.array([100], np.uint64), np.array([1], np.uint64))
        file.seek(1000)
        file.write(b"other bytes")
        with pytest.raises(OSError, match=r"put/output"):
            merge_symbols(store, 300, MergeRules("first-seen"), memory=LITTLE)


def test_a_file_that_cannot_be_written_is_an_error() -> None:
    with Path(os.devnull).open("rb") as file:
        store = ChunkStore(0, file.fileno())
        chunk = bytes(range(256)) * 1000
        with pytest.raises(OSError, match="file descriptor"):
            store.add_bytes(chunk, np.array([len(chunk)], np.uint64), np.array([1], np.uint64))
