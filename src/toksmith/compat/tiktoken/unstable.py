"""Ids at the end of a text that more text may change, and what they may become."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

from toksmith.formats.checks import require_pattern
from toksmith.framing.added import SPACE
from toksmith.pipeline import Pipeline


def last_chunk(pipeline: Pipeline, data: bytes, literals: frozenset[str]) -> bytes:
    """Return the last chunk of a text; nothing if the text ends in a special token.

    Args:
        pipeline: the pipeline with the split pattern and the special tokens.
        data: the text.
        literals: the special tokens that are looked for.
    """
    from toksmith.stages.split_patterns import chunk_spans

    last = b""
    splitter = require_pattern(pipeline, "tiktoken")
    for start, end, token in pipeline.framing.segments(data, literals):
        if token:
            last = b""
            continue
        text = data[start:end]
        for first, after in chunk_spans(splitter, text):
            last = text[first:after]
    return last


def completions(
    rest: bytes,
    tokens: Sequence[bytes],
    ranks: Mapping[bytes, int],
    encode: Callable[[list[str]], list[list[int]]],
    merge: Callable[[list[bytes]], list[list[int]]],
) -> set[tuple[int, ...]]:
    """Return the ids that texts may have which start with some bytes, up to the end of the bytes.

    Each token is tried that covers the last of the bytes, from each place on.

    Args:
        rest: the bytes.
        tokens: all tokens, in the order of their bytes.
        ranks: the id of each token.
        encode: encodes texts.
        merge: encodes bytes that are no text, without splitting them.
    """
    found: set[tuple[int, ...]] = {(ranks[token],) for token in _starting(tokens, rest)}
    texts: list[str] = []
    broken: list[bytes] = []
    for place in range(1, len(rest)):
        for token in _starting(tokens, rest[place:]):
            possible = rest[:place] + token
            try:
                texts.append(possible.decode())
            except UnicodeDecodeError:
                broken.append(possible)
    lengths = {token_id: len(token) for token, token_id in ranks.items()}
    for ids in (*encode(texts), *merge(broken)):
        size = count = 0
        while count < len(ids) and size < len(rest):
            size += lengths[ids[count]]
            count += 1
        found.add(tuple(ids[:count]))
    # White space at the end of a text is a chunk of its own once more text follows.
    space = next((each for each in SPACE if rest.endswith(each)), b"")
    if space and len(space) < len(rest):
        before, after = merge([rest[: -len(space)], space])
        found.add((*before, *after))
    return found


def _starting(tokens: Sequence[bytes], start: bytes) -> Iterator[bytes]:
    """Yield the tokens that start with some bytes."""
    place = bisect_left(tokens, start)
    while place < len(tokens) and tokens[place].startswith(start):
        yield tokens[place]
        place += 1
