"""The methods of a tokenizer as a whole: their names and parameters."""

from inspect import Parameter, signature

import pytest

import toksmith
from toksmith import Tokenizer
from toksmith.errors import OptionError

TOK = toksmith.train(texts=["low lower lowest"], vocab_size=259)

POSITIONAL = {
    "encode": ["text"],
    "encode_array": ["text"],
    "encode_batch": ["texts", "pairs"],
    "encode_file": ["path"],
    "encoding": ["text"],
    "prepare": ["texts", "pairs"],
    "prepare_ragged": ["texts", "pairs"],
    "encodings": ["texts", "pairs"],
    "encode_words": ["words"],
    "count": ["text"],
    "count_batch": ["texts"],
    "truncate": ["text", "max_tokens"],
    "chunks": ["text", "max_tokens"],
    "decode": ["ids"],
    "decode_bytes": ["ids"],
    "decode_batch": ["batch"],
    "decode_bytes_batch": ["batch"],
    "decode_spans": ["ids"],
    "decoder": [],
    "explain": ["text"],
    "explain_token": ["token"],
    "sample": ["text"],
    "nbest": ["text", "size"],
    "samples": ["text", "count"],
    "segmentation_entropy": ["text"],
    "save": ["path"],
    "dumps": ["format"],
    "forget": [],
    "frame": ["ids", "pair"],
    "normalize": ["text"],
    "score": ["token_id"],
    "spelling": ["token_id"],
    "id_of_spelling": ["spelling"],
    "with_special_tokens": ["tokens"],
    "with_template": [],
    "with_split": ["split"],
    "with_matching": ["matching"],
    "token_bytes": ["token_id"],
    "token_id": ["token"],
    "token_text": ["token_id"],
}


def test_data_is_positional_and_all_else_keyword_only() -> None:
    found = {
        name: [
            each.name
            for each in signature(getattr(Tokenizer, name)).parameters.values()
            if each.kind is Parameter.POSITIONAL_OR_KEYWORD and each.name != "self"
        ]
        for name in dir(Tokenizer)
        if not name.startswith("_") and callable(getattr(Tokenizer, name))
    }
    assert found == POSITIONAL


def test_a_second_positional_argument_is_an_error() -> None:
    with pytest.raises(TypeError):
        TOK.encode("low", "encode")  # type: ignore[misc]
    with pytest.raises(TypeError):
        TOK.decode([257], "replace")  # type: ignore[misc]


class TestRawErrors:
    """What used to end in an error of NumPy, of codecs or of Python."""

    def test_errors_that_are_no_handler(self) -> None:
        for call in (TOK.decode, TOK.decode_batch):
            given = [[255]] if call == TOK.decode_batch else [255]
            with pytest.raises(OptionError, match="errors is 'zzz': use 'replace', 'strict', 'ig"):
                call(given, errors="zzz")  # type: ignore[operator]
        with pytest.raises(OptionError, match="errors is None"):
            TOK.decoder(errors=None)  # type: ignore[arg-type]
        assert TOK.decode([255], errors="backslashreplace") == r"\xff"

    def test_text_where_ids_are_taken(self) -> None:
        for call in (TOK.decode, TOK.decode_bytes):
            with pytest.raises(OptionError, match=r"takes ids, not text \('abc'\): did you"):
                call("abc")  # type: ignore[operator]

    def test_lists_where_one_text_is_taken(self) -> None:
        for call in (TOK.encode, TOK.count, TOK.encoding, TOK.encode_array):
            with pytest.raises(OptionError, match="not list: for a list of texts, use"):
                call(["a", "b"])  # type: ignore[operator]

    def test_a_value_that_is_not_a_pipeline(self) -> None:
        for wrong in (5, None, "gpt2"):
            with pytest.raises(OptionError, match=r"takes a Pipeline, not .*toksmith\.load"):
                Tokenizer(wrong)  # type: ignore[arg-type]

    def test_threads_of_decode(self) -> None:
        ids = TOK.encode("low lower lowest " * 20_000)
        assert TOK.decode(ids, threads=3) == TOK.decode(ids, threads=1)
        with pytest.raises(OptionError, match="threads is 0"):
            TOK.decode(ids, threads=0)
