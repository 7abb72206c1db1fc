"""Counted words as arrays of symbols, the input of learning pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TypeAlias

from toksmith._base.lazy import np, npt
from toksmith.engine.counting import CountedChunks
from toksmith.engine.training import SymbolWords, byte_counts, mixed_words

_CODE_POINTS = 0x110000
_BLOCK = 1 << 16  # words


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
        """Convert counted words to symbols.

        Args:
            counted: the number of occurrences of each word; no word is empty.
        """
        words_left = iter(counted)
        lengths, spelled = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint32)]
        while block := [*islice(words_left, _BLOCK)]:  # Ctrl-C ends it between two blocks
            lengths.append(np.fromiter(map(len, block), np.uint64, len(block)))
            spelled.append(np.frombuffer("".join(block).encode("utf-32-le"), np.uint32))
        ends, codes = np.cumsum(np.concatenate(lengths), dtype=np.uint64), np.concatenate(spelled)
        counts = np.fromiter(counted.values(), np.uint64, len(counted))
        is_used = np.zeros(_CODE_POINTS, bool)
        is_used[codes] = True
        used = np.flatnonzero(is_used)
        numbers = np.zeros(_CODE_POINTS, np.uint32)
        numbers[used] = np.arange(len(used), dtype=np.uint32)
        words = SymbolWords(numbers[codes], ends, counts, len(used))
        return cls("".join(map(chr, used.tolist())), words)

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


AnyWords: TypeAlias = "CharacterWords | MixedWords"
