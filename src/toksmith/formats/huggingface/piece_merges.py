"""Recovers a list of merges from scores, to write SentencePiece's BPE as tokenizer.json.

SentencePiece merges any two neighbours that form a piece, best score first, leftmost of equals. A
list of merges has one rank per *pair*: the pairs that form one piece, such as ``th`` + ``e`` and
``t`` + ``he``, get consecutive ranks instead of a shared one. This makes no difference if no two
pieces share a score: as long as nothing merges across the ends of a span of text, its merges do not
depend on the text around it. So the characters of a piece always reach the same two symbols before
the piece is formed, and only one of its pairs ever occurs.

Pieces with equal scores would need a shared rank, with the leftmost merged first, which a list
cannot express. Llama has such pieces for runs of spaces, which touch no other piece. For these, a
list that merges the longer left side first also grows a run from the left.

Added tokens are found in the text before anything merges. The text between them holds none, so no
piece that contains one is ever formed, and such pieces need no merges.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeAlias

from toksmith._base.lazy import np
from toksmith.errors import UnsupportedError
from toksmith.framing import AddedToken
from toksmith.models import PieceType, SentencePieceBPE

Pair: TypeAlias = "tuple[str, str]"

_NAME = "huggingface"
_MARK = "\u2581"
_LONGEST_RUN = 64  # characters; SentencePiece's trainer makes pieces of 16


def find_piece_merges(model: SentencePieceBPE, added: Iterable[AddedToken] = ()) -> list[Pair]:
    """Return the merges, best first, that make the same tokens as the scores.

    Args:
        model: the pieces.
        added: the added tokens that are found before the pieces merge.

    Raises:
        UnsupportedError: no list of merges is equivalent; the message says why.
    """
    scores = _scores(model, added)
    merges = [pair for piece in scores for pair in _splits(piece, scores)]
    merges.sort(key=lambda pair: (-scores[pair[0] + pair[1]], -len(pair[0]), -len(pair[1])))
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    sharing: dict[float, list[str]] = defaultdict(list)
    for piece in dict.fromkeys(left + right for left, right in merges):
        sharing[scores[piece]].append(piece)
    for score, pieces in sharing.items():
        if len(pieces) > 1 and not _grow_alike(pieces, scores, ranks):
            raise UnsupportedError(
                f"{_NAME} merges by a list of pairs, and no such list takes the leftmost of equal "
                f"scores first: {pieces[0]!r} and {pieces[1]!r} both have {score:g}; sentencepiece "
                "can hold that"
            )
    return merges


def _scores(model: SentencePieceBPE, added: Iterable[AddedToken]) -> dict[str, float]:
    """Return the scores of the pieces that merging starts from or produces.

    Raises:
        UnsupportedError: merges cannot express a piece.
    """
    found = {token.content: token for token in added}
    for kind, why in (
        (PieceType.USER_DEFINED, "is matched before merging"),
        (PieceType.UNUSED, "is split again after merging"),
    ):
        for token_id in model.of_type(kind):
            piece = model.vocab[token_id].decode()
            if kind == PieceType.USER_DEFINED and piece in found:
                continue
            raise UnsupportedError(
                f"{_NAME} only has merges, but {piece!r} (of type {kind.name}) {why}; "
                "sentencepiece can hold that"
            )
    pieces = [piece.decode() for piece in model.vocab]
    normal = model.types == int(PieceType.NORMAL)
    single = model.scores.astype(np.float32).tolist()  # as SentencePiece compares them
    scores = {piece: single[i] for i, piece in enumerate(pieces) if normal[i]}
    # Special tokens can be switched off, and then their pieces merge.
    if literals := [content for content, token in found.items() if not token.special]:
        holds_one = re.compile("|".join(map(re.escape, literals))).search
        scores = {piece: score for piece, score in scores.items() if not holds_one(piece)}
    for token_id, piece in enumerate(pieces):
        if len(piece) == 1 and not normal[token_id] and piece not in found:
            raise UnsupportedError(
                f"{_NAME} matches every character of the vocabulary, but {piece!r} has "
                f"type {PieceType(model.types[token_id]).name}"
            )
    for piece in scores:
        if unknown := next((c for c in piece if c not in scores), None):
            raise UnsupportedError(
                f"{_NAME} merges only characters with an id, but {unknown!r} of "
                f"piece {piece!r} has none"
            )
    return scores


def _splits(piece: str, scores: dict[str, float]) -> list[Pair]:
    """Return the pairs of pieces that merge to a piece."""
    pairs = ((piece[:place], piece[place:]) for place in range(1, len(piece)))
    return [(left, right) for left, right in pairs if left in scores and right in scores]


def _grow_alike(pieces: list[str], scores: dict[str, float], ranks: dict[Pair, int]) -> bool:
    """Return whether merging by rank equals leftmost-first merging for pieces of equal score.

    The pieces must be all the runs of one character that occur in any piece. The test merges runs
    of up to four times the length of the longest piece.
    """
    letter, longest = pieces[0][0], max(map(len, pieces))
    runs = {piece for piece in scores if letter * 2 in piece}
    if runs != set(pieces) or set("".join(pieces)) != {letter} or longest > _LONGEST_RUN:
        return False
    texts = [letter * size for size in range(2, 4 * longest)]
    return all(_merge(text, scores, lambda _: 0) == _merge(text, scores, ranks.__getitem__)
               for text in texts)  # fmt: skip


def _merge(text: str, pieces: dict[str, float], rank: Callable[[Pair], int]) -> list[str]:
    """Merge the characters of a text: the lowest rank first, the leftmost of equals."""
    symbols = list(text)
    while True:
        ranked = [
            (rank(pair), place)
            for place, pair in enumerate(pairwise(symbols))
            if pair[0] + pair[1] in pieces
        ]
        if not ranked:
            return symbols
        place = min(ranked)[1]
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
