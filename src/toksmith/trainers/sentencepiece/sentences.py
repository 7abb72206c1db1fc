"""Sentences for SentencePiece: selects and counts lines, normalizes them, and cuts them into words.

Most words of a corpus repeat. So the kernel counts words before normalization, in parallel, and
normalizes ASCII words itself; each distinct other word is normalized once. The kernel cuts lines
before a space that follows a printable ASCII character. This is exact if normalization never spans
such a place, as with SentencePiece's own rules: they keep both characters, and none of their keys
holds a space after another character. With other rules, or symbols that hold spaces, distinct lines
are normalized instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from toksmith.engine.counting import (
    ChunkCounter,
    CountedChunks,
    LineCounter,
    PlainRules,
    make_plain_rules,
)
from toksmith.errors import TrainingError, warn
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.reference.piece_rules import SPACE, PieceRules, is_digit
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.lines import LineCounts, merged_lines
from toksmith.trainers.counting.symbol_words import AnyWords, CharacterWords, MixedWords, WordStream
from toksmith.trainers.counting.word_feeds import (
    Feed,
    add_words,
    counted_words,
    items_of,
    passed_words,
)
from toksmith.trainers.sentencepiece.line_counters import DrawnLines, TsvLines
from toksmith.trainers.sentencepiece.quick_normalizer import QuickNormalizer
from toksmith.trainers.sentencepiece.vocabulary import BOUNDARY
from toksmith.trainers.sentencepiece_options import SentencePieceOptions, reaches_across_words

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, eq=False)
class Sentences:
    """The counted sentences of a corpus.

    Attributes:
        words: the counts of normalized words (ASCII words in parts that no piece crosses), or of
            whole sentences if they are not cut into words.
        lines: the number of sentences.
        skipped: the number of skipped lines, by reason.
    """

    words: AnyWords
    lines: int
    skipped: dict[str, int]


def read_sentences(
    corpus: Corpus,
    options: SentencePieceOptions,
    normalizer: SentencePieceNormalizer,
    symbols: Sequence[str],
) -> Sentences:
    """Read a corpus as SentencePiece does.

    Args:
        corpus: the text; counts are counts of sentences.
        options: the options that select and cut lines.
        normalizer: the normalizer of each sentence.
        symbols: symbols that are not trained on; each ends a word.

    Raises:
        TrainingError: there is no text.
        OptionError: ``input_format="tsv"``, and a line has another form.
    """
    limits = corpus.limits
    with _feeds(corpus, options, normalizer, symbols) as (found, feed_plain, feed):
        words: AnyWords
        if feed_plain is None:
            words = CharacterWords.of(counted_words(feed, limits))
        else:
            plain = counted_words(feed_plain, limits)
            others = counted_words(feed, limits)
            counted = plain.chunks, plain.ends, plain.counts
            words = MixedWords(counted, CharacterWords.of(others), SPACE)
    return _sentences(words, found, corpus)


@contextmanager
def stream_sentences(
    corpus: Corpus,
    options: SentencePieceOptions,
    normalizer: SentencePieceNormalizer,
    symbols: Sequence[str],
) -> Iterator[tuple[Sentences, WordStream]]:
    """Read a corpus as SentencePiece does; the words need not fit into memory.

    Args:
        corpus: as all others in :func:`read_sentences`.
        options: the options.
        normalizer: the normalizer.
        symbols: the symbols.

    Raises:
        TrainingError: there is no text.
        OptionError: ``input_format="tsv"``, and a line has another form.
    """
    limits = corpus.limits
    with ExitStack() as stack:
        with _feeds(corpus, options, normalizer, symbols) as (found, feed_plain, feed):
            plain = feed_plain and stack.enter_context(passed_words(feed_plain, limits))
            others = stack.enter_context(passed_words(feed, limits))
        words = WordStream(others, plain=plain, space=SPACE)
        yield _sentences(words, found, corpus), words
        words.close()


def _sentences(words: AnyWords, found: LineCounts, corpus: Corpus) -> Sentences:
    corpus.check_left(len(words))
    if not len(words):
        sample = corpus.reading.sample
        advice = "" if sample == 1 else f"; use a larger sample= than {sample:g}, or another seed="
        raise TrainingError(
            f"there is no text to train on: all lines are empty, or were skipped{advice}"
        )
    skipped = {"too_long": found.too_long, "reserved": found.reserved}
    return Sentences(words, found.lines, {k: v for k, v in skipped.items() if v})


@contextmanager
def _feeds(
    corpus: Corpus,
    options: SentencePieceOptions,
    normalizer: SentencePieceNormalizer,
    symbols: Sequence[str],
) -> Iterator[tuple[LineCounts, Feed | None, Feed]]:
    """Count lines; yields them, the feed of plain words, if there are any, and that of others."""
    has_counts = corpus.given_counts is not None or options.input_format == "tsv"
    cutter = _Cutter(options, symbols)
    normalize = QuickNormalizer(normalizer)
    plain = None
    if not has_counts and _is_local(options, normalizer, symbols):
        plain = _make_plain_rules(options.rules(), normalize, cutter.symbols)
    lines = _counted_lines(corpus, options) if has_counts else _count_lines(corpus, options, plain)
    with lines as found:
        corpus.check_bytes()
        _warn_of_skipped(found.too_long, options.max_sentence_length)
        if plain:
            yield (
                found,
                lambda counter: found.pass_plain(counter.add_counted),
                partial(_cut_words, found, _chunk_normalizer(normalize), cutter),
            )
        else:
            yield (
                found,
                None,
                partial(_cut_words, found, lambda line: normalize(_decoded(line)), cutter),
            )


@contextmanager
def _counted_lines(corpus: Corpus, options: SentencePieceOptions) -> Iterator[LineCounts]:
    """Return the sentences and counts of TSV lines, or of existing counts."""
    if corpus.counts is not None:
        counted = TsvLines(options.max_sentence_length)
        with corpus.limits.spill(counted.counter):
            counted.add_counts(corpus.counts)
            corpus.limits.merge_all(counted.counter)
            yield merged_lines(counted)
        return
    if corpus.reading.read_as is None:  # SentencePiece's TSV has no header row
        corpus.reading = replace(corpus.reading, read_as="text")
    with corpus.lines(lambda: TsvLines(options.max_sentence_length), 'input_format="tsv"') as found:
        yield found


def _count_lines(
    corpus: Corpus, options: SentencePieceOptions, plain: PlainRules | None
) -> AbstractContextManager[LineCounts]:
    """Count words, or whole lines, of all lines or of a random sample.

    Args:
        corpus: the text.
        options: the options that select lines.
        plain: the rules by which the kernel cuts words; ``None`` counts whole lines.
    """

    def make() -> LineCounter:
        return LineCounter(
            corpus.threads,
            words=plain is not None,
            longest=options.max_sentence_length,
            skip_reserved=True,
            plain=plain,
        )

    if not options.input_sentence_size:
        return corpus.lines(make)
    seed = options.random_seed if options.shuffle_input_sentence else None
    size = options.input_sentence_size
    return corpus.lines(
        lambda: DrawnLines(options.max_sentence_length, size, seed, make()), "input_sentence_size"
    )


def _is_local(
    options: SentencePieceOptions, normalizer: SentencePieceNormalizer, symbols: Sequence[str]
) -> bool:
    """Return whether words can be normalized one by one."""
    across = (*symbols, options.pretokenization_delimiter)
    return (
        bool(normalizer.name)
        and options.split_by_whitespace
        and not options.treat_whitespace_as_suffix
        and not any(map(reaches_across_words, across))
    )


def _make_plain_rules(
    rules: PieceRules, normalize: QuickNormalizer, symbols: Sequence[str]
) -> PlainRules:
    """Return the rules by which the kernel cuts ASCII text; no piece crosses these cuts."""
    step = normalize.step
    letters = normalize.ascii_letters()
    letters[ord("\n")] = (
        " " if step.add_dummy_prefix else ""
    )  # the dummy prefix at the start of a line
    return make_plain_rules(
        letters,
        lambda letter: (rules.script(letter), is_digit(letter)),
        lambda left, right: left != " " and rules.apart(left, right),
        drop_spaces=step.remove_extra_whitespaces,
        symbols=symbols,
    )


def _chunk_normalizer(normalize: QuickNormalizer) -> Callable[[bytes], str]:
    """Return a normalizer of chunks (see :class:`~toksmith.engine.counting.LineCounter`)."""
    first = normalize(".").removesuffix(".")  # the prefix of a sentence

    def normalized(data: bytes) -> str:
        chunk = _decoded(data)
        if chunk[0] == "\n":
            return normalize(chunk[1:])
        # with something before the space, which is no first one then
        return normalize("." + chunk).removeprefix(first + ".")

    return normalized


def _cut_words(
    found: LineCounts, normalize: Callable[[bytes], str], cutter: _Cutter, counter: ChunkCounter
) -> None:
    """Normalize chunks, cut them into words, and count these."""

    def take(*counted: Unpack[CountedChunks]) -> None:
        texts = ((normalize(chunk), count) for chunk, count in items_of(counted))
        add_words(counter, cutter.words(texts).items())

    found.pass_chunks(take)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


class _Cutter:
    """Cuts normalized text where no piece can cross."""

    def __init__(self, options: SentencePieceOptions, symbols: Sequence[str]) -> None:
        longest_first = sorted(symbols, key=len, reverse=True)
        self._names = longest_first
        self._symbols = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._delimiter = options.pretokenization_delimiter
        self._word = re.compile(_word_pattern(options), re.DOTALL)

    def words(self, texts: Iterable[tuple[str, int]]) -> dict[str, int]:
        """Return the number of occurrences of each word in counted texts."""
        words: dict[str, int] = {}
        for text, count in texts:
            cut = self._symbols.sub(BOUNDARY, text)
            if self._delimiter:
                cut = cut.replace(self._delimiter, BOUNDARY)
            for word in self._word.findall(cut):
                words[word] = words.get(word, 0) + count
        return words

    @property
    def symbols(self) -> list[str]:
        """The symbols, which are removed and end words."""
        return [symbol for symbol in (*self._names, self._delimiter) if symbol]


def _word_pattern(options: SentencePieceOptions) -> str:
    """Return the pattern of a word: ▁ and the characters after it, or before it."""
    if not options.split_by_whitespace:
        return ".+"
    marks = f"{SPACE}+" if options.allow_whitespace_only_pieces else SPACE
    rest = f"[^{SPACE}]"
    if options.treat_whitespace_as_suffix:
        return f"{rest}*{marks}|{rest}+"
    return f"{marks}{rest}*|{rest}+"


def _warn_of_skipped(skipped: int, longest: int) -> None:
    if skipped:
        warn(
            f"{skipped:,} lines of more than {longest:,} bytes were skipped, as in "
            "SentencePiece; raise max_sentence_length= to keep them",
        )
