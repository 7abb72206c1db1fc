"""The first difference of two tokenizers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import toksmith
from tests.kits.bpe import model, pipeline
from toksmith._base.arrays import Span
from toksmith.errors import OptionError
from toksmith.framing import AddedToken, Framing
from toksmith.measure.verify import default_by, find_differing, first_difference, same_vocabulary
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.tokenizer import Tokenizer

A = Tokenizer(pipeline())
FEWER = Tokenizer(Pipeline(model(((b"t", b"h"),)), A.pipeline.splitter))
UNSPLIT = Tokenizer(replace(A.pipeline, splitter=None))


def moved() -> Tokenizer:
    """The same tokens as A's, 1000 ids further up from the first merge on."""
    held = model()
    gap = (b"",) * 1000
    vocab = (*held.vocab[:256], *gap, *held.vocab[256:])
    merges = held.merges + np.where(held.merges >= 256, np.uint32(1000), np.uint32(0))
    return Tokenizer(Pipeline(BPE(vocab, merges), A.pipeline.splitter))


MOVED = moved()


def test_equal() -> None:
    assert first_difference(A, A, "the then  the") is None
    assert find_differing(A, A, ["the", "then", ""]) == []


def test_the_stretch_ends_where_both_end_a_token() -> None:
    found = first_difference(A, FEWER, "éx the then")
    assert found is not None
    # A makes [é][x][ the], the other [C3][A9][x][ ][th][e].
    assert (found.place, found.span, found.byte_span) == (0, Span(0, 1), Span(0, 2))
    assert found.left.tokens == ["é".encode()]
    assert found.right.tokens == [b"\xc3", b"\xa9"]
    later = first_difference(A, FEWER, "x the then")
    assert later is not None
    assert (later.place, later.span) == (1, Span(1, 5))
    assert later.left.tokens == [b" the"]
    assert later.right.tokens == [b" ", b"th", b"e"]
    assert later.right.byte_spans.tolist() == [[1, 2], [2, 4], [4, 5]]


def test_the_split_may_be_the_difference() -> None:
    found = first_difference(A, UNSPLIT, "a  b")
    assert found is not None
    assert (found.left.tokens, found.right.tokens) == ([b" ", b" "], [b"  "])
    assert find_differing(A, UNSPLIT, ["a b", "a  b", b"a  b", "ab"]) == [1, 2]


def test_ids_tokens_and_spans_are_three_questions() -> None:
    text = "the then"
    assert default_by(A, A) == "ids"
    assert default_by(A, MOVED) == "tokens"
    assert first_difference(A, MOVED, text) is None
    assert first_difference(A, MOVED, text, by="tokens") is None
    assert first_difference(A, MOVED, text, by="spans") is None
    found = first_difference(A, MOVED, text, by="ids")
    assert found is not None
    assert (found.left.ids, found.right.ids) == ([257], [1257])
    assert [find_differing(A, MOVED, [text], by=by) for by in ("ids", "tokens", "spans")] == [
        [0],
        [],
        [],
    ]


def test_one_side_may_have_nothing() -> None:
    framed = Framing((AddedToken("<s>", 266),), prefix=(266,))
    plain, starts = (
        Tokenizer(Pipeline(model(), A.pipeline.splitter, framing))
        for framing in (Framing(framed.added_tokens), framed)
    )
    assert first_difference(plain, starts, "the") is None
    assert same_vocabulary(plain, starts)
    found = first_difference(plain, starts, "", add_special_tokens=True)
    assert found is not None
    assert (found.left.tokens, found.right.tokens) == ([], [b"<s>"])
    assert (found.place, found.span) == (0, Span(0, 0))
    assert find_differing(plain, starts, ["", "a"], add_special_tokens=True) == [0, 1]


def test_special_tokens_count_on_request() -> None:
    without = Tokenizer(replace(A.pipeline, framing=Framing()))
    assert first_difference(A, without, "a<|end|>", by="ids") is None
    found = first_difference(A, without, "a<|end|>", by="ids", special="encode")
    assert found is not None
    assert found.left.tokens == [b"<|end|>"]
    assert b"".join(found.right.tokens) == b"<|end|>"


def test_invalid_bytes() -> None:
    found = first_difference(A, FEWER, b"\xff\x00\xff")
    assert found is not None
    assert found.text == "\ufffd\x00\ufffd"
    assert found.byte_span == Span(1, 3)
    assert found.span == Span(1, 3)


def test_by_is_checked() -> None:
    with pytest.raises(OptionError, match="use one of ids, tokens, spans"):
        first_difference(A, A, "a", by="words")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="by is 'words'"):
        find_differing(A, A, ["a"], by="words")  # type: ignore[arg-type]


def test_names_and_paths(tmp_path: Path) -> None:
    tok = toksmith.get("toksmith-small")
    saved = tmp_path / "small.json"
    tok.save(saved)
    assert toksmith.measure.find_differing("toksmith-small", saved, ["a", "é"]) == []
    assert toksmith.measure.first_difference(saved, tok, "a é") is None
