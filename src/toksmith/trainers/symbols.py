"""Counted words as arrays of symbols: what merging and counting characters run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toksmith.lazy import np, npt
from toksmith.training_engine import Counted, SymbolWords, byte_counts

_CODE_POINTS = 0x110000


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
    def of(cls, counted: Mapping[str, int]) -> CharacterWords:
        """Return counted words as symbols.

        Args:
            counted: how often each word stands in the text; none is empty.
        """
        ends = np.cumsum(np.fromiter(map(len, counted), np.uint64, len(counted)), dtype=np.uint64)
        codes = np.frombuffer("".join(counted).encode("utf-32-le"), np.uint32)
        counts = np.fromiter(counted.values(), np.uint64, len(counted))
        is_used = np.zeros(_CODE_POINTS, bool)
        is_used[codes] = True
        used = np.flatnonzero(is_used)
        numbers = np.zeros(_CODE_POINTS, np.uint32)
        numbers[used] = np.arange(len(used), dtype=np.uint32)
        words = SymbolWords(numbers[codes], ends, counts, len(used))
        return cls("".join(map(chr, used.tolist())), words)

    @classmethod
    def of_ascii(
        cls, ascii_words: Counted, others: Mapping[str, int], space: str = " "
    ) -> CharacterWords:
        """Return counted words as symbols. A word may come several times.

        Args:
            ascii_words: words of ASCII.
            others: any other words, and how often each stands in the text.
            space: what a space stands for in the first ones.

        Example:
            >>> ends, counts = np.array([2, 4], np.uint64), np.array([5, 1], np.uint64)
            >>> words = CharacterWords.of_ascii((b"ab c", ends, counts), {"é": 2}, "▁")
            >>> words.characters, words.words.symbols, words.words.counts
            ('abcé▁', array([0, 1, 4, 2, 3], dtype=uint32), array([5, 1, 2], dtype=uint64))
        """
        text, ends, counts = ascii_words
        data = np.frombuffer(text, np.uint8)
        letters = {byte: chr(byte) for byte in np.flatnonzero(byte_counts(*ascii_words)).tolist()}
        if ord(" ") in letters:
            letters[ord(" ")] = space
        characters = "".join(sorted({*letters.values(), *"".join(others)}))
        numbers = {character: number for number, character in enumerate(characters)}
        of_bytes = np.zeros(128, np.uint32)
        for byte, character in letters.items():
            of_bytes[byte] = numbers[character]
        rest = cls.of(others)
        of_rest = np.array([numbers[character] for character in rest.characters], np.uint32)
        words = SymbolWords(
            np.concatenate([of_bytes[data], of_rest[rest.words.symbols]]),
            np.concatenate([ends, rest.words.ends + np.uint64(len(data))]),
            np.concatenate([counts, rest.words.counts]),
            len(characters),
        )
        return cls(characters, words)

    def character_counts(self) -> npt.NDArray[np.uint64]:
        """Return how often each character stands in the text: uint64, by symbol."""
        return self.words.symbol_counts()

    def only(self, characters: str) -> CharacterWords:
        """Return the stretches of the words that are made of these characters.

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
