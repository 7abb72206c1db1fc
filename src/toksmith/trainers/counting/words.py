"""Counted words for the models that do not come from SentencePiece.

If the splitter drops white space, the kernel cuts the text at spaces and counts the parts in
parallel. It splits ASCII words itself, and cuts other text wherever neither normalizer nor splitter
looks across; each distinct part is then normalized and split once. This is exact for the
normalizers listed here: none depends on characters across a space that follows a printable ASCII
character, nor on two adjacent ASCII characters.

With other normalizers and splitters, documents are normalized one by one. The kernel counts the
chunks that the first steps of the splitter make, as far as it can run them, and each distinct chunk
goes through the other steps once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from toksmith._base.arrays import Bounds
from toksmith._base.text import Text, decode_utf8
from toksmith.engine.counting import (
    ChunkCounter,
    CountedChunks,
    LineCounter,
    PlainRules,
    Take,
    count_pieces,
    make_plain_rules,
    make_stages,
    valid_utf8,
)
from toksmith.engine.normalized import make_normalizer
from toksmith.engine.split_tables import kernel_splitter
from toksmith.errors import TrainingError, UnsupportedError
from toksmith.normalizers import Bert, Lowercase, Normalizer, StripAccents, UnicodeForm
from toksmith.splitters import (
    LeadingSpace,
    Metaspace,
    PatternSplitter,
    Splitter,
    SplitterSequence,
)
from toksmith.stages.normalize import normalize
from toksmith.stages.split_classes import (
    ALONE,
    REMOVED,
    character_classes,
    iter_chunks,
    marks_only_first,
)
from toksmith.trainers.counting.bulk_splitting import blocks, split_in_bulk
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.symbol_words import WordStream, is_utf8
from toksmith.trainers.counting.word_feeds import add_words, counted_words, items_of, passed_words
from toksmith.trainers.memory import MemoryLimits

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LOCAL_STEPS = (Bert, Lowercase, StripAccents, UnicodeForm)
_MOST_KINDS = 7
"""The most classes of ASCII characters that the kernel splits words by."""


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
    if (
        corpus.given_counts is None
        and not normalizer
        and isinstance(splitter, PatternSplitter | None)
    ):
        return utf8_words(corpus.chunks(splitter), corpus.limits)
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


_REPLACEMENT = "\ufffd".encode()


def _add_utf8(counter: ChunkCounter, *counted: Unpack[CountedChunks]) -> None:
    counts = Counts(*counted)
    if is_utf8(counts):
        counter.add_counted(*counted)
    else:
        add_words(counter, ((chunk.decode("utf-8", "replace"), count) for chunk, count in counts))


@contextmanager
def _word_feed(
    corpus: Corpus, normalizer: Normalizer, splitter: Splitter | None
) -> Iterator[Callable[[ChunkCounter], None]]:
    """Count the parts of a corpus; yields a function that passes their words to a counter."""
    if not normalizer and isinstance(splitter, PatternSplitter | None):
        if corpus.given_counts is None:
            with corpus.stream(splitter) as counts:
                yield lambda counter: counts.pass_on(partial(_add_utf8, counter))
        else:
            with corpus.lines(lambda: ChunkCounter(splitter, corpus.threads)) as found:
                yield lambda counter: found.pass_chunks(counter.add_counted)
        return
    if (
        splitter is not None
        and _drops_spaces(splitter)
        and all(isinstance(step, _LOCAL_STEPS) for step in normalizer)
    ):
        plain = _make_plain_rules(normalizer, splitter)
        stages = make_stages(normalizer, splitter)
        with corpus.lines(lambda: LineCounter(corpus.threads, plain=plain, stages=stages)) as found:

            def add_pieces(counter: ChunkCounter, *chunks: Unpack[CountedChunks]) -> None:
                words = stages and count_pieces(chunks, stages, corpus.threads)
                if words:
                    counter.add_counted(*words)
                else:
                    add_words(counter, _local_words(items_of(chunks), normalizer, splitter))

            def add_lines(counter: ChunkCounter) -> None:
                found.pass_plain(counter.add_counted)
                found.pass_chunks(partial(add_pieces, counter))

            yield add_lines
        return
    first, rest = _kernel_steps(splitter)
    cut = _sequence(rest)
    with corpus.lines(
        lambda: _DocumentCounter(normalizer, first, None if first else cut, corpus.threads)
    ) as found:

        def add_chunks(counter: ChunkCounter, *counted: Unpack[CountedChunks]) -> None:
            if not first or cut is None:  # chunks are words
                counter.add_counted(*counted)
                return
            for block, words in zip(blocks(counted), split_in_bulk(cut, counted), strict=True):
                if words is not None:
                    counter.add_counted(*words)
                    continue
                add_words(
                    counter,
                    (
                        (word, count)
                        for chunk, count in items_of(block)
                        for word in iter_chunks(cut, chunk.decode())
                    ),
                )

        yield lambda counter: found.pass_chunks(partial(add_chunks, counter))


def utf8_words(counts: Counts, limits: MemoryLimits) -> Counts:
    """Return the counts of words in which U+FFFD replaces invalid UTF-8."""
    if is_utf8(counts):
        return counts

    def add(counter: ChunkCounter) -> None:
        add_words(counter, ((chunk.decode("utf-8", "replace"), count) for chunk, count in counts))

    return counted_words(add, limits)


def _words(document: bytes, normalizer: Normalizer, splitter: Splitter | None) -> Iterator[str]:
    return iter_chunks(splitter, normalize(normalizer, decode_utf8(document, "replace")), True)


def _drops_spaces(splitter: Splitter) -> bool:
    """Return whether a splitter goes by classes of characters, and parts words at spaces."""
    classes = character_classes(splitter)
    if classes is None or classes[[ord(" "), ord("\n")]].any():
        return False
    kept = classes[[ord(mark) for mark in _MARKS]] != REMOVED
    return bool(kept.all()) and len({*classes[:128].tolist()} - {REMOVED}) <= _MOST_KINDS


def _make_plain_rules(normalizer: Normalizer, splitter: Splitter) -> PlainRules:
    classes = character_classes(splitter)
    assert classes is not None  # _drops_spaces has looked
    of: list[int] = classes[:128].tolist()
    letters = []
    for code in range(128):
        new = normalize(normalizer, chr(code))
        if len(new) == 1 and new.isascii():
            letters.append(" " if of[ord(new)] == REMOVED else new)
        else:
            letters.append("")

    def apart(left: str, right: str) -> bool:
        return of[ord(left)] != of[ord(right)] or of[ord(left)] == ALONE

    return make_plain_rules(letters, lambda letter: of[ord(letter)], apart)


_BATCH = 4096
_MARKS = "‽⁂⸮‖※⁜"
"""Punctuation marks that a splitter by classes returns unchanged between spaces."""


def _local_words(
    chunks: Iterable[tuple[bytes, int]], normalizer: Normalizer, splitter: Splitter
) -> Iterator[tuple[str, int]]:
    """Normalize and split many chunks in one call, joined by a separator mark."""
    rest = iter(chunks)
    while batch := list(islice(rest, _BATCH)):
        texts = [chunk.decode("utf-8", "replace") for chunk, _ in batch]
        used = set().union(*texts)
        mark = next((mark for mark in _MARKS if mark not in used), None)
        if mark is None:
            for chunk, count in batch:
                yield from ((word, count) for word in _words(chunk, normalizer, splitter))
            continue
        place = 0
        for word in iter_chunks(splitter, normalize(normalizer, f" {mark} ".join(texts)), True):
            if word == mark:
                place += 1
            else:
                yield word, batch[place][1]


def _kernel_steps(
    splitter: Splitter | None,
) -> tuple[tuple[Splitter, ...], tuple[Splitter, ...]]:
    """Return the first steps of a splitter, which the kernel can run, and the others.

    A step that needs to know where a document starts can only be the first one.
    """
    steps = splitter.steps if isinstance(splitter, SplitterSequence) else (splitter,)
    steps = tuple(step for step in steps if step is not None)
    leads = steps[:1] == (LeadingSpace(),)
    if (
        LeadingSpace() in steps[leads:]
        or any(map(marks_only_first, steps))
        or any(isinstance(step, Metaspace) and not step.split for step in steps)
    ):
        return (), steps
    first, rest = steps[:leads], steps[leads:]
    for count in range(len(rest), 0, -1):
        if _runs(rest[:count]):
            first, rest = steps[: leads + count], rest[count:]
            break
    if isinstance(rest[0] if rest else None, Metaspace) and _runs((*first[leads:], _AT_SPACES)):
        first = (*first, _AT_SPACES)  # it cuts where Metaspace will
    return first, rest


_AT_SPACES = PatternSplitter(" [^ ]*|[^ ]+")


def _runs(steps: tuple[Splitter, ...]) -> bool:
    """Return whether the kernel can run steps."""
    try:
        kernel_splitter(_sequence(steps))
    except UnsupportedError:
        return False
    return True


def _sequence(steps: tuple[Splitter, ...]) -> Splitter | None:
    return SplitterSequence(steps) if len(steps) > 1 else steps[0] if steps else None


class _DocumentCounter:
    """Counts the words of documents, or chunks that are not yet split into words.

    Args:
        normalizer: the normalizer of documents.
        first: the steps of the splitter that the kernel runs, perhaps after a ``LeadingSpace``.
        cut: the splitter if the kernel runs none of its steps.
        threads: the number of threads.

    Attributes:
        counter: counts the chunks.
    """

    def __init__(
        self,
        normalizer: Normalizer,
        first: tuple[Splitter, ...],
        cut: Splitter | None,
        threads: int,
    ) -> None:
        self._normalize = make_normalizer(normalizer)
        self._leads = first[:1] == (LeadingSpace(),)
        self._in_kernel = bool(first)
        self._cut = cut
        self.counter = ChunkCounter(_sequence(first[self._leads :]) if first else None, threads)

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""
        documents = [self._normalize(valid_utf8(text)) for text in texts]
        if not self._in_kernel:
            for document in documents:
                self.counter.add_texts([*iter_chunks(self._cut, document.decode())])
            return
        if self._leads:
            documents = [
                text if text.startswith(b" ") or not text else b" " + text for text in documents
            ]
        self.counter.add_texts(documents)

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""
        data = memoryview(text.encode() if isinstance(text, str) else text)
        self.add_texts([data[start:end].tobytes() for start, end in bounds.tolist()])

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the end, because documents are not cut."""
        return end

    def end(self) -> None:
        """Do nothing: nothing is left to be counted."""

    def lines(self) -> tuple[int, int, int]:
        """Return zeros, because lines are not counted."""
        return 0, 0, 0
