"""Unigram on words with a ▁ before them, without SentencePiece's normalizer (``tokenizers``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from toksmith._base.checks import literal, whole
from toksmith._base.lazy import np
from toksmith.decoders import MetaspaceDecoder
from toksmith.errors import OptionError, warn
from toksmith.models import PieceType, Unigram
from toksmith.pipeline import Pipeline
from toksmith.reference.piece_rules import PieceRules
from toksmith.reference.unigram_training import UnigramOptions
from toksmith.splitters import Metaspace
from toksmith.tokenizer.training_record import Trained
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.options import ModelOptions, document_fields, framing_of, literals
from toksmith.trainers.symbol_words import CharacterWords
from toksmith.trainers.unigram import train_unigram
from toksmith.trainers.word_counts import count_words

VOCAB_SIZE = 8000


@document_fields
@dataclass(frozen=True)
class MetaspaceUnigramOptions(ModelOptions):
    """The options of ``model="unigram"``.

    Raises:
        OptionError: an option is out of range.
    """

    special_tokens: Sequence[str] = field(
        default=(),
        metadata={"help": "their ids follow the model's."},
    )
    unk_token: str = field(
        default="<unk>",
        metadata={"help": "the token of unknown characters; its id is 0."},
    )
    max_token_length: int = field(
        default=16,
        metadata={"help": "in characters."},
    )
    seed_sentencepiece_size: int = field(
        default=1_000_000,
        metadata={"help": "how many substrings to start with."},
    )
    shrinking_factor: float = field(
        default=0.75,
        metadata={"help": "how many of them stay after each round."},
    )
    num_sub_iterations: int = field(
        default=2,
        metadata={"help": "steps of expectation and maximization in each round."},
    )

    def __post_init__(self) -> None:
        literal("unk_token", self.unk_token)
        whole("max_token_length", self.max_token_length, least=1)
        object.__setattr__(self, "special_tokens", literals(self.special_tokens))


def train_metaspace_unigram(
    corpus: Corpus, vocab_size: int | None, options: MetaspaceUnigramOptions
) -> Trained:
    """Learn the pieces of a Unigram model (Kudo 2018); all characters of the text are pieces.

    Raises:
        OptionError: ``vocab_size`` is too small for the characters.
        TrainingError: there is no text.
    """
    size = VOCAB_SIZE if vocab_size is None else vocab_size
    words = CharacterWords.of(count_words(corpus, (), Metaspace()))
    room = size - 1 - len(options.special_tokens)
    if room < len(words.characters):
        raise OptionError(
            f"vocab_size is {size}: it must hold the {len(words.characters)} characters of the "
            f"text, the unknown token and {len(options.special_tokens)} special tokens"
        )
    pieces = train_unigram(
        words,
        room,
        rules=PieceRules(options.max_token_length, split_by_unicode_script=False),
        options=UnigramOptions(
            options.seed_sentencepiece_size, options.shrinking_factor, options.num_sub_iterations
        ),
        threads=corpus.threads,
        progress=corpus.progress,
    )
    if len(pieces) < room:
        warn(
            f"the text only gives {size - room + len(pieces):,} of {size:,} tokens. Use more text, "
            "or a smaller vocab_size"
        )
    types = np.full(1 + len(pieces), PieceType.NORMAL, np.uint8)
    types[0] = PieceType.UNKNOWN
    model = Unigram(
        (options.unk_token.encode(), *(piece.encode() for piece, _ in pieces)),
        np.array([0.0, *(score for _, score in pieces)]),
        types,
        unk_id=0,
        single=False,
    )
    framing = framing_of(options.special_tokens, len(model.vocab))
    return Trained(
        Pipeline(model, Metaspace(), framing, decoder=(MetaspaceDecoder(),)),
        vocab_size=len(model.vocab) + len(options.special_tokens),
        chunks=len(words),
        options=asdict(options),
    )
