"""Training: text to counted chunks, counted chunks to a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from toksmith.arguments import whole
from toksmith.text import Text
from toksmith.tokenizer import Tokenizer
from toksmith.trainers.bpe import BPEOptions, train_bpe
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.counts import Counts, count_chunks
from toksmith.trainers.frequent import CharOptions, WordOptions, train_characters, train_words
from toksmith.trainers.metaspace_unigram import (
    MetaspaceUnigramOptions,
    train_metaspace_unigram,
)
from toksmith.trainers.options import Options, choice, options_of
from toksmith.trainers.record import Trained, TrainingRecord
from toksmith.trainers.sentencepiece import train_sentencepiece_bpe, train_sentencepiece_unigram
from toksmith.trainers.sentencepiece_options import SentencePieceOptions
from toksmith.trainers.sources import AnyPath
from toksmith.trainers.wordpiece import WordPieceOptions, train_wordpiece

__all__ = ["MODELS", "Counts", "TrainingRecord", "count_chunks", "train"]

Trainer: TypeAlias = "Callable[[Corpus, int | None, Any], Trained]"
"""Trains on a corpus, for so many ids, with the options of its model."""

MODELS: dict[str, tuple[type[Options], Trainer]] = {
    "bpe": (BPEOptions, train_bpe),
    "wordpiece": (WordPieceOptions, train_wordpiece),
    "unigram": (MetaspaceUnigramOptions, train_metaspace_unigram),
    "sentencepiece-bpe": (SentencePieceOptions, train_sentencepiece_bpe),
    "sentencepiece-unigram": (SentencePieceOptions, train_sentencepiece_unigram),
    "word": (WordOptions, train_words),
    "char": (CharOptions, train_characters),
}
"""The models by name: their options, and what trains them."""


def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    vocab_size: int | None = None,
    texts: Iterable[Text] | None = None,
    counts: Counts | None = None,
    model: str = "bpe",
    separator: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Tokenizer:
    """Train a tokenizer on files, on documents, or on counts: exactly one of them.

    Args:
        files: a path, a directory, a pattern such as ``"corpus/*.txt"``, or a list of them. Each
            file is a document, or several with ``separator``.
        vocab_size: how many ids the tokenizer has, special tokens and all else included. Models
            of SentencePiece have 8,000 if nothing is said, WordPiece 30,000, words and characters
            as many as the text holds.
        texts: documents, from any iterable.
        counts: what was counted before: chunks for ``"bpe"``, where they bring their own
            splitter; documents or lines for all other models.
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
        separator: what stands between documents inside the files, such as ``"<|endoftext|>"``.
        threads: for counting; ``None`` for the cores this process may use. The result does not
            depend on it.
        progress: whether to show a progress bar; ``None`` where standard error is a terminal.
        options: the model's own, see there. ``"bpe"`` has ``split``, ``special_tokens``, ``ties``,
            ``min_frequency``, ``max_token_length`` and ``unit``.

    Returns:
        The tokenizer; ``tokenizer.training`` says what was done in figures.

    Raises:
        OptionError: an option is unknown or out of range, or it is not clear what to train on.
        TrainingError: there is no text, or too little for so many ids.
        FormatError: a file cannot be read.

    Example:
        >>> tok = train(texts=["low lower lowest"], vocab_size=259)
        >>> [tok.token_bytes(i) for i in (256, 257, 258)]
        [b'lo', b'low', b' low']
    """
    started = time.perf_counter()
    choice("model", model, list(MODELS))
    kind, trainer = MODELS[model]
    corpus = Corpus(files, texts, counts, separator, threads, progress)
    if vocab_size is not None:
        whole("vocab_size", vocab_size, least=0)
    trained = trainer(corpus, vocab_size, options_of(kind, model, options))
    record = TrainingRecord(
        model=model,
        vocab_size=trained.vocab_size,
        merges=trained.merges,
        documents=corpus.documents,
        bytes=corpus.bytes,
        chunks=trained.chunks,
        tokens=trained.tokens,
        seconds=time.perf_counter() - started,
        options={**trained.options, "separator": separator},
        counts=trained.counts,
        tokens_after=trained.tokens_after,
        skipped=trained.skipped,
    )
    return Tokenizer(trained.pipeline, record)
