"""Properties that hold for every text and every byte-level tokenizer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toksmith
from tests import engines, strategies
from toksmith import Tokenizer
from toksmith._base.text import utf8
from toksmith.splitters import FAMILIES, PatternSplitter, splitter
from toksmith.stages.split_patterns import chunk_spans

SPLITS = {"none": None, "gpt2": "gpt2", "gpt4": "gpt4", "o200k": "o200k", "pattern": r"\w+|[^\w]"}
PIECES = [piece for group in strategies.GROUPS for piece in group]
TOKENIZERS = {
    name: Tokenizer(
        engines.train("kernel", [*strategies.random_texts(1, 300), *PIECES], 900, split)
    )
    for name, split in SPLITS.items()
}
some_tokenizer = st.sampled_from(sorted(TOKENIZERS)).map(TOKENIZERS.__getitem__)
some_splitter = st.sampled_from([*FAMILIES, r"\w+", r"(?s).{1,2}", r"(?r)\S+"]).map(splitter)


@given(some_tokenizer, strategies.texts)
def test_strings_come_back(tok: Tokenizer, text: str) -> None:
    assert tok.decode(tok.encode(text)) == text


@given(some_tokenizer, strategies.byte_texts)
def test_bytes_come_back(tok: Tokenizer, text: bytes) -> None:
    ids = tok.encode(text)
    assert tok.decode_bytes(ids) == text
    assert tok.decode(ids) == text.decode("utf-8", "replace")


@given(some_tokenizer, strategies.texts_with_surrogates)
def test_surrogates_are_repaired(tok: Tokenizer, text: str) -> None:
    repaired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert tok.encode(text) == tok.encode(repaired)
    assert tok.decode(tok.encode(text)) == repaired
    assert tok.encoding(text).ids == tok.encode(text)


@given(some_tokenizer, strategies.any_texts)
def test_all_ways_to_encode_agree(tok: Tokenizer, text: str | bytes) -> None:
    ids = tok.encode(text)
    assert tok.encode_array(text).tolist() == ids
    assert tok.encode_array(text).dtype == np.uint32
    assert tok.encode(utf8(text)) == ids
    assert tok.encode_batch([text, "", text]).to_lists() == [ids, [], ids]
    assert tok.count(text) == len(ids)
    assert tok.encoding(text).ids == ids
    assert tok.explain(text).ids == ids


@given(some_tokenizer, strategies.any_texts)
def test_spans_cover_the_text(tok: Tokenizer, text: str | bytes) -> None:
    encoding = tok.encoding(text)
    data = utf8(text)
    assert [data[start:end] for start, end in encoding.byte_spans] == encoding.tokens
    assert b"".join(encoding.tokens) == data
    position = 0
    for (start, end), (first, last) in zip(encoding.byte_spans, encoding.spans, strict=True):
        assert start == position
        position = end
        assert 0 <= first < last <= len(encoding.text)
    if isinstance(text, str):
        assert encoding.text == text
        for token, (first, last) in zip(encoding.tokens, encoding.spans, strict=True):
            assert token in text[first:last].encode()
            assert (
                len(text[first:last].encode()) < len(token) + 6
            )  # a partial character at each end


@given(some_splitter, strategies.byte_texts)
def test_chunks_cover_the_text(split: PatternSplitter, text: bytes) -> None:
    spans = chunk_spans(split, text)
    assert [start for start, _ in spans] == [0, *(end for _, end in spans)][: len(spans)]
    assert b"".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@given(some_tokenizer, strategies.any_texts, st.data())
def test_decoder_gives_the_same_text_in_pieces(
    tok: Tokenizer, text: str | bytes, data: st.DataObject
) -> None:
    ids = tok.encode(text)
    decoder = tok.decoder()
    parts = []
    while ids:
        taken = data.draw(st.integers(1, len(ids)))
        parts.append(decoder.decode(ids[:taken]))
        ids = ids[taken:]
    parts.append(decoder.decode([], final=True))
    assert "".join(parts) == tok.decode(tok.encode(text))
    decoder.reset()
    assert decoder.decode(tok.encode("é"), final=True) == "é"


@given(some_tokenizer, strategies.any_texts, st.integers(0, 40))
def test_truncate(tok: Tokenizer, text: str | bytes, limit: int) -> None:
    short = tok.truncate(text, limit)
    assert type(short) is type(text)
    assert text[: len(short)] == short
    assert tok.count(short) <= limit
    if tok.count(text) <= limit:
        assert short == text


@given(some_tokenizer, strategies.texts_with_surrogates, st.integers(0, 20))
def test_truncate_with_surrogates(tok: Tokenizer, text: str, limit: int) -> None:
    short = tok.truncate(text, limit)
    assert utf8(text).startswith(utf8(short))
    assert tok.count(short) <= limit
    if tok.count(text) <= limit:
        assert utf8(short) == utf8(text)


@given(st.lists(strategies.texts, max_size=6), st.integers(256, 300), st.booleans())
def test_training_does_not_depend_on_threads(texts: list[str], size: int, smallest: bool) -> None:
    ties = "smallest-pair" if smallest else "first-seen"
    if not any(texts):
        with pytest.raises(toksmith.errors.TrainingError):
            engines.train("kernel", texts, size, "gpt4", ties=ties)
        return
    one, two = (
        engines.train("kernel", texts, size, "gpt4", ties=ties, threads=threads)
        for threads in (1, 2)
    )
    assert one == two
