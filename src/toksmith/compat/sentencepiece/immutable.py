"""The read-only results ``ImmutableSentencePieceText`` and those of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Generic, TypeVar, overload

from toksmith.compat.sentencepiece.failures import PieceIndexError
from toksmith.compat.sentencepiece.segmentation import Segmentation, nbest_message

_Item = TypeVar("_Item")


class ImmutableSentencePieceText_ImmutableSentencePiece:  # noqa: N801 - SentencePiece's name
    """A piece of a segmentation; its places are in characters."""

    def __init__(
        self,
        piece: bytes = b"",
        id: int = 0,
        surface: bytes = b"",
        begin: int = 0,
        end: int = 0,
    ) -> None:
        self.piece_as_bytes = piece
        self.surface_as_bytes = surface
        self.id = id
        self.begin = begin
        self.end = end

    @property
    def piece(self) -> str:
        """The piece."""
        return self.piece_as_bytes.decode("utf-8", "replace")

    @property
    def surface(self) -> str:
        """The part of the text that it comes from."""
        return self.surface_as_bytes.decode("utf-8", "replace")

    def __str__(self) -> str:
        return (
            f'piece: "{self.piece}"\nid: {self.id}\nsurface: "{self.surface}"\n'
            f"begin: {self.begin}\nend: {self.end}\n"
        )

    __repr__ = __str__

    def _key(self) -> tuple[object, ...]:
        return self.piece_as_bytes, self.id, self.surface_as_bytes, self.begin, self.end

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ImmutableSentencePieceText_ImmutableSentencePiece):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class _Items(Generic[_Item]):
    """A sequence whose slices are lists, and whose items are made when somebody looks at them."""

    def __init__(self, name: str, count: int, make: Callable[[int], _Item]) -> None:
        self._name = name
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> _Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Item]: ...
    def __getitem__(self, index: int | slice) -> _Item | list[_Item]:
        if isinstance(index, slice):
            return [self._make(place) for place in range(*index.indices(self._count))]
        place = index + self._count if index < 0 else index
        if not 0 <= place < self._count:
            raise PieceIndexError(f"{self._name}[{index}]: there are {self._count}")
        return self._make(place)

    def __iter__(self) -> Iterator[_Item]:
        return map(self._make, range(self._count))

    def __str__(self) -> str:
        return "\n".join(f"{self._name} {{\n{item}}}" for item in self)

    __repr__ = __str__


class ImmutableSentencePieceText:
    """A segmentation of a text; its places are in characters."""

    ImmutableSentencePieceIterator = _Items

    def __init__(self, segmentation: Segmentation | None = None) -> None:
        self._held = segmentation or Segmentation(b"", [], [], [], [], [])

    @property
    def text(self) -> str:
        """The text."""
        return self._held.text.decode("utf-8", "replace")

    @property
    def text_as_bytes(self) -> bytes:
        """The text as UTF-8."""
        return self._held.text

    @property
    def score(self) -> float:
        """The score of the segmentation; 0 if it has none."""
        return self._held.score or 0.0

    @cached_property
    def _places(self) -> tuple[Sequence[int], Sequence[int]]:
        return self._held.characters()

    @property
    def pieces(self) -> _Items[ImmutableSentencePieceText_ImmutableSentencePiece]:
        """The pieces."""
        return _Items("pieces", len(self._held.ids), self._piece)

    def _piece(self, index: int) -> ImmutableSentencePieceText_ImmutableSentencePiece:
        held, (begins, ends) = self._held, self._places
        return ImmutableSentencePieceText_ImmutableSentencePiece(
            held.pieces[index], held.ids[index], held.surface(index), begins[index], ends[index]
        )

    @cached_property
    def _serialized(self) -> bytes:
        return self._held.serialize_in_characters()

    def SerializeAsString(self) -> bytes:  # noqa: N802 - SentencePiece's name
        """Return the message ``SentencePieceText``."""
        return self._serialized

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ImmutableSentencePieceText):
            return NotImplemented
        return self._serialized == other._serialized

    def __hash__(self) -> int:
        return hash(self._serialized)

    def __str__(self) -> str:
        return f'text: "{self.text}"\nscore: {self.score}\n{self.pieces}'

    __repr__ = __str__


class ImmutableNBestSentencePieceText:
    """Several segmentations of a text."""

    ImmutableSentencePieceTextIterator = _Items

    def __init__(self, segmentations: Sequence[Segmentation] = ()) -> None:
        self._held = [ImmutableSentencePieceText(each) for each in segmentations]

    @property
    def nbests(self) -> _Items[ImmutableSentencePieceText]:
        """The segmentations."""
        return _Items("nbests", len(self._held), self._held.__getitem__)

    def SerializeAsString(self) -> bytes:  # noqa: N802
        """Return the message ``NBestSentencePieceText``."""
        return nbest_message([each.SerializeAsString() for each in self._held])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ImmutableNBestSentencePieceText):
            return NotImplemented
        return self._held == other._held

    def __hash__(self) -> int:
        return hash(self.SerializeAsString())

    def __str__(self) -> str:
        return str(self.nbests)

    __repr__ = __str__
