"""Trains word and character models: the most frequent words or characters are the pieces."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toksmith._base.lazy import np
from toksmith._base.records import replace
from toksmith.formats.sentencepiece_pipeline import sentencepiece_pipeline
from toksmith.models import SentencePieceBPE
from toksmith.reference.piece_rules import SPACE
from toksmith.tokenizer import Tokenizer
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.symbol_words import CharacterWords, MixedWords, WordStream
from toksmith.trainers.options import options_of
from toksmith.trainers.sentencepiece import normalizer_of
from toksmith.trainers.sentencepiece.sentences import read_sentences
from toksmith.trainers.sentencepiece.vocabulary import (
    alphabet_of,
    meta_pieces,
    vocabulary,
)
from toksmith.trainers.sentencepiece_options import SentencePieceOptions

_WORD = re.compile(f"{SPACE}[^{SPACE}]*|[^{SPACE}]+")


def train_by_frequency(
    kind: str,
    size: int,
    given: Mapping[str, Any],
    files: Sequence[str] | None,
    texts: Iterable[str | bytes] | None,
    threads: int | None,
) -> Tokenizer:
    """Return a tokenizer whose pieces are the most frequent words or characters.

    The score of a piece is the logarithm of its share. The result is a BPE model whose pieces
    never merge; its file says which kind it is.

    Args:
        kind: ``"word"`` or ``"char"``.
        size: the number of pieces.
        given: options of :class:`~toksmith.trainers.sentencepiece_options.SentencePieceOptions`.
        files: the files to train on.
        texts: sentences, instead of files.
        threads: the number of threads.

    Raises:
        OptionError, TrainingError, FormatError: see :func:`toksmith.train`.
    """
    takes_all = given.get("use_all_vocab", False)
    wanted = {name: value for name, value in given.items() if name != "use_all_vocab"}
    # Sentences are counted whole, not in parts that no piece crosses: a symbol takes its space
    # away, so what is left of its word belongs to the word before.
    whole = dict.fromkeys(
        ("split_by_unicode_script", "split_by_number", "split_digits", "split_by_whitespace"), False
    )
    options = options_of(SentencePieceOptions, f"sentencepiece-{kind}", {**wanted, **whole})
    if kind == "char":
        options = replace(options, hard_vocab_limit=False)
    else:
        symbols = [
            each
            for symbol in options.user_defined_symbols
            for each in (symbol, SPACE + symbol)[: 1 if symbol.startswith(SPACE) else 2]
        ]
        options = replace(options, user_defined_symbols=symbols)
    meta = meta_pieces(options)
    normalizer = normalizer_of(options)
    names = [piece for piece, _ in meta.values()]
    with Corpus(files, texts, threads=threads, progress=False) as corpus:
        words = read_sentences(corpus, options, normalizer, names).words
    assert not isinstance(words, WordStream)  # which a memory limit makes
    counted = _characters(words, options) if kind == "char" else _words(words)
    for name in names:
        counted.pop(name, None)
    total = math.log(np.float32(sum(counted.values())))
    alphabet = {*alphabet_of(words, options)}
    pieces = [
        (piece, math.log(np.float32(count)) - total)
        for piece, count in sorted(counted.items(), key=lambda each: (-each[1], each[0]))
        if alphabet.issuperset(piece)
    ]
    size = len(pieces) + len(meta) if takes_all else size
    model = SentencePieceBPE(**vocabulary(pieces[: size - len(meta)], meta, size, options))
    return Tokenizer(sentencepiece_pipeline(model, normalizer, unk_surface=options.unk_surface))


def _characters(
    words: CharacterWords | MixedWords, options: SentencePieceOptions
) -> dict[str, int]:
    counts = dict(zip(words.characters, words.character_counts().tolist(), strict=True))
    return {c: counts[c] for c in alphabet_of(words, options) if counts.get(c)}


def _words(words: CharacterWords | MixedWords) -> dict[str, int]:
    spelled = words.only(words.characters)
    found: dict[str, int] = {}
    start = 0
    symbols = spelled.words.symbols.tolist()
    for end, count in zip(spelled.words.ends.tolist(), spelled.words.counts.tolist(), strict=True):
        sentence = "".join(map(spelled.characters.__getitem__, symbols[start:end]))
        start = end
        for word in _WORD.findall(sentence):
            found[word] = found.get(word, 0) + count  # one with BOUNDARY counts, but is no piece
    return found
