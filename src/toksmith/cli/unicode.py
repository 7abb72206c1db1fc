"""``toksmith unicode``: shows the code points of a text, and its bytes in each encoding."""

from __future__ import annotations

from typing import Annotated

import typer

from toksmith.cli.common import File, Quiet

EXAMPLE = "toksmith unicode 'naïve 한 👋🏽'"


def run(
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The text; without it, --file or standard input."),
    ] = None,
    file: File = None,
    limit: Annotated[
        int, typer.Option(min=0, help="The number of code points to print; 0 prints all.")
    ] = 200,
    quiet: Quiet = False,
) -> None:
    r"""Show the code points of a text, and its bytes in UTF-8, UTF-16 and UTF-32.

    Each row is a code point with its number, name and category; the bytes of the whole text in each
    encoding follow. A space is shown as ·, a line break as ↵, a tab as →, an invisible character as
    its code point (<U+200B>). A brace joins the code points of one grapheme cluster, if
    pip install toksmith\[segment] was done.
    """
    from rich.console import Console

    from toksmith.cli.reading import read_text
    from toksmith.show.unicode import unicode_view

    data = read_text(text, file, quiet)
    Console(highlight=False).print(unicode_view(data, limit or None))
