"""Models without merges or scores: look up the whole chunk, or take the longest token first.

The word model looks up the whole chunk. The longest match goes through a chunk from left to right:
it takes the longest token that starts at a place, and continues after it. A character that starts
no token is unknown, alone or (``fuse_unk``) together with its unknown neighbours. With a vocabulary
of single characters, this is the character model.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from toksmith.models import LongestMatch, WordLevel
from toksmith.reference import Token
from toksmith.reference.wordpiece import character_places


def encode_whole(model: WordLevel, chunk: bytes) -> list[Token]:
    """Return the one token of a chunk; none for an unknown chunk if the model has no unknown.

    Example:
        >>> model = WordLevel((b"<unk>", b"the"), unk_id=0)
        >>> encode_whole(model, b"the"), encode_whole(model, b"then")
        ([Token(id=1, start=0, end=3)], [Token(id=0, start=0, end=4)])
    """
    found = model.ids.get(chunk, model.unk_id)
    return [] if found is None else [Token(found, 0, len(chunk))]


def encode_longest(model: LongestMatch, chunk: bytes) -> list[Token]:
    """Return the tokens of a chunk, the longest first from left to right.

    Example:
        >>> model = LongestMatch((b"<unk>", b"t", b"h", b"hey"), unk_id=0)
        >>> [model.vocab[token.id] for token in encode_longest(model, b"then they")]
        [b't', b'h', b'<unk>', b'<unk>', b'<unk>', b't', b'hey']
    """
    places = unit_places(model, chunk)
    longest = max(map(len, model.vocab), default=0)
    tokens: list[Token] = []
    at, last = 0, len(places) - 1
    while at < last:
        start, after = places[at], at + 1
        for to in range(min(at + longest, last), at, -1):
            found = model.ids.get(chunk[start : places[to]])
            if found is not None and found != model.unk_id:  # the unknown token has no text
                tokens.append(Token(found, start, places[to]))
                after = to
                break
        else:
            if model.unk_id is not None:
                tokens.append(Token(model.unk_id, start, places[after]))
        at = after
    return _fuse_unknown(tokens, model.unk_id) if model.fuse_unk else tokens


def unit_places(model: LongestMatch, chunk: bytes) -> Sequence[int]:
    """Return the places in a chunk where tokens may start and end.

    Example:
        >>> list(unit_places(LongestMatch(()), "né".encode()))
        [0, 1, 3]
        >>> list(unit_places(LongestMatch((), unit="bytes"), "né".encode()))
        [0, 1, 2, 3]
    """
    return range(len(chunk) + 1) if model.unit == "bytes" else character_places(chunk)


def longer(
    chunk: bytes, places: Sequence[int], longest: int, start: int, end: int
) -> Iterator[bytes]:
    """Yield the texts at a place that are longer than the token found there, the longest first.

    Args:
        chunk: UTF-8.
        places: the starts of its characters, and the end of the last one.
        longest: the number of bytes of the longest token.
        start: the place.
        end: the end of the token that was found; ``start`` if none was.

    Example:
        >>> list(longer(b"then", range(5), 3, 0, 1))
        [b'the', b'th']
    """
    last = bisect_right(places, start + longest)
    for place in reversed(places[bisect_right(places, end) : last]):
        yield chunk[start:place]


def _fuse_unknown(tokens: list[Token], unk_id: int | None) -> list[Token]:
    """Merge adjacent unknown tokens into one."""
    fused: list[Token] = []
    for token in tokens:
        if fused and token.id == unk_id == fused[-1].id:
            fused[-1] = Token(token.id, fused[-1].start, token.end)
        else:
            fused.append(token)
    return fused
