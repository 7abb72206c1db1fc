"""Expressions of polars: ``pl.col("text").tok``."""

from __future__ import annotations

from typing import Any

import pytest

import toksmith
from toksmith.errors import OptionError, ToksmithError, UnknownTokenError

pl = pytest.importorskip("polars")
expressions = pytest.importorskip("toksmith.polars")

TEXTS = ["It was the best", None, "of times", "", None, "é ☃ <|endoftext|>"]


@pytest.fixture(scope="module")
def tok() -> toksmith.Tokenizer:
    return toksmith.get("toksmith-small")


def ids_of(tok: toksmith.Tokenizer, **options: Any) -> list[list[int] | None]:
    return [None if text is None else tok.encode(text, **options) for text in TEXTS]


@pytest.mark.parametrize("engine", [None, "auto", "streaming"])
def test_encode_count_and_decode(tok: toksmith.Tokenizer, engine: str | None) -> None:
    frame: Any = pl.DataFrame({"text": TEXTS})
    text = pl.col("text").tok
    wanted = [
        text.encode(tok).alias("ids"),
        text.count(tok).alias("count"),
        text.encode(tok).tok.decode("toksmith-small").alias("again"),
    ]
    if engine is None:
        found = frame.select(wanted)
    else:
        query = frame.lazy().select(wanted)
        found = query.collect(engine=engine)
        assert query.collect_schema() == found.schema
    ids = ids_of(tok)
    assert found["ids"].dtype == pl.List(pl.UInt32)
    assert found["ids"].to_list() == ids
    assert found["count"].dtype == pl.UInt32
    assert found["count"].to_list() == [None if row is None else len(row) for row in ids]
    assert found["again"].to_list() == TEXTS


def test_options_reach_the_tokenizer(tok: toksmith.Tokenizer) -> None:
    framed = tok.with_template(bos="<|endoftext|>")
    frame = pl.DataFrame({"text": TEXTS})
    text = pl.col("text").tok
    encoded = text.encode(framed, special="encode", add_special_tokens=True, threads=1)
    found = frame.select(
        ids=encoded,
        count=text.count(tok, special="encode", threads=2),
        text=encoded.tok.decode(tok, skip_special_tokens=True),
    )
    assert found["ids"].to_list() == ids_of(framed, special="encode", add_special_tokens=True)
    assert found["count"][5] == len(tok.encode(str(TEXTS[5]), special="encode"))
    assert found["text"][5] == "é ☃ "
    with pytest.raises(toksmith.errors.SpecialTokenError, match="endoftext"):
        frame.select(text.count(tok, special="raise"))


def test_groups_windows_and_filters(tok: toksmith.Tokenizer) -> None:
    frame = pl.DataFrame({"kind": ["a", "b", "a"], "text": ["of times", "It was", "It"]})
    total = pl.col("text").tok.count(tok).sum()
    by_kind = frame.group_by("kind", maintain_order=True).agg(total.alias("tokens"))
    assert by_kind.to_dict(as_series=False) == {"kind": ["a", "b"], "tokens": [3, 2]}
    assert frame.select(total.over("kind"))["text"].to_list() == [3, 2, 3]
    assert frame.filter(pl.col("text").tok.count(tok) < 2)["text"].to_list() == ["It"]


@pytest.mark.parametrize("dtype", ["String", "Null", "Categorical"])
def test_columns_without_texts(tok: toksmith.Tokenizer, dtype: str) -> None:
    for values in ([], [None, None]):
        frame = pl.DataFrame({"text": pl.Series(values, dtype=getattr(pl, dtype))})
        text = pl.col("text").tok
        found = frame.select(text.encode(tok), count=text.count(tok), text_=text.encode(tok))
        assert found["text"].to_list() == values
        assert found["count"].to_list() == values
        assert found.select(pl.col("text_").tok.decode(tok))["text_"].to_list() == values


def test_lists_of_any_integers_decode(tok: toksmith.Tokenizer) -> None:
    ids = [tok.encode("It was"), [], tok.encode("of")]
    for dtype in (pl.List(pl.Int64), pl.List(pl.UInt16)):
        frame = pl.DataFrame({"ids": pl.Series(ids, dtype=dtype)})
        assert frame.select(pl.col("ids").tok.decode(tok))["ids"].to_list() == ["It was", "", "of"]
    array = pl.DataFrame({"ids": pl.Series([[1377, 360]], dtype=pl.Array(pl.Int32, 2))})
    assert array.select(pl.col("ids").tok.decode(tok))["ids"].to_list() == ["It was"]


@pytest.mark.parametrize(
    ("values", "message"),
    [([1], "not of Int64"), (["a"], "not of String"), ([["a"]], r"not of List\(String\)"),
     ([[1, None]], "holds a null"), ([[-1]], "negative"), ([[1 << 32]], "above")],
)  # fmt: skip
def test_what_is_no_list_of_ids_is_named(
    tok: toksmith.Tokenizer, values: list[Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        pl.DataFrame({"ids": values}).select(pl.col("ids").tok.decode(tok))


def test_errors_pass_through_polars(tok: toksmith.Tokenizer) -> None:
    with pytest.raises(OptionError, match="texts is a column of Int64"):
        pl.DataFrame({"text": [1]}).select(pl.col("text").tok.count(tok))
    with pytest.raises(UnknownTokenError, match="99999"):
        pl.DataFrame({"ids": [[99999]]}).select(pl.col("ids").tok.decode(tok))
    with pytest.raises(ToksmithError, match="no-such-tokenizer"):
        pl.col("text").tok.count("no-such-tokenizer")


def test_a_query_with_tokens_is_written_to_parquet(tok: toksmith.Tokenizer, tmp_path: Any) -> None:
    path = tmp_path / "ids.parquet"
    pl.LazyFrame({"text": TEXTS}).select(pl.col("text").tok.encode(tok)).sink_parquet(path)
    assert pl.read_parquet(path)["text"].to_list() == ids_of(tok)


def test_a_tokenizer_is_set_for_expressions(tok: toksmith.Tokenizer) -> None:
    frame = pl.LazyFrame({"text": TEXTS})
    text = pl.col("text").tok
    with pytest.raises(OptionError, match=r"tok\.count\(\) names no tokenizer.*toksmith-small"):
        text.count()
    other = toksmith.train(texts=["x"], vocab_size=256)
    with expressions.use(tok):
        query = frame.select(
            ids=text.encode(), count=text.count(), again=text.encode().tok.decode()
        )
        with expressions.use(other):
            assert frame.select(text.count()).collect()["text"].to_list()[0] == 15
        assert frame.select(text.count()).collect()["text"].to_list()[0] == 4
        with expressions.use(None), pytest.raises(OptionError, match="names no tokenizer"):
            text.decode()
    with pytest.raises(OptionError, match="names no tokenizer"):
        text.encode()
    found = query.collect()  # made with the tokenizer that was set then
    assert found["ids"].to_list() == ids_of(tok)
    assert found["count"].to_list() == [None if ids is None else len(ids) for ids in ids_of(tok)]
    assert found["again"].to_list() == TEXTS


def test_a_tokenizer_that_does_not_load_sets_nothing(tok: toksmith.Tokenizer) -> None:
    with expressions.use(tok):
        with pytest.raises(ToksmithError, match="no-such-tokenizer"):
            expressions.use("no-such-tokenizer")
        assert pl.select(pl.lit("It was").tok.count()).item() == 2
