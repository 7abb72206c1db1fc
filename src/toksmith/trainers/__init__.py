"""Training: text to counted chunks, counted chunks to a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from toksmith.arguments import whole
from toksmith.corpus import AnyPath, Reading
from toksmith.errors import OptionError
from toksmith.text import Texts
from toksmith.tokenizer import Tokenizer
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.counts import ON_CHUNKS, Counts, check_counts, count_chunks
from toksmith.trainers.memory import Memory, parsed
from toksmith.trainers.options import Options, choice, options_of
from toksmith.trainers.record import Trained
from toksmith.training_record import TrainingRecord
from toksmith.version import __version__

__all__ = ["MODELS", "Counts", "TrainingRecord", "count_chunks", "train"]

Trainer: TypeAlias = "Callable[[Corpus, int | None, Any], Trained]"
"""Trains on a corpus, for so many ids, with the options of its model."""

_PLACES = {
    "bpe": ("bpe", "BPEOptions", "train_bpe"),
    "wordpiece": ("wordpiece", "WordPieceOptions", "train_wordpiece"),
    "unigram": ("metaspace_unigram", "MetaspaceUnigramOptions", "train_metaspace_unigram"),
    "sentencepiece-bpe": ("sentencepiece", "SentencePieceOptions", "train_sentencepiece_bpe"),
    "sentencepiece-unigram": (
        "sentencepiece", "SentencePieceOptions", "train_sentencepiece_unigram"
    ),
    "word": ("frequent", "WordOptions", "train_words"),
    "char": ("frequent", "CharOptions", "train_characters"),
}  # fmt: skip


class _Models(Mapping[str, tuple[type[Options], Trainer]]):
    """Imports what trains a model when it is looked up: importing all takes longer than some do."""

    def __getitem__(self, name: str) -> tuple[type[Options], Trainer]:
        module, options, trainer = _PLACES[name]
        found = import_module(f"{__name__}.{module}")
        return getattr(found, options), getattr(found, trainer)

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


MODELS = _Models()
"""The models by name: their options, and what trains them."""


def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    vocab_size: int | None = None,
    texts: Texts | None = None,
    counts: Counts | None = None,
    model: str = "bpe",
    continue_from: Tokenizer | None = None,
    separator: str | None = None,
    field: str = "text",
    read_as: str | None = None,
    weights: Mapping[str, float] | None = None,
    sample: float = 1.0,
    seed: int = 0,
    deduplicate: bool = False,
    checkpoint: AnyPath | None = None,
    memory: int | str | None = None,
    min_count: int = 1,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Tokenizer:
    """Train a tokenizer on files, on documents, or on counts: exactly one of them.

    Args:
        files: a path, a directory, a pattern such as ``"corpus/*.txt"``, or a list of them: text,
            JSON Lines or Parquet, as it is or packed by gzip or zstd, of any size. Each text file
            is a document, or several with ``separator``.
        vocab_size: how many ids the tokenizer has, special tokens and all else included. Models
            of SentencePiece have 8,000 if nothing is said, WordPiece 30,000, words and characters
            as many as the text holds.
        texts: a text, or several from any iterable (or a mapping from names to these).
        counts: what was counted before. ``"bpe"``, ``"word"`` and ``"char"`` take any, which
            bring their own splitter; all other models count words of their own, and take counts
            of documents or lines (``split=None``).
        model: one of

            - ``"bpe"``, byte-level BPE, or BPE on characters:
              :class:`~toksmith.trainers.bpe.BPEOptions`;
            - ``"wordpiece"``: :class:`~toksmith.trainers.wordpiece.WordPieceOptions`;
            - ``"word"`` and ``"char"``: :class:`~toksmith.trainers.frequent.WordOptions` and
              :class:`~toksmith.trainers.frequent.CharOptions`;
            - ``"unigram"``: :class:`~toksmith.trainers.metaspace_unigram.MetaspaceUnigramOptions`;
            - ``"sentencepiece-bpe"`` and ``"sentencepiece-unigram"``, which take SentencePiece's
              own option names:
              :class:`~toksmith.trainers.sentencepiece_options.SentencePieceOptions`.
        continue_from: a tokenizer of byte-level BPE that gets more tokens; ``vocab_size`` counts
            those that it has. Its ids stay, its split is used, and further options are
            ``special_tokens`` to add and, where its training does not tell, ``ties``,
            ``min_frequency`` and ``max_token_length``.
        separator: what stands between documents inside the files, such as ``"<|endoftext|>"``.
        field: the field of JSON Lines, or the column of Parquet, that holds the text.
        read_as: ``"text"``, ``"jsonl"`` or ``"parquet"``, where the names of the files do not tell;
            this and the next four are told in full at :class:`~toksmith.corpus.Reading`.
        weights: how much files count, by path, directory or pattern, such as ``{"wiki/": 2.0}``;
            1 where nothing is said.
        sample: the share of documents that is taken.
        seed: of the sample, which depends on it and the documents' text alone.
        deduplicate: whether identical documents are taken once.
        checkpoint: a folder, where byte-level BPE keeps counts and merges while it trains; if it is
            killed, the same call goes on from them and gives the same. The folder stays: delete it
            once the tokenizer is saved. Files of a gigabyte and more are counted one by one.
        memory: how much counting and training may take, in bytes or as in ``"4G"``: of counts, what
            does not fit is kept on disk for a while (in ``TMPDIR``). The result does not depend on
            it. For models that train on chunks: ``"bpe"``, ``"word"`` and ``"char"``.
        min_count: for these, chunks that stand in the text less often are left out.
        threads: for counting; ``None`` for the cores this process may use. The result does not
            depend on it.
        progress: whether to show a progress bar; ``None`` where standard error is a terminal.
        options: the model's own, see there. ``"bpe"`` has ``split``, ``special_tokens``, ``ties``,
            ``min_frequency``, ``max_token_length`` and ``unit``.

    Returns:
        The tokenizer; ``tokenizer.training`` says what was done in figures.

    Raises:
        OptionError: an option is unknown or out of range, or it is not clear what to train on.
        UnsupportedError: ``continue_from`` is no byte-level BPE.
        TrainingError: there is no text, or too little for so many ids.
        FormatError: a file cannot be read.

    Example:
        >>> tok = train(texts=["low lower lowest"], vocab_size=259)
        >>> [tok.token_bytes(i) for i in (256, 257, 258)]
        [b'lo', b'low', b' low']
    """
    started, at = time.perf_counter(), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    choice("model", model, list(MODELS))
    kind, trainer = MODELS[model]
    reading = Reading(separator, field, read_as, weights or {}, sample, seed, deduplicate)
    if vocab_size is not None:
        whole("vocab_size", vocab_size, least=0)
    if model not in ON_CHUNKS and (memory is not None or min_count > 1):
        raise OptionError(
            f"memory= and min_count= are for models that train on chunks, {', '.join(ON_CHUNKS)}: "
            f"model {model!r} keeps its words in memory; sample= takes a share of the documents"
        )
    if counts is not None:
        check_counts(counts, model, options)
    limits = Memory(parsed(memory), min_count)
    chosen = options_of(kind, model, options) if continue_from is None else None
    if chosen is not None:
        limits.need = chosen.memory_needed
    with Corpus(
        files, texts, counts, reading, threads, progress, hashed=True, limits=limits
    ) as corpus:
        if checkpoint is not None:
            from toksmith.trainers.checkpoint import opened

            given = {**options, **reading.given(), **limits.given()}
            asked = {"model": model, "vocab_size": vocab_size, **given}
            corpus.checkpoint = opened(checkpoint, asked, files, counts, continue_from)
        if continue_from is None:
            trained = trainer(corpus, vocab_size, chosen)
        elif model == "bpe":
            from toksmith.trainers.continuing import train_further

            trained = train_further(corpus, vocab_size, continue_from, options)
        else:
            raise OptionError(f'model is {model!r}, but only "bpe" can go on from continue_from=')
        sources = corpus.sources()
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
