"""SentencePiece's BPE on one chunk: neighbours merge where together they make a piece.

It has scores instead of a list of merges. The chunk starts as its characters, and as user-defined
pieces, which stay as they are. Of all neighbours whose joined text is a piece, those with the best
score are joined, the leftmost where scores are equal; then again, until no neighbours make a piece.
Kudo & Richardson 2018, "SentencePiece".

This takes n² steps for a chunk of n characters. The kernel finds the same tokens in n log n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

from toksmith.models import PieceType, SentencePieceBPE
from toksmith.reference import Token
from toksmith.reference.unigram import character_at


class PieceSymbol(NamedTuple):
    """A stretch of the chunk that is one symbol so far.

    Attributes:
        start: where it starts in the chunk, in bytes.
        end: where it ends.
        frozen: a user-defined piece, which never merges.
        parts: the two symbols that it was merged from, if it was.
    """

    start: int
    end: int
    frozen: bool = False
    parts: tuple[PieceSymbol, PieceSymbol] | None = None


class Merger:
    """A model, ready to run on chunks."""

    def __init__(self, model: SentencePieceBPE) -> None:
        self.model = model
        self._pieces = model.ids_of_types(
            PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED
        )
        self._scores = model.scores.astype("float32").tolist()
        self._user_defined = sorted(
            (model.vocab[i] for i in model.of_type(PieceType.USER_DEFINED)), key=len, reverse=True
        )

    def encode(self, chunk: bytes, dropout: float = 0.0, rng: Random | None = None) -> list[Token]:
        """Return the tokens of a chunk.

        Args:
            chunk: UTF-8.
            dropout: the probability that a merge is skipped for good (BPE-dropout, Provilkov et al.
                2020, as SentencePiece does it: each pair of symbols that comes up has one chance).
            rng: where chance comes from.
        """
        symbols = self.symbols(chunk)
        for merged, _ in self.merge_steps(chunk, symbols, dropout, rng):
            symbols = merged
        return self.tokens(chunk, symbols)

    def symbols(self, chunk: bytes) -> list[PieceSymbol]:
        """Return the symbols that a chunk starts as."""
        found: list[PieceSymbol] = []
        place = 0
        while place < len(chunk):
            longest = next((p for p in self._user_defined if chunk.startswith(p, place)), b"")
            end = place + len(longest or character_at(chunk, place))
            found.append(PieceSymbol(place, end, frozen=bool(longest)))
            place = end
        return found

    def merge_steps(
        self,
        chunk: bytes,
        symbols: Sequence[PieceSymbol],
        dropout: float = 0.0,
        rng: Random | None = None,
    ) -> Iterator[tuple[list[PieceSymbol], int]]:
        """Merge until nothing is left to merge.

        Yields:
            After each merge, the symbols and the position of the new one.
        """
        symbols = list(symbols)
        passed_over: set[tuple[PieceSymbol, PieceSymbol]] = set()
        while (position := self.best_pair(chunk, symbols, passed_over)) is not None:
            left, right = symbols[position : position + 2]
            if rng is not None and rng.random() < dropout:
                passed_over.add((left, right))
                continue
            symbols[position : position + 2] = [
                PieceSymbol(left.start, right.end, parts=(left, right))
            ]
            yield list(symbols), position

    def best_pair(
        self,
        chunk: bytes,
        symbols: Sequence[PieceSymbol],
        passed_over: set[tuple[PieceSymbol, PieceSymbol]]
        | frozenset[tuple[PieceSymbol, PieceSymbol]] = frozenset(),
    ) -> int | None:
        """Return the position of the pair to merge first: of the best score, then leftmost."""
        ranked = [
            (-self._scores[self._pieces[chunk[left.start : right.end]]], position)
            for position, (left, right) in enumerate(pairwise(symbols))
            if not (left.frozen or right.frozen)
            and chunk[left.start : right.end] in self._pieces
            and (left, right) not in passed_over
        ]
        return min(ranked)[1] if ranked else None

    def tokens(self, chunk: bytes, symbols: Sequence[PieceSymbol]) -> list[Token]:
        """Return the tokens of the symbols that no merge is left for."""
        model = self.model
        found: list[Token] = []
        unknown_before = False
        for symbol in (part for whole in symbols for part in self.in_use(chunk, whole)):
            start, end = symbol.start, symbol.end
            token_id = self._pieces.get(chunk[start:end])
            if token_id is not None and self._is_unused(token_id):
                token_id = None  # a single character
            if token_id is not None:
                found.append(Token(token_id, start, end))
            elif model.byte_fallback:
                found += [Token(model.byte_ids[chunk[i]], i, i + 1) for i in range(start, end)]
            elif unknown_before:
                found[-1] = found[-1]._replace(end=end)
            elif model.unk_id is not None:
                found.append(Token(model.unk_id, start, end))
            unknown_before = token_id is None
        return found

    def in_use(self, chunk: bytes, symbol: PieceSymbol) -> Iterator[PieceSymbol]:
        """Take a symbol apart again as far as its piece is one that is not used."""
        token_id = self._pieces.get(chunk[symbol.start : symbol.end])
        if symbol.parts and token_id is not None and self._is_unused(token_id):
            for part in symbol.parts:
                yield from self.in_use(chunk, part)
        else:
            yield symbol

    def _is_unused(self, token_id: int) -> bool:
        return int(self.model.types[token_id]) == PieceType.UNUSED
