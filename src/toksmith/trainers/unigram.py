"""Unigram pieces and their scores, from counted words.

``model="unigram"`` is Unigram on words with a ▁ before them, without SentencePiece's normalizer, as
in `tokenizers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise

from toksmith._base.checks import literal, whole
from toksmith._base.lazy import np
from toksmith._base.progress import rounds_progress
from toksmith._base.threads import thread_count
from toksmith.decoders import MetaspaceDecoder
from toksmith.engine.training import SymbolWords, learn_unigram
from toksmith.errors import OptionError, warn
from toksmith.models import PieceType, Unigram
from toksmith.pipeline import Pipeline
from toksmith.reference.piece_rules import SPACE, PieceRules, is_digit
from toksmith.reference.unigram_training import ROOM, UnigramOptions, finish
from toksmith.splitters import Metaspace
from toksmith.tokenizer.training_record import Trained
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.options import ModelOptions, document_fields, framing_of, literals
from toksmith.trainers.sentencepiece_bpe import script_numbers
from toksmith.trainers.symbol_words import CharacterWords
from toksmith.trainers.word_counts import count_words

MOST_CHARACTERS = 1 << 28
"""The maximum total length of the distinct words, in characters; beyond it, the rarest are
left out. Training takes up to about 30 bytes of memory per character."""


def unigram_memory(words: int, size: int) -> int:
    """Return an estimate of the memory of learning pieces in bytes.

    Args:
        words: the number of distinct words.
        size: their total size in bytes.
    """
    # The suffix array and the arcs take 28 bytes a byte of words that share no prefixes, and less
    # otherwise. Seeds take up to 28 more, but their number is limited.
    return 64 * words + 28 * size + 28 * min(size, 4 << 20)


def train_unigram(
    words: CharacterWords,
    vocab_size: int,
    *,
    required: str | None = None,
    meta_pieces: int = 0,
    rules: PieceRules | None = None,
    options: UnigramOptions | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> list[tuple[str, float]]:
    """Learn the pieces of a Unigram model.

    The algorithm is in :mod:`toksmith.reference.unigram_training`. If the distinct words
    have more than ``MOST_CHARACTERS`` in total, the rarest are left out, with a warning.

    Args:
        words: words of known characters; an unknown character separates two words.
        vocab_size: the number of pieces to learn. The result has fewer if the text is too small,
            and more if there are more required characters.
        required: characters that must be pieces, the most frequent first; ``None`` for the
            characters of the words.
        meta_pieces: the number of other pieces of the vocabulary; SentencePiece includes them in
            the size that it prunes to.
        rules: the rules for valid pieces.
        options: the training options.
        threads: the number of threads; ``None`` for the cores this process may use. The result
            does not depend on it.
        progress: whether to show a progress bar; ``None`` if standard error is a terminal.

    Returns:
        Pieces with their scores (each a float32), the best first; ties are sorted by code points.

    Raises:
        OptionError: an option is out of range, or there are no words.

    Example:
        >>> words = CharacterWords.of({"▁low": 5, "▁lower": 2, "▁newer": 6, "▁wider": 3})
        >>> pieces = train_unigram(words, 12, progress=False)
        >>> "".join(piece for piece, score in pieces[:3]), len(pieces)
        ('▁newer▁low▁wider', 12)
    """
    rules, options = rules or PieceRules(), options or UnigramOptions()
    whole("vocab_size", vocab_size, least=1)
    whole("seed_sentencepiece_size", options.seed_sentencepiece_size, least=1)
    whole("num_sub_iterations", options.num_sub_iterations, least=1)
    if not 0 < options.shrinking_factor < 1:
        raise OptionError(
            f"shrinking_factor is {options.shrinking_factor}: use a number between 0 and 1"
        )
    if not len(words):
        raise OptionError("there are no words to train on")
    if required is None:
        counts = words.character_counts()
        order = np.argsort(-counts.astype(np.float64), kind="stable")
        required = "".join(words.characters[i] for i in order)
    with rounds_progress(progress) as report:
        learned = learn_unigram(
            _frequent(words.words),
            scripts=script_numbers(words.characters, rules),
            spaces=[character == SPACE for character in words.characters],
            digits=[is_digit(character) for character in words.characters],
            longest=rules.max_sentencepiece_length,
            split_by_script=rules.split_by_unicode_script,
            split_by_space=rules.split_by_whitespace,
            split_digits=rules.split_digits,
            space_as_suffix=rules.treat_whitespace_as_suffix,
            only_spaces=rules.allow_whitespace_only_pieces,
            seeds=options.seed_sentencepiece_size,
            enough=int((vocab_size + meta_pieces) * ROOM),
            shrinking_factor=options.shrinking_factor,
            sub_iterations=options.num_sub_iterations,
            threads=thread_count(threads),
            watch=report,
        )
    text = "".join(map(words.characters.__getitem__, learned.symbols.tolist()))
    ends = np.cumsum(learned.lengths).tolist()
    pieces = (text[start:end] for start, end in pairwise([0, *ends]))
    # Files store scores in float32, so scores are compared as float32.
    scores = learned.scores.astype(np.float32).tolist()
    return finish(dict(zip(pieces, scores, strict=True)), vocab_size, required)


def _frequent(words: SymbolWords) -> SymbolWords:
    """Return the most frequent words, up to ``MOST_CHARACTERS`` characters in total."""
    if len(words.symbols) <= MOST_CHARACTERS:
        return words
    ends = words.ends.astype(np.int64)
    lengths = ends - np.append(0, ends[:-1])
    order = np.argsort(-words.counts.astype(np.float64), kind="stable")
    fit = int(np.searchsorted(np.cumsum(lengths[order]), MOST_CHARACTERS, "right"))
    kept = np.zeros(len(lengths), bool)
    kept[order[:fit]] = True
    warn(
        f"{len(lengths) - fit:,} of {len(lengths):,} distinct words are left out of training, the "
        f"rarest (up to {words.counts[order[fit]]:,} times in the text): the words have more "
        f"than {MOST_CHARACTERS:,} characters in total",
    )
    symbols = words.symbols[np.repeat(kept, lengths)]
    return SymbolWords(
        symbols, np.cumsum(lengths[kept]).astype(np.uint64), words.counts[kept], words.alphabet
    )


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
        metadata={"help": "a list of strings; their ids follow the model's."},
    )
    unk_token: str = field(
        default="<unk>",
        metadata={"help": "the token for unknown characters; its id is 0."},
    )
    max_token_length: int = field(
        default=16,
        metadata={"help": "in characters."},
    )
    seed_sentencepiece_size: int = field(
        default=1_000_000,
        metadata={"help": "the number of substrings to start with."},
    )
    shrinking_factor: float = field(
        default=0.75,
        metadata={"help": "the share of the pieces kept after each round."},
    )
    num_sub_iterations: int = field(
        default=2,
        metadata={"help": "the number of EM steps in each round."},
    )

    def memory_needed(self, chunks: int, size: int) -> int:
        """Return an estimate of the memory that training takes, in bytes."""
        return unigram_memory(chunks, size)

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
            f"the text yields only {size - room + len(pieces):,} of {size:,} tokens. Use more "
            "text, or a smaller vocab_size"
        )
    types = np.full(1 + len(pieces), int(PieceType.NORMAL), np.uint8)
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
