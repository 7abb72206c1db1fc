"""Encoding around added tokens: they are found in Python here, and engines find them faster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from toksmith._base.arrays import SpanArray
from toksmith._base.lazy import np
from toksmith._base.text import Text, characters, utf8
from toksmith.engine.compiled import _kernel, is_missing
from toksmith.framing import AddedSearch, AddedToken
from toksmith.framing.added import is_word_character, literal_pattern
from toksmith.results import Batch, LocatedBatch, stack

if TYPE_CHECKING:
    from toksmith.engine import Encoder


def encode_around(
    encoder: Encoder, texts: Sequence[Text], threads: int, added: AddedSearch
) -> Batch:
    """Return the ids of each text, with its added tokens found in Python.

    Args:
        encoder: encodes the text between them.
        texts: the texts.
        threads: the number of threads.
        added: the tokens to find.
    """
    rows = []
    for text in texts:
        data = utf8(text)
        bounds: list[tuple[int, int]] = []
        found: list[tuple[int, AddedToken]] = []  # (number of text parts before it, token)
        for start, end, token in added.segments(data):
            if token:
                found.append((len(bounds), token))
            else:
                bounds.append((start, end))
        slices = np.array(bounds, np.int64).reshape(-1, 2)
        batch = encoder.encode_segments(data, slices, threads, added.within)
        places = batch.offsets[[before for before, _ in found]]
        rows.append(np.insert(batch.ids, places, [token.id for _, token in found]))
    return stack(rows)


def locate_around(
    encoder: Encoder, texts: Sequence[Text], threads: int, added: AddedSearch
) -> LocatedBatch:
    """Return the ids of each text and their spans; arguments as of :func:`encode_around`."""
    parts: list[bytes] = []  # the text between added tokens, of all texts
    starts: list[int] = []
    places: list[tuple[int, int]] = []  # of added tokens
    tokens: list[tuple[int, int]] = []  # (number of parts before it, id) of added tokens
    ends = [(0, 0)]  # the number of parts and of added tokens up to each text
    for text in texts:
        data = utf8(text)
        for start, end, token in added.segments(data):
            if token:
                tokens.append((len(parts), token.id))
                places.append((start, end))
            else:
                parts.append(data[start:end])
                starts.append(start)
        ends.append((len(parts), len(tokens)))
    begin = np.array(starts, np.int64)
    found = encoder.encode_with_spans(parts, threads, (begin > 0).astype(np.uint8), added.within)
    moved: SpanArray = np.repeat(begin, np.diff(found.offsets))[:, None]
    before = found.offsets[[part for part, _ in tokens]]
    parts_up_to, added_up_to = np.array(ends).T
    offsets = found.offsets[parts_up_to] + added_up_to
    byte_spans = np.insert(
        found.byte_spans + moved, before, np.array(places).reshape(-1, 2), axis=0
    )
    spans = [np.zeros((0, 2), np.int64)]
    for text, (first, last) in zip(texts, pairwise(offsets), strict=True):
        spans.append(characters(text, byte_spans[first:last])[1])
    return LocatedBatch(
        np.insert(found.ids, before, [token_id for _, token_id in tokens]),
        offsets,
        byte_spans,
        np.concatenate(spans),
    )


@lru_cache(maxsize=64)
def kernel_search(added: AddedSearch, continues: bool) -> _kernel.AddedTokens | None:
    """Return what finds added tokens in the kernel; ``None`` if they have to be found in Python.

    Args:
        added: the tokens to find.
        continues: whether the text after a token continues its document, or else starts one.
    """
    tokens = added.tokens
    takes_space = any(token.rstrip for token in tokens)
    if (
        added.within
        or added.in_order
        or (takes_space and any(token.content[:1].isspace() for token in tokens))
    ):
        return None
    described = [
        (token.content, token.id, token.single_word, token.lstrip, token.rstrip) for token in tokens
    ]
    return _kernel.AddedTokens(described, continues, lambda code: is_word_character(chr(code)))


@lru_cache(maxsize=64)
def _plain_search(literals: frozenset[str]) -> _kernel.AddedTokens:
    described = [(literal, 0, False, False, False) for literal in literals]
    return _kernel.AddedTokens(described, False, bool)


def first_with(texts: Sequence[Text], literals: frozenset[str]) -> int | None:
    """Return the index of the first text that holds one of the literals; ``None`` if none does.

    Example:
        >>> first_with(["to be", "or <not>"], frozenset({"<not>"}))
        1
    """
    if not literals:
        return None
    if not is_missing:
        return _plain_search(literals).first_text(texts)
    pattern = literal_pattern(literals)
    return next((i for i, text in enumerate(texts) if pattern.search(utf8(text))), None)
