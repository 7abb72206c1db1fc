"""The kernel's counting of words and its learning; beside :mod:`toksmith.engine`, which runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import NamedTuple, TypeAlias

from toksmith import _kernel
from toksmith.engine import instruction_set
from toksmith.lazy import np, npt
from toksmith.text import Text, utf8

Bounds: TypeAlias = "npt.NDArray[np.int64]"
UInts: TypeAlias = "npt.NDArray[np.uint64]"

Counted: TypeAlias = "tuple[bytes, UInts, UInts]"
"""Chunks end to end, where each ends, and how often each was seen."""

Watch: TypeAlias = "Callable[[int, int, int, int], None]"
"""Called now and then with merges done, left id, right id, count."""

RoundsWatch: TypeAlias = "Callable[[int, int, float], None]"
"""Called after each round with rounds done, pieces left, the text's log-likelihood."""


class CountedLines(NamedTuple):
    """The distinct chunks of lines.

    Attributes:
        chunks: all chunks end to end.
        ends: where each ends.
        counts: how often each was seen.
        lines: how many lines were counted.
        too_long: how many were skipped for their length.
        reserved: how many were skipped because they hold U+2585.
    """

    chunks: bytes
    ends: UInts
    counts: UInts
    lines: int
    too_long: int
    reserved: int

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Yield each chunk and its count."""
        start = 0
        for end, count in zip(self.ends.tolist(), self.counts.tolist(), strict=True):
            yield self.chunks[start:end], count
            start = end


class LineCounter:
    r"""Counts the distinct words of lines, or whole lines; empty lines are left out.

    A line is cut before each space that stands behind a printable ASCII character. Each chunk but
    a line's first starts with that space; the first starts with ``\n``, whatever it holds.

    Args:
        threads: how many threads count; the result does not depend on it.
        words: whether lines are cut; without, chunks are whole lines and bear no mark.
        longest: lines of more bytes are skipped; 0 for no limit.
        skip_reserved: whether lines that hold U+2585 are skipped.
    """

    def __init__(
        self, threads: int, *, words: bool = True, longest: int = 0, skip_reserved: bool = False
    ) -> None:
        self._threads = threads
        self._counter = _kernel.WordCounter(words, longest, skip_reserved)

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count the lines of documents."""
        self._counter.add_texts(texts, self._threads)

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count the lines of slices of a text."""
        self._counter.add_slices(text, bounds, self._threads)

    @staticmethod
    def cut(text: Text, start: int, end: int) -> int:
        """Return where the first line behind a byte starts, or the end."""
        data = text if isinstance(text, mmap | bytes | bytearray) else utf8(text)
        found = data.find(b"\n", start, end)
        return end if found < 0 else found + 1

    def finish(self) -> CountedLines:
        """Return all chunks in the order in which they were first seen."""
        return CountedLines(*self._counter.finish(), *self._counter.lines())


def distinct(chunks: bytes, ends: UInts, counts: UInts) -> Counted:
    """Return counted chunks with equal ones as one, in the order in which they were first seen."""
    counter = _kernel.ChunkCounter("none", instruction_set())
    starts = np.concatenate([np.zeros(1, np.uint64), ends])[:-1]
    counter.add_chunks(chunks, np.stack([starts, ends], axis=1).astype(np.int64), counts)
    return counter.finish()


@dataclass(frozen=True, eq=False)
class SymbolWords:
    """Distinct words as symbols.

    Attributes:
        symbols: uint32: the symbols of all words end to end.
        ends: uint64, shape ``(n,)``: where each word ends in ``symbols``.
        counts: uint64, shape ``(n,)``: how often each stands in the text.
        alphabet: how many symbols there are; all are below it.
    """

    symbols: npt.NDArray[np.uint32]
    ends: UInts
    counts: UInts
    alphabet: int


class Merges(NamedTuple):
    """What merging learned.

    Attributes:
        merges: uint32, shape ``(n, 3)``: left id, right id, new id.
        counts: how often the pair of each stood in the text.
        tokens_after: the text's tokens after each.
    """

    merges: npt.NDArray[np.uint32]
    counts: UInts
    tokens_after: UInts


class UnigramPieces(NamedTuple):
    """What Unigram training learned.

    Attributes:
        symbols: uint32: those of all pieces end to end.
        lengths: uint32, shape ``(n,)``: how many symbols each piece has.
        scores: float64, shape ``(n,)``: the logarithm of each piece's probability.
    """

    symbols: npt.NDArray[np.uint32]
    lengths: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float64]


def merge_symbols(
    words: SymbolWords,
    tokens: int,
    *,
    ties: str,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    watch: Watch | None = None,
) -> Merges:
    """Join the most frequent pair, again and again.

    Args:
        words: what to train on.
        tokens: how many ids to make beyond the alphabet.
        ties: ``first-seen`` or ``smallest-pair``.
        min_frequency: a pair that is rarer is never merged.
        max_token_length: in symbols.
        watch: told of the progress.
    """
    return _merges(
        _kernel.train_symbols(
            *_parts(words), tokens, ties, min_frequency, max_token_length or 0, watch
        )
    )


def merge_likely(
    words: SymbolWords, tokens: int, *, min_frequency: int = 1, watch: Watch | None = None
) -> Merges:
    """Join the pair with the highest count(pair) / (count(left) · count(right)), again and again.

    Of equal ones, the more frequent goes first, then the one of the smaller ids.
    """
    return _merges(_kernel.train_likelihood(*_parts(words), tokens, min_frequency, watch))


def merge_pieces(
    words: SymbolWords,
    tokens: int,
    *,
    scripts: Sequence[int],
    spaces: Sequence[bool],
    digits: Sequence[bool],
    longest: int,
    split_by_script: bool,
    split_by_space: bool,
    split_digits: bool,
    space_as_suffix: bool,
    only_spaces: bool,
    watch: Watch | None = None,
) -> Merges:
    """Join the most frequent pair that SentencePiece takes for a piece, again and again.

    Args:
        words: what to train on; symbols are characters in the order of their code points.
        tokens: how many pieces to make.
        scripts: of each symbol: 0 for that of its neighbours, 1 for any, else its number.
        spaces: whether each symbol is ▁.
        digits: whether each symbol is a digit.
        longest: a piece has at most so many characters.
        split_by_script: a piece has one script.
        split_by_space: ▁ stands at the start of a piece only.
        split_digits: each digit is a piece.
        space_as_suffix: ▁ stands at the end, not the start.
        only_spaces: a piece may consist of ▁ alone.
        watch: told of the progress.
    """
    kinds = _kinds(spaces, digits)
    symbols, ends, counts, _ = _parts(words)
    return _merges(
        _kernel.train_pieces(
            *(symbols, ends, counts, np.array(scripts, np.uint16), kinds, tokens, longest),
            *(split_by_script, split_by_space, split_digits, space_as_suffix, only_spaces, watch),
        )
    )


def learn_unigram(
    words: SymbolWords,
    *,
    scripts: Sequence[int],
    spaces: Sequence[bool],
    digits: Sequence[bool],
    longest: int,
    split_by_script: bool,
    split_by_space: bool,
    split_digits: bool,
    space_as_suffix: bool,
    only_spaces: bool,
    seeds: int,
    enough: int,
    shrinking_factor: float,
    sub_iterations: int,
    threads: int,
    watch: RoundsWatch | None = None,
) -> UnigramPieces:
    """Learn the pieces of a Unigram model, and their probabilities.

    Args:
        words: what to train on; symbols are characters in the order of their code points.
        scripts: as all up to ``only_spaces`` in :func:`merge_pieces`.
        spaces: whether each symbol is ▁.
        digits: whether each symbol is a digit.
        longest: a piece has at most so many characters.
        split_by_script: a piece has one script.
        split_by_space: ▁ stands at the start of a piece only.
        split_digits: each digit is a piece.
        space_as_suffix: ▁ stands at the end, not the start.
        only_spaces: a piece may consist of ▁ alone.
        seeds: how many substrings to start with.
        enough: pruning ends at so many pieces.
        shrinking_factor: how much of the pieces one pruning leaves.
        sub_iterations: rounds of expectation and maximization between prunings.
        threads: how many threads work; the result does not depend on it.
        watch: told of each round.
    """
    return UnigramPieces(
        *_kernel.train_unigram(
            words.symbols,
            words.ends,
            words.counts,
            np.array(scripts, np.uint16),
            _kinds(spaces, digits),
            longest=longest,
            split_by_script=split_by_script,
            split_by_space=split_by_space,
            split_digits=split_digits,
            space_as_suffix=space_as_suffix,
            only_spaces=only_spaces,
            seeds=seeds,
            enough=enough,
            shrinking_factor=shrinking_factor,
            sub_iterations=sub_iterations,
            threads=threads,
            watch=watch,
        )
    )


def _kinds(spaces: Sequence[bool], digits: Sequence[bool]) -> npt.NDArray[np.uint8]:
    return (np.array(spaces, np.uint8) | np.array(digits, np.uint8) << 1).astype(np.uint8)


def _parts(words: SymbolWords) -> tuple[npt.NDArray[np.uint32], UInts, UInts, int]:
    return words.symbols, words.ends, words.counts, words.alphabet


def _merges(found: tuple[npt.NDArray[np.uint32], UInts, UInts]) -> Merges:
    merges, counts, tokens_after = found
    return Merges(merges.reshape(-1, 3), counts, tokens_after)
