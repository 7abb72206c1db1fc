"""Training BPE, on bytes or on characters, from counted chunks.

Continued training starts after the last merge of a tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from toksmith._base.lazy import np, npt
from toksmith.engine.compiled import is_missing
from toksmith.engine.training import MergeRules, Merges, merge_symbols
from toksmith.errors import OptionError, UnsupportedError
from toksmith.framing import Framing
from toksmith.models import BPE, CharacterBPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, splitter
from toksmith.tokenizer.training_record import Trained
from toksmith.trainers.bpe_merging import (
    BYTES,
    add_merges,
    concat_merges,
    learn,
    warn_of_end,
    watch_merges,
)
from toksmith.trainers.checkpoint import Checkpoint, checkpoint_of
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.counts import stream_counts
from toksmith.trainers.counting.splits import split_option, splitter_name
from toksmith.trainers.counting.streaming import SpooledCounts, StreamedCounts
from toksmith.trainers.counting.words import stream_chunks_as_words
from toksmith.trainers.options import BPEOptions, check_kinds, framing_of, literals

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer


def train_bpe(corpus: Corpus, vocab_size: int | None, options: BPEOptions) -> Trained:
    """Merge the most frequent pair, again and again (Gage 1994; Sennrich et al. 2016).

    Raises:
        OptionError: ``vocab_size`` is not given, or too small.
        TrainingError: there is no text.
    """
    if vocab_size is None:
        raise OptionError(
            "vocab_size is missing: give the size of the vocabulary, such as vocab_size=32000; "
            "toksmith.advise suggests a size for a text"
        )
    tokens = vocab_size - len(options.special_tokens)
    if options.unit == "bytes":
        return _train_bytes(corpus, tokens, options)
    return _train_characters(corpus, tokens, options)


def _train_bytes(corpus: Corpus, tokens: int, options: BPEOptions) -> Trained:
    if tokens < 256:
        raise _too_small(tokens, "256 bytes", options)
    if is_missing:
        from toksmith.trainers.bpe_in_python import learn_in_python

        cut = splitter(options.split)
        learned, chunks = learn_in_python(corpus, cut, tokens - 256, options.rules)
        model = add_merges(BPE(BYTES, ()), learned.merges)
        warn_of_end(len(model.vocab), tokens, options.min_frequency)
        return _trained(model, learned, cut, chunks, corpus.bytes, options)
    learned, counts = learn(
        BPE(BYTES, ()),
        tokens - 256,
        corpus.stream(splitter(options.split)),
        options.rules,
        corpus,
        checkpoint_of(corpus),
    )
    model = add_merges(BPE(BYTES, ()), learned.merges)
    warn_of_end(len(model.vocab), tokens, options.min_frequency)
    return _trained(model, learned, counts.splitter, counts.chunks, counts.bytes, options)


def _train_characters(corpus: Corpus, tokens: int, options: BPEOptions) -> Trained:
    known = corpus.given_counts
    cut = splitter(options.split) if known is None else known.splitter
    with corpus.limits.chunk_store() as store:
        with stream_chunks_as_words(corpus, cut) as words:
            vocab = [] if options.unk_token is None else [options.unk_token.encode()]
            before = len(vocab)
            vocab += [character.encode() for character in words.characters]
            if tokens < len(vocab):
                raise _too_small(tokens, f"{len(vocab)} characters of the text", options)
            words.pass_symbols(store.add_symbols)
        with watch_merges(vocab[before:], tokens - len(vocab), corpus.progress) as watch:
            learned = merge_symbols(
                store,
                tokens - len(vocab),
                options.rules,
                threads=corpus.threads,
                watch=watch,
                memory=corpus.limits.for_merging,
            )
    merges = learned.merges + np.uint32(before)
    for left, right, _ in merges.tolist():
        vocab.append(vocab[left] + vocab[right])
    warn_of_end(len(vocab), tokens, options.min_frequency)
    model = CharacterBPE(tuple(vocab), merges, unk_id=0 if before else None)
    units = int(words.character_counts().sum())
    return _trained(model, learned, cut, len(words), units, options)


def _trained(
    model: BPE | CharacterBPE,
    learned: Merges,
    cut: PatternSplitter | None,
    chunks: int,
    units: int,
    options: BPEOptions,
) -> Trained:
    first_special = len(model.vocab)
    return Trained(
        Pipeline(model, cut, framing_of(options.special_tokens, first_special)),
        vocab_size=first_special + len(options.special_tokens),
        chunks=chunks,
        tokens=int(learned.tokens_after[-1]) if len(learned.tokens_after) else units,
        merges=len(learned.merges),
        options={
            **asdict(options),
            "split": split_option(cut),
        },
        counts=learned.counts,
        tokens_after=learned.tokens_after,
    )


def _too_small(tokens: int, what: str, options: BPEOptions) -> OptionError:
    special = len(options.special_tokens)
    return OptionError(
        f"vocab_size is {tokens + special}: it must hold the {what} and {special} special tokens"
    )


_OPTIONS = [each.name for each in fields(BPEOptions) if each.metadata.get("continued")]
_INHERITED = [each.name for each in fields(MergeRules)]


def train_further(
    corpus: Corpus,
    vocab_size: int | None,
    options: BPEOptions,
    *,
    tok: Tokenizer,
    is_split_given: bool,
) -> Trained:
    """Extend a byte-level BPE tokenizer by tokens learned from a text; its ids do not change.

    New ids follow the highest existing id, special tokens included.

    Args:
        corpus: the training text.
        vocab_size: the number of ids of the extended tokenizer.
        options: the options of this training; see :func:`further_options`.
        tok: the tokenizer.
        is_split_given: whether ``options.split`` is the split of this training and of the returned
            tokenizer. If not, they have the tokenizer's.

    Raises:
        UnsupportedError: the tokenizer is of another kind.
        OptionError: ``vocab_size`` adds no token.
        TrainingError: there is no text.
    """
    model, cut = _continuable(tok)
    if is_split_given:
        cut = splitter(options.split, cut.gaps if cut else "keep")
    first, special = tok.vocab_size, len(options.special_tokens)
    if vocab_size is None or vocab_size <= first + special:
        raise OptionError(
            f"vocab_size is {vocab_size}: the tokenizer has {first:,} ids"
            f"{f' and gets {special} special tokens' if special else ''}, so no token could be "
            "learned: use a larger vocab_size"
        )
    known = corpus.given_counts
    if known is not None and known.splitter != cut:
        raise OptionError(
            f"the counts were cut by {splitter_name(known.splitter)}, but the tokenizer "
            f"cuts by {splitter_name(cut)}: count with its split, or give split="
        )
    model, learned, counts = _learned(model, cut, first, vocab_size - special, options, corpus)
    end = len(model.vocab)
    framing = tok.pipeline.framing
    return Trained(
        Pipeline(
            model,
            cut,
            Framing(
                framing.added_tokens + framing_of(options.special_tokens, end).added_tokens,
                template=framing.template,
                trim_offsets=framing.trim_offsets,
                padding=framing.padding,
                truncation=framing.truncation,
            ),
            decoder=tok.pipeline.decoder,
        ),
        vocab_size=end + special,
        chunks=counts.chunks,
        tokens=int(learned.tokens_after[-1]) if len(learned.tokens_after) else 0,
        merges=len(learned.merges),
        options={
            **asdict(options),
            "split": split_option(cut),
            "continue_from": tok.name or f"{first} ids",
        },
        counts=learned.counts,
        tokens_after=learned.tokens_after,
    )


def _continuable(tok: Tokenizer) -> tuple[BPE, PatternSplitter | None]:
    pipeline = tok.pipeline
    model, cut = pipeline.model, pipeline.splitter
    if not isinstance(model, BPE):
        raise UnsupportedError(
            f"{type(model).__name__} cannot be continued: only byte-level BPE can; train a new "
            "tokenizer without continue_from="
        )
    if pipeline.normalizer or not (cut is None or isinstance(cut, PatternSplitter)):
        step = type(pipeline.normalizer[0] if pipeline.normalizer else cut).__name__
        raise UnsupportedError(
            f"this tokenizer has {step} before its BPE: only tokenizers that split the unchanged "
            "text by a pattern can be continued"
        )
    return model, cut


def further_options(tok: Tokenizer, given: Mapping[str, Any]) -> BPEOptions:
    """Return the options of a training that continues a tokenizer.

    Args:
        tok: the tokenizer.
        given: options: ``ties``, ``min_frequency`` and ``max_token_length`` (default: those of its
            training, if known), ``special_tokens`` to add, and ``split`` (default: the
            tokenizer's).

    Raises:
        UnsupportedError: the tokenizer is of another kind.
        OptionError: an option is unknown or wrong, or a special token exists already.
    """
    cut = _continuable(tok)[1]
    for name in given:
        if name in _OPTIONS:
            continue
        if name in {field.name for field in fields(BPEOptions)}:
            raise OptionError(f"{name}= is the tokenizer's own with continue_from=: leave it out")
        raise OptionError(f"{name}= is no option with continue_from=: use {', '.join(_OPTIONS)}")
    check_kinds(BPEOptions, given)
    known = tok.training.options if tok.training else {}
    inherited = {name: known[name] for name in _INHERITED if name in known}
    split = split_option(cut)
    options = BPEOptions(**{**inherited, "split": split, **given})
    for token in literals(options.special_tokens):
        if token in tok.special_tokens:
            raise OptionError(f"{token!r} is already a special token: leave it out")
    return options


def _learned(
    model: BPE,
    cut: PatternSplitter | None,
    first: int,
    wanted: int,
    options: BPEOptions,
    corpus: Corpus,
) -> tuple[BPE, Merges, StreamedCounts]:
    """Return the model with ``wanted`` ids, the learned merges, and the counts of the text.

    A merge that spells an existing token makes no new one. Then further merges are learned on the
    same counts, encoded with the extended model.
    """
    model = BPE(_padded(model.vocab, first), model.merges, model.whole_chunk_first)
    with _repeated(corpus, cut) as counted:

        def more(checkpoint: Checkpoint | None) -> tuple[Merges, StreamedCounts]:
            wanted_ids = wanted - len(model.vocab)
            return learn(model, wanted_ids, counted(), options.rules, corpus, checkpoint)

        merges, counts = more(checkpoint_of(corpus))
        learned = [merges]
        model = _extended(model, merges.merges)
        while len(model.vocab) < wanted and len(learned[-1].merges):
            learned.append(more(None)[0])
            model = _extended(model, learned[-1].merges)
    warn_of_end(len(model.vocab), wanted, options.min_frequency)
    return model, concat_merges(learned), counts


@contextmanager
def _repeated(
    corpus: Corpus, cut: PatternSplitter | None
) -> Iterator[Callable[[], AbstractContextManager[StreamedCounts]]]:
    """Count chunks that can be read several times; yields a function that returns them."""
    if corpus.limits.limit is None:
        counts = corpus.chunks(cut)
        yield lambda: nullcontext(stream_counts(counts))
        return
    with corpus.limits.files.open() as file:
        spooled = SpooledCounts(file, corpus.limits.files.check)

        @contextmanager
        def counted() -> Iterator[StreamedCounts]:
            if spooled.counts is not None:
                yield spooled.counts
                return
            with corpus.stream(cut) as counts:
                yield spooled.spool(counts)

        yield counted


def _extended(model: BPE, merges: npt.NDArray[np.uint32]) -> BPE:
    """Return the model with more merges, some of which may produce an existing token.

    A vocabulary may hold a token that no merge produced (a special token, or one that only matches
    a whole chunk). A new merge with the same bytes then produces that token.
    """
    vocab, known = list(model.vocab), model.ids
    pairs = set(map(tuple, model.merges[:, :2].tolist())) if known else set()
    final = list(range(len(vocab)))
    rows: list[tuple[int, int, int]] = []
    for left, right, _ in merges.tolist():
        pair = final[left], final[right]
        token = vocab[pair[0]] + vocab[pair[1]]
        made = known.get(token)
        if made is None:
            made = len(vocab)
            vocab.append(token)
        final.append(made)
        if pair not in pairs:
            rows.append((*pair, made))
    every = np.concatenate([model.merges, np.array(rows, np.uint32).reshape(-1, 3)])
    return BPE(tuple(vocab), every, model.whole_chunk_first)


def _padded(vocab: Sequence[bytes], size: int) -> tuple[bytes, ...]:
    return (*vocab, *[b""] * (size - len(vocab)))
