"""Options that several commands share, and their values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toksmith._base.visible import count_of
from toksmith.errors import OptionError, UnknownNameError
from toksmith.formats.listed import WRITTEN
from toksmith.splitters import FAMILIES

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer


class Special(str, Enum):
    """The treatment of special tokens written in the text."""

    TEXT = "text"
    ENCODE = "encode"
    RAISE = "raise"


class IdFormat(str, Enum):
    """The formats of ids."""

    LINES = "lines"
    JSON = "json"
    JSONL = "jsonl"
    BINARY = "binary"
    NPY = "npy"

    @property
    def is_binary(self) -> bool:
        """Whether ids are integers of a fixed size."""
        return self in (IdFormat.BINARY, IdFormat.NPY)


class Dtype(str, Enum):
    """The type of binary ids, little-endian."""

    UINT16 = "uint16"
    UINT32 = "uint32"

    @property
    def largest(self) -> int:
        """The largest id that fits."""
        return 0xFFFF if self is Dtype.UINT16 else 0xFFFF_FFFF

    @property
    def code(self) -> str:
        """The type as numpy spells it."""
        return "<u2" if self is Dtype.UINT16 else "<u4"


@contextmanager
def if_interrupted(advise: Callable[[], str]) -> Iterator[None]:
    """After Ctrl-C in the ``with`` block, print what is kept and how to go on.

    Args:
        advise: returns the message.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(advise()) from None


def is_given(ctx: typer.Context, name: str) -> bool:
    """Return whether an option is given on the command line, and not by default or environment."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _quiet_anywhere(ctx: typer.Context, quiet: bool) -> bool:
    """Apply --quiet to the command if it comes before the command's name."""
    ctx.meta["toksmith.quiet"] = quiet or ctx.meta.get("toksmith.quiet", False)
    return bool(ctx.meta["toksmith.quiet"])


def _none_if_dash(path: Path | None) -> Path | None:
    """Return ``None``, which means standard output, for ``-``."""
    return None if path == Path("-") else path


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print only the result, warnings and errors.",
        callback=_quiet_anywhere,
    ),
]
TOKENIZER_VARIABLE = "TOKSMITH_TOKENIZER"
"""The environment variable that sets a default for ``--tokenizer``."""

TokenizerName = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        "-t",
        metavar="NAME|PATH",
        envvar=TOKENIZER_VARIABLE,
        help="A name, such as cl100k_base or org/model, or a tokenizer's file or folder.",
    ),
]
SPLITS = f"{', '.join(FAMILIES)} …"
"""Names of published splits, for help; the error for an unknown name lists the others as well."""
Split = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|REGEX",
        help="For a bare .tiktoken file, or a GGUF file of byte-level BPE: the split of text into "
        "chunks. A published rule "
        f"({SPLITS}), words, none, or a regular expression.",
    ),
]
SpecialTokens = Annotated[
    list[str] | None,
    typer.Option(
        "--special-token",
        metavar="TEXT=ID",
        help="For a bare .tiktoken file: a special token and its id. Repeat for several.",
    ),
]
SpecialOption = Annotated[
    Special,
    typer.Option(
        case_sensitive=False,
        help="What to do with special tokens written in the text, such as <|endoftext|>: text = "
        "plain text (safe), encode = the special token, raise = an error.",
    ),
]
AddSpecialTokens = Annotated[
    bool,
    typer.Option(
        "--add-special-tokens",
        help="Add the tokens that the model expects around a text, such as BOS or \\[CLS].",
    ),
]
File = Annotated[
    Path | None, typer.Option("--file", "-f", metavar="PATH", help="Read the text from a file.")
]
IdFormatOption = Annotated[
    IdFormat | None,
    typer.Option(
        "--format",
        case_sensitive=False,
        help="One id a line, JSON, JSON Lines (a list per document), raw little-endian integers "
        "without a header, or a NumPy array. Default: by the file's suffix (.txt, .ids, .json, "
        ".jsonl, .bin, .npy), or lines if it has none.",
    ),
]
DtypeOption = Annotated[Dtype, typer.Option(case_sensitive=False, help="The type of binary ids.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="PATH",
        help="Write to a file, atomically. Default, and -: standard output.",
        callback=_none_if_dash,
    ),
]
FORMATS = f"{', '.join(WRITTEN[:-1])} or {WRITTEN[-1]}"
"""The names of the formats that can be written, for help."""
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        "--to",
        metavar="FORMAT",
        help=f"The format to write: {FORMATS}. Default: by the file's name.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Text that separates documents inside a file. Without it, a file is one document.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="The number of threads. Default: one per core."),
]


_ID_SUFFIXES = {
    ".txt": IdFormat.LINES,
    ".ids": IdFormat.LINES,
    ".json": IdFormat.JSON,
    ".jsonl": IdFormat.JSONL,
    ".bin": IdFormat.BINARY,
    ".npy": IdFormat.NPY,
}


def choose_format(given: IdFormat | None, path: Path | None, *, writes: bool) -> IdFormat:
    """Return the format of ids: as given, else by the file's suffix, else lines.

    Args:
        given: the option.
        path: the file; ``None`` for a standard stream.
        writes: whether the file is written, so that an unknown suffix is an error.

    Raises:
        OptionError: the two differ, or the suffix is unknown.
    """
    named = None if path is None else _ID_SUFFIXES.get(path.suffix.lower())
    if writes and path is not None and path.suffix and given is None and named is None:
        *others, last = _ID_SUFFIXES
        raise OptionError(
            f"{path}: no format of ids has the suffix {path.suffix}: end the name with "
            f"{', '.join(others)} or {last}, or give --format"
        )
    if given is not None and named is not None and given is not named:
        raise OptionError(
            f"{path}: the suffix means {named.value}, but --format is {given.value}: leave "
            "--format out, or change the suffix"
        )
    return given or named or IdFormat.LINES


def load_tokenizer(
    name: str, split: str | None = None, special_tokens: list[str] | None = None
) -> Tokenizer:
    """Return the tokenizer of a path if it exists, else of a name.

    Raises:
        OptionError: the file does not exist, the name is ``-`` or has --split, or a special token
            has no id.
        FormatError: the file is damaged or of an unknown format.
        UnknownNameError: no published tokenizer has this name.
        DownloadError, MissingExtraError: a model is not in the Hugging Face cache.
    """
    import toksmith
    from toksmith.formats import hub

    check_tokenizer_name(name)
    given: dict[str, Any] = {}
    if split is not None:
        given["split"] = parse_split(split)
    if special_tokens:
        given["special_tokens"] = dict(_special_token(text) for text in special_tokens)
    if Path(name).exists():
        return toksmith.load(name, **given)
    is_model = hub.is_name(name)
    if not is_model and (os.sep in name or Path(name).suffix):
        raise OptionError(f"{name}: there is no such file")
    if given:
        raise OptionError(
            f"--split and --special-token are for files, but {name!r} is the name of a tokenizer: "
            "leave them out"
        )
    try:
        return toksmith.get(name)
    except UnknownNameError as unknown:
        raise UnknownNameError(f"there is no file {name!r}, and {unknown}") from None


def check_tokenizer_name(name: str) -> None:
    """Check that a tokenizer's name is not ``-``, as standard input is called elsewhere.

    Raises:
        OptionError: it is.
    """
    if name == "-":
        raise OptionError(
            "-: no tokenizer has this name: to read one from standard input, give /dev/stdin"
        )


def parse_split(split: str) -> str | None:
    """Return the split given on the command line: a name, a pattern, or ``None`` for ``none``."""
    return None if split.strip().lower() == "none" else split


def _special_token(text: str) -> tuple[str, int]:
    literal, equals, number = text.rpartition("=")
    if not equals or not number.isdecimal():
        raise OptionError(f"--special-token {text!r}: use TEXT=ID, such as '<|endoftext|>=100257'")
    if not literal:
        raise OptionError(
            f"--special-token {text!r} has no text before the =: use TEXT=ID, such as "
            "'<|endoftext|>=100257'"
        )
    return literal, int(number)


def shown_size(size: int) -> str:
    """Return a size in bytes with a unit.

    Example:
        >>> shown_size(12_345_678), shown_size(1_234)
        ('12.3 MB', '1,234 bytes')
    """
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else count_of(size, "byte")
