"""Files that are not UTF-8 text, and the columns of CSV and TSV."""

from __future__ import annotations

import csv
import gzip
import io
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import toksmith
from tests.unit.test_corpus import Collector, no_report, zstd
from toksmith import _kernel
from toksmith.corpus import Files, Reading
from toksmith.corpus.checking import check_slices, check_stream, text_stream
from toksmith.errors import FormatError, OptionError

TOK = toksmith.train(texts="low", vocab_size=256)
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

PIECES = st.lists(
    st.sampled_from(
        [
            *(each.encode() for each in ("a", " the" * 9, "x" * 300, "é", "中", "👋", "\0")),
            *(b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"),
            *(b"\xf0\x8f\xbf\xbf", b"\xe0\x9f\xbf", b"\xf0\x9f", b"\xc1\xbf", b"\xf5\x80\x80\x80"),
        ]
    ),
    max_size=30,
)  # fmt: skip


def python_says(data: bytes) -> int:
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        return wrong.start
    return len(data)


def documents(path: Path, **options: object) -> list[bytes]:
    counter = Collector()
    Files(path, Reading(**options)).feed(counter, no_report)  # type: ignore[arg-type]
    return counter.documents


class TestFirstInvalid:
    @given(PIECES, st.sampled_from(["scalar", ""]))
    def test_it_is_where_python_stops(self, pieces: list[bytes], level: str) -> None:
        data = b"".join(pieces)
        assert _kernel.first_invalid(data, 0, len(data), level) == python_says(data)

    @pytest.mark.parametrize("level", ["scalar", ""])
    @pytest.mark.parametrize("place", [0, 1, 2, 3, 31, 32, 255, 256, 257, 258, 259, 700, 1023])
    @pytest.mark.parametrize("around", ["a", "é", "中", "👋"])
    def test_a_bad_byte_anywhere(self, level: str, place: int, around: str) -> None:
        before = (around * 1024).encode()[: place // 4 * 4].decode(errors="ignore").encode()
        data = before + b"\xff" + around.encode() * 400
        assert _kernel.first_invalid(data, 0, len(data), level) == len(before)

    def test_a_range(self) -> None:
        data = b"\xffab\xff"
        assert _kernel.first_invalid(data, 1, 3, "") == 3
        assert _kernel.first_invalid(data, 1, 4, "") == 3
        with pytest.raises(ValueError, match="inside the text"):
            _kernel.first_invalid(data, 1, 5, "")


class TestChecking:
    @given(PIECES, st.integers(1, 9))
    def test_a_stream_is_checked_as_a_whole(self, pieces: list[bytes], size: int) -> None:
        data = b"".join(pieces)
        parts = [(data[i : i + size], i) for i in range(0, len(data), size)]
        found = [part for part, _ in check_stream(Path("x"), iter(parts), "replace")]
        assert b"".join(found) == data.decode(errors="replace").encode()
        for part in found:
            part.decode()
        place = python_says(data)
        stream = check_stream(Path("x"), iter(parts), "strict")
        if place == len(data):
            assert b"".join(part for part, _ in stream) == data
        else:
            with pytest.raises(FormatError) as wrong:
                list(stream)
            expected = f"byte 0x{data[place]:02X} at offset {place:,} is part of no character"
            assert expected in str(wrong.value)

    def test_slices_that_are_replaced(self) -> None:
        bounds = np.array([[0, 3], [4, 4], [5, 8]])
        data, found = check_slices(Path("x"), b"ab\xff|||c\xc3", bounds, "replace")
        with memoryview(data) as view:  # type: ignore[arg-type]
            assert [bytes(view[a:b]).decode() for a, b in found.tolist()] == ["ab�", "", "|c�"]


class TestFilesThatAreNotText:
    @pytest.mark.parametrize("packed", [None, "gz", "zst"])
    def test_are_refused_with_the_offset_of_the_first_bad_byte(
        self, tmp_path: Path, packed: str | None
    ) -> None:
        data = "wörld ".encode() * 1_000 + b"caf\xe9 au lait"  # Latin-1
        path = tmp_path / "a.txt"
        if packed:
            path = path.with_suffix(f".txt.{packed}")
            data = (gzip if packed == "gz" else zstd).compress(data)
        path.write_bytes(data)
        with pytest.raises(FormatError, match="byte 0xE9 at offset 7,003 is part of no character"):
            toksmith.train(path, vocab_size=260)
        tok = toksmith.train(path, vocab_size=260, encoding_errors="replace")
        assert tok.training is not None
        assert tok.training.bytes == 7_000 + len("caf� au lait".encode())

    def test_a_picture(self, tmp_path: Path) -> None:
        path = tmp_path / "picture.png"
        path.write_bytes(PNG)
        for call in (
            lambda: toksmith.train(path, vocab_size=260),
            lambda: toksmith.Counts.from_files(path),
            lambda: toksmith.advise(path, max_vocab=300),
            lambda: documents(path),
        ):
            with pytest.raises(FormatError, match=r"picture.png: is not UTF-8.* 0x89 at offset 0 "):
                call()

    def test_compare_and_audit(self, tmp_path: Path) -> None:
        tok = toksmith.train(texts=["low lower"], vocab_size=258)
        path = tmp_path / "a.txt"
        path.write_bytes(b"low \xff")
        with pytest.raises(FormatError, match="0xFF at offset 4 "):
            toksmith.compare({"tok": tok}, files=path)
        with pytest.raises(FormatError, match="0xFF at offset 4 "):
            toksmith.audit(tok, files=path)
        found = toksmith.compare({"tok": tok}, files=path, encoding_errors="replace", speed=False)
        assert found["tok", "a.txt"].tokens == tok.count("low �")
        toksmith.audit(tok, files=path, encoding_errors="replace")

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    def test_other_encodings_by_their_mark(self, tmp_path: Path, encoding: str) -> None:
        (tmp_path / "a.txt").write_bytes("\ufefflow lower".encode(encoding))
        name = encoding[:6].upper()
        with pytest.raises(FormatError, match=f"is {name} text, .* iconv -f {name} -t UTF-8"):
            documents(tmp_path / "a.txt")

    def test_documents_are_replaced_one_by_one(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_bytes(b"a\xff|\xe2\x82|b")
        found = documents(tmp_path / "a.txt", separator="|", encoding_errors="replace")
        assert [each.decode() for each in found] == ["a�", "�", "b"]

    def test_json_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"text": "a"}\n{"text": "caf\xe9"}\n')
        with pytest.raises(FormatError, match=r"line 2 is not UTF-8 text \(byte 0xE9\)"):
            documents(path)
        found = documents(path, encoding_errors="replace")
        assert [each.decode() for each in found] == ["a", "caf�"]

    def test_parquet(self, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        column = pa.array([b"a", b"caf\xe9", None, b"b"], pa.binary())
        parquet.write_table(pa.table({"text": column}), path)
        with pytest.raises(FormatError, match="bytes in column 'text' that are not UTF-8"):
            documents(path)
        with pytest.warns(UserWarning, match="null"):
            found = documents(path, encoding_errors="replace")
        assert [each.decode() for each in found] == ["a", "caf�", "b"]

    def test_null_bytes_are_characters(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_bytes(b"a\0b")
        assert documents(tmp_path / "a.txt") == [b"a\0b"]

    def test_the_option(self) -> None:
        with pytest.raises(OptionError, match="encoding_errors is 'ignore': use 'strict' or"):
            Reading(encoding_errors="ignore")
        with pytest.raises(OptionError, match="encoding_errors= is for files"):
            toksmith.train(texts=["a"], vocab_size=257, encoding_errors="replace")


ROWS = ["low lower", 'a "quoted" word', "two\nlines, a comma", "", "新しい\t道", "x" * 200_000]


class TestTables:
    @pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
    @pytest.mark.parametrize("kind", ["csv", "tsv"])
    @pytest.mark.parametrize("ending", ["\r\n", "\n"])
    def test_a_column_is_read(self, tmp_path: Path, kind: str, packed: str, ending: str) -> None:
        text = io.StringIO(newline="")
        delimiter = "," if kind == "csv" else "\t"
        writer = csv.writer(text, delimiter=delimiter, lineterminator=ending)
        writer.writerow(["id", "text", "note"])
        for number, row in enumerate(ROWS):
            writer.writerow([number, row, f"note {number}"])
        data = b"\xef\xbb\xbf" + text.getvalue().encode()
        path = tmp_path / f"table.{kind}{packed}"
        path.write_bytes({"": bytes, ".gz": gzip.compress, ".zst": zstd.compress}[packed](data))
        assert documents(path) == [row.encode() for row in ROWS]
        assert documents(path, field="note")[2:4] == [b"note 2", b"note 3"]
        assert documents(path, field="id", read_as=kind)[0] == b"0"

    @pytest.mark.parametrize("streamed", [1, 7, 1 << 20])
    def test_blocks_change_nothing(self, tmp_path: Path, streamed: int) -> None:
        path = tmp_path / "table.csv"
        path.write_text('text,n\n"é\n",1\n中👋,2\n\n"""",3', encoding="utf-8")
        counter = Collector()
        Files(path, Reading(), streamed=streamed).feed(counter, no_report)
        assert [each.decode() for each in counter.documents] == ["é\n", "中👋", '"']

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"a,b\n1,2\n", r"has no column 'text'; its first row names 'a', 'b'\..* field="),
            (b"", "has no column 'text'; its first row names none"),
            (b"a,text\n1,x\n2\n", "line 3 has 1 of the 2 fields that the"),
            (b'text\n"open\n', "line 2 is wrong: unexpected end of data"),
            (b"text\ncaf\xe9\n", "byte 0xE9 at offset 8 "),
        ],
    )
    def test_errors_name_the_cause(self, tmp_path: Path, data: bytes, reason: str) -> None:
        (tmp_path / "t.csv").write_bytes(data)
        with pytest.raises(FormatError, match=reason):
            documents(tmp_path / "t.csv")

    def test_other_bytes_are_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_bytes(b"text\ncaf\xe9\n")
        (found,) = documents(tmp_path / "t.csv", encoding_errors="replace")
        assert found.decode() == "caf�"

    def test_a_table_is_trained_on_and_compared(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text("id,body\n1,low lower lowest\n2,new newer\n", encoding="utf-8")
        tok = toksmith.train(path, vocab_size=260, field="body")
        texts = ["low lower lowest", "new newer"]
        assert tok.merges == toksmith.train(texts=texts, vocab_size=260).merges
        assert tok.training is not None
        assert tok.training.documents == 2
        found = toksmith.compare({"tok": tok}, files=path, field="body", speed=False)
        assert found["tok", "t.csv"].tokens == sum(map(tok.count, texts))

    def test_read_as_text_takes_all_of_it(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_bytes(b"a,b\n")
        assert documents(tmp_path / "t.csv", read_as="text") == [b"a,b\n"]


class TestStartOfAFile:
    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    @pytest.mark.parametrize("separator", [None, "|"])
    def test_a_byte_order_mark_is_no_text(
        self, tmp_path: Path, pack: Any, separator: str | None
    ) -> None:
        path = tmp_path / "a.txt"
        text = "low|\ufefflowest"
        path.write_bytes(pack(b"\xef\xbb\xbf" + text.encode()))
        wanted = text.encode().split(b"|") if separator else [text.encode()]
        assert documents(path, separator=separator) == wanted
        batch = TOK.encode_file(path, separator=separator, read_as="text")
        assert [TOK.decode_bytes(ids) for ids in batch] == wanted
        path.write_bytes(pack(b"\xef\xbb\xbf"))
        assert documents(path) == [b""]

    def test_it_is_found_in_a_stream_cut_anywhere(self) -> None:
        data = b"\xef\xbb\xbflow"
        parts = iter([(data[i : i + 1], i + 1) for i in range(len(data))])
        found = list(text_stream(Path("a.txt"), parts))
        assert b"".join(part for part, _ in found) == b"low"
        assert found[-1][1] == 6

    def test_places_of_invalid_bytes_count_the_mark(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_bytes(b"\xef\xbb\xbflow \xff")
        with pytest.raises(FormatError, match="byte 0xFF at offset 7 "):
            documents(path)

    @pytest.mark.parametrize("errors", ["strict", "replace"])
    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    @pytest.mark.parametrize(
        ("codec", "name"),
        [
            ("utf-16-le", "UTF-16LE"),
            ("utf-16-be", "UTF-16BE"),
            ("utf-32-le", "UTF-32LE"),
            ("utf-32-be", "UTF-32BE"),
        ],
    )
    def test_utf_16_without_a_mark(
        self, tmp_path: Path, codec: str, name: str, pack: Any, errors: str
    ) -> None:
        path = tmp_path / "a.txt"
        path.write_bytes(pack(("hello world. " * 500).encode(codec)))
        with pytest.raises(FormatError, match=f"most likely {name} text: .*iconv -f {name} -t"):
            documents(path, encoding_errors=errors)

    def test_a_file_of_null_bytes(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_bytes(bytes(5000))
        with pytest.raises(
            FormatError, match="4,096 null bytes in its first 4,096 bytes; this is no text"
        ):
            documents(path)

    def test_a_few_null_bytes_are_text(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_bytes(b"a record of some length\0" * 100)
        assert documents(path) == [path.read_bytes()]


class TestFieldsOfText:
    def test_text_has_none(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_text("low")
        with pytest.raises(OptionError, match=r"field is 'body', and .*a\.txt is read as text"):
            documents(path, field="body")
        with pytest.raises(OptionError, match=r"field is 'body', and .*a\.txt is read as text"):
            TOK.encode_file(path, field="body")

    def test_text_files_together_with_files_that_have_fields(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("low")
        (tmp_path / "b.jsonl").write_text('{"body": "lower"}\n')
        assert documents(tmp_path, field="body") == [b"low", b"lower"]
        parts = Files(tmp_path, Reading(field="body")).split(1)
        counter = Collector()
        assert [part.feed(counter, no_report) for part in parts] == [1, 1]
        assert counter.documents == [b"low", b"lower"]

    def test_of_all_files_of_a_call(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("low")
        (tmp_path / "b.txt").write_text("lower")
        for read in (partial(toksmith.compare, [TOK]), partial(toksmith.audit, TOK)):
            with pytest.raises(OptionError, match=r"field is 'body', and .*a\.txt is read as text"):
                read(files=tmp_path, field="body")
        (tmp_path / "c.jsonl").write_text('{"body": "lowest"}\n')
        found = toksmith.compare([TOK], files=tmp_path, field="body", speed=False)
        assert [about.bytes for about in found.texts] == [3, 5, 6]
        assert toksmith.audit(TOK, files=tmp_path, field="body").of("unused") is not None

    def test_a_name_that_does_not_tell(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_text('{"body": "lower"}\n')
        assert documents(path, field="body", read_as="jsonl") == [b"lower"]
