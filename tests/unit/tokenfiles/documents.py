"""Documents of ids as a source for writers of token files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from toksmith.tokenfiles.format import Settings
from toksmith.tokenfiles.formats import format_of
from toksmith.tokenfiles.source import TokenSource
from toksmith.tokenfiles.token_files import TokenFiles


class Documents(TokenSource):
    """Documents in memory."""

    def __init__(self, documents: Sequence[Sequence[int]], dtype: Any = "uint16") -> None:
        self._dtype = np.dtype(dtype)
        self._documents = [np.array(each, self._dtype) for each in documents]

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def lengths(self) -> Any:
        return np.array([len(each) for each in self._documents], np.int64)

    def ids(self, first: int, last: int) -> Any:
        return np.concatenate([np.zeros(0, self._dtype), *self._documents[first:last]])


def write(
    name: str,
    documents: Sequence[Sequence[int]],
    folder: Path,
    *,
    stem: str = "train",
    vocab_size: int = 1000,
    **settings: Any,
) -> dict[str, bytes]:
    """Write documents; return the content of the files by their names, in the order of reading."""
    chosen = format_of(name)
    source = Documents(documents, chosen.dtype(vocab_size))
    paths = chosen.write(source, folder, Settings(stem, vocab_size, **settings))
    return {path.name: path.read_bytes() for path in paths}


def read(name: str, path: Path, *, eos: int | None = 0, dtype: str | None = None) -> TokenFiles:
    return format_of(name).open(path, eos=eos, dtype=dtype)


def lists(tokens: TokenFiles) -> list[list[int]]:
    return [each.tolist() for each in tokens]
