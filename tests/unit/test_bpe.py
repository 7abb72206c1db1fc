"""Encoding one chunk, decoding, and recovering merges, against literals written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests import engines
from tests.kits.bpe import BYTES
from toksmith.engine import Encoder
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe import recover_merges
from toksmith.results import Batch
from toksmith.splitters import splitter

A, B, C, D = b"abcd"


def encode(engine: str, model: BPE, text: bytes) -> list[int]:
    return engines.encoder(engine, Pipeline(model)).encode(text, 1).tolist()


@pytest.mark.parametrize("engine", engines.ENGINES)
class TestEncoding:
    def test_the_earliest_merge_goes_first(self, engine: str) -> None:
        # bc before ab: "abc" becomes a, bc although ab stands further left.
        model = BPE((*BYTES, b"bc", b"ab"), [[B, C, 256], [A, B, 257]])
        assert encode(engine, model, b"abc") == [A, 256]
        assert encode(engine, model, b"abab") == [257, 257]

    def test_leftmost_goes_first(self, engine: str) -> None:
        model = BPE((*BYTES, b"aa"), [[A, A, 256]])
        assert encode(engine, model, b"aaaaa") == [256, 256, A]

    def test_one_occurrence_after_the_other(self, engine: str) -> None:
        # The merge of (aa, a) stands before (a, a): the second pair of "aaaa" is never reached.
        model = BPE((*BYTES, b"aa", b"aaa"), [[256, A, 257], [A, A, 256]])
        assert encode(engine, model, b"aaaa") == [257, A]

    def test_a_token_without_a_merge_needs_the_whole_chunk(self, engine: str) -> None:
        vocab = (*BYTES, b"abcd")
        merges = np.zeros((0, 3), np.uint32)
        assert encode(engine, BPE(vocab, merges), b"abcd") == [A, B, C, D]
        assert encode(engine, BPE(vocab, merges, whole_chunk_first=True), b"abcd") == [256]

    def test_the_whole_chunk_goes_before_the_merges(self, engine: str) -> None:
        vocab = (*BYTES, b"ab", b"bc", b"abc")
        merges = [[A, B, 256], [B, C, 257], [A, 257, 258]]
        assert encode(engine, BPE(vocab, merges), b"abc") == [256, C]
        assert encode(engine, BPE(vocab, merges, whole_chunk_first=True), b"abc") == [258]

    def test_equal_bytes_under_two_ids(self, engine: str) -> None:
        vocab = (*BYTES, b"ab", b"bc", b"abc", b"abc")
        merges = [[A, B, 256], [256, C, 259], [B, C, 257], [A, 257, 258]]
        assert encode(engine, BPE(vocab, merges), b"abc") == [259]
        assert encode(engine, BPE(vocab, merges, whole_chunk_first=True), b"abc") == [258]

    def test_bytes_keep_the_ids_that_the_vocabulary_gives_them(self, engine: str) -> None:
        vocab = (b"", b"ab", *reversed(BYTES))
        model = BPE(vocab, [[257 - A, 257 - B, 1]])
        assert encode(engine, model, b"ab\xff\x00") == [1, 2, 257]
        assert engines.decode(engine, Pipeline(model), np.array([1, 2], np.uint32)) == b"ab\xff"


@pytest.mark.parametrize("engine", engines.ENGINES)
class TestCalls:
    """Every call of an encoder, on one small pipeline."""

    @pytest.fixture
    def pipeline(self) -> Pipeline:
        vocab = (*BYTES, b"ab", b" ab", b"\xc3\xa9")
        merges = [[A, B, 256], [32, 256, 257], [195, 169, 258]]
        return Pipeline(BPE(vocab, merges), splitter("gpt2"))

    @pytest.fixture
    def encoder(self, engine: str, pipeline: Pipeline) -> Encoder:
        return engines.encoder(engine, pipeline)

    def test_encode_and_count(self, encoder: Encoder) -> None:
        ids = encoder.encode("ab abé".encode(), 1)
        assert ids.dtype == np.uint32
        assert ids.tolist() == [256, 257, 258]
        assert encoder.count("ab abé".encode(), 1) == 3
        assert encoder.count(b"", 1) == 0

    def test_spans(self, encoder: Encoder) -> None:
        found = encoder.encode_with_spans(["é abé".encode() + b"\xc3!", "ab", "é"], 1)
        assert found.ids.tolist() == [258, 257, 258, 195, 33, 256, 258]
        assert found.offsets.tolist() == [0, 5, 6, 7]
        assert found.byte_spans.dtype == found.spans.dtype == np.int64
        assert found.byte_spans.tolist() == [
            [0, 2], [2, 5], [5, 7], [7, 8], [8, 9], [0, 2], [0, 2]
        ]  # fmt: skip
        assert found.spans.tolist() == [[0, 1], [1, 4], [4, 5], [5, 6], [6, 7], [0, 2], [0, 1]]

    def test_slices(self, encoder: Encoder) -> None:
        bounds = np.array([[0, 2], [2, 2], [2, 5]], np.int64)
        batch = encoder.encode_slices(b"ab ab", bounds, 1)
        assert batch == Batch(np.array([256, 257], np.uint32), np.array([0, 1, 1, 2]))

    def test_texts(self, encoder: Encoder) -> None:
        texts = ["ab", "", b" ab\xff", bytearray(b"ab"), memoryview(b"abab")[1:]]
        assert encoder.encode_texts(texts, 1).to_lists() == [[256], [], [257, 255], [256], [B, 256]]
        assert len(encoder.encode_texts([], 1)) == 0

    def test_lists(self, encoder: Encoder) -> None:
        assert encoder.encode_list("ab ab!", 1) == [256, 257, 33]
        for cache_bytes in (None, 0, 1 << 20, 1 << 26):
            encoder.forget(cache_bytes)
            assert encoder.encode_list("ab ab!", 1) == [256, 257, 33]

    def test_decode(self, engine: str, pipeline: Pipeline) -> None:
        ids = np.array([257, 258, 0xFF], np.uint32)
        assert engines.decode(engine, pipeline, ids) == b" ab\xc3\xa9\xff"


def recover(engine: str, vocab: tuple[bytes, ...]) -> list[list[int]]:
    if engine == "kernel":
        from toksmith.engine.portable import recover_merges as recover_in_kernel

        return recover_in_kernel(vocab).tolist()
    return recover_merges(vocab).tolist()


@pytest.mark.parametrize("engine", engines.ENGINES)
class TestRecoverMerges:
    def test_two_parts_become_one(self, engine: str) -> None:
        vocab = (*BYTES, b"ab", b"abc", b"abcab")
        assert recover(engine, vocab) == [[A, B, 256], [256, C, 257], [257, 256, 258]]

    def test_a_token_that_stays_in_three_parts_has_none(self, engine: str) -> None:
        vocab = (*BYTES, b"ab", b"abcd")
        assert recover(engine, vocab) == [[A, B, 256]]

    def test_a_part_of_higher_rank_counts(self, engine: str) -> None:
        # tiktoken joins whatever neighbours make a token: a, b to ab, then ab, c to abc.
        vocab = (*BYTES, b"abc", b"ab")
        assert recover(engine, vocab) == [[257, C, 256], [A, B, 257]]

    def test_unused_and_repeated_ids_are_passed_over(self, engine: str) -> None:
        vocab = (*BYTES, b"", b"ab", b"ab")
        assert recover(engine, vocab) == [[A, B, 257]]
