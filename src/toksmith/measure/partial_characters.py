"""Reachability of tokens that hold parts of characters."""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import cycle, islice, product
from random import Random

from toksmith._base.lazy import np
from toksmith.tokenizer import Tokenizer

_TRIES = 96
"""The number of texts that are tried for each token."""

_OF_BLOCK = 16
_BYTES = b"\x80\x90\xa5\xbf"
_NONE = ("Cn", "Cs", "Co")


def find_unreached(
    tok: Tokenizer, parts: Mapping[int, bytes], threads: int | None = None
) -> list[int]:
    """Return the tokens that none of many texts with their bytes is encoded to.

    Args:
        tok: whose tokens.
        parts: the bytes of each, which start or end inside a character.
        threads: ``None`` for the cores this process may use.
    """
    texts = [(i, text) for i, part in parts.items() for text in completions(part)]
    batch = tok.encode_batch([text for _, text in texts], threads=threads)
    wanted = np.repeat(np.array([i for i, _ in texts], np.uint32), np.diff(batch.offsets))
    reached = set(wanted[batch.ids == wanted].tolist())
    return [i for i in parts if i not in reached]


def completions(part: bytes) -> list[str]:
    r"""Return texts whose UTF-8 holds these bytes, of assigned characters if there are such.

    Example:
        >>> "!é" in completions(b"!\xc3"), completions(b"\xff"), completions(b"a\x80b")
        (True, [], [])
    """
    characters = [place for place, byte in enumerate(part) if not _goes_on(byte)]
    if not characters:
        return _holding().get(part, [])
    head, rest = part[: characters[0]], part[characters[0] :]
    befores = _holding().get(b"." + head, []) if head else [""]
    try:
        return [before + rest.decode() for before in befores]
    except UnicodeDecodeError:
        pass
    tail = part[characters[-1] :]
    try:
        middle = part[characters[0] : characters[-1]].decode()
    except UnicodeDecodeError:
        return []
    afters = _holding().get(tail + b".") or _any(tail)
    if not befores or not afters:
        return []
    size = max(len(befores), len(afters))
    pairs = zip(cycle(befores), cycle(afters), strict=False)
    return [before + middle + after for before, after in islice(pairs, size)]


@lru_cache(maxsize=1)
def _holding() -> dict[bytes, list[str]]:
    """Return some characters for each part of their UTF-8, shorter than the whole.

    The key ``b"." + bytes`` has characters that end with these bytes, ``bytes + b"."`` characters
    that start with them.
    """
    rng = Random(0)
    codes: list[int] = []
    for first in range(0x80, sys.maxunicode + 1, 64):  # all but the last byte is the same
        block = [c for c in range(first, first + 64) if unicodedata.category(chr(c)) not in _NONE]
        codes += block if first < 0x800 else rng.sample(block, min(len(block), _OF_BLOCK))
    rng.shuffle(codes)
    found: dict[bytes, list[str]] = defaultdict(list)
    for character in map(chr, codes):
        encoded = character.encode()
        size = len(encoded)
        for end in range(1, size):
            _add(found[encoded[:end] + b"."], character)
            _add(found[b"." + encoded[end:]], character)
        for start in range(1, size):
            for end in range(start + 1, size + 1):
                _add(found[encoded[start:end]], character)
    return dict(found)


def _any(start: bytes) -> list[str]:
    """Return some characters, assigned or not, whose UTF-8 starts with ``start``."""
    ends = (bytes(end) for missing in (1, 2, 3) for end in product(_BYTES, repeat=missing))
    found = ((start + end).decode("utf-8", "ignore") for end in ends)
    return [text for text in found if len(text) == 1 and text.encode().startswith(start)]


def _add(characters: list[str], character: str) -> None:
    if len(characters) < _TRIES:
        characters.append(character)


def _goes_on(byte: int) -> bool:
    """Whether a byte of UTF-8 is not the first of its character."""
    return byte & 0xC0 == 0x80
