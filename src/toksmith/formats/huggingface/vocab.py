"""Reads and writes the vocabularies of a tokenizer.json: tokens as text, each with its id."""

from __future__ import annotations

from typing import TypeAlias

from toksmith._base import files
from toksmith.engine.portable import TokenIds
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats import checks
from toksmith.formats.huggingface.entries import Entry, NeedsPlainJson
from toksmith.formats.huggingface.framing import check_added_ids, find_misnumbered
from toksmith.framing import AddedToken
from toksmith.models.bpe import FittingMerges
from toksmith.pipeline import Pipeline

Ids: TypeAlias = "dict[str, int] | TokenIds"
"""The ids of a model's tokens."""


def kernel_ids(entry: Entry, kind: type) -> TokenIds | None:
    """Return the value of an entry if the kernel has read it; ``None`` if it is JSON.

    Args:
        entry: the vocabulary or the merges.
        kind: the type of the JSON value.
    """
    value: TokenIds = entry.value
    if type(value).__name__ != "TokenIds":
        return None
    if (value.scores is None) != (kind is dict):
        raise NeedsPlainJson
    return value


def read_merges(entry: Entry, ids: Ids) -> FittingMerges | None:
    """Return the merges if the kernel has read them; ``None`` if they are JSON."""
    if isinstance(ids, dict):
        return None
    if ids.merges is None or type(entry.value).__name__ != "TokenIds":
        raise NeedsPlainJson
    merges = FittingMerges("I")
    merges.frombytes(ids.merges)
    return merges


def read_ids(model: Entry, added: list[AddedToken]) -> Ids:
    """Return the ids of a model's tokens after checks.

    Args:
        model: the entry of the model.
        added: the added tokens, which must be consistent with the vocabulary.
    """
    ids: Ids | None = kernel_ids(model.get("vocab"), dict)
    if ids is None:
        ids = model.get("vocab").of(dict)
        files.check_ids(model.path, ids)
    check_added_ids(model.path, added, ids)
    return ids


def vocab_by_id(model: Entry, ids: Ids) -> tuple[bytes, ...]:
    """Return the token of each id, without empty tokens."""
    if not isinstance(ids, dict):
        return ids.tokens
    return files.vocab_by_id(model.path, {text.encode(): i for text, i in ids.items() if text})


def read_unk(model: Entry, ids: Ids) -> int:
    """Return the id of the unknown token.

    Raises:
        FormatError: the vocabulary lacks it, so ``tokenizers`` would fail on unknown text.
    """
    token = model.text("unk_token")
    if token not in ids or not token:
        raise FormatError(
            model.path, f"{model.name}.unk_token is {token!r}, which is not in the vocabulary"
        )
    return ids[token]


def read_flag(model: Entry, key: str) -> bool:
    """Return a boolean entry; False if it is null or missing."""
    entry = model.get(key)
    return entry.value is not None and entry.of(bool)


def write_ids(pipeline: Pipeline) -> dict[str, int]:
    """Return the ids of a model's tokens.

    Raises:
        UnsupportedError: two ids have the same token, a token is no text, or ``tokenizers`` would
            give an added token another id.
    """
    model, name = pipeline.model, "huggingface"
    checks.check_unique_tokens(model, name)
    checks.check_no_aliases(pipeline, name)
    ids: dict[str, int] = {}
    for token_id, token in enumerate(model.vocab):
        if not token:
            continue
        try:
            ids[token.decode()] = token_id
        except UnicodeDecodeError:
            raise UnsupportedError(
                f"{name} stores this model's tokens as text, but id {token_id} ({token!r}) is "
                "invalid UTF-8"
            ) from None
    if wrong := find_misnumbered(pipeline.framing.added_tokens, ids):
        added, expected = wrong
        raise UnsupportedError(
            f"{name} numbers added tokens after the vocabulary: {added.content!r} would be id "
            f"{expected} there, but is {added.id} here"
        )
    return ids
