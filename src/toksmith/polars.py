"""Expressions for polars: importing this module adds ``.tok`` to them.

Texts are read where polars keeps them, and ids go into polars' lists without a copy. A null stays
a null.

Example:
    >>> import polars as pl
    >>> import toksmith.polars
    >>> frame = pl.DataFrame({"text": ["It was the best", None, "of times"]})
    >>> frame.select(pl.col("text").tok.count("toksmith-small"))["text"].to_list()
    [4, None, 2]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from toksmith._base.lazy import np
from toksmith.errors import MissingExtraError, OptionError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.results import Batch
from toksmith.tokenizer.encode import Special

try:
    import polars as pl
except ImportError as missing:
    raise MissingExtraError(
        "toksmith.polars needs polars, which is not installed: pip install toksmith[polars]"
    ) from missing

if TYPE_CHECKING:
    from polars import Expr, Series
    from polars.datatypes import DataType, DataTypeClass


class TokenExpressions:
    """The expressions under ``.tok`` of an expression of polars.

    Each takes a :class:`~toksmith.Tokenizer`, or an argument of :func:`toksmith.load`: the name or
    the path of one, which is loaded when the expression is made.
    """

    def __init__(self, expr: Expr) -> None:
        self._expr = expr

    def encode(
        self,
        tokenizer: AnyTokenizer,
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> Expr:
        """Return the ids of each text, as ``List(UInt32)``.

        Args:
            tokenizer: the tokenizer, its name or its path.
            special: see :meth:`toksmith.Tokenizer.encode`.
            add_special_tokens: put the template's ids around each text.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: there is no such tokenizer; later, the column holds no texts.

        Example:
            >>> import polars as pl
            >>> import toksmith.polars
            >>> frame = pl.LazyFrame({"text": ["It was", "", None]})
            >>> ids = frame.select(pl.col("text").tok.encode("toksmith-small")).collect()
            >>> ids["text"].to_list()
            [[1377, 360], [], None]
        """
        tok = tokenizer_of(tokenizer)

        def encode(texts: Series) -> Series:
            batch = tok.encode_batch(
                texts, special=special, add_special_tokens=add_special_tokens, threads=threads
            )
            return pl.Series(texts.name, batch)

        return self._map(encode, pl.List(pl.UInt32))

    def count(
        self, tokenizer: AnyTokenizer, *, special: Special = "text", threads: int | None = None
    ) -> Expr:
        """Return the number of tokens of each text, as ``UInt32``.

        Args:
            tokenizer: the tokenizer, its name or its path.
            special: see :meth:`toksmith.Tokenizer.encode`.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: there is no such tokenizer; later, the column holds no texts.

        Example:
            >>> import polars as pl
            >>> import toksmith.polars
            >>> frame = pl.DataFrame({"text": ["It was", "the best of times"]})
            >>> frame.filter(pl.col("text").tok.count("toksmith-small") > 2)["text"].to_list()
            ['the best of times']
        """
        tok = tokenizer_of(tokenizer)

        def count(texts: Series) -> Series:
            counts = tok.count_batch(texts, special=special, threads=threads)
            return pl.Series(texts.name, counts.astype(np.uint32))

        return self._map(count, pl.UInt32)

    def decode(
        self,
        tokenizer: AnyTokenizer,
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        threads: int | None = None,
    ) -> Expr:
        """Return the text of each list of ids, as ``String``.

        Args:
            tokenizer: the tokenizer, its name or its path.
            errors: see :meth:`toksmith.Tokenizer.decode`; "surrogateescape" makes no text that
                polars takes.
            skip_special_tokens: leave special tokens out.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: there is no such tokenizer; later, the column holds no lists of ids.
            UnknownTokenError: later: no token has one of the ids.

        Example:
            >>> import polars as pl
            >>> import toksmith.polars
            >>> frame = pl.DataFrame({"ids": [[1377, 360], [], None]})
            >>> frame.select(pl.col("ids").tok.decode("toksmith-small"))["ids"].to_list()
            ['It was', '', None]
        """
        tok = tokenizer_of(tokenizer)

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
