r"""Learn Unigram pieces: start with far too many, and drop those that cost the text least.

A Unigram model gives each piece a probability. A word can be put together from pieces along
many paths; the probability of a path is the product of its pieces', that of the word the sum over
its paths. Training looks for the pieces and probabilities that make the text likely:

0. :func:`cut_words`: words are cut where no piece can cross.
1. :func:`seed_pieces`: all characters, and the frequent substrings.
2. :func:`expected_counts` and :func:`reestimate`, some times over (expectation and maximization):
   the expected count of each piece, if every path counts by its probability, gives the new
   probability of the piece. Pieces that are hardly used are dropped.
3. :func:`prune`: the pieces whose loss would cost the text least are dropped, a quarter at a time;
   then 2. again, until few enough are left.
4. :func:`finish`: the best of them, and every character.

Kudo 2018, "Subword Regularization", section 3.2; the steps are those of SentencePiece's trainer.

    >>> words = {"▁hug": 10, "▁pug": 5, "▁hugs": 5, "▁pun": 12, "▁bun": 4}
    >>> for step in training_steps(words, 9):
    ...     print(f"{len(step.scores)} pieces, log-likelihood {step.log_likelihood:.1f}")
    7 pieces, log-likelihood -100.0
    5 pieces, log-likelihood -59.1
    >>> [piece for piece, score in finish(step.scores, 9, "u▁npghsb")]
    ['▁pun', 'b', 's', 'h', 'g', 'p', 'n', '▁', 'u']
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from toksmith.reference.piece_rules import PieceRules

Words: TypeAlias = Mapping[str, int]
"""The number of occurrences of each word."""

Scores: TypeAlias = dict[str, float]
"""The logarithm of each piece's probability."""

ROOM = 1.1
"""Pruning ends with this many times the pieces wanted; the rest go by their scores."""

LEAST_EXPECTED = 0.5
"""A piece with a smaller expected count is dropped."""

UNKNOWN_PENALTY = 10.0
"""The score of a character without a piece is this much below that of the worst piece."""

PENALTY_STEP = 0.0001
"""The difference between the scores of required characters that training dropped."""


class Arc(NamedTuple):
    """A piece at a place of a word; ``""`` for an unknown character."""

    start: int
    end: int
    piece: str
    score: float


@dataclass(frozen=True)
class UnigramStep:
    """One round of expectation and maximization.

    Attributes:
        scores: the pieces after it.
        log_likelihood: of the text, with the pieces before it.
    """

    scores: Scores
    log_likelihood: float


@dataclass(frozen=True)
class UnigramOptions:
    """The options of training, named as in SentencePiece.

    Attributes:
        seed_sentencepiece_size: the number of substrings to start with.
        shrinking_factor: the share of the pieces that pruning keeps.
        num_sub_iterations: rounds of expectation and maximization between prunings.
    """

    seed_sentencepiece_size: int = 1_000_000
    shrinking_factor: float = 0.75
    num_sub_iterations: int = 2


def training_steps(
    words: Words,
    wanted: int,
    rules: PieceRules | None = None,
    options: UnigramOptions | None = None,
) -> Iterator[UnigramStep]:
    """Yield each round; the pieces of the last one are for :func:`finish`.

    Args:
        words: the words to train on.
        wanted: the number of pieces to keep.
        rules: what may be a piece.
        options: how training goes.
    """
    options = options or UnigramOptions()
    rules = rules or PieceRules()
    words = cut_words(words, rules)
    scores = seed_pieces(words, rules, options.seed_sentencepiece_size)
    enough = int(wanted * ROOM)
    while True:
        for _ in range(options.num_sub_iterations):
            counts, log_likelihood = expected_counts(words, scores)
            scores = reestimate(counts)
            yield UnigramStep(scores, log_likelihood)
        size = len(scores)
        if size > enough:
            scores = prune(words, scores, max(enough, int(options.shrinking_factor * size)))
        if len(scores) == size:  # there are few enough, or none that the text can do without
            return


def cut_words(words: Words, rules: PieceRules) -> Counter[str]:
    """Cut words into stretches that no piece can reach out of, and count them.

    The pieces of a stretch do not depend on the rest of the word. So the result is the same, with
    fewer distinct strings: "▁say," and "▁say." share "▁say".

    Example:
        >>> cut_words({"▁say,": 2, "▁say.": 1}, PieceRules())
        Counter({'▁say': 3, ',': 2, '.': 1})
    """
    counts: Counter[str] = Counter()
    for word, count in words.items():
        cuts = [i for i in range(1, len(word)) if rules.apart(word[i - 1], word[i])]
        for start, end in pairwise([0, *cuts, len(word)]):
            counts[word[start:end]] += count
    return counts


def seed_pieces(words: Words, rules: PieceRules, size: int) -> Scores:
    """Return all characters and the best substrings; what covers more of the text is better.

    A substring that is always followed by the same character is left out, because the longer one
    covers it; so is a substring that occurs only once.

    Args:
        words: what to look for substrings in.
        rules: which of them may be pieces.
        size: the number of them to take.
    """
    characters: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    followers: defaultdict[str, set[str]] = defaultdict(set)
    for number, (word, count) in enumerate(words.items()):
        for start in range(len(word)):
            characters[word[start]] += count
            for end in range(start + 2, min(len(word), start + rules.max_sentencepiece_length) + 1):
                substring = word[start:end]
                counts[substring] += count
                # The end of a word counts as a distinct follower: two entries.
                followers[substring].update(word[end : end + 1] or ("", f"end of word {number}"))
    covered = {
        substring: count * len(substring)
        for substring, count in counts.items()
        if count >= 2 and len(followers[substring]) > 1 and rules.allow(substring)
    }
    chosen = [*_best_first(characters), *_best_first(covered)[:size]]
    total = sum(covered[piece] if len(piece) > 1 else characters[piece] for piece in chosen)
    return {
        piece: math.log((covered[piece] if len(piece) > 1 else characters[piece]) / total)
        for piece in chosen
    }


def arcs(word: str, scores: Scores) -> Iterator[Arc]:
    """Yield the pieces that occur in a word, from left to right, shorter ones first."""
    longest = max(map(len, scores))
    for start in range(len(word)):
        if word[start] not in scores:
            yield Arc(start, start + 1, "", min(scores.values()) - UNKNOWN_PENALTY)
        for end in range(start + 1, min(len(word), start + longest) + 1):
            if (piece := word[start:end]) in scores:
                yield Arc(start, end, piece, scores[piece])


def expected_counts(words: Words, scores: Scores) -> tuple[dict[str, float], float]:
    """Return the expected count of each piece in the text, and the text's log-likelihood.

    An arc is used with the probability of all paths through it, among all paths through the word.
    Those are the paths to its start (``before``) times those from its end (``after``).
    """
    counts = dict.fromkeys(scores, 0.0)
    log_likelihood = 0.0
    for word, count in words.items():
        found = list(arcs(word, scores))
        before = [0.0] + [-math.inf] * len(word)
        for arc in found:  # by where they start: all paths to there are known
            before[arc.end] = _log_sum(before[arc.end], before[arc.start] + arc.score)
        after = [-math.inf] * len(word) + [0.0]
        for arc in reversed(found):
            after[arc.start] = _log_sum(after[arc.start], after[arc.end] + arc.score)
        for arc in found:
            if arc.piece:
                share = before[arc.start] + arc.score + after[arc.end] - before[-1]
                counts[arc.piece] += count * math.exp(share)
        log_likelihood += count * before[-1]
    return counts, log_likelihood


def reestimate(counts: Mapping[str, float]) -> Scores:
    """Return the scores for expected counts.

    Plain maximization would be log(count) − log(total). The digamma function instead of the
    logarithm makes rare pieces rarer, and so lets them go sooner (a sparse prior; Liang & Klein
    2007, "Structured Bayesian Nonparametric Models with Variational Inference").
    """
    kept = {piece: count for piece, count in counts.items() if count >= LEAST_EXPECTED}
    total = digamma(sum(kept.values()))
    return {piece: digamma(count) - total for piece, count in kept.items()}


def digamma(x: float) -> float:
    """Return the derivative of the logarithm of the gamma function, for x > 0.

    Example:
        >>> round(digamma(1), 9), round(digamma(10), 9)  # -0.5772… is Euler's constant, negative
        (-0.577215665, 2.251752589)
    """
    result = 0.0
    while x < 7:  # digamma(x) = digamma(x + 1) - 1 / x
        result -= 1 / x
        x += 1
    y = 1 / (x - 0.5) ** 2  # the asymptotic series around x - 1/2
    series = y * (1 / 24 - y * (7 / 960 - y * (31 / 8064 - y * 127 / 30720)))
    return result + math.log(x - 0.5) + series


def prune(words: Words, scores: Scores, size: int) -> Scores:
    """Drop the pieces whose loss costs the text least.

    Without a piece, the text would use the next best segmentation of it. The likelihood of the text
    is then estimated by adding the piece's occurrences to the pieces of that segmentation.

    Args:
        words: the text.
        scores: the pieces.
        size: the maximum number of pieces to keep. Pieces that the text does not use, or whose
            segmentation into other pieces is better, are always dropped; pieces without such a
            segmentation are always kept.
    """
    used: Counter[str] = Counter()
    for word, count in words.items():
        for piece in best_path(arcs(word, scores), len(word)) or []:
            used[piece] += count
    del used[""]
    total = used.total()
    kept: set[str] = set()
    loss: dict[str, float] = {}
    for piece, score in scores.items():
        if not used[piece]:
            continue
        others = [arc for arc in arcs(piece, scores) if arc.piece not in (piece, "")]
        path = best_path(others, len(piece))
        if path is None:
            kept.add(piece)
        elif sum(scores[part] for part in path) <= score:
            without = total + used[piece] * (len(path) - 1)
            loss[piece] = used[piece] * (
                math.log(used[piece] / total)
                - sum(math.log((used[part] + used[piece]) / without) for part in path)
            )
    kept.update(_best_first(loss)[: max(0, size - len(kept))])
    return {piece: score for piece, score in scores.items() if piece in kept}


def best_path(found: Iterable[Arc], length: int) -> list[str] | None:
    """Return the most probable path through arcs (Viterbi); ``None`` where there is none."""
    best: list[float] = [0.0] + [-math.inf] * length
    last: list[Arc | None] = [None] * (length + 1)
    for arc in found:
        if best[arc.start] + arc.score > best[arc.end]:
            best[arc.end] = best[arc.start] + arc.score
            last[arc.end] = arc
    path: list[str] = []
    while length:
        if (step := last[length]) is None:
            return None
        path.insert(0, step.piece)
        length = step.start
    return path


def finish(scores: Scores, wanted: int, required: str) -> list[tuple[str, float]]:
    """Return the final pieces, the best first.

    Args:
        scores: the pieces that training left.
        wanted: the number of pieces.
        required: characters that must be pieces, the most frequent first.
    """
    lowest = min(scores.values())
    missing = [character for character in required if character not in scores]
    final = {character: scores[character] for character in required if character in scores}
    final |= {character: lowest + i * PENALTY_STEP for i, character in enumerate(missing)}
    for piece in _best_first(scores):
        if len(final) >= wanted:
            break
        final.setdefault(piece, scores[piece])
    return [(piece, final[piece]) for piece in _best_first(final)]


def _best_first(values: Mapping[str, float]) -> list[str]:
    """Return the keys by value, the highest first; of equal ones, by code points."""
    return sorted(values, key=lambda key: (-values[key], key))


def _log_sum(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b))."""
    low, high = sorted((a, b))
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))
