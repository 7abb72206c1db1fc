"""Training of models without merges: the most frequent words or characters."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from toksmith._base.checks import literal, whole
from toksmith._base.lazy import np
from toksmith._base.visible import count_of
from toksmith.engine.counting import Tallies, UInts
from toksmith.errors import OptionError, TrainingError
from toksmith.framing import Framing
from toksmith.models import LongestMatch, WordLevel
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter
from toksmith.tokenizer.training_record import Trained
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.words import pass_utf8_chunks, stream_chunks_as_words
from toksmith.trainers.memory import MemoryLimits, tallies_of
from toksmith.trainers.options import ModelOptions, document_fields, framing_of, literals


@document_fields
@dataclass(frozen=True)
class CharOptions(ModelOptions):
    """The options of ``model="char"``.

    Raises:
        OptionError: an option is out of range.
    """

    unk_token: str = field(
        default="<UNK>",
        metadata={"help": "the token for all other characters; its id is 0."},
    )
    special_tokens: Sequence[str] = field(
        default=(),
        metadata={"help": "a list of strings; their ids follow the model's."},
    )
    min_frequency: int = field(
        default=1,
        metadata={"help": "characters that occur fewer times are left out."},
    )

    def __post_init__(self) -> None:
        literal("unk_token", self.unk_token)
        whole("min_frequency", self.min_frequency, least=1)
        object.__setattr__(self, "special_tokens", literals(self.special_tokens))


@document_fields
@dataclass(frozen=True)
class WordOptions(CharOptions):
    """The options of ``model="word"``.

    Raises:
        OptionError: an option is out of range.
    """

    unk_token: str = field(
        default="<unk>", metadata={"help": "the token for all other words; its id is 0."}
    )
    min_frequency: int = field(
        default=1, metadata={"help": "words that occur fewer times are left out."}
    )
    split: str | None = field(
        default="gpt4",
        metadata={"help": "the split into words, as for ``bpe``; white space is part of words."},
    )


def train_words(corpus: Corpus, vocab_size: int | None, options: WordOptions) -> Trained:
    """Make a vocabulary of the most frequent words; ties are sorted by code points.

    Raises:
        OptionError: without ``vocab_size``, the vocabulary exceeds the memory limit.
        TrainingError: there is no text, or no word is frequent enough.
    """
    known = corpus.given_counts
    cut = splitter(options.split) if known is None else known.splitter
    words = _MostFrequent(vocab_size, options, corpus.limits)
    if vocab_size is None:
        corpus.limits.expected = _vocabulary_memory
        corpus.limits.expected_least = options.min_frequency
        corpus.limits.advice = "a vocab_size= for the most frequent words alone"
    pass_utf8_chunks(corpus, cut, words.add)
    model = WordLevel(words.vocabulary("word"), unk_id=0)
    return _trained(Pipeline(model, cut, _framing(model, options)), words, options)


def train_characters(corpus: Corpus, vocab_size: int | None, options: CharOptions) -> Trained:
    """Make a vocabulary of the most frequent characters; ties are sorted by code points.

    Raises:
        TrainingError: there is no text, or no character is frequent enough.
    """
    characters = _MostFrequent(vocab_size, options, MemoryLimits())
    with stream_chunks_as_words(corpus, splitter("gpt2")) as words:
        sizes = [len(character.encode()) for character in words.characters]
        ends = np.cumsum(sizes, dtype=np.uint64)
        characters.add(words.characters.encode(), ends, words.character_counts())
    model = LongestMatch(characters.vocabulary("character"), unk_id=0)
    return _trained(Pipeline(model, None, _framing(model, options)), characters, options)


_WORD_BYTES = 240
"""The memory of a word of the vocabulary, besides three times its size. Measured."""

_SORTED = 1 << 12
"""About the number of words that are sorted at once."""

_SLACK = 1 << 12
"""The number of words that are held at least, beyond those of the vocabulary."""


class _MostFrequent:
    """Selects the most frequent words or characters; holds at most twice as many as it needs.

    Args:
        vocab_size: the number of ids; ``None`` selects all words.
        options: the options of the model.
        limits: the memory limit of the vocabulary, if it has all words.

    Attributes:
        chunks: the number of words that were added.
        tokens: the sum of their counts.

    Raises:
        OptionError: ``vocab_size`` leaves no room for a word.
    """

    def __init__(self, vocab_size: int | None, options: CharOptions, limits: MemoryLimits) -> None:
        self._options, self._limits = options, limits
        self._room = None
        if vocab_size is not None:
            self._room = vocab_size - 1 - len(options.special_tokens)
            if self._room < 1:
                raise OptionError(
                    f"vocab_size is {vocab_size}: it must hold the unknown token, "
                    f"{count_of(len(options.special_tokens), 'special token')} and one token of "
                    "the text"
                )
        self._least = options.min_frequency
        self._held: list[tuple[int, bytes]] = []  # the negative count, and the word
        self._kept = self._kept_bytes = self._most = 0
        self._tallies: Tallies | None = None
        self.chunks = self.tokens = 0

    def add(self, words: bytes, ends: UInts, counts: UInts) -> None:
        """Add a batch of words; each comes once."""
        if not len(counts):
            return
        self.chunks += len(counts)
        self.tokens += int(counts.sum())
        self._most = max(self._most, int(counts.max()))
        sizes = np.diff(ends, prepend=np.uint64(0))
        if self._room is not None and self._room < len(counts):
            place = len(counts) - self._room
            self._least = max(self._least, int(np.partition(counts, place)[place]))
        kept = np.flatnonzero(counts >= np.uint64(self._least))
        if self._room is None and self._limits.limit is not None:
            self._kept += len(kept)
            self._kept_bytes += int(sizes[kept].sum())
            more = tallies_of(sizes, counts)
            before = self._tallies or (np.zeros_like(more[0]), np.zeros_like(more[1]))
            self._tallies = before[0] + more[0], before[1] + more[1]
            if _vocabulary_memory(self._kept, self._kept_bytes) > self._limits.limit:
                self._held.clear()  # the rest is counted for the error
                return
        for end, size, count in zip(
            ends[kept].tolist(), sizes[kept].tolist(), counts[kept].tolist(), strict=True
        ):
            self._held.append((-count, words[end - size : end]))
        if self._room is not None and len(self._held) > 2 * self._room + _SLACK:
            self._held = sort_in_parts(self._held)[: self._room]
            self._least = max(self._least, -self._held[-1][0])

    def vocabulary(self, unit: str) -> tuple[bytes, ...]:
        """Return the unknown token, and the words from the most frequent on.

        Args:
            unit: ``"word"`` or ``"character"``, for messages.

        Raises:
            OptionError: the vocabulary exceeds the memory limit.
            TrainingError: no word is frequent enough.
        """
        if self._tallies is not None:
            self._limits.need = _vocabulary_memory
            self._limits.check(self._tallies, self._least)
        if not self._held:
            raise TrainingError(
                f"no {unit} occurs min_frequency={self._options.min_frequency} times: the most "
                f"frequent one occurs {count_of(self._most, 'time')}; use a smaller min_frequency"
            )
        unk_token = self._options.unk_token.encode()
        frequent = sort_in_parts(self._held)[: self._room]
        return (unk_token, *(token for _, token in frequent if token != unk_token))


def sort_in_parts(words: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Return ``sorted(words)``, made in parts, since Ctrl-C does not end ``sorted``."""
    bounds = sorted(words[_SORTED::_SORTED])
    if not bounds:
        return sorted(words)
    parts: list[list[tuple[int, bytes]]] = [[] for _ in range(len(bounds) + 1)]
    for word in words:
        parts[bisect(bounds, word)].append(word)
    return [word for part in parts for word in sorted(part)]


def _vocabulary_memory(words: int, size: int) -> int:
    return _WORD_BYTES * words + 3 * size


def _framing(model: WordLevel | LongestMatch, options: CharOptions) -> Framing:
    return framing_of(options.special_tokens, len(model.vocab))


def _trained(pipeline: Pipeline, selected: _MostFrequent, options: CharOptions) -> Trained:
    return Trained(
        pipeline,
        vocab_size=len(pipeline.model.vocab) + len(options.special_tokens),
        chunks=selected.chunks,
        tokens=selected.tokens,
        options=asdict(options),
    )
