"""``toksmith compare``: compares tokenizers on texts and files."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toksmith.cli.common import Quiet, Separator, Threads, load_tokenizer
from toksmith.cli.corpus import EncodingErrors, EncodingErrorsOption, Field, ReadAsOption
from toksmith.cli.messages import Command
from toksmith.errors import OptionError

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer

EXAMPLE = "toksmith compare toksmith-small mine.model --on corpus/*.txt --html report.html"


class Form(str, Enum):
    """The format of the printed table."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"


class COMMAND(Command):
    """A command whose ``--on`` takes all words up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat ``--on`` before each of its words."""
        spread: list[str] = []
        follows = False
        for place, word in enumerate(args):
            if word == "--":
                spread += args[place:]
                break
            if word == "--on":
                follows = True
                if place + 1 == len(args):  # no value; typer reports the error
                    spread.append(word)
            elif follows and (not word.startswith("-") or word == "-"):
                spread += ["--on", word]
            else:
                follows = False
                spread.append(word)
        return super().parse_args(ctx, spread)


def run(
    tokenizers: Annotated[
        list[str],
        typer.Argument(
            metavar="TOKENIZER",
            help="Published names or paths, as [bold]gpt2[/bold] or [bold]NAME=PATH[/bold].",
        ),
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="TEXT|FILES...",
            help="One text, or files, folders and quoted globs, as [bold]PATH[/bold] or "
            "[bold]NAME=PATH[/bold]; all words up to the next option. Without it, standard input.",
        ),
    ] = None,
    separator: Separator = None,
    field: Field = "text",
    read_as: ReadAsOption = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The tokenizer that others are compared with. Default: the first."
        ),
    ] = None,
    parallel: Annotated[
        bool | None,
        typer.Option(
            "--parallel/--not-parallel",
            help="Whether the files are translations of each other, as parity requires. Default: "
            "if they have equal numbers of lines.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Show only this measure, such as fertility. Repeat for several.",
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="LEVEL",
            help="Show bootstrap intervals of this level, such as 0.95, over the sample.",
        ),
    ] = None,
    form: Annotated[
        Form,
        typer.Option("--format", help="Print the table as text, Markdown or LaTeX."),
    ] = Form.TEXT,
    html: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Write a report as one self-contained HTML page."),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write the figures as JSON; - prints them.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write the figures as CSV; - prints them.")
    ] = None,
    sample: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="BYTES",
            help="The size of the sample of each file for the slow measures (words, scripts, round "
            "trip, speed). Tokens are counted in whole files.",
        ),
    ] = 250_000,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Random seed for --sample; the same seed measures the same text."),
    ] = 0,
    speed: Annotated[bool, typer.Option("--speed/--no-speed", help="Measure the speed.")] = True,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Compare tokenizers on texts: tokens side by side, and figures for each file.

    A short text is shown token by token, in colour where the tokenizers differ. Tokens are counted
    on whole files; words, scripts, round trips and speed are measured on a sample.
    """
    import toksmith
    from toksmith.cli.writing import check_folder

    for path in (html, json, csv):
        if path is not None and str(path) != "-":
            check_folder(path)
    found = toksmith.compare(
        _tokenizers(tokenizers),
        **_texts(on, encoding_errors.value, quiet),
        reference=reference,
        separator=separator,
        field=field,
        read_as=read_as and read_as.value,
        encoding_errors=encoding_errors.value,
        parallel=parallel,
        measures=measure or None,
        intervals=interval,
        sample=sample,
        seed=seed,
        speed=speed,
        threads=threads,
        progress=False if quiet else None,
    )
    if html is not None:
        found.to_html(html)
    is_printed = False
    for path, written in ((json, found.to_json), (csv, found.to_csv)):
        if path is not None and str(path) == "-":
            print(written(), end="")
            is_printed = True
        elif path is not None:
            written(path)
    if form is not Form.TEXT and not is_printed:
        print(found.to_markdown() if form is Form.MARKDOWN else found.to_latex(), end="")
        is_printed = True
    if is_printed:
        return
    from rich.console import Console

    from toksmith.show.comparison import comparison_view
    from toksmith.show.terminal import has_colour

    console = Console(highlight=False)
    console.print(
        comparison_view(found, colour=has_colour(console), width=console.width, notes=not quiet)
    )


def _tokenizers(words: list[str]) -> dict[str, Tokenizer]:
    """Load the tokenizers named by the arguments; return them by name."""
    from toksmith.measure.inputs import names_of

    labels = [_label(word) for word in words]
    paths = [path for _, path in labels]
    names = [label or name for (label, _), name in zip(labels, names_of(paths), strict=True)]
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"two tokenizers have the name {name!r}: use NAME={paths[0]}")
    return {name: load_tokenizer(path) for name, path in zip(names, paths, strict=True)}


def _label(word: str) -> tuple[str | None, str]:
    from toksmith._base.documents import exists

    name, equals, path = word.partition("=")
    return (name, path) if equals and name and not exists(word) else (None, word)


def _texts(words: list[str] | None, errors: str, quiet: bool) -> dict[str, Any]:
    """Return the arguments of ``toksmith.compare`` for the words of ``--on``."""
    from toksmith.cli.reading import files_or_text, is_files, read_stdin

    if not words or words == ["-"]:
        return {"texts": read_stdin(quiet, errors)}
    labels = [_label(word) for word in words]
    if any(name and is_files(path) for name, path in labels):
        named = {name or Path(path).name: Path(path) for name, path in labels}
        if len(named) < len(words):
            raise OptionError("two texts have the same name: use NAME=PATH")
        return {"files": named}
    files, text = files_or_text(words, [])
    return {"files": files} if text is None else {"texts": text}
