"""Training of models without merges: the most frequent words or characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from toksmith._base.checks import literal, whole
from toksmith._base.lazy import np
from toksmith.errors import OptionError
from toksmith.framing import Framing
from toksmith.models import LongestMatch, WordLevel
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter
from toksmith.tokenizer.training_record import Trained
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.counts import Counts
from toksmith.trainers.options import ModelOptions, document_fields, framing_of, literals
from toksmith.trainers.word_counts import stream_chunks_as_words, utf8_words


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

    def memory_needed(self, chunks: int, size: int) -> int:
        """Return an estimate of the memory that training takes, in bytes."""
        return 0  # chunks are read in batches


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

    def memory_needed(self, chunks: int, size: int) -> int:
        """Return an estimate of the memory that training takes, in bytes."""
        return 240 * chunks + 3 * size  # measured, if all words are in the vocabulary


def train_words(corpus: Corpus, vocab_size: int | None, options: WordOptions) -> Trained:
    """Make a vocabulary of the most frequent words; ties are sorted by code points.

    Raises:
        TrainingError: there is no text.
    """
    known = corpus.given_counts
    cut = splitter(options.split) if known is None else known.splitter
    counted = utf8_words(corpus.chunks(cut), corpus.limits)
    model = WordLevel(_vocabulary(counted, vocab_size, options), unk_id=0)
    return _trained(Pipeline(model, cut, _framing(model, options)), counted, options)


def train_characters(corpus: Corpus, vocab_size: int | None, options: CharOptions) -> Trained:
    """Make a vocabulary of the most frequent characters; ties are sorted by code points.

    Raises:
        TrainingError: there is no text.
    """
    with stream_chunks_as_words(corpus, splitter("gpt2")) as words:
        found = zip(words.characters, words.character_counts().tolist(), strict=True)
        counted = Counts.of({character.encode(): count for character, count in found})
    model = LongestMatch(_vocabulary(counted, vocab_size, options), unk_id=0)
    return _trained(Pipeline(model, None, _framing(model, options)), counted, options)


def _vocabulary(counted: Counts, vocab_size: int | None, options: CharOptions) -> tuple[bytes, ...]:
    room = None
    if vocab_size is not None:
        room = vocab_size - 1 - len(options.special_tokens)
        if room < 1:
            raise OptionError(
                f"vocab_size is {vocab_size}: it must hold the unknown token, "
                f"{len(options.special_tokens)} special tokens and one token of the text"
            )
    least = options.min_frequency
    if room is not None and room < len(counted):
        # Only the words that may be in the vocabulary become Python objects.
        place = len(counted) - room
        least = max(least, int(np.partition(counted.counts, place)[place]))
    frequent = sorted(counted.filter(least), key=lambda found: (-found[1], found[0]))
    unk_token = options.unk_token.encode()
    return (unk_token, *(token for token, _ in frequent[:room] if token != unk_token))


def _framing(model: WordLevel | LongestMatch, options: CharOptions) -> Framing:
    return framing_of(options.special_tokens, len(model.vocab))


def _trained(pipeline: Pipeline, counted: Counts, options: CharOptions) -> Trained:
    return Trained(
        pipeline,
        vocab_size=len(pipeline.model.vocab) + len(options.special_tokens),
        chunks=len(counted),
        tokens=int(counted.counts.sum()),
        options=asdict(options),
    )
