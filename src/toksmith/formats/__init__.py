"""Files to pipelines and back: one format a file.

Each format has ``NAME``, ``recognise(path)`` (by the first bytes), ``read(path)`` and
``contents(pipeline, path)``, which returns what to write to a file and to the files beside it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Protocol

from toksmith import lazy
from toksmith.errors import FormatError, OptionError
from toksmith.formats import files, tiktoken
from toksmith.formats.commits import replace_all
from toksmith.formats.tiktoken import UNSET, Unset
from toksmith.models import Pieces
from toksmith.pipeline import Pipeline

__all__ = ["FORMATS", "UNSET", "Unset", "contents", "read", "replace", "write"]


class Format(Protocol):
    """What each format's module has."""

    NAME: str

    def recognise(self, path: Path) -> bool: ...
    def read(self, path: Path) -> Pipeline: ...
    def contents(self, pipeline: Pipeline, path: Path) -> dict[Path, bytes]: ...


# In the order in which they are tried: a directory may hold a tokenizer.json and GPT-2's files,
# and of these the first says more.
FORMATS: dict[str, Format] = {
    "minbpe": lazy.module("toksmith.formats.minbpe"),
    "tiktoken": tiktoken,
    "huggingface": lazy.module("toksmith.formats.huggingface"),
    "tekken": lazy.module("toksmith.formats.tekken"),
    "gpt2": lazy.module("toksmith.formats.gpt2"),
    "wordpiece": lazy.module("toksmith.formats.wordpiece_vocab"),
    "sentencepiece": lazy.module("toksmith.formats.sentencepiece"),
}
"""The formats by name."""

_BY_SUFFIX = {
    ".model": "minbpe",  # of byte-level BPE; SentencePiece's of pieces
    ".vocab": "sentencepiece",
    ".tiktoken": "tiktoken",
    ".json": "huggingface",
    ".txt": "wordpiece",
}
_OF_SUFFIX = {".model": ("minbpe", "sentencepiece")}
_IN_FOLDER = {"huggingface": "tokenizer.json", "gpt2": "encoder.json", "wordpiece": "vocab.txt"}
"""The main file of formats that may be saved as a directory."""


def read(
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002 - the word that users know
    split: str | Unset | None = UNSET,
    special_tokens: Mapping[str, int] | None = None,
) -> Pipeline:
    """Read a tokenizer's file or directory.

    Args:
        path: the file; a directory for GPT-2's pair of files, or one that holds a tokenizer.json.
        format: a name of ``FORMATS``; ``None`` recognises it by the content.
        split: how to split, where the file does not say (``.tiktoken``): a family's name, a
            pattern, or ``None`` for no splitting.
        special_tokens: ids by literal, where the file does not say (``.tiktoken``).

    Raises:
        FormatError: the file is not what it should be.
        UnsupportedError: the file is right, but has something that cannot be read yet.
        OptionError: no such format, or the file itself says how to split.
    """
    path = _checked(path)
    chosen = _recognised(path) if format is None else _named(format)
    if chosen is tiktoken:
        return _with_few_gaps(path, tiktoken.read(path, split, special_tokens))
    if split is not UNSET or special_tokens is not None:
        raise OptionError(
            f"{path} is a {chosen.NAME} file, which says itself how to split and what is special; "
            "split= and special_tokens= are for .tiktoken files"
        )
    return _with_few_gaps(path, chosen.read(path))


def _with_few_gaps(path: Path, pipeline: Pipeline) -> Pipeline:
    """Return the pipeline, having checked the ids of its added tokens against their number."""
    added = pipeline.framing.added_tokens
    if added:
        count = len(pipeline.model.vocab) + len(added)
        files.check_highest(path, max(token.id for token in added), count)
    return pipeline


def write(
    pipeline: Pipeline,
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002
) -> None:
    """Write a tokenizer; see :func:`contents` and :func:`replace`."""
    replace(path, contents(pipeline, path, format))


def contents(
    pipeline: Pipeline,
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002
) -> dict[Path, bytes]:
    """Return what to write for a tokenizer: the content of each file, the main one first.

    Args:
        pipeline: the tokenizer.
        path: ``*.model`` is sentencepiece for its kinds of model, else minbpe; ``*.tiktoken`` is
            tiktoken, ``*.json`` huggingface, ``*.txt`` wordpiece. A directory, or a name that has
            no suffix or ends in a separator, is a directory in Hugging Face's form.
        format: a name of ``FORMATS``, whatever the path looks like.

    Raises:
        UnsupportedError: the format cannot hold this pipeline; the message says why.
        OptionError: no such format, or the format and the path do not fit.
    """
    place = _checked(path)
    is_folder = place.is_dir() or fspath(path).endswith((os.sep, os.altsep or os.sep))
    chosen = _by_form(pipeline, place, is_folder) if format is None else _named(format)
    if chosen.NAME == "gpt2" or (chosen.NAME == "huggingface" and not place.suffix):
        is_folder = True
    if not is_folder or chosen.NAME == "tekken":  # which is never written
        return chosen.contents(pipeline, place)
    if chosen.NAME not in _IN_FOLDER:
        raise OptionError(
            f"{place} is a directory, and {chosen.NAME} is a file: add a file's name, such as "
            f"{place / 'tokenizer.model'}"
        )
    found = chosen.contents(pipeline, place / _IN_FOLDER[chosen.NAME])
    if chosen.NAME == "huggingface":
        from toksmith.formats import hf_config

        found |= hf_config.contents(pipeline, place)
    return found


def replace(path: str | PathLike[str], contents: Mapping[Path, bytes]) -> None:
    """Write files, all of them or none; the directory ``path`` is made if they are in one.

    Raises:
        OptionError: a file cannot be written there.
    """
    place = Path(path)
    if place not in contents:
        try:
            place.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as wrong:
            reason = getattr(wrong, "strerror", None) or wrong
            raise OptionError(f"{place} is no directory: {reason}") from wrong
    replace_all(contents)


def _checked(path: str | PathLike[str]) -> Path:
    if not isinstance(path, str | PathLike) or not isinstance(fspath(path), str):
        raise OptionError(
            f"the path is {path!r:.80}: use a str or a pathlib.Path, not {type(path).__name__}"
        )
    if not fspath(path):
        raise OptionError("the path is empty: give the name of a file or directory")
    place = Path(path)
    try:
        place.is_dir()
    except OSError as wrong:  # a name that is too long, a directory that may not be searched
        raise OptionError(f"{str(place)!r:.200} cannot be used: {wrong.strerror}") from wrong
    return place


def _named(name: str) -> Format:
    if not isinstance(name, str) or name not in FORMATS:
        raise OptionError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
    return FORMATS[name]


def _recognised(path: Path) -> Format:
    # Those that the suffix points at come first, so that hardly any other has to be imported.
    likely = _OF_SUFFIX.get(path.suffix, ())
    for name in sorted(FORMATS, key=lambda name: name not in likely):
        if FORMATS[name].recognise(path):
            return FORMATS[name]
    if not path.is_dir():
        files.read_bytes(path)  # says if it is missing or empty
    what = "directory holds" if path.is_dir() else "content is of"
    raise FormatError(path, f"the {what} none of the known formats ({', '.join(FORMATS)})")


def _by_form(pipeline: Pipeline, path: Path, is_folder: bool) -> Format:
    if is_folder or not path.suffix:
        return FORMATS["huggingface"]
    if path.suffix == ".model" and isinstance(pipeline.model, Pieces):
        return FORMATS["sentencepiece"]
    if path.suffix in _BY_SUFFIX:
        return FORMATS[_BY_SUFFIX[path.suffix]]
    raise OptionError(
        f"{path}: the name does not say which format to write; end it with "
        f"{', '.join(_BY_SUFFIX)} (no suffix: a directory in Hugging Face's form), or give "
        f"format=, one of {', '.join(FORMATS)}"
    )
