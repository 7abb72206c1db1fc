"""Training: counts the chunks of a corpus, and learns a model from the counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from os import fspath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from toksmith._base.checks import whole
from toksmith._base.sizes import parse_size
from toksmith._base.text import Texts
from toksmith.corpus import AnyPath, Reading
from toksmith.corpus.paths import one_path
from toksmith.engine.compiled import is_missing
from toksmith.errors import OptionError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.training_record import Trained, TrainingRecord
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.given_counts import ON_CHUNKS, AnyCounts, check_counts, given_counts
from toksmith.trainers.memory import MemoryLimits, size_of_stream, within_memory
from toksmith.trainers.options import MODEL_DEFAULT, ModelDefault, ModelOptions, choice, options_of
from toksmith.trainers.source_figures import source_records
from toksmith.version import __version__

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from toksmith.trainers.checkpoint import Checkpoint
    from toksmith.trainers.counting.files.sums import SumOfFiles
    from toksmith.trainers.keywords import (
        BPEKeywords,
        CharKeywords,
        CommonKeywords,
        MetaspaceUnigramKeywords,
        SentencePieceKeywords,
        WordKeywords,
        WordPieceKeywords,
    )

__all__ = ["MODELS", "Counts", "TrainingRecord", "train"]

Trainer: TypeAlias = "Callable[[Corpus, int | None, Any], Trained]"
"""Trains on a corpus, up to a number of ids, with the options of its model."""

_PLACES = {
    "bpe": ("bpe", "BPEOptions", "train_bpe"),
    "wordpiece": ("wordpiece", "WordPieceOptions", "train_wordpiece"),
    "unigram": ("unigram", "MetaspaceUnigramOptions", "train_metaspace_unigram"),
    "sentencepiece-bpe": ("sentencepiece", "SentencePieceOptions", "train_sentencepiece_bpe"),
    "sentencepiece-unigram": (
        "sentencepiece", "SentencePieceOptions", "train_sentencepiece_unigram"
    ),
    "word": ("by_frequency", "WordOptions", "train_words"),
    "char": ("by_frequency", "CharOptions", "train_characters"),
}  # fmt: skip


@cache
def _import(name: str) -> tuple[type[ModelOptions], Trainer]:
    module, options, trainer = _PLACES[name]
    found = import_module(f"{__name__}.{module}")
    return getattr(found, options), getattr(found, trainer)


class _Models(Mapping[str, tuple[type[ModelOptions], Trainer]]):
    """A lazy mapping: a trainer is imported when it is looked up."""

    def __getitem__(self, name: str) -> tuple[type[ModelOptions], Trainer]:
        return _import(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


MODELS = _Models()
"""The class of options and the training function of each model, by name."""


@overload
def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    model: Literal["bpe"] = "bpe",
    **options: Unpack[BPEKeywords],
) -> Tokenizer: ...


@overload
def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    model: Literal["wordpiece"],
    **options: Unpack[WordPieceKeywords],
) -> Tokenizer: ...


@overload
def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    model: Literal["unigram"],
    **options: Unpack[MetaspaceUnigramKeywords],
) -> Tokenizer: ...


@overload
def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    model: Literal["sentencepiece-bpe", "sentencepiece-unigram"],
    **options: Unpack[SentencePieceKeywords],
) -> Tokenizer: ...


@overload
def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    model: Literal["word"],
    **options: Unpack[WordKeywords],
) -> Tokenizer: ...


@overload
def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    model: Literal["char"],
    **options: Unpack[CharKeywords],
) -> Tokenizer: ...


@overload
def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    model: str,
    **options: Unpack[CommonKeywords],
) -> Tokenizer: ...


def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    vocab_size: int | None = None,
    model: str = "bpe",
    split: str | ModelDefault | None = MODEL_DEFAULT,
    special_tokens: Sequence[str] | ModelDefault = MODEL_DEFAULT,
    ties: str | ModelDefault = MODEL_DEFAULT,
    min_frequency: int | ModelDefault = MODEL_DEFAULT,
    max_token_length: int | ModelDefault | None = MODEL_DEFAULT,
    unit: str | ModelDefault = MODEL_DEFAULT,
    unk_token: str | ModelDefault | None = MODEL_DEFAULT,
    texts: Texts | None = None,
    counts: AnyCounts | None = None,
    continue_from: AnyTokenizer | None = None,
    separator: str | None = None,
    field: str = "text",
    read_as: str | None = None,
    weights: Mapping[str, float] | None = None,
    sample: float = 1.0,
    seed: int = 0,
    deduplicate: bool | str = False,
    encoding_errors: str = "strict",
    checkpoint: AnyPath | None = None,
    memory: int | str | None = None,
    spill_limit: int | str | None = None,
    min_count: int = 1,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Tokenizer:
    """Train a tokenizer on files, texts or counts: exactly one of them.

    Args:
        files: a path, a directory, a pattern such as ``"corpus/*.txt"``, a URL of these such as
            ``"s3://bucket/*.jsonl"``, or a list of them; never text. Files are text, JSON Lines or
            Parquet, may be compressed (gzip, zstd), and may be of any size.
            Each text file is a document, or several with ``separator``. A UTF-8 byte order mark
            at the start of a file is skipped.
        vocab_size: the number of ids, special tokens included.
            :func:`toksmith.advise` suggests a size. ``"bpe"`` has no default; ``"unigram"`` and
            SentencePiece's models have 8,000, ``"wordpiece"`` 30,000, and ``"word"`` and ``"char"``
            take all words or characters.
        model: upper or lower case, one of

            - ``"bpe"``, byte-level BPE, or BPE on characters:
              :class:`~toksmith.trainers.options.BPEOptions`;
            - ``"wordpiece"``: :class:`~toksmith.trainers.wordpiece.WordPieceOptions`;
            - ``"word"`` and ``"char"``: :class:`~toksmith.trainers.by_frequency.WordOptions` and
              :class:`~toksmith.trainers.by_frequency.CharOptions`;
            - ``"unigram"``: :class:`~toksmith.trainers.unigram.MetaspaceUnigramOptions`;
            - ``"sentencepiece-bpe"`` and ``"sentencepiece-unigram"``, which take SentencePiece's
              own option names:
              :class:`~toksmith.trainers.sentencepiece_options.SentencePieceOptions`.
        split: (``"bpe"``, ``"word"``, ``"wordpiece"``) how text is cut into chunks before learning;
            no token crosses a cut. A name of :data:`toksmith.splitters.NAMES`, such as ``"gpt4"``,
            the default of ``"bpe"``, or ``"words"``, a regular expression, or ``None``.
        special_tokens: a list of strings, each of which gets an id; in the training text they are
            plain text.
        ties: (``"bpe"``) which of two equally frequent pairs is merged first: ``"first-seen"`` as
            in minbpe, or ``"smallest-pair"`` as in Hugging Face's tokenizers.
        min_frequency: (``"bpe"``, ``"wordpiece"``, ``"word"``, ``"char"``) the least number of
            occurrences of a pair, word or character that is learned.
        max_token_length: (``"bpe"``, ``"unigram"``) the longest token, in units.
        unit: (``"bpe"``) ``"bytes"`` or ``"characters"``.
        unk_token: (all but byte-level ``"bpe"``) the token for unknown text.
        texts: a text, or several from any iterable (or a mapping from names to these); never paths.
        counts: existing counts: :class:`~toksmith.Counts`, or one or more files of counts
            (:class:`~toksmith.CountsFile`), which are added. ``"bpe"``, ``"word"`` and ``"char"``
            train on counts of any split; all other models need counts of documents or lines
            (``split=None``), which they split into words themselves.
        continue_from: a tokenizer of byte-level BPE (or its path or name) to extend; its ids do not
            change, and ``vocab_size`` includes its tokens. ``split`` defaults to the tokenizer's;
            with another split, a second stage can learn merges across words (see the second
            example), and the result has this second split. ``special_tokens`` are added. ``ties``,
            ``min_frequency`` and ``max_token_length`` default to the options of its training, if
            they are known.
        separator: the text that separates documents inside a file, such as ``"<|endoftext|>"``.
        field: the field of JSON Lines, or the column of Parquet, CSV or TSV, that holds the text.
        read_as: ``"text"``, ``"jsonl"``, ``"parquet"``, ``"csv"`` or ``"tsv"``; default: by the
            file's name. :class:`~toksmith.corpus.Reading` explains this and the next five.
        weights: factors for the counts of files, by path, directory or pattern, such as
            ``{"wiki/": 2.0}``; 1 for all others.
        sample: the share of documents to use, from 0 to 1.
        seed: random seed of the sample; the same seed picks the same documents.
        deduplicate: ``"documents"`` or ``True``: identical documents are used once; ``"lines"``:
            identical lines.
        encoding_errors: ``"strict"`` refuses files that are not UTF-8 text; ``"replace"`` replaces
            invalid bytes by U+FFFD.
        checkpoint: a folder in which counts are stored during training, for byte-level BPE also
            merges, and for Unigram the pieces that are left. After an interruption, the same call
            continues from them, with the same result. Delete the folder once the tokenizer is
            saved. Files of at least a gigabyte are counted one by one.
        memory: the most memory that counting and training may use, in bytes or as in ``"4G"``;
            counts that do not fit go to temporary files (in ``TMPDIR``). The result does not depend
            on it.
        spill_limit: the maximum size of these files together, in bytes or as in ``"100G"``.
        min_count: chunks that occur fewer times are left out; in ``"wordpiece"``, ``"unigram"`` and
            SentencePiece's models, normalized words, or the parts of ASCII words that no piece
            crosses.
        threads: the number of threads; ``None`` for the cores this process may use. The result
            does not depend on it.
        progress: whether to show a progress bar; ``None`` if standard error is a terminal.
        options: all other options of the model, by name: see its class above.

    Returns:
        The tokenizer; ``tokenizer.training`` is the record of its training.

    Raises:
        OptionError: an option is unknown or out of range, or not exactly one source is given.
        UnsupportedError: ``continue_from`` is no byte-level BPE.
        TrainingError: there is no text, or too little for this ``vocab_size``, or too much for the
            memory of this machine.
        FormatError: a file cannot be read.

    Example:
        >>> tok = train(texts="low lower lowest", vocab_size=259)
        >>> [tok.token_bytes(i) for i in (256, 257, 258)]
        [b'lo', b'low', b' low']

        A second stage whose merges cross words (SuperBPE, Liu et al. 2025): its split keeps
        sentences apart, and no longer words.

        >>> text = "by the way, in the end. by the way, in the end."
        >>> words = train(texts=text, vocab_size=268, split="gpt2")
        >>> phrases = train(texts=text, vocab_size=272, continue_from=words, split=r"[^.,]+|[.,]")
        >>> [phrases.token_bytes(i) for i in range(words.vocab_size, phrases.vocab_size)]
        [b'by the', b'by the way', b' in the', b' in the end']
    """
    named = {
        "split": split,
        "special_tokens": special_tokens,
        "ties": ties,
        "min_frequency": min_frequency,
        "max_token_length": max_token_length,
        "unit": unit,
        "unk_token": unk_token,
    }
    options |= {name: value for name, value in named.items() if value is not MODEL_DEFAULT}
    started, at = time.perf_counter(), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    model = model.lower() if isinstance(model, str) else model
    choice("model", model, list(MODELS))
    kind, trainer = MODELS[model]
    reading = Reading(
        separator=separator,
        field=field,
        read_as=read_as,
        weights=weights or {},
        sample=sample,
        seed=seed,
        deduplicate=deduplicate,
        encoding_errors=encoding_errors,
    )
    if vocab_size is not None:
        whole("vocab_size", vocab_size, least=0)
    whole("min_count", min_count, least=1)
    known_counts = given_counts(counts)
    if known_counts is not None:
        check_counts(known_counts.splitter, model, options)
    limits = MemoryLimits(
        parse_size(memory),
        min_count,
        need=size_of_stream,
        of_words=model not in ON_CHUNKS,
        spill_limit=parse_size(spill_limit, "spill_limit"),
        learns=True,
    )
    if continue_from is None:
        known = None
        chosen = options_of(kind, model, options)
    elif model != "bpe":
        raise OptionError(f'model is {model!r}, but continue_from= is only for "bpe"')
    else:
        from toksmith.trainers.bpe import further_options, train_further

        known = tokenizer_of(continue_from)
        chosen = further_options(known, options)
        trainer = partial(train_further, tok=known, is_split_given="split" in options)
    with Corpus(
        files, texts, known_counts, reading, threads, progress, recorded=True, limits=limits
    ) as corpus:
        if checkpoint is not None:
            settings = {"model": model, "vocab_size": vocab_size, **vars(chosen)}
            corpus.kept_parts = _open_checkpoint(
                checkpoint, settings, corpus, files, known_counts, known
            )
            if files is not None:
                limits.files.kept = corpus.kept_parts.advise
        with within_memory(model in ON_CHUNKS):
            trained = trainer(corpus, vocab_size, chosen)
        sources = (
            ()
            if is_missing
            else source_records(corpus.was_read.files, trained.pipeline, corpus.threads)
        )
    record = TrainingRecord(
        model=model,
        vocab_size=trained.vocab_size,
        merges=trained.merges,
        documents=corpus.documents,
        bytes=corpus.bytes,
        chunks=trained.chunks,
        tokens=trained.tokens,
        seconds=time.perf_counter() - started,
        options={**trained.options, **reading.given(), **limits.given()},
        counts=trained.counts,
        tokens_after=trained.tokens_after,
        skipped={**corpus.was_read.skipped, **trained.skipped},
        sources=sources,
        version=__version__,
        time=at,
        spilled=limits.spilled,
    )
    return Tokenizer(trained.pipeline, record)


def _open_checkpoint(
    folder: AnyPath,
    settings: Mapping[str, Any],
    corpus: Corpus,
    files: AnyPath | Sequence[AnyPath] | None,
    counts: Counts | SumOfFiles | None,
    tok: Tokenizer | None,
) -> Checkpoint:
    """Return the checkpoint of a training.

    Args:
        folder: its path.
        settings: the model, ``vocab_size`` and the options of the model.
        corpus: the corpus, which holds all other options.
        files: the paths of the corpus, if it is files.
        counts: the counts, if training is from counts.
        tok: the tokenizer to continue, if any.
    """
    from toksmith.trainers.checkpoint import open_checkpoint

    reading = corpus.reading
    options = {
        **settings,
        **vars(reading),
        "weights": {fspath(path): weight for path, weight in reading.weights.items()},
        "min_count": corpus.limits.min_count,
    }
    return open_checkpoint(one_path(folder, "checkpoint"), options, files, counts, tok)
