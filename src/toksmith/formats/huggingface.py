"""Hugging Face's ``tokenizer.json``, for byte-level BPE.

What is understood is read exactly; everything else is refused by the name of its entry, because an
entry that is passed over makes other tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from toksmith.errors import FormatError
from toksmith.formats import files, hf_parts, spelled
from toksmith.formats.byte_alphabet import unspell_all
from toksmith.formats.hf_entries import Entry
from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline

NAME = "huggingface"
_KEYS = (
    "version|truncation|padding|added_tokens|normalizer|pre_tokenizer|post_processor|decoder|model"
)
_HEAD = re.compile(rb'\{\s*"(?:' + _KEYS.encode() + rb')"\s*:\s*[^\s0-9]')


def recognise(path: Path) -> bool:
    """Return whether the file starts as a tokenizer.json, or the directory holds one."""
    if path.is_dir():
        path = path / "tokenizer.json"
    return _HEAD.match(files.read_head(path).lstrip()) is not None


def read(path: Path) -> Pipeline:
    """Read a tokenizer.json.

    Raises:
        FormatError: it is not what it should be.
        UnsupportedError: it has an entry that cannot be read yet; the message names it.
    """
    if path.is_dir():
        path = path / "tokenizer.json"
    root = Entry(path, "", files.read_json(path))
    root.get("model").of(dict)
    root.only(*_KEYS.split("|"))
    root.expect("version", "1.0", None)
    for key in ("truncation", "padding", "normalizer"):
        root.expect(key, None)
    cut = hf_parts.read_pre_tokenizer(root.get("pre_tokenizer"))
    hf_parts.check_decoder(root.get("decoder"))
    prefix, suffix = hf_parts.read_post_processor(root.get("post_processor"))
    added = _read_added_tokens(root.get("added_tokens"))
    with files.reading(path):
        model = _read_model(root.get("model"), added)
        return Pipeline(model, cut, Framing(tuple(added), prefix, suffix))


def _read_added_tokens(entry: Entry) -> list[AddedToken]:
    tokens = []
    for item in entry.items():
        item.only("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special")
        for key in ("single_word", "lstrip", "rstrip"):
            item.expect(key, False, None)
        tokens.append(
            AddedToken(
                content=item.text("content"),
                id=item.get("id").token_id(),
                special=item.get("special").of(bool),
            )
        )
    _check_order(entry)
    return tokens


def _check_order(entry: Entry) -> None:
    """Check that it does not matter which added tokens are looked for first.

    ``tokenizers`` looks for those that are not "normalized" in the whole text, then for the others
    in the rest; here all are looked for at once, from left to right.
    """
    first = [item["content"] for item in entry.value if not item.get("normalized")]
    starts = {content[:end] for content in first for end in range(1, len(content) + 1)}
    for item in entry.items():
        content = item.value["content"]
        if item.value.get("normalized") and (
            any(content[start:] in starts for start in range(1, len(content)))
            or any(other in content for other in first)
        ):
            raise item.get("normalized").refused()


def _read_model(entry: Entry, added: list[AddedToken]) -> BPE:
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
    _check_added_ids(path, added, ids)
    tokens = dict(zip(ids, unspell_all(ids), strict=True))
    # An added token stays out of the model, unless the model can make it.
    held = [token.content for token in added if token.content in ids]
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


def _check_added_ids(path: Path, added: list[AddedToken], ids: Mapping[str, int]) -> None:
    """Check that ``tokenizers`` would give the added tokens the ids that the file says.

    It looks each one up in the vocabulary, and numbers those that are not there onwards.
    """
    highest = -1
    for token in added:
        onwards = highest + 1 if highest >= len(ids) else len(ids)
        expected = ids.get(token.content, onwards)
        if token.id != expected:
            raise FormatError(
                path,
                f"added token {token.content!r} has id {token.id}, but by the vocabulary it is "
                f"{expected}",
            )
        highest = max(highest, token.id)


def write(pipeline: Pipeline, path: Path) -> None:
    """Write a tokenizer.json.

    Raises:
        UnsupportedError: the pipeline has something that ``tokenizers`` would run otherwise.
        OptionError: the file cannot be written there.
    """
    ids = spelled.spelled_vocab(pipeline, NAME)
    model = pipeline.model
    added = [_added_token(token) for token in pipeline.framing.added_tokens]
    parts: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": hf_parts.write_pre_tokenizer(pipeline.splitter),
        "post_processor": hf_parts.write_post_processor(pipeline),
        "decoder": hf_parts.BYTE_LEVEL,
        "model": {
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
        },
    }
    lines = [f"  {files.dump(key)}: {files.dump(value)}" for key, value in parts.items()]
    files.write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def _added_token(token: AddedToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "content": token.content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": token.special,
    }
