r"""A list of merges for a model that has scores: SentencePiece's BPE for tokenizer.json.

SentencePiece merges any neighbours that together make a piece, the piece of the best score first
and the leftmost of several. A list of merges has a rank for each *pair*: the pairs that make one
piece, such as ``th`` + ``e`` and ``t`` + ``he``, stand one after the other there, and no longer
share a rank. So the tokens can differ only where two such pairs are there at once, and where it
matters which is merged first. That is where what one becomes reaches into the other:

    p = S1 · m, made of the first pair's result and more, and
    q = m · S2, made of the second one's and more, want the same m.

Each of the two is the piece that both pairs make, or a piece around it with a better score (with a
lower one, it would wait until both pairs are merged). There are few such overlaps in a vocabulary,
and all are known: as with the critical pairs of a rewriting system (Knuth & Bendix 1970), it is
enough to run both ways to merge on each text ``S1 · m · S2``. What happens inside a longer text, as
long as nothing merges across the ends of ``S1 · m · S2``, is what happens to it alone. So where the
same pairs merge in all of these, they do in every text; where they do not, the model is refused.

Pieces of one score would share a rank as well. That is refused but for runs of one character, such
as Llama's spaces, which touch no other piece: for them both ways are run on long runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator
from itertools import pairwise
from typing import TypeAlias

from toksmith.errors import UnsupportedError
from toksmith.models import PieceType, SentencePieceBPE

Pair: TypeAlias = "tuple[str, str]"
Tree: TypeAlias = "str | tuple[Tree, Tree]"

_LONGEST = 256  # characters; longer pieces overlap in too many ways to try them all
_NAME = "huggingface"


def merges_of_pieces(model: SentencePieceBPE) -> list[Pair]:
    """Return the merges, best first, that make the same tokens as the scores.

    Raises:
        UnsupportedError: there are none; the message says why.
    """
    scores = _scores(model)
    splits = {piece: _splits(piece, scores) for piece in scores}
    merges = [pair for pairs in splits.values() for pair in pairs]
    # Among the pairs of one piece the order is free; the longer left side is the usual one.
    merges.sort(key=lambda pair: (-scores[pair[0] + pair[1]], -len(pair[0])))
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    for text in (*_runs(scores, splits), *_overlaps(scores, splits)):
        here = _merged(text, lambda pair: -scores[pair[0] + pair[1]], scores)
        there = _merged(text, ranks.__getitem__, scores)
        if here != there:
            raise UnsupportedError(
                f"{_NAME} merges by a list of pairs, and no such list takes the leftmost of equal "
                f"scores first: in {text!r} other pairs would merge there; sentencepiece can hold "
                "that"
            )
    return merges


def _scores(model: SentencePieceBPE) -> dict[str, float]:
    """Return the scores of the pieces that merging makes or starts from.

    Raises:
        UnsupportedError: there are pieces that merges cannot do without scores or types.
    """
    for kind, why in (
        (PieceType.USER_DEFINED, "is found before anything merges"),
        (PieceType.UNUSED, "is taken apart again where merging makes it"),
    ):
        for token_id in model.of_type(kind)[:1]:
            raise UnsupportedError(
                f"{_NAME} knows merges alone, and {model.vocab[token_id].decode()!r} (of type "
                f"{kind.name}) {why}; sentencepiece can hold that"
            )
    pieces = [piece.decode() for piece in model.vocab]
    normal = set(model.of_type(PieceType.NORMAL))
    scores = {pieces[i]: float(model.scores[i]) for i in sorted(normal)}
    for token_id, piece in enumerate(pieces):
        if token_id not in normal and len(piece) == 1:
            raise UnsupportedError(
                f"{_NAME} finds every character of the vocabulary in a text, and {piece!r} is of "
                f"type {PieceType(model.types[token_id]).name}"
            )
    for piece in scores:
        if unknown := next((c for c in piece if c not in scores), None):
            raise UnsupportedError(
                f"{_NAME} merges only characters that have an id of their own, and {unknown!r} of "
                f"piece {piece!r} has none"
            )
        if len(piece) > _LONGEST:
            raise UnsupportedError(
                f"piece {piece[:20]!r}… has {len(piece)} characters: whether a list of merges "
                f"would make the same tokens is worked out for up to {_LONGEST} only"
            )
    return scores


def _splits(piece: str, scores: dict[str, float]) -> list[Pair]:
    """Return the pairs of pieces that make a piece."""
    pairs = ((piece[:place], piece[place:]) for place in range(1, len(piece)))
    return [(left, right) for left, right in pairs if left in scores and right in scores]


def _overlaps(scores: dict[str, float], splits: dict[str, list[Pair]]) -> Iterator[str]:
    """Return the texts on which it can matter which pair of a piece goes first."""
    several = {piece for piece, pairs in splits.items() if len(pairs) > 1}
    # By piece and by m: what stands before m in p, and behind it in q.
    before: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    behind: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for whole, pairs in splits.items():
        for left, right in pairs:
            if whole in several:
                before[whole][right].add(left)
                behind[whole][left].add(right)
            for piece in _inside(left, several):
                if scores[piece] < scores[whole]:
                    before[piece][right].add(left)
            for piece in _inside(right, several):
                if scores[piece] < scores[whole]:
                    behind[piece][left].add(right)
    for piece in several:
        for shared in before[piece].keys() & behind[piece].keys():
            for first in before[piece][shared]:
                for second in behind[piece][shared]:
                    yield first + shared + second


def _inside(text: str, pieces: set[str]) -> set[str]:
    """Return the pieces that a text holds."""
    size = len(text)
    return {text[i:j] for i in range(size) for j in range(i + 2, size + 1)} & pieces


def _runs(scores: dict[str, float], splits: dict[str, list[Pair]]) -> Iterator[str]:
    """Return the texts that show whether pieces of one score merge alike.

    Raises:
        UnsupportedError: they are no runs of one character that stand for themselves.
    """
    alike: dict[float, list[str]] = defaultdict(list)
    for piece, pairs in splits.items():
        if pairs:
            alike[scores[piece]].append(piece)
    for pieces in alike.values():
        if len(pieces) == 1:
            continue
        twice = pieces[0][0] * 2
        others = (piece for piece in scores if twice in piece and piece not in pieces)
        if any(set(piece) != set(twice) for piece in pieces) or next(others, None) is not None:
            raise UnsupportedError(
                f"{_NAME} merges by a list of pairs, and no such list takes the leftmost of equal "
                f"scores first: {pieces[0]!r} and {pieces[1]!r} both have {scores[pieces[0]]:g}; "
                "sentencepiece can hold that"
            )
        longest = max(map(len, pieces))
        yield from (twice[0] * size for size in range(2, 4 * longest + 2))


def _merged(text: str, rank: Callable[[Pair], float], pieces: Container[str]) -> list[Tree]:
    """Merge the characters of a text: the pair of the lowest rank first, the leftmost of several.

    Args:
        text: a few characters, all of them pieces.
        rank: of pairs that make a piece.
        pieces: what may be made.

    Returns:
        The symbols at the end, each as what it was merged from.
    """
    symbols = list(text)
    trees: list[Tree] = list(text)
    while True:
        ranked = [
            (rank(pair), place)
            for place, pair in enumerate(pairwise(symbols))
            if pair[0] + pair[1] in pieces
        ]
        if not ranked:
            return trees
        place = min(ranked)[1]
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
        trees[place : place + 2] = [(trees[place], trees[place + 1])]
