"""The options of reading a corpus."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Mapping
from dataclasses import dataclass
from os import fspath
from typing import Any, NoReturn

from toksmith._base.checks import flag, literal, whole
from toksmith._base.visible import short_repr
from toksmith.corpus.paths import weight_of
from toksmith.corpus.remote import FilePath
from toksmith.errors import OptionError

READ_AS = ("text", "jsonl", "parquet", "csv", "tsv")
"""The formats that a file can be read as, compressed or not."""

ENCODING_ERRORS = ("strict", "replace")
"""The ways to treat invalid UTF-8."""


ONE_FIELD = "several fields are not supported; join their texts into one field first"
ONE_STRING = "lists as documents are not supported; join the strings of each into one first"


def field_advice(field: str, known: Container[str]) -> str:
    """Return the end of an error about a missing field; empty unless it names several fields.

    Example:
        >>> field_advice("title,text", ["id", "title", "text"])
        '; several fields are not supported; join their texts into one field first'
    """
    names = [name.strip() for name in field.split(",")]
    return f"; {ONE_FIELD}" if len(names) > 1 and all(name in known for name in names) else ""


@short_repr
@dataclass(frozen=True)
class Reading:
    """The options of reading a corpus.

    Attributes:
        separator: the string between the documents of a text file; without it, a file is one
            document. Each line of JSON Lines, and each row of Parquet, CSV or TSV, is a document of
            its own.
        field: the field of JSON Lines, or the column of Parquet, CSV or TSV, that holds the text.
            The first row of CSV and TSV names the columns.
        read_as: ``"text"``, ``"jsonl"``, ``"parquet"``, ``"csv"`` or ``"tsv"``; ``None`` decides by
            the file's name (``.jsonl``, ``.ndjson``, ``.parquet``, ``.csv``, ``.tsv``; any other
            file is text).
        weights: factors for the counts of files, by path, directory or pattern; 1 for files that
            are not named. If two entries name a file, the later one applies. The count of a chunk
            is the sum of its counts in each file times the file's weight (rounded to millionths),
            rounded half up; chunks with count 0 are left out.
        sample: the share of documents to use, up to 1. Documents are selected by the seed and their
            content alone: see :class:`~toksmith.corpus.document_sample.Selection`.
        seed: the random seed of the sample, a whole number.
        deduplicate: ``True`` or ``"documents"``: of identical documents, also of different files,
            the first is used. ``"lines"``: of identical lines of all documents, the first is
            used; lines of white space stay. Takes 32 to 64 bytes of memory per distinct document
            or line; what exceeds the memory limit goes to temporary files.
        encoding_errors: the treatment of invalid UTF-8: ``"strict"`` raises a FormatError with the
            offset of the first invalid byte, ``"replace"`` replaces invalid bytes by U+FFFD. A null
            byte is the valid character U+0000; but a file whose start is full of null bytes is
            refused, because it is UTF-16 or no text.

    A UTF-8 byte order mark at the start of a file is skipped.

    With ``sample`` or ``deduplicate`` each document is held in memory as a whole, but for
    ``deduplicate="lines"`` and text files without ``separator``, which are read line by line.

    Raises:
        OptionError: an option is out of range.
    """

    separator: str | None = None
    field: str = "text"
    read_as: str | None = None
    weights: Mapping[str, float] = dataclasses.field(default_factory=dict)
    sample: float = 1.0
    seed: int = 0
    deduplicate: bool | str = False
    encoding_errors: str = "strict"

    def __post_init__(self) -> None:
        if self.separator is not None:
            literal("separator", self.separator)
        if isinstance(self.field, list | tuple):
            raise OptionError(f"field is {self.field!r:.80}: {ONE_FIELD}")
        literal("field", self.field)
        if self.read_as is not None and self.read_as not in READ_AS:
            raise OptionError(
                f"read_as is {self.read_as!r:.80}: use {', '.join(map(repr, READ_AS))}, or None"
            )
        if self.deduplicate == "documents":
            object.__setattr__(self, "deduplicate", True)
        if not isinstance(self.deduplicate, str):
            flag("deduplicate", self.deduplicate)
        elif self.deduplicate != "lines":
            raise OptionError(
                f'deduplicate is {self.deduplicate!r:.80}: use "documents" (the same as True), '
                '"lines" or False'
            )
        if not isinstance(self.weights, Mapping):
            raise OptionError(
                f"weights is {self.weights!r:.80}: use a dict, such as {{'wiki/': 2.0}}"
            )
        for name, weight in self.weights.items():
            weight_of(weight, name)
        if isinstance(self.sample, bool) or not isinstance(self.sample, int | float):
            raise OptionError(f"sample is {self.sample!r:.80}: use a number, such as 0.1")
        if not 0 < self.sample <= 1:
            raise OptionError(f"sample is {self.sample}: use a number above 0, and 1 at most")
        whole("seed", self.seed, least=0)
        if self.encoding_errors not in ENCODING_ERRORS:
            raise OptionError(
                f"encoding_errors is {self.encoding_errors!r:.80}: use "
                f"{' or '.join(map(repr, ENCODING_ERRORS))}"
            )

    @property
    def names_field(self) -> bool:
        """Whether the field is not the default."""
        return self.field != type(self).field

    def refuse_field(self, path: FilePath) -> NoReturn:
        """Raise OptionError, because ``field`` is given, but this file is text."""
        raise OptionError(
            f"field is {self.field!r:.80}, and {path} is read as text, which has no fields: "
            "field= is for JSON Lines, Parquet, CSV and TSV. Leave it out, or give read_as= if the "
            "file's name does not tell"
        )

    @property
    def selects(self) -> bool:
        """Whether some documents are left out."""
        return self.sample != 1 or bool(self.deduplicate)

    @property
    def is_by_line(self) -> bool:
        """Whether a text file is read line by line to leave out lines."""
        return self.deduplicate == "lines" and self.separator is None and self.sample == 1

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        plain = Reading()
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values["weights"] = {fspath(path): weight for path, weight in self.weights.items()}
        return {name: value for name, value in values.items() if value != getattr(plain, name)}
