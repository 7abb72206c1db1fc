"""Counted words for the models that do not come from SentencePiece.

If there is no normalizer and the splitter is a pattern, its chunks are the words. Otherwise
``words_of_lines`` counts the words if the splitter drops white space and the normalizer looks at
no text across it, and ``words_of_documents`` counts all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from toksmith.engine.counting import ChunkCounter, CountedChunks, Take
from toksmith.errors import TrainingError
from toksmith.normalizers import Normalizer
from toksmith.splitters import PatternSplitter, Splitter
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.symbol_words import WordStream, is_utf8
from toksmith.trainers.counting.word_feeds import Feed, add_words, counted_words, passed_words
from toksmith.trainers.counting.words_of_documents import document_feed
from toksmith.trainers.counting.words_of_lines import can_feed_lines, line_feed

if TYPE_CHECKING:
    from typing_extensions import Unpack

_REPLACEMENT = "\ufffd".encode()


def count_words(corpus: Corpus, normalizer: Normalizer, splitter: Splitter | None) -> Counts:
    """Return the count of each word of a corpus, in a deterministic order.

    Args:
        corpus: the text; counts are counts of documents.
        normalizer: the normalizer of documents.
        splitter: the splitter of documents into words.

    Raises:
        TrainingError: there is no text, or it holds no word.
        OptionError: the words exceed the memory limit.
    """
    words = _count_words(corpus, normalizer, splitter)
    corpus.check_bytes()
    corpus.check_left(len(words))
    if not len(words):
        raise TrainingError("there is nothing to train on: the corpus holds no words")
    return words


def _count_words(corpus: Corpus, normalizer: Normalizer, splitter: Splitter | None) -> Counts:
    if corpus.given_counts is None and _can_feed_chunks(splitter, normalizer):
        counts = corpus.chunks(splitter)
        if is_utf8(counts):
            return counts
        return counted_words(lambda counter: add_words(counter, _decoded(counts)), corpus.limits)
    with _word_feed(corpus, normalizer, splitter) as feed:
        return counted_words(feed, corpus.limits)


@contextmanager
def stream_words(
    corpus: Corpus, normalizer: Normalizer, splitter: Splitter | None
) -> Iterator[WordStream]:
    """Count the words of a corpus, which need not fit into memory.

    Args:
        corpus: as all others in :func:`count_words`.
        normalizer: the normalizer.
        splitter: the splitter.

    Raises:
        TrainingError: there is no text, or it holds no word.
    """

    def feed(counter: ChunkCounter) -> None:
        with _word_feed(corpus, normalizer, splitter) as add:
            add(counter)
        corpus.check_bytes()

    with passed_words(feed, corpus.limits) as pass_on:
        words = WordStream(pass_on)
        corpus.check_left(len(words))
        if not len(words):
            raise TrainingError("there is nothing to train on: the corpus holds no words")
        yield words
        words.close()


@contextmanager
def stream_chunks_as_words(
    corpus: Corpus, splitter: PatternSplitter | None
) -> Iterator[WordStream]:
    """Count chunks of text, with U+FFFD for invalid UTF-8; they need not fit into memory.

    Args:
        corpus: the text; counts are counts of chunks.
        splitter: the splitter of documents into chunks.

    Raises:
        TrainingError: there is no text.
    """

    def feed(counter: ChunkCounter) -> None:
        with corpus.stream(splitter) as counts:
            counts.pass_on(partial(_add_utf8, counter))

    with passed_words(feed, corpus.limits) as pass_on:
        yield WordStream(pass_on)


def pass_utf8_chunks(corpus: Corpus, splitter: PatternSplitter | None, take: Take) -> None:
    """Call a function with chunks of text, with U+FFFD for invalid UTF-8, in any order.

    Args:
        corpus: the text; counts are counts of chunks.
        splitter: the splitter of documents into chunks.
        take: called with batches; a chunk comes once.

    Raises:
        TrainingError: there is no text.
    """

    def feed(others: ChunkCounter) -> None:
        """Pass on valid chunks; those that may become equal go to a counter."""

        def pass_valid(*counted: Unpack[CountedChunks]) -> None:
            counts = Counts(*counted)
            if _REPLACEMENT not in counted[0] and is_utf8(counts):
                take(*counted)
                return
            valid: dict[bytes, int] = {}
            changed: list[tuple[str, int]] = []
            for chunk, count in counts:
                text = chunk.decode("utf-8", "replace")
                if "\ufffd" in text:
                    changed.append((text, count))
                else:
                    valid[chunk] = count
            of_valid = Counts.of(valid)
            take(of_valid.chunks, of_valid.ends, of_valid.counts)
            add_words(others, changed)

        with corpus.stream(splitter) as counts:
            counts.pass_on(pass_valid)

    with passed_words(feed, corpus.limits) as pass_on:
        pass_on(take)


def _can_feed_chunks(
    splitter: Splitter | None, normalizer: Normalizer
) -> TypeGuard[PatternSplitter | None]:
    """Return whether words are chunks of the text, which :func:`_chunk_feed` counts."""
    return not normalizer and isinstance(splitter, PatternSplitter | None)


def _word_feed(
    corpus: Corpus, normalizer: Normalizer, splitter: Splitter | None
) -> AbstractContextManager[Feed]:
    """Count the parts of a corpus; yields a function that passes their words to a counter."""
    if _can_feed_chunks(splitter, normalizer):
        return _chunk_feed(corpus, splitter)
    if can_feed_lines(splitter, normalizer):
        return line_feed(corpus, normalizer, splitter)
    return document_feed(corpus, normalizer, splitter)


@contextmanager
def _chunk_feed(corpus: Corpus, splitter: PatternSplitter | None) -> Iterator[Feed]:
    """Count the chunks of a corpus; yields a function that passes them on as words."""
    if corpus.given_counts is None:
        with corpus.stream(splitter) as counts:
            yield lambda counter: counts.pass_on(partial(_add_utf8, counter))
    else:  # counts of documents, which are not split yet
        with corpus.lines(lambda: ChunkCounter(splitter, corpus.threads)) as found:
            yield lambda counter: found.pass_chunks(counter.add_counted)


def _add_utf8(counter: ChunkCounter, *counted: Unpack[CountedChunks]) -> None:
    """Count chunks, with U+FFFD for invalid UTF-8."""
    counts = Counts(*counted)
    if is_utf8(counts):
        counter.add_counted(*counted)
    else:
        add_words(counter, _decoded(counts))


def _decoded(counts: Counts) -> Iterator[tuple[str, int]]:
    """Yield each chunk, with U+FFFD for invalid UTF-8, and its count."""
    return ((chunk.decode("utf-8", "replace"), count) for chunk, count in counts)
