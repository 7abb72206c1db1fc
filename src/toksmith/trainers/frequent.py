"""Training the models that merge nothing: words and characters, by frequency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from toksmith.arguments import literal, whole
from toksmith.errors import OptionError
from toksmith.framing import Framing
from toksmith.models import LongestMatch, WordLevel
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.options import Options, framing_of, literals
from toksmith.trainers.record import Trained


@dataclass(frozen=True)
class CharOptions(Options):
    """The options of ``model="char"``.

    Attributes:
        unk_token: what stands for any other character; its id is 0.
        special_tokens: their ids follow the model's.
        min_frequency: characters that stand in the text less often are unknown.

    Raises:
        OptionError: an option is out of range.
    """

    unk_token: str = "<UNK>"
    special_tokens: Sequence[str] = ()
    min_frequency: int = 1

    def __post_init__(self) -> None:
        literal("unk_token", self.unk_token)
        whole("min_frequency", self.min_frequency, least=1)
        object.__setattr__(self, "special_tokens", literals(self.special_tokens))


@dataclass(frozen=True)
class WordOptions(CharOptions):
    """The options of ``model="word"``.

    Attributes:
        unk_token: what stands for any other word; its id is 0.
        special_tokens: their ids follow the model's.
        min_frequency: words that stand in the text less often are unknown.
        split: what is a word, as for ``"bpe"``; white space belongs to words.

    Raises:
        OptionError: an option is out of range.
    """

    unk_token: str = "<unk>"
    split: str | None = "gpt4"


def train_words(corpus: Corpus, vocab_size: int | None, options: WordOptions) -> Trained:
    """Take the most frequent words; of equal ones, by code points.

    Raises:
        TrainingError: there is no text.
    """
    cut = splitter(options.split) if corpus.counts is None else corpus.counts.splitter
    counted = Counter[str]()
    for chunk, count in corpus.chunks(cut):
        counted[chunk.decode("utf-8", "replace")] += count
    model = WordLevel(_vocabulary(counted, vocab_size, options), unk_id=0)
    return _trained(Pipeline(model, cut, _framing(model, options)), counted, options)


def train_characters(corpus: Corpus, vocab_size: int | None, options: CharOptions) -> Trained:
    """Take the most frequent characters; of equal ones, by code points.

    Raises:
        TrainingError: there is no text.
    """
    counted: Counter[str] = Counter()
    for chunk, count in corpus.chunks(splitter("gpt2")):
        for character in chunk.decode("utf-8", "replace"):
            counted[character] += count
    model = LongestMatch(_vocabulary(counted, vocab_size, options), unk_id=0)
    return _trained(Pipeline(model, None, _framing(model, options)), counted, options)


def _vocabulary(
    counted: Mapping[str, int], vocab_size: int | None, options: CharOptions
) -> tuple[bytes, ...]:
    room = None
    if vocab_size is not None:
        room = vocab_size - 1 - len(options.special_tokens)
        if room < 1:
            raise OptionError(
                f"vocab_size is {vocab_size}: it must hold the unknown token, "
                f"{len(options.special_tokens)} special tokens and one token of the text"
            )
    frequent = [token for token, count in counted.items() if count >= options.min_frequency]
    frequent.sort(key=lambda token: (-counted[token], token))
    tokens = [token for token in frequent[:room] if token != options.unk_token]
    return tuple(token.encode() for token in (options.unk_token, *tokens))


def _framing(model: WordLevel | LongestMatch, options: CharOptions) -> Framing:
    return framing_of(options.special_tokens, len(model.vocab))


def _trained(pipeline: Pipeline, counted: Mapping[str, int], options: CharOptions) -> Trained:
    return Trained(
        pipeline,
        vocab_size=len(pipeline.model.vocab) + len(options.special_tokens),
        chunks=len(counted),
        tokens=sum(counted.values()),
        options=asdict(options),
    )
