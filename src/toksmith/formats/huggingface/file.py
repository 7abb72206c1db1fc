"""Reads and writes Hugging Face's ``tokenizer.json``.

Every entry is either read exactly or refused by name, because a file with an ignored entry would
give other tokens.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from toksmith._base import files
from toksmith._base.records import replace
from toksmith.engine import portable
from toksmith.errors import FormatError
from toksmith.formats.huggingface import (
    decoders,
    models,
    normalizers,
    sentencepiece,
    splitters,
    templates,
)
from toksmith.formats.huggingface.declared import MAIN
from toksmith.formats.huggingface.entries import Entry, NeedsPlainJson
from toksmith.formats.huggingface.framing import (
    read_added_tokens,
    read_padding,
    read_truncation,
    write_added_token,
    write_padding,
    write_truncation,
)
from toksmith.formats.listed import Hints
from toksmith.framing import Framing
from toksmith.framing.added import search_order_matters
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
        path = path / MAIN
    return _HEAD.match(files.read_head(path).lstrip()) is not None


def read(path: Path, hints: Hints) -> Pipeline:
    """Read a tokenizer.json.

    Raises:
        OptionError: there are hints.
        FormatError: the file is damaged.
        UnsupportedError: toksmith does not support an entry; the message names it.
    """
    hints.refuse(path, NAME)
    if path.is_dir():
        path = path / MAIN
    data = files.read_bytes(path)
    if found := portable.read_token_ids(data):
        try:
            return pipeline_of(path, _with_ids(files.json_of(path, found.rest), found))
        except NeedsPlainJson:
            pass
        except FormatError:  # its message may name a line of the shortened file
            pass
    return pipeline_of(path, files.json_of(path, data))


def _with_ids(content: dict[str, Any], ids: portable.TokenIds) -> dict[str, Any]:
    """Put the vocabulary and the merges back in, as the kernel holds them."""
    content["model"]["vocab"] = ids
    if "merges" in content["model"]:
        content["model"]["merges"] = ids
    return content


def root_of(path: Path) -> Entry:
    """Return the content of a tokenizer.json.

    Raises:
        FormatError: the file is damaged.
    """
    return Entry(path, "", files.read_json(path))


def pipeline_of(path: Path, content: dict[str, Any]) -> Pipeline:
    """Return the pipeline of the content of a tokenizer.json.

    Args:
        path: the file, for messages.
        content: the JSON object.

    Raises:
        FormatError: an entry is damaged.
        UnsupportedError: toksmith does not support an entry; the message names it.
    """
    root = Entry(path, "", content)
    root.get("model").of(dict)
    root.only(*_KEYS.split("|"))
    root.expect("version", "1.0", None)
    normalizer = normalizers.read(root.get("normalizer"))
    spelled, held = root.get("pre_tokenizer"), root.get("model")
    byte_level = splitters.is_byte_level(spelled) and models.is_byte_level(held)
    cut = splitters.read(spelled, byte_level)
    decoder = decoders.read(root.get("decoder"), byte_level)
    template, trim = templates.read(root.get("post_processor"))
    padding = read_padding(root.get("padding"))
    truncation = read_truncation(root.get("truncation"))
    added = read_added_tokens(root)
    if not normalizer and not search_order_matters(added):
        added = [
            replace(token, normalized=False) for token in added
        ]  # no effect without a normalizer
    with files.reading(path):
        model = models.read(held, added, byte_level)
        framing = Framing(
            tuple(added),
            template=template,
            trim_offsets=trim,
            padding=padding,
            truncation=truncation,
        )
        return Pipeline(model, cut, framing, normalizer=normalizer, decoder=decoder)


def contents(pipeline: Pipeline, path: Path) -> dict[Path, bytes]:
    """Return the content of a tokenizer.json.

    Raises:
        UnsupportedError: ``tokenizers`` would give other tokens for a part of the pipeline.
    """
    pipeline = sentencepiece.to_steps(pipeline)
    byte_level = isinstance(pipeline.model, BPE)
    framing = pipeline.framing
    parts: dict[str, Any] = {
        "version": "1.0",
        "truncation": write_truncation(framing.truncation),
        "padding": write_padding(framing.padding),
        "added_tokens": [write_added_token(token) for token in framing.added_tokens],
        "normalizer": normalizers.write(pipeline.normalizer),
        "pre_tokenizer": splitters.write(pipeline.splitter, byte_level),
        "post_processor": templates.write(pipeline),
        "decoder": decoders.write(pipeline.decoder, byte_level),
        "model": models.write(pipeline),
    }
    lines = [f"  {files.dump(key)}: {files.dump(value)}" for key, value in parts.items()]
    return {path: ("{\n" + ",\n".join(lines) + "\n}\n").encode()}
