"""Tokenizers that exist already: from a file, or by their published name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from toksmith import formats, published
from toksmith.formats import UNSET, Unset
from toksmith.tokenizer import Tokenizer

if TYPE_CHECKING:
    from toksmith.training_record import TrainingRecord


def load(
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002  # the word that users know
    split: str | Unset | None = UNSET,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Load a tokenizer from a file or directory.

    Args:
        path: the file; a directory for formats of several files.
        format: ``"huggingface"`` (tokenizer.json), ``"sentencepiece"`` (``.model``), ``"minbpe"``,
            ``"tiktoken"``, ``"gpt2"``, ``"wordpiece"`` (BERT's vocab.txt) or ``"tekken"``
            (Mistral's tekken.json); without it, the format is recognised by the content.
        split: for a bare ``.tiktoken`` file, which holds no split pattern: a family's name, a
            pattern, or ``None``.
        special_tokens: for a bare ``.tiktoken`` file: ids by literal.

    Raises:
        FormatError: the file is not what it should be; the message says where and why.
        UnsupportedError: it asks for something that toksmith cannot do.
    """
    pipeline = formats.read(path, format, split, special_tokens)
    return Tokenizer(pipeline, partial(_training, Path(path).absolute()))


def _training(path: Path) -> TrainingRecord | None:
    from toksmith import training_record

    return training_record.find(path)


def get(name: str) -> Tokenizer:
    """Return a published tokenizer by name, such as ``"cl100k_base"``.

    Looks in the package's cache and in tiktoken's, else downloads; the checksum is always checked.

    Raises:
        UnknownNameError: no published tokenizer has this name.
        DownloadError: it is in no cache and cannot be downloaded; the message says where to put it.
    """
    return Tokenizer(published.fetch(name))
