"""``toksmith inspect``: shows the tokens of a text in colour, and the steps of encoding."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toksmith._base.visible import count_of
from toksmith.cli.common import (
    AddSpecialTokens,
    File,
    Quiet,
    Special,
    SpecialOption,
    SpecialTokens,
    Split,
    TokenizerName,
    load_tokenizer,
)
from toksmith.cli.corpus import EncodingErrors, EncodingErrorsOption
from toksmith.errors import OptionError

if TYPE_CHECKING:
    from toksmith.results import Encoding
    from toksmith.tokenizer import Tokenizer
    from toksmith.tokenizer.encode import Special as HowSpecial

EXAMPLE = "toksmith inspect 'Hello  wörld' -t toksmith-small --steps"


def run(
    tokenizer: TokenizerName,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The text; without it, --file or standard input."),
    ] = None,
    file: File = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="Also print each step of encoding, chunk by chunk.")
    ] = False,
    tree: Annotated[
        bool,
        typer.Option(
            "--tree",
            help="Also draw a diagram of the tokens of each word.",
        ),
    ] = False,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="ID|TOKEN",
            help="Draw a diagram of a token of the vocabulary, instead of a text.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write an HTML page with interactive diagrams, and print nothing.",
        ),
    ] = None,
    model: Annotated[
        bool,
        typer.Option(
            "--model", help="Show the stages of the tokenizer, and where they run, not a text."
        ),
    ] = False,
    brief: Annotated[
        bool, typer.Option("--brief", help="Print ids below the tokens, without the table.")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=0, help="The number of tokens to print; 0 prints all.")
    ] = 500,
    special: SpecialOption = Special.TEXT,
    add_special_tokens: AddSpecialTokens = False,
    split: Split = None,
    special_token: SpecialTokens = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    quiet: Quiet = False,
) -> None:
    """Show the tokens of a text in colour, with their ids, positions and bytes.

    A space is shown as ·, a line break as ↵, a tab as →, an invisible character as its code point
    (<U+200B>), a partial character in hex (<E2 82>). Special tokens have a * before their id.
    If tokens differ from the text, the last column is the text that each covers.
    """
    from toksmith.cli.reading import read_text

    if token is not None:
        if text is not None or file is not None:
            raise OptionError("a text and --token are given: give only one of them")
        if html is not None:
            raise OptionError("--html is for a text: leave it out with --token")
        _show_token(load_tokenizer(tokenizer, split, special_token), token)
        return
    if model:
        if text is not None or file is not None:
            raise OptionError("a text and --model are given: give only one of them")
        _show_model(load_tokenizer(tokenizer, split, special_token))
        return
    data = read_text(text, file, quiet, encoding_errors.value)
    tok = load_tokenizer(tokenizer, split, special_token)
    encoding = tok.encoding(data, special=special.value, add_special_tokens=add_special_tokens)

    if html is not None:
        _write_page(html, tok, data, encoding, special.value, Path(tokenizer).name)
        if not quiet:
            print(f"wrote {html}")
        return

    from rich.console import Console

    from toksmith.show.terminal import encoding_table, encoding_text, has_colour

    console = Console(highlight=False)
    colour = has_colour(console)
    shown = encoding[:limit] if limit else encoding
    if len(shown):
        console.print(encoding_text(shown, ids=brief, colour=colour, width=console.width))
        if not brief:
            console.print(encoding_table(shown, colour=colour))
    if left := len(encoding) - len(shown):
        print(f"… and {count_of(left, 'token')} more; --limit 0 prints all")
    if not quiet:
        print(_size(len(encoding), len(encoding.text), len(data)))
    if steps:
        _print_steps(str(tok.explain(data, special=special.value)), limit)
    if tree:
        from toksmith.show.diagram_choice import choose_diagrams
        from toksmith.show.diagram_terminal import diagram_view

        drawn, are_all = choose_diagrams(tok, data, encoding, special.value)
        for placed in drawn:
            console.print()
            console.print(diagram_view(placed.diagram, colour=colour))
        if not are_all:
            print("\n… and more")


def _print_steps(steps: str, limit: int) -> None:
    lines = steps.splitlines()
    shown = lines[:limit] if limit else lines
    print("", *shown, sep="\n")
    if left := len(lines) - len(shown):
        print(f"… and {count_of(left, 'line')} more; --limit 0 prints all")


def _show_token(tok: Tokenizer, name: str) -> None:
    """Print the diagram of a token; digits mean an id, if such an id exists."""
    from rich.console import Console

    from toksmith._base.visible import hex_start, visible_start
    from toksmith.show.diagram_choice import LONGEST_CHUNK
    from toksmith.show.diagram_terminal import diagram_view
    from toksmith.show.terminal import has_colour

    is_id = name.isdecimal() and int(name) < tok.vocab_size
    literal = name if name.isprintable() else os.fsencode(name)  # the exact bytes of the argument
    token_id = int(name) if is_id else tok.token_id(literal)
    token = tok.token_bytes(token_id)
    print(f"{visible_start(token)}  id {token_id}, bytes {hex_start(token)}")
    if len(token) > LONGEST_CHUNK:
        print(
            f"Its {len(token):,} bytes are too many for a diagram: the limit is {LONGEST_CHUNK:,}."
        )
        return
    explanation = tok.explain_token(token_id)
    if not explanation.reached:
        print("The bytes of this token encode to other tokens:")
    console = Console(highlight=False)
    console.print(diagram_view(explanation.diagrams[0], colour=has_colour(console)))


def _show_model(tok: Tokenizer) -> None:
    """Print the stages of a tokenizer."""
    pipeline = tok.pipeline
    framing = pipeline.framing
    special = (
        ("BOS", tok.bos_token_id),
        ("EOS", tok.eos_token_id),
        ("PAD", tok.pad_token_id),
        ("UNK", tok.unk_token_id),
    )
    rows = [
        ("normalizer", ", ".join(map(repr, pipeline.normalizer)) or "none"),
        ("splitter", repr(pipeline.splitter) if pipeline.splitter else "none"),
        ("model", f"{type(pipeline.model).__name__}, {count_of(tok.vocab_size, 'id')}"),
        ("added tokens", f"{len(framing.added_tokens):,}"),
        ("special ids", ", ".join(f"{name} {i}" for name, i in special if i is not None) or "none"),
        ("decoder", repr(pipeline.decoder) if pipeline.decoder else "the bytes of the tokens"),
        ("runs in", tok.engine),
    ]
    if tok.model_max_length is not None:
        rows.append(("max length", count_of(tok.model_max_length, "token")))
    if tok.chat_template is not None:
        rows.append(("chat template", count_of(len(tok.chat_template), "character")))
    for name, value in rows:
        print(f"{name:<14}{value}")


def _write_page(
    path: Path, tok: Tokenizer, data: bytes, encoding: Encoding, special: HowSpecial, name: str
) -> None:
    from toksmith.cli.writing import check_folder, open_output
    from toksmith.show.diagram_choice import choose_diagrams
    from toksmith.show.text_page import text_page

    check_folder(path)
    drawn, are_all = choose_diagrams(tok, data, encoding, special)
    page = text_page(encoding, drawn, title=tok.name or name, all_drawn=are_all)
    with open_output(path) as file:
        file.write(page.encode())


def _size(tokens: int, characters: int, size: int) -> str:
    ratio = f" ({size / tokens:.2f} bytes a token)" if tokens else ""
    sizes = (tokens, "token"), (characters, "character"), (size, "byte")
    return ", ".join(count_of(number, unit) for number, unit in sizes) + ratio
