"""Files to pipelines and back: one format a file.

Each format has ``NAME``, ``recognise(path)`` (by the first bytes), ``read(path, hints)`` and
``contents(pipeline, path)``, which returns what to write to a file and to the files beside it; and
a line in listed.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Protocol

from toksmith._base import files, lazy
from toksmith._base.checks import file_path
from toksmith._base.commits import replace_all
from toksmith.errors import FormatError, OptionError
from toksmith.formats.listed import LISTED, UNSET, WRITTEN, Hints, Unset
from toksmith.models import Pieces
from toksmith.pipeline import Pipeline

__all__ = [
    "FORMATS",
    "LISTED",
    "UNSET",
    "WRITTEN",
    "Hints",
    "Unset",
    "contents",
    "read",
    "replace",
    "write",
]


class Format(Protocol):
    """What each format's module has."""

    NAME: str

    def recognise(self, path: Path) -> bool: ...
    def read(self, path: Path, hints: Hints) -> Pipeline: ...
    def contents(self, pipeline: Pipeline, path: Path) -> dict[Path, bytes]: ...


FORMATS: dict[str, Format] = {
    each.name: lazy.module(f"toksmith.formats.{each.module or each.name}")
    for each in LISTED.values()
}
"""The modules of the formats by name, in the order of the list, in which they are tried."""


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
    path = _check_name(path)
    chosen = _recognised(path) if format is None else _named(format)
    return _with_few_gaps(path, chosen.read(path, Hints(split, special_tokens)))


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
        path: its suffix says which format, see ``LISTED``; ``*.model`` is sentencepiece for its
            kinds of model, else minbpe. A directory, or a name that has no suffix or ends in a
            separator, is a directory in Hugging Face's form.
        format: a name of ``FORMATS``, whatever the path looks like.

    Raises:
        UnsupportedError: the format cannot hold this pipeline; the message says why.
        OptionError: no such format, or the format and the path do not fit.
    """
    if not isinstance(pipeline, Pipeline):
        raise OptionError(f"pipeline is {pipeline!r:.80}: use a Pipeline")
    place = _check_name(path)
    is_folder = place.is_dir() or fspath(path).endswith((os.sep, os.altsep or os.sep))
    chosen = _by_form(pipeline, place, is_folder) if format is None else _named(format)
    if chosen.NAME == "gpt2" or (chosen.NAME == "huggingface" and not place.suffix):
        is_folder = True
    main = LISTED[chosen.NAME].folder
    if not is_folder or not LISTED[chosen.NAME].is_written:  # the latter raises
        return chosen.contents(pipeline, place)
    if not main:
        raise OptionError(
            f"{place} is a directory, and {chosen.NAME} is a file: add a file's name, such as "
            f"{place / 'tokenizer.model'}"
        )
    found = chosen.contents(pipeline, place / main)
    if chosen.NAME == "huggingface":
        from toksmith.formats.huggingface import config

        found |= config.contents(pipeline, place)
    return found


def replace(path: str | PathLike[str], contents: Mapping[Path, bytes]) -> None:
    """Write files, all of them or none; the directory ``path`` is made if they are in one.

    Raises:
        OptionError: a file cannot be written there.
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
            place.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as wrong:
            reason = getattr(wrong, "strerror", None) or wrong
            if place.exists() and not place.is_dir():
                reason = "there is a file of this name. A name without a suffix is a directory's"
            raise OptionError(
                f"{place} is no directory: {reason}; give another name, or a file's "
                "name such as tokenizer.json"
            ) from wrong
    replace_all(contents)


def _check_name(path: str | PathLike[str]) -> Path:
    place = file_path(path)
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
    for name in sorted(FORMATS, key=lambda name: path.suffix not in LISTED[name].suffixes):
        if FORMATS[name].recognise(path):
            return FORMATS[name]
    if not path.is_dir():
        files.read_bytes(path)  # says if it is missing or empty
    what = "directory holds" if path.is_dir() else "content is of"
    raise FormatError(path, f"the {what} none of the known formats ({', '.join(FORMATS)})")


def _by_form(pipeline: Pipeline, path: Path, is_folder: bool) -> Format:
    if is_folder or not path.suffix:
        return FORMATS["huggingface"]
    if path.suffix == ".model":  # the only suffix of two formats
        return FORMATS["sentencepiece" if isinstance(pipeline.model, Pieces) else "minbpe"]
    by_suffix = {suffix: each.name for each in LISTED.values() for suffix in each.suffixes}
    if path.suffix in by_suffix:
        return FORMATS[by_suffix[path.suffix]]
    raise OptionError(
        f"{path}: the name does not say which format to write; end it with "
        f"{', '.join(by_suffix)} (no suffix: a directory in Hugging Face's form), or give "
        f"format=, one of {', '.join(FORMATS)}"
    )
