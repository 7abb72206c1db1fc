"""Loads existing tokenizers: from a file or folder, or by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from toksmith import formats
from toksmith._base import lazy
from toksmith._base.text import utf8
from toksmith.errors import (
    DownloadError,
    MissingExtraError,
    OptionError,
    UnknownNameError,
    UnsupportedError,
)
from toksmith.formats.listed import UNSET, Unset
from toksmith.tokenizer import Tokenizer

if TYPE_CHECKING:
    from toksmith.formats import hub, published
    from toksmith.pipeline import Pipeline
    from toksmith.tokenizer.training_record import TrainingRecord
else:
    hub = lazy.module("toksmith.formats.hub")
    published = lazy.module("toksmith.formats.published")

AnyTokenizer: TypeAlias = "Tokenizer | str | PathLike[str]"
"""A tokenizer as a function argument: a Tokenizer, a path, or a name; see :func:`get`."""


def load(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  # the word that users know
    split: str | Unset | None = UNSET,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Load a tokenizer from a file or a model folder, or by its name.

    A model folder is read with the configuration files in it, as ``transformers`` reads it.

    Args:
        path: a file, or a directory for formats of several files. A string that is no existing
            path is taken as a name; see :func:`get`.
        format: a name of :data:`toksmith.formats.LISTED`, such as ``"huggingface"``. Default:
            recognised from the content.
        split: for a bare ``.tiktoken`` file, which holds no split pattern: a name such as
            ``"cl100k"``, a regular expression, or ``None`` for no split. For a GGUF file of
            byte-level BPE, it takes the place of the pattern that the file names.
        special_tokens: for a bare ``.tiktoken`` file: ids by literal.

    Raises:
        FormatError: the file is damaged or of an unknown format; the message says where and why.
        UnsupportedError: the file uses a feature that toksmith does not have.
        UnknownNameError: there is neither such a file nor such a name.
        DownloadError, MissingExtraError: see :func:`get`.
        OptionError: ``path`` is neither a str nor a path.

    Example:
        >>> load("toksmith-small").encode("hello world")
        [12700, 111, 1683]
    """
    if not isinstance(path, str | PathLike) or isinstance(fspath(path), bytes):
        raise OptionError(
            f"{path!r:.80} is neither a path nor a name: use a str or a pathlib.Path, "
            f"not {type(path).__name__}"
        )
    if isinstance(path, str) and not os.path.lexists(path) and _may_be_a_name(path):
        if not hub.is_name(path) and published.encoding_of(path) is None:
            raise UnknownNameError(f"there is no file {path!r:.80}, and {published.unknown(path)}")
        if format is not None or split is not UNSET or special_tokens is not None:
            raise OptionError(
                f"{path!r} is the name of a tokenizer, so format=, split= and "
                "special_tokens= do not apply to it: leave them out"
            )
        try:
            return get(path)
        except (DownloadError, MissingExtraError) as wrong:
            raise type(wrong)(f"there is no file {path!r:.80}, and {wrong}") from wrong
    pipeline = formats.read(path, format, split, special_tokens)
    return _tokenizer_from(pipeline, path, partial(_training, Path(path).absolute()))


def loads(
    data: bytes | str,
    *,
    format: str | None = None,  # noqa: A002
    split: str | Unset | None = UNSET,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Load a tokenizer from the content of its file; :meth:`Tokenizer.dumps` is the reverse.

    Args:
        data: the content of a file that :func:`load` reads; a str is taken as UTF-8 text.
        format: see :func:`load`.
        split: see :func:`load`.
        special_tokens: see :func:`load`.

    Raises:
        FormatError: the data are damaged, of an unknown format, or one of several files, as
            GPT-2's are.
        UnsupportedError: see :func:`load`.
        OptionError: ``data`` is neither a str nor bytes, or an option does not fit the format.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> loads(tok.dumps()) == tok
        True
    """
    if not isinstance(data, str | bytes | bytearray | memoryview):
        raise OptionError(
            f"data is {data!r:.80}: use the content of a file as bytes or str; load(path) reads a "
            "file"
        )
    return _tokenizer_from(formats.read_data(utf8(data), format, split, special_tokens), "<data>")


def _tokenizer_from(
    pipeline: Pipeline,
    path: str | PathLike[str],
    training: Callable[[], TrainingRecord | None] | None = None,
) -> Tokenizer:
    """Return the tokenizer of a pipeline; an error names the file that it was read from."""
    try:
        return Tokenizer(pipeline, training)
    except UnsupportedError as wrong:
        raise UnsupportedError(f"{fspath(path)}: {wrong}") from wrong


def _may_be_a_name(path: str) -> bool:
    """Return whether a string looks like a name, such as ``gpt-4.1``, rather than like a path."""
    if hub.is_name(path):
        return True
    suffix = Path(path).suffix[1:]
    return not {os.sep, os.altsep, "\0", "\n"} & {*path} and not suffix[:1].isalpha() and bool(path)


def _training(path: Path) -> TrainingRecord | None:
    from toksmith.tokenizer import training_record

    return training_record.find(path)


def get(name: str, *, revision: str | None = None) -> Tokenizer:
    """Return a tokenizer by its name, or by the name of a model that uses it.

    ``"toksmith-small"`` comes with the package. OpenAI's tokenizers are read from toksmith's or
    tiktoken's cache, else downloaded; the SHA-256 is always checked. A name with a slash is a model
    on the Hugging Face Hub: its folder is read from the Hub's cache (``HF_HOME``,
    ``HF_HUB_CACHE``), else ``huggingface_hub`` downloads the tokenizer's files, which follows
    ``HF_HUB_OFFLINE`` and ``HF_TOKEN``.

    Args:
        name: such as ``"cl100k_base"``, ``"gpt-4o-2024-08-06"`` or ``"openai-community/gpt2"``.
        revision: the branch, tag or commit of a model on the Hub. Default: the main branch.

    Raises:
        UnknownNameError: no published tokenizer has this name.
        DownloadError: the file is in no cache and cannot be downloaded; the message says where to
            put it.
        MissingExtraError: the model is not in the Hub's cache, and a download needs
            ``pip install toksmith[hub]``.
        FormatError, UnsupportedError: see :func:`load`.
        OptionError: ``name`` is no string, or ``revision`` is given for a published tokenizer.

    Example:
        >>> get("toksmith-small").vocab_size
        16384
    """
    if isinstance(name, PathLike) or (
        isinstance(name, str) and published.encoding_of(name) is None and os.path.lexists(name)
    ):
        raise UnknownNameError(f"{name!r} is a path, not a name: load({fspath(name)!r}) reads it")
    if isinstance(name, str) and hub.is_name(name):
        folder = hub.find(name, revision) or hub.download(name, revision)
        return _tokenizer_from(formats.read(folder).with_name(name), folder)
    if revision is not None:
        raise OptionError(
            f"revision= is for models on the Hugging Face Hub (org/name), not for {name!r:.80}: "
            "leave it out"
        )
    return Tokenizer(published.fetch(name))


def tokenizer_of(tokenizer: AnyTokenizer) -> Tokenizer:
    """Return the tokenizer that an argument names.

    Args:
        tokenizer: a :class:`Tokenizer`, which is returned itself, or an argument of :func:`load`.

    Raises:
        OptionError: ``tokenizer`` is neither.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> tokenizer_of(tok) is tok
        True
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if not isinstance(tokenizer, str | PathLike):
        raise OptionError(f"{tokenizer!r:.80} is no tokenizer: use a Tokenizer, a path or a name")
    return load(tokenizer)
