"""The figures of each file of a training: chunks, tokens, and the share of the merges."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import toksmith
from benchmarks.diverse_text import Generator
from toksmith._base.seals import seal
from toksmith.engine.counting import ChunkCounter
from toksmith.errors import FormatError
from toksmith.splitters import splitter
from toksmith.stages.normalize import normalize
from toksmith.stages.split_classes import iter_chunks
from toksmith.tokenizer.training_record import SourceRecord
from toksmith.trainers.counting import counted_parts

WORDS = "the quick brown fox jumps over the lazy dog and grün sees 語言 there \n"


@pytest.fixture
def small(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.txt", tmp_path / "b.jsonl.gz", tmp_path / "empty.txt"]
    paths[0].write_text(WORDS * 20, encoding="utf-8", newline="")
    lines = "".join(json.dumps({"text": f"wide {i} wider lower"}) + "\n" for i in range(50))
    paths[1].write_bytes(gzip.compress(lines.encode()))
    paths[2].write_text("")
    return paths


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files of 2 MB, the second with other text."""
    folder = tmp_path_factory.mktemp("large")
    (folder / "a.txt").write_bytes(b"".join(Generator(None).blocks(0, 2_000_000)))
    number = b"".join(b"%d plain words, one after the other.\n" % (i * i) for i in range(40_000))
    (folder / "b.txt").write_bytes(number)
    return [folder / "a.txt", folder / "b.txt"]


def sources(files: list[Path], **options: Any) -> tuple[SourceRecord, ...]:
    record = toksmith.train(files, progress=False, **options).training
    assert record is not None
    return record.sources


def documents_of(small: list[Path]) -> list[list[str]]:
    text = small[0].read_text(encoding="utf-8")
    lines = gzip.decompress(small[1].read_bytes()).decode().splitlines()
    return [[text], [json.loads(line)["text"] for line in lines], [""]]


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("bpe", 300),
        ("wordpiece", 110),
        ("unigram", 60),
        ("sentencepiece-bpe", 90),
        ("sentencepiece-unigram", 60),
        ("word", 50),
        ("char", 60),
    ],
)
def test_small_files_are_counted_exactly(small: list[Path], model: str, size: int) -> None:
    options: dict[str, Any] = {}
    if model.startswith("sentencepiece"):
        options["max_sentence_length"] = 1 << 20
    tok = toksmith.train(small, model=model, vocab_size=size, progress=False, **options)
    assert tok.training is not None
    for source, documents in zip(tok.training.sources, documents_of(small), strict=True):
        assert not source.is_estimated
        assert source.tokens == sum(tok.count(text) for text in documents)
        assert source.chunks == sum(chunks_of(model, tok, text) for text in documents)
        assert (source.merge_share is None) == (model != "bpe")


def chunks_of(model: str, tok: toksmith.Tokenizer, text: str) -> int:
    """Return the number of chunks of a text for a model."""
    if model == "char":
        return len(text)
    if model in ("bpe", "word"):
        assert tok.training is not None
        return len(toksmith.split(text, tok.training.options["split"]))
    if model in ("wordpiece", "unigram"):
        pipeline = tok.pipeline
        return len([*iter_chunks(pipeline.splitter, normalize(pipeline.normalizer, text))])
    return len(text.split())


def test_a_whole_document_is_one_chunk_without_a_split(small: list[Path]) -> None:
    found = sources(small, vocab_size=260, split=None)
    assert [source.chunks for source in found] == [1, 50, 0]


def test_the_shares_of_the_merges_are_those_of_the_weighted_text(small: list[Path]) -> None:
    tok = toksmith.train(small, vocab_size=300, weights={str(small[1]): 2}, progress=False)
    assert tok.training is not None
    found = tok.training.sources
    tokens = [source.tokens or 0 for source in found]
    merges = [(s.bytes - t) * s.weight for s, t in zip(found, tokens, strict=True)]
    assert [source.merge_share for source in found] == pytest.approx(
        [number / sum(merges) for number in merges]
    )
    assert tok.training.tokens == sum(t * s.weight for s, t in zip(found, tokens, strict=True))
    assert found[0].compression == found[0].bytes / tokens[0]
    assert found[2].compression is None


def test_the_estimate_of_a_splitter_in_python_takes_few_documents(large: list[Path]) -> None:
    tok = toksmith.train(
        large, model="wordpiece", vocab_size=1500, split="gpt2", progress=False, limit_alphabet=100
    )
    assert tok.training is not None
    assert not tok.engine.startswith("kernel")
    for source in tok.training.sources:
        assert 0 < source.sampled <= 1 << 17
        assert source.chunks
        assert source.tokens


@pytest.mark.parametrize("split", ["gpt4", None, r"(?<=a)b|[^b]+", r"\w+|\W"])
def test_chunks_of_documents_are_counted_one_by_one(split: str | None) -> None:
    texts = [WORDS, "", "abab cab", "x" * 5000, "\n\n 語言"]
    found = ChunkCounter(splitter(split), 2).chunks_of(texts)
    assert found.tolist() == [len(toksmith.split(text, split)) for text in texts]


def test_large_files_are_estimated(large: list[Path]) -> None:
    tok = toksmith.train(large, vocab_size=2000, progress=False)
    assert tok.training is not None
    for source, path in zip(tok.training.sources, large, strict=True):
        text = path.read_bytes()
        assert source.is_estimated
        assert source.sampled < 1 << 20
        assert source.tokens == pytest.approx(tok.count(text), rel=0.03)
        counts = toksmith.Counts.from_texts([text])
        assert source.chunks == pytest.approx(int(counts.counts.sum()), rel=0.03)
    shares = [source.merge_share or 0 for source in tok.training.sources]
    assert sum(shares) == pytest.approx(1)


def test_memory_threads_and_checkpoints_change_no_figure(large: list[Path], tmp_path: Path) -> None:
    options: dict[str, Any] = {"vocab_size": 600, "sample": 0.6, "separator": "\n"}
    expected = sources(large, threads=1, **options)
    assert sources(large, threads=2, memory="30M", **options) == expected
    folder = tmp_path / "checkpoint"
    assert sources(large, checkpoint=folder, **options) == expected
    assert sources(large, checkpoint=folder, **options) == expected  # from the stored counts


def test_a_checkpoint_part_by_part(
    large: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = sources(large, vocab_size=400)
    monkeypatch.setattr(counted_parts, "PART_BYTES", 1 << 20)
    monkeypatch.setattr(counted_parts, "_PARTS", 1 << 10)
    folder = tmp_path / "checkpoint"
    assert sources(large, vocab_size=400, checkpoint=folder) == expected
    (folder / "counts-0001.json").unlink()  # as if killed between the parts
    assert sources(large, vocab_size=400, checkpoint=folder) == expected


def test_a_checkpoint_without_samples_has_no_figures(small: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    expected = sources(small, vocab_size=300, checkpoint=folder)
    record = folder / "counts-0000.json"
    entry = json.loads(record.read_text(encoding="utf-8"))
    del entry["sha256"]
    for file in entry["files"]:
        file["sample"] = None
    record.write_text(json.dumps(seal(entry)), encoding="utf-8")
    found = sources(small, vocab_size=300, checkpoint=folder)
    assert [source.bytes for source in found] == [source.bytes for source in expected]
    assert {source.tokens for source in found} == {None}
    assert {source.merge_share for source in found} == {None}
    for file in entry["files"]:
        file["sample"] = [1]
    record.write_text(json.dumps(seal(entry)), encoding="utf-8")
    with pytest.raises(FormatError, match="delete the checkpoint"):
        sources(small, vocab_size=300, checkpoint=folder)
