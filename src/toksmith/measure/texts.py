"""What tokenizers are compared on: texts and files, each under a name."""

from __future__ import annotations

import collections
import glob
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from toksmith.corpus import Counter, Files, Reading, expand
from toksmith.documents import document_bounds, exists, looks_like_path
from toksmith.errors import OptionError
from toksmith.lazy import np
from toksmith.text import Text, utf8

Source: TypeAlias = "Text | PathLike[str]"
On: TypeAlias = "Source | Iterable[Source] | Mapping[str, Source | Iterable[Source]]"
"""A text or file, several, or several by name; see :func:`named_texts`."""

THE_TEXT = "text"
"""The name of a text that has none."""


@dataclass(frozen=True)
class NamedText:
    """Documents under a name: those of one or several files, or texts at hand.

    Attributes:
        name: of a language or a file.
        files: where the documents stand, or ...
        texts: ... the documents.
    """

    name: str
    files: tuple[Path, ...] = ()
    texts: tuple[bytes, ...] = ()

    @property
    def size(self) -> int:
        """Its bytes, as they are stored."""
        return sum(file.stat().st_size for file in self.files) + sum(map(len, self.texts))

    def feed(self, counter: Counter, reading: Reading, report: Callable[[int], None]) -> int:
        """Hand all documents over, tell ``report`` the bytes done, and return how many there are.

        Args:
            counter: who takes them.
            reading: how files are read. Its separator cuts a single text, too.
            report: is told bytes as they are stored.
        """
        if self.files:
            return Files(self.files, reading).feed(counter, report)
        if len(self.texts) == 1:
            data = self.texts[0]
            bounds = document_bounds(data, reading.separator)
        else:
            data = b"".join(self.texts)
            ends = np.cumsum([0, *map(len, self.texts)], dtype=np.int64)
            bounds = np.stack([ends[:-1], ends[1:]], axis=1)
        counter.add_slices(data, bounds)
        report(len(data))
        return len(bounds)


def named_texts(on: On) -> list[NamedText]:
    """Return what ``on`` stands for, each under a name of its own.

    - A path: a file, the files of a folder, each a text. A string is a path if there is such a
      file, and a text otherwise; bytes are always a text.
    - A list of paths: each a text; of strings that are no paths: the documents of one text.
    - A mapping: by name, any of these as one text.

    Raises:
        OptionError: there is nothing, or texts and files are mixed, or a string that looks like a
            path is none.
        FormatError: a folder holds no files.

    Example:
        >>> [(text.name, text.size) for text in named_texts({"en": "two", "fr": ["un", "deux"]})]
        [('en', 3), ('fr', 6)]
    """
    if isinstance(on, Mapping):
        found = [_one(str(name), sources) for name, sources in on.items()]
    else:
        files, texts = _sources(on)
        found = [NamedText(name, (file,)) for name, file in zip(_names(files), files, strict=True)]
        if texts:
            found.append(NamedText(THE_TEXT, (), tuple(texts)))
    if not found:
        raise OptionError("on is empty: a text or a file is wanted")
    return found


def _one(name: str, sources: Source | Iterable[Source]) -> NamedText:
    files, texts = _sources(sources)
    if not files and not texts:
        raise OptionError(f"on[{name!r}] is empty: a text or a file is wanted")
    return NamedText(name, tuple(files), tuple(texts))


def _sources(given: Source | Iterable[Source]) -> tuple[list[Path], list[bytes]]:
    if not isinstance(given, Text | PathLike | Iterable):
        raise OptionError(f"on is {given!r:.80}: a text, a path, or several are wanted")
    several = [given] if isinstance(given, Text | PathLike) else list(given)
    files: list[Path] = []
    texts: list[bytes] = []
    for source in several:
        if not isinstance(source, Text | PathLike):
            raise OptionError(f"on holds {source!r:.80}: a text or a path is wanted")
        path = _path(source)
        if path is None:
            texts.append(utf8(source))  # type: ignore[arg-type]  # no path, so a text
        else:
            files += expand(path)
    if files and texts:
        raise OptionError(
            f"on mixes files ({files[0]}) and texts ({texts[0].decode('utf-8', 'replace')!r:.60}): "
            "use a mapping from names to either"
        )
    return files, texts


def _path(source: Source) -> str | PathLike[str] | None:
    """Return a source that is a path; ``None`` for a text."""
    if isinstance(source, PathLike):
        return source
    if not isinstance(source, str):
        return None
    if exists(source) or (glob.has_magic(source) and _matches(source)):
        return source
    if looks_like_path(source):
        raise OptionError(f"{source}: there is no such file")
    return None


def _matches(pattern: str) -> bool:
    try:
        return any(glob.iglob(pattern, recursive=True))  # noqa: PTH207  # absolute ones too
    except (OSError, ValueError):
        return False


def _names(files: Sequence[Path]) -> list[str]:
    """Return a name for each file: without its folder, where that is enough to tell them apart."""
    counts = collections.Counter(file.name for file in files)
    return [file.name if counts[file.name] == 1 else str(file) for file in files]
