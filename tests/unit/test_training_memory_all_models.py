"""Every model gives the same tokenizer whether it is interrupted or not, and within any memory."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.processes import POSIX
from toksmith.engine.counting import Tallies
from toksmith.errors import FormatError, OptionError
from toksmith.trainers import checkpoint, memory
from toksmith.trainers.counting import counted_parts


@dataclass(frozen=True)
class Case:
    """A training: its model, options, and how it counts."""

    model: str
    options: dict[str, Any] = field(default_factory=dict)
    vocab_size: int | None = 400

    def train(self, files: Path | None, **given: Any) -> toksmith.Tokenizer:
        if self.model.startswith("sentencepiece"):
            given["hard_vocab_limit"] = False
        return toksmith.train(
            files, model=self.model, vocab_size=self.vocab_size, progress=False,
            **self.options, **given,
        )  # fmt: skip


CASES = {
    "bpe": Case("bpe"),
    "bpe-characters": Case("bpe", {"unit": "characters"}),
    "wordpiece": Case("wordpiece"),
    "wordpiece-frequency": Case("wordpiece", {"objective": "frequency"}),
    "wordpiece-chunks": Case("wordpiece", {"split": "gpt2", "normalize": False}),
    "wordpiece-documents": Case("wordpiece", {"split": "gpt2", "separator": "\n"}),
    "unigram": Case("unigram"),
    "sentencepiece-bpe": Case("sentencepiece-bpe"),
    "sentencepiece-bpe-lines": Case("sentencepiece-bpe", {"split_by_whitespace": False}),
    "sentencepiece-unigram": Case("sentencepiece-unigram", vocab_size=200),
    "sentencepiece-unigram-drawn": Case("sentencepiece-unigram", {"input_sentence_size": 500}, 200),
    "word": Case("word", vocab_size=None),
    "char": Case("char", vocab_size=None),
}
"""Every model, and every way of counting of those that have several."""

ALL = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())

LETTERS = (*"abcdefghijklmnop", "é", "\u0301", "漢", "字", "Ü", ".", "-")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five files of lines of random words, some of which repeat in other files."""
    folder = tmp_path_factory.mktemp("files")
    rng = random.Random(11)
    for number in range(5):
        lines = [
            " ".join(
                "".join(rng.choices(LETTERS[: rng.choice((5, 16, 23))], k=rng.randint(1, 5)))
                for _ in range(rng.randint(0, 9))
            )
            for _ in range(120)
        ]
        (folder / f"{number}.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is a part of its own."""
    monkeypatch.setattr(counted_parts, "PART_BYTES", 1)


def figures(tok: toksmith.Tokenizer) -> dict[str, Any]:
    """Return what a training found, without times and the memory that it took."""
    record = tok.training
    assert record is not None
    names = ("vocab_size", "merges", "documents", "bytes", "chunks", "tokens", "skipped", "sources")
    return {
        **{name: getattr(record, name) for name in names},
        "counts": None if record.counts is None else record.counts.tolist(),
        "tokens_after": None if record.tokens_after is None else record.tokens_after.tolist(),
    }


def same(a: toksmith.Tokenizer, b: toksmith.Tokenizer) -> bool:
    return a.pipeline == b.pipeline and figures(a) == figures(b)


class StopTrainingError(Exception):
    """Ends a training where a test wants it."""


def test_every_model_is_here() -> None:
    from toksmith.trainers import MODELS

    assert {case.model for case in CASES.values()} == {*MODELS}


@ALL
def test_a_training_that_was_stopped_goes_on(
    case: Case, files: Path, tmp_path: Path, parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, folder = case.train(files, threads=1), tmp_path / "kept"
    entry, left = counted_parts._read_entry, iter(range(2))

    def stopping(*given: Any) -> Any:
        if next(left, None) is None:
            raise StopTrainingError
        return entry(*given)

    with monkeypatch.context() as patch:
        patch.setattr(counted_parts, "_read_entry", stopping)
        if "input_sentence_size" not in case.options:  # lines are drawn from all files at once
            with pytest.raises(StopTrainingError):
                case.train(files, checkpoint=folder, threads=2)
            assert len([*folder.glob("counts-*.json")]) == 2
    for threads in (2, 1):
        assert same(case.train(files, checkpoint=folder, threads=threads), wanted)
    checkpoint.delete(folder)
    assert not folder.exists()


@ALL
def test_another_training_is_refused(case: Case, files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    case.train(files, checkpoint=folder)
    with pytest.raises(OptionError, match="of another training: sample was"):
        case.train(files, checkpoint=folder, sample=0.5)


@pytest.fixture
def spilling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters write to their files as soon as a table would grow."""
    monkeypatch.setattr(memory, "_TABLES", 0.0016)


@ALL
def test_memory_makes_no_difference(case: Case, files: Path, spilling: None) -> None:
    wanted = case.train(files, threads=1)
    tok = case.train(files, memory="64M", threads=2)
    assert same(tok, wanted)
    assert tok.training is not None
    few = case.model == "char" or "input_sentence_size" in case.options
    assert tok.training.spilled > 0 or few


@ALL
def test_a_training_within_memory_that_was_stopped_goes_on(
    case: Case, files: Path, tmp_path: Path, parts: None, spilling: None
) -> None:
    wanted, folder = case.train(files), tmp_path / "kept"
    for threads in (1, 2):
        assert same(case.train(files, checkpoint=folder, memory="64M", threads=threads), wanted)
    for part in (0, 3):
        (folder / f"counts-000{part}.json").unlink(missing_ok=True)
    assert same(case.train(files, checkpoint=folder, memory="128M"), wanted)


FEW_WORDS = pytest.mark.filterwarnings("ignore:the text (ran out|yields only)")


@ALL
@FEW_WORDS
def test_rare_words_are_left_out(case: Case, files: Path, tmp_path: Path, parts: None) -> None:
    wanted = case.train(files, min_count=3)
    every = case.train(files).training
    assert wanted.training is not None
    assert every is not None
    assert wanted.training.chunks < every.chunks or case.model == "char"
    for given in ({"memory": "64M"}, {"checkpoint": tmp_path / "kept", "memory": "1G"}):
        assert same(case.train(files, min_count=3, **given), wanted)


@FEW_WORDS
def test_a_limit_that_is_too_small_names_a_count(
    files: Path, tmp_path: Path, parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The counts of a checkpoint serve the training that the error advises."""
    case, folder = CASES["word"], tmp_path / "kept"
    need = memory.MemoryLimits.check

    def check(limits: memory.MemoryLimits, tallies: Tallies, *least: int) -> None:
        if limits.need(1, 1) > 0:  # words that are streamed need none
            limits.need = lambda chunks, size: 2000 * chunks
        need(limits, tallies, *least)

    monkeypatch.setattr(memory.MemoryLimits, "check", check)
    says = r"give more memory.*, or min_count=.*\. The counts are kept in .*kept: the same command"
    with pytest.raises(OptionError, match=says) as refused:
        case.train(files, checkpoint=folder, memory="1M")
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("counts-*")}
    advised = int(re.search(r"min_count=(\d+)", str(refused.value))[1])  # type: ignore[index]
    tok = case.train(files, checkpoint=folder, memory="1M", min_count=advised)
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("counts-*")} == before
    assert same(tok, case.train(files, min_count=advised))


def test_a_damaged_record_of_lines(files: Path, tmp_path: Path) -> None:
    case, folder = CASES["sentencepiece-bpe"], tmp_path / "kept"
    case.train(files, checkpoint=folder)
    record = folder / "counts-0000.json"
    record.write_text(record.read_text(encoding="utf-8").replace('"too_long"', '"too"'))
    with pytest.raises(FormatError, match=r"counts-0000\.json: is damaged"):
        case.train(files, checkpoint=folder)


PROGRAM = """
import sys
import toksmith
from tests.unit.test_training_memory_all_models import CASES
from toksmith.trainers import checkpoint, memory
from toksmith.trainers.counting import counted_parts
checkpoint.SECONDS, counted_parts.PART_BYTES, memory._TABLES = 0.1, 1, 0.0016
name, files, folder, output = sys.argv[1:]
CASES[name].train(files, checkpoint=folder, threads=1, memory="64M").save(output)
"""


@POSIX
@pytest.mark.parametrize("name", ["wordpiece", "sentencepiece-unigram"])
def test_killed_by_the_system(name: str, files: Path, tmp_path: Path) -> None:
    suffix = "model" if "sentencepiece" in name else "json"
    folder, output, whole = (tmp_path / each for each in ("kept", f"a.{suffix}", f"b.{suffix}"))
    command = [sys.executable, "-c", PROGRAM, name, str(files), str(folder), str(output)]
    child = subprocess.Popen(command)
    while not (folder / "counts-0001.json").exists() and child.poll() is None:
        pass
    child.kill()
    assert child.wait() in (0, -signal.SIGKILL)
    subprocess.run(command, check=True)
    CASES[name].train(files).save(whole)
    assert output.read_bytes() == whole.read_bytes()


@ALL
def test_weights_and_counts_within_memory(case: Case, files: Path, spilling: None) -> None:
    if "input_sentence_size" not in case.options:
        weights = {str(files / "1.txt"): 2.5, str(files / "3.txt"): 0.3}
        wanted = case.train(files, weights=weights)
        assert same(case.train(files, weights=weights, memory="64M"), wanted)
    split = case.options.get("split", "gpt2") if case.model in ("bpe", "word", "char") else None
    counts = toksmith.Counts.from_files(files, split=split, separator="\n")
    options = {name: case.options[name] for name in case.options if name != "separator"}
    of_counts = replace(case, options=options)

    def train(**given: Any) -> toksmith.Tokenizer:
        return of_counts.train(None, counts=counts, **given)

    assert same(train(memory="64M"), train())


def test_tsv_within_memory(tmp_path: Path, spilling: None) -> None:
    path, rng = tmp_path / "words.tsv", random.Random(2)
    lines = ("".join(rng.choices(LETTERS, k=9)) + f"\t{rng.randint(1, 9)}\n" for _ in range(3000))
    path.write_text("".join(lines), encoding="utf-8")
    case = Case("sentencepiece-bpe", {"input_format": "tsv"})
    wanted = case.train(path)
    assert same(case.train(path, memory="64M"), wanted)
    for _ in range(2):
        assert same(case.train(path, memory="64M", checkpoint=tmp_path / "kept"), wanted)


@ALL
@FEW_WORDS
def test_invalid_utf8_within_memory(case: Case, spilling: None) -> None:
    if "input_sentence_size" in case.options:
        pytest.skip("draws lines as others read them")
    small = replace(case, vocab_size=None if case.vocab_size is None else 300)
    options = {name: case.options[name] for name in case.options if name != "separator"}
    small = replace(small, options=options)
    texts = [b"low \xff lower l\xc3 newer \xe6\xbc wide"] * 20
    wanted = small.train(None, texts=texts)
    assert same(small.train(None, texts=texts, memory="64M"), wanted)
