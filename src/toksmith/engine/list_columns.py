"""Columns of lists: ids to decode, or words to encode, read where Arrow's arrays hold them.

They are read by pyarrow, which columns of other libraries are exported to without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith._base.text import Text
from toksmith.engine.columns import column_of, exports, null_row
from toksmith.errors import OptionError

if TYPE_CHECKING:
    import pyarrow as pa


class Lists(NamedTuple):
    """The lists of a column, one after the other.

    Attributes:
        values: an array of pyarrow: the items of all lists.
        bounds: int64, shape ``(lists + 1,)``: list ``i`` is ``values[bounds[i]:bounds[i + 1]]``.
    """

    values: Any
    bounds: OffsetArray

    def refuse_nulls(self, name: str, item: str) -> None:
        """Raise an error if a list holds a null.

        Args:
            name: of the column, for messages.
            item: what each item must be.

        Raises:
            OptionError: a list holds a null.
        """
        if self.values.null_count:
            place = _first_null(self.values)
            row = int(np.searchsorted(self.bounds, place, "right")) - 1
            raise null_row(f"{name}[{row}][{place - self.bounds[row]}]", item)


class WordColumn:
    """A column of pre-split texts: a sequence of lists of words.

    Attributes:
        words: the words of all texts, in place where the memory allows it.
        bounds: as in :class:`Lists`.
    """

    def __init__(self, words: Sequence[Text], bounds: OffsetArray) -> None:
        self.words = words
        self.bounds = bounds

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __iter__(self) -> Iterator[list[Text]]:
        for start, end in pairwise(self.bounds.tolist()):
            yield [self.words[place] for place in range(start, end)]


def lists_of(given: object, name: str, items: str) -> Lists | None:
    """Return the lists of a column; ``None`` if the argument is no column that pyarrow reads.

    Args:
        given: the argument.
        name: of the argument, for messages.
        items: what a list holds, for messages.

    Raises:
        OptionError: it is a column of something else than lists, or a row is null.

    Example:
        >>> import pyarrow as pa
        >>> lists = lists_of(pa.array([[7, 8], [], [9]]), "batch", "ids")
        >>> lists.values.to_pylist(), lists.bounds.tolist()
        ([7, 8, 9], [0, 2, 2, 3])
    """
    if not exports(given) or isinstance(getattr(given, "dtype", None), np.dtype):
        return None
    try:
        import pyarrow as pa

        column: Any = given
        if not isinstance(given, pa.Array | pa.ChunkedArray):
            column = (pa.chunked_array if hasattr(given, "__arrow_c_stream__") else pa.array)(given)
    except (ImportError, TypeError, ValueError):
        return None
    kind = column.type
    if kind == pa.null():
        column = column.cast(pa.large_list(pa.null()))
    elif not _is_list(kind):
        if kind.num_fields:  # such as list views
            return None
        raise OptionError(
            f"{name} is a column of {kind!s:.80} ({type(given).__name__}): each row must be a list "
            f"of {items}"
        )
    if column.null_count:
        raise null_row(f"{name}[{_first_null(column)}]", f"a list of {items}")
    return _joined(column.chunks if isinstance(column, pa.ChunkedArray) else [column], column.type)


def _first_null(array: pa.Array | pa.ChunkedArray) -> int:
    place: int = array.is_null().to_pylist().index(True)
    return place


def _is_list(kind: pa.DataType) -> bool:
    import pyarrow as pa

    known = pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list
    return any(is_known(kind) for is_known in known)


def _joined(chunks: Sequence[pa.Array], kind: pa.DataType) -> Lists:
    """Return the lists of chunks, which only one chunk gives without a copy."""
    import pyarrow as pa

    large = pa.large_list(kind.value_type) if _is_list(kind) else kind
    parts = [chunk.cast(large) for chunk in chunks if len(chunk)]
    if not parts:
        return Lists(pa.array([], large.value_type), np.zeros(1, np.int64))
    array = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
    bounds = array.offsets.to_numpy()
    start, end = int(bounds[0]), int(bounds[-1])
    return Lists(array.values[start:end], bounds - start if start else bounds)


def ids_of(given: object, name: str) -> tuple[Any, OffsetArray] | None:
    """Return the ids of a column of lists as an array of integers, and the bounds of the lists.

    ``None`` if the argument is no column that pyarrow reads.

    Args:
        given: the argument.
        name: of the argument, for messages.

    Raises:
        OptionError: it is another column, or holds a null.

    Example:
        >>> import pyarrow as pa
        >>> ids_of(pa.array([[7, 8], [9]]), "batch")
        (array([7, 8, 9]), array([0, 2, 3]))
    """
    lists = lists_of(given, name, "ids")
    if lists is None:
        return None
    lists.refuse_nulls(name, "an id")
    ids = lists.values.to_numpy(zero_copy_only=False)
    if len(ids) and ids.dtype.kind not in "iu":
        raise OptionError(
            f"{name} is a column of lists of {lists.values.type!s:.80}: each row must be a list of "
            "ids"
        )
    return ids, lists.bounds


def words_of(given: object, name: str) -> WordColumn | None:
    """Return a column of lists of words; ``None`` if the argument is no column that pyarrow reads.

    Args:
        given: the argument.
        name: of the argument, for messages.

    Raises:
        OptionError: it is another column, or holds a null.
    """
    lists = lists_of(given, name, "words")
    if lists is None:
        return None
    lists.refuse_nulls(name, "a text")
    words = column_of(lists.values, f"the words of {name}") if len(lists.values) else []
    assert words is not None  # an array of pyarrow is a column
    return WordColumn(words, lists.bounds)
