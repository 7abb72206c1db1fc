"""Trains SentencePiece's models: reads sentences, chooses an alphabet, learns pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from toksmith.errors import OptionError
from toksmith.formats.sentencepiece_pipeline import sentencepiece_pipeline
from toksmith.models import SentencePieceBPE, Unigram
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.reference.unigram_training import UnigramOptions
from toksmith.stages.charsmap_rules import charsmap_from_tsv, charsmap_of
from toksmith.tokenizer.training_record import Trained
from toksmith.trainers.checkpoint import checkpoint_of
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.symbol_words import (
    CharacterWords,
    StoredWords,
    WordStream,
    WordStreamPart,
)
from toksmith.trainers.sentencepiece.pieces import learn_pieces
from toksmith.trainers.sentencepiece.sentences import Sentences, read_sentences, stream_sentences
from toksmith.trainers.sentencepiece.vocabulary import (
    MetaPieces,
    alphabet_of,
    meta_pieces,
    vocabulary,
)
from toksmith.trainers.sentencepiece_options import SentencePieceOptions, read_rules
from toksmith.trainers.unigram import UnigramLearner

VOCAB_SIZE = 8000
"""SentencePiece's default vocabulary size."""


def train_sentencepiece_bpe(
    corpus: Corpus, vocab_size: int | None, options: SentencePieceOptions
) -> Trained:
    """Train SentencePiece's BPE.

    Raises:
        OptionError: options contradict each other, or ``vocab_size``.
        TrainingError: there is no text, or too little for ``vocab_size`` pieces.
    """
    size = _size_of(vocab_size, options, "bpe")
    limits = corpus.limits
    with limits.chunk_store() as store:
        words: CharacterWords | StoredWords
        if limits.limit is None:
            text, words = _prepare(corpus, size, options)
        else:
            text, kept = _prepare_stream(
                *(corpus, size, options),
                lambda part: part.pass_symbols(store.add_symbols),
            )
            words = StoredWords(kept, store)
        learned = learn_pieces(
            *(words, text.room, options.rules(), corpus.progress, corpus.threads),
            memory=limits.for_merging,
        )
    in_order = learned.pieces + text.alphabet
    pieces = [(piece, -float(place)) for place, piece in enumerate(in_order)]
    model = SentencePieceBPE(**vocabulary(pieces, text.meta, text.size, options))
    tokens = learned.tokens_after[-1] if learned.pieces else text.tokens
    return _trained(
        model,
        text,
        options,
        tokens=int(tokens),
        merges=len(learned.pieces),
        counts=learned.counts,
        tokens_after=learned.tokens_after,
    )


def train_sentencepiece_unigram(
    corpus: Corpus, vocab_size: int | None, options: SentencePieceOptions
) -> Trained:
    """Train SentencePiece's Unigram model.

    Raises:
        OptionError: options contradict each other, or ``vocab_size``.
        TrainingError: there is no text, or too little for ``vocab_size`` pieces.
    """
    size = _size_of(vocab_size, options, "unigram")
    with UnigramLearner(
        options.rules(),
        UnigramOptions(
            options.seed_sentencepiece_size,
            options.shrinking_factor,
            options.num_sub_iterations,
        ),
        *(corpus.limits, checkpoint_of(corpus), corpus.threads, corpus.progress),
    ) as learner:
        if corpus.limits.limit is None:
            text, words = _prepare(corpus, size, options)
            learner.take(words)
        else:
            text, _ = _prepare_stream(corpus, size, options, learner.take)
        pieces = learner.learn(text.size - len(text.meta), "".join(text.alphabet), len(text.meta))
    model = Unigram(**vocabulary(pieces, text.meta, text.size, options))
    return _trained(model, text, options)


@dataclass(frozen=True, eq=False)
class _Text:
    """The input of learning pieces, besides the words.

    Attributes:
        sentences: the sentences of the corpus.
        alphabet: the characters that become pieces, the most frequent first.
        meta: the pieces that are not learned.
        size: the number of pieces of the model.
        normalizer: the normalizer of the text.
    """

    sentences: Sentences
    alphabet: list[str]
    meta: MetaPieces
    size: int
    normalizer: SentencePieceNormalizer

    @property
    def room(self) -> int:
        """The number of pieces to learn besides the characters."""
        return self.size - len(self.meta) - len(self.alphabet)

    @property
    def tokens(self) -> int:
        """The number of characters of the text that are in the alphabet."""
        words, known = self.sentences.words, set(self.alphabet)
        counts = zip(words.characters, words.character_counts().tolist(), strict=True)
        return sum(count for character, count in counts if character in known)


def _size_of(vocab_size: int | None, options: SentencePieceOptions, model_type: str) -> int:
    """Return the number of pieces, after a check of the model's type."""
    if options.model_type not in (None, model_type):
        raise OptionError(
            f"model_type is {options.model_type!r}, but model= means {model_type!r}: leave it out"
        )
    return VOCAB_SIZE if vocab_size is None else vocab_size


def _prepare(
    corpus: Corpus, size: int, options: SentencePieceOptions
) -> tuple[_Text, CharacterWords]:
    """Read the text; returns also the parts of its words that the alphabet spells."""
    meta, normalizer, symbols = _settings(size, options)
    sentences = read_sentences(corpus, options, normalizer, symbols)
    text = _text_of(sentences, meta, size, normalizer, options)
    assert not isinstance(sentences.words, WordStream)
    return text, sentences.words.only("".join(text.alphabet))


def _prepare_stream(
    corpus: Corpus,
    size: int,
    options: SentencePieceOptions,
    take: Callable[[WordStreamPart], object],
) -> tuple[_Text, str]:
    """Read the text as :func:`_prepare` does, but pass the words to a function.

    Returns:
        The text, and the characters of the words.
    """
    meta, normalizer, symbols = _settings(size, options)
    with stream_sentences(corpus, options, normalizer, symbols) as (sentences, words):
        text = _text_of(sentences, meta, size, normalizer, options)
        part = words.only("".join(text.alphabet))
        take(part)
    return text, part.characters


def _settings(
    size: int, options: SentencePieceOptions
) -> tuple[MetaPieces, SentencePieceNormalizer, list[str]]:
    """Return the pieces that are not learned, the normalizer, and symbols that end words."""
    meta = meta_pieces(options)
    if len(meta) >= size:
        raise OptionError(f"vocab_size is {size}: it must be larger than the {len(meta)} symbols")
    return meta, normalizer_of(options), [piece for piece, _ in meta.values()]


def _text_of(
    sentences: Sentences,
    meta: MetaPieces,
    size: int,
    normalizer: SentencePieceNormalizer,
    options: SentencePieceOptions,
) -> _Text:
    alphabet = alphabet_of(sentences.words, options)
    text = _Text(sentences, alphabet, meta, size, normalizer)
    if text.room < 0:
        raise OptionError(
            f"vocab_size is {size}, less than the {len(alphabet)} characters of the alphabet and "
            f"{len(meta)} symbols: use {size - text.room} or more, or a lower character_coverage"
        )
    return text


def normalizer_of(options: SentencePieceOptions) -> SentencePieceNormalizer:
    """Return the normalizer of each sentence."""
    name: str = options.normalization_rule_name
    if options.normalization_rule_tsv:
        name = ""
        charsmap = map_of("normalization_rule_tsv", options.normalization_rule_tsv)
    else:
        charsmap = charsmap_of(name)
    symbols = sorted(options.user_defined_symbols, key=lambda symbol: (-len(symbol), symbol))
    return SentencePieceNormalizer(
        charsmap,
        options.add_dummy_prefix,
        options.remove_extra_whitespaces,
        options.escape_whitespaces,
        options.treat_whitespace_as_suffix,
        tuple(symbols),
        name,
    )


def map_of(name: str, path: str) -> bytes:
    """Return the compiled map of a file of rules; that option is called ``name``."""
    return charsmap_from_tsv(read_rules(name, path)) if path else b""


def _trained(
    model: SentencePieceBPE | Unigram, text: _Text, options: SentencePieceOptions, **figures: Any
) -> Trained:
    pipeline = sentencepiece_pipeline(
        model,
        text.normalizer,
        unk_surface=options.unk_surface,
        denormalizer=map_of("denormalization_rule_tsv", options.denormalization_rule_tsv),
    )
    return Trained(
        pipeline,
        vocab_size=len(model.vocab),
        chunks=len(text.sentences.words),
        options=asdict(options),
        skipped=text.sentences.skipped,
        **figures,
    )
