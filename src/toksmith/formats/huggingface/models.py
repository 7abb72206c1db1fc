"""Reads and writes the model of a tokenizer.json: word models here, others by their own module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toksmith._base.checks import assert_never
from toksmith._base.lazy import np
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats.huggingface import bpe, unigram
from toksmith.formats.huggingface.entries import Entry
from toksmith.formats.huggingface.vocab import read_ids, read_unk, vocab_by_id, write_ids
from toksmith.framing import AddedToken
from toksmith.models import (
    BPE,
    CharacterBPE,
    LongestMatch,
    Model,
    SentencePieceBPE,
    Unigram,
    WordLevel,
    WordPiece,
)
from toksmith.pipeline import Pipeline

_MOST = 2**64 - 1  # the largest usize of tokenizers


def read_wordpiece(entry: Entry, added: list[AddedToken]) -> WordPiece:
    """Return a model of type WordPiece."""
    entry.only(
        *("type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab")
    )
    ids = read_ids(entry, added)
    limit = entry.get("max_input_chars_per_word")
    if limit.of(int) < 0:
        raise FormatError(entry.path, f"{limit.name} is {limit.value}: use 0 or more")
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
        UnsupportedError: the model has no unknown token.
    """
    if model.unk_id is None:
        raise UnsupportedError(
            "huggingface fails on unknown words if there is no unknown token, but this model drops "
            "them; use a model with an unknown token"
        )
    return {
        "type": "WordLevel",
        "vocab": write_ids(pipeline),
        "unk_token": model.vocab[model.unk_id].decode(),
    }


# Old files have no type; the first type whose entries they have applies.
_TELLING = {
    "BPE": {"vocab", "merges"},
    "WordPiece": {
        *("vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"),
    },
    "WordLevel": {"vocab", "unk_token"},
    "Unigram": {"vocab"},
}
_READ: dict[str, Callable[[Entry, list[AddedToken]], Model]] = {
    "BPE": bpe.read_characters,
    "WordPiece": read_wordpiece,
    "WordLevel": read_word_level,
    "Unigram": unigram.read,
}


def read(entry: Entry, added: list[AddedToken], byte_level: bool) -> Model:
    """Return the model.

    Args:
        entry: the file's model.
        added: the added tokens; one that the vocabulary holds stays out of a byte-level model.
        byte_level: whether the model takes bytes.

    Raises:
        FormatError: the file is damaged.
        UnsupportedError: toksmith does not support an entry.
    """
    if byte_level:
        return bpe.read_bytes(entry, added)
    kind = _kind(entry)
    if kind not in _READ:
        raise entry.get("type").refusal()
    return _READ[kind](entry, added)


def is_byte_level(entry: Entry) -> bool:
    """Return whether the model can take bytes in place of their spelling: BPE that only merges."""
    held = entry.of(dict)
    options = ("continuing_subword_prefix", "end_of_word_suffix", "byte_fallback")
    return _kind(entry) == "BPE" and all(held.get(key) in (None, "", False) for key in options)


def _kind(entry: Entry) -> str:
    held = entry.of(dict)
    if held.get("type") is not None:
        return entry.text("type")
    for kind, keys in _TELLING.items():
        if keys <= held.keys():
            return kind
    raise FormatError(entry.path, f"{entry.name} has no type, and no entries that determine one")


def write(pipeline: Pipeline) -> dict[str, Any]:
    """Return the entry of the pipeline's model.

    Raises:
        UnsupportedError: ``tokenizers`` has no such model.
    """
    return _entry(pipeline.model, pipeline)


def _entry(model: Model, pipeline: Pipeline) -> dict[str, Any]:
    match model:
        case BPE():
            return bpe.write_bytes(pipeline, model)
        case CharacterBPE():
            return bpe.write_characters(pipeline, model)
        case SentencePieceBPE():
            return bpe.write_scored(pipeline, model)
        case Unigram():
            return unigram.write(pipeline, model)
        case WordPiece():
            return write_wordpiece(pipeline, model)
        case WordLevel():
            return write_word_level(pipeline, model)
        case LongestMatch():
            return _write_longest_match(model, pipeline)
        case _:
            assert_never(model)


def _write_longest_match(model: LongestMatch, pipeline: Pipeline) -> dict[str, Any]:
    texts = [token for i, token in enumerate(model.vocab) if token and i != model.unk_id]
    if model.unit == "bytes" or any(len(token.decode(errors="replace")) > 1 for token in texts):
        raise UnsupportedError(
            "huggingface has no longest-match model: its WordPiece replaces a whole word by the "
            "unknown token if one character is unknown"
        )
    if model.fuse_unk and model.unk_id is not None and len(model.vocab[model.unk_id].decode()) == 1:
        raise UnsupportedError(
            "huggingface matches every character of the vocabulary, so it would not fuse the "
            f"unknown token {model.vocab[model.unk_id].decode()!r} with its neighbours"
        )
    # Without merges, the result of BPE is its initial characters.
    no_merges = np.empty((0, 3), np.uint32)
    characters = CharacterBPE(model.vocab, no_merges, model.unk_id, model.fuse_unk)
    return bpe.write_characters(pipeline, characters)
