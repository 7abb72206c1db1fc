"""Corpora by URL: the files of fsspec's file systems are read as local ones are."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow import parquet

import toksmith
from toksmith.corpus import Reading, expand
from toksmith.corpus.pieces import fingerprint, pieces, read_piece
from toksmith.corpus.remote import RemoteFile, as_file, expand_url
from toksmith.errors import FormatError, MissingExtraError, OptionError

TEXTS = [f"text {i} é" for i in range(40)]
LINES = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()


@pytest.fixture
def memory() -> Iterator[MemoryFileSystem]:
    system = MemoryFileSystem()
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def read(url: str, reading: Reading, size: int = 1 << 28) -> list[str]:
    """Return the documents of all pieces."""
    return [
        bytes(memoryview(block.data)[start:end]).decode()  # type: ignore[arg-type]
        for piece in pieces(url, reading, size)
        for block in read_piece(piece, reading)
        for start, end in block.bounds.tolist()
    ]


class TestReading:
    @pytest.mark.parametrize("size", [100, 1 << 28])
    @pytest.mark.parametrize(
        "name", ["a.jsonl", "a.jsonl.gz", "a.txt", "a.txt.gz", "a.csv", "a.parquet"]
    )
    def test_all_kinds_of_files(self, memory: MemoryFileSystem, name: str, size: int) -> None:
        data = {"a.jsonl": LINES, "a.txt": "|".join(TEXTS).encode()}.get(
            name.removesuffix(".gz"), ("text\n" + "\n".join(TEXTS)).encode()
        )
        if name == "a.parquet":
            with memory.open(f"/corpus/{name}", "wb") as file:
                parquet.write_table(pa.table({"text": TEXTS}), file, row_group_size=7)
        else:
            memory.pipe(f"/corpus/{name}", gzip.compress(data) if name.endswith("gz") else data)
        assert read(f"memory://corpus/{name}", Reading(separator="|"), size) == TEXTS

    def test_patterns_and_folders(self, memory: MemoryFileSystem) -> None:
        for name in ("b/c.jsonl", "a.jsonl", "a.txt", "[1].jsonl"):
            memory.pipe(f"/corpus/{name}", b"a")
        names = [str(file).rpartition("corpus/")[2] for file in expand("memory://corpus")]
        assert names == ["[1].jsonl", "a.jsonl", "a.txt", "b/c.jsonl"]
        (found,) = expand("memory://corpus/a.j*")
        assert found.stat().st_size == 1
        assert expand("memory://corpus/[1].jsonl") == [RemoteFile("memory://corpus/[1].jsonl")]
        assert expand(found) == [found]
        with pytest.raises(FormatError, match="the pattern matches no file"):
            expand("memory://corpus/*.parquet")

    def test_files_by_url(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_text("a")
        assert expand(f"file://{path}") == [path]
        assert as_file(f"file://{path}") == path

    def test_training_and_encoding(self, memory: MemoryFileSystem, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(LINES)
        memory.pipe("/corpus/a.jsonl", LINES)
        memory.pipe("/corpus/a.txt", LINES)
        url = "memory://corpus/a.jsonl"
        tok = toksmith.train(url, vocab_size=270)
        assert tok == toksmith.train(path, vocab_size=270)
        (source,) = tok.training.sources  # type: ignore[union-attr]
        assert (source.path, source.sha256) == (url, None)
        assert tok.encode_file(url).ids.tolist() == tok.encode_file(path).ids.tolist()
        plain = tok.encode_file("memory://corpus/a.txt")
        assert plain.ids.tolist() == tok.encode(LINES.decode())

    def test_damage_has_its_line(self, memory: MemoryFileSystem) -> None:
        memory.pipe("/corpus/a.jsonl", LINES + b"{\n")
        with pytest.raises(FormatError, match=r"^memory://corpus/a.jsonl: line 41 is not JSON"):
            read("memory://corpus/a.jsonl", Reading(), 100)

    def test_fingerprints(self, memory: MemoryFileSystem) -> None:
        file = RemoteFile("memory://corpus/a.txt")
        memory.pipe("/corpus/a.txt", b"abc")
        before = fingerprint(file)
        assert fingerprint(file) == before
        memory.pipe("/corpus/a.txt", b"abd")
        assert fingerprint(file) != before

    def test_fingerprints_of_the_storage(
        self, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        info = {"size": 3, "ETag": '"12"'}
        monkeypatch.setattr(MemoryFileSystem, "info", lambda *_: info)
        assert fingerprint(RemoteFile("memory://corpus/a.txt")) == '3-"12"'

    def test_few_bytes_are_requested(
        self, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory.pipe("/corpus/a.jsonl", LINES * 10_000)
        requests = []
        cat = MemoryFileSystem.cat_file

        def spying(self: Any, path: str, start: int, end: int) -> bytes:
            requests.append(end - start)
            data: bytes = cat(self, path, start, end)
            return data

        monkeypatch.setattr(MemoryFileSystem, "cat_file", spying)
        (piece, *_) = pieces("memory://corpus/a.jsonl", Reading(), 100_000)
        assert requests == [16]
        blocks = list(read_piece(piece, Reading()))
        assert sum(block.documents for block in blocks) > 3_000
        assert max(requests) <= 1 << 22

    def test_nothing_of_it_is_imported_for_local_files(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(LINES)
        code = (
            "import sys, toksmith\n"
            f"toksmith.train({str(path)!r}, vocab_size=260)\n"
            "print('fsspec' in sys.modules)"
        )
        ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        assert ran.stdout.strip() == b"False"


class TestErrors:
    @pytest.mark.parametrize("name", ["missing/a.txt", "missing"])
    def test_missing_files(self, memory: MemoryFileSystem, name: str) -> None:
        with pytest.raises(FormatError, match="no such file, folder or bucket"):
            pieces(f"memory://{name}", Reading())

    def test_a_file_that_is_deleted(self, memory: MemoryFileSystem) -> None:
        memory.pipe("/corpus/a.jsonl", LINES)
        (piece,) = pieces("memory://corpus/a.jsonl", Reading())
        memory.rm("/corpus/a.jsonl")
        with pytest.raises(FormatError, match="cannot be read"):
            list(read_piece(piece, Reading()))

    def test_a_storage_that_fails_while_training(
        self, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory.pipe("/corpus/a.txt", LINES)
        info = MemoryFileSystem.info
        calls = iter(range(100))

        def failing(self: Any, path: str) -> Any:
            if next(calls) > 2:
                raise RuntimeError("no answer")
            return info(self, path)

        monkeypatch.setattr(MemoryFileSystem, "info", failing)
        with pytest.raises(FormatError, match="cannot be read: RuntimeError: no answer"):
            toksmith.train("memory://corpus/a.txt", vocab_size=270)

    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (PermissionError("Forbidden"), r"permission denied \(Forbidden\); check the cred"),
            (RuntimeError("no answer"), "cannot be read: RuntimeError: no answer"),
            (None, "1,000 of .* bytes came from offset .*: the connection broke"),
        ],
    )
    @pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.jsonl.gz"])
    def test_reading_that_fails_midway(
        self,
        memory: MemoryFileSystem,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        error: Exception | None,
        message: str,
    ) -> None:
        if name == "a.parquet":
            with memory.open(f"/corpus/{name}", "wb") as file:
                parquet.write_table(pa.table({"text": TEXTS * 1000}), file, use_dictionary=False)
        else:
            data = LINES * 3000
            packed = gzip.compress(data, 0) if name.endswith("gz") else data
            memory.pipe(f"/corpus/{name}", packed)
        (piece,) = pieces(f"memory://corpus/{name}", Reading())
        cat = MemoryFileSystem.cat_file
        reads = iter(range(100))

        def failing(self: Any, path: str, start: int, end: int) -> bytes:
            data: bytes = cat(self, path, start, end)
            if next(reads) < 1 or end - start < 1001:
                return data
            if error is not None:
                raise error
            return data[:1000]

        monkeypatch.setattr(MemoryFileSystem, "cat_file", failing)
        with pytest.raises(FormatError, match=message):
            list(read_piece(piece, Reading()))

    def test_an_unknown_scheme(self) -> None:
        with pytest.raises(OptionError, match=r"'nix://a/b'.*: Protocol not known: nix"):
            pieces("nix://a/b", Reading())

    def test_a_missing_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "gcsfs", None)
        with pytest.raises(MissingExtraError, match=r"gs:// needs the package gcsfs: pip install"):
            pieces("gs://bucket/a.txt", Reading())

    def test_without_fsspec(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "fsspec", None)
        with pytest.raises(MissingExtraError, match=r"pip install toksmith\[remote\]"):
            pieces("s3://bucket/a.txt", Reading())

    def test_chained_urls_of_several_files(self, memory: MemoryFileSystem, tmp_path: Path) -> None:
        memory.pipe("/corpus/a.jsonl", LINES)
        url = "filecache::memory://corpus/a.jsonl"
        options = {"filecache": {"cache_storage": str(tmp_path)}}
        fsspec.config.conf.update(options)
        try:
            assert read(url, Reading()) == TEXTS
            with pytest.raises(OptionError, match="must name one file"):
                expand_url("filecache::memory://corpus/*")
        finally:
            del fsspec.config.conf["filecache"]
