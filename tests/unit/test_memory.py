"""Counting and training within a memory limit."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.processes import POSIX
from toksmith import Counts
from toksmith._base.sizes import format_size, parse_size
from toksmith.corpus import Files, Reading
from toksmith.engine.counting import ChunkCounter
from toksmith.errors import OptionError, TrainingError
from toksmith.splitters import splitter
from toksmith.trainers.counting.chunks import count_chunks, sum_counts
from toksmith.trainers.memory import MemoryLimits, within_memory

RANDOM = random.Random(5)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEXT = " ".join("".join(RANDOM.choices(LETTERS, k=1 + i % 7)) for i in range(40_000))
LIMIT = 1 << 20


def limits(**options: Any) -> MemoryLimits:
    """A MiB, for counting alone."""
    return MemoryLimits(LIMIT, need=lambda chunks, size: 0, **options)


def same(a: Counts, b: Counts) -> bool:
    return list(a) == list(b) and (a.documents, a.splitter) == (b.documents, b.splitter)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("memory") / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


class TestSizes:
    @pytest.mark.parametrize(
        ("given", "size"),
        [("4G", 4 << 30), ("1.5 GiB", 3 << 29), ("500m", 500 << 20), ("2TB", 2 << 40),
         ("1048576", 1 << 20), (" 1M ", 1 << 20), (1 << 20, 1 << 20), (np.int64(2**21), 2 << 20)],
    )  # fmt: skip
    def test_read(self, given: Any, size: int) -> None:
        assert parse_size(given) == size
        assert parse_size(None) is None

    @pytest.mark.parametrize("given", ["", "4X", "G", "-1G", "1e9", "1000", 1000, 0, -1, 1.5, []])
    def test_wrong(self, given: Any) -> None:
        with pytest.raises(OptionError, match="memory is"):
            parse_size(given)

    def test_shown(self) -> None:
        assert [format_size(n) for n in (0, 1023, 1024, 3 << 29)] == ["0", "1023", "1K", "1.5G"]


class TestCounting:
    @pytest.mark.parametrize("threads", [1, 2])
    @pytest.mark.parametrize("split", ["gpt2", "gpt4", None, r"[a-z]+"])
    def test_the_same_counts(self, file: Path, split: str | None, threads: int) -> None:
        expected = Counts.from_files(file, split=split)
        found = limits()
        source = Files(file, Reading())
        assert same(count_chunks(source, splitter(split), threads, False, found), expected)
        assert found.spilled

    def test_min_count(self, file: Path) -> None:
        found = limits(min_count=2)
        counts = count_chunks(Files(file, Reading()), splitter("gpt2"), 2, False, found)
        assert found.spilled
        assert same(counts, Counts.from_files(file, split="gpt2").filter(2))
        small = Counts.from_texts(["a b b"], memory="1M", min_count=2)
        assert list(small) == [(b" b", 2)]

    def test_merging(self, file: Path) -> None:
        a, b = Counts.from_files(file), Counts.from_texts([TEXT[::-1], "new"])
        found = limits()
        assert same(sum_counts([a, b], found), a + b)
        assert found.spilled

    def test_weights(self, file: Path) -> None:
        other = file.with_name("other.txt")
        other.write_text(TEXT[::-1][:100_000] + " twice twice", encoding="utf-8")
        reading = Reading(weights={str(other): 2.5, str(file): 0.5})
        expected = count_chunks(Files([file, other], reading), splitter("gpt2"), 1)
        for memory in (limits(), MemoryLimits(1 << 30)):
            counts = count_chunks(Files([file, other], reading), splitter("gpt2"), 2, False, memory)
            assert same(counts, expected)
            assert memory.spilled
        assert dict(expected)[b" twice"] == 5

    def test_a_word_longer_than_all_memory(self) -> None:
        texts = ["x" * 3_000_000, "y z", "x" * 3_000_000]
        counts = count_chunks_of(texts, limits())
        assert list(counts) == [(texts[0].encode(), 2), (b"y", 1), (b" z", 1)]

    def test_data_that_does_not_fit_in_memory(self, file: Path) -> None:
        says = (
            r"distinct chunks take about [0-9.]+M, more than memory=1M: give more memory "
            r"\(memory=[0-9.]+M\), or min_count=2, which leaves out [0-9.]+K of text"
        )
        assert len(Counts.from_files(file, memory="1M")) > 25_000
        twice = file.with_name("twice.txt")
        twice.write_text(TEXT + TEXT[::-1], encoding="utf-8")
        with pytest.raises(OptionError, match=says):
            Counts.from_files([file, twice], memory="1M")
        assert len(Counts.from_files([file, twice], memory="1M", min_count=2)) < 40_000
        many = Counts.of({b"%d" % i: 5000 for i in range(100_000)})
        with pytest.raises(
            OptionError, match=r"more than memory=1M: give more memory \(memory=2.76M\)$"
        ):
            sum_counts([many], MemoryLimits(LIMIT))

    def test_texts_and_threads_make_no_difference(self) -> None:
        texts = [TEXT[i : i + 5000] for i in range(0, len(TEXT), 5000)]
        expected = Counter(chunk for text in texts for chunk, n in Counts.from_texts([text])
                           for _ in range(n))  # fmt: skip
        for threads in (1, 2, 3):
            assert list(count_chunks_of(texts, limits(), threads)) == list(expected.items())


def count_chunks_of(texts: list[str], memory: MemoryLimits, threads: int = 1) -> Counts:
    from toksmith.corpus import Documents

    return count_chunks(Documents(texts), splitter("gpt4"), threads, False, memory)


class TestDisk:
    def test_temporary_files_are_removed(
        self, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        memory = limits()
        count_chunks(Files(file, Reading()), splitter("gpt2"), 1, False, memory)
        assert memory.spilled
        assert not list(tmp_path.iterdir())

    @POSIX
    def test_it_is_never_seen_in_the_folder(self, tmp_path: Path) -> None:
        # A process that is killed leaves nothing, either: the file has no name.
        code = (
            "import os, random, tempfile, toksmith\n"
            f"tempfile.tempdir = {str(tmp_path)!r}\n"
            "def texts():\n"
            "    for i in range(10**9):\n"
            "        yield str(random.random())\n"
            "        if i == 300_000: os.kill(os.getpid(), 9)\n"
            "import toksmith.corpus.sources as sources\n"
            "sources.BLOCK = 1 << 18\n"
            "toksmith.Counts.from_texts(texts(), memory='1M')\n"
        )
        ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
        assert ran.returncode == -9, ran.stderr
        assert not list(tmp_path.iterdir())

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
    def test_a_full_disk(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(**_: Any) -> Any:
            return Path("/dev/full").open("r+b", buffering=0)

        monkeypatch.setattr(tempfile, "TemporaryFile", full)
        with pytest.raises(OptionError, match=r"counts larger than memory=1M .*No space left"):
            count_chunks(Files(file, Reading()), splitter("gpt2"), 1, False, limits())

    def test_no_folder_for_it(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
        with pytest.raises(OptionError, match="cannot be written to /nowhere: No such file"):
            Counts.from_files(file, memory="1M")

    def test_damage(self, tmp_path: Path) -> None:
        counter = ChunkCounter(splitter("gpt2"), 1)
        with (tmp_path / "runs").open("w+b") as file:
            counter.spill_to(1, file.fileno())
            counter.add_texts([TEXT])
            file.truncate(1000)
            with pytest.raises(OSError, match="Input/output error"):
                counter.merge(1, 1, 1 << 20)


class TestTraining:
    @pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
    def test_the_same_tokenizer(self, file: Path, ties: str) -> None:
        options: dict[str, Any] = {"vocab_size": 600, "ties": ties}
        expected = toksmith.train(file, **options)
        tok = toksmith.train(file, memory="1M", **options)
        assert tok.pipeline == expected.pipeline
        assert expected.training is not None
        assert tok.training is not None
        assert expected.training.spilled == 0
        assert tok.training.spilled > 0
        assert tok.training.bytes == expected.training.bytes

    def test_more_chunks_than_fit_are_merged_all_the_same(self, file: Path) -> None:
        expected = toksmith.train(file, vocab_size=300)
        assert toksmith.train(file, vocab_size=300, memory="1M").pipeline == expected.pipeline

    @pytest.mark.parametrize("objective", ["frequency", "likelihood"])
    def test_more_words_than_fit_are_merged_all_the_same(self, file: Path, objective: Any) -> None:
        given: dict[str, Any] = {"model": "wordpiece", "vocab_size": 400, "objective": objective}
        expected = toksmith.train(file, **given)
        assert toksmith.train(file, memory="1M", **given) == expected

    def test_too_many_words_for_a_vocabulary(self, file: Path) -> None:
        with pytest.raises(OptionError, match=r"more than memory=1M: .* or min_count=\d"):
            toksmith.train(file, model="word", memory="1M")
        tok = toksmith.train(file, model="word", memory="1M", min_count=9)
        assert tok.pipeline == toksmith.train(file, model="word", min_count=9).pipeline

    @pytest.mark.parametrize("least", [0, -1, 1.5])
    def test_wrong_min_count(self, least: Any) -> None:
        with pytest.raises(OptionError, match="min_count"):
            toksmith.train(texts=["a"], vocab_size=256, min_count=least)


@pytest.mark.parametrize("folder", ["no such folder", "a file"])
def test_a_tmpdir_that_is_not_a_folder(
    folder: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv("TMPDIR", str(tmp_path / folder))
    with pytest.raises(OptionError, match=f"TMPDIR is .*{folder}', which is no writable folder"):
        Counts.from_files(file, memory="1M")
    assert len(Counts.from_files(file)) > 25_000  # nothing is written without a limit


def test_bytes_and_tokens_are_those_of_the_same_text() -> None:
    # 1,000 times "aa", " bb" and their like; and 2,000 chunks of 8 bytes or so, once each.
    text = "aa bb " * 1000 + " ".join(f"q{i}zxv" for i in range(2000))
    whole = toksmith.train(texts=[text], vocab_size=260).training
    kept = toksmith.train(texts=[text], vocab_size=260, min_count=1000).training
    counted = toksmith.train(counts=Counts.from_texts([text]), vocab_size=260, min_count=1000)
    assert whole is not None and kept is not None and counted.training is not None  # noqa: PT018
    assert whole.bytes == len(text)
    # What stands there a thousand times: the letters and digits around each number come once.
    frequent = Counts.from_texts([text]).filter(1000)
    assert kept.bytes == counted.training.bytes == frequent.bytes < len(text)
    assert kept.tokens == counted.training.tokens < kept.bytes


def test_one_long_chunk_gets_advice_that_helps() -> None:
    text = "".join(map(chr, range(0x4E00, 0x9000))) * 8
    with pytest.raises(OptionError, match="use split=, or separator= between") as caught:
        Counts.from_texts(text * 8, split=None, memory="1M")
    assert str(caught.value).startswith("1 distinct chunk takes about")


def test_memory_that_ends_where_there_are_no_chunks() -> None:
    with (
        pytest.raises(TrainingError, match="words and lines of this text") as caught,
        within_memory(on_chunks=False),
    ):
        raise MemoryError
    assert "chunk" not in str(caught.value)
    with pytest.raises(TrainingError, match="distinct chunks"), within_memory(on_chunks=True):
        raise MemoryError


def test_a_thread_that_cannot_be_started() -> None:
    with pytest.raises(TrainingError, match="threads=1"), within_memory(on_chunks=False):
        raise RuntimeError("cannot join thread before it is started")
    with pytest.raises(RuntimeError, match=r"^something else$"), within_memory(on_chunks=False):
        raise RuntimeError("something else")
