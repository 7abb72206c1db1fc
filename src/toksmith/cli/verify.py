"""``toksmith verify``: checks that two tokenizers agree, and shows the first difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from toksmith.cli.common import (
    AddSpecialTokens,
    Quiet,
    Separator,
    Special,
    SpecialOption,
    Threads,
    load_tokenizer,
)
from toksmith.cli.corpus import EncodingErrors, EncodingErrorsOption, Field, ReadAsOption

if TYPE_CHECKING:
    from toksmith._base.text import Text
    from toksmith.corpus import Reading
    from toksmith.measure.verify import By, Difference
    from toksmith.tokenizer import Tokenizer

EXAMPLE = "toksmith verify toksmith-small tokenizer.json corpus/ --separator '<|endoftext|>'"


class Equal(str, Enum):
    """The property that must be equal."""

    IDS = "ids"
    TOKENS = "tokens"
    SPANS = "spans"


def run(
    a: Annotated[str, typer.Argument(metavar="A", help="A published name or a path.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The tokenizer to check against it.")],
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT|FILES",
            help="Files, folders, quoted globs, or one text; without them, standard input.",
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
    separator: Separator = None,
    field: Field = "text",
    read_as: ReadAsOption = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Check that two tokenizers agree on texts, document by document.

    If they do not, the first difference is shown in context, with the tokens of both.

    The exit code is 0 if they agree, 1 if they differ, 2 for errors.
    """
    from toksmith.corpus import Reading

    pair = (load_tokenizer(a), load_tokenizer(b))
    if not agree(
        pair,
        (a, b),
        texts or [],
        by=by.value if by else None,
        special=special.value,
        add_special_tokens=add_special_tokens,
        reading=Reading(
            separator, field, read_as and read_as.value, encoding_errors=encoding_errors.value
        ),
        threads=threads,
        quiet=quiet,
    ):
        raise typer.Exit(1)


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
) -> bool:
    """Compare two tokenizers, print the result, and return whether they agree."""
    from toksmith.corpus import Reading
    from toksmith.measure import verify

    by = by or verify.default_by(*pair)
    options: dict[str, Any] = {
        "by": by, "special": special, "add_special_tokens": add_special_tokens,
    }  # fmt: skip
    documents = differing = size = 0
    for name, some in _documents(texts, reading or Reading(), quiet):
        found = verify.find_differing(*pair, some, threads=threads, **options)
        if found and not differing:
            difference = verify.first_difference(*pair, some[found[0]], **options)
            print(f"{name}: document {found[0] + 1:,} of {len(some):,} differs", end=" ")
            _show(cast("Difference", difference), names)
        documents += len(some)
        differing += len(found)
        size += sum(map(len, some))
    if differing:
        print(f"\ndocuments that differ by {by}: {differing:,} of {documents:,}")
    elif not quiet:
        number = f"{documents:,} document{'' if documents == 1 else 's'}"
        print(f"{names[0]} and {names[1]} agree by {by}: {number}, {size:,} bytes")
    return not differing


def _documents(
    inputs: list[str], reading: Reading, quiet: bool
) -> Iterator[tuple[str, Sequence[Text]]]:
    """Yield the name and the documents of each source."""
    from toksmith._base.documents import document_bounds
    from toksmith.cli.reading import files_or_text, read_stdin
    from toksmith.corpus import check_field
    from toksmith.corpus.opening import open_documents

    files, text = files_or_text(inputs, [])
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
