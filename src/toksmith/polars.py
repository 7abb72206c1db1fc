"""Expressions for polars: importing this module adds ``.tok`` to them.

Texts are read where polars keeps them, and ids go into polars' lists without a copy. A null stays
a null.

Example:
    >>> import polars as pl
    >>> import toksmith.polars
    >>> frame = pl.DataFrame({"text": ["It was the best", None, "of times"]})
    >>> frame.select(pl.col("text").tok.count("toksmith-small"))["text"].to_list()
    [4, None, 2]
    >>> with toksmith.polars.use("toksmith-small"):
    ...     frame.select(pl.col("text").tok.count())["text"].to_list()
    [4, None, 2]
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from toksmith._base.lazy import importing, np
from toksmith.errors import OptionError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.results import Batch
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.encode import Special

with importing(
    "polars", "toksmith.polars needs polars, which is not installed: pip install toksmith[polars]"
):
    import polars as pl

if TYPE_CHECKING:
    from polars import Expr, Series
    from polars.datatypes import DataType, DataTypeClass


class _Use:
    """A setting of the tokenizer, which the end of a ``with`` undoes."""

    current: Tokenizer | None = None

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        self._before = _Use.current
        _Use.current = tokenizer

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _Use.current = self._before


def use(tokenizer: AnyTokenizer | None) -> AbstractContextManager[None]:
    """Set the tokenizer of expressions that name none, for all threads.

    An expression keeps the tokenizer that was set when it was made, so a lazy query can be
    collected later.

    Args:
        tokenizer: the tokenizer, its name or its path; ``None``: expressions must name one.

    Returns:
        A context manager: at the end of a ``with``, the tokenizer before is set again.

    Raises:
        OptionError: there is no such tokenizer.

    Example:
        >>> import polars as pl
        >>> import toksmith.polars
        >>> frame = pl.LazyFrame({"text": ["It was", "the best of times"]})
        >>> with toksmith.polars.use("toksmith-small"):
        ...     query = frame.select(pl.col("text").tok.count())
        >>> query.collect()["text"].to_list()
        [2, 4]
    """
    return _Use(None if tokenizer is None else tokenizer_of(tokenizer))


def _tokenizer_for(tokenizer: AnyTokenizer | None, call: str) -> Tokenizer:
    if tokenizer is not None:
        return tokenizer_of(tokenizer)
    if _Use.current is None:
        raise OptionError(
            f"tok.{call}() names no tokenizer, and none is set: give one, such as "
            f'tok.{call}("toksmith-small"), or set one for all expressions with '
            "toksmith.polars.use(tokenizer)"
        )
    return _Use.current


class TokenExpressions:
    """The expressions under ``.tok`` of an expression of polars.

    Each takes a :class:`~toksmith.Tokenizer`, or an argument of :func:`toksmith.load`: the name or
    the path of one, which is loaded when the expression is made. Without one, it takes that of
    :func:`use`.
    """

    def __init__(self, expr: Expr) -> None:
        self._expr = expr

    def encode(
        self,
        tokenizer: AnyTokenizer | None = None,
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> Expr:
        """Return the ids of each text, as ``List(UInt32)``.

        Args:
            tokenizer: the tokenizer, its name or its path; ``None``: that of :func:`use`.
            special: see :meth:`toksmith.Tokenizer.encode`.
            add_special_tokens: put the template's ids around each text.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: there is no tokenizer; later, the column holds no texts.

        Example:
            >>> import polars as pl
            >>> import toksmith.polars
            >>> frame = pl.LazyFrame({"text": ["It was", "", None]})
            >>> ids = frame.select(pl.col("text").tok.encode("toksmith-small")).collect()
            >>> ids["text"].to_list()
            [[1377, 360], [], None]
        """
        tok = _tokenizer_for(tokenizer, "encode")

        def encode(texts: Series) -> Series:
            batch = tok.encode_batch(
                texts, special=special, add_special_tokens=add_special_tokens, threads=threads
            )
            return pl.Series(texts.name, batch)

        return self._map(encode, pl.List(pl.UInt32))

    def count(
        self,
        tokenizer: AnyTokenizer | None = None,
        *,
        special: Special = "text",
        threads: int | None = None,
    ) -> Expr:
        """Return the number of tokens of each text, as ``UInt32``.

        Args:
            tokenizer: the tokenizer, its name or its path; ``None``: that of :func:`use`.
            special: see :meth:`toksmith.Tokenizer.encode`.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: there is no tokenizer; later, the column holds no texts.

        Example:
            >>> import polars as pl
            >>> import toksmith.polars
            >>> frame = pl.DataFrame({"text": ["It was", "the best of times"]})
            >>> frame.filter(pl.col("text").tok.count("toksmith-small") > 2)["text"].to_list()
            ['the best of times']
        """
        tok = _tokenizer_for(tokenizer, "count")

        def count(texts: Series) -> Series:
            counts = tok.count_batch(texts, special=special, threads=threads)
            return pl.Series(texts.name, counts.astype(np.uint32))

        return self._map(count, pl.UInt32)

    def decode(
        self,
        tokenizer: AnyTokenizer | None = None,
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        threads: int | None = None,
    ) -> Expr:
        """Return the text of each list of ids, as ``String``.

        Args:
            tokenizer: the tokenizer, its name or its path; ``None``: that of :func:`use`.
            errors: see :meth:`toksmith.Tokenizer.decode`; "surrogateescape" makes no text that
                polars takes.
            skip_special_tokens: leave special tokens out.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: there is no tokenizer; later, the column holds no lists of ids.
            UnknownTokenError: later: no token has one of the ids.

        Example:
            >>> import polars as pl
            >>> import toksmith.polars
            >>> frame = pl.DataFrame({"ids": [[1377, 360], [], None]})
            >>> frame.select(pl.col("ids").tok.decode("toksmith-small"))["ids"].to_list()
            ['It was', '', None]
        """
        tok = _tokenizer_for(tokenizer, "decode")

        def decode(ids: Series) -> Series:
            texts = tok.decode_batch(
                _batch_of(ids),
                errors=errors,
                skip_special_tokens=skip_special_tokens,
                threads=threads,
            )
            return pl.Series(ids.name, texts, pl.String)

        return self._map(decode, pl.String)

    def _map(self, work: Callable[[Series], Series], dtype: DataType | DataTypeClass) -> Expr:
        def run(column: Series) -> Series:
            if column.null_count() == 0:
                return work(column)
            valid = column.is_not_null()
            places = pl.select(pl.when(valid).then(valid.cum_sum() - 1)).to_series()
            return work(column.drop_nulls()).gather(places).alias(column.name)

        return self._expr.map_batches(run, dtype, is_elementwise=True)


def _batch_of(column: Series) -> Batch:
    """Return the ids of a column of lists that has no null.

    Raises:
        OptionError: it is another column, or a list holds a null or a negative number.
    """
    inner = getattr(column.dtype, "inner", None)
    if inner is None or not (inner.is_integer() or inner == pl.Null):
        if column.is_empty():  # such as a column of nulls alone
            return Batch(np.zeros(0, np.uint32), np.zeros(1, np.int64))
        raise OptionError(
            f"tok.decode takes a column of lists of ids, not of {column.dtype!s:.80}: "
            "tok.encode makes one"
        )
    if not isinstance(column.dtype, pl.List):
        column = column.cast(pl.List(inner))
    lengths = column.list.len().to_numpy()
    ids = column.filter(lengths > 0).explode()
    if ids.null_count() or (ids.min() or 0) < 0 or (ids.max() or 0) >= 1 << 32:
        raise OptionError(
            "a list of ids holds a null, a negative number, or one above 2**32: tok.decode takes "
            "lists of ids alone"
        )
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Batch(ids.cast(pl.UInt32).to_numpy(), offsets)


pl.api.register_expr_namespace("tok")(TokenExpressions)
