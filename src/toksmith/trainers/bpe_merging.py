"""Learns merges of bytes, from the start or after existing merges.

The chunks of the text are first encoded with the existing merges. With the merges of an interrupted
training on the same text, learning continues where that training stopped, with the same result.

All trainers that merge show their progress, and warn if merging ends early, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from toksmith import engine
from toksmith._base.lazy import np, npt
from toksmith._base.progress import training_progress
from toksmith.engine.counting import Take, UInts
from toksmith.engine.training import (
    ChunkStore,
    MergeRules,
    Merges,
    SymbolWords,
    Watch,
    merge_symbols,
)
from toksmith.errors import OptionError, UnsupportedError, warn
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe_training import GPT2_BYTE_ORDER
from toksmith.trainers import checkpoint as checkpoints
from toksmith.trainers.checkpoint import Checkpoint
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.streaming import StreamedCounts


@contextmanager
def watch_merges(
    alphabet: Sequence[bytes],
    merges: int,
    progress: bool | None,
    before: int = 0,
    join: Callable[[bytes, bytes], bytes] = bytes.__add__,
) -> Iterator[Watch]:
    """Show the progress of merging.

    Args:
        alphabet: the first symbols.
        merges: the total number of merges.
        progress: whether to show a progress bar; ``None`` if standard error is a terminal.
        before: the number of merges already learned.
        join: returns the bytes of a merged pair.

    Yields:
        The callback that the kernel calls with new merges.
    """
    known = dict(enumerate(alphabet))
    with training_progress(merges, progress) as report:
        done = before

        def watch(more: Merges) -> None:
            nonlocal done
            columns = (more.merges.tolist(), more.counts.tolist(), more.tokens_after.tolist())
            for (left, right, new), count, tokens in zip(*columns, strict=True):
                done += 1
                known[new] = join(known[left], known[right])
                report(done, known[new], count, tokens)

        yield watch


def warn_of_end(tokens: int, wanted: int, min_frequency: int) -> None:
    """Warn if the text ran out of pairs before the vocabulary was full."""
    if tokens >= wanted:
        return
    rare = f" that occur {min_frequency:,} times or more" if min_frequency > 1 else ""
    lower = ", or a lower min_frequency" if min_frequency > 1 else ""
    warn(
        f"the text ran out of pairs{rare}: {tokens:,} tokens instead of {wanted:,}. Use more "
        f"text, or a smaller vocab_size{lower}"
    )


BYTES = tuple(bytes([byte]) for byte in range(256))


def learn(
    model: BPE,
    tokens: int,
    counted: AbstractContextManager[StreamedCounts],
    rules: MergeRules,
    corpus: Corpus,
    checkpoint: Checkpoint | None = None,
) -> tuple[Merges, StreamedCounts]:
    """Learn merges beyond those of a model; new ids follow its vocabulary.

    Args:
        model: the model with the existing merges.
        tokens: the number of new ids.
        counted: makes the counted chunks of the text, and frees them before the merging.
        rules: the rules that choose the pairs to merge.
        corpus: provides the memory, the number of threads, and whether to show the progress.
        checkpoint: the folder that merges are written to, and first read from.

    Returns:
        The merges, and the counts, which have been read.

    Raises:
        FormatError: the merges in the checkpoint are damaged.
    """
    before = checkpoint.merges(len(model.vocab), tokens) if checkpoint else _none()
    try:
        model = add_merges(model, before.merges)
    except OptionError as wrong:
        assert checkpoint is not None
        raise checkpoint.damaged(str(wrong)) from wrong
    learned = [before]

    def keep(more: Merges) -> None:
        learned.append(more)
        if checkpoint:
            checkpoint.keep(concat_merges(learned))

    with corpus.limits.chunk_store() as store:
        with counted as counts:
            counts.pass_on(_encoder(model, store, corpus.threads))
        rest = tokens - len(before.merges)
        if rest == 0:
            return before, counts
        with watch_merges(model.vocab, tokens, corpus.progress, len(before.merges)) as watch:
            more = merge_symbols(
                store,
                rest,
                rules,
                threads=corpus.threads,
                watch=watch,
                places=tie_places(model),
                lengths=np.array([max(len(token), 1) for token in model.vocab], np.uint32),
                keep=keep if checkpoint else None,
                keep_seconds=checkpoints.SECONDS,
                memory=corpus.limits.for_merging,
            )
    found = concat_merges([before, more])
    if checkpoint and len(more.merges):
        checkpoint.keep(found)
    return found, counts


def _encoder(model: BPE, store: ChunkStore, threads: int) -> Take:
    """Return a function that adds chunks to a store, encoded with the model."""
    if model.vocab == BYTES:
        return store.add_bytes
    if model.missing_bytes:
        raise UnsupportedError(
            f"training cannot go on from a vocabulary in which {len(model.missing_bytes)} bytes "
            f"have no id ({model.missing_bytes[:4]!r} …): start from one with all 256 bytes"
        )
    encoder = engine.compile(Pipeline(model))

    def encode(chunks: bytes, ends: UInts, counts: UInts) -> None:
        last = ends.astype(np.int64)
        bounds = np.stack([np.concatenate([np.zeros(1, np.int64), last[:-1]]), last], axis=1)
        batch = encoder.encode_slices(chunks, bounds, threads)
        words = SymbolWords(
            batch.ids, batch.offsets[1:].astype(np.uint64), counts, len(model.vocab)
        )
        store.add_symbols(words)

    return encode


def add_merges(model: BPE, merges: npt.NDArray[np.uint32]) -> BPE:
    """Return a model with more merges, each of which produces the next id."""
    vocab = list(model.vocab)
    for left, right, _ in merges.tolist():
        vocab.append(vocab[left] + vocab[right])
    return BPE(tuple(vocab), np.concatenate([model.merges, merges]), model.whole_chunk_first)


def concat_merges(parts: list[Merges]) -> Merges:
    """Concatenate merges that were learned in this order."""
    return Merges(
        np.concatenate([part.merges for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.tokens_after for part in parts]),
    )


def _none() -> Merges:
    none = np.zeros(0, np.uint64)
    return Merges(np.zeros((0, 3), np.uint32), none, none)


def tie_places(model: BPE) -> npt.NDArray[np.uint32]:
    """Return the sort keys of ids for ``smallest-pair``: bytes in the order of GPT-2's alphabet."""
    first = [model.byte_ids[byte] for byte in GPT2_BYTE_ORDER]
    is_byte = np.zeros(len(model.vocab), bool)
    is_byte[first] = True
    ages = np.empty(len(model.vocab), np.uint32)
    ages[[*first, *np.flatnonzero(~is_byte)]] = np.arange(len(ages), dtype=np.uint32)
    return ages
