"""The results of encoding: tokens, batches and model inputs. Independent of tokenizers."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, NamedTuple, TypeVar, overload

from toksmith._base.arrays import IdArray, OffsetArray, Span, SpanArray
from toksmith._base.checks import check_index, whole
from toksmith._base.lazy import importing, np, npt
from toksmith._base.records import dataclass, field, fields, replace
from toksmith._base.report import html_of
from toksmith._base.visible import (
    LONGEST_IN_LIST,
    count_of,
    short_repr,
    shorten,
    visible,
    visible_start,
)
from toksmith.errors import OptionError

if TYPE_CHECKING:
    import pyarrow as pa


def _lists(ids: npt.NDArray[np.integer], offsets: OffsetArray) -> list[list[int]]:
    flat: list[int] = ids.tolist()
    return [flat[start:end] for start, end in pairwise(offsets.tolist())]


to_lists: Callable[[IdArray, OffsetArray], list[list[int]]] = _lists
"""Splits ids at offsets into lists.

``engine/portable.py`` replaces it by the kernel's, which is faster. It is set from there because
only the engine imports the compiled module, and results do not import the engine.
"""


def _arrow_lists(ids: IdArray, offsets: OffsetArray) -> tuple[object, object]:
    capsules: tuple[object, object] = _to_arrow(ids, offsets).__arrow_c_array__()
    return capsules


def _to_arrow(items: npt.NDArray[np.integer], offsets: OffsetArray) -> pa.LargeListArray:
    import pyarrow as pa

    values = pa.array(items.reshape(-1))
    if items.ndim == 2:  # spans
        values = pa.FixedSizeListArray.from_arrays(values, items.shape[1])
    return pa.LargeListArray.from_arrays(pa.array(offsets), values)


arrow_lists: Callable[[IdArray, OffsetArray], tuple[object, object]] = _arrow_lists
"""Exports ids as Arrow lists. ``engine/portable.py`` replaces it by one that needs no pyarrow."""

_SHOWN = 60
"""The maximum number of tokens in a repr."""


@short_repr
class Token(NamedTuple):
    """One token of an :class:`Encoding`.

    Attributes:
        id: its id.
        bytes: its bytes as the vocabulary spells them.
        string: its printable form: ``·low``, ``<F0 9F>``; see :attr:`Encoding.strings`.
        span: the characters of the text that it touches.
        byte_span: the UTF-8 bytes of the text that it covers.
        special: whether it is a special token.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
        >>> token = tok.encoding("a low")[2]
        >>> token.id, token.string, token.span
        (257, 'low', Span(start=2, end=5))
    """

    id: int
    bytes: builtins.bytes
    string: str
    span: Span
    byte_span: Span
    special: bool


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """One text and its tokens. ``encoding[i]`` is a :class:`Token`, a slice is an Encoding.

    Attributes:
        text: the text that was encoded (invalid UTF-8 shown with U+FFFD).
        ids: token ids.
        tokens: the bytes of each token.
        spans: int64, shape ``(n, 2)``, read-only: the characters of the text that each token
            touches, as ``[start, end)``. Tokens that cut a character all report the whole
            character, so neighbouring spans may overlap.
        byte_spans: int64, shape ``(n, 2)``, read-only: the UTF-8 bytes of the text that each token
            covers.
        special: whether each token is a special token.
        type_ids: the type that the template gives each token, such as 1 for the second of two
            texts.
        sequence: the text of each token, 0 or 1; -1 for tokens of the template.
        pair: the second text of a pair, else ``None``. Spans of its tokens refer to it.

    Example:
        >>> from toksmith import train
        >>> encoding = train(texts=["abab"], vocab_size=257).encoding("ab c")
        >>> encoding.tokens, encoding.strings, encoding.spans.tolist()
        ([b'ab', b' ', b'c'], ['ab', '·', 'c'], [[0, 2], [2, 3], [3, 4]])
        >>> encoding[0]
        Token(id=256, bytes=b'ab', string='ab', span=Span(start=0, end=2),
              byte_span=Span(start=0, end=2), special=False)
    """

    text: str
    ids: list[int]
    tokens: list[bytes]
    spans: SpanArray
    byte_spans: SpanArray
    special: list[bool]
    type_ids: list[int] = field(default_factory=list)
    sequence: list[int] = field(default_factory=list)
    pair: str | None = None

    def __post_init__(self) -> None:
        for name in ("spans", "byte_spans"):
            spans = np.asarray(getattr(self, name), np.int64).reshape(-1, 2)[:]
            spans.flags.writeable = False  # of the view, not of the caller's array
            object.__setattr__(self, name, spans)
        for name in ("type_ids", "sequence"):  # the default: a single text
            if len(getattr(self, name)) != len(self.ids):
                object.__setattr__(self, name, [0] * len(self.ids))

    @property
    def strings(self) -> list[str]:
        """The printable form of each token, on one line.

        A space is ``·``, a line break ``↵``, a tab ``→``; bytes that form no
        whole character are in hex: ``<F0 9F>``.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.encoding("low é").strings
            ['low', '·', '<C3>', '<A9>']
        """
        return list(map(visible, self.tokens))

    @cached_property
    def words(self) -> list[int | None]:
        """The index of each token's word in its text; ``None`` for tokens of the template.

        Words are what the text was split into: the words of a pre-split text, else the chunks that
        the splitter makes, and added tokens. They are found at the first use.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.encoding("a low").words, tok.encode_words(["a", "low"]).words
            ([0, 1, 1], [0, 1])
        """
        find: Callable[[], list[int | None]] | None = self.__dict__.get("_find_words")
        return find() if find else [None] * len(self.ids)

    def __getstate__(self) -> dict[str, object]:
        state = {**self.__dict__, "words": self.words}
        state.pop("_find_words", None)
        return state

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, part: int) -> Token: ...
    @overload
    def __getitem__(self, part: slice) -> Encoding: ...
    def __getitem__(self, part: int | slice) -> Token | Encoding:
        """Return a token or a slice; spans still refer to the whole text."""
        if isinstance(part, slice):
            names = ("ids", "tokens", "spans", "byte_spans", "special", "type_ids", "sequence")
            found = replace(self, **{name: getattr(self, name)[part] for name in names})
            set_words(found, lambda: self.words[part])
            return found
        check_index(part, "token", f"an encoding of {len(self)}")
        try:
            token = self.tokens[part]
        except IndexError:
            raise IndexError(f"token {part} of an encoding of {len(self)}") from None
        return Token(
            id=self.ids[part],
            bytes=token,
            string=visible(token),
            span=Span(*self.spans[part].tolist()),
            byte_span=Span(*self.byte_spans[part].tolist()),
            special=self.special[part],
        )

    def __iter__(self) -> Iterator[Token]:
        return map(
            Token,
            self.ids,
            self.tokens,
            map(visible, self.tokens),
            starmap(Span, self.spans.tolist()),
            starmap(Span, self.byte_spans.tolist()),
            self.special,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return all(
            np.array_equal(one, its) if isinstance(one, np.ndarray) else one == its
            for one, its in ((getattr(self, each.name), getattr(other, each.name))
                             for each in fields(self))
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]  # it holds lists and arrays

    def __repr__(self) -> str:
        shown = " ".join(visible_start(token, LONGEST_IN_LIST) for token in self.tokens[:_SHOWN])
        shown = shorten(shown if len(self) <= _SHOWN else f"{shown} …", 120)
        return f"<Encoding: {count_of(len(self), 'token')}: {shown}>"

    def token_to_chars(self, token: int) -> Span:
        """Return the characters that a token touches.

        Args:
            token: the index of the token; negative from the end.

        Raises:
            IndexError: there is no such token.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.encoding("a low").token_to_chars(2)
            Span(start=2, end=5)
        """
        return self[whole("token", token, -len(self))].span

    def char_to_token(self, character: int, *, sequence: int = 0) -> int | None:
        """Return the first token that touches a character; ``None`` if no token does.

        Args:
            character: the index of the character in its text.
            sequence: the index of the text, 0 or 1.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.encoding("a low").char_to_token(4)
            2
        """
        character = whole("character", character, 0)
        sequence = whole("sequence", sequence, 0)
        start, end = self.spans.T
        found = (start <= character) & (character < end) & (np.array(self.sequence) == sequence)
        return int(found.argmax()) if found.any() else None

    def _repr_html_(self) -> str:
        return html_of(self)


def set_words(encoding: Encoding, find: Callable[[], list[int | None]]) -> None:
    """Set what finds the words of an encoding at their first use."""
    object.__setattr__(encoding, "_find_words", find)


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """The ids of many documents in one array; it equals a list of lists of the same ids.

    Attributes:
        ids: uint32, shape ``(tokens,)``: all ids, document after document.
        offsets: int64, shape ``(documents + 1,)``: document ``i`` is
            ``ids[offsets[i]:offsets[i + 1]]``.

    Example:
        >>> import numpy as np
        >>> batch = Batch(np.array([1, 2, 3], np.uint32), np.array([0, 2, 3], np.int64))
        >>> len(batch), batch[0], batch.to_lists()
        (2, array([1, 2], dtype=uint32), [[1, 2], [3]])
        >>> batch, batch == [[1, 2], [3]]
        (<Batch: 2 documents, 3 ids>, True)
    """

    ids: IdArray
    offsets: OffsetArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> IdArray: ...
    @overload
    def __getitem__(self, index: slice) -> list[IdArray]: ...
    def __getitem__(self, index: int | slice) -> IdArray | list[IdArray]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        check_index(index, "document", f"a batch of {len(self)}")
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"document {index} of a batch of {len(self)}")
        return self.ids[self.offsets[position] : self.offsets[position + 1]]

    def __iter__(self) -> Iterator[IdArray]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Batch):
            same = np.array_equal(self.offsets, other.offsets)
            return same and np.array_equal(self.ids, other.ids)
        if isinstance(other, list | tuple):
            lengths = np.diff(self.offsets).tolist()
            try:
                same = len(other) == len(self) and list(map(len, other)) == lengths
            except TypeError:  # a list of something else
                return False
            return same and all(map(np.array_equal, self, other))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it equals lists, which have none

    def __repr__(self) -> str:
        return f"<Batch: {count_of(len(self), 'document')}, {count_of(len(self.ids), 'id')}>"

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_lists(self) -> list[list[int]]:
        """Return one Python list of ids for each document.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.encode_batch(["low", "lo!"]).to_lists()
            [[257], [256, 33]]
        """
        return to_lists(self.ids, self.offsets)

    def to_arrow(self) -> pa.LargeListArray:
        """Return an Arrow ``large_list<uint32>`` array over the same memory.

        Raises:
            MissingExtraError: pyarrow is not installed (``pip install toksmith[arrow]``).

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.encode_batch(["low", "lo!"]).to_arrow().to_pylist()
            [[257], [256, 33]]
        """
        with importing("pyarrow", "Batch.to_arrow needs pyarrow: pip install toksmith[arrow]"):
            return _to_arrow(self.ids, self.offsets)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Export the ids as an Arrow ``large_list<uint32>`` array over the same memory.

        ``polars.Series(batch)``, ``pyarrow.array(batch)`` and other libraries call it.
        """
        return arrow_lists(self.ids, self.offsets)


@dataclass(frozen=True, eq=False, repr=False)
class _MadeLater:
    """A frozen dataclass some of whose arrays are made at their first use."""

    def __getattr__(self, name: str) -> npt.NDArray[np.integer]:
        make = self.__dict__.get("_later", {}).get(name)
        if make is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        array: npt.NDArray[np.integer] = self.__dict__.setdefault(name, make())
        return array

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, each.name), getattr(other, each.name))
            for each in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __getstate__(self) -> dict[str, object]:
        made = {name: getattr(self, name) for name in self.__dict__.get("_later", ())}
        state = {**self.__dict__, **made}
        state.pop("_later", None)
        return state


_Arrays = TypeVar("_Arrays", bound=_MadeLater)


def make_later(inputs: _Arrays, **arrays: Callable[[], npt.NDArray[np.integer]]) -> _Arrays:
    """Drop these attributes of inputs, and return the inputs.

    The functions make the attributes when they are first read.
    """
    for name in arrays:
        del inputs.__dict__[name]
    inputs.__dict__["_later"] = arrays
    return inputs


@dataclass(frozen=True, eq=False, repr=False)
class Inputs(_MadeLater, Mapping[str, "OffsetArray"]):
    """Model inputs: texts, or pairs of texts, as ``n`` rows of ``L`` tokens.

    As a mapping it has the keys ``input_ids``, ``attention_mask`` and ``token_type_ids``, so that
    ``model(**inputs)`` works; everything else is an attribute. Its arrays are NumPy's:
    ``{name: torch.from_numpy(each) for name, each in inputs.items()}`` are PyTorch's.

    Attributes:
        ids: int64, shape ``(n, L)``.
        attention_mask: int64, shape ``(n, L)``: 1 for tokens, 0 for padding.
        type_ids: int64, shape ``(n, L)``: the template's type of each token, usually 0 for the
            first text and 1 for the second.
        special_tokens_mask: int64, shape ``(n, L)``: 1 for the template's tokens and padding.
        lengths: int64, shape ``(n,)``: the number of tokens of each row without its padding.
        document: int64, shape ``(n,)``: the index of each row's text; a text that overflows has
            several rows.
        sequence: int8, shape ``(n, L)``: 0 for tokens of the first text, 1 for those of the second,
            -1 for all others.
        spans: int64, shape ``(n, L, 2)``: the characters of its text, or of its word if texts are
            pre-split, that each token covers; ``None`` without ``spans=True``.
        words: int64, shape ``(n, L)``: the index of each token's word in its text, -1 for the
            template and padding; ``None`` without ``pre_split=True``.

    Example:
        >>> from toksmith import train
        >>> tok = train(texts=["abab"], vocab_size=258, special_tokens=["<pad>"])
        >>> inputs = tok.prepare(["abc", "b"])
        >>> inputs.ids.tolist(), inputs.attention_mask.tolist()
        ([[256, 99], [98, 257]], [[1, 1], [1, 0]])
        >>> list(inputs), inputs["input_ids"].shape
        (['input_ids', 'attention_mask', 'token_type_ids'], (2, 2))
    """

    ids: OffsetArray
    attention_mask: OffsetArray
    type_ids: OffsetArray
    special_tokens_mask: OffsetArray
    lengths: OffsetArray
    document: OffsetArray
    sequence: npt.NDArray[np.int8]
    spans: SpanArray | None = None
    words: OffsetArray | None = None

    def __getitem__(self, key: str) -> OffsetArray:
        if not isinstance(key, str) or key not in _INPUTS:
            raise KeyError(f"{key!r}: the keys are {', '.join(_INPUTS)}")
        array: OffsetArray = getattr(self, _INPUTS[key])
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(_INPUTS)

    def __len__(self) -> int:
        """Return the number of keys; ``len(inputs.ids)`` is the number of rows."""
        return len(_INPUTS)

    def __repr__(self) -> str:
        rows, width = self.ids.shape
        return f"<Inputs: {count_of(rows, 'row')} of {count_of(width, 'token')}>"

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_dict(self) -> dict[str, OffsetArray]:
        """Return the arrays by the names that models expect.

        Example:
            >>> from toksmith import train
            >>> tok = train(texts=["abab"], vocab_size=257)
            >>> list(tok.prepare(["ab"]).to_dict())
            ['input_ids', 'attention_mask', 'token_type_ids']
        """
        return dict(self)


_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""The attribute of each key."""


@dataclass(frozen=True, eq=False, repr=False)
class RaggedInputs(_MadeLater):
    """Model inputs as ``n`` rows of different lengths, one after the other, without padding.

    Attributes:
        ids: uint32, shape ``(tokens,)``.
        offsets: int64, shape ``(n + 1,)``: row ``i`` has the tokens from ``offsets[i]`` to
            ``offsets[i + 1]``.
        type_ids: int64, shape ``(tokens,)``, as in :class:`Inputs`; so are the other arrays.
        special_tokens_mask: int64, shape ``(tokens,)``.
        document: int64, shape ``(n,)``.
        sequence: int8, shape ``(tokens,)``.
        spans: int64, shape ``(tokens, 2)``, or ``None``.
        words: int64, shape ``(tokens,)``, or ``None``.

    Example:
        >>> from toksmith import train
        >>> tok = train(texts=["abab"], vocab_size=257)
        >>> rows = tok.prepare_ragged(["abc", "b"])
        >>> rows.lists(rows.ids), rows.lists(rows.special_tokens_mask)
        ([[256, 99], [98]], [[0, 0], [0]])
    """

    ids: IdArray
    offsets: OffsetArray
    type_ids: OffsetArray
    special_tokens_mask: OffsetArray
    document: OffsetArray
    sequence: npt.NDArray[np.int8]
    spans: SpanArray | None = None
    words: OffsetArray | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        rows, tokens = count_of(len(self), "row"), count_of(len(self.ids), "token")
        return f"<RaggedInputs: {rows}, {tokens}>"

    def lists(self, array: npt.NDArray[np.integer]) -> list[list[int]]:
        """Return one list for each row.

        Args:
            array: one number for each token, such as ``ids`` or ``type_ids``.

        Example:
            >>> from toksmith import train
            >>> rows = train(texts=["abab"], vocab_size=257).prepare_ragged(["abc", "b"])
            >>> rows.lists(rows.ids)
            [[256, 99], [98]]
        """
        if array.dtype.kind == "i" and array.min(initial=0) < 0:
            return _lists(array, self.offsets)
        return to_lists(array.astype(np.uint32, copy=False), self.offsets)

    def span_lists(self) -> list[list[tuple[int, int]]]:
        """Return the spans of each row as a list of tuples.

        Raises:
            OptionError: the inputs were made without ``spans=True``.

        Example:
            >>> from toksmith import train
            >>> tok = train(texts=["abab"], vocab_size=257)
            >>> tok.prepare_ragged(["abc", "b"], spans=True).span_lists()
            [[(0, 2), (2, 3)], [(0, 1)]]
        """
        if self.spans is None:
            raise OptionError("there are no spans: call prepare_ragged with spans=True")
        starts, ends = self.spans.T.tolist()
        pairs = list(zip(starts, ends, strict=True))
        return [pairs[start:end] for start, end in pairwise(self.offsets.tolist())]

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table over the same memory: a row for each row, lists of its tokens.

        The columns are ``input_ids`` (``large_list<uint32>``), ``token_type_ids``,
        ``special_tokens_mask``, ``document`` (``int64``) and ``sequence``, then ``spans`` and
        ``words`` if there are any.

        Raises:
            MissingExtraError: pyarrow is not installed (``pip install toksmith[arrow]``).

        Example:
            >>> from toksmith import train
            >>> rows = train(texts=["abab"], vocab_size=257).prepare_ragged(["abc", "b"])
            >>> rows.to_arrow()["input_ids"].to_pylist()
            [[256, 99], [98]]
        """
        message = "RaggedInputs.to_arrow needs pyarrow: pip install toksmith[arrow]"
        with importing("pyarrow", message):
            import pyarrow as pa
        names = {attribute: key for key, attribute in _INPUTS.items()}
        columns = {}
        for each in fields(self):
            array = getattr(self, each.name)
            if array is not None and each.name != "offsets":
                is_of_rows = each.name == "document"
                column = pa.array(array) if is_of_rows else _to_arrow(array, self.offsets)
                columns[names.get(each.name, each.name)] = column
        return pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the table of :meth:`to_arrow`: ``polars.DataFrame(rows)`` and others call it."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class LocatedBatch(NamedTuple):
    """The tokens of many texts, text after text, and where they are.

    Attributes:
        ids: uint32, shape ``(tokens,)``.
        offsets: int64, shape ``(texts + 1,)``: text ``i`` has the tokens from ``offsets[i]`` to
            ``offsets[i + 1]``.
        byte_spans: int64, shape ``(tokens, 2)``: the UTF-8 bytes of its text that each covers.
        spans: int64, shape ``(tokens, 2)``: the characters of its text that each touches. May be
            the same array as ``byte_spans``.
    """

    ids: IdArray
    offsets: OffsetArray
    byte_spans: SpanArray
    spans: SpanArray

    @classmethod
    def of(
        cls, ids: IdArray, offsets: OffsetArray, byte_spans: SpanArray, spans: SpanArray | None
    ) -> LocatedBatch:
        """Return a batch; ``spans`` is ``None`` if all texts are ASCII."""
        return cls(ids, offsets, byte_spans, byte_spans if spans is None else spans)

    def __len__(self) -> int:
        return len(self.offsets) - 1


def concat_located(parts: Sequence[LocatedBatch]) -> LocatedBatch:
    """Return the texts of several batches in one."""
    before = np.cumsum([0, *(len(part.ids) for part in parts)])
    offsets = [part.offsets[:-1] + start for part, start in zip(parts, before, strict=False)]
    offsets.append(before[-1:])
    return LocatedBatch(
        np.concatenate([part.ids for part in parts]),
        np.concatenate(offsets),
        np.concatenate([part.byte_spans for part in parts]),
        np.concatenate([part.spans for part in parts]),
    )


def concat(parts: Sequence[Batch]) -> Batch:
    """Return the documents of several batches in one."""
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.ids) for part in parts)])
    offsets = [part.offsets[:-1] + start for part, start in zip(parts, before, strict=False)]
    return Batch(
        np.concatenate([np.zeros(0, np.uint32), *(part.ids for part in parts)]),
        np.concatenate([*offsets, before[-1:]]),
    )


def stack(documents: Sequence[IdArray]) -> Batch:
    """Return a batch of documents, each an array of ids."""
    offsets = np.zeros(len(documents) + 1, np.int64)
    np.cumsum([len(ids) for ids in documents], out=offsets[1:])
    return Batch(np.concatenate([np.zeros(0, np.uint32), *documents]), offsets)
