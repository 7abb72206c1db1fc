"""SentencePiece's BPE on one page: train, encode and decode, with nothing imported from toksmith.

Byte pair encoding once more, as in Llama 2, with three differences. It joins characters, not bytes.
A space is a character like any other, written ``▁``, so the pieces put together are the text. And
the vocabulary holds no merges but pieces with scores: encoding joins the two neighbours that make
the piece of the best score. A character that is no piece becomes its UTF-8 bytes (byte fallback).

Simplified: no normalization, every character of the training text is a piece, and a piece may be
long or mix letters and digits. ``reference/piece_rules.py`` has the rules of the real trainer,
``reference/sentencepiece_bpe_training.py`` and ``reference/sentencepiece_bpe.py`` the rest.

Source: Kudo, Richardson: SentencePiece, EMNLP 2018.

Example:
    >>> vocab = train("low lower lowest slow slower", vocab_size=275)
    >>> list(vocab)[259:267]
    ['lo', 'low', 'lowe', '▁s', 'lower', 'st', '▁low', '▁lowe']
    >>> ids = encode("slowest Ω", vocab)
    >>> [list(vocab)[token] for token in ids]
    ['▁s', 'lowe', 'st', '▁', '<0xCE>', '<0xA9>']
    >>> decode(ids, vocab)
    'slowest Ω'
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

SPECIAL = ["<unk>", "<s>", "</s>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
SPACE = "▁"


def words(line: str) -> list[str]:
    """Return the words of a line; each begins with the space before it."""
    return re.findall("▁[^▁]*", SPACE + line.replace(" ", SPACE))


def train(text: str, vocab_size: int) -> dict[str, float]:
    """Return the score of each piece; its place is its id. Special pieces and bytes come first."""
    counts = Counter(word for line in text.splitlines() if line for word in words(line))
    spelled = {word: list(word) for word in counts}
    characters: Counter[str] = Counter()
    for word, times in counts.items():
        for character in word:
            characters[character] += times
    learned: list[str] = []
    while len(SPECIAL) + len(BYTES) + len(learned) + len(characters) < vocab_size:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, times in counts.items():
            for pair in pairwise(spelled[word]):
                pairs[pair] += times
        if not pairs:
            break  # every word is a single piece
        # Among equals, the short piece goes first, then the one that comes first by code points.
        best = min(pairs, key=lambda p: (-pairs[p], len(p[0] + p[1]), p[0] + p[1]))
        spelled = {word: merge(pieces, best) for word, pieces in spelled.items()}
        learned.append(best[0] + best[1])
    learned += sorted(characters, key=lambda character: (-characters[character], character))
    return dict.fromkeys(SPECIAL + BYTES, 0.0) | {p: -float(i) for i, p in enumerate(learned)}


def merge(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    """Return the pieces with each occurrence of the pair joined, from the left."""
    merged: list[str] = []
    for piece in pieces:
        if merged and (merged[-1], piece) == pair:
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


def encode(text: str, vocab: dict[str, float]) -> list[int]:
    """Return the ids of a text: the neighbours that make the best piece are joined first."""
    ids = {piece: token for token, piece in enumerate(vocab)}
    pieces = list(SPACE + text.replace(" ", SPACE)) if text else []
    while known := [i for i, (a, b) in enumerate(pairwise(pieces)) if a + b in vocab]:
        best = max(known, key=lambda i: vocab[pieces[i] + pieces[i + 1]])  # the leftmost of equals
        pieces[best : best + 2] = [pieces[best] + pieces[best + 1]]
    encoded: list[int] = []
    for piece in pieces:
        if piece in ids:
            encoded.append(ids[piece])
        else:
            encoded += [ids[BYTES[byte]] for byte in piece.encode()]
    return encoded


def decode(ids: list[int], vocab: dict[str, float]) -> str:
    """Return the text of some ids, without the space that ``encode`` put before it."""
    pieces = [list(vocab)[token] for token in ids]
    data = b"".join(bytes([BYTES.index(p)]) if p in BYTES else p.encode() for p in pieces)
    return data.decode(errors="replace").replace(SPACE, " ").removeprefix(" ")
