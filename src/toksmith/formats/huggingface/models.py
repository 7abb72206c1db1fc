"""Reads and writes the model of a tokenizer.json: chooses the module for its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toksmith._base.checks import assert_never
from toksmith._base.lazy import np
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats.huggingface import bpe, unigram, words
from toksmith.formats.huggingface.entries import Entry
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

# Files of old have no type. They are of the first kind whose entries they have.
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
    "WordPiece": words.read_wordpiece,
    "WordLevel": words.read_word_level,
    "Unigram": unigram.read,
}


def read(entry: Entry, added: list[AddedToken], byte_level: bool) -> Model:
    """Return the model.

    Args:
        entry: the file's model.
        added: the added tokens; one that the vocabulary holds stays out of a byte-level model.
        byte_level: the pre-tokenizer turns text into spelled bytes.

    Raises:
        FormatError: the file is damaged.
        UnsupportedError: toksmith does not support an entry.
    """
    kind = _kind(entry)
    if byte_level and kind == "BPE":
        return bpe.read_bytes(entry, added)
    if byte_level or kind not in _READ:
        raise entry.get("type").refusal()
    return _READ[kind](entry, added)


def _kind(entry: Entry) -> str:
    held = entry.of(dict)
    if held.get("type") is not None:
        return entry.text("type")
    for kind, keys in _TELLING.items():
        if keys <= held.keys():
            return kind
    raise FormatError(entry.path, f"{entry.name} has no type, and no entries that tell it")


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
            return words.write_wordpiece(pipeline, model)
        case WordLevel():
            return words.write_word_level(pipeline, model)
        case LongestMatch():
            return _write_longest_match(model, pipeline)
        case _:
            assert_never(model)


def _write_longest_match(model: LongestMatch, pipeline: Pipeline) -> dict[str, Any]:
    texts = [token for i, token in enumerate(model.vocab) if token and i != model.unk_id]
    if model.unit == "bytes" or any(len(token.decode(errors="replace")) > 1 for token in texts):
        raise UnsupportedError(
            "huggingface has no model that takes the longest token at each place: its WordPiece "
            "makes a whole word unknown where one character is"
        )
    if model.fuse_unk and model.unk_id is not None and len(model.vocab[model.unk_id].decode()) == 1:
        raise UnsupportedError(
            "huggingface finds every character of the vocabulary in a text, and would not fuse the "
            f"unknown token {model.vocab[model.unk_id].decode()!r} with its neighbours"
        )
    # Characters alone are what BPE starts with; without merges it ends with them, too.
    no_merges = np.empty((0, 3), np.uint32)
    characters = CharacterBPE(model.vocab, no_merges, model.unk_id, model.fuse_unk)
    return bpe.write_characters(pipeline, characters)
