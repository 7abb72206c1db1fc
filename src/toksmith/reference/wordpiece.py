"""WordPiece: a word becomes the longest pieces that fit, from left to right.

Take the longest token that starts the word. Of what is left, take the longest that starts it, out
of those that are marked as not starting a word (``##ing``). Go on to the word's end. If nothing
fits at some place, the word as a whole is unknown: the tokens found before do not count. So is a
word of too many characters. Devlin et al. 2018 (BERT), after Schuster & Nakajima 2012.

Trying all ends at all places takes n² look-ups for a word of n characters. The kernel finds the
same tokens in one pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from toksmith._base.text import byte_sizes
from toksmith.models import WordPiece
from toksmith.reference import Token


class Attempt(NamedTuple):
    """One look-up in the vocabulary.

    Attributes:
        start: where the piece starts in the word, in bytes.
        end: where it ends.
        token: the string that was looked up: the piece, after the prefix unless it starts the word.
        id: its id; ``None`` where there is no such token.
    """

    start: int
    end: int
    token: bytes
    id: int | None


def attempts(model: WordPiece, word: bytes) -> Iterator[Attempt]:
    """Look up one piece after the other; the last attempt fails if the word is unknown.

    Args:
        model: the vocabulary.
        word: UTF-8, of at most ``model.max_characters`` characters.

    Example:
        >>> model = WordPiece((b"[UNK]", b"un", b"##do"), unk_id=0)
        >>> for start, end, token, found in attempts(model, b"undo"):
        ...     print(start, end, token.decode(), found)
        0 4 undo None
        0 3 und None
        0 2 un 1
        2 4 ##do 2
    """
    places = character_places(word)
    prefix = model.prefix.encode()
    at, last = 0, len(places) - 1
    while at < last:
        start = places[at]
        for to in range(last, at, -1):
            piece = word[start : places[to]]
            token = prefix + piece if start else piece
            found = model.ids.get(token)
            yield Attempt(start, places[to], token, found)
            if found is not None:
                break
        else:
            return
        at = to


def encode_word(model: WordPiece, word: bytes) -> list[Token]:
    """Return the tokens of one word.

    Example:
        >>> model = WordPiece((b"[UNK]", b"un", b"##do"), unk_id=0)
        >>> [token.id for token in encode_word(model, b"undo")]
        [1, 2]
        >>> encode_word(model, b"undone")
        [Token(id=0, start=0, end=6)]
    """
    unknown = [Token(model.unk_id, 0, len(word))]
    if len(character_places(word)) - 1 > model.max_characters:
        return unknown
    tokens: list[Token] = []
    for start, end, _, found in attempts(model, word):
        if found is not None:
            tokens.append(Token(found, start, end))
    reached = tokens[-1].end if tokens else 0
    return tokens if reached == len(word) else unknown


def character_places(text: bytes) -> list[int]:
    """Return the start of each character and the end of the last; an invalid byte counts as one.

    Example:
        >>> character_places("aé".encode())
        [0, 1, 3]
    """
    sizes = byte_sizes(text.decode("utf-8", "surrogateescape"))
    return [0, *accumulate(sizes.tolist())]
