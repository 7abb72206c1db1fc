"""Saves tokenizers; a refusal by a format names the options of the command that do the same."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from toksmith.errors import ToksmithError, UnsupportedError

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer


def save(
    tok: Tokenizer, path: Path, to: str | None, option: str = "-o ", record: bool = False
) -> None:
    """Write a tokenizer.

    Args:
        tok: the tokenizer.
        path: the file or folder.
        to: the format; ``None`` to choose it by the path.
        option: what stands before the path on the command line, for the advice.
        record: whether to write the training record beside it.

    Raises:
        UnsupportedError: the format cannot hold the tokenizer; the message names those that can.
        OptionError: there is no such format, or a file cannot be written.
    """
    try:
        tok.save(path, format=to, record=record)
    except UnsupportedError as error:
        raise UnsupportedError(_describe(error, tok, path, to, option)) from error


def _describe(error: ToksmithError, tok: Tokenizer, path: Path, to: str | None, option: str) -> str:
    """Return the reason why a tokenizer is refused, and the options that write it."""
    from toksmith.formats import LISTED, WRITTEN

    reason, _, advice = str(error).rpartition("; ")
    if not reason or not any(name in advice for name in LISTED):
        reason = str(error)
    holders = [name for name in WRITTEN if _can_hold(tok, name)]
    if not holders:
        return str(error)
    if to is not None:
        return f"{reason}: use {' or '.join(f'--to {name}' for name in holders)}"
    suffixes = [suffix for name in holders for suffix in LISTED[name].suffixes[:1]]
    names = [
        path / f"tokenizer{suffix}" if path.is_dir() else path.with_suffix(suffix)
        for suffix in suffixes
    ]
    return f"{reason}: use {' or '.join(f'{option}{name}' for name in names)}"


def _can_hold(tok: Tokenizer, name: str) -> bool:
    from toksmith import formats

    with suppress(ToksmithError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = Path(f"tokenizer{(*formats.LISTED[name].suffixes, '')[0]}")
        return bool(formats.contents(tok.pipeline, held, name))
    return False
