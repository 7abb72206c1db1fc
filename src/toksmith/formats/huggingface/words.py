"""Reads and writes WordPiece and WordLevel models of a tokenizer.json."""

from __future__ import annotations

from typing import Any

from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats.huggingface.entries import Entry
from toksmith.formats.huggingface.vocab import read_ids, read_unk, vocab_by_id, write_ids
from toksmith.framing import AddedToken
from toksmith.models import WordLevel, WordPiece
from toksmith.pipeline import Pipeline

_MOST = 2**64 - 1  # what tokenizers can count to


def read_wordpiece(entry: Entry, added: list[AddedToken]) -> WordPiece:
    """Return a model of type WordPiece."""
    entry.only(
        *("type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab")
    )
    ids = read_ids(entry, added)
    limit = entry.get("max_input_chars_per_word")
    if limit.of(int) < 0:
        raise FormatError(entry.path, f"{limit.name} is {limit.value}; wanted: 0 or more")
    return WordPiece(
        vocab_by_id(entry, ids),
        read_unk(entry, ids),
        entry.text("continuing_subword_prefix"),
        limit.value,
    )


def write_wordpiece(pipeline: Pipeline, model: WordPiece) -> dict[str, Any]:
    """Return the entry of a WordPiece model."""
    return {
        "type": "WordPiece",
        "unk_token": model.vocab[model.unk_id].decode(),
        "continuing_subword_prefix": model.prefix,
        "max_input_chars_per_word": min(model.max_characters, _MOST),
        "vocab": write_ids(pipeline),
    }


def read_word_level(entry: Entry, added: list[AddedToken]) -> WordLevel:
    """Return a model of type WordLevel."""
    entry.only("type", "unk_token", "vocab")
    ids = read_ids(entry, added)
    return WordLevel(vocab_by_id(entry, ids), read_unk(entry, ids))


def write_word_level(pipeline: Pipeline, model: WordLevel) -> dict[str, Any]:
    """Return the entry of a word model.

    Raises:
        UnsupportedError: it has no unknown token.
    """
    if model.unk_id is None:
        raise UnsupportedError(
            "huggingface fails at words that it does not know if there is no unknown token, and "
            "this model leaves them out; give it an unknown token"
        )
    return {
        "type": "WordLevel",
        "vocab": write_ids(pipeline),
        "unk_token": model.vocab[model.unk_id].decode(),
    }
