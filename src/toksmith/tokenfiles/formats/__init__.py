"""The formats of token files by name; adding one is a module here and a line below."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from toksmith.errors import OptionError

if TYPE_CHECKING:
    from toksmith.tokenfiles.format import Format

NAMES = (
    "megatron",
    "datatrove",
    "dolma",
    "llmc",
    "mds",
    "litdata",
    "webdataset",
    "parquet",
    "arrow",
    "nanogpt",
)
"""The names of the formats, in the order in which an unknown path is tried."""


def format_of(name: object) -> Format:
    """Return a format by its name.

    Raises:
        OptionError: there is no format of this name.
    """
    if name not in NAMES:
        raise OptionError(f"format is {name!r:.80}: use {', '.join(map(repr, NAMES))}")
    found: Format = import_module(f"{__name__}.{name}").FORMAT
    return found
