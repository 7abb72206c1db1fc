"""Counted words as arrays of symbols: what merging and counting characters run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toksmith.lazy import np, npt
from toksmith.training_engine import SymbolWords

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
        return cls.of_codes(
            np.frombuffer("".join(counted).encode("utf-32-le"), np.uint32),
            ends,
            np.fromiter(counted.values(), np.uint64, len(counted)),
        )

    @classmethod
    def of_codes(
        cls,
        codes: npt.NDArray[np.uint32],
        ends: npt.NDArray[np.uint64],
        counts: npt.NDArray[np.uint64],
    ) -> CharacterWords:
        """Return counted words as symbols.

        Args:
            codes: the code points of all words end to end.
            ends: where each word ends.
            counts: how often each stands in the text. A word may come several times.
        """
        is_used = np.zeros(_CODE_POINTS, bool)
        is_used[codes] = True
        used = np.flatnonzero(is_used)
        numbers = np.zeros(_CODE_POINTS, np.uint32)
        numbers[used] = np.arange(len(used), dtype=np.uint32)
        words = SymbolWords(numbers[codes], ends, counts, len(used))
        return cls("".join(map(chr, used.tolist())), words)

    def character_counts(self) -> npt.NDArray[np.uint64]:
        """Return how often each character stands in the text: uint64, by symbol."""
        words = self.words
        weights = np.repeat(words.counts, self._lengths()).astype(np.float64)
        counted = np.bincount(words.symbols, weights, len(self.characters))
        return counted.astype(np.uint64)  # exact below 2**53

    def only(self, characters: str) -> CharacterWords:
        """Return the stretches of the words that are made of these characters.

        Example:
            >>> words = CharacterWords.of({"ab": 2, "axb": 1}).only("ab")
            >>> words.words.ends, words.words.counts
            (array([2, 3, 4], dtype=uint64), array([2, 1, 1], dtype=uint64))
        """
        wanted = set(characters)
        is_kept = np.array([character in wanted for character in self.characters], bool)
        kept = [character for character in self.characters if character in wanted]
        numbers = np.full(len(self.characters), len(kept), np.uint32)
        numbers[is_kept] = np.arange(len(kept))
        symbols = numbers[self.words.symbols]
        places = np.flatnonzero(symbols < len(kept))
        owners = np.repeat(np.arange(len(self.words.ends)), self._lengths())[places]
        is_last = np.ones(len(places), bool)
        is_last[:-1] = (np.diff(places) != 1) | (np.diff(owners) != 0)
        ends = np.flatnonzero(is_last) + 1
        counts = self.words.counts[owners[ends - 1]]
        words = SymbolWords(symbols[places], ends.astype(np.uint64), counts, len(kept))
        return CharacterWords("".join(kept), words)

    def _lengths(self) -> npt.NDArray[np.int64]:
        ends = np.concatenate([np.zeros(1, np.int64), self.words.ends.astype(np.int64)])
        return np.asarray(np.diff(ends), np.int64)

    def __len__(self) -> int:
        return len(self.words.ends)
