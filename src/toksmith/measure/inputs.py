"""The inputs of a measurement: named tokenizers, and named texts and files."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from toksmith._base.documents import document_bounds
from toksmith._base.lazy import np
from toksmith._base.text import Texts, utf8
from toksmith.corpus import AnyPath, DocumentSink, Files, Reading, check_field, expand
from toksmith.corpus.remote import FilePath
from toksmith.engine.columns import texts_of
from toksmith.errors import OptionError
from toksmith.formats import hub
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.tokenizer import Tokenizer

AnyFiles: TypeAlias = "AnyPath | Iterable[AnyPath] | Mapping[str, AnyPath | Iterable[AnyPath]]"
"""A path, directory or pattern, a list of them, or either by name."""

THE_TEXT = "text"
"""The name of a text that has none."""


@dataclass(frozen=True)
class NamedText:
    """Documents under a name: those of one or several files, or texts at hand.

    Attributes:
        name: of a language or a file.
        files: the files that hold the documents, or ...
        texts: ... the documents.
    """

    name: str
    files: tuple[FilePath, ...] = ()
    texts: tuple[bytes, ...] = ()

    @property
    def size(self) -> int:
        """Its bytes, as they are stored."""
        return sum(file.stat().st_size for file in self.files) + sum(map(len, self.texts))

    def feed(self, counter: DocumentSink, reading: Reading, report: Callable[[int], None]) -> int:
        """Pass all documents to a counter, and return their number.

        Args:
            counter: takes the documents.
            reading: how files are read. Its separator also cuts a single text.
            report: is called with the bytes done, as they are stored.
        """
        if self.files:
            return Files(self.files, reading, check_fields=False).feed(counter, report)
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


def check_sources(call: str, texts: object, files: object, on: object) -> None:
    """Raise an error unless exactly one of ``texts=`` and ``files=`` is given.

    Args:
        call: the function, for the message.
        texts: its argument; ``None`` if it is not given.
        files: likewise.
        on: an argument that the function does not take any more.

    Raises:
        OptionError: none or both are given, or ``on`` is.
    """
    choice = "texts= for text at hand, or files= for paths and patterns"
    if on is not None:
        raise OptionError(f"{call} takes no on=: use {choice}")
    if texts is None and files is None:
        raise OptionError(f"{call} has nothing to read: use {choice}")
    if texts is not None and files is not None:
        raise OptionError(f"{call} takes one of texts= and files=, and both are given")


def name_texts(
    *,
    texts: Texts | None = None,
    files: AnyFiles | None = None,
    reading: Reading | None = None,
) -> list[NamedText]:
    """Return the texts of ``texts`` or ``files``, each under a unique name.

    - ``files``: each file is a text. In a mapping, the files of a name are one text.
    - ``texts``: one text, or a list of documents, which are one text. In a mapping, each name has
      one text.
    - ``reading``: how files are read.

    Raises:
        OptionError: there is nothing, or a path in ``texts``, or something else in either; or
            ``reading`` names a field, and all files are text.
        FormatError: a path or a pattern has no files.

    Example:
        >>> found = name_texts(texts={"en": "two", "fr": ["un", "deux"]})
        >>> [(text.name, text.size) for text in found]
        [('en', 3), ('fr', 6)]
    """
    if texts is not None:
        by_name = texts if isinstance(texts, Mapping) else {THE_TEXT: texts}
        found = [
            NamedText(
                str(name), (), tuple(map(utf8, texts_of(given, _where("texts", name, texts))))
            )
            for name, given in by_name.items()
        ]
    elif isinstance(files, Mapping):
        found = [
            NamedText(str(name), tuple(_paths(given, _where("files", name, files))))
            for name, given in files.items()
        ]
    else:
        paths = _paths(files, "files")
        found = [NamedText(name, (path,)) for name, path in zip(_names(paths), paths, strict=True)]
    for text in found:
        if not text.files and not text.texts:
            where = _where("files" if texts is None else "texts", text.name, texts or files)
            raise OptionError(f"{where} is empty: at least one is needed")
    if not found:
        raise OptionError(
            f"{'files' if texts is None else 'texts'} is empty: at least one is needed"
        )
    if reading is not None:
        check_field([file for text in found for file in text.files], reading)
    return found


def _where(name: str, key: object, given: object) -> str:
    return f"{name}[{key!r:.80}]" if isinstance(given, Mapping) else name


def _paths(given: object, where: str) -> list[FilePath]:
    if isinstance(given, bytes) or not isinstance(given, str | PathLike | Iterable):
        raise OptionError(
            f"{where} is {given!r:.80}: use a path, a directory, a pattern, or a list of them"
        )
    several = [given] if isinstance(given, str | PathLike) else given
    return [path for each in several for path in expand(each)]


def _names(files: Sequence[FilePath]) -> list[str]:
    """Return a name for each file: without its folder, if that is unique."""
    counts = collections.Counter(file.name for file in files)
    return [file.name if counts[file.name] == 1 else str(file) for file in files]


AnyTokenizers: TypeAlias = "AnyTokenizer | Iterable[AnyTokenizer] | Mapping[str, AnyTokenizer]"


def name_tokenizers(tokenizers: AnyTokenizers) -> dict[str, Tokenizer]:
    """Return tokenizers by the names that they are called by.

    Raises:
        OptionError: there is none, two have one name, or one is no tokenizer.
    """
    if isinstance(tokenizers, Mapping):
        named = {str(name): tokenizer_of(each) for name, each in tokenizers.items()}
    else:
        is_one = isinstance(tokenizers, str) or not isinstance(tokenizers, Iterable)
        several: list[AnyTokenizer]
        several = [tokenizers] if is_one else list(tokenizers)  # type: ignore[arg-type,list-item]
        names = names_of(several)
        if len(set(names)) < len(names):
            name = max(names, key=names.count)
            raise OptionError(f"two tokenizers are called {name!r}: give a mapping from names")
        named = {name: tokenizer_of(each) for name, each in zip(names, several, strict=True)}
    if not named:
        raise OptionError("there is no tokenizer to compare")
    return named


def names_of(tokenizers: Sequence[AnyTokenizer]) -> list[str]:
    """Return default names of tokenizers; of paths, the parts that differ.

    Example:
        >>> names_of(["gpt2", "mine/my.model", "llama/tokenizer.json"])
        ['gpt2', 'my', 'llama']
    """
    names = [_name(each, place) for place, each in enumerate(tokenizers)]
    return [
        fspath(each) if names.count(name) > 1 and isinstance(each, str | PathLike) else name
        for name, each in zip(names, tokenizers, strict=True)
    ]


_SAYS_NOTHING = {"tokenizer", "vocab", "model", "spiece", "tekken", "merges"}


def _name(tokenizer: AnyTokenizer, place: int) -> str:
    if isinstance(tokenizer, Tokenizer):
        return tokenizer.name or f"tokenizer {place + 1}"
    if not isinstance(tokenizer, str | PathLike):
        raise OptionError(f"{tokenizer!r:.80} is no tokenizer: use a Tokenizer, a name or a path")
    path = Path(tokenizer)
    if isinstance(tokenizer, str) and hub.is_name(tokenizer) and not path.exists():
        return tokenizer
    is_plain = path.stem in _SAYS_NOTHING and path.resolve().parent.name
    return path.resolve().parent.name if is_plain else path.stem
