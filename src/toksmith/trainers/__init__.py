"""Training: text to counted chunks, counted chunks to a model."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence, Set

from toksmith.arguments import whole
from toksmith.errors import OptionError, TrainingError
from toksmith.framing import AddedToken, Framing
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter
from toksmith.text import Text
from toksmith.threads import thread_count
from toksmith.tokenizer import Tokenizer
from toksmith.trainers.bpe import check_options, train_bpe
from toksmith.trainers.counts import Counts, count_chunks
from toksmith.trainers.record import TrainingRecord
from toksmith.trainers.sources import AnyPath, Documents, Files, Source

__all__ = ["Counts", "TrainingRecord", "count_chunks", "train"]

MODELS = ("bpe",)


def train(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    vocab_size: int,
    texts: Iterable[Text] | None = None,
    counts: Counts | None = None,
    model: str = "bpe",
    split: str | None = "gpt4",
    special_tokens: Sequence[str] = (),
    ties: str = "first-seen",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    separator: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Tokenizer:
    """Train a tokenizer on files, on documents, or on counts: exactly one of them.

    Args:
        files: a path, a directory, a pattern such as ``"corpus/*.txt"``, or a list of them. Each
            file is a document, or several with ``separator``.
        vocab_size: how many ids the tokenizer has, bytes and special tokens included.
        texts: documents, from any iterable.
        counts: chunks that were counted before; they bring their own splitter.
        model: ``"bpe"``, byte-level BPE.
        split: what no token may reach across: ``None`` (nothing but the ends of documents),
            ``"gpt2"``, ``"gpt4"`` (cl100k), ``"o200k"``, or a regular expression.
        special_tokens: their ids follow the model's. Inside the training text they are text.
        ties: which of equally frequent pairs goes first: ``"first-seen"`` as in minbpe, or
            ``"smallest-pair"`` as in Hugging Face's tokenizers.
        min_frequency: a pair that stands in the text less often is never merged.
        max_token_length: in bytes.
        separator: what stands between documents inside the files, such as ``"<|endoftext|>"``.
        threads: for counting; ``None`` for the cores this process may use. The result does not
            depend on it.
        progress: whether to show a progress bar; ``None`` where standard error is a terminal.

    Returns:
        The tokenizer; ``tokenizer.training`` says what was done in figures.

    Raises:
        OptionError: an option is out of range, or it is not clear what to train on.
        TrainingError: there is no text.
        FormatError: a file cannot be read.

    Example:
        >>> tok = train(texts=["low lower lowest"], vocab_size=259)
        >>> [tok.token_bytes(i) for i in (256, 257, 258)]
        [b'lo', b'low', b' low']
    """
    started = time.perf_counter()
    if model not in MODELS:
        raise OptionError(f"model is {model!r}: use {' or '.join(map(repr, MODELS))}")
    given = [name for name, value in (("files", files), ("texts", texts), ("counts", counts))
             if value is not None]  # fmt: skip
    if len(given) != 1:
        raise OptionError(
            "train on exactly one of files, texts= and counts=, not on "
            f"{' and '.join(given) or 'nothing'}"
        )
    if separator is not None and files is None:
        raise OptionError("separator= stands inside files; documents in texts= are apart already")
    literals = _literals(special_tokens)
    tokens = whole("vocab_size", vocab_size, least=0) - len(literals)
    if tokens < 256:
        raise OptionError(
            f"vocab_size is {vocab_size}: it must hold the 256 bytes and "
            f"{len(literals)} special tokens"
        )
    check_options(tokens, ties, min_frequency, max_token_length)
    if counts is not None and not isinstance(counts, Counts):
        raise OptionError(f"counts is {type(counts).__name__}: use Counts, or Counts.of(…)")

    if counts is None:
        source: Source = Documents(texts) if texts is not None else Files(files or (), separator)
        counts = count_chunks(source, splitter(split), thread_count(threads), progress)
    size = counts.bytes
    if size == 0:
        raise TrainingError("there is no text to train on: the corpus is empty")
    trained, pair_counts, tokens_after = train_bpe(
        counts,
        tokens,
        ties=ties,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        progress=progress,
    )
    first_special = len(trained.vocab)
    framing = _framing(literals, first_special)
    record = TrainingRecord(
        model=model,
        vocab_size=first_special + len(literals),
        merges=len(trained.merges),
        documents=counts.documents,
        bytes=size,
        chunks=len(counts),
        tokens=int(tokens_after[-1]) if len(tokens_after) else size,
        seconds=time.perf_counter() - started,
        options={
            "split": counts.splitter.pattern if counts.splitter else None,
            "ties": ties,
            "min_frequency": min_frequency,
            "max_token_length": max_token_length,
            "separator": separator,
        },
        counts=pair_counts,
        tokens_after=tokens_after,
    )
    return Tokenizer(Pipeline(trained, counts.splitter, framing), record)


def _literals(special_tokens: Sequence[str]) -> list[str]:
    """Check the special tokens before the long work, not after it."""
    if isinstance(special_tokens, str | bytes):
        raise OptionError("special_tokens is one string; give a list of them")
    if not isinstance(special_tokens, Iterable) or isinstance(special_tokens, Set | Mapping):
        raise OptionError(
            f"special_tokens is {type(special_tokens).__name__}; give a list: its order is that "
            "of their ids"
        )
    literals = list(special_tokens)
    _framing(literals, 256)
    return literals


def _framing(literals: Sequence[str], first: int) -> Framing:
    return Framing(tuple(AddedToken(text, first + i) for i, text in enumerate(literals)))
