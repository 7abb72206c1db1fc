"""Tokenizers that exist already: from a file, or by their published name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from toksmith import formats, published
from toksmith.errors import OptionError
from toksmith.formats import UNSET, Unset
from toksmith.tokenizer import Tokenizer

if TYPE_CHECKING:
    from toksmith.training_record import TrainingRecord

AnyTokenizer: TypeAlias = "Tokenizer | str | PathLike[str]"
"""What stands for a tokenizer wherever one is expected: itself, a path, or a published name."""


def load(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  # the word that users know
    split: str | Unset | None = UNSET,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Load a tokenizer from a file or directory, or by its published name.

    Args:
        path: the file; a directory for formats of several files. A string that is no path that
            exists is looked up as a name, as :func:`get` does.
        format: ``"huggingface"`` (tokenizer.json), ``"sentencepiece"`` (``.model``), ``"minbpe"``,
            ``"tiktoken"``, ``"gpt2"``, ``"wordpiece"`` (BERT's vocab.txt) or ``"tekken"``
            (Mistral's tekken.json); without it, the format is recognised by the content.
        split: for a bare ``.tiktoken`` file, which holds no split pattern: a family's name, a
            pattern, or ``None``.
        special_tokens: for a bare ``.tiktoken`` file: ids by literal.

    Raises:
        FormatError: the file is not what it should be; the message says where and why.
        UnsupportedError: it asks for something that toksmith cannot do.
        OptionError: ``path`` is neither a path nor a name.
    """
    if not isinstance(path, str | PathLike) or isinstance(fspath(path), bytes):
        raise OptionError(
            f"{path!r:.80} is neither a path nor a name: use a str or a pathlib.Path, "
            f"not {type(path).__name__}"
        )
    if isinstance(path, str) and format is None and split is UNSET and special_tokens is None:
        is_a_name = os.sep not in path and not Path(path).suffix
        if (path in published.names() or is_a_name) and not os.path.lexists(path):
            return get(path)
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


def tokenizer_of(tokenizer: AnyTokenizer) -> Tokenizer:
    """Return the tokenizer that an argument stands for.

    Args:
        tokenizer: a :class:`Tokenizer`, which is returned as it is, or what :func:`load` takes.

    Raises:
        OptionError: it is none of these.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> tokenizer_of(tok) is tok
        True
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if not isinstance(tokenizer, str | PathLike):
        raise OptionError(
            f"{tokenizer!r:.80} is no tokenizer: use a Tokenizer, a path or a published name"
        )
    return load(tokenizer)
