"""The vocabulary of a tokenizer: by hand, and after a round trip."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.kits.bpe import BYTES
from toksmith import Tokenizer
from toksmith.errors import OptionError, UnknownTokenError, UnsupportedError
from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE, WordLevel
from toksmith.pipeline import Pipeline

TOK = toksmith.train(texts=["low lower lowest"], vocab_size=260, special_tokens=["<|end|>"])
GAPS = Tokenizer(
    Pipeline(
        WordLevel((b"low", b"", b"er")),
        framing=Framing((AddedToken("<e>", 5), AddedToken("<end>", 5, alias=True))),
    )
)


class TestVocab:
    def test_ids_by_token(self) -> None:
        assert TOK.vocab[b"low"] == 257
        assert TOK.vocab[b"<|end|>"] == 259
        assert len(TOK.vocab) == 260
        assert list(TOK.vocab)[255:] == [b"\xff", b"lo", b"low", b" low", b"<|end|>"]
        assert isinstance(TOK.vocab, Mapping)
        assert dict(TOK.vocab) == TOK.vocab

    def test_is_read_only(self) -> None:
        with pytest.raises(TypeError):
            TOK.vocab[b"x"] = 1  # type: ignore[index]

    def test_missing_tokens_and_ids(self) -> None:
        assert b"lower" not in TOK.vocab
        assert "low" not in TOK.vocab
        assert TOK.vocab.get(b"lower") is None
        with pytest.raises(UnknownTokenError, match=r"use bytes, b'low'"):
            TOK.vocab["low"]  # type: ignore[index]
        with pytest.raises(KeyError):
            TOK.vocab[b""]

    def test_gaps_and_aliases(self) -> None:
        assert dict(GAPS.vocab) == {b"low": 0, b"er": 2, b"<e>": 5, b"<end>": 5}
        assert all(GAPS.token_id(token) == token_id for token, token_id in GAPS.vocab.items())
        assert b"" not in GAPS.vocab

    def test_several_ids_with_the_same_bytes(self) -> None:
        tok = Tokenizer(Pipeline(BPE((*BYTES, b"ab", b"ab"), np.array([[97, 98, 257]], np.uint32))))
        assert tok.vocab[b"ab"] == tok.token_id(b"ab") == 256
        assert (len(tok.vocab), len(tok), tok.tokens[257]) == (257, 258, b"ab")


class TestTokens:
    def test_bytes_by_id(self) -> None:
        assert TOK.tokens[257] == b"low"
        assert TOK.tokens[-1] == b"<|end|>"
        assert TOK.tokens[97:100] == [b"a", b"b", b"c"]
        assert len(TOK.tokens) == TOK.vocab_size == 260
        assert isinstance(TOK.tokens, Sequence)
        assert TOK.tokens.index(b"low") == 257
        assert TOK.tokens == [*BYTES, b"lo", b"low", b" low", b"<|end|>"]
        assert TOK.tokens != [b"low"]
        with pytest.raises(IndexError, match="id 260 of a vocabulary of 260 ids"):
            TOK.tokens[260]
        with pytest.raises(TypeError):
            TOK.tokens[0] = b""  # type: ignore[index]

    def test_an_id_without_a_token_is_empty(self) -> None:
        assert list(GAPS.tokens) == [b"low", b"", b"er", b"", b"", b"<e>"]

    def test_texts(self) -> None:
        assert (TOK.token_text(258), TOK.token_text(0xC3), TOK.token_text(259)) == (
            *(" low", "\ufffd"),
            "<|end|>",
        )
        with pytest.raises(UnknownTokenError, match="no token has id 260"):
            TOK.token_text(260)
        with pytest.raises(UnknownTokenError, match="no token has id 1"):
            GAPS.token_text(1)
        assert TOK.token_id("low") == TOK.token_id(b"low") == 257


class TestTokenizer:
    def test_len_and_in(self) -> None:
        assert len(TOK) == 260
        assert "low" in TOK
        assert b"\xff" in TOK
        assert "<|end|>" in TOK
        assert "lower" not in TOK
        assert "" not in TOK
        with pytest.raises(OptionError, match="use a token, as str or bytes"):
            257 in TOK  # noqa: B015

    def test_equality_is_by_content(self, tmp_path: Path) -> None:
        TOK.save(tmp_path / "a.json")
        TOK.save(tmp_path / "b.model")
        same = (
            toksmith.load(tmp_path / "a.json"),
            toksmith.load(tmp_path / "b.model"),
            pickle.loads(pickle.dumps(TOK)),
            copy.deepcopy(TOK),
            toksmith.train(texts=["low lower lowest"], vocab_size=260, special_tokens=["<|end|>"]),
            Tokenizer(TOK.pipeline.with_name("mine")),
        )
        assert all(each == TOK and hash(each) == hash(TOK) for each in same)
        assert len({TOK, *same}) == 1

    def test_different_tokenizers_are_not_equal(self) -> None:
        train = {"texts": ["low lower lowest"], "special_tokens": ["<|end|>"]}
        others = [
            toksmith.train(**train, vocab_size=259),
            toksmith.train(**train, vocab_size=260, split="gpt2"),
            toksmith.train(**{**train, "special_tokens": ["<|END|>"]}, vocab_size=260),
            GAPS,
            "tokenizer",
        ]
        assert all(other != TOK for other in others)

    def test_repr_is_one_line(self) -> None:
        assert repr(TOK) == "<Tokenizer BPE, 260 ids, 1 special>"
        assert (
            repr(GAPS.vocab)
            == "<Vocabulary: 4 tokens: b'low': 0, b'er': 2, b'<e>': 5, b'<end>': 5>"
        )
        assert repr(TOK.tokens) == (
            r"<Tokens: 260 ids: b'\x00', b'\x01', b'\x02', b'\x03', b'\x04', b'\x05', …>"
        )
        long = Tokenizer(Pipeline(WordLevel(tuple(b"\n" * 900 + bytes([i]) for i in range(99)))))
        assert max(map(len, (repr(long), repr(long.vocab), repr(long.tokens)))) <= 200


class TestMergeTable:
    def test_rows(self) -> None:
        assert list(TOK.merge_table) == [
            (0, 108, 111, 256, b"lo", 3),
            (1, 256, 119, 257, b"low", 3),
            (2, 32, 257, 258, b" low", 2),
        ]
        assert TOK.merge_table[-1].bytes == b" low"
        assert TOK.merges == [(108, 111), (256, 119), (32, 257)]
        with pytest.raises(IndexError, match="merge 3 of 3"):
            TOK.merge_table[3]

    def test_prints_as_a_table(self) -> None:
        assert str(TOK.merge_table[1:]) == (
            "rank  left + right   id  token  count\n"
            "   1  lo + w        257  low        3\n"
            "   2  · + low       258  ·low       2"
        )
        assert repr(TOK.merge_table) == "<MergeTable: 3 merges: l + o, lo + w, · + low>"

    def test_without_a_record_there_are_no_counts(self, tmp_path: Path) -> None:
        TOK.save(tmp_path / "a.json")
        table = toksmith.load(tmp_path / "a.json").merge_table
        assert [row.count for row in table] == [None] * 3
        assert str(table[:1]) == "rank  left + right   id  token\n   0  l + o         256  lo"

    def test_a_long_table_is_cut_when_printed(self) -> None:
        tok = toksmith.train(texts=["ab" * 2**9 + "cd" * 2**8 + "efgh" * 80], vocab_size=280)
        table = tok.merge_table
        lines = str(table[:3]).splitlines()
        assert len(lines) == 4
        doubled = type(table)(np.zeros((100, 3), np.uint32), [b"\n" * 99])
        lines = str(doubled).splitlines()
        assert (len(lines), lines[41], lines[0].split()[0]) == (52, "… 50 more …", "rank")
        assert len(repr(doubled)) <= 200

    def test_continued_training_counts_its_own_merges(self) -> None:
        more = toksmith.train(
            texts=["slow slow slow"], vocab_size=262, continue_from=TOK
        ).merge_table
        assert [row.count for row in more] == [None, None, None, 3, 2]
        assert [row.bytes for row in more][3:] == [b"slow", b" slow"]

    def test_other_models_have_none(self) -> None:
        with pytest.raises(UnsupportedError, match="WordLevel has no list of merges"):
            GAPS.merge_table  # noqa: B018


class TestBatches:
    def test_counts(self) -> None:
        counts = TOK.count_batch(["low", "", "lower", b" low"])
        assert (counts.dtype, counts.tolist()) == (np.int64, [1, 0, 3, 1])
        assert TOK.count_batch([]).shape == (0,)
        assert TOK.count_batch(["<|end|>"], special="encode").tolist() == [1]

    def test_pairs(self) -> None:
        tok = Tokenizer(Pipeline(TOK.pipeline.model, framing=Framing(prefix=(1,), suffix=(2,))))
        assert tok.encode_batch(["low"], ["o"]) == [[257, 111]]
        framed = tok.encode_batch(["low", "l"], pairs=["o", ""], add_special_tokens=True)
        assert framed == [[1, 257, 2, 1, 111, 2], [1, 108, 2, 1, 2]]
        assert tok.encode_batch(["low", ""], add_special_tokens=True) == [[1, 257, 2], [1, 2]]
        assert framed[0].tolist() == tok.encode("low", pair="o", add_special_tokens=True)

    def test_encodings(self) -> None:
        found = TOK.encodings(["low", "é"])
        assert found == [TOK.encoding("low"), TOK.encoding("é")]
        (pair,) = TOK.encodings(["low"], ["er"])
        assert (pair.strings, pair.sequence, pair.pair) == (["low", "e", "r"], [0, 1, 1], "er")

    @pytest.mark.parametrize("call", ["encode_batch", "count_batch", "encodings", "prepare"])
    def test_the_error_names_the_place_of_a_value_that_is_not_text(self, call: str) -> None:
        for special in ("text", "encode"):
            for wrong, shown in ((float("nan"), "nan"), (None, "None"), (["a"], r"\['a'\]")):
                with pytest.raises(OptionError, match=rf"texts\[2\] is {shown}: each must be a "):
                    getattr(TOK, call)(["low", b"x", wrong, 5], special=special)
        with pytest.raises(OptionError, match=f"{call} takes a list of texts, not str; for one"):
            getattr(TOK, call)("low")
        with pytest.raises(OptionError, match=f"{call} takes a list of texts, not NoneType"):
            getattr(TOK, call)(None)

    def test_wrong_pairs(self) -> None:
        for call in (TOK.encode_batch, TOK.encodings, TOK.prepare):
            with pytest.raises(OptionError, match="1 text, 2 pairs"):
                call(["low"], ["a", "b"])
            with pytest.raises(OptionError, match=r"pairs\[0\] is None: each must be"):
                call(["low"], [None])
            with pytest.raises(OptionError, match="takes a list of texts as pairs, not str"):
                call(["low"], "a")


class TestIndexes:
    @pytest.mark.parametrize("index", ["a", 1.0, None, [1]])
    @pytest.mark.parametrize(
        ("held", "says"),
        [
            (TOK.tokens, "of a vocabulary of"),
            (TOK.merges, "of 3"),
            (TOK.merge_table, "of 3"),
            (TOK.encoding("abc"), "of an encoding of 3"),
            (TOK.encode_batch(["a", "b"]), "of a batch of 2"),
        ],
    )
    def test_values_that_are_no_index(self, held: Any, index: Any, says: str) -> None:
        with pytest.raises(OptionError, match=f"{says}.*: use a whole number or a slice, not"):
            held[index]

    def test_indexes_beyond_the_end(self) -> None:
        for held in (TOK.merges, TOK.merge_table, TOK.tokens, TOK.encoding("abc")):
            with pytest.raises(IndexError, match=r"999 of"):
                held[999]  # type: ignore[index]
        with pytest.raises(IndexError, match="token 999 of an encoding of 3"):
            TOK.encoding("abc").token_to_chars(999)

    def test_values_that_are_no_key(self) -> None:
        for key in ([1], 5, None):
            with pytest.raises(UnknownTokenError, match="keys of a vocabulary are bytes"):
                TOK.vocab[key]  # type: ignore[index]
            assert key not in TOK.vocab
            assert TOK.vocab.get(key) is None  # type: ignore[call-overload]

    def test_the_id_of_a_token_as_text(self) -> None:
        assert TOK.tokens.index("low") == TOK.tokens.index(b"low") == TOK.token_id("low") == 257
        assert "low" in TOK.tokens
        assert "xyz" not in TOK.tokens
        assert 257 not in TOK.tokens
        with pytest.raises(ValueError, match="'xyz' is not one token of this vocabulary"):
            TOK.tokens.index("xyz")
        with pytest.raises(OptionError, match="token is 5: use a token as str or bytes, not int"):
            TOK.tokens.index(5)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match=r"token is 5: .*token_bytes\(id\)"):
            TOK.token_id(5)  # type: ignore[arg-type]

    @pytest.mark.parametrize("skip", [True, False])
    def test_an_unknown_id_says_which_there_are(self, skip: bool) -> None:
        last = TOK.vocab_size - 1
        for call, ids in (
            (TOK.decode, [999999]),
            (TOK.decode, [-1]),
            (TOK.decode_bytes, [999999]),
            (TOK.decode_batch, [[97], [999999]]),
            (TOK.decoder(skip_special_tokens=skip).decode, [999999]),
        ):
            more: Any = {} if "decoder" in repr(call).lower() else {"skip_special_tokens": skip}
            with pytest.raises(UnknownTokenError, match=f"; ids go from 0 to {last}$"):
                call(ids, **more)


class TestMergesSequence:
    def test_equals_pairs_and_cannot_be_changed(self) -> None:
        merges = TOK.merges
        pairs = [(108, 111), (256, 119), (32, 257)]
        assert merges == pairs
        assert pairs == merges
        assert merges == tuple(pairs)
        assert merges != pairs[:2]
        assert merges[:2] == pairs[:2]
        assert merges[-1] == (32, 257)
        assert merges.index((256, 119)) == 1
        assert not hasattr(merges, "append")
        assert {merges: 1}[TOK.merges] == 1
        assert pickle.loads(pickle.dumps(merges)) == merges

    def test_repr_is_short(self) -> None:
        assert repr(TOK.merges[:1]) == "<Merges: 1 pair: (108, 111)>"
        shown = repr(toksmith.get("toksmith-small").merges)
        assert shown.startswith("<Merges: ")
        assert shown.endswith(", …>")
        assert len(shown) <= 200
        assert "\n" not in shown
