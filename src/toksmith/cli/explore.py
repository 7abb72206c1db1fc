"""``toksmith explore``: serves a local web app to explore tokenizers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toksmith.cli.common import Quiet, SpecialTokens, Split, load_tokenizer
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
    serve(loaded, folder, port, browser=not no_browser, say=print_at_once)


def _load(given: str, split: str | None, special_token: list[str] | None) -> Tokenizer:
    if Path(given).suffix == ".tiktoken":
        return load_tokenizer(given, split, special_token)
    return load_tokenizer(given)
