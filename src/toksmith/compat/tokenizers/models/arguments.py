"""The arguments of models: vocabularies as dictionaries or files, and options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toksmith._base import files
from toksmith.compat.tokenizers.checks import Check, named
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.errors import ToksmithError, warn


def check_vocab(vocab: Any) -> dict[str, int]:
    """Return a vocabulary after a check.

    Raises:
        ComponentTypeError: it is no dictionary from tokens to ids.
    """
    if not isinstance(vocab, dict):
        raise ComponentTypeError(
            f"vocab is a {type(vocab).__name__}: give a dictionary from tokens to ids, or the "
            "path of a file"
        )
    for token, id_ in vocab.items():
        if not isinstance(token, str) or not isinstance(id_, int) or not 0 <= id_ < 2**32:
            raise ComponentTypeError(f"vocab has {token!r:.80}: {id_!r:.80}: give tokens and ids")
    return vocab


def known_options(options: dict[str, Any], checks: dict[str, Check], what: str) -> dict[str, Any]:
    """Return the known options; others are ignored with a warning, as tokenizers does."""
    for name in options.keys() - checks.keys() - {"max_length"}:
        warn(f"Ignored unknown {what} option {name}")
    kept = {name: named(name, checks[name], options[name]) for name in options if name in checks}
    kept.pop("cache_capacity", None)
    return kept


def read_lines(path: str) -> list[str]:
    """Return the lines of a file in UTF-8.

    Raises:
        TokenizersError: it cannot be read.
    """
    try:
        text = files.read_bytes(Path(path)).decode()
    except (ToksmithError, UnicodeDecodeError) as wrong:
        raise TokenizersError(f"{path} cannot be read: {wrong}") from wrong
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def read_ids(path: str) -> dict[str, int]:
    """Return the id of each token of a vocab.json.

    Raises:
        TokenizersError: it cannot be read, or is no JSON.
    """
    try:
        content = json.loads("\n".join(read_lines(path)))
    except ValueError as wrong:
        raise TokenizersError(f"{path} is no JSON: {wrong}") from wrong
    return {token: token_id for token, token_id in content.items() if isinstance(token_id, int)}
