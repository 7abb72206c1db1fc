"""Columns of lists: ids to decode, words to encode, and model inputs as a table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.unit.test_columns import arrow, pandas, polars
from toksmith.engine.list_columns import words_of
from toksmith.errors import OptionError, UnknownTokenError
from toksmith.tokenizer import decode

TEXTS = ["low lower", "", "né ☃ 😀"]


@pytest.fixture(scope="module")
def tok() -> toksmith.Tokenizer:
    return toksmith.get("toksmith-small")


def pandas_of(values: list[Any], kind: object) -> object:
    pd = pytest.importorskip("pandas")
    return pd.Series(values, dtype=pd.ArrowDtype(kind))


IDS = [[108, 111, 119], [], [33], [195, 169]]
LISTS: dict[str, Callable[[], object]] = {
    "list<int32>": arrow(lambda pa: pa.array(IDS, pa.list_(pa.int32()))),
    "list<uint32>": arrow(lambda pa: pa.array(IDS, pa.list_(pa.uint32()))),
    "list<int64>": arrow(lambda pa: pa.array(IDS)),
    "list<uint8>": arrow(lambda pa: pa.array(IDS, pa.list_(pa.uint8()))),
    "large_list<int32>": arrow(lambda pa: pa.array(IDS, pa.large_list(pa.int32()))),
    "list_view": arrow(lambda pa: pa.array(IDS, pa.list_view(pa.int32()))),
    "slice": arrow(lambda pa: pa.array([[1], *IDS, [2]], pa.list_(pa.int32()))[1:-1]),
    "slice without a null": arrow(lambda pa: pa.array([None, *IDS, [None]])[1:-1]),
    "large slice": arrow(lambda pa: pa.array([[1, 2], *IDS], pa.large_list(pa.uint32()))[1:]),
    "chunks": arrow(lambda pa: pa.chunked_array([IDS[:1], [], IDS[1:]], pa.list_(pa.uint16()))),
    "column": arrow(lambda pa: pa.table({"ids": IDS})["ids"]),
    "batch": lambda: toksmith.train(texts=["x"], vocab_size=256).encode_batch(
        ["low", "", "!", "é"]
    ),
    "pandas": pandas(lambda pd: pd.Series(IDS)),
    "pandas lists": arrow(lambda pa: pandas_of(IDS, pa.list_(pa.int32()))),
    "polars": polars(lambda pl: pl.Series(IDS)),
    "polars slice": polars(lambda pl: pl.Series([[1], *IDS, [2]], dtype=pl.List(pl.UInt32))[1:-1]),
}


@pytest.mark.parametrize("name", LISTS)
def test_columns_of_ids_decode(tok: toksmith.Tokenizer, name: str) -> None:
    column: Any = LISTS[name]()
    assert tok.decode_batch(column) == ["low", "", "!", "é"]
    assert tok.decode_bytes_batch(column) == [b"low", b"", b"!", "é".encode()]


def test_arrays_of_ids_decode(tok: toksmith.Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = pa.array([[108, 111], [119, 33], [195, 169]], pa.list_(pa.int16(), 2))
    assert tok.decode_batch(rows) == ["lo", "w!", "é"]
    assert tok.decode_batch(rows[1:]) == ["w!", "é"]
    for empty in (
        pa.array([]),
        pa.array([], pa.list_(pa.int32())),
        pa.chunked_array([], pa.null()),
    ):
        assert tok.decode_batch(empty) == []
    assert tok.decode_batch(pa.array([[], []])) == ["", ""]
    assert tok.decode_batch(np.array([[108, 111], [119, 33]], np.int32)) == ["lo", "w!"]  # type: ignore[arg-type]


WRONG_LISTS: dict[str, tuple[Callable[[Any], object], str]] = {
    "null": (lambda pa: pa.array([[1], None]), r"batch\[1\] is null: each must be a list of ids"),
    "null in a chunk": (lambda pa: pa.chunked_array([[[1]], [[2], None]]), r"batch\[2\] is null"),
    "nulls": (lambda pa: pa.array([None]), r"batch\[0\] is null"),
    "null id": (lambda pa: pa.array([[1], [], [2, None]]), r"batch\[2\]\[1\] is null: .* an id"),
    "null id of a slice": (lambda pa: pa.array([[1, 2], [3], [None]])[1:], r"batch\[1\]\[0\] is"),
    "null ids": (lambda pa: pa.array([[], [None]]), r"batch\[1\]\[0\] is null"),
    "ids": (lambda pa: pa.array([1, 2]), r"batch is a column of int64 .*: each row must be a list"),
    "texts": (lambda pa: pa.array([["a"]]), "batch is a column of lists of string"),
    "floats": (lambda pa: pa.array([[1.5]]), "batch is a column of lists of double"),
}


@pytest.mark.parametrize("name", WRONG_LISTS)
def test_wrong_columns_of_ids_are_named(tok: toksmith.Tokenizer, name: str) -> None:
    make, message = WRONG_LISTS[name]
    column: Any = make(pytest.importorskip("pyarrow"))
    with pytest.raises(OptionError, match=message):
        tok.decode_batch(column)
    with pytest.raises(OptionError, match=message):
        tok.decode_bytes_batch(column)


def test_unknown_ids_of_a_column_are_named(tok: toksmith.Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.int32(), pa.int64()):
        with pytest.raises(UnknownTokenError, match="id -7 at position 2"):
            tok.decode_batch(pa.array([[1], [2, -7]], pa.list_(kind)))
    with pytest.raises(OptionError, match=r"ids\[1\] is null"):
        tok.decode(pa.array([1, None]))


def test_rows_of_a_column_decode(tok: toksmith.Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.array([*IDS, None], pa.list_(pa.int32()))
    assert [tok.decode(row) for row in column[:4]] == ["low", "", "!", "é"]
    assert tok.decode_batch(list(column[:4])) == ["low", "", "!", "é"]
    with pytest.raises(OptionError, match="ids is null"):
        tok.decode(column[4])


def test_ids_are_decoded_where_they_are() -> None:
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.uint32(), pa.int32()):
        array = pa.array([[7], [8, 9], []], pa.large_list(kind))[1:]
        batch = decode._batch_of("decode_batch", array)
        assert batch.ids.ctypes.data == array.values.buffers()[1].address + 4
        assert batch == [[8, 9], []]


def test_columns_of_ids_without_pyarrow(
    tok: toksmith.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl = pytest.importorskip("polars")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert tok.decode_batch(pl.Series(IDS)) == ["low", "", "!", "é"]
    words = [["low", "er"], ["né"]]
    assert tok.encodings(pl.Series(words), pre_split=True) == tok.encodings(words, pre_split=True)


WORDS = [["low", "lower"], [], ["né"]]


@pytest.mark.parametrize("kind", ["list", "large_list", "slice", "chunks"])
def test_arrow_columns_of_words(tok: toksmith.Tokenizer, kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    column = {
        "list": lambda: pa.array(WORDS),
        "large_list": lambda: pa.array(WORDS, pa.large_list(pa.large_string())),
        "slice": lambda: pa.array([["a", "b"], *WORDS, None])[1:-1],
        "chunks": lambda: pa.chunked_array([WORDS[:1], WORDS[1:]]),
    }[kind]()
    assert tok.encodings(column, pre_split=True) == tok.encodings(WORDS, pre_split=True)
    options: Any = {"pre_split": True, "spans": True}
    assert tok.prepare(column, column, **options) == tok.prepare(WORDS, WORDS, **options)
    for words in column:
        assert tok.encode_words(words.values) == tok.encode_words(words.as_py())
    found = words_of(column, "texts")
    assert found is not None
    assert [[bytes(word).decode() for word in words] for words in found] == WORDS


def test_nulls_among_words_are_named(tok: toksmith.Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    for rows, place in (
        (pa.array([["a"], None]), r"texts\[1\] is null: each must be a list of words"),
        (pa.array([["a"], [], ["b", None]]), r"texts\[2\]\[1\] is null: each must be a text"),
        (pa.chunked_array([[["a"]], [[None]]]), r"texts\[1\]\[0\] is null"),
        (pa.array([[1]]), "words of texts is a column of int64"),
        (pa.array(["a"]), "texts is a column of string .* must be a list of words"),
        ([pa.array(["a", None])], r"texts\[0\]\[1\] is null"),
    ):
        with pytest.raises(OptionError, match=place):
            tok.prepare(rows, pre_split=True)
        with pytest.raises(OptionError, match=place):
            tok.encodings(rows, pre_split=True)
    with pytest.raises(OptionError, match=r"\[1\] is null: each must be a text"):
        tok.encode_words(pa.array(["a", None]))


def test_rows_of_inputs_as_a_table(tok: toksmith.Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = tok.prepare_ragged(TEXTS, TEXTS[::-1], spans=True)
    table = rows.to_arrow()
    assert {field.name: str(field.type) for field in table.schema} == {
        "input_ids": "large_list<item: uint32>",
        "token_type_ids": "large_list<item: int64>",
        "special_tokens_mask": "large_list<item: int64>",
        "document": "int64",
        "sequence": "large_list<item: int8>",
        "spans": "large_list<item: fixed_size_list<item: int64>[2]>",
    }
    assert table["input_ids"].to_pylist() == rows.lists(rows.ids)
    assert table["sequence"].to_pylist() == rows.lists(rows.sequence)
    assert table["document"].to_pylist() == list(range(len(TEXTS)))
    spans = [[tuple(span) for span in row] for row in table["spans"].to_pylist()]
    assert spans == rows.span_lists()
    for name, array in (("input_ids", rows.ids), ("sequence", rows.sequence)):
        column = table[name].chunk(0)
        assert column.values.buffers()[1].address == array.ctypes.data
        assert column.buffers()[1].address == rows.offsets.ctypes.data
    assert pa.table(rows).equals(table)
    words = tok.prepare_ragged([["low", "lower"]], pre_split=True)
    assert words.to_arrow()["words"].to_pylist() == words.lists(words.words)  # type: ignore[arg-type]


def test_a_frame_of_inputs(tok: toksmith.Tokenizer) -> None:
    pl = pytest.importorskip("polars")
    rows = tok.prepare_ragged(TEXTS, spans=True)
    frame = pl.DataFrame(rows)
    assert frame["input_ids"].dtype == pl.List(pl.UInt32)
    assert frame["input_ids"].to_list() == rows.lists(rows.ids)


def test_arrow_out_needs_pyarrow(tok: toksmith.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"RaggedInputs.to_arrow needs pyarrow: .*arrow\]"):
        tok.prepare_ragged(TEXTS).to_arrow()
