"""SentencePiece's vocabulary: its characters, its meta pieces, and the id of each piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypedDict

from toksmith._base.lazy import np, npt
from toksmith.errors import OptionError, TrainingError, warn
from toksmith.models import PieceType
from toksmith.trainers.counting.symbol_words import AnyWords
from toksmith.trainers.sentencepiece_options import SentencePieceOptions

BOUNDARY = "\x1f"
"""Replaces symbols in the training text; no piece crosses it."""

ScoredPiece: TypeAlias = "tuple[str, float]"

MetaPieces: TypeAlias = "Mapping[int, tuple[str, PieceType]]"
"""Pieces that are not learned, by id."""


def meta_pieces(options: SentencePieceOptions) -> MetaPieces:
    """Return the unknown piece, BOS, EOS, padding and user-defined symbols, then the byte pieces.

    Pieces with an id of their own get it; the others fill the ids from 0 on. A symbol with the
    spelling of BOS, EOS or padding only changes the type of that piece.

    Raises:
        OptionError: two pieces have the same id or spelling.
    """
    pieces: dict[int, tuple[str, PieceType]] = {}
    ids: dict[str, int] = {}
    for name in ("unk", "bos", "eos", "pad"):
        piece, number = getattr(options, f"{name}_piece"), getattr(options, f"{name}_id")
        if number < 0:
            continue
        if number in pieces or piece in ids:
            raise OptionError(
                f"{name}_piece {piece!r} with id {number} conflicts with "
                f"{pieces.get(number, (piece,))[0]!r}"
            )
        pieces[number] = (piece, PieceType.UNKNOWN if name == "unk" else PieceType.CONTROL)
        ids[piece] = number
    added = [(symbol, PieceType.CONTROL) for symbol in options.control_symbols]
    added += [(symbol, PieceType.USER_DEFINED) for symbol in options.user_defined_symbols]
    if options.byte_fallback:
        added += [(f"<0x{byte:02X}>", PieceType.BYTE) for byte in range(256)]
    named = set()
    free = 0
    for symbol, kind in added:
        if symbol in named or symbol == options.unk_piece:
            raise OptionError(f"symbol {symbol!r} is defined twice")
        named.add(symbol)
        if symbol in ids:
            pieces[ids[symbol]] = (symbol, kind)
            continue
        while free in pieces:
            free += 1
        pieces[free] = (symbol, kind)
        ids[symbol] = free
    return pieces


def alphabet_of(words: AnyWords, options: SentencePieceOptions) -> list[str]:
    """Return the characters that become pieces, the most frequent first.

    The required characters come first, then others by frequency, until they cover the share
    ``character_coverage`` of the text.
    """
    counts = dict(zip(words.characters, words.character_counts().tolist(), strict=True))
    counts.pop("\0", None)
    total = np.float64(sum(counts.values()))
    required = set(options.required_chars) - {"\0"}
    found: dict[str, int] = {}
    covered = 0
    for character in sorted(
        counts.keys() | required, key=lambda c: (c not in required, -counts.get(c, 0), c)
    ):
        # SentencePiece compares in float32.
        if np.float32(covered / total) >= np.float32(options.character_coverage):
            break
        covered += counts.get(character, 0)
        if character != BOUNDARY:
            found[character] = counts.get(character, 0)
    return sorted(found, key=lambda c: (-found[c], c))


class Vocabulary(TypedDict):
    """The vocabulary of a model of pieces."""

    vocab: tuple[bytes, ...]
    scores: npt.NDArray[np.float64]
    types: npt.NDArray[np.uint8]
    unk_id: int
    byte_fallback: bool
    bos_id: int | None
    eos_id: int | None
    pad_id: int | None


def vocabulary(
    pieces: Sequence[ScoredPiece], meta: MetaPieces, size: int, options: SentencePieceOptions
) -> Vocabulary:
    """Return the vocabulary: the meta pieces at their ids, and learned pieces at all others.

    Raises:
        TrainingError: there are too few pieces (``hard_vocab_limit``).
        OptionError: a learned piece is also a symbol, or an id is beyond the last piece.
    """
    missing = size - len(meta) - len(pieces)
    if missing > 0 and options.hard_vocab_limit:
        raise TrainingError(
            f"vocab_size is {size:,}, but the text yields only {size - missing:,} pieces: set it "
            f"to {size - missing} or less, or hard_vocab_limit=False"
        )
    if missing > 0:
        warn(
            f"the text yields only {size - missing:,} of {size:,} pieces. Use more text, or a "
            "smaller vocab_size"
        )
    size -= missing
    if (last := max(meta)) >= size:
        raise OptionError(f"piece {meta[last][0]!r} has id {last}, but there are {size} pieces")
    twice = {piece for piece, _ in pieces} & {piece for piece, _ in meta.values()}
    if twice:
        raise OptionError(f"{min(twice)!r} is a symbol and a character of the text's alphabet")
    control = {piece: i for i, (piece, kind) in meta.items() if kind == PieceType.CONTROL}
    learned = iter(pieces)
    rows = [
        (*meta[i], 0.0) if i in meta else _normal(*next(learned))
        for i in range(size)
    ]  # fmt: skip
    return Vocabulary(
        vocab=tuple(piece.encode() for piece, _, _ in rows),
        scores=np.array([score for _, _, score in rows], np.float32).astype(np.float64),
        types=np.array([kind for _, kind, _ in rows], np.uint8),
        unk_id=options.unk_id,
        byte_fallback=options.byte_fallback,
        bos_id=control.get(options.bos_piece),
        eos_id=control.get(options.eos_piece),
        pad_id=control.get(options.pad_piece),
    )


def _normal(piece: str, score: float) -> tuple[str, PieceType, float]:
    return piece, PieceType.NORMAL, score
