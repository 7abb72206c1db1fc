"""The ids that token files hold for the documents of a corpus, found by the documents' numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.tokenfiles.arrangement import Stream, shuffled
from toksmith.tokenfiles.source import Tokens
from toksmith.tokenfiles.token_files import Part, StreamPart, TokenFiles


def file_of(tokens: TokenFiles, part: Part, document: int) -> str:
    """Return the name in its folder of the file in which a document of a part starts."""
    path = part.path_of(document) if isinstance(part, StreamPart) else part.path
    return path.relative_to(tokens.path).as_posix()


class Stored(ABC):
    """The documents of one split as stored, by their numbers in the order of the sources.

    Args:
        tokens: the split as read.
    """

    def __init__(self, tokens: TokenFiles) -> None:
        self._tokens = tokens

    @abstractmethod
    def get(self, numbers: OffsetArray, expected: OffsetArray) -> tuple[Tokens, OffsetArray]:
        """Return the ids of documents, end to end, and the lengths of the documents.

        Args:
            numbers: the numbers of the documents, in ascending order.
            expected: the expected lengths of the documents.
        """

    @abstractmethod
    def place(self, number: int) -> int:
        """Return the number in the files of the document (or sequence) that a document is in."""

    def file(self, number: int) -> str:
        """Return the name of the file that holds a document; empty if there is none."""
        place = self.place(number)
        for part in self._tokens.parts:
            if place < len(part):
                return file_of(self._tokens, part, place)
            place -= len(part)
        return ""


class StoredDocuments(Stored):
    """Documents whose bounds the files store.

    Args:
        tokens: the split as read.
        seed: the random seed of their shuffle; ``None`` if they are in the order of the sources.
    """

    def __init__(self, tokens: TokenFiles, seed: int | None) -> None:
        super().__init__(tokens)
        self._lengths = tokens.lengths
        self._places: Any = None
        if seed is not None:
            order = shuffled(len(self._lengths), seed)
            self._places = np.empty_like(order)
            self._places[order] = np.arange(len(order), dtype=order.dtype)

    def get(self, numbers: OffsetArray, expected: OffsetArray) -> tuple[Tokens, OffsetArray]:
        """Return the ids of documents; those that are missing have none."""
        known = int(np.searchsorted(numbers, len(self._lengths)))
        places = numbers[:known] if self._places is None else self._places[numbers[:known]]
        lengths = np.zeros(len(numbers), np.int64)
        lengths[:known] = self._lengths[places]
        if not known:
            return np.zeros(0, self._tokens.dtype), lengths
        first, last = int(places[0]), int(places[-1])
        if self._places is None and last - first + 1 == known:
            return self._tokens.ids(first, last + 1), lengths
        return np.concatenate(self._tokens.each(places)), lengths

    def place(self, number: int) -> int:
        """Return the number in the files of a document."""
        if self._places is None or number >= len(self._places):
            return number
        return int(self._places[number])


class StoredStream(Stored):
    """Documents end to end, of which all are read in order, so that each begins where one ends.

    Args:
        tokens: the split as read.

    Attributes:
        end: the number of ids of all documents so far.
    """

    def __init__(self, tokens: TokenFiles) -> None:
        super().__init__(tokens)
        self._stream = Stream(tokens)
        self.end = 0

    def get(self, numbers: OffsetArray, expected: OffsetArray) -> tuple[Tokens, OffsetArray]:
        """Return the ids of the next documents; those after the end have none."""
        self._start = self.end
        self._numbers = numbers
        self._ends = self.end + np.cumsum(expected)
        if len(expected):
            self.end = int(self._ends[-1])
        ids = self._stream.ids(self._start, self.end)
        return ids, _cut(expected, len(ids))

    def place(self, number: int) -> int:
        """Return the number in the files of the sequence in which one of these documents ends."""
        found = int(np.searchsorted(self._numbers, number))
        return self._stream.document_at(max(0, int(self._ends[found]) - 1))


class ShuffledStream(Stored):
    """Documents end to end in random order, whose lengths are known.

    Args:
        tokens: the split as read.
        lengths: the expected lengths of all documents, in the order of the sources.
        seed: the random seed of the shuffle.
    """

    def __init__(self, tokens: TokenFiles, lengths: OffsetArray, seed: int) -> None:
        super().__init__(tokens)
        self._stream = Stream(tokens)
        order = shuffled(len(lengths), seed)
        ends = np.cumsum(lengths[order], dtype=np.int64)
        self._starts = np.empty(len(lengths), np.int64)
        self._starts[order] = ends - lengths[order]

    def get(self, numbers: OffsetArray, expected: OffsetArray) -> tuple[Tokens, OffsetArray]:
        """Return the ids of documents; those after the end have none."""
        found = [
            self._stream.ids(start, start + length)
            for start, length in zip(self._starts[numbers].tolist(), expected.tolist(), strict=True)
        ]
        ids = np.concatenate(found) if found else np.zeros(0, self._tokens.dtype)
        return ids, np.array([len(each) for each in found], np.int64)

    def place(self, number: int) -> int:
        """Return the number in the files of the sequence in which a document begins."""
        return self._stream.document_at(int(self._starts[number]))


def _cut(lengths: OffsetArray, total: int) -> OffsetArray:
    """Return lengths of which the last ones are cut, so that they add up to a total."""
    ends = np.minimum(np.cumsum(lengths), total)
    found: OffsetArray = np.diff(ends, prepend=0)
    return found
