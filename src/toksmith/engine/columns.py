"""Texts of data frames and arrays: a column becomes a sequence of texts, without a copy if it can.

Columns of pyarrow, polars and pandas export their memory through Arrow's PyCapsule interface, and
the kernel reads the texts where they are. No such library is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, cast

from toksmith._base.lazy import np
from toksmith._base.text import Text, Texts, is_text, path_refused, wrong_item
from toksmith.errors import OptionError

try:
    from toksmith._kernel import TextColumn
except ImportError:  # only engine.kernel needs it, and reports the error
    TextColumn = None  # type: ignore[assignment,misc]

_TO_LIST = ("to_pylist", "to_list", "tolist")


def column_of(given: object, name: str) -> Sequence[Text] | None:
    """Return the texts of a column; ``None`` if the argument is no column.

    A column is an array or a chunked array of pyarrow, a Series of pandas or polars, another object
    with ``__arrow_c_stream__`` or ``__arrow_c_array__``, or an array of NumPy.

    Args:
        given: the argument.
        name: of the argument, for messages.

    Raises:
        OptionError: it is a table, an array of several dimensions, or a column of something else
            than strings; or a row is null.

    Example:
        >>> column_of(np.array(["low", "lower"]), "texts"), column_of(["low"], "texts")
        (['low', 'lower'], None)
    """
    if isinstance(given, list | tuple):
        return None
    if _is_read(given):
        return cast("Sequence[Text]", given)
    if hasattr(type(given), "columns"):
        raise OptionError(
            f"{name} is a table ({type(given).__name__}): give one of its columns, such as "
            'table["text"]'
        )
    if (dimensions := getattr(given, "ndim", 1)) != 1:
        raise OptionError(f"{name} is an array of {dimensions} dimensions: give a column of texts")
    dtype = getattr(given, "dtype", None)
    if not exports(given):
        return None if dtype is None else _list_of(given)
    # A Series of Python's strings is a list already; its export would be a copy.
    if TextColumn is None or isinstance(dtype, np.dtype):
        return _list_of(given)
    try:
        column = TextColumn(given)
    except (ImportError, RuntimeError):  # pandas needs pyarrow; some fail, such as categories
        return _list_of(given)
    except (TypeError, ValueError) as wrong:
        kind = getattr(given, "type", dtype)
        kind = f"Arrow format {wrong}" if kind is None else kind
        raise OptionError(
            f"{name} is a column of {kind!s:.80} ({type(given).__name__}): give a column of strings"
        ) from wrong
    if column.first_null is not None:
        raise null_row(f"{name}[{column.first_null}]", "a text")
    return cast("Sequence[Text]", column)


def rows_of(given: object) -> list[Any] | None:
    """Return the rows of a column as a list; ``None`` if the argument is no column."""
    return _list_of(given) if hasattr(given, "dtype") or exports(given) else None


def null_row(place: str, item: str) -> OptionError:
    """Return the error for a null in a column.

    Args:
        place: where it is, such as ``texts[2]``.
        item: what each row must be.
    """
    return OptionError(
        f"{place} is null: each must be {item}; fill the nulls of the column, or drop them"
    )


def exports(given: object) -> bool:
    """Return whether an object exports its memory through Arrow's PyCapsule interface."""
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")


def _is_read(given: object) -> bool:
    return TextColumn is not None and isinstance(given, TextColumn)


def _list_of(given: object) -> list[Any] | None:
    for name in _TO_LIST:
        if hasattr(given, name):
            found: list[Any] = getattr(given, name)()
            return found
    return None


def blocks_of(texts: Iterable[Text], size: int) -> Iterator[Sequence[Text]] | None:
    """Return the rows of a column in blocks; ``None`` if the texts are no column.

    Args:
        texts: the texts.
        size: the size of a block in bytes; its last text may go beyond it.
    """
    if not _is_read(texts):
        return None
    return _blocks(cast(TextColumn, texts), size)


def _blocks(column: TextColumn, size: int) -> Iterator[Sequence[Text]]:
    start = 0
    while start < len(column):
        end = column.end_of_block(start, size)
        yield cast("Sequence[Text]", column[start:end])
        start = end


def size_of(texts: Sequence[Text]) -> int:
    """Return the number of bytes of a column, or of the texts of a list."""
    return cast(TextColumn, texts).nbytes if _is_read(texts) else sum(map(len, texts))


def texts_of(texts: Texts, name: str = "texts") -> Iterable[Text]:
    """Return the documents of an argument that is always text: one, several, or a mapping of them.

    Args:
        texts: a text, an iterable of texts, a column of texts, or a mapping whose values are these.
        name: of the argument, for messages.

    Raises:
        OptionError: it is something else; items of an iterable are checked as they are read.

    Example:
        >>> list(texts_of("one")), list(texts_of({"en": ["a", "b"], "fr": "c"}))
        (['one'], ['a', 'b', 'c'])
    """
    if is_text(texts):
        return [cast(Text, texts)]
    if isinstance(texts, Mapping):
        return (text for each in texts.values() for text in texts_of(each, name))
    if isinstance(texts, PathLike):
        raise path_refused(name)
    column = column_of(texts, name)
    if column is not None and _is_read(column):
        return column
    if column is None and not isinstance(texts, Iterable):
        raise OptionError(
            f"{name} is {texts!r:.80}: give a text, or a list of texts, not {type(texts).__name__}"
        )
    return _checked(cast("Iterable[Text]", texts) if column is None else column, name)


def _checked(texts: Iterable[Text], name: str) -> Iterator[Text]:
    for place, text in enumerate(texts):
        if not is_text(text):
            if isinstance(text, PathLike):
                raise path_refused(f"{name}[{place}]")
            raise wrong_item(text, place, name)
        yield text
