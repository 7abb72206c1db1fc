"""The values that encoding returns, by hand."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import numpy as np
import pytest

import toksmith
from toksmith import Batch, Encoding, Inputs, Span, Token, Tokenizer


def tokenizer() -> Tokenizer:
    """Bytes by value, ``th`` 256, ``the`` 257."""
    return toksmith.train(texts=["the the"], vocab_size=258)


class TestEncoding:
    ENCODING = tokenizer().encoding("the é")

    def test_strings_show_invisible_characters(self) -> None:
        assert self.ENCODING.strings == ["the", "·", "<C3>", "<A9>"]

    def test_spans_are_arrays_that_cannot_be_written(self) -> None:
        assert self.ENCODING.spans.dtype == np.int64
        assert self.ENCODING.spans.tolist() == [[0, 3], [3, 4], [4, 5], [4, 5]]
        assert self.ENCODING.byte_spans.tolist() == [[0, 3], [3, 4], [4, 5], [5, 6]]
        assert tokenizer().encoding("").spans.shape == (0, 2)
        with pytest.raises(ValueError, match="read-only"):
            self.ENCODING.spans[0] = 1

    def test_the_caller_s_array_stays_writeable(self) -> None:
        spans = np.array([[0, 1]])
        Encoding("a", [97], [b"a"], spans, spans, [False])
        assert spans.flags.writeable

    def test_iterates_over_tokens(self) -> None:
        first, *_, last = self.ENCODING
        assert first == Token(257, b"the", "the", Span(0, 3), Span(0, 3), special=False)
        assert last == self.ENCODING[-1] == self.ENCODING[3]
        assert (last.byte_span, type(last.byte_span.start)) == (Span(5, 6), int)
        with pytest.raises(IndexError, match="token 4 of an encoding of 4"):
            self.ENCODING[4]

    def test_equality_is_by_content(self) -> None:
        assert tokenizer().encoding("the é") == self.ENCODING
        assert self.ENCODING[:2] != self.ENCODING[:3]
        assert tokenizer().encoding("The é") != self.ENCODING
        assert self.ENCODING != [257]
        assert pickle.loads(pickle.dumps(self.ENCODING)) == self.ENCODING

    def test_repr_is_one_line(self) -> None:
        assert repr(self.ENCODING) == "<Encoding: 4 tokens: the · <C3> <A9>>"
        long = repr(tokenizer().encoding("\nthe" * 10_000))
        assert len(long) <= 200
        assert "\n" not in long


class TestBatch:
    BATCH = tokenizer().encode_batch(["the", "", "he"])

    def test_equals_lists(self) -> None:
        assert self.BATCH == [[257], [], [104, 101]]
        assert ([257], (), np.array([104, 101])) == self.BATCH
        assert self.BATCH != [[257], [], [104]]
        assert self.BATCH != [[257], []]
        assert self.BATCH != [257, 104, 101]
        assert self.BATCH != "the"

    def test_repr_is_one_line(self) -> None:
        assert repr(self.BATCH) == "<Batch: 3 documents, 3 ids>"
        assert repr(Batch(np.zeros(1, np.uint32), np.array([0, 1]))) == "<Batch: 1 document, 1 id>"


PADDED = tokenizer().with_special_tokens(["<pad>"])


class TestInputs:
    INPUTS = PADDED.prepare(["the", "he"])

    def test_is_a_mapping_of_model_inputs(self) -> None:
        def model(**inputs: object) -> list[str]:
            return sorted(inputs)

        assert model(**self.INPUTS) == ["attention_mask", "input_ids", "token_type_ids"]
        assert isinstance(self.INPUTS, Mapping)
        assert len(self.INPUTS) == 3
        assert self.INPUTS["input_ids"] is self.INPUTS.ids
        assert self.INPUTS["token_type_ids"] is self.INPUTS.type_ids
        assert "lengths" not in self.INPUTS
        with pytest.raises(KeyError, match="the keys are input_ids, attention_mask"):
            self.INPUTS["ids"]

    def test_equality_is_by_content(self) -> None:
        assert PADDED.prepare(["the", "he"]) == self.INPUTS
        assert PADDED.prepare(["the", "eh"]) != self.INPUTS
        assert pickle.loads(pickle.dumps(self.INPUTS)) == self.INPUTS
        assert isinstance(self.INPUTS, Inputs)

    def test_repr_is_one_line(self) -> None:
        assert repr(self.INPUTS) == "<Inputs: 2 rows of 2 tokens>"
