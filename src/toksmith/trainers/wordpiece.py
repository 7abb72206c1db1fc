"""Trains WordPiece from counted words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Literal, NamedTuple

from toksmith._base.checks import literal, whole
from toksmith._base.lazy import np, npt
from toksmith.decoders import WordPieceDecoder
from toksmith.engine.training import (
    MergeRules,
    Merges,
    SymbolWords,
    Watch,
    merge_likely,
    merge_symbols,
)
from toksmith.errors import OptionError
from toksmith.framing import AddedToken, Framing, Template
from toksmith.models import WordPiece
from toksmith.normalizers import Bert, Normalizer
from toksmith.pipeline import Pipeline
from toksmith.splitters import BertSplitter, Splitter, WhitespaceSplit, splitter
from toksmith.splitters.names import key_of
from toksmith.tokenizer.training_record import Trained
from toksmith.trainers.bpe_merging import warn_of_end, watch_merges
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.symbol_words import WordStream
from toksmith.trainers.counting.words import stream_words
from toksmith.trainers.options import ModelOptions, choice, document_fields, literals

VOCAB_SIZE = 30_000
OBJECTIVES = ("likelihood", "frequency")
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

_SPARE = 8
"""Extra merges, which replace merges that spell an existing piece ("##" + "###")."""


@document_fields
@dataclass(frozen=True)
class WordPieceOptions(ModelOptions):
    """The options of ``model="wordpiece"``.

    Raises:
        OptionError: an option is out of range.
    """

    objective: Literal["likelihood", "frequency"] = field(
        default="likelihood",
        metadata={
            "help": '``"likelihood"``, count(pair) / (count(left) · count(right)), or '
            '``"frequency"``, as in Hugging Face\'s trainer. See '
            ":mod:`toksmith.reference.wordpiece_training`."
        },
    )
    min_frequency: int = field(
        default=2,
        metadata={
            "help": "a pair that occurs fewer times is never merged. The likelihood prefers rare "
            "pairs, so with it a higher value gives fewer tokens per text, as long as the "
            "vocabulary is filled."
        },
    )
    limit_alphabet: int | None = field(
        default=None,
        metadata={
            "help": "the largest number of characters to keep, the most frequent first; words with "
            "other characters are left out. ``None`` for all."
        },
    )
    initial_alphabet: str = field(
        default="",
        metadata={"help": "characters that are always in the alphabet."},
    )
    special_tokens: Sequence[str] = field(
        default=SPECIAL_TOKENS,
        metadata={
            "help": "a list of strings; their ids come first. ``[CLS]`` and ``[SEP]``, if listed, "
            "frame texts as in BERT."
        },
    )
    unk_token: str = field(
        default="[UNK]",
        metadata={"help": "the token for unknown words; it becomes a special token."},
    )
    prefix: str = field(
        default="##",
        metadata={"help": "the prefix of a piece that continues a word."},
    )
    max_characters: int = field(
        default=100,
        metadata={"help": "the maximum length of a word in characters; longer words are unknown."},
    )
    lowercase: bool = field(
        default=True,
        metadata={"help": "whether to lowercase, as BERT's normalizer does."},
    )
    strip_accents: bool | None = field(
        default=None,
        metadata={"help": "whether to remove accents; ``None`` means as ``lowercase``."},
    )
    normalize: bool = field(
        default=True,
        metadata={"help": "whether to use BERT's normalizer."},
    )
    split: str | None = field(
        default="bert",
        metadata={
            "help": 'the split: ``"bert"`` (drops white space, each punctuation mark is a word), '
            '``"whitespace"``, or a split of ``"bpe"``.'
        },
    )

    def __post_init__(self) -> None:
        choice("objective", self.objective, OBJECTIVES)
        whole("min_frequency", self.min_frequency, least=0)
        whole("max_characters", self.max_characters, least=1)
        if self.limit_alphabet is not None:
            whole("limit_alphabet", self.limit_alphabet, least=1, otherwise=", or None")
        literal("unk_token", self.unk_token)
        literal("prefix", self.prefix)
        special = literals(self.special_tokens)
        if self.unk_token not in special:
            special = (self.unk_token, *special)
        object.__setattr__(self, "special_tokens", special)

    def normalizer(self) -> Normalizer:
        """Return the normalizer of texts."""
        bert = Bert(lowercase=self.lowercase, strip_accents=self.strip_accents)
        return (bert,) if self.normalize else ()

    def splitter(self) -> Splitter | None:
        """Return the splitter of texts into words."""
        name = key_of(self.split) if isinstance(self.split, str) else None
        if name == "bert":
            return BertSplitter()
        if name == "whitespace":
            return WhitespaceSplit()
        return splitter(self.split, also=("bert", "whitespace"))


def train_wordpiece(corpus: Corpus, vocab_size: int | None, options: WordPieceOptions) -> Trained:
    """Merge pairs of pieces inside words, again and again.

    Raises:
        OptionError: ``vocab_size`` is too small for the characters.
        TrainingError: there is no text.
    """
    size = VOCAB_SIZE if vocab_size is None else vocab_size
    special = len(options.special_tokens)
    alphabet, learned, words, start = _learn(corpus, size - special, options)
    room = size - special - len(alphabet)
    pieces, merges = _pieces(alphabet, learned, room, options)
    warn_of_end(len(pieces) + special, size, options.min_frequency)
    tokens_after = learned.tokens_after[:merges]
    model = WordPiece(
        tuple(token.encode() for token in (*options.special_tokens, *pieces)),
        options.special_tokens.index(options.unk_token),
        options.prefix,
        options.max_characters,
    )
    return Trained(
        Pipeline(
            model,
            options.splitter(),
            _framing(options.special_tokens),
            normalizer=options.normalizer(),
            decoder=(WordPieceDecoder(options.prefix),),
        ),
        vocab_size=len(model.vocab),
        chunks=words,
        tokens=int(tokens_after[-1]) if merges else start,
        merges=merges,
        options=asdict(options),
        counts=learned.counts[:merges],
        tokens_after=tokens_after,
    )


class _Learned(NamedTuple):
    """Learned merges.

    Attributes:
        alphabet: the initial pieces.
        merges: the merges, some more than the vocabulary has room for.
        words: the number of distinct words of the text.
        tokens: the number of tokens of the text before the first merge.
    """

    alphabet: list[str]
    merges: Merges
    words: int
    tokens: int


def _learn(corpus: Corpus, size: int, options: WordPieceOptions) -> _Learned:
    """Merge pairs; words that do not fit into memory are in a file."""
    tokens = 0

    def add(batch: SymbolWords) -> None:
        nonlocal tokens
        tokens += int(np.dot(np.diff(batch.ends, prepend=np.uint64(0)), batch.counts))
        store.add_symbols(batch)

    with corpus.limits.chunk_store() as store:
        with stream_words(corpus, options.normalizer(), options.splitter()) as words:
            alphabet = _pass_symbols(words, _alphabet(words, options), options.prefix, add)
        with _watched(corpus, alphabet, size, options) as watch:
            least = max(options.min_frequency, 1)
            merge = (
                partial(merge_likely, min_frequency=least)
                if options.objective == "likelihood"
                else partial(merge_symbols, rules=MergeRules("smallest-pair", least))
            )
            learned = merge(
                store,
                size - len(alphabet) + _SPARE,
                threads=corpus.threads,
                watch=watch,
                memory=corpus.limits.for_merging,
            )
    return _Learned(alphabet, learned, len(words), tokens)


def _watched(
    corpus: Corpus, alphabet: list[str], size: int, options: WordPieceOptions
) -> AbstractContextManager[Watch]:
    """Show the progress of merging, if the alphabet leaves room for merges.

    Raises:
        OptionError: there is no room.
    """
    if len(alphabet) > size:
        special = len(options.special_tokens)
        raise OptionError(
            f"vocab_size is {size + special}: it must hold {special} special tokens and the "
            f"{len(alphabet)} characters of the text; limit_alphabet= takes fewer"
        )
    prefix = options.prefix.encode()

    def join(left: bytes, right: bytes) -> bytes:
        return left + right.removeprefix(prefix)

    letters = [piece.encode() for piece in alphabet]
    return watch_merges(letters, size - len(alphabet), corpus.progress, join=join)


def _alphabet(words: WordStream, options: WordPieceOptions) -> str:
    """Return the characters of the alphabet, by code point."""
    counts = dict(zip(words.characters, words.character_counts().tolist(), strict=True))
    wanted = set(options.initial_alphabet)
    order = sorted(counts.keys() | wanted, key=lambda c: (c not in wanted, -counts.get(c, 0), c))
    return "".join(sorted(order[: options.limit_alphabet]))


def _pass_symbols(
    words: WordStream, characters: str, prefix: str, take: Callable[[SymbolWords], None]
) -> list[str]:
    """Pass on the words that are spelled in some characters; returns the initial pieces."""
    places = {character: place for place, character in enumerate(characters)}
    known = np.array([character in places for character in words.characters], bool)
    is_later = np.zeros(len(known), bool)

    def note_later(batch: SymbolWords) -> None:
        batch = _of_known(batch, known)
        is_first = _firsts(batch)
        is_later[batch.symbols[~is_first]] = True

    words.pass_symbols(note_later)
    later = np.flatnonzero(is_later)
    as_first = np.array([places.get(c, 0) for c in words.characters], np.uint32)
    as_later = np.zeros(len(known), np.uint32)
    as_later[later] = len(characters) + np.arange(len(later))
    alphabet = [*characters, *(prefix + words.characters[i] for i in later.tolist())]

    def convert(batch: SymbolWords) -> None:
        batch = _of_known(batch, known)
        new = np.where(_firsts(batch), as_first[batch.symbols], as_later[batch.symbols])
        take(SymbolWords(new.astype(np.uint32), batch.ends, batch.counts, len(alphabet)))

    words.pass_symbols(convert)
    return alphabet


def _firsts(words: SymbolWords) -> npt.NDArray[np.bool_]:
    """Return which symbols start a word."""
    is_first = np.zeros(len(words.symbols), bool)
    is_first[:1] = True
    is_first[words.ends[:-1].astype(np.int64)] = True
    return is_first


def _of_known(words: SymbolWords, known: npt.NDArray[np.bool_]) -> SymbolWords:
    """Return the words that consist of known symbols alone."""
    if known.all():
        return words
    unknown = np.concatenate([np.zeros(1, np.int64), np.cumsum(~known[words.symbols])])
    ends = words.ends.astype(np.int64)
    sizes = np.diff(ends, prepend=0)
    kept = unknown[ends] == unknown[ends - sizes]
    symbols = words.symbols[np.repeat(kept, sizes)]
    new_ends = np.cumsum(sizes[kept]).astype(np.uint64)
    return SymbolWords(symbols, new_ends, words.counts[kept], words.alphabet)


def _pieces(
    alphabet: list[str], learned: Merges, room: int, options: WordPieceOptions
) -> tuple[list[str], int]:
    """Return the vocabulary, and the number of merges it uses."""
    spelled = list(alphabet)
    pieces = dict.fromkeys(alphabet)
    for done, (left, right, _) in enumerate(learned.merges.tolist()):
        if len(pieces) == len(alphabet) + room:
            return list(pieces), done
        spelled.append(spelled[left] + spelled[right].removeprefix(options.prefix))
        pieces[spelled[-1]] = None
    return list(pieces), len(learned.merges)


def _framing(special_tokens: Sequence[str]) -> Framing:
    added = tuple(AddedToken(token, i) for i, token in enumerate(special_tokens))
    ids = {token.content: token.id for token in added}
    if "[CLS]" not in ids or "[SEP]" not in ids:
        return Framing(added)
    return Framing(added, template=Template.bert(ids["[CLS]"], ids["[SEP]"]))
