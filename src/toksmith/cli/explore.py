"""``toksmith explore``: serves a local web app to explore tokenizers."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toksmith.cli.common import Quiet, SpecialTokens, Split, load_tokenizer
from toksmith.cli.signals import describe_end
from toksmith.errors import OptionError

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer

EXAMPLE = "toksmith explore toksmith-small mine.model"


def run(
    tokenizers: Annotated[
        list[str] | None,
        typer.Argument(metavar="TOKENIZER", help="Published names, or paths of any format."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to serve on; 0 picks a free one.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Explore tokenizers in the browser: texts, vocabularies, training, comparison.

    Only this machine can connect to the app, and the app makes no connections.

    The app can read files below the current folder, and published tokenizers that are cached.
    """
    from toksmith.explorer.loaded import LoadedTokenizers
    from toksmith.explorer.serving import serve

    loaded = LoadedTokenizers()
    for given in tokenizers or []:
        tok = _load(given, split, special_token)
        loaded.put(Path(given).name if Path(given).exists() else given, tok)
    loaded.add_published()
    try:
        folder = Path.cwd()
    except OSError as wrong:
        raise OptionError(
            f"the current folder cannot be found ({wrong.strerror}): change to a folder that exists"
        ) from wrong
    print_at_once = partial(print, flush=True)
    try:
        serve(loaded, folder, port, browser=not no_browser, say=print_at_once)
    except KeyboardInterrupt:  # the usual end, so nothing is printed
        from toksmith.explorer.requests import are_requests_running

        _, code = describe_end()
        if are_requests_running():  # in the kernel, perhaps, which the interpreter would unload
            os._exit(code)
        raise typer.Exit(code) from None


def _load(given: str, split: str | None, special_token: list[str] | None) -> Tokenizer:
    if Path(given).suffix == ".tiktoken":
        return load_tokenizer(given, split, special_token)
    return load_tokenizer(given)
