"""``toksmith verify``: checks two tokenizers, a tokenizer and its library, or token files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from toksmith._base.visible import count_of, visible
from toksmith.cli.common import (
    AddSpecialTokens,
    Quiet,
    Separator,
    Special,
    SpecialOption,
    SpecialTokens,
    Split,
    Threads,
    is_given,
    load_tokenizer,
)
from toksmith.cli.corpus import EncodingErrors, EncodingErrorsOption, Field, ReadAsOption
from toksmith.errors import OptionError, ToksmithError

if TYPE_CHECKING:
    from toksmith._base.text import Text
    from toksmith.corpus import Reading
    from toksmith.measure.verify import By, Difference
    from toksmith.tokenizer import Tokenizer

EXAMPLE = "toksmith verify toksmith-small tokenizer.json corpus/ --separator '<|endoftext|>'"


_TOKEN_FILES = "Token files"


class Library(str, Enum):
    """The libraries that tokenizers come from."""

    TRANSFORMERS = "transformers"
    TOKENIZERS = "tokenizers"
    TIKTOKEN = "tiktoken"
    SENTENCEPIECE = "sentencepiece"
    LLAMA_CPP = "llama-cpp"


class Equal(str, Enum):
    """The property that must be equal."""

    IDS = "ids"
    TOKENS = "tokens"
    SPANS = "spans"


_CHECKS = {"a", "tokenizer", "sample", "no_sources", "threads", "quiet"}
"""The options that go with a folder of token files."""


def run(
    ctx: typer.Context,
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="A tokenizer, by its published name or path; or a folder of token files.",
        ),
    ],
    b: Annotated[
        str | None,
        typer.Argument(metavar="B", help="The tokenizer to check against it; none with --against."),
    ] = None,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT|FILES",
            help="Files, folders, quoted globs, one text, or - for standard input. Without them, "
            "some 3,000 built-in texts that tokenizers often get wrong.",
        ),
    ] = None,
    against: Annotated[
        Library | None,
        typer.Option(
            case_sensitive=False,
            help="Instead of B: the library that A comes from, which has to be installed. It reads "
            "A itself, or A written in its own format. Each of its ways to treat special tokens is "
            "compared.",
        ),
    ] = None,
    by: Annotated[
        Equal | None,
        typer.Option(
            case_sensitive=False,
            help="The property that must be equal: ids; tokens, as spelled in the vocabularies; or "
            "spans, the bytes of the text that each token covers. Default: ids if both "
            "vocabularies give each id the same token, else tokens.",
        ),
    ] = None,
    special: SpecialOption = Special.TEXT,
    add_special_tokens: AddSpecialTokens = False,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            "-t",
            metavar="NAME|PATH",
            help="The tokenizer, if the manifest does not lead to it.",
            rich_help_panel=_TOKEN_FILES,
        ),
    ] = None,
    sample: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Compare only this share of the documents with their texts, such as 0.01.",
            rich_help_panel=_TOKEN_FILES,
        ),
    ] = None,
    no_sources: Annotated[
        bool,
        typer.Option(
            "--no-sources",
            help="Do not compare documents with their texts.",
            rich_help_panel=_TOKEN_FILES,
        ),
    ] = False,
    separator: Separator = None,
    field: Field = "text",
    read_as: ReadAsOption = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    threads: Threads = None,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Check that two tokenizers, or a tokenizer and its own library, agree on texts.

    If they do not, the first difference is shown in context, with the tokens of both.

    Of a folder of token files, check the files against their manifest and the texts that they were
    made from: sizes and hashes, counts, and the ids of each document.

    The exit code is 0 if they agree, 1 if they differ, 2 for errors.
    """
    from toksmith.corpus import Reading

    if b is None and against is None and is_token_folder(a):
        for name in ctx.params:
            if name not in _CHECKS and is_given(ctx, name):
                raise OptionError(
                    f"--{name.replace('_', '-')} is for tokenizers, and {a} holds token files: "
                    "their manifest names the options"
                )
        if not check_tokens(a, tokenizer, sample, not no_sources, threads, quiet):
            raise typer.Exit(1)
        return
    if tokenizer is not None or sample is not None or no_sources:
        raise OptionError(
            f"--tokenizer, --sample and --no-sources are for a folder of token files, and {a} is "
            "none"
        )
    reading = Reading(
        separator, field, read_as and read_as.value, encoding_errors=encoding_errors.value
    )
    try:
        left = load_tokenizer(a, split, special_token)
    except ToksmithError:
        if b is None and against is None:
            check_no_token_files(a)
        raise
    if against is not None and by not in (None, Equal.IDS):
        raise OptionError("--by is for two tokenizers; with --against, ids are compared")
    if against is not None:
        words = [*([b] if b is not None else []), *(texts or [])]
        equal = agrees_with_library(left, a, against.value, words, reading, quiet)
    elif b is None:
        raise OptionError(
            "verify needs a second tokenizer, or --against with a library: "
            f"{', '.join(each.value for each in Library)}"
        )
    else:
        equal = agree(
            (left, load_tokenizer(b)),
            (a, b),
            texts or [],
            by=by.value if by else None,
            special=special.value,
            add_special_tokens=add_special_tokens,
            reading=reading,
            threads=threads,
            quiet=quiet,
        )
    if not equal:
        raise typer.Exit(1)


def is_token_folder(path: str) -> bool:
    """Return whether a folder holds token files that toksmith wrote.

    Raises:
        OptionError: they are not finished.
    """
    from toksmith.tokenfiles.manifest import NAME
    from toksmith.tokenfiles.output import WORK

    folder = Path(path)
    if (folder / NAME).is_file():
        return True
    if (folder / WORK).is_dir():
        raise OptionError(
            f"{path} is not finished: give the same toksmith tokenize command again, or --finish"
        )
    return False


def check_no_token_files(path: str) -> None:
    """Check that a path is not that of token files, which are checked by their folder.

    Raises:
        OptionError: it is.
    """
    from toksmith.tokenfiles.formats import NAMES, format_of
    from toksmith.tokenfiles.manifest import NAME

    place = Path(path)
    if not any(format_of(name).find(place) for name in NAMES):
        return
    if folder := next((each for each in place.parents if (each / NAME).is_file()), None):
        raise OptionError(f"{path} is a part of token files: give their folder, {folder}")
    raise OptionError(
        f"{path} holds token files without {NAME}, which toksmith tokenize writes: there is "
        "nothing to check them against"
    )


def check_tokens(
    folder: str,
    tokenizer: str | None,
    sample: float | None,
    sources: bool,
    threads: int | None,
    quiet: bool,
) -> bool:
    """Check token files, print the result, and return whether all is well."""
    from toksmith.tokenfiles import verify_tokens

    found = verify_tokens(
        folder,
        tokenizer=tokenizer,
        sample=1.0 if sample is None else sample,
        sources=sources,
        threads=threads,
        progress=False if quiet else None,
    )
    if not found.is_ok or not quiet:
        print(found)
    return found.is_ok


def agree(
    pair: tuple[Tokenizer, Tokenizer],
    names: tuple[str, str],
    texts: list[str],
    by: By | None = None,
    special: str = "text",
    add_special_tokens: bool = False,
    reading: Reading | None = None,
    threads: int | None = None,
    quiet: bool = False,
    decoding: bool = False,
) -> bool:
    """Compare two tokenizers, print the result, and return whether they agree.

    With ``decoding``, they also have to decode the ids of each text to the same text.
    """
    from toksmith._base.text import utf8
    from toksmith.corpus import Reading
    from toksmith.measure import verify

    by = by or verify.default_by(*pair)
    options: dict[str, Any] = {
        "by": by, "special": special, "add_special_tokens": add_special_tokens,
    }  # fmt: skip
    documents = differing = size = 0
    is_decoded_otherwise = False
    literals = [*pair[0].special_tokens, *pair[1].special_tokens]
    for name, some in _documents(texts, reading or Reading(), quiet, literals):
        found = verify.find_differing(*pair, some, threads=threads, **options)
        if found and not differing:
            difference = verify.first_difference(*pair, some[found[0]], **options)
            print(f"{name}: document {found[0] + 1:,} of {len(some):,} differs", end=" ")
            _show(cast("Difference", difference), names)
        if decoding and not (differing or found or is_decoded_otherwise):
            is_decoded_otherwise = _show_decoded(pair, names, name, some)
        documents += len(some)
        differing += len(found)
        size += sum(len(utf8(text)) for text in some)
    if differing:
        print(f"\ndocuments that differ by {by}: {differing:,} of {documents:,}")
    elif not quiet and not is_decoded_otherwise:
        _print_agreement(*names, by, documents, size)
    return not differing and not is_decoded_otherwise


def _show_decoded(
    pair: tuple[Tokenizer, Tokenizer], names: tuple[str, str], name: str, documents: Sequence[Text]
) -> bool:
    """Print the first document whose ids are decoded to two texts; return whether there is one."""
    ids = pair[0].encode_batch(documents)
    for place, texts in enumerate(zip(*(tok.decode_batch(ids) for tok in pair), strict=True)):
        if texts[0] == texts[1]:
            continue
        characters = enumerate(zip_longest(*texts))
        start = next(i for i, (one, other) in characters if one != other)
        ends = (text[start : start + 20].encode("utf-8", "surrogatepass") for text in texts)
        one, other = (visible(end) or "nothing" for end in ends)
        print(
            f"{name}: document {place + 1:,} of {len(documents):,} has the same ids, but from "
            f"character {start:,} on, {names[0]} decodes them to {one} and {names[1]} to {other}"
        )
        return True
    return False


def agrees_with_library(
    tokenizer: Tokenizer,
    source: str,
    library: str,
    texts: list[str],
    reading: Reading,
    quiet: bool,
) -> bool:
    """Compare a tokenizer with its library, print the result, and return whether they agree."""
    from rich.console import Console

    from toksmith._base.text import utf8
    from toksmith.measure.against import Original
    from toksmith.show.difference import library_difference_view
    from toksmith.show.terminal import has_colour

    original = Original(library, tokenizer, source)
    documents = differing = size = 0
    for name, some in _documents(texts, reading, quiet, tokenizer.special_tokens):
        for place, mode in original.differing(some):
            if not differing:
                print(f"{name}: document {place + 1:,} of {len(some):,} differs", end=" ")
                view = library_difference_view(
                    original.describe(some[place], mode),
                    colour=has_colour(console := Console(highlight=False)),
                )
                console.print(view)
            differing += 1
        documents += len(some)
        size += sum(len(utf8(text)) for text in some)
    if differing:
        print(f"\ndocuments that differ by ids: {differing:,} of {documents:,}")
    elif not quiet:
        _print_agreement(source, original.library, "ids", documents, size)
    return not differing


def _print_agreement(a: str, b: str, by: str, documents: int, size: int) -> None:
    number = count_of(documents, "document")
    print(f"{a} and {b} agree by {by}: {number}, {count_of(size, 'byte')}")


def _documents(
    inputs: list[str], reading: Reading, quiet: bool, literals: Iterable[str]
) -> Iterator[tuple[str, Sequence[Text]]]:
    """Yield the name and the documents of each source."""
    if not inputs:
        from toksmith.measure.hard_texts import hard_texts

        yield "the built-in texts", hard_texts(literals)
        return
    from toksmith._base.documents import document_bounds
    from toksmith.cli.reading import files_or_text, read_stdin
    from toksmith.corpus import check_field
    from toksmith.corpus.opening import open_documents

    files, text = ([], None) if inputs == ["-"] else files_or_text(inputs, [])
    if not files:
        name = "standard input" if text is None else "the text"
        data = read_stdin(quiet, reading.encoding_errors) if text is None else text
        bounds = document_bounds(data, reading.separator).tolist()
        yield name, [data[start:end] for start, end in bounds]
    check_field(files, reading)
    for path in files:
        with open_documents(path, reading, check_fields=False) as (content, slices):
            view = memoryview(content)  # type: ignore[arg-type]  # files are no str
            yield str(path), [view[start:end] for start, end in slices.tolist()]


def _show(difference: Difference, names: tuple[str, str]) -> None:
    from rich.console import Console

    from toksmith.show.difference import difference_view
    from toksmith.show.terminal import has_colour

    console = Console(highlight=False)
    console.print(difference_view(difference, names, colour=has_colour(console)))
