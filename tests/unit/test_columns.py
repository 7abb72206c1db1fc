"""Columns of texts: arrays of Arrow and NumPy, Series of pandas and polars; Arrow arrays out."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith import results
from toksmith.engine import columns
from toksmith.engine.columns import blocks_of, column_of, texts_of
from toksmith.errors import OptionError
from toksmith.measure.inputs import name_texts
from toksmith.results import Batch

TEXTS = ["low lower", "", "né ☃ 😀 more than twelve bytes", "lowest", "x" * 40]
MORE = ["first", *TEXTS, "last"]


@pytest.fixture(scope="module")
def tok() -> toksmith.Tokenizer:
    return toksmith.get("toksmith-small")


def arrow(make: Callable[[Any], object]) -> Callable[[], object]:
    return lambda: make(pytest.importorskip("pyarrow"))


def pandas(make: Callable[[Any], object]) -> Callable[[], object]:
    return lambda: make(pytest.importorskip("pandas"))


def polars(make: Callable[[Any], object]) -> Callable[[], object]:
    return lambda: make(pytest.importorskip("polars"))


def numpy_strings(make: Callable[[Any], object]) -> Callable[[], object]:
    def made() -> object:
        if not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"):
            pytest.skip("NumPy has no StringDType before 2.0")
        return make(np.dtypes.StringDType)

    return made


COLUMNS: dict[str, Callable[[], object]] = {
    "arrow string": arrow(lambda pa: pa.array(TEXTS)),
    "arrow large_string": arrow(lambda pa: pa.array(TEXTS, pa.large_string())),
    "arrow string_view": arrow(lambda pa: pa.array(TEXTS, pa.string_view())),
    "arrow binary": arrow(lambda pa: pa.array([text.encode() for text in TEXTS])),
    "arrow slice": arrow(lambda pa: pa.array(MORE)[1:-1]),
    "arrow slice of large_string": arrow(lambda pa: pa.array(MORE, pa.large_string())[1:-1]),
    "arrow slice of views": arrow(lambda pa: pa.array(MORE, pa.string_view())[1:-1]),
    "arrow slice without a null": arrow(lambda pa: pa.array([None, *TEXTS, None])[1:-1]),
    "arrow dictionary": arrow(lambda pa: pa.array(TEXTS).dictionary_encode()),
    "arrow slice of a dictionary": arrow(lambda pa: pa.array(MORE).dictionary_encode()[1:-1]),
    "arrow chunks": arrow(lambda pa: pa.chunked_array([TEXTS[:2], [], TEXTS[2:]])),
    "arrow chunks of dictionaries": arrow(
        lambda pa: pa.chunked_array([TEXTS[:2], TEXTS[2:]]).dictionary_encode()
    ),
    "arrow column": arrow(lambda pa: pa.table({"text": TEXTS})["text"]),
    "pandas": pandas(lambda pd: pd.Series(TEXTS, index=[7, 7, 1, 0, 2])),
    "pandas object": pandas(lambda pd: pd.Series(TEXTS, dtype=object)),
    "pandas string": pandas(lambda pd: pd.Series(TEXTS, dtype="string")),
    "pandas category": pandas(lambda pd: pd.Series(TEXTS, dtype="category")),
    "pandas slice": pandas(lambda pd: pd.Series(MORE)[1:-1]),
    "polars": polars(lambda pl: pl.Series(TEXTS)),
    "polars slice": polars(lambda pl: pl.Series(MORE)[1:-1]),
    "polars categories": polars(lambda pl: pl.Series(TEXTS, dtype=pl.Categorical)),
    "polars enum": polars(lambda pl: pl.Series(TEXTS, dtype=pl.Enum(TEXTS))),
    "polars chunks": polars(
        lambda pl: pl.concat([pl.Series(TEXTS[:2]), pl.Series(TEXTS[2:])], rechunk=False)
    ),
    "numpy": lambda: np.array(TEXTS),
    "numpy slice": lambda: np.array(MORE)[1:-1],
    "numpy object": lambda: np.array(TEXTS, object),
    "numpy bytes": lambda: np.array([text.encode() for text in TEXTS]),
    "numpy strings": numpy_strings(lambda dtype: np.array(TEXTS, dtype())),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_texts(tok: toksmith.Tokenizer, name: str) -> None:
    column: Any = COLUMNS[name]()
    counts = tok.count_batch(TEXTS).tolist()
    assert tok.encode_batch(column) == tok.encode_batch(TEXTS)
    assert tok.encode_batch(column, special="encode") == tok.encode_batch(TEXTS)
    assert tok.encode_batch(column, special="raise") == tok.encode_batch(TEXTS)
    assert tok.count_batch(column).tolist() == counts
    assert tok.encodings(column) == tok.encodings(TEXTS)
    assert tok.prepare(column, column, spans=True) == tok.prepare(TEXTS, TEXTS, spans=True)
    assert tok.prepare_ragged(column) == tok.prepare_ragged(TEXTS)
    counted = toksmith.Counts.from_texts(TEXTS)
    assert dict(toksmith.Counts.from_texts(column)) == dict(counted)
    assert dict(toksmith.Counts.from_texts({"a": column})) == dict(counted)
    (named,) = name_texts(texts={"a": column})
    assert named.texts == tuple(text.encode() for text in TEXTS)


def test_columns_train_and_verify(tok: toksmith.Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.chunked_array([TEXTS[:2], TEXTS[2:]])
    trained = toksmith.train(texts=column, vocab_size=258)
    assert trained.merges == [(120, 120), (256, 256)]
    assert toksmith.verify(trained, trained, texts=column) is None
    found = toksmith.verify(trained, tok, texts=column[3:4])
    assert found is not None
    assert found.text == "lowest"


@pytest.mark.parametrize("options", [{"deduplicate": True}, {"sample": 0.5, "seed": 3}])
def test_documents_of_a_column_are_selected(options: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    texts = TEXTS * 3
    found = toksmith.Counts.from_texts(pa.array(texts), **options)
    want = toksmith.Counts.from_texts(texts, **options)
    assert dict(found) == dict(want)
    assert found.documents == want.documents < len(texts)


@pytest.mark.parametrize(
    ("model", "size"), [("unigram", 32), ("wordpiece", 40), ("sentencepiece-bpe", 32)]
)
def test_columns_with_models_of_characters(model: Any, size: int) -> None:
    pa = pytest.importorskip("pyarrow")
    tok = toksmith.train(texts=TEXTS * 3, model=model, vocab_size=size)
    assert tok.encode_batch(pa.array(TEXTS)) == tok.encode_batch(TEXTS)
    assert tok.encodings(pa.array(TEXTS)) == tok.encodings(TEXTS)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "arrow": (arrow(lambda pa: pa.array(["a", None])), r"texts\[1\] is null: each must be a text"),
    "arrow chunks": (
        arrow(lambda pa: pa.chunked_array([["a", "b"], [], ["c", None]])),
        r"texts\[3\] is null",
    ),
    "arrow slice": (arrow(lambda pa: pa.array([None, "a", None])[1:]), r"texts\[1\] is null"),
    "arrow views": (
        arrow(lambda pa: pa.array(["a", None], pa.string_view())),
        r"texts\[1\] is null",
    ),
    "arrow dictionary": (
        arrow(lambda pa: pa.array(["a", None, "a"]).dictionary_encode()),
        r"texts\[1\] is null",
    ),
    "arrow dictionary with a null": (
        arrow(lambda pa: pa.DictionaryArray.from_arrays([0, 1], pa.array(["a", None]))),
        r"texts\[1\] is null",
    ),
    "arrow nulls": (arrow(lambda pa: pa.array([None, None])), r"texts\[0\] is null"),
    "arrow numbers": (arrow(lambda pa: pa.array([1])), "texts is a column of int64 .* of strings"),
    "arrow no numbers": (
        arrow(lambda pa: pa.chunked_array([], pa.int64())),
        "texts is a column of int64",
    ),
    "arrow lists": (arrow(lambda pa: pa.array([["a"]])), r"texts is a column of list<"),
    "arrow table": (arrow(lambda pa: pa.table({"a": ["x"]})), r"texts is a table \(Table\)"),
    "pandas": (pandas(lambda pd: pd.Series(["a", None])), r"texts\[1\] is (null|None|nan)"),
    "pandas object": (pandas(lambda pd: pd.Series(["a", 3], dtype=object)), r"texts\[1\] is 3"),
    "pandas category": (
        pandas(lambda pd: pd.Series(["a", None], dtype="category")),
        r"texts\[1\] is (null|nan)",
    ),
    "pandas table": (pandas(lambda pd: pd.DataFrame({"a": ["x"]})), "texts is a table"),
    "polars": (polars(lambda pl: pl.Series(["a", None])), r"texts\[1\] is null"),
    "polars numbers": (polars(lambda pl: pl.Series([1])), "texts is a column of Int64"),
    "polars objects": (
        polars(lambda pl: pl.Series([object()], dtype=pl.Object)),
        "texts is a column of Object",
    ),
    "polars table": (polars(lambda pl: pl.DataFrame({"a": ["x"]})), "texts is a table"),
    "polars query": (polars(lambda pl: pl.LazyFrame({"a": ["x"]})), "texts is a table"),
    "numpy": (lambda: np.array(["a", None], object), r"texts\[1\] is None"),
    "numpy numbers": (lambda: np.array([1]), r"texts\[0\] is 1"),
    "numpy table": (lambda: np.array([["a"]]), "texts is an array of 2 dimensions"),
    "numpy scalar": (lambda: np.array("a"), "texts is an array of 0 dimensions"),
    "numpy strings": (
        numpy_strings(lambda dtype: np.array(["a", None], dtype(na_object=None))),
        r"texts\[1\] is None",
    ),
    "batch": (
        lambda: Batch(np.zeros(1, np.uint32), np.array([0, 1])),
        r"texts is a column of Arrow format \+L \(Batch\)",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rows_are_named(tok: toksmith.Tokenizer, name: str) -> None:
    make, message = WRONG[name]
    column: Any = make()
    with pytest.raises(OptionError, match=message):
        tok.encode_batch(column)
    with pytest.raises(OptionError, match=message):
        tok.count_batch(column)
    with pytest.raises(OptionError, match=message):
        tok.prepare(column)
    with pytest.raises(OptionError, match=message):
        toksmith.Counts.from_texts(column)


def test_pairs_are_named(tok: toksmith.Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(OptionError, match=r"pairs\[1\] is null"):
        tok.encode_batch(["a", "b"], pa.array(["a", None]))


def test_empty_columns(tok: toksmith.Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    for column in (pa.array([]), pa.array([], pa.string()), pa.chunked_array([], pa.string())):
        assert tok.encode_batch(column) == []
        assert tok.count_batch(column).tolist() == []


@pytest.mark.parametrize(
    ("library", "name"), [("pyarrow", "array"), ("polars", "Series"), ("pandas", "Series")]
)
def test_columns_of_words(tok: toksmith.Tokenizer, library: str, name: str) -> None:
    words = [["low", "lower"], [], ["né"]]
    column = getattr(pytest.importorskip(library), name)(words)
    want = tok.prepare_ragged(words, pre_split=True)
    assert tok.prepare_ragged(column, pre_split=True) == want


def test_a_column_is_read_where_it_is(tok: toksmith.Tokenizer) -> None:
    """A change of the memory under an Arrow array shows: the texts were not copied."""
    pa = pytest.importorskip("pyarrow")
    data = bytearray(b"lowLOW")
    offsets = np.array([0, 3, 6], np.int32)
    array = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    column = column_of(array, "texts")
    data[:3] = b"LOW"
    assert column is not None
    assert list(column) == [b"LOW", b"LOW"]
    del array
    gc.collect()
    assert column[-1] == b"LOW"
    assert list(column[1:]) == [b"LOW"]
    assert column[5:2:1] is not None
    assert len(column[5:2]) == 0
    with pytest.raises(IndexError, match="fewer texts"):
        column[2]


def test_blocks_of_a_column_hold_all_rows() -> None:
    pa = pytest.importorskip("pyarrow")
    texts = ["a" * size for size in (3, 0, 5, 1, 1, 1, 0)]
    column = column_of(pa.array(texts), "texts")
    assert column is not None
    blocks = blocks_of(column, 3)
    assert blocks is not None
    found = [[bytes(text).decode() for text in block] for block in blocks]
    assert found == [texts[:1], texts[1:3], texts[3:6], texts[6:]]


def test_arrow_out(tok: toksmith.Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    batch = tok.encode_batch(TEXTS)
    array = pa.array(batch)
    assert array.type.value_type == pa.uint32()
    assert array.equals(batch.to_arrow().cast(array.type))
    assert array.values.buffers()[1].address == batch.ids.ctypes.data
    assert array.buffers()[1].address == batch.offsets.ctypes.data
    values, want = array.values, batch.ids.tolist()
    del array, batch
    gc.collect()
    assert values.to_pylist() == want


def test_arrow_out_of_other_arrays() -> None:
    pa = pytest.importorskip("pyarrow")
    strided = Batch(np.arange(6, dtype=np.int64)[::2], np.array([0, 1, 3], np.int32))  # type: ignore[arg-type]
    assert pa.array(strided).to_pylist() == [[0], [2, 4]]
    assert pa.array(Batch(np.zeros(0, np.uint32), np.zeros(1, np.int64))).to_pylist() == []


def test_a_series_of_a_batch(tok: toksmith.Tokenizer) -> None:
    pl = pytest.importorskip("polars")
    batch = tok.encode_batch(TEXTS)
    series = pl.Series("ids", batch)
    assert series.dtype == pl.List(pl.UInt32)
    assert series.to_list() == batch.to_lists()


def test_columns_without_the_kernel(
    tok: toksmith.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    batch = tok.encode_batch(TEXTS)
    monkeypatch.setattr(columns, "TextColumn", None)
    monkeypatch.setattr(results, "arrow_lists", results._arrow_lists)
    assert columns.column_of(pa.array(TEXTS), "texts") == TEXTS
    assert tok.encode_batch(pa.chunked_array([TEXTS[:2], TEXTS[2:]])) == batch
    assert list(texts_of({"a": pa.array(TEXTS)})) == TEXTS
    with pytest.raises(OptionError, match=r"texts\[1\] is None"):
        tok.encode_batch(pa.array(["a", None]))
    assert pa.array(batch).to_pylist() == batch.to_lists()
