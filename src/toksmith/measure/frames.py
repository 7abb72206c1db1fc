"""Rows as a data frame of pandas or Polars, whichever is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from toksmith.errors import MissingExtraError, OptionError

LIBRARIES = ("pandas", "polars")


def frame(rows: Sequence[Mapping[str, object]], library: str | None = None) -> Any:
    """Return rows as a data frame.

    Args:
        rows: all with the same columns.
        library: ``"pandas"`` or ``"polars"``; ``None`` for the first that is installed.

    Raises:
        MissingExtraError: the library is not installed, or neither is.
        OptionError: ``library`` is none of these.
    """
    if library is not None and library not in LIBRARIES:
        raise OptionError(f"library is {library!r:.80}: use {' or '.join(LIBRARIES)}")
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    wanted = LIBRARIES if library is None else (library,)
    for name in wanted:
        with suppress(ImportError):
            return import_module(name).DataFrame(columns)
    raise MissingExtraError(
        f"a data frame needs {' or '.join(wanted)}, which is not installed: pip install {wanted[0]}"
    )
