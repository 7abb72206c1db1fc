"""Counted words as arrays of symbols, the input of learning pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeAlias

from toksmith._base.lazy import np, npt
from toksmith.engine.counting import CountedChunks, Take, UInts
from toksmith.engine.training import ChunkStore, SymbolWords, byte_counts, mixed_words
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.streaming import PassOn

_CODE_POINTS = 0x110000

_BLOCK = 1 << 20  # bytes


@dataclass(frozen=True, eq=False)
class CharacterWords:
    """Distinct words, spelled in characters.

    Attributes:
        characters: the characters that the words are made of, by code point.
        words: the words; symbol ``i`` is ``characters[i]``.

    Example:
        >>> words = CharacterWords.of({"ab": 2, "b": 1})
        >>> words.characters, words.words.symbols, words.character_counts()
        ('ab', array([0, 1, 1], dtype=uint32), array([2, 3], dtype=uint64))
    """

    characters: str
    words: SymbolWords

    @classmethod
    def of(cls, counted: Mapping[str, int] | Counts) -> CharacterWords:
        """Convert counted words to symbols.

        Args:
            counted: the number of occurrences of each word, in UTF-8; no word is empty.
        """
        counts = counted if isinstance(counted, Counts) else _counts_of(counted)
        is_used = np.zeros(_CODE_POINTS, bool)
        ends = np.zeros(len(counts), np.uint64)
        word = size = 0
        for codes, block_ends in _code_points(counts):
            is_used[codes] = True
            ends[word : word + len(block_ends)] = block_ends + np.uint64(size)
            word, size = word + len(block_ends), size + len(codes)
        used = np.flatnonzero(is_used)
        numbers = np.zeros(_CODE_POINTS, np.uint32)
        numbers[used] = np.arange(len(used), dtype=np.uint32)
        symbols = np.empty(size, np.uint32)
        done = 0
        for codes, _ in _code_points(counts):
            symbols[done : done + len(codes)] = numbers[codes]
            done += len(codes)
        words = SymbolWords(symbols, ends, counts.counts, len(used))
        return cls("".join(map(chr, used.tolist())), words)

    def batches(self, words: int) -> Iterator[SymbolWords]:
        """Yield the words in batches of this number; arrays are views of ``words``.

        Example:
            >>> words = CharacterWords.of({"ab": 2, "b": 1})
            >>> [batch.symbols.tolist() for batch in words.batches(1)]
            [[0, 1], [1]]
        """
        every = self.words
        for first in range(0, len(self), words):
            ends = every.ends[first : first + words]
            start = int(every.ends[first - 1]) if first else 0
            yield SymbolWords(
                every.symbols[start : int(ends[-1])],
                ends - np.uint64(start),
                every.counts[first : first + words],
                every.alphabet,
            )

    def pass_symbols(self, take: Callable[[SymbolWords], object]) -> None:
        """Call a function with the words, as those of a :class:`WordStream`."""
        take(self.words)

    def character_counts(self) -> npt.NDArray[np.uint64]:
        """Return the number of occurrences of each character in the text: uint64, by symbol."""
        return self.words.symbol_counts()

    def only(self, characters: str) -> CharacterWords:
        """Return the parts of the words that consist of these characters.

        Example:
            >>> words = CharacterWords.of({"ab": 2, "axb": 1}).only("ab")
            >>> words.words.ends, words.words.counts
            (array([2, 3, 4], dtype=uint64), array([2, 1, 1], dtype=uint64))
        """
        wanted = set(characters)
        if wanted.issuperset(self.characters):
            return self
        kept = [character for character in self.characters if character in wanted]
        numbers = {character: number for number, character in enumerate(kept)}
        return CharacterWords("".join(kept), self.words.only([*map(numbers.get, self.characters)]))

    def __len__(self) -> int:
        return len(self.words.ends)


class WordStream:
    """Distinct words, spelled in characters, that are passed on batch by batch.

    Args:
        pass_on: calls a function with batches of words in UTF-8; it is called several times.
        plain: the same for ASCII words, which are passed on first. A word may be in both.
        space: replaces the space in ASCII words.

    Attributes:
        characters: the characters that the words are made of, by code point.
        bytes: the size of the text in bytes.

    Example:
        >>> counts = Counts.of({b"ab": 2, b"b": 1})
        >>> words = WordStream(lambda take: take(counts.chunks, counts.ends, counts.counts))
        >>> words.characters, words.character_counts(), len(words)
        ('ab', array([2, 3], dtype=uint64), 2)
        >>> words.pass_symbols(lambda batch: print(batch.symbols))
        [0 1 1]
    """

    def __init__(self, pass_on: PassOn, *, plain: PassOn | None = None, space: str = " ") -> None:
        self._pass_on, self._plain = pass_on, plain
        self._space = ord(space)
        self._words = 0
        numbers = np.full(_CODE_POINTS, _CODE_POINTS, np.uint32)
        found: list[int] = []
        sums = np.zeros(0, np.uint64)

        def add_up(words: SymbolWords) -> None:
            nonlocal sums
            self._words += len(words.ends)
            codes = words.symbols
            new = np.unique(codes[numbers[codes] == _CODE_POINTS])
            numbers[new] = len(found) + np.arange(len(new), dtype=np.uint32)
            found.extend(new.tolist())
            part = SymbolWords(numbers[codes], words.ends, words.counts, len(found))
            sums = np.append(sums, np.zeros(len(new), np.uint64)) + part.symbol_counts()

        self._pass_code_points(add_up)
        order = np.argsort(np.array(found, np.uint32))
        codes = np.array(found, np.uint32)[order]
        self.characters = "".join(map(chr, codes.tolist()))
        self._counts = sums[order]
        numbers[codes] = np.arange(len(codes), dtype=np.uint32)
        self._numbers = numbers

    def character_counts(self) -> UInts:
        """Return the number of occurrences of each character in the text: uint64, by symbol."""
        return self._counts

    def pass_symbols(self, take: Callable[[SymbolWords], object]) -> None:
        """Call a function with batches of words; symbol ``i`` is ``characters[i]``."""
        alphabet = len(self.characters)
        self._pass_code_points(
            lambda words: take(
                SymbolWords(self._numbers[words.symbols], words.ends, words.counts, alphabet)
            )
        )

    def only(self, characters: str) -> WordStreamPart:
        """Return the parts of the words that consist of these characters."""
        wanted = set(characters)
        kept = "".join(character for character in self.characters if character in wanted)
        return WordStreamPart(kept, self)

    def close(self) -> None:
        """Free the words; the characters and their counts stay."""
        self._pass_on, self._plain = _pass_freed, None

    def _pass_code_points(self, take: Callable[[SymbolWords], object]) -> None:
        """Call a function with batches of words as code points."""

        def convert(is_ascii: bool, chunks: bytes, ends: UInts, counts: UInts) -> None:
            word = 0
            for codes, block_ends in _code_points(Counts(chunks, ends, counts)):
                if is_ascii:
                    codes[codes == ord(" ")] = self._space
                of_block = counts[word : word + len(block_ends)]
                take(SymbolWords(codes, block_ends, of_block, _CODE_POINTS))
                word += len(block_ends)

        if self._plain is not None:
            self._plain(partial(convert, True))
        self._pass_on(partial(convert, False))

    def __len__(self) -> int:
        return self._words


def _pass_freed(take: Take) -> None:
    del take
    raise ValueError("the words were freed")


@dataclass(frozen=True, eq=False)
class WordStreamPart:
    """The parts of the words of a stream that consist of some characters.

    Attributes:
        characters: these characters, by code point; each occurs in the words.
        words: the stream.
    """

    characters: str
    words: WordStream

    def pass_symbols(self, take: Callable[[SymbolWords], object]) -> None:
        """Call a function with batches of words; symbol ``i`` is ``characters[i]``."""
        numbers = {character: number for number, character in enumerate(self.characters)}
        new = [numbers.get(character) for character in self.words.characters]
        self.words.pass_symbols(lambda words: take(words.only(new)))


@dataclass(frozen=True, eq=False)
class MixedWords:
    """Counted ASCII words from the kernel, and other words. A word may be in both.

    Attributes:
        ascii: ASCII words, in parts that no piece crosses.
        others: all other words.
        space: the symbol of a space in ``ascii``.

    Example:
        >>> ends, counts = np.array([2, 4], np.uint64), np.array([5, 1], np.uint64)
        >>> words = MixedWords((b"ab c", ends, counts), CharacterWords.of({"éa": 2}), "▁")
        >>> words.characters, words.character_counts()
        ('abcé▁', array([7, 5, 1, 2, 1], dtype=uint64))
        >>> words.only("abc▁").words.symbols
        array([0, 1, 3, 2, 0], dtype=uint32)
    """

    ascii: CountedChunks
    others: CharacterWords
    space: str

    @cached_property
    def _counts(self) -> dict[str, int]:
        """The number of occurrences of each character in the text."""
        counts = {
            self._letter(byte): count
            for byte, count in enumerate(byte_counts(self.ascii).tolist())
            if count
        }
        others = self.others.character_counts().tolist()
        for character, count in zip(self.others.characters, others, strict=True):
            counts[character] = counts.get(character, 0) + count
        return counts

    def _letter(self, byte: int) -> str:
        return self.space if byte == ord(" ") else chr(byte)

    @property
    def characters(self) -> str:
        """The characters that the words are made of, by code point."""
        return "".join(sorted(self._counts))

    def character_counts(self) -> npt.NDArray[np.uint64]:
        """Return the number of occurrences of each character in the text: uint64, by character."""
        return np.array([self._counts[character] for character in self.characters], np.uint64)

    def only(self, characters: str) -> CharacterWords:
        """Return the parts of the words that consist of these characters."""
        kept = "".join(sorted(self._counts.keys() & set(characters)))
        numbers = {character: number for number, character in enumerate(kept)}
        words = mixed_words(
            self.ascii,
            [numbers.get(self._letter(byte)) for byte in range(256)],
            self.others.words,
            [*map(numbers.get, self.others.characters)],
            len(kept),
        )
        return CharacterWords(kept, words)

    def __len__(self) -> int:
        return len(self.ascii[1]) + len(self.others)


def is_utf8(counts: Counts) -> bool:
    r"""Return whether each chunk is valid UTF-8.

    Example:
        >>> is_utf8(Counts.of({"né".encode(): 1})), is_utf8(Counts.of({b"n\xc3": 1, b"\xa9": 1}))
        (True, False)
    """
    for data, ends in _blocks(counts):
        if data.isascii():
            continue
        continuing = _is_continuing(data)
        if continuing[0] or continuing[ends[:-1].astype(np.int64)].any():
            return False
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    return True


def _blocks(counts: Counts) -> Iterator[tuple[bytes, UInts]]:
    """Yield the bytes of some chunks at a time, and the end of each in them."""
    first = start = 0
    while first < len(counts):
        last = int(np.searchsorted(counts.ends, np.uint64(start + _BLOCK), "right"))
        last = max(last, first + 1)
        end = int(counts.ends[last - 1])
        yield counts.chunks[start:end], counts.ends[first:last] - np.uint64(start)
        first, start = last, end


def _code_points(counts: Counts) -> Iterator[tuple[npt.NDArray[np.uint32], UInts]]:
    """Yield the code points of some words at a time, and the end of each word in them."""
    for data, ends in _blocks(counts):
        if data.isascii():
            yield np.frombuffer(data, np.uint8).astype(np.uint32), ends
            continue
        before = np.cumsum(~_is_continuing(data), dtype=np.uint64)
        codes = np.frombuffer(data.decode().encode("utf-32-le"), np.uint32)
        yield codes, before[ends.astype(np.int64) - 1]


def _is_continuing(data: bytes) -> npt.NDArray[np.bool_]:
    """Return which bytes continue a character of UTF-8."""
    found: npt.NDArray[np.bool_] = (np.frombuffer(data, np.uint8) & np.uint8(0xC0)) == 0x80
    return found


def _counts_of(counted: Mapping[str, int]) -> Counts:
    return Counts.of({word.encode(): count for word, count in counted.items()})


@dataclass(frozen=True, eq=False)
class StoredWords:
    """Distinct words in a store for merging.

    Attributes:
        characters: the characters that the words are made of, by code point.
        words: the words; symbol ``i`` is ``characters[i]``.
    """

    characters: str
    words: ChunkStore


AnyWords: TypeAlias = "CharacterWords | MixedWords | WordStream"
PassableWords: TypeAlias = "CharacterWords | WordStream | WordStreamPart"
"""Words that are passed on as symbols."""
