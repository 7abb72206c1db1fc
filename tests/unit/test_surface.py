"""The methods of a tokenizer as a whole: how they are called, and what they are called."""

from inspect import Parameter, signature

import pytest

import toksmith
from toksmith import Tokenizer

TOK = toksmith.train(texts=["low lower lowest"], vocab_size=259)

POSITIONAL = {
    "encode": ["text"],
    "encode_array": ["text"],
    "encode_batch": ["texts", "pairs"],
    "encode_file": ["path"],
    "encoding": ["text"],
    "prepare": ["texts", "pairs"],
    "encodings": ["texts", "pairs"],
    "count": ["text"],
    "count_batch": ["texts"],
    "truncate": ["text", "max_tokens"],
    "chunks": ["text", "max_tokens"],
    "decode": ["ids"],
    "decode_bytes": ["ids"],
    "decode_batch": ["batch"],
    "decoder": [],
    "explain": ["text"],
    "explain_token": ["token"],
    "sample": ["text"],
    "nbest": ["text", "size"],
    "save": ["path"],
    "forget": [],
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
