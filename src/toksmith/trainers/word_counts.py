"""Counted words for the models that do not come from SentencePiece.

If the splitter drops white space, the kernel cuts the text at spaces and counts the parts in
parallel; each distinct part is normalized and split once. The kernel splits ASCII words itself.
This is exact for the normalizers listed here: none depends on characters across a space that
follows a printable ASCII character, nor on two adjacent ASCII characters. With other normalizers,
documents are processed one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from toksmith._base.arrays import Bounds
from toksmith._base.text import Text, decode_utf8, utf8
from toksmith.engine.counting import LineCounter, PlainRules, UInts, make_plain_rules
from toksmith.errors import TrainingError
from toksmith.normalizers import Bert, Lowercase, Normalizer, StripAccents, UnicodeForm
from toksmith.splitters import PatternSplitter, Splitter
from toksmith.stages.normalize import normalize
from toksmith.stages.split_classes import ALONE, REMOVED, character_classes, iter_chunks
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.weighted_counts import round_count, weighted_lines

_LOCAL_STEPS = (Bert, Lowercase, StripAccents, UnicodeForm)
_MOST_KINDS = 7
"""The most classes of ASCII characters that the kernel splits words by."""


def count_words(
    corpus: Corpus, normalizer: Normalizer, splitter: Splitter | None
) -> dict[str, int]:
    """Return the count of each word of a corpus, in a deterministic order.

    Args:
        corpus: the text; counts are counts of documents.
        normalizer: the normalizer of documents.
        splitter: the splitter of documents into words.

    Raises:
        TrainingError: there is no text, or it holds no word.
    """
    words: Counter[str] = Counter()
    if corpus.counts is not None:
        for document, count in corpus.counts:
            for word in _words(document, normalizer, splitter):
                words[word] += count
    elif not normalizer and (splitter is None or isinstance(splitter, PatternSplitter)):
        for chunk, count in corpus.chunks(splitter):
            words[chunk.decode("utf-8", "replace")] += count
    elif (
        splitter is not None
        and _drops_spaces(splitter)
        and all(isinstance(step, _LOCAL_STEPS) for step in normalizer)
    ):
        plain = _make_plain_rules(normalizer, splitter)
        found = weighted_lines(
            (weight, counter.finish())
            for weight, counter in corpus.count(lambda: LineCounter(corpus.threads, plain=plain))
        )
        words.update(_decoded(*found.plain))
        for word, count in _local_words(found.items(), normalizer, splitter):
            words[word] += count
    else:
        for weight, documents in corpus.count(lambda: _DocumentCounter(normalizer, splitter)):
            for word, count in documents.words.items():
                words[word] += count * weight
        words = Counter(
            {word: round_count(count) for word, count in words.items() if round_count(count)}
        )
    corpus.check_bytes()
    words.pop("", None)
    if not words:
        raise TrainingError("there is nothing to train on: the corpus holds no words")
    return words


def _words(document: bytes, normalizer: Normalizer, splitter: Splitter | None) -> Iterator[str]:
    return iter_chunks(splitter, normalize(normalizer, decode_utf8(document, "replace")), True)


def _drops_spaces(splitter: Splitter) -> bool:
    """Return whether a splitter goes by classes of characters, and parts words at spaces."""
    classes = character_classes(splitter)
    if classes is None or classes[[ord(" "), ord("\n")]].any():
        return False
    kept = classes[[ord(mark) for mark in _MARKS]] != REMOVED
    return bool(kept.all()) and len({*classes[:128].tolist()} - {REMOVED}) <= _MOST_KINDS


def _decoded(text: bytes, ends: UInts, counts: UInts) -> dict[str, int]:
    """Return ASCII words and their counts."""
    words = text.decode("ascii")
    bounds = pairwise([0, *ends.tolist()])
    return dict(zip((words[start:end] for start, end in bounds), counts.tolist(), strict=True))


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


class _DocumentCounter:
    """Counts the words of documents one by one."""

    def __init__(self, normalizer: Normalizer, splitter: Splitter | None) -> None:
        self.words: Counter[str] = Counter()
        self._normalizer, self._splitter = normalizer, splitter

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""
        for text in texts:
            self.words.update(_words(utf8(text), self._normalizer, self._splitter))

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""
        data = memoryview(text.encode() if isinstance(text, str) else text)
        self.add_texts([data[start:end].tobytes() for start, end in bounds.tolist()])

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the end, because documents are not cut."""
        return end
