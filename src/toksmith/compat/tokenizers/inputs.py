"""The texts of a call: strings, lists of words, pairs of them, lines of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from toksmith.compat.tokenizers.checks import string
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError

Row: TypeAlias = "tuple[Any, Any]"
"""A text and a second text, or ``None``: strings or lists of words."""


def a_text(value: Any) -> str:
    """Return a text.

    Raises:
        ComponentTypeError: it is no string.
    """
    if not isinstance(value, str):
        raise ComponentTypeError("TextInputSequence must be str")
    return value


def _is_words(value: Any) -> bool:
    return (
        not isinstance(value, str | bytes)
        and hasattr(value, "__len__")
        and all(isinstance(word, str) for word in value)
    )


def words(value: Any) -> list[str]:
    """Return a list of words.

    Raises:
        ComponentTypeError: it is none.
    """
    if not _is_words(value):
        raise ComponentTypeError("PreTokenizedInputSequence must be Union[List[str], Tuple[str]]")
    return [*value]


def rows(batch: Any, pre_split: bool) -> list[Row]:
    """Return the texts and second texts of a batch.

    Raises:
        ComponentTypeError: an element is neither a text nor a pair of texts.
    """
    if isinstance(batch, str | bytes | Mapping) or not hasattr(batch, "__len__"):
        raise ComponentTypeError(f"Can't extract `{type(batch).__name__}` to `Vec`")
    return [_row(each, pre_split) for each in batch]


def _row(each: Any, pre_split: bool) -> Row:
    if not pre_split and isinstance(each, str):
        return each, None
    if pre_split and _is_words(each):
        return [*each], None
    if not isinstance(each, str | bytes) and hasattr(each, "__len__") and len(each) == 2:
        is_text = _is_words if pre_split else lambda text: isinstance(text, str)
        if is_text(each[0]) and is_text(each[1]):
            return tuple(map(list, each)) if pre_split else tuple(each)  # type: ignore[return-value]
    kind = "PreTokenized" if pre_split else "Text"
    single = "PreTokenizedInputSequence" if pre_split else "TextInputSequence"
    raise ComponentTypeError(
        f"{kind}EncodeInput must be Union[{single}, Tuple[InputSequence, InputSequence]]"
    )


def lines_of(paths: Iterable[str]) -> Iterator[str]:
    """Yield the lines of files, with their ends.

    Raises:
        TokenizersError: a file cannot be read.
    """
    for path in paths:
        yield from _lines(path)


def _lines(path: str) -> Iterator[str]:
    try:
        with Path(path).open(encoding="utf-8", newline="\n") as lines:
            yield from lines
    except (OSError, UnicodeDecodeError) as wrong:
        raise TokenizersError(f"{path} cannot be read: {wrong}") from wrong


def texts_of(iterator: Iterable[Any]) -> Iterator[str]:
    """Yield texts, each on its own or in a list.

    Raises:
        ComponentTypeError: there are other objects.
    """
    for each in _iterated(iterator):
        if isinstance(each, str):
            yield each
        else:
            yield from map(string, _iterated(each))


def _iterated(value: Any) -> Iterator[Any]:
    try:
        return iter(value)
    except TypeError:
        raise ComponentTypeError(
            f"{type(value).__name__!r} object is not iterable: give strings, or lists of strings"
        ) from None
