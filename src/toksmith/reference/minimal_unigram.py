"""The Unigram model on one page: train, encode and decode, with nothing imported from toksmith.

Each piece has a probability. A word can be put together from pieces in many ways; a way is as
probable as the product of its pieces, and encoding takes the most probable one. The ways form a
*lattice*: places between characters, and pieces as edges from one place to another.

Training starts with far too many pieces, and drops those that the text can do without. Between two
droppings, expectation and maximization (EM) set the probabilities: how often is each piece expected
to occur, if every way counts by its probability? That share is its new probability.

Simplified: the seed holds all substrings that occur twice, the loss of a piece is estimated by one
line, probabilities are plain shares and no logarithms (words of some hundred characters are too
improbable for that). ``reference/unigram_training.py`` does it as SentencePiece.

Source: Kudo: Subword Regularization, ACL 2018.

Example:
    >>> scores = train("hug hug hug pug pun pun bun bun hugs hugs", vocab_size=12)
    >>> list(scores)
    ['▁hug', 's', '▁bun', '▁pun', 'u', '▁', 'g', 'p', 'b', 'h', 'n', '<unk>']
    >>> ids = encode("hugs pugs", scores)
    >>> [list(scores)[token] for token in ids]
    ['▁hug', 's', '▁', 'p', 'u', 'g', 's']
    >>> decode(ids, scores)
    'hugs pugs'
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations

UNKNOWN = "<unk>"


def words(text: str) -> list[str]:
    """Return the words of a text; each begins with ▁, the space before it."""
    return re.findall("▁[^▁]*", "▁" + text.replace(" ", "▁"))


def edges(word: str, scores: dict[str, float]) -> Iterator[tuple[int, int, str]]:
    """Yield the lattice of a word from left to right: start, end and piece of each edge."""
    for start, end in combinations(range(len(word) + 1), 2):
        if word[start:end] in scores:
            yield start, end, word[start:end]


def best_way(word: str, scores: dict[str, float], without: str = "") -> list[str]:
    """Return the most probable pieces of a word: the best way to each place, in turn (Viterbi)."""
    best = [(0.0, ""), *[(-math.inf, "")] * len(word)]
    for start, end, piece in edges(word, scores):
        score = best[start][0] + scores[piece]
        if piece != without and score > best[end][0]:
            best[end] = score, piece
    pieces: list[str] = []
    end = len(word)
    while end:
        pieces.insert(0, best[end][1])
        end -= len(pieces[0])
    return pieces


def expected_counts(counts: dict[str, int], scores: dict[str, float]) -> dict[str, float]:
    """Return the expected count of each piece, with each segmentation weighted by probability."""
    expected: defaultdict[str, float] = defaultdict(float)
    for word, times in counts.items():
        lattice = [(i, k, piece, math.exp(scores[piece])) for i, k, piece in edges(word, scores)]
        before = [1.0] + [0.0] * len(word)  # the probability of all ways to a place
        after = [0.0] * len(word) + [1.0]  # and of all ways from there to the end
        for start, end, _, probability in lattice:
            before[end] += before[start] * probability
        for start, end, _, probability in reversed(lattice):
            after[start] += probability * after[end]
        for start, end, piece, probability in lattice:
            expected[piece] += times * before[start] * probability * after[end] / before[-1]
    return expected


def shares(counts: dict[str, float]) -> dict[str, float]:
    """Return the logarithm of each piece's share; what hardly occurs goes, but for characters."""
    kept = {piece: max(n, 1e-9) for piece, n in counts.items() if n > 0.5 or len(piece) == 1}
    total = sum(kept.values())
    return {piece: math.log(n / total) for piece, n in kept.items()}


def train(text: str, vocab_size: int) -> dict[str, float]:
    """Return the logarithm of each piece's probability, the most probable first."""
    counts = Counter(words(text))
    seed: Counter[str] = Counter()
    for word, times in counts.items():
        for start, end in combinations(range(len(word) + 1), 2):
            seed[word[start:end]] += times
    # What covers more of the text is more probable at first.
    scores = shares({p: n * len(p) for p, n in seed.items() if n > 1 or len(p) == 1})
    while True:
        for _ in range(2):
            expected = expected_counts(counts, scores)
            scores = shares(expected)
        loss = {}  # the text's loss of log-likelihood, if a piece is written with others instead
        for piece in scores:
            if len(piece) > 1:
                others = best_way(piece, scores, without=piece)
                loss[piece] = expected[piece] * (scores[piece] - sum(scores[p] for p in others))
        spare = len(scores) + 1 - vocab_size
        if spare <= 0 or not loss:
            break
        for piece in sorted(loss, key=loss.__getitem__)[: min(spare, len(loss) // 4 + 1)]:
            del scores[piece]
    ordered = sorted(scores, key=lambda piece: (-scores[piece], piece))
    return {piece: scores[piece] for piece in ordered} | {UNKNOWN: min(scores.values()) - 10}


def encode(text: str, scores: dict[str, float]) -> list[int]:
    """Return the ids of a text; a piece's id is its place."""
    ids = {piece: token for token, piece in enumerate(scores)}
    strange = dict.fromkeys(set(text) - scores.keys(), scores[UNKNOWN])
    pieces = [piece for word in words(text) for piece in best_way(word, scores | strange)]
    return [ids.get(piece, ids[UNKNOWN]) for piece in pieces]


def decode(ids: list[int], scores: dict[str, float]) -> str:
    """Return the text of some ids, without the space that ``encode`` put before it."""
    return "".join(list(scores)[token] for token in ids).replace("▁", " ").removeprefix(" ")
