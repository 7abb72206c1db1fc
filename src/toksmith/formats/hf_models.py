"""The model of a tokenizer.json."""

from __future__ import annotations

from typing import Any

import numpy as np

from toksmith.byte_alphabet import unspell_all
from toksmith.errors import FormatError
from toksmith.formats import files, limits, spelled
from toksmith.formats.hf_entries import Entry
from toksmith.formats.hf_framing import check_added_ids
from toksmith.framing import AddedToken
from toksmith.models import BPE, Model
from toksmith.pipeline import Pipeline


def read(entry: Entry, added: list[AddedToken], byte_level: bool) -> Model:
    """Return the model.

    Args:
        entry: the file's model.
        added: the added tokens; one that the vocabulary holds stays out of a byte-level model.
        byte_level: the pre-tokenizer turns text into spelled bytes.

    Raises:
        FormatError: it is not what it should be.
        UnsupportedError: it has something that cannot be read yet.
    """
    if not byte_level:
        raise entry.refused()
    return _read_byte_bpe(entry, added)


def _read_byte_bpe(entry: Entry, added: list[AddedToken]) -> BPE:
    entry.only(
        *("type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"),
        *("fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"),
    )
    entry.expect("type", "BPE", None)  # older files have no type
    entry.expect("dropout", None, 0, 0.0)
    entry.expect("unk_token", None)
    entry.expect("continuing_subword_prefix", None, "")
    entry.expect("end_of_word_suffix", None, "")
    entry.expect("fuse_unk", None, False, True)  # nothing is unknown where every byte has an id
    entry.expect("byte_fallback", None, False)
    entry.expect("ignore_merges", None, False, True)
    path, ids = entry.path, entry.get("vocab").of(dict)
    files.check_ids(path, ids)
    merges = spelled.merges_by_id(path, *_read_merges(entry.get("merges")), ids, "merge", 0)
    check_added_ids(path, added, ids)
    tokens = dict(zip(ids, unspell_all(ids), strict=True))
    # An added token stays out of the model, unless the model can make it.
    held = list(dict.fromkeys(token.content for token in added if token.content in ids))
    used = np.isin([ids[content] for content in held], merges)
    for content, kept in zip(held, used.tolist(), strict=True):
        if not kept and len(tokens[content] or b"") != 1:
            del tokens[content]
    for text in (text for text, token in tokens.items() if token is None):
        raise entry.get("vocab").refused(text)
    vocab = {token: ids[text] for text, token in tokens.items() if token is not None}
    return BPE(
        files.vocab_by_id(path, vocab), merges, bool(entry.value.get("ignore_merges", False))
    )


def _read_merges(entry: Entry) -> tuple[list[str], list[str]]:
    """Return the left and the right tokens: of pairs, or of older files' strings ``"a b"``."""
    merges = entry.of(list)
    if set(map(type, merges)) <= {str}:
        if (found := spelled.halves(merges)) is not None:
            return found
        merges = [merge.split(" ") for merge in merges]
    for place, merge in enumerate(merges):
        if type(merge) is not list or list(map(type, merge)) != [str, str]:
            raise FormatError(
                entry.path, f"merge {place} is {entry.value[place]!r:.60}; wanted: two tokens"
            )
    return [left for left, _ in merges], [right for _, right in merges]


def write(pipeline: Pipeline) -> dict[str, Any]:
    """Return the entry of the pipeline's model."""
    model = limits.bpe(pipeline.model, "huggingface")
    ids = spelled.spelled_vocab(pipeline, "huggingface")
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": model.whole_chunk_first,
        "vocab": ids,
        "merges": [f"{left} {right}" for left, right in spelled.spelled_merges(model)],
    }
