"""Opens token files of any format for reading."""

from __future__ import annotations

import os
from pathlib import Path

from toksmith._base.checks import file_path, whole
from toksmith._base.lazy import np
from toksmith.corpus.paths import AnyPath
from toksmith.corpus.remote import is_url
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.format import Place
from toksmith.tokenfiles.formats import NAMES, format_of
from toksmith.tokenfiles.manifest import NAME, Manifest, read_manifest
from toksmith.tokenfiles.regular import check_regular
from toksmith.tokenfiles.token_files import TokenFiles


def open_tokens(
    path: AnyPath,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know
    split: str | None = None,
    eos: int | None = None,
    eos_place: Place | None = None,
    dtype: str | None = None,
) -> TokenFiles:
    """Open token files for reading; documents are read when they are asked for.

    Args:
        path: a file, a folder, or the prefix of a pair of files, written by toksmith or by a
            framework.
        format: the name of the format; ``None`` finds it out.
        split: the split to read, such as ``"val"``; ``None`` for all. Only for folders that
            toksmith wrote.
        eos: the id that ends or precedes documents, for formats that do not store the bounds of
            documents (nanogpt, llmc, dolma without its table). ``None`` takes it from the manifest
            if there is one; else each file is one document.
        eos_place: whether ``eos`` is ``"before"`` or ``"after"`` a document; ``None`` takes it from
            the manifest, else it is as the format's framework writes it.
        dtype: the type of the ids, for formats that do not store it (nanogpt, dolma).

    Returns:
        The documents: ``len(tokens)``, ``tokens[i]`` (NumPy array of ids), ``tokens.lengths``,
        ``tokens.dtype``, ``tokens.blocks()``.

    Raises:
        FormatError: there are no token files, or one is damaged.
        OptionError: an option is unknown.

    Example:
        >>> import numpy as np, pathlib, tempfile, toksmith
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "train.bin")
        ...     np.array([5, 6, 0, 7, 0], np.uint16).tofile(path)
        ...     tokens = toksmith.open_tokens(path, format="nanogpt", eos=0)
        ...     len(tokens), tokens[0].tolist()
        (2, [5, 6, 0])
    """
    place = file_path(path)
    check_regular(place)
    if eos is not None:
        eos = whole("eos", eos, least=0, otherwise=", the id of a token")
    manifest = read_manifest(place)
    if manifest is not None:
        job = manifest.job
        format = format or job.format  # noqa: A001
        if eos is None:
            eos, found_place = job.boundary
            eos_place = eos_place or found_place
        dtype = dtype or job.dtype
    if eos_place not in (None, "before", "after"):
        raise OptionError(f'eos_place is {eos_place!r:.40}: use "before" or "after"')
    if manifest is not None and format == manifest.job.format:
        _check_present(place, manifest, split)
    names = NAMES if format is None else (format,)
    for name in names:
        form = format_of(name)
        if form.find(place):
            found = form.open(place, eos=eos, dtype=dtype, place=eos_place)
            return found if split is None else _of_split(found, place, manifest, split)
    if not place.exists() and not list(place.parent.glob(place.name + ".*")):
        if is_url(path):
            raise FormatError(path, "token files are read from local folders: download it first")
        raise FormatError(path, "there is no such file or folder")
    kinds = "token files" if format is None else f"{format} files"
    raise FormatError(path, f"holds no {kinds}")


def _check_present(folder: Path, manifest: Manifest, split: str | None) -> None:
    """Check that the files of a split are there; without a split, the files of all splits.

    Raises:
        FormatError: a file is missing.
    """
    for file in manifest.files:
        path = folder / file.name
        if split in (None, file.split) and not os.path.isfile(path):  # noqa: PTH113 - never raises
            raise FormatError(path, f"there is no such file, and {NAME} names it: copy it there")


def open_splits(folder: Path, manifest: Manifest) -> dict[str, TokenFiles]:
    """Open the files of each split of a folder that toksmith wrote.

    Raises:
        FormatError: a file is missing or damaged.
    """
    job = manifest.job
    if not manifest.files and not manifest.tokens:  # some formats have no file without tokens
        nothing = TokenFiles(folder, job.format, np.dtype(job.dtype), [])
        return dict.fromkeys(job.split_names, nothing)
    found = open_tokens(folder)
    return {name: _of_split(found, folder, manifest, name) for name in job.split_names}


def _of_split(found: TokenFiles, folder: Path, manifest: Manifest | None, split: str) -> TokenFiles:
    """Return the files of one split.

    Raises:
        OptionError: there is no such split, or the folder has no manifest that names splits.
    """
    if manifest is None:
        raise OptionError(f"{folder} has no manifest that names splits: open its files by path")
    if not isinstance(split, str) or split not in manifest.splits:
        known = ", ".join(map(repr, manifest.splits))
        raise OptionError(f"split is {split!r:.40}: the folder has {known}")
    names = {folder / file.name for file in manifest.files if file.split == split}
    parts = [part for part in found.parts if part.path in names]
    return TokenFiles(folder, found.format, found.dtype, parts, found.metadata)
