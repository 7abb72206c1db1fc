"""Sentences for SentencePiece: lines, chosen, counted, normalized, and cut into words.

A corpus has far more words than distinct ones, so the kernel counts the words before they are
normalized, in parallel, and normalizes those of ASCII itself; each other distinct word is
normalized once. That is exact if normalization does nothing across the places where lines are
cut, before a space after a printable ASCII character: SentencePiece's own rules keep both, and
none of their keys holds a space after another character. With other rules, or symbols that hold
spaces, distinct lines are normalized.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from toksmith.engine.counting import CountedLines, LineCounter, PlainRules, make_plain_rules
from toksmith.errors import TrainingError, warn
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.reference.piece_rules import SPACE, PieceRules, is_digit
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.line_counting import DrawnLines, TsvLines
from toksmith.trainers.normalizing import QuickNormalizer
from toksmith.trainers.sentencepiece_options import SentencePieceOptions, reaches_across_words
from toksmith.trainers.sentencepiece_vocabulary import BOUNDARY
from toksmith.trainers.symbol_words import AnyWords, CharacterWords, MixedWords
from toksmith.trainers.weighted_counts import weighted_lines


@dataclass(frozen=True, eq=False)
class Sentences:
    """The sentences that were read.

    Attributes:
        words: the normalized words, counted, those of ASCII in stretches that no piece reaches out
            of; sentences, if they are not cut into words.
        lines: how many sentences that is.
        skipped: how many lines were left out, by reason.
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
        options: which lines to take, and where to cut them.
        normalizer: what is done to each.
        symbols: pieces that are never learned from; each ends a word.

    Raises:
        TrainingError: there is no text.
        OptionError: a line of ``input_format="tsv"`` is no such line.
    """
    has_counts = corpus.counts is not None or options.input_format == "tsv"
    cutter = _Cutter(options, symbols)
    normalize = QuickNormalizer(normalizer)
    plain = None
    if not has_counts and _is_local(options, normalizer, symbols):
        plain = _make_plain_rules(options.rules(), normalize, cutter.symbols)
    found = _counted_lines(corpus, options) if has_counts else _count_lines(corpus, options, plain)
    corpus.check_bytes()
    skipped = {"too_long": found.too_long, "reserved": found.reserved}
    _warn_of_skipped(skipped, options.max_sentence_length)
    words: AnyWords
    if plain:
        words = _words_of_chunks(found, normalize, cutter)
    else:
        words = CharacterWords.of(
            cutter.words((normalize(_decoded(line)), count) for line, count in found.items())
        )
    if not len(words):
        raise TrainingError("there is no text to train on: all lines are empty, or were skipped")
    return Sentences(words, found.lines, {k: v for k, v in skipped.items() if v})


def _counted_lines(corpus: Corpus, options: SentencePieceOptions) -> CountedLines:
    """Return sentences that bring their counts."""
    counted = TsvLines(options.max_sentence_length)
    if corpus.counts is not None:
        counted.add_counts(corpus.counts)
    else:
        if corpus.reading.read_as is None:  # its .tsv has no row of names
            corpus.reading = replace(corpus.reading, read_as="text")
        corpus.read(counted, 'input_format="tsv"')
    return counted.finish()


def _count_lines(
    corpus: Corpus, options: SentencePieceOptions, plain: PlainRules | None
) -> CountedLines:
    """Count the words of lines, or lines, those that were drawn if there is such an option.

    Args:
        corpus: the text.
        options: which lines to take.
        plain: which words the kernel cuts; ``None`` counts whole lines.
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
        return weighted_lines((weight, counter.finish()) for weight, counter in corpus.count(make))
    seed = options.random_seed if options.shuffle_input_sentence else None
    drawn = DrawnLines(options.max_sentence_length, options.input_sentence_size, seed)
    corpus.read(drawn, "input_sentence_size")
    counter = make()
    counter.add_texts(drawn.lines)
    return counter.finish()._replace(too_long=drawn.too_long, reserved=drawn.reserved)


def _is_local(
    options: SentencePieceOptions, normalizer: SentencePieceNormalizer, symbols: Sequence[str]
) -> bool:
    """Whether words can be normalized one by one."""
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
    """Return the rules by which the kernel cuts ASCII text; no piece reaches across these cuts."""
    step = normalize.step
    letters = normalize.ascii_letters()
    letters[ord("\n")] = " " if step.add_dummy_prefix else ""  # a line starts with it
    return make_plain_rules(
        letters,
        lambda letter: (rules.script(letter), is_digit(letter)),
        lambda left, right: left != " " and rules.apart(left, right),
        drop_spaces=step.remove_extra_whitespaces,
        symbols=symbols,
    )


def _words_of_chunks(
    found: CountedLines, normalize: QuickNormalizer, cutter: _Cutter
) -> MixedWords:
    """Normalize and cut chunks of lines (see :class:`~toksmith.engine.counting.LineCounter`)."""
    first = normalize(".").removesuffix(".")  # what a sentence starts with
    others: dict[str, int] = {}
    for data, count in found.items():
        chunk = _decoded(data)
        if chunk[0] == "\n":
            text = normalize(chunk[1:])
        else:  # with something before the space, which is no first one then
            text = normalize("." + chunk).removeprefix(first + ".")
        others[text] = others.get(text, 0) + count
    return MixedWords(found.plain, CharacterWords.of(cutter.words(others.items())), SPACE)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


class _Cutter:
    """Cuts normalized text where no piece reaches across."""

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
        """What is cut out."""
        return [symbol for symbol in (*self._names, self._delimiter) if symbol]


def _word_pattern(options: SentencePieceOptions) -> str:
    """Return the pattern of a word: its ▁ and what follows, or what comes before its ▁."""
    if not options.split_by_whitespace:
        return ".+"
    marks = f"{SPACE}+" if options.allow_whitespace_only_pieces else SPACE
    rest = f"[^{SPACE}]"
    if options.treat_whitespace_as_suffix:
        return f"{rest}*{marks}|{rest}+"
    return f"{marks}{rest}*|{rest}+"


def _warn_of_skipped(skipped: Mapping[str, int], longest: int) -> None:
    if skipped["too_long"]:
        warn(
            f"{skipped['too_long']:,} lines of more than {longest:,} bytes were skipped, as in "
            "SentencePiece; max_sentence_length= says how long they may be",
        )
