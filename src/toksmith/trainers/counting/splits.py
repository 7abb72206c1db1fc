"""The splitter that cut counted chunks: its name, its option, and which counts can be added."""

from __future__ import annotations

from collections.abc import Iterable

from toksmith.errors import OptionError, UnsupportedError
from toksmith.splitters import PatternSplitter
from toksmith.splitters.names import WORDS, name_of


def check_splitters(splitters: Iterable[PatternSplitter | None]) -> None:
    """Raise OptionError if counts to be added were cut by different splitters."""
    first, *others = splitters
    for other in others:
        if other != first:
            raise OptionError(
                "counts of different splitters cannot be added: "
                f"{splitter_name(first)} and {splitter_name(other)}"
            )


def split_option(cut_by: PatternSplitter | None) -> str | None:
    """Return the value of ``split=`` that gives a splitter.

    Raises:
        UnsupportedError: there is none for these several patterns.
    """
    if cut_by is None or not cut_by.then:
        return cut_by.pattern if cut_by else None
    name = name_of(cut_by.patterns)
    if name is None:
        raise UnsupportedError(
            f"no value of split= names the {len(cut_by.patterns)} patterns of this splitter"
        )
    return name


def splitter_name(cut_by: PatternSplitter | None) -> str:
    """Return a splitter's name for messages: the name of its family, or its pattern."""
    if cut_by is None:
        return "none"
    if cut_by.pattern == WORDS:
        return "words"
    name = (cut_by.family and cut_by.family.name) or (cut_by.then and name_of(cut_by.patterns))
    name = name or " then ".join(f"'{pattern}'" for pattern in cut_by.patterns)
    return f"{name:.80}" + (" without the gaps" if cut_by.gaps == "drop" else "")
