"""Reads and writes tokenizer files: one module per format.

Each format has ``NAME``, ``recognise(path)`` (by the first bytes), ``read(path, hints)`` and
``contents(pipeline, path)``, which returns the content of the file and of its companion files; and
a line in listed.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Protocol

from toksmith._base import files, lazy
from toksmith._base.checks import file_path
from toksmith._base.commits import replace_all
from toksmith.errors import FormatError, OptionError, UnsupportedError
from toksmith.formats.listed import LISTED, PAIR, UNSET, WRITTEN, Hints, Unset
from toksmith.models import Pieces
from toksmith.normalizers import ByteLevel, Normalizer
from toksmith.pipeline import Pipeline
from toksmith.splitters import ByteSpelling, SplitterSequence

__all__ = [
    "FORMATS",
    "LISTED",
    "WRITTEN",
    "contents",
    "data",
    "read",
    "read_data",
    "replace",
    "write",
]


class Format(Protocol):
    """The functions of a format's module."""

    NAME: str

    def recognise(self, path: Path) -> bool: ...
    def read(self, path: Path, hints: Hints) -> Pipeline: ...
    def contents(self, pipeline: Pipeline, path: Path) -> dict[Path, bytes]: ...


model_folder = lazy.module("toksmith.formats.model_folder")
growth = lazy.module("toksmith.formats.growth")

MOST_GROWTH = 4_096
"""How many times as long a file's normalizer may make a text, and its decoder a token, in
characters. BERT's normalizer reaches 24. The kernel holds a character's result in 65,535 bytes."""

_SMALL_GROWTH = 64
"""Up to this growth, the number of normalized added tokens is not limited."""

_MOST_NORMALIZED = 1 << 23
"""The maximum number of characters that the literals of normalized added tokens may become."""

FORMATS: dict[str, Format] = {
    each.name: lazy.module(f"toksmith.formats.{each.module or each.name}")
    for each in LISTED.values()
}
"""The modules of the formats by name, in the order in which recognition tries them."""


def read(
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002 - the word that users know
    split: str | Unset | None = UNSET,
    special_tokens: Mapping[str, int] | None = None,
) -> Pipeline:
    """Read a tokenizer's file or directory.

    Args:
        path: the file, or a model folder: a directory of one of these formats with the
            configuration files of Hugging Face's ``transformers``.
        format: a name of ``FORMATS``; ``None`` recognises the format from the content.
        split: the split of a ``.tiktoken`` file, which holds none: a name, a regular expression,
            or ``None`` for no split. For a GGUF file, it takes the place of the named one.
        special_tokens: ids by literal, for a ``.tiktoken`` file, which holds none.

    Returns:
        The stages of the tokenizer; ``toksmith.Tokenizer(pipeline)`` runs them.

    Raises:
        FormatError: the file is damaged or of an unknown format.
        UnsupportedError: the file uses a feature that toksmith does not have.
        OptionError: there is no such format, or the file has its own split and special tokens.

    Example:
        >>> from toksmith import train
        >>> tok = train(texts=["low lower lowest"], vocab_size=259)
        >>> write(tok.pipeline, "low.json")
        >>> read("low.json") == tok.pipeline
        True
    """
    path, hints = files.held_if_pipe(_check_name(path)), Hints(split, special_tokens)
    chosen = None if format is None else _find_format(format)
    if (folder := _model_folder(path, chosen)) is not None:
        hints.refuse(path, "huggingface")
        return _check_limits(path, model_folder.read(*folder))
    return _check_limits(path, (chosen or _recognise(path)).read(path, hints))


def read_data(
    data: bytes,
    format: str | None = None,  # noqa: A002 - as in read
    split: str | Unset | None = UNSET,
    special_tokens: Mapping[str, int] | None = None,
) -> Pipeline:
    """Read the content of a tokenizer's file; see :func:`read`.

    Args:
        data: the content.
        format: a name of ``FORMATS``; ``None`` recognises the format from the content.
        split: see :func:`read`.
        special_tokens: see :func:`read`.

    Raises:
        FormatError: the content is damaged, of an unknown format, or one of several files.
        UnsupportedError, OptionError: see :func:`read`.

    Example:
        >>> from toksmith import train
        >>> tok = train(texts=["low lower lowest"], vocab_size=259)
        >>> [data, _] = contents(tok.pipeline, "low.model").values()
        >>> read_data(data) == tok.pipeline
        True
    """
    if not isinstance(data, bytes):
        raise OptionError(f"data is {data!r:.80}: use bytes, not {type(data).__name__}")
    path = files.HeldFile.of(data)
    chosen = _recognise(path) if format is None else _find_format(format)
    return _check_limits(path, chosen.read(path, Hints(split, special_tokens)))


def _model_folder(path: Path, chosen: Format | None) -> tuple[Path, bool] | None:
    """Return the model folder to read, and whether its tokenizer.json comes first.

    A vocab.json with its merges.txt is read with the configuration files beside it, too.
    """
    name = chosen.NAME if chosen else None
    if name in (None, "huggingface") and path.is_dir() and (name or model_folder.holds(path)):
        return path, True
    if name not in (None, "gpt2"):
        return None
    folder = path if path.is_dir() else path.parent
    is_pair = path.is_dir() or path.name in PAIR
    return (folder, False) if is_pair and model_folder.holds_pair(folder) else None


def _check_limits(path: Path, pipeline: Pipeline) -> Pipeline:
    """Return the pipeline of a file.

    Raises:
        FormatError: an added token's id is far above the number of tokens, or the normalizer,
            the pre-tokenizer or the decoder can make a text far longer.
    """
    added = pipeline.framing.added_tokens
    if added:
        count = len(pipeline.model.vocab) + len(added)
        files.check_highest(path, max(token.id for token in added), count)
    normalized = sum(len(token.content) for token in added if token.normalized)
    for name, steps in (
        ("normalizer", pipeline.normalizer),
        ("pre-tokenizer", _spellings(pipeline)),
        ("decoder", pipeline.decoder),
    ):
        if not steps:
            continue
        if (found := growth.growth(steps)) > MOST_GROWTH:
            raise FormatError(
                path,
                f"the {name} can make a text {found:{',.0f' if found < 1e9 else '.0e'}} times as "
                f"long; at most {MOST_GROWTH:,} times is read, because the result takes time and "
                "memory: remove steps that lengthen what other steps put in",
            )
        if name == "normalizer" and found > _SMALL_GROWTH and normalized * found > _MOST_NORMALIZED:
            raise FormatError(
                path,
                f"the normalizer can make a text {found:,.0f} times as long, which is too much for "
                f"{normalized:,} characters of normalized added tokens: make them not normalized",
            )
    return pipeline


def _spellings(pipeline: Pipeline) -> Normalizer:
    """Return the normalizer, and a step for each time that the splitter spells bytes."""
    splitter = pipeline.splitter
    steps = splitter.steps if isinstance(splitter, SplitterSequence) else (splitter,)
    times = sum(isinstance(step, ByteSpelling) for step in steps)
    return (*pipeline.normalizer, *[ByteLevel()] * times) if times else ()


def write(
    pipeline: Pipeline,
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002
) -> None:
    """Write a tokenizer; see :func:`contents` and :func:`replace`.

    Args:
        pipeline: the tokenizer.
        path: the file or directory, as in :func:`contents`.
        format: a name of ``FORMATS``; it overrides the suffix.

    Raises:
        UnsupportedError: the format cannot hold this pipeline; the message says why.
        OptionError: there is no such format, the path does not fit it, or a file cannot be
            written.

    Example:
        >>> from toksmith import train
        >>> tok = train(texts=["low lower lowest"], vocab_size=259)
        >>> write(tok.pipeline, "low.model")
        >>> read("low.model").model.vocab[256:]
        (b'lo', b'low', b' low')
    """
    replace(path, contents(pipeline, path, format))


def contents(
    pipeline: Pipeline,
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002
) -> dict[Path, bytes]:
    """Return the files of a tokenizer, as paths and contents, the main file first.

    Args:
        pipeline: the tokenizer.
        path: the suffix decides the format, see ``LISTED``; ``*.model`` is sentencepiece for
            SentencePiece's models, else minbpe. A directory, or a name without a suffix or with a
            separator at the end, is a directory as Hugging Face's libraries read it.
        format: a name of ``FORMATS``; overrides the suffix.

    Returns:
        The content of each file by its path.

    Raises:
        UnsupportedError: the format cannot hold this pipeline; the message says why.
        OptionError: there is no such format, or the path does not fit the format.

    Example:
        >>> from toksmith import train
        >>> tok = train(texts=["low lower lowest"], vocab_size=259)
        >>> [path.name for path in contents(tok.pipeline, "low.model")]
        ['low.model', 'low.vocab']
    """
    if not isinstance(pipeline, Pipeline):
        raise OptionError(f"pipeline is {pipeline!r:.80}: use a Pipeline")
    place = _check_name(path)
    is_folder = place.is_dir() or fspath(path).endswith((os.sep, os.altsep or os.sep))
    chosen = (
        _choose_format(pipeline, place, is_folder)
        if format is None
        else _find_format(format, WRITTEN)
    )
    if chosen.NAME == "gpt2" or (chosen.NAME == "huggingface" and not place.suffix):
        is_folder = True
    main = LISTED[chosen.NAME].folder
    if not is_folder or not LISTED[chosen.NAME].is_written:  # a format that is not written raises
        return chosen.contents(pipeline, place)
    if not main:
        raise OptionError(
            f"{place} is a directory, but a {chosen.NAME} tokenizer is a file: add its name, as in "
            f"{place / 'tokenizer.model'}"
        )
    found = chosen.contents(pipeline, place / main)
    if chosen.NAME == "huggingface":
        from toksmith.formats.huggingface import config

        found |= config.contents(pipeline, place)
    return found


def data(pipeline: Pipeline, format: str) -> bytes:  # noqa: A002
    """Return the content of a tokenizer's main file; :func:`read_data` reads it.

    Args:
        pipeline: the tokenizer.
        format: a name of ``WRITTEN``.

    Raises:
        UnsupportedError: the format cannot hold this pipeline, or is several files.
        OptionError: there is no such format.

    Example:
        >>> from toksmith import train
        >>> tok = train(texts=["low lower lowest"], vocab_size=259)
        >>> data(tok.pipeline, "minbpe")[:9]
        b'minbpe v1'
    """
    if not isinstance(pipeline, Pipeline):
        raise OptionError(f"pipeline is {pipeline!r:.80}: use a Pipeline")
    chosen = _find_format(format, WRITTEN)
    if chosen.NAME == "gpt2":
        raise UnsupportedError(
            "a gpt2 tokenizer is two files: save(folder, format='gpt2') writes them"
        )
    held = files.HeldFile(f"tokenizer{(*LISTED[chosen.NAME].suffixes, '')[0]}")
    return next(iter(chosen.contents(pipeline, held).values()))


def replace(path: str | PathLike[str], contents: Mapping[Path, bytes]) -> None:
    """Write all files atomically; create the directory ``path`` if they are in it.

    Args:
        path: the main file or the directory.
        contents: the content of each file by its path, as :func:`contents` returns it.

    Raises:
        OptionError: a file cannot be written.

    Example:
        >>> from toksmith import train
        >>> tok = train(texts=["low lower lowest"], vocab_size=259)
        >>> replace("folder", contents(tok.pipeline, "folder"))
        >>> sorted(path.name for path in Path("folder").iterdir())
        ['special_tokens_map.json', 'tokenizer.json', 'tokenizer_config.json']
    """
    place = file_path(path)
    if not isinstance(contents, Mapping) or not all(
        isinstance(name, Path) and isinstance(data, bytes) for name, data in contents.items()
    ):
        raise OptionError(f"contents is {contents!r:.80}: use a dict of paths and bytes")
    if not contents:
        return
    if place not in contents:
        try:
            for folder in {place, *(name.parent for name in contents if place in name.parents)}:
                folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as wrong:
            raise OptionError(
                f"{place} is no directory: {_why_no_directory(place, wrong)}; give another name, "
                "or a file's name such as tokenizer.json"
            ) from wrong
    replace_all(contents)


def _why_no_directory(place: Path, wrong: OSError | ValueError) -> str:
    """Return the reason why a directory cannot be made."""
    if place.exists() and not place.is_dir():
        return "there is a file of this name, and a name without a suffix means a directory"
    for link in (place, *place.parents):
        if link.is_symlink() and not link.exists():
            name = "it" if link == place else str(link)
            try:
                link.stat()
            except FileNotFoundError:
                target = os.readlink(link)  # noqa: PTH115 - a Path would drop ./ and slashes
                return f"{name} is a symbolic link to {target}, which does not exist"
            except OSError as refused:
                return f"{name} is a symbolic link that leads nowhere: {refused.strerror}"
    return str(getattr(wrong, "strerror", None) or wrong)


def _check_name(path: str | PathLike[str]) -> Path:
    place = file_path(path)
    try:
        place.is_dir()
    except OSError as wrong:  # a name that is too long, a directory that may not be searched
        raise OptionError(f"{str(place)!r:.200} cannot be used: {wrong.strerror}") from wrong
    return place


def _find_format(name: str, known: Iterable[str] = FORMATS) -> Format:
    """Return a format, of those that can be read or written; an error names the known ones."""
    if not isinstance(name, str) or name not in FORMATS:
        raise OptionError(f"unknown format {name!r}: use {', '.join(known)}")
    return FORMATS[name]


def _recognise(path: Path) -> Format:
    # Formats with this suffix are tried first, so that few other modules are imported.
    for name in sorted(FORMATS, key=lambda name: path.suffix not in LISTED[name].suffixes):
        if FORMATS[name].recognise(path):
            return FORMATS[name]
    if not path.is_dir():
        files.read_bytes(path)  # raises if the file is missing or empty
    what = "directory holds" if path.is_dir() else "content is of"
    raise FormatError(path, f"the {what} none of the known formats ({', '.join(FORMATS)})")


def _choose_format(pipeline: Pipeline, path: Path, is_folder: bool) -> Format:
    if is_folder or not path.suffix:
        return FORMATS["huggingface"]
    if path.suffix == ".model":  # the only suffix of two formats
        return FORMATS["sentencepiece" if isinstance(pipeline.model, Pieces) else "minbpe"]
    by_suffix = {suffix: each for each in LISTED.values() for suffix in each.suffixes}
    if path.suffix in by_suffix:
        return FORMATS[by_suffix[path.suffix].name]
    written = [suffix for suffix, each in by_suffix.items() if each.is_written]
    raise OptionError(
        f"{path}: the name determines no format to write: end it with {', '.join(written)} "
        f"(no suffix: a directory in Hugging Face's form), or use format=, one of "
        f"{', '.join(WRITTEN)}"
    )
