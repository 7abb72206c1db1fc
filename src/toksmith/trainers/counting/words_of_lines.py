"""Counts the words of a corpus whose splitter drops white space.

The kernel cuts the text at spaces and counts the parts in parallel. It splits ASCII words itself,
and cuts other text wherever neither normalizer nor splitter looks across; each distinct part is
then normalized and split once. This is exact for the normalizers listed here: none depends on
characters across a space that follows a printable ASCII character, nor on two adjacent ASCII
characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeGuard

from toksmith._base.text import decode_utf8
from toksmith.engine.counting import (
    ChunkCounter,
    CountedChunks,
    LineCounter,
    PlainRules,
    count_pieces,
    make_plain_rules,
    make_stages,
)
from toksmith.normalizers import Bert, Lowercase, Normalizer, StripAccents, UnicodeForm
from toksmith.splitters import Splitter
from toksmith.stages.normalize import normalize
from toksmith.stages.split_classes import ALONE, REMOVED, character_classes, iter_chunks
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.word_feeds import Feed, add_words, items_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LOCAL_STEPS = (Bert, Lowercase, StripAccents, UnicodeForm)
_MOST_KINDS = 7
"""The most classes of ASCII characters that the kernel splits words by."""
_BATCH = 4096
"""The number of parts that are normalized and split with one call."""
_MARKS = "‽⁂⸮‖※⁜"
"""Punctuation marks that a splitter by classes returns unchanged between spaces."""


def can_feed_lines(splitter: Splitter | None, normalizer: Normalizer) -> TypeGuard[Splitter]:
    """Return whether :func:`line_feed` can count the words: each is in a part between spaces."""
    return (
        splitter is not None
        and _drops_spaces(splitter)
        and all(isinstance(step, _LOCAL_STEPS) for step in normalizer)
    )


@contextmanager
def line_feed(corpus: Corpus, normalizer: Normalizer, splitter: Splitter) -> Iterator[Feed]:
    """Count the parts of lines between spaces; yields a function that passes on their words."""
    plain = _make_plain_rules(normalizer, splitter)
    stages = make_stages(normalizer, splitter)

    def add_parts(counter: ChunkCounter, *parts: Unpack[CountedChunks]) -> None:
        words = stages and count_pieces(parts, stages, corpus.threads)
        if words:
            counter.add_counted(*words)
        else:
            add_words(counter, _split_parts(items_of(parts), normalizer, splitter))

    with corpus.lines(lambda: LineCounter(corpus.threads, plain=plain, stages=stages)) as found:

        def feed(counter: ChunkCounter) -> None:
            found.pass_plain(counter.add_counted)
            found.pass_chunks(partial(add_parts, counter))

        yield feed


def _drops_spaces(splitter: Splitter) -> bool:
    """Return whether a splitter goes by classes of characters, and parts words at spaces."""
    classes = character_classes(splitter)
    if classes is None or classes[[ord(" "), ord("\n")]].any():
        return False
    kept = classes[[ord(mark) for mark in _MARKS]] != REMOVED
    return bool(kept.all()) and len({*classes[:128].tolist()} - {REMOVED}) <= _MOST_KINDS


def _make_plain_rules(normalizer: Normalizer, splitter: Splitter) -> PlainRules:
    classes = character_classes(splitter)
    assert classes is not None  # can_feed_lines checked it
    kinds: list[int] = classes[:128].tolist()
    letters = []
    for code in range(128):
        new = normalize(normalizer, chr(code))
        if len(new) == 1 and new.isascii():
            letters.append(" " if kinds[ord(new)] == REMOVED else new)
        else:
            letters.append("")

    def apart(left: str, right: str) -> bool:
        return kinds[ord(left)] != kinds[ord(right)] or kinds[ord(left)] == ALONE

    return make_plain_rules(letters, lambda letter: kinds[ord(letter)], apart)


def _split_parts(
    parts: Iterable[tuple[bytes, int]], normalizer: Normalizer, splitter: Splitter
) -> Iterator[tuple[str, int]]:
    """Yield the words of parts, of which many are normalized in one call, joined by a mark."""
    rest = iter(parts)
    while batch := list(islice(rest, _BATCH)):
        texts = [part.decode("utf-8", "replace") for part, _ in batch]
        used = set().union(*texts)
        mark = next((mark for mark in _MARKS if mark not in used), None)
        if mark is None:
            for part, count in batch:
                yield from ((word, count) for word in _split_part(part, normalizer, splitter))
            continue
        place = 0
        for word in iter_chunks(splitter, normalize(normalizer, f" {mark} ".join(texts)), True):
            if word == mark:
                place += 1
            else:
                yield word, batch[place][1]


def _split_part(part: bytes, normalizer: Normalizer, splitter: Splitter) -> Iterator[str]:
    return iter_chunks(splitter, normalize(normalizer, decode_utf8(part, "replace")), True)
