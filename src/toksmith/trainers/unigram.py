"""Unigram pieces and their scores, from counted words.

``model="unigram"`` is Unigram on words with a ▁ before them, without SentencePiece's normalizer, as
in `tokenizers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypedDict

from toksmith._base.checks import literal, whole
from toksmith._base.lazy import np
from toksmith._base.progress import rounds_progress
from toksmith._base.sizes import format_size
from toksmith._base.threads import thread_count
from toksmith.decoders import MetaspaceDecoder
from toksmith.engine.training import UnigramWords, unigram_memory
from toksmith.errors import OptionError, warn
from toksmith.models import PieceType, Unigram
from toksmith.pipeline import Pipeline
from toksmith.reference.piece_rules import PieceRules
from toksmith.reference.unigram_training import ROOM, UnigramOptions, finish
from toksmith.splitters import Metaspace
from toksmith.tokenizer.training_record import Trained
from toksmith.trainers import checkpoint as checkpoints
from toksmith.trainers.checkpoint import Checkpoint, checkpoint_of
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.symbol_words import CharacterWords, PassableWords, WordStream
from toksmith.trainers.counting.words import count_words, stream_words
from toksmith.trainers.memory import MemoryLimits
from toksmith.trainers.options import ModelOptions, document_fields, framing_of, literals

if TYPE_CHECKING:
    from typing_extensions import Unpack


class LearnerKeywords(TypedDict, total=False):
    """The arguments of :class:`UnigramLearner` by name."""

    rules: PieceRules | None
    options: UnigramOptions | None
    limits: MemoryLimits | None
    checkpoint: Checkpoint | None
    threads: int | None
    progress: bool | None


class UnigramLearner:
    """Learns the pieces of a Unigram model. Use it in a ``with`` block.

    The algorithm is in :mod:`toksmith.reference.unigram_training`. Words are taken first and
    learned from afterwards, so that their source can be freed in between. What exceeds the memory
    limit is in a temporary file.

    Args:
        rules: the rules for valid pieces.
        options: the training options.
        limits: the memory limit.
        checkpoint: the folder that pieces are written to, and first read from.
        threads: the number of threads; ``None`` for the cores this process may use. The result
            does not depend on it.
        progress: whether to show a progress bar; ``None`` if standard error is a terminal.

    Raises:
        OptionError: an option is out of range, or the memory limit too small for any pieces.
    """

    def __init__(
        self,
        rules: PieceRules | None = None,
        options: UnigramOptions | None = None,
        limits: MemoryLimits | None = None,
        checkpoint: Checkpoint | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self._rules, self._options = rules or PieceRules(), options or UnigramOptions()
        whole("seed_sentencepiece_size", self._options.seed_sentencepiece_size, least=1)
        whole("num_sub_iterations", self._options.num_sub_iterations, least=1)
        if not 0 < self._options.shrinking_factor < 1:
            raise OptionError(
                f"shrinking_factor is {self._options.shrinking_factor}: use a number between 0 "
                "and 1"
            )
        self._limits, self._checkpoint = limits or MemoryLimits(), checkpoint
        self._threads, self._progress = thread_count(threads), progress
        self._check_least_memory()

    def __enter__(self) -> UnigramLearner:
        self._stack = ExitStack()
        self._file = self._stack.enter_context(self._limits.block_file())
        return self

    def __exit__(self, *raised: Any) -> bool | None:
        return self._stack.__exit__(*raised)

    def take(self, words: PassableWords) -> None:
        """Take words of known characters; an unknown character separates two words.

        Raises:
            OptionError: there are no words, or they cannot be learned from within the memory limit.
            FormatError: the pieces in the checkpoint are damaged.
        """
        if not words.characters:
            raise OptionError("there are no words to train on")
        self._characters = words.characters
        kept = self._checkpoint
        self._start = kept.pieces(len(self._characters)) if kept else None
        self._words = UnigramWords(
            self._characters,
            self._rules,
            threads=self._threads,
            memory=self._limits.for_pieces,
            file=self._file,
            has_pieces=self._start is not None,
        )
        try:
            words.pass_symbols(self._words.add)
        except ValueError as wrong:
            if "2^32" not in str(wrong):
                raise
            raise OptionError(f"{wrong}: give memory=, which keeps them in a file") from wrong
        self._words.finish()
        self._check_memory()

    def _check_least_memory(self) -> None:
        """Refuse, before any text is counted, a limit that is too small for even one piece."""
        limits, size = self._limits, self._options.seed_sentencepiece_size
        if limits.limit is None or unigram_memory(1) <= limits.for_pieces:
            return
        raise OptionError(
            f"memory={format_size(limits.limit)} is too small to learn Unigram pieces, which take "
            f"{format_size(unigram_memory(1))} at least: give more memory "
            f"(memory={limits.limit_for(unigram_memory(size))} for "
            f"seed_sentencepiece_size={size}){limits.files.kept()}"
        )

    def _check_memory(self) -> None:
        if self._limits.limit is None:
            return
        if self._start is None:
            seeds = min(self._options.seed_sentencepiece_size, self._words.substrings)
        else:
            seeds = len(self._start.pieces.lengths)
        held, others = self._limits.for_pieces, len(self._characters)
        needed = unigram_memory(seeds + others)
        if needed <= held:
            return
        of_piece = unigram_memory(1) - unigram_memory(0)
        fit = (held - unigram_memory(others)) // of_piece
        less = f", or seed_sentencepiece_size={fit}" if fit > 0 and self._start is None else ""
        raise OptionError(
            f"the {seeds:,} substrings to start with take about {format_size(needed)}, more than "
            f"the {format_size(held)} that memory={format_size(self._limits.limit)} leaves them: "
            f"give more memory (memory={self._limits.limit_for(needed)}){less}"
            f"{self._limits.files.kept()}"
        )

    def learn(
        self, vocab_size: int, required: str, meta_pieces: int = 0
    ) -> list[tuple[str, float]]:
        """Learn the pieces; the words are used up.

        Args:
            vocab_size: the number of pieces to learn. The result has fewer if the text is too
                small, and more if there are more required characters.
            required: characters that must be pieces, the most frequent first.
            meta_pieces: the number of other pieces of the vocabulary; SentencePiece includes them
                in the size that it prunes to.

        Returns:
            Pieces with their scores (each a float32), the best first; ties are sorted by code
            points.

        Raises:
            OptionError: ``vocab_size`` is out of range.
        """
        whole("vocab_size", vocab_size, least=1)
        with rounds_progress(self._progress) as report:
            learned = self._words.learn(
                seeds=self._options.seed_sentencepiece_size,
                enough=int((vocab_size + meta_pieces) * ROOM),
                shrinking_factor=self._options.shrinking_factor,
                sub_iterations=self._options.num_sub_iterations,
                watch=report,
                keep=self._checkpoint.keep_pieces if self._checkpoint else None,
                keep_seconds=checkpoints.SECONDS,
                start=self._start,
            )
        self._limits.spilled += self._words.spilled
        text = "".join(map(self._characters.__getitem__, learned.symbols.tolist()))
        ends = np.cumsum(learned.lengths).tolist()
        pieces = (text[start:end] for start, end in pairwise([0, *ends]))
        # Files store scores in float32, so scores are compared as float32.
        scores = learned.scores.astype(np.float32).tolist()
        return finish(dict(zip(pieces, scores, strict=True)), vocab_size, required)


def train_unigram(
    words: CharacterWords | WordStream,
    vocab_size: int,
    *,
    required: str | None = None,
    meta_pieces: int = 0,
    **options: Unpack[LearnerKeywords],
) -> list[tuple[str, float]]:
    """Learn the pieces of a Unigram model from words.

    Args:
        words: as in :meth:`UnigramLearner.take`.
        vocab_size: as in :meth:`UnigramLearner.learn`.
        required: the same; ``None`` for the characters of the words.
        meta_pieces: the same.
        options: those of :class:`UnigramLearner`.

    Returns:
        Pieces with their scores, as :meth:`UnigramLearner.learn` returns them.

    Raises:
        OptionError: an option is out of range, or there are no words.

    Example:
        >>> words = CharacterWords.of({"▁low": 5, "▁lower": 2, "▁newer": 6, "▁wider": 3})
        >>> pieces = train_unigram(words, 12, progress=False)
        >>> "".join(piece for piece, score in pieces[:3]), len(pieces)
        ('▁newer▁low▁wider', 12)
    """
    with UnigramLearner(**options) as learner:
        learner.take(words)
        return learner.learn(
            vocab_size, by_frequency(words) if required is None else required, meta_pieces
        )


def by_frequency(words: CharacterWords | WordStream) -> str:
    """Return the characters of words, the most frequent first."""
    order = np.argsort(-words.character_counts().astype(np.float64), kind="stable")
    return "".join(words.characters[i] for i in order)


VOCAB_SIZE = 8000
_LONGEST = (1 << 15) - 1


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

    def __post_init__(self) -> None:
        literal("unk_token", self.unk_token)
        if whole("max_token_length", self.max_token_length, least=1) > _LONGEST:
            raise OptionError(
                f"max_token_length is {self.max_token_length}: a piece of Unigram has at most "
                f"{_LONGEST} characters, so use less"
            )
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
    with UnigramLearner(
        PieceRules(options.max_token_length, split_by_unicode_script=False),
        UnigramOptions(
            options.seed_sentencepiece_size, options.shrinking_factor, options.num_sub_iterations
        ),
        *(corpus.limits, checkpoint_of(corpus), corpus.threads, corpus.progress),
    ) as learner:
        with _words_of(corpus) as words:
            room = size - 1 - len(options.special_tokens)
            if room < len(words.characters):
                raise OptionError(
                    f"vocab_size is {size}: it must hold the {len(words.characters)} characters of "
                    f"the text, the unknown token and {len(options.special_tokens)} special tokens"
                )
            learner.take(words)
            required, chunks = by_frequency(words), len(words)
        del words
        pieces = learner.learn(room, required)
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
        chunks=chunks,
        options=asdict(options),
    )


@contextmanager
def _words_of(corpus: Corpus) -> Iterator[CharacterWords | WordStream]:
    """Count the words of a corpus; within a memory limit, they are streamed."""
    if corpus.limits.limit is None:
        yield CharacterWords.of(count_words(corpus, (), Metaspace()))
        return
    with stream_words(corpus, (), Metaspace()) as words:
        yield words
