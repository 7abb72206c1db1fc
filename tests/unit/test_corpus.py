"""Reading corpora: every kind of file gives the documents of the plain text."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from importlib import import_module
from itertools import repeat
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import toksmith
from tests.counting import PLAIN, same
from tests.processes import POSIX
from toksmith._base import documents
from toksmith._base.documents import open_mapped
from toksmith._base.text import Text, utf8
from toksmith.corpus import Files, Reading, blocks, expand
from toksmith.corpus.blocks import split_stream
from toksmith.corpus.digests import DigestSet
from toksmith.corpus.parquet import parquet_blocks
from toksmith.corpus.prefetch import prefetch, prefetch_in_order
from toksmith.corpus.streams import read_whole_lines
from toksmith.corpus.text_reader import READ
from toksmith.engine.counting import ChunkCounter, LineCounter
from toksmith.errors import FormatError, MissingExtraError, OptionError
from toksmith.splitters import splitter
from toksmith.trainers.counting.chunks import count_chunks
from toksmith.trainers.counting.counts import Counts

zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

SEPARATOR = "<|>"
DOCUMENTS = [
    "low lower",
    "",
    "newest  wid\u00e9st\r\n\r\nx",
    "新しい道、古い道。🙂's",
    "<|",
    ">a b",
]
TEXT = SEPARATOR.join(DOCUMENTS)


def no_report(done: int) -> None:
    """Nobody listens."""


class Collector:
    """A counter that keeps the documents; they are cut nowhere."""

    def __init__(self) -> None:
        self.documents: list[bytes] = []

    def add_texts(self, texts: Sequence[Text]) -> None:
        self.documents += [bytes(text) for text in texts]  # type: ignore[arg-type]

    def add_slices(self, text: Text, bounds: np.ndarray) -> None:
        view = memoryview(text)  # type: ignore[arg-type]
        self.documents += [bytes(view[start:end]) for start, end in bounds.tolist()]

    def cut(self, text: Text, start: int, end: int) -> int:
        return end


def read(path: Path | list[Path], streamed: int = 1 << 22, **reading: Any) -> list[str]:
    collector = Collector()
    files = Files(path, Reading(**reading), streamed=streamed)  # type: ignore[arg-type]
    count = files.feed(collector, no_report)
    assert files.read().documents == count
    assert files.read().stored == files.size
    assert count == len(collector.documents)
    return [document.decode() for document in collector.documents]


def json_lines(documents: Sequence[str], field: str = "text") -> bytes:
    rows = [{"id": i, field: text} for i, text in enumerate(documents)]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def plain(path: Path) -> Path:
    path.write_bytes(TEXT.encode())
    return path


WRITERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1}),
}


@pytest.mark.parametrize("packed", list(WRITERS))
@pytest.mark.parametrize("streamed", [1, 7, 1 << 22])
def test_packed_text_and_json_lines_hold_the_same_documents(
    tmp_path: Path, packed: str, streamed: int
) -> None:
    text = tmp_path / f"a.txt{packed}"
    text.write_bytes(WRITERS[packed](TEXT.encode()))
    assert read(text, streamed, separator=SEPARATOR) == DOCUMENTS
    assert read(text, streamed) == [TEXT]
    lines = tmp_path / f"a.jsonl{packed}"
    lines.write_bytes(WRITERS[packed](json_lines(DOCUMENTS)))
    assert read(lines, streamed) == DOCUMENTS
    lines.write_bytes(WRITERS[packed](json_lines(DOCUMENTS, "body")))
    assert read(lines, streamed, field="body") == DOCUMENTS


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(),
                                  pa.dictionary(pa.int8(), pa.string())])  # fmt: skip
def test_parquet(tmp_path: Path, kind: pa.DataType) -> None:
    path = tmp_path / "a.parquet"
    column = pa.array([text.encode() for text in DOCUMENTS], pa.binary()).cast(pa.string())
    table = pa.table({"id": range(len(DOCUMENTS)), "text": column.cast(kind)})
    parquet.write_table(table, path, row_group_size=4)
    assert read(path, 1) == read(path) == DOCUMENTS


@pytest.mark.parametrize("text", ["", "a", SEPARATOR, f"{SEPARATOR}{SEPARATOR}a", f"a{SEPARATOR}"])
def test_texts_without_much_are_cut_as_plain_files_are(tmp_path: Path, text: str) -> None:
    paths = [tmp_path / f"a.txt{packed}" for packed in WRITERS]
    for path, pack in zip(paths, WRITERS.values(), strict=True):
        path.write_bytes(pack(text.encode()))
    for separator in ({}, {"separator": SEPARATOR}):
        first, *others = [read(path, 1, **separator) for path in paths]
        assert others == [first, first]


LONG = ("It's 12 o'clock,\n\n  don't  panic…  naïve 新しい道、\xa0古い道🙂 x1 " + SEPARATOR) * 9


@pytest.mark.parametrize("block", range(1, 65))
def test_blocks_change_no_count(block: int) -> None:
    data = LONG.encode()[:-3]
    documents = LONG.removesuffix(SEPARATOR).split(SEPARATOR)

    def parts() -> Iterator[tuple[bytes, int]]:
        for start in range(0, len(data), block):
            yield data[start : start + block], start + block

    def counted(make: Callable[[], ChunkCounter | LineCounter], separator: bytes | None) -> object:
        whole, streamed = make(), make()
        whole.add_texts([data] if separator is None else documents)
        count = 0
        for found in split_stream(parts(), separator, streamed.cut, most=16):
            streamed.add_slices(found.data, found.bounds)
            count += found.documents
        assert count == (1 if separator is None else len(documents))
        assert same(whole, streamed)

    for separator in (None, SEPARATOR.encode()):
        for split in ("gpt2", "gpt4", "o200k", None, r"\w+|\W"):
            counted(lambda split=split: ChunkCounter(splitter(split), 1), separator)  # type: ignore[misc]
        counted(lambda: LineCounter(1), separator)
        counted(lambda: LineCounter(1, plain=PLAIN), separator)


def test_small_and_large_files_stay_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "_SMALL", 20)
    monkeypatch.setattr(blocks, "STREAMED", 50)
    texts = [f"{i} " * (i % 13) for i in range(60)]
    for i, text in enumerate(texts):
        (tmp_path / f"{i:02}").write_text(text)
    assert read(tmp_path) == texts


def test_long_documents_are_cut_on_the_way() -> None:
    counter = ChunkCounter(splitter("gpt4"), 1)
    data = b"some words and more, " * 5000
    sizes = [len(block.data) for block in split_stream(
        ((data[i : i + 1000], i) for i in range(0, len(data), 1000)), None, counter.cut, 2000
    )]  # fmt: skip
    assert max(sizes) < 8000


def test_every_model_trains_on_packed_files_as_on_texts(tmp_path: Path) -> None:
    documents = ["low lower lowest\nnewer wider new\n" * 3, "the low new wide\n" * 4]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(json_lines(documents)))
    for model, size in [("bpe", 262), ("wordpiece", 30), ("unigram", 20), ("word", 8),
                        ("sentencepiece-bpe", 20), ("char", None)]:  # fmt: skip
        given = {"split": "whitespace"} if model == "wordpiece" else {}
        streamed = toksmith.train(path, model=model, vocab_size=size, **given)
        held = toksmith.train(texts=documents, model=model, vocab_size=size, **given)
        assert streamed.pipeline.model.vocab == held.pipeline.model.vocab
        assert streamed.training is not None
        assert streamed.training.documents == 2
        assert streamed.training.bytes == sum(map(len, documents))


class TestKinds:
    def test_the_content_decides_if_the_name_does_not(self, tmp_path: Path) -> None:
        for name in ("a", "a.txt", "a.dat"):
            path = tmp_path / name
            path.write_bytes(gzip.compress(TEXT.encode()))
            assert read(path) == [TEXT]
            path.write_bytes(zstd.compress(TEXT.encode()))
            assert read(path) == [TEXT]
            parquet.write_table(pa.table({"text": DOCUMENTS}), path)
            assert read(path) == DOCUMENTS

    def test_zstd_with_frames_to_be_skipped(self, tmp_path: Path) -> None:
        skipped = bytes([0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0]) + b"size"  # as pzstd writes them
        half = len(TEXT) // 2
        path = tmp_path / "a.txt.zst"
        frames = [zstd.compress(part.encode()) for part in (TEXT[:half], TEXT[half:])]
        path.write_bytes(b"".join(skipped + frame for frame in frames) + skipped)
        assert read(path) == [TEXT]

    def test_read_as(self, tmp_path: Path) -> None:
        path = tmp_path / "c4.json.gz"
        path.write_bytes(gzip.compress(json_lines(DOCUMENTS)))
        assert read(path, read_as="jsonl") == DOCUMENTS
        path = tmp_path / "a.jsonl"
        path.write_bytes(json_lines(DOCUMENTS))
        assert read(path, read_as="text") == [json_lines(DOCUMENTS).decode()]
        with pytest.raises(OptionError, match="read_as is 'xml': use 'text', 'jsonl', 'parquet'"):
            Reading(read_as="xml")

    @pytest.mark.parametrize(
        ("name", "data", "reason"),
        [
            ("a.gz", b"plain", "is no gzip file"),
            ("a.txt.zst", gzip.compress(b"x", mtime=0), "is no zstd file"),
            ("a.parquet", b"plain", "is no Parquet file"),
            ("a.jsonl", b"PAR1", "is Parquet"),
            ("a.txt", b"BZh91AY", "bzip2"),
            ("a.txt", b"\xfd7zXZ\x00\x00", "xz"),
            ("a", b"PK\x03\x04", "zip"),
        ],
    )
    def test_wrong_names(self, tmp_path: Path, name: str, data: bytes, reason: str) -> None:
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FormatError, match=reason):
            read(tmp_path / name)


class TestWithoutPackages:
    @pytest.mark.parametrize(
        ("name", "package", "extra"),
        [("a.txt.zst", "backports.zstd", "corpus"), ("a.parquet", "pyarrow", "arrow")],
    )
    @pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python itself knows zstd")
    def test_the_error_names_the_package_to_install(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str, extra: str
    ) -> None:
        path = tmp_path / name
        path.write_bytes(WRITERS[".zst"](b"x") if "zst" in name else b"PAR1")
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtraError, match=rf"pip install toksmith\[{extra}\]"):
            read(path)

    def test_json_lines_are_the_same(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(json_lines(DOCUMENTS) + b'{"text": "\\ud83d!", "n": NaN}\n')
        quick = read(path)
        monkeypatch.setitem(sys.modules, "orjson", None)
        assert read(path) == quick == [*DOCUMENTS, "\ufffd!"]
        path.write_bytes(b'{"text": "a", "text": "b"}\n{"text": 1}\n')
        with pytest.raises(FormatError, match="line 2 has 1 as its 'text'"):
            read(path)


@POSIX
def test_a_pipe_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(LONG,))
    writer.start()
    tok = toksmith.train(path, vocab_size=256, separator=SEPARATOR)
    writer.join()
    assert tok.training is not None
    assert tok.training.documents == 9
    assert [(s.size, s.sha256) for s in tok.training.sources] == [(len(LONG.encode()), None)]


class TestDamage:
    @pytest.mark.parametrize("packed", [".gz", ".zst"])
    @pytest.mark.parametrize("streamed", [3, 1 << 22])
    def test_truncated_and_broken_streams(self, tmp_path: Path, packed: str, streamed: int) -> None:
        whole = WRITERS[packed](np.random.default_rng(1).bytes(5000).hex().encode())
        path = tmp_path / f"a{packed}"
        for size in (10, 100, len(whole) - 1):
            path.write_bytes(whole[:size])
            with pytest.raises(FormatError, match="ends too early"):
                read(path, streamed)
        for place in (300, len(whole) // 2):
            path.write_bytes(whole[:place] + bytes(50) + whole[place + 50 :])
            with pytest.raises(FormatError, match=r"damaged|too early"):
                read(path, streamed)

    @pytest.mark.parametrize("packed", [".gz", ".zst"])
    def test_several_streams_are_one_text(self, tmp_path: Path, packed: str) -> None:
        path = tmp_path / f"a{packed}"
        pack = WRITERS[packed]
        path.write_bytes(pack(b"one ") + pack(b"") + pack(b"two"))
        assert read(path) == read(path, 1) == ["one two"]
        path.write_bytes(pack(b"one") + b"rubbish")
        with pytest.raises(FormatError, match=r"damaged|too early"):
            read(path)
        if packed == ".gz":
            path.write_bytes(pack(b"one") + bytes(700))
            assert read(path) == ["one"]

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b'{"text": "a"', "line 2 is not JSON: .* at column 13"),
            (b'{"id": 1, "url": "x"}', "line 2 has no field 'text'; its fields are 'id', 'url'"),
            (b'{"text": 5}', "line 2 has 5 as its 'text'; a string is wanted"),
            (b'["a"]', "line 2 holds a JSON list"),
            (b'{"text": "\xff"}', "line 2 is not UTF-8 text"),
            (b"[" * 100_000, "line 2 is not JSON"),
        ],
    )
    @pytest.mark.parametrize("streamed", [5, 1 << 22])
    def test_bad_lines(self, tmp_path: Path, line: bytes, reason: str, streamed: int) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"text": "fine"}\n' + line + b"\n")
        with pytest.raises(FormatError, match=f"a.jsonl: {reason}"):
            read(path, streamed)

    def test_lines_that_only_one_parser_takes(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(
            b'\xef\xbb\xbf{"text": "a", "n": NaN}\r\n\n  \n{"text": "\\ud83d!"}\n{"text": "b"}'
        )
        assert read(path) == read(path, 1) == ["a", "\ufffd!", "b"]

    def test_parquet_without_such_strings(self, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        parquet.write_table(pa.table({"id": [1], "body": ["x"]}), path)
        with pytest.raises(FormatError, match="no column 'text'; its columns are 'id', 'body'"):
            read(path)
        with pytest.raises(FormatError, match="has int64 in column 'id'; strings are wanted"):
            read(path, field="id")
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(FormatError, match="damaged"):
            read(path)


class TestAhead:
    def test_order_and_errors(self) -> None:
        def items() -> Iterator[int]:
            yield from range(10)
            raise zlib.error("at the end")

        found: list[int] = []
        with pytest.raises(zlib.error, match="at the end"):
            found.extend(prefetch(items()))
        assert found == list(range(10))  # those before the error

    def test_closing_ends_the_thread_and_its_iterator(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("toksmith.corpus.prefetch._GRACE", 60)
        closed = []

        def items() -> Iterator[int]:
            try:
                while True:
                    yield 1
            finally:
                closed.append(True)

        running = prefetch(items())
        assert next(running) == 1
        running.close()
        assert closed == [True]

    @pytest.mark.parametrize("readers", [1, 3, 20])
    def test_several_iterators_in_order(self, readers: int) -> None:
        parts = [iter(range(10 * part, 10 * part + 7)) for part in range(8)]
        expected = [item for part in range(8) for item in range(10 * part, 10 * part + 7)]
        assert list(prefetch_in_order(parts, readers)) == expected

    def test_an_error_comes_after_the_items_before_it(self) -> None:
        def failing() -> Iterator[int]:
            yield 3
            raise zlib.error("in the second")

        found: list[int] = []
        with pytest.raises(zlib.error, match="in the second"):
            found.extend(prefetch_in_order([iter([1, 2]), failing(), iter([4])], 3))
        assert found == [1, 2, 3]

    def test_closing_ends_all_threads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("toksmith.corpus.prefetch._GRACE", 60)
        running = prefetch_in_order([repeat(part) for part in range(4)], 3)
        assert next(running) == 0
        running.close()
        assert not [t.name for t in threading.enumerate() if t.name.startswith("toksmith")]


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"ab\ncd\n\nefghij\nk", b"abcdefghijklm", b"a\nbcdefg\n"]
)
def test_blocks_of_whole_lines(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(text)
    for most in range(1, 16):
        found = list(read_whole_lines(path, most))
        assert b"".join(block for block, _ in found) == text
        assert [done for _, done in found] == np.cumsum([len(each) for each, _ in found]).tolist()
        for block, done in found:  # a part of a line fills the block, or is the end of the file
            assert block.endswith(b"\n") or len(block) == most or done == len(text)


@pytest.mark.filterwarnings("ignore:.*documents without a text")
def test_row_groups_on_several_threads(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = [f"word{i} of row {i % 7}" if i % 11 else None for i in range(500)]
    parquet.write_table(pa.table({"id": range(500), "text": texts}), path, row_group_size=9)
    whole = Counts.from_texts(filter(None, texts))
    for threads in (1, 2, 5):
        done: list[int] = []
        found = []
        for block in parquet_blocks(path, Reading(), 100, threads=threads):
            found += [utf8(block.data)[start:end] for start, end in block.bounds.tolist()]
            done.append(block.done)
        assert found == [text.encode() for text in texts if text is not None]
        assert done == sorted(done)
        assert done[-1] == path.stat().st_size
        counts = Counts.from_files(path, threads=threads)
        assert (counts.chunks, counts.counts.tolist()) == (whole.chunks, whole.counts.tolist())


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.jsonl.gz", "a.parquet"])
def test_an_interrupt_ends_all_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / name
    lines = gzip.compress(json_lines(["some words " * 1000] * 50))
    path.write_bytes(lines if "json" in name else gzip.compress(b"some words " * 9000))
    if name == "a.txt":
        path.write_text("some words " * 100)
    if name == "a.parquet":
        parquet.write_table(pa.table({"text": ["words " * 999] * 50}), path, row_group_size=5)
    monkeypatch.setattr(Files.__init__, "__defaults__", (None, None, 5000))
    monkeypatch.setattr("toksmith.corpus.prefetch._GRACE", 60)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ChunkCounter, "add_slices", interrupted)
    monkeypatch.setattr(ChunkCounter, "add_texts", interrupted)
    with pytest.raises(KeyboardInterrupt):
        toksmith.train(path, vocab_size=260, threads=4)
    assert not [t.name for t in threading.enumerate() if t.name.startswith("toksmith")]


class TestNulls:
    def test_documents_left_out_are_reported(self, tmp_path: Path) -> None:
        lines, rows = tmp_path / "a.jsonl", tmp_path / "a.parquet"
        lines.write_bytes(b'{"text": null}\n{"text": "a"}\n{"text": null}\n')
        parquet.write_table(pa.table({"text": ["b", None]}), rows)
        with pytest.warns(UserWarning, match=r"a\.jsonl holds documents without a text") as seen:
            tok = toksmith.train([lines, rows], vocab_size=256)
        assert [each.filename for each in seen] == [__file__]
        assert tok.training is not None
        assert (tok.training.documents, tok.training.skipped) == (2, {"null": 3})


MANY = [f"document {i % 40} of some" for i in range(100)]


def written(path: Path, documents: Sequence[str]) -> Path:
    path.write_bytes(gzip.compress(json_lines(documents)))
    return path


class TestSampling:
    def test_it_depends_on_seed_and_text_alone(self, tmp_path: Path) -> None:
        a, b = written(tmp_path / "a.jsonl.gz", MANY), tmp_path / "b.txt"
        b.write_text("|".join(reversed(MANY)))
        taken = read(a, 3, sample=0.3)
        assert sorted(taken) == sorted(read(b, separator="|", sample=0.3))
        assert 0 < len(set(taken)) < 30
        assert set(taken) != set(read(a, sample=0.3, seed=1))
        assert set(taken) < set(read(a, sample=0.6))

    def test_its_rule(self, tmp_path: Path) -> None:
        def place(text: str) -> float:
            key = (7).to_bytes(8, "little")
            digest = blake2b(text.encode(), digest_size=16, key=key).digest()
            return int.from_bytes(digest[:8], "big") / 2**64

        a = written(tmp_path / "a.jsonl.gz", MANY)
        wanted = [text for text in MANY if place(text) < 0.25]
        assert read(a, sample=0.25, seed=7) == wanted
        tok = toksmith.train(texts=MANY, vocab_size=256, sample=0.25, seed=7)
        assert tok.training is not None
        assert tok.training.documents == len(wanted)
        assert tok.training.skipped == {"not_sampled": 100 - len(wanted)}

    @pytest.mark.parametrize("sample", [0, -1, 1.5, float("nan"), "0.1", True])
    def test_values_that_are_not_a_share(self, sample: object) -> None:
        with pytest.raises(OptionError, match="sample is"):
            Reading(sample=sample)  # type: ignore[arg-type]


class TestDeduplication:
    def test_across_files_and_kinds(self, tmp_path: Path) -> None:
        a, b = written(tmp_path / "a.jsonl.gz", MANY), tmp_path / "b.txt"
        b.write_text("|".join(["new", MANY[3], "new", ""]))
        assert read([a, b], separator="|", deduplicate=True) == [*MANY[:40], "new"]
        tok = toksmith.train([a, b], vocab_size=256, separator="|", deduplicate=True)
        assert tok.training is not None
        assert tok.training.skipped == {"duplicate": 62}
        both = read(a, sample=0.3, deduplicate=True)
        assert both == list(dict.fromkeys(read(a, sample=0.3)))

    def test_long_documents_are_whole(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt.zst"
        path.write_bytes(zstd.compress(b"a b " * 3000 + b"|" + b"a b " * 3000))
        assert len(read(path, 100, separator="|", deduplicate=True)) == 1

    def test_a_set_of_digests_is_a_set(self) -> None:
        rng = np.random.default_rng(3)
        pool = rng.integers(0, 2**64, (4000, 2), np.uint64)
        pool[:, 1] &= ~np.uint64(0xFF0)  # many want the same slot
        digests, seen = DigestSet(), set()
        for size in (1, 10, 3000, 5000, 0):
            batch = pool[rng.integers(0, len(pool), size)]
            wanted = [not (d in seen or seen.add(d)) for d in map(tuple, batch.tolist())]
            assert digests.add(batch).tolist() == wanted


class TestWeights:
    def test_counts_are_multiplied_and_rounded_once(self, tmp_path: Path) -> None:
        for name, text in [("a", "x x x y"), ("b", "z x y y"), ("c", "w z")]:
            (tmp_path / name).write_text(text)
        paths = [tmp_path / name for name in "abc"]
        plain = Counts.from_files(paths, split=r"\w|\W")
        assert dict(plain) == {b"x": 4, b" ": 7, b"y": 3, b"z": 2, b"w": 1}
        reading = Reading(weights={str(tmp_path): 0.5, str(paths[1]): 2.25, str(paths[2]): 0.3})
        counts = count_chunks(Files(paths, reading), splitter(r"\w|\W"), 2, False)
        # x: 1.5 + 2.25 = 3.75, space: 1.5 + 6.75 + 0.3, y: 0.5 + 4.5, z: 2.25 + 0.3, w: 0.3
        assert list(counts) == [(b"x", 4), (b" ", 9), (b"y", 5), (b"z", 3)]

    @pytest.mark.parametrize("model", ["bpe", "sentencepiece-bpe", "wordpiece", "word"])
    def test_a_weight_of_two_is_the_file_twice(self, tmp_path: Path, model: str) -> None:
        a, b = tmp_path / "a.txt", written(tmp_path / "b.jsonl.gz", MANY)
        a.write_text("low lower lowest newest wide wider\nlow low documents")
        given = {"split": None} if model == "wordpiece" else {}
        size = {"bpe": 270, "wordpiece": 60}.get(model, 40)
        heavy = toksmith.train([b, a], model=model, vocab_size=size, weights={a: 2}, **given)
        twice = toksmith.train([b, a, a], model=model, vocab_size=size, **given)
        assert heavy.pipeline.model.vocab == twice.pipeline.model.vocab
        assert heavy.training is not None
        assert twice.training is not None
        assert heavy.training.bytes == twice.training.bytes
        assert np.array_equal(heavy.training.counts, twice.training.counts)

    def test_values_that_are_not_a_weight(self, tmp_path: Path) -> None:
        a = written(tmp_path / "a.jsonl.gz", MANY)
        b = written(tmp_path / "b.jsonl.gz", MANY)
        for weight in (0, -1, 1e-9, 1e9, "2", float("nan"), float("inf")):
            with pytest.raises(OptionError, match="the weight of"):
                toksmith.train(a, vocab_size=256, weights={a: weight})
        with pytest.raises(OptionError, match="is that of no file of the corpus"):
            toksmith.train(a, vocab_size=256, weights={b: 2})
        with pytest.raises(OptionError, match="weights= is for files"):
            toksmith.train(texts=["a"], vocab_size=256, weights={a: 2})
        with pytest.raises(OptionError, match="weights= does not apply to input_sentence_size"):
            toksmith.train(
                a, model="sentencepiece-bpe", vocab_size=40, weights={a: 2}, input_sentence_size=9
            )
        with pytest.raises(OptionError, match="weights is"):
            Reading(weights=[2])  # type: ignore[arg-type]


@pytest.mark.parametrize("memory", [None, "80M"])
def test_counts_are_read_as_training_reads(tmp_path: Path, memory: str | None) -> None:
    a, b = tmp_path / "a.txt", written(tmp_path / "b.jsonl.gz", MANY)
    a.write_text("|".join(["low lower", "lowest", "low lower", *MANY[:9]]))
    reading = {"separator": "|", "weights": {b: 1.75}, "sample": 0.8, "deduplicate": True}
    counts = Counts.from_files([a, b], memory=memory, **reading)
    tok = toksmith.train([a, b], vocab_size=290, **reading)
    again = toksmith.train(counts=counts, vocab_size=290)
    assert again.pipeline == tok.pipeline
    assert tok.training is not None
    assert counts.documents == tok.training.documents
    texts = [*a.read_text().split("|"), *MANY]
    chosen = Counts.from_texts(texts, sample=0.8, deduplicate=True)
    del reading["weights"]
    assert dict(chosen) == dict(Counts.from_files([a, b], **reading))


def test_the_size_of_texts_is_in_bytes() -> None:
    texts = ["né", b"\xc3\xa9", "한", "\ud83d", "a"]
    tok = toksmith.train(texts=texts, vocab_size=256)
    assert tok.training is not None
    assert tok.training.bytes == 3 + 2 + 3 + 3 + 1
    assert tok.training.tokens == tok.training.bytes
    assert toksmith.Counts.from_texts(texts).bytes == 12


class Truncating(Collector):
    """A counter during whose work somebody cuts the file short."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def add_slices(self, text: Text, bounds: Any) -> None:
        os.truncate(self._path, 0)
        super().add_slices(text, bounds)

    def cut(self, text: Text, start: int, end: int) -> int:
        place = bytes(text[start:end]).find(b" ")  # type: ignore[arg-type]
        return end if place < 0 else start + place


@pytest.mark.parametrize("size", [READ // 2, READ + READ // 2])
def test_a_file_that_is_cut_short_while_it_is_counted(tmp_path: Path, size: int) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(b"low lower " * (size // 10))
    counter = Truncating(path)
    Files(path).feed(counter, no_report)
    text = b"".join(counter.documents)
    assert text.startswith(b"low lower low lower ")
    assert len(text) >= READ // 2 - 20
    assert path.stat().st_size == 0


def test_a_file_that_is_cut_short_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(b"low lower ")
    with open_mapped(path) as data:
        os.truncate(path, 0)
        assert bytes(data) == b"low lower "


def test_files_are_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "BLOCK", 4)
    path = tmp_path / "log.txt"
    path.write_bytes(b"low lower ")
    with open_mapped(path) as data:
        assert data == b"low lower "
    tok = toksmith.train(texts=["low"], vocab_size=256)
    assert tok.encode_file(path).ids.tolist() == list(b"low lower ")


def test_large_files_are_read_into_large_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "LARGE", 10)
    monkeypatch.setattr(documents, "BLOCK", 4)
    path = tmp_path / "log.txt"
    path.write_bytes(b"low lower ")
    tok = toksmith.train(texts=["low"], vocab_size=256)
    assert tok.encode_file(path).ids.tolist() == list(b"low lower ")
    with open_mapped(path) as data:
        assert isinstance(data, mmap)
        os.truncate(path, 0)
        assert bytes(data) == b"low lower "

    class Shrinking(io.BytesIO):
        def readinto(self, buffer: Any) -> int:
            self.truncate(7)
            return super().readinto(buffer)

    assert documents._read_large(Shrinking(b"low lower "), 10) == b"low low"


@POSIX
def test_files_that_memory_holds_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "memory.max"
    monkeypatch.setattr(documents, "_GROUP_MEMORY", group)
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1 << 22}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    assert documents.most_read() == 1 << 33
    group.write_text("max\n")
    assert documents.most_read() == 1 << 33
    group.write_text(f"{1 << 33}\n")
    assert documents.most_read() == 1 << 32
    pages["SC_PHYS_PAGES"] = 1000
    assert documents.most_read() == 1 << 30
    monkeypatch.delattr(os, "sysconf")  # on Windows
    assert documents.most_read() == 1 << 30


def test_very_large_files_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "most_read", lambda: 9)
    path = tmp_path / "log.txt"
    path.write_bytes(b"low lower ")
    with open_mapped(path) as data:
        assert isinstance(data, mmap)
        assert bytes(data) == b"low lower "
    tok = toksmith.train(texts=["low"], vocab_size=256)
    assert tok.encode_file(path).ids.tolist() == list(b"low lower ")


def test_without_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "low lower"}\n', encoding="utf-8")
    wanted = toksmith.train(path, vocab_size=258)

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    tok = toksmith.train(path, vocab_size=258)
    assert tok.training is not None
    assert wanted.training is not None
    assert tok.training.sources == wanted.training.sources
    assert tok.encode("low") == wanted.encode("low")


def test_a_folder_that_cannot_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.txt").write_text("low")
    scandir = os.scandir

    def refuse(path: Any) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(OptionError, match="closed': Permission denied"):
        expand(tmp_path)


@pytest.mark.parametrize("call", [toksmith.train, toksmith.Counts.from_files, toksmith.advise])
def test_a_mapping_is_no_list_of_files(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("low low")
    with pytest.raises(OptionError, match="files is a mapping: use a list of paths, or texts="):
        call({str(path): "zzz"})
