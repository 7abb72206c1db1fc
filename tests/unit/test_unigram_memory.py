"""Unigram training gives the same pieces within any memory, on any threads, and from any round."""

from __future__ import annotations

import os
import random
import re
import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

import toksmith
from tests.kits.pieces import random_piece_rules
from tests.processes import POSIX
from toksmith.engine.training import BlockFile, SymbolWords, UnigramState, UnigramWords
from toksmith.errors import FormatError, OptionError
from toksmith.reference.piece_rules import PieceRules
from toksmith.reference.unigram_training import UnigramOptions
from toksmith.trainers import checkpoint, unigram
from toksmith.trainers.checkpoint import Checkpoint
from toksmith.trainers.counting.symbol_words import CharacterWords
from toksmith.trainers.memory import MemoryLimits
from toksmith.trainers.unigram import UnigramLearner, by_frequency, train_unigram

ALPHABETS = [
    "ab",
    "abcd▁",
    "カな漢一ーa▁",
    "a1２я▁",
    "".join(map(chr, range(0x4E00, 0x4E00 + 300))),
]


def random_words(rng: random.Random, distinct: int) -> CharacterWords:
    alphabet = rng.choice(ALPHABETS)
    words: dict[str, int] = {}
    for _ in range(distinct):
        word = "".join(rng.choices(alphabet, k=rng.randint(1, 30)))
        words[word] = rng.choice([1, 2, 3, 1 << 33])
    return CharacterWords.of(words)


@pytest.fixture
def kilobytes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The memory for pieces in KiB, which a test sets; however little, it is enough."""
    held = [1]
    monkeypatch.setattr(MemoryLimits, "for_pieces", property(lambda _: held[0] << 10))
    monkeypatch.setattr(unigram, "unigram_memory", lambda pieces: 0)
    return held


@pytest.mark.parametrize("seed", range(25))
def test_memory_and_threads_make_no_difference(seed: int, kilobytes: list[int]) -> None:
    rng = random.Random(seed)
    words = random_words(rng, rng.choice([1, 30, 300]))
    rules = random_piece_rules(rng, (1, 2, 5, 16))
    options = UnigramOptions(rng.choice([1, 30, 1000]), rng.choice([0.5, 0.9]), rng.randint(1, 2))
    wanted = train_unigram(words, 60, rules=rules, options=options, progress=False)
    for kilobytes[0] in (0, 10, 100, 100_000):
        limits = MemoryLimits(1 << 20)
        got = train_unigram(
            words, 60, rules=rules, options=options, limits=limits,
            threads=rng.randint(1, 3), progress=False,
        )  # fmt: skip
        assert got == wanted
        assert (limits.spilled > 0) == (kilobytes[0] < 100_000)


def test_many_blocks(kilobytes: list[int]) -> None:
    rng = random.Random(7)
    words = CharacterWords.of(
        {"".join(rng.choices("abcdefgh", k=14)): 1 + i % 5 for i in range(9000)}
    )
    options = UnigramOptions(3000, 0.5)
    wanted = train_unigram(words, 300, options=options, progress=False)
    for kilobytes[0], threads in ((300, 2), (1000, 1)):
        limits = MemoryLimits(1 << 20)
        got = train_unigram(
            words, 300, options=options, limits=limits, threads=threads, progress=False
        )
        assert got == wanted
        assert limits.spilled > 1 << 20


class StopTrainingError(Exception):
    """Ends a training where a test wants it."""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(3)
    path = tmp_path_factory.mktemp("text") / "a.txt"
    words = ["".join(rng.choices("abcdeé漢", k=rng.randint(1, 9))) for _ in range(2500)]
    path.write_text(" ".join(rng.choices(words, k=9000)), encoding="utf-8")
    return path


def trained(model: str, text: Path, **options: Any) -> toksmith.Tokenizer:
    options |= {"shrinking_factor": 0.8}
    if model == "sentencepiece-unigram":
        options |= {"hard_vocab_limit": False, "max_sentence_length": 1 << 20}
    return toksmith.train(text, model=model, vocab_size=30, progress=False, **options)


MODELS = pytest.mark.parametrize("model", ["unigram", "sentencepiece-unigram"])


@MODELS
@pytest.mark.parametrize("memory", [None, "64M"])
def test_each_round_is_a_place_to_go_on_from(
    model: str, memory: str | None, text: Path, tmp_path: Path, kilobytes: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(checkpoint, "SECONDS", 0)
    wanted = trained(model, text)
    kept: list[int] = []
    keep = Checkpoint.keep_pieces

    def stopping(at: Checkpoint, state: UnigramState) -> None:
        keep(at, state)
        kept.append(state.rounds)
        raise StopTrainingError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "keep_pieces", stopping)
        for threads in (1, 2, 1):
            with pytest.raises(StopTrainingError):
                trained(model, text, memory=memory, checkpoint=tmp_path / "kept", threads=threads)
    assert kept == [0, 2, 4]
    described = checkpoint.describe_checkpoint(tmp_path / "kept")
    assert " pieces after 4 rounds and the counts are stored" in described
    for _ in range(2):
        tok = trained(model, text, memory=memory, checkpoint=tmp_path / "kept")
        assert tok.pipeline == wanted.pipeline
    with pytest.raises(OptionError, match="seed_sentencepiece_size was 1000000, now 9"):
        trained(model, text, checkpoint=tmp_path / "kept", seed_sentencepiece_size=9)
    checkpoint.delete(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rounds", np.array([1, 2], np.uint64)),
        ("symbols", np.array([0, 99], np.uint32)),
        ("symbols", np.array([1, 1], np.uint32)),
        ("lengths", np.array([1, 2], np.uint32)),
        ("lengths", np.array([0, 2], np.uint32)),
        ("scores", np.array([1.0])),
        *[("scores", np.array([-1.0, score])) for score in (1.0, -1e300, -np.inf, np.nan)],
    ],
)
def test_damaged_pieces(name: str, values: Any, tmp_path: Path) -> None:
    at = Checkpoint(tmp_path / "kept", {"options": {}, "sources": {}})
    pieces: dict[str, Any] = {
        "rounds": np.array([2], np.uint64),
        "symbols": np.array([0, 1], np.uint32),
        "lengths": np.array([1, 1], np.uint32),
        "scores": np.array([-1.0, -2.0]),
    }
    at._keep_arrays("pieces.npz", pieces)
    state = at.pieces(2)
    assert state is not None
    assert state.rounds == 2
    at._keep_arrays("pieces.npz", {**pieces, name: values})
    with pytest.raises(FormatError, match=r"pieces\.npz: is damaged \(it holds no pieces"):
        at.pieces(2)
    path = at.folder / "pieces.npz"
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], data[:-200] + bytes(200), b"", b"merges"):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"pieces\.npz: is damaged .* delete it"):
            at.pieces(2)


def test_too_many_first_pieces(text: Path) -> None:
    with pytest.raises(OptionError, match=r"\(memory=20.6M\), or seed_sentencepiece_size=\d+"):
        trained("unigram", text, memory="17M")
    with pytest.raises(
        OptionError, match=r"memory=\S+ is too small .* give more memory \(memory=241M"
    ):
        trained("unigram", "no-such-file.txt", memory="16M")  # type: ignore[arg-type]
    tok = trained("unigram", text, memory="17M", seed_sentencepiece_size=1500)
    assert tok.pipeline == trained("unigram", text, seed_sentencepiece_size=1500).pipeline


@MODELS
def test_the_refusal_names_a_limit_that_does(model: str, text: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with pytest.raises(OptionError, match=f"kept in {kept}: the same command") as refused:
        trained(model, text, memory="17M", checkpoint=kept)
    found = re.search(r"give more memory \(memory=(\S+)\)", str(refused.value))
    assert found
    assert trained(model, text, memory=found[1], checkpoint=kept).training is not None


def test_too_long_pieces(text: Path) -> None:
    assert trained("unigram", text, max_token_length=32_767).training is not None
    with pytest.raises(OptionError, match="has at most 32767 characters"):
        trained("unigram", text, max_token_length=32_768)


def words_in(file: IO[bytes], memory: int) -> UnigramWords:
    rng = np.random.default_rng(0)
    place = BlockFile(file.fileno())
    words = UnigramWords("abcdefgh", PieceRules(8), memory=memory, file=place)
    ends = np.arange(5, 50_001, 5, dtype=np.uint64)
    symbols = rng.integers(0, 8, 50_000, dtype=np.uint32)
    words.add(SymbolWords(symbols, ends, np.ones(len(ends), np.uint64), 8))
    words.finish()
    return words


OPTIONS: dict[str, Any] = {
    "seeds": 500, "enough": 9, "shrinking_factor": 0.75, "sub_iterations": 2
}  # fmt: skip


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with path.open("rb") as file, pytest.raises(OSError, match="Bad file descriptor"):
        words_in(file, 1 << 14)


@POSIX
def test_a_file_that_another_program_changes() -> None:
    with tempfile.TemporaryFile() as file:
        words = words_in(file, 1 << 14)
        file.truncate(100)
        with pytest.raises(OSError, match="Input/output error"):
            words.learn(**OPTIONS)
    with tempfile.TemporaryFile() as file:
        words = words_in(file, 1 << 14)

        def overwrite(*_: object) -> None:
            os.pwrite(file.fileno(), bytes(os.fstat(file.fileno()).st_size), 0)

        with pytest.raises(OSError, match="Input/output error"):
            words.learn(**OPTIONS, watch=overwrite)


def test_a_state_of_another_training() -> None:
    with tempfile.TemporaryFile() as file:
        words = words_in(file, 1 << 24)
        for symbols, lengths in (([8], [1]), ([1], [2]), ([1], [0, 1]), ([1] * 9, [9])):
            pieces = (
                np.array(symbols, np.uint32), np.array(lengths, np.uint32), np.zeros(len(lengths))
            )  # fmt: skip
            with pytest.raises(ValueError, match=r"alphabet|lengths|too long"):
                words.learn(**OPTIONS, start=UnigramState(2, pieces))  # type: ignore[arg-type]


def test_words_are_taken_before_they_are_learned() -> None:
    words = CharacterWords.of({"▁low": 5, "▁lower": 2, "▁newer": 6, "▁wider": 3})
    with UnigramLearner(progress=False) as learner:
        learner.take(words)
        assert learner.learn(12, by_frequency(words)) == train_unigram(words, 12, progress=False)
