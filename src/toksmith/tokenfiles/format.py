"""The protocol of token file formats: a format is one class, in one module of ``formats/``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from toksmith._base.lazy import extra, np
from toksmith.errors import OptionError
from toksmith.tokenfiles.source import TokenSource

if TYPE_CHECKING:
    from toksmith.tokenfiles.token_files import TokenFiles
    from toksmith.tokenizer import Tokenizer

Place: TypeAlias = Literal["before", "after"]
"""The place of the end-of-text token of a document."""

Empty: TypeAlias = Literal["frame", "bare", "drop"]
"""The treatment of empty documents: framed like others (a lone end-of-text token), kept without any
token, or left out."""

_STORED = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


@dataclass(frozen=True)
class Settings:
    """The facts about a corpus that a writer needs besides its ids.

    Attributes:
        stem: the start of the names of the files: the name of the split, such as ``"train"``.
        vocab_size: the number of ids of the tokenizer, its highest id plus 1.
        tokenizer: the tokenizer; ``None`` when files are converted without it.
        tokenizer_name: its name for metadata; never empty.
        tokenizer_hash: SHA-256 of its pipeline; empty if unknown.
        eos: the id that ends (or precedes) each document; ``None`` for none.
        sequence_length: the tokens of a sequence, if documents were concatenated and cut; else
            ``None``.
        shard_tokens: the tokens of a file at most, for formats that consist of several files;
            ``None`` for the format's own default.
    """

    stem: str
    vocab_size: int
    tokenizer: Tokenizer | None = None
    tokenizer_name: str = "unknown"
    tokenizer_hash: str = ""
    eos: int | None = None
    sequence_length: int | None = None
    shard_tokens: int | None = None


class Format(ABC):
    """A format of token files, with its writer and its reader.

    Attributes:
        name: the name of the format in calls and on the command line.
        eos: where the framework's own writer puts the end-of-text token; ``None`` if it puts none.
        empty: what the framework's own writer does with empty documents.
        stores_bounds: whether the files say where documents begin and end.
        types: the integer types that the framework reads, each with the number of ids up to which
            it is used, smallest first.
        package: the optional package that the format needs; ``None`` for none.
        extra: the extra of toksmith that installs it.
        holds_empty: whether the files can hold documents without tokens.
    """

    name: ClassVar[str]
    eos: ClassVar[Place | None] = None
    empty: ClassVar[Empty] = "frame"
    stores_bounds: ClassVar[bool] = True
    types: ClassVar[tuple[tuple[str, int], ...]] = (("uint16", 1 << 16), ("uint32", 1 << 32))

    package: ClassVar[str | None] = None
    extra: ClassVar[str] = ""
    holds_empty: ClassVar[bool] = True

    def check(self, *, with_empty: bool) -> None:
        """Check before any work that the files can be written.

        Args:
            with_empty: whether there may be documents without tokens.

        Raises:
            MissingExtraError: the package that the format needs is not installed.
            OptionError: the format cannot hold documents without tokens.
        """
        if self.package is not None:
            extra(self.package, self.extra)
        if with_empty and not self.holds_empty:
            raise OptionError(
                f'{self.name} files cannot hold documents without tokens: use empty="drop", or '
                "end documents with an end-of-text token"
            )

    def dtype(self, vocab_size: int) -> np.dtype[Any]:
        """Return the integer type of the ids of a vocabulary.

        Raises:
            OptionError: the vocabulary has more ids than the format can hold.
        """
        for name, most in self.types:
            if vocab_size <= most:
                return np.dtype(name)
        raise OptionError(
            f"the tokenizer has {vocab_size:,} ids, and {self.name} files hold "
            f"{self.types[-1][1]:,} at most: use another format"
        )

    @abstractmethod
    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write the files of one split to an empty folder; return them in the order of reading.

        The result is a pure function of the arguments. The caller moves the files to their final
        place. Formats whose files have an index for the whole folder, or fixed names, write them
        to a folder ``STEM/`` in it.

        Args:
            tokens: the documents, in the type of :meth:`dtype`.
            folder: an empty folder.
            settings: names, and facts for metadata.
        """

    @abstractmethod
    def find(self, path: Path) -> list[Path]:
        """Return the files of this format at a path, in order; empty if there are none.

        Args:
            path: a file or a folder, or the prefix of a pair of files.
        """

    @abstractmethod
    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the files at a path for reading.

        Args:
            path: a file or a folder, or the prefix of a pair of files.
            eos: the id that ends or precedes documents, for formats that do not store their
                bounds; without it, each file is one document.
            dtype: the type of the ids, for formats that do not store it; ``None`` for the default.
            place: whether ``eos`` is before or after a document; ``None`` as the framework has it.

        Raises:
            FormatError: a file is damaged, cut short, or not of this format.
        """


def type_of(name: str | None, default: str = "uint16") -> np.dtype[Any]:
    """Return the type of stored ids, in little-endian order.

    Args:
        name: the name of the type; ``None`` for the default.
        default: the name of the default.

    Raises:
        OptionError: the name is not that of an integer type.

    Example:
        >>> type_of(None, "uint16")
        dtype('uint16')
    """
    name = default if name is None else name
    if name not in _STORED:
        raise OptionError(f"dtype is {name!r:.40}: use {', '.join(map(repr, _STORED))}")
    found: np.dtype[Any] = np.dtype("<" + np.dtype(name).str[1:])
    return found
