"""The values that encoding returns; they know nothing of tokenizers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

from toksmith.lazy import np, npt
from toksmith.lists import lists

if TYPE_CHECKING:
    import pyarrow as pa

Ids: TypeAlias = "Sequence[int] | npt.NDArray[np.integer]"
"""What can be decoded: token ids as a list or as an integer array."""

IdArray: TypeAlias = "npt.NDArray[np.uint32]"
OffsetArray: TypeAlias = "npt.NDArray[np.int64]"
SpanArray: TypeAlias = "npt.NDArray[np.int64]"
"""Shape ``(n, 2)``: half-open ranges ``[start, end)``."""


class Span(NamedTuple):
    """A half-open range ``[start, end)``."""

    start: int
    end: int


@dataclass(frozen=True)
class Encoding:
    """One text and its tokens.

    Attributes:
        text: the text that was encoded (invalid UTF-8 shown with U+FFFD).
        ids: token ids.
        tokens: the bytes of each token.
        spans: the characters of the text that each token touches. Tokens that cut a character
            all report the whole character, so neighbouring spans may overlap.
        byte_spans: the UTF-8 bytes of the text that each token covers.
        special: whether each token is a special token.
        type_ids: the type that the template gives each token, such as 1 for the second of two
            texts.
        sequence: which text each token is of, 0 or 1; -1 for what the template put.
        pair: the second text, where there are two; the spans of its tokens are places in it.

    Example:
        >>> from toksmith import train
        >>> encoding = train(texts=["abab"], vocab_size=257).encoding("abc")
        >>> encoding.tokens, encoding.spans
        ([b'ab', b'c'], [Span(start=0, end=2), Span(start=2, end=3)])
    """

    text: str
    ids: list[int]
    tokens: list[bytes]
    spans: list[Span]
    byte_spans: list[Span]
    special: list[bool]
    type_ids: list[int] = field(default_factory=list)
    sequence: list[int] = field(default_factory=list)
    pair: str | None = None

    def __post_init__(self) -> None:
        for name in ("type_ids", "sequence"):  # of one text, if nothing is said
            if len(getattr(self, name)) != len(self.ids):
                object.__setattr__(self, name, [0] * len(self.ids))

    def __len__(self) -> int:
        return len(self.ids)

    def token_to_chars(self, token: int) -> Span:
        """Return the characters that a token stands for."""
        return self.spans[token]

    def char_to_token(self, character: int, *, sequence: int = 0) -> int | None:
        """Return the first token that stands for a character; ``None`` where none does.

        Args:
            character: its place.
            sequence: in which text, 0 or 1.
        """
        places = zip(self.spans, self.sequence, strict=True)
        return next(
            (i for i, ((start, end), which) in enumerate(places)
             if which == sequence and start <= character < end),
            None,
        )  # fmt: skip

    def __getitem__(self, part: slice) -> Encoding:
        """Return some of the tokens; their spans are still places in the whole text."""
        names = ("ids", "tokens", "spans", "byte_spans", "special", "type_ids", "sequence")
        return replace(self, **{name: getattr(self, name)[part] for name in names})

    def _repr_html_(self) -> str:
        # Views are built on these types; a notebook asks the type for its view.
        from toksmith.show.html import encoding_html

        return encoding_html(self)


@dataclass(frozen=True, eq=False)
class Batch:
    """The ids of many documents in one array.

    Attributes:
        ids: uint32, shape ``(tokens,)``: all ids, document after document.
        offsets: int64, shape ``(documents + 1,)``: document ``i`` is
            ``ids[offsets[i]:offsets[i + 1]]``.

    Example:
        >>> import numpy as np
        >>> batch = Batch(np.array([1, 2, 3], np.uint32), np.array([0, 2, 3], np.int64))
        >>> len(batch), batch[0], batch.to_lists()
        (2, array([1, 2], dtype=uint32), [[1, 2], [3]])
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
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"document {index} of a batch of {len(self)}")
        return self.ids[self.offsets[position] : self.offsets[position + 1]]

    def __iter__(self) -> Iterator[IdArray]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch):
            return NotImplemented
        return np.array_equal(self.ids, other.ids) and np.array_equal(self.offsets, other.offsets)

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def to_lists(self) -> list[list[int]]:
        """Return one Python list of ids for each document."""
        return lists(self.ids, self.offsets)

    def to_arrow(self) -> pa.LargeListArray:
        """Return an Arrow ``large_list<uint32>`` array over the same memory.

        Raises:
            ImportError: pyarrow is not installed (``pip install toksmith[arrow]``).
        """
        try:
            import pyarrow as pa
        except ImportError as missing:
            raise ImportError(
                "Batch.to_arrow needs pyarrow: pip install toksmith[arrow]"
            ) from missing
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), pa.array(self.ids))


@dataclass(frozen=True, eq=False)
class Inputs:
    """Texts, or pairs of texts, as a model takes them: ``n`` rows of ``L`` tokens.

    Attributes:
        ids: int64, shape ``(n, L)``.
        attention_mask: int64, shape ``(n, L)``: 1 for tokens, 0 for padding.
        type_ids: int64, shape ``(n, L)``: as the template says, usually 0 for the first text and 1
            for the second.
        special_tokens_mask: int64, shape ``(n, L)``: 1 for what the template put, and padding.
        lengths: int64, shape ``(n,)``: the tokens of each row without its padding.
        document: int64, shape ``(n,)``: which text each row is from; a text that overflows has
            several rows.
        sequence: int8, shape ``(n, L)``: 0 for tokens of the first text, 1 for those of the second,
            -1 for all others.
        spans: int64, shape ``(n, L, 2)``: the characters of its text that each token stands for;
            ``None`` unless they were asked for.

    Example:
        >>> from toksmith import train
        >>> inputs = train(texts=["abab"], vocab_size=257).prepare(["abc", "b"])
        >>> inputs.ids.tolist(), inputs.attention_mask.tolist()
        ([[256, 99], [98, 0]], [[1, 1], [1, 0]])
    """

    ids: OffsetArray
    attention_mask: OffsetArray
    type_ids: OffsetArray
    special_tokens_mask: OffsetArray
    lengths: OffsetArray
    document: OffsetArray
    sequence: npt.NDArray[np.int8]
    spans: SpanArray | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def to_dict(self) -> dict[str, OffsetArray]:
        """Return what models take, by the names that they have there."""
        return {
            "input_ids": self.ids,
            "attention_mask": self.attention_mask,
            "token_type_ids": self.type_ids,
        }


def stack(documents: Sequence[IdArray]) -> Batch:
    """Return arrays of ids, one a document, as one batch."""
    offsets = np.zeros(len(documents) + 1, np.int64)
    np.cumsum([len(ids) for ids in documents], out=offsets[1:])
    return Batch(np.concatenate([np.zeros(0, np.uint32), *documents]), offsets)
