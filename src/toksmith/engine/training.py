"""Training in the kernel: merges of bytes and symbols, and Unigram pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple, TypeAlias

from toksmith._base.lazy import np, npt
from toksmith.engine.compiled import _kernel
from toksmith.engine.counting import CountedChunks, UInts
from toksmith.reference.piece_rules import INHERITED, SPACE, PieceRules, is_digit

Watch: TypeAlias = "Callable[[Merges], None]"
"""Called a few times a second with the merges since the last call, and at the end with the rest."""

Keep: TypeAlias = "Callable[[Merges], None]"
"""Called with the merges since the last call, to save them before training goes on."""

RoundsWatch: TypeAlias = "Callable[[int, int, float], None]"
"""Called after each round with rounds done, pieces left, the text's log-likelihood."""


@dataclass(frozen=True)
class MergeRules:
    """Which pair is merged next, and when merging stops.

    Attributes:
        ties: which of two equally frequent pairs is merged first: ``first-seen`` or
            ``smallest-pair``.
        min_frequency: a pair that is rarer is never merged.
        max_token_length: a pair that would make a longer token is never merged; in bytes or
            symbols. ``None`` for no limit.
    """

    ties: Literal["first-seen", "smallest-pair"]
    min_frequency: int = 1
    max_token_length: int | None = None

    @classmethod
    def of(cls, options: object) -> MergeRules:
        """Return the rules of an object that has all of them as attributes."""
        return cls(**{each.name: getattr(options, each.name) for each in fields(cls)})

    def arguments(self) -> tuple[str, int, int]:
        """Return the rules as the kernel takes them, in the order of its arguments."""
        return self.ties, self.min_frequency, self.max_token_length or 0


def byte_counts(counted: CountedChunks) -> UInts:
    """Return the count of each byte in the text: uint64, shape ``(256,)``."""
    return _kernel.symbol_counts(*counted, 256)


_LEFT_OUT = 0xFFFFFFFF


@dataclass(frozen=True, eq=False)
class SymbolWords:
    """Distinct words as symbols.

    Attributes:
        symbols: uint32: the symbols of all words end to end.
        ends: uint64, shape ``(n,)``: where each word ends in ``symbols``.
        counts: uint64, shape ``(n,)``: the count of each in the text.
        alphabet: the number of symbols; each symbol is less than it.
        cut: the number of first words that no piece can cross.
    """

    symbols: npt.NDArray[np.uint32]
    ends: UInts
    counts: UInts
    alphabet: int
    cut: int = 0

    def only(self, numbers: Sequence[int | None]) -> SymbolWords:
        """Return the segments of the words that consist of some of the symbols.

        Args:
            numbers: what each symbol becomes; ``None`` for those that are left out.
        """
        new = _numbers(numbers)
        alphabet = sum(number is not None for number in numbers)
        return SymbolWords(*_kernel.segments(self.symbols, self.ends, self.counts, new), alphabet)

    def symbol_counts(self) -> UInts:
        """Return the count of each symbol in the text: uint64, shape ``(alphabet,)``."""
        return _kernel.symbol_counts(self.symbols, self.ends, self.counts, self.alphabet)


def mixed_words(
    counted: CountedChunks,
    of_bytes: Sequence[int | None],
    others: SymbolWords,
    of_others: Sequence[int | None],
    alphabet: int,
) -> SymbolWords:
    """Return words of bytes and other words after them, cut to runs of some of the symbols.

    Args:
        counted: words of bytes; no piece reaches out of them.
        of_bytes: what each byte becomes; ``None`` for those that are left out.
        others: any other words.
        of_others: the same of their symbols.
        alphabet: the number of symbols after it.
    """
    symbols, cut = _kernel.mixed_segments(
        *(*counted, _numbers(of_bytes), others.symbols, others.ends, others.counts),
        _numbers(of_others),
    )
    return SymbolWords(*symbols, alphabet, cut)


def _numbers(numbers: Sequence[int | None]) -> npt.NDArray[np.uint32]:
    return np.array([_LEFT_OUT if i is None else i for i in numbers], np.uint32)


ENOUGH = 1 << 31
"""The memory for merging in bytes, where no limit is given."""


class Merges(NamedTuple):
    """The merges that training learned.

    Attributes:
        merges: uint32, shape ``(n, 3)``: left id, right id, new id.
        counts: how often the pair of each stood in the text.
        tokens_after: the text's tokens after each.
    """

    merges: npt.NDArray[np.uint32]
    counts: UInts
    tokens_after: UInts


_Found: TypeAlias = "tuple[npt.NDArray[np.uint32], UInts, UInts]"
_FoundPieces: TypeAlias = (
    "tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64]]"
)


class UnigramPieces(NamedTuple):
    """The pieces and scores that Unigram training learned.

    Attributes:
        symbols: uint32: those of all pieces end to end.
        lengths: uint32, shape ``(n,)``: the number of symbols of each piece.
        scores: float64, shape ``(n,)``: the logarithm of each piece's probability.
    """

    symbols: npt.NDArray[np.uint32]
    lengths: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float64]


class UnigramState(NamedTuple):
    """Where Unigram training stands after a pruning.

    Attributes:
        rounds: the rounds of expectation and maximization so far.
        pieces: the pieces that are left.
    """

    rounds: int
    pieces: UnigramPieces


KeepState: TypeAlias = "Callable[[UnigramState], None]"
"""Called with the state of Unigram training, to save it before training goes on."""


class ChunkStore:
    """Counted chunks to merge, kept small: for corpora whose chunks would not fit as arrays.

    Args:
        memory: what exceeds this size in bytes is written to the file, if there is one.
        descriptor: of a temporary file, which the caller closes; ``None`` for no file. An error of
            the file is an OSError.
        check: called after chunks were added, and perhaps written.
    """

    def __init__(
        self,
        memory: int = 0,
        descriptor: int | None = None,
        check: Callable[[], object] = lambda: None,
    ) -> None:
        self._check = check
        self._store = _kernel.ChunkStore(memory, -1 if descriptor is None else descriptor)
        self.alphabet = 256

    def add_bytes(self, chunks: bytes, ends: UInts, counts: UInts) -> None:
        """Add chunks of bytes: all concatenated, the end of each, and the count of each."""
        self._store.add_bytes(chunks, ends, counts)
        self._check()

    def add_symbols(self, words: SymbolWords) -> None:
        """Add words; all that are added have the same alphabet."""
        self._store.add_symbols(*_parts(words))
        self._check()
        self.alphabet = words.alphabet

    @property
    def kernel(self) -> _kernel.ChunkStore:
        """The store of the kernel."""
        return self._store


def merge_symbols(
    words: SymbolWords | ChunkStore,
    tokens: int,
    rules: MergeRules,
    *,
    threads: int = 1,
    watch: Watch | None = None,
    places: npt.NDArray[np.uint32] | None = None,
    lengths: npt.NDArray[np.uint32] | None = None,
    keep: Keep | None = None,
    keep_seconds: float = 0,
    memory: int = ENOUGH,
) -> Merges:
    """Join the most frequent pair, again and again.

    Args:
        words: the words to train on, in the order in which they were first seen. A store can be
            used once.
        tokens: the number of ids to learn beyond the alphabet.
        rules: which pairs are merged; lengths are in symbols, or in what ``lengths`` counts.
        threads: the number of threads; the result does not depend on it.
        watch: called with the progress.
        places: in which order ``smallest-pair`` takes the ids of the alphabet; ``None`` for theirs.
        lengths: of each of them; ``None`` for 1.
        keep: called every ``keep_seconds``, and when Ctrl-C ends the training.
        keep_seconds: see there.
        memory: the memory for merging in bytes, besides that of the store; the result does not
            depend on it. If the words need more, they are merged in phases.
    """
    store = _stored(words)
    none = np.zeros(0, np.uint32)
    return _merges(
        _kernel.train_store(
            *(store.kernel, store.alphabet, tokens, *rules.arguments(), threads),
            _reporter(watch),
            none if places is None else places,
            none if lengths is None else lengths,
            _reporter(keep),
            keep_seconds,
            memory,
        )
    )


def _stored(words: SymbolWords | ChunkStore) -> ChunkStore:
    if isinstance(words, ChunkStore):
        return words
    store = ChunkStore()
    store.add_symbols(words)
    return store


def merge_likely(
    words: SymbolWords | ChunkStore,
    tokens: int,
    *,
    min_frequency: int = 1,
    threads: int = 1,
    watch: Watch | None = None,
    memory: int = ENOUGH,
) -> Merges:
    """Join the pair with the highest count(pair) / (count(left) · count(right)), again and again.

    Of equal ones, the more frequent goes first, then the one of the smaller ids.

    Args:
        words: the words to train on. A store can be used once.
        tokens: the number of ids to learn beyond the alphabet.
        min_frequency: a pair that is rarer is never merged.
        threads: the number of threads; the result does not depend on it.
        watch: called with the progress.
        memory: as in :func:`merge_symbols`.
    """
    store = _stored(words)
    return _merges(
        _kernel.train_store_likelihood(
            *(store.kernel, store.alphabet, tokens, min_frequency, threads),
            _reporter(watch),
            memory,
        )
    )


def merge_pieces(
    words: SymbolWords | ChunkStore,
    tokens: int,
    characters: Sequence[str],
    rules: PieceRules,
    *,
    threads: int = 1,
    watch: Watch | None = None,
    memory: int = ENOUGH,
) -> Merges:
    """Join the most frequent pair that SentencePiece takes for a piece, again and again.

    Args:
        words: the words to train on. A store can be used once.
        tokens: the number of pieces to learn.
        characters: the character of each symbol, in the order of their code points.
        rules: the rules for valid pieces.
        threads: the number of threads; the result does not depend on it.
        watch: called with the progress.
        memory: as in :func:`merge_symbols`; of a store only.
    """
    options = (*_traits(characters, rules), tokens, *_rule_arguments(rules))
    if isinstance(words, ChunkStore):
        return _merges(
            _kernel.train_store_pieces(words.kernel, *options, threads, _reporter(watch), memory)
        )
    symbols, ends, counts, _ = _parts(words)
    return _merges(
        _kernel.train_pieces(symbols, ends, counts, *options, words.cut, threads, _reporter(watch))
    )


def _traits(
    characters: Sequence[str], rules: PieceRules
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint8]]:
    """Return what the rules need of each character.

    The first array holds scripts: 0 for that of the neighbours, 1 for any, else a number. In the
    second, bit 0 is set for ▁, bit 1 for a digit.
    """
    names = [
        INHERITED if character == SPACE else rules.script(character) for character in characters
    ]
    numbers: dict[int | None, int] = {INHERITED: 0, None: 1}
    scripts = [numbers.setdefault(name, len(numbers)) for name in names]
    kinds = [(character == SPACE) | is_digit(character) << 1 for character in characters]
    return np.array(scripts, np.uint16), np.array(kinds, np.uint8)


def _rule_arguments(rules: PieceRules) -> tuple[int, bool, bool, bool, bool, bool]:
    """Return rules in the order of the kernel's arguments."""
    return (
        rules.max_sentencepiece_length,
        rules.split_by_unicode_script,
        rules.split_by_whitespace,
        rules.split_digits,
        rules.treat_whitespace_as_suffix,
        rules.allow_whitespace_only_pieces,
    )


class BlockFile(NamedTuple):
    """A temporary file for the kernel, which the caller closes.

    Attributes:
        descriptor: of the file. An error of the file is an OSError.
        space: the maximum size of the file in bytes, beyond which there is a BufferError; ``None``
            for no limit.
    """

    descriptor: int
    space: int | None = None


class UnigramWords:
    """Counted words to learn Unigram pieces from: for corpora whose words would not fit as arrays.

    Args:
        characters: the character of each symbol, in the order of their code points.
        rules: the rules for valid pieces.
        threads: the number of threads; the result does not depend on it.
        memory: the memory for training in bytes, if there is a file.
        file: for what exceeds it; ``None`` for no file.
        has_pieces: whether training goes on from a state, so that no first pieces are searched.
    """

    def __init__(
        self,
        characters: Sequence[str],
        rules: PieceRules,
        *,
        threads: int = 1,
        memory: int = 0,
        file: BlockFile | None = None,
        has_pieces: bool = False,
    ) -> None:
        self._words = _kernel.UnigramWords(
            *(*_traits(characters, rules), *_rule_arguments(rules)),
            threads=threads,
            memory=memory,
            descriptor=file.descriptor if file else -1,
            space=file.space if file else None,
            has_pieces=has_pieces,
        )

    def add(self, words: SymbolWords) -> None:
        """Add words."""
        self._words.add(words.symbols, words.ends, words.counts)

    def finish(self) -> None:
        """End the adding; called before :meth:`learn`."""
        self._words.finish()

    @property
    def substrings(self) -> int:
        """The maximum number of substrings that occur more than once, roughly."""
        return self._words.substrings

    @property
    def spilled(self) -> int:
        """The number of bytes written to the file."""
        return self._words.spilled

    def learn(
        self,
        *,
        seeds: int,
        enough: int,
        shrinking_factor: float,
        sub_iterations: int,
        watch: RoundsWatch | None = None,
        keep: KeepState | None = None,
        keep_seconds: float = 0,
        start: UnigramState | None = None,
    ) -> UnigramPieces:
        """Learn the pieces of a Unigram model, and their probabilities; the words are used up.

        Args:
            seeds: the number of substrings to start with.
            enough: pruning stops at this many pieces.
            shrinking_factor: the share of the pieces kept by one pruning.
            sub_iterations: rounds of expectation and maximization between prunings.
            watch: called after each round.
            keep: called before the first round and after prunings, at most every
                ``keep_seconds``.
            keep_seconds: see there.
            start: the state to go on from.
        """

        def hand_over(rounds: int, pieces: _FoundPieces) -> None:
            assert keep is not None
            keep(UnigramState(rounds, UnigramPieces(*pieces)))

        return UnigramPieces(
            *self._words.train(
                seeds=seeds,
                enough=enough,
                shrinking_factor=shrinking_factor,
                sub_iterations=sub_iterations,
                watch=watch,
                keep=hand_over if keep else None,
                keep_seconds=keep_seconds,
                start=None if start is None else (start.rounds, *start.pieces),
            )
        )


def unigram_memory(pieces: int) -> int:
    """Return an estimate of the memory in bytes that a number of first pieces needs at least."""
    return _kernel.unigram_memory(pieces)


def _parts(words: SymbolWords) -> tuple[npt.NDArray[np.uint32], UInts, UInts, int]:
    return words.symbols, words.ends, words.counts, words.alphabet


def _reporter(keep: Watch | Keep | None) -> Callable[[_Found], None] | None:
    return None if keep is None else lambda found: keep(_merges(found))


def _merges(found: _Found) -> Merges:
    merges, counts, tokens_after = found
    return Merges(merges.reshape(-1, 3), counts, tokens_after)
