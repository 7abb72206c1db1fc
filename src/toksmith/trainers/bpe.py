"""Training BPE, on bytes or on characters, from counted chunks."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

from toksmith._base.lazy import np
from toksmith.engine.training import Merges, merge_symbols
from toksmith.errors import OptionError
from toksmith.models import BPE, CharacterBPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter
from toksmith.tokenizer.training_record import Trained
from toksmith.trainers.bpe_merging import BYTES, add_merges, learn
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.counts import Counts
from toksmith.trainers.merge_progress import warn_of_end, watch_merges
from toksmith.trainers.options import BPEOptions, framing_of
from toksmith.trainers.symbol_words import CharacterWords


def train_bpe(corpus: Corpus, vocab_size: int | None, options: BPEOptions) -> Trained:
    """Merge the most frequent pair, again and again (Gage 1994; Sennrich et al. 2016).

    Raises:
        OptionError: ``vocab_size`` is not given, or too small.
        TrainingError: there is no text.
    """
    if vocab_size is None:
        raise OptionError(
            "vocab_size is not given: how large shall the vocabulary be? Give vocab_size=, such as "
            "32000; advise suggests a size for a text"
        )
    tokens = vocab_size - len(options.special_tokens)
    if options.unit == "bytes":
        return _train_bytes(corpus, tokens, options)
    return _train_characters(corpus, tokens, options)


def _train_bytes(corpus: Corpus, tokens: int, options: BPEOptions) -> Trained:
    if tokens < 256:
        raise _too_small(tokens, "256 bytes", options)
    counts = corpus.chunks(splitter(options.split))
    learned = learn(BPE(BYTES, ()), tokens - 256, counts, options.rules, corpus, corpus.checkpoint)
    model = add_merges(BPE(BYTES, ()), learned.merges)
    warn_of_end(len(model.vocab), tokens, options.min_frequency)
    return _trained(model, learned, counts, counts.bytes, options)


def _train_characters(corpus: Corpus, tokens: int, options: BPEOptions) -> Trained:
    counts = corpus.chunks(splitter(options.split))
    chunks: Counter[str] = Counter()
    for chunk, count in counts:
        chunks[chunk.decode("utf-8", "replace")] += count
    words = CharacterWords.of(chunks)
    vocab = [] if options.unk_token is None else [options.unk_token.encode()]
    before = len(vocab)
    vocab += [character.encode() for character in words.characters]
    if tokens < len(vocab):
        raise _too_small(tokens, f"{len(vocab)} characters of the text", options)
    with watch_merges(vocab[before:], tokens - len(vocab), corpus.progress) as watch:
        learned = merge_symbols(
            words.words,
            tokens - len(vocab),
            options.rules,
            threads=corpus.threads,
            watch=watch,
        )
    merges = learned.merges + np.uint32(before)
    for left, right, _ in merges.tolist():
        vocab.append(vocab[left] + vocab[right])
    warn_of_end(len(vocab), tokens, options.min_frequency)
    model = CharacterBPE(tuple(vocab), merges, unk_id=0 if before else None)
    return _trained(model, learned, counts, int(words.character_counts().sum()), options)


def _trained(
    model: BPE | CharacterBPE, learned: Merges, counts: Counts, units: int, options: BPEOptions
) -> Trained:
    first_special = len(model.vocab)
    return Trained(
        Pipeline(model, counts.splitter, framing_of(options.special_tokens, first_special)),
        vocab_size=first_special + len(options.special_tokens),
        chunks=len(counts),
        tokens=int(learned.tokens_after[-1]) if len(learned.tokens_after) else units,
        merges=len(learned.merges),
        options={
            **asdict(options),
            "split": counts.splitter.pattern if counts.splitter else None,
        },
        counts=learned.counts,
        tokens_after=learned.tokens_after,
    )


def _too_small(tokens: int, what: str, options: BPEOptions) -> OptionError:
    special = len(options.special_tokens)
    return OptionError(
        f"vocab_size is {tokens + special}: it must hold the {what} and {special} special tokens"
    )
