"""Reads and writes BPE models of a tokenizer.json: on bytes, on characters, with scored pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toksmith._base import files
from toksmith._base.byte_alphabet import spell, unspell, unspell_all
from toksmith._base.lazy import np, npt
from toksmith.engine.portable import TokenIds
from toksmith.errors import FormatError, UnsupportedError, warn
from toksmith.formats import byte_spelling
from toksmith.formats.huggingface.entries import Entry, NeedsPlainJson
from toksmith.formats.huggingface.piece_merges import find_piece_merges
from toksmith.formats.huggingface.sentencepiece import found_before_merging
from toksmith.formats.huggingface.vocab import (
    read_flag,
    read_ids,
    read_merges,
    read_unk,
    vocab_by_id,
    write_ids,
)
from toksmith.framing import AddedToken
from toksmith.models import BPE, CharacterBPE, SentencePieceBPE
from toksmith.pipeline import Pipeline

_ENTRIES = (
    *("type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"),
    *("fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"),
)


def read_bytes(entry: Entry, added: list[AddedToken]) -> BPE:
    """Return a model whose tokens are spelled bytes."""
    entry.only(*_ENTRIES)
    entry.expect("continuing_subword_prefix", None, "")
    entry.expect("end_of_word_suffix", None, "")
    entry.expect("byte_fallback", None, False)
    entry.expect("ignore_merges", None, False, True)
    path = entry.path
    whole_chunk_first = bool(entry.value.get("ignore_merges", False))
    ids = read_ids(entry, added)
    merges: Any = read_merges(entry.get("merges"), ids)
    if isinstance(ids, dict):
        found = _read_merges(entry.get("merges"))
        merges = byte_spelling.merges_by_id(path, *found, ids, "merge", 0)
        vocab = _bytes_by_id(path, ids, added, merges, whole_chunk_first)
    else:
        vocab = _spelled_bytes(ids, added)
    dropout = _read_dropout(entry)
    model = BPE(vocab, merges, whole_chunk_first, dropout=dropout)
    if not model.missing_bytes or entry.get("unk_token").value is None:
        return model  # the unknown token has no use if every byte has an id
    unk_id = read_unk(entry, ids)
    padded = (*vocab, *[b""] * (unk_id + 1 - len(vocab)))  # it may be an added token
    fuse_unk = read_flag(entry, "fuse_unk")
    return BPE(padded, merges, whole_chunk_first, unk_id, fuse_unk, dropout)


def _spelled_bytes(ids: TokenIds, added: list[AddedToken]) -> tuple[bytes, ...]:
    """Return the bytes of each id, for a vocabulary that the kernel holds."""
    held = {token.content: found for token in added
            if (found := ids.get(token.content)) is not None}  # fmt: skip
    dropped = [
        token_id
        for content, token_id in held.items()
        if not ids.is_merged(token_id) and len(unspell(content) or b"") != 1
    ]
    if (vocab := ids.spelled_bytes(dropped)) is None:
        raise NeedsPlainJson  # a token is outside of the alphabet
    return vocab


def _bytes_by_id(
    path: Path,
    ids: dict[str, int],
    added: list[AddedToken],
    merges: npt.NDArray[np.uint32],
    whole_chunk_first: bool,
) -> tuple[bytes, ...]:
    """Return the bytes of each id."""
    tokens = dict(zip(ids, unspell_all(ids), strict=True))
    # An added token is removed from the model, unless the model can produce it.
    held = list(dict.fromkeys(token.content for token in added if token.content in ids))
    used = np.isin([ids[content] for content in held], merges)
    for content, kept in zip(held, used.tolist(), strict=True):
        if not kept and len(tokens[content] or b"") != 1:
            del tokens[content]
    return _vocab_of_bytes(path, ids, tokens, whole_chunk_first)


def _read_dropout(entry: Entry) -> float | None:
    """Return the probability that a merge is skipped, with a warning; ``None`` for 0."""
    dropout = entry.get("dropout")
    if dropout.value in (None, 0):
        return None
    if type(dropout.value) not in (int, float):
        raise dropout.refusal("a dropout is a number from 0 to 1")
    warn(
        f"{entry.path}: {dropout.name} is {dropout.value}: tokenizers skips merges at random, but "
        "encode() skips none, so that ids are reproducible; use sample() for random segmentations"
    )
    return float(dropout.value)


def _vocab_of_bytes(
    path: Path, ids: dict[str, int], tokens: dict[str, bytes | None], whole_chunk_first: bool
) -> tuple[bytes, ...]:
    """Return the bytes of each id; some tokens may not spell bytes."""
    held = files.vocab_by_id(
        path, {token: ids[text] for text, token in tokens.items() if token is not None}
    )
    outside = [text for text, token in tokens.items() if token is None]
    if not outside:
        return held
    files.check_highest(path, max(ids[text] for text in outside), len(ids))
    vocab = [*held, *[b""] * (max(ids[text] for text in outside) + 1 - len(held))]
    for text in outside:
        if vocab[ids[text]]:
            raise FormatError(path, f"id {ids[text]} belongs to two tokens, one of them {text!r}")
        vocab[ids[text]] = byte_spelling.bytes_outside(text, whole_chunk_first)
    return tuple(vocab)


def read_characters(entry: Entry, added: list[AddedToken]) -> CharacterBPE:
    """Return a model whose tokens are text."""
    entry.only(*_ENTRIES)
    ids = read_ids(entry, added)
    prefix, suffix = (
        "" if entry.get(key).value is None else entry.text(key)
        for key in ("continuing_subword_prefix", "end_of_word_suffix")
    )
    merges: Any = read_merges(entry.get("merges"), ids)
    if isinstance(ids, dict):
        merges = _merges_by_id(entry, ids, prefix)
    return CharacterBPE(
        vocab=vocab_by_id(entry, ids),
        merges=merges,
        unk_id=None if entry.get("unk_token").value is None else read_unk(entry, ids),
        fuse_unk=read_flag(entry, "fuse_unk"),
        byte_fallback=read_flag(entry, "byte_fallback"),
        continuing_prefix=prefix,
        word_suffix=suffix,
        whole_chunk_first=read_flag(entry, "ignore_merges"),
        dropout=_read_dropout(entry),
    )


def _merges_by_id(entry: Entry, ids: dict[str, int], prefix: str) -> npt.NDArray[np.uint32]:
    """Return the merges; if a merge occurs twice, the later rank counts."""
    lefts, rights = _read_merges(entry.get("merges"))
    if prefix:
        for place, right in enumerate(rights):
            if not right.startswith(prefix):
                raise FormatError(
                    entry.path,
                    f"the right side of merge {place} is {right!r}, but a token inside a word must "
                    f"start with {prefix!r}",
                )
    merges = byte_spelling.merges_by_id(entry.path, lefts, rights, ids, "merge", 0, prefix)
    pairs = merges[:, 0].astype(np.uint64) << np.uint64(32) | merges[:, 1]
    ordered = np.sort(pairs)
    if (ordered[1:] != ordered[:-1]).all():
        return merges
    last = {pair: place for place, pair in enumerate(pairs.tolist())}
    return merges[sorted(last.values())]


def _read_merges(entry: Entry) -> tuple[list[str], list[str]]:
    """Return the left and the right tokens, from pairs or, in older files, strings ``"a b"``."""
    merges = entry.of(list)
    if set(map(type, merges)) <= {str}:
        if (found := byte_spelling.split_pairs(merges)) is not None:
            return found
        merges = [merge.split(" ") for merge in merges]
    for place, merge in enumerate(merges):
        if type(merge) is not list or list(map(type, merge)) != [str, str]:
            raise FormatError(
                entry.path, f"merge {place} is {entry.value[place]!r:.60}, not two tokens"
            )
    return [left for left, _ in merges], [right for _, right in merges]


def write_bytes(pipeline: Pipeline, model: BPE) -> dict[str, Any]:
    """Return the entry of a byte-level model."""
    return _entry(
        dropout=model.dropout,
        **_unknown(pipeline, model),
        ignore_merges=model.whole_chunk_first,
        vocab=byte_spelling.spell_vocab(pipeline, "huggingface"),
        merges=[f"{left} {right}" for left, right in byte_spelling.spell_merges(model)],
    )


def _unknown(pipeline: Pipeline, model: BPE) -> dict[str, Any]:
    """Return the entries for bytes without an id."""
    if model.unk_id is None:
        return {}
    added = {token.id: token.content for token in pipeline.framing.added_tokens if not token.alias}
    token = added.get(model.unk_id) or spell(model.vocab[model.unk_id])
    return {"unk_token": token, "fuse_unk": model.fuse_unk}


def write_characters(pipeline: Pipeline, model: CharacterBPE) -> dict[str, Any]:
    """Return the entry of a model on characters.

    Raises:
        UnsupportedError: ``tokenizers`` would compute another result for a merge.
    """
    ids = write_ids(pipeline)
    names = {token_id: token for token, token_id in ids.items()}
    merges = []
    for rank, (left, right, new) in enumerate(model.merges.tolist()):
        parts = names.get(left, ""), names.get(right, "")
        made = parts[0] + parts[1].removeprefix(model.continuing_prefix)
        if not all(parts) or ids.get(made) != new:
            raise UnsupportedError(
                f"huggingface merges {parts[0]!r} and {parts[1]!r} (rank {rank}) to {made!r}, but "
                f"in this model {names.get(new, '')!r} (id {new})"
            )
        if not parts[1].startswith(model.continuing_prefix):
            raise UnsupportedError(
                f"huggingface removes {model.continuing_prefix!r} from the right side of each "
                f"merge, but merge {rank} has {parts[1]!r} there"
            )
        merges.append(list(parts))
    return _entry(
        dropout=model.dropout,
        unk_token=None if model.unk_id is None else names[model.unk_id],
        continuing_subword_prefix=model.continuing_prefix or None,
        end_of_word_suffix=model.word_suffix or None,
        fuse_unk=model.fuse_unk,
        byte_fallback=model.byte_fallback,
        ignore_merges=model.whole_chunk_first,
        vocab=ids,
        merges=merges,
    )


def write_scored(pipeline: Pipeline, model: SentencePieceBPE) -> dict[str, Any]:
    """Return the entry of a SentencePiece model, with a list of merges in place of scores.

    Raises:
        UnsupportedError: no list of merges gives the same tokens.
    """
    added = found_before_merging(pipeline)
    return _entry(
        unk_token=None if model.unk_id is None else model.vocab[model.unk_id].decode(),
        fuse_unk=True,
        byte_fallback=model.byte_fallback,
        vocab=write_ids(pipeline),
        merges=[list(merge) for merge in find_piece_merges(model, added)],
    )


def _entry(**held: Any) -> dict[str, Any]:
    """Return a model entry with every key that ``tokenizers`` writes, in its order."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
    } | held
