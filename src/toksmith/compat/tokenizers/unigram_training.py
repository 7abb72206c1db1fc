"""Unigram training that learns tokenizers' pieces.

The steps are those of :mod:`toksmith.reference.unigram_training`, with tokenizers' rules where they
differ from SentencePiece's: the seeds (:mod:`~toksmith.compat.tokenizers.unigram_seeds`), the loss
of a piece, and the order in which the last pieces fill the vocabulary. All words are in one array,
and each step runs on all places at the same distance from the start, or the end, of their words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log
from typing import Any, NamedTuple, TypeAlias

from toksmith._base.lazy import np, npt
from toksmith._base.progress import rounds_progress
from toksmith.compat.tokenizers.failures import TokenizersError
from toksmith.compat.tokenizers.unigram_seeds import Arcs, Pieces, Text, find_seeds
from toksmith.reference.unigram_training import LEAST_EXPECTED, PENALTY_STEP, UNKNOWN_PENALTY

Floats: TypeAlias = "npt.NDArray[np.float64]"
Ints: TypeAlias = "npt.NDArray[np.int64]"

_PATIENCE = 100
"""Training ends after this many prunings that drop nothing; tokenizers goes on forever."""

_AT_ONCE = 50_000
"""The number of pieces whose other segmentations are found at once."""


class Settings(NamedTuple):
    """The settings of a training; see ``UnigramTrainer``.

    Attributes:
        vocab_size: the number of tokens.
        others: how many of them are no pieces.
        alphabet: characters that must be pieces, besides those of the words.
    """

    vocab_size: int
    others: int = 0
    alphabet: str = ""
    longest: int = 16
    seeds: int = 1_000_000
    shrinking_factor: float = 0.75
    sub_iterations: int = 2


def learn_pieces(
    words: dict[str, int], settings: Settings, progress: bool | None = False
) -> list[tuple[str, float]]:
    """Return the pieces of counted words with their scores, the best first.

    Args:
        words: the words.
        settings: how training goes.
        progress: whether to show a progress bar; ``None`` if standard error is a terminal.

    Raises:
        TokenizersError: there is no room for all characters.

    Example:
        >>> words = {"▁low": 5, "▁lower": 2, "▁newer": 6, "▁wider": 3}
        >>> [piece for piece, _ in learn_pieces(words, Settings(12))]
        ['e', 'r', '▁', 'w', '▁low', 'n', 'o', 'd', 'i', 'l']
    """
    text = Text.of(words)
    required = sorted({*text.characters, *settings.alphabet})
    if len(required) > settings.vocab_size:
        raise TokenizersError(
            "The vocabulary is not large enough to contain all chars: there are "
            f"{len(required)}, and vocab_size is {settings.vocab_size}"
        )
    most = settings.vocab_size * 11 // 10 - 1  # tokenizers counts its unknown piece
    with rounds_progress(progress) as report:
        lattices = _Lattices(text, *find_seeds(text, settings.longest, settings.seeds))
        rounds = unchanged = before = 0
        while unchanged < _PATIENCE:
            for _ in range(settings.sub_iterations):
                likelihood = lattices.reestimate()
                rounds += 1
                if report is not None:
                    report(rounds, len(lattices.pieces.lengths), likelihood)
            size = len(lattices.pieces.lengths)
            if size <= most:
                break
            unchanged = unchanged + 1 if size == before else 0
            lattices.prune(max(most, int((size + 1) * settings.shrinking_factor) - 1))
            before = len(lattices.pieces.lengths)
    return _finish(lattices, required, settings.vocab_size - settings.others)


def _finish(lattices: _Lattices, required: list[str], room: int) -> list[tuple[str, float]]:
    """Return all required characters, and pieces in their order while there is room."""
    pieces = lattices.spelled()
    lowest = min(pieces.values(), default=0.0)
    found = {each: pieces[each] for each in required if each in pieces}
    missing = [each for each in required if each not in pieces]
    found |= {each: lowest + i * PENALTY_STEP for i, each in enumerate(missing)}
    for piece, score in pieces.items():
        if piece not in found:
            found[piece] = score
            if len(found) == room:
                break
    return sorted(found.items(), key=lambda item: -item[1])


class _Lattices:
    """The pieces, and the words as the ways that they can be put together from pieces."""

    def __init__(self, text: Text, pieces: Pieces, arcs: Arcs) -> None:
        self._text = text
        self.pieces = pieces
        self._owner = np.repeat(np.arange(len(text.starts)), text.ends - text.starts + 1)
        self._set_arcs(arcs)

    def _set_arcs(self, arcs: Arcs) -> None:
        self._arcs = arcs
        owner = self._owner[arcs.starts]
        self._forward = _grouped(arcs, arcs.starts - self._text.starts[owner])
        self._backward = _grouped(arcs, self._text.ends[owner] - arcs.ends)

    def spelled(self) -> dict[str, float]:
        """Return the score of each piece."""
        columns = (column.tolist() for column in self.pieces)
        return {
            self._text.spelled(place, length): score
            for place, length, score in zip(*columns, strict=True)
        }

    def reestimate(self) -> float:
        """Run a round of expectation and maximization; return the log-likelihood before it."""
        text, scores = self._text, self._scores()
        size = len(text.symbols)
        before, after = np.full(size, -np.inf), np.full(size, -np.inf)
        before[text.starts] = after[text.ends] = 0.0
        for arcs in _steps(self._forward):
            way = before[arcs.starts] + scores[arcs.pieces]
            before[arcs.ends] = np.logaddexp(before[arcs.ends], way)
        for arcs in _steps(self._backward):
            way = after[arcs.ends] + scores[arcs.pieces]
            after[arcs.starts] = np.logaddexp(after[arcs.starts], way)
        whole = before[text.ends]
        starts, ends, pieces = self._arcs
        owner = self._owner[starts]
        shares = np.exp(before[starts] + scores[pieces] + after[ends] - whole[owner])
        sums = np.bincount(pieces, text.counts[owner] * shares, len(scores))
        expected: Floats = sums.astype(np.float64)[1:]
        kept = np.flatnonzero(expected >= LEAST_EXPECTED)
        counts = expected[kept]
        if len(counts):
            counts = _digamma(counts) - _digamma(np.sum(counts, keepdims=True))
        self._keep(kept, counts)
        return float(text.counts @ whole)

    def prune(self, size: int) -> None:
        """Drop the pieces whose loss costs the text least, and order the others by their loss."""
        scores, used = self._scores(), self._usage()
        total = float(used.sum())
        lengths = self.pieces.lengths
        count = used[1:]
        # tokenizers takes the number of all pieces for that of the parts.
        without = _logs(total + count * len(lengths))
        longer = np.flatnonzero(lengths > 1)
        best, instead = np.full(len(lengths), -np.inf), np.zeros(len(lengths))
        for first in range(0, len(longer), _AT_ONCE):
            some = longer[first : first + _AT_ONCE]
            best[some], instead[some] = self._alternatives(some, scores, used, without[some])
        replaceable = best <= scores[1:]
        replaceable[lengths == 1] = False
        needed = ~replaceable & ((count > 0) | (lengths == 1))
        losses = count / self._text.counts.sum() * (_logs(count) - log(max(total, 1.0)) - instead)
        kept = np.flatnonzero(needed)
        candidates = np.flatnonzero(replaceable & (count > 0))
        candidates = candidates[np.argsort(-losses[candidates], kind="stable")]
        if len(kept) <= size:  # else tokenizers keeps them all
            candidates = candidates[: size - len(kept)]
        kept = np.concatenate([kept, candidates])
        self._keep(kept, self.pieces.scores[kept])

    def _scores(self) -> Floats:
        """Return the score of each piece by its number, that of an unknown character first."""
        held = self.pieces.scores
        return np.concatenate([[held.min(initial=0.0) - UNKNOWN_PENALTY], held])

    def _keep(self, kept: Ints, scores: Floats) -> None:
        """Keep some pieces, in a new order; a character that is dropped is unknown."""
        numbers = np.zeros(len(self.pieces.lengths) + 1, np.int64)
        numbers[kept + 1] = np.arange(1, len(kept) + 1)
        self.pieces = self.pieces.chosen(kept)._replace(scores=scores)
        arcs = self._arcs._replace(pieces=numbers[self._arcs.pieces])
        here = (arcs.pieces > 0) | (arcs.ends - arcs.starts == 1)
        self._set_arcs(arcs.chosen(here))

    def _usage(self) -> Floats:
        """Return how often the best segmentation of the text has each piece, unknown first."""
        text, scores = self._text, self._scores()
        used = np.zeros(len(scores))

        def add(words: Ints, pieces: Ints) -> None:
            used[:] += np.bincount(pieces, text.counts[words], len(scores))

        _best_ways(len(text.symbols), self._forward, scores, text.starts, text.ends, add)
        return used

    def _alternatives(
        self, numbers: Ints, scores: Floats, used: Floats, without: Floats
    ) -> tuple[Floats, Floats]:
        """Return the score of the best other segmentation of some pieces, and its probability.

        The probability is the logarithm of that in the text without the piece. It is summed up from
        the first part to the last, as in tokenizers: it decides between equal losses.
        """
        places, lengths = self.pieces.places[numbers], self.pieces.lengths[numbers]
        owner = np.repeat(np.arange(len(numbers)), lengths)
        offsets = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        arcs = self._arcs
        first = np.searchsorted(arcs.starts, places[owner] + offsets, "left")
        counts = np.searchsorted(arcs.starts, places[owner] + offsets, "right") - first
        found = np.arange(counts.sum()) + np.repeat(first - (np.cumsum(counts) - counts), counts)
        owner, offsets = np.repeat(owner, counts), np.repeat(offsets, counts)
        ends = arcs.ends[found] - places[owner]
        inside = (ends <= lengths[owner]) & (ends - offsets < lengths[owner])
        owner, offsets, ends = owner[inside], offsets[inside], ends[inside]
        bases = np.cumsum(lengths + 1) - lengths - 1
        others = Arcs(bases[owner] + offsets, bases[owner] + ends, arcs.pieces[found[inside]])
        ways: list[tuple[Ints, Ints]] = []
        size = int((lengths + 1).sum())
        best = _best_ways(
            size,
            _grouped(others, offsets),
            scores,
            bases,
            bases + lengths,
            lambda which, pieces: ways.append((which, pieces)),
        )
        probability, count = np.zeros(len(numbers)), used[numbers + 1]
        for which, pieces in reversed(ways):
            probability[which] += _logs(used[pieces] + count[which]) - without[which]
        return best, probability


class _Grouped(NamedTuple):
    """Arcs in groups that are run one after the other."""

    arcs: Arcs
    bounds: list[int]


def _grouped(arcs: Arcs, keys: Ints) -> _Grouped:
    """Return arcs by a key; the arcs of a group have places of their own."""
    sizes = np.bincount(keys)
    # NumPy sorts keys of 16 bits by radix.
    order = np.argsort(keys.astype(np.uint16) if len(sizes) <= 2**16 else keys, kind="stable")
    return _Grouped(arcs.chosen(order), [0, *np.cumsum(sizes).tolist()])


def _steps(grouped: _Grouped) -> Iterator[Arcs]:
    arcs = grouped.arcs
    for first, last in zip(grouped.bounds, grouped.bounds[1:], strict=False):
        yield arcs.chosen(slice(first, last))


def _best_ways(
    size: int,
    grouped: _Grouped,
    scores: Floats,
    starts: Ints,
    ends: Ints,
    add: Callable[[Any, Any], None],
) -> Floats:
    """Find the best way from each start to the end of it, and return their scores.

    Args:
        size: the number of places.
        grouped: the arcs by their distance from the start.
        scores: the score of each piece.
        starts: the first places.
        ends: the last places.
        add: called with the numbers of ways, and with a piece of each; all pieces come once.
    """
    best = np.full(size, -np.inf)
    best[starts] = 0.0
    before, piece = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for arcs in _steps(grouped):
        way = best[arcs.starts] + scores[arcs.pieces]
        better = way > best[arcs.ends]
        there = arcs.ends[better]
        best[there] = way[better]
        before[there], piece[there] = arcs.starts[better], arcs.pieces[better]
    places, numbers = ends, np.arange(len(ends))
    while len(numbers):
        left = places > starts[numbers]
        places, numbers = places[left], numbers[left]
        add(numbers, piece[places])
        places = before[places]
    return best[ends]


def _logs(counts: Floats) -> Floats:
    """Return the logarithms of whole numbers, rounded as the C library does; that of 0 is 0."""
    values, each = np.unique(counts, return_inverse=True)
    found = np.array([log(value) if value else 0.0 for value in values.tolist()])
    return found[each.reshape(-1)]


def _digamma(values: Floats) -> Floats:
    """Return the derivative of the logarithm of the gamma function, for values above 0."""
    x, result = values.copy(), np.zeros(len(values))
    while (low := x < 7).any():  # digamma(x) = digamma(x + 1) - 1 / x
        result[low] -= 1 / x[low]
        x[low] += 1
    y = 1 / (x - 0.5) ** 2  # the asymptotic series around x - 1/2
    series = y * (1 / 24 - y * (7 / 960 - y * (31 / 8064 - y * 127 / 30720)))
    found: Floats = result + np.log(x - 0.5) + series
    return found
